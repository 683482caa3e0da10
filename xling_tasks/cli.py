"""The command `xling`: a table of commands, each with its arguments in its own module."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from xling_metrics.base import ExtraMissing

from xling_tasks import __version__
from xling_tasks.errors import SettingError, XlingError, did_you_mean
from xling_tasks.secrets import printable, redact_log

COMMANDS = {
    "report": ("report", "report the gap to English for each language, with significance tests"),
    "compare": ("compare", "compare two models on the same questions"),
    "leaderboard": ("leaderboard", "rank several models, with confidence intervals of the ranks"),
    "samples": ("samples", "write a page of all answers, with the languages side by side"),
    "cost": ("cost", "estimate requests and tokens of tasks before a run"),
    "check": ("check", "check that the settings, data and models of a run are available"),
    "data": ("data", "list datasets; validate your own questions, or write an example file"),
    "annotate": ("annotate", "write an annotation page for judge labels or translations"),
    "agreement": ("agreement", "summarize annotations and their agreement with the judge"),
    "rank": ("rank", "rank the rationales of several models with a judge"),
    "topics": ("topics", "classify questions by medical topic with a judge"),
    "train-empathy": ("train_empathy", "train empathy classifiers on EPITOME's annotated posts"),
    "judge-empathy": ("judge_empathy", "measure a judge with a few examples as empathy classifier"),
    "round-trip": ("round_trip", "measure what a translation to a language and back preserves"),
    "translate-prompts": ("translate_prompts", "translate English prompts or your own questions"),
    "submit": ("submit", "write the files of a submission to MMedBench or to a model card"),
    "export": ("export", "write training data, an example prompt file, or posts for empathy"),
}  # fmt: skip
"""Command -> its module below `commands`, and what it does."""


def help_text() -> str:
    """List the commands with a line for each."""
    lines = "\n".join(f"  {name:<17} {summary}" for name, (_, summary) in COMMANDS.items())
    return (
        "usage: xling [--help] [--version] COMMAND ...\n\n"
        f"Reports, comparisons and data tools for multilingual lm_eval runs.\n\n{lines}\n\n"
        "xling COMMAND --help lists the options of a command."
    )


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command and its options, with `run`, the function that carries it out.

    Only the module of that command is imported. Raises a SettingError for what is wrong.
    """
    name, *arguments = words
    if name not in COMMANDS:
        raise SettingError(f"{name}: unknown command.{did_you_mean(name, COMMANDS)}")
    module, summary = COMMANDS[name]
    parser = _Parser(prog=f"xling {name}", description=summary)
    import_module(f"xling_tasks.commands.{module}").add_arguments(parser)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 2 after an error of the user, which is one line on stderr."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help", "--version"):
        return _print(__version__ if words == ["--version"] else help_text())
    if arguments is None:  # as a program
        signal.signal(signal.SIGTERM, _terminate)
    try:
        options = parse(words)
        text = options.run(options)
    except (XlingError, ExtraMissing) as error:
        return _fail(str(error), 2)
    except OSError as error:  # a full disk, a name that is too long, a closed folder
        if error.filename is None:
            raise
        return _fail(f"{str(error.filename)!r:.300}: {error.strerror or error}", 2)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except _Terminated:
        return _fail("terminated", 143)
    return _print(text)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, as all others."""

    def error(self, message: str) -> NoReturn:
        raise SettingError(f"{message} (see {self.prog} --help)")


class _Terminated(BaseException):
    """SIGTERM."""


def _terminate(*_: Any) -> NoReturn:
    raise _Terminated


def _fail(message: str, status: int) -> int:
    print(f"xling: {printable(redact_log(message))}", file=sys.stderr)
    return status


def _print(text: str) -> int:
    """Print a command's text; return its exit status."""
    try:
        print(printable(text), flush=True)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(getattr(text, "status", 0))
