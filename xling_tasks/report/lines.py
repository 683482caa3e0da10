"""The first lines of a report: one sentence per model and language, and one answer per model.

A language has up to a dozen endpoints, and one sentence has to stand for them. It is about the
worst of what is worse, harm before service before quality; where nothing is worse, about harm, else
about service. How the other endpoints came out is counted beside it, so that nothing is hidden. The
worst language comes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xling_tasks.criteria import CRITERIA
from xling_tasks.languages import in_order, language_name
from xling_tasks.outcomes import ANOTHER_LANGUAGE, SERVED
from xling_tasks.output import plural
from xling_tasks.report.model import Conclusion
from xling_tasks.report.sentences import (
    against_one,
    agreement,
    measured,
    metric_of,
    of_another_exam,
    other_exam,
    shown_values,
    unremarkable,
    verdict,
)

_MEANINGS = ("harm", SERVED, "help", "quality")
SEVERITY = ("worse", "not_comparable", "inconclusive", "equivalent", "better")
"""Kinds of lines, the gravest first."""
_VERDICTS = {
    "worse": "worse than English",
    "better": "better than English",
    "equivalent": "about the same as English",
    "inconclusive": "cannot tell",
    "not_comparable": "not comparable",
    "worse_exam": "worse in its exam than English in its own",
    "better_exam": "better in its exam than English in its own",
}
_COUNTED = {**_VERDICTS, "inconclusive": "too uncertain to tell"}
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
        return f"{self.dataset}: {text}" if self.dataset else text

    @property
    def kind(self) -> str:
        """The verdict."""
        return self.lead.verdict

    @property
    def kind_of_exam(self) -> str:
        """The verdict; `worse_exam` or `better_exam` where English had other questions."""
        return f"{self.kind}_exam" if of_another_exam(self.lead) else self.kind

    @property
    def todo(self) -> str:
        """What to do where nothing can be told; else empty."""
        return f"Next: {self.lead.next}." if self.lead.next else ""

    @property
    def verdict(self) -> str:
        """The verdict in a few words."""
        return _VERDICTS[self.kind_of_exam]

    @property
    def why(self) -> str:
        """What the verdict rests on; empty where the evidence says it all."""
        text = verdict(self.lead)
        start, _, rest = text.partition(": " if ": " in text else ". ")
        if start in ("Cannot tell", "Not comparable", "About the same"):
            return rest[:1].upper() + rest[1:]
        if of_another_exam(self.lead):
            said = other_exam(self.lead)
            return f"{said[0].upper()}{said[1:]}."
        return rest.strip() if start in ("Worse", "Better") else ""

    @property
    def brief(self) -> str:
        """The evidence in a few words."""
        if not self.evidence:
            return self.lead.reason
        own, base = shown_values(self.lead)
        other = "two English answers" if agreement(self.lead) else "English"
        beside = "" if against_one(self.lead) else f", {other} {base}"
        told = metric_of(self.lead).told
        return f"{own} {told.brief if told else self.lead.metric}{beside}"

    @property
    def rest(self) -> str:
        """How the other endpoints came out; empty if there are none."""
        if not self.others:
            return ""
        parts = []
        for kind in SEVERITY:
            own = [metric_of(item).heading for item in self.others if item.verdict == kind]
            listed = "; ".join(f"{text[:1].lower()}{text[1:]}" for text in dict.fromkeys(own))
            which = f" ({listed})" if len(self.others) == 1 else ""
            parts += [f"{len(own)} {_COUNTED[kind]}{which}"] if own else []
        return f"Other {plural('measure', len(self.others))}: {', '.join(parts)}."

    @property
    def text(self) -> str:
        """The whole line as plain text."""
        start = f"{self.name}: {self.verdict}."
        return " ".join(
            part for part in (start, self.evidence, self.why, self.todo, self.rest) if part
        )


def lines(conclusions: Sequence[Conclusion], datasets: Mapping[str, str]) -> list[Line]:
    """One line per model and language; models as they come, the worst language first."""
    made = []
    for model in dict.fromkeys(item.model for item in conclusions):
        of_model = [item for item in conclusions if item.model == model]
        several = len({item.dataset for item in of_model}) > 1
        for language in worst_first(of_model):
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
    # That all are served is no news, and says nothing of what they get.
    meaning = (
        len(_MEANINGS)
        if (item.meaning == SERVED and item.verdict != "worse")
        else (_MEANINGS.index(item.meaning))
    )
    severe = SEVERITY.index(item.verdict)
    worse = severe == 0
    other_questions = worse and of_another_exam(item)
    return (not worse, other_questions, meaning, severe, downwards(item) / item.margin)


def worst_first(conclusions: Sequence[Conclusion]) -> list[str]:
    """The languages of one model: those that are served worse by most margins, then the others."""

    def key(code: str) -> tuple[float, ...]:
        own = [item for item in conclusions if item.language == code]
        lead = min(own, key=_order)
        worse = [x for x in own if x.verdict == "worse"] or [lead]
        size = min(downwards(item) / item.margin for item in worse)
        return (SEVERITY.index(lead.verdict), of_another_exam(lead), size)

    return sorted(in_order({item.language for item in conclusions}), key=key)


def downwards(item: Conclusion) -> float:
    """The estimate with the sign of better and worse: below 0 is worse."""
    size = item.estimate or 0.0
    return size if item.higher_is_better else -size


# One answer per model


def answer(own: Sequence[Line]) -> str:
    """Which languages of one model are served worse, and which that cannot be said of."""
    said = []
    for kind, (one, several) in _ANSWERS.items():
        of_kind = [line for line in own if _answered(line) == kind]
        for part, more in ((False, ""), (True, " as far as it can be told")):
            group = [line for line in of_kind if in_part(line) == part]
            if group:
                named = names([line.name for line in group], len(own))
                said.append((several if len(group) > 1 else one).format(named) + more)
    text = "; ".join(said)
    return f"{text[:1].upper()}{text[1:]}.{_not_of_right(own)}" if text else ""


def _not_of_right(own: Sequence[Line]) -> str:
    """On what an answer rests where no criterion asked whether answers are right."""
    told = [x for line in own for x in (line.lead, *line.others)]
    served = any(line.kind in ("worse", "better") for line in own)
    if not served or any(CRITERIA[x.criterion].of_right and x.meaning != SERVED for x in told):
        return ""
    rests = "; ".join(dict.fromkeys(metric_of(line.lead).heading for line in own))
    return f" Measured: {rests[:1].lower()}{rests[1:]}; not whether answers are right."


def _answered(line: Line) -> str:
    """A key of `_ANSWERS`: who did worse in another exam is not said to be served worse."""
    if line.kind == "worse" and dict(line.lead.outcomes).get(ANOTHER_LANGUAGE, 0) > line.lead.n / 2:
        return "unserved"
    return line.kind_of_exam


def in_part(line: Line) -> bool:
    """Whether no gap was seen, and other endpoints leave it open."""
    told, left_open = line.kind in ("equivalent", "better"), ("inconclusive", "not_comparable")
    return told and any(x.verdict in left_open for x in line.others if not unremarkable(x))


_ANSWERS = {
    "unserved": (
        "{} is mostly not answered in the user's language",
        "{} are mostly not answered in the user's language",
    ),
    "worse": ("{} is served worse than English", "{} are served worse than English"),
    "worse_exam": (
        "{} does worse in its exam than English in its own",
        "{} do worse in their exams than English in its own",
    ),
    "better": ("{} is served better than English", "{} are served better than English"),
    "better_exam": (
        "{} does better in its exam than English in its own",
        "{} do better in their exams than English in its own",
    ),
    "equivalent": ("{} is about the same", "{} are about the same"),
    "inconclusive": ("for {} it cannot be told", "for {} it cannot be told"),
    "not_comparable": ("{} is not comparable", "{} are not comparable"),
}


def names(group: Sequence[str], of: int) -> str:
    """Languages by name, many of so many by their number."""
    if len(group) > _NAMED:
        return f"all {of} languages" if len(group) == of else f"{len(group)} of {of} languages"
    return listed(group)


def listed(words: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


# The judge's own error


def about_the_judge(conclusions: Sequence[Conclusion]) -> list[str]:
    """One sentence where intervals know nothing of the judge's own error; none where all do."""
    shown = [item for item in conclusions if item.low is not None]
    return judge_sentence([(c.criterion, c.judge_error_in_interval) for c in shown], "report")


def judge_sentence(intervals: Sequence[tuple[str, bool | None]], command: str) -> list[str]:
    """The sentence of `about_the_judge`, with the command of `xling` that takes people's labels.

    Of each interval shown it needs the criterion, and whether the judge's error is in it (None
    without a judge).
    """
    without = dict.fromkeys(criterion for criterion, taken in intervals if taken is False)
    if not without:
        return []
    listed = " and ".join(CRITERIA[criterion].title for criterion in without)
    mixed = any(taken and criterion in without for criterion, taken in intervals)
    where = "in some of the intervals only" if mixed else "not in the intervals"
    hint = ""
    if corrected := [CRITERIA[key].title.lower() for key in without if CRITERIA[key].labelled]:
        these = "" if len(without) == 1 else f"for {' and '.join(corrected)} "
        hint = (
            f"; {these}people's labels put it there "
            f"(`xling annotate`, then `xling {command} --human`)"
        )
    return [f"{listed}: the judge's own error is {where}{hint}."]
