"""What `xling compare` says: a verdict per line that follows from its numbers, and a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from xling_metrics.stats.resampling import LEVEL

from xling_tasks.criteria import CRITERIA
from xling_tasks.languages import LANGUAGES
from xling_tasks.report.compare.numbers import Line, language_order
from xling_tasks.report.tables.table import Table, Value

ALPHA = 0.05
"""An adjusted p below this, together with an interval without 0, shows a difference."""

FEWEST = 6
"""With fewer questions no permutation test can give p < 0.05: 2 / 2^5 is 0.0625."""

_UNKNOWN = ("too_few", "not_tested", "undefined")
_CHANGES = {
    "narrowed": "narrowed",
    "widened": "widened",
    "crossed": "changed sides",
    "better": "better",
    "worse": "worse",
    "higher": "higher (neither is better)",
    "lower": "lower (neither is better)",
}

NOTES = (
    "B - A is over the questions that both runs have, with equal content; positive: B is higher. "
    "↑ higher is better, ↓ lower is better.",
    "Intervals: 95%, percentile bootstrap over questions; all rows of a question are drawn "
    "together, and A and B, and a language and English, over the same draws. MMedBench's questions "
    "differ between languages: there each language is drawn by itself.",
    "p: permutation test, two-sided; whole questions change sides between A and B (in a gap, with "
    "both languages). Adjusted p: Holm's correction over all comparisons made here.",
    f"A difference counts as shown if its interval excludes 0 and its adjusted p is below {ALPHA}. "
    "'No difference shown' is not equality: the questions may be too few to show one.",
    "Wins, ties, losses: questions on which the metric of that question alone is better in B, "
    "equal, worse. d_z: mean over standard deviation of the differences per question (Cohen).",
    "Gap: score in the language minus score in English. 'Narrowed' and 'widened' compare its size "
    "and need the same sign in A and B; with different signs it changed sides.",
)


def outcome(line: Line) -> str:
    """What the numbers of a line show.

    Returns:
        `better`, `worse` (of a metric without direction `higher`, `lower`), of a gap `narrowed`,
        `widened`, `crossed`; `not_shown`; or why there is nothing: `undefined`, `not_tested`,
        `too_few`.
    """
    fewest = line.n if line.n_english is None else min(line.n, line.n_english)
    if 0 < fewest < FEWEST:
        return "too_few"
    if line.difference is None:
        return "undefined"
    if line.low is None or line.high is None or line.p_holm is None:
        return "not_tested"
    if line.low <= 0 <= line.high or line.p_holm >= ALPHA:
        return "not_shown"
    if line.kind == "gap":
        return _gap_outcome(line.a or 0.0, line.b or 0.0)
    if line.better is None:
        return "higher" if line.difference > 0 else "lower"
    return "better" if (line.difference > 0) == line.better else "worse"


def _gap_outcome(a: float, b: float) -> str:
    if a * b < 0:
        return "crossed"
    return "narrowed" if abs(b) < abs(a) else "widened"


def verdict(line: Line) -> str:
    """The outcome in words, with the numbers that it follows from."""
    found = outcome(line)
    if found == "too_few":
        sizes = f"n={line.n}" + ("" if line.n_english is None else f", English n={line.n_english}")
        return f"too few questions ({sizes})"
    if found == "undefined":
        return "not defined"
    if found == "not_tested":
        return "not tested (no interval)"
    interval = f"{LEVEL:.0%} interval {shown(line.low)} to {shown(line.high)}"
    adjusted = f"adjusted p {shown_p(line.p_holm)}"
    gap = line.kind == "gap"
    if found != "not_shown":
        subject = f"gap {_CHANGES[found]}" if gap else f"B {_CHANGES[found].partition(' ')[0]}"
        change = f"from {shown(line.a)} to {shown(line.b)}, change" if gap else "difference"
        return f"{subject} ({change} {shown(line.difference)}, {interval}, {adjusted})"
    lead = "no change of the gap shown" if gap else "no difference shown"
    if line.low is not None and line.high is not None and line.low <= 0 <= line.high:
        return f"{lead} ({interval} includes 0)"
    return f"{lead} ({interval} excludes 0, but {adjusted})"


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
    if code in LANGUAGES:
        return LANGUAGES[code].name
    return "mean over languages" if code == "avg" else f"mean over {code.replace(':', ' ')}"


# Summary


def summary(lines: Sequence[Line]) -> list[str]:
    """Counts per language in words, then what no count says."""
    codes = sorted({line.language for line in lines}, key=language_order)
    found = []
    for code in ("", *codes):
        for kind in ("difference", "gap"):
            own = [x for x in lines if x.kind == kind and code in ("", x.language)]
            if own:
                name = language_name(code)
                lead = f"{name}: B" if kind == "difference" else f"{name}, gap to English:"
                found.append(f"{lead} {_counted(own)}.")
    return [*found, *_limits(lines)]


def _counted(lines: Sequence[Line]) -> str:
    counts = Counter(map(outcome, lines))
    gap = lines[0].kind == "gap"
    always = ("narrowed", "widened") if gap else ("better", "worse")
    parts = [f"{_CHANGES[key]} in {counts[key]}" for key in always]
    others = ("crossed",) if gap else ("higher", "lower")
    parts += [f"{_CHANGES[key]} in {counts[key]}" for key in others if counts[key]]
    parts.append(f"no {'change' if gap else 'difference'} shown in {counts['not_shown']}")
    untested = sum(counts[key] for key in _UNKNOWN)
    if untested:
        parts.append(f"too few questions, or not testable, in {untested}")
    return f"{', '.join(parts)} of {len(lines)} comparisons"


def _limits(lines: Sequence[Line]) -> Iterable[str]:
    yield "No difference shown is not equality: these questions do not show one."


# Tables


def tables(lines: Sequence[Line]) -> list[Table]:
    """Per criterion and dataset a table of differences, and one of gaps."""
    found = []
    for criterion, dataset in dict.fromkeys(line.panel[:2] for line in lines):
        for kind in ("difference", "gap"):
            own = [x for x in lines if x.panel[:2] == (criterion, dataset) and x.kind == kind]
            if own:
                found.append(_table(kind, criterion, dataset, own))
    return found


def _table(kind: str, criterion: str, dataset: str, lines: Sequence[Line]) -> Table:
    gap = kind == "gap"
    scores = ("gap A", "gap B", "change") if gap else ("A", "B", "B - A")
    extra = () if gap else ("wins/ties/losses", "d_z")
    title = f"{CRITERIA[criterion].title}, {dataset}"
    return Table(
        key=f"{kind}_{criterion}_{dataset}",
        section=criterion,
        title=f"{title}: gap to English" if gap else title,
        columns=("metric", "language", *scores, "p", "adjusted p", "n", *extra, "verdict"),
        rows=tuple(_row(line) for line in lines),
    )


def _row(line: Line) -> tuple[Value, ...]:
    arrow = {True: " ↑", False: " ↓", None: ""}[line.better]
    numbers = [shown(value) for value in (line.a, line.b, line.difference)]
    wins = "–" if line.wins is None else f"{line.wins}/{line.ties}/{line.losses}"
    size = str(line.n) if line.n_english is None else f"{line.n}, en {line.n_english}"
    extra = [] if line.kind == "gap" else [wins, shown(line.d_z)]
    start = [line.panel.title + arrow, line.language, *numbers]
    return (*start, shown_p(line.p), shown_p(line.p_holm), size, *extra, verdict(line))
