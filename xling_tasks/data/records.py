"""One frozen record per dataset: what it is, where it is, what to expect in it."""

from __future__ import annotations

from dataclasses import dataclass

LANGUAGE_NAMES = {"en": "English", "es": "Spanish", "zh": "Chinese", "hi": "Hindi"}
"""The languages of XLingHealth by ISO 639-1 code, named as in its column headers."""


@dataclass(frozen=True)
class DatasetRecord:
    """Facts about one dataset.

    Attributes:
        key: The short name used in task names.
        title: The dataset's own name.
        file_stem: Name of the published file, without its ending.
        languages: ISO 639-1 codes, English first.
        licence: SPDX id, or the publisher's words.
        citation: Where it is described.
        homepage: Where its publisher shows it.
        translation: How the non-English text came about.
        n_rows: Rows (question and answer) in the published file.
        n_questions: Questions in the published file.
        hub_id: Dataset repository on the Hugging Face Hub; None for bundled data.
        revision: Pinned revision on the Hub; None where no revision can be known beforehand
            (a gated repository), in which case the revision used is recorded in the results.
        gated: Whether the Hub asks to accept terms first.
        bundled: Whether the data lies in this package.
    """

    key: str
    title: str
    file_stem: str
    languages: tuple[str, ...]
    licence: str
    citation: str
    homepage: str
    translation: str
    n_rows: int
    n_questions: int
    hub_id: str | None = None
    revision: str | None = None
    gated: bool = False
    bundled: bool = False

    @property
    def language_names(self) -> dict[str, str]:
        """English names of the languages by code, as in the data's column headers."""
        return {code: LANGUAGE_NAMES[code] for code in self.languages}


def _xlinghealth(key: str, title: str, *, n_rows: int, n_questions: int) -> DatasetRecord:
    return DatasetRecord(
        key=key,
        title=title,
        file_stem=title,
        languages=("en", "es", "zh", "hi"),
        licence="apache-2.0",
        citation="Jin et al. 2023, arXiv:2310.13132",
        homepage="https://huggingface.co/datasets/claws-lab/XLingHealth",
        translation="translated from the English originals by the publisher (see the paper)",
        n_rows=n_rows,
        n_questions=n_questions,
        hub_id="claws-lab/XLingHealth",
        gated=True,
    )


RECORDS: dict[str, DatasetRecord] = {
    record.key: record
    for record in (
        _xlinghealth("healthqa", "HealthQA", n_rows=11_340, n_questions=1_134),
        _xlinghealth("liveqa", "LiveQA", n_rows=1_230, n_questions=246),
        _xlinghealth("medicationqa", "MedicationQA", n_rows=3_450, n_questions=690),
        DatasetRecord(
            key="demo",
            title="Demo",
            file_stem="xlinghealth_demo",
            languages=("en", "es", "zh", "hi"),
            licence="Apache-2.0",
            citation="written for this project",
            homepage="bundled with xling-tasks",
            translation="written in four languages for this project, reviewed per language",
            n_rows=120,
            n_questions=24,
            bundled=True,
        ),
    )
}
"""Every dataset by its key."""
