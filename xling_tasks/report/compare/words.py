"""What `xling compare` says: a verdict per line that follows from its numbers, and a summary."""

from __future__ import annotations

from collections.abc import Sequence

from xling_metrics.stats.resampling import LEVEL

from xling_tasks import languages
from xling_tasks.criteria import AVERAGE, CRITERIA
from xling_tasks.report.compare.numbers import Line, language_order
from xling_tasks.report.sentences import judge_sentence, points
from xling_tasks.report.tables.table import Table, Value

NOTES = (
    "B - A is over the questions that both runs have, with equal content; positive: B is higher. "
    "↑ higher is better, ↓ lower is better.",
    "Endpoints are set beforehand (criteria, directions, margins); all else is exploratory: an "
    "interval, and no verdict. Intervals: 95%, over questions, by what the values are; rows of a "
    "question go together.",
    "Adjusted p: Holm's correction over the endpoints and languages of a dataset, of scores and of "
    "gaps each by themselves.",
    "Better, worse: the interval excludes 0 and the adjusted p is below 0.05. About the same: the "
    "interval lies within the margin on both sides. Cannot tell: neither; the questions are too "
    "few to show less than what is named. Not comparable: too much of A or B was not measured.",
    "Not inferior: the interval excludes that B is worse than A by more than the margin.",
    "Wins, ties, losses: questions on which the metric of that question alone is better in B, "
    "equal, worse. d_z: mean over standard deviation of the differences per question (Cohen).",
    "Gap: score in the language minus score in English; better is a smaller gap in B. Scores in "
    "each language's own words (_src, chrF) have no gap.",
)


def outcome(line: Line) -> str:
    """`better`, `worse`, `about_the_same`, `cannot_tell`, `not_comparable`; or `exploratory`."""
    return line.verdict or "exploratory"


def in_words(line: Line) -> str:
    """The outcome in words, with the numbers that it follows from."""
    numbers = _numbers(line)
    if not line.verdict:
        return f"exploratory{numbers}"
    if line.verdict == "not_comparable":
        return f"not comparable: {line.reason}"
    if line.verdict == "about_the_same":
        return f"about the same{numbers}"
    if line.verdict == "cannot_tell":
        start = f"{line.n} questions would show"
        if line.detectable is not None and line.reason.startswith(start):
            return f"cannot tell: {start} {points(line.detectable)} or more{numbers}"
        return f"cannot tell: {line.reason}{numbers}"
    if line.kind == "gap":
        sides = "changed sides, " if (line.a or 0.0) * (line.b or 0.0) < 0 else ""
        return f"gap {sides}{'smaller' if line.verdict == 'better' else 'larger'}{numbers}"
    return f"B {line.verdict}{numbers}"


def _numbers(line: Line) -> str:
    """Difference, interval, adjusted p."""
    if line.difference is None:
        return " (not defined)"
    if line.low is None or line.high is None:
        return " (no interval)"
    change = "difference"
    if line.kind == "gap":
        change = f"from {shown(line.a)} to {shown(line.b)}, change"
    text = f"{change} {shown(line.difference)}, {LEVEL:.0%} interval {shown(line.low)} to "
    text += shown(line.high)
    adjusted = "" if line.p_holm is None else f", adjusted p {shown_p(line.p_holm)}"
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


# Summary


def summary(lines: Sequence[Line]) -> list[str]:
    """Per language and endpoint what may be said of B against A, and of its gap to English."""
    own = [line for line in lines if line.verdict]
    codes = sorted({line.language for line in own}, key=language_order)
    sentences = []
    for code in codes:
        for line in (x for x in own if x.language == code):
            gap = ", gap to English" if line.kind == "gap" else ""
            place = f"{CRITERIA[line.panel.criterion].title}, {line.panel.dataset}"
            text = f"{language_name(code)}: {place}, {line.panel.title}{gap}: {in_words(line)}"
            sentences.append(f"{text}{_inferior(line)}.")
    judged = [(x.panel.criterion, x.judge_error_in_interval) for x in own if x.low is not None]
    sentences += judge_sentence(judged, "compare")
    rest = len(lines) - len(own)
    if rest:
        sentences.append(f"{rest} more comparisons are exploratory: intervals without a verdict.")
    return sentences


def _inferior(line: Line) -> str:
    if line.non_inferior is None or line.margin is None or line.verdict == "about_the_same":
        return ""
    told = "is not" if line.non_inferior else "may be"
    return f"; B {told} inferior by more than {line.margin:g}"


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
    return (*start, shown_p(line.p), shown_p(line.p_holm), size, *extra, in_words(line))
