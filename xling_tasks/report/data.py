"""What runs found, question by question: read once from the harness's files, in bounded memory.

Of every sample only numbers are kept. A metric over several questions is a function of sums over
them (a mean: sum and count; macro F1: confusion counts), so that intervals and comparisons resample
questions; see `xling_metrics.stats.intervals`.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
from xling_metrics.choices import chance_level
from xling_metrics.classification import hard_verdict, probability_scores
from xling_metrics.stats.intervals import Score, ratio
from xling_metrics.stats.probability_intervals import brier_sums, ece_of_sums, ece_sums
from xling_metrics.stats.resampling import Floats
from xling_metrics.stats.verdict_counts import VERDICT_SCORES, verdict_counts

from xling_tasks.criteria import LABELS, Place
from xling_tasks.errors import DataError
from xling_tasks.languages import known_language
from xling_tasks.logs.checked import check_numbers, reading
from xling_tasks.logs.results import Results, TaskResults, read_results

_NOT_PER_QUESTION = frozenset(
    {"unusable_rows", "sacrebleu", "n_judged", "n_answered", "judge_alpha", "bypass"}
)
_TOLERANCE = 1e-6
_PAIR = {"precision", "recall"}
_REDUCED = "what is kept of the values"

Row = tuple[int, float | None]


@dataclass
class Column:
    """A metric's values over the questions of a task.

    Attributes:
        score: From sums (a row per resample) to values.
        sums: A row of sums per question, NaN where the question has none.
        simple: Whether a question's own value is its first sum, the second being 1.
    """

    score: Score
    sums: Floats
    simple: bool

    def by_question(self, ids: Sequence[str]) -> dict[str, tuple[float, ...] | None]:
        """Question -> sums."""
        rows = zip(ids, self.sums.tolist(), strict=True)
        return {key: None if math.isnan(row[0]) else tuple(row) for key, row in rows}

    def values(self, ids: Sequence[str]) -> dict[str, float | None]:
        """Question -> its own value: its first sum over its second."""
        rows = zip(ids, self.sums.tolist(), strict=True)
        return {
            key: None if math.isnan(row[0]) or not row[1] else row[0] / row[1] for key, row in rows
        }


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

    @property
    def scores(self) -> dict[str, float | None]:
        """The harness's value of each metric; None where it is undefined."""
        values = self.results.run.content["results"][self.results.task]
        names = [name.removesuffix(",none") for name in values if name.endswith(",none")]
        return {name: self.results.score(name) for name in names if "_stderr" not in name}

    @property
    def directions(self) -> Mapping[str, bool | None]:
        """Whether higher is better."""
        return self.results.directions

    @property
    def limited(self) -> bool:
        """Whether the run left questions out (`--limit`)."""
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
    """

    name: str
    full: str
    tasks: list[Task]
    others: list[str]


def read_models(folders: Iterable[Path | str]) -> list[Model]:
    """Every model in some output folders; see `each_model`."""
    return list(each_model(folders))


def each_model(folders: Iterable[Path | str]) -> Iterator[Model]:
    """Every model in some output folders, each task's newest run, one model after the other.

    The samples of a model are read when its turn comes.

    Args:
        folders: Folders that `lm_eval --output_path` wrote; `NAME=FOLDER` names the model in it,
            which stays apart from the same model under another name (another judge's labels, say).

    Yields:
        The models.

    Raises:
        DataError: If a folder has no results of ours, a file is broken, or samples and results
            contradict each other.
    """
    for name, full, tasks in newest_results(folders):
        yield _model(name, full, tasks)


def newest_results(
    folders: Iterable[Path | str], *, only_ours: bool = True
) -> list[tuple[str, str, dict[str, TaskResults]]]:
    """Of every model in some output folders its short name, its full one, and its newest results.

    Args:
        folders: As for `each_model`.
        only_ours: Whether a folder without tasks of ours is an error.

    Raises:
        DataError: If a folder has no results, or results are broken.
    """
    newest_by_model: dict[tuple[str, str], dict[str, TaskResults]] = {}
    names: dict[tuple[str, str], str] = {}
    for item in folders:
        name, folder = _named(str(item))
        runs = read_results(folder)
        if not runs or (
            only_ours and not any(place for run in runs for place in run.places.values())
        ):
            raise DataError(
                f"{folder}: no results of our tasks in it; give lm_eval's --output_path"
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
    labels = _distinct(names)
    return [(labels[key], key[1], tasks) for key, tasks in newest_by_model.items()]


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
            tasks.append(_read(Task(name, place, result)))
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


def folder_of(item: Path | str) -> Path:
    """The folder in `NAME=FOLDER` or `FOLDER`."""
    return _named(str(item))[1]


def _named(item: str) -> tuple[str, Path]:
    name, sign, folder = item.partition("=")
    if sign and not Path(item).exists():
        return name, Path(folder).expanduser()
    return "", Path(item).expanduser()


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


def _read(task: Task) -> Task:
    """Fill a task from its file of samples; without the file it keeps the harness's numbers."""
    samples = task.results.samples
    if not samples.path.is_file():
        return task
    values: dict[str, list[Any]] = {
        name: [] for name in task.scores if name not in _NOT_PER_QUESTION
    }
    soft = task.place.criterion == "verifiability_ll"
    unread: dict[str, list[tuple[float, float]]] = {
        name: [] for name in values if not soft and _base(name) in VERDICT_SCORES
    }
    seen: set[str] = set()
    for _, offset, sample in samples.stream_at(partial(_parsed, values)):
        if sample.get("filter", "none") != "none":
            continue
        question = str(sample["doc"]["question_id"])
        if question in seen:
            raise DataError(
                f"{samples.path}: question {question!r} stands there twice; several processes may "
                "have written to one folder. Run the task again"
            )
        seen.add(question)
        task.ids.append(question)
        task.offsets.append(offset)
        for name, kept in values.items():
            kept.append(sample[_REDUCED][name])
        for name, unknown in unread.items():
            unknown.append(_unknown_by_label(sample.get(name)))
        if isinstance(category := sample["doc"].get("category"), str) and category:
            task.categories[question] = category
        if not task.place.parallel:
            task.chances[question] = _chance(sample["doc"])
        if soft and sample.get("auc") is not None:
            task.rows[question] = [(row[0], row[1]) for row in sample["auc"]]
    if not task.ids:
        raise DataError(f"{samples.path}: the file has no rows; copy it again, or run again")
    for name, kept in values.items():
        column = _soft_column(task, name) if soft else None
        column = column or _column(name, kept)
        if column is not None:
            task.columns[name] = column
    task.unread = {name: np.array(own) for name, own in unread.items() if name in task.columns}
    for name in [*task.columns]:  # A share of labels where nothing was judged is none.
        if name.partition("_judge")[0] in LABELS and task.scores.get(name) is None:
            del task.columns[name]
    _check(task)
    return task


def _parsed(names: Iterable[str], sample: dict[str, Any]) -> dict[str, Any]:
    """A sample, checked for what is read of it, with what is kept of its values."""
    if "question_id" not in sample["doc"]:
        raise LookupError("question_id")
    sample[_REDUCED] = {}
    for name in names:
        sample[_REDUCED][name] = value = _reduced(name, sample.get(name))
        check_numbers(name, value)
    return sample


def _reduced(name: str, value: Any) -> Any:
    """What is kept of a value while the file is read: numbers, never a text."""
    if isinstance(value, dict):
        if "n" in value:
            return value["n"]
        # Pairs and values by language are kept; anything else a sample records has texts in it.
        return value if value.keys() == _PAIR or _by_code(value) else None
    if isinstance(value, list) and value and isinstance(value[0], list):
        if _base(name) not in VERDICT_SCORES:
            return None
        labels, said = zip(*value, strict=True)
        counts = verdict_counts([0] * len(labels), labels, list(map(hard_verdict, said)))
        return counts[0] or (math.nan,) * 4
    return value


def _by_code(value: Mapping[str, Any]) -> bool:
    """Whether a value is one by language; users' own data has codes that nobody knows."""
    if all(known_language(code) for code in value):
        return True
    known = [own for own in value.values() if own is not None]
    return bool(known) and all(isinstance(own, (int, float, dict)) for own in known)


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


def _column(name: str, kept: Sequence[Any]) -> Column | None:
    """A metric's column by the form of its values; None for one without any."""
    example = next((value for value in kept if value is not None), None)
    if isinstance(example, tuple):
        sums = np.array(kept, dtype=np.float64)
        return Column(VERDICT_SCORES[_base(name)], sums, False)
    if isinstance(example, list) and "_seed_sd" in name:
        none = (math.nan,) * (len(example) + 1)
        sums = np.array([none if own is None else (*own, 1.0) for own in kept], dtype=np.float64)
        return Column(_spread_over_seeds, sums, False)
    if isinstance(example, list):
        return Column(ratio, _pairs(kept), False)
    if isinstance(example, dict) and example.keys() == _PAIR:
        return Column(harmonic_mean, np.array([_pair_sums(own) for own in kept]), False)
    if isinstance(example, dict) and any(isinstance(own, dict) for own in example.values()):
        codes = sorted({code for value in kept if value for code in value})
        return Column(_mean_of_harmonic_means, _pairs_by_language(kept, codes), False)
    if isinstance(example, dict):
        codes = sorted({code for value in kept if value for code in value})
        return Column(_mean_of_means, _by_language(kept, codes), False)
    return None if example is None else Column(ratio, _with_ones(kept), True)


def _soft_column(task: Task, name: str) -> Column | None:
    """Scores of probabilities; AUC, which takes pairs of rows, stays with `rows`."""
    if name == "brier":
        sums, score = brier_sums(task.rows), ratio
    elif name == "ece":
        sums, score = ece_sums(task.rows), ece_of_sums
    else:
        return None
    width = max((len(own) for own in sums.values() if own), default=2)
    rows = [sums.get(key) or (math.nan,) * width for key in task.ids]
    return Column(score, np.array(rows, dtype=np.float64), False)


def _base(name: str) -> str:
    return name.partition("_t")[0]


def _with_ones(kept: Sequence[float | None]) -> Floats:
    values = np.array([math.nan if value is None else value for value in kept], dtype=np.float64)
    return np.column_stack([values, np.where(np.isnan(values), math.nan, 1.0)])


def _pairs(kept: Sequence[Sequence[int] | None]) -> Floats:
    """Hits and rows; a question without rows has none."""
    none = (math.nan, math.nan)
    return np.array([none if not pair or not pair[1] else pair for pair in kept], dtype=np.float64)


def _by_language(kept: Sequence[Mapping[str, float | None] | None], codes: Sequence[str]) -> Floats:
    """Sum and count of every language, one after the other."""
    rows = []
    for value in kept:
        own = [None if value is None else value.get(code) for code in codes]
        rows.append(list(chain.from_iterable((v or 0.0, float(v is not None)) for v in own)))
    return np.array(rows, dtype=np.float64)


def _pair_sums(pair: Mapping[str, float | None] | None) -> tuple[float, ...]:
    """Sum and count of precision, then of recall; NaN for an unscored question."""
    if pair is None:
        return (math.nan,) * 4
    shares = (pair["precision"], pair["recall"])
    return tuple(chain.from_iterable((v or 0.0, float(v is not None)) for v in shares))


def _pairs_by_language(kept: Sequence[Mapping[str, Any] | None], codes: Sequence[str]) -> Floats:
    """The same four numbers of every language; zeros where it is unscored."""
    sums = [[_pair_sums((value or {}).get(code)) for code in codes] for value in kept]
    return np.nan_to_num(np.array(sums, dtype=np.float64)).reshape(len(kept), -1)


def harmonic_mean(totals: Floats) -> Floats:
    """The harmonic mean of mean precision and mean recall; see `xling_metrics.claims`."""
    precision, recall = (
        np.divide(total, n, out=np.zeros_like(total), where=n > 0)
        for total, n in ((totals[:, 0], totals[:, 1]), (totals[:, 2], totals[:, 3]))
    )
    total = precision + recall
    means = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    return np.where(totals[:, 1] + totals[:, 3] > 0, means, np.nan)


def _mean_of_harmonic_means(totals: Floats) -> Floats:
    """The unweighted mean over languages of their harmonic means."""
    parts = [harmonic_mean(totals[:, start : start + 4]) for start in range(0, totals.shape[1], 4)]
    mean: Floats = np.mean(parts, axis=0)
    return mean


def _spread_over_seeds(totals: Floats) -> Floats:
    """The sample standard deviation over seeds of each one's mean over questions."""
    means = totals[:, :-1] / totals[:, -1:]
    spread: Floats = means.std(axis=1, ddof=1)
    return spread


def _mean_of_means(totals: Floats) -> Floats:
    """The unweighted mean over languages of their means over questions."""
    means = totals[:, 0::2] / totals[:, 1::2]
    mean: Floats = means.mean(axis=1)
    return mean


def _check(task: Task) -> None:
    """Samples and results must tell the same, or one of them was changed."""
    for name, again in _scores_again(task):
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


def _scores_again(task: Task) -> Iterator[tuple[str, float | None]]:
    """The scores that follow from the samples."""
    for name, column in task.columns.items():
        present = column.sums[~np.isnan(column.sums[:, 0])]
        with np.errstate(all="ignore"):
            score = column.score(present.sum(axis=0, keepdims=True)) if len(present) else [math.nan]
        yield name, float(score[0]) if math.isfinite(score[0]) else None
    if "auc" in task.scores and task.rows:
        rows = list(chain.from_iterable(task.rows.values()))
        labels, chances = [row[0] for row in rows], [row[1] for row in rows]
        yield "auc", probability_scores(labels, chances).auc
