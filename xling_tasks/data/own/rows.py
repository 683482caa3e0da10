"""A user's table as questions, whatever its shape; what is wrong is said with its place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xling_tasks.data.cells import id_in, number_text, plain_id, text_in
from xling_tasks.data.files import Table
from xling_tasks.data.own.columns import Columns, unknown
from xling_tasks.data.own.tongues import Tongue, checked_script, tongue
from xling_tasks.errors import DataError, SettingError

LETTERS = "ABCDEFGH"
_ERROR = re.compile(r"#(?:N/[AD]|NV|[¡¿]?[^\W\d_]{2,}(?:/0)?[!?]|#{2,})")
"""What spreadsheets show in a cell that could not be computed (#N/D, #VALOR!, #¿NOMBRE? in other
languages), or that was too narrow for its number."""


@dataclass
class Item:
    """One question with all that the file has of it.

    Attributes:
        id: Its id; the number of the row where the file has none.
        place: Where it begins, for messages.
        category: Of the file; empty for none.
        correct: Right letters; empty for none.
        criteria: The cell with criteria of a rubric, as it is; None for none. Where several
            languages have one, that of English, or the first.
        criteria_beside: (where it stands, cell) of the other languages.
        texts: Language -> kind (`question`, `answer`, `wrong_answer_1`, `option_a`, ...) -> text.
        places: (language, kind) -> where its text stands.
    """

    id: str
    place: str
    category: str = ""
    correct: tuple[str, ...] = ()
    criteria: Any = None
    criteria_beside: list[tuple[str, Any]] = field(default_factory=list)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)


def items_of(
    table: Table, columns: Columns, stated: Mapping[str, tuple[str, str]]
) -> tuple[list[Item], dict[str, Tongue]]:
    """The questions of a table and its languages, English first.

    Raises:
        DataError: Naming file, row and column of the first thing wrong.
    """
    if columns.shape == "wide":
        return list(_wide(table, columns)), dict(columns.tongues)
    return _long(table, columns, stated)


def key_of(item: Item, columns: Columns) -> str:
    """What a row must not share with another: id, or in the long shape id and language."""
    return item.id if columns.shape == "wide" else f"{item.id}\0{next(iter(item.places))}"


def _wide(table: Table, columns: Columns) -> Iterator[Item]:
    first: dict[str, int] = {}
    id_column = columns.once.get("id")
    for index in range(len(table.rows)):
        key = _id(table, index, id_column) if id_column else str(index + 1)
        other = first.setdefault(key, index)
        if other != index:
            raise DataError(
                f"{table.place(index, id_column)}: id {key!r} stands in row "
                f"{table.numbers[other]} already"
            )
        item = Item(key, table.place(index))
        item.category = _once(table, index, columns, "category")
        item.criteria = _criteria(table, index, columns)
        letters = {"": _letters(table, index, columns.once.get("correct"))}
        for code, kinds in columns.texts.items():
            own = item.texts[code] = {}
            item.places[code] = item.place
            for kind, column in kinds.items():
                if kind == "correct":
                    letters[column] = _letters(table, index, column)
                else:
                    _add(own, _texts(table, index, kind, column), table.place(index, column))
        item.correct = _agreed(table.place(index), letters)
        yield item


_CHINESE = " (zh-TW is Hant; write zh-Hant or zh-Hans in every row)"


def _long(
    table: Table, columns: Columns, stated: Mapping[str, tuple[str, str]]
) -> tuple[list[Item], dict[str, Tongue]]:
    items: dict[str, Item] = {}
    tongues: dict[str, Tongue] = {}
    letters: dict[str, dict[str, tuple[str, ...]]] = {}
    for index in range(len(table.rows)):
        key = _id(table, index, columns.once["id"])
        own = _tongue(table, index, columns, stated)
        if tongues.setdefault(own.code, own) != own:
            first = tongues[own.code]
            raise DataError(
                f"{table.place(index, columns.once.get('script'))}: {own.code!r} is "
                f"{own.name!r} in {own.script} here and {first.name!r} in {first.script} above; "
                f"write the same script and name in all its rows{_CHINESE * (own.code == 'zh')}"
            )
        item = items.setdefault(key, Item(key, table.place(index)))
        if own.code in item.places:
            raise DataError(
                f"{table.place(index, columns.once['id'])}: question {key!r} in {own.name} stands "
                f"there already ({item.places[own.code]}); the same id is the same question"
            )
        item.places[own.code] = table.place(index)
        item.texts[own.code] = {}
        for kind, column in columns.texts["*"].items():
            texts = _texts(table, index, kind, column)
            _add(item.texts[own.code], texts, table.place(index, column))
        category = _once(table, index, columns, "category")
        if category and item.category and category != item.category:
            raise DataError(
                f"{table.place(index, columns.once['category'])}: question {key!r} has category "
                f"{item.category!r} above and {category!r} here; use one"
            )
        item.category = item.category or category
        criteria = _criteria(table, index, columns)
        if criteria is not None:
            if item.criteria is not None:
                beside = item.criteria if own.code == "en" else criteria
                item.criteria_beside.append((table.place(index, columns.once["criteria"]), beside))
            if item.criteria is None or own.code == "en":
                item.criteria = criteria
        given = _letters(table, index, columns.once.get("correct"))
        letters.setdefault(key, {})[table.place(index)] = given
    for key, own_letters in letters.items():
        items[key].correct = _agreed(items[key].place, own_letters)
    ordered = {code: tongues[code] for code in sorted(tongues, key=lambda c: c != "en")}
    return list(items.values()), ordered


def _id(table: Table, index: int, column: str) -> str:
    """A row's id; of a workbook with what may be the matter where it is missing."""
    try:
        return id_in(table, index, column)
    except DataError as error:
        if table.sheet is None or "missing" not in str(error):
            raise
        raise DataError(
            f"{error}; if cells are merged, unmerge them and write the id in every row"
        ) from None


def _tongue(
    table: Table, index: int, columns: Columns, stated: Mapping[str, tuple[str, str]]
) -> Tongue:
    """The language of a row of the long shape, with the script that it states."""
    column = columns.once["language"]
    word = text_in(table, index, column)
    if word is None:
        raise DataError(f"{table.place(index, column)}: the language is missing")
    script = text_in(table, index, columns.once["script"]) if "script" in columns.once else None
    name = columns.once.get("language_name")
    if script is not None:
        code = word.strip().lower().replace("_", "-")
        try:
            checked = checked_script(table.place(index, columns.once["script"]), script)
        except SettingError as error:
            raise DataError(str(error)) from None
        shown = (text_in(table, index, name) or "") if name else ""
        known = tongue(word, {})
        if known is None:
            stated = {**stated, code: (checked, shown)}
        elif checked != known.script:
            stated = {**stated, known.code: (checked, shown)}
            word = known.code
    named = tongue(word, stated)
    if named is None:
        raise DataError(f"{table.place(index, column)}: {unknown(word)}")
    return named


def _once(table: Table, index: int, columns: Columns, name: str) -> str:
    column = columns.once.get(name)
    return "" if column is None else (text_in(table, index, column) or "")


def _criteria(table: Table, index: int, columns: Columns) -> Any:
    """The cell with criteria, as it is; `rubric_cells` reads it. None of an empty one."""
    column = columns.once.get("criteria")
    cell = None if column is None else table.rows[index].get(column)
    empty = cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())
    return None if empty else cell


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


def _letters(table: Table, index: int, column: str | None) -> tuple[str, ...]:
    """The right letters in a cell such as `A`, `A, C` or `["A", "C"]`; none of an empty one."""
    cell = table.rows[index].get(column) if column else None
    if cell is None or cell != cell or cell == "":
        return ()
    parts = cell if isinstance(cell, (list, tuple)) else plain_id(cell).replace(";", ",").split(",")
    letters = sorted({str(part).strip().upper() for part in parts} - {""})
    if any(len(letter) != 1 or letter not in LETTERS for letter in letters):
        raise DataError(
            f"{table.place(index, column)}: right letters such as A or 'A, C' are expected, "
            f"not {cell!r:.40}"
        )
    return tuple(letters)


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
