"""Lists of options: those of another question, and options that another one joins."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from xling_tasks.readers.kinds import has
from xling_tasks.readers.letter_grammar import RULES
from xling_tasks.readers.letter_lexer import lex
from xling_tasks.readers.letter_reply import LINES
from xling_tasks.readers.lexer import Tokens
from xling_tasks.readers.options import options_of
from xling_tasks.readers.plain import one_form, undressed


def without_another(tokens: Tokens, keys: list[str]) -> Tokens:
    """The tokens up to another question with options of its own, as base models go on with."""
    for match in RULES.OTHER_LIST.finditer(tokens.kinds):
        letters = [value for value in tokens.values[slice(*match.span())] if value]
        if letters[:3] == [{key} for key in keys[:3]]:
            at = max(tokens.kinds.rfind(end, 0, match.start() - 1) for end in LINES) + 1
            return tokens.part(0, at)
    return tokens


@functools.lru_cache(maxsize=4096)
def joined(options: tuple[tuple[str, str], ...]) -> Mapping[frozenset[str], str]:
    """Options that others make together -> the option whose text says so."""
    found: dict[frozenset[str], str] = {}
    for key, text in options:
        others = {other: its for other, its in options if other != key}
        tokens = lex(undressed(one_form(text)), options_of(others)) if others else None
        if tokens is None or has(tokens.kinds, "not no none except or wrong maybe"):
            continue
        named = frozenset().union(*tokens.values) & set(others)
        if RULES.EVERY.match(tokens.kinds):
            named = frozenset(other for other in others if other < key)
        found.setdefault(named, key)
    return found
