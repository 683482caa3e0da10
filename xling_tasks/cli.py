"""The command `xling`: what the harness has no place for."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from xling_tasks import __version__
from xling_tasks.errors import XlingError

GROUPS = {
    "after a run": {
        "report": (
            "report.command",
            "who is served worse, by how much, and is it real: from lm_eval's output",
        ),
        "compare": ("report.compare.command", "is checkpoint B better than checkpoint A?"),
        "gate": (
            "report.gate",
            "GO, NO-GO or INCONCLUSIVE for a checkpoint, by a policy; the exit status for CI",
        ),
        "view": (
            "commands.view.command",
            "read every sample in the browser: filter, search, languages side by side",
        ),
        "board": (
            "report.board.command",
            "many models by many languages on one page, with ranks that are intervals",
        ),
        "next": (
            "commands.next",
            "what is decided after a part of the questions, and which to ask next (--samples)",
        ),
        "rank": ("commands.rank.command", "rank the rationales of several models by a judge"),
    },
    "before a run": {
        "doctor": ("commands.doctor.command", "whether all that a run needs is there"),
        "cost": ("commands.cost", "requests and tokens of tasks, before running them"),
        "topics": ("commands.topics", "the medical topic of questions, by a judge"),
        "parts cut": (
            "commands.shard",
            "cut a run into parts for many machines (--samples files; --slurm: scripts)",
        ),
        "parts merge": (
            "commands.merge",
            "score the parts of a run (shards, halves) as one: whole-corpus metrics too",
        ),
    },
    "your own data": {
        "data": (
            "commands.datasets",
            "the datasets, and what in them cannot be used; check and new: your own",
        ),
        "translate": (
            "commands.translate.command",
            "prompts: a set in other languages; export, import: translations made elsewhere",
        ),
    },
    "people and instruments": {
        "annotate": (
            "commands.annotate.command",
            "a page to check the judge's labels, or to rate translations, by hand",
        ),
        "agreement": (
            "commands.annotate.agreement",
            "people's agreement with the judge, or ratings",
        ),
        "check judge": ("commands.check_judge", "a judge of rubrics against physicians' labels"),
        "check translator": (
            "commands.check_translator",
            "information kept by translation to a language and back",
        ),
        "check identifier": (
            "commands.check_identifier",
            "langid's agreement with a second identifier of language, per language",
        ),
        "empathy train": (
            "commands.train_empathy",
            "train classifiers of empathy on EPITOME's annotated posts",
        ),
        "empathy judge": (
            "commands.judge_empathy",
            "a judge with a few examples as classifier of empathy",
        ),
    },
    "publishing": {
        "submit": ("commands.submit.command", "submissions from lm_eval's output"),
        "export": ("commands.export", "training data, and an example of a prompt file"),
    },
    "maintenance": {
        "cache": (
            "commands.cache",
            "what is kept: unfinished runs, answers, replies; --prune makes room",
        ),
        "path": ("commands.path", "the folder of the task files, for --include_path"),
    },
}
"""The commands by when one needs them, the most used first: name -> module, and a line about it."""

COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}

MOVED = {
    "check-translator": "check translator",
    "judge-empathy": "empathy judge",
    "merge": "parts merge",
    "shard": "parts cut",
    "train-empathy": "empathy train",
    "translate-prompts": "translate prompts",
}
"""What commands were called in 0.1.0 -> what they are called; scripts that use it still run."""


_CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)", re.DOTALL)
_OPTION = re.compile(r"(?<!\w)--[\w-]+")


class Parser(argparse.ArgumentParser):
    """A parser whose errors say what a misspelt word was meant to be; so do its subcommands'.

    argparse can do that itself from Python 3.14 on, for choices alone.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
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
            asked.error(f"unrecognized arguments: {' '.join(unknown)}.{hints}")
        return options

    def error(self, message: str) -> NoReturn:
        """Show usage and message, with what was meant where a choice is misspelt, and exit."""
        if (wrong := _CHOICE.search(message)) and "meant" not in message:
            message += "." + _hint(wrong[1], re.findall(r"[\w.-]+", wrong[2]))
        super().error(message.removesuffix("."))


def _hint(word: str, known: Iterable[str]) -> str:
    import difflib  # where there is something to say

    nearest = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {nearest[0]}?" if nearest else ""


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """What a user typed after `xling`; only the command that it names is imported.

    Attributes of the result: the command's options, and `run`, which carries it out.
    """
    parser = Parser(
        prog="xling", description=__doc__, epilog=_listed(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=__version__)
    if words and words[0] in MOVED:
        words = [*MOVED[words[0]].split(), *words[1:]]
    _add(parser, [word for word in words if not word.startswith("-")])
    return parser.parsed(words)


def _add(parser: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """Add the commands, with the options of the one that the words name."""
    below = parser.add_subparsers(metavar="COMMAND", required=True)  # epilog lists them by group
    several: dict[str, Any] = {}
    for name, (module, about) in COMMANDS.items():
        first, _, second = name.partition(" ")
        if not second:
            command = below.add_parser(first, description=about)
        else:
            if first not in several:
                own = below.add_parser(first)
                several[first] = own.add_subparsers(title="commands", required=True)
            command = several[first].add_parser(second, help=about, description=about)
        if name.split() == [*words[:1], *(words[1:2] if second else [])]:
            import_module(f".{module}", __package__).add_options(command)


def _listed() -> str:
    """The commands with a line about each, by group."""
    lines = []
    for group, commands in GROUPS.items():
        lines += ["", f"{group}:"]
        lines += [f"  {name:<17} {about}" for name, (_, about) in commands.items()]
    return "\n".join(lines[1:])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; an error that the user can mend is one line on stderr and status 2."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words:
        if words[0] in MOVED:
            print(f"xling: {words[0]} is now `xling {MOVED[words[0]]}`", file=sys.stderr)
        chosen = parsed(words)
        run = chosen.run
    else:
        from xling_tasks.commands.here import here

        chosen, run = argparse.Namespace(folder="."), here
    try:
        shown = run(chosen)
    except XlingError as error:
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
