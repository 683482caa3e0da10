"""`xling translate prompts` on a file of one's own: texts that are missing, from English."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_tasks.data.own.columns import NOTES
from xling_tasks.data.own.example import write
from xling_tasks.data.own.load import OwnData, load
from xling_tasks.data.own.rows import Item
from xling_tasks.data.own.rubric_cells import criteria_in
from xling_tasks.data.own.tongues import tongue
from xling_tasks.data.prompts import Prompts
from xling_tasks.errors import DataError
from xling_tasks.languages import language_name
from xling_tasks.models.translate.translator import translator
from xling_tasks.output import refuse_file
from xling_tasks.settings import Settings

Translate = Callable[[Sequence[str], str, str], Sequence[str | None]]

_NOTE = "machine translated: "
_TEXTS = (".csv", ".xlsx")
"""Formats whose cells are texts."""


def translate_own(path: Path, to: Path, settings: Settings) -> str:
    """Write a file with the texts that it lacks in some languages; those there stay.

    Args:
        path: The file.
        to: The new file, wide; its ending says the format.
        settings: With a translator; `languages` are those to fill, else those of the file.

    Raises:
        DataError: If the file is wrong or has no English, or the new one is there already.
    """
    refuse_file(to)
    assert settings.translator is not None
    data = load(str(path), settings.scripts)
    if "en" not in data.tongues:
        raise DataError(f"{path}: has no English, which is translated from; add question_en")
    codes = settings.languages or tuple(code for code in data.tongues if code != "en")
    prompt = Prompts(settings.prompts).get("translate", "en")
    engine = translator(settings.translator, settings.xling_cache, prompt)
    engine.check(*(("en", code) for code in codes))
    made: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    notes: dict[str, list[str]] = {item.id: [] for item in data.items}
    for code in codes:
        _fill(data, code, engine.translate, notes, made, failed)
    every = [*data.tongues, *(code for code in codes if code not in data.tongues)]
    fields = {code: _field(code, data) for code in every}
    write(to, _rows(data.items, fields, notes, as_text=to.suffix.lower() in _TEXTS))
    lost = list(data.columns.unused)
    if data.columns.noted:
        lost.append(f"the {NOTES!r} of before")
    if to.suffix.lower() in _TEXTS and any(isinstance(i.criteria, list) for i in data.items):
        lost.append("tags of criteria")
    lines = [
        f"{language_name(code)}: {made[code]} texts translated"
        + (f", {failed[code]} could not be and are empty" if failed[code] else "")
        for code in codes
    ]
    return "\n".join(
        [
            f"{to}: {len(data.items)} questions in {len(every)} languages.", *lines,
            f"Translator: {engine.signature}",
            "The column 'notes' says which texts are machine translations: have them read by "
            "someone who knows the language.",
            *([f"Not in it: {', '.join(lost)}."] if lost else []),
        ]
    )  # fmt: skip


def _fill(
    data: OwnData, code: str, translate: Translate, notes: dict[str, list[str]],
    made: Counter[str], failed: Counter[str],
) -> None:  # fmt: skip
    """Translate what a language lacks."""
    lacking = [
        (item, kind, text)
        for item in data.items
        for kind, text in item.texts.get("en", {}).items()
        if kind not in item.texts.get(code, {})
    ]
    texts = translate([text for _, _, text in lacking], "en", code)
    for (item, kind, _), text in zip(lacking, texts, strict=True):
        if text is None or text.startswith("="):  # a spreadsheet would run it
            failed[code] += 1
            continue
        # The loaded file is kept in memory for other readers of this process: no text of it moves.
        notes[item.id].append(f"{kind}_{code}\0{text}")
        made[code] += 1


def _rows(
    items: Sequence[Item],
    fields: Mapping[str, str],
    notes: dict[str, list[str]],
    *,
    as_text: bool,
) -> list[dict[str, Any]]:
    """A row per question; `fields` has what a language is called in names of columns."""
    kinds = list(dict.fromkeys(k for item in items for own in item.texts.values() for k in own))
    columns = [f"{kind}_{field}" for field in fields.values() for kind in kinds]
    rows = []
    for item in items:
        new = dict(note.split("\0", 1) for note in notes[item.id])
        texts = {f"{kind}_{code}": text for code, own in item.texts.items()
                 for kind, text in own.items()} | new  # fmt: skip
        named = {f"{kind}_{field}": texts.get(f"{kind}_{code}", "")
                 for code, field in fields.items() for kind in kinds}  # fmt: skip
        row = {"id": item.id, "category": item.category, "correct": ", ".join(item.correct)}
        row["criteria"] = _criteria(item) if as_text else item.criteria
        row |= {column: named[column] for column in columns}
        rows.append({**row, "notes": _NOTE + ", ".join(new) if new else ""})
    unused = [
        name for name in ("category", "correct", "criteria") if not any(row[name] for row in rows)
    ]
    return [{key: text for key, text in row.items() if key not in unused} for row in rows]


def _criteria(item: Item) -> str:
    """A cell of criteria: as it is, or a line for each of a list."""
    if item.criteria is None or isinstance(item.criteria, str):
        return item.criteria or ""
    lines = criteria_in(f"{item.place}, column 'criteria'", item.criteria)
    return "\n".join(f"{each.points:g}: {' '.join(each.text.split())}" for each in lines)


def _field(code: str, data: OwnData) -> str:
    """A language in a column's name, with its script where that is not the usual one.

    `question_id` would be the question's id.
    """
    own, usual = data.tongues.get(code), tongue(code, {})
    field = "ind" if code == "id" else code
    return f"{field}_{own.script}" if own and usual and own.script != usual.script else field
