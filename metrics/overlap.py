"""chrF: characters that an answer shares with its reference."""

from __future__ import annotations

from functools import cache
from typing import Any

from xling_metrics.base import normalize_text, signature


def chrf(answer: str, reference: str) -> float | None:
    """Return sacrebleu's sentence chrF2 (Popovic 2015), in [0, 100]; higher is better.

    Character n-grams up to order 6, no word n-grams, beta 2, effective order. A mean of answers is
    not sacrebleu's corpus score, which pools counts. Both texts are read in Unicode form NFC. None
    for an empty answer or reference.
    """
    if not answer.strip() or not reference.strip():
        return None
    answer, reference = normalize_text(answer), normalize_text(reference)
    return float(_load_chrf().sentence_score(answer, [reference]).score)


def chrf_signature() -> str:
    """Return the signature of `chrf`, with sacrebleu's fields."""
    fields = {"nrefs": 1, "case": "mixed", "eff": True, "nc": 6, "nw": 0, "space": False}
    return signature("chrf2", **fields, aggregation="mean_of_answers", libraries=("sacrebleu",))


@cache
def _load_chrf() -> Any:
    from sacrebleu.metrics import CHRF

    return CHRF()
