"""Which journal belongs to a command: the same for the same command, another for any other."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xling_tasks.harness.arguments import files_of, identity_of
from xling_tasks.harness.backends import class_name
from xling_tasks.harness.run import current
from xling_tasks.log import log
from xling_tasks.replies.folder import key_of
from xling_tasks.replies.former import former_identity, former_journal, in_use, read_former_journal
from xling_tasks.replies.journal import Journal, Kept, journals
from xling_tasks.replies.role import path_of_task
from xling_tasks.secrets import redact

_DIGITS = 32
_NAME = 16


def key_of_request(*parts: Any) -> str:
    """The digest of what a request asks: task, document, type, prompt and arguments."""
    return key_of(*parts)[:_DIGITS]


def journal_for(
    task: str, lm: Any, instances: Sequence[Any], keys: Sequence[str], cache: Path, *, afresh: bool
) -> Journal:
    """Open the journal of a task in this run.

    Its name says the task, what is asked and who is asked: the model with its arguments (but for
    those of transport), the seeds, and of a model in a local folder that folder's files.

    Args:
        task: The task.
        lm: The running model.
        instances: The task's requests on this process.
        keys: Their keys.
        cache: The folder with the store.
        afresh: Whether to set aside what is there.
    """
    asked = key_of_request([[key, item.repeats] for key, item in zip(keys, instances, strict=True)])
    rank, size = getattr(lm, "rank", 0), getattr(lm, "world_size", 1)
    model, args = current().model, current().model_args
    now, before = _identities(lm, model, args)
    requests, process = f"{key_of(task)[:_NAME]}-{asked[:_NAME]}-", f"-rank{rank}of{size}"
    name = f"{requests}{now[:_NAME]}{process}"
    former = former_journal(cache, task, f"{asked[:_NAME]}-{before[:_NAME]}{process}")
    path = path_of_task(cache, name)
    header = {
        "task": task,
        "model": model if isinstance(model, str) else class_name(lm),
        "model_args": redact(dict(args)),
        "requests": sum(item.repeats for item in instances),
        "created": time.time(),
    }
    if afresh and path.exists():
        name = _afresh(path, name, header)
    journal = Journal(path, name, header)
    if not journal.there and not afresh and former.is_file() and not in_use(former):
        _take_over(former, journal)
    if not journal.there:
        _say_others(path, name, requests)
    return journal


def _afresh(path: Path, name: str, header: dict[str, Any]) -> str:
    """Set a journal aside; while another run has it open, this one gets a name of its own."""
    journal = Journal(path, name, header)
    if journal.others:
        journal.close()
        return f"{name}-{os.getpid()}"
    if journal.there:
        log.info("%s: %d answers are set aside as %s", path, journal.there, journal.set_aside())
    else:
        journal.remove()
    return name


def _take_over(former: Path, journal: Journal) -> None:
    """Put the answers of a journal of 0.2 into the one that takes its place."""
    try:
        there = read_former_journal(former)
    except OSError as error:
        log.warning("%s: cannot be read (%s)", former, error)
        return
    answers = {}
    for place, record in there.answers.items():
        answer = record["a"]
        answer = tuple(answer) if isinstance(answer, list) else answer
        answers[place] = Kept(answer, record.get("o", ""), record.get("w", ""))
    journal.put_former(answers, there.starts, there.saved)
    if not journal.failed:
        former.unlink(missing_ok=True)
        log.info("%s: its %d answers are taken over into %s", former, len(answers), journal.path)


def _say_others(path: Path, name: str, same_requests: str) -> None:
    """Hint at answers to the same requests by a model that is called otherwise."""
    for other in journals(path, same_requests):
        if other != name:
            log.info("%s: %s: answers to the same requests, of other arguments", path, other)


def _identities(lm: Any, model: Any, args: Any) -> tuple[str, str]:
    """The digest of who answers, and what it was in 0.2."""
    if not isinstance(model, str):
        # An object: nothing says whether that of another process is the same model.
        same = key_of_request("object", os.getpid(), id(lm), class_name(lm))
        return same, same
    told, seeds = identity_of(args, asked_by="the model under test"), list(current().seeds)
    former, files = former_identity(args)
    return (
        key_of_request(model, told, seeds, list(files_of(told))),
        key_of_request(model, former, seeds, files),
    )
