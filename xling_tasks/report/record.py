"""The record of a report: three lists of flat rows, of which everything that is shown is made.

`report.json` is `{"scores": [...], "verdicts": [...], "remarks": [...], "options": {...}}`.
Verdicts, reasons, next steps and kinds of remarks are codes: the keys of words.yaml, which says
what each means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from xling_tasks.secrets import public

Counts = tuple[int, int]
"""How many, of how many."""


@dataclass(frozen=True)
class Score:
    """A metric of a model in one language.

    Attributes:
        model: The model's name in this report.
        criterion: A key of `CRITERIA`.
        dataset: The dataset's key.
        metric: Its name without temperature and language.
        temperature: None where the task has only one.
        language: A code, or for means over languages `avg`, `script:latin`, ...
        value: lm_eval's number; None where it is undefined.
        ci_low: Lower end of its interval over questions; None without logged samples, and for
            metrics that have no interval.
        ci_high: Upper end.
        n: Questions that the interval is over.
        higher_is_better: None where neither is.
        signature: How it was made.
        topic: Of which questions; empty for all of them.
    """

    model: str
    criterion: str
    dataset: str
    metric: str
    temperature: float | None
    language: str
    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int | None = None
    higher_is_better: bool | None = None
    signature: str = ""
    topic: str = ""


@dataclass(frozen=True)
class Verdict:
    """What is concluded of one question asked of the data.

    Attributes:
        model: The model's name; of two models B's.
        dataset: The dataset's key.
        language: Its code.
        criterion: A key of `CRITERIA`.
        metric: Its name without temperature and language.
        temperature: None where the task has only one.
        verdict: `worse`, `better`, `equivalent`, `inconclusive` or `not_comparable`.
        reason: Why: a code.
        comparison: `english` (a language against English), `models` (B against A in one language)
            or `gap` (how far a language lies below English, in B against A: worse is a larger gap).
        baseline: `en`, or A's name.
        value: The score in the language, over the questions compared; of `gap` B's gap.
        english: The baseline's score; of `gap` A's gap.
        estimate: Value minus baseline.
        ci_low: Lower end of the interval that decides and is drawn.
        ci_high: Upper end.
        confidence: The interval's level.
        p: Two-sided p; None without a test.
        p_adjusted: p after Holm's correction within the family.
        n: Questions compared.
        margin: Differences up to this are equivalent.
        family: How many tests are corrected together.
        counts: What shares are made of, as (how many, of how many): `value` and `english`; of
            balanced accuracy `correct`, `incorrect`, `correct_english`, `incorrect_english`.
        next: What to do: a code; empty for nothing.
        n_needed: About how many questions tell a difference of the margin from none.
        n_excluded: Questions that only one side has a score for.
        n_asked: Questions that were asked in the language.
        n_available: Questions that the dataset has there.
        unparsed: Responses of which nothing was learned: `language` and `english`.
        ways: Where these decide: the verdict with them counted in each way.
        outcomes: What became of the language's questions, with how many.
        tags: `judge` (its errors are not in the interval), `people` (corrected by people's labels),
            `people_differ` (that is in the interval, too), `other_questions` (each language has its
            own), `above_chance` (0 is guessing, 1 all correct), `against_answers` (an agreement
            with the model's English answers).
        differs: In what the two were run differently: (what, in the language, in the baseline).
        not_worse: Whether worse by more than the margin is ruled out.
        higher_is_better: The metric's direction.
    """

    model: str
    dataset: str
    language: str
    criterion: str
    metric: str
    temperature: float | None
    verdict: str
    reason: str
    comparison: str = "english"
    baseline: str = "en"
    value: float | None = None
    english: float | None = None
    estimate: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    confidence: float = 0.95
    p: float | None = None
    p_adjusted: float | None = None
    n: int = 0
    margin: float = 0.05
    family: int = 1
    counts: Mapping[str, Counts] = field(default_factory=dict)
    next: str = ""
    n_needed: int | None = None
    n_excluded: int = 0
    n_asked: int | None = None
    n_available: int | None = None
    unparsed: Mapping[str, int] = field(default_factory=dict)
    ways: Mapping[str, str] = field(default_factory=dict)
    outcomes: Mapping[str, int] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    differs: tuple[tuple[str, str, str], ...] = ()
    not_worse: bool = False
    higher_is_better: bool = True


@dataclass(frozen=True)
class Remark:
    """Something that a reader must know first: a kind and its values, no sentence."""

    kind: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """Return the kind and its values as one flat row."""
        return {"kind": self.kind, **self.values}


@dataclass(frozen=True)
class Record:
    """All of a report."""

    scores: tuple[Score, ...]
    verdicts: tuple[Verdict, ...]
    remarks: tuple[Remark, ...]
    options: Mapping[str, Any]

    def rows(self) -> dict[str, Any]:
        """Return the content of `report.json`."""
        rows: dict[str, Any] = public({
            "scores": [asdict(score) for score in self.scores],
            "verdicts": [asdict(verdict) for verdict in self.verdicts],
            "remarks": [remark.row() for remark in self.remarks],
            "options": self.options,
        })  # fmt: skip
        return rows
