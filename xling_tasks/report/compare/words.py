"""What `xling compare` says: a verdict per line, the first lines of an answer, and a summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xling_metrics.stats.resampling import LEVEL

from xling_tasks import languages
from xling_tasks.criteria import AVERAGE, CRITERIA, ENGLISH
from xling_tasks.output import many
from xling_tasks.report.compare.numbers import Line
from xling_tasks.report.lines import SEVERITY, judge_sentence, names
from xling_tasks.report.model import Conclusion
from xling_tasks.report.pictures.verdicts import values_of
from xling_tasks.report.sentences import metric_of, why_unsure
from xling_tasks.report.tables.grid import dataset_title, is_language
from xling_tasks.report.tables.table import Table, Value

_BETWEEN = {
    "better": "B better", "worse": "B worse", "equivalent": "about the same",
    "inconclusive": "cannot tell", "not_comparable": "not comparable",
}  # fmt: skip
_FALLS = {
    "smaller": "shortfall smaller", "larger": "shortfall larger",
    "levelled_down": "levelled down: shortfall smaller, but English is worse, and the language is "
    "not shown to be better",
    "equivalent": "shortfall about the same", "inconclusive": "shortfall: cannot tell",
    "not_comparable": "shortfall not comparable",
}  # fmt: skip


def outcome(line: Line) -> str:
    """The verdict, or `exploratory`.

    Between models `better`, `worse`, `equivalent`, `inconclusive` or `not_comparable`; of a
    shortfall `smaller`, `larger` or `levelled_down` instead of the first two.
    """
    return line.said.verdict if line.said else "exploratory"


def in_words(line: Line) -> str:
    """The outcome in words, with the numbers that it follows from."""
    if line.said is None:
        return f"exploratory{_numbers(line)}"
    words = (_FALLS if line.kind == "gap" else _BETWEEN)[line.said.verdict]
    if line.said.verdict == "not_comparable":
        return f"{words}: {line.said.reason}"
    sides = ("B", "A") if line.kind == "difference" else None
    why = f": {why_unsure(line.said, sides)}" if line.said.verdict == "inconclusive" else ""
    return f"{words}{why}{_numbers(line)}"


def _numbers(line: Line) -> str:
    """Difference, interval, adjusted p."""
    made = line.made
    if made.difference is None:
        return " (not defined)"
    if made.low is None or made.high is None:
        return " (no interval)"
    change = "difference"
    if line.kind == "gap":
        own, base = shown(made.value), shown(made.base)
        change = f"difference from English {base} in A and {own} in B, change"
    text = f"{change} {shown(made.difference)}, {LEVEL:.0%} interval {shown(made.low)} to "
    text += shown(made.high)
    p_holm = None if line.said is None else line.said.p_holm
    adjusted = "" if p_holm is None else f", adjusted p {shown_p(p_holm)}"
    return f" ({text}{adjusted})"


def shown(value: float | None) -> str:
    """Three digits behind the point; more for what would look like 0."""
    if value is None:
        return "–"
    text = f"{value:.3f}"
    return f"{value:.1e}" if value and not float(text) else text


def shown_p(p: float | None) -> str:
    """Three significant digits, so that 0.0496 does not look like 0.05."""
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3g}"


def language_name(code: str) -> str:
    """A language, or mean over languages, in words; without a code all of them."""
    if not code:
        return "All languages"
    if code == AVERAGE:
        return "mean over languages"
    return f"mean over {code.replace(':', ' ')}" if ":" in code else languages.language_name(code)


# The first lines

_CHANGED = {
    "larger": "larger in {}",
    "smaller": "smaller in {}",
    "levelled_down": "levelled down in {} (smaller, but B's English is worse, and the language is "
    "not shown to be better)",
}


FEW = 6
"""Up to so many languages each have a line with numbers, unfolded; more are told together."""


class Said(NamedTuple):
    """Languages of which the same is said: how B serves them, and how the shortfall changed.

    The verdict is the gravest of B against A over their endpoints; `better` only where none is
    worse.
    """

    languages: Sequence[str]
    verdict: str
    text: str


def answers(lines: Sequence[Line], *, same: bool) -> list[str]:
    """Where B is better or worse than A, then where its shortfall changed; whether both are one."""
    own = _by_language(lines, "difference")
    if not own:
        return ["Nothing can be concluded: nothing that is compared is an endpoint."]
    kinds: dict[str, list[str]] = {}
    for code, group in own.items():
        kinds.setdefault(_kind(group), []).append(code)
    one = "A and B are the same model: what differs is noise between runs, or settings."
    told = [_sentence(_between(kinds, len(own))), *_falls(_by_language(lines, "gap"))]
    return [*([one] if same else []), *told]


def by_language(lines: Sequence[Line]) -> list[Said]:
    """Every language in a sentence, those with the same one together, the gravest first."""
    between = _by_language(lines, "difference")
    few = len(between) <= FEW
    same: dict[tuple[str, str], list[str]] = {}
    for code, group in _by_language(lines, None).items():
        kind = _gravest(between.get(code, ()))
        same.setdefault((kind, headline(group, counted=few)), []).append(code)
    said = [Said(own, kind, text) for (kind, text), own in same.items()]
    return sorted(said, key=lambda item: _ORDER.index(item.verdict))


def conclusions(lines: Sequence[Line]) -> list[Conclusion]:
    """What is concluded of B against A, for a picture."""
    return [line.said for line in lines if line.kind == "difference" and line.said is not None]


_ORDER = ("worse", "better", *(kind for kind in SEVERITY if kind not in ("worse", "better")))


def _by_language(lines: Sequence[Line], kind: str | None) -> dict[str, list[Line]]:
    """Endpoints by language, English last; means over languages are none."""
    own = [x for x in lines if x.said is not None and kind in (None, x.kind)]
    named = {x.language for x in own if is_language(x.language)}
    codes = sorted(named, key=lambda code: (code == ENGLISH, code))
    return {code: [x for x in own if x.language == code] for code in codes}


def _verdicts(group: Sequence[Line]) -> set[str]:
    return {line.said.verdict for line in group if line.said is not None}


def _gravest(group: Sequence[Line]) -> str:
    verdicts = _verdicts(group)
    return next((kind for kind in _ORDER if kind in verdicts), "inconclusive")


def _kind(group: Sequence[Line]) -> str:
    verdicts = _verdicts(group)
    if "worse" in verdicts:
        return "both" if "better" in verdicts else "worse"
    # Of every endpoint it is excluded that B is worse by more than the margin.
    safe = all(line.non_inferior for line in group)
    if "better" in verdicts:
        return "better" if safe else "in_part"
    return "not_worse" if safe else "nothing"


# The place comes first where it is denied: 'not in all languages' may be read as 'in some'.
_KINDS = {
    "worse": "B is worse than A {}",
    "both": "B is worse than A in some measures and better in others {}",
    "better": "B is better than A {}",
    "in_part": "B is better than A as far as it can be told {}",
    "not_worse": "{} B is not worse than A by more than the margin",
    "nothing": "{} it is not shown that B is better or worse than A",
}


def _between(kinds: Mapping[str, Sequence[str]], of: int) -> list[str]:
    """Where each is so; what is shown of the last languages is so of those not named."""
    said: list[str] = []
    there = [kind for kind in _KINDS if kind in kinds]
    for kind in there:
        rest = said and kind == there[-1] and kind in ("not_worse", "nothing")
        where = names([language_name(code) for code in kinds[kind]], of)
        said.append(_KINDS[kind].format("elsewhere" if rest else f"in {where}"))
    return said


def _falls(own: Mapping[str, Sequence[Line]]) -> list[str]:
    said = []
    for verdict, words in _CHANGED.items():
        found = [code for code, group in own.items() if verdict in _verdicts(group)]
        if found:
            said.append(words.format(names([language_name(code) for code in found], len(own))))
    several = any(len(_verdicts(group) & _CHANGED.keys()) > 1 for group in own.values())
    start = "by measure, " if several else ""
    return [_sentence([f"{start}the shortfall to English is {', '.join(said)}"])] if said else []


def _sentence(parts: Sequence[str]) -> str:
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


# Summary


def summary(lines: Sequence[Line]) -> list[str]:
    """Per language what may be said of B against A, then each endpoint; English last."""
    own = [line for line in lines if line.said is not None]
    codes = sorted({line.language for line in own}, key=lambda x: (x == ENGLISH, len(x) > 2, x))
    sentences = [
        f"{language_name(code)}: {headline([x for x in own if x.language == code])}"
        for code in codes
    ]
    for code in codes:
        for line in (x for x in own if x.language == code):
            place = f"{CRITERIA[line.panel.criterion].title}, {line.panel.dataset}"
            text = f"{language_name(code)}: {place}, {line.panel.title}: {in_words(line)}"
            todo = f"; {line.said.next}" if line.said and line.said.next else ""
            sentences.append(f"{text}{_inferior(line)}{todo}.")
    judged = [
        (x.panel.criterion, x.said.judge_error_in_interval)
        for x in own
        if x.said is not None and x.made.low is not None
    ]
    sentences += judge_sentence(judged, "compare")
    rest = len(lines) - len(own)
    if rest:
        sentences.append(
            f"Exploratory, intervals without a verdict: {many(rest, 'more comparison')}."
        )
    return sentences


def headline(own: Sequence[Line], *, counted: bool = False) -> str:
    """What a reader wants to know first of one language: better or worse, and its shortfall.

    `counted` puts the numbers of B and A beside what is better or worse.
    """
    falls = _titles(own, "gap")
    safe = all(line.non_inferior for line in own if line.kind == "difference" and line.said)
    parts = [_both(_titles(own, "difference", counted=counted), safe=safe, counted=counted)]
    for verdict in ("larger", "smaller"):
        if verdict in falls:
            of = f" ({_listed(falls[verdict])})" if len(falls) > 1 else ""
            parts.append(f"the shortfall to English is {verdict}{of}")
    text = f"{', and '.join(parts)}."
    if "levelled_down" in falls:
        text += (
            " Levelled down: the shortfall is smaller, but B's English is worse, and the language "
            f"is not shown to be better ({_listed(falls['levelled_down'])})."
        )
    return text


def _titles(own: Sequence[Line], kind: str, *, counted: bool = False) -> dict[str, list[str]]:
    """Verdict -> the endpoints that have it, in words."""
    titles: dict[str, list[str]] = {}
    several = len({line.panel.dataset for line in own}) > 1
    for line in own:
        if line.kind == kind and line.said is not None:
            heading = metric_of(line.said).heading
            title = heading[:1].lower() + heading[1:]
            title += f", {dataset_title(line.panel.dataset)}" if several else ""
            if counted and (numbers := values_of(line.said)):
                side, _, base = numbers.partition(" vs ")
                unit = " per 100" if metric_of(line.said).per_100 else ""
                title += f": {side}{unit}, A {base}"
            titles.setdefault(line.said.verdict, []).append(title)
    return titles


def _both(between: Mapping[str, Sequence[str]], *, safe: bool, counted: bool) -> str:
    """Worse before better; where neither was shown, whether nothing differs or nothing is known."""
    named = counted or len(between) > 1
    told = [
        f"{verdict} than A" + (f" ({_listed(between[verdict])})" if named else "")
        for verdict in ("worse", "better")
        if verdict in between
    ]
    if told:
        return f"B is {', and '.join(told)}"
    if set(between) == {"equivalent"}:
        return "B is about as good as A"
    if safe:
        return "B is not worse than A by more than the margin; whether it is better cannot be told"
    return "whether B is better or worse than A cannot be told"


def _listed(titles: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(titles))


def _inferior(line: Line) -> str:
    if line.non_inferior is None or line.said is None or line.said.verdict == "equivalent":
        return ""
    told = "is not" if line.non_inferior else "may be"
    return f"; B {told} inferior by more than {line.said.margin:g}"


# Tables


def tables(lines: Sequence[Line]) -> list[Table]:
    """Per criterion and dataset a table of differences, and one of gaps."""
    made = []
    for criterion, dataset in dict.fromkeys(line.panel[:2] for line in lines):
        for kind in ("difference", "gap"):
            own = [x for x in lines if x.panel[:2] == (criterion, dataset) and x.kind == kind]
            if own:
                made.append(_table(kind, criterion, dataset, own))
    return made


def _table(kind: str, criterion: str, dataset: str, lines: Sequence[Line]) -> Table:
    gap = kind == "gap"
    scores = ("A - English", "B - English", "change") if gap else ("A", "B", "B - A")
    extra = () if gap else ("wins/ties/losses", "d_z")
    title = f"{CRITERIA[criterion].title}, {dataset}"
    return Table(
        key=f"{kind}_{criterion}_{dataset}",
        section=criterion,
        title=f"{title}: shortfall to English" if gap else title,
        columns=("metric", "language", *scores, "p", "adjusted p", "n", *extra, "verdict"),
        rows=tuple(_row(line) for line in lines),
    )


def _row(line: Line) -> tuple[Value, ...]:
    arrow = {True: " ↑", False: " ↓", None: ""}[line.better]
    made, detail = line.made, line.made.detail
    numbers = [shown(value) for value in (made.base, made.value, made.difference)]
    wins = "–" if line.wins is None else "/".join(map(str, line.wins))
    size = str(made.n) if line.n_english is None else f"{made.n}, en {line.n_english}"
    extra = [] if line.kind == "gap" else [wins, shown(None if detail is None else detail.d_z)]
    start = [line.panel.title + arrow, line.language, *numbers]
    return (
        *start,
        shown_p(made.p),
        shown_p(line.said.p_holm if line.said else None),
        size,
        *extra,
        in_words(line),
    )
