"""Settings on the command line, as `lm_eval --metadata` takes them."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from xling_tasks.data.custom.tongues import tongue
from xling_tasks.errors import SettingError, did_you_mean
from xling_tasks.models.spec import ModelSpec
from xling_tasks.safe_json import loads
from xling_tasks.settings import Settings


def read_metadata(words: Sequence[str]) -> dict[str, Any]:
    """Settings as `lm_eval --metadata` reads them: JSON objects and key=value words.

    Raises:
        SettingError: If a word is neither.
    """
    settings: dict[str, Any] = {}
    for word in _words(words):
        if word.lstrip().startswith("{"):
            try:
                settings |= loads(word)
            except ValueError as error:
                raise SettingError(f"--metadata: not valid JSON ({error}): {word!r:.80}") from error
            continue
        key, sign, value = word.partition("=")
        if not sign:
            raise SettingError(f"--metadata: expected JSON or key=value, got {word!r:.80}")
        settings[key] = _literal(value)
    return settings


_EXAMPLES = {
    "translator": '{"model": "seq2seq", "model_args": {"pretrained": "facebook/nllb-200-3.3B"}}',
    "judge": '{"model": "openai-chat-completions", "model_args": {"model": "gpt-4o-2024-11-20"}}',
}


def settings_with(
    options: argparse.Namespace, *roles: str
) -> tuple[Settings, tuple[ModelSpec, ...]]:
    """The settings of `--metadata` and `--for`, and the models in the roles that a command needs.

    Raises:
        SettingError: If one is wrong, or a role has no model, with an example.
    """
    metadata = read_metadata(options.metadata)
    if getattr(options, "languages", None):
        named = [(word, tongue(word, {})) for word in options.languages.split(",")]
        metadata["languages"] = ",".join(own.code if own else word for word, own in named)
    settings = Settings.parse(metadata, {})
    models = tuple(getattr(settings, role) for role in roles)
    if lacking := [role for role, model in zip(roles, models, strict=True) if model is None]:
        form = ", ".join(f'"{role}": {_EXAMPLES[role]}' for role in roles)
        needed = " and ".join(lacking)
        raise SettingError(f"set the {needed}, as for the tasks: --metadata '{{{form}}}'")
    return settings, models


def chosen(option: str, words: str | None, known: Iterable[str], lacks: str) -> list[str]:
    """The words of an option with commas between, each once; all that are known without it.

    Args:
        option: Its name, for messages.
        words: What was given; None where it was left out.
        known: What can be named.
        lacks: What is said of another word, such as `no samples of it`.

    Raises:
        SettingError: If a word is not known, or none is there.
    """
    known = list(dict.fromkeys(known))
    if words is None:
        return known
    wanted = [word for word in dict.fromkeys(map(str.strip, words.split(","))) if word]
    if not wanted:
        told = f"{option} {words}".rstrip()
        raise SettingError(f"{told}: name at least one of {', '.join(known)} (it names nothing)")
    for word in wanted:
        if word not in known:
            raise SettingError(f"{option} {word}: {lacks}.{did_you_mean(word, known)}")
    return wanted


def _words(words: Sequence[str]) -> Iterator[str]:
    """`a=1,b=2` is two words to `lm_eval`; commas of a list or of a path are none."""
    for word in words:
        if word.lstrip().startswith("{"):
            yield word
        else:
            yield from re.split(r",(?=[a-z_]+=)", word)


def _literal(value: str) -> Any:
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False, "none": None}.get(value.lower(), value)
