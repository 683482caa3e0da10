"""Every criterion, each made of its row in a module that reads its samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import NamedTuple

from xling_tasks.criteria.against_english import EMPATHY, INFORMATION
from xling_tasks.criteria.consistency import CONSISTENCY
from xling_tasks.criteria.correctness import CORRECTNESS
from xling_tasks.criteria.exam import EXAMS, MCQA
from xling_tasks.criteria.forms import Criterion
from xling_tasks.criteria.rubric import RUBRIC
from xling_tasks.criteria.task_metric import OTHER_QUESTIONS, TASK_METRIC
from xling_tasks.criteria.verifiability import VERIFIABILITY, VERIFIABILITY_LL

_ALL = (
    *(CORRECTNESS, CONSISTENCY, VERIFIABILITY, VERIFIABILITY_LL),
    *(*EXAMS, MCQA, RUBRIC, INFORMATION, EMPATHY, TASK_METRIC, OTHER_QUESTIONS),
)

_KNOWN = {criterion.key: criterion for criterion in _ALL}
CRITERIA: Mapping[str, Criterion] = MappingProxyType(_KNOWN)
"""Every criterion by its key, in the order of a report."""


@contextmanager
def declared(criterion: Criterion) -> Iterator[None]:
    """Register a criterion of another package, as long as this lasts.

    A ValueError says that its key is taken, or an endpoint is none of its metrics or has no
    direction.
    """
    if criterion.key in _KNOWN:
        raise ValueError(f"there is a criterion {criterion.key!r} already")
    for endpoint in criterion.endpoints:
        metric = criterion.metrics.get(endpoint.metric)
        if metric is None or metric.higher_is_better is None:
            raise ValueError(f"{criterion.key}: endpoint {endpoint.metric!r} has no direction")
    _KNOWN[criterion.key] = criterion
    try:
        yield
    finally:
        del _KNOWN[criterion.key]


class Form(NamedTuple):
    """A criterion, and the way in which models are asked.

    Attributes:
        base: The criterion's name without the way.
        fine_tuned: In the form of models fine-tuned on the data (`_ft`).
        by_likelihood: By log-likelihoods instead of replies (`_ll`).
    """

    base: str
    fine_tuned: bool
    by_likelihood: bool


def form_of(criterion: str) -> Form:
    """Return the form of a criterion, or of any other name, by its ending."""
    fine_tuned, by_likelihood = criterion.endswith("_ft"), criterion.endswith("_ll")
    base = criterion[:-3] if fine_tuned or by_likelihood else criterion
    return Form(base, fine_tuned, by_likelihood)
