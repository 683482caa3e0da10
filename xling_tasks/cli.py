"""The command `xling`: what the harness has no place for."""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from xling_metrics.extras import ExtraMissing
from xling_metrics.yaml_file import read_yaml

from xling_tasks import __version__
from xling_tasks.errors import SettingError, XlingError, nearest, user_path

_ROWS = read_yaml(Path(__file__).with_name("cli.yaml"))
ROOMS: dict[str, str] = _ROWS["rooms"]
"""What the commands with one first word are about, by this word."""

GROUPS: dict[str, dict[str, dict[str, Any]]] = _ROWS["commands"]
"""The commands by when one needs them, the most used first: name -> its row of `cli.yaml`."""

COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}


_CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)", re.DOTALL)
_OPTION = re.compile(r"(?<!\w)--[\w-]+")


class _Help(argparse.HelpFormatter):
    """Help whose lines do not break within `--model` or `es-419`."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class _Number(argparse.Action):
    """An option that takes a number; CONST has `int` or `float` and the least, None for any."""

    def __call__(self, parser: Any, options: Any, words: Any, option: str | None = None) -> None:
        """Set the option.

        Raises:
            SettingError: If the word is no such number.
        """
        of, least = self.const
        try:
            number = of(words)
        except ValueError:
            number = math.nan
        if not (-math.inf if least is None else least) <= number < math.inf:
            kind = "an integer" if of is int else "a number"
            kind += "" if least is None else f" from {least:g}"
            got = repr(words) if math.isnan(number) else f"{number:g}"
            raise SettingError(f"{option}: must be {kind}, got {got:.40}")
        setattr(options, self.dest, number)


class Parser(argparse.ArgumentParser):
    """A parser whose errors say what a misspelt word was meant to be; so do its subcommands'.

    argparse can do that itself from Python 3.14 on, for choices alone.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{"formatter_class": _Help, **options})
        self.set_defaults(parser=self)  # that of the innermost subcommand is what stays

    def parsed(self, words: Sequence[str]) -> argparse.Namespace:
        """As `parse_args`; an unknown option is an error of the subcommand that it was given to."""
        options, unknown = self.parse_known_args(words)
        asked: Parser = options.parser
        del options.parser
        if unknown:
            given = [word.partition("=")[0] for word in unknown if word.startswith("--")]
            known = _OPTION.findall(asked.format_usage())
            hints = "".join(_hint(word, known) for word in given)
            # What stands behind a misspelt option is its value, or was taken for one.
            asked.error(f"unrecognized arguments: {' '.join(given or unknown)}.{hints}")
        return options

    def error(self, message: str) -> NoReturn:
        """Show usage and message, with what was meant where a choice is misspelt, and exit."""
        if (wrong := _CHOICE.search(message)) and "meant" not in message:
            message += "." + _hint(wrong[1], re.findall(r"[\w.-]+", wrong[2]))
        super().error(message.removesuffix("."))


def _hint(word: str, known: Iterable[str]) -> str:
    near = nearest(word, known)
    return f" Did you mean {near}?" if near else ""


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """What a user typed after `xling`; only the command that it names is imported.

    Attributes of the result: the command's options, and `run`, which carries it out.
    """
    parser = Parser(
        prog="xling", description=__doc__, epilog=_listed(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=__version__)
    _add(parser, [word for word in words if not word.startswith("-")])
    return _runnable(_without_idle(parser.parsed(words)))


def _without_idle(options: argparse.Namespace) -> argparse.Namespace:
    """The same, if none of them is for another option that is not given (`only` in `cli.yaml`)."""
    for dest, (name, default, only) in getattr(options, "idle", {}).items():
        for each in only.split(", ") if getattr(options, dest) != default else ():
            other, _, value = each.removeprefix("--").partition(" ")
            given = getattr(options, other)
            if given is None or given is False or (value and given != value):
                raise SettingError(f"{name} is for {each}")
    return options


def _runnable(options: argparse.Namespace) -> argparse.Namespace:
    """The same with the function in place of its name."""
    module, _, name = options.run.partition(":")
    options.run = getattr(import_module(f".{module}", __package__), name)
    return options


def _add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the commands, with the options of the one that the words name."""
    below = parser.add_subparsers(metavar="COMMAND", required=True)  # epilog lists them by group
    several: dict[str, Any] = {}
    for name, row in COMMANDS.items():
        about = row["about"]
        first, _, second = name.partition(" ")
        if not second:
            command = below.add_parser(first)
        else:
            if first not in several:
                own = below.add_parser(first, description=ROOMS[first])
                several[first] = own.add_subparsers(title="commands", required=True)
            command = several[first].add_parser(second, help=about)
        if name.split() == [*words[:1], *(words[1:2] if second else [])]:
            describe(command, row)


def describe(parser: argparse.ArgumentParser, row: Mapping[str, Any]) -> None:
    """Add what a command is about and takes, by its row, and the commands below it."""
    parser.description = row["about"]
    _take(parser, row.get("takes", ()))
    parser.set_defaults(**{key: row[key] for key in ("run",) if key in row})
    parser.set_defaults(**row.get("defaults", {}))
    if kinds := row.get("kinds"):
        below = parser.add_subparsers(**row["below"])
        for name, own in kinds.items():
            describe(below.add_parser(name, help=own["about"]), own)


_NUMBERS = {"int": int, "float": float}
_MEANT = {"path": user_path, "boolean": argparse.BooleanOptionalAction}


def _take(parser: Any, rows: Iterable[str | Mapping[str, Any]], only: str = "") -> None:
    """Add options; those below a heading that begins with an option are only for that one."""
    for row in rows:
        name, own = (row, {}) if isinstance(row, str) else next(iter(row.items()))
        if name == "one of":
            _take(parser.add_mutually_exclusive_group(), own)
        elif name.startswith("group "):
            heading = name.removeprefix("group ")
            _take(parser.add_argument_group(heading), own, heading.partition(" (")[0])
        else:
            given = {**_ROWS["options"].get(name, {}), **own}
            for key in given.keys() & {"type", "action"}:
                given[key] = _MEANT.get(given[key], given[key])
            if number := _NUMBERS.get(given.get("type", "")):
                const = (number, given.pop("least", None))
                given |= {"action": _Number, "type": None, "const": const}
            if given.get("default") or given.get("default") == 0:
                given["help"] = f"{given.get('help', '')} (default %(default)s)".lstrip()
            of = given.pop("only", only)
            taken = parser.add_argument(*name.split(", "), **given)
            if of:
                known = parser.get_default("idle") or {}
                parser.set_defaults(idle={**known, taken.dest: (name, taken.default, of)})


def _listed() -> str:
    """The commands with a line about each, by group."""
    lines = []
    for group, commands in GROUPS.items():
        lines += ["", f"{group}:"]
        lines += [f"  {name:<17} {row['about']}" for name, row in commands.items()]
    return "\n".join(lines[1:])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; an error that the user can mend is one line on stderr and status 2."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        alone = argparse.Namespace(folder=".", run="commands.here:here")
        chosen = parsed(words) if words else _runnable(alone)
        shown = chosen.run(chosen)
    except (XlingError, ExtraMissing) as error:
        print(f"xling: {error}", file=sys.stderr)
        return 2
    except OSError as error:  # a full disk, a name that is too long, a closed folder
        if error.filename is None:
            raise
        print(f"xling: {str(error.filename)!r:.300}: {error.strerror or error}", file=sys.stderr)
        return 2
    try:
        print(shown, flush=True)
    except BrokenPipeError:  # who reads, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(getattr(shown, "status", 0))
