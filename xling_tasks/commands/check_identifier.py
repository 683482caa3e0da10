"""`xling check identifier`: on which texts do langid and a second identifier agree?

Numbers only: how many texts each says to be in the language asked for, and how often both say the
same, of whole texts and of their sentences.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xling_metrics.identifiers import Identifier
from xling_metrics.language import identify, knows, sentences
from xling_metrics.languages import language_code

from xling_tasks.commands.table import table
from xling_tasks.data.files import Table, read_tables
from xling_tasks.errors import DataError, did_you_mean
from xling_tasks.models.identifiers import checked, labels_for, second_identifier

_TEXT = ("completion", "answer", "text", "response")


def check_identifier(options: argparse.Namespace) -> str:
    """A row per language: shares by each identifier, and their agreement.

    Raises:
        SettingError: If the identifier is not there.
        DataError: If the file or a column is not there.
    """
    second = second_identifier(str(checked("--second", options.second)))
    by_language = _texts(read_tables(options.file), options.text, options.language)
    rows = [_row(code, texts, second) for code, texts in sorted(by_language.items())]
    if options.json:
        return json.dumps({"second": second.name, "languages": rows}, indent=2)
    shown = [
        {name: value if isinstance(value, (str, int)) else _percent(value)
         for name, value in row.items()}
        for row in rows
    ]  # fmt: skip
    return (
        f"{table(shown)}\n\nPercent of texts with letters, and of their sentences, that are in the "
        f"language asked for; agree: both say the same of it, in it or not. Second: {second.name}."
    )


def _texts(tables: Sequence[Table], text: str | None, language: str) -> dict[str, list[str]]:
    """Language -> its texts."""
    by_language: dict[str, list[str]] = {}
    for sheet in tables:
        column = text or next((name for name in _TEXT if name in sheet.columns), _TEXT[0])
        for name, option in ((column, "--text"), (language, "--language")):
            if name not in sheet.columns:
                known = did_you_mean(name, sheet.columns)
                raise DataError(
                    f"{sheet.place()}: no column {name!r}.{known} Name it with {option}"
                )
        for row in sheet.rows:
            code = language_code(str(row[language] or "").strip())
            if code and row[column] is not None:
                by_language.setdefault(code, []).append(str(row[column]))
    return by_language


def _row(code: str, texts: Sequence[str], second: Identifier) -> dict[str, Any]:
    wanted = labels_for(second.labels, code)
    first: Callable[[str], bool] | None = None
    if knows(code):
        labels = dict.fromkeys(text for whole in texts for text in (whole, *sentences(whole, code)))
        label_of = dict(zip(labels, identify(list(labels)), strict=True))
        first = lambda text: label_of[text] == code  # noqa: E731
    parts = [part for text in texts for part in sentences(text, code)]
    row: dict[str, Any] = {"language": code}
    for what, units in (("texts", texts), ("sentences", parts)):
        row |= _shares(what, units, first, second.in_language(units, wanted) if wanted else None)
    return row


def _shares(
    what: str,
    units: Sequence[str],
    first: Callable[[str], bool] | None,
    second: Sequence[bool | None] | None,
) -> Mapping[str, Any]:
    """How many units there are with letters, and what of them each identifier says."""
    lettered = [i for i, unit in enumerate(units) if any(map(str.isalpha, unit))]
    said: dict[str, list[bool | None]] = {
        "langid": [] if first is None else [first(units[i]) for i in lettered],
        "second": [] if second is None else [second[i] for i in lettered],
    }
    said["agree"] = [a == b for a, b in zip(*said.values(), strict=False)]
    return {
        what: len(lettered),
        **{f"{what}: {who}": _share(verdicts) for who, verdicts in said.items()},
    }


def _share(said: Sequence[bool | None]) -> float | None:
    return sum(map(bool, said)) / len(said) if said else None


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"
