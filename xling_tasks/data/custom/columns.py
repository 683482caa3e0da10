"""What the columns of a user's table mean.

*Wide*: a row is a question: `id`, `question_en`, `answer_en`, `question_sw`, ... *Long*: a row is
a question in one language: `id`, `language`, `question`, `answer`, ...
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from xling_metrics.languages import Language

from xling_tasks.data.tables import Table
from xling_tasks.errors import DataError, did_you_mean
from xling_tasks.languages import language_of

NOTES = "notes"
"""A column for people, which is never read."""

_SHARED = ("id", "category", "correct", "criteria")
_TEXT = re.compile(r"(question|answer|wrong_answer(?:_\d+)?|options?_[a-h]|options|correct)")


class Column(NamedTuple):
    """A column that is read: its kind is `id`, `question`, `wrong_answer_1`, `option_a`, ..."""

    name: str
    kind: str
    language: Language | None = None


def parse_columns(table: Table) -> tuple[str, list[Column], list[str]]:
    """Return a table's shape (`wide` or `long`), the columns that are read, and the others."""
    names: dict[str, str] = {}
    for name in map(str, table.columns):
        if other := names.get(normalize_column(name)):
            raise DataError(f"{table.location()}: columns {other!r} and {name!r} are the same")
        names[normalize_column(name)] = name
    if names.keys() >= {"label", "answer_ids"}:
        raise DataError(
            f"{table.location()}: this is XLingHealth's form, which the tasks xlinghealth_* read"
        )
    if names.keys() >= {"prompt", "rubrics"}:
        raise DataError(
            f"{table.location()}: these are HealthBench's columns; save the file as JSONL"
        )
    is_long = "question" in names and "language" in names
    if not is_long and not any(name.startswith("question_") for name in names):
        raise DataError(f"{table.location()}: {_advise(names)}")
    columns, unused, problems = [], [], []
    for normal, name in names.items():
        column = _parse_wide(name, normal)
        if is_long:
            is_text = _TEXT.fullmatch(normal)
            is_read = is_text or normal in (*_SHARED, "language")
            column = Column(name, _kind(normal) if is_text else normal) if is_read else None
            if normal.startswith("question_"):
                column = "is of a table with a row per question, and there is 'language', too"
        if isinstance(column, str):
            problems.append(f"{table.location(column=name)}: {column}")
        elif column is None:
            unused += [name] if normal != NOTES else []
        else:
            columns.append(column)
    problems += _find_contradictions(table, columns, is_long)
    if problems:
        raise DataError("\n".join(problems))
    return "long" if is_long else "wide", columns, unused


def normalize_column(name: str) -> str:
    """Return a column's name as names are compared: `Question (EN)` is `question_en`."""
    name = unicodedata.normalize("NFKC", name)
    name = "".join(char for char in name if unicodedata.category(char) != "Cf")
    name = re.sub(r"[\W_]+", "_", name.lower()).strip("_")
    # `answer_idx` is MedQA's and MMedBench's.
    return name.replace("reference_answer", "answer").replace("answer_idx", "correct")


def unknown_language(word: str) -> str:
    """Return that a language is not known, and what to do."""
    return (
        f"the language {word!r} is not known here; write its ISO 639 code (sw, pt-BR), or its code "
        "with its script (dag-Latn)"
    )


def _parse_wide(name: str, normal: str) -> Column | str | None:
    """Return the column, what is wrong with it, or None for a column of another kind."""
    if normal in _SHARED:
        return Column(name, normal)
    if normal == "question_id":
        return "may be the question's id or Indonesian; write 'id', or 'question_ind'"
    unknown = None
    for match in re.finditer("_", normal):  # `wrong_answer_2_sw`: kind and language
        kind, word = normal[: match.start()], normal[match.end() :]
        if _TEXT.fullmatch(kind):
            language = language_of(word)
            if language is not None:
                return Column(name, _kind(kind), language)
            unknown = word
    return None if unknown is None else unknown_language(unknown)


def _kind(name: str) -> str:
    return "wrong_answer_1" if name == "wrong_answer" else name.replace("options_", "option_")


def _find_contradictions(table: Table, columns: list[Column], is_long: bool) -> list[str]:
    problems = []
    seen: dict[tuple[str, str], str] = {}
    for name, kind, language in columns:
        key = kind, language.code if language else ""
        if other := seen.get(key):
            subject = f"{kind} in {language.name}" if language else kind
            problems.append(
                f"{table.location()}: columns {other!r} and {name!r} are both {subject}"
            )
        seen[key] = name
    for (_, code), name in seen.items():
        if code and ("question", code) not in seen:
            problems.append(f"{table.location()}: has {name!r}, but no column 'question_{code}'")
    if is_long and ("id", "") not in seen:
        problems.append(
            f"{table.location()}: the column 'id' is missing; it says which rows are the same "
            "question in several languages"
        )
    return problems


def _advise(names: dict[str, str]) -> str:
    """Return that no column has questions, and what may be meant."""
    examples = ["id", "language", "question", "answer", "question_en", "answer_en"]
    slips = (name for name in names if name.startswith(("q", "lang")) and name not in examples)
    slip = next(slips, "")
    hint = f"{slip!r}:{did_you_mean(slip, examples)}" if slip else ""
    if "question" in names:
        hint = "The language of 'question' is not stated: call it question_en, or add 'language'"
    columns = ", ".join(f"{name:.40}" for name in [*names.values()][:20])
    return (
        f"no questions in its columns ({columns}). A row is a question with question_en, "
        "question_sw, ... or a question in one language with id, language, question; the header is "
        f"the first row, so delete a title above it. {hint}"
    ).rstrip()
