"""Answers on disk before the first of them is scored: the harness writes only at the very end."""

from __future__ import annotations

import weakref

from xling_tasks.harness.backends import replayed
from xling_tasks.harness.run import all_ranks, current
from xling_tasks.lm import journaled
from xling_tasks.log import log
from xling_tasks.logs.answers import answer_lines, new_run
from xling_tasks.replies.folder import cache_folder
from xling_tasks.replies.role import save_answers
from xling_tasks.tasks.scored import ScoredTask

_unsaved: list[weakref.ref[ScoredTask]] = []


def remember(task: ScoredTask) -> None:
    """Have a task's answers saved with those of the others of its run."""
    _unsaved.append(weakref.ref(task))


def save_all() -> None:
    """Save the answers of all our tasks in the run before the first of them is scored."""
    run = all_ranks(new_run())[0] if _unsaved else ""
    tasks = [task for reference in _unsaved if (task := reference()) is not None]
    _unsaved.clear()
    saved = [place for task in tasks if (place := _save(task, run))]
    if saved:
        log.info("Answers of %d tasks are saved, the first in %s", len(saved), saved[0])


def _save(task: ScoredTask, run: str) -> str:
    """Put a task's answers on disk; returns where they are, '' where there is nothing to save."""
    folder, lm = cache_folder(task.settings.xling_cache), current().lm
    whole = task.instances and all(item.resps for item in task.instances)
    if folder is None or not whole or replayed(lm) is not None:
        return ""
    name = str(task.config.task)
    lines = answer_lines(name, run, task.instances, task.untemplated)
    try:
        place = save_answers(folder, name, getattr(lm, "rank", 0), lines)
    except (OSError, TypeError, ValueError) as error:
        log.warning("%s: answers could not be saved (%s)", name, error)
        return ""
    if place:
        journaled.saved(name, place)
    return place
