"""Every criterion; and what a result is about, as its task records it and reports read it."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from xling_tasks.criteria.criterion import DECLARED, Criterion
from xling_tasks.errors import DataError, did_you_mean

for _module in pkgutil.iter_modules([str(Path(__file__).parent)]):
    importlib.import_module(f"{__package__}.{_module.name}")

CRITERIA: Mapping[str, Criterion] = MappingProxyType(
    dict(sorted(DECLARED.items(), key=lambda item: item[1].position))
)
"""Every criterion of the modules in this folder by its key, in the order of a report."""

FORMAT = 1  # version of what `about` records


class TaskKey(NamedTuple):
    """What a task is about."""

    criterion: str  # A key of `CRITERIA`
    dataset: str  # `liveqa`, ...; `demo` for the samples; `xling` for our own prompts
    language: str  # two-letter code; empty for a task that has several

    @property
    def parallel(self) -> bool:
        """Whether the questions are the same in every language."""
        return CRITERIA[self.criterion].parallel


class MetricKey(NamedTuple):
    """One metric of one criterion over one dataset at one temperature."""

    criterion: str  # A key of `CRITERIA`
    dataset: str  # as in `TaskKey`
    metric: str  # its name without temperature and language
    temperature: float | None  # None where the task has only one

    @property
    def measured_with(self) -> str:
        """The dataset, without which part of it: `mmlu_prox` of `mmlu_prox: health`."""
        return self.dataset.partition(": ")[0]


def metric_key_of(task_key: TaskKey, name: str) -> tuple[MetricKey, str]:
    """Return the key of one of a task's metrics, and its language.

    The language is a code, or for means over languages `avg`, `script:latin`, `family:slavic`, ...
    """
    metric, temperature, language = CRITERIA[task_key.criterion].split(name)
    key = MetricKey(task_key.criterion, task_key.dataset, metric, temperature)
    return key, language or task_key.language


def about(
    criterion: str, dataset: str, languages: Sequence[str], metrics: Iterable[str]
) -> dict[str, Any]:
    """Return what a task records of its subject, for `task_key_of`."""
    return {
        "format": FORMAT,
        "criterion": criterion,
        "dataset": dataset,
        "languages": list(languages),
        "primary": list(CRITERIA[criterion].endpoints_among(metrics)),
    }


def task_key_of(task: str, recorded: Mapping[str, Any] | None = None) -> TaskKey | None:
    """Return what a task recorded of its subject (`about`); None for a task that is not ours.

    A DataError says that a newer version recorded it, or that no version could have.
    """
    if not recorded:
        return None
    if recorded.get("format") != FORMAT:
        raise DataError(
            f"{task}: its results say what they are about in format {recorded.get('format')!r}, "
            f"but this version of xling-tasks reads {FORMAT}; use the version that wrote them"
        )
    criterion, dataset = str(recorded.get("criterion")), recorded.get("dataset")
    languages = recorded.get("languages")
    if criterion not in CRITERIA:
        hint = did_you_mean(criterion, CRITERIA)
        raise DataError(f"{task}: its results are of an unknown criterion {criterion!r}.{hint}")
    one = not CRITERIA[criterion].several_languages
    has_dataset = isinstance(dataset, str) and dataset and not re.search("[\ud800-\udfff]", dataset)
    if not has_dataset or not isinstance(languages, list) or (one and not languages):
        raise DataError(f"{task}: its results name no dataset and languages; run it again")
    return TaskKey(criterion, str(dataset), str(languages[0]) if one else "")
