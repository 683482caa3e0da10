"""Compile the patterns of `rules.yaml` into regular expressions over kinds of tokens."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

from xling_metrics.yaml_file import read_yaml

TABLE: dict[str, Any] = dict(read_yaml(Path(__file__).with_name("rules.yaml")))

WORD_KINDS = (
    *("not", "or", "if", "wait", "unsure", "rather", "but", "maybe", "hearsay", "none", "wrong"),
    *("answer", "option", "this", "is", "right", "choose", "and", "final", "the", "likely"),
    *("because", "offer", "partly", "other"),
)  # of `words.yaml`; a word of two kinds in one language has the first of them

_OTHER_KINDS = (
    *("yes", "no", "cannot", "assist", "refer", "letter", "letters", "item", "text", "stranger"),
    *("small_letter", "word", "number", "stop", "question", "comma", "colon", "open", "close"),
    *("quote", "dash", "slash"),
)
SIGNS = {"line": "\n"} | {k: chr(0x100 + n) for n, k in enumerate(WORD_KINDS + _OTHER_KINDS)}

_ANCHORS = {"start": r"\A", "end": r"\Z", "line_start": "^", "line_end": "$"}
_GROUPS = (
    *((">", ")"), ("<", "(?P<at>"), ("unless_behind(", "(?<!"), ("behind(", "(?<=")),
    *(("ahead(", "(?="), ("unless(", "(?!")),
)
_WORD = re.compile(r"[a-z_]+")
_SET_OR_WORD = re.compile(r"\[[^\]]*\]|(?<!\?P<)\b[a-z_]+")


def load_patterns(section: str) -> dict[str, re.Pattern[str]]:
    """Compile the patterns of a section of the table, by name."""
    rows = TABLE[section].items()
    return {k: compile_pattern(row if isinstance(row, str) else row["pattern"]) for k, row in rows}


@functools.cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern of words into a regular expression over `SIGNS`."""

    def expand(text: str) -> str:
        for words, group in _GROUPS:
            text = text.replace(words, group)
        return _SET_OR_WORD.sub(replace, text).replace(" ", "")

    def replace(match: re.Match[str]) -> str:
        text = match[0]
        if text.startswith("["):
            return _WORD.sub(lambda word: signs(word[0]), text)
        return _ANCHORS.get(text) or SIGNS.get(text) or f"(?:{expand(TABLE['parts'][text])})"

    def signs(word: str) -> str:
        return SIGNS.get(word) or "".join(map(signs, TABLE["parts"][word].strip("[]").split()))

    return re.compile(expand(pattern), re.M)
