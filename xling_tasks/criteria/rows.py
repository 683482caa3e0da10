"""What criteria declare in names and words: the rows of `criteria.yaml`, made into records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from xling_metrics.yaml_file import read_yaml

from xling_tasks.criteria.forms import (
    Column,
    Criterion,
    Drawn,
    Endpoint,
    Metric,
    Submitted,
    Told,
    metrics,
)
from xling_tasks.criteria.labels import of_judges
from xling_tasks.criteria.shown import Shown

_FILE = Path(__file__).with_name("criteria.yaml")
_EACH = "_judge*"
CONTENT = read_yaml(_FILE)


def criterion(key: str, shown: Shown | None = None) -> Criterion:
    """The criterion of a row; `shown` says how its samples are read, None to show every field."""
    row = {name: _fixed(value) for name, value in CONTENT["criteria"][key].items()}
    return Criterion(
        key=key,
        shown=shown,
        **{name: _MADE[name](value) if name in _MADE else value for name, value in row.items()},
    )


def _fixed(value: Any) -> Any:
    """A value with tuples for lists, so that nothing can change it."""
    if isinstance(value, dict):
        return {name: _fixed(own) for name, own in value.items()}
    return tuple(map(_fixed, value)) if isinstance(value, list) else value


def _metrics(groups: dict[str, Any]) -> dict[str, Metric]:
    return metrics(**{name: list(_each(group)) for name, group in groups.items()})


def _each(group: Any) -> Iterator[Any]:
    """The metrics of a group, of lists within it too; one for each judge where a name says so."""
    for item in group:
        if isinstance(item, tuple):
            yield from _each(item)
        elif isinstance(item, dict):
            told = item.get("told")
            yield Metric(**{**item, "told": told and Told(*told)})
        elif item.endswith(_EACH):
            yield from of_judges([item.removesuffix(_EACH)])
        else:
            yield item


_MADE: dict[str, Callable[[Any], Any]] = {
    "metrics": _metrics,
    "endpoints": lambda rows: tuple(Endpoint(**row) for row in rows),
    "drawn": lambda rows: tuple(Drawn(**row) for row in rows),
    "columns": lambda rows: tuple(
        Column(metric, title, **dict.fromkeys(more, True)) for metric, title, *more in rows
    ),
    "submitted": lambda row: Submitted(**row),
}
"""The fields of a row that become records -> how."""
