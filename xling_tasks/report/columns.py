"""The columns of a metric: what is kept of its values, and the score as a function of sums.

A metric over several questions is a function of sums over them (a mean: sum and count; macro F1:
confusion counts), so that intervals and comparisons resample questions; see
`xling_metrics.stats.intervals`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from xling_metrics.classification import hard_verdict
from xling_metrics.stats.intervals import Score, ratio
from xling_metrics.stats.probability_intervals import brier_sums, ece_of_sums, ece_sums
from xling_metrics.stats.resampling import Floats
from xling_metrics.stats.verdict_counts import VERDICT_SCORES, verdict_counts

from xling_tasks.languages import known_language

_PAIR = {"precision", "recall"}

Row = tuple[int, float | None]


@dataclass
class Column:
    """A metric's values over the questions of a task.

    Attributes:
        score: From sums (a row per resample) to values.
        sums: A row of sums per question, NaN where the question has none.
        simple: Whether a question's own value is its first sum, the second being 1.
    """

    score: Score
    sums: Floats
    simple: bool

    def by_question(self, ids: Sequence[str]) -> dict[str, tuple[float, ...] | None]:
        """Question -> sums."""
        rows = zip(ids, self.sums.tolist(), strict=True)
        return {key: None if math.isnan(row[0]) else tuple(row) for key, row in rows}

    def values(self, ids: Sequence[str]) -> dict[str, float | None]:
        """Question -> its own value: its first sum over its second."""
        rows = zip(ids, self.sums.tolist(), strict=True)
        return {
            key: None if math.isnan(row[0]) or not row[1] else row[0] / row[1] for key, row in rows
        }


def reduced(name: str, value: Any) -> Any:
    """What is kept of a value while the file is read: numbers, never a text."""
    if isinstance(value, dict):
        if "n" in value:
            return value["n"]
        # Pairs and values by language are kept; anything else a sample records has texts in it.
        return value if value.keys() == _PAIR or _by_code(value) else None
    if isinstance(value, list) and value and isinstance(value[0], list):
        if stem(name) not in VERDICT_SCORES:
            return None
        labels, said = zip(*value, strict=True)
        counts = verdict_counts([0] * len(labels), labels, list(map(hard_verdict, said)))
        return counts[0] or (math.nan,) * 4
    return value


def _by_code(value: Mapping[str, Any]) -> bool:
    """Whether a value is one by language; users' own data has codes that nobody knows."""
    if all(known_language(code) for code in value):
        return True
    known = [own for own in value.values() if own is not None]
    return bool(known) and all(isinstance(own, (int, float, dict)) for own in known)


def column_of(name: str, kept: Sequence[Any]) -> Column | None:
    """A metric's column by the form of its values; None for one without any."""
    example = next((value for value in kept if value is not None), None)
    if isinstance(example, tuple):
        sums = np.array(kept, dtype=np.float64)
        return Column(VERDICT_SCORES[stem(name)], sums, False)
    if isinstance(example, list) and "_seed_sd" in name:
        none = (math.nan,) * (len(example) + 1)
        sums = np.array([none if own is None else (*own, 1.0) for own in kept], dtype=np.float64)
        return Column(_spread_over_seeds, sums, False)
    if isinstance(example, list):
        return Column(ratio, _pairs(kept), False)
    if isinstance(example, dict) and example.keys() == _PAIR:
        return Column(harmonic_mean, np.array([_pair_sums(own) for own in kept]), False)
    if isinstance(example, dict):
        codes = sorted({code for value in kept if value for code in value})
        if any(isinstance(own, dict) for own in example.values()):
            return Column(_mean_of_harmonic_means, _pairs_by_language(kept, codes), False)
        return Column(_mean_of_means, _by_language(kept, codes), False)
    return None if example is None else Column(ratio, _with_ones(kept), True)


def soft_column(name: str, rows: Mapping[str, list[Row]], ids: Sequence[str]) -> Column | None:
    """Scores of probabilities; AUC, which takes pairs of rows, stays with `rows`."""
    if name == "brier":
        sums, score = brier_sums(rows), ratio
    elif name == "ece":
        sums, score = ece_sums(rows), ece_of_sums
    else:
        return None
    width = max((len(each) for each in sums.values() if each), default=2)
    own = [sums.get(key) or (math.nan,) * width for key in ids]
    return Column(score, np.array(own, dtype=np.float64), False)


def stem(name: str) -> str:
    """A metric's name without its temperature."""
    return name.partition("_t")[0]


def _with_ones(kept: Sequence[float | None]) -> Floats:
    values = np.array([math.nan if value is None else value for value in kept], dtype=np.float64)
    return np.column_stack([values, np.where(np.isnan(values), math.nan, 1.0)])


def _pairs(kept: Sequence[Sequence[int] | None]) -> Floats:
    """Hits and rows; a question without rows has none."""
    none = (math.nan, math.nan)
    return np.array([none if not pair or not pair[1] else pair for pair in kept], dtype=np.float64)


def _by_language(kept: Sequence[Mapping[str, float | None] | None], codes: Sequence[str]) -> Floats:
    """Sum and count of every language, one after the other."""
    rows = [_sums_and_counts((value or {}).get(code) for code in codes) for value in kept]
    return np.array(rows, dtype=np.float64)


def _pair_sums(pair: Mapping[str, float | None] | None) -> tuple[float, ...]:
    """Sum and count of precision, then of recall; NaN for an unscored question."""
    if pair is None:
        return (math.nan,) * 4
    return _sums_and_counts((pair["precision"], pair["recall"]))


def _sums_and_counts(values: Iterable[float | None]) -> tuple[float, ...]:
    return tuple(chain.from_iterable((v or 0.0, float(v is not None)) for v in values))


def _pairs_by_language(kept: Sequence[Mapping[str, Any] | None], codes: Sequence[str]) -> Floats:
    """The same four numbers of every language; zeros where it is unscored."""
    sums = [[_pair_sums((value or {}).get(code)) for code in codes] for value in kept]
    return np.nan_to_num(np.array(sums, dtype=np.float64)).reshape(len(kept), -1)


def harmonic_mean(totals: Floats) -> Floats:
    """The harmonic mean of mean precision and mean recall; see `xling_metrics.claims`."""
    precision, recall = (
        np.divide(total, n, out=np.zeros_like(total), where=n > 0)
        for total, n in ((totals[:, 0], totals[:, 1]), (totals[:, 2], totals[:, 3]))
    )
    total = precision + recall
    means = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    return np.where(totals[:, 1] + totals[:, 3] > 0, means, np.nan)


def _mean_of_harmonic_means(totals: Floats) -> Floats:
    """The unweighted mean over languages of their harmonic means."""
    parts = [harmonic_mean(totals[:, start : start + 4]) for start in range(0, totals.shape[1], 4)]
    mean: Floats = np.mean(parts, axis=0)
    return mean


def _spread_over_seeds(totals: Floats) -> Floats:
    """The sample standard deviation over seeds of each one's mean over questions."""
    means = totals[:, :-1] / totals[:, -1:]
    spread: Floats = means.std(axis=1, ddof=1)
    return spread


def _mean_of_means(totals: Floats) -> Floats:
    """The unweighted mean over languages of their means over questions."""
    means = totals[:, 0::2] / totals[:, 1::2]
    mean: Floats = means.mean(axis=1)
    return mean
