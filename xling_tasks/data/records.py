"""One frozen record per dataset: what it is, where it is, what to expect in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from xling_tasks.languages import LANGUAGES, language_name

LANGUAGE_NAMES = {code: LANGUAGES[code].name for code in ("en", "es", "zh", "hi")}
"""The languages of XLingHealth by ISO 639-1 code, named as in its column headers."""

MMEDBENCH_LANGUAGES = {code: LANGUAGES[code].name for code in ("en", "zh", "ja", "fr", "ru", "es")}
"""The languages of MMedBench by ISO 639-1 code; the names are its files' stems."""


@dataclass(frozen=True)
class DatasetRecord:
    """Facts about one dataset.

    Attributes:
        key: Its name in task files.
        title: The dataset's own name.
        licence: SPDX id, or the publisher's words.
        citation: Where it is described.
        language_names: English names of its languages by ISO 639-1 code, English first.
        dataset: Its name in results (`criteria.Place`); that of the key if empty.
        homepage: Where its publisher shows it.
        file: What its published files are known by: the stem of a table's name, the name of a
            zip, or a bundled file.
        version: Raised with every change of a text of a bundled set of prompts, because it moves
            scores; 0 for other data.
        n_small: The first prompts of a bundled set that are its fixed small part, balanced over
            categories (or over who writes); 0 for other data.
        translation: How the non-English text came about.
        n_rows: Rows (question and answer) in the published file; 0 where nothing is published.
        n_questions: Questions in the published file.
        splits: Questions by split and language, where languages have files of their own.
        sources: The exam that each language's questions are from, where they differ.
        several: Languages in which a question can have several right answers. For the reader;
            what a file holds is found in the file (`MMedBenchSplit.several`).
        n_checked: Test questions whose rationale passed a human check, all languages (a sample's:
            stands for such a one).
        hub_id: Dataset repository on the Hugging Face Hub; None for bundled data.
        revision: Pinned revision on the Hub; None where no revision can be known beforehand
            (a gated repository), in which case the revision used is recorded in the results.
        gated: Whether the Hub asks to accept terms first.
        bundled: Whether the data lies in this package.
    """

    key: str
    title: str
    licence: str
    citation: str
    language_names: Mapping[str, str]
    dataset: str = ""
    homepage: str = ""
    file: str = ""
    version: int = 0
    n_small: int = 0
    translation: str = ""
    n_rows: int = 0
    n_questions: int = 0
    splits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    several: tuple[str, ...] = ()
    n_checked: int = 0
    hub_id: str | None = None
    revision: str | None = None
    gated: bool = False
    bundled: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "dataset", self.dataset or self.key)

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes, English first."""
        return tuple(self.language_names)


def _by_key(records: Iterable[DatasetRecord]) -> dict[str, DatasetRecord]:
    return {record.key: record for record in records}


_OURS: dict[str, Any] = {"licence": "Apache-2.0", "citation": "written for this project"}
_BUNDLED: dict[str, Any] = {**_OURS, "homepage": "bundled with xling-tasks"}


def _published(key: str, title: str, *, n_rows: int, n_questions: int) -> DatasetRecord:
    return DatasetRecord(
        key=key,
        title=title,
        file=title,
        language_names=LANGUAGE_NAMES,
        licence="apache-2.0",
        citation="Jin et al. 2023, arXiv:2310.13132",
        homepage="https://huggingface.co/datasets/claws-lab/XLingHealth",
        translation="translated from the English originals by the publisher (see the paper)",
        n_rows=n_rows,
        n_questions=n_questions,
        hub_id="claws-lab/XLingHealth",
        gated=True,
    )


XLINGHEALTH = _by_key(
    (
        _published("healthqa", "HealthQA", n_rows=11_340, n_questions=1_134),
        _published("liveqa", "LiveQA", n_rows=1_230, n_questions=246),
        _published("medicationqa", "MedicationQA", n_rows=3_450, n_questions=690),
        DatasetRecord(
            key="demo",
            title="Demo",
            file="xlinghealth_demo",
            language_names=LANGUAGE_NAMES,
            translation="written in four languages for this project, reviewed per language",
            n_rows=120,
            n_questions=24,
            bundled=True,
            **_BUNDLED,
        ),
    )
)
"""XLingHealth's datasets and the bundled sample by key."""

MMEDBENCH = _by_key(
    (
        DatasetRecord(
            key="mmedbench",
            title="MMedBench",
            file="MMedBench.zip",
            language_names=MMEDBENCH_LANGUAGES,
            sources={
                "en": "MedQA",
                "zh": "MedQA",
                "ja": "IgakuQA",
                "fr": "FrenchMedMCQA",
                "ru": "RuMedDaNet",
                "es": "HEAD-QA",
            },
            licence="cc-by-nc-4.0",
            citation="Qiu et al. 2024, arXiv:2402.13963",
            homepage="https://huggingface.co/datasets/Henrychur/MMedBench",
            # Per language as in the paper's figure 3; they add up to its 45,048 and 8,518, and
            # its accuracies are fractions of the six test counts.
            splits={
                "train": dict(en=10_178, zh=27_400, ja=1_590, fr=2_171, ru=1_052, es=2_657),
                "test": dict(en=1_273, zh=3_426, ja=199, fr=622, ru=256, es=2_742),
            },
            several=("ja", "fr"),
            n_checked=1_136,
            hub_id="Henrychur/MMedBench",
            # No revision could be confirmed from here; the one that is used is recorded.
            revision=None,
        ),
        DatasetRecord(
            key="mmedbench_demo",
            dataset="demo",
            title="MMedBench demo",
            file="MMedBench.zip",
            language_names=MMEDBENCH_LANGUAGES,
            sources=dict.fromkeys(MMEDBENCH_LANGUAGES, "written for this project"),
            splits={"test": dict.fromkeys(MMEDBENCH_LANGUAGES, 12)},
            several=tuple(MMEDBENCH_LANGUAGES),
            n_checked=60,
            bundled=True,
            **_BUNDLED,
        ),
    )
)
"""MMedBench and the bundled sample by key."""

_ALL_LANGUAGES = {code: row.name for code, row in LANGUAGES.items()}
PROMPT_SETS = _by_key(
    DatasetRecord(
        key=key,
        dataset="xling",
        title=title,
        file=file,
        language_names=_ALL_LANGUAGES,
        version=version,
        n_small=n_small,
        bundled=True,
        **_OURS,
    )
    for key, title, file, n_small, version in (
        ("information", "Information-seeking prompts", "information_prompts.jsonl", 24, 6),
        ("empathy", "Seeker posts", "seeker_posts.jsonl", 12, 6),
    )
)
"""The bundled sets of prompts by key."""

_AFRICAN = ("en", "af", "am", "bm", "ig", "nso", "sn", "st", "tn", "ts", "xh", "zu")
MMLU_CLINICAL = _by_key(
    DatasetRecord(
        key=key,
        title=title,
        file=kind,
        language_names={code: language_name(code) for code in _AFRICAN},
        licence="mit",
        citation="Hendrycks et al. 2021, arXiv:2009.03300; translated: Bridging the Gap, AAAI 2025",
        translation=translation,
        n_questions=604,
        hub_id=hub_id,
    )
    for key, kind, title, translation, hub_id in (
        (
            "mmlu_clinical", "human", "MMLU-Clinical", "by people, from English",
            "Institute-Disease-Modeling/mmlu-winogrande-afr",
        ),
        ("mmlu_clinical_mt", "mt", "MMLU-Clinical, machine translation",
         "by machine, from English", None),
        ("mmlu_clinical_bt", "bt", "MMLU-Clinical, back-translation",
         "the human translation, back to English by machine", None),
    )
)  # fmt: skip
"""MMLU's clinical subjects in 11 African languages, by kind of translation (`file`)."""

RECORDS = {**XLINGHEALTH, **MMEDBENCH, **MMLU_CLINICAL, **PROMPT_SETS}
"""Every dataset by its key."""
