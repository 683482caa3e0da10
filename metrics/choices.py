"""Scores of multiple choice with several right answers.

Source: MMedBench (arXiv 2402.13963): a question is right if the *set* of chosen letters equals the
set of right ones. `jaccard` is ours: partial credit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf, isfinite


def is_exact_match(chosen: Collection[str] | None, right: Collection[str]) -> bool:
    """Whether the chosen letters are the right ones; nothing chosen (None) is not right."""
    return chosen is not None and set(chosen) == set(right)


def jaccard(chosen: Collection[str] | None, right: Collection[str]) -> float | None:
    """|chosen & right| / |chosen | right|, in [0, 1]; None where nothing was chosen.

    Raises:
        ValueError: If there is no right letter.
    """
    if not right:
        raise ValueError("a question must have at least one right letter")
    if chosen is None:
        return None
    a, b = set(chosen), set(right)
    return len(a & b) / len(a | b)


def chance_level(n_options: int, *, several: bool) -> float:
    """Accuracy of guessing: 1 / n, or 1 / (2^n - 1) where every non-empty set may be right."""
    return 1 / (2**n_options - 1 if several else n_options)


def best_choice(scores: Sequence[float]) -> int | None:
    """The index of the one highest score; None for a tie at the top or no finite score."""
    top = max((score for score in scores if isfinite(score)), default=-inf)
    winners = [i for i, score in enumerate(scores) if score == top]
    return winners[0] if top > -inf and len(winners) == 1 else None
