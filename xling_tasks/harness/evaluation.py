"""The two places that change the harness's own code, and why.

lm_eval 0.4.13 tells a task neither its model nor its processes, gives custom aggregations no
standard error, and makes a row of its table of every value of a sample. All three are decided in
one public function, `lm_eval.evaluator.evaluate(lm, task_dict, ...)`, so `install` wraps that:

* before: each of our tasks is told the run, and a stand-in for the model keeps its answers, as the
  harness's own `CachingLM` does for `--use_cache`;
* after: standard errors are filled in, and what is no score moves from the table to the record.

`clean_saved_results` keeps a key that a user put into `--model_args` out of the saved results.
(`TaskIndex.build`, by which our tasks are found, is wrapped in `xling_tasks.discovery`.)
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, Protocol

from xling_tasks.harness.run import HarnessChanged, RunContext, enter
from xling_tasks.secrets import redact

_PARAMETERS = {"lm", "task_dict", "bootstrap_iters", "apply_chat_template"}


class StandIn(Protocol):
    """A model in whose place another is handed to the harness, until the run is over."""

    def conclude(self, *, finished: bool) -> None:
        """End the run."""


def install(stand_in: Callable[[RunContext, Mapping[str, Any]], StandIn]) -> None:
    """Wrap `lm_eval.evaluator.evaluate`; a second call does nothing.

    Args:
        stand_in: From a run and its tasks of ours to what stands for its model.

    Raises:
        HarnessChanged: If the function is not what it was.
    """
    from lm_eval import evaluator

    evaluate = getattr(evaluator, "evaluate", None)
    if evaluate is None:
        raise HarnessChanged("lm_eval.evaluator has no function 'evaluate'")
    if hasattr(evaluate, "_starts_health_tasks"):
        return
    if missing := _PARAMETERS - inspect.signature(evaluate).parameters.keys():
        raise HarnessChanged(f"evaluate() has no parameter {', '.join(sorted(missing))}")
    evaluator.evaluate = _starting_tasks(evaluate, stand_in)


def _starting_tasks(evaluate: Callable[..., Any], stand_in: Callable[..., Any]) -> Any:
    signature = inspect.signature(evaluate)

    @functools.wraps(evaluate)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        tasks = dict(_our_tasks(arguments["task_dict"]))
        if not tasks:
            return evaluate(*bound.args, **bound.kwargs)
        run = RunContext(
            arguments["lm"],
            next(iter(tasks.values())).model_args,
            bool(arguments["bootstrap_iters"]),
            bool(arguments["apply_chat_template"]),
        )
        enter(run)
        finished = False
        try:
            for task in tasks.values():
                task.start(run)
            arguments["lm"] = stand_in(run, tasks)
            with _ending_in_a_line():
                results = evaluate(*bound.args, **bound.kwargs)
            if results is not None:  # None on processes other than the first
                _complete(results, tasks, arguments["task_dict"])
            finished = True
        finally:
            if arguments["lm"] is not run.lm:
                arguments["lm"].conclude(finished=finished)
            for task in tasks.values():
                task.end()
            enter(RunContext())
        return results

    wrapper._starts_health_tasks = True  # type: ignore[attr-defined]
    return wrapper


@contextlib.contextmanager
def _ending_in_a_line() -> Iterator[None]:
    """End a command that Ctrl-C or SIGTERM (a batch system's) stops without a traceback.

    The line is that of `ResumableLM`, which says what is kept; the exit status stays.
    """
    is_main = threading.current_thread() is threading.main_thread()
    ours = is_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    except KeyboardInterrupt:
        hook = sys.excepthook

        def say_nothing(kind: Any, *error: Any) -> None:
            if kind is not KeyboardInterrupt:
                hook(kind, *error)

        sys.excepthook = say_nothing
        raise
    finally:
        if ours:
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
        if group.has_aggregation and tasks.keys() & {
            member.task_name for member in group.get_all_tasks()
        }:
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
