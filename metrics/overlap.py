"""Surface overlap of an answer with its reference."""

from __future__ import annotations

import functools
from typing import Any

from xling_metrics.base import signature


def chrf(answer: str, reference: str) -> float | None:
    """Sentence chrF2 of sacrebleu (Popovic 2015), in [0, 100], higher is better.

    Character n-grams up to order 6, no word n-grams, beta 2, effective order. Scores of several
    answers are averaged, which is not sacrebleu's corpus score (it pools the counts).

    Returns:
        The score; None for an empty answer or reference (nothing to compare).
    """
    if not answer.strip() or not reference.strip():
        return None
    return float(_scorer().sentence_score(answer, [reference]).score)


def chrf_signature() -> str:
    """The signature of `chrf`, with sacrebleu's own fields."""
    how = {"nrefs": 1, "case": "mixed", "eff": True, "nc": 6, "nw": 0, "space": False}
    return signature("chrf2", **how, aggregation="mean_of_answers", libraries=("sacrebleu",))


@functools.lru_cache(maxsize=1)
def _scorer() -> Any:
    from sacrebleu.metrics import CHRF

    return CHRF()
