"""`xling annotate --form translation`: a page on which people rate XLingHealth's translations.

XLingEval, Table A2: people rate fluency and meaning from 1 to 5. An item is a question with its
correct answer, in English and in another language. The items of a language are drawn over its
datasets in proportion, by seed; the order of questions is the same for every language, so that
languages are compared on the same questions as far as these are usable in all of them. With a
folder of a run, its own translations are rated instead (`answers`).
"""

from __future__ import annotations

import argparse
from typing import Any

from xling_tasks.commands.annotate.answers import annotate_answers
from xling_tasks.commands.annotate.draw import allocate, mixed
from xling_tasks.commands.annotate.page import (
    page_path,
    rating_data,
    said_of_page,
    write_page,
)
from xling_tasks.commands.options import chosen, read_metadata
from xling_tasks.data.records import LANGUAGE_NAMES, XLINGHEALTH
from xling_tasks.data.xlinghealth import Question, XLingHealthData, load
from xling_tasks.errors import DataError, SettingError
from xling_tasks.settings import Settings

N_ITEMS = 50
"""Items per language unless the user says otherwise; ours, not the paper's."""

_SOURCE = "en"
_PUBLISHED = tuple(key for key, record in XLINGHEALTH.items() if not record.bundled)
_TARGETS = tuple(code for code in LANGUAGE_NAMES if code != _SOURCE)


def annotate_translations(options: argparse.Namespace) -> str:
    """Draw the sample, write the page, and say what is on it.

    Raises:
        SettingError: For an option that cannot be.
        DataError: If a dataset cannot be read, or has no translations.
    """
    if options.out_dir is not None and not options.blind and options.resolve is None:
        return annotate_answers(options)
    judged = {"--blind": options.blind}
    judged["--resolve"] = options.resolve is not None
    for name, given in judged.items():
        if given:
            raise SettingError(f"{name} is for --form judge")
    to = page_path(options.to)
    named = ",".join(_PUBLISHED) if options.datasets is None else options.datasets
    keys = chosen("--datasets", named, XLINGHEALTH, "no translations")
    codes = chosen("--for", options.languages, _TARGETS, "no translations")
    n = N_ITEMS if options.n is None else options.n
    if n < len(keys):
        raise SettingError(f"--n {n}: at least {len(keys)}, one item of each dataset")
    settings = Settings.parse(read_metadata(options.metadata), {})
    datasets = {
        key: load(XLINGHEALTH[key], settings.data_dir, settings.dataset) for key in sorted(keys)
    }
    rows: list[dict[str, Any]] = []
    items: list[dict[str, str]] = []
    for code in codes:
        usable = {key: _items(data, key, code) for key, data in datasets.items()}
        sizes = allocate({key: len(own) for key, own in usable.items()}, n)
        items += mixed(usable, sizes, options.seed)
        rows += [_row(code, key, sizes[key], len(usable[key]), datasets[key]) for key in datasets]
    if not items:
        raise DataError(f"{', '.join(keys)}: no question has an answer in English and {codes}")
    source = {key: str(data.provenance.get("sha256", ""))[:12] for key, data in datasets.items()}
    data = rating_data(items, {"seed": options.seed, "n": n, "source": source})
    write_page(to, data)
    return said_of_page(to, data["digest"], rows)


def _items(data: XLingHealthData, key: str, code: str) -> list[dict[str, str]]:
    """The questions of a dataset that can be rated in a language, as the page has them."""
    return [
        {
            "id": f"{key}_{code}/{question.id}",
            "dataset": key,
            "language": code,
            "question_id": question.id,
            "source": source,
            "translation": translation,
        }
        for question in data.questions
        for source, translation in [(_text(question, _SOURCE), _text(question, code))]
        if source and translation
    ]


def _text(question: Question, code: str) -> str | None:
    """A question and its first correct answer in a language; None where one is missing."""
    answer = next((answer.text for answer in question.answers if answer.label == 1), {})
    asked, told = question.text.get(code), answer.get(code)
    return f"{asked}\n\n{told}" if asked and told else None


def _row(code: str, key: str, size: int, usable: int, data: XLingHealthData) -> dict[str, Any]:
    return {
        "language": code,
        "dataset": key,
        "items": f"{size} of {usable:,}",
        "left out: text missing": len(data.questions) - usable,
    }
