"""The parser of `xling`: argparse's, which says what a misspelt word was meant to be.

argparse can do that itself from Python 3.14 on, for choices alone.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

_CHOICE = re.compile(r"invalid choice: '(.*?)' \(choose from (.*)\)", re.DOTALL)
_OPTION = re.compile(r"(?<!\w)--[\w-]+")


class Parser(argparse.ArgumentParser):
    """A parser whose errors have a hint; so have those of its subcommands."""

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
