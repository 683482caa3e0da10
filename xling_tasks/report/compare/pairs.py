"""What two runs share: tasks, metrics, questions of equal content; and how they were made."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
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
    """Return the tasks of both with logged samples, and the metrics to compare of each.

    Those are the metrics asked for, else primary ones and those with a direction; of coverage
    primary ones only.
    """
    tasks_a, remaining = _tasks_by_name(a, b)
    two = [(task, remaining[name]) for name, task in tasks_a.items() if name in remaining]
    two.sort(key=lambda pair: (rank(pair[0].task_key.language), pair[0].results.task))
    stems = {name: metric_key_of(x.task_key, name)[0].metric for x, _ in two for name in x.scores}
    for word in wanted or ():
        if word not in {*stems, *stems.values()}:
            hint = did_you_mean(word, set(stems.values()))
            raise SettingError(f"--metrics {word}: no metric of both runs.{hint}")
    compared = []
    for rows, other in two:
        names = []
        for name in (name for name in rows.scores if name in other.scores):
            chosen = name in rows.endpoints or (
                rows.directions.get(name) is not None and stems[name] not in COVERAGE
            )
            if wanted:
                chosen = name in wanted or stems[name] in wanted
            if chosen and (name in rows.columns or name in other.columns):
                names.append(name)
        if names and rows.ids and other.ids:
            compared.append((rows, other, names))
    return compared


def _tasks_by_name(a: Model, b: Model) -> list[dict[str, Task]]:
    """Return the tasks of both; with the dataset where one name is over several files of users."""
    models = [a.tasks, b.tasks]
    counts = [Counter(task.results.task for task in tasks) for tasks in models]

    def name_of(task: Task) -> str:
        name = task.results.task
        is_single = max(count[name] for count in counts) == 1
        return name if is_single else f"{name} ({task.task_key.dataset})"

    return [{name_of(task): task for task in tasks} for tasks in models]


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
    refused = [f"{text} ({', '.join(tasks)})" for text, tasks in changed.items()]
    return pairs, refused, remarks


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
    """Yield what is no reason to refuse, but to know: versions, and what one model lacks."""
    if a.full == b.full:
        yield Remark("same_model")
    found = {"lm_eval": [sorted({t.results.lm_eval for t in x.tasks}) for x in (a, b)]}
    found["sampling_seed"] = [
        sorted({str(task.recorded("settings").get("sampling_seed")) for task in model.tasks})
        for model in (a, b)
    ]
    for what, values in found.items():
        if values[0] != values[1]:
            row = {"models": list(names), "what": what, "values": list(map(", ".join, values))}
            yield Remark("settings_between_models", row)
    tasks = _tasks_by_name(a, b)
    for name, first, other in zip(names, tasks, reversed(tasks), strict=True):
        if single := sorted(first.keys() - other.keys()):
            yield Remark("only_in", {"model": name, "names": single})
        shared = [task for task in first if task in other]
        if unlogged := sorted(task for task in shared if not first[task].ids):
            yield Remark("no_samples", {"model": name, "tasks": unlogged})
        for task in shared:
            if missing := [x for x in first[task].scores if x not in other[task].scores]:
                yield Remark("only_in", {"model": name, "task": task, "names": missing})


# Whether they were made alike: what would make a difference between models meaningless


def differences(pairs: Iterable[tuple[Task, Task, Sequence[str]]]) -> list[Difference]:
    """Return everything that makes scores of two runs incomparable, each once with its tasks.

    Of the same task of A and of B, for the metrics that are compared: settings, prompts, data,
    generation and chat template first, then signatures: what only one of the two has.
    """
    tasks: dict[tuple[str, str, str], dict[str, None]] = {}
    signed: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for a, b, names in pairs:
        task, is_changed = a.results.task, False
        for found in find_differences([(a.results, b.results)]):
            tasks.setdefault((found.what, found.first, found.other), {})[task] = None
        for name in names:
            first, second = (
                identity_in_signature(str(x.recorded("signatures").get(name, "none"))).split("|")
                for x in (a, b)
            )
            if first != second:
                is_changed = True
                only = [
                    "|".join([part for part in x if part not in y] or x)
                    for x, y in ((first, second), (second, first))
                ]
                metrics, total = signed.setdefault((only[0], only[1]), ({}, {}))
                metrics[metric_key_of(a.task_key, name)[0].metric] = total[task] = None
        versions = [str(x.results.xling.get("version")) for x in (a, b)]
        if is_changed and versions[0] != versions[1]:
            tasks.setdefault(("version of xling-tasks", versions[0], versions[1]), {})[task] = None
    for values, (metrics, total) in signed.items():
        tasks[(f"signature of {', '.join(metrics)}", *values)] = total
    return [
        Difference(what, *_shorten(first, other), tuple(names))
        for (what, first, other), names in tasks.items()
    ]


def _shorten(a: str, b: str) -> tuple[str, str]:
    """Return two texts, shortened to where they begin to differ."""
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
    start = max(0, alike - _WIDTH // 4) if max(len(a), len(b)) > _WIDTH else 0
    first, second = (
        "…" * (start > 0) + text[start : start + _WIDTH] + "…" * (len(text) > start + _WIDTH)
        for text in (a, b)
    )
    return first, second
