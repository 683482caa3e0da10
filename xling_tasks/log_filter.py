"""No secret in what a run logs, saves or ends with, whoever does it.

The harness logs the headers of every failed request and writes all arguments into the results, and
libraries log addresses that hold keys. Handlers come and go, so records are cleaned where they are
made.
"""

from __future__ import annotations

import functools
import logging
import sys
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

from xling_metrics.base import ExtraMissing

from xling_tasks.errors import XlingError
from xling_tasks.secrets import redact, redact_log


def clean_logs() -> None:
    """Redact all log records of this process from now on; a second call does nothing."""
    before = logging.getLogRecordFactory()
    if getattr(before, "_xling_clean", False):
        return

    def make(*args: Any, **options: Any) -> logging.LogRecord:
        record = before(*args, **options)
        try:
            _clean(record)
        except Exception:  # a log line must not end a run; one that cannot be read says nothing
            record.msg, record.args = "a log line that could not be read", ()
        return record

    make._xling_clean = True  # type: ignore[attr-defined]
    logging.setLogRecordFactory(make)
    _clean_last_words()


def clean_saved_results() -> None:
    """Let the harness save a run's arguments without secrets; a second call does nothing."""
    from lm_eval.loggers.evaluation_tracker import EvaluationTracker

    save = EvaluationTracker.save_results_aggregated
    if hasattr(save, "__wrapped__"):
        return

    @functools.wraps(save)
    def save_cleaned(self: Any, results: Any, *args: Any, **options: Any) -> Any:
        if isinstance(results, dict):
            results["config"] = redact(results.get("config"))
            for config in (results.get("configs") or {}).values():
                if isinstance(config, dict) and "metadata" in config:
                    config["metadata"] = redact(config["metadata"])
        return save(self, results, *args, **options)

    EvaluationTracker.save_results_aggregated = save_cleaned


_at_interrupt: list[Callable[[], str]] = []


def say_when_interrupted(line: Callable[[], str]) -> None:
    """Let a line be said when somebody stops the command (Ctrl-C); none where it is empty."""
    _at_interrupt.append(line)


def _clean_last_words() -> None:
    """An error that ends the process is shown without secrets; ours by their message alone.

    They say what to mend; where in the code they were raised does not help. So does Ctrl-C, where
    there is something to say about what is kept. Others are shown as before.
    """
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        lines = [line for say in _at_interrupt if (line := say())]
        if isinstance(error, (XlingError, ExtraMissing)):
            told = f"error: {error}\n"
        elif isinstance(error, KeyboardInterrupt) and lines:
            told = f"stopped: {' '.join(lines)}\n"
        else:
            told = "".join(traceback.format_exception(kind, error, trace))
            if redact_log(told) == told:
                before(kind, error, trace)
                return
        print(redact_log(told), end="", file=sys.stderr)

    sys.excepthook = hook


def _clean(record: logging.LogRecord) -> None:
    try:
        said = record.getMessage()
    except Exception:
        return  # a wrong number of arguments, which logging itself tells of
    cleaned = redact_log(said)
    if cleaned != said:
        record.msg, record.args = cleaned, ()
    kind = record.exc_info
    if kind and kind[0] is not None:
        told = "".join(traceback.format_exception(*kind)).rstrip("\n")
        hidden = redact_log(told)
        if hidden != told:
            # A formatter takes this text, where there is one, for the exception's.
            record.exc_text, record.exc_info = hidden, None
