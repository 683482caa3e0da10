"""The errors a user can mend: each message names the file, row, field or setting and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


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
