"""The answers of a report to read: where a language is furthest behind English.

Which questions these are follows from the numbers that `data` keeps; only their lines are
read, by their place in the file, so that files of any size cost the same.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import quote

from xling_metrics.classification import hard_verdict

from xling_tasks.criteria import CRITERIA, ENGLISH, form_of
from xling_tasks.criteria.against_english import COMPARED
from xling_tasks.criteria.empathy import mechanisms
from xling_tasks.criteria.exam import likelihoods
from xling_tasks.criteria.information import supported
from xling_tasks.criteria.rubric import CRITERIA_MET
from xling_tasks.criteria.sample import ANSWER, Passage, answers_by_temperature, words
from xling_tasks.criteria.verifiability import verdicts
from xling_tasks.errors import DataError
from xling_tasks.logs.shown.parts import parts_of
from xling_tasks.report.data import Model, Task
from xling_tasks.report.model import Report
from xling_tasks.report.page.gaps import (
    Gap,
    consistency_gaps,
    correctness_gaps,
    empathy_gaps,
    information_gaps,
    mmedbench_gaps,
    rubric_gaps,
    tau_of,
    verifiability_gaps,
)

LIMIT = 1500
"""Characters of a text that are shown."""

ANSWERS = 3
"""Of several sampled answers, as many are shown."""

_TRIES = 20

Sample = Mapping[str, Any]


class Excerpt(NamedTuple):
    """The beginning of a text.

    Attributes:
        text: As much as is shown.
        language: Two-letter code; empty where it is not known.
        cut: Characters that are left out.
        mark: What was found about it; empty for nothing.
    """

    text: str
    language: str
    cut: int = 0
    mark: str = ""


class Part(NamedTuple):
    """What English and the language have under one heading; one of both may be empty."""

    title: str
    english: tuple[Excerpt, ...]
    other: tuple[Excerpt, ...]


@dataclass(frozen=True)
class SampleToRead:
    """One question in English and in a language that is behind.

    Attributes:
        model: The model's short name.
        criterion: A key of `CRITERIA`.
        dataset: As in `Place`.
        language: The language's code.
        question: The question's id.
        why: What the gap is, in words.
        parts: The texts.
        task: The task's name, under which `xling view` finds the question.
    """

    model: str
    criterion: str
    dataset: str
    language: str
    question: str
    why: str
    parts: tuple[Part, ...]
    task: str = ""

    @property
    def address(self) -> str:
        """Where `xling view` shows it."""
        parts = (self.task, self.question, self.model)
        return "/".join(["q", *(quote(part, safe="", errors="replace") for part in parts)])


def samples_to_read(report: Report, n: int = 5) -> list[SampleToRead]:
    """The worst gaps to English.

    Args:
        report: Whose models to read.
        n: How many at most per model and criterion.

    Returns:
        By criterion, then model, the worst first; equal gaps by the question's id.

    Raises:
        DataError: If a file of samples has changed since it was read, or is broken.
    """
    samples = []
    for criterion in CRITERIA:
        kind = _KINDS.get(form_of(criterion).base)
        if kind is None:
            continue
        for model in report.models:
            tasks = [task for task in model.tasks if task.place.criterion == criterion]
            about = (
                g for g in kind.gaps(tasks) if g.language in (report.languages or (g.language,))
            )
            ordered = sorted(about, key=lambda gap: gap.order)
            read = (_read(model, gap, kind) for gap in ordered[: n * _TRIES])
            samples += list(islice((sample for sample in read if sample is not None), n))
    return samples


def _read(model: Model, gap: Gap, kind: _Kind) -> SampleToRead | None:
    """A sample with its texts; None where these show no gap."""
    try:
        shown = _parts(gap, kind)
    except (LookupError, ValueError, TypeError, AttributeError, OSError) as error:
        raise DataError(
            f"{gap.task.results.samples.path}: question {gap.question!r} cannot be shown "
            f"({error!r}); the file was changed or is broken. Run the task again"
        ) from error
    place = gap.task.place
    if not shown:
        return None
    return SampleToRead(
        model.name, place.criterion, place.dataset, gap.language, gap.question, gap.why, shown,
        gap.task.results.task,
    )  # fmt: skip


# Their texts


def _excerpt(passage: Passage) -> Excerpt:
    """The beginning of a text; combining marks stay with the letter that they belong to."""
    text, end = passage.text, LIMIT
    while end < len(text) and unicodedata.category(text[end])[0] == "M":
        end += 1
    return Excerpt(text[:end], passage.language, max(0, len(text) - end), passage.mark)


def _part(title: str, english: Iterable[Passage], other: Iterable[Passage]) -> Part:
    return Part(title, tuple(map(_excerpt, english)), tuple(map(_excerpt, other)))


def _parts(gap: Gap, kind: _Kind) -> tuple[Part, ...]:
    """What is shown of a gap; nothing where its texts show none."""
    if not kind.headings:
        return _multiple_choice(gap)
    samples = gap.samples()
    english, other = map(partial(_by_heading, gap), samples, (ENGLISH, gap.language))
    parts = []
    for heading, title in kind.headings.items():
        sides = [[] if heading == COMPARED else english[heading], other[heading]]
        if heading != CRITERIA_MET:
            sides = [[own._replace(mark="") for own in side[:1]] for side in sides]
        parts.append(_part(title, *sides))
    if kind.more is not None:
        more = tuple(kind.more(gap, *samples))
        return (*parts, *more) if more else ()
    return tuple(parts)


def _by_heading(gap: Gap, sample: Sample, language: str) -> dict[str, list[Passage]]:
    parts = parts_of(gap.task.place.criterion, sample, language)
    return {part.title: part.passages for part in parts}


def _judge(_: Gap, *samples: Sample) -> Iterator[Part]:
    said = [sample["n_judged"] for sample in samples]
    yield _part("Judge", *([Passage(x["reply"] or "", "", words(x["label"]))] for x in said))


def _sampled(gap: Gap, *samples: Sample) -> Iterator[Part]:
    sides, tau = [], tau_of(gap.name)
    for sample, code in zip(samples, (ENGLISH, gap.language), strict=True):
        by_temperature, others = answers_by_temperature(sample, code)
        if others:  # A temperature is lacking, so that the answers are not where they seem to be.
            raise LookupError("empty_rate")
        sides.append(by_temperature[tau][1])
    most = max(map(len, sides))
    title = f"Answers at temperature {tau}"
    title += f" (the first {ANSWERS} of {most})" if most > ANSWERS else ""
    plain = ([own._replace(mark="") for own in side[:ANSWERS]] for side in sides)
    yield _part(title, *plain)


def _verdicts(gap: Gap, english: Sample, other: Sample) -> Iterator[Part]:
    """The first answer that English calls rightly and the language wrongly."""
    base = {row[0]: row[1:] for row in _rows(english, gap.name)}
    for key, label, verdict, text, said in _rows(other, gap.name):
        if key not in base or verdict is None or verdict == label or base[key][1] != base[key][0]:
            continue
        texts = Passage(base[key][2], ENGLISH), Passage(text, gap.language)
        yield _part("Answer to be checked", *([own] for own in texts))
        marked = Passage(base[key][3], "", "right"), Passage(said, "", "wrong")
        yield _part(f"Verdict (right: {'Yes' if label else 'No'})", *([own] for own in marked))
        return


def _rows(sample: Sample, name: str) -> list[tuple[str, int, int | None, str, str]]:
    """(answer's id, label, verdict, answer, what the model said) of every row."""
    pairs = verdicts(sample, name)
    texts = [said.text for _, said in pairs if said is not None]
    return [
        (str(item["answer_id"]), row[0], hard_verdict(row[1]), item["text"], text)
        for item, (row, _), text in zip(sample["doc"]["answers"], pairs, texts, strict=True)
    ]


def _claims(gap: Gap, sample: Sample, _: Sample) -> Iterator[Part]:
    base, own = sample[f"n_claims_{ENGLISH}"], sample[f"n_claims_{gap.language}"]
    yield _part(
        "Claims, and whether the other answer supports them",
        supported(base["claims"], own["reference_supported"]),
        supported(own["claims"], own["supported"]),
    )


def _mechanisms(gap: Gap, sample: Sample, _: Sample) -> Iterator[Part]:
    present = (mechanisms(sample, code) for code in (ENGLISH, gap.language))
    yield _part("Mechanisms found", *([Passage(text, ENGLISH)] for text in present))


def _multiple_choice(gap: Gap) -> tuple[Part, ...]:
    """One side alone: the questions are others in every language."""
    sample, criterion = gap.sample(gap.task), gap.task.place.criterion
    own = _by_heading(gap, sample, gap.language)
    doc = sample["doc"]
    options = "\n".join(f"{letter}. {text}" for letter, text in doc["options"].items())
    (question,) = own["Question"]
    passages = {
        "Question": question._replace(text=f"{question.text}\n\n{options}"),
        "Right": Passage(", ".join(doc["answer"])),
    }
    if "rationale" in criterion:
        passages["Reference rationale"] = own["Reference rationale"][0]
    if form_of(criterion).by_likelihood:
        passages["Most likely"] = Passage(_likeliest(sample))
    else:
        passages["Reply"] = own[ANSWER][0]._replace(mark="")
    return tuple(_part(title, (), [passage]) for title, passage in passages.items())


def _likeliest(sample: Sample) -> str:
    """The letters with the highest log-likelihood; several if they are equally likely."""
    candidates = likelihoods(sample)
    best = [text for score, text in candidates if score == candidates[0][0]]
    return best[0] if len(best) == 1 else f"undecided between {' / '.join(best)}"


class _Kind(NamedTuple):
    """How a gap is shown.

    Attributes:
        gaps: A criterion's gaps.
        headings: What is shown as it is: the heading of its part -> the title here; none for
            multiple choice, whose questions are others in every language.
        more: What stands below, of the gap and both samples; a gap without it is not shown.
    """

    gaps: Callable[[Sequence[Task]], Iterator[Gap]]
    headings: Mapping[str, str]
    more: Callable[[Gap, Sample, Sample], Iterator[Part]] | None = None


_QUESTION = {"Question": "Question"}
_ANSWER = {**_QUESTION, ANSWER: "Answer"}
_BOTH = {"Question": "Prompt", ANSWER: "Answer"}
_JUDGED = {**_QUESTION, "Reference answer": "Reference", ANSWER: "Answer"}

_KINDS: Mapping[str, _Kind] = {
    "correctness": _Kind(correctness_gaps, _JUDGED, _judge),
    "rubric": _Kind(rubric_gaps, {**_ANSWER, CRITERIA_MET: CRITERIA_MET}),
    "consistency": _Kind(consistency_gaps, _QUESTION, _sampled),
    "verifiability": _Kind(verifiability_gaps, _QUESTION, _verdicts),
    "information": _Kind(information_gaps, {**_BOTH, COMPARED: COMPARED}, _claims),
    "empathy": _Kind(empathy_gaps, {**_BOTH, COMPARED: "As classified, in English"}, _mechanisms),
    "mcqa": _Kind(mmedbench_gaps, {}),
    "mmedbench_mcqa": _Kind(mmedbench_gaps, {}),
    "mmedbench_rationale": _Kind(mmedbench_gaps, {}),
}
