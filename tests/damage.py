"""Kinds of damage to the files of a run; each spoils a copy in place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

DEEP = "[" * 100_000 + "]" * 100_000

Change = Callable[[Any], Any]


def results_of(folder: Path) -> Path:
    return min(folder.rglob("results_*.json"))


def samples_of(folder: Path) -> Path:
    return min(folder.rglob("samples_*.jsonl"))


def in_bytes(
    name: Callable[[Path], Path], change: Callable[[bytes], bytes]
) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = name(folder)
        path.write_bytes(change(path.read_bytes()))

    return spoil


def in_results(change: Change) -> Callable[[Path], None]:
    def changed(text: bytes) -> bytes:
        content = json.loads(text)
        return json.dumps(change(content) or content).encode()

    return in_bytes(results_of, changed)


def in_sample(change: Change) -> Callable[[Path], None]:
    """The second row of the first file of samples."""

    def changed(text: bytes) -> bytes:
        first, second, *others = text.split(b"\n")
        row = json.loads(second)
        second = change(row)
        second = second if isinstance(second, str) else json.dumps(row)
        return b"\n".join([first, second.encode(), *others])

    return in_bytes(samples_of, changed)


def task(content: Any) -> str:
    return min(content["n-samples"])


def metric(content: Any) -> str:
    scores = content["results"][task(content)].items()
    return next(key for key, own in scores if key.endswith(",none") and isinstance(own, float))


def put(value: Any, *keys: str) -> Change:
    """Replace what stands at a place; `TASK` and `METRIC` are the first of each, `FIRST` of any."""

    def change(content: Any) -> None:
        names = {"TASK": task, "METRIC": metric}
        *path, last = [names[key](content) if key in names else key for key in keys]
        at = content
        for key in path:
            at = at[key]
        at[min(at) if last == "FIRST" else last] = value

    return change


XLING = ("configs", "TASK", "metadata", "xling")


def set_(name: str, value: Any) -> Change:
    return lambda row: row.__setitem__(name, value)


RESULTS = {
    "empty": in_bytes(results_of, lambda b: b""),
    "cut in half": in_bytes(results_of, lambda b: b[: len(b) // 2]),
    "last byte gone": in_bytes(results_of, lambda b: b.rstrip()[:-1]),
    "not UTF-8": in_bytes(results_of, lambda b: b[:50] + b"\xff\xfe" + b[50:]),
    "zero bytes": in_bytes(results_of, lambda b: b"\0" * len(b)),
    "UTF-16": in_bytes(results_of, lambda b: b.decode().encode("utf-16")),
    "deeply nested": in_bytes(results_of, lambda b: b[:-1] + f', "x": {DEEP}}}'.encode()),
    "a huge number": in_bytes(results_of, lambda b: b[:-1] + b', "x": ' + b"9" * 5000 + b"}"),
    "results null": in_results(put(None, "results")),
    "results a list": in_results(put([], "results")),
    "a task's results null": in_results(put(None, "results", "TASK")),
    "a task's results gone": in_results(lambda c: c["results"].pop(task(c)) and None),
    "text for a metric": in_results(put("high", "results", "TASK", "METRIC")),
    "true for a metric": in_results(put(True, "results", "TASK", "METRIC")),
    "infinite metric": in_results(put(float("inf"), "results", "TASK", "METRIC")),
    "configs null": in_results(put(None, "configs")),
    "configs empty": in_results(put({}, "configs")),
    "configs a text": in_results(put("x", "configs")),
    "a task's config null": in_results(put(None, "configs", "TASK")),
    "settings a text": in_results(put("x", *XLING, "settings")),
    "data a list": in_results(put(["x"], *XLING, "data")),
    "signatures a list": in_results(put(["x"], *XLING, "signatures")),
    "a signature a number": in_results(put(1, *XLING, "signatures", "FIRST")),
    "prompts a list": in_results(put(["x"], *XLING, "prompts")),
    "a prompt a text": in_results(put({"judge": "x"}, *XLING, "prompts")),
    "about a text": in_results(put("x", *XLING, "about")),
    "n-samples numbers": in_results(put(3, "n-samples", "TASK")),
    "n-samples null": in_results(put(None, "n-samples")),
    "n-samples texts": in_results(put({"original": "3", "effective": "3"}, "n-samples", "TASK")),
    "n-samples negative": in_results(put({"original": 3, "effective": -1}, "n-samples", "TASK")),
    "config a list": in_results(put([], "config")),
    "higher_is_better a text": in_results(put("x", "higher_is_better")),
    "higher_is_better of a task": in_results(put(3, "higher_is_better", "TASK")),
    "the file a list": in_results(lambda c: [c]),
}
"""Damage to a results file."""

SAMPLES = {
    "empty": in_bytes(samples_of, lambda b: b""),
    "cut in a row": in_bytes(samples_of, lambda b: b[: len(b) - len(b.split(b"\n")[-2]) // 2]),
    "not UTF-8": in_bytes(samples_of, lambda b: b[:50] + b"\xff\xfe" + b[50:]),
    "zero bytes": in_bytes(samples_of, lambda b: b + b"\0" * 100 + b"\n"),
    "two rows on one line": in_bytes(samples_of, lambda b: b.replace(b"\n", b"", 1)),
    "a row twice": in_bytes(samples_of, lambda b: b + b.split(b"\n")[0] + b"\n"),
    "a row a list": in_sample(lambda row: "[1, 2]"),
    "a row a number": in_sample(lambda row: "17"),
    "a row null": in_sample(lambda row: "null"),
    "a row deeply nested": in_sample(lambda row: f'{{"doc": {DEEP}}}'),
    "no doc": in_sample(lambda row: row.pop("doc") and None),
    "doc null": in_sample(set_("doc", None)),
    "doc a text": in_sample(set_("doc", "x")),
    "no question_id": in_sample(lambda row: row["doc"].pop("question_id") and None),
    "question_id NaN": in_sample(lambda row: row["doc"].__setitem__("question_id", float("nan"))),
    "question_id a list": in_sample(lambda row: row["doc"].__setitem__("question_id", [1])),
    "question a list": in_sample(lambda row: row["doc"].__setitem__("question", ["x"])),
    "text for a metric": in_sample(set_("chrf", "high")),
    "a list for a metric": in_sample(set_("chrf", ["a", "b"])),
    "an object for a metric": in_sample(set_("chrf", {"x": "y"})),
    "infinite metric": in_sample(set_("chrf", float("inf"))),
    "a huge metric": in_sample(set_("chrf", 10**400)),
    "n_judged a text": in_sample(set_("n_judged", "x")),
    "n_judged null": in_sample(set_("n_judged", None)),
    "label a list": in_sample(set_("n_judged", {"label": [], "reply": "", "judge": ""})),
    "resps null": in_sample(set_("resps", None)),
    "resps a number": in_sample(set_("resps", 3)),
    "filtered_resps empty": in_sample(set_("filtered_resps", [])),
    "filtered_resps a number": in_sample(set_("filtered_resps", 1)),
    "an answer a number": in_sample(set_("filtered_resps", [7])),
    "arguments a list": in_sample(set_("arguments", [])),
    "filter a list": in_sample(set_("filter", [])),
}
"""Damage to a file of samples."""

UNREAD = {
    "question a list", "n_judged a text", "n_judged null", "label a list", "resps null",
    "resps a number", "filtered_resps empty", "filtered_resps a number", "an answer a number",
    "arguments a list", "the file a list", "text for a metric", "a list for a metric",
    "an object for a metric", "infinite metric", "a huge metric",
}  # fmt: skip
"""What some command does not read."""
