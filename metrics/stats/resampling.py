"""Draws of questions for bootstrap intervals and permutation tests: made once, used for many.

A bootstrap resample of n questions is how often each was drawn, and a permutation of paired
values is which pairs change sides: both are rows of a table, and the sums over thousands of them
are one matrix product. The tables are kept as small integers, swaps as bits, and widened a chunk at
a time.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
"""Resamples of an interval, and permutations of a test that is not exact."""

LEVEL = 0.95
"""Coverage of an interval."""

EXACT_UP_TO = 14
"""Most pairs for which all 2^n permutations are gone through instead of a sample of them."""

Floats: TypeAlias = NDArray[np.float64]
_Table: TypeAlias = NDArray[np.unsignedinteger[Any]]

_CHUNK_CELLS = 1 << 15  # products this small stay on one core, where BLAS is fastest
_POOL_BYTES = 128 << 20
_ROUNDING = 1e-12


class Resampler:
    """The draws of one bootstrap and one permutation test over n questions.

    The bootstrap draws as `default_rng(seed).integers(0, n, (n_resamples, n))` does, as
    `scipy.stats.bootstrap` with that generator; the permutations come from a stream of their own
    (`default_rng([seed, 1])`). Nothing is drawn before it is asked for, and what was drawn is kept.

    Attributes:
        n: Number of questions.
        seed: Seed of both streams.
        n_resamples: Bootstrap resamples, and permutations unless `exact`.
    """

    def __init__(self, n: int, seed: int, n_resamples: int = RESAMPLES) -> None:
        """Check the numbers; nothing is drawn yet.

        Raises:
            ValueError: If n or n_resamples is below 1, or seed below 0.
        """
        if n < 1 or n_resamples < 1 or seed < 0:
            raise ValueError(
                f"n and n_resamples must be at least 1 and seed at least 0, got n={n}, "
                f"n_resamples={n_resamples}, seed={seed}"
            )
        self.n, self.seed, self.n_resamples = n, seed, n_resamples

    @property
    def exact(self) -> bool:
        """Whether the permutations are all 2^n of them."""
        return self.n <= EXACT_UP_TO

    @property
    def nbytes(self) -> int:
        """Memory of the tables drawn so far."""
        drawn = self.__dict__
        return sum(drawn[name].nbytes for name in ("_counts", "_swaps") if name in drawn)

    def weights(self) -> Iterator[Floats]:
        """The bootstrap in chunks: a row per resample, how often each question was drawn."""
        for part in self._slices(self.n_resamples):
            yield self._counts[part].astype(np.float64)

    def swaps(self) -> Iterator[Floats]:
        """The permutations in chunks: a row per permutation, 1 where a pair changes sides."""
        for part in self._slices(len(self._swaps)):
            bits = np.unpackbits(self._swaps[part], axis=1, count=self.n)
            yield bits.astype(np.float64)

    def totals(self, columns: Floats) -> Floats:
        """Sums of per-question columns (n x m) over every resample (n_resamples x m)."""
        return np.concatenate([weights @ columns for weights in self.weights()])

    def swapped_totals(self, columns: Floats) -> Floats:
        """Sums of per-question columns (n x m) over the swapped pairs of every permutation."""
        return np.concatenate([swaps @ columns for swaps in self.swaps()])

    @cached_property
    def _counts(self) -> _Table:
        rng = np.random.default_rng(self.seed)
        # That one of n questions is drawn 256 times in n draws has a chance below 1e-500.
        counts = np.empty((self.n_resamples, self.n), dtype=np.uint8)
        for part in self._slices(self.n_resamples):
            rows = part.stop - part.start
            drawn = rng.integers(0, self.n, (rows, self.n))
            drawn += np.arange(rows)[:, None] * self.n
            counts[part] = np.bincount(drawn.ravel(), minlength=rows * self.n).reshape(rows, self.n)
        return counts

    @cached_property
    def _swaps(self) -> _Table:
        if self.exact:
            bits = np.arange(2**self.n)[:, None] >> np.arange(self.n) & 1
            return np.packbits(bits.astype(np.uint8), axis=1)
        rng = np.random.default_rng([self.seed, 1])
        # Four cells come of one number of the stream: slices of four rows draw as the whole.
        rows = [part.stop - part.start for part in self._slices(self.n_resamples)]
        drawn = (rng.integers(0, 2, (number, self.n), dtype=np.uint8) for number in rows)
        return np.concatenate([np.packbits(bits, axis=1) for bits in drawn])

    def _slices(self, rows: int) -> Iterator[slice]:
        step = max(4, _CHUNK_CELLS // self.n // 4 * 4)
        for start in range(0, rows, step):
            yield slice(start, min(start + step, rows))


class ResamplerPool:
    """Resamplers that calls share, so that a report draws once per number of questions.

    It changes no result, only the time: the same (n, seed, n_resamples) draw the same anyway. The
    least recently used are dropped beyond 128 MB.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int, int], Resampler] = OrderedDict()

    def get(self, n: int, seed: int, n_resamples: int = RESAMPLES) -> Resampler:
        """The resampler of these numbers, a new one where there is none yet.

        Raises:
            ValueError: As `Resampler`.
        """
        key = (n, seed, n_resamples)
        if key not in self._kept:
            self._kept[key] = Resampler(n, seed, n_resamples)
        self._kept.move_to_end(key)
        while (
            len(self._kept) > 1 and sum(kept.nbytes for kept in self._kept.values()) > _POOL_BYTES
        ):
            self._kept.popitem(last=False)
        return self._kept[key]


def percentile_bounds(resampled: Floats, level: float) -> tuple[float | None, float | None, int]:
    """The percentile interval: the (1 - level)/2 quantiles of both tails.

    Efron & Tibshirani 1993, chapter 13.

    Args:
        resampled: The statistic in every resample, NaN where it is undefined there.
        level: Coverage, between 0 and 1.

    Returns:
        Both ends, over the resamples in which the statistic is defined (None if in none), and the
        number of the others.
    """
    defined = resampled[~np.isnan(resampled)]
    undefined = len(resampled) - len(defined)
    if not len(defined):
        return None, None, undefined
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high), undefined


def permutation_p(observed: float, permuted: Floats, *, exact: bool, scale: float) -> float:
    """Two-sided p: the share of permutations at least as far from zero as what was observed.

    `p = #{|permuted| >= |observed|} / N` over all permutations, which hold the observed one; over a
    sample of them `(1 + #{...}) / (1 + N)` (Phipson & Smyth 2010), which is never 0.

    Args:
        observed: The statistic with no pair swapped.
        permuted: The statistic per permutation. NaN, where it is undefined, counts as extreme.
        exact: Whether `permuted` holds all permutations.
        scale: Size of what the statistic was computed from; 1e-12 of it counts as equal.

    Returns:
        A probability in (0, 1].
    """
    extreme = int(np.sum(~(np.abs(permuted) < abs(observed) - _ROUNDING * scale)))
    return extreme / len(permuted) if exact else (1 + extreme) / (1 + len(permuted))


def check_level(level: float) -> None:
    """Raise ValueError unless a coverage lies strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")


def finite_array(values: Sequence[float] | Floats, name: str) -> Floats:
    """The values as an array.

    Raises:
        ValueError: If one of them is NaN or infinite.
    """
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        wrong = array[~np.isfinite(array)][0]
        raise ValueError(f"{name} must be finite (None for a missing value), got {wrong}")
    return array


def quietly(function: Any, *args: Any, **options: Any) -> Any:
    """Call a scipy function on input that it may warn of; what is undefined comes back as NaN."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*args, **options)


def number(value: Any) -> float | None:
    """A float, or None for NaN and infinities."""
    return float(value) if np.isfinite(value) else None
