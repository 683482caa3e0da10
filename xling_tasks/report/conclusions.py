"""What may be concluded: one verdict per model, dataset, language and endpoint, from a closed list.

Endpoints, their directions and margins are fixed beforehand (`xling_tasks.criteria`); all else is
exploratory. The p-values of one model over one dataset are corrected together (Holm), and nothing
else that stands in a report changes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from xling_metrics.stats.multiple import holm

from xling_tasks.criteria import CRITERIA, ENGLISH, Endpoint, Panel, panel_of
from xling_tasks.languages import rank
from xling_tasks.report.data import Model, Task
from xling_tasks.report.inference import DETECTABLE
from xling_tasks.report.model import Comparison, Conclusion, Options, Sides
from xling_tasks.report.stats import Statistics, english_pairs
from xling_tasks.report.unlike import made_unlike
from xling_tasks.report.unread import read_as
from xling_tasks.report.vetoes import Rates, vetoes, why

WORSE, BETTER, SAME = "worse", "better", "about_the_same"
UNSURE, APART = "cannot_tell", "not_comparable"
VERDICTS = (WORSE, BETTER, SAME, UNSURE, APART)
ALPHA = 0.05
FEWEST = 6
"""Questions below which swaps cannot reach p = 0.05: of 5, all sides turned are 2 of 32."""


@dataclass(frozen=True)
class Case:
    """One endpoint before it is concluded.

    Attributes:
        endpoint: What is known of it beforehand.
        comparison: The difference from English, with interval and p.
        veto: Why it is not comparable; empty if it is.
        bounds: The same comparison with all unread replies right, and all wrong; empty if all
            replies were read.
        against_one: Whether the value is itself an agreement with English, of which 1 is all.
    """

    endpoint: Endpoint
    comparison: Comparison
    veto: str
    bounds: tuple[Comparison, ...] = ()
    against_one: bool = False


def conclusions_of(statistics: Statistics, model: Model) -> list[Conclusion]:
    """Every conclusion of a model, in the order of criteria, datasets and languages."""
    conclusions: list[Conclusion] = []
    cases = list(_cases(statistics, model))
    for dataset in dict.fromkeys(case.comparison.panel.dataset for case in cases):
        own = [case for case in cases if case.comparison.panel.dataset == dataset]
        tested = [case.comparison.p if not case.veto else None for case in own]
        conclusions += [
            concluded(case, p, statistics.options)
            for case, p in zip(own, holm(tested), strict=True)
        ]
    return sorted(conclusions, key=_place)


def _place(item: Conclusion) -> tuple[str, int, tuple[int, str, str], int]:
    """Dataset, criterion, language, endpoint: harm before help."""
    criterion = CRITERIA[item.criterion]
    metrics = [endpoint.metric for endpoint in criterion.endpoints]
    return (
        item.dataset,
        list(CRITERIA).index(item.criterion),
        rank(item.language),
        metrics.index(item.metric),
    )


def concluded(case: Case, p_holm: float | None, options: Options) -> Conclusion:
    """The verdict that the numbers allow."""
    item, panel = case.comparison, case.comparison.panel
    margin = case.endpoint.margin if options.margin is None else options.margin
    better = bool(CRITERIA[panel.criterion].metrics[panel.metric].higher_is_better)
    base = Conclusion(
        model=item.context, dataset=panel.dataset, language=item.side, criterion=panel.criterion,
        metric=panel.metric, verdict=APART, reason=case.veto, estimate=None, low=None, high=None,
        p=None, n=item.n, margin=margin, detectable=None, temperature=panel.temperature,
        meaning=case.endpoint.meaning, higher_is_better=better,
        judge_error_in_interval=item.method == "ppi" if case.endpoint.judged else None,
    )  # fmt: skip
    if case.veto:
        return base
    full = replace(
        base, estimate=item.difference, low=item.low, high=item.high, p=item.p, p_holm=p_holm,
        detectable=None if item.se is None else DETECTABLE * item.se, value=item.value,
        english=item.base,
    )  # fmt: skip
    verdict, reason = judged(full, against_one=case.against_one)
    said = replace(full, verdict=verdict, reason=reason)
    return _with_unread(said, base, case.bounds)


def judged(item: Conclusion, *, against_one: bool = False) -> tuple[str, str]:
    """Verdict and reason from estimate, interval, p and margin.

    A difference can be shown and lie within the margin: it is then about the same, except of harm,
    where what is shown is named, however small.
    """
    if item.estimate is None:
        return UNSURE, "no question has a score on both sides"
    if item.low is None or item.high is None:
        few = "too few questions for an interval"
        return UNSURE, few if item.n else "no interval: no samples were logged"
    apart = not item.low <= 0 <= item.high
    real = apart and item.p_holm is not None and item.p_holm < ALPHA
    inside = -item.margin <= item.low and item.high <= item.margin
    if inside and not (real and item.meaning == "harm"):
        shown = "; a smaller difference is likely real" if real and not against_one else ""
        return SAME, f"the interval lies within {item.margin:g} on both sides{shown}"
    if against_one:
        if item.high < -item.margin and item.p_holm is not None and item.p_holm < ALPHA:
            return WORSE, (
                f"less in common with the English answers than 1 - {item.margin:g}; how much two "
                "English answers would have in common is not measured"
            )
    elif real:
        worse = (item.estimate < 0) == item.higher_is_better
        small = f"; it is at most {item.margin:g}, and of harm that counts" if inside else ""
        said = f"the interval excludes 0, and the corrected p is small{small}"
        return (WORSE if worse else BETTER), said
    return UNSURE, _too_few(item, apart=apart and not against_one)


def _too_few(item: Conclusion, *, apart: bool) -> str:
    if item.detectable is None:
        return "the interval is wider than the margin"
    if item.detectable >= 1 or item.n < FEWEST:
        return "too few questions to show any difference"
    return f"{item.n} questions would show {item.detectable:.3g} or more" + (
        "; the interval excludes 0, but not after the correction for several conclusions"
        if apart
        else ""
    )


def _with_unread(item: Conclusion, nothing: Conclusion, bounds: Sequence[Comparison]) -> Conclusion:
    """The conclusion, unless replies that could not be read could turn it."""
    ends = [bound.difference for bound in bounds if bound.difference is not None]
    if not ends or item.verdict == UNSURE or item.estimate is None:
        return item
    said = (
        f"the gap is {ends[0]:+.3f} if all unread replies were right and {ends[-1]:+.3f} if all "
        "were wrong"
    )
    if item.verdict == SAME:
        turned = any(abs(end) > item.margin for end in ends)
        kept = all(_inside(bound, item.margin) for bound in bounds)
    else:
        turned = any((end > 0) != (item.estimate > 0) for end in ends)
        kept = all(_beyond(bound, item.estimate) for bound in bounds)
    if turned:
        return replace(nothing, reason=f"unread replies decide: {said}")
    if not kept:
        return replace(item, verdict=UNSURE, reason=f"unread replies could hide it: {said}")
    return replace(item, reason=f"{item.reason}; {said}")


def _inside(bound: Comparison, margin: float) -> bool:
    known = bound.low is not None and bound.high is not None
    return known and -margin <= (bound.low or 0.0) and (bound.high or 0.0) <= margin


def _beyond(bound: Comparison, estimate: float) -> bool:
    if bound.low is None or bound.high is None:
        return False
    return bound.low > 0 if estimate > 0 else bound.high < 0


# What is concluded


def _cases(statistics: Statistics, model: Model) -> Iterator[Case]:
    """Every endpoint of every language but English."""
    bounds = statistics.untested()
    pairs = list(english_pairs(model))
    for own in pairs:
        english, task, name, base_name = own
        endpoint = endpoints_of(task).get(name)
        if endpoint is None:
            continue
        panel, language = panel_of(task.place, name)
        sides = Sides((task, name), (english, base_name), language, ENGLISH, model.name)
        veto = vetoed(task, english, panel, language)
        paired = task.place.parallel
        made = statistics.compare(panel, sides, paired=paired)
        ends = [] if veto else unread_bounds(bounds, panel, sides, paired=paired)
        yield Case(endpoint, made, veto, tuple(ends))
    yield from _agreements(statistics, model)


def endpoints_of(task: Task) -> dict[str, Endpoint]:
    """The endpoints among a task's metrics."""
    return CRITERIA[task.place.criterion].endpoints_among(task.scores)


def vetoed(task: Task, english: Task, panel: Panel, language: str) -> str:
    """Why a language is not comparable with English; empty if it is."""
    tau = panel.temperature
    own = vetoes(Rates(task.results, task.scores), language, tau)
    rates = why(own, vetoes(Rates(english.results, english.scores), ENGLISH, tau))
    return "; ".join(text for text in (rates, made_unlike(task, english, panel)) if text)


def unread_bounds(
    statistics: Statistics, panel: Panel, sides: Sides, *, paired: bool
) -> Iterable[Comparison]:
    """The comparison with all unread replies right, then all wrong."""
    (task, name), (english, base_name) = sides.side, sides.baseline
    for right in (True, False):
        own, other = (read_as(t, n, right=right) for t, n in ((task, name), (english, base_name)))
        if own is None and other is None:
            return
        changed = replace(sides, side=(own or task, name), baseline=(other or english, base_name))
        yield statistics.compare(panel, changed, paired=paired)


def _agreements(statistics: Statistics, model: Model) -> Iterator[Case]:
    """Endpoints that are agreement with English themselves: 1 is no gap."""
    for task in model.tasks:
        for name, endpoint in endpoints_of(task).items():
            panel, language = panel_of(task.place, name)
            if task.place.language or language == ENGLISH:
                continue
            if f"{panel.metric}_{ENGLISH}" in task.scores:
                continue
            margin = statistics.options.margin
            margin = endpoint.margin if margin is None else margin
            made = statistics.below_one(model, task, panel, language, name, margin)
            veto = vetoed(task, task, panel, language)
            yield Case(endpoint, made, veto, against_one=True)
