"""The page of `xling annotate`: one HTML file that loads nothing, sends nothing, and runs offline.

The texts on it come from language models and may be hostile; `xling_tasks.pages.offline` says what
keeps them texts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_tasks.commands.table import table
from xling_tasks.criteria import OPTIONS
from xling_tasks.criteria.labels import MEANINGS
from xling_tasks.errors import SettingError
from xling_tasks.languages import language_name
from xling_tasks.logs.annotations import OTHER_LABELS
from xling_tasks.output import refuse_file, writing
from xling_tasks.pages import texts
from xling_tasks.pages.offline import offline_page

TEXTS = "texts"
"""What a page is of on which native speakers read our prompts (`tests/tools/texts.py`)."""

ANSWERS = "answers"
"""What a page is of that rates a run's translations of its answers, in pages and exports."""

TRANSLATION = "translation"
"""The name of the form with scales, in pages and exports; the check of a judge has none."""


RATING = {"form": TRANSLATION, "blind": False}
"""How a page is made on which people rate translations."""


def page_data(items: Sequence[Mapping[str, Any]], made: Mapping[str, Any]) -> dict[str, Any]:
    """What the page's script reads; with `RATING` in MADE its items are rated on `scales_of` it.

    MADE, how the items were drawn, goes into every export. The data's `digest` is the page's
    identity: equal content, equal digest.
    """
    codes = dict.fromkeys(item["language"] for item in items)
    asked: dict[str, Any] = {"labels": _labels()}
    if made.get("form") == TRANSLATION:
        scales = [
            {"key": key, "title": key.capitalize(), **scale}
            for key, scale in scales_of(made.get("of")).items()
        ]
        asked = {"labels": [], "scales": scales}
    data = {
        "made": dict(made),
        **asked,
        "languages": [{"code": code, "name": language_name(code)} for code in codes],
        "items": [dict(item) for item in items],
    }
    digest = hashlib.sha256(json.dumps(data, sort_keys=True).encode("ascii")).hexdigest()
    return {"digest": digest[:16], **data}


def _labels() -> list[dict[str, Any]]:
    """The judge's labels, and those that only people may give."""
    judged = [
        {"key": key, "wording": OPTIONS[key], "meaning": told} for key, told in MEANINGS.items()
    ]
    others = texts()["annotate"]["others"]
    return judged + [{"key": key, **others[key], "people": True} for key in OTHER_LABELS]


def scales_of(what: object) -> Mapping[str, Mapping[str, Any]]:
    """Scale -> `question` and `steps` (what 1 and more mean), by what a page is of.

    `ANSWERS` (arXiv:2505.21999, Table 3), `TEXTS`, else a dataset's translations (XLingEval, Table
    A2); in our words.
    """
    scales: dict[str, dict[str, Any]] = texts()["annotate"]["scales"]
    return scales[str(what) if str(what) in scales else "data"]


def render(data: Mapping[str, Any]) -> str:
    """The page as HTML."""
    rating = data["made"].get("form") == TRANSLATION
    title = "Rating of translations" if rating else "Check of a judge"
    if data["made"].get("of") == TEXTS:
        title = "Reading of texts"
    return offline_page(
        "annotate", data, title=title, digest=data["digest"], shared=("reading",), styles=("fonts",)
    )


def page_path(to: Path) -> Path:
    """The path of a page to write; none that is there: people may be at work on it."""
    if to.suffix.lower() not in (".html", ".htm"):
        raise SettingError(f"--to {to}: name a file that ends in .html")
    refuse_file(to)
    return to


def write_page(to: Path, data: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """Write the page; returns what is said of it: its items in ROWS, and what to do with it."""
    with writing(to):
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(render(data), encoding="utf-8", newline="\n")
    return (
        f"{table(rows)}\n\n{to} (page {data['digest']}). Send it to every annotator; then: "
        "xling agreement FILE.json FILE.json ..."
    )
