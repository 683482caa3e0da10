"""Multiple choice over the user's own questions, with options in every language."""

from __future__ import annotations

import functools
from typing import Any

from xling_tasks.data.own.load import flawed_choices
from xling_tasks.data.own.rows import Item
from xling_tasks.errors import SettingError
from xling_tasks.tasks.flagged import FlaggedChoices
from xling_tasks.tasks.mmedbench import McqaTask
from xling_tasks.tasks.own.part import OwnPart
from xling_tasks.tasks.own.several import OwnTask


class OwnMcqaPart(FlaggedChoices, OwnPart, McqaTask):
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
            "options": item.options(self.language),
            "answer": list(item.correct),
            "several": self._several,
            **({"flagged": why} if (why := self.flawed.get(item.id)) else {}),
        }

    @property
    def flawed(self) -> dict[str, str]:
        """Over all languages of the file."""
        return flawed_choices(self.own)

    @functools.cached_property
    def _coverage(self) -> dict[str, Any]:
        """With the questions that are asked and left out of the scores in every language."""
        return {**super()._coverage, **({"flagged": self.flawed} if self.flawed else {})}


class OwnMcqaTask(OwnTask):
    """`xling_own_mcqa`."""

    part = OwnMcqaPart
