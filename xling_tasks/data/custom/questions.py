"""A user's own questions, read from a table of either shape."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xling_metrics.languages import Language

from xling_tasks.data.choices import normalize_option
from xling_tasks.data.custom.columns import Column, parse_columns, unknown_language
from xling_tasks.data.tables import Table, Unreadable, clean_cell, read_text
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


def read_questions(table: Table) -> tuple[str, list[Question], list[str], list[str]]:
    """Read the questions of a table, and go on after everything that is wrong with it.

    Returns:
        Its shape (`wide` or `long`); its questions, without the rows that have errors; the columns
        that are not read; and what is wrong, a line each, with row and column.
    """
    shape, columns, unused = parse_columns(table.columns)
    reader = _Reader(table, columns)
    for row, cells in table.rows.items():
        reader.add(row, cells)
    questions = list(reader.questions.values())
    problems = [line for question in questions for line in check_question(question)]
    return shape, questions, unused, reader.problems + problems


class _Reader:
    """Reads a table row by row, and goes on after what is wrong."""

    def __init__(self, table: Table, columns: Sequence[Column]) -> None:
        self.table, self.columns = table, columns
        self.problems: list[str] = []
        self.questions: dict[str, Question] = {}
        self._names = {column.kind: column.name for column in columns}
        self._languages = [column.language for column in columns if column.language]
        self._rows: dict[tuple[str, str], int] = {}

    def add(self, row: int, cells: Mapping[str, Any]) -> None:
        """Add a row to its question, unless something is wrong with it."""
        before, languages, key = len(self.problems), self._languages, str(row)
        if name := self._names.get("language"):
            with self._noting(row, name):
                languages = [_read_language(cells[name])]
            if not languages:
                return
        if name := self._names.get("id"):
            with self._noting(row, name):
                key = self._read_id(row, cells[name], languages)
        new = Question(key, self.table.location(row), texts={x.code: {} for x in languages})
        new.locations = dict.fromkeys(new.texts, new.location)
        for name, kind, language in self.columns:
            if cells[name] is not None and kind not in ("id", "language"):
                with self._noting(row, name):
                    _read_cell(new, kind, (language or languages[0]).code, cells[name])
        if len(self.problems) == before:
            question = self.questions.setdefault(key, new)
            if question is not new:
                self.problems += [f"{new.location}: {line}" for line in merge(question, new)]

    @contextmanager
    def _noting(self, row: int, column: str) -> Iterator[None]:
        try:
            yield
        except DataError as error:
            self.problems.append(f"{self.table.location(row, column)}: {error}")

    def _read_id(self, row: int, cell: Any, languages: Sequence[Language]) -> str:
        """Return the id, which stands once in a wide table, and once a language in a long one."""
        key = read_text(cell)
        if not key:
            raise DataError("the id is missing")
        in_language = f" in {languages[0].name}" if "language" in self._names else ""
        first = self._rows.setdefault((key, in_language), row)
        if first != row:
            raise DataError(f"id {key!r}{in_language} is in row {first} already")
        return key


def _read_language(cell: Any) -> Language:
    word = read_text(cell)
    language = language_of(word) if word else None
    if language is None:
        raise DataError(unknown_language(word) if word else "the language is missing")
    return language


def _read_cell(question: Question, kind: str, code: str, cell: Any) -> None:
    """Put what a cell holds into a question; raise a `DataError` if it is not of its kind."""
    if kind == "category":
        question.category = read_text(cell) or ""
    elif kind == "criteria":
        question.rubric = read_rubric(cell)
    elif kind == "correct":
        letters = _read_letters(cell)
        if question.correct not in ((), letters):
            raise DataError(_DIFFERENT_LETTERS)
        question.correct = letters
    else:
        texts = question.texts[code]
        for part, value in _split(kind, cell).items():
            if (text := read_text(clean_cell(value))) and part in texts:
                raise DataError(f"{part} is in another column already; keep one")
            if text and part.startswith("wrong_answer") and text[0] + text[-1] == "[]":
                raise DataError(
                    "a list written as a text; give each wrong answer a column, as wrong_answer_1, "
                    "wrong_answer_2, ... (JSONL and Parquet may have a list)"
                )
            if text:
                texts[part] = text


def _read_letters(cell: Any) -> tuple[str, ...]:
    """Return the correct letters of a cell such as `A`, `a, c` or `["A", "C"]`."""
    parts = cell if isinstance(cell, list) else re.split(r"[\s,;]+", str(cell))
    letters = {str(part).strip().upper() for part in parts} - {""}
    if not letters <= {*LETTERS}:
        raise DataError(f"correct letters such as A or 'A, C' are expected, not {cell!r:.40}")
    return tuple(sorted(letters))


def _split(kind: str, cell: Any) -> Mapping[str, Any]:
    """Return kind -> text of a cell; several of a list of options or of wrong answers."""
    if kind == "options":
        if isinstance(cell, list) and len(cell) <= len(LETTERS):
            cell = dict(zip(LETTERS, cell, strict=False))
        if not isinstance(cell, Mapping) or not {str(key).upper() for key in cell} <= {*LETTERS}:
            raise DataError(
                'options such as {"A": "...", "B": "..."} or a list of two to eight texts are '
                "expected; in a table give each a column, as option_a, option_b, ..."
            )
        return {f"option_{str(letter).lower()}": text for letter, text in cell.items()}
    if kind.startswith("wrong_answer") and isinstance(cell, list):
        return {f"wrong_answer_{number}": text for number, text in enumerate(cell, 1)}
    return {kind: cell}


_DIFFERENT_LETTERS = (
    "the correct letters differ between languages; give the options in the same order in every "
    "language, and one answer"
)


def merge(question: Question, new: Question) -> Iterator[str]:
    """Add other languages to a question, and yield in what they contradict it.

    What a question has once (category, rubric, ...) is that of its English row, if that has one.
    """
    if question.correct and new.correct and question.correct != new.correct:
        yield f"question {new.id!r}: {_DIFFERENT_LETTERS}"
    points, new_points = ([item.points for item in part.rubric] for part in (question, new))
    if points and new_points and points != new_points:
        yield (
            f"{new.id!r} has criteria with other points than in {question.location}; a translation "
            "has the same criteria in the same order"
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
        options, answer = question.options(code), texts.get("answer", "")
        if answer.upper() in options and answer not in options.values():
            yield (
                f"{question.locations[code]}: question {question.id!r}: the answer in {code} is "
                f"{answer!r}, the letter of an option; write it in 'correct', and here its text"
            )
        for kind, text in texts.items():
            if kind.startswith("wrong_answer") and is_same_answer(text, texts.get("answer")):
                yield (
                    f"{question.locations[code]}: question {question.id!r}: {kind} equals the "
                    f"answer in {code}; asked as wrong it would be scored wrongly, so write "
                    "another one, or empty the cell"
                )


# Quotes, brackets and ends of sentences; '.5', '-5', '5%' and 'Rh-' are other answers without.
_BEFORE, _AFTER = " \"'“”„‘’‚«»‹›「『([{¿¡", " \"'“”‘’«»‹›」』)]}.,;:!?。।؟،۔"


def is_same_answer(text: str, other: str | None) -> bool:
    """Return whether two texts are equal up to case, spaces and the signs around them."""

    def plain(text: str) -> str:
        words = normalize_option(text)
        return words.lstrip(_BEFORE).rstrip(_AFTER) or words

    return other is not None and plain(text) == plain(other)


def read_tags(name: str, tags: Any) -> tuple[str, ...]:
    """Return a list of texts; raise a `DataError` for anything else."""
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise DataError(f"{name!r} is a list of texts, not {tags!r:.40}")
    return tuple(tags)


def tag_values(kind: str, tags: Sequence[str]) -> tuple[str, ...]:
    """Return what tags of a kind say, each once: `theme:hedging` says `hedging` of `theme`."""
    parts = (tag.partition(":") for tag in tags)
    values = (value.strip() for name, _, value in parts if name.strip().lower() == kind)
    return tuple(dict.fromkeys(filter(None, values)))


def read_rubric(cell: Any) -> tuple[RubricItem, ...]:
    """Return the criteria of a cell: lines with points first, or HealthBench's objects."""
    if isinstance(cell, list):
        return tuple(_read_criterion(number, row) for number, row in enumerate(cell, 1))
    if cell is not None and not isinstance(cell, (str, Unreadable)):
        raise DataError(f"a list of criteria is expected, not {cell!r:.40}")
    items = []
    for line in (read_text(cell) or "").splitlines():
        match = _LINE.fullmatch(line)
        if match:
            items.append(RubricItem(match[2], float(match[1].replace("−", "-"))))
        elif line.strip():
            raise DataError(
                "points, a colon and the criterion are expected, as in '5: Advises rest', not "
                f"{line.strip()!r:.60}"
            )
    return tuple(items)


def _read_criterion(number: int, row: Any) -> RubricItem:
    fields = row if isinstance(row, Mapping) else {}
    text, points, tags = fields.get("criterion"), fields.get("points", ""), fields.get("tags") or []
    is_number = type(points) in (int, float) and abs(points) <= _MAX_POINTS
    if not isinstance(text, str) or not text.strip() or not is_number:
        raise DataError(
            f"criterion {number}: a text 'criterion' and a number 'points' (from -{_MAX_POINTS} to "
            f"{_MAX_POINTS}) are expected, not {row!r:.60}"
        )
    return RubricItem(text.strip(), float(points), read_tags("tags", tags))
