"""Every criterion, each declared in a module of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xling_tasks.criteria.consistency import CONSISTENCY
from xling_tasks.criteria.correctness import CORRECTNESS
from xling_tasks.criteria.empathy import EMPATHY
from xling_tasks.criteria.exam import EXAMS, MCQA, MCQA_LL
from xling_tasks.criteria.forms import Criterion
from xling_tasks.criteria.information import INFORMATION
from xling_tasks.criteria.rubric import RUBRIC
from xling_tasks.criteria.verifiability import VERIFIABILITY, VERIFIABILITY_LL

_ALL = (
    *(CORRECTNESS, CONSISTENCY, VERIFIABILITY, VERIFIABILITY_LL),
    *(*EXAMS, MCQA, MCQA_LL, RUBRIC, INFORMATION, EMPATHY),
)

CRITERIA: Mapping[str, Criterion] = {criterion.key: criterion for criterion in _ALL}
"""Every criterion by its key, in the order of a report."""


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
    """The form of a criterion, or of any other name, by its ending."""
    fine_tuned, by_likelihood = criterion.endswith("_ft"), criterion.endswith("_ll")
    base = criterion[:-3] if fine_tuned or by_likelihood else criterion
    return Form(base, fine_tuned, by_likelihood)
