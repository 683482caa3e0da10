"""The policy of `xling gate`: what a checkpoint must not do, as a YAML file says it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling_metrics.yaml_file import YamlError, read_yaml

from xling_tasks.criteria import CRITERIA, Endpoint
from xling_tasks.errors import SettingError, did_you_mean, unreadable

FORMER, ENGLISH = "A", "english"
"""What a checkpoint is held against: the one before it, or its own English."""
MARGIN, NOTHING = "margin", "nothing"
"""What is allowed: to be worse by no more than the margin, or not to be shown worse at all."""
ALL = "all"
_KEYS = ("against", "endpoints", "languages", "allow", "margin")


@dataclass(frozen=True)
class Rule:
    """One thing that is required.

    Attributes:
        against: `A` or `english`.
        endpoints: Metrics of endpoints, or what they stand for (`harm`, ...); empty for all.
        languages: Codes; empty for all.
        allow: `margin` or `nothing`.
        margin: Instead of each endpoint's own; None for these.
    """

    against: str
    endpoints: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    allow: str = MARGIN
    margin: float | None = None

    def names(self, word: str, endpoint: Endpoint, metric: str) -> bool:
        """Whether a word of `endpoints` means an endpoint, measured by some metric."""
        return word in (endpoint.metric, endpoint.meaning, metric)

    def wants(self, endpoint: Endpoint, metric: str, language: str) -> bool:
        """Whether it is about an endpoint in a language."""
        named = any(self.names(word, endpoint, metric) for word in self.endpoints)
        return (named or not self.endpoints) and (not self.languages or language in self.languages)


def default(*, two: bool) -> tuple[Rule, ...]:
    """Without a file: no language worse than in A, or, of one checkpoint, than in English.

    Worse by more than each endpoint's margin, on every endpoint.
    """
    return (Rule(FORMER if two else ENGLISH),)


def read_policy(path: Path, *, two: bool) -> tuple[Rule, ...]:
    """The rules of a YAML file with a list `rules`, all checked.

    `two`: there is a checkpoint A to compare with. A SettingError names file, rule and key, what
    stands there, and what may.
    """
    try:
        content = read_yaml(path)
    except OSError as error:
        raise SettingError(
            f"--policy {path}: {unreadable(path, error)}; leave it out for rules of ours"
        ) from error
    except YamlError as error:
        raise SettingError(str(error)) from error
    if not isinstance(content, Mapping):
        raise SettingError(f"{path}: expected a list called rules, got {content!r:.40}")
    _known(f"{path}", content, ("rules",))
    rules = content.get("rules")
    if not isinstance(rules, list) or not rules:
        raise SettingError(f"{path}: rules: expected a list of one rule or more, got {rules!r:.40}")
    return tuple(_rule(f"{path}: rule {at}", one, two) for at, one in enumerate(rules, start=1))


def _rule(where: str, one: Any, two: bool) -> Rule:
    if not isinstance(one, Mapping):
        raise SettingError(f"{where}: expected {', '.join(_KEYS)} with values, got {one!r:.40}")
    _known(where, one, _KEYS)
    against = _one_of(f"{where}: against", one.get("against"), (FORMER, ENGLISH))
    if against == FORMER and not two:
        raise SettingError(
            f"{where}: against: A needs two checkpoints: xling gate A B --policy ...; of one, "
            f"{ENGLISH} is what it can be held against"
        )
    allow = _one_of(f"{where}: allow", one.get("allow", MARGIN), (MARGIN, NOTHING))
    endpoints = _words(f"{where}: endpoints", one.get("endpoints", ALL))
    for word in endpoints:
        _one_of(f"{where}: endpoints", word, endpoint_names())
    margin = one.get("margin")
    number = isinstance(margin, int | float) and not isinstance(margin, bool)
    if margin is not None and not (number and 0 < margin < 1):
        raise SettingError(
            f"{where}: margin: must be a number between 0 and 1 (0.05: 5 of 100), got {margin!r}"
        )
    languages = _words(f"{where}: languages", one.get("languages", ALL))
    if against == ENGLISH and "en" in languages:
        raise SettingError(f"{where}: languages: en is what the others are held against; remove it")
    return Rule(against, endpoints, languages, allow, margin)


def endpoint_names() -> list[str]:
    """What `endpoints` may name: what endpoints stand for, then their metrics."""
    every = [endpoint for criterion in CRITERIA.values() for endpoint in criterion.endpoints]
    names = [*(x.meaning for x in every), *(m for x in every for m in (x.metric, *x.instead))]
    return list(dict.fromkeys(names))


def _words(where: str, given: Any) -> tuple[str, ...]:
    """A word or a list of words; none of `all`."""
    words = given if isinstance(given, list) else [given]
    for word in words:
        if not isinstance(word, str) or not word:
            raise SettingError(f"{where}: expected all, a name or a list, got {word!r:.40}")
    if not words or (ALL in words and len(words) > 1):
        raise SettingError(f"{where}: expected all, or names, got {given!r:.60}")
    return () if words == [ALL] else tuple(dict.fromkeys(words))


def _one_of(where: str, word: Any, choices: Collection[str]) -> str:
    if not isinstance(word, str) or word not in choices:
        raise SettingError(f"{where}: {word!r:.40} is not known.{did_you_mean(str(word), choices)}")
    return word


def _known(where: str, given: Mapping[Any, Any], keys: Iterable[str]) -> None:
    for key in given:
        if key not in keys:
            raise SettingError(f"{where}: unknown key {key!r}.{did_you_mean(str(key), keys)}")
