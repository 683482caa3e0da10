"""How lm-evaluation-harness finds our tasks and models.

Release 0.4.13 looks for tasks in its own folder and in `--include_path`, and knows its built-in
models only. Entry points for models (group `lm_eval.models`, declared in pyproject.toml) were
merged after that release; those for tasks (group `lm_eval.tasks`) are an open change, so what an
entry point there must name is not settled and we declare none yet. Until a release finds both by
itself, the start-up file `xling_tasks.pth` imports `xling_tasks._autoload`, which calls `attach`
when the harness's task manager is imported. `XLING_TASKS_AUTOLOAD=0` switches this off.

The bridge to tasks steps aside where the harness has our folder among those that it scans, and
where it reads the group and a distribution declares our folder in it.
"""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from xling_tasks.errors import SettingError, nearest
from xling_tasks.harness.run import (
    TASK_GROUP,
    asked_for,
    reads_entry_points,
    reads_task_entry_points,
)
from xling_tasks.log_filter import clean_logs

MODELS = {
    "xling_baseline": "xling_tasks.lm.baseline:BaselineLM",
    "xling_replay": "xling_tasks.lm.replay:ReplayLM",
}
"""Our harness models, as name -> `module:class`; the same as the entry points."""


FILTERS = {
    "xling_letters": "xling_tasks.readers.filters:LettersFilter",
    "xling_verdict": "xling_tasks.readers.filters:VerdictFilter",
}
"""Our filters, as name -> `module:class`."""


def task_folder() -> Path:
    """The folder of our task files, as installed."""
    import xling_task_yaml

    return Path(xling_task_yaml.__file__).resolve().parent


def attach(manager: ModuleType) -> None:
    """Make `lm_eval.tasks.manager` and the model registry know us, and our errors be short.

    Args:
        manager: The freshly loaded module `lm_eval.tasks.manager`.
    """
    if not (declared_tasks() and reads_task_entry_points(manager)):
        add_task_folder(manager.TaskIndex, Path(manager.__file__ or "").resolve().parent)
    register_models()
    register_filters()
    clean_logs()


def declared_tasks() -> bool:
    """Whether an installed distribution declares our tasks by an entry point."""
    from importlib import metadata

    try:
        declared = metadata.entry_points(group=TASK_GROUP)
    except Exception:  # broken metadata of any other package
        return False
    return any(each.value.startswith(("xling_task_yaml", "xling_tasks")) for each in declared)


def add_task_folder(index: Any, harness_folder: Path) -> None:
    """Let `index.build` scan our folder right after the harness's own.

    User folders come later in the list and therefore win. Nothing is added where the harness's
    own folder is not asked for (`include_defaults=False`) or where ours is in the list already
    (a harness that discovers us by itself).
    """
    build = index.build

    @functools.wraps(build)
    def build_with_ours(paths: Iterable[Path], **options: Any) -> Any:
        folders = list(paths)
        resolved = [Path(folder).resolve() for folder in folders]
        ours = task_folder()
        if harness_folder in resolved and ours not in resolved:
            folders.insert(resolved.index(harness_folder) + 1, ours)
            _check_data()  # before the harness reads its own files, a minute on a busy machine
        index = build(folders, **options)
        _check_names(index, ours)
        return index

    index.build = staticmethod(build_with_ours)


def _check_data() -> None:
    """End the `lm_eval` command at once where the data of a task of ours is not there."""
    asked = asked_for()
    if asked is None:
        return
    from xling_tasks.data.availability import check_availability

    names, metadata = asked
    data_dir = metadata.get("data_dir")
    if data_dir is None or isinstance(data_dir, str):
        check_availability(names, data_dir)


def _check_names(index: Any, ours: Path) -> None:
    """End the `lm_eval` command where a name that is no task is most like one of ours."""
    for name in (asked_for() or ([],))[0]:
        if name.endswith(".yaml") or Path(name).is_dir() or fnmatch.filter(index, name):
            continue
        near = nearest(name, index)
        if near and ours in (index[near].yaml_path or Path()).parents:
            raise SettingError(
                f"--tasks {name}: there is no such task or group; did you mean {near}? "
                "`lm_eval ls tasks` lists all"
            )


def say_how_to_nest(command_line: ModuleType) -> None:
    """End the `lm_eval` command with how to write a setting, where its form cannot be read.

    The harness ends `judge={"model": "x"}` with a traceback that asks for the quotes it has.

    Args:
        command_line: The module `lm_eval._cli.utils`.
    """
    action = command_line.MergeDictAction
    read = action.__call__

    @functools.wraps(read)
    def read_or_say(self: Any, parser: Any, options: Any, words: Any, option: Any = None) -> None:
        try:
            read(self, parser, options, words, option)
        except ValueError:
            told = " ".join(map(str, words))
            parser.error(
                f"argument {option}: {told:.200} is neither KEY=VALUE nor JSON; what has braces is "
                f'JSON as a whole: {option} \'{{"KEY": {{"model": ...}}, "KEY2": ...}}\''
            )

    action.__call__ = read_or_say


def register_filters() -> None:
    """Register the reader of letters as a filter, so that tasks of others can use it."""
    from lm_eval.api.registry import filter_registry

    for name, target in FILTERS.items():
        if name not in filter_registry:
            filter_registry.register(name, target=target)


def register_models() -> None:
    """Register our models by name, unless the harness reads entry points itself."""
    # The registry must hold the built-in models first: get_model fills it only while it is empty.
    import lm_eval.models  # noqa: F401
    from lm_eval.api import registry

    if reads_entry_points():
        return
    for name, target in MODELS.items():
        if name not in registry.model_registry:
            registry.model_registry.register(name, target=target)
