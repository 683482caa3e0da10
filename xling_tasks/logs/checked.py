"""Results files as they are read: in the form of lm_eval's, or one line that names the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from xling_tasks.errors import DataError, XlingError
from xling_tasks.safe_json import read_json
from xling_tasks.secrets import redact

_UNEXPECTED = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
)  # fmt: skip

LARGEST = 1e300
"""No metric, count or token probability is larger; numbers beyond cannot be computed with."""

AGAIN = "copy the file again, or run the task again"
"""What to do about a damaged file of a run."""


def read_content(path: Path) -> dict[str, Any] | None:
    """Return the content of a results file, secrets removed; None of another program's file.

    Raises:
        DataError: If it has not the form in which lm_eval writes it.
    """
    content = read_json(path, AGAIN)
    if not isinstance(content, dict) or not {"results", "configs", "n-samples"} <= set(content):
        return None
    with reading(path):
        configs = {
            task: {**config, "metadata": redact(config.get("metadata"))}
            for task, config in content["configs"].items()
        }
        command = _read_command(content.get("config"))
        return {**with_bookkeeping(content), "configs": configs, "config": command}


def _read_command(config: Any) -> Any:
    """Return the record of the command; arguments given as text are parsed."""
    from lm_eval.utils import simple_parse_args_string

    args = (config or {}).get("model_args")
    if isinstance(args, str):
        try:
            config = {**config, "model_args": dict(simple_parse_args_string(args))}
        except ValueError:
            config = {**config, "model_args": {"model_args": args}}
    return redact(config)


def recorded(configs: Any, task: str) -> dict[str, Any]:
    """Return what a task of ours recorded; {} of others."""
    try:
        return dict(configs[task]["metadata"]["xling"])
    except (LookupError, TypeError, ValueError):
        return {}


def with_bookkeeping(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a results file's content, with what tasks recorded beside their scores among these."""
    completed = {}
    for task, scores in content["results"].items():
        diagnostics = recorded(content["configs"], task).get("bookkeeping") or {}
        extra = {f"{name},none": value for name, value in diagnostics.items()}
        completed[task] = {**scores, **extra, **scores}
    return {**content, "results": completed}


def check_numbers(name: str, value: Any) -> None:
    """Raise a ValueError if a value holds anything but numbers and gaps, at any depth."""
    if value is None or (type(value) is float and abs(value) <= LARGEST):
        return  # nearly all are so
    if isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            check_numbers(name, item)
    elif not isinstance(value, (int, float)) or abs(value) > LARGEST:
        raise ValueError(f"{name}: a number is expected, not {value!r:.40}")


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
