"""Everything that can be said of a user's file before a run: what was understood, and what is odd.

Loading a file stops at the first thing that is wrong; this goes on, row by row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from xling_metrics.answer_language import not_checked

from xling_tasks.data.files import Table, decoded, delimiter, encoding_of, read_tables
from xling_tasks.data.own.columns import CONVERSATIONS, Columns, understood
from xling_tasks.data.own.load import (
    OwnData,
    has_questions,
    missing,
    no_questions,
    of_workbook,
    other_sheets,
    own_data,
    same_texts,
    scripts_that_decide,
    the_table,
)
from xling_tasks.data.own.oddities import listed, notes
from xling_tasks.data.own.rows import items_of, key_of
from xling_tasks.data.own.workbook import merged_cells
from xling_tasks.data.own.written import in_other_languages
from xling_tasks.data.own.wrong import wrong_answers
from xling_tasks.errors import DataError
from xling_tasks.languages import language_name

ERROR, LOOK = "error", "look"


class Problem(NamedTuple):
    """Something wrong, or odd.

    Attributes:
        kind: `error`: the tasks refuse the file; `look`: it is read, but look at it.
        text: What, where, and what to do.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Checked:
    """What is known of a file.

    Attributes:
        form: Its format, in words.
        shape: `wide` or `long`; empty where its columns were not understood.
        data: Its questions, without the rows that have errors; None where there are none.
        problems: All that was found.
    """

    form: str
    shape: str
    data: OwnData | None
    problems: tuple[Problem, ...]


def check(path: Path, stated: Mapping[str, tuple[str, str]]) -> Checked:
    """Read a file as far as it can be read, and collect what is wrong with it.

    Args:
        path: The file.
        stated: Scripts and names of languages, from the setting `scripts`.

    Raises:
        DataError: If it is no table at all.
    """
    tables = read_tables(path)
    table = the_table(tables)
    form = _form(path, table)
    try:
        columns = understood(table, stated)
    except DataError as error:
        return Checked(form, "", None, (Problem(ERROR, str(error)),))
    problems = list(_of_workbook(table, columns))
    others = other_sheets(tables, table)
    if others:
        problems.append(Problem(LOOK, f"sheets that are not read: {', '.join(others)}"))
    good, wrong = _without_errors(table, columns, stated)
    problems += wrong
    data = None
    if good.rows:
        try:
            data = own_data(path, columns, *items_of(good, columns, stated))
        except DataError as error:
            problems.append(Problem(ERROR, str(error)))
    if data is not None:
        problems += odd(data)
        if not has_questions(data):
            problems.append(Problem(ERROR, no_questions(table)))
    return Checked(form, columns.shape, data, tuple(problems))


def _form(path: Path, table: Table) -> str:
    kind = path.suffix.lower().lstrip(".").upper()
    if kind != "CSV":
        return kind + (f", sheet {table.sheet!r}" if table.sheet else "")
    marks = {",": "commas", ";": "semicolons", "\t": "tabs"}
    return f"CSV, {encoding_of(path)}, fields parted by {marks[delimiter(decoded(path))]}"


def _of_workbook(table: Table, columns: Columns) -> Iterator[Problem]:
    for text in of_workbook(table, columns):
        yield Problem(ERROR, text)
    merged = merged_cells(table.path)
    if merged:
        yield Problem(
            LOOK,
            f"{table.path}: merged cells ({', '.join(merged[:8])}): only the first cell of each "
            "has a value, the others read as empty; unmerge them and fill every cell",
        )


def _without_errors(
    table: Table, columns: Columns, stated: Mapping[str, tuple[str, str]]
) -> tuple[Table, list[Problem]]:
    """The table without the rows that have errors, and the errors."""
    problems, kept, first = [], [], dict[str, int]()
    for index, (row, number) in enumerate(zip(table.rows, table.numbers, strict=True)):
        one = replace(table, rows=[row], numbers=[number])
        try:
            items, _ = items_of(one, columns, stated)
        except DataError as error:
            problems.append(Problem(ERROR, str(error)))
            continue
        key = key_of(items[0], columns) if "id" in columns.once else str(index)
        if first.setdefault(key, index) != index:
            shown = key.replace("\0", " in ")
            problems.append(
                Problem(
                    ERROR,
                    f"{table.place(index, columns.once['id'])}: {shown!r} stands in row "
                    f"{table.numbers[first[key]]} already",
                )
            )
            continue
        kept.append(index)
    good = replace(
        table, rows=[table.rows[i] for i in kept], numbers=[table.numbers[i] for i in kept]
    )
    return good, problems


def _english_of(data: OwnData) -> str:
    """How English comes beside other languages."""
    if data.columns.shape != CONVERSATIONS:
        return "gaps and verdicts need question_en"
    return (
        "put the English file into one folder with this one and give the folder as data_dir (or "
        "both files, parted by a comma): rows with one prompt_id are one conversation. Or write "
        "the English of each turn as 'content_en' beside it"
    )


def odd(data: OwnData) -> Iterator[Problem]:
    """What is odd in data that is read: look at it."""
    if data.columns.unused:
        yield Problem(LOOK, f"columns that are not used: {', '.join(data.columns.unused)}")
    if "en" not in data.tongues:
        yield Problem(LOOK, f"no English: there is nothing to compare with; {_english_of(data)}")
    for code, own in data.tongues.items():
        if unseen := not_checked(code, scripts_that_decide(data, code)):
            yield Problem(
                LOOK, f"{own.name}: langid does not know it as it is written here, so {unseen}"
            )
    for code in data.tongues:
        name = data.tongues[code].name
        there = [item for item in data.items if "question" in item.texts.get(code, {})]
        answered = [item for item in there if "answer" in item.texts[code]]
        lacking = {item.id for item in data.items} - {item.id for item in there}
        if lacking:
            yield Problem(LOOK, f"no question in {name}: {listed(list(lacking))}")
        lacking = {item.id for item in there} - {item.id for item in answered}
        if lacking and answered:
            yield Problem(LOOK, f"no answer in {name}: {listed(list(lacking))}")
    for (one, other), ids in same_texts(data).items():
        yield Problem(
            LOOK,
            f"the same question in {language_name(one)} and {language_name(other)}: "
            f"{listed(ids)}; is it translated?",
        )
    for note in notes(data.items, data.tongues):
        yield Problem(LOOK, note)
    yield from _repeated(data)
    yield from _choices(data)
    for text in in_other_languages(data):
        yield Problem(LOOK, text)


def _repeated(data: OwnData) -> Iterator[Problem]:
    for code in data.tongues:
        first: dict[str, str] = {}
        for item in data.items:
            own = item.texts.get(code, {})
            # Of exam questions many begin alike: 'Which of the following is true?'
            asked = [t for kind, t in own.items() if kind == "question" or kind.startswith("opt")]
            text = own.get("question") and "\n".join(asked)
            if text and first.setdefault(text, item.id) != item.id:
                yield Problem(
                    LOOK,
                    f"{item.places.get(code, item.place)}: question {item.id} has the same text in "
                    f"{data.tongues[code].name} as question {first[text]}",
                )
            if text and text.startswith("="):
                yield Problem(
                    LOOK,
                    f"{item.places.get(code, item.place)}: the text begins with '='; is it a "
                    "formula?",
                )


def _choices(data: OwnData) -> Iterator[Problem]:
    lone = [
        item.id
        for item in data.items
        if any(not w.shared and not w.contradicts for w in wrong_answers(data, 0).get(item.id, ()))
    ]
    if lone:
        yield Problem(
            LOOK,
            f"wrong answers that a language lacks, which are shown in no language: {listed(lone)}",
        )
    for item in data.items:
        for wrong in wrong_answers(data, 0).get(item.id, ()):
            if wrong.contradicts:
                codes = ", ".join(map(language_name, wrong.contradicts))
                yield Problem(LOOK, f"{item.place}: {wrong.id} is the right answer too, in {codes}")
        for code in data.tongues:
            own = item.texts.get(code, {})
            if item.correct and any(kind.startswith("option_") for kind in own):
                lacking = missing(item, code, ("choice",))
                if lacking:
                    letters = ", ".join(item.correct)
                    yield Problem(
                        LOOK,
                        f"{item.places.get(code, item.place)}: right is {letters}, but options in "
                        f"{data.tongues[code].name} are missing",
                    )


def usable(data: OwnData) -> dict[str, dict[str, int]]:
    """Task -> language -> questions that it can use."""
    wrong = wrong_answers(data, 0)
    needs = {
        "xling_own_correctness": ("question", "answer"),
        "xling_own_consistency": ("question",),
        "xling_own_verifiability": ("question", "answer"),
        "xling_own_information": ("question",),
        "xling_own_mcqa": ("question", "choice"),
    }
    counts: dict[str, dict[str, int]] = {}
    for task, need in needs.items():
        own: Counter[str] = Counter()
        for item in data.items:
            if task.endswith("information"):
                asked = [code for code in data.tongues if not missing(item, code, need)]
                if "en" not in asked or len(asked) < 2:
                    continue
            for code in data.tongues:
                there = not missing(item, code, need)
                if there and task.endswith("verifiability"):
                    there = any(w.usable(code) for w in wrong.get(item.id, ()))
                own[code] += there
        counts[task] = {code: own[code] for code in data.tongues}
    return counts
