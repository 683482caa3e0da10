"""What the columns of a user's own table stand for.

Two shapes. *Wide*: a row is a question, `id`, and `question_en, answer_en, question_sw, ...`.
*Long*: a row is a question in one language, `id, language, question, answer, ...`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from unicodedata import category

from xling_tasks.data.custom.tongues import Scripts, Tongue, english_first, tongue
from xling_tasks.data.files import Table
from xling_tasks.errors import DataError, did_you_mean, nearest

ONCE = ("id", "category", "correct", "criteria")
"""Columns that a question has once, whatever its languages."""

OF_ROW = ("language", "language_name", "script")
"""Columns of the long shape alone."""

NOTES = "notes"
"""A column for people, which is never read."""

_OTHER_FORMS = {
    ("prompt", "rubrics"): "these are conversations with rubrics, which xling_custom_rubric reads",
    ("label", "answer_ids"): "this is XLingHealth's form, which the tasks xlinghealth_* read",
}
"""Columns of files that other tasks read."""

_TEXT = re.compile(r"question|answer|wrong_answer(?:_\d+)?|options?_[a-h]|options|correct")

_KINDS = ("question", "answer", "wrong_answer", "options", *(f"option_{x}" for x in "abcd"))

CONVERSATIONS = "conversations"


@dataclass(frozen=True)
class Columns:
    """The columns of a table, understood.

    Attributes:
        shape: `wide` or `long`, or `conversations` for HealthBench's form.
        once: Kind -> column, of `ONCE` and `OF_ROW`.
        texts: Language code -> kind (`question`, `answer`, `wrong_answer`, `option_a`, ...) ->
            column; in the long shape under the code `*`.
        tongues: The languages of a wide table, in its order.
        unused: The columns that stand for nothing here.
        noted: Whether there is a column of notes, which are for people.
    """

    shape: str
    once: Mapping[str, str]
    texts: Mapping[str, Mapping[str, str]]
    tongues: Mapping[str, Tongue] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    noted: bool = False


def normal(name: str) -> str:
    """A column's name as it is compared: `Question (EN)` is `question_en`."""
    name = "".join(c for c in unicodedata.normalize("NFKC", name) if category(c) != "Cf")
    return re.sub(r"[\W_]+", "_", name.lower()).strip("_").replace("reference_answer", "answer")


def understood(table: Table, stated: Scripts) -> Columns:
    """What the columns of a table stand for."""
    names: dict[str, str] = {}
    for column in table.columns:
        other = names.setdefault(normal(column), column)
        if other != column:
            raise DataError(f"{table.place()}: columns {other!r} and {column!r} are the same")
    for of_others, readers in _OTHER_FORMS.items():
        if set(of_others) <= names.keys():
            raise DataError(f"{table.place()}: has the columns {', '.join(of_others)}: {readers}")
    columns = None
    if "question" in names and "language" in names:
        columns = _long(table, names)
    elif any(name.startswith("question_") for name in names):
        columns = _wide(table, names, stated)
    if columns is not None:
        unused = (_with_hint(column, columns, table) for column in columns.unused)
        return replace(columns, unused=(*unused, *table.nameless))
    known = ["id", "language", "question", "answer", "question_en", "answer_en"]
    meant = next(
        (f"{n!r}:{did_you_mean(n, known)}" for n in names if n.startswith(("q", "lang"))), ""
    )
    if "question" in names:
        meant = "Of 'question' the language is not said: call it question_en, or add 'language'"
    raise DataError(
        f"{table.place()}: no questions in its columns ({', '.join(table.columns)}). A row is a "
        "question with question_en, question_sw, ... or a question in one language with id, "
        "language, question; the header is the first row, so delete a title above it. "
        f"{meant}".rstrip()
    )


def _with_hint(column: str, columns: Columns, table: Table) -> str:
    """A column that is not used, with what it may be meant to be: what no row has beside it."""
    codes = [f"_{code}" for code in ("en", *columns.tongues)] if columns.tongues else [""]
    known = {*ONCE, *(f"{kind}{code}" for kind in _KINDS for code in codes)}
    known -= {
        normal(name)
        for name in table.columns
        if normal(name) in known and any(row.get(column) and row.get(name) for row in table.rows)
    }
    near = nearest(normal(column), known, 0.8)
    return f"{column} (did you mean {near}?)" if near else column


def _long(table: Table, names: Mapping[str, str]) -> Columns:
    mixed = [own for name, own in names.items() if name.startswith("question_")]
    if mixed:
        raise DataError(
            f"{table.place()}: has 'language' with 'question' (a row per language) and also "
            f"{mixed[0]!r} (a row per question); keep one of the two"
        )
    if "id" not in names:
        raise DataError(
            f"{table.place()}: the column 'id' is missing; it says which rows are the same "
            "question in several languages"
        )
    texts: dict[str, str] = {}
    once, unused = {}, []
    for name, column in names.items():
        if name in ONCE or name in OF_ROW:
            once[name] = column
        elif _TEXT.fullmatch(name):
            other = texts.setdefault(_kind(name), column)
            if other != column:
                raise DataError(f"{table.place()}: columns {other!r} and {column!r} are the same")
        elif name != NOTES:
            unused.append(column)
    return Columns("long", once, {"*": texts}, unused=tuple(unused), noted=NOTES in names)


def _wide(table: Table, names: Mapping[str, str], stated: Scripts) -> Columns:
    texts: dict[str, dict[str, str]] = {}
    tongues: dict[str, Tongue] = {}
    once, unused = {}, []
    for name, column in names.items():
        if name == "question_id":
            raise DataError(
                f"{table.place()}, column {column!r}: could be the question's id or Indonesian; "
                "write 'id' for the one, 'question_ind' for the other"
            )
        if name in ONCE:
            once[name] = column
            continue
        split = _of_language(name, stated)
        if split is None:
            unused += [] if name == NOTES else [column]
            continue
        kind, word, own = split
        if own is None:
            raise DataError(f"{table.place()}, column {column!r}: {unknown(word)}")
        tongues.setdefault(own.code, own)
        other = texts.setdefault(own.code, {}).setdefault(kind, column)
        if other != column:
            raise DataError(
                f"{table.place()}: columns {other!r} and {column!r} are both {kind} in {own.name}; "
                "keep one"
            )
    for code, kinds in texts.items():
        if "question" not in kinds:
            column = next(iter(kinds.values()))
            raise DataError(
                f"{table.place()}: has {column!r}, but no column 'question_{code}'; add it"
            )
    return Columns("wide", once, texts, english_first(tongues), tuple(unused), NOTES in names)


def _of_language(name: str, stated: Scripts) -> tuple[str, str, Tongue | None] | None:
    """Kind, language's word and language of a wide column; None for a column of another kind."""
    matched = None
    for kind, word in _splits(name):
        own = tongue(word, stated)
        if own is not None:
            return _kind(kind), word, own
        matched = matched or (_kind(kind), word, None)
    return matched


def _splits(name: str) -> Iterator[tuple[str, str]]:
    """Every way to read a column as kind and language: `wrong_answer_2_sw`, `option_a_en`."""
    for place in range(len(name) - 1, 0, -1):
        if name[place] == "_" and _TEXT.fullmatch(name[:place]):
            yield name[:place], name[place + 1 :]


def _kind(name: str) -> str:
    name = re.sub(r"^options_([a-h])$", r"option_\1", name)
    return "wrong_answer_1" if name == "wrong_answer" else name


def unknown(word: str) -> str:
    """That a language is not known, and what to do."""
    return (
        f"the language {word!r} is not known here; write its ISO 639 code (such as 'sw'), or state "
        f'its script: --metadata \'{{"scripts": {{"{word}": "Latn"}}}}\' (a long table: a column '
        "'script', filled in every row). A column of another kind is called otherwise"
    )
