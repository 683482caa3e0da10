"""The verdict of each endpoint between two models, from the same closed list as in a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xling_metrics.stats.multiple import holm

from xling_tasks.criteria import CRITERIA, ENGLISH, Endpoint
from xling_tasks.languages import language_name
from xling_tasks.report.compare.numbers import Line
from xling_tasks.report.compare.pairs import Pair
from xling_tasks.report.conclusions import (
    BETTER,
    WORSE,
    Case,
    concluded,
    endpoints_of,
)
from xling_tasks.report.human import Human
from xling_tasks.report.model import Comparison, Options, Sides
from xling_tasks.report.stats import Statistics
from xling_tasks.report.unlike import made_unlike
from xling_tasks.report.unread import read_as
from xling_tasks.report.vetoes import Rates, vetoes


def with_verdicts(
    lines: Sequence[Line], pairs: Sequence[Pair], statistics: Statistics
) -> list[Line]:
    """The lines, those of endpoints with a verdict; the others are exploratory.

    p is corrected (Holm) over the endpoints and languages of one dataset, differences of scores
    and changes of gaps each by themselves.
    """
    cases = {at: case for at, line in enumerate(lines) if (case := _case(line, pairs, statistics))}
    judged = list(lines)
    families = dict.fromkeys((lines[at].kind, lines[at].panel.dataset) for at in cases)
    for family in families:
        own = [at for at in cases if (lines[at].kind, lines[at].panel.dataset) == family]
        adjusted = holm([None if cases[at].veto else lines[at].p for at in own])
        for at, p_holm in zip(own, adjusted, strict=True):
            judged[at] = _concluded(lines[at], cases[at], p_holm, statistics.options)
    return judged


def _concluded(line: Line, case: Case, p_holm: float | None, options: Options) -> Line:
    said = concluded(case, p_holm, options)
    verdict = said.verdict
    if line.kind == "gap" and verdict in (WORSE, BETTER):
        verdict = BETTER if abs(line.b or 0.0) < abs(line.a or 0.0) else WORSE
    good = line.low if line.better else (None if line.high is None else -line.high)
    judged = line.kind == "difference" and not case.veto and good is not None
    return replace(
        line, role="endpoint", verdict=verdict, reason=said.reason, p_holm=said.p_holm,
        margin=said.margin, detectable=said.detectable,
        judge_error_in_interval=said.judge_error_in_interval,
        non_inferior=good > -said.margin if judged and good is not None else None,
    )  # fmt: skip


def _case(line: Line, pairs: Sequence[Pair], statistics: Statistics) -> Case | None:
    """What is to be concluded of a line; None for one that is exploratory."""
    for pair, name, endpoint in _endpoints(line, pairs):
        made = Comparison(
            panel=line.panel, side=line.language, baseline="A", context="B", paired=True,
            difference=line.difference, low=line.low, high=line.high, value=line.b, base=line.a,
            relative=None, p=line.p, n=line.n, left_out=line.left_out, se=line.se,
            method=line.method,
        )  # fmt: skip
        codes = [line.language, ENGLISH] if line.kind == "gap" else [line.language]
        veto = "; ".join(_vetoed(pair, codes, line, pairs))
        bounds = [] if veto or line.kind == "gap" else _bounds(statistics, pair, name, made)
        return Case(endpoint, made, veto, tuple(bounds))
    return None


def _endpoints(line: Line, pairs: Sequence[Pair]) -> Iterator[tuple[Pair, str, Endpoint]]:
    """The pair of tasks and the endpoint that a line is about."""
    for pair in pairs:
        place = pair.a.place
        if (place.criterion, place.dataset) != line.panel[:2]:
            continue
        for name, endpoint in endpoints_of(pair.a).items():
            metric, tau, language = CRITERIA[place.criterion].split(name)
            own = (metric, tau, language or place.language)
            if own == (line.panel.metric, line.panel.temperature, line.language):
                yield pair, name, endpoint


def _vetoed(pair: Pair, codes: Sequence[str], line: Line, pairs: Sequence[Pair]) -> Iterator[str]:
    """Why a line is not comparable, per model and language."""
    for code in codes:
        own = _in_language(pair, code, pairs)
        for side, task in (("A", own.a), ("B", own.b)):
            rates = Rates(task.results, task.scores)
            where = f"{side} in {language_name(code)}" if len(codes) > 1 else side
            for veto in vetoes(rates, code, line.panel.temperature):
                yield f"{where}: {veto.text}"
    if line.kind == "gap":
        base = _in_language(pair, ENGLISH, pairs)
        for side, task, english in (("A", pair.a, base.a), ("B", pair.b, base.b)):
            if unlike := made_unlike(task, english, line.panel):
                yield f"{side}: {unlike}"


def _in_language(pair: Pair, code: str, pairs: Sequence[Pair]) -> Pair:
    """The same tasks in another language; a pair that has all languages is itself."""
    if pair.a.place.language in ("", code):
        return pair
    same = (pair.a.place.criterion, pair.a.place.dataset, code)
    return next((other for other in pairs if tuple(other.a.place) == same), pair)


def _bounds(statistics: Statistics, pair: Pair, name: str, made: Comparison) -> list[Comparison]:
    """B minus A with all unread replies right, then all wrong."""
    bounds, untested = [], statistics.untested()
    for right in (True, False):
        a, b = (read_as(task, name, right=right) for task in (pair.a, pair.b))
        if a is None and b is None:
            return []
        sides = Sides((b or pair.b, name), (a or pair.a, name), "B", "A", made.side)
        bounds.append(untested.compare(made.panel, sides, paired=True))
    return bounds


def one_model_only(human: Human, pairs: Sequence[Pair]) -> Iterator[str]:
    """Tasks of which people labelled only one model's answers: nothing is corrected there."""
    for pair in pairs:
        lacking = [
            side for side, task in (("A", pair.a), ("B", pair.b)) if human.labels_of(task) is None
        ]
        if len(lacking) == 1 and pair.a.place.criterion == "correctness":
            yield (
                f"{pair.a.results.task}: no usable labels of people for {lacking[0]}: the "
                "difference is the judge's alone"
            )
