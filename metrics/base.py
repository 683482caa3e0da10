"""What all metrics share: the signature that makes a score reproducible, and input checks."""

from __future__ import annotations

import os
from collections.abc import Sized
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

PROGRESS_AFTER = 2.0
"""Seconds after which a progress bar shows: what is quick needs none."""


def signature(metric: str, /, *, libraries: tuple[str, ...] = (), **fields: object) -> str:
    """One line that says how a score was made, in the manner of sacrebleu.

    Args:
        metric: The metric's name.
        libraries: Distribution names whose versions enter the signature, in this order.
        **fields: Everything else that changes the value (tokenizer, language, model@revision,
            layer, seed, ...), kept in the order given; None is left out.

    Returns:
        `metric|key:value|...|library:version|...`, for example
        `macro_f1|average:macro|labels:0,1|scikit-learn:1.5.0`.
    """
    parts = [metric]
    parts += [f"{key}:{_plain(value)}" for key, value in fields.items() if value is not None]
    parts += [f"{name}:{library_version(name)}" for name in libraries]
    return "|".join(parts)


@cache  # signatures ask for it thousands of times a run, and it is read from a file
def library_version(name: str) -> str:
    """The installed version of a distribution, or `absent`."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def same_length(**columns: Sized) -> int:
    """The common length of parallel inputs.

    Raises:
        ValueError: If they differ; the message names every column with its length.
    """
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise ValueError(f"parallel inputs differ in length: {listed}")
    return next(iter(lengths.values()), 0)


def usable_cores() -> int:
    """The processors that this process may run on, which can be fewer than the machine has."""
    allowed = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def replace_lone_surrogates(text: str) -> str:
    """The text, in which a lone half of a surrogate pair (of a cut emoji) becomes U+FFFD.

    Libraries that read UTF-8 refuse half a letter, and one such answer must not end a run.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def mean(values: list[float]) -> float | None:
    """The arithmetic mean, or None when there is nothing to average."""
    return sum(values) / len(values) if values else None


class ExtraMissing(ImportError):
    """A package of an extra is not installed; the message says how to install it."""


def import_optional(module: str, need: str, extra: str) -> Any:
    """A module of an extra.

    Args:
        module: Its name.
        need: What needs it, for the message: "words of language 'ja'".
        extra: The extra of xling-tasks that brings it.

    Raises:
        ExtraMissing: If it is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ExtraMissing(
            f'{need} need the package {package}: pip install "xling-tasks[{extra}]"'
        ) from error


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ",".join(str(item) for item in value)
    return str(value)
