"""What all metrics share: signatures of scores, checks of input, optional packages."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sized
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

PROGRESS_AFTER = 2.0  # seconds after which a progress bar shows


def signature(metric: str, /, *, libraries: tuple[str, ...] = (), **fields: object) -> str:
    """Return one line that states how a score was made, in the manner of sacrebleu.

    Args:
        metric: The metric's name.
        libraries: Distributions whose versions enter the signature, in this order.
        **fields: Everything else that changes the value, in the order given; None is left out.

    Returns:
        `metric|key:value|...|library:version|...`, for example
        `macro_f1|average:macro|labels:0,1|scikit-learn:1.5.0`.
    """
    parts = [metric]
    parts += [f"{key}:{_format(value)}" for key, value in fields.items() if value is not None]
    return "|".join(parts + [f"{name}:{library_version(name)}" for name in libraries])


def _format(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


@cache  # signatures ask for it thousands of times a run, and it is read from a file
def library_version(name: str) -> str:
    """Return the installed version of a distribution, or `absent`."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def same_length(**columns: Sized) -> int:
    """Return the common length of parallel inputs.

    Raises:
        ValueError: If they differ; the message names every column with its length.
    """
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name} has {n}" for name, n in lengths.items())
        raise ValueError(f"parallel inputs differ in length: {sizes}")
    return next(iter(lengths.values()), 0)


def usable_cores() -> int:
    """Return how many processors this process may run on, which can be fewer than there are."""
    allowed = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def replace_lone_surrogates(text: str) -> str:
    """Replace half of a surrogate pair (of an emoji that was cut) by U+FFFD.

    Libraries that read UTF-8 raise on it, and one such response must not end a run.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def normalize_text(text: str) -> str:
    """Return a text in Unicode form NFC, without lone surrogates."""
    return unicodedata.normalize("NFC", replace_lone_surrogates(text))


def mean(values: list[float]) -> float | None:
    """Return the arithmetic mean; None for no values."""
    return sum(values) / len(values) if values else None


class ExtraMissing(ImportError):
    """A package of an extra is not installed; the message says how to install it."""


def import_optional(module: str, need: str, extra: str) -> Any:
    """Import a module of an extra.

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
