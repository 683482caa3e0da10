"""Compiled loops (numba, which the extra `topics` brings), and tables that are slow to build."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
_Function = TypeVar("_Function", bound=Callable[..., object])

ANY_ORDER = {"reassoc", "contract", "nsz"}
"""For `fastmath`: sums in any order, or they cannot be vectors."""


def load_kernel(module: str, *, worthwhile: bool = True) -> ModuleType | None:
    """Import a module of compiled loops, such as `_langid_kernel`; None without numba.

    Args:
        module: Its name.
        worthwhile: Whether there is enough work to load numba, which takes half a second; if not,
            return None unless it is loaded already.
    """
    if not worthwhile and "numba" not in sys.modules:
        return None
    try:
        return import_module(f"xling_metrics.{module}")
    except ImportError:
        return None


def compile_loop(**options: Any) -> Callable[[_Function], _Function]:
    """Compile a function at its first call, and cache it on disk where possible.

    It releases the GIL; a division by zero is as in numpy. `options` are further ones of
    `numba.njit`, such as `fastmath`.

    Raises:
        ImportError: Without numba.
    """
    numba = import_module("numba")

    def compile_one(function: _Function) -> _Function:
        settings = {"nogil": True, "error_model": "numpy", "forceinline": True, **options}
        try:
            compiled = numba.njit(cache=True, **settings)(function)
        except RuntimeError:  # no folder for the cache can be written
            return cast(_Function, numba.njit(**settings)(function))
        cache = getattr(compiled, "_cache", None)  # none where NUMBA_DISABLE_JIT is set
        for name in ("load_overload", "save_overload"):
            if hasattr(cache, name):
                setattr(cache, name, _ignore_errors(getattr(cache, name)))
        return cast(_Function, compiled)

    return compile_one


def _ignore_errors(step: Callable[..., object]) -> Callable[..., object]:
    """Ignore errors of numba's cache: a full disk costs a compilation, not the run."""

    def attempt(*args: object) -> object:
        try:
            return step(*args)
        except Exception:  # whatever numba meets in a spoilt file: it compiles then
            return None

    return attempt


def load_or_build(name: str, build: Callable[[], Arrays]) -> Arrays:
    """Return arrays from the user's cache folder, or build and store them.

    `name` is the file's name without suffix, with the version of what the arrays are made of.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "xling_metrics"
    path = folder / f"{name}.npz"
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}
    except Exception:  # no such file, or a spoilt one: numpy and zipfile raise many kinds
        arrays = build()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".npz", delete=False) as file:
            np.savez(file, allow_pickle=False, **arrays)
        os.replace(file.name, path)
    except OSError:  # a full disk, a folder that cannot be written: it is built again next time
        pass
    return arrays
