"""Conclusions in plain words: the first lines of a report."""

from __future__ import annotations

from collections.abc import Sequence

from xling_tasks.criteria import CRITERIA, Metric
from xling_tasks.languages import language_name
from xling_tasks.report.model import Conclusion
from xling_tasks.report.vetoes import percent

VERDICTS = {
    "worse": "worse than English",
    "better": "better than English",
    "about_the_same": "about the same as in English",
    "cannot_tell": "cannot tell",
    "not_comparable": "not comparable",
}
"""The closed list of verdicts, in words."""


def sentences(
    conclusions: Sequence[Conclusion], datasets: dict[str, str], *, several: bool = False
) -> list[str]:
    """One line per model, dataset, language and criterion.

    Args:
        conclusions: All of a report.
        datasets: Key -> name of a dataset.
        several: Whether the report is about other models, too, of which nothing is concluded.
    """
    several = several or len({item.model for item in conclusions}) > 1
    lines = []
    about = [(c.model, c.dataset, c.language, c.criterion) for c in conclusions]
    for key in sorted(dict.fromkeys(about), key=lambda k: _order(k, about)):
        own = [c for c, k in zip(conclusions, about, strict=True) if k == key]
        model, dataset, language, criterion = key
        place = f"{CRITERIA[criterion].title}, {datasets.get(dataset, dataset)}"
        start = f"{model}, {place}" if several else place
        lines.append(f"{start}, {language_name(language)}: {_of_criterion(own)}")
    return lines


def about_the_judge(conclusions: Sequence[Conclusion]) -> list[str]:
    """One sentence where intervals know nothing of the judge's own error; none where all do."""
    shown = [item for item in conclusions if item.low is not None]
    return judge_sentence([(c.criterion, c.judge_error_in_interval) for c in shown], "report")


def judge_sentence(intervals: Sequence[tuple[str, bool | None]], command: str) -> list[str]:
    """The sentence of `about_the_judge`.

    Args:
        intervals: Of each interval shown its criterion, and whether the judge's error is in it
            (None without a judge).
        command: Of `xling`, which takes people's labels.
    """
    without = dict.fromkeys(criterion for criterion, taken in intervals if taken is False)
    if not without:
        return []
    listed = " and ".join(CRITERIA[criterion].title for criterion in without)
    mixed = any(taken and criterion in without for criterion, taken in intervals)
    where = "in some of the intervals only" if mixed else "not in the intervals"
    hint = ""
    if "correctness" in without:
        hint = (
            f"; {'' if len(without) == 1 else 'for correctness '}people's labels put it there "
            f"(`xling annotate`, then `xling {command} --human`)"
        )
    return [f"{listed}: the judge's own error is {where}{hint}."]


def metric_of(item: Conclusion) -> Metric:
    """What is known of the metric of a conclusion."""
    return CRITERIA[item.criterion].metric(item.metric)


def agreement(item: Conclusion) -> bool:
    """Whether a conclusion is about agreement with the English answers themselves."""
    return CRITERIA[item.criterion].agreement(item.metric)


def _order(
    key: tuple[str, str, str, str], about: Sequence[tuple[str, str, str, str]]
) -> tuple[int, ...]:
    """Models, datasets, then languages with their criteria, each as they come first."""
    return tuple(
        next(i for i, other in enumerate(about) if other[: at + 1] == key[: at + 1])
        for at in range(4)
    )


def _of_criterion(own: Sequence[Conclusion]) -> str:
    """Its endpoints as sentences; a reason that is the same for all of them once."""
    apart = [item for item in own if item.verdict == "not_comparable"]
    if len(apart) == len(own) and len({item.reason for item in apart}) == 1:
        return f"Not comparable: {apart[0].reason}."
    told = [item for item in own if not unremarkable(item)]
    return " ".join(map(sentence, told or own))


def unremarkable(item: Conclusion) -> bool:
    """Answers that are all but always in the user's language, and nothing shown."""
    plain = item.meaning == "language" and item.verdict in ("about_the_same", "cannot_tell")
    return plain and item.value is not None and item.value >= 0.95


def sentence(item: Conclusion) -> str:
    """What was found, beside English, and what may be said of it."""
    said = f"{measured(item)} {verdict(item)}"
    return said[0].upper() + said[1:]


def measured(item: Conclusion) -> str:
    """The values of both, such as '19 of 100 answers contradict the reference, 11 in English'.

    Below 100 questions shares are counts of these; the number of questions stands at the end.
    """
    if item.verdict == "not_comparable" or item.value is None or item.english is None:
        return f"{metric_of(item).heading}:"
    own, base = shown_values(item)
    share = share_in_words(item)
    if share:
        text = f"{own} answers {share}"
    else:
        told = metric_of(item).told
        text = (told.sentence if told else f"{item.metric} is {{}}").format(own)
    beside = "" if agreement(item) else f", {base} in English"
    basis = _basis(item, told=" of " in own and not own.endswith(" of 100"))
    return f"{text}{beside}{basis}."


def share_in_words(item: Conclusion) -> str:
    """What a share of answers says of them; empty for other values."""
    told = metric_of(item).told
    return told.sentence if told and told.unit == "answers" else ""


def shown_values(item: Conclusion) -> tuple[str, str]:
    """The value in the language with its denominator, and the bare one in English."""
    value, english = item.value or 0.0, item.english or 0.0
    if share_in_words(item):
        counts = [share * item.n for share in (value, english)]
        whole = all(abs(count - round(count)) < 1e-6 for count in counts)
        if item.n < 100 and whole and not item.judge_error_in_interval:
            return f"{round(counts[0])} of {item.n}", f"{round(counts[1])}"
        own, base = _of_100(value, english)
        return f"{own} of 100", base
    told = metric_of(item).told
    if told and told.unit == "pairs":
        return _of_100(value, english)
    if told and told.unit == "percent":
        return percent(value), percent(english)
    return f"{value:.2f}", f"{english:.2f}"


def _of_100(value: float, english: float) -> tuple[str, str]:
    """Two shares of 100; with a decimal where they would look equal and are not."""
    own, base = f"{100 * value:.0f}", f"{100 * english:.0f}"
    if own == base and abs(value - english) >= 0.0005:
        return f"{100 * value:.1f}", f"{100 * english:.1f}"
    return own, base


def _basis(item: Conclusion, *, told: bool) -> str:
    """Of how many questions, if nothing else says so, and what else a reader must know."""
    told = told or verdict(item).startswith(f"Cannot tell: {item.n:,} questions")
    parts = [] if told else [f"{item.n:,} questions"]
    if item.judge_error_in_interval:
        parts.append("corrected by people's labels")
    if not CRITERIA[item.criterion].parallel:
        parts.append("each language has its own")
    return f" ({'; '.join(parts)})" if parts else ""


def verdict(item: Conclusion) -> str:
    """The verdict with what it rests on: 'Likely real.', 'Cannot tell: ...'."""
    if item.verdict == "not_comparable":
        return f"Not comparable: {item.reason}."
    if item.verdict == "about_the_same":
        return f"About the same: the difference is at most {points(item.margin)}."
    if item.verdict == "cannot_tell":
        if leans(item):
            side = "worse" if ((item.estimate or 0.0) < 0) == item.higher_is_better else "better"
            return f"Cannot tell: it looks {side}, but may be chance among several comparisons."
        if item.detectable is not None and item.reason.startswith(f"{item.n} questions"):
            return (
                f"Cannot tell: {item.n:,} questions would show {points(item.detectable)} or more."
            )
        return f"Cannot tell: {item.reason}."
    if agreement(item):
        return "Less than the margin allows; what two English answers share is not measured."
    said = f"{'Worse' if item.verdict == 'worse' else 'Better'}; likely real"
    return f"{said}, but {other_exam(item)}." if of_another_exam(item) else f"{said}."


def of_another_exam(item: Conclusion) -> bool:
    """Whether English had other questions, so that a gap may be the exams' own."""
    return not CRITERIA[item.criterion].parallel and item.verdict in ("worse", "better")


def other_exam(item: Conclusion) -> str:
    """What else may have made the gap between two exams."""
    return f"its exam has other questions, which may be {_EXAMS[item.verdict]}"


_EXAMS = {"worse": "harder", "better": "easier"}


def leans(item: Conclusion) -> bool:
    """Whether nothing can be told for the correction alone: the interval excludes 0."""
    known = item.low is not None and item.high is not None
    apart = known and not (item.low or 0.0) <= 0 <= (item.high or 0.0)
    return item.verdict == "cannot_tell" and apart and "after the correction" in item.reason


def points(size: float) -> str:
    """A difference of shares or scores in hundredths."""
    number = 100 * size
    shown = f"{number:.0f}" if number >= 1 else f"{number:.1g}"
    return f"{shown} point{'' if shown == '1' else 's'}"
