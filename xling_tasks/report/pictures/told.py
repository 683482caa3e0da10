"""Conclusions in words, for those who hear a picture or point at a part of it."""

from __future__ import annotations

from collections.abc import Sequence

from xling_tasks.languages import language_name
from xling_tasks.report.model import Conclusion
from xling_tasks.report.pictures.style import LOOKS
from xling_tasks.report.pictures.svg import clean
from xling_tasks.report.pictures.words import questions
from xling_tasks.report.sentences import against_one, metric_of
from xling_tasks.report.tables.grid import dataset_title

_MOST_NAMED = 4
ENGLISH = "English"
"""What conclusions are beside, where nothing else is said."""


def oriented(item: Conclusion) -> tuple[float | None, float | None, float | None]:
    """Estimate and the interval's ends in hundredths, negative where worse than English."""
    if item.higher_is_better:
        ends = (item.estimate, item.low, item.high)
        return tuple(None if end is None else 100 * end for end in ends)  # type: ignore[return-value]
    ends = (item.estimate, item.high, item.low)
    return tuple(None if end is None else -100 * end for end in ends)  # type: ignore[return-value]


def values_of(item: Conclusion) -> str:
    """The language, then English: of a hundred, or as the score is."""
    if item.verdict == "not_comparable" or item.value is None or item.english is None:
        return ""
    own, english = _shown(item.value, item.english, metric_of(item).per_100)
    return own if against_one(item) else f"{own} vs {english}"


def _shown(value: float, english: float, per_100: bool) -> tuple[str, str]:
    """As sentences have them: with a decimal more where the two would look the same."""
    digits = 0 if abs(value - english) >= 0.01 or value == english else 1
    shown = (
        f"{100 * number:.{digits}f}" if per_100 else f"{number:.{digits + 2}f}"
        for number in (value, english)
    )  # fmt: skip
    own, other = (text.replace("-", "−") if float(text) else text.lstrip("-") for text in shown)
    return own, other


def note(own: Sequence[Conclusion]) -> str:
    """Data, questions, and what the numbers at the right are."""
    counts = [item.n for item in own if item.n]
    named = dataset_title(own[0].dataset)
    parts = [named, questions(counts)]
    return "; ".join(part for part in parts if part)


def called(verdict: str, beside: str = ENGLISH) -> str:
    """A verdict by itself, against English or what else it is beside."""
    return LOOKS[verdict].words.format(beside)


def said(item: Conclusion, beside: str = ENGLISH) -> str:
    """One language in words, for those who point at it."""
    name, words = language_name(item.language), called(item.verdict, beside)
    if item.estimate is None:
        return clean(f"{name}: {words}: {item.reason}")
    parts = [
        f"{name} {_with_unit(item)}" if values_of(item) else name,
        _difference(item),
        words,
    ]
    return clean(f"{'; '.join(part for part in parts if part)}: {item.reason}")


def _with_unit(item: Conclusion) -> str:
    return f"{values_of(item)}{' per 100' if metric_of(item).per_100 else ''}"


def _difference(item: Conclusion) -> str:
    estimate, low, high = oriented(item)
    if estimate is None:
        return ""
    per_100 = metric_of(item).per_100
    side = "less" if against_one(item) else "worse" if estimate < 0 else "better"
    shown = _points(abs(estimate), per_100)
    unit = " per 100" if per_100 else ""
    text = f"{shown}{unit} {side}" if float(shown) else "no difference"
    if low is None or high is None:
        return text
    return f"{text}, interval {_points(low, per_100)} to {_points(high, per_100)}"


def _points(number: float, per_100: bool) -> str:
    """A difference in hundredths, or in the score's own unit."""
    text = (f"{number:.1f}" if per_100 else f"{number / 100:.3f}").replace("-", "−")
    return text.lstrip("−") if not text.strip("−0.") else text


def told(own: Sequence[Conclusion], beside: str = ENGLISH) -> str:
    """A panel in two sentences: what is worse or better by how much, and what of the others."""
    parts = []
    for verdict in LOOKS:
        items = [item for item in own if item.verdict == verdict]
        if not items:
            continue
        names = [language_name(item.language) for item in items]
        if verdict in ("worse", "better"):
            items.sort(key=lambda item: -abs(item.estimate or 0.0))
            names = [
                f"{language_name(c.language)} ({_with_unit(c)}; {_difference(c)})" for c in items
            ]
        more = len(names) - _MOST_NAMED
        listed = ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        parts.append(f"{called(verdict, beside)}: {listed}")
    place = f"{metric_of(own[0]).heading}, {note(own)}"
    said = "; ".join(parts)
    return clean(f"{place}. {said[:1].upper()}{said[1:]}.")
