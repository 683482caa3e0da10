"""Which journal belongs to a command: the same for the same command, another for any other."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from xling_tasks.errors import DataError, SettingError
from xling_tasks.harness.arguments import files_of, identity_of
from xling_tasks.harness.backends import class_name
from xling_tasks.harness.run import as_mapping, running, seeds_in_use
from xling_tasks.log import log
from xling_tasks.logs.journal import ENDING, Journal
from xling_tasks.logs.lock import Locked
from xling_tasks.output import file_name
from xling_tasks.secrets import redact

FOLDER = "journals"
"""Within the cache folder."""

_DIGITS = 32
_NAME = 16


def key_of_request(*parts: Any) -> str:
    """The digest of what a request asks: task, document, type, prompt and arguments."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


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
        cache: The cache folder, or one of journals.
        afresh: Whether to set aside what is there.

    Raises:
        SettingError: If another run writes it.
    """
    asked = key_of_request([[key, item.repeats] for key, item in zip(keys, instances, strict=True)])
    rank, size = getattr(lm, "rank", 0), getattr(lm, "world_size", 1)
    requests = f"{file_name(task)}-{asked[:_NAME]}-"
    name = f"{requests}{_model(lm)[:_NAME]}-rank{rank}of{size}"
    folder = cache if cache.name == FOLDER else cache / FOLDER
    path = folder / f"{name}{ENDING}"
    model = running("model")
    header = {
        "task": task,
        "model": model if isinstance(model, str) else class_name(lm),
        "model_args": redact(dict(as_mapping(running("model_args")))),
        "requests": sum(item.repeats for item in instances),
        "created": time.time(),
    }
    try:
        journal = Journal(path, header)
        if afresh and journal.content.answers:
            journal.close()
            _set_aside(path)
            journal = Journal(path, header)
    except Locked as error:
        if afresh:
            return Journal(path.with_name(f"{name}-{os.getpid()}{ENDING}"), header)
        raise SettingError(
            f"{task}: another run of the same command ({error.holder}) is asking for these answers "
            f"right now ({path}). Wait for it or stop it; or start this one with --metadata "
            "xling_resume=false, and it asks for answers of its own"
        ) from error
    except DataError as error:
        log.warning("%s. It is set aside, and all answers are asked for.", error)
        _set_aside(path)
        journal = Journal(path, header)
    _say_others(journal, path, requests)
    return journal


def _set_aside(path: Path) -> None:
    target = path.with_name(f"{path.name}.{time.strftime('%Y-%m-%dT%H-%M-%S')}.aside")
    path.rename(target)
    log.info("%s: set aside as %s", path, target.name)


def _say_others(journal: Journal, path: Path, same_requests: str) -> None:
    """Hint at answers to the same requests by a model that is called otherwise."""
    if journal.content.answers:
        return
    for other in path.parent.glob(f"{same_requests}*{ENDING}"):
        if other != path:
            log.info("%s: answers to the same requests, of a model with other arguments", other)


def _model(lm: Any) -> str:
    """The digest of who answers."""
    model = running("model")
    if not isinstance(model, str):
        # An object: nothing says whether that of another process is the same model.
        return key_of_request("object", os.getpid(), id(lm), class_name(lm))
    args = identity_of(as_mapping(running("model_args")), asked_by="the model under test")
    return key_of_request(model, args, seeds_in_use(), list(files_of(args)))
