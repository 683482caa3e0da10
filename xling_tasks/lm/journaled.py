"""A journal around the model under test: no answer is lost, and none is asked for twice.

While tasks of ours run, the model's `generate_until` and `loglikelihood` are watched (see
`xling_tasks.harness.watch`). Every answer goes into its task's journal as soon as it is there. At
the next start of the same command the journal's answers are taken, and only the rest is asked for.
Requests of other tasks in the run go through as they are.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from xling_tasks.errors import user_path
from xling_tasks.harness.backends import unwrapped
from xling_tasks.harness.run import current
from xling_tasks.lm.journaled_model import Journaled
from xling_tasks.lm.part import Part
from xling_tasks.log_filter import say_when_interrupted
from xling_tasks.logs.answers import doc_digest
from xling_tasks.models.batches import batches_of
from xling_tasks.replies.journal import journal_for, key_of_request

_current: Journaled | None = None


def watch(
    task: str,
    lm: Any,
    instances: Sequence[Any],
    cache: Path | None,
    resume: str | bool | None,
    *,
    error_texts: bool = True,
    reads: Callable[[str], bool] | None = None,
    batch: bool = False,
) -> None:
    """Keep the answers to a task's requests in a journal, from now until the run is scored.

    `cache` is None for no cache, and then there is no journal unless `resume` names a folder.

    Raises:
        BackendError: For `batch`, if the model has no such interface.
    """
    global _current
    if _current is not None and (_current.run is not current() or _current.parts.get(task)):
        end()
    if _current is None:
        kept = None if resume is False else cache
        batches = batches_of("the model under test", unwrapped(lm), kept) if batch else None
        _current = Journaled(lm, error_texts=error_texts, batches=batches)
    keys = _keys(task, instances)
    journal = None
    folder = user_path(resume) if isinstance(resume, str) else cache
    if folder is not None:
        journal = journal_for(task, lm, instances, keys, folder, afresh=resume is False)
    _current.parts[task] = Part(instances, journal, keys, reads)


def _keys(task: str, instances: Sequence[Any]) -> list[str]:
    digests: dict[int, str] = {}
    keys = []
    for item in instances:
        digest = digests.get(id(item.doc))
        if digest is None:
            digest = digests[id(item.doc)] = doc_digest(item.doc)
        keys.append(key_of_request(task, digest, item.request_type, item.args))
    return keys


def saved(task: str, place: str) -> None:
    """The task's answers are saved now, to be scored."""
    part = None if _current is None else _current.parts.get(task)
    if part is not None and part.journal is not None:
        part.journal.note_saved(place)


def scored(task: str) -> None:
    """The task is scored; once all are, nothing is asked any more."""
    part = None if _current is None else _current.parts.get(task)
    if _current is not None and part is not None:
        _current.scored(part)


def end() -> None:
    """Conclude the run that is over, or let go of one that broke off."""
    global _current
    before, _current = _current, None
    if before is not None:
        if before.complete:
            before.conclude()
        else:
            before.close()


def interrupted() -> str:
    """What to tell somebody who stops the run; '' if no answer is kept."""
    if _current is None or not _current.where():
        return ""
    return _current.kept_line()


say_when_interrupted(interrupted)


@atexit.register
def _at_exit() -> None:
    """A process that ends well has written its results; after an error the journal stays."""
    global _current
    if _current is not None and getattr(sys, "last_value", None) is not None:
        _current.close()
        _current = None
    end()
