"""Consistency of answers to the user's own questions: no reference is needed."""

from __future__ import annotations

import functools

from xling_tasks.tasks.consistency import ConsistencyTask
from xling_tasks.tasks.own.part import OwnPart
from xling_tasks.tasks.own.several import OwnTask
from xling_tasks.tasks.side_requests import STAND_IN


class OwnConsistencyPart(OwnPart, ConsistencyTask):
    """Consistency in one language."""

    @functools.cached_property
    def _references(self) -> dict[str, str]:
        """For costs: a text about as long as an answer."""
        return {
            item.id: own.get("answer") or STAND_IN
            for item in self.own.items
            for own in [item.said(self.language)]
        }


class OwnConsistencyTask(OwnTask):
    """`xling_own_consistency`."""

    part = OwnConsistencyPart
