"""What two runs share: tasks, metrics, questions of equal content; and how they were made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias

from xling_tasks.criteria import ENGLISH, panel_of
from xling_tasks.criteria.rates import COVERAGE
from xling_tasks.errors import DataError, SettingError, did_you_mean
from xling_tasks.harness.arguments import identity_in_signature
from xling_tasks.logs import alike
from xling_tasks.logs.alike import Difference
from xling_tasks.logs.families import given_families, known_families
from xling_tasks.logs.joined import members
from xling_tasks.logs.results import read_results, refuse_mixed_models
from xling_tasks.output import many
from xling_tasks.report.data import Model, Task, named_folder, read_models
from xling_tasks.report.model import Sides
from xling_tasks.report.paired import over
from xling_tasks.report.stats import AUC

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
    """The one model of a folder; of several an error that names them."""
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

    Of coverage, endpoints.
    """
    names = []
    for name in a.scores:
        metric = panel_of(a.place, name)[0].metric
        if wanted:
            chosen = name in wanted or metric in wanted
        else:
            chosen = a.directions.get(name) is not None and metric not in COVERAGE
            chosen = chosen or name in a.endpoints
        if chosen and name in b.scores and (_has_parts(a, name) or _has_parts(b, name)):
            names.append(name)
    return names


def _has_parts(task: Task, name: str) -> bool:
    """Whether there are values per question, or sums, that a metric can be made of."""
    return name in task.columns or (name == AUC and bool(task.rows))


def paired(both: Sequence[Shared]) -> tuple[list[Pair], list[str], list[str]]:
    """The tasks over the questions that both runs asked.

    Beside them what about the questions is a reason to refuse, and what is to be noted.
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
            pairs.append(Pair(over(a, ids), over(b, ids), names))
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
            f"{len(both) - len(equal)} of {many(len(both), 'question')} with the same id: another "
            f"content (such as {min(both - set(equal))!r}), never compared"
        )
    for side, only in (("A", own.keys() - other.keys()), ("B", other.keys() - own.keys())):
        if only:
            notes.append(f"left out: {many(len(only), 'question')} only in {side}")
    limited = " and ".join(side for side, x in (("A", a), ("B", b)) if x.limited)
    if limited:
        told = many(len(equal), "shared question")
        notes.append(f"{limited} ran with --limit or --samples: compared over {told}")
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


# Whether they were made alike: what would make a difference between models meaningless

_WIDTH = 160


def differences(pairs: Iterable[tuple[Task, Task, Sequence[str]]]) -> list[Difference]:
    """Everything that makes scores of two runs incomparable, each once with its tasks.

    Of the same task of A and of B, for the metrics that are compared: settings, prompts, data,
    generation and chat template first, then signatures.
    """
    tasks_by_difference: dict[tuple[str, str, str], dict[str, None]] = {}
    signed: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for a, b, names in pairs:
        task = a.results.task
        for found in alike.differences([(a.results, b.results)]):
            sides = _shown(found.first, found.other)
            tasks_by_difference.setdefault((found.what, *sides), {})[task] = None
        changed = list(_signatures(a, b, names))
        for metric, own, other in changed:
            metrics, tasks = signed.setdefault((own, other), ({}, {}))
            metrics[metric] = tasks[task] = None
        own, other = (str(side.results.xling.get("version")) for side in (a, b))
        if changed and own != other:
            tasks_by_difference.setdefault(("version of xling-tasks", own, other), {})[task] = None
    return [Difference(*key, tuple(tasks)) for key, tasks in tasks_by_difference.items()] + [
        Difference(f"signature of {', '.join(metrics)}", *_shown(*sides), tuple(tasks))
        for sides, (metrics, tasks) in signed.items()
    ]


def made_differently(pairs: Sequence[tuple[Task, Task, Sequence[str]]]) -> list[str]:
    """What `differences` finds, a line each: how it is in A and in B, and in which tasks."""
    lines = []
    for found in differences(pairs):
        more = len(found.tasks) - 1
        where = found.tasks[0] + (f" and {more} more" if more else "")
        lines.append(f"{found.what} is {found.first} in A, but {found.other} in B ({where})")
    return lines


def _signatures(a: Task, b: Task, names: Iterable[str]) -> Iterable[tuple[str, str, str]]:
    """(metric, what only A's signature has, what only B's has) of every metric that differs."""
    own, other = (side.results.xling.get("signatures") or {} for side in (a, b))
    for name in names:
        first, second = (
            identity_in_signature(str(side.get(name, "none"))) for side in (own, other)
        )
        if first != second:
            parts = first.split("|"), second.split("|")
            only = ["|".join(part for part in x if part not in y) for x, y in (parts, parts[::-1])]
            metric = panel_of(a.place, name)[0].metric
            yield metric, only[0] or first, only[1] or second


def _shown(a: str, b: str) -> tuple[str, str]:
    """Two texts, shortened to where they begin to differ."""
    start = 0
    if max(len(a), len(b)) > _WIDTH:
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))
        start = max(0, sum(1 for _ in alike) - _WIDTH // 4)
    return _cut(a, start), _cut(b, start)


def _cut(text: str, start: int) -> str:
    end = start + _WIDTH
    return "…" * (start > 0) + text[start:end] + "…" * (len(text) > end)
