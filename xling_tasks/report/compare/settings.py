"""Whether two runs were made alike: what would make a difference between models meaningless."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from xling_tasks.criteria import panel_of
from xling_tasks.logs.results import as_json, model_line
from xling_tasks.report.data import Task

_EVERYWHERE = ("prompt_language",)
_GENERATED = ("temperatures",)
_TRANSLATED = ("translator",)
_SETTINGS: dict[str, tuple[str, ...]] = {
    "correctness": ("judge",),
    "consistency": (
        *_GENERATED,
        *_TRANSLATED,
        *("k", "greedy_repeats", "encoder", "source_encoder", "topic_seeds"),
    ),
    "verifiability": _GENERATED,
    "mmedbench_rationale": ("source_encoder",),
    "mmedbench_rationale_ft": ("source_encoder",),
    "information": ("judge", *_TRANSLATED, "languages"),
    "empathy": (*_TRANSLATED, "languages"),
}
"""The settings that change what a criterion measures, beside those that change all. Where data and
prompts lie is none of them: their digests say more."""

_MODELS = frozenset({"judge", "translator"})
_WIDTH = 160


class Difference(NamedTuple):
    """Something in which two runs differ.

    Attributes:
        what: Its name.
        a: What it is in A.
        b: What it is in B.
        tasks: The tasks in which it differs so.
    """

    what: str
    a: str
    b: str
    tasks: tuple[str, ...]

    def __str__(self) -> str:
        more = len(self.tasks) - 1
        where = self.tasks[0] + (f" and {more} more" if more else "")
        return f"{self.what} is {self.a} in A, but {self.b} in B ({where})"


def differences(pairs: Iterable[tuple[Task, Task, Sequence[str]]]) -> list[Difference]:
    """Everything that makes scores of two runs incomparable, each once with its tasks.

    Args:
        pairs: The same task of A and of B, and the metrics that are compared.

    Returns:
        Settings, prompts, data, generation and chat template first, then signatures.
    """
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    signed: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for a, b, names in pairs:
        task = a.results.task
        for what, own, other in _differing("", _ways(a), _ways(b)):
            found.setdefault((what, *_shown(own, other)), {})[task] = None
        changed = list(_signatures(a, b, names))
        for metric, own, other in changed:
            metrics, tasks = signed.setdefault((own, other), ({}, {}))
            metrics[metric] = tasks[task] = None
        own, other = (str(side.results.xling.get("version")) for side in (a, b))
        if changed and own != other:
            found.setdefault(("version of xling-tasks", own, other), {})[task] = None
    return [Difference(*key, tuple(tasks)) for key, tasks in found.items()] + [
        Difference(f"signature of {', '.join(metrics)}", *_shown(*sides), tuple(tasks))
        for sides, (metrics, tasks) in signed.items()
    ]


def _ways(task: Task) -> dict[str, Any]:
    """How a task was run, as far as its scores depend on it."""
    xling, content, config = task.results.xling, task.results.run.content, task.results.config
    settings, data = xling.get("settings") or {}, xling.get("data") or {}
    chat = content.get("chat_template") is not None
    shots = config.get("num_fewshot") or 0
    names = (*_EVERYWHERE, *_SETTINGS.get(task.place.criterion, ()))
    digest = data.get("sha256")
    source = {"sha256": digest} if digest else {key: data.get(key) for key in ("name", "revision")}
    return {
        **{name: _setting(name, settings.get(name)) for name in names},
        "data": source,
        "prompts": dict(xling.get("prompts") or {}),
        "generation": dict(xling.get("generation_kwargs") or {}),
        "chat template": content.get("chat_template_sha") if chat else None,
        "apply_chat_template": chat,
        "system_instruction": content.get("system_instruction_sha"),
        "num_fewshot": shots,
        "fewshot_as_multiturn": bool(chat and shots and content.get("fewshot_as_multiturn")),
        "task version": (config.get("metadata") or {}).get("version"),
    }


def _setting(name: str, value: Any) -> Any:
    """A setting without what only says how fast a model runs."""
    if name not in _MODELS or not isinstance(value, Mapping):
        return value
    others = {key: value.get(key) for key in ("max_gen_toks", "apply_chat_template")}
    return {"model": model_line(value.get("model"), value.get("model_args") or {}), **others}


def _differing(name: str, a: Any, b: Any) -> Iterable[tuple[str, str, str]]:
    """(dotted name, A's value, B's value) of every difference."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in dict.fromkeys([*a, *b]):
            yield from _differing(f"{name}.{key}" if name else key, a.get(key), b.get(key))
    elif a != b:
        yield name, _plain(a), _plain(b)


def _signatures(a: Task, b: Task, names: Iterable[str]) -> Iterable[tuple[str, str, str]]:
    """(metric, what only A's signature has, what only B's has) of every metric that differs."""
    own, other = (side.results.xling.get("signatures") or {} for side in (a, b))
    for name in names:
        first, second = str(own.get(name, "none")), str(other.get(name, "none"))
        if first != second:
            parts = first.split("|"), second.split("|")
            only = ["|".join(part for part in x if part not in y) for x, y in (parts, parts[::-1])]
            metric = panel_of(a.place, name)[0].metric
            yield metric, only[0] or first, only[1] or second


def _plain(value: Any) -> str:
    """A value as JSON; a text without quotes, and nothing as `none`."""
    if value is None:
        return "none"
    return value if isinstance(value, str) and value else as_json(value)


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
