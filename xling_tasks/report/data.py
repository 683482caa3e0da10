"""What runs found, question by question: read once from the harness's files, in bounded memory.

Of every sample only numbers are kept, a column per metric; see `columns`.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
from xling_metrics.choices import chance_level
from xling_metrics.stats.resampling import Floats
from xling_metrics.stats.roc import auc_interval, rows_of
from xling_metrics.stats.verdict_counts import VERDICT_SCORES

from xling_tasks.criteria import CRITERIA, ENGLISH, LABELS, Endpoint, Place
from xling_tasks.errors import DataError, user_path
from xling_tasks.logs.checked import check_numbers, reading
from xling_tasks.logs.families import found, given_families, known_families
from xling_tasks.logs.joined import members, refuse_unmatched, with_families
from xling_tasks.logs.results import Results, TaskResults, read_results
from xling_tasks.report.columns import Column, Row, column_of, reduced, soft_column, stem
from xling_tasks.report.outcomes import Outcomes, derived, outcomes_of

_NOT_PER_QUESTION = frozenset(
    {"invalid_rows", "sacrebleu", "n_judged", "n_responses", "judge_alpha", "bypass"}
)
_TOLERANCE = 1e-6
_REDUCED = "what is kept of the values"


@dataclass
class Task:
    """One task of one model.

    Attributes:
        model: The model's short name in this report.
        place: What the task is about.
        results: The harness's own numbers and records.
        ids: Its questions in the file's order; empty without logged samples.
        offsets: Where each question's line begins in the file of samples.
        columns: Metric -> values.
        rows: (label, P(Yes)) per question, for `auc`, which no sums over questions give.
        unread: Metric of verdicts -> rows of label 1, and of label 0, without a verdict; a row per
            question.
        chances: Question of multiple choice -> the probability of guessing it.
        categories: Question -> category, where the prompts have one.
        outcomes: Language -> what became of each question; empty where several answers or rows
            belong to one.
        derived: The metrics that follow from outcomes.
        texts: A number per question that is the same for the same text.
    """

    model: str
    place: Place
    results: TaskResults
    ids: list[str] = field(default_factory=list)
    offsets: array[int] = field(default_factory=lambda: array("q"))
    columns: dict[str, Column] = field(default_factory=dict)
    rows: dict[str, list[Row]] = field(default_factory=dict)
    unread: dict[str, Floats] = field(default_factory=dict)
    chances: dict[str, float] = field(default_factory=dict)
    categories: dict[str, str] = field(default_factory=dict)
    outcomes: Outcomes = field(default_factory=dict)
    derived: dict[str, float] = field(default_factory=dict)
    texts: array[int] = field(default_factory=lambda: array("q"))

    @property
    def scores(self) -> dict[str, float | None]:
        """The harness's value of each metric, and ours of outcomes; None where it is undefined."""
        return self.results.scores | self.derived

    @cached_property
    def twins(self) -> bool:
        """Whether several of its questions have one text."""
        return len(set(self.texts)) < len(self.texts)

    @property
    def endpoints(self) -> dict[str, Endpoint]:
        """The endpoints among its metrics."""
        return CRITERIA[self.place.criterion].endpoints_among(self.scores)

    @property
    def directions(self) -> Mapping[str, bool | None]:
        """Whether higher is better."""
        return {**self.results.directions, **dict.fromkeys(self.derived, True)}

    @property
    def limited(self) -> bool:
        """Whether the run left questions out (`--limit`, `--samples`)."""
        count = self.results.count
        return bool(count["effective"] < count["original"])


@dataclass
class Model:
    """One model's tasks.

    Attributes:
        name: Its short name in this report.
        full: Its name and arguments.
        tasks: The newest result of each task.
        others: Tasks in its results that are not ours.
        about_others: What to know of them, a line each.
    """

    name: str
    full: str
    tasks: list[Task]
    others: list[str]
    about_others: list[str] = field(default_factory=list, kw_only=True)


def read_models(
    folders: Iterable[Path | str], families: Sequence[str] | None = None
) -> list[Model]:
    """Every model in some output folders; see `each_model`."""
    return list(each_model(folders, families))


def each_model(
    folders: Iterable[Path | str], families: Sequence[str] | None = None
) -> Iterator[Model]:
    """Every model in some output folders, each task's newest run, one model after the other.

    The samples of a model are read when its turn comes. `NAME=FOLDER` names the model in a folder,
    which stays apart from the same model under another name (another judge's labels, say).
    `families` are as of `--family`, beside those that are known; None to read tasks of ours alone.
    A DataError says that a folder has no results of ours, a file is broken, or samples and results
    contradict each other.
    """
    for name, full, tasks, about in newest_results(folders, families):
        yield replace(_model(name, full, tasks), about_others=about)


def newest_results(
    folders: Iterable[Path | str], families: Sequence[str] | None = None, *, only_ours: bool = True
) -> list[tuple[str, str, dict[str, TaskResults], list[str]]]:
    """Of every model in some output folders its short name, its full one, and its newest results.

    With them what to know of tasks that are not ours, a line each. Folders and families are those
    of `each_model`; `only_ours` makes a folder without tasks of ours an error.
    """
    given = given_families(families or ())
    known = [] if families is None else [*given, *known_families()]
    every: list[Results] = []
    names_of_folders = [str(item) for item in folders]
    newest_by_model: dict[tuple[str, str], dict[str, TaskResults]] = {}
    names: dict[tuple[str, str], str] = {}
    for item in names_of_folders:
        name, folder = named_folder(item)
        runs = read_results(folder)
        every += runs
        if not runs or (only_ours and not any(any(members(run, known).values()) for run in runs)):
            refuse_unmatched(given, runs, str(folder))
            others = {task for run in runs for task in run.tasks}
            told = f"; {found(others)}" if others and families is not None else ""
            raise DataError(
                f"{folder}: no results of our tasks in it; give lm_eval's --output_path{told}"
            )
        if name and len({run.model for run in runs}) > 1:
            raise DataError(f"{folder}: holds several models; a name can stand for one only")
        for run in runs:
            key = (name, run.model)
            names.setdefault(key, name or _short(run))
            newest = newest_by_model.setdefault(key, {})
            for task in sorted(run.tasks):
                if task not in newest or run.stamp >= newest[task].run.stamp:
                    newest[task] = TaskResults(task, run)
    refuse_unmatched(given, every, ", ".join(names_of_folders))
    labels = _distinct(names)
    read = [
        (labels[key], key[1], *with_families(tasks, known))
        for key, tasks in newest_by_model.items()
    ]
    if only_ours and not any(own.place for _, _, tasks, _ in read for own in tasks.values()):
        told = "; ".join(dict.fromkeys(note for *_, notes in read for note in notes))
        raise DataError(f"{', '.join(names_of_folders)}: nothing in it can be read: {told}")
    return read


def _model(name: str, full: str, results: Mapping[str, TaskResults]) -> Model:
    tasks, others = [], []
    first: dict[Place, TaskResults] = {}
    _refuse_two_files(results.values())
    for task, result in results.items():
        place = result.place
        if place is None or not result.xling:
            others.append(task)
            continue
        same = first.setdefault(place, result)
        if same is not result:
            where = "/".join(filter(None, place))
            raise DataError(
                f"{result.run.path}: {task} and {same.task} are both {where}, and a report shows "
                "one; put their results in two folders and name them: A=FOLDER B=FOLDER"
            )
        with reading(result.samples.path):
            tasks.append(_filled(Task(name, place, result)))
    return Model(name, full, tasks, sorted(others))


def _refuse_two_files(results: Iterable[TaskResults]) -> None:
    """Two files of users' own questions that have one name are two datasets."""
    first: dict[str, TaskResults] = {}
    for result in results:
        data, place = result.xling.get("data") or {}, result.place
        if place is None or data.get("kind") != "own":
            continue
        other = first.setdefault(place.dataset, result)
        digests = [str((x.xling.get("data") or {}).get("sha256"))[:12] for x in (other, result)]
        if digests[0] != digests[1]:
            raise DataError(
                f"{result.run.path}: {result.task} was run over another file called "
                f"{data.get('name')} (sha256 {digests[1]}) than {other.task} ({digests[0]}); put "
                "their results in two folders and name them: A=FOLDER B=FOLDER"
            )


def named_folder(item: Path | str) -> tuple[str, Path]:
    """Name (empty without one) and folder of `NAME=FOLDER` or `FOLDER`."""
    name, sign, folder = str(item).partition("=")
    if sign and not os.path.exists(item):
        return name, user_path(folder)
    return "", user_path(item)


def _short(run: Results) -> str:
    args = run.model_args
    named = args.get("peft") or args.get("pretrained") or args.get("model")
    return str(named or run.config.get("model") or "model").rstrip("/").rpartition("/")[2]


def _distinct(names: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """Short names, numbered where two models would have the same."""
    labels: dict[tuple[str, str], str] = {}
    for key, name in names.items():
        numbered = chain([name], (f"{name} ({number})" for number in count(2)))
        labels[key] = next(label for label in numbered if label not in labels.values())
    return labels


# One task's samples


def _text_number(doc: Mapping[str, Any]) -> int:
    """A number that is the same for questions with the same text, whatever their ids."""
    text = doc.get("text", doc.get("question"))
    text = text.get(ENGLISH) if isinstance(text, Mapping) else text
    plain = " ".join(str(text or doc["question_id"]).split()).casefold()
    digest = hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _filled(task: Task) -> Task:
    """Fill a task from its file of samples; without the file it keeps the harness's numbers."""
    samples = task.results.samples
    if not samples.path.is_file():
        return task
    values: dict[str, list[Any]] = {
        name: [] for name in task.scores if name not in _NOT_PER_QUESTION
    }
    soft = task.place.criterion == "verifiability_ll"
    signatures = task.results.xling.get("signatures") or {}
    unread: dict[str, list[tuple[float, float]]] = {
        name: [] for name in values if not soft and stem(name) in VERDICT_SCORES
    }
    for _, offset, sample in samples.stream_at(partial(_parsed, values)):
        if sample.get("filter", "none") != "none":
            continue
        question = str(sample["doc"]["question_id"])
        task.ids.append(question)
        task.offsets.append(offset)
        task.texts.append(_text_number(sample["doc"]))
        for code, outcome in outcomes_of(sample).items():
            task.outcomes.setdefault(code, [None] * (len(task.ids) - 1)).append(outcome)
        for own in task.outcomes.values():
            own += [None] * (len(task.ids) - len(own))
        for name, kept in values.items():
            kept.append(sample[_REDUCED][name])
        for name, unknown in unread.items():
            unknown.append(_unknown_by_label(sample.get(name)))
        if isinstance(category := sample["doc"].get("category"), str) and category:
            task.categories[question] = category
        if not task.place.parallel or task.place.language == ENGLISH:
            task.chances[question] = _chance(sample["doc"])
        if soft and sample.get("auc") is not None:
            task.rows[question] = [(row[0], row[1]) for row in sample["auc"]]
    for name, kept in values.items():
        column = soft_column(name, task.rows, task.ids) if soft else None
        column = column or column_of(name, kept, str(signatures.get(name, "")))
        if column is not None:
            column.counted = CRITERIA[task.place.criterion].of(name).counted
            task.columns[name] = column
    # `acc` is of verdicts in one criterion, and of letters, one to a question, in others.
    task.unread = {
        name: np.array(own)
        for name, own in unread.items()
        if name in task.columns and not task.columns[name].simple
    }
    for name in [*task.columns]:  # A share of labels where nothing was judged is none.
        if name.partition("_judge")[0] in LABELS and task.scores.get(name) is None:
            del task.columns[name]
    _check(task)
    for name, column in derived(task.outcomes, task.columns, task.place.language).items():
        task.columns[name] = column
        task.derived[name] = float(np.nanmean(column.sums[:, 0]))
    return task


def _parsed(names: Iterable[str], sample: dict[str, Any]) -> dict[str, Any]:
    """A sample, checked for what is read of it, with what is kept of its values."""
    if "question_id" not in sample["doc"]:
        raise LookupError("question_id")
    sample[_REDUCED] = {}
    for name in names:
        sample[_REDUCED][name] = value = reduced(name, sample.get(name))
        check_numbers(name, value)
    return sample


def _unknown_by_label(rows: Any) -> tuple[float, float]:
    """How many rows of label 1 and of label 0 have no verdict."""
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        return 0.0, 0.0
    unknown = [row[0] for row in rows if row[1] is None]
    return float(sum(label == 1 for label in unknown)), float(sum(label == 0 for label in unknown))


def _chance(doc: Mapping[str, Any]) -> float:
    """The probability of guessing the right letters among all sets that could be right."""
    n = len(doc.get("options") or ())
    return chance_level(n, several=bool(doc.get("several"))) if n else 0.0


def _check(task: Task) -> None:
    """Samples and results must tell the same, or one of them was changed."""
    found = {name: column.whole() for name, column in task.columns.items()}
    if "auc" in task.scores and task.rows:
        found["auc"] = auc_interval(rows_of(task.rows)).value  # scikit-learn would take 90 MB
    for name, again in found.items():
        value = task.scores[name]
        if value is None or again is None:
            same = value is again
        else:
            same = abs(again - value) <= _TOLERANCE * max(1.0, abs(value))
        if not same:
            raise DataError(
                f"{task.results.samples.path}: {name} over its samples is {again}, but "
                f"{task.results.run.path.name} says {value}; the files do not belong together "
                "or were changed. Run the task again, or remove the file of samples"
            )
