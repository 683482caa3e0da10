"""What can be said of conversations with rubrics before a run; as `check` says it of tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from xling_tasks.data.files import READERS, read_tables
from xling_tasks.data.own.check import ERROR, LOOK, Checked, Problem, odd, usable
from xling_tasks.data.own.columns import normal
from xling_tasks.data.own.load import OwnData
from xling_tasks.data.own.rows import Item
from xling_tasks.data.own.rubrics import (
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
from xling_tasks.errors import DataError

TASK = "xling_own_rubric"


def holds_conversations(path: Path) -> bool:
    """Whether a file, files parted by commas, or those of a folder are in HealthBench's form."""
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not path.exists():
        files = [Path(part.strip()).expanduser() for part in str(path).split(",")]
    return any(is_conversations(file) for file in files if file.is_file())


def is_own_file(data_dir: str | None) -> bool:
    """Whether `data_dir` is a file for the `xling_own` tasks, by its columns."""
    path = Path(data_dir or "").expanduser()
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


def check_conversations(path: Path, stated: Mapping[str, tuple[str, str]]) -> Checked:
    """Read conversations as far as they can be read, and collect what is wrong with them.

    Raises:
        DataError: If a file cannot be read, or a line is no JSON object.
    """
    files = files_of(str(path))
    gathered, problems = Gathered(), []
    for file in files:
        for row in read(file, stated):
            try:
                if isinstance(row, DataError):
                    raise row
                gathered.add(row)
            except DataError as error:
                problems.append(Problem(ERROR, str(error)))
    data = None
    try:
        data = gathered.data(source_of(str(path), files)) if gathered.rubrics else None
    except DataError as error:
        problems.append(Problem(ERROR, str(error)))
    problems += [Problem(LOOK, note) for note in of_names(files, stated)]
    if data is not None:
        problems += [*odd(data), *_odd_criteria(data.rubrics.values())]
    form = "JSONL, HealthBench's form" + (f", {len(files)} files" if len(files) > 1 else "")
    return Checked(form, "conversations", data, tuple(problems))


def _odd_criteria(rubrics: Iterable[Rubric]) -> Iterator[Problem]:
    for rubric in rubrics:
        where = f"{rubric.place}: conversation {rubric.id}"
        if not rubric.turns:
            yield Problem(LOOK, f"{where} has no language in which each turn has a text")
        if not rubric.criteria:
            yield Problem(LOOK, f"{where} has no criteria")
        elif rubric.places.get("en", rubric.place) != rubric.place:
            yield Problem(
                LOOK,
                f"{where} is graded by the criteria that stand here, because its English row has "
                f"none ({rubric.places['en']})",
            )
        if rubric.criteria and not any(each.points > 0 for each in rubric.criteria):
            yield Problem(LOOK, f"{where} has no criterion with points > 0")
        texts = [each.text for each in rubric.criteria]
        for text in dict.fromkeys(each for each in texts if texts.count(each) > 1):
            yield Problem(LOOK, f"{where} has a criterion twice: {text!r:.60}")
        for text in filter(_SEVERAL.search, texts):
            yield Problem(
                LOOK, f"{where} has points within a criterion; is it several? {text!r:.60}"
            )


_SEVERAL = re.compile(r"[;,|]\s*[+\-−]?\d+(\.\d+)?\s*(points?)?\s*[:|]\s")
"""Points and a colon within a criterion, as of a second one on the same line."""


def criteria_problems(data: OwnData) -> Iterator[Problem]:
    """What is wrong or odd in a table's column `criteria`."""
    if isinstance(data, RubricData) or "criteria" not in data.columns.once:
        return
    good = []
    for item in data.items:
        try:
            good.append(Rubric(item.id, item.place, criteria_of(item), {"": ()}))
        except DataError as error:
            yield Problem(ERROR, str(error))
    if any(rubric.criteria for rubric in good):
        yield from _odd_criteria(good)


def usable_by_all(data: OwnData) -> dict[str, dict[str, int]]:
    """Task -> language -> questions that it can use; of conversations for rubrics alone."""
    if isinstance(data, RubricData):
        good = {
            key
            for key, rubric in data.rubrics.items()
            if any(c.points > 0 for c in rubric.criteria)
        }
        return {TASK: _count(data, good)}
    counts = usable(data)
    if "criteria" in data.columns.once:
        counts[TASK] = _count(data, {item.id for item in data.items if _grades(item)})
    return counts


def _grades(item: Item) -> bool:
    try:
        return any(each.points > 0 for each in criteria_of(item))
    except DataError:
        return False


def _count(data: OwnData, good: set[str]) -> dict[str, int]:
    return {
        code: sum(item.id in good and "question" in item.texts.get(code, {}) for item in data.items)
        for code in data.tongues
    }
