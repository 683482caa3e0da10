"""One frozen record per data set: what it is, where it is, what is expected (`datasets.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from xling_metrics.languages import ALL_LANGUAGES, describe_missing_row
from xling_metrics.yaml_file import read_yaml

from xling_tasks.errors import DataError, refuse_unknown
from xling_tasks.languages import LANGUAGES


@dataclass(frozen=True)
class DatasetInfo:
    """Facts about one data set.

    Attributes:
        licence: SPDX id, or the publisher's words.
        language_names: English names of its languages by code, English first.
        dataset: Its name in results; that of the key if empty.
        file: What its published files are known by: the stem of a table's name, the name of a
            zip, or a bundled file.
        sample: The tasks over the bundled sample of its family.
        version: Raised with every change of a text of a bundled set of prompts, because it moves
            scores; 0 for other data.
        n_small: The first prompts of a bundled set that are its fixed small part, balanced over
            categories (or over who writes); 0 for other data.
        n_rows: Rows (question and answer) in the published file; 0 where nothing is published.
        splits: Questions by split and language, where languages have files of their own.
        sources: The exam that each language's questions are from, where they differ.
        hub_id: Repository on the Hugging Face Hub; None for bundled data.
        revision: Pinned revision on the Hub; None where no revision can be known beforehand
            (a gated repository), in which case the revision used is recorded in the results.
    """

    key: str
    title: str
    licence: str
    citation: str
    language_names: Mapping[str, str]
    dataset: str = ""
    file: str = ""
    download: str = ""
    sample: str = ""
    version: int = 0
    n_small: int = 0
    n_rows: int = 0
    n_questions: int = 0
    splits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    hub_id: str | None = None
    revision: str | None = None
    gated: bool = False
    bundled: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "dataset", self.dataset or self.key)

    @property
    def languages(self) -> tuple[str, ...]:
        """Language codes, English first."""
        return tuple(self.language_names)


_FILE = Path(__file__).with_name("datasets.yaml")
_FIELDS = {field.name for field in fields(DatasetInfo)} - {"key", "language_names"} | {"languages"}


def _read_family(name: str) -> dict[str, DatasetInfo]:
    """Return the records of a family by key; its languages are ours where it names none."""
    rows, records = dict(_CONTENT[name]), {}
    shared = rows.pop("all")
    for key, row in rows.items():
        values = {**shared, **row}
        refuse_unknown(f"{_FILE}, {key}: ", values, _FIELDS)
        codes = values.pop("languages", ["en", *(code for code in LANGUAGES if code != "en")])
        if codes[:1] != ["en"] or len(set(codes)) < len(codes):
            raise DataError(f"{_FILE}, {key}: languages: expected [en, ...], each once: {codes}")
        for code in (*codes, *values.get("sources", ())):
            if code not in ALL_LANGUAGES:
                raise DataError(f"{_FILE}, {key}: {describe_missing_row(code)}")
        names = {code: ALL_LANGUAGES[code].name for code in codes}
        records[key] = DatasetInfo(key=key, language_names=names, **values)
    return records


_CONTENT: dict[str, Any] = read_yaml(_FILE)

XLINGHEALTH = _read_family("xlinghealth")
"""XLingHealth's data sets and the bundled samples by key."""

MMEDBENCH = _read_family("mmedbench")
"""MMedBench and the bundled sample by key."""

PROMPT_SETS = _read_family("prompt_sets")
"""The bundled sets of prompts by key."""

BUNDLED_SAMPLES = frozenset(
    info.dataset for info in (*XLINGHEALTH.values(), *MMEDBENCH.values()) if info.bundled
)
"""The bundled samples by their name in results: to try things with, no data sets to submit."""

DATASETS = {**XLINGHEALTH, **MMEDBENCH, **PROMPT_SETS}
"""Every data set by its key."""

LANGUAGE_NAMES = XLINGHEALTH["liveqa"].language_names
"""The languages of XLingHealth as published by ISO 639-1 code, named as in its column headers."""

MMEDBENCH_LANGUAGES = MMEDBENCH["mmedbench"].language_names
"""The languages of MMedBench by ISO 639-1 code; the names are its files' stems."""
