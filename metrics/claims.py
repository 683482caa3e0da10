"""Information consistency of two texts, from a judge's labels of their claims.

arXiv:2505.21999, section 3.1: both texts are split into atomic claims. Precision is the share of
the answer's claims that the reference supports, recall the share of the reference's claims that the
answer supports; both in 0..1, higher is better.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import regex
from xling_metrics.aggregate import HARMONIC

Labels = Sequence[bool | None]
"""One label per claim: supported, not supported, or None where the judge gave none."""

# Signs that belong to numbers stay: 1.5 and 15, .5 and 5, -5 and 5, at least and at most.
_NO_WORD = regex.compile(r"[^\p{L}\p{M}\p{N}\p{Sm}.,%/\-]+")


class ClaimScores(NamedTuple):
    """Precision, recall and their harmonic mean; None where undefined or unscored."""

    precision: float | None
    recall: float | None
    f1: float | None


def claim_scores(answer: Labels | None, reference: Labels | None) -> ClaimScores:
    """Return the information consistency of an answer with a reference answer.

    A text without claims is an abstention. If one of the two abstains, F1 is 0; if both do, all
    three scores are None. A share is over the claims that have a label; it is None, and F1 with
    it, if fewer than half of the claims have one.

    Args:
        answer: Labels of the answer's claims against the reference answer; None if its claims could
            not be read. An empty reference supports nothing: give False for each.
        reference: Labels of the reference's claims against the answer, likewise.
    """
    if answer is None or reference is None or not (answer or reference):
        return ClaimScores(None, None, None)
    precision, recall = _support_rate(answer), _support_rate(reference)
    if not answer or not reference:
        rate = precision if answer else recall
        return ClaimScores(precision, recall, None if rate is None else 0.0)
    if precision is None or recall is None:
        return ClaimScores(precision, recall, None)
    total = precision + recall
    return ClaimScores(precision, recall, 2 * precision * recall / total if total else 0.0)


def information_f1(scores: Sequence[ClaimScores]) -> float | None:
    """Return the harmonic mean of mean precision and mean recall over prompts, in 0..1.

    It is not the mean of the prompts' F1, which is never higher: the pairs (precision, recall)
    (1, 0.2) and (0.2, 1) give 0.60, their mean F1 is 0.33. A prompt without F1 is unscored. An
    abstention has no precision and recall 0, and so counts in recall alone. 0 if no answer or no
    reference answer has a claim; None if no prompt is scored.
    """
    return HARMONIC(
        {"precision": item.precision, "recall": item.recall}
        for item in scores
        if item.f1 is not None
    )


def distinct_claims(claims: Sequence[str]) -> list[str]:
    """Remove repeated claims: those with equal words and numbers, whatever case and punctuation."""
    by_words: dict[str, str] = {}
    for claim in claims:
        text = unicodedata.normalize("NFKC", claim).casefold()
        words = (word.rstrip(".,") for word in _NO_WORD.sub(" ", text).split())
        by_words.setdefault(" ".join(words), claim)
    return list(by_words.values())


def _support_rate(labels: Labels) -> float | None:
    defined = [label for label in labels if label is not None]
    return sum(defined) / len(defined) if defined and 2 * len(defined) >= len(labels) else None
