"""What runs found, question by question: read once from lm_eval's files, in bounded memory.

Of every sample only numbers are kept, a column per metric; see `columns`.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from xling_metrics.choices import chance_level
from xling_metrics.stats.verdict_counts import VERDICT_SCORES

from xling_tasks.criteria import CRITERIA, ENGLISH, LABELS, Endpoint, TaskKey
from xling_tasks.errors import DataError
from xling_tasks.failed_response import logged_usage
from xling_tasks.logs.checked import check_numbers, reading
from xling_tasks.logs.newest import find_models
from xling_tasks.logs.results import TaskResults
from xling_tasks.report.columns import Column, column_of, probability_column, reduce_value, stem
from xling_tasks.report.usable import derive_columns, outcomes_of

_NOT_PER_QUESTION = frozenset(
    {"invalid_rows", "sacrebleu", "n_judged", "n_responses", "repeated_responses", "judge_alpha"}
    | {"bypass"}
)
_TOLERANCE = 1e-6
_REDUCED = "reduced values"
_PROBABILITIES = "verifiability_ll"
"""The criterion whose samples have the probability of Yes, row by row, as `auc`."""


@dataclass
class Task:
    """One task of one model.

    Attributes:
        model: The model's name in this report.
        task_key: What the task is about.
        results: lm_eval's numbers and records.
        ids: Its questions in the file's order; empty without logged samples.
        columns: Metric -> values.
        chances: Question of multiple choice -> the probability of guessing it.
        categories: Question -> category, where the prompts have one.
        outcomes: Language -> the outcome of each question, None where it was not asked; empty where
            several answers or rows belong to one question.
        usage: Language -> question -> its responses, how they ended and their tokens.
        texts: A number per question that is the same for the same text.
        one_prompt: Whether all of several questions got one prompt.
        derived: The metrics that follow from outcomes, with their values.
        counted: Metric and way -> values with unparsed responses counted in another way.
        english: The metrics of the same task in English, whose temperature counts.
    """

    model: str
    task_key: TaskKey
    results: TaskResults
    ids: list[str] = field(default_factory=list)
    columns: dict[str, Column] = field(default_factory=dict)
    chances: dict[str, float] = field(default_factory=dict)
    categories: dict[str, str] = field(default_factory=dict)
    outcomes: dict[str, list[str | None]] = field(default_factory=dict)
    usage: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    texts: array[int] = field(default_factory=lambda: array("q"))
    one_prompt: bool = False
    derived: dict[str, float] = field(default_factory=dict)
    counted: dict[tuple[str, str], Column] = field(default_factory=dict)
    english: Sequence[str] = ()

    @property
    def scores(self) -> dict[str, float | None]:
        """lm_eval's value of each metric, and ours of outcomes; None where it is undefined."""
        return self.results.scores | self.derived

    @property
    def endpoints(self) -> dict[str, Endpoint]:
        """The primary metrics among its metrics."""
        return CRITERIA[self.task_key.criterion].endpoints_among(self.scores, self.english)

    @property
    def directions(self) -> Mapping[str, bool | None]:
        """Whether higher is better."""
        return {**self.results.directions, **dict.fromkeys(self.derived, True)}

    @property
    def per_question(self) -> list[str]:
        """The metrics that questions have values of."""
        return [name for name in self.scores if name not in _NOT_PER_QUESTION]

    @property
    def limited(self) -> bool:
        """Whether the run left questions out (`--limit`, `--samples`)."""
        return self.results.count["effective"] < self.results.count["original"]

    @property
    def languages(self) -> list[str]:
        """The languages that it has answers in."""
        language = self.task_key.language
        return [language] if language else list(self.recorded("data").get("languages") or [])

    @cached_property
    def repeats_texts(self) -> bool:
        """Whether several of its questions have one text."""
        return len(set(self.texts)) < len(self.texts)

    def recorded(self, name: str) -> Mapping[str, Any]:
        """Return a part of what the task records of itself; empty where it does not."""
        part: Mapping[str, Any] = self.results.xling.get(name) or {}
        return part

    def count(self, language: str) -> tuple[int, int]:
        """Return how many questions were asked in a language, and how many there are."""
        requested, available = self.results.count["effective"], self.results.count["original"]
        outcomes = self.outcomes.get(language)
        if outcomes is None or self.task_key.language:
            return requested, available
        n = sum(outcome is not None for outcome in outcomes)
        return n, available if self.limited else n

    def cut_prompts(self, language: str) -> float:
        """Return the share of prompts longer than the context; without a language the largest."""
        counts = self.recorded("cut_prompts")
        chosen = [counts[language]] if language in counts else [] if language else counts.values()
        return max((float(n / asked) for n, asked in chosen), default=0.0)

    def select(self, ids: Sequence[str]) -> Task:
        """Return the task over some of its questions in an order."""
        position = {key: index for index, key in enumerate(self.ids)}
        order = [position[key] for key in ids]
        return replace(
            self,
            ids=list(ids),
            columns={name: column.select(order) for name, column in self.columns.items()},
            outcomes={
                code: [group[position] for position in order]
                for code, group in self.outcomes.items()
            },
            texts=array("q", (self.texts[position] for position in order)),
            counted={},
        )


@dataclass
class Model:
    """One model's tasks with their samples, as `ModelResults` has them."""

    name: str
    full: str
    tasks: list[Task]
    notes: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Let every task know the metrics of English."""
        pairs = ((task.task_key, task) for task in self.tasks)
        self._english = {key[:2]: task for key, task in pairs if key.language == ENGLISH}
        for task in self.tasks:
            base = self.english_of(task)
            task.english = () if base is None else tuple(base.scores)

    def english_of(self, task: Task) -> Task | None:
        """Return the same task in English; one with several languages itself."""
        return self._english.get(task.task_key[:2]) if task.task_key.language else task


def read_models(
    folders: Iterable[Path | str], families: Sequence[str] | None = None
) -> list[Model]:
    """Read every model in some output folders; see `each_model`."""
    return list(each_model(folders, families))


def each_model(
    folders: Iterable[Path | str], families: Sequence[str] | None = None
) -> Iterator[Model]:
    """Yield every model in some output folders, each task's newest run.

    The samples of a model are read when its turn comes. `NAME=FOLDER` names the model in a folder,
    and separates it from the same model under another name (with another judge's labels, say).

    Args:
        folders: As `lm_eval --output_path` wrote them.
        families: As of `--family`, beside those that are known; None for tasks of ours alone.

    Raises:
        DataError: If a folder has no results of ours, a file is broken, or samples and results
            contradict each other.
    """
    for found in find_models(folders, families):
        tasks = list(_read_tasks(found.name, found.tasks))
        yield Model(found.name, found.full, tasks, found.notes)


def _read_tasks(model: str, results: Mapping[str, TaskResults]) -> Iterator[Task]:
    """Yield tasks with their samples; two of one subject or file name are an error."""
    first: dict[TaskKey, TaskResults] = {}
    sources: dict[str, TaskResults] = {}
    for name, result in results.items():
        task_key, data = result.task_key, result.xling.get("data") or {}
        if task_key is None or not result.xling:
            continue
        problem, same = "", first.setdefault(task_key, result)
        if same is not result:
            subject = "/".join(filter(None, task_key))
            problem = f"{name} and {same.task} are both {subject}, and a report shows one"
        elif data.get("kind") == "own":  # users' questions
            other = sources.setdefault(task_key.dataset, result)
            digests = [(x.xling.get("data") or {}).get("sha256") for x in (other, result)]
            if digests[0] != digests[1]:
                problem = (
                    f"{name} was run over another file called {data.get('name')} (sha256 "
                    f"{digests[1]!s:.12}) than {other.task} ({digests[0]!s:.12})"
                )
        if problem:
            raise DataError(
                f"{result.run.path}: {problem}. Put their results in two folders and name them: "
                "A=FOLDER B=FOLDER"
            )
        samples = result.samples
        with reading(samples.path):
            task = Task(model, task_key, result)
            read = partial(reduce_sample, task.per_question)
            rows = samples.stream(read) if samples.path.is_file() else ()
            yield fill(task, (row for _, row in rows))


# One task's samples


def fill(task: Task, samples: Iterable[dict[str, Any]]) -> Task:
    """Fill a task from its reduced samples; without any it keeps lm_eval's numbers."""
    names = task.per_question
    soft = task.task_key.criterion == _PROBABILITIES
    in_rows = [name for name in names if not soft and stem(name) in VERDICT_SCORES]
    values: dict[str, list[Any]] = {name: [] for name in names}
    unparsed: dict[str, list[tuple[float, float]]] = {name: [] for name in in_rows}
    rows: list[list[tuple[int, float | None]]] = []
    prompts: set[int] = set()
    for sample in samples:
        if sample.get("filter", "none") != "none":
            continue
        doc = sample["doc"]
        task.ids.append(question := str(doc["question_id"]))
        task.texts.append(_text_number(doc))
        prompts.add(hash(json.dumps(sample.get("arguments", question), sort_keys=True)))
        for code, outcome in outcomes_of(sample).items():
            task.outcomes.setdefault(code, [None] * (len(task.ids) - 1)).append(outcome)
        for outcomes in task.outcomes.values():
            outcomes += [None] * (len(task.ids) - len(outcomes))
        for code, counts in logged_usage(sample).items():
            task.usage.setdefault(code, {})[question] = counts
        for name in names:
            values[name].append(sample[_REDUCED][name])
        for name in in_rows:
            unparsed[name].append(_count_unparsed(doc, sample.get(name)))
        if isinstance(category := doc.get("category"), str) and category:
            task.categories[question] = category
        if not task.task_key.parallel or task.task_key.language == ENGLISH:
            # Of guessing the correct letters among all sets that are possible.
            n = len(doc.get("options") or ())
            task.chances[question] = chance_level(n, several=bool(doc.get("several"))) if n else 0.0
        if soft:
            rows.append([(row[0], row[1]) for row in sample.get("auc") or ()])
    if not task.ids:
        return task
    task.one_prompt = len(prompts) == 1 and len(task.ids) > 1
    signatures = task.recorded("signatures")
    for name in names:
        found = probability_column(name, rows) if soft else None
        found = found or column_of(name, values[name], str(signatures.get(name, "")))
        if found is None or (name.partition("_judge")[0] in LABELS and task.scores[name] is None):
            continue  # A share of labels where nothing was judged is none.
        found.counted = CRITERIA[task.task_key.criterion].of(name).counted
        # `acc` is of answers in rows in one criterion, and of letters in others.
        if name in unparsed and not found.simple:
            found.unparsed = np.array(unparsed[name])
        task.columns[name] = found
    _validate(task)
    for name, column in derive_columns(task.outcomes, task.columns, task.task_key.language).items():
        task.columns[name] = column
        task.derived[name] = float(column.sums[column.present, 0].mean())
    return task


def reduce_sample(names: Iterable[str], sample: dict[str, Any]) -> dict[str, Any]:
    """Check a sample for what is read of it, and add what is kept of its values."""
    if "question_id" not in sample["doc"]:
        raise LookupError("question_id")
    sample[_REDUCED] = {}
    for name in names:
        sample[_REDUCED][name] = value = reduce_value(name, sample.get(name))
        check_numbers(name, value)
    return sample


def _text_number(doc: Mapping[str, Any]) -> int:
    """Return a number that is the same for questions with the same text, whatever their ids."""
    text = doc.get("text", doc.get("question"))
    text = text.get(ENGLISH) if isinstance(text, Mapping) else text
    plain = " ".join(str(text or doc["question_id"]).split()).casefold()
    digest = hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _count_unparsed(doc: Mapping[str, Any], rows: Any) -> tuple[float, float]:
    """Count the answers of label 1 and of label 0 without a verdict, failed requests included."""
    pairs = [row for row in rows if isinstance(row, list)] if isinstance(rows, list) else []
    answers = doc.get("answers") or ()
    labels = Counter(answer["label"] for answer in answers if isinstance(answer, dict))
    labels = labels or Counter(label for label, _ in pairs)
    labels.subtract(label for label, verdict in pairs if verdict is not None)
    return float(labels[1]), float(labels[0])


def _validate(task: Task) -> None:
    """Check that samples and results tell the same; else one of them was changed."""
    for name, column in task.columns.items():
        value, recomputed = task.scores[name], column.score()
        if value is None or recomputed is None:
            same = value is recomputed
        else:
            same = abs(recomputed - value) <= _TOLERANCE * max(1.0, abs(value))
        if not same:
            raise DataError(
                f"{task.results.samples.path}: {name} over its samples is {recomputed}, but "
                f"{task.results.run.path.name} says {value}. The files do not belong together or "
                "were changed. Run the task again, or remove the file of samples"
            )
