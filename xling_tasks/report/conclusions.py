"""What may be concluded: one verdict for each question asked, from a closed list.

A case is two sides on one endpoint: a language against English, or one model against another. It
goes one way whoever asks: the difference with its interval, the odds of what was not read, Holm's
correction within its family, the verdict, what to do where there is none. Endpoints, directions
and margins are fixed beforehand (`xling_tasks.criteria`); all else is exploratory. Nothing but the
cases of one family changes its verdicts: neither other models nor other datasets.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from xling_metrics.stats.bounded import least_for_same
from xling_metrics.stats.detectable import (
    Shares,
    detectable_errors,
    detectable_share,
    questions_for_share,
)
from xling_metrics.stats.multiple import holm
from xling_metrics.stats.odds import ODDS, AtOdds, shifts, turns_at

from xling_tasks.criteria import CRITERIA
from xling_tasks.languages import rank
from xling_tasks.outcomes import REMEDIES, SERVED
from xling_tasks.output import many
from xling_tasks.report.cases import Case, Key, cases_of
from xling_tasks.report.data import Model
from xling_tasks.report.model import SIDES, Comparison, Conclusion, Options
from xling_tasks.report.paired import Ends
from xling_tasks.report.stats import Statistics

WORSE, BETTER, SAME = "worse", "better", "about_the_same"
UNSURE, APART = "cannot_tell", "not_comparable"
VERDICTS = (WORSE, BETTER, SAME, UNSURE, APART)
ALPHA = 0.05
_BEYOND = 1 + 1e-6
FEWEST = 6
"""Questions below which swaps cannot reach p = 0.05: of 5, all sides turned are 2 of 32."""
SMALL = 30
"""Below so many questions tests of means err (0.085 of 24 skewed ones), so that two must agree."""
NAMED = ("harm", SERVED)
"""What endpoints stand for whose differences are named however small."""
ODDS_OF_HARM = 10.0
"""Odds that "about the same" has to stand where the unread answers may do harm."""


def conclusions_of(statistics: Statistics, model: Model) -> list[Conclusion]:
    """Every conclusion of a model, in the order of datasets, criteria, languages and endpoints."""
    return sorted((said for _, said in against_english(statistics, model).values()), key=_place)


def against_english(statistics: Statistics, model: Model) -> dict[Key, tuple[Case, Conclusion]]:
    """What is concluded of every endpoint and language of a model, each with its case."""
    return concluded({case.about: case for case in cases_of(statistics, model)}, statistics.options)


def concluded(cases: Mapping[Key, Case], options: Options) -> dict[Key, tuple[Case, Conclusion]]:
    """The verdicts of cases of one pair of models or of one model, in their order.

    Harm and the rest of a dataset are corrected each by themselves; the parts of one that is asked
    in several tasks (`mmlu_prox: health`) together.
    """
    families: dict[tuple[str, str], list[Key]] = {}
    for key, case in cases.items():
        of = case.comparison.panel.measured_with, case.family
        families.setdefault(of, []).append(key)
    made: dict[Key, Conclusion] = {}
    for keys in families.values():
        adjusted = holm([cases[key].tested for key in keys])
        size = max(1, sum(p is not None for p in adjusted))
        for key, p_holm in zip(keys, adjusted, strict=True):
            made[key] = _concluded(cases[key], p_holm, size, options)
    return {key: (case, made[key]) for key, case in cases.items()}


def _place(item: Conclusion) -> tuple[str, int, tuple[int, str, str], int]:
    """Dataset, criterion, language, endpoint: harm before help."""
    return (
        item.dataset,
        list(CRITERIA).index(item.criterion),
        rank(item.language),
        CRITERIA[item.criterion].order(item.metric),
    )


# One verdict


def _concluded(case: Case, p_holm: float | None, family: int, options: Options) -> Conclusion:
    """The verdict that the numbers allow."""
    item, panel = case.comparison, case.comparison.panel
    better = bool(CRITERIA[panel.criterion].metrics[panel.metric].higher_is_better)
    base = Conclusion(
        model=item.context, dataset=panel.dataset, language=item.side, criterion=panel.criterion,
        metric=panel.metric, verdict=APART, reason=case.apart, estimate=None, low=None, high=None,
        p=None, n=item.n, margin=case.endpoint.margin if options.margin is None else options.margin,
        detectable=None, temperature=panel.temperature, meaning=case.endpoint.meaning,
        higher_is_better=better, family=family, unread=case.unread[0],
        unread_english=case.unread[1], outcomes=case.outcomes, recalls=case.recalls,
        judge_error_in_interval=item.method.startswith("ppi") if case.endpoint.judged else None,
        people_error_in_interval=item.method == "ppi, people",
    )  # fmt: skip
    if case.apart:
        return base
    shown, needed = would_show(case, base.margin, family, higher_is_better=better)
    full = replace(
        base, estimate=item.difference, low=item.low, high=item.high, p=item.p, p_holm=p_holm,
        detectable=shown, questions=needed, value=item.value, english=item.base,
    )  # fmt: skip
    if item.difference is None or item.low is None or item.high is None:
        return replace(full, verdict=UNSURE, **_not_measured(full, case))
    if case.against_one:
        return replace(full, verdict=UNSURE, **_without_floor(full))
    return _judged(full, case)


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
        "next": "have the English prompts answered twice (english_again), by a model that samples",
    }


def _judged(item: Conclusion, case: Case) -> Conclusion:
    """Worse, better, about the same or neither, of a difference with an interval.

    A difference can be shown and lie within the margin: it is then about the same, except of harm
    and of who gets no usable answer, where what is shown is named, however small.
    """
    assert item.estimate is not None and item.low is not None and item.high is not None
    sign = 1 if item.estimate > 0 else -1
    shown = _shown(item, case)
    stands = shown and _beyond(item, case.moves, ODDS, sign)
    same, same_read = (_same(item, case, k) for k in (odds_of_same(item), 1.0))
    if same and not (stands and item.meaning in NAMED):
        reason = f"the interval lies within {item.margin:g} on both sides"
        return replace(item, verdict=SAME, reason=reason, **_turns_same(item, case))
    worse = (item.estimate < 0) == item.higher_is_better
    if stands and case.endpoint.agreement and not worse:
        return replace(item, verdict=SAME, reason=NO_LESS)
    if stands:
        reason = "the interval excludes 0, and the corrected p is small"
        if same:
            reason += f"; it is at most {item.margin:g}, and that counts too"
        verdict = WORSE if worse else BETTER
        return replace(item, verdict=verdict, reason=reason, **_turns_shown(item, case, sign))
    return replace(item, verdict=UNSURE, **_unsure(item, case, shown=shown, same_read=same_read))


def _shown(item: Conclusion, case: Case) -> bool:
    """Whether the difference is real as far as what was read goes."""
    assert item.low is not None and item.high is not None
    apart = not item.low <= 0 <= item.high
    if apart and item.n < SMALL and case.bounded is not None:
        apart = not case.bounded[0] <= 0 <= case.bounded[1]
    return apart and item.p_holm is not None and item.p_holm < ALPHA


def stands(
    item: Comparison, moves: Sequence[tuple[int, AtOdds]], bounded: Callable[[], Ends | None]
) -> bool:
    """Whether a difference whose interval excludes 0 does so too with other odds of what is unread.

    Of fewer than 30 questions both intervals have to; `bounded` makes the other one.
    """
    if item.low is None or item.high is None or item.low <= 0 <= item.high:
        return False
    ends = [(item.low, item.high)]
    if item.n < SMALL and (other := bounded()) is not None:
        ends.append(other)
    down, up = shifts(moves, ODDS)
    return all(low + down > 0 or high + up < 0 for low, high in ends)


def _beyond(item: Conclusion, moves: Sequence[tuple[int, AtOdds]], k: float, sign: int) -> bool:
    """Whether the interval stays on its side of 0 if what was not read had k times the odds."""
    assert item.low is not None and item.high is not None
    down, up = shifts(moves, k)
    return item.low + down > 0 if sign > 0 else item.high + up < 0


def _turns_shown(item: Conclusion, case: Case, sign: int) -> dict[str, Any]:
    return _turns(case, lambda moves, k: _beyond(item, moves, k, sign))


def _turns_same(item: Conclusion, case: Case) -> dict[str, Any]:
    return _turns(case, lambda moves, k: _same(item, replace(case, moves=moves), k))


def _turns(
    case: Case, holds: Callable[[tuple[tuple[int, AtOdds], ...], float], bool]
) -> dict[str, Any]:
    """From which odds a verdict no longer holds, on which side they undo it, and which way."""
    odds = turns_at(lambda k: holds(case.moves, k))
    if odds is None:
        return {"turns_at": None}
    for side, moves in zip(SIDES, (case.moves[:1], case.moves[1:2], case.moves), strict=True):
        for k in (odds * _BEYOND, 1 / (odds * _BEYOND)):
            moved: float = sum(sign * move(k) for sign, move in moves)
            if not holds(((1, functools.partial(_always, moved)),), odds):
                return {"turns_at": odds, "turns_by": side, "turns_up": k > 1}
    return {"turns_at": odds}


def _always(moved: float, k: float) -> float:
    return moved


def _same(item: Conclusion, case: Case, k: float) -> bool:
    """Whether a difference beyond the margin is excluded, a rare collapse included."""
    return all(_excluded(item, case, k, sign) for sign in (-1, 1))


def _excluded(item: Conclusion, case: Case, k: float, sign: int) -> bool:
    """Whether a difference beyond the margin is excluded to one side, a rare collapse included."""
    assert item.low is not None and item.high is not None
    if not case.sized:
        return False
    if case.bounded is None and item.n < least_for_same(min(item.margin, 0.99)):
        return False
    down, up = shifts(case.moves, k)
    ends = [(item.low, item.high), *([] if case.bounded is None else [case.bounded])]
    if sign < 0:
        return all(-item.margin <= low + down for low, _ in ends)
    return all(high + up <= item.margin for _, high in ends)


def rules_out_worse(item: Conclusion, case: Case) -> bool | None:
    """Whether worse by more than the margin is excluded, as "about the same" is on both sides.

    True of what is better; None where there is no interval, or nothing is compared.
    """
    if case.apart or case.against_one or item.low is None or item.high is None:
        return None
    return item.verdict == BETTER or _excluded(
        item, case, odds_of_same(item), -1 if item.higher_is_better else 1
    )


def odds_of_same(item: Conclusion) -> float:
    """The odds of what was not read that "about the same" has to stand."""
    return ODDS_OF_HARM if item.meaning == "harm" else ODDS


# What so many questions would show


def would_show(
    case: Case, margin: float, family: int, *, higher_is_better: bool
) -> tuple[float | None, int | None]:
    """The difference that these questions show, and how many show one of the margin.

    Both for the worse, at 80% power, as the first of the family. It has to be shown at other odds
    of what is unread, too, which is as much again as these can move it.
    """
    item = case.comparison
    if item.se is None or item.n < 2:
        return None, None
    down, up = shifts(case.moves, ODDS)
    alpha, hidden = ALPHA / family, up if higher_is_better else -down
    goal = max(margin - hidden, 1e-9)
    if item.binary and item.value is not None and item.base is not None:
        sides = Shares(item.n, item.value, item.base, item.n * item.se**2)
        # Where nothing can be worse than English, what could be better.
        falls = higher_is_better if 0 < item.base < 1 else item.base == 1
        found = detectable_share(sides, alpha, up=not falls)
        needed = questions_for_share(sides, -goal if falls else goal, alpha)
    else:
        found = detectable_errors(family, df=item.n - 1) * item.se
        needed = item.n * (found / goal) ** 2
    return (
        None if found is None else found + hidden,
        math.ceil(needed) if margin > hidden else None,
    )


# Why nothing can be told, and what to do


def _unsure(item: Conclusion, case: Case, *, shown: bool, same_read: bool) -> dict[str, Any]:
    """The reason, in the order of what would help, with what to do."""
    sign = 1 if (item.estimate or 0) > 0 else -1
    if shown:
        turns = _turns_shown(item, case, sign)
        return {"reason": HIDDEN, "next": REMEDIES[case.why], **turns}
    if same_read:
        turns = _turns_same(item, case)
        return {"reason": DIFFERENT, "next": REMEDIES[case.why], **turns}
    if not case.sized:
        return {"reason": NO_MARGIN, "next": "say which difference matters (--margin)"}
    least = least_for_same(min(item.margin, 0.99))
    if _looks_same(item):
        return {
            "reason": RARE,
            "next": f"ask {least} questions or more" if item.n < least else more_questions(item),
        }
    apart = not (item.low or 0.0) <= 0 <= (item.high or 0.0)
    if apart and item.p_holm is not None and item.p_holm >= ALPHA and (item.p or 1.0) < ALPHA:
        return {"reason": LEANS, "next": more_questions(item)}
    if item.n < FEWEST or item.detectable is None or item.detectable >= 1:
        return _too_few(item, case, "to show any difference")
    return {"reason": TOO_FEW, "next": more_questions(item)}


def _too_few(item: Conclusion, case: Case, goal: str) -> dict[str, Any]:
    """Few were asked; or few were read of those, and so it would be of more."""
    if max(case.unread) > item.n:
        return {"reason": f"{FEW} were read {goal}", "next": REMEDIES[case.why]}
    return {"reason": f"{FEW} {goal}", "next": "ask more questions"}


FEW = "too few questions"
NO_LESS = "no less is shared than by two English answers"
HIDDEN = "it is shown, but not if what was not read had other odds"
DIFFERENT = "about the same, but not if what was not read had other odds"
RARE = "no gap beyond the margin was seen, but a rare breakdown could stay hidden"
NO_MARGIN = "no difference was shown, and what size would matter in this score's unit is not known"
TOO_FEW = "the questions would show larger differences only"
LEANS = "the interval excludes 0, but not after the correction for several conclusions"


def _looks_same(item: Conclusion) -> bool:
    assert item.low is not None and item.high is not None
    return -item.margin <= item.low and item.high <= item.margin


def more_questions(item: Conclusion) -> str:
    """How many questions would show a difference of the margin."""
    needed = None if item.questions is None else _enough(item, item.questions)
    if needed is None or needed <= item.n:
        return "ask more questions"
    size = CRITERIA[item.criterion].metric(item.metric).amount(item.margin)
    return f"ask more questions: about {needed:,} are needed to notice a difference of {size}"


def lacks_questions(item: Conclusion) -> bool:
    """Whether nothing is told for want of questions: of what is unread more of them are no cure."""
    few = item.reason.startswith(FEW) and not item.reason.startswith(f"{FEW} were read")
    return few or item.reason in (RARE, TOO_FEW, LEANS, NO_MARGIN)


def to_decide(item: Conclusion, case: Case) -> tuple[int | None, str]:
    """How many questions more would decide whether the side is worse by the margin, and what to do.

    If the difference stays as it was seen, most such runs rule out a loss of the margin, or show
    one: whichever of the two is farther from what was seen and from where what is unread may move
    it, at most the margin itself. The number is None where questions are not what is lacking, or
    too few were asked to tell.
    """
    if item.reason not in (RARE, TOO_FEW, LEANS) or item.estimate is None:
        return None, item.next
    better = item.higher_is_better
    back, on = (shifts(case.moves, k) for k in (ODDS, odds_of_same(item)))
    loss = -item.estimate if better else item.estimate
    shown = loss - (back[1] if better else -back[0])
    ruled_out = item.margin - loss - (-on[0] if better else on[1])
    room = min(item.margin, max(shown, ruled_out))
    if room <= 0:
        return None, REMEDIES[case.why]
    read = replace(case, moves=())
    _, needed = would_show(read, item.margin, item.family, higher_is_better=better)
    more = 0 if needed is None else _enough(item, needed * (item.margin / room) ** 2) - item.n
    if more <= 0:
        return None, item.next
    return _rounded(more), f"about {many(_rounded(more), 'more question')} would decide"


def _enough(item: Conclusion, questions: float) -> int:
    """So many questions, rounded, or the fewest that "about the same" takes."""
    return _rounded(max(math.ceil(questions), least_for_same(min(item.margin, 0.99))))


def _rounded(questions: int) -> int:
    """Upwards, to two digits."""
    unit: int = 10 ** max(0, len(str(questions)) - 2)
    return math.ceil(questions / unit) * unit
