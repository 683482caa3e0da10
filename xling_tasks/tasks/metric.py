"""A metric of a task, and how the harness makes it of documents' values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xling_metrics.aggregate import MEAN, RATIO
from xling_metrics.stats.standard_errors import jackknife_error, mean_error, ratio_error


@dataclass(frozen=True)
class Metric:
    """One line of the harness's table.

    Attributes:
        name: Its key.
        aggregate: From the documents' values to a plain number; None if undefined.
        higher_is_better: True, False, or None where neither is.
        signature: How the value is made.
        error: From the documents' values to a standard error, where there is a quicker way than the
            jackknife; None if undefined.
    """

    name: str
    aggregate: Callable[[list[Any]], float | int | None]
    higher_is_better: bool | None
    signature: str
    error: Callable[[list[Any]], float | None] | None = None


@dataclass(frozen=True)
class Aggregation:
    """How documents' values become a metric, as the harness calls it, with a standard error.

    Attributes:
        metric: What it makes.
        gaps: Whether documents without an answer, whose value is None, are left out.
    """

    metric: Metric
    gaps: bool = False

    def _known(self, values: list[Any]) -> list[Any]:
        return [value for value in values if value is not None] if self.gaps else values

    def __call__(self, values: list[Any]) -> float | int | None:
        """The metric; None where all documents are left out."""
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
