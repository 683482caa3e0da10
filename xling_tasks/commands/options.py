"""Arguments that several commands take, and settings as `lm_eval --metadata` takes them."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xling_tasks.errors import SettingError, did_you_mean, user_path
from xling_tasks.models.model_config import ModelConfig
from xling_tasks.safe_json import loads
from xling_tasks.settings import Settings


def _adder(*names: str, **given: Any) -> Callable[[argparse.ArgumentParser], object]:
    """Return a function that adds one argument to a parser."""
    return lambda parser: parser.add_argument(*names, **given)


add_folders = _adder(
    "folders", nargs="+", metavar="OUT", help="--output_path of lm_eval, or NAME=OUT"
)
add_metadata = _adder(
    "--metadata", nargs="+", default=[], metavar="SETTING",
    help="settings as for lm_eval: JSON or key=value",
)  # fmt: skip
add_tasks = _adder("--tasks", required=True, help="names, groups or patterns, separated by commas")
add_json = _adder("--json", action="store_true", help="print JSON")
add_family = _adder(
    "--family", action="append", default=[], metavar="PATTERN",
    help="other tasks of the harness that are one task in several languages: 'mytask_{language}' "
    "(see docs/report.md)",
)  # fmt: skip


def add_folder(parser: argparse.ArgumentParser, **more: Any) -> None:
    """Add the folder of a run."""
    text = "--output_path of lm_eval" + more.pop("help", "")
    parser.add_argument("out_dir", metavar="OUT", type=user_path, help=text, **more)


def add_output(parser: argparse.ArgumentParser, text: str, default: str | None = None) -> None:
    """Add `--to`: a folder (in TEXT) or a file, required where it has no default."""
    parser.add_argument(
        "--to", type=user_path, metavar="DIR" if "folder" in text else "FILE",
        required=default is None, default=default,
        help=text + (" (default %(default)s)" if default else ""),
    )  # fmt: skip


def add_languages(parser: argparse.ArgumentParser, default: str) -> None:
    """Add `--languages`."""
    text = f"only these languages, separated by commas: es,hi (default: {default})"
    parser.add_argument("--languages", metavar="CODES", help=text)


def add_limit(parser: argparse.ArgumentParser, text: str) -> None:
    """Add `--limit`."""
    parser.add_argument("--limit", type=integer(1), metavar="N", help=text)


def add_seed(parser: argparse.ArgumentParser, text: str) -> None:
    """Add `--seed`."""
    text += " (default %(default)s)"
    parser.add_argument("--seed", type=integer(0), default=0, metavar="N", help=text)


def integer(minimum: int) -> Callable[[str], int]:
    """Return a parser of integers from MINIMUM."""

    def parse(word: str) -> int:
        if not word.isascii() or not word.isdigit() or int(word) < minimum:
            raise argparse.ArgumentTypeError(f"must be an integer from {minimum}, got {word!r:.40}")
        return int(word)

    return parse


def read_metadata(words: Sequence[str]) -> dict[str, Any]:
    """Read settings as `lm_eval --metadata` does: JSON objects and key=value words.

    `a=1,b=2` is two settings as in `lm_eval`; commas in lists and paths stay.
    """
    settings: dict[str, Any] = {}
    for word in words:
        if word.lstrip().startswith("{"):
            try:
                settings |= loads(word)
            except ValueError as error:
                raise SettingError(f"--metadata: not valid JSON ({error}): {word!r:.80}") from error
            continue
        for item in re.split(r",(?=[a-z_]+=)", word):
            key, sign, value = item.partition("=")
            if not sign:
                raise SettingError(f"--metadata: expected JSON or key=value, got {item!r:.80}")
            try:
                settings[key] = ast.literal_eval(value)
            except (ValueError, SyntaxError):
                words_of = {"true": True, "false": False, "none": None}
                settings[key] = words_of.get(value.lower(), value)
    return settings


_EXAMPLES = {
    "translator": '{"model": "seq2seq", "model_args": {"pretrained": "facebook/nllb-200-3.3B"}}',
    "judge": '{"model": "openai-chat-completions", "model_args": {"model": "gpt-4o-2024-11-20"}}',
}


def settings_with(
    options: argparse.Namespace, *roles: str
) -> tuple[Settings, tuple[ModelConfig, ...]]:
    """Parse `--metadata` and `--languages`; return the settings and the models in ROLES."""
    metadata = read_metadata(options.metadata)
    if getattr(options, "languages", None):
        metadata["languages"] = options.languages
    settings = Settings.parse(metadata, {})
    models = tuple(getattr(settings, role) for role in roles)
    if missing := [role for role, model in zip(roles, models, strict=True) if model is None]:
        form = ", ".join(f'"{role}": {_EXAMPLES[role]}' for role in roles)
        needed = " and ".join(missing)
        raise SettingError(f"set the {needed}, as for the tasks: --metadata '{{{form}}}'")
    return settings, models


def chosen(option: str, words: str | None, known: Iterable[str], lacks: str) -> list[str]:
    """Return the comma-separated words of an option, each once; every known one without it."""
    known = list(dict.fromkeys(known))
    if words is None:
        return known
    names = [word for word in dict.fromkeys(map(str.strip, words.split(","))) if word]
    if not names:
        source = f"{option} {words}".rstrip()
        raise SettingError(f"{source}: name at least one of {', '.join(known)} (it names nothing)")
    for word in names:
        if word not in known:
            raise SettingError(f"{option} {word}: {lacks}.{did_you_mean(word, known)}")
    return names
