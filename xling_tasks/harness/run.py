"""The run in progress: its model, arguments, seeds and processes, which tasks are not told."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

_EVALUATOR = "lm_eval.evaluator"


def running(name: str) -> Any:
    """The local variable `name` of the harness's `simple_evaluate` or `evaluate` in progress.

    Returns:
        Its value in the innermost such call that has it; None outside of a run.
    """
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == _EVALUATOR and name in frame.f_locals:
            return frame.f_locals[name]
        frame = frame.f_back  # type: ignore[assignment]
    return None


def model_args_in_use() -> Mapping[str, Any] | None:
    """The model args of the run in progress; {} outside of a run; None if they cannot be told."""
    frame = sys._getframe(1)
    while frame is not None:
        inside = frame.f_globals.get("__name__") == _EVALUATOR
        if inside and frame.f_code.co_name == "simple_evaluate":
            if "model_args" not in frame.f_locals:
                return None
            return as_mapping(frame.f_locals["model_args"])
        frame = frame.f_back  # type: ignore[assignment]
    return {}


def output_of_run() -> tuple[str | None, bool] | None:
    """`--output_path` and whether `--log_samples` was given to the `lm_eval` command in progress.

    The command's folder is known to its evaluation tracker only, a local of `simple_evaluate`.

    Returns:
        None for a run that is no command's, and in processes other than the first.
    """
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != "lm_eval._cli.run":
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None or getattr(running("lm"), "rank", 0) != 0:
        return None
    folder = getattr(running("evaluation_tracker"), "output_path", None)
    return (str(folder) if folder else None), bool(running("log_samples"))


def asked_for() -> tuple[list[str], Mapping[str, Any]] | None:
    """The tasks and the metadata of the `lm_eval` command that is about to look for its tasks.

    Returns:
        Names, groups and patterns, and `--metadata` with the model args; None outside of the
        command, and where `--include_path` may put other tasks in the place of ours.
    """
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "process_tasks":
        frame = frame.f_back  # type: ignore[assignment]
    config = None if frame is None else frame.f_locals.get("self")
    tasks, metadata = getattr(config, "tasks", None), getattr(config, "metadata", None)
    if not tasks or not isinstance(metadata, Mapping) or getattr(config, "include_path", None):
        return None
    named = tasks.split(",") if isinstance(tasks, str) else tasks
    return [name for each in named if isinstance(each, str) for name in each.split(",")], metadata


def this_run() -> object:
    """What is one object during one `evaluate` and another one in the next; None outside."""
    return running("eval_results_acc")


def seeds_in_use() -> list[Any]:
    """The seeds of the run in progress (`--seed`)."""
    names = ("random_seed", "numpy_random_seed", "torch_random_seed", "fewshot_random_seed")
    return [running(name) for name in names]


def reseed(seed: int) -> None:
    """Set the global random streams that local backends sample from."""
    import random

    import numpy as np

    random.seed(seed)
    np.random.seed(seed % 2**32)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)


def all_ranks(value: Any) -> list[Any]:
    """The values of all processes of a data-parallel run, by rank; [value] in a single one."""
    lm = running("lm")
    if getattr(lm, "world_size", 1) == 1:
        return [value]
    import torch.distributed as dist

    gathered: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, value)
    return gathered


def as_mapping(args: Any) -> Mapping[str, Any]:
    """Model arguments as the harness takes them: a mapping, `key=value` text, or none."""
    if isinstance(args, Mapping):
        return args
    if isinstance(args, str):
        from lm_eval.utils import simple_parse_args_string

        return dict(simple_parse_args_string(args))
    return {}


def use_own_standard_errors() -> None:
    """Let the harness ask an aggregation for its own standard error, where it has one.

    The harness knows the errors of its own aggregations only and shows 'N/A' for all others. An
    aggregation with a method `standard_error` is asked for it; everything else is as before, also
    that `bootstrap_iters=0` asks for none. Needless once `stderr_for_metric` does so upstream.
    """
    from lm_eval import evaluator_utils

    known = getattr(evaluator_utils, "stderr_for_metric", None)
    if known is None or hasattr(known, "__wrapped__"):
        return

    @functools.wraps(known)
    def stderr_for_metric(metric: Any, bootstrap_iters: int) -> Any:
        own = getattr(metric, "standard_error", None) if bootstrap_iters > 0 else None
        return known(metric, bootstrap_iters) if own is None else own

    evaluator_utils.stderr_for_metric = stderr_for_metric


def reads_entry_points() -> bool:
    """Whether this release registers models by entry points itself.

    No number tells: they were merged after 0.4.13 and are in no release note we could compare
    with, so the registry's source is asked whether it calls `entry_points(`.
    """
    from lm_eval.api import registry

    return "entry_points(" in inspect.getsource(registry)


TASK_GROUP = "lm_eval.tasks"
"""The group of entry points that upstream's open change reads (pull request 4015)."""


def reads_task_entry_points(manager: ModuleType) -> bool:
    """Whether this release finds task folders by entry points itself.

    Args:
        manager: The module `lm_eval.tasks.manager`.
    """
    source = _task_sources(manager)
    return f'"{TASK_GROUP}"' in source or f"'{TASK_GROUP}'" in source


def _task_sources(manager: ModuleType) -> str:
    """The source of what finds tasks: the manager, its index, and the registry with its plugins."""
    names = (manager.__name__, "lm_eval.tasks._index", "lm_eval.tasks", "lm_eval.api.registry")
    modules = [sys.modules[name] for name in names if name in sys.modules]
    return "".join(inspect.getsource(module) for module in modules)
