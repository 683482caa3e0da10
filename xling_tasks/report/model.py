"""What a report is made of: values with intervals, comparisons, the papers' tests."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import Any

from xling_metrics.stats.anova import GroupComparison
from xling_metrics.stats.intervals import Interval
from xling_metrics.stats.paired import PairedDifference
from xling_metrics.stats.resampling import LEVEL, RESAMPLES
from xling_metrics.stats.shares import Range

from xling_tasks.criteria import Panel
from xling_tasks.errors import SettingError
from xling_tasks.report.columns import Column
from xling_tasks.report.data import Model, Task


@dataclass(frozen=True)
class Options:
    """How the statistics are made.

    Attributes:
        seed: Seed of every bootstrap and permutation.
        n_resamples: Resamples of intervals, and permutations of tests at first.
        level: Coverage of intervals.
        margin: Differences up to this are about the same; None for each endpoint's own.
    """

    seed: int = 0
    n_resamples: int = RESAMPLES
    level: float = LEVEL
    margin: float | None = None


def checked(options: Any) -> Options:
    """How the statistics are made, by options of a command line that are checked here."""
    if options.seed < 0:
        raise SettingError(f"--seed: must be an integer from 0, got {options.seed}")
    if options.n_resamples < 1000:
        said = "must be an integer from 1000, or intervals jump"
        raise SettingError(f"--n-resamples: {said}, got {options.n_resamples}")
    for name, share in {"--confidence": options.level, "--margin": options.margin}.items():
        if share is not None and not 0 < share < 1:
            raise SettingError(f"{name}: must be a number between 0 and 1, got {share:g}")
    if options.to is not None and options.to.exists() and not options.to.is_dir():
        raise SettingError(f"--to {options.to}: is a file; name a folder")
    return Options(options.seed, options.n_resamples, options.level, options.margin)


@dataclass(frozen=True)
class Cell:
    """A metric in one language (or mean over languages) of one model.

    Attributes:
        model: The model's short name.
        panel: The metric.
        language: A code, or `avg`, `script:...`, `family:...`.
        value: The harness's own number; None if undefined.
        interval: Its interval over questions; None without logged samples, or where
            no interval is defined.
        better: Whether higher is better; None where neither is.
        signature: How it was made.
        task: The task it stands in.
    """

    model: str
    panel: Panel
    language: str
    value: float | None
    interval: Interval | None
    better: bool | None
    signature: str
    task: Task


@dataclass(frozen=True)
class Comparison:
    """One side against another on one metric.

    Attributes:
        panel: The metric.
        side: What is compared: a language, or a model.
        baseline: What it is compared with.
        context: What both have in common: the model, or the language.
        paired: Whether both sides answered the same questions.
        difference: Side minus baseline, over the questions of both if paired.
        low: Lower end of its interval.
        high: Upper end.
        value: The side's score over those questions.
        base: The baseline's.
        relative: Difference over the baseline's score; None unless that is above 0: rescaled
            BERTScore can be negative, and the share would have the wrong sign.
        p: Two-sided p of the test that the values ask for (see `report.inference`).
        p_holm: Of an endpoint, the same after Holm's correction over the endpoints and languages
            of this model and dataset; None for what is exploratory or not comparable.
        n: Questions compared; unpaired, those of the side.
        left_out: Questions that one side lacks; unpaired 0.
        n_permutations: 0 where the test is another one.
        se: Standard error that the interval is made with.
        method: How the interval is made.
        role: `endpoint`, fixed beforehand, or `exploratory`; empty between models.
        veto: Why the two are not comparable; empty if they are.
        detail: Wilcoxon, effect sizes and wins, for metrics with a value per question.
        binary: Whether each question's value is 0 or 1.
    """

    panel: Panel
    side: str
    baseline: str
    context: str
    paired: bool
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    value: float | None = None
    base: float | None = None
    relative: float | None = field(init=False, default=None)
    p: float | None = None
    n: int = 0
    left_out: int = 0
    n_permutations: int = 0
    detail: PairedDifference | None = None
    p_holm: float | None = None
    se: float | None = None
    method: str = ""
    role: str = ""
    veto: str = ""
    binary: bool = False

    def __post_init__(self) -> None:
        if self.difference is not None and self.base is not None and self.base > 0:
            object.__setattr__(self, "relative", self.difference / self.base)

    def over(self, found: Range, **more: Any) -> Comparison:
        """The same with the numbers of a difference, and others by name."""
        return replace(
            self, difference=found.value, low=found.low, high=found.high, p=found.p, se=found.se,
            method=found.method, **more,
        )  # fmt: skip


@dataclass(frozen=True)
class Classic:
    """The paper's own tests on a metric: the languages as independent samples."""

    model: str
    panel: Panel
    tests: GroupComparison


@dataclass(frozen=True)
class Sides:
    """Two sides of a comparison: a task and its metric each, with their names."""

    side: tuple[Task, str]
    baseline: tuple[Task, str]
    side_name: str
    baseline_name: str
    context: str

    @property
    def columns(self) -> tuple[Column, Column] | None:
        """The values of both; None where one side has none per question."""
        own, base = (task.columns.get(name) for task, name in (self.side, self.baseline))
        return None if own is None or base is None else (own, base)

    def nothing(self, panel: Panel, *, paired: bool = True) -> Comparison:
        """A comparison of them without any number."""
        return Comparison(panel, self.side_name, self.baseline_name, self.context, paired)


@dataclass(frozen=True)
class Conclusion:
    """What is concluded of one endpoint in one language, against English.

    Attributes:
        model: The model's short name.
        dataset: The dataset's key.
        language: Code of the language.
        criterion: A key of `CRITERIA`.
        metric: The endpoint's metric.
        verdict: `worse`, `better`, `equivalent`, `inconclusive` or `not_comparable`.
        reason: Why, in words.
        estimate: Language minus English; for consistency with English, the value minus 1. None
            where not comparable.
        low: Lower end of its interval.
        high: Upper end.
        p: Two-sided p, not corrected; None without a test.
        n: Questions compared.
        margin: Differences up to this are about the same.
        p_holm: p corrected over its family.
        temperature: At which; None where there is only one.
        value: The metric in the language, over the questions compared.
        english: The same in English; 1 for consistency with English.
        meaning: What the endpoint stands for.
        higher_is_better: The metric's direction.
        judge_error_in_interval: Whether estimate and interval take in the judge's own error, by
            people's labels; None for an endpoint without a judge.
        people_error_in_interval: Whether they take in how people's labels differ, too: where two
            or more labelled the same answers.
        family: Conclusions that are corrected together: those of harm, or all others of this model
            and dataset.
        unread: Questions (of verdicts: rows) that were not read in the language.
        unread_english: The same in English.
        ways: Where unread replies decide: how they are counted (empty: as in the tables), and the
            verdict then.
        not_worse: Whether worse by more than the margin is ruled out.
        next: What to do where nothing can be told.
        questions: About how many tell a difference of the margin from none with 80% power.
        outcomes: What became of the questions in the language, with how many, where each has one.
        recalls: Of verdicts on answers how many right ones were called right, of how many, and how
            many wrong ones wrong, of how many: in the language, then in English.
    """

    model: str
    dataset: str
    language: str
    criterion: str
    metric: str
    verdict: str
    reason: str
    estimate: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int
    margin: float
    p_holm: float | None = None
    temperature: float | None = None
    value: float | None = None
    english: float | None = None
    meaning: str = "quality"
    higher_is_better: bool = True
    judge_error_in_interval: bool | None = None
    people_error_in_interval: bool = False
    family: int = 1
    unread: int = 0
    unread_english: int = 0
    ways: tuple[tuple[str, str], ...] = ()
    not_worse: bool = False
    next: str = ""
    questions: int | None = None
    outcomes: tuple[tuple[str, int], ...] = ()
    recalls: tuple[int, ...] = ()

    @property
    def panel(self) -> Panel:
        """The metric."""
        return Panel(self.criterion, self.dataset, self.metric, self.temperature)


@dataclass(frozen=True)
class CorrectedShare:
    """The share of a label of correctness, by the judge alone and corrected by people's labels.

    The interval holds the judge's error. People labelled `labels` of the n answers.
    """

    model: str
    dataset: str
    language: str
    label: str
    judge: float | None
    value: float | None
    low: float | None
    high: float | None
    n: int
    labels: int


@dataclass(frozen=True)
class Report:
    """Everything that tables, pictures and the page are made of.

    Attributes:
        models: The models with their tasks, in the order given.
        cells: Every metric of every model.
        comparisons: Each language against English, corrected for all of them.
        classic: The papers' own tests.
        options: How the statistics were made.
        conclusions: One verdict per model, dataset, language and endpoint.
        corrected: Shares of labels that people's labels correct.
    """

    models: tuple[Model, ...]
    cells: tuple[Cell, ...]
    comparisons: tuple[Comparison, ...]
    classic: tuple[Classic, ...]
    options: Options
    conclusions: tuple[Conclusion, ...] = ()
    corrected: tuple[CorrectedShare, ...] = ()

    @functools.cached_property
    def by_panel(self) -> dict[Panel, dict[str, dict[str, Cell]]]:
        """Panel -> model -> language -> cell, each in the order of `cells`."""
        panels: dict[Panel, dict[str, dict[str, Cell]]] = {}
        for cell in self.cells:
            panels.setdefault(cell.panel, {}).setdefault(cell.model, {})[cell.language] = cell
        return panels
