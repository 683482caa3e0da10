"""The run in progress: its model, arguments, seeds and processes, which tasks are not told."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from types import FrameType, ModuleType
from typing import Any

from xling_tasks.errors import HarnessError

_EVALUATOR, _COMMAND = "lm_eval.evaluator", "lm_eval._cli.run"
_SEEDS = ("random_seed", "numpy_random_seed", "torch_random_seed", "fewshot_random_seed")
_READ = (
    *("lm", "model", "model_args", "tasks", "task_manager", "evaluation_tracker", "log_samples"),
    *("start_date", *_SEEDS),
)
"""The locals of the harness's `simple_evaluate` that tell of a run."""


@dataclass(frozen=True, eq=False)
class Run:
    """What the harness knows of a run and does not tell its tasks; empty outside of one.

    Attributes:
        token: Another one in every run.
        model: The model as it was named, or the object that was given; None where neither is known.
        model_args: Its arguments; {} outside of a run.
        seeds: The seeds of `--seed`.
        tasks: The tasks asked for.
        output: `--output_path`; None without one.
        log_samples: Whether samples are written.
        command: Whether it is a run of the `lm_eval` command.
    """

    token: tuple[Any, ...] = ()
    model: Any = None
    model_args: Mapping[str, Any] = field(default_factory=dict)
    seeds: tuple[Any, ...] = (None,) * len(_SEEDS)
    tasks: Any = None
    output: str | None = None
    log_samples: bool = False
    command: bool = False
    _lm: Callable[[], Any] = lambda: None
    _manager: Callable[[], Any] = lambda: None

    @property
    def lm(self) -> Any:
        """The model under test, which may be large and is held by the harness; None outside."""
        return self._lm()

    @property
    def task_manager(self) -> Any:
        """The harness's task manager; None where there is none."""
        return self._manager()

    @property
    def rank(self) -> int:
        """Which process of a data-parallel run this is."""
        return int(getattr(self.lm, "rank", 0))


_current = Run()


def current() -> Run:
    """The run as it was bound last; an empty one before."""
    return _current


def bind() -> Run:
    """Bind the run in progress, from the harness's own calls beneath this one.

    Tasks do so when they are built and when their requests are, which is where the harness calls
    them from `simple_evaluate`; whoever needs the run later, in whatever thread, asks `current`.

    Returns:
        The same object in all tasks of a run; an empty one outside of a run.

    Raises:
        HarnessError: If the harness runs in a way that is not known, so that ranks, seeds, journal
            and judge could not be told.
    """
    global _current
    calls: dict[str, FrameType] = {}
    command = False
    for frame in _frames():
        module = frame.f_globals.get("__name__")
        command = command or module == _COMMAND
        if module == _EVALUATOR:
            calls.setdefault(frame.f_code.co_name, frame)
    if "simple_evaluate" in calls:
        _current = _simply_evaluated(calls["simple_evaluate"], command)
    elif "evaluate" in calls:
        _current = _evaluated(calls["evaluate"])
    elif calls or command:
        raise _misfit("neither simple_evaluate nor evaluate calls its tasks")
    else:
        _current = Run()
    return _current


def _frames() -> Iterator[FrameType]:
    """The calls in progress, the innermost first: the only place that looks at them."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _simply_evaluated(frame: FrameType, command: bool) -> Run:
    there = frame.f_locals
    lacking = [name for name in _READ if name not in there]
    if lacking:
        raise _misfit(f"simple_evaluate has no {', '.join(lacking)}")
    token = (id(frame), there["start_date"])
    if _current.token == token:
        return _current
    output = getattr(there["evaluation_tracker"], "output_path", None)
    return Run(
        token=token,
        model=there["model"],
        model_args=as_mapping(there["model_args"]),
        seeds=tuple(there[name] for name in _SEEDS),
        tasks=there["tasks"],
        output=str(output) if output else None,
        log_samples=bool(there["log_samples"]),
        command=command,
        _lm=weakref.ref(there["lm"]),
        _manager=weakref.ref(there["task_manager"]),
    )


def _evaluated(frame: FrameType) -> Run:
    """A run by `evaluate` alone, which knows the model and nothing of its arguments."""
    if "lm" not in frame.f_locals:
        raise _misfit("evaluate has no lm")
    lm = frame.f_locals["lm"]
    token = (id(frame), id(lm))
    return _current if _current.token == token else Run(token=token, _lm=weakref.ref(lm))


def _misfit(what: str) -> HarnessError:
    return HarnessError(
        f"lm_eval {version('lm_eval')} does not fit this version of xling-tasks: {what}; from "
        "there the model, its seeds and processes are told. Install the lm_eval that it was tried "
        "with (0.4.13), or a newer xling-tasks"
    )


def asked_for() -> tuple[list[str], Mapping[str, Any]] | None:
    """The tasks and the metadata of the `lm_eval` command that is about to look for its tasks.

    Returns:
        Names, groups and patterns, and `--metadata` with the model args; None outside of the
        command, and where `--include_path` may put other tasks in the place of ours.
    """
    frame = next((each for each in _frames() if each.f_code.co_name == "process_tasks"), None)
    config = None if frame is None else frame.f_locals.get("self")
    tasks, metadata = getattr(config, "tasks", None), getattr(config, "metadata", None)
    if not tasks or not isinstance(metadata, Mapping) or getattr(config, "include_path", None):
        return None
    named = tasks.split(",") if isinstance(tasks, str) else tasks
    return [name for each in named if isinstance(each, str) for name in each.split(",")], metadata


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
    if getattr(current().lm, "world_size", 1) == 1:
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
    """Whether this release finds task folders by entry points itself."""
    source = _task_sources(manager)
    return f'"{TASK_GROUP}"' in source or f"'{TASK_GROUP}'" in source


def _task_sources(manager: ModuleType) -> str:
    """The source of what finds tasks: the manager, its index, and the registry with its plugins."""
    names = (manager.__name__, "lm_eval.tasks._index", "lm_eval.tasks", "lm_eval.api.registry")
    modules = [sys.modules[name] for name in names if name in sys.modules]
    return "".join(inspect.getsource(module) for module in modules)
