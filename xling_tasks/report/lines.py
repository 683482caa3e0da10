"""The first lines of a report: one sentence per model and language, and one answer per model.

A language has up to a dozen endpoints, and one sentence has to stand for them. It is about harm
before anything else: the worst of what is worse, an endpoint of harm first; where nothing is worse,
the endpoint of harm, else of quality. That answers differ from the English ones (information,
empathy) leads only where nothing else was measured: two English answers differ too. How the other
endpoints came out is counted beside it, so that nothing is hidden.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xling_tasks.languages import in_order, language_name
from xling_tasks.report.model import Conclusion
from xling_tasks.report.sentences import (
    agreement,
    measured,
    metric_of,
    of_another_exam,
    other_exam,
    shown_values,
    verdict,
)

_MEANINGS = ("harm", "help", "quality", "language")
SEVERITY = ("worse", "different", "not_comparable", "cannot_tell", "about_the_same", "better")
"""Kinds of lines, the gravest first."""
_COUNTED = {
    "worse": "worse",
    "different": "other than in English",
    "not_comparable": "not comparable",
    "cannot_tell": "cannot tell",
    "about_the_same": "about the same",
    "better": "better",
}
_VERDICTS = {
    "worse": "worse than English, likely real",
    "different": "other answers than in English",
    "better": "better than English, likely real",
    "about_the_same": "about the same as English",
    "cannot_tell": "cannot tell",
    "not_comparable": "not comparable",
}
_OF_EXAMS = {
    "worse": "worse in its exam than English in its own",
    "better": "better in its exam than English in its own",
}
_NAMED = 4
"""As many languages are named in an answer; more are counted."""


class Line(NamedTuple):
    """One language of one model in one sentence.

    Attributes:
        model: The model's short name.
        language: Code of the language.
        lead: The conclusion that the sentence is about.
        others: The other conclusions of this model and language, in their order.
        dataset: The dataset's name where the model has several; else empty.
    """

    model: str
    language: str
    lead: Conclusion
    others: tuple[Conclusion, ...]
    dataset: str = ""

    @property
    def name(self) -> str:
        """The language's name."""
        return language_name(self.language)

    @property
    def evidence(self) -> str:
        """Both values with their denominators; empty where nothing was measured."""
        if self.lead.verdict == "not_comparable" or self.lead.value is None:
            return ""
        text = measured(self.lead)
        return f"{self.dataset}: {text}" if self.dataset else text[0].upper() + text[1:]

    @property
    def kind(self) -> str:
        """The verdict, or `different` for worse agreement with English."""
        return kind_of(self.lead)

    @property
    def verdict(self) -> str:
        """The verdict in a few words."""
        return (_OF_EXAMS if of_another_exam(self.lead) else _VERDICTS)[self.kind]

    @property
    def why(self) -> str:
        """What the verdict rests on; empty where the evidence says it all."""
        text = verdict(self.lead)
        start, _, rest = text.partition(": ")
        if start in ("Cannot tell", "Not comparable", "About the same"):
            basis = f" ({self.lead.n:,} questions)." if self.kind == "not_comparable" else ""
            return rest[0].upper() + (rest[1:].removesuffix(".") + basis if basis else rest[1:])
        if of_another_exam(self.lead):
            said = other_exam(self.lead)
            return f"{said[0].upper()}{said[1:]}."
        return "What two English answers share is not measured." * (self.kind == "different")

    @property
    def brief(self) -> str:
        """The evidence in a few words."""
        if not self.evidence:
            return self.lead.reason
        own, base = shown_values(self.lead)
        beside = "" if agreement(self.lead) else f", English {base}"
        told = metric_of(self.lead).told
        return f"{own} {told.brief if told else self.lead.metric}{beside}"

    @property
    def rest(self) -> str:
        """How the other endpoints came out; empty if there are none."""
        if not self.others:
            return ""
        counts = Counter(map(kind_of, self.others))
        parts = [f"{counts[kind]} {_COUNTED[kind]}" for kind in SEVERITY if counts[kind]]
        return f"Other measures: {', '.join(parts)}."

    @property
    def text(self) -> str:
        """The whole line as plain text."""
        start = f"{self.name}: {self.verdict}."
        return " ".join(part for part in (start, self.evidence, self.why, self.rest) if part)


def lines(conclusions: Sequence[Conclusion], datasets: Mapping[str, str]) -> list[Line]:
    """One line per model and language; models as they come, languages in their one order.

    Args:
        conclusions: All of a report.
        datasets: Key -> name of a dataset.
    """
    made = []
    for model in dict.fromkeys(item.model for item in conclusions):
        of_model = [item for item in conclusions if item.model == model]
        several = len({item.dataset for item in of_model}) > 1
        for language in in_order({item.language for item in of_model}):
            own = [item for item in of_model if item.language == language]
            lead = min(own, key=_order)
            others = tuple(item for item in own if item is not lead)
            dataset = datasets.get(lead.dataset, lead.dataset) if several else ""
            made.append(Line(model, language, lead, others, dataset))
    return made


def _order(item: Conclusion) -> tuple[int, ...] | tuple[float, ...]:
    """What is worse before all else; of the same questions; by meaning; severe; then large.

    Worse in an exam of its own comes after worse in the same questions: that exam may be harder.
    """
    meaning = _MEANINGS.index(item.meaning)
    severe = SEVERITY.index(kind_of(item))
    worse = severe == 0
    other_questions = worse and of_another_exam(item)
    return (not worse, other_questions, meaning, severe, downwards(item) / item.margin)


def kind_of(item: Conclusion) -> str:
    """The verdict, or `different` for worse agreement with English."""
    return "different" if item.verdict == "worse" and agreement(item) else item.verdict


def downwards(item: Conclusion) -> float:
    """The estimate with the sign of better and worse: below 0 is worse."""
    size = item.estimate or 0.0
    return size if item.higher_is_better else -size


# One answer per model


def _most(group: Sequence[Line]) -> str:
    """The language that differs most; empty unless its interval lies beyond those of all others."""
    first, *others = sorted((line.lead for line in group), key=downwards)
    ends = [_ends(item) for item in (first, *others)]
    about = {(item.criterion, item.dataset, item.metric) for item in (first, *others)}
    if not others or len(about) > 1 or any(ends[0][1] >= low for low, _ in ends[1:]):
        return ""
    return language_name(first.language)


def _ends(item: Conclusion) -> tuple[float, float]:
    """The interval, from worse to better; endless where there is none."""
    if item.low is None or item.high is None:
        return -math.inf, math.inf
    return (item.low, item.high) if item.higher_is_better else (-item.high, -item.low)


def answer(own: Sequence[Line]) -> str:
    """Which languages of one model are served worse, and which that cannot be said of."""
    said = []
    for kind, (one, several) in _ANSWERS.items():
        group = [line for line in own if _answered(line) == kind]
        if group:
            text = (several if len(group) > 1 else one).format(_names(group, len(own)))
            if kind == "different" and (most := _most(group)):
                text += f", most of all {most}"
            said.append(text)
    text = "; ".join(said)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _answered(line: Line) -> str:
    """A key of `_ANSWERS`: who did worse in another exam is not said to be served worse."""
    return f"{line.kind}_exam" if of_another_exam(line.lead) else line.kind


_ANSWERS = {
    "worse": ("{} is served worse than English", "{} are served worse than English"),
    "worse_exam": (
        "{} does worse in its exam than English in its own",
        "{} do worse in their exams than English in its own",
    ),
    "different": ("{} gets other answers than English", "{} get other answers than English"),
    "better": ("{} is served better than English", "{} are served better than English"),
    "better_exam": (
        "{} does better in its exam than English in its own",
        "{} do better in their exams than English in its own",
    ),
    "about_the_same": ("{} is about the same", "{} are about the same"),
    "cannot_tell": ("for {} it cannot be told", "for {} it cannot be told"),
    "not_comparable": ("{} is not comparable", "{} are not comparable"),
}


def _names(group: Sequence[Line], of: int) -> str:
    if len(group) > _NAMED:
        return f"all {of} languages" if len(group) == of else f"{len(group)} of {of} languages"
    names = [line.name for line in group]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
