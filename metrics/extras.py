"""Packages that an extra brings: loaded where they are needed, or an error that names the extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class ExtraMissing(ImportError):
    """A package of an extra is not installed; the message says how to install it."""


def optional(module: str, need: str, extra: str) -> Any:
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
