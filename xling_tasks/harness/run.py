"""The run in progress, and the two places that change the harness's own code.

lm_eval 0.4.13 tells a task neither its model nor its processes, gives custom aggregations no
standard error, and makes a row of its table of every value of a sample. All three are decided in
one public function, `lm_eval.evaluator.evaluate(lm, task_dict, ...)`, so `install` wraps that:

* before: each of our tasks gets the run, and a stand-in for the model keeps its responses, as the
  harness's own `CachingLM` does for `--use_cache`;
* after: standard errors are filled in, and what is no score moves from the table to the record.

`clean_saved_results` keeps a key that a user put into `--model_args` out of the saved results.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from xling_tasks.errors import HarnessError
from xling_tasks.harness.backends import replayed, unwrapped
from xling_tasks.secrets import redact

_PARAMETERS = {"lm", "task_dict", "bootstrap_iters", "apply_chat_template"}


class HarnessChanged(HarnessError):
    """The installed lm_eval does not fit this package."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"lm_eval {version('lm_eval')} does not fit this version of xling-tasks: {problem}. "
            "Install the lm_eval that it was tried with (0.4.13), or a newer xling-tasks"
        )


@dataclass(frozen=True, eq=False)
class RunContext:
    """What tasks, judges and translators may know of a run; empty outside of one."""

    # the model under test, perhaps within the harness's answer cache; None outside of a run
    lm: Any = None
    # its arguments, as the tasks' metadata have them
    model_args: Mapping[str, Any] = field(default_factory=dict)
    standard_errors: bool = True  # whether standard errors are wanted (`bootstrap_iters`)
    chat_template: bool = False  # whether prompts go through the model's chat template

    @property
    def model(self) -> str | None:
        """The kind of model, where its arguments are known: then others can tell it apart."""
        return type(unwrapped(self.lm)).__name__ if self.model_args else None

    @property
    def replay(self) -> Any:
        """The model `xling_replay`, if that is what runs; else None."""
        return None if self.lm is None else replayed(self.lm)

    def all_gather(self, value: Any) -> list[Any]:
        """Return the values of all data-parallel processes, by rank; every rank must call this."""
        if getattr(self.lm, "world_size", 1) == 1:
            return [value]
        import torch.distributed as dist

        values: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(values, value)
        return values


_current = RunContext()


def current() -> RunContext:
    """Return the run in progress; an empty one outside of `lm_eval.evaluator.evaluate`."""
    return _current


def install(stand_in: Callable[[RunContext, Mapping[str, Any]], Any]) -> None:
    """Wrap `lm_eval.evaluator.evaluate`; a second call does nothing.

    Args:
        stand_in: From a run and its tasks of ours to what stands for its model. Its method
            `conclude(finished=...)` ends the run.

    Raises:
        HarnessChanged: If the function is not what it was.
    """
    from lm_eval import evaluator

    evaluate = getattr(evaluator, "evaluate", None)
    if evaluate is None:
        raise HarnessChanged("lm_eval.evaluator has no function 'evaluate'")
    if hasattr(evaluate, "_starts_health_tasks"):
        return
    signature = inspect.signature(evaluate)
    if missing := _PARAMETERS - signature.parameters.keys():
        raise HarnessChanged(f"evaluate() has no parameter {', '.join(sorted(missing))}")

    @functools.wraps(evaluate)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        global _current
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        tasks = dict(_our_tasks(arguments["task_dict"]))
        if not tasks:
            return evaluate(*bound.args, **bound.kwargs)
        _current = run = RunContext(
            arguments["lm"],
            next(iter(tasks.values())).model_args,
            bool(arguments["bootstrap_iters"]),
            bool(arguments["apply_chat_template"]),
        )
        finished = False
        try:
            for task in tasks.values():
                task.start(run)
            arguments["lm"] = stand_in(run, tasks)
            with _exit_without_traceback():
                results = evaluate(*bound.args, **bound.kwargs)
            if results is not None:  # None on processes other than the first
                _complete(results, tasks, arguments["task_dict"])
            finished = True
        finally:
            if arguments["lm"] is not run.lm:
                arguments["lm"].conclude(finished=finished)
            for task in tasks.values():
                task.start(RunContext())  # releases the model, which may be large
            _current = RunContext()
        return results

    wrapper._starts_health_tasks = True  # type: ignore[attr-defined]
    evaluator.evaluate = wrapper


@contextlib.contextmanager
def _exit_without_traceback() -> Iterator[None]:
    """End a command that Ctrl-C or SIGTERM (a batch system's) stops with `ResumableLM`'s line."""
    is_main = threading.current_thread() is threading.main_thread()
    is_default = is_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if is_default:
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    except KeyboardInterrupt:
        show = sys.excepthook
        sys.excepthook = lambda kind, *error: kind is KeyboardInterrupt or show(kind, *error)
        raise
    finally:
        if is_default:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _our_tasks(tasks: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Yield our tasks of `{"tasks": {name: task}, ...}`, or of the older nested form."""
    for name, value in (tasks.get("tasks") or tasks).items():
        if isinstance(value, Mapping):
            yield from _our_tasks(value)
        elif hasattr(type(value), "is_health_task"):
            yield str(name), value


def _complete(results: Any, tasks: Mapping[str, Any], task_dict: Mapping[str, Any]) -> None:
    for name, task in tasks.items():
        try:
            row, config = results["results"][name], results["configs"][name]
        except KeyError as error:
            raise HarnessChanged(f"evaluate() returns no {error} of a task") from error
        if not task.predict_only:
            task.finish(row, config["metadata"]["xling"], results["higher_is_better"][name])
    for group in (task_dict.get("groups") or {}).values():
        members = {member.task_name for member in group.get_all_tasks()}
        if group.has_aggregation and tasks.keys() & members:
            # It pooled the standard errors before they were there.
            pooled = group.aggregate(results["results"])
            for table in (results["results"], results.get("groups", {})):
                if group.name in table:
                    table[group.name].update(pooled)


def clean_saved_results() -> None:
    """Make the harness save a run's arguments without secrets; a second call does nothing."""
    from lm_eval.loggers.evaluation_tracker import EvaluationTracker

    save = EvaluationTracker.save_results_aggregated
    if hasattr(save, "__wrapped__"):
        return

    @functools.wraps(save)
    def save_cleaned(self: Any, results: Any, *args: Any, **options: Any) -> Any:
        if isinstance(results, MutableMapping):
            results["config"] = redact(results.get("config"))
            for config in (results.get("configs") or {}).values():
                if isinstance(config, MutableMapping) and "metadata" in config:
                    config["metadata"] = redact(config["metadata"])
        return save(self, results, *args, **options)

    EvaluationTracker.save_results_aggregated = save_cleaned
