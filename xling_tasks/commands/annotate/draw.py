"""Random samples that depend on seed and names alone, and their sizes by stratum."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping


def allocate(counts: Mapping[str, int], n: int) -> dict[str, int]:
    """Items per stratum: proportional by largest remainder, at least one of each that has any.

    Args:
        counts: Size of each stratum.
        n: Items wanted, at least the number of strata; all are taken if there are fewer.
    """
    total = sum(counts.values())
    n = min(n, total)
    sizes = {name: n * count // total if total else 0 for name, count in counts.items()}
    rest = {name: n * count % total if total else 0 for name, count in counts.items()}
    for name in sorted(rest, key=lambda name: -rest[name])[: n - sum(sizes.values())]:
        sizes[name] += 1
    for name, count in counts.items():
        if count and not sizes[name]:
            sizes[max(sizes, key=lambda other: sizes[other])] -= 1
            sizes[name] = 1
    return sizes


def random_key(seed: int, name: str) -> int:
    """A number to sort by for a random order that depends on seed and name alone."""
    return int.from_bytes(hashlib.sha256(f"{seed}\0{name}".encode()).digest(), "big")
