"""The linear empathy classifier: logistic regressions on sentences, response and seeker's post.

Two levels for each mechanism. The first has three scorers, each a logistic regression on tf-idf of
terms (`features`): of each sentence of the response, which learns from the annotators'
rationales which sentences hold the mechanism; of the whole response; and of the seeker's post. The
second decides from their scores for all three mechanisms, and from punctuation, pronouns, lengths
and shared words. It learns from scores of models that had not seen the seeker's post.

Its shape and constants were chosen by cross-validation within the train part of seed 0, and are
fixed. There, character n-grams and a tuned threshold did not help; so nothing is left to be tuned
on the dev part, and it is used for training.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xling_tasks.errors import DataError
from xling_tasks.models.empathy.data import (
    MECHANISMS,
    TEXTS_FILE,
    Pair,
    Profile,
    check_learnable,
    folds,
    plain,
)
from xling_tasks.models.empathy.features import Text, View, covered, read, rows_of

VOCABULARY, WEIGHTS = FILES = ("vocabulary.json", "weights.npz")
"""What `save` writes: the terms, which are words of the training posts, and all numbers."""


class _Fit(NamedTuple):
    c: float
    class_weight: str | None


_FIT: dict[View, _Fit] = {
    "response": _Fit(3.0, None),
    "sentence": _Fit(3.0, "balanced"),
    "seeker": _Fit(0.3, None),
}
_FIT_TOP = _Fit(0.1, None)
_FOLDS = 5
_FEWEST = 2  # sentences or posts that have a term, for it to count
_LEAST = -3.0  # the score of a second sentence that is not there


@dataclass(frozen=True)
class Scorer:
    """A logistic regression on tf-idf for each mechanism.

    Attributes:
        terms: The vectorizer of scikit-learn that knows the view's terms and how rare they are.
        weights: 3 x (n terms + numbers + 1), the intercept last.
    """

    view: View
    terms: Any
    weights: np.ndarray

    def scores(self, texts: Sequence[Text]) -> np.ndarray:
        """Log odds, rows x 3."""
        terms, numbers = rows_of(self.view, texts)
        return _affine(_beside(self.terms.transform(terms), numbers), self.weights)


@dataclass(frozen=True)
class LinearClassifier:
    """A fitted model.

    Attributes:
        scorers: The first level.
        mean: n features of the second level: their means in training.
        scale: n features: their standard deviations, or 1 where that is 0.
        weights: 3 x (n features + 1), the intercept last.
    """

    scorers: dict[View, Scorer]
    mean: np.ndarray
    scale: np.ndarray
    weights: np.ndarray

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[Profile]:
        """The mechanisms present in each (seeker post, response)."""
        if not pairs:
            return []
        texts = [read(plain(seeker), plain(response)) for seeker, response in pairs]
        features = (_features(texts, self.scorers) - self.mean) / self.scale
        return [(bool(a), bool(b), bool(c)) for a, b, c in _affine(features, self.weights) > 0]

    def save(self, folder: Path) -> None:
        """Write `FILES`, JSON and npz, nothing pickled; equal models give equal bytes."""
        terms = {
            view: scorer.terms.get_feature_names_out().tolist()
            for view, scorer in self.scorers.items()
        }
        text = json.dumps(terms, ensure_ascii=False, indent=0)
        (folder / VOCABULARY).write_text(text, encoding="utf-8", newline="\n")
        arrays = {"mean": self.mean, "scale": self.scale, "weights": self.weights}
        for view, scorer in self.scorers.items():
            arrays |= {f"{view}_idf": scorer.terms.idf_, f"{view}_weights": scorer.weights}
        with (folder / WEIGHTS).open("wb") as handle:
            np.savez(handle, allow_pickle=False, **arrays)

    @classmethod
    def load(cls, folder: Path) -> LinearClassifier:
        """Read what `save` wrote."""
        vocabulary = json.loads((folder / VOCABULARY).read_text(encoding="utf-8"))
        with np.load(folder / WEIGHTS, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        scorers = {}
        for view in _FIT:
            terms = _vectorizer(vocabulary[view])
            terms.idf_ = arrays[f"{view}_idf"]
            scorers[view] = Scorer(view, terms, arrays[f"{view}_weights"])
        return cls(scorers, arrays["mean"], arrays["scale"], arrays["weights"])


def fit(pairs: Sequence[Pair], seed: int) -> LinearClassifier:
    """Fit all mechanisms.

    All seeker posts that are to be tested on must be left out. The seed is that of the folds in
    which the first level scores for the second.

    Raises:
        DataError: If a mechanism is in all pairs or in none, or posts have no words in common.
    """
    check_learnable(pairs)
    present = np.array([pair.present for pair in pairs])
    texts = [read(pair.seeker, pair.response) for pair in pairs]
    evidence = [_evidence(text, pair) for text, pair in zip(texts, pairs, strict=True)]
    scorers = _fit_scorers(texts, evidence, present)
    features = _features(texts, scorers)
    fold_of = np.array(folds(pairs, _FOLDS, seed))
    for fold in np.unique(fold_of):
        used, held = (np.flatnonzero(rows) for rows in (fold_of != fold, fold_of == fold))
        blind = _fit_scorers([texts[i] for i in used], [evidence[i] for i in used], present[used])
        features[held] = _features([texts[i] for i in held], blind)
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    weights = _logistic((features - mean) / scale, present, _FIT_TOP)
    return LinearClassifier(scorers, mean, scale, weights)


def _fit_scorers(
    texts: Sequence[Text], evidence: Sequence[np.ndarray], present: np.ndarray
) -> dict[View, Scorer]:
    """The first level, of n texts, of what their sentences hold (n arrays), and n x 3 labels."""
    scorers: dict[View, Scorer] = {}
    for view, how in _FIT.items():
        rows, numbers = rows_of(view, texts)
        terms = _vectorizer()
        try:
            matrix = terms.fit_transform(rows)
        except ValueError as error:  # no term is left
            raise _nothing_in_common(view, len(rows)) from error
        labels = np.concatenate(evidence) if view == "sentence" else present
        weights = _logistic(_beside(matrix, numbers), labels, how)
        scorers[view] = Scorer(view, terms, weights)
    return scorers


def _vectorizer(vocabulary: Sequence[str] | None = None) -> Any:
    """What makes tf-idf of rows of terms: (1 + ln count) * idf, in rows of length 1."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer=list, sublinear_tf=True, min_df=_FEWEST, vocabulary=vocabulary)


def _nothing_in_common(view: View, n_rows: int) -> DataError:
    """Of posts that have no words (signs alone), or each its own: real ones share hundreds."""
    return DataError(
        f"{TEXTS_FILE}, column '{view}_post': no word stands in {_FEWEST} of {n_rows} training "
        f"posts, so none of the mechanisms ({', '.join(MECHANISMS)}) can be learnt from them; give "
        "the posts themselves, and more of them"
    )


def _features(texts: Sequence[Text], scorers: Mapping[View, Scorer]) -> np.ndarray:
    """What the second level sees, n x features."""
    score = {view: scorer.scores(texts) for view, scorer in scorers.items()}
    ends = np.cumsum([len(text.sentences) for text in texts])
    of_sentences = [_summed(own) for own in np.split(score["sentence"], ends[:-1])]
    whole = np.array([text.whole for text in texts])
    return np.hstack([np.array(of_sentences), score["response"], score["seeker"], whole])


def _summed(scores: np.ndarray) -> np.ndarray:
    """What the scores of a response's sentences (n x 3) add up to, 18 numbers.

    For each mechanism the highest and second highest, their mean, the logarithm of the sum of
    odds, the mean chance, and the chance that none has it.
    """
    ordered = np.sort(np.clip(scores, -30, 30), axis=0)[::-1]
    odds = np.exp(ordered)
    chance = odds / (1 + odds)
    second = ordered[1] if len(ordered) > 1 else np.full(len(MECHANISMS), _LEAST)
    total, none = np.log(odds.sum(axis=0)), np.prod(1 - chance, axis=0)
    return np.concatenate(
        [ordered[0], second, ordered.mean(axis=0), total, chance.mean(axis=0), none]
    )


def _evidence(text: Text, pair: Pair) -> np.ndarray:
    """Which sentences hold each mechanism (sentences x 3).

    Those half covered by rationales, or failing that the most covered; all, if the mechanism is
    there and its rationales are empty or not found.
    """
    marked = np.zeros((len(text.spans), len(MECHANISMS)), dtype=bool)
    for column, (present, rationales) in enumerate(zip(pair.present, pair.rationales, strict=True)):
        if present:
            share = covered(text, pair.response, rationales)
            marked[:, column] = share >= min(0.5, share.max())
    return marked


def _beside(matrix: Any, numbers: np.ndarray | None) -> Any:
    """A sparse matrix with the numbers behind it."""
    from scipy.sparse import hstack  # type: ignore[import-untyped]

    return matrix if numbers is None else hstack([matrix, numbers]).tocsr()


def _logistic(matrix: Any, labels: np.ndarray, how: _Fit) -> np.ndarray:
    """For each column of labels (n x 3) the coefficients and, last, the intercept.

    A fold of few rows may hold one class only: then no coefficients, and an intercept of 3 or -3.
    The fit runs on one thread: liblinear's short products take several times as long on more, and
    the number of threads would change the last digits.
    """
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    weights = np.zeros((labels.shape[1], matrix.shape[1] + 1))
    for row, label in zip(weights, labels.T, strict=True):
        if label.all() or not label.any():
            row[-1] = -_LEAST if label.all() else _LEAST
            continue
        model = LogisticRegression(
            C=how.c, class_weight=how.class_weight, solver="liblinear", max_iter=1000
        )
        with threadpool_limits(limits=1):
            model.fit(matrix, label.astype(int))
        row[:-1], row[-1] = model.coef_[0], model.intercept_[0]
    return weights


def _affine(matrix: Any, weights: np.ndarray) -> np.ndarray:
    """The sums of a matrix's columns by each row of weights, and the intercepts."""
    sums: np.ndarray = np.asarray(matrix @ weights[:, :-1].T) + weights[:, -1]
    return sums
