"""How lm-evaluation-harness finds our tasks and models.

Release 0.4.13 looks for tasks in its own folder and in `--include_path`, and knows its built-in
models only. Entry points for models (group `lm_eval.models`, declared in pyproject.toml) were
merged after that release; those for tasks are an open change. Until a release finds both by
itself, the start-up file `xling_tasks.pth` imports `xling_tasks._autoload`, which calls `attach`
when the harness's task manager is imported. `XLING_TASKS_AUTOLOAD=0` switches this off.
"""

from __future__ import annotations

import functools
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
"""Our filters, as name -> `module:class`, so that tasks of others can use them."""


def task_folder() -> Path:
    """Return the folder of our task files, as installed."""
    import xling_task_yaml

    return Path(xling_task_yaml.__file__).resolve().parent


def attach(manager: ModuleType) -> None:
    """Make MANAGER (`lm_eval.tasks.manager`) and the registries know us; clean the logs."""
    from lm_eval.api.registry import filter_registry

    add_task_folder(manager.TaskIndex, Path(manager.__file__ or "").resolve().parent)
    register_models()
    _register(filter_registry, FILTERS)
    clean_logs()


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
    data_dir, requested = metadata.get("data_dir"), metadata.get("languages")
    if not isinstance(data_dir, str):
        return
    if isinstance(requested, str):
        requested = re.findall(r"[\w-]+", requested)
    if requested is not None:
        languages = (language_of(str(word)) for word in requested)
        requested = {"en", *(language.code for language in languages if language is not None)}
    for kind in NEEDS:
        try:
            codes = CustomDocuments.load(kind, data_dir).languages()
        except Exception as error:  # the task itself says what is wrong with the file
            log.debug("xling_custom_%s: %s", kind, error)
            continue
        _add_kind(tasks, kind, [code for code in codes if requested is None or code in requested])


def _add_kind(tasks: dict[str, Any], kind: str, codes: Iterable[str]) -> None:
    """Add the tasks of one kind, in place of those that stand for it."""
    from lm_eval.tasks._index import Entry, Kind
    from lm_eval.tasks._yaml_loader import load_yaml

    group, folder = f"xling_custom_{kind}", task_folder() / "custom"
    config = load_yaml(folder / f"_{kind}_template_yaml", resolve_func=True)
    arguments, names = config.get("generation_kwargs") or {}, []
    files = set(folder.glob("*.yaml"))
    for name, entry in list(tasks.items()):
        if name.startswith(f"{group}_") and getattr(entry, "yaml_path", None) in files:
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


def register_models() -> None:
    """Register our models by name."""
    # The registry must hold the built-in models first: get_model fills it only while it is empty.
    import lm_eval.models  # noqa: F401
    from lm_eval.api.registry import model_registry

    _register(model_registry, MODELS)


def _register(registry: Any, targets: Mapping[str, str]) -> None:
    for name, target in targets.items():
        if name not in registry:
            registry.register(name, target=target)


class _Redaction(logging.Filter):
    """Takes secrets out of what the harness logs: arguments, and headers of failed requests."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redact_log(record.getMessage()), ()
        return True


def clean_logs() -> None:
    """Keep secrets out of the harness's own log lines; a second call does nothing."""
    for name in ("evaluator", "models.api_models", "config.evaluate_config"):
        logger = logging.getLogger(f"lm_eval.{name}")
        if not any(isinstance(present, _Redaction) for present in logger.filters):
            logger.addFilter(_Redaction())
