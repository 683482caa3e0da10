"""Scores of multiple choice with several correct answers.

Source: MMedBench (arXiv 2402.13963): an answer is correct if the *set* of chosen letters equals the
set of correct ones. `jaccard` is ours: partial credit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf, isfinite


def is_exact_match(chosen: Collection[str] | None, correct: Collection[str]) -> bool:
    """Return whether the chosen letters are the correct ones; False if none was chosen (None)."""
    return chosen is not None and set(chosen) == set(correct)


def jaccard(chosen: Collection[str] | None, correct: Collection[str]) -> float | None:
    """Return |chosen & correct| / |chosen | correct|, in [0, 1]; None if none was chosen.

    Raises:
        ValueError: If there is no correct letter.
    """
    if not correct:
        raise ValueError("a question needs at least one correct letter")
    if chosen is None:
        return None
    a, b = set(chosen), set(correct)
    return len(a & b) / len(a | b)


def chance_level(n_options: int, *, several: bool) -> float:
    """Return the accuracy of guessing: 1 / n; of any non-empty set, 1 / (2^n - 1)."""
    return 1 / (2**n_options - 1 if several else n_options)


def best_choice(scores: Sequence[float]) -> int | None:
    """Return the index of the highest score; None for a tie at the top or no finite score."""
    top = max((score for score in scores if isfinite(score)), default=-inf)
    winners = [i for i, score in enumerate(scores) if score == top]
    return winners[0] if top > -inf and len(winners) == 1 else None
