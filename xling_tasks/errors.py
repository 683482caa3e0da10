"""The errors a user can mend: each message names the file, row, field or setting and what to do."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType


class XlingError(ValueError):
    """Base of all errors that this package raises on purpose."""


class SettingError(XlingError):
    """A setting from `--metadata` (or a task's YAML) is unknown or has a wrong value."""


class DataError(XlingError):
    """A data set could not be found, read or understood."""


class PromptError(XlingError):
    """A prompt file is wrong."""


class BackendError(XlingError):
    """A model of the harness could not be built or does not fit its use."""


class HarnessError(XlingError):
    """The installed harness runs in a way that this package does not know."""


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """`Did you mean 'x'?`, with the list of choices behind it."""
    known = sorted(choices)
    nearest = difflib.get_close_matches(str(word), known, n=1, cutoff=0.5)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    return f"{hint} Known: {', '.join(known)}."


_at_interrupt: list[Callable[[], str]] = []


def say_when_interrupted(line: Callable[[], str]) -> None:
    """Let a line be said when somebody stops the command (Ctrl-C); none where it is empty."""
    _at_interrupt.append(line)


def show_errors_in_one_line() -> None:
    """Let our errors end a command with their message alone, instead of a stack trace.

    They say what to mend; where in the code they were raised does not help. So does Ctrl-C, where
    there is something to say about what is kept. All other exceptions are shown as before.
    """
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, XlingError):
            print(f"error: {error}", file=sys.stderr)
        elif isinstance(error, KeyboardInterrupt) and (lines := [*filter(None, _said())]):
            print("stopped:", *lines, file=sys.stderr)
        else:
            before(kind, error, trace)

    sys.excepthook = hook


def _said() -> Iterator[str]:
    for line in _at_interrupt:
        yield line()
