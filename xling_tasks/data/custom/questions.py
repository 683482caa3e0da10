"""A user's own questions, read from a table of either shape."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import regex
from xling_metrics.languages import Language

from xling_tasks.data.custom.columns import Column, parse_columns, unknown_language
from xling_tasks.data.tables import Table, Unreadable, clean_cell
from xling_tasks.errors import DataError
from xling_tasks.languages import language_of

LETTERS = "ABCDEFGH"
Turn = Mapping[str, str]
"""`role` and `content`."""


_MAX_POINTS = 1_000_000  # more is an error of the file
# A dash is a minus, never a bullet: what costs points must not earn them.
_LINE = re.compile(r"\s*(?:[*•]\s+)?([+\-−]?\d+(?:\.\d+)?)\s*(?:points?)?\s*[:|]\s*(\S.*?)\s*")


class RubricItem(NamedTuple):
    """What an answer can meet or not; points are negative for what it should not do."""

    text: str
    points: float
    tags: tuple[str, ...] = ()


@dataclass
class Question:
    """One question with all that the file has of it.

    Attributes:
        id: Its id; the number of the row where the file has none.
        category: Its group; that of the English row. Of a conversation its first theme.
        correct: The letters of the correct options.
        rubric: What answers are graded by, from the English row, or from the first that has any.
        texts: Language -> kind (`question`, `answer`, `wrong_answer_1`, `option_a`, ...) -> text.
        turns: Language -> turns of a conversation, of which the last is the user's.
        agreed_categories: What physicians agreed of it (`physician_agreed_category:`).
        canary: What its publisher asks to keep with the data.
    """

    id: str
    location: str
    category: str = ""
    correct: tuple[str, ...] = ()
    rubric: tuple[RubricItem, ...] = ()
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    turns: dict[str, tuple[Turn, ...]] = field(default_factory=dict)
    themes: tuple[str, ...] = ()
    agreed_categories: tuple[str, ...] = ()
    canary: str = ""
    locations: dict[str, str] = field(default_factory=dict)

    def texts_in(self, language: str) -> Mapping[str, str]:
        """Return kind -> text in a language."""
        return self.texts.get(language, {})

    def has_question(self, language: str) -> bool:
        """Return whether the question has a text in a language."""
        return "question" in self.texts_in(language)

    def turns_in(self, language: str) -> tuple[Turn, ...]:
        """Return the turns of a conversation; of a question its one turn."""
        question = self.texts_in(language).get("question", "")
        return self.turns.get(language) or ({"role": "user", "content": question},)

    def options(self, language: str) -> dict[str, str]:
        """Return letter -> option in a language."""
        texts = self.texts_in(language)
        kinds = {letter: f"option_{letter.lower()}" for letter in LETTERS}
        return {letter: texts[kind] for letter, kind in kinds.items() if kind in texts}

    @property
    def letters(self) -> list[str]:
        """The letters of its options in all languages together."""
        return sorted({letter for code in self.texts for letter in self.options(code)})


def read_questions(
    table: Table,
) -> tuple[str, list[Question], dict[str, Language], list[str], list[str]]:
    """Read the questions of a table, and go on after everything that is wrong with it.

    Returns:
        Its shape (`wide` or `long`); its questions, without the rows that have errors; its
        languages by code; the columns that are not read; and what is wrong, a line each, with row
        and column.
    """
    shape, columns, unused = parse_columns(table)
    reader = _Reader(table, columns)
    for row, cells in table.rows.items():
        reader.add(row, cells)
    questions = list(reader.questions.values())
    problems = [line for question in questions for line in check_question(question)]
    return shape, questions, reader.languages, unused, reader.problems + problems


class _Reader:
    """Reads a table row by row, and goes on after what is wrong."""

    def __init__(self, table: Table, columns: Sequence[Column]) -> None:
        self.table, self.problems = table, list[str]()
        self.columns = columns
        self.names = {column.kind: column.name for column in columns}
        self.questions: dict[str, Question] = {}
        self.languages = {c.language.code: c.language for c in columns if c.language}
        self._rows: dict[tuple[str, str], int] = {}

    def add(self, row: int, cells: Mapping[str, Any]) -> None:
        """Add a row to its question."""
        before, location = len(self.problems), self.table.location(row)
        languages = self.languages
        if name := self.names.get("language"):
            word = self._text(row, name, cells[name])
            language = language_of(word) if word else None
            if language is None:
                lacks = unknown_language(word) if word else "the language is missing"
                self._fail(row, name, lacks)
                return
            self.languages.setdefault(language.code, language)
            languages = {language.code: language}
        key = self._read_id(row, cells, languages)
        texts: dict[str, dict[str, str]] = {code: {} for code in languages}
        new = Question(key, location, texts=texts, locations=dict.fromkeys(languages, location))
        for name, kind, language in self.columns:
            cell = cells[name]
            if cell is None or kind in ("id", "language"):
                continue
            if kind == "category":
                new.category = self._text(row, name, cell)
            elif kind == "criteria":
                try:
                    new.rubric = read_rubric(self.table.location(row, name), cell)
                except DataError as error:
                    self.problems.append(str(error))
            elif kind == "correct":
                letters = self._read_letters(row, name, cell)
                if new.correct not in ((), letters):
                    self._fail(row, None, _DIFFERENT_LETTERS)
                new.correct = letters
            else:
                of_language = texts[language.code if language else next(iter(languages))]
                for part, text in self._split(row, name, kind, cell):
                    if part in of_language:
                        self._fail(row, name, f"{part} is in another column already; keep one")
                    of_language[part] = text
        if len(self.problems) == before:
            question = self.questions.setdefault(key, new)
            if question is not new:
                self.problems += merge(question, new)

    def _fail(self, row: int, column: str | None, problem: str) -> None:
        self.problems.append(f"{self.table.location(row, column)}: {problem}")

    def _read_id(self, row: int, cells: Mapping[str, Any], languages: Mapping[str, Any]) -> str:
        """Return the id, which stands once in a wide table, and once a language in a long one."""
        name = self.names.get("id")
        if name is None:
            return str(row)
        key = self._text(row, name, cells[name])
        is_long = "language" in self.names
        first = self._rows.setdefault((key, next(iter(languages)) if is_long else ""), row)
        if not key and not isinstance(cells[name], Unreadable):
            merged = "; if cells are merged, unmerge them and write the id in every row"
            self._fail(row, name, f"the id is missing{merged * bool(self.table.sheet)}")
        elif key and first != row:
            suffix = f" in {next(iter(languages.values())).name}" if is_long else ""
            self._fail(row, name, f"id {key!r}{suffix} is in row {first} already")
        return key

    def _text(self, row: int, column: str, cell: Any) -> str:
        if cell is None or isinstance(cell, str):
            return cell or ""
        is_readable = not isinstance(cell, Unreadable)
        problem = f"a text is expected, not {cell!r:.40}" if is_readable else cell.reason
        self._fail(row, column, problem)
        return ""

    def _read_letters(self, row: int, column: str, cell: Any) -> tuple[str, ...]:
        """Return the correct letters of a cell such as `A`, `a, c` or `["A", "C"]`."""
        parts = cell if isinstance(cell, list) else re.split(r"[\s,;]+", str(cell))
        letters = sorted({str(part).strip().upper() for part in parts} - {""})
        if not {*letters} <= {*LETTERS}:
            problem = f"correct letters such as A or 'A, C' are expected, not {cell!r:.40}"
            self._fail(row, column, problem)
        return tuple(letters)

    def _split(self, row: int, column: str, kind: str, cell: Any) -> Iterator[tuple[str, str]]:
        """Yield the kind and text of a cell; several of a list of options or wrong answers."""
        parts: Mapping[str, Any] = {kind: cell}
        if kind == "options":
            if isinstance(cell, list) and len(cell) <= len(LETTERS):
                cell = dict(zip(LETTERS, cell, strict=False))
            letters = {str(k).upper() for k in cell} if isinstance(cell, Mapping) else {""}
            if not letters <= {*LETTERS}:
                self._fail(
                    row,
                    column,
                    'options such as {"A": "...", "B": "..."} or a list of two to eight texts are '
                    "expected; in a table give each a column, as option_a, option_b, ...",
                )
                return
            parts = {f"option_{str(letter).lower()}": text for letter, text in cell.items()}
        elif kind.startswith("wrong_answer") and isinstance(cell, list):
            parts = {f"wrong_answer_{number}": text for number, text in enumerate(cell, 1)}
        for part, value in parts.items():
            text = self._text(row, column, clean_cell(value))
            if text and part.startswith("wrong_answer") and text[0] + text[-1] == "[]":
                self._fail(
                    row,
                    column,
                    "a list written as a text; give each wrong answer a column, as wrong_answer_1, "
                    "wrong_answer_2, ... (JSONL and Parquet may have a list)",
                )
            elif text:
                yield part, text


_DIFFERENT_LETTERS = (
    "the correct letters differ between languages; give the options in the same order in every "
    "language, and one answer"
)


def merge(question: Question, new: Question) -> Iterator[str]:
    """Add other languages to a question, and yield in what they contradict it.

    What a question has once (category, rubric, ...) is that of its English row, if that has one.
    """
    if question.correct and new.correct and question.correct != new.correct:
        yield f"{new.location}: question {new.id!r}: {_DIFFERENT_LETTERS}"
    points, new_points = (
        [item.points for item in pair_item.rubric] for pair_item in (question, new)
    )
    if points and new_points and points != new_points:
        yield (
            f"{new.location}: {new.id!r} has criteria with other points than in "
            f"{question.location}; a translation has the same criteria in the same order"
        )
    for name in ("category", "correct", "rubric", "themes", "agreed_categories", "canary"):
        if getattr(new, name) and ("en" in new.locations or not getattr(question, name)):
            setattr(question, name, getattr(new, name))
    question.texts |= new.texts
    question.turns |= new.turns
    question.locations |= new.locations


def check_question(question: Question) -> Iterator[str]:
    """Yield what is wrong with a question as a whole."""
    letters = question.letters
    if letters and not {*question.correct} <= {*letters}:
        yield (
            f"{question.location}: the correct letters are {', '.join(question.correct)}, but the "
            f"options {', '.join(letters)}"
        )
    for code, texts in question.texts.items():
        for kind, text in texts.items():
            if kind.startswith("wrong_answer") and is_same_answer(text, texts.get("answer")):
                yield (
                    f"{question.locations[code]}: question {question.id!r}: {kind} equals the "
                    f"answer in {code}; asked as wrong it would be scored wrongly, so write "
                    "another one, or empty the cell"
                )


def is_same_answer(text: str, other: str | None) -> bool:
    """Return whether two texts are equal up to case, spaces and the signs around them."""
    return other is not None and _strip_signs(text) == _strip_signs(other)


@functools.lru_cache(maxsize=100_000)
def _strip_signs(text: str) -> str:
    words = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return _AROUND.sub("", words) or words


_AROUND = regex.compile(r"""^[\p{Pi}\p{Pf}\p{Ps}"'¿¡\s]+|[\p{Pi}\p{Pf}\p{Pe}"'.,;:!?。।؟،۔\s]+$""")
"""Quotes, brackets and ends of sentences; '.5', '-5', '5%' and 'Rh-' are other answers without."""


def tag_values(kind: str, tags: Sequence[str]) -> tuple[str, ...]:
    """Return what tags of a kind say, each once: `theme:hedging` says `hedging` of `theme`."""
    parts = (tag.partition(":") for tag in tags)
    values = (value.strip() for name, _, value in parts if name.strip().lower() == kind)
    return tuple(dict.fromkeys(filter(None, values)))


def read_rubric(location: str, cell: Any) -> tuple[RubricItem, ...]:
    """Return the criteria of a cell: lines with points first, or HealthBench's objects."""
    if cell is None:
        return ()
    if isinstance(cell, Unreadable):
        raise DataError(f"{location}: {cell.reason}")
    if isinstance(cell, str):
        lines = [line for line in cell.splitlines() if line.strip()]
        matches = [*zip(lines, map(_LINE.fullmatch, lines), strict=True)]
        if wrong := [line.strip() for line, match in matches if match is None]:
            raise DataError(
                f"{location}: points, a colon and the criterion are expected, as in '5: Advises "
                f"rest', not {wrong[0]!r:.60}"
            )
        return tuple(RubricItem(m[2], float(m[1].replace("−", "-"))) for _, m in matches if m)
    if not isinstance(cell, list):
        raise DataError(f"{location}: a list of criteria is expected, not {cell!r:.40}")
    return tuple(_read_object(f"{location}, criterion {n}", row) for n, row in enumerate(cell, 1))


def _read_object(location: str, row: Any) -> RubricItem:
    fields = row if isinstance(row, Mapping) else {}
    text, points, tags = fields.get("criterion"), fields.get("points", ""), fields.get("tags") or []
    is_number = type(points) in (int, float) and abs(points) <= _MAX_POINTS
    if not isinstance(text, str) or not text.strip() or not is_number:
        raise DataError(
            f"{location}: a text 'criterion' and a number 'points' (from -{_MAX_POINTS} to "
            f"{_MAX_POINTS}) are expected, not {row!r:.60}"
        )
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise DataError(f"{location}: 'tags' is a list of texts, not {tags!r:.40}")
    return RubricItem(text.strip(), float(points), tuple(tags))
