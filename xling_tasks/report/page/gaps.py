"""Which questions of a report are worth reading: those furthest behind English, by its numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from xling_tasks.criteria import BADNESS, ENGLISH
from xling_tasks.criteria.consistency import SIMILAR
from xling_tasks.report.data import Task


class Gap(NamedTuple):
    """One question of one language beside English.

    Attributes:
        size: The larger, the worse; comparable within one criterion.
        question: Its id.
        language: Two-letter code.
        task: The language's task.
        english: English's task; the same one where all languages are in one.
        why: What the gap is, in words.
        name: The metric that it was found by; empty where it is clear.
    """

    size: float
    question: str
    language: str
    task: Task
    english: Task
    why: str
    name: str = ""

    @property
    def order(self) -> tuple[Any, ...]:
        """The worst first, equal ones by question."""
        pieces = re.split(r"(\d+)", self.question)
        number = [int(piece) if piece.isdecimal() else 0 for piece in pieces]
        return (-self.size, number, self.question, self.task.place.dataset, self.language)

    def sample(self, task: Task) -> dict[str, Any]:
        """The question's line in a task's file of samples."""
        sample = task.results.samples.at(task.offsets[task.ids.index(self.question)])
        if str(sample["doc"]["question_id"]) != self.question:
            raise LookupError("another question stands there")
        return sample

    def samples(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """English's line and the language's."""
        return self.sample(self.english), self.sample(self.task)


def _pairs(tasks: Sequence[Task]) -> Iterator[tuple[Task, Task]]:
    """(task, the English task over the same dataset) of every other language."""
    english = {task.place.dataset: task for task in tasks if task.place.language == ENGLISH}
    for task in tasks:
        base = english.get(task.place.dataset)
        if base is not None and task.place.language != ENGLISH:
            yield task, base


def _values(task: Task, name: str) -> Mapping[str, float | None]:
    column = task.columns.get(name)
    return {} if column is None else column.values(task.ids)


def correctness_gaps(tasks: Sequence[Task]) -> Iterator[Gap]:
    """Labels worse than English's; contradictory ones first."""
    for task, base in _pairs(tasks):
        own, reference = _labels(task), _labels(base)
        for question, label in own.items():
            other = reference.get(question)
            if other is not None and BADNESS[label] > BADNESS[other]:
                size = BADNESS[label] - BADNESS[other] + 10.0 * (label == "contradictory")
                why = f"{spaced(label)}; in English {spaced(other)}"
                yield Gap(size, question, task.place.language, task, base, why)


def _labels(task: Task) -> dict[str, str]:
    columns = {label: _values(task, label) for label in BADNESS}
    return {
        question: label
        for label, values in columns.items()
        for question, value in values.items()
        if value == 1
    }


def rubric_gaps(tasks: Sequence[Task]) -> Iterator[Gap]:
    """Answers with fewer of their criteria's points than the English answer."""
    for task, base in _pairs(tasks):
        yield from _drops(task, base, "rubric_score", "score", 2)


def consistency_gaps(tasks: Sequence[Task]) -> Iterator[Gap]:
    """Drops in the first metric of similarity, at the highest temperature, that both have."""
    for task, base in _pairs(tasks):
        name = _headline(set(task.columns) & set(base.columns))
        yield from _drops(task, base, name, name, 3)


def _drops(task: Task, base: Task, name: str, told: str, digits: int) -> Iterator[Gap]:
    """The questions in which a metric is lower than in English."""
    reference = _values(base, name)
    for question, value in _values(task, name).items():
        other = reference.get(question)
        if value is not None and other is not None and value < other:
            why = f"{told} {value:.{digits}f}; in English {other:.{digits}f}"
            yield Gap(other - value, question, task.place.language, task, base, why, name)


def _headline(names: Iterable[str]) -> str:
    swept = [name for name in names if "_t" in name]
    for stem in SIMILAR:
        for suffix in ("", "_src"):
            own = [name for name in swept if name.rpartition("_t")[0] == stem + suffix]
            if own:
                return max(own, key=lambda name: float(tau_of(name)))
    return ""


def tau_of(name: str) -> str:
    """The temperature in a metric's name, as it is written there."""
    return name.rpartition("_t")[2]


def verifiability_gaps(tasks: Sequence[Task]) -> Iterator[Gap]:
    """Questions with more right verdicts in English than in the language."""
    for task, base in _pairs(tasks):
        both = set(task.columns) & set(base.columns)
        swept = sorted(name for name in both if re.fullmatch(r"acc_t[\d.]+", name))
        name = "acc" if "acc" in both else min(swept, key=lambda x: float(tau_of(x)), default="")
        if not name:
            continue
        reference = base.columns[name].by_question(base.ids)
        for question, counts in task.columns[name].by_question(task.ids).items():
            other = reference.get(question)
            if counts is None or other is None or not (counts[1] + counts[2]):
                continue
            size = (other[0] + other[3]) - (counts[0] + counts[3])
            if size > 0:
                why = "wrong verdict; in English the right one"
                yield Gap(size, question, task.place.language, task, base, why, name)


def information_gaps(tasks: Sequence[Task]) -> Iterator[Gap]:
    """The lowest F1 of claims."""
    for task in tasks:
        for name in task.columns:
            # Runs before version 2 of the task have a prompt's F1 under the first name.
            match = re.fullmatch(r"information_f1(?:_by_prompt)?_(\w\w)", name)
            if match and task.columns[name].simple:
                for question, value in _values(task, name).items():
                    if value is not None and value < 1:
                        why = f"F1 of claims {value:.2f}"
                        yield Gap(1 - value, question, match[1], task, task, why)


def empathy_gaps(tasks: Sequence[Task]) -> Iterator[Gap]:
    """Responses with another profile than the English one; most mechanisms apart first."""
    for task in tasks:
        for name in task.columns:
            if match := re.fullmatch(r"empathy_(\w\w)", name):
                ending = f"_agreement_{match[1]}"
                agreed = [_values(task, key) for key in task.columns if key.endswith(ending)]
                for question, value in _values(task, name).items():
                    if value == 0:
                        apart = sum(values.get(question) == 0 for values in agreed)
                        why = "another profile than in English"
                        yield Gap(apart, question, match[1], task, task, why)


def mmedbench_gaps(tasks: Sequence[Task]) -> Iterator[Gap]:
    """Wrong answers in the worst language: the questions are others in every language."""
    pairs = [(t, b) for t, b in _pairs(tasks) if (_accuracy(t) or 0) < (_accuracy(b) or 0)]
    for dataset in sorted({task.place.dataset for task, _ in pairs}):
        behind = [pair for pair in pairs if pair[0].place.dataset == dataset]
        task, base = min(behind, key=lambda p: (_accuracy(p[0]) or 0, p[0].place.language))
        partial = _values(task, "jaccard")
        why = f"wrong; accuracy {_accuracy(task) or 0:.3f}, in English {_accuracy(base) or 0:.3f}"
        for question, value in _values(task, "acc").items():
            if value == 0:
                size = 1 - (partial.get(question) or 0)
                yield Gap(size, question, task.place.language, task, base, why)


def _accuracy(task: Task) -> float | None:
    return task.scores.get("acc")


def spaced(label: object) -> str:
    """A key as words."""
    return str(label).replace("_", " ")
