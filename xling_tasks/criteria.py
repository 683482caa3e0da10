"""What a task and a metric of ours are about: criterion, dataset, language, temperature."""

from __future__ import annotations

import re
from typing import NamedTuple

from xling_tasks.languages import LANGUAGES

ENGLISH = "en"
AVERAGE = "avg"

_PATTERNS = (
    (re.compile(r"xlinghealth_(information)_(\w+)"), ""),
    (
        re.compile(
            r"xlinghealth_(correctness|consistency|verifiability_ll|verifiability)_(\w+)_(\w\w)"
        ),
        "",
    ),
    (re.compile(r"(mmedbench_(?:mcqa|rationale)(?:_ll|_ft)?)_(?:(demo)_)?(\w\w)"), "mmedbench"),
    (re.compile(r"xling_(information|empathy)"), "xling"),
)
_TEMPERATURE = re.compile(r"(.+)_t(\d+(?:\.\d+)?)")
_GROUP = re.compile(r"(.+?)_(script|family)_(\w+)")

CRITERIA = {
    "correctness": "Correctness",
    "consistency": "Consistency",
    "verifiability": "Verifiability",
    "verifiability_ll": "Verifiability by log-likelihood",
    "mmedbench_mcqa": "MMedBench: multiple choice",
    "mmedbench_mcqa_ll": "MMedBench: multiple choice by log-likelihood",
    "mmedbench_mcqa_ft": "MMedBench: multiple choice, fine-tuned models",
    "mmedbench_rationale": "MMedBench: rationales",
    "mmedbench_rationale_ft": "MMedBench: rationales, fine-tuned models",
    "information": "Information consistency",
    "empathy": "Empathy consistency",
}
"""Criteria in the order of a report, with their headings."""

SEVERAL_LANGUAGES = frozenset({"information", "empathy"})
"""Criteria whose tasks have all languages in one."""


OPTIONS = {
    "neither": "neither contradictory nor similar",
    "contradictory": "contradictory",
    "more_comprehensive": "more comprehensive and appropriate",
    "less_comprehensive": "less comprehensive and appropriate",
}
"""The labels with their wording in a verdict."""

LABELS = ("more_comprehensive", "less_comprehensive", "neither", "contradictory")
"""The labels in the order in which XLingEval's tables show them."""

NO_RESPONSE = "no_response"


class Place(NamedTuple):
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
        return not self.criterion.startswith("mmedbench")


class Panel(NamedTuple):
    """One metric of one criterion over one dataset at one temperature.

    Attributes:
        criterion: A key of `CRITERIA`.
        dataset: As in `Place`.
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


def place_of(task: str) -> Place | None:
    """What a task is about; None for a task that is not ours."""
    for pattern, dataset in _PATTERNS:
        if match := pattern.fullmatch(task):
            parts = [part for part in match.groups()[1:] if part is not None]
            if match[1] in SEVERAL_LANGUAGES:
                return Place(match[1], parts[0] if parts else dataset, "")
            return Place(match[1], parts[0] if len(parts) > 1 else dataset, parts[-1])
    return None


def panel_of(place: Place, name: str) -> tuple[Panel, str]:
    """The panel of one of a task's metrics, and its language.

    The language is a code, or for means over languages `avg`, `script:latin`, `family:slavic`, ...
    """
    match = _TEMPERATURE.fullmatch(name)
    base, temperature = (match[1], float(match[2])) if match else (name, None)
    language = place.language
    if place.criterion in SEVERAL_LANGUAGES:
        base, language = _split_language(base)
    return Panel(place.criterion, place.dataset, base, temperature), language


def _split_language(name: str) -> tuple[str, str]:
    if group := _GROUP.fullmatch(name):
        return group[1], f"{group[2]}:{group[3]}"
    base, _, code = name.rpartition("_")
    return (base, code) if base and code in LANGUAGES else (name, AVERAGE)
