"""A report's numbers by where they stand, and the papers' figures beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from xling_tasks.criteria import AVERAGE, CRITERIA, Panel
from xling_tasks.data.published import Figure
from xling_tasks.languages import in_order
from xling_tasks.report.model import Cell, Report

XLINGHEALTH_LANGUAGES = ("en", "es", "zh", "hi")
MMEDBENCH_LANGUAGES = ("en", "es", "zh", "fr", "ja", "ru")

_DATASETS = {
    "healthqa": "HealthQA",
    "liveqa": "LiveQA",
    "medicationqa": "MedicationQA",
    "mmedbench": "MMedBench",
    "xling": "prompts of this project",
    "demo": "bundled sample",
}
DATASET_KEYS = {title: key for key, title in _DATASETS.items()}
"""The key of a dataset by its title in tables."""

_PUBLISHED_MODELS = {"gpt-3.5-turbo": "GPT-3.5", "medalpaca-30b": "MedAlpaca-30b"}

DROP_NOTE = (
    "Relative drop vs English: by how many percent of English the value is below it (negative: "
    "above), each over "
    "its own scored questions; undefined for English itself and where English is 0, negative or "
    "missing."
)
SRC_NOTE = (
    "Metrics that end in _src are made on the words of each language, with its own segmenter: a "
    "difference in them is not the model's alone."
)
TOPICS_NOTE = (
    "sim_lda and sim_hdp: topics are found in each language by themselves; intervals and p-values "
    "are over questions and leave out the spread between seeds (_seed_sd in the table of values)."
)
_PAPER = (
    "Published rows ({sources}) are the paper's figures for other models, with its prompts (ours "
    "are worded anew), model versions and data of 2023: read them as orientation."
)


class Bounded(NamedTuple):
    """A value with the ends of its interval; None where undefined or unknown."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


Lookup = Callable[[str, str], Bounded]
"""From metric and language to a number of one model at one temperature."""


class Grid:
    """A report's cells by model, metric and language."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def cell(self, model: str, panel: Panel, language: str) -> Cell | None:
        """One cell; None where nothing was measured."""
        return self.report.by_panel.get(panel, {}).get(model, {}).get(language)

    def of(self, criterion: str, dataset: str) -> Iterator[Cell]:
        """The cells of one criterion over one dataset."""
        for cell in self.report.cells:
            if (cell.panel.criterion, cell.panel.dataset) == (criterion, dataset):
                yield cell

    def datasets(self, criterion: str) -> list[str]:
        """Its datasets; the papers' first, samples last."""
        own = {c.panel.dataset for c in self.report.cells if c.panel.criterion == criterion}
        known = [name for name in _DATASETS if name in own]
        return [*known, *sorted(own - set(known))]

    def models(self, criterion: str, dataset: str) -> list[str]:
        """The models that have it, in the report's order."""
        return list(dict.fromkeys(cell.model for cell in self.of(criterion, dataset)))

    def languages(self, criterion: str, dataset: str) -> list[str]:
        """The languages that any model has; no means over languages."""
        codes = {cell.language for cell in self.of(criterion, dataset)}
        return in_order(code for code in codes if is_language(code))

    def temperatures(self, criterion: str, dataset: str) -> list[float | None]:
        """The temperatures of its metrics, None first."""
        temperatures = {cell.panel.temperature for cell in self.of(criterion, dataset)}
        return sorted(temperatures, key=lambda tau: (tau is not None, tau))

    def metrics(self, criterion: str, dataset: str) -> list[str]:
        """Its metrics' names, in the order in which tasks give them."""
        return list(dict.fromkeys(cell.panel.metric for cell in self.of(criterion, dataset)))

    def lookup(
        self, model: str, criterion: str, dataset: str, tau: float | None = None, scale: float = 1.0
    ) -> Lookup:
        """The numbers of one model at one temperature, each times `scale`."""

        def find(metric: str, language: str) -> Bounded:
            cell = self.cell(model, Panel(criterion, dataset, metric, tau), language)
            if cell is None:
                return Bounded()
            ends = cell.interval
            low, high = (None, None) if ends is None else (ends.low, ends.high)
            return Bounded(times(cell.value, scale), times(low, scale), times(high, scale))

        return find


# Numbers


def decrease_points(value: float | None, base: float | None) -> float | None:
    """By how many percentage points of all questions a share is below English's.

    What XLingEval calls relative decrease (section 3.1): HealthQA in Hindi, 575 and 1013 of 1,134
    questions, is 38.62.
    """
    return None if value is None or base is None else 100 * (base - value)


def drop(value: float | None, base: float | None) -> float | None:
    """By how many percent of the baseline a value is below it; None unless that is above 0."""
    return None if value is None or base is None or base <= 0 else 100 * (base - value) / base


def multiple(value: float | None, base: float | None) -> float | None:
    """A value over the baseline; None unless that is above 0."""
    return None if value is None or base is None or base <= 0 else value / base


def mean_of(values: Sequence[float | None]) -> float | None:
    """The unweighted mean; None if one is missing: a mean over the others would look like it."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def times(value: float | None, scale: float) -> float | None:
    """A number scaled; None stays None."""
    return value if value is None or scale == 1 else value * scale


# Names


def is_language(name: str) -> bool:
    """Whether a cell's language is one, not a mean over several."""
    return name != AVERAGE and ":" not in name


def dataset_title(dataset: str) -> str:
    """A dataset's name for headings."""
    return _DATASETS.get(dataset, dataset)


def heading(criterion: str, dataset: str) -> str:
    """A criterion's heading with the dataset."""
    return f"{CRITERIA[criterion].title}, {dataset_title(dataset)}"


def shown_temperature(tau: float | None) -> str | None:
    """A temperature as text."""
    return None if tau is None else f"{tau:g}"


def published_model(name: str) -> str:
    """The marked name of a paper's model."""
    name = " ".join(name.replace("\xa0", " ").split())
    return f"{_PUBLISHED_MODELS.get(name, name)} (published)"


def lookup_of(figures: Iterable[Figure], names: Mapping[str, str], scale: float = 1.0) -> Lookup:
    """Published figures by our metric's name and language.

    Args:
        figures: The figures of one model and setting.
        names: The papers' metric names by ours; a metric that is not in it has its own name.
        scale: What each figure is multiplied with.
    """
    figure_values = {(item.metric, item.language): item.value for item in figures}

    def find(metric: str, language: str) -> Bounded:
        return Bounded(times(figure_values.get((names.get(metric, metric), language)), scale))

    return find


def by_model(figures: Iterable[Figure]) -> dict[tuple[str, str], list[Figure]]:
    """Figures by (model, setting), in the file's order."""
    grouped: dict[tuple[str, str], list[Figure]] = {}
    for item in figures:
        grouped.setdefault((item.model, item.setting), []).append(item)
    return grouped


def paper_note(figures: Iterable[Figure], template: str = _PAPER) -> str:
    """Where published rows come from and why they differ; empty without any."""
    figures = list(figures)
    sources = dict.fromkeys(item.citation for item in figures)
    worked_out = [
        f"{item.metric} {item.dataset} {item.language} = {item.value:g}"
        for item in figures
        if item.derived
    ]
    said = f" Derived from printed numbers, not printed: {', '.join(worked_out)}."
    return template.format(sources="; ".join(sources)) + said * bool(worked_out) if sources else ""
