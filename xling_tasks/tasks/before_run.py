"""What a run is warned of or refused for before anything is generated, whatever the task."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from xling_tasks.data.there import check_there
from xling_tasks.discovery import task_folder
from xling_tasks.errors import SettingError
from xling_tasks.harness.backends import replayed, sent_temperature
from xling_tasks.harness.run import current
from xling_tasks.log import warn_once
from xling_tasks.models.spec import SELF
from xling_tasks.secrets import secrets_in
from xling_tasks.settings import Settings


def check_before_run(task: str, settings: Settings, temperatures: Sequence[float]) -> None:
    """Look at how the task is run.

    Args:
        task: Its name.
        settings: Its settings.
        temperatures: The temperatures that it asks the model for.

    Raises:
        SettingError: If the backend decodes at other temperatures, or a replay is to do what takes
            a model.
        DataError: If a replay has no log of the task.
    """
    _warn_of_keys()
    _check_replay(task, settings)
    _check_temperatures(task, temperatures)


def _warn_of_keys() -> None:
    keys = secrets_in(current().model_args)
    if keys:
        warn_once(
            f"--model_args {', '.join(keys)}: a key may stand in the arguments; it is kept out of "
            "all files and logs, but the shell, the system's list of processes and lm_eval's table "
            "at the end show it. Where the backend reads an environment variable (OPENAI_API_KEY, "
            "HF_TOKEN, ...), give it there"
        )


def _check_replay(task: str, settings: Settings) -> None:
    """A replay needs the task's log, and has no model for another role (judge, reader, ...)."""
    replay = replayed(current().lm)
    if replay is None:
        return
    replay.origin(task)
    specs = [each.spec for each in settings.jury]
    roles = {"judge": [settings.judge, *specs], "reader": [settings.reader]}
    for role, own in {**roles, "translator": [settings.translator]}.items():
        if any(spec is not None and spec.model == SELF for spec in own):
            raise SettingError(
                f"--metadata {role}=self: xling_replay has the logged answers only, not the "
                f"model that gave them; name a model, {role}="
                '{"model": ..., "model_args": {...}}'
            )


def _check_temperatures(task: str, temperatures: Sequence[float]) -> None:
    """Never report a temperature that is not used: some backends put their own in its place."""
    lm = current().lm
    for asked in temperatures if lm is not None else ():
        sent = sent_temperature(lm, asked)
        if sent != asked:
            raise SettingError(
                f"{task}: this backend decodes at temperature {sent} where {asked} is asked for. "
                f"Run it with --gen_kwargs temperature={sent}, so that the results say what was "
                "used, or use another backend"
            )


def check_data(manager: Any, tasks: Any, settings: Settings) -> None:
    """Look for the data of all tasks of a run when the first of them is built.

    Args:
        manager: The harness's task manager.
        tasks: What the run asks for, as the harness has it.
        settings: Where the data may be.
    """
    folder, index = task_folder(), getattr(manager, "task_index", {})
    known = {name for name in tasks or () if isinstance(name, str) and name in index}
    places = {name: getattr(index[name], "yaml_path", None) for name in sorted(known)}
    names = tuple(name for name, path in places.items() if path and folder in path.parents)
    _check_once(names, settings.data_dir, settings.dataset, id(manager))


@functools.lru_cache(maxsize=8)
def _check_once(
    names: tuple[str, ...], data_dir: str | None, dataset: str | None, run: int
) -> None:
    check_there(names, data_dir, dataset)
