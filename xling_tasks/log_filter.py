"""No secret in what a run logs, whoever logs it.

The harness logs the Authorization header with every failed request, and libraries log addresses
that hold keys. Handlers come and go, so records are cleaned where they are made.
"""

from __future__ import annotations

import logging
import traceback
from typing import Any

from xling_tasks.secrets import redact_log


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
