"""Kinds of tokens by their names, and grammars: rules over rows of kinds.

A reply is read as a row of kinds ('The answer is B.': `article answer is letter stop`). A grammar
is a text with a rule a line, `NAME = pattern`. A pattern is a regular expression whose characters
are kinds, written as names with spaces between them; a name in capitals stands for the rule of
that name above, also within a class (`[^LINE_END comma]`). A line that begins with a space goes
on with the rule before it; `#` opens a comment.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import regex

_BOTH = """
    yes no right wrong is not because so but or refusal concession granted wait offer supposing
"""
_LETTERS = """
    answer answers option options label labels are and both each all none except choose chosen maybe
    also final seems excluded article end aside points explains_best explains looks advised has
    first second third fourth fifth last actually
"""
_VERDICTS = """
    subject noun fully opinion doubt adverb fine flawed praise blame unsure polite emphatic
    replies question fails according agree disagree judges marks self fault shows certain
    within matter whole asked am
"""
_PHRASES = _BOTH + _LETTERS + _VERDICTS
PHRASES = frozenset(_PHRASES.split())
"""Kinds of phrases, as the files in `phrases/` name them, that a token can have."""
ASKS = "asks_false asks_not asks_against asks_nothing"
"""What a question asks for, if not for what is right; 'to avoid bleeding' asks for nothing."""
LETTERED = "lettered"
"""A noun before a letter that is no option's."""
LIMITS = "tells when bare part harms norm"
"""What another says, or for whom; an article ('this'), a part; of a drug; what ought to be."""
KINDS_IN = {
    "": frozenset(f"{_BOTH} {_LETTERS} {ASKS} {LETTERED}".split()),
    "verdict": frozenset(f"{_BOTH} {_VERDICTS} {LIMITS}".split()),
}
"""Part of a file of phrases -> every kind that it may have."""

_TOKENS = """
    letter text prose word capital foreign
    stop dot query comma semicolon colon open close open_square close_square slash dash
    line blank bullet number tick cross boxed
"""
KIND: dict[str, str] = {
    name: chr(0x100 + place) for place, name in enumerate((_PHRASES + _TOKENS).split())
}
"""Name of a kind -> the character that stands for it in a row."""

_NAMES = {character: name for name, character in KIND.items()}
_NAME = regex.compile(r"\(\?P<\w+>|\(\?P=\w+\)|\b[A-Za-z][A-Za-z_]*\b")
_CLASS = regex.compile(r"\[\^?[^\]]*\]")


@functools.cache
def row(names: str) -> str:
    """A row of kinds, from their names."""
    return "".join(KIND[name] for name in names.split())


def named(kinds: str) -> str:
    """The names of a row of kinds, for people."""
    return " ".join(_NAMES[kind] for kind in kinds)


def has(kinds: Iterable[str], names: str) -> bool:
    """Whether a row has a token of one of these kinds."""
    return not _those(names).isdisjoint(kinds)


@functools.cache
def _those(names: str) -> frozenset[str]:
    return frozenset(row(names))


class Grammar:
    """The rules of a text as compiled patterns, by name."""

    def __init__(self, text: str) -> None:
        self._sources: dict[str, str] = {}
        lines = [line for line in text.splitlines() if line.strip() and line.strip()[0] != "#"]
        for rule in regex.split(r"\n(?! )", "\n".join(lines)):
            name, _, pattern = rule.partition(" = ")
            self._sources[name] = _translated(pattern, self._sources)

    def __getattr__(self, name: str) -> regex.Pattern[str]:
        """A rule, compiled when it is first asked for."""
        if name not in self.__dict__.get("_sources", ()):
            raise AttributeError(f"the grammar has no rule {name}")
        pattern = regex.compile(self._sources[name])
        setattr(self, name, pattern)
        return pattern


def _translated(pattern: str, rules: dict[str, str]) -> str:
    def within(match: regex.Match[str]) -> str:
        """A class, with the classes that it names."""
        listed = regex.sub(r"\b[A-Z][A-Z_]*\b", lambda name: rules[name[0]][1:-1], match[0])
        return regex.sub(r"\b[a-z_]+\b", lambda name: KIND[name[0]], listed)

    def outside(match: regex.Match[str]) -> str:
        word = match[0]
        if word[0] == "(":
            return word
        return f"(?:{rules[word]})" if word.isupper() else KIND[word]

    classes = [(m.start(), m.end()) for m in _CLASS.finditer(pattern)]
    out, at = "", 0
    for start, end in [*classes, (len(pattern), len(pattern))]:
        out += _NAME.sub(outside, pattern[at:start])
        if start < end:
            out += _CLASS.sub(within, pattern[start:end])
        at = end
    return regex.sub(r"\s+", "", out)
