"""What may be concluded: one verdict for each question asked, from a closed list.

A case is two sides on one endpoint: a language against English, or one model against another. It
goes one way whoever asks: the difference with its interval, Holm's correction within its family,
the verdict, the same with unread replies counted otherwise, what to do where there is no verdict.
Endpoints, directions and margins are fixed beforehand (`xling_tasks.criteria`); all else is
exploratory. Nothing but the cases of one family changes its verdicts: neither other models nor
other datasets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from xling_metrics.stats.bounded import least_for_same
from xling_metrics.stats.multiple import holm
from xling_metrics.stats.shares import t_quantile

from xling_tasks.criteria import CRITERIA
from xling_tasks.languages import rank
from xling_tasks.outcomes import REMEDIES, SERVED
from xling_tasks.report.cases import AS_WRONG, LEFT_OUT, Case, Key, cases_of
from xling_tasks.report.data import Model
from xling_tasks.report.model import Conclusion, Options
from xling_tasks.report.stats import Statistics

WORSE, BETTER, SAME = "worse", "better", "equivalent"
UNSURE, APART = "inconclusive", "not_comparable"
VERDICTS = (WORSE, BETTER, SAME, UNSURE, APART)
ALPHA = 0.05
POWER = 0.84
"""Standard errors that make a power of 80%."""
FEWEST = 6
"""Questions below which swaps cannot reach p = 0.05: of 5, all sides turned are 2 of 32."""
NAMED = ("harm", SERVED)
"""What endpoints stand for whose differences are named however small."""


def conclusions_of(statistics: Statistics, model: Model) -> list[Conclusion]:
    """Every conclusion of a model, in the order of datasets, criteria, languages and endpoints."""
    return sorted((said for _, said in against_english(statistics, model).values()), key=_place)


def against_english(statistics: Statistics, model: Model) -> dict[Key, tuple[Case, Conclusion]]:
    """What is concluded of every endpoint and language of a model, each with its case."""
    return concluded({case.about: case for case in cases_of(statistics, model)}, statistics.options)


def concluded(cases: Mapping[Key, Case], options: Options) -> dict[Key, tuple[Case, Conclusion]]:
    """The verdicts of cases of one pair of models or of one model, in their order.

    A verdict stands if it is the same however unread replies are counted.
    """
    made = in_families(cases, lambda case, p, m: one_conclusion(case, p, m, options))
    return {key: (case, made[key]) for key, case in cases.items()}


def in_families(
    cases: Mapping[Key, Case], conclude: Callable[[Case, float | None, int], Conclusion]
) -> dict[Key, Conclusion]:
    """What is concluded of each case by its corrected p and the size of its family.

    Harm and the rest of a dataset are corrected each by themselves; the parts of one that is asked
    in several tasks (`mmlu_prox: health`) together.
    """
    families: dict[tuple[str, str], list[Key]] = {}
    for key, case in cases.items():
        of = case.comparison.panel.measured_with, case.family
        families.setdefault(of, []).append(key)
    made: dict[Key, Conclusion] = {}
    for keys in families.values():
        found: dict[Key, dict[str, Conclusion]] = {key: {} for key in keys}
        for how in ("", LEFT_OUT, AS_WRONG):
            own = [cases[key].others.get(how, cases[key]) for key in keys]
            adjusted = holm([case.tested for case in own])
            size = max(1, sum(p is not None for p in adjusted))
            for key, case, p_holm in zip(keys, own, adjusted, strict=True):
                if not how or how in cases[key].others:
                    found[key][how] = conclude(case, p_holm, size)
        made |= {key: _agreed(found[key], cases[key]) for key in keys}
    return made


def _agreed(found: Mapping[str, Conclusion], case: Case) -> Conclusion:
    """The verdict with unread replies as the tables count them, if the others are the same."""
    first = found[""]
    ruled_out = all(item.not_worse for item in found.values()) if first.not_worse else False
    first = replace(first, not_worse=first.not_worse and ruled_out)
    ways = tuple((how, item.verdict) for how, item in found.items())
    if first.verdict in (UNSURE, APART) or len({verdict for _, verdict in ways}) == 1:
        return first
    return replace(first, verdict=UNSURE, reason=UNREAD_DECIDE, next=REMEDIES[case.why], ways=ways)


def _place(item: Conclusion) -> tuple[str, int, tuple[int, str, str], int]:
    """Dataset, criterion, language, endpoint: harm before help."""
    return (
        item.dataset,
        list(CRITERIA).index(item.criterion),
        rank(item.language),
        CRITERIA[item.criterion].order(item.metric),
    )


# One verdict


def one_conclusion(case: Case, p_holm: float | None, family: int, options: Options) -> Conclusion:
    """The verdict that the numbers allow."""
    item, panel = case.comparison, case.comparison.panel
    better = bool(CRITERIA[panel.criterion].metrics[panel.metric].higher_is_better)
    base = Conclusion(
        model=item.context, dataset=panel.dataset, language=item.side, criterion=panel.criterion,
        metric=panel.metric, verdict=APART, reason=case.apart, estimate=None, low=None, high=None,
        p=None, n=item.n, margin=case.endpoint.margin if options.margin is None else options.margin,
        temperature=panel.temperature, meaning=case.endpoint.meaning,
        higher_is_better=better, family=family, unread=case.unread[0],
        unread_english=case.unread[1], outcomes=case.outcomes, recalls=case.recalls,
        judge_error_in_interval=item.method.startswith("ppi") if case.endpoint.judged else None,
        people_error_in_interval=item.method == "ppi, people",
    )  # fmt: skip
    if case.apart:
        return base
    full = replace(
        base, estimate=item.difference, low=item.low, high=item.high, p=item.p, p_holm=p_holm,
        questions=enough(case, base.margin, family), value=item.value, english=item.base,
    )  # fmt: skip
    if item.difference is None or item.low is None or item.high is None:
        return replace(full, verdict=UNSURE, **_not_measured(full, case))
    if case.against_one:
        return replace(full, verdict=UNSURE, **_without_floor(full))
    made = _judged(full, case)
    return replace(made, not_worse=made.verdict == BETTER or _excluded(made, case, worse_only=True))


def _not_measured(item: Conclusion, case: Case) -> dict[str, Any]:
    """Why there is no interval, and what to do."""
    if item.estimate is None:
        return {
            "reason": "no question has a score on both sides",
            "next": REMEDIES.get(case.why, "run it over the same questions in both"),
        }
    if item.n:
        return _too_few(item, case, "for an interval")
    return {"reason": "no samples were logged", "next": "run it again with --log_samples"}


def _without_floor(item: Conclusion) -> dict[str, Any]:
    return {
        "reason": "two English answers differ, too, by how much was not measured",
        "next": "have the English prompts answered twice (english_floor), by a model that samples",
    }


def _judged(item: Conclusion, case: Case) -> Conclusion:
    """Worse, better, about the same or neither, of a difference with an interval.

    Worse or better is a difference beyond the margin whose interval excludes 0; of harm and of who
    gets no usable answer any difference whose interval does.
    """
    assert item.estimate is not None
    worse = (item.estimate < 0) == item.higher_is_better
    if shown(item):
        if case.endpoint.agreement and not worse:
            return replace(item, verdict=SAME, reason=NO_LESS)
        if item.meaning in NAMED or not case.sized or abs(item.estimate) > item.margin:
            reason = "the interval excludes 0, and the corrected p is small"
            if case.sized and abs(item.estimate) <= item.margin:
                reason += f"; it is at most {item.margin:g}, and that counts too"
            return replace(item, verdict=WORSE if worse else BETTER, reason=reason)
    if _excluded(item, case):
        reason = f"the interval lies within {item.margin:g} on both sides"
        return replace(item, verdict=SAME, reason=reason)
    return replace(item, verdict=UNSURE, **_unsure(item, case))


def shown(item: Conclusion) -> bool:
    """Whether a difference is shown, of whatever size."""
    if item.low is None or item.high is None or item.low <= 0 <= item.high:
        return False
    return item.p_holm is not None and item.p_holm < ALPHA


def _excluded(item: Conclusion, case: Case, *, worse_only: bool = False) -> bool:
    """Whether a difference beyond the margin is excluded, a rare collapse included."""
    assert item.low is not None and item.high is not None
    if not case.sized:
        return False
    if case.bounded is None and item.n < least_for_same(min(item.margin, 0.99)):
        return False
    ends = [(item.low, item.high), *([] if case.bounded is None else [case.bounded])]
    above = all(-item.margin <= low for low, _ in ends)
    below = all(high <= item.margin for _, high in ends)
    if worse_only:
        return above if item.higher_is_better else below
    return above and below


def enough(case: Case, margin: float, family: int) -> int | None:
    """About how many questions tell a difference of the margin from none, at 80% power.

    As the first of the family by `holm`, with the spread that was found: 3.24 standard errors are
    the margin for 3 tests. At least the fewest that "about the same" takes.
    """
    item = case.comparison
    if item.se is None or item.n < 2:
        return None
    errors = t_quantile(1 - ALPHA / family, item.n - 1) + POWER
    least = least_for_same(min(margin, 0.99))
    return _rounded(max(math.ceil(item.n * (errors * item.se / margin) ** 2), least))


# Why nothing can be told, and what to do


def _unsure(item: Conclusion, case: Case) -> dict[str, Any]:
    """The reason, in the order of what would help, with what to do."""
    if not case.sized:
        return {"reason": NO_MARGIN, "next": "say which difference matters (--margin)"}
    if shown(item):
        return {"reason": SMALL, "next": more_questions(item)}
    apart = not (item.low or 0.0) <= 0 <= (item.high or 0.0)
    if apart and item.p_holm is not None and item.p_holm >= ALPHA and (item.p or 1.0) < ALPHA:
        return {"reason": LEANS, "next": more_questions(item)}
    if item.n < FEWEST or item.questions is None or 2 * max(case.unread) > item.n:
        return _too_few(item, case, "to show any difference")
    room = item.margin - abs(item.estimate or 0.0) - 1.96 * (case.comparison.se or 0.0)
    if room > 0:
        item = replace(item, questions=_rounded(least_for_same(min(room, 0.99))))
        return {"reason": RARE, "questions": item.questions, "next": more_questions(item)}
    return {"reason": TOO_FEW, "next": more_questions(item)}


def _too_few(item: Conclusion, case: Case, goal: str) -> dict[str, Any]:
    """Few were asked; or few were read of those, and so it would be of more."""
    if 2 * max(case.unread) > item.n:
        return {"reason": f"{FEW} were read {goal}", "next": REMEDIES[case.why]}
    return {"reason": f"{FEW} {goal}", "next": "ask more questions"}


FEW = "too few questions"
NO_LESS = "no less is shared than by two English answers"
UNREAD_DECIDE = "it depends on how replies that could not be read are counted"
SMALL = "a difference is shown, but none of more than the margin was found or ruled out"
RARE = "no gap beyond the margin was seen, but a rare breakdown could stay hidden"
NO_MARGIN = "no difference was shown, and what size would matter in this score's unit is not known"
TOO_FEW = "the interval holds both no difference and one beyond the margin"
LEANS = "the interval excludes 0, but not after the correction for several conclusions"


def more_questions(item: Conclusion) -> str:
    """How many questions would tell a difference of the margin from none."""
    if item.questions is None or item.questions <= item.n:
        return "ask more questions"
    size = CRITERIA[item.criterion].metric(item.metric).amount(item.margin)
    return f"ask more questions: about {item.questions:,} tell a difference of {size} from none"


def _rounded(questions: int) -> int:
    """Upwards, to two digits."""
    unit: int = 10 ** max(0, len(str(questions)) - 2)
    return math.ceil(questions / unit) * unit
