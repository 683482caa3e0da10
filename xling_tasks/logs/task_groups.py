"""Task groups: tasks of lm_eval that are one measure over the same questions in several languages.

Those that are known stand in `task_groups.yaml`; users name others by a pattern (`--family`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from xling_metrics.languages import ALL_LANGUAGES
from xling_metrics.yaml_file import read_yaml

from xling_tasks.errors import SettingError, did_you_mean
from xling_tasks.languages import language_name

_CODE = r"[A-Za-z]{2,3}(?:[-_][A-Z][a-z]{3})?(?:-[A-Za-z]{2,4}|_[A-Z]{2})?"
_NAMES = {row.name.lower().replace(" ", "_"): row.code for row in ALL_LANGUAGES.values()}
_LANGUAGE = f"(?:{_CODE}|(?i:{'|'.join(map(re.escape, sorted(_NAMES, key=len, reverse=True)))}))"
_PART = re.compile(r"\{(\w+)\}")
_SETTINGS = ("join", "metric", "filter", "chance", "parallel")
_SHOWN = 8  # tasks that an error names


class TaskGroup(NamedTuple):
    """One task group: fields as the head of `task_groups.yaml` explains them.

    `parallel`: whether the questions are the same in every language; `given`: whether a user named
    it.
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
            language = _by_code().get(match["language"].lower(), match["language"])
            dataset = ": ".join([group.name, *(["_".join(parts)] if parts else [])])
            return Member(group, dataset, language)
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


def name_of(code: str) -> str:
    """Return a name for a code in another than the usual script, as Hindi (Latn); else the code."""
    base, _, script = code.replace("-", "_").partition("_")
    usual = _by_code().get(base.lower())
    return f"{language_name(usual)} ({script})" if usual and script else code


@functools.cache
def known_groups() -> tuple[TaskGroup, ...]:
    """Return the groups of `task_groups.yaml`."""
    return tuple(
        TaskGroup(name, **{**row, "join": tuple(row.get("join") or ())})
        for name, row in read_yaml(Path(__file__).with_name("task_groups.yaml")).items()
    )


def group_of(dataset: str) -> TaskGroup | None:
    """Return the known group that a dataset's key is of."""
    name = dataset.partition(": ")[0]
    return next((group for group in known_groups() if group.name == name), None)


TITLES: dict[str, str] = {}
"""Key of users' own data -> its title, the file's name, as the runs that are read have it."""


def parse_group(word: str) -> TaskGroup:
    """Return the group of a `--family`: a pattern with {language}, and settings behind commas.

    Raises:
        SettingError: If it is no pattern, or a setting is unknown or impossible.
    """
    pattern, *settings = (part.strip() for part in word.split(","))
    parts = _PART.findall(pattern)
    named = all(map(str.isidentifier, parts)) and len(set(parts)) == len(parts)
    if parts.count("language") != 1 or not named or " " in pattern:
        raise SettingError(
            f"--family {word}: write {{language}} once, where the task's name has its language "
            "(other parts may have names of their own), such as mytask_{language}"
        )
    values = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        values[name] = _parse_setting(name, value)
        if values[name] is None:
            hint = did_you_mean(name, _SETTINGS)
            raise SettingError(
                f"--family {word}: {setting} is no setting of a family.{hint} They are "
                "join=FIELD+FIELD, metric=NAME, filter=NAME, chance=0.25, parallel=no"
            )
    name = re.sub(r"([_.-])[_.-]+", r"\1", _PART.sub("", pattern)).strip("_.-")
    return TaskGroup(name or "task", pattern, **values, given=True)


def _parse_setting(name: str, value: str) -> Any:
    """Return a setting of `--family`; None if it is none."""
    if name in ("metric", "filter"):
        return value or None
    if name == "join":
        return tuple(value.split("+")) if value else None
    if name == "parallel":
        return {"yes": True, "no": False}.get(value)
    is_share = name == "chance" and re.fullmatch(r"0(\.\d+)?|\.\d+", value)
    return float(value) if is_share else None


def describe_tasks(tasks: Iterable[str]) -> str:
    """Return which tasks there are, in words."""
    names = sorted(set(tasks))
    if not names:
        return "there are no tasks in it but those of xling-tasks"
    hint = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"found {', '.join(names[:_SHOWN])}{hint}. Name them with --family 'NAME_{{language}}'"
