"""Cut a reply with a Yes or No into tokens."""

from __future__ import annotations

import regex

from xling_tasks.readers.kinds import KIND, has, row
from xling_tasks.readers.lexer import Lexer, Tokens
from xling_tasks.readers.lexicon import SIGNS, lexicon
from xling_tasks.readers.verdict_grammar import RULES

_SAME = {"semicolon": "comma", "open_square": "open", "close_square": "close", "and": "or"}
_USED = "stop query comma colon open close dash slash line bullet boxed or".split()  # noqa: SIM905


class _Lexer(Lexer):
    """The lexer of verdicts: fewer signs; a hyphen within a word is none."""

    signs = {
        sign: KIND[_SAME.get(kind, kind)]
        for sign, kind in SIGNS.items()
        if _SAME.get(kind, kind) in _USED
    } | {"】": KIND["colon"]}
    blank = KIND["line"]

    def phrase(self, at: int) -> int:
        found = self.phrases.longest(self.low, at)
        if found and found[1] == "offer" and found[0] > 1:  # 'I can' of 'I can't judge'
            after = self.phrases.longest(self.low, at + 1)
            found = (after[0] + 1, "refusal") if after and after[1] == "refusal" else found
        return self.add(KIND[found[1]], at, at + found[0]) if found else 0

    def sign(self, at: int) -> int:
        hyphen = self.raw[at] == "-" and self.glued(at) and self.glued(at + 1)
        return 0 if hyphen else super().sign(at)

    def mend(self) -> None:
        """是 joins an answer and what it is, or says Yes; 不是 before what is wrong denies it.

        A semicolon before a statement about the answer ends a sentence.
        """
        kinds, about_it = self.kinds, row("noun subject")
        for i, (start, _) in enumerate(self.spans[:-1]):
            if self.raw[start] == ";" and kinds[i + 1] in row("subject is opinion so"):
                kinds[i] = KIND["stop"]
        for i in range(len(kinds) - 1 if "是" in self.raw else 0):
            said = self.raw[self.spans[i][0] : self.spans[i][1]]
            about = i and kinds[i - 1] in about_it
            colon = about and kinds[i + 1] == KIND["colon"]
            joins = colon or kinds[i + 1] not in row("stop comma colon line query open close")
            led = about or (i and kinds[i - 1] in row("foreign adverb offer opinion so"))
            opens = i == 0 and kinds[1] in row("right wrong adverb")
            if said == ["是"] and (opens or (led and joins)):
                kinds[i] = KIND["is"]
            elif said == ["不", "是"] and kinds[i + 1] == KIND["wrong"]:
                kinds[i] = KIND["not"]


def _as_one(kinds: str, words: list[str], rule: regex.Pattern[str]) -> str:
    """The kinds, where what a rule finds is one token of its meaning."""
    for match in reversed([*rule.finditer(kinds)]):
        start, end = match.span()
        kind = "fails" if rule is RULES.FAILS else "fine"
        if rule is RULES.AGREES:
            denied = RULES.DENIED.search(match["before"] + match["after"])
            if not has(match[0], "subject"):
                continue
            kind = "flawed" if has(match["what"], "disagree") != bool(denied) else "fine"
        kinds = kinds[:start] + KIND[kind] + kinds[end:]
        words[start:end] = [" ".join(words[start:end])]
    return kinds


def lex_verdict(text: str) -> Tokens:
    """The tokens of an undressed reply; what is granted, polite or a form's choice says nothing."""
    tokens = _Lexer(text, lexicon("verdict")).tokens()
    assert tokens is not None
    kinds, words = tokens.kinds, tokens.words
    word, query, colon = tuple(row("word query colon"))
    kinds = RULES.GRANTED.sub(
        lambda match: KIND["according"] + RULES.GRANTS.sub(word, match[0])[1:], kinds
    )
    kinds = RULES.GRANTED_AFTER.sub(lambda match: word * len(match[0]), kinds)
    kinds = RULES.FORM.sub(lambda match: query * len(match[0]), kinds)
    kinds = kinds.translate({ord(kind): KIND["but"] for kind in row("concession granted")})
    if has(kinds, "question"):
        kinds = _as_one(kinds, words, RULES.FAILS)
        kinds = _as_one(kinds, words, RULES.MEETS)
    if has(kinds, "agree disagree"):
        kinds = _as_one(kinds, words, RULES.AGREES)
    kinds = RULES.MORE_BLAME.sub(
        lambda match: KIND["or"] + RULES.DOUBTS.sub(KIND["adverb"], match[0][1:]), kinds
    )
    kinds = RULES.HEADING.sub(lambda match: match[0][:-1] + colon, kinds)
    kinds = RULES.COURTESY.sub(lambda match: KIND["stop"] * len(match[0]), kinds)
    for rule in (RULES.POLITE, RULES.ASKED, RULES.DISCLAIMER):
        before = rule.match(kinds)
        if before:
            kinds = kinds[before.end() :]
            del words[: before.end()]
    # 'Absolutely.' as the whole reply, before a colon or before a word of verdict
    kinds = RULES.EMPHATIC.sub(KIND["yes"], kinds).replace(KIND["emphatic"], KIND["adverb"])
    kinds = kinds.translate({ord(kind): word for kind in row("replies polite")})
    return Tokens(kinds, tokens.values, words)
