"""Results files, checked before anything is made of them.

A file may be cut off, edited, or written by something else. What is wrong is one line that names
the file and the place in it, before a number is computed from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xling_tasks.errors import DataError, XlingError
from xling_tasks.safe_json import loads
from xling_tasks.secrets import redact

_UNEXPECTED = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip

LARGEST = 1e300
"""No metric, count or token probability is larger; numbers beyond cannot be computed with."""

AGAIN = "copy the file again, or run the task again"
"""What to do about a damaged file of a run."""

_LONGEST = 200
_OBJECTS = (
    *("settings", "data", "signatures", "about", "generation_kwargs", "replay", "bookkeeping"),
)


def check_results(path: Path, content: Any) -> dict[str, Any]:
    """Return the content of a results file, with all that is read of it in its form.

    Arguments and settings come without secrets, which other tasks leave in it. An error names file,
    section, task and metric.
    """
    sections = _mapping(path, content, "the file")
    results, configs, counts = (
        _mapping(path, sections.get(name), name) for name in ("results", "configs", "n-samples")
    )
    for name in ("config", "higher_is_better"):
        if sections.get(name) is not None:
            _mapping(path, sections[name], name)
    for task in counts:
        config = _mapping(path, configs.get(task), f"configs.{task}")
        scores = _mapping(path, results.get(task), f"results.{task}")
        if _check_record(path, task, config):
            check_name(path, task)
            _check_count(path, task, counts[task])
            _check_scores(path, task, scores)
    for name, directions in (sections.get("higher_is_better") or {}).items():
        _mapping(path, {} if directions is None else directions, f"higher_is_better.{name}")
    clean = {task: _without_secrets(config) for task, config in configs.items()}
    return {**sections, "configs": clean, "config": _command(sections.get("config"))}


def _without_secrets(config: Any) -> Any:
    if not isinstance(config, dict) or not config.get("metadata"):
        return config
    return {**config, "metadata": redact(config["metadata"])}


def _command(config: Any) -> Any:
    """Return the record of the command; arguments given as text are taken apart first."""
    from lm_eval.utils import simple_parse_args_string

    args = config.get("model_args") if isinstance(config, dict) else None
    if isinstance(args, str):
        try:
            config = {**config, "model_args": dict(simple_parse_args_string(args))}
        except ValueError:
            config = {**config, "model_args": {"model_args": args}}
    return redact(config)


def check_name(path: Path, task: Any) -> None:
    """Refuse a task's name that leads to another folder, or is too long, in its samples' name."""
    if not isinstance(task, str) or len(task) > _LONGEST or re.search(r"[/\\\0]", task):
        raise _wrong(path, f"configs.{task!r:.60}", "no name of a task that lm_eval could run")


def _check_count(path: Path, task: str, count: Any) -> None:
    counts = _mapping(path, count, f"n-samples.{task}")
    for name in ("original", "effective"):
        value = counts.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
            location = f"n-samples.{task}.{name}"
            raise _wrong(path, location, f"a count is expected, not {value!r:.40}")


def _check_record(path: Path, task: str, config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a task of ours recorded; {} for others. Each part that is read is a mapping."""
    location = f"configs.{task}.metadata"
    metadata = _mapping(path, config.get("metadata") or {}, location)
    if not metadata.get("xling"):
        return {}
    recorded = _mapping(path, metadata["xling"], f"{location}.xling")
    for name in _OBJECTS:
        if recorded.get(name) is not None:
            _mapping(path, recorded[name], f"{location}.xling.{name}")
    prompts = _mapping(path, recorded.get("prompts") or {}, f"{location}.xling.prompts")
    for name, prompt in prompts.items():
        _mapping(path, prompt, f"{location}.xling.prompts.{name}")
    for name, signature in (recorded.get("signatures") or {}).items():
        if not isinstance(signature, str):
            raise _wrong(path, f"{location}.xling.signatures.{name}", "a text is expected")
    return recorded


def _check_scores(path: Path, task: str, scores: Mapping[str, Any]) -> None:
    for name, value in scores.items():
        if not name.endswith(",none") or "_stderr" in name or value is None:
            continue
        if isinstance(value, (dict, list)):
            continue  # counts by label and the like, which are no scores
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or abs(value) > LARGEST:
            raise _wrong(path, f"results.{task}.{name}", f"a number is expected, not {value!r:.40}")


def _mapping(path: Path, value: Any, location: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(path, location, f"an object is expected, not {value!r:.40}")
    return value


def _wrong(path: Path, location: str, problem: str) -> DataError:
    return DataError(f"{path}, {location}: {problem}; {AGAIN}")


def check_numbers(name: str, value: Any) -> None:
    """Raise a ValueError if a sample's value holds anything but numbers and gaps, at any depth."""
    if value is None or (type(value) is float and abs(value) <= LARGEST):
        return  # nearly all are so
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack += item.values()
        elif isinstance(item, (list, tuple)):
            stack += item
        elif item is not None:
            valid = isinstance(item, (int, float)) and (item != item or abs(item) <= LARGEST)
            if not valid:
                raise ValueError(f"{name}: a number is expected, not {item!r:.40}")


@contextmanager
def reading(location: object) -> Iterator[None]:
    """Turn an unexpected error into one line that names the file."""
    try:
        yield
    except XlingError:
        raise
    except _UNEXPECTED as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        raise DataError(f"{location}: cannot be made sense of ({text:.200}); {AGAIN}") from error


def parse_sample(line: bytes) -> dict[str, Any]:
    """Return a line of JSONL as an object whose doc, if it has one, has a text as its id."""
    row = loads(line)
    if not isinstance(row, dict):
        raise TypeError(f"an object is expected, not {row!r:.40}")
    doc = row.get("doc")
    identity = doc.get("question_id") if isinstance(doc, dict) else None
    if isinstance(identity, (list, dict, float, bool)):
        raise TypeError(f"doc.question_id: a text is expected, not {identity!r:.40}")
    if not isinstance(row.get("filter", ""), str):
        raise TypeError(f"filter: a text is expected, not {row['filter']!r:.40}")
    return row
