"""Families: tasks of the harness that are one measure over the same questions in several languages.

Those that are known stand in `families.yaml`; users name others by a pattern (`--family`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xling_metrics.languages import KNOWN
from xling_metrics.yaml_file import read_yaml

from xling_tasks.errors import SettingError, did_you_mean
from xling_tasks.languages import language_name

_FILE = Path(__file__).with_name("families.yaml")
_CODE = r"[A-Za-z]{2,3}(?:[-_][A-Z][a-z]{3})?(?:-[A-Za-z]{2,4}|_[A-Z]{2})?"
_NAMES = {row.name.lower().replace(" ", "_"): row.code for row in KNOWN.values()}
_LANGUAGE = f"(?:{_CODE}|(?i:{'|'.join(map(re.escape, sorted(_NAMES, key=len, reverse=True)))}))"
_PART = re.compile(r"\{(\w+)\}")
_LANGUAGE_PART = "{language}"
_SHOWN = 8


class Family(NamedTuple):
    """One family.

    Attributes:
        name: What it is called here.
        pattern: Of its tasks' names.
        join: The fields that tell a question in every language; none: its number.
        metric: What counts; empty for the task's first.
        filter: After which filter; empty for the only one.
        chance: What guessing earns; None where it is not known.
        parallel: Whether the questions are the same in every language.
        given: Whether a user named it, and nothing else is to be tried.
    """

    name: str
    pattern: str
    join: tuple[str, ...] = ()
    metric: str = ""
    filter: str = ""
    chance: float | None = None
    parallel: bool = True
    given: bool = False


class Member(NamedTuple):
    """A task of a family: its dataset, such as `mmlu_prox: health`, and its language's code."""

    family: Family
    dataset: str
    language: str


def member(task: str, families: Iterable[Family]) -> Member | None:
    """The first family that a task belongs to."""
    for family in families:
        found = _pattern(family.pattern).fullmatch(task)
        if found:
            parts = [value for name, value in found.groupdict().items() if name != "language"]
            dataset = ": ".join([family.name, *(["_".join(parts)] if parts else [])])
            return Member(family, dataset, code_of(found["language"]))
    return None


@functools.cache
def _pattern(pattern: str) -> re.Pattern[str]:
    made, end = "", 0
    for part in _PART.finditer(pattern):
        inside = _LANGUAGE if part[1] == "language" else r"\w[\w.-]*"
        made += re.escape(pattern[end : part.start()]) + f"(?P<{part[1]}>{inside})"
        end = part.end()
    return re.compile(made + re.escape(pattern[end:]))


@functools.cache
def _by_code() -> dict[str, str]:
    """How task names write languages -> our code; two that share a first part stay apart."""
    codes = {row.nllb.lower(): row.code for row in KNOWN.values()}
    codes |= {row.nllb[:3].lower(): row.code for row in KNOWN.values()}
    return {**codes, **_NAMES, **{code: code for code in KNOWN}}


def code_of(written: str) -> str:
    """The language's code: ours where it is in its usual script, else as it is written."""
    return _by_code().get(written.lower(), written)


def name_of(code: str) -> str:
    """A name for a code that has none of its own, such as Hindi (Latn); else the code."""
    base, _, script = code.replace("-", "_").partition("_")
    known = _by_code().get(base.lower())
    return f"{language_name(known)} ({script})" if known and script else code


@functools.cache
def known_families() -> tuple[Family, ...]:
    """The families of `families.yaml`."""
    return tuple(
        Family(name, **{**row, "join": tuple(row.get("join") or ())})
        for name, row in _content()["known"].items()
    )


def left_out(task: str) -> str:
    """Why a task that is known is not read; '' for others."""
    rows = _content()["left_out"]
    return next((row["why"] for row in rows if _pattern(row["pattern"]).fullmatch(task)), "")


@functools.cache
def _content() -> Any:
    return read_yaml(_FILE)


# What users name


def given_families(words: Sequence[str]) -> list[Family]:
    """The families of `--family`: of each a pattern with {language}, and settings behind commas."""
    return [_given(word) for word in words]


def _given(word: str) -> Family:
    pattern, *settings = (part.strip() for part in word.split(","))
    parts = _PART.findall(pattern)
    if parts.count("language") != 1 or len(set(parts)) < len(parts):
        raise SettingError(
            f"--family {word}: write {_LANGUAGE_PART} once, where the task's name has its language "
            f"(other parts may have names of their own), such as mytask_{_LANGUAGE_PART}"
        )
    if not all(part.isidentifier() for part in parts):
        raise SettingError(f"--family {word}: the names in braces are words without spaces")
    made: dict[str, Any] = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        made[name] = _setting(word, name, value)
    name = re.sub(r"([_.-])[_.-]+", r"\1", _PART.sub("", pattern)).strip("_.-")
    return Family(name or "task", pattern, **made, given=True)


def _setting(word: str, name: str, value: str) -> Any:
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
    known = ("join", "metric", "filter", "chance", "parallel")
    raise SettingError(
        f"--family {word}: {name}={value} is no setting of a family.{did_you_mean(name, known)} "
        "They are join=FIELD+FIELD, metric=NAME, filter=NAME, chance=0.25, parallel=no"
    )


# What is proposed


def proposals(tasks: Iterable[str]) -> list[str]:
    """What tasks that nobody knows look like: a line per pattern that several languages fit."""
    by_pattern: dict[str, dict[str, str]] = {}
    for task in sorted(set(tasks)):
        for place in re.finditer(rf"(?<![^_.-]){_LANGUAGE}(?![^_.-])", task):
            code = code_of(place[0])
            if code in KNOWN or "_" in place[0]:
                pattern = f"{task[: place.start()]}{_LANGUAGE_PART}{task[place.end() :]}"
                by_pattern.setdefault(pattern, {})[code] = task
    return [
        f"{', '.join(list(own.values())[:3])}{', ...' if len(own) > 3 else ''} look like one task "
        f"in {len(own)} languages: --family '{pattern}'"
        for pattern, own in by_pattern.items()
        if len(own) > 1
    ]


def found(tasks: Iterable[str]) -> str:
    """Which tasks there are, in words, with what is proposed."""
    names = sorted(set(tasks))
    if not names:
        return "there are no tasks in it but those of xling-tasks"
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" * (len(names) > _SHOWN))
    return ". ".join([f"found {shown}", *proposals(names)])
