"""The linear empathy classifier: logistic regressions on tf-idf of the response's words.

A baseline beside the transformer: it trains in seconds, and its vocabulary can be read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xling_tasks.models.empathy.data import Pair, Profile

VOCABULARY, WEIGHTS = FILES = ("vocabulary.json", "weights.npz")
"""What `save` writes: the terms, which are words of the training posts, and all numbers."""

_TOKENS = r"\w+(?:'\w+)?|[?!.…]+|[:;][-']?[)(dp]|<3|❤"
_FEWEST = 2  # posts that have a term, for it to count
_C = 1.0  # best in 5-fold cross-validation on the train part of seed 0, of 1, 3, 10, 30


class LinearClassifier(NamedTuple):
    """A fitted model: a TfidfVectorizer, and 3 x (n terms + 1) weights, the intercept last."""

    terms: Any
    weights: np.ndarray

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[Profile]:
        """Return the mechanisms present in each (seeker post, response)."""
        if not pairs:
            return []
        matrix = self.terms.transform([_read(response) for _, response in pairs])
        scores = np.asarray(matrix @ self.weights[:, :-1].T) + self.weights[:, -1]
        return [(bool(a), bool(b), bool(c)) for a, b, c in scores > 0]

    def save(self, folder: Path) -> None:
        """Write `FILES`, JSON and npz, nothing pickled; equal models give equal bytes."""
        text = json.dumps(self.terms.get_feature_names_out().tolist(), ensure_ascii=False, indent=0)
        (folder / VOCABULARY).write_text(text, encoding="utf-8", newline="\n")
        with (folder / WEIGHTS).open("wb") as handle:
            np.savez(handle, allow_pickle=False, idf=self.terms.idf_, weights=self.weights)

    @classmethod
    def load(cls, folder: Path) -> LinearClassifier:
        """Read what `save` wrote."""
        terms = _vectorizer(json.loads((folder / VOCABULARY).read_text(encoding="utf-8")))
        with np.load(folder / WEIGHTS, allow_pickle=False) as stored:
            terms.idf_, weights = stored["idf"], stored["weights"]
        return cls(terms, weights)


def fit(pairs: Sequence[Pair], seed: int = 0) -> LinearClassifier:
    """Fit all mechanisms; all seeker posts that are to be tested on must be left out."""
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    terms = _vectorizer()
    matrix = terms.fit_transform([_read(pair.response) for pair in pairs])
    rows = []
    for present in np.array([pair.present for pair in pairs]).T.astype(int):
        model = LogisticRegression(C=_C, class_weight="balanced", solver="liblinear", max_iter=1000)
        with threadpool_limits(limits=1):  # the number of threads would change the last digits
            model.fit(matrix, present)
        rows.append(np.append(model.coef_[0], model.intercept_[0]))
    return LinearClassifier(terms, np.array(rows))


def _read(response: str) -> str:
    return " ".join(response.split()).lower().replace("’", "'")


def _vectorizer(vocabulary: Sequence[str] | None = None) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(token_pattern=_TOKENS, ngram_range=(1, 2), sublinear_tf=True,
                           min_df=_FEWEST, vocabulary=vocabulary, lowercase=False)  # fmt: skip
