"""Task groups: tasks of lm_eval that are one measure over the same questions in several languages.

Those that are known stand in `task_groups.yaml`; users name others by a pattern (`--family`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xling_metrics.languages import ALL_LANGUAGES
from xling_metrics.yaml_file import read_yaml

from xling_tasks.errors import SettingError, did_you_mean
from xling_tasks.languages import language_name

_FILE = Path(__file__).with_name("task_groups.yaml")
_CODE = r"[A-Za-z]{2,3}(?:[-_][A-Z][a-z]{3})?(?:-[A-Za-z]{2,4}|_[A-Z]{2})?"
_NAMES = {row.name.lower().replace(" ", "_"): row.code for row in ALL_LANGUAGES.values()}
_LANGUAGE = f"(?:{_CODE}|(?i:{'|'.join(map(re.escape, sorted(_NAMES, key=len, reverse=True)))}))"
_PART = re.compile(r"\{(\w+)\}")
_SETTINGS = ("join", "metric", "filter", "chance", "parallel")
_SHOWN = 8


class TaskGroup(NamedTuple):
    """One task group.

    Attributes:
        name: Its key here.
        pattern: Of its tasks' names.
        join: The fields that tell a question in every language; none: its number.
        metric: What counts; empty for the task's first.
        filter: After which filter; empty for the only one.
        chance: What guessing earns; None where it is not known.
        parallel: Whether the questions are the same in every language.
        title: Its name in reports; empty for its key.
        citation: Its paper.
        given: Whether a user named it.
    """

    name: str
    pattern: str
    join: tuple[str, ...] = ()
    metric: str = ""
    filter: str = ""
    chance: float | None = None
    parallel: bool = True
    title: str = ""
    citation: str = ""
    given: bool = False


class Member(NamedTuple):
    """A task of a group: its dataset, such as `mmlu_prox: health`, and its language's code."""

    group: TaskGroup
    dataset: str
    language: str


def member(task: str, groups: Iterable[TaskGroup]) -> Member | None:
    """Return the first group that a task belongs to."""
    for group in groups:
        match = _compile(group.pattern).fullmatch(task)
        if match:
            parts = [value for name, value in match.groupdict().items() if name != "language"]
            dataset = ": ".join([group.name, *(["_".join(parts)] if parts else [])])
            return Member(group, dataset, code_of(match["language"]))
    return None


@functools.cache
def _compile(pattern: str) -> re.Pattern[str]:
    text, end = "", 0
    for part in _PART.finditer(pattern):
        inside = _LANGUAGE if part[1] == "language" else r"\w[\w.-]*"
        text += re.escape(pattern[end : part.start()]) + f"(?P<{part[1]}>{inside})"
        end = part.end()
    return re.compile(text + re.escape(pattern[end:]))


@functools.cache
def _by_code() -> dict[str, str]:
    """Return how task names write languages -> our code."""
    codes = {row.nllb.lower(): row.code for row in ALL_LANGUAGES.values()}
    codes |= {row.nllb[:3].lower(): row.code for row in ALL_LANGUAGES.values()}
    return {**codes, **_NAMES, **{code: code for code in ALL_LANGUAGES}}


def code_of(name: str) -> str:
    """Return the language's code: ours where it is in its usual script, else as it is written."""
    return _by_code().get(name.lower(), name)


def name_of(code: str) -> str:
    """Return a name for a code that has none of its own, such as Hindi (Latn); else the code."""
    base, _, script = code.replace("-", "_").partition("_")
    code_known = _by_code().get(base.lower())
    return f"{language_name(code_known)} ({script})" if code_known and script else code


@functools.cache
def known_groups() -> tuple[TaskGroup, ...]:
    """Return the groups of `task_groups.yaml`."""
    return tuple(
        TaskGroup(name, **{**row, "join": tuple(row.get("join") or ())})
        for name, row in _content()["known"].items()
    )


def group_of(dataset: str) -> TaskGroup | None:
    """Return the known group that a dataset's key is of."""
    name = dataset.partition(": ")[0]
    return next((group for group in known_groups() if group.name == name), None)


def why_left_out(task: str) -> str:
    """Return why a task that is known is not read; '' for others."""
    rows = _content()["left_out"]
    return next((row["why"] for row in rows if _compile(row["pattern"]).fullmatch(task)), "")


@functools.cache
def _content() -> Any:
    return read_yaml(_FILE)


def given_groups(words: Sequence[str]) -> list[TaskGroup]:
    """Return the groups of `--family`: a pattern with {language}, and settings behind commas."""
    return [_parse(word) for word in words]


def _parse(word: str) -> TaskGroup:
    pattern, *settings = (part.strip() for part in word.split(","))
    parts = _PART.findall(pattern)
    if parts.count("language") != 1 or len(set(parts)) < len(parts):
        raise SettingError(
            f"--family {word}: write {{language}} once, where the task's name has its language "
            "(other parts may have names of their own), such as mytask_{language}"
        )
    if not all(part.isidentifier() for part in parts):
        raise SettingError(f"--family {word}: the names in braces are words without spaces")
    pairs = (setting.partition("=") for setting in settings)
    values = {name: _parse_setting(word, name, value) for name, _, value in pairs}
    name = re.sub(r"([_.-])[_.-]+", r"\1", _PART.sub("", pattern)).strip("_.-")
    return TaskGroup(name or "task", pattern, **values, given=True)


def _parse_setting(word: str, name: str, value: str) -> Any:
    if name in ("metric", "filter") and value:
        return value
    if name == "join" and value:
        return tuple(value.split("+"))
    if name == "parallel" and value in ("yes", "no"):
        return value == "yes"
    if name == "chance":
        try:
            chance = float(value)
        except ValueError:
            chance = -1.0
        if 0 <= chance < 1:
            return chance
    raise SettingError(
        f"--family {word}: {name}={value} is no setting of a family.{did_you_mean(name, _SETTINGS)}"
        " They are join=FIELD+FIELD, metric=NAME, filter=NAME, chance=0.25, parallel=no"
    )


def describe_tasks(tasks: Iterable[str]) -> str:
    """Return which tasks there are, in words."""
    names = sorted(set(tasks))
    if not names:
        return "there are no tasks in it but those of xling-tasks"
    hint = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"found {', '.join(names[:_SHOWN])}{hint}. Name them with --family 'NAME_{{language}}'"
