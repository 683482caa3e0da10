"""What the columns of a user's table mean.

*Wide*: a row is a question: `id`, `question_en`, `answer_en`, `question_sw`, ... *Long*: a row is
a question in one language: `id`, `language`, `question`, `answer`, ...
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from xling_metrics.languages import Language

from xling_tasks.errors import DataError
from xling_tasks.languages import language_of

NOTES = "notes"
"""A column for people, which is never read."""

_SHARED = ("id", "category", "correct", "criteria")
_TEXT = re.compile(
    r"(question|answer|wrong_answer(?:_\d+)?|options?_[a-h]|options|correct)(?:_(.+))?"
)


class Column(NamedTuple):
    """A column that is read: its kind is `id`, `question`, `wrong_answer_1`, `option_a`, ..."""

    name: str
    kind: str
    language: Language | None = None


def parse_columns(columns: Iterable[object]) -> tuple[str, list[Column], list[str]]:
    """Return a table's shape (`wide` or `long`), the columns that are read, and the others.

    Raises:
        DataError: With a line for everything that is wrong; they do not name the file.
    """
    names = {name: normalize_column(name) for name in map(str, columns)}
    normal = {*names.values()}
    if normal >= {"label", "answer_ids"}:
        raise DataError("this is XLingHealth's form, which the tasks xlinghealth_* read")
    is_long = normal >= {"question", "language"}
    if not is_long and not any(name.startswith("question_") for name in normal):
        raise DataError(_advise(names))
    read, unused, problems = [], [], []
    for name in names:
        try:
            column = _parse_column(name, names[name], is_long)
        except DataError as error:
            problems.append(f"column {name!r}: {error}")
            continue
        if column is not None:
            read.append(column)
        elif names[name] != NOTES:
            unused.append(name)
    if problems := [*problems, *_find_contradictions(read, is_long)]:
        raise DataError("\n".join(problems))
    return "long" if is_long else "wide", read, unused


def normalize_column(name: str) -> str:
    """Return a column's name as names are compared: `Question (EN)` is `question_en`."""
    name = unicodedata.normalize("NFKC", name).lower()
    name = re.sub(r"[\W_]+", "_", name).strip("_")
    # `answer_idx` is MedQA's and MMedBench's.
    return re.sub("(?:reference|expert)_answer", "answer", name).replace("answer_idx", "correct")


def unknown_language(word: str) -> str:
    """Return that a language is not known, and what to do."""
    return (
        f"the language {word!r} is not known here; write its ISO 639 code (sw, pt-BR), or its code "
        "with its script (dag-Latn)"
    )


def _parse_column(name: str, normal: str, is_long: bool) -> Column | None:
    """Return what is read of a column; None if nothing is."""
    if normal in _SHARED or (is_long and normal == "language"):
        return Column(name, normal)
    match = _TEXT.fullmatch(normal)
    if match is None or not (is_long or match[2]):
        return None
    kind = "wrong_answer_1" if match[1] == "wrong_answer" else match[1]
    kind = kind.replace("options_", "option_")
    if is_long and match[1] == "question" and match[2]:
        raise DataError("is of a table with a row per question, and there is 'language', too")
    if is_long:
        return None if match[2] else Column(name, kind)
    if normal == "question_id":
        raise DataError("may be the question's id or Indonesian; write 'id', or 'question_ind'")
    language = language_of(match[2])
    if language is None and kind == "correct":
        raise DataError("write 'correct' for letters of options, or 'answer_en', ... for texts")
    if language is None:
        raise DataError(unknown_language(match[2]))
    return Column(name, kind, language)


def _find_contradictions(columns: list[Column], is_long: bool) -> Iterator[str]:
    seen: dict[tuple[str, str], str] = {}
    for name, kind, language in columns:
        key = kind, language.code if language else ""
        if other := seen.get(key):
            subject = f"{kind} in {language.name}" if language else kind
            yield f"columns {other!r} and {name!r} are both {subject}"
        seen[key] = name
    for (_, code), name in seen.items():
        if code and ("question", code) not in seen:
            yield f"has {name!r}, but no column 'question_{code}'"
    if is_long and ("id", "") not in seen:
        yield (
            "the column 'id' is missing; it says which rows are the same question in several "
            "languages"
        )


def _advise(names: Mapping[str, str]) -> str:
    """Return that no column has questions, and what may be meant."""
    hint = " The language of 'question' is not stated: call it question_en, or add 'language'."
    columns = ", ".join(f"{name:.40}" for name in [*names][:20])
    return (
        f"no questions in its columns ({columns}). A row is a question with question_en, "
        "question_sw, ... or a question in one language with id, language, question; the header is "
        f"the first row, so delete a title above it.{hint * ('question' in names.values())}"
    )
