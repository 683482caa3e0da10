"""What two runs share: tasks, metrics, questions of equal content; and how they were made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple, TypeAlias

from xling_tasks.criteria import metric_key_of
from xling_tasks.criteria.rates import COVERAGE
from xling_tasks.errors import DataError, SettingError, did_you_mean
from xling_tasks.harness.arguments import identity_in_signature
from xling_tasks.languages import rank
from xling_tasks.logs.config_diff import Difference, find_differences
from xling_tasks.report.data import Model, Task, read_models
from xling_tasks.report.record import Remark

# Where a question stands in its file, and whether all languages have it, is not what it asks.
_NOT_CONTENT = frozenset({"row", "parallel"})
_WIDTH = 160


class Pair(NamedTuple):
    """The same task of both models over the same questions in the same order."""

    a: Task
    b: Task
    names: Sequence[str]


Shared: TypeAlias = tuple[Task, Task, list[str]]
"""The same task of A and of B, and the metrics to compare."""


def one_model(item: str, families: Sequence[str] = ()) -> Model:
    """Return the one model of a folder; of several an error that names them."""
    models = [model for model in read_models([item], families) if model.tasks]
    if len(models) != 1:
        names = "; ".join(model.full for model in models)
        raise DataError(
            f"{item}: runs of {len(models)} different models: {names}; give the folder of one, or "
            "move the others' files away"
        )
    return models[0]


def shared_tasks(a: Model, b: Model, wanted: Sequence[str] | None) -> list[Shared]:
    """Return the tasks of both with logged samples, and the metrics to compare of each."""
    remaining = {task.results.task: task for task in b.tasks}
    two = [
        (task, remaining[task.results.task]) for task in a.tasks if task.results.task in remaining
    ]
    two.sort(key=lambda pair: (rank(pair[0].task_key.language), pair[0].results.task))
    if wanted:
        present = {
            metric_key_of(rows.task_key, name)[0].metric for rows, _ in two for name in rows.scores
        }
        names = present.union(*(rows.scores for rows, _ in two))
        for word in wanted:
            if word not in names:
                hint = did_you_mean(word, present)
                raise SettingError(f"--metrics {word}: no metric of both runs.{hint}")
    compared = [(rows, other, _metrics(rows, other, wanted)) for rows, other in two]
    return [item for item in compared if item[2] and item[0].ids and item[1].ids]


def _metrics(a: Task, b: Task, wanted: Sequence[str] | None) -> list[str]:
    """Return metrics of both runs: those asked for, else primary ones and those with a direction.

    Of coverage primary ones only.
    """
    names = []
    for name in a.scores:
        metric = metric_key_of(a.task_key, name)[0].metric
        if wanted:
            chosen = name in wanted or metric in wanted
        else:
            chosen = a.directions.get(name) is not None and metric not in COVERAGE
            chosen = chosen or name in a.endpoints
        if chosen and name in b.scores and (name in a.columns or name in b.columns):
            names.append(name)
    return names


def align(both: Sequence[Shared]) -> tuple[list[Pair], list[str], list[Remark]]:
    """Return the tasks over the questions that both runs asked.

    With them what about the questions is a reason to refuse, and what is to be noted.
    """
    pairs, changed, remarks = [], dict[str, list[str]](), list[Remark]()
    for a, b, names in both:
        task = a.results.task
        languages = [set(x.recorded("data").get("languages") or ()) for x in (a, b)]
        rows, other = (contents(x, languages[0] & languages[1]) for x in (a, b))
        shared = rows.keys() & other.keys()
        equal = sorted(key for key in shared if rows[key] == other[key])
        if len(equal) < len(shared):
            example = min(shared - set(equal))
            text = (
                f"{len(shared) - len(equal)} of {len(shared)} questions with the same id: another "
                f"content (such as {example!r}), never compared"
            )
            changed.setdefault(text, []).append(task)
        only = [len(rows.keys() - other.keys()), len(other.keys() - rows.keys())]
        if any(only) or a.limited or b.limited or not equal:
            remarks.append(Remark("shared_questions", {
                "task": task, "n": len(equal), "only_in": only,
                "limited": [a.limited, b.limited],
            }))  # fmt: skip
        if equal:
            pairs.append(Pair(a.select(equal), b.select(equal), names))
    return pairs, _group(changed), remarks


def _group(tasks_by_text: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{text} ({', '.join(tasks)})" for text, tasks in tasks_by_text.items()]


def contents(task: Task, languages: set[str]) -> dict[str, str]:
    """Return question -> digest of what it asks; of several languages, of those given."""

    def read(sample: Mapping[str, Any]) -> tuple[str, str] | None:
        doc = {key: value for key, value in sample["doc"].items() if key not in _NOT_CONTENT}
        if isinstance(doc.get("text"), dict) and languages:
            doc["text"] = {code: text for code, text in doc["text"].items() if code in languages}
        plain = json.dumps(doc, sort_keys=True, ensure_ascii=False)
        digest = hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
        return (str(doc["question_id"]), digest) if sample.get("filter", "none") == "none" else None

    return dict(item for _, item in task.results.samples.stream(read) if item is not None)


def find_remarks(a: Model, b: Model, names: tuple[str, str]) -> Iterator[Remark]:
    """Yield what is no reason to refuse, but to know: files, versions, and what one model lacks."""
    runs = [{task.results.run.path.resolve() for task in model.tasks} for model in (a, b)]
    if runs[0] & runs[1]:
        yield Remark("same_file")
    if a.full == b.full:
        yield Remark("same_model")
    versions = [sorted({task.results.lm_eval for task in model.tasks}) for model in (a, b)]
    seeds = [
        sorted({str(task.recorded("settings").get("sampling_seed")) for task in model.tasks})
        for model in (a, b)
    ]
    for name, values in (("lm_eval", versions), ("sampling_seed", seeds)):
        if values[0] != values[1]:
            display = [", ".join(item) for item in values]
            yield Remark(
                "settings_between_models", {"models": list(names), "what": name, "values": display}
            )
    tasks = [{task.results.task: task for task in model.tasks} for model in (a, b)]
    yield from _lacking(names[0], tasks[0], tasks[1])
    yield from _lacking(names[1], tasks[1], tasks[0])


def _lacking(model: str, own: Mapping[str, Task], other: Mapping[str, Task]) -> Iterator[Remark]:
    """Yield the tasks and metrics of one model that the other lacks, or that are undefined."""
    pair = [name for name in own if name in other]
    if single := sorted(own.keys() - other.keys()):
        yield Remark("only_in", {"model": model, "names": single})
    if unlogged := sorted(name for name in pair if not own[name].ids):
        yield Remark("no_samples", {"model": model, "tasks": unlogged})
    for name in pair:
        a, b = own[name], other[name]
        metrics = {
            "only_in": [x for x in a.scores if x not in b.scores],
            "undefined": [x for x, value in a.scores.items() if value is None],
            "not_per_question": [
                x for x, value in a.scores.items()
                if a.ids and value is not None and a.directions.get(x) is not None
                and x not in a.columns
            ],
        }  # fmt: skip
        for kind, found in metrics.items():
            if found:
                yield Remark(kind, {"model": model, "task": name, "names": found})


# Whether they were made alike: what would make a difference between models meaningless


def differences(pairs: Iterable[tuple[Task, Task, Sequence[str]]]) -> list[Difference]:
    """Return everything that makes scores of two runs incomparable, each once with its tasks.

    Of the same task of A and of B, for the metrics that are compared: settings, prompts, data,
    generation and chat template first, then signatures.
    """
    tasks: dict[tuple[str, str, str], dict[str, None]] = {}
    signed: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for a, b, names in pairs:
        task = a.results.task
        for found in find_differences([(a.results, b.results)]):
            values = _shorten(found.first, found.other)
            tasks.setdefault((found.what, *values), {})[task] = None
        changed = list(_signatures(a, b, names))
        for metric, rows, other in changed:
            metrics, total = signed.setdefault((rows, other), ({}, {}))
            metrics[metric] = total[task] = None
        rows, other = (str(member.results.xling.get("version")) for member in (a, b))
        if changed and rows != other:
            tasks.setdefault(("version of xling-tasks", rows, other), {})[task] = None
    return [
        *(Difference(*key, tuple(names)) for key, names in tasks.items()),
        *(
            Difference(f"signature of {', '.join(metrics)}", *_shorten(*values), tuple(total))
            for values, (metrics, total) in signed.items()
        ),
    ]


def describe_differences(pairs: Sequence[tuple[Task, Task, Sequence[str]]]) -> list[str]:
    """Return a line for each difference: its value in A and in B, and in which tasks."""
    lines = []
    for found in differences(pairs):
        extra = len(found.tasks) - 1
        tasks = found.tasks[0] + (f" and {extra} more" if extra else "")
        lines.append(f"{found.what}: {found.first} (A), {found.other} (B) in {tasks}")
    return lines


def _signatures(a: Task, b: Task, names: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (metric, what only A's signature has, what only B's has) of metrics that differ."""
    rows, other = (task.recorded("signatures") for task in (a, b))
    for name in names:
        first, second = (
            identity_in_signature(str(task.get(name, "none"))) for task in (rows, other)
        )
        if first != second:
            parts = first.split("|"), second.split("|")
            only = ["|".join(part for part in x if part not in y) for x, y in (parts, parts[::-1])]
            metric = metric_key_of(a.task_key, name)[0].metric
            yield metric, only[0] or first, only[1] or second


def _shorten(a: str, b: str) -> tuple[str, str]:
    """Return two texts, shortened to where they begin to differ."""
    start = 0
    if max(len(a), len(b)) > _WIDTH:
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))
        start = max(0, sum(1 for _ in alike) - _WIDTH // 4)
    first, second = (
        "…" * (start > 0) + text[start : start + _WIDTH] + "…" * (len(text) > start + _WIDTH)
        for text in (a, b)
    )
    return first, second
