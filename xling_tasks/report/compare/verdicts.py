"""Model against model: first in the language itself, then the shortfall to English.

The difference between B and A goes the way of every case (`report.conclusions`). The shortfall,
how far a language lies below English, has a rule of its own: it is smaller only where A's was
shown, larger only where B's is, so that no advantage that vanishes is a gain; and it is levelled
down where B only lost in English.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from xling_metrics.stats.bounded import least_for_same

from xling_tasks.criteria import ENGLISH, panel_of
from xling_tasks.report.cases import WAYS, Case, Key, case_of
from xling_tasks.report.compare.numbers import Line, Side, gap_change
from xling_tasks.report.compare.pairs import Pair
from xling_tasks.report.conclusions import (
    BETTER,
    NAMED,
    SAME,
    SMALL,
    UNSURE,
    WORSE,
    concluded,
    in_families,
    more_questions,
    one_conclusion,
    shown,
)
from xling_tasks.report.data import Task
from xling_tasks.report.human import Human
from xling_tasks.report.model import Conclusion, Sides
from xling_tasks.report.stats import Statistics
from xling_tasks.report.unlike import made_unlike

SMALLER, LARGER, LEVELLED = "smaller", "larger", "levelled_down"

Told = dict[Key, tuple[Case, Conclusion]]
"""What is concluded of endpoints in languages, each with its case."""


def with_verdicts(
    lines: Sequence[Line], pairs: Sequence[Pair], statistics: Statistics
) -> list[Line]:
    """The lines, those of endpoints with what is concluded; the others are exploratory."""
    sides = endpoints_of(pairs)
    between = between_models(sides, statistics)
    falls = _shortfalls(lines, sides, between, statistics)
    told = []
    for line in lines:
        key = (line.panel, line.language)
        if line.kind == "gap":
            told.append(replace(line, said=falls.get(key)))
        elif key in between:
            case, said = between[key]
            unknown = case.apart or case.against_one or said.low is None
            safe = None if unknown else said.not_worse
            told.append(replace(line, made=case.comparison, said=said, non_inferior=safe))
        else:
            told.append(line)
    return told


def endpoints_of(pairs: Sequence[Pair]) -> dict[Key, Side]:
    """Every endpoint in every language, with what it is measured by."""
    return {panel_of(x.a.place, name): (x, name) for x in pairs for name in x.a.endpoints}


def between_models(sides: Mapping[Key, Side], statistics: Statistics) -> Told:
    """B against A on every endpoint, English among the languages."""
    cases = {}
    for key, (pair, name) in sides.items():
        endpoint, both = pair.a.endpoints[name], pair.sides(name, key[1])
        cases[key] = case_of(statistics, endpoint, both, "", paired=True)
    said = concluded(cases, statistics.options)
    return {
        key: (case, replace(item, model="B", language=key[1])) for key, (case, item) in said.items()
    }


def _against_english(sides: Mapping[Key, Side], statistics: Statistics, at: int) -> Told:
    """One model's languages against its English, over the questions of both models."""
    cases: dict[Key, Case] = {}
    for (panel, code), (pair, name) in sides.items():
        english = sides.get((panel, ENGLISH))
        if code == ENGLISH or english is None:
            continue
        task, base = pair[:2][at], english[0][:2][at]
        both = Sides((task, name), (base, english[1]), code, ENGLISH, "AB"[at])
        apart = made_unlike(task, base, panel)
        endpoint = pair.a.endpoints[name]
        cases[panel, code] = case_of(statistics, endpoint, both, apart, paired=task.place.parallel)
    return concluded(cases, statistics.options)


# The shortfall


def _shortfalls(
    lines: Sequence[Line], sides: Mapping[Key, Side], between: Told, statistics: Statistics
) -> dict[Key, Conclusion]:
    """How every endpoint's shortfall changed."""
    a, b = (_against_english(sides, statistics, at) for at in (0, 1))
    cases = {}
    for line in lines:
        key = (line.panel, line.language)
        if line.kind == "gap" and key in a:
            both = a[key][0], b[key][0]
            others = {
                how: _change(_counted(statistics, sides, key, change), *both)
                for how, change in WAYS.items()
                if any(how in case.others for case in both)
            }
            cases[key] = replace(_change(line, *both), others=others)

    def conclude(case: Case, p_holm: float | None, family: int) -> Conclusion:
        made = one_conclusion(case, p_holm, family, statistics.options)
        item = replace(made, model="B", language=case.comparison.side, higher_is_better=False)
        both = (told[case.about][1] for told in (a, b))
        return item if case.apart else _as_shortfall(item, case, *both)

    said = {}
    for key, change in in_families(cases, conclude).items():
        own, english = (between[x][1] if x in between else None for x in (key, (key[0], ENGLISH)))
        said[key] = _levelled(change, own, english)
    return said


def _counted(
    statistics: Statistics, sides: Mapping[Key, Side], key: Key, change: Callable[[Task], Task]
) -> Line:
    """The change of a gap with what was not read counted otherwise."""
    own, english = (
        (
            pair._replace(
                a=statistics.changed(pair.a, change), b=statistics.changed(pair.b, change)
            ),
            name,
        )
        for pair, name in (sides[key], sides[key[0], ENGLISH])
    )
    return gap_change(statistics, own, english)


def _change(line: Line, a: Case, b: Case) -> Case:
    """The case of a change: B's shortfall and A's, with what was not read of all four sides."""
    apart = "; ".join(f"{name}: {case.apart}" for name, case in (("A", a), ("B", b)) if case.apart)
    unread = a.unread[0] + b.unread[0], a.unread[1] + b.unread[1]
    why = max(b, a, key=lambda case: sum(case.unread)).why
    return Case(b.endpoint, line.made, apart, unread=unread, why=why, sized=b.sized)


def _as_shortfall(item: Conclusion, case: Case, a: Conclusion, b: Conclusion) -> Conclusion:
    """How far B's language lies below its English, less A's: below 0 where it became smaller."""
    down, made = -1 if b.higher_is_better else 1, case.comparison
    ends = sorted(down * end for end in (made.low, made.high) if end is not None)
    values = [None if x is None else down * x for x in (made.difference, made.value, made.base)]
    told = replace(
        item, verdict=UNSURE, estimate=values[0], value=values[1], english=values[2],
        low=ends[0] if len(ends) == 2 else None, high=ends[1] if len(ends) == 2 else None,
    )  # fmt: skip
    return _fall(told, a, b, case)


def _fall(item: Conclusion, a: Conclusion, b: Conclusion, case: Case) -> Conclusion:
    """Smaller, larger, about the same or neither, by the rule.

    `value` and `english` of the conclusion are B's and A's shortfall, its estimate B's minus A's.
    """
    if item.estimate is None:
        return replace(item, reason="no question has a score on all four sides")
    made, item = item, replace(item, next="")
    if item.low is None or item.high is None:
        return made
    enough = case.sized and item.n >= least_for_same(min(item.margin, 0.99))
    if enough and -item.margin <= item.low and item.high <= item.margin:
        return replace(item, verdict=SAME, reason=f"it changed by at most {item.margin:g}")
    real = shown(item)
    # Each is concluded of all that the model was read in; the change is over what all four were.
    before = a.verdict == WORSE and (item.english or 0.0) > 0
    after = b.verdict == WORSE and (item.value or 0.0) > 0
    small = case.sized and item.meaning not in NAMED and abs(item.estimate or 0.0) <= item.margin
    if real and small and (before or after):
        return replace(item, reason=SMALL, next=more_questions(item))
    if real and item.high < 0 and before:
        return replace(item, verdict=SMALLER, reason="A's shortfall is shown, and B's is smaller")
    if real and item.low > 0 and after:
        return replace(item, verdict=LARGER, reason="B's shortfall is shown, and A's is smaller")
    if WORSE not in (a.verdict, b.verdict):
        return replace(item, reason="neither model has a shortfall that is shown")
    if real:
        name, larger = ("A", a) if item.high < 0 else ("B", b)
        return replace(
            item,
            reason=f"it changed, but {name}'s is not shown over these questions",
            next=larger.next,
        )
    return replace(item, reason="the change may be chance", next=more_questions(item))


def _levelled(item: Conclusion, own: Conclusion | None, english: Conclusion | None) -> Conclusion:
    """A shortfall that is smaller because English became worse is no gain."""
    lost = english is not None and english.verdict == WORSE
    gained = own is not None and own.verdict == BETTER
    if item.verdict == SMALLER and lost and not gained:
        reason = "English is worse in B, and the language is not shown to be better"
        return replace(item, verdict=LEVELLED, reason=reason)
    return item


def one_model_only(human: Human, pairs: Sequence[Pair]) -> Iterator[str]:
    """Tasks of which people labelled only one model's answers: nothing is corrected there."""
    for pair in pairs:
        lacking = [
            side for side, task in (("A", pair.a), ("B", pair.b)) if human.labels_of(task) is None
        ]
        if len(lacking) == 1:
            yield (
                f"{pair.a.results.task}: no usable labels of people for {lacking[0]}: the "
                "difference is the judge's alone"
            )
