"""The errors a user can mend: each message names the file, row, field or setting and what to do."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Iterable
from pathlib import Path


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


def nearest(word: str, choices: Iterable[str], cutoff: float = 0.6) -> str:
    """Find the word that is most like another; empty where none is."""
    return next(iter(difflib.get_close_matches(word, list(choices), n=1, cutoff=cutoff)), "")


def user_path(word: str | Path) -> Path:
    """Expand a path as people write it: `~` is the home folder, of known users."""
    return Path(os.path.expanduser(word))


def no_such(path: Path, kind: str = "file") -> str:
    """Describe why a path is no KIND (`file`, `folder`, ...), and what may be meant."""
    if path.exists():
        return "is a folder; name a file" if path.is_dir() else "is a file; name a folder"
    is_readable = path.parent.is_dir() and os.access(path.parent, os.R_OK)
    near = nearest(path.name, os.listdir(path.parent) if is_readable else (), 0.7)
    hint = f"did you mean {near}?" if near else "is there a slip in its name?"
    return f"there is no such {kind} ({hint})"


def unreadable(path: Path, error: OSError) -> str:
    """Describe why a file cannot be read."""
    return no_such(path) if path.is_dir() or not path.exists() else error.strerror or str(error)


def refuse_unknown(prefix: str, keys: Iterable[str], allowed: Collection[str]) -> None:
    """Raise a SettingError for a key that nobody reads; PREFIX stands before a key."""
    for key in keys:
        if key not in allowed:
            raise SettingError(f"{prefix}{key}: unknown key.{did_you_mean(key, allowed)}")


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return `Did you mean 'x'?`, with the list of choices behind it."""
    words = sorted(choices)
    return f"{meant(word, words)} Known: {', '.join(words)}."


def meant(word: str, choices: Iterable[str]) -> str:
    """Return `Did you mean 'x'?` alone, where several words of one list are wrong."""
    near = nearest(str(word), choices, 0.5)
    return f" Did you mean {near!r}?" if near else ""
