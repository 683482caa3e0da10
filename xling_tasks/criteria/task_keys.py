"""What a result is about: recorded by its task (`about`), and read from there (`task_key_of`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from xling_tasks.criteria.table import CRITERIA
from xling_tasks.errors import DataError, did_you_mean

FORMAT = 1
"""Version of what `about` records."""


class TaskKey(NamedTuple):
    """What a task is about.

    Attributes:
        criterion: A key of `CRITERIA`.
        dataset: `liveqa`, ...; `demo` for the samples; `xling` for our own prompts.
        language: Two-letter code; empty for a task that has several.
    """

    criterion: str
    dataset: str
    language: str

    @property
    def parallel(self) -> bool:
        """Whether the questions are the same in every language."""
        return CRITERIA[self.criterion].parallel


class MetricKey(NamedTuple):
    """One metric of one criterion over one dataset at one temperature.

    Attributes:
        criterion: A key of `CRITERIA`.
        dataset: As in `TaskKey`.
        metric: Its name without temperature and language.
        temperature: None where the task has only one.
    """

    criterion: str
    dataset: str
    metric: str
    temperature: float | None

    @property
    def title(self) -> str:
        """Metric and temperature."""
        return self.metric if self.temperature is None else f"{self.metric}, T={self.temperature:g}"

    @property
    def measured_with(self) -> str:
        """The dataset, without which part of it: `mmlu_prox` of `mmlu_prox: health`."""
        return self.dataset.partition(": ")[0]


def metric_key_of(task_key: TaskKey, name: str) -> tuple[MetricKey, str]:
    """Return the key of one of a task's metrics, and its language.

    The language is a code, or for means over languages `avg`, `script:latin`, `family:slavic`, ...
    """
    metric, temperature, language = CRITERIA[task_key.criterion].split(name)
    return MetricKey(
        task_key.criterion, task_key.dataset, metric, temperature
    ), language or task_key.language


def about(
    criterion: str, dataset: str, languages: Sequence[str], metrics: Iterable[str]
) -> dict[str, Any]:
    """Return what a task records of its subject, for `task_key_of` and `primary_of`."""
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


def primary_of(
    task_key: TaskKey, names: Iterable[str], recorded: Mapping[str, Any] | None = None
) -> list[str]:
    """Return the primary metrics of a task: as recorded, else by `CRITERIA`."""
    if recorded and isinstance(recorded.get("primary"), list):
        return [str(name) for name in recorded["primary"]]
    return list(CRITERIA[task_key.criterion].endpoints_among(names))
