"""The papers' figures, and as scores, to stand beside those of a report."""

from __future__ import annotations

import csv
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.protocols import SOURCES

FILE = Path(__file__).with_name("published.csv")

MEAN = "mean of 5"
"""In place of a temperature: the unweighted mean over those of the paper."""

_MODELS = {"gpt-3.5-turbo": "GPT-3.5", "medalpaca-30b": "MedAlpaca-30b"}
_RATIONALES = ("mmedbench_rationale", "mmedbench_rationale_ft")
_ANSWERS_ONLY = "full fine-tuning, answers only"
_SETTINGS = {
    "mmedbench_mcqa": ("zero-shot", "peft", "full fine-tuning", _ANSWERS_ONLY),
    "mmedbench_mcqa_ft": ("peft", "full fine-tuning", _ANSWERS_ONLY),
    "mmedbench_rationale": ("zero-shot", "peft", "full fine-tuning"),
    "mmedbench_rationale_ft": ("peft", "full fine-tuning"),
}
_LABELS = ("more_comprehensive", "less_comprehensive", "neither", "contradictory", "no_response")
_VERIFIABILITY = {"accuracy": "acc", "auc": "auc_hard"}
_VERIFIABILITY |= {f"{name}_sd": f"{metric}_sd" for name, metric in _VERIFIABILITY.items()}


class PublishedScore(NamedTuple):
    """One published number; fields are empty where the table does not tell them apart.

    The table is called `(derived)` where the paper does not print the number, and it follows from
    some that it prints. A language has two letters, or is `avg`, or `script:latin` and the like; a
    metric that is no fraction ends in `_percent`.
    """

    source: str
    table: str
    model: str
    setting: str
    dataset: str
    language: str
    temperature: str
    metric: str
    value: float

    @property
    def citation(self) -> str:
        """Paper and table."""
        return f"{SOURCES[self.source]}, {self.table}"


@functools.lru_cache(maxsize=4096)  # a report asks for each of its cells
def published(**fields: str) -> tuple[PublishedScore, ...]:
    """Return the scores whose fields have these values, in the file's order."""
    return tuple(
        score
        for score in _read()
        if all(getattr(score, name) == value for name, value in fields.items())
    )


@functools.lru_cache(maxsize=1)
def _read() -> tuple[PublishedScore, ...]:
    with FILE.open(encoding="utf-8", newline="") as handle:
        rows: Iterator[dict[str, Any]] = csv.DictReader(handle)
        return tuple(PublishedScore(**{**row, "value": float(row["value"])}) for row in rows)


def published_model(name: str) -> str:
    """Return the marked name of a paper's model."""
    name = " ".join(name.replace("\xa0", " ").split())
    return f"{_MODELS.get(name, name)} (published)"


def published_scores(
    criterion: str, dataset: str, *, weighed: bool = False
) -> list[dict[str, Any]]:
    """Return the printed scores of a criterion over a dataset, in the form of ours.

    `weighed`: BERTScore of rationales is compared with ours weighed by idf, as equation 4 of
    MMedBench's paper has it.
    """
    makers: Mapping[str, Any] = {
        "correctness": _correctness, "consistency": _consistency, "verifiability": _verifiability,
        "information": _agreement, "empathy": _agreement,
    }  # fmt: skip
    if criterion in _SETTINGS:
        return list(_mmedbench(criterion, dataset, weighed))
    return list(makers[criterion](criterion, dataset)) if criterion in makers else []


def _row(
    figure: PublishedScore, criterion: str, dataset: str, metric: str, scale: float = 1, **more: Any
) -> dict[str, Any]:
    return {
        "model": published_model(figure.model), "criterion": criterion, "dataset": dataset,
        "metric": metric, "temperature": None, "language": figure.language,
        "value": figure.value * scale, "ci_low": None, "ci_high": None, "n": None,
        "setting": figure.setting, "source": figure.citation, **more,
    }  # fmt: skip


def _correctness(criterion: str, dataset: str) -> Iterator[dict[str, Any]]:
    """Labels as shares of all questions of the dataset."""
    for figure in published(source="xlingeval", dataset=dataset):
        label = figure.metric.removeprefix("correctness_").removesuffix("_count")
        if label in _LABELS and figure.metric.endswith("_count"):
            n = DATASETS[dataset].n_questions
            yield _row(figure, criterion, dataset, label, 1 / n, n=n)


def _consistency(criterion: str, dataset: str) -> Iterator[dict[str, Any]]:
    for table in ("Table A9", "Table A10"):
        for figure in published(source="xlingeval", table=table, dataset=dataset):
            yield _row(figure, criterion, dataset, figure.metric, temperature=MEAN)
    for figure in published(source="xlingeval", table="Table A4"):  # it names no dataset
        name = "language_consistency_published"
        yield _row(figure, criterion, dataset, name, 0.01, temperature=float(figure.temperature))


def _verifiability(criterion: str, dataset: str) -> Iterator[dict[str, Any]]:
    for figure in published(source="xlingeval", table="Table A11", dataset=dataset):
        name = _VERIFIABILITY.get(figure.metric, figure.metric)
        yield _row(figure, criterion, dataset, name, temperature=MEAN)


def _agreement(criterion: str, dataset: str) -> Iterator[dict[str, Any]]:
    """Return Table 4, over prompts of the kind of `xling_information` and `xling_empathy`."""
    name = {"information": "information_f1", "empathy": "empathy"}[criterion]
    if dataset == "xling":
        metric = f"{criterion}_consistency"
        for figure in published(source="found_in_translation", table="Table 4", metric=metric):
            yield _row(figure, criterion, dataset, name)


def _mmedbench(criterion: str, dataset: str, weighed: bool) -> Iterator[dict[str, Any]]:
    tables: tuple[str, ...] = ("Table 1", "Table 6")
    if criterion in _RATIONALES:
        tables = ("Table 2", *(f"Table {number}" for number in range(7, 14)))
    for table in tables:
        for figure in published(source="mmedbench", table=table, dataset=dataset):
            if figure.setting in _SETTINGS[criterion]:
                name = figure.metric.removesuffix("_percent").replace("accuracy", "acc")
                name = f"{name}_idf" if weighed and name == "bertscore_f1" else name
                yield _row(figure, criterion, dataset, name, 0.01)


def filtered_scores() -> Iterator[dict[str, Any]]:
    """Yield Table A5: answers that a content filter blocked; it names no criterion or dataset."""
    for figure in published(source="xlingeval", table="Table A5"):
        tau = float(figure.temperature)
        yield _row(figure, "", "", "content_filter_rate", 0.01, temperature=tau)
