"""Conversations with rubrics: HealthBench's JSONL, its translations, and users' own tables.

A row is a conversation; another language stands beside each turn (`translated_content`, named in
`translation_info.lang`; or `content_sw`), or in a file of its own, paired by `prompt_id`. Every
language is graded by the criteria of the English row.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xling_tasks.data.custom.columns import CONVERSATIONS, Columns
from xling_tasks.data.custom.dataset import CustomDataset, Stated, load_custom_dataset, own_data
from xling_tasks.data.custom.questions import Question
from xling_tasks.data.custom.rubric_cells import Criterion, after, criteria_in, texts_of
from xling_tasks.data.custom.tongues import Scripts, Tongue, english_first
from xling_tasks.data.custom.turns import (
    SAMPLE,
    Turn,
    language_of_file,
    looks_like_a_language,
    transcript,
    turns_of,
)
from xling_tasks.data.sources import Source
from xling_tasks.errors import DataError, no_such, user_path
from xling_tasks.log import log
from xling_tasks.safe_json import json_objects


@dataclass
class Rubric:
    """A conversation with its criteria.

    Attributes:
        id: `prompt_id`.
        place: Where its criteria stand, for messages.
        criteria: What an answer is graded by.
        turns: Language -> turns; the last is the user's.
        places: Language -> where its turns stand.
        themes: Its themes, without the `theme:` of its tags.
        categories: What physicians agreed of it (`physician_agreed_category:` in its tags).
        canary: What its publisher asks to keep with the data; empty for none.
    """

    id: str
    place: str
    criteria: tuple[Criterion, ...] = ()
    turns: dict[str, tuple[Turn, ...]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    themes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    canary: str = ""


@dataclass(frozen=True, eq=False)
class RubricData(CustomDataset):
    """Conversations as the tasks take other questions, with their rubrics by id."""

    rubrics: Mapping[str, Rubric] = field(default_factory=dict)


def load_rubrics(data_dir: str | None, scripts: Scripts | None = None) -> RubricData:
    """Read and check conversations; read once per process and content.

    `data_dir` is a file, a folder of JSONL files, or files parted by commas; None is the sample.
    """
    files = files_of(data_dir)
    source = source_of(data_dir, files)
    return _load(source, source.stamps(), tuple(sorted((scripts or {}).items())))


def source_of(data_dir: str | None, files: tuple[Path, ...]) -> Source:
    """Files as one source, called as their folder where a folder is given."""
    if not data_dir:
        return Source(files, "bundled", files[0].name)
    path = user_path(data_dir)
    return Source(files, "own", path.resolve().name if path.is_dir() else files[0].name)


def files_of(data_dir: str | None) -> tuple[Path, ...]:
    """The files that `data_dir` names; there must be one."""
    if not data_dir:
        return (SAMPLE,)
    path = user_path(data_dir)
    if path.is_dir():
        files = tuple(sorted(path.glob("*.jsonl")))
        if not files:
            raise DataError(f"data_dir={path}: the folder holds no .jsonl file")
        return files
    if path.exists():
        return (path,)
    several = [user_path(part.strip()) for part in data_dir.split(",")]
    for each in several:
        if not each.is_file():
            raise DataError(
                f"data_dir={each}: {no_such(each)}; xling_custom_rubric reads conversations "
                "with criteria in HealthBench's form (JSONL), or a table with a column 'criteria'"
            )
    return tuple(several)


def is_conversations(path: Path) -> bool:
    """Whether a file is in HealthBench's form: JSONL whose rows have turns as `prompt`."""
    if path.suffix.lower() != ".jsonl":
        return False
    row = next(json_objects(path), (0, {}))[1]
    return isinstance(row.get("prompt"), list) or bool({"rubrics", "binary_labels"} & row.keys())


@functools.lru_cache(maxsize=4)
def _load(source: Source, stamps: tuple[tuple[int, int], ...], scripts: Stated) -> RubricData:
    stated = dict(scripts)
    if len(source.files) == 1 and not is_conversations(source.files[0]):
        return _of_table(source.files[0], stated)
    gathered = Gathered()
    for path in source.files:
        for row in read(path, stated):
            if isinstance(row, DataError):
                raise row
            gathered.add(row)
    data = gathered.data(source)
    for note in of_names(source.files, stated):
        log.warning(note)
    log.info(
        "%s: %d conversations with %d criteria, in %s",
        data.provenance["name"],
        len(data.questions),
        sum(len(each.criteria) for each in data.rubrics.values()),
        ", ".join(f"{own.name} ({own.script})" for own in data.languages.values()),
    )  # fmt: skip
    return data


def of_names(files: Sequence[Path], stated: Scripts) -> Iterator[str]:
    """What is odd in the names of files, by which their languages are told."""
    for path in files:
        word = looks_like_a_language(path, stated)
        if word:
            yield (
                f"{path}: {word!r} at the end of its name is no language known here, so its texts "
                "count as English, unless its rows say otherwise; if it is one, state its script: "
                f'--metadata \'{{"scripts": {{"{word}": "Latn"}}}}\''
            )


# HealthBench's form


Row = tuple[Rubric, Mapping[str, Tongue]]
"""A line, with its languages."""


def read(path: Path, stated: Scripts) -> Iterator[Row | DataError]:
    """Every line of a file, or what is wrong with it; a line that is no JSON object raises."""
    of_file = language_of_file(path, stated)
    first: dict[tuple[str, str], int] = {}
    for number, row in json_objects(path, expected="a conversation", whole=True):
        where = f"{path}, line {number}"
        try:
            made = _row(where, row, of_file, stated)
            beside = getattr(of_file, "code", "") != "en"
            for code in made[0].turns:
                other = first.setdefault((made[0].id, code), number)
                if other != number and not (code == "en" and beside):
                    raise DataError(
                        f"{where}: prompt_id {made[0].id!r} in {code} stands in line {other} "
                        "already"
                    )
            yield made
        except DataError as error:
            yield error


def _row(where: str, row: Mapping[str, Any], of_file: Tongue | DataError, stated: Scripts) -> Row:
    key = row.get("prompt_id", row.get("id"))
    if isinstance(key, bool) or not isinstance(key, (str, int)) or not str(key).strip():
        raise DataError(f"{where}: 'prompt_id' is missing; it pairs a conversation's languages")
    if "rubric" in row and "binary_labels" in row:
        raise DataError(
            f"{where}: these are physicians' labels of answers (HealthBench's meta evaluation), "
            "not conversations with rubrics"
        )
    tags = texts_of(where, row, "example_tags")
    canary = row.get("canary")
    turns, tongues = turns_of(where, row, of_file, stated)
    rubric = Rubric(
        str(key).strip(),
        where,
        criteria_in(where, row.get("rubrics")),
        turns,
        dict.fromkeys(turns, where),
        after("theme", tags),
        after("physician_agreed_category", tags),
        canary if isinstance(canary, str) else "",
    )
    return rubric, tongues


class Gathered:
    """Rows put together: one rubric per `prompt_id`, with all its languages."""

    def __init__(self) -> None:
        self.rubrics: dict[str, Rubric] = {}
        self.tongues: dict[str, Tongue] = {}

    def add(self, row: Row) -> None:
        """Add a row; it may not contradict what is there of its conversation."""
        new, tongues = row
        known = self.rubrics.get(new.id)
        if known is not None:
            check_points(known.place, known.criteria, new.place, new.criteria, new.id)
            _check_roles(known, new)
            for code, turns in new.turns.items():
                if known.turns.get(code, turns) != turns:
                    raise DataError(
                        f"{new.place}: conversation {new.id!r} in {code} differs from "
                        f"{known.places[code]}; the same prompt_id is the same conversation (is "
                        "one a translation? state its language in the file's name, as _es.jsonl, "
                        "or in a field 'language')"
                    )
        for code, own in tongues.items():
            if self.tongues.setdefault(code, own) != own:
                raise DataError(
                    f"{new.place}: {code!r} is {own.script} here and "
                    f"{self.tongues[code].script} above; use one"
                )
        if known is None:
            self.rubrics[new.id] = new
            return
        english = "en" in new.turns and "en" not in known.turns
        if not known.criteria or (english and new.criteria):
            known.criteria, known.place = new.criteria, new.place
        if not known.themes or (english and new.themes):
            known.themes, known.categories = new.themes, new.categories
        known.turns |= new.turns
        known.places |= new.places
        known.canary = known.canary or new.canary

    def data(self, source: Source) -> RubricData:
        """Everything as one set; there must be a conversation."""
        if not self.rubrics:
            raise DataError(f"{source.place}: holds no conversations")
        if not any(rubric.turns for rubric in self.rubrics.values()):
            raise DataError(
                f"{source.place}: no conversation has a text in each of its turns in any language"
            )
        items = [_item(rubric) for rubric in self.rubrics.values()]
        plain = own_data(source, Columns(CONVERSATIONS, {}, {}), items, english_first(self.tongues))
        return RubricData(**vars(plain), rubrics=self.rubrics)


def check_points(
    first: str, known: Sequence[Criterion], place: str, new: Sequence[Criterion], key: str
) -> None:
    """Criteria of two languages of one conversation must be worth the same."""
    if known and new and [each.points for each in known] != [each.points for each in new]:
        raise DataError(
            f"{place}: conversation {key!r} has criteria with other points than in {first}; a "
            "translation has the same criteria in the same order"
        )


def _check_roles(known: Rubric, new: Rubric) -> None:
    """Turns of two languages of one conversation must be said by the same, one after the other."""
    for code, turns in new.turns.items():
        for other, theirs in known.turns.items():
            if [turn["role"] for turn in turns] != [turn["role"] for turn in theirs]:
                raise DataError(
                    f"{new.place}: conversation {new.id!r} has other turns in {code} "
                    f"({len(turns)}) than in {other} ({len(theirs)}, {known.places[other]}); a "
                    "translation has the same turns, each by the same role"
                )


def _item(rubric: Rubric) -> Question:
    return Question(
        rubric.id,
        rubric.place,
        category=rubric.themes[0] if rubric.themes else "",
        texts={code: {"question": transcript(turns)} for code, turns in rubric.turns.items()},
        places=dict(rubric.places),
    )


# Users' own tables


def _of_table(path: Path, stated: Scripts) -> RubricData:
    """A table with a column `criteria`: questions of one turn."""
    plain = load_custom_dataset(str(path), stated)
    if "criteria" not in plain.columns.once:
        raise DataError(
            f"{path}: has no column 'criteria'; a cell holds one criterion per line, with its "
            "points first: '5: Advises to call an ambulance' (`xling_custom_rubric` also reads "
            "HealthBench's JSONL)"
        )
    rubrics = {
        item.id: Rubric(
            item.id,
            item.place,
            criteria_of(item),
            {
                code: ({"role": "user", "content": own["question"]},)
                for code, own in item.texts.items()
                if "question" in own
            },
            dict(item.places),
            (item.category,) if item.category else (),
        )
        for item in plain.questions
    }
    return RubricData(**vars(plain), rubrics=rubrics)


def criteria_of(item: Question) -> tuple[Criterion, ...]:
    """The criteria of a table's question, the same in every language that has them."""
    criteria = criteria_in(f"{item.place}, column 'criteria'", item.criteria)
    for place, cell in item.criteria_beside:
        check_points(item.place, criteria, place, criteria_in(place, cell), item.id)
    return criteria
