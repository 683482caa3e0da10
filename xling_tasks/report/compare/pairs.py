"""What two runs share: tasks, metrics, and questions of equal content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from xling_tasks.criteria import ENGLISH, panel_of
from xling_tasks.criteria.rates import COVERAGE, SECOND_OPINIONS
from xling_tasks.errors import DataError, SettingError, did_you_mean
from xling_tasks.logs.families import given_families, known_families
from xling_tasks.logs.joined import members
from xling_tasks.logs.results import read_results, refuse_mixed_models
from xling_tasks.report.data import Model, Task, named_folder, read_models
from xling_tasks.report.model import Sides
from xling_tasks.report.paired import over
from xling_tasks.report.stats import AUC
from xling_tasks.report.unread import measured

# Where a question stands in its file, and whether all languages have it, is not what it asks.
_NOT_CONTENT = frozenset({"row", "parallel"})


class Pair(NamedTuple):
    """The same task of both models over the same questions in the same order."""

    a: Task
    b: Task
    names: Sequence[str]

    def better(self, name: str) -> bool | None:
        """Whether more of a metric is better; None where neither is."""
        return self.a.directions.get(name)

    def sides(self, name: str, language: str) -> Sides:
        """B beside A on one of its metrics, in a language."""
        return Sides((self.b, name), (self.a, name), "B", "A", language)


def one_model(item: str, families: Sequence[str] = ()) -> Model:
    """The one model of a folder.

    Raises:
        DataError: Naming the models where there are several.
    """
    _, folder = named_folder(item)
    known = [*given_families(families), *known_families()]
    runs = [run for run in read_results(folder) if any(members(run, known).values())]
    refuse_mixed_models(folder, runs)
    models = [model for model in read_models([item], families) if model.tasks]
    if len(models) != 1:
        raise DataError(f"{folder}: no results of our tasks in it; give lm_eval's --output_path")
    return models[0]


Shared: TypeAlias = tuple[Task, Task, list[str]]
"""The same task of A and of B, and the metrics to compare."""


def shared(a: Model, b: Model, wanted: Sequence[str] | None) -> list[Shared]:
    """The tasks of both with logged samples, and the metrics to compare of each."""
    others = {task.results.task: task for task in b.tasks}
    both = [(task, others[task.results.task]) for task in a.tasks if task.results.task in others]
    both = sorted(both, key=lambda x: (x[0].place.language != ENGLISH, x[0].results.task))
    compared = [(own, other, _metrics(own, other, wanted)) for own, other in both]
    if wanted:
        known = {
            name: panel_of(own.place, name)[0].metric for own, _ in both for name in own.scores
        }
        for word in wanted:
            if word not in known and word not in known.values():
                hint = did_you_mean(word, set(known.values()))
                raise SettingError(f"--metrics {word}: no metric of both runs.{hint}")
    return [item for item in compared if item[2] and item[0].ids and item[1].ids]


def _metrics(a: Task, b: Task, wanted: Sequence[str] | None) -> list[str]:
    """Metrics of both runs: those asked for, else those with a direction but for coverage.

    Of coverage, endpoints and what a second identifier says of the language of answers.
    """
    names = []
    for name in a.scores:
        metric = panel_of(a.place, name)[0].metric
        if wanted:
            chosen = name in wanted or metric in wanted
        else:
            chosen = a.directions.get(name) is not None and metric not in COVERAGE
            chosen = chosen or name in a.endpoints
            # By two different identifiers it is no comparison, and no reason to refuse the others.
            second = metric in SECOND_OPINIONS and _signed(a, name) == _signed(b, name)
            chosen = chosen or second
        if chosen and name in b.scores and (_has_parts(a, name) or _has_parts(b, name)):
            names.append(name)
    return names


def _signed(task: Task, name: str) -> str | None:
    """How a metric was made, as the results say."""
    signature: str | None = (task.results.xling.get("signatures") or {}).get(name)
    return signature


def _has_parts(task: Task, name: str) -> bool:
    """Whether there are values per question, or sums, that a metric can be made of."""
    return name in task.columns or (name == AUC and bool(task.rows))


def paired(both: Sequence[Shared]) -> tuple[list[Pair], list[str], list[str]]:
    """The tasks over the questions that both runs asked.

    Returns:
        The pairs; what about the questions is a reason to refuse; and what is to be noted.
    """
    pairs = []
    changed: dict[str, list[str]] = {}
    notes: dict[str, list[str]] = {}
    for a, b, names in both:
        name = a.results.task
        ids, differing, left_out = _questions(a, b)
        if differing:
            changed.setdefault(differing, []).append(name)
        for note in left_out:
            notes.setdefault(note, []).append(name)
        if ids:
            pairs.append(Pair(measured(over(a, ids)), measured(over(b, ids)), names))
    return pairs, _grouped(changed), _grouped(notes)


def _grouped(tasks_by_text: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{text} ({', '.join(tasks)})" for text, tasks in tasks_by_text.items()]


def _questions(a: Task, b: Task) -> tuple[list[str], str, list[str]]:
    """The shared questions, in how many the content differs, and notes on those left out."""
    languages = [set((x.results.xling.get("data") or {}).get("languages") or ()) for x in (a, b)]
    own, other = (contents(x, languages[0] & languages[1]) for x in (a, b))
    both = own.keys() & other.keys()
    equal = sorted(key for key in both if own[key] == other[key])
    changed, notes = "", []
    if len(equal) < len(both):
        changed = (
            f"{len(both) - len(equal)} of {len(both)} questions with the same id have another "
            f"content (such as {min(both - set(equal))!r}) and are never compared"
        )
    for side, only in (("A", own.keys() - other.keys()), ("B", other.keys() - own.keys())):
        if only:
            notes.append(f"{len(only)} questions only in {side} are left out")
    limited = " and ".join(side for side, x in (("A", a), ("B", b)) if x.limited)
    if limited:
        notes.append(f"{limited} ran with --limit: {len(equal)} shared questions are compared")
    if not equal:
        notes.append("no question of equal content in both")
    return equal, changed, notes


def contents(task: Task, languages: set[str]) -> dict[str, str]:
    """Question -> digest of what it asks; of several languages, of those given."""

    def read(sample: Mapping[str, Any]) -> tuple[str, str] | None:
        doc = {key: value for key, value in sample["doc"].items() if key not in _NOT_CONTENT}
        if isinstance(doc.get("text"), dict) and languages:
            doc["text"] = {code: text for code, text in doc["text"].items() if code in languages}
        plain = json.dumps(doc, sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
        return (str(doc["question_id"]), digest) if sample.get("filter", "none") == "none" else None

    return dict(item for _, item in task.results.samples.stream(read) if item is not None)


def remarks(a: Model, b: Model) -> Iterable[str]:
    """What is no reason to refuse, but to know."""
    runs = [{task.results.run.path.resolve() for task in model.tasks} for model in (a, b)]
    if runs[0] & runs[1]:
        yield "A and B read the same results file"
    versions, seeds = [], []
    for model in (a, b):
        runs_of = [task.results for task in model.tasks]
        versions.append(sorted({x.lm_eval for x in runs_of}))
        settings = [x.xling.get("settings") or {} for x in runs_of]
        seeds.append(sorted({str(x.get("sampling_seed")) for x in settings}))
    for what, (own, other) in (("lm_eval", versions), ("sampling_seed", seeds)):
        if own != other:
            yield f"{what}: {', '.join(own)} in A, {', '.join(other)} in B"


def missing(a: Model, b: Model) -> Iterable[str]:
    """Tasks and metrics that one side lacks, and tasks without samples."""
    first, second = ({task.results.task: task for task in model.tasks} for model in (a, b))
    for side, own, other in (("A", first, second), ("B", second, first)):
        alone = sorted(own.keys() - other.keys())
        if alone:
            yield f"only in {side}: {', '.join(alone)}"
        unlogged = sorted(name for name, task in own.items() if name in other and not task.ids)
        if unlogged:
            yield f"{side} has no logged samples (--log_samples), so not compared: " + ", ".join(
                unlogged
            )
        yield from _about_metrics(side, [(own[x], other[x]) for x in sorted(own.keys() & other)])
    whole = {
        panel_of(task.place, name)[0].metric
        for task in [*a.tasks, *b.tasks]
        for name, score in task.scores.items()
        if task.ids and task.directions.get(name) is not None
        if score is not None and not _has_parts(task, name)
    }
    if whole:
        yield f"not made of values per question, so not compared: {', '.join(sorted(whole))}"


def _about_metrics(side: str, both: Sequence[tuple[Task, Task]]) -> Iterable[str]:
    """Metrics of the first of each two tasks that the second lacks, or that are undefined."""
    alone = {a.results.task: [x for x in a.scores if x not in b.scores] for a, b in both}
    undefined = {a.results.task: [x for x, y in a.scores.items() if y is None] for a, _ in both}
    for told, found in (("metrics only in", alone), ("undefined in", undefined)):
        tasks_by_text: dict[str, list[str]] = {}
        for task, metrics in found.items():
            if metrics:
                tasks_by_text.setdefault(f"{told} {side}: {', '.join(metrics)}", []).append(task)
        yield from _grouped(tasks_by_text)
