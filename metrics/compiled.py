"""How inner loops are compiled: with numba, which the extra `topics` brings."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar, cast

_Function = TypeVar("_Function", bound=Callable[..., object])

ANY_ORDER = {"reassoc", "contract", "nsz"}
"""For `fastmath`: sums in any order, or they cannot be vectors."""


def loops(module: str, *, pays: bool = True) -> ModuleType | None:
    """A module of compiled loops of this package; None without numba, or where it does not pay.

    Args:
        module: Its name, such as `_langid_kernel`.
        pays: Whether there is enough work to load numba, half a second; where it is loaded already,
            there always is.
    """
    if not pays and "numba" not in sys.modules:
        return None
    try:
        return import_module(f"xling_metrics.{module}")
    except ImportError:
        return None


def compiled(**options: Any) -> Callable[[_Function], _Function]:
    """Compile a function when it is first called, and keep that on disk where it can be written.

    Other threads run meanwhile, and a division by zero is as in numpy.

    Args:
        **options: More of `numba.njit`'s, such as `fastmath`.

    Raises:
        ImportError: Without numba.
    """
    numba = import_module("numba")

    def compile_one(function: _Function) -> _Function:
        settings = {"nogil": True, "error_model": "numpy", "forceinline": True, **options}
        try:
            kept = numba.njit(cache=True, **settings)(function)
        except RuntimeError:  # No folder for the cache can be written.
            return cast(_Function, numba.njit(**settings)(function))
        _spare_from_disk(kept)
        return cast(_Function, kept)

    return compile_one


def _spare_from_disk(kept: Any) -> None:
    """Let a full disk, or files of the cache that cannot be read, cost a compilation, not a run."""
    cache = getattr(kept, "_cache", None)  # none where NUMBA_DISABLE_JIT is set
    for name in ("load_overload", "save_overload"):
        if hasattr(cache, name):
            setattr(cache, name, _or_none(getattr(cache, name)))


def _or_none(step: Callable[..., object]) -> Callable[..., object]:
    def tried(*args: object) -> object:
        try:
            return step(*args)
        except Exception:  # whatever numba meets in a spoilt file: it compiles then
            return None

    return tried
