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

import functools
import inspect
import logging
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from xling_tasks.data.custom.documents import NEEDS, RECORD, CustomDocuments
from xling_tasks.languages import language_of, stop_texts
from xling_tasks.log import log
from xling_tasks.secrets import redact_log

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

TASK_GROUP = "lm_eval.tasks"
"""The group of entry points that upstream's open change reads (pull request 4015)."""


def task_folder() -> Path:
    """Return the folder of our task files, as installed."""
    import xling_task_yaml

    return Path(xling_task_yaml.__file__).resolve().parent


def attach(manager: ModuleType) -> None:
    """Make `lm_eval.tasks.manager` and the registries know us; keep keys out of the logs.

    Args:
        manager: The freshly loaded module `lm_eval.tasks.manager`.
    """
    if not (declared_tasks() and reads_task_entry_points(manager)):
        add_task_folder(manager.TaskIndex, Path(manager.__file__ or "").resolve().parent)
    register_models()
    register_filters()
    clean_logs()


def declared_tasks() -> bool:
    """Return whether an installed distribution declares our tasks by an entry point."""
    from importlib import metadata

    try:
        declared = metadata.entry_points(group=TASK_GROUP)
    except Exception:  # broken metadata of any other package
        return False
    return any(entry.value.startswith(("xling_task_yaml", "xling_tasks")) for entry in declared)


def reads_task_entry_points(manager: ModuleType) -> bool:
    """Return whether this release finds task folders by entry points itself."""
    source = _task_sources(manager)
    return f'"{TASK_GROUP}"' in source or f"'{TASK_GROUP}'" in source


def _task_sources(manager: ModuleType) -> str:
    names = (manager.__name__, "lm_eval.tasks._index", "lm_eval.tasks", "lm_eval.api.registry")
    modules = [sys.modules[name] for name in names if name in sys.modules]
    return "".join(inspect.getsource(module) for module in modules)


def add_task_folder(index: Any, harness_folder: Path) -> None:
    """Make `index.build` scan our folder right after the harness's own.

    User folders come later in the list and therefore win. Nothing is added where the harness's
    own folder is not asked for (`include_defaults=False`) or where ours is in the list already
    (a harness that discovers us by itself). Tasks over the user's own questions are added for the
    languages of their file, which the caller's metadata names.
    """
    build = index.build

    @functools.wraps(build)
    def build_with_ours(paths: Iterable[Path], **options: Any) -> Any:
        # `TaskManager.__init__` calls this, and hands the metadata on to nobody but its factory.
        metadata = sys._getframe(1).f_locals.get("metadata")
        folders = list(paths)
        resolved = [Path(folder).resolve() for folder in folders]
        our_folder = task_folder()
        if harness_folder in resolved and our_folder not in resolved:
            folders.insert(resolved.index(harness_folder) + 1, our_folder)
            resolved.append(our_folder)
        tasks = build(folders, **options)
        if our_folder in resolved and isinstance(metadata, Mapping):
            add_custom_tasks(tasks, metadata)
        return tasks

    index.build = staticmethod(build_with_ours)


def add_custom_tasks(tasks: dict[str, Any], metadata: Mapping[str, Any]) -> None:
    """Add a task for each language of the user's file, and make groups of the kinds of task.

    A kind that the file has no question for keeps the task that stands for it, which says so.
    """
    data_dir = metadata.get("data_dir")
    if not isinstance(data_dir, str):
        return
    for kind in NEEDS:
        try:
            codes = list(CustomDocuments.load(kind, data_dir, quiet=True).languages())
        except Exception as error:  # the task itself says what is wrong with the file
            log.debug("xling_custom_%s: %s", kind, error)
            continue
        requested = _codes_in(metadata.get("languages"))
        chosen = [code for code in codes if code == "en" or requested is None or code in requested]
        _add_kind(tasks, kind, chosen)


def _codes_in(languages: Any) -> set[str] | None:
    """Return the codes of the setting `languages`; None for all."""
    if languages is None:
        return None
    words = re.findall(r"[\w-]+", languages) if isinstance(languages, str) else languages
    found = (language_of(str(word)) for word in words)
    return {language.code for language in found if language is not None}


def _add_kind(tasks: dict[str, Any], kind: str, codes: Iterable[str]) -> None:
    """Add the tasks of one kind, in place of those that stand for it."""
    from lm_eval.tasks._index import Entry, Kind
    from lm_eval.tasks._yaml_loader import load_yaml

    group, folder = f"xling_custom_{kind}", task_folder() / "custom"
    config = load_yaml(folder / f"_{kind}_template_yaml", resolve_func=True)
    arguments, names = config.get("generation_kwargs") or {}, []
    for name, entry in list(tasks.items()):
        if name.startswith(f"{group}_") and getattr(entry, "yaml_path", None) in _files(folder):
            del tasks[name]
    for code in codes:
        settings = {**config, "task": f"{group}_{code}",
               "dataset_kwargs": {"record": RECORD, "language": code}}  # fmt: skip
        if arguments.get("until") == stop_texts("en"):
            settings["generation_kwargs"] = {**arguments, "until": stop_texts(code)}
        names.append(settings["task"])
        tasks[names[-1]] = Entry(names[-1], Kind.PY_TASK, None, settings)
    if names:
        content = {"group": group, "task": names, "metadata": {"version": 1.0}}
        tasks[group] = Entry(group, Kind.GROUP, None, content)


def _files(folder: Path) -> set[Path]:
    return set(folder.glob("*.yaml"))


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

    if "entry_points(" in inspect.getsource(registry):  # no release says so in a number
        return
    for name, target in MODELS.items():
        if name not in registry.model_registry:
            registry.model_registry.register(name, target=target)


class _Redaction(logging.Filter):
    """Takes secrets out of what the harness logs: arguments, and headers of failed requests."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redact_log(record.getMessage()), ()
        return True


def clean_logs() -> None:
    """Keep secrets out of the harness's own log lines; a second call does nothing."""
    for name in (
        "lm_eval.evaluator",
        "lm_eval.models.api_models",
        "lm_eval.config.evaluate_config",
    ):
        logger = logging.getLogger(name)
        if not any(isinstance(each, _Redaction) for each in logger.filters):
            logger.addFilter(_Redaction())
