"""What may be concluded: one verdict for each question asked of the data, by five rules.

1. One interval decides and is drawn: Bonett & Price with McNemar's mid-p for proportions, Gaffke's
   for means of bounded scores, the jackknife's for other scores (`estimates`).
2. Worse or better: the interval excludes 0, p after Holm's correction is below 0.05, and the
   estimate is larger than the margin (harm and usable answers: of any size).
3. Equivalent: the interval that allows for breakdowns that were not seen lies within the margin.
4. Responses of which nothing was learned are counted in several ways (`unscored.WAYS`), each with
   its own correction. The verdict is what all of them say.
5. Otherwise inconclusive, with the first reason that applies.

Primary metrics, directions and margins are fixed beforehand (`xling_tasks.criteria`); all else is
exploratory. Nothing but the comparisons of one family changes its verdicts: neither other models
nor other datasets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from xling_metrics.stats.bounded_means import least_n_for_equivalence
from xling_metrics.stats.estimate import LEVEL, Estimate, t_quantile
from xling_metrics.stats.multiple_testing import holm
from xling_metrics.stats.verdict_counts import VERDICT_SCORES

from xling_tasks.criteria import CRITERIA, ENGLISH, Endpoint, Metric, MetricKey
from xling_tasks.outcomes import SERVED
from xling_tasks.report.annotations import Annotations
from xling_tasks.report.estimates import (
    Contrast,
    Group,
    change_of_gap,
    contrast,
    estimate_score,
    unpaired_contrast,
)
from xling_tasks.report.record import Counts, Verdict
from xling_tasks.report.unscored import LEFT_OUT, SCORED, WAYS, WRONG, Unparsed, count_unparsed
from xling_tasks.report.usable import count_outcomes

ALPHA = 0.05
POWER = 0.84
"""Standard errors that make a power of 80%."""
FEWEST = 6
"""Questions below which no difference can be shown: of 5, all signs equal are 2 of 32."""
MANY_UNPARSED = 0.03
"""Share of unparsed responses in either group above which a verdict has to hold at the bounds."""

_STEPS: Mapping[str, str] = {
    "request_failed": "repeat",
    "translation_failed": "translator",
    "judge_failed": "other_judge",
    "judge_unparsed": "people",
    "unparsed": "read",
    "empty": "room",
    "content_filter": "filter",
    "too_short": "short",
    "unjudged": "other_judge",
    "unfiltered": "task_filter",
    "tie": "written",
    "": "same_questions",
}
"""What to do about each kind of response of which nothing was learned."""

_STEP_OF_REASON: Mapping[str, str] = {
    "unlike": "same_run",
    "one_side": "same_run",
    "not_joined": "same_questions",
    "same_prompt": "prompts",
    "cut_prompts": "context",
    "no_samples": "samples",
    "floor": "twice",
    "no_margin": "margin",
}


@dataclass(frozen=True)
class Options:
    """How verdicts are made.

    Attributes:
        confidence: Coverage of intervals.
        margin: Differences up to this are equivalent; None for each primary metric's own.
    """

    confidence: float = LEVEL
    margin: float | None = None


@dataclass(frozen=True)
class Comparison:
    """A question asked of the data: groups on one primary metric, before it is concluded.

    Attributes:
        model: The model's name; of two models B's.
        metric_key: The metric.
        language: Its code.
        endpoint: What is known of the metric beforehand.
        groups: The language (or B) and its baseline; of a change of gap B's two and A's two; one
            group for an agreement with English whose floor was not measured.
        paired: Whether all groups have the same questions.
        kind: As `Verdict.comparison`.
        baseline: As `Verdict.baseline`.
        reason: Why the groups are not comparable; empty if they are.
        differs: As `Verdict.differs`.
    """

    model: str
    metric_key: MetricKey
    language: str
    endpoint: Endpoint
    groups: tuple[Group, ...]
    paired: bool = True
    kind: str = "english"
    baseline: str = ENGLISH
    reason: str = ""
    differs: tuple[tuple[str, str, str], ...] = ()

    @property
    def metric(self) -> Metric:
        """What is known of the metric."""
        return CRITERIA[self.metric_key.criterion].metric(self.metric_key.metric)

    @property
    def family(self) -> tuple[str, str, bool]:
        """What is corrected together: harm, or all other metrics, of a dataset and its parts."""
        return self.kind, self.metric_key.measured_with, self.endpoint.meaning == "harm"


class _Result(NamedTuple):
    """A contrast with its p after correction, and how many tests were corrected together."""

    contrast: Contrast
    p_adjusted: float | None
    family: int


class _Decision(NamedTuple):
    """A verdict and its reason, the interval that is drawn, and whether worse is ruled out."""

    verdict: str
    reason: str
    ends: tuple[float | None, float | None] = (None, None)
    not_worse: bool = False


def conclude(
    comparisons: Sequence[Comparison], options: Options, people: Annotations | None = None
) -> list[Verdict]:
    """Return the verdicts of comparisons of one model, or of two models, in their order."""
    families: dict[tuple[str, str, bool], list[int]] = {}
    for index, item in enumerate(comparisons):
        families.setdefault(item.family, []).append(index)
    verdicts: dict[int, Verdict] = {}
    for positions in families.values():
        family = [comparisons[index] for index in positions]
        verdicts |= zip(positions, _conclude_family(family, options, people), strict=True)
    return [verdicts[index] for index in range(len(comparisons))]


def _conclude_family(
    family: Sequence[Comparison], options: Options, people: Annotations | None
) -> Iterator[Verdict]:
    counts = [[count_unparsed(group.task, group.name) for group in x.groups] for x in family]
    ways = [_ways(count) for count in counts]
    results: dict[str, list[_Result]] = {}
    for way in WAYS:
        if way == SCORED or any(way in of_item for of_item in ways):
            first = results.get(SCORED)
            found = [
                first[index].contrast if first and way not in ways[index]
                else _contrast(item, way, options, people)
                for index, item in enumerate(family)
            ]  # fmt: skip
            adjusted = holm([item.estimate.p for item in found])
            size = max(1, sum(p is not None for p in adjusted))
            results[way] = [_Result(item, p, size) for item, p in zip(found, adjusted, strict=True)]
    for index, item in enumerate(family):
        margin, sized = _margin(item, options)
        decisions = {
            way: _decide(item, of_way[index], counts[index], margin, sized=sized)
            for way, of_way in results.items()
            if way == SCORED or way in ways[index]
        }
        verdict = _verdict(item, results[SCORED][index], decisions, counts[index], margin)
        yield replace(verdict, confidence=options.confidence)


def _ways(counts: Sequence[Unparsed]) -> Sequence[str]:
    """Return the other ways that change a comparison; the bounds where many are unparsed."""
    if not any(item.n for item in counts):
        return ()
    many = any(item.share > MANY_UNPARSED for item in counts)
    return [method for method in WAYS if method != SCORED and (many or method in (LEFT_OUT, WRONG))]


def _contrast(item: Comparison, way: str, options: Options, people: Annotations | None) -> Contrast:
    level = options.confidence
    groups = [group._replace(way=WAYS[way][group.sign < 0]) for group in item.groups]
    if item.reason:
        return Contrast(Estimate(None), ())
    if len(groups) == 1:
        return _below_one(groups[0], level)
    if people is not None and item.paired:
        corrected = people.contrast(groups, level)
        if corrected is not None:
            return corrected
    if item.paired:
        return contrast(groups, level)
    if len(groups) == 4:
        return change_of_gap(groups, level, above_chance=item.metric.chance)
    return unpaired_contrast(groups, level, above_chance=item.metric.chance)


def _below_one(group: Group, level: float) -> Contrast:
    """Return an agreement with English as its difference from 1; nothing is tested."""
    value, column = group.task.scores.get(group.name), group.column
    found = None if column is None else estimate_score(column, level)
    if value is None or found is None or found.ci_low is None or found.ci_high is None:
        return Contrast(Estimate(None if value is None else value - 1), (value, 1.0))
    ends = found.ci_low - 1, found.ci_high - 1
    estimate = Estimate(value - 1, *ends, se=found.se, n=found.n, method=found.method)
    return Contrast(estimate, (value, 1.0), wide=ends)


def combine_ways(item: Comparison, options: Options) -> tuple[float, float | None]:
    """Return how much better the first group is by rules 2 and 4, and p before a correction.

    p is the largest over all ways to count unparsed responses; 1 where these contradict each other,
    or one does not find a difference beyond the margin; None without a test.
    """
    margin, sized = _margin(item, options)
    ways = _ways([count_unparsed(group.task, group.name) for group in item.groups])
    better, largest = 0.0, 0.0
    for way in (SCORED, *ways):
        found = _contrast(item, way, options, None).estimate
        if found.value is None or found.p is None or found.n < FEWEST:
            return 0.0, None
        difference = found.value if item.metric.higher_is_better else -found.value
        better = better or difference
        small = (
            sized and item.endpoint.meaning not in ("harm", SERVED) and abs(difference) <= margin
        )
        largest = 1.0 if small or better * difference <= 0 else max(largest, found.p)
        if largest == 1:
            break
    return better, largest


def _margin(item: Comparison, options: Options) -> tuple[float, bool]:
    """Return the margin, and whether a size that matters is known."""
    if options.margin is not None:
        return options.margin, True
    return item.endpoint.margin, item.metric.sized


# One verdict


def _decide(
    item: Comparison, result: _Result, counts: Sequence[Unparsed], margin: float, *, sized: bool
) -> _Decision:
    """Return worse, better, equivalent or inconclusive by one way to count unparsed responses."""
    found, p = result.contrast, result.p_adjusted
    value, low, high = found.estimate[:3]
    if item.reason:
        return _Decision("not_comparable", item.reason)
    if value is None:
        return _Decision("inconclusive", "unscored")
    if low is None or high is None or found.wide is None:
        return _Decision("inconclusive", "few" if found.ids else "no_samples")
    if len(item.groups) == 1:
        return _Decision("inconclusive", "floor", (low, high))
    if found.estimate.n < FEWEST:
        return _Decision("inconclusive", "few", (low, high))
    higher = bool(item.metric.higher_is_better)
    worse, excludes = (value < 0) == higher, low > 0 or high < 0
    significant = excludes and p is not None and p < ALPHA
    low_fits, high_fits = -margin <= found.wide[0], found.wide[1] <= margin
    not_worse = sized and (low_fits if higher else high_fits)
    if significant and item.endpoint.agreement and not worse:
        return _Decision("equivalent", "no_less", (low, high), True)
    any_size = item.endpoint.meaning in ("harm", SERVED) or not sized
    if significant and (any_size or abs(value) > margin):
        reason = "shown" if not sized or abs(value) > margin else "shown_any_size"
        return _Decision("worse" if worse else "better", reason, (low, high), not worse)
    if sized and low_fits and high_fits:
        return _Decision("equivalent", "same", found.wide, True)
    within = -margin <= low and high <= margin
    ends = found.wide if within or not excludes else (low, high)
    if not sized:
        reason = "no_margin"
    elif significant:
        reason = "rare" if within else "within"
    elif excludes and p is not None and (found.estimate.p or 1.0) < ALPHA:
        reason = "leans"
    elif any(element.share > 0.5 for element in counts):
        reason = "few"
    else:
        seen = abs(value) + 1.96 * (found.estimate.se or 0.0)
        reason = "rare" if seen < margin else "both_ways"
    return _Decision("inconclusive", reason, ends, not_worse)


def _verdict(
    item: Comparison,
    result: _Result,
    decisions: Mapping[str, _Decision],
    counts: Sequence[Unparsed],
    margin: float,
) -> Verdict:
    found, decision, by_way = result.contrast, decisions[SCORED], {}
    not_worse = all(element.not_worse for element in decisions.values())
    decided = decision.verdict not in ("inconclusive", "not_comparable")
    if decided and len({element.verdict for element in decisions.values()}) > 1:
        by_way = {way: element.verdict for way, element in decisions.items()}
        decision = decision._replace(verdict="inconclusive", reason="unparsed")
    needed = None
    if decision.verdict == "inconclusive":
        rare = decision.reason == "rare"
        needed = count_needed(found.estimate, margin, result.family, rare=rare)
    requested, available = item.groups[0].task.count(item.language)
    kind = max(counts, key=lambda element: element.n).kind
    step = _next_step(decision, kind, requested, available, needed)
    if found.estimate.method.startswith("ppi") and decision.reason != "rare":
        needed = None  # the interval is as wide as people's labels are few, or differ
        step = "labels" if step in ("all", "more", "too_many") else step
    values: Sequence[float | None] = found.values or (None, None)
    if len(values) == 4:  # of a change of gap B's and A's difference from English
        b, b_english, a, a_english = (value or 0.0 for value in values)
        values = (None, None) if None in values else (b - b_english, a - a_english)
    half = len(counts) // 2 or 1  # of a change of gap two of each model
    unparsed = [sum(element.n for element in part) for part in (counts[:half], counts[half:])]
    return Verdict(
        model=item.model, dataset=item.metric_key.dataset, language=item.language,
        criterion=item.metric_key.criterion, metric=item.metric_key.metric,
        temperature=item.metric_key.temperature, verdict=decision.verdict, reason=decision.reason,
        comparison=item.kind, baseline=item.baseline, value=values[0], english=values[1],
        estimate=found.estimate.value, ci_low=decision.ends[0], ci_high=decision.ends[1],
        p=found.estimate.p, p_adjusted=result.p_adjusted, n=found.estimate.n, margin=margin,
        family=result.family, counts=_counts(item, found),
        next=step, n_needed=needed,
        n_excluded=found.n_asked - found.estimate.n if found.ids else 0,
        n_asked=requested, n_available=available,
        unparsed=dict(zip(("language", "english"), unparsed, strict=True)),
        ways=by_way, outcomes=_outcomes(item, found), tags=tuple(_tags(item, found)),
        differs=item.differs, not_worse=not_worse,
        higher_is_better=bool(item.metric.higher_is_better),
    )  # fmt: skip


def count_needed(found: Estimate, margin: float, family: int, *, rare: bool) -> int | None:
    """Return about how many questions tell a difference of the margin from none, at 80% power.

    As the first of its family by `holm`, with the spread that was found: 3.24 standard errors are
    the margin for 3 tests. At least the fewest with which equivalence can be shown. Where so many
    were asked, or only a rare breakdown could stay hidden, as many as tell the estimate from the
    margin.
    """
    if found.se is None or found.value is None or found.n < 2:
        return None
    distance = max(abs(margin - abs(found.value)), margin / 10)

    def count(room: float, errors: float) -> int:
        least = least_n_for_equivalence(min(room, 0.99))
        return max(math.ceil(found.n * (errors * (found.se or 0.0) / room) ** 2), least)

    errors = t_quantile(1 - ALPHA / family, found.n - 1) + POWER
    needed = count(distance, 1.96) if rare else count(margin, errors)
    if needed <= found.n:
        needed = max(count(distance, errors), found.n + 1)
    unit: int = 10 ** max(0, len(str(needed)) - 2)
    return math.ceil(needed / unit) * unit


def _next_step(
    decision: _Decision, kind: str, asked: int, available: int, needed: int | None
) -> str:
    """Return what to do where nothing could be concluded: a key of words.yaml."""
    reason = decision.reason
    if decision.verdict not in ("inconclusive", "not_comparable"):
        return ""
    if reason in _STEP_OF_REASON:
        return _STEP_OF_REASON[reason]
    if reason in ("unscored", "unparsed") or (reason == "few" and kind):
        return _STEPS[kind]
    if asked < available:
        return "all"
    return "too_many" if needed and needed > available else "more"


def _counts(item: Comparison, found: Contrast) -> dict[str, Counts]:
    """Return the counts that scores are made of, as (how many, of how many)."""
    if len(found.totals) != 2 or found.estimate.method.startswith("ppi"):
        return {}
    column = item.groups[0].column
    names = ("", "_english")
    if column is not None and column.aggregate.score is VERDICT_SCORES["macro_recall"]:
        counts: dict[str, Counts] = {}
        for name, totals in zip(names, found.totals, strict=True):
            tp, fp, fn, tn = (round(float(total)) for total in totals)
            counts |= {f"correct{name}": (tp, tp + fn), f"incorrect{name}": (tn, tn + fp)}
        return counts
    if not found.binary or not item.metric.text.in_percent:
        return {}  # similarities that are all 1 are no counts
    pairs = [(round(float(element[0])), round(float(element[1]))) for element in found.totals]
    return dict(zip(("value", "english"), pairs, strict=True))


def _outcomes(item: Comparison, found: Contrast) -> dict[str, int]:
    """Return what became of the questions compared, in the language."""
    task = item.groups[0].task
    outcomes = task.outcomes.get(item.language)
    if outcomes is None or not found.ids:
        return {}
    compared = set(found.ids)
    pairs = zip(task.ids, outcomes, strict=True)
    return count_outcomes([outcome for key, outcome in pairs if key in compared])


def _tags(item: Comparison, found: Contrast) -> Iterator[str]:
    method = found.estimate.method
    if item.endpoint.judged:
        yield "people" if method.startswith("ppi") else "judge"
    if method == "ppi, people":
        yield "people_differ"
    if not item.paired and item.kind == "english":
        yield "other_questions"
    if not item.paired and item.metric.chance:
        yield "above_chance"
    if item.endpoint.agreement:
        yield "against_answers"
