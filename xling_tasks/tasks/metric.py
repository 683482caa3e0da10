"""A metric of a task, and how the harness makes it of documents' values."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from xling_metrics.aggregate import MEAN, RATIO
from xling_metrics.stats.standard_errors import jackknife_error, mean_error, ratio_error


@dataclass(frozen=True)
class Metric:
    """One line of the harness's table.

    Attributes:
        name: Its key.
        aggregate: From the documents' values to a plain number; None if undefined.
        signature: How the value is made.
        error: From the documents' values to a standard error, where there is a quicker way than the
            jackknife; None if undefined.
        bookkeeping: Whether it is recorded only, and is no score.
        higher_is_better: True, False, or None where neither is.

    The last two are what the criterion declares of the metric, where a task says nothing else.
    """

    name: str
    aggregate: Callable[[list[Any]], float | int | None]
    signature: str
    error: Callable[[list[Any]], float | None] | None = None
    bookkeeping: bool = False
    higher_is_better: bool | None = None


class Carried(NamedTuple):
    """A document's value of one score, with its values of what is no score.

    The harness makes a line of its table, and a number in the results, of every metric that it is
    given. So what is only recorded goes along with a score, through the gathering of processes too.
    """

    value: Any
    kept: Mapping[str, Any]


class DocumentValues(UserDict[str, Any]):
    """A document's values: all of them for its sample, and its scores alone for the harness."""

    def __init__(self, values: Mapping[str, Any], kept: Collection[str]) -> None:
        super().__init__(values)
        self._kept = kept

    def items(self) -> Any:
        """The scores, of which the first by name carries the rest."""
        scores = {name: own for name, own in self.data.items() if name not in self._kept}
        if not scores:
            return self.data.items()
        first = min(scores)
        rest = {name: own for name, own in self.data.items() if name in self._kept}
        return {**scores, first: Carried(scores[first], rest)}.items()


@dataclass(frozen=True)
class Aggregation:
    """How documents' values become a metric, as the harness calls it, with a standard error.

    With `gaps` documents without an answer, whose value is None, are left out. `keep` is told what
    values carry, a list for each metric that is recorded only.
    """

    metric: Metric
    gaps: bool = False
    keep: Callable[[dict[str, list[Any]]], None] | None = None

    def _known(self, values: list[Any]) -> list[Any]:
        values = [own.value if isinstance(own, Carried) else own for own in values]
        return [value for value in values if value is not None] if self.gaps else values

    def __call__(self, values: list[Any]) -> float | int | None:
        """The metric; None where all documents are left out."""
        carried = [own.kept for own in values if isinstance(own, Carried)]
        if carried and self.keep is not None:
            self.keep({name: [own[name] for own in carried] for name in carried[0]})
        known = self._known(values)
        return self.metric.aggregate(known) if known else None

    def standard_error(self, values: list[Any]) -> float | str:
        """The standard error over documents (questions); 'N/A' of counts and where undefined."""
        aggregate, error = self.metric.aggregate, None
        values = self._known(values)
        if len(values) < 2:
            pass
        elif self.metric.error is not None:
            error = self.metric.error(values)
        elif aggregate is MEAN:
            error = mean_error(values)
        elif aggregate is RATIO:
            error = ratio_error(values)
        elif isinstance(aggregate(values), float):
            error = jackknife_error(aggregate, values)
        return "N/A" if error is None else error
