"""What reports say of criteria: the rows of `criteria.yaml`, made into records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from xling_metrics.yaml_file import read_yaml

from xling_tasks.criteria.forms import Criterion, Endpoint, Submitted
from xling_tasks.criteria.metric import DisplayText, Metric
from xling_tasks.criteria.responses import INVALID_ROWS, RESPONSE_METRICS
from xling_tasks.criteria.sample_view import SampleView

_FILE = Path(__file__).with_name("criteria.yaml")
CONTENT = read_yaml(_FILE)


def criterion(key: str, table: Iterable[Metric], shown: SampleView | None = None) -> Criterion:
    """Return the criterion of a row, with its table of metrics.

    SHOWN says how its samples are read; None shows every field.
    """
    row = {name: _fixed(value) for name, value in CONTENT["criteria"][key].items()}
    display = {**CONTENT["display"], **row.pop("display", {})}
    return Criterion(
        key=key,
        table=_with_display(table, display),
        common=_with_display((*RESPONSE_METRICS, INVALID_ROWS), display),
        shown=shown,
        **{name: _MADE[name](value) if name in _MADE else value for name, value in row.items()},
    )


def _with_display(table: Iterable[Metric], display: Mapping[str, Any]) -> tuple[Metric, ...]:
    """Return metrics with what reports say of them."""
    texts = {name: DisplayText(*row) for name, row in display.items()}
    return tuple(replace(m, display=texts.get(m.name, m.display)) for m in table)


def _fixed(value: Any) -> Any:
    """Return a value with tuples for lists, so that nothing can change it."""
    if isinstance(value, dict):
        return {name: _fixed(item) for name, item in value.items()}
    return tuple(map(_fixed, value)) if isinstance(value, list) else value


_MADE: dict[str, Callable[[Any], Any]] = {
    "endpoints": lambda rows: tuple(Endpoint(**row) for row in rows),
    "submitted": lambda row: Submitted(**row),
}
"""The fields of a row that become records -> how."""
