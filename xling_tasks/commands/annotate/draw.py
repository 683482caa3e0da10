"""Random samples that depend on seed and names alone, and their sizes by stratum."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence


def allocate(counts: Mapping[str, int], n: int) -> dict[str, int]:
    """Items per stratum: proportional by largest remainder, at least one of each that has any.

    N is at least the number of strata; all are taken if there are fewer.
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


def mixed(
    usable: Mapping[str, Sequence[dict[str, str]]], sizes: Mapping[str, int], seed: int
) -> list[dict[str, str]]:
    """That many items of each dataset in one random order.

    An item's place depends on seed, `dataset` and `question_id`, and not on its language: languages
    get the same questions, as far as these are usable in all of them.
    """

    def place(item: Mapping[str, str]) -> int:
        return random_key(seed, f"{item['dataset']}/{item['question_id']}")

    chosen = [item for key, own in usable.items() for item in sorted(own, key=place)[: sizes[key]]]
    return sorted(chosen, key=place)
