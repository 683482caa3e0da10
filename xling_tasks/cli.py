"""The command `xling`: what the harness has no place for."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from xling_tasks import __version__
from xling_tasks.commands.parser import Parser
from xling_tasks.errors import XlingError

COMMANDS = {
    "cost": ("commands.cost", "requests and tokens of tasks, before running them"),
    "data": (
        "commands.datasets",
        "the datasets, and what in them cannot be used; check and new: your own",
    ),
    "path": ("commands.path", "the folder of the task files, for --include_path"),
    "export": ("commands.export", "training data, and an example of a prompt file"),
    "rank": ("commands.rank.command", "rank the rationales of several models by a judge"),
    "submit": ("commands.submit.command", "submissions from lm_eval's output"),
    "translate": (
        "commands.translate.command",
        "translations from outside: what to translate, and what came back",
    ),
    "translate-prompts": (
        "commands.translate_prompts",
        "the other languages of a set of English prompts",
    ),
    "check-translator": (
        "commands.check_translator",
        "information kept by translation to a language and back",
    ),
    "check-judge": ("commands.check_judge", "a judge of rubrics against physicians' labels"),
    "check-identifier": (
        "commands.check_identifier",
        "langid's agreement with a second identifier of language, per language",
    ),
    "judge-empathy": (
        "commands.judge_empathy",
        "a judge with a few examples as classifier of empathy",
    ),
    "topics": ("commands.topics", "the medical topic of questions, by a judge"),
    "train-empathy": (
        "commands.train_empathy",
        "train classifiers of empathy on EPITOME's annotated posts",
    ),
    "annotate": (
        "commands.annotate.command",
        "a page to check the judge's labels, or to rate translations, by hand",
    ),
    "agreement": ("commands.annotate.agreement", "people's agreement with the judge, or ratings"),
    "compare": ("report.compare.command", "is checkpoint B better than checkpoint A?"),
    "doctor": ("commands.doctor.command", "whether all that a run needs is there"),
    "merge": (
        "commands.merge",
        "score the parts of a run (shards, halves) as one: whole-corpus metrics too",
    ),
    "shard": (
        "commands.shard",
        "cut a run into parts for many machines (--samples files; --slurm: scripts)",
    ),
    "cache": (
        "commands.cache",
        "what is kept: unfinished runs, answers, replies; --prune makes room",
    ),
    "report": (
        "report.command",
        "who is served worse, by how much, and is it real: from lm_eval's output",
    ),
    "board": (
        "report.board.command",
        "many models by many languages on one page, with ranks that are intervals",
    ),
    "view": (
        "commands.view.command",
        "read every sample in the browser: filter, search, languages side by side",
    ),
}
"""The subcommands: name -> module, and a line about it."""


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """What a user typed after `xling`; only the command that it names is imported.

    Attributes of the result: the command's options, and `run`, which carries it out.
    """
    parser = Parser(prog="xling", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(title="commands", required=True)
    named = next((word for word in words if not word.startswith("-")), "")
    for name, (module, about) in COMMANDS.items():
        command = commands.add_parser(name, help=about)
        if name == named:
            import_module(f".{module}", __package__).add_options(command)
    return parser.parsed(words)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; an error that the user can mend is one line on stderr and status 2."""
    chosen = parsed(sys.argv[1:] if arguments is None else arguments)
    try:
        shown = chosen.run(chosen)
    except XlingError as error:
        print(f"xling: {error}", file=sys.stderr)
        return 2
    try:
        print(shown, flush=True)
    except BrokenPipeError:  # who reads, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(getattr(shown, "status", 0))
