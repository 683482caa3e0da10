"""Information consistency of two texts, from verdicts on their claims.

arXiv:2505.21999: both texts are taken apart into atomic claims; precision is the share of the
answer's claims that the reference answer supports, recall the share of the reference answer's
claims that the answer supports. Both are fractions from 0 to 1; higher is better. The score of a
language is the harmonic mean of mean precision and mean recall over the prompts (section 3.1).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import regex
from xling_metrics.aggregate import HARMONIC

Verdicts = Sequence[bool | None]
"""One verdict per claim: supported, not supported, or None where the judge gave none."""

_NO_WORD = regex.compile(r"[^\p{L}\p{M}\p{N}\p{Sm}.,%/\-]+")


class ClaimScores(NamedTuple):
    """Precision, recall and their harmonic mean; None where undefined or unscored."""

    precision: float | None
    recall: float | None
    f1: float | None


def claim_scores(answer: Verdicts | None, reference: Verdicts | None) -> ClaimScores:
    """Information consistency of an answer with a reference answer.

    Args:
        answer: Verdicts on the answer's claims against the reference answer; None if its claims
            could not be read. An empty reference answer supports nothing: give False for each.
        reference: Verdicts on the reference answer's claims against the answer, likewise.

    Returns:
        Shares over the claims that have a verdict. Texts without claims (abstentions) have no
        share: if one of the two abstains, F1 is 0 (they are not consistent); if both do, there
        is nothing to compare and all three are None. All three are None too where claims could
        not be read. A share is None, and F1 with it, where fewer than half of the claims have a
        verdict.
    """
    if answer is None or reference is None or not (answer or reference):
        return ClaimScores(None, None, None)
    precision, recall = _share(answer), _share(reference)
    if not answer or not reference:
        known = recall if not answer else precision
        return ClaimScores(precision, recall, None if known is None else 0.0)
    if precision is None or recall is None:
        return ClaimScores(precision, recall, None)
    total = precision + recall
    return ClaimScores(precision, recall, 2 * precision * recall / total if total else 0.0)


def information_f1(scores: Sequence[ClaimScores]) -> float | None:
    """The harmonic mean of mean precision and mean recall over prompts, from 0 to 1.

    It is not the mean of the prompts' F1, which is never higher: of the pairs (precision, recall)
    (1, 0.2) and (0.2, 1) it is 0.60, while their mean F1 is 0.33.

    Args:
        scores: One per prompt. A prompt without an F1 is unscored and left out of both means. An
            abstention has no precision and a recall of 0: it counts in recall alone.

    Returns:
        The score; None where no prompt is scored. It is 0 where no answer has a claim, or no
        reference answer: every one of them is inconsistent.
    """
    return HARMONIC(
        {"precision": item.precision, "recall": item.recall}
        for item in scores
        if item.f1 is not None
    )


def distinct_claims(claims: Sequence[str]) -> list[str]:
    """The claims without repetitions, first ones kept.

    Two claims are the same if their words and numbers are, in order, up to case, punctuation
    between words and compatibility forms (NFKC).
    """
    kept: dict[str, str] = {}
    for claim in claims:
        kept.setdefault(_plain(claim), claim)
    return list(kept.values())


def _share(verdicts: Verdicts) -> float | None:
    known = [verdict for verdict in verdicts if verdict is not None]
    return sum(known) / len(known) if known and 2 * len(known) >= len(verdicts) else None


def _plain(claim: str) -> str:
    # Signs that belong to numbers stay: 1.5 and 15, .5 and 5, -5 and 5, at least and at most.
    words = _NO_WORD.sub(" ", unicodedata.normalize("NFKC", claim).casefold()).split()
    return " ".join(word.rstrip(".,") for word in words)
