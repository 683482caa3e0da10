"""Texts as the linear empathy classifier counts them: terms by number, once for all its fits.

A classifier is fitted six times on parts of the same texts, each part with terms of its own. What
does not depend on the part (which terms are in which row, and 1 + ln of how often) is kept here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from xling_tasks.models.empathy.features import Text

View = Literal["sentence", "response", "seeker"]
"""Which texts a scorer looks at."""


class Rows(NamedTuple):
    """Counted terms, row by row.

    Attributes:
        terms: All terms, sorted; a row may have none of some.
        weights: n x terms, sparse: 1 + ln of how often a row has a term.
        numbers: What stands beside the terms, n x numbers; None for nothing.
    """

    terms: list[str]
    weights: Any
    numbers: np.ndarray | None

    def take(self, chosen: np.ndarray) -> Rows:
        """Some rows, by number, in that order."""
        numbers = None if self.numbers is None else self.numbers[chosen]
        return Rows(self.terms, self.weights[chosen], numbers)


@dataclass(frozen=True)
class Seen:
    """What the classifier sees of n pairs.

    Attributes:
        rows: Each view's rows: n, but for sentences as many as there are.
        sentences: n: how many sentences each response has.
        whole: n x 23 numbers of the pairs.
    """

    rows: dict[View, Rows]
    sentences: np.ndarray
    whole: np.ndarray

    def take(self, chosen: np.ndarray) -> Seen:
        """Some pairs, by number, in that order."""
        ends = np.concatenate([[0], np.cumsum(self.sentences)])
        of_pair = [np.arange(ends[number], ends[number + 1]) for number in chosen]
        rows = {
            view: rows.take(np.concatenate(of_pair) if view == "sentence" else chosen)
            for view, rows in self.rows.items()
        }
        return Seen(rows, self.sentences[chosen], self.whole[chosen])


def see(texts: Sequence[Text]) -> Seen:
    """Count the terms of at least one text."""
    numbers = np.array([row for text in texts for row in text.numbers]) / 2
    return Seen(
        rows={
            "sentence": _counted([row for text in texts for row in text.sentences], numbers),
            "response": _counted([text.response for text in texts]),
            "seeker": _counted([text.seeker for text in texts]),
        },
        sentences=np.array([len(text.spans) for text in texts]),
        whole=np.array([text.whole for text in texts]),
    )


def _counted(rows: Sequence[Counter[str]], numbers: np.ndarray | None = None) -> Rows:
    from scipy.sparse import csr_matrix  # type: ignore[import-untyped]

    terms = sorted({term for row in rows for term in row})
    column = {term: place for place, term in enumerate(terms)}
    counts = [sorted((column[term], count) for term, count in row.items()) for row in rows]
    columns = [place for own in counts for place, _ in own]
    weights = [1 + math.log(count) for own in counts for _, count in own]
    ends = np.cumsum([0, *map(len, counts)])
    return Rows(terms, csr_matrix((weights, columns, ends), (len(rows), len(terms))), numbers)
