"""A user's table as questions, whatever its shape; what is wrong is said with its place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from xling_tasks.data.cells import id_in, number_text, plain_id, text_in
from xling_tasks.data.custom.columns import Columns, unknown
from xling_tasks.data.custom.tongues import Scripts, Tongue, checked_script, english_first, tongue
from xling_tasks.data.files import Table
from xling_tasks.errors import DataError, SettingError

LETTERS = "ABCDEFGH"
_ERROR = re.compile(r"#(?:N/[AD]|NV|[¡¿]?[^\W\d_]{2,}(?:/0)?[!?]|#{2,})")
"""What spreadsheets show in a cell that could not be computed (#N/D, #VALOR!, #¿NOMBRE? in other
languages), or that was too narrow for its number."""


@dataclass
class Question:
    """One question with all that the file has of it.

    Attributes:
        id: Its id; the number of the row where the file has none.
        place: Where it begins, for messages.
        row: The number of that row.
        category: Of the file; empty for none.
        correct: Right letters; empty for none.
        criteria: The cell with criteria of a rubric, as it is; None for none. Where several
            languages have one, that of English, or the first.
        criteria_beside: (where it stands, cell) of the other languages.
        texts: Language -> kind (`question`, `answer`, `wrong_answer_1`, `option_a`, ...) -> text.
        places: Language -> where its texts stand.
    """

    id: str
    place: str
    row: int = 0
    category: str = ""
    correct: tuple[str, ...] = ()
    criteria: Any = None
    criteria_beside: list[tuple[str, Any]] = field(default_factory=list)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)

    def said(self, code: str) -> Mapping[str, str]:
        """Kind -> text in a language; nothing where the question is not in it."""
        return self.texts.get(code, {})

    def asked(self, code: str) -> bool:
        """Whether there is a question in a language."""
        return "question" in self.said(code)

    def where(self, code: str) -> str:
        """Where its texts in a language stand, for messages."""
        return self.places.get(code, self.place)

    def options(self, code: str) -> dict[str, str]:
        """Letter -> option in a language."""
        kinds = ((letter, f"option_{letter.lower()}") for letter in LETTERS)
        return {letter: self.said(code)[kind] for letter, kind in kinds if kind in self.said(code)}

    @property
    def letters(self) -> list[str]:
        """The letters of its options, of all its languages together."""
        return sorted({letter for code in self.texts for letter in self.options(code)})


def items_of(
    table: Table, columns: Columns, stated: Scripts
) -> tuple[list[Question], dict[str, Tongue]]:
    """The questions of a table and its languages, English first."""
    items: dict[str, Question] = {}
    tongues, wide = dict(columns.tongues), columns.shape == "wide"
    letters: dict[str, dict[str, tuple[str, ...]]] = {}
    for index in range(len(table.rows)):
        row = _Row(table, index, columns)
        key = row.id()
        if wide:
            texts, what = columns.texts, ""
            if key in items:
                raise DataError(
                    f"{row.place('id')}: id {key!r} stands in row {items[key].row} already"
                )
        else:
            tongue = row.tongue(stated)
            _refuse_another(row, tongue, tongues.setdefault(tongue.code, tongue))
            texts, what = {tongue.code: columns.texts["*"]}, row.place()
        item = items.setdefault(key, Question(key, row.place(), table.numbers[index]))
        given = letters.setdefault(key, {})
        if wide:
            _add_once(item, row, given, what)
        for code, kinds in texts.items():
            if code in item.places:
                raise DataError(
                    f"{row.place('id')}: question {key!r} in {tongues[code].name} stands there "
                    f"already ({item.places[code]}); the same id is the same question"
                )
            item.places[code], item.texts[code] = row.place(), {}
            for kind, column in kinds.items():
                if kind == "correct":
                    given[column] = row.letters(column)
                else:
                    _add(item.texts[code], _texts(table, index, kind, column), row.at(column))
        if wide:
            item.correct = _agreed(item.place, given)
        else:
            _add_once(item, row, given, what, english="en" in texts)
    for key, given in letters.items():
        items[key].correct = _agreed(items[key].place, given)
    return list(items.values()), english_first(tongues)


def key_of(item: Question, columns: Columns) -> str:
    """What a row must not share with another: id, or in the long shape id and language."""
    return item.id if columns.shape == "wide" else f"{item.id}\0{next(iter(item.places))}"


class _Row(NamedTuple):
    """One row of a table, whose columns are understood."""

    table: Table
    number: int
    columns: Columns

    def place(self, name: str = "") -> str:
        """Where the row stands, or its cell of a column that questions have once."""
        return self.table.place(self.number, self.columns.once.get(name))

    def at(self, column: str) -> str:
        """Where a cell stands."""
        return self.table.place(self.number, column)

    def text(self, name: str) -> str | None:
        """The text of a column that questions have once; None without one."""
        column = self.columns.once.get(name)
        return text_in(self.table, self.number, column) if column else None

    def id(self) -> str:
        """The id; of a workbook with what may be the matter where it is missing."""
        column = self.columns.once.get("id")
        if column is None:
            return str(self.number + 1)
        try:
            return id_in(self.table, self.number, column)
        except DataError as error:
            if self.table.sheet is None or "missing" not in str(error):
                raise
            raise DataError(
                f"{error}; if cells are merged, unmerge them and write the id in every row"
            ) from None

    def tongue(self, stated: Scripts) -> Tongue:
        """The language of a row of the long shape, with the script that it states."""
        word, script = self.text("language"), self.text("script")
        if word is None:
            raise DataError(f"{self.place('language')}: the language is missing")
        if script is not None:
            try:
                checked = checked_script(self.place("script"), script)
            except SettingError as error:
                raise DataError(str(error)) from None
            told = (checked, self.text("language_name") or "")
            known = tongue(word, {})
            if known is None:
                stated = {**stated, word.strip().lower().replace("_", "-"): told}
            elif checked != known.script:
                stated, word = {**stated, known.code: told}, known.code
        named = tongue(word, stated)
        if named is None:
            raise DataError(f"{self.place('language')}: {unknown(word)}")
        return named

    def criteria(self) -> Any:
        """The cell with criteria, as it is; `rubric_cells` reads it. None of an empty one."""
        column = self.columns.once.get("criteria")
        cell = None if column is None else self.table.rows[self.number].get(column)
        empty = cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())
        return None if empty else cell

    def letters(self, column: str | None) -> tuple[str, ...]:
        """The right letters in a cell such as `A`, `A, C` or `["A", "C"]`; none of an empty one."""
        cell = self.table.rows[self.number].get(column) if column else None
        if cell is None or cell != cell or cell == "":
            return ()
        listed = isinstance(cell, (list, tuple))
        parts = cell if listed else plain_id(cell).replace(";", ",").split(",")
        letters = sorted({str(part).strip().upper() for part in parts} - {""})
        if any(len(letter) != 1 or letter not in LETTERS for letter in letters):
            raise DataError(
                f"{self.table.place(self.number, column)}: right letters such as A or 'A, C' are "
                f"expected, not {cell!r:.40}"
            )
        return tuple(letters)


_CHINESE = " (zh-TW is Hant; write zh-Hant or zh-Hans in every row)"


def _refuse_another(row: _Row, own: Tongue, first: Tongue) -> None:
    """A language has one script and one name in all rows."""
    if own != first:
        raise DataError(
            f"{row.place('script')}: {own.code!r} is {own.name!r} in {own.script} here and "
            f"{first.name!r} in {first.script} above; write the same script and name in all its "
            f"rows{_CHINESE * (own.code == 'zh')}"
        )


def _add_once(
    item: Question, row: _Row, letters: dict[str, tuple[str, ...]], what: str, english: bool = True
) -> None:
    """Add a row's category, criteria and right letters to those of other rows of its question."""
    category, criteria = row.text("category") or "", row.criteria()
    if category and item.category and category != item.category:
        raise DataError(
            f"{row.place('category')}: question {item.id!r} has category {item.category!r} above "
            f"and {category!r} here; use one"
        )
    item.category = item.category or category
    if criteria is not None and item.criteria is not None:
        item.criteria_beside.append((row.place("criteria"), item.criteria if english else criteria))
    if criteria is not None and (item.criteria is None or english):
        item.criteria = criteria
    letters[what] = row.letters(row.columns.once.get("correct"))


def _add(own: dict[str, str], texts: Iterator[tuple[str, str]], where: str) -> None:
    """Put texts to those that are there; none may stand in two columns."""
    for kind, text in texts:
        if kind in own:
            raise DataError(f"{where}: {kind} stands in another column already; keep one of them")
        own[kind] = text


def _texts(table: Table, index: int, kind: str, column: str) -> Iterator[tuple[str, str]]:
    """(kind, text) of a cell: none of an empty one, several of a list of wrong answers."""
    cell = table.rows[index].get(column)
    if kind == "options" and cell is not None and cell == cell:
        yield from _options(table.place(index, column), cell)
        return
    if kind.startswith("wrong_answer") and isinstance(cell, (list, tuple)):
        for number, text in enumerate(cell, start=1):
            if not isinstance(text, str):
                where = table.place(index, column)
                raise DataError(f"{where}: a list of texts is expected, not {text!r:.40} in it")
            if text.strip():
                yield f"wrong_answer_{number}", text.strip()
        return
    text = text_in(table, index, column)
    if text is None:
        return
    if kind.startswith("wrong_answer") and text[0] + text[-1] == "[]" and _is_list(text):
        raise DataError(
            f"{table.place(index, column)}: a list written as a text; give each wrong answer a "
            "column, as wrong_answer_1, wrong_answer_2, ... (JSONL and Parquet may have a list)"
        )
    if _ERROR.fullmatch(text):
        raise DataError(
            f"{table.place(index, column)}: the cell shows the error {text}; correct its formula, "
            "or empty the cell"
        )
    yield kind, text


def _is_list(text: str) -> bool:
    """Whether a text is a list of texts as JSON or Python writes it."""
    try:
        return all(isinstance(each, str) for each in ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False


def _options(where: str, cell: Any) -> Iterator[tuple[str, str]]:
    """Options of one cell: a mapping of letters, or a list."""
    if isinstance(cell, (list, tuple)):
        cell = dict(zip(LETTERS, cell, strict=False)) if len(cell) <= len(LETTERS) else None
    if not isinstance(cell, Mapping):
        raise DataError(
            f'{where}: options such as {{"A": "...", "B": "..."}} or a list of two to eight texts '
            "are expected; in a table give each a column, as option_a, option_b, ..."
        )
    for letter, text in cell.items():
        if str(letter).upper() not in LETTERS or len(str(letter)) != 1:
            raise DataError(f"{where}: letters A to H are expected, not {letter!r:.20}")
        if isinstance(text, (int, float)) and not isinstance(text, bool) and text == text:
            text = number_text(text)
        if not isinstance(text, (str, type(None))):
            raise DataError(f"{where}, option {letter}: a text is expected, not {text!r:.40}")
        if text and text.strip():
            yield f"option_{str(letter).lower()}", text.strip()


def _agreed(place: str, letters: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The right letters, the same in every language."""
    known = {where: tuple(own) for where, own in letters.items() if own}
    if len(set(known.values())) > 1:
        told = "; ".join(f"{where or 'correct'}: {', '.join(own)}" for where, own in known.items())
        raise DataError(
            f"{place}: the right letters differ between languages ({told}); give the options in "
            "the same order in every language, and one answer"
        )
    return next(iter(known.values()), ())
