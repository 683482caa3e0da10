"""Exam questions with damaged options: asked, left out of the scores, counted beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from xling_tasks.tasks.metric import Metric

WITH_FLAGGED = "acc_with_flagged"
_SCORES = (
    *("acc", "acc_parsed", "acc_single", "acc_multi", "jaccard", "unparsed_rate"),
    *("acc_norm", "acc_norm_letters", "acc_norm_tokens"),
)
_ALL = "of:all_questions"


class FlaggedChoices:
    """Stands before a task of multiple choice, whose flawed documents have `flagged`."""

    @property
    def flawed(self) -> Mapping[str, str]:
        """Question -> why its options are unfair in some language; the same in all of them."""
        raise NotImplementedError

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Scores of the letters; of a flagged question only what is counted with all questions."""
        own: dict[str, Any] = super().values(doc, results)  # type: ignore[misc]
        if not self.flawed:
            return own
        scores = {name: None for name in _SCORES if name in own} if doc.get("flagged") else {}
        return {**own, **scores, WITH_FLAGGED: own["acc"]}

    def metrics(self) -> list[Metric]:
        """Where questions are flagged, accuracy with them stands beside that without."""
        own: list[Metric] = super().metrics()  # type: ignore[misc]
        if not self.flawed:
            return own
        spans = [
            replace(metric, signature=metric.signature.replace(_ALL, "of:unflagged_questions"))
            if metric.name in _SCORES
            else metric
            for metric in own
        ]
        acc = next(metric for metric in own if metric.name == "acc")
        return [*spans, replace(acc, name=WITH_FLAGGED)]
