"""Cut a reply with a Yes or No into tokens."""

from __future__ import annotations

import regex

from xling_tasks.readers.kinds import KIND, has, row
from xling_tasks.readers.lexer import Lexer, Tokens
from xling_tasks.readers.lexicon import SIGNS, lexicon
from xling_tasks.readers.verdict_grammar import RULES
from xling_tasks.readers.verdict_judged import (
    bare_word,
    denials,
    forgotten,
    judged,
    limited,
    one_token,
    says_itself,
    sentence_start,
)

_SAME = {"semicolon": "comma", "open_square": "open", "close_square": "close", "and": "or",
         "tick": "comma", "cross": "comma"}  # fmt: skip
_USED = "stop query comma colon open close dash slash line bullet boxed or so".split()  # noqa: SIM905

_SEVERAL_THINGS = {"si", "पर", ";", "对", "不", "是"}  # words that say it by what is around them
_SAYS_OF = "subject noun adverb fully is not no opinion"


# Traditional characters as simplified ones, and one sign for both nasals of Hindi: the words of the
# verdicts' phrases, which stand in the files in this form alone.
_SPELLED = str.maketrans(
    "確對錯誤這個該為應覺認據準並沒無斷結論說題問雖後從還與實醫經關於樣會給評價當頭資訊內這們過時"
    "寫讀見請謝將讓標選擇則卻險傷學識標點來難準沒幾種講發現麼嗎妳總體議簡單詳細適歲藥劑間ँ",
    "确对错误这个该为应觉认据准并没无断结论说题问虽后从还与实医经关于样会给评价当头资讯内这们过时"
    "写读见请谢将让标选择则却险伤学识标点来难准没几种讲发现么吗你总体议简单详细适岁药剂间ं",
)
_WHOLE = {
    "can't": "cannot", "can not": "cannot", "won't": "will not", "n't": " not", "'m": " am",
    "'ll": " will", "'d": " would", "'ve": " have", "'re": " are",
    "cant": "cannot", "dont": "do not", "doesnt": "does not", "isnt": "is not", "thats": "that is",
}  # fmt: skip
_CONTRACTED = regex.compile(
    r"\b(?:can't|can not|won't|cant|dont|doesnt|isnt|thats)\b|(?<=\w)(?:n't|'(?:m|ll|d|ve|re))\b",
    regex.I,
)


_GAP = regex.compile(r"(?<=\p{Han}) +(?=\p{Han})")
_CLAUSE = 4  # characters: between spaces, words are shorter


def spelled(text: str) -> str:
    """A text in the spelling of the phrases: no contractions, simplified characters.

    Spaces of Chinese end clauses ('不对 流鼻血的时候不能仰头'), if they don't part words.
    """
    pieces = _GAP.split(text)
    if len(pieces) > 1 and len(text) >= _CLAUSE * len(pieces):
        text = ", ".join(pieces)
    text = _CONTRACTED.sub(lambda match: _WHOLE[match[0].lower()], text)
    return text if text.isascii() else text.translate(_SPELLED)


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
        if self.low[at] == "是" and self.dressed[at + 1]:  # '是“否”' is no 'whether'
            found = self.phrases.longest(["是"], 0)
        if found and found[1] == "offer" and found[0] > 1:  # 'I can' of 'I can't judge'
            after = self.phrases.longest(self.low, at + 1)
            found = (after[0] + 1, "refusal") if after and after[1] == "refusal" else found
        if found and found[1] == "polite" and found[0] > 1 and has(self.kinds[-1:], _SAYS_OF):
            # 'The answer is right, ...', 'उत्तर ठीक है, ...': polite only where it leads
            found = self.phrases.longest(self.low[: at + found[0] - 1], at)
        return self.add(KIND[found[1]], at, at + found[0]) if found else 0

    def sign(self, at: int) -> int:
        if self.raw[at] not in self.signs:
            return 0
        hyphen = self.raw[at] == "-" and self.glued(at) and self.glued(at + 1)
        # A mark ends a clause only between words: 'Incorrecta ❌ la dosis ...'.
        mark = SIGNS.get(self.raw[at]) in ("tick", "cross")
        ends = self.raw[at + 1 : at + 2] in ([], ["\n"])
        if mark and ends and has(self.kinds[-1:], "colon"):  # 'Correct: ❌'
            return self.add(KIND["yes" if SIGNS[self.raw[at]] == "tick" else "no"], at, at + 1)
        around = self.raw[max(at - 1, 0) : at] + self.raw[at + 1 : at + 2]
        beside = mark and not all(word[0].isalnum() for word in around)
        return 0 if hyphen or beside else super().sign(at)

    def mend(self) -> None:
        """是 joins an answer and what it is, or says Yes; 不是 before what is wrong denies it.

        对 before other words is part of them. A semicolon before a statement about the answer ends
        a sentence. Spanish 'si' without its accent is 'if' where a clause and a comma follow; Hindi
        'पर' behind a noun is 'on'.
        """
        kinds = self.kinds
        for i, (start, end) in enumerate(self.spans[:-1]):
            said = self.low[start:end]
            if said[0] not in _SEVERAL_THINGS and kinds[i] != KIND["yes"]:
                continue
            before, after = "".join(kinds[:i][-1:]), kinds[i + 1]
            about = has(before, "noun subject")
            if said == ["si"] and RULES.IF.match("".join(kinds[i + 1 :])):
                kinds[i] = KIND["supposing"]
            elif said == ["पर"] and (about or has(before, "foreign word")):
                kinds[i] = KIND["word"]
            elif said == [";"] and has(after, "subject is opinion so"):
                kinds[i] = KIND["stop"]
            elif (
                about and has(kinds[i], "yes") and said[0] >= "\u2e80" and said != ["是"]
            ):  # '答案没错'
                kinds[i] = KIND["right"]
            elif said == ["对"] and has(after, "foreign subject question"):
                kinds[i] = KIND["foreign"]  # '对乙酰氨基酚', '对儿童'
            elif said == ["不", "是"] and has(after, "wrong"):
                kinds[i] = KIND["not"]
            elif said == ["是"]:
                joins = not has(after, "stop comma line query open close" + " colon" * (not about))
                led = about or has(before, "foreign adverb offer opinion doubt so or")
                opens = not i and has(after, "right wrong adverb")
                kinds[i] = KIND["is"] if opens or (led and joins) else kinds[i]


def _as_one(kinds: str, words: list[str], rule: regex.Pattern[str]) -> str:
    """The kinds, where what a rule finds is one token of its meaning."""
    for match in reversed([*rule.finditer(kinds)]):
        start, end = match.span()
        kind = "flawed" if rule is RULES.FAILS else "fine"
        if rule is RULES.AGREES:
            denied = denials(match, words, "before") + denials(match, words, "after")
            own = has(match["before"], "self offer") or not has(match["before"], "word foreign")
            about = has(match[0], "subject") or (not start and RULES.AGREES_ALONE.match(kinds))
            if not own or not about:
                continue
            kind = "flawed" if has(match["what"], "disagree") != bool(denied) else "fine"
        kinds = one_token(kinds, words, (start, end), kind)
    return kinds


def _of_a_drug(kinds: str, words: list[str]) -> str:
    """The kinds, without harm that the matter does ('It thins the blood, so it is dangerous')."""
    for match in RULES.HARMS.finditer(kinds):
        at = match.start()
        before = range(sentence_start(kinds, at), at)
        bare = all(bare_word(words[i]) for i in before if has(kinds[i], "subject"))
        if bare and limited(words[at], "harms") and says_itself([words[i] for i in before]):
            kinds = kinds[:at] + KIND["word"] + kinds[at + 1 :]
    return kinds


_GRANTED = {ord(kind): KIND["but"] for kind in row("concession granted")}
_SAID_NOTHING = {ord(kind): KIND["word"] for kind in row("replies polite")}


def lex_verdict(text: str) -> Tokens:
    """The tokens of an undressed reply; what is granted, polite or a form's choice says nothing."""
    tokens = _Lexer(spelled(text), lexicon("verdict")).tokens()
    assert tokens is not None
    words = tokens.words
    kinds = _composed(tokens.kinds, words)
    kinds = _led(_of_its_question(kinds, words) if has(kinds, "query") else kinds, words)
    return Tokens(kinds, tokens.values, words)


def _composed(kinds: str, words: list[str]) -> str:
    """The kinds, with one token for what is made of several: the answer, and a judgement of it."""
    several = kinds.count(KIND["subject"]) > 1
    for rule in (RULES.ALL_OF_IT, RULES.SUBJECTS) if several or has(kinds, "whole") else ():
        for match in reversed([*rule.finditer(kinds)]):
            first = match.start() - (rule is RULES.SUBJECTS)
            kinds = one_token(kinds, words, (first, match.end()), "subject")
    kinds = forgotten(kinds, words, "within whole")
    if has(kinds, "concession granted"):
        kinds = RULES.GRANTED.sub(
            lambda match: KIND["according"] + RULES.GRANTS.sub(KIND["word"], match[0])[1:], kinds
        )
        kinds = RULES.GRANTED_AFTER.sub(lambda match: KIND["word"] * len(match[0]), kinds)
        kinds = kinds.translate(_GRANTED)
    if has(kinds, "or slash"):
        kinds = RULES.FORM.sub(lambda match: KIND["query"] * len(match[0]), kinds)
    if has(kinds, "so") and has(kinds, "wrong"):
        kinds = _of_a_drug(kinds, words)
    if has(kinds, "question"):
        kinds = _as_one(kinds, words, RULES.FAILS)
        kinds = _as_one(kinds, words, RULES.MEETS)
    if has(kinds, "agree disagree"):
        kinds = RULES.CANNOT_AGREE.sub(KIND["not"], kinds)
        kinds = _as_one(kinds, words, RULES.AGREES)
    if has(kinds, "am"):
        kinds = RULES.SPEAKER.sub(lambda match: KIND["word"] * len(match[0]), kinds)
    return forgotten(judged(kinds, words), words, "am self judges marks shows fault matter")


def _of_its_question(kinds: str, words: list[str]) -> str:
    """The kinds, without a Yes or No to a question of another matter ('Is it contagious? Yes.')."""
    for match in RULES.ANSWERED.finditer(kinds):
        start, at = sentence_start(kinds, match.start()), match.start("said")
        asked = kinds[start : match.start()]
        named = (words[i] for i, kind in enumerate(asked, start) if has(kind, "subject noun"))
        judges = has(asked, "right fine agree noun") and not all(map(bare_word, named))
        other = has(asked, "word foreign question") and not judges
        if other or has(asked, "no wrong flawed fails fault"):
            kinds = kinds[:at] + KIND["word"] + kinds[at + 1 :]
    return kinds


def _led(kinds: str, words: list[str]) -> str:
    """The kinds without what leads to the reply proper: polite words, a question, a disclaimer."""
    if has(kinds, "unsure but"):
        kinds = RULES.MORE_BLAME.sub(
            lambda match: KIND["or"] + RULES.DOUBTS.sub(KIND["adverb"], match[0][1:]), kinds
        )
    if has(kinds, "line"):
        kinds = RULES.HEADING.sub(lambda match: match[0][:-1] + KIND["colon"], kinds)
    if has(kinds, "colon"):
        kinds = RULES.RESTATED.sub(lambda match: KIND["word"] * len(match[0]), kinds)
    asked = RULES.ASKED_ONLY.match(kinds) if has(kinds, "query") else None
    if asked:
        said = "yes" if has(asked["says"], "is") else "no"
        kinds = one_token(kinds, words, asked.span("says"), said)
    if has(kinds, "polite"):
        kinds = RULES.COURTESY.sub(lambda match: KIND["stop"] * len(match[0]), kinds)
    for rule, needs in (
        (RULES.POLITE, "polite emphatic"),
        (RULES.ASKED, "query asked"),
        (RULES.DISCLAIMER, "but supposing"),
    ):
        before = rule.match(kinds) if has(kinds, needs) else None
        if before:
            kinds = kinds[before.end() :]
            del words[: before.end()]
    alone = RULES.NOT_ALONE.match(kinds) if has(kinds, "not") else None
    if alone:
        kinds = one_token(kinds, words, alone.span(), "no")
    if has(kinds, "certain emphatic"):
        # 'Absolutely.' as the whole reply, before a colon or before a word of verdict
        kinds = RULES.CERTAIN.sub(KIND["yes"], kinds).replace(KIND["certain"], KIND["adverb"])
        kinds = RULES.EMPHATIC.sub(KIND["yes"], kinds).replace(KIND["emphatic"], KIND["adverb"])
    return kinds.translate(_SAID_NOTHING)
