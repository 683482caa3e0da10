"""Damage to the files of a run that killed runs, full disks and editors cause; spoils a copy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


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


RESULTS = {
    "empty": in_bytes(results_of, lambda b: b""),
    "cut in half": in_bytes(results_of, lambda b: b[: len(b) // 2]),
    "zero bytes": in_bytes(results_of, lambda b: b"\0" * len(b)),
    "UTF-16": in_bytes(results_of, lambda b: b.decode().encode("utf-16")),
}
"""Damage to a results file."""

SAMPLES = {
    "empty": in_bytes(samples_of, lambda b: b""),
    "cut in a row": in_bytes(samples_of, lambda b: b[: len(b) - len(b.split(b"\n")[-2]) // 2]),
    "cut behind a row": in_bytes(samples_of, lambda b: b.split(b"\n")[0] + b"\n"),
    "not UTF-8": in_bytes(samples_of, lambda b: b[:50] + b"\xff\xfe" + b[50:]),
    "zero bytes": in_bytes(samples_of, lambda b: b + b"\0" * 100 + b"\n"),
    "a row twice": in_bytes(samples_of, lambda b: b + b.split(b"\n")[0] + b"\n"),
}
"""Damage to a file of samples."""
