"""Everything that can be said of a user's file before a run: what was understood, and what is odd.

Loading a file stops at the first thing that is wrong; this goes on, row by row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from xling_metrics.answer_language import not_checked

from xling_tasks.data.custom.columns import CONVERSATIONS, Columns, normal, understood
from xling_tasks.data.custom.dataset import (
    CustomDataset,
    has_questions,
    missing,
    need_file,
    no_questions,
    other_sheets,
    own_data,
    scripts_that_decide,
    the_table,
)
from xling_tasks.data.custom.negatives import negatives_of
from xling_tasks.data.custom.oddities import listed, notes
from xling_tasks.data.custom.questions import items_of, key_of
from xling_tasks.data.custom.rubrics import (
    Gathered,
    Rubric,
    RubricData,
    criteria_of,
    files_of,
    is_conversations,
    of_names,
    read,
    source_of,
)
from xling_tasks.data.custom.tongues import Scripts
from xling_tasks.data.custom.written import in_other_scripts
from xling_tasks.data.files import READERS, Table, decoded, delimiter, encoding_of, read_tables
from xling_tasks.data.sources import Source
from xling_tasks.errors import DataError, user_path

TASK = "xling_custom_rubric"


@dataclass(frozen=True)
class Checked:
    """What is known of a file.

    Attributes:
        form: Its format, in words.
        shape: `wide`, `long` or `conversations`; empty where its columns were not understood.
        data: Its questions, without the rows that have errors; None where there are none.
        errors: For which the tasks refuse the file: what, where, and what to do.
        look: What is odd in what is read.
    """

    form: str
    shape: str
    data: CustomDataset | None
    errors: tuple[str, ...]
    look: tuple[str, ...] = ()


def check(path: Path, stated: Scripts) -> Checked:
    """Read a file as far as it can be read, and collect what is wrong with it."""
    need_file(path)
    tables = read_tables(path)
    table = the_table(tables)
    form = _form(path, table)
    try:
        columns = understood(table, stated)
    except DataError as error:
        return Checked(form, "", None, (str(error),))
    errors: list[str] = []
    look: list[str] = []
    others = other_sheets(tables, table)
    if others:
        look.append(f"sheets that are not read: {', '.join(others)}")
    good, wrong = _without_errors(table, columns, stated)
    errors += wrong
    data, source = None, Source((path,), "own", path.name)
    try:
        data = own_data(source, columns, *items_of(good, columns, stated)) if good.rows else None
    except DataError as error:
        errors.append(str(error))
    if data is not None:
        look += odd(data)
        if not has_questions(data):
            errors.append(no_questions(table))
        if "criteria" in columns.once:
            rubrics, wrong = _rubrics(data)
            errors += wrong
            look += _odd_criteria(rubrics) if any(each.criteria for each in rubrics) else ()
    return Checked(form, columns.shape, data, tuple(errors), tuple(look))


def _form(path: Path, table: Table) -> str:
    kind = path.suffix.lower().lstrip(".").upper()
    if kind != "CSV":
        return kind + (f", sheet {table.sheet!r}" if table.sheet else "")
    marks = {",": "commas", ";": "semicolons", "\t": "tabs"}
    return f"CSV, {encoding_of(path)}, fields parted by {marks[delimiter(decoded(path))]}"


def _without_errors(table: Table, columns: Columns, stated: Scripts) -> tuple[Table, list[str]]:
    """The table without the rows that have errors, and the errors."""
    errors, kept, first = [], [], dict[str, int]()
    for index in range(len(table.rows)):
        try:
            items, _ = items_of(table.only([index]), columns, stated)
        except DataError as error:
            errors.append(str(error))
            continue
        key = key_of(items[0], columns) if "id" in columns.once else str(index)
        if first.setdefault(key, index) != index:
            shown = key.replace("\0", " in ")
            errors.append(
                f"{table.place(index, columns.once['id'])}: {shown!r} stands in row "
                f"{table.numbers[first[key]]} already"
            )
            continue
        kept.append(index)
    return table.only(kept), errors


def _english_of(data: CustomDataset) -> str:
    """How English comes beside other languages."""
    if data.columns.shape != CONVERSATIONS:
        return "gaps and verdicts need question_en"
    return (
        "put the English file into one folder with this one and give the folder as data_dir (or "
        "both files, parted by a comma): rows with one prompt_id are one conversation. Or write "
        "the English of each turn as 'content_en' beside it"
    )


def odd(data: CustomDataset) -> Iterator[str]:
    """What is odd in data that is read: look at it."""
    if data.columns.unused:
        yield f"columns that are not used: {', '.join(data.columns.unused)}"
    if "en" not in data.languages:
        yield f"no English: there is nothing to compare with; {_english_of(data)}"
    elif len(data.languages) == 1:
        yield "English alone: there is nothing to compare it with; add another language"
    for code, own in data.languages.items():
        if unseen := not_checked(code, scripts_that_decide(data, code)):
            yield f"{own.name}: langid does not know it as it is written here, so {unseen}"
    for code, own in data.languages.items():
        there = [item for item in data.questions if item.asked(code)]
        unasked = [item.id for item in data.questions if not item.asked(code)]
        if unasked:
            yield f"no question in {own.name}: {listed(unasked)}"
        unanswered = [item.id for item in there if "answer" not in item.said(code)]
        if 0 < len(unanswered) < len(there):
            yield f"no answer in {own.name}: {listed(unanswered)}"
    yield from notes(data.questions, data.languages)
    yield from in_other_scripts(data)


# Conversations with rubrics


def holds_conversations(path: Path) -> bool:
    """Whether a file, files parted by commas, or those of a folder are in HealthBench's form."""
    try:
        return any(map(is_conversations, files_of(str(path))))
    except DataError:  # there is none
        return False


def is_own_file(data_dir: str | None) -> bool:
    """Whether `data_dir` is a file for the `xling_custom` tasks, by its columns."""
    path = user_path(data_dir or "")
    try:
        if data_dir and holds_conversations(path):
            return True
        if not path.is_file() or path.suffix.lower() not in READERS:
            return False
        names = {normal(name) for table in read_tables(path) for name in table.columns}
    except DataError:
        return False
    published = {"label", "answer_ids", "neg_sample"} & names
    return not published and any(name.startswith("question") for name in names)


def check_conversations(path: Path, stated: Scripts) -> Checked:
    """Read conversations as far as they can be read, and collect what is wrong with them."""
    files = files_of(str(path))
    gathered, errors, data = Gathered(), [], None
    for file in files:
        for row in read(file, stated):
            try:
                if isinstance(row, DataError):
                    raise row
                gathered.add(row)
            except DataError as error:
                errors.append(str(error))
    try:
        data = gathered.data(source_of(str(path), files)) if gathered.rubrics else None
    except DataError as error:
        errors.append(str(error))
    look = list(of_names(files, stated))
    if data is not None:
        look += [*odd(data), *_odd_criteria(data.rubrics.values())]
    form = "JSONL, HealthBench's form" + (f", {len(files)} files" if len(files) > 1 else "")
    return Checked(form, CONVERSATIONS, data, tuple(errors), tuple(look))


def _odd_criteria(rubrics: Iterable[Rubric]) -> Iterator[str]:
    for rubric in rubrics:
        where = f"{rubric.place}: conversation {rubric.id}"
        if not rubric.turns:
            yield f"{where} has no language in which each turn has a text"
        if not rubric.criteria:
            yield f"{where} has no criteria"
        elif rubric.places.get("en", rubric.place) != rubric.place:
            yield (
                f"{where} is graded by the criteria that stand here, because its English row has "
                f"none ({rubric.places['en']})"
            )
        if rubric.criteria and not any(each.points > 0 for each in rubric.criteria):
            yield f"{where} has no criterion with points > 0"
        texts = [each.text for each in rubric.criteria]
        for text in dict.fromkeys(each for each in texts if texts.count(each) > 1):
            yield f"{where} has a criterion twice: {text!r:.60}"
        for text in filter(_SEVERAL.search, texts):
            yield f"{where} has points within a criterion; is it several? {text!r:.60}"


_SEVERAL = re.compile(r"[;,|]\s*[+\-−]?\d+(\.\d+)?\s*(points?)?\s*[:|]\s")
"""Points and a colon within a criterion, as of a second one on the same line."""


def _rubrics(data: CustomDataset) -> tuple[list[Rubric], list[str]]:
    """What a table's column `criteria` holds, and what is wrong in it."""
    good, wrong = [], []
    for item in data.questions:
        try:
            good.append(Rubric(item.id, item.place, criteria_of(item), {"": ()}))
        except DataError as error:
            wrong.append(str(error))
    return good, wrong


# What tasks can use


def usable(data: CustomDataset) -> dict[str, dict[str, int]]:
    """Task -> language -> questions that it can use; of conversations for rubrics alone."""
    of_rubrics = isinstance(data, RubricData)
    counts = {} if of_rubrics else _usable_by_texts(data)
    if of_rubrics or "criteria" in data.columns.once:
        rubrics = [*data.rubrics.values()] if isinstance(data, RubricData) else _rubrics(data)[0]
        good = {each.id for each in rubrics if any(c.points > 0 for c in each.criteria)}
        counts[TASK] = {
            code: sum(item.id in good and item.asked(code) for item in data.questions)
            for code in data.languages
        }
    return counts


def _usable_by_texts(data: CustomDataset) -> dict[str, dict[str, int]]:
    """Task -> language -> questions that it can use."""
    wrong = negatives_of(data)
    needs = {
        "xling_custom_correctness": ("question", "answer"),
        "xling_custom_consistency": ("question",),
        "xling_custom_verifiability": ("question", "answer"),
        "xling_custom_information": ("question",),
        "xling_custom_mcqa": ("question", "choice"),
    }
    counts: dict[str, dict[str, int]] = {}
    for task, need in needs.items():
        own: Counter[str] = Counter()
        for item in data.questions:
            if task.endswith("information"):
                asked = [code for code in data.languages if not missing(item, code, need)]
                if "en" not in asked or len(asked) < 2:
                    continue
            for code in data.languages:
                there = not missing(item, code, need)
                if there and task.endswith("verifiability"):
                    there = any(w.usable(code) for w in wrong.get(item.id, ()))
                own[code] += there
        counts[task] = {code: own[code] for code in data.languages}
    return counts
