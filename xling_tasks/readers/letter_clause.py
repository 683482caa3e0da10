"""The clause and the sentence around options that a reply names, and what they say in general."""

from __future__ import annotations

from typing import NamedTuple

import regex

from xling_tasks.readers.kinds import KIND, has, row
from xling_tasks.readers.letter_grammar import RULES
from xling_tasks.readers.letter_reply import ENDS, MENTIONS, TEXT

NAMED = MENTIONS + TEXT


class Clause(NamedTuple):
    """The kinds around a list.

    Attributes:
        before: Of its clause, before it.
        after: Of its clause, behind it.
        before_all: Of its sentence, before it.
        behind: Of its sentence, behind it, with its end.
        rest: What a later clause says before another option is named.
        led: Whether a line with a colon leads to it.
    """

    before: str
    after: str
    before_all: str
    behind: str
    rest: str
    led: bool

    @classmethod
    def around(cls, told: str, first: int, last: int) -> Clause:
        """The clause around the tokens of a list."""
        before = RULES.SENTENCES.split(told[:first])[-1]
        led = not before and told[:first].rstrip(ENDS).endswith(tuple(row("colon is")))
        if led:
            before = RULES.SENTENCES.split(told[:first].rstrip(ENDS))[-1]
        sentence: regex.Match[str] | None = RULES.SENTENCE_END.match(told, last)
        behind = sentence[0] if sentence else ""
        after = RULES.CLAUSE_ENDS.split(behind.rstrip(ENDS))[0]
        rest = RULES.NAMES.split(RULES.REASONS.sub("", behind)[len(after) :])[0]
        return cls(RULES.CLAUSE_STARTS.split(before)[-1], after, before, behind, rest, led)

    @property
    def words(self) -> str:
        """The kinds on both sides."""
        return self.before + self.after

    def reason(self) -> bool:
        """Whether it says why."""
        return bool(RULES.REASON_BEFORE.search(self.before_all))

    def all_others_wrong(self) -> bool:
        """Whether it says that all but these are wrong."""
        before = RULES.EXCEPT_BEFORE.search(self.before_all)
        excepted = before or RULES.EXCEPT_BEHIND.match(self.behind)
        return bool(excepted) and has(self.behind, "wrong") and not has(self.behind, "not")

    def looked_at(self) -> bool:
        """Whether the options are only looked at, or what is said of them is not theirs."""
        return has(self.before_all + self.after, "looks")

    def doubted(self) -> bool:
        """Whether it asks, hedges or has a condition."""
        before_all = RULES.DOUBT_OF_ANOTHER.sub("", self.before_all)
        sentence = before_all + RULES.REASONS.sub("", self.behind)
        if has(self.words, "not"):  # 'Sodium is not low (normal or high)': in brackets is why
            sentence = RULES.BRACKETS.sub("", sentence)
        led = has(self.before, "is answer right choose so points")  # its reason behind a colon
        after = self.after.split(KIND["colon"])[0] if led else self.after
        seems = has(self.before + after, "seems") and not RULES.SEEMS_RIGHT.match(self.after)
        return bool(
            seems
            or has(sentence, "maybe except or")
            or has(self.behind[-1:], "query")
            or RULES.SLASHED.search(self.before + NAMED[0] + self.after)
            or RULES.SO_TOO.search(self.after)
            or RULES.DOUBTS_BEFORE.search(before_all)
            or has(self.behind, "supposing")
            or RULES.SUPPOSED.search(self.before_all)
        )
