"""Multiple choice over the user's own questions, with options in every language."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from xling_tasks.data.own.load import flawed_choices, options_of
from xling_tasks.data.own.rows import Item
from xling_tasks.errors import SettingError
from xling_tasks.tasks.metric import Metric
from xling_tasks.tasks.mmedbench import McqaTask
from xling_tasks.tasks.own.part import OwnPart
from xling_tasks.tasks.own.several import OwnTask

WITH_FLAGGED = "acc_with_flagged"
_SCORES = ("acc", "acc_parsed", "acc_single", "acc_multi", "jaccard", "unparsed_rate")
_ALL = "of:all_questions"


class OwnMcqaPart(OwnPart, McqaTask):
    """Letters in one language, generated."""

    criterion = "mcqa"
    needs = ("question", "choice")

    def check_run(self) -> None:
        """There are no further questions that could be examples."""
        if self.config.num_fewshot:
            raise SettingError(
                f"{self.config.task}: --num_fewshot {self.config.num_fewshot}: your own questions "
                "have no training part; leave it out"
            )
        super().check_run()

    @functools.cached_property
    def _several(self) -> bool:
        return any(len(item.correct) > 1 for item in self.own.items)

    def fields(self, item: Item) -> dict[str, Any]:
        """Options and right letters; `several` where some question of the file has several."""
        return {
            "options": options_of(item, self.language),
            "answer": list(item.correct),
            "several": self._several,
            **({"flagged": why} if (why := self._flawed.get(item.id)) else {}),
        }

    @property
    def _flawed(self) -> dict[str, str]:
        return flawed_choices(self.own)

    @functools.cached_property
    def _coverage(self) -> dict[str, Any]:
        """With the questions that are asked and left out of the scores in every language."""
        return {**super()._coverage, **({"flagged": self._flawed} if self._flawed else {})}

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Scores of the letters; of a flagged question only what is counted with all questions."""
        own = super().values(doc, results)
        if not self._flawed:
            return own
        scores = dict.fromkeys(_SCORES) if doc.get("flagged") else {}
        return {**own, **scores, WITH_FLAGGED: own["acc"]}

    def metrics(self) -> list[Metric]:
        """Where questions are flagged, accuracy with them stands beside that without."""
        own = super().metrics()
        if not self._flawed:
            return own
        spans = [
            replace(metric, signature=metric.signature.replace(_ALL, "of:unflagged_questions"))
            if metric.name in _SCORES
            else metric
            for metric in own
        ]
        acc = next(metric for metric in own if metric.name == "acc")
        return [*spans, replace(acc, name=WITH_FLAGGED)]


class OwnMcqaTask(OwnTask):
    """`xling_own_mcqa`."""

    part = OwnMcqaPart
