"""How a criterion's samples are read by `xling samples`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from xling_tasks.criteria.sample import Part

Sample = Mapping[str, Any]


class SampleResult(NamedTuple):
    """What was found of a sample: a label, a score (higher is better), whether it is right."""

    label: str = ""
    score: float | None = None
    right: bool | None = None


class SampleView(NamedTuple):
    """How a sample is read.

    Attributes:
        parts: Its texts in one language by heading; the last argument: by log-likelihood.
        values: The names of the values that these show.
        found: Label, score and whether it is right; None for the first endpoint's value.
        tones: Label -> `good`, `partly` or `bad`; by whether it is right where it is none of them.
    """

    parts: Callable[[Sample, str, bool], list[Part]]
    values: Collection[str] = ()
    found: Callable[[Sample, str], SampleResult] | None = None
    tones: Mapping[str, str] = MappingProxyType({})
