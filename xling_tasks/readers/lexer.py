"""Cut a reply into tokens: phrases, signs, line breaks and other words; for letters also options.

Kinds of tokens have names (`kinds.KIND`). Besides those of phrases:

    letter  letters of options            text     the whole text of an option
    prose   a letter in running prose     word     another word; capital: Chinese, Japanese, too
    stop    end of a sentence             dot      a dot that ends none ('C. difficile')
    line    a new line                    blank    an empty line
    bullet, number  head of a list's item    tick, cross, boxed ('final answer'), and signs

Quotes and stars leave no token.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import NamedTuple

import regex

from xling_tasks.readers.kinds import KIND, Grammar, named, row
from xling_tasks.readers.lexicon import CHARACTER, SIGNS, WORDS, Lexicon, lexicon, naming
from xling_tasks.readers.options import LOOK_ALIKE, TELLING, Options, tells, words_of
from xling_tasks.readers.plain import BULLET

LETTER, TEXT, PROSE, WORD, CAPITAL, STOP, DOT, TICK, CROSS = tuple(
    row("letter text prose word capital stop dot tick cross")
)
_CLOTHES = set('*_`#"“”„«»「」『』{}¿¡<>〈〉《》')
_LETTERS = regex.compile(r"[A-HАВСЕ]{1,8}")
# 'A) V', 'B: F': true and false in one letter.
_TRUE_FALSE = {"V": TICK, "T": TICK, "F": CROSS}
_LONGEST_NOUN = 4  # characters of a noun that a letter names a kind of ('ビタミンC')
_RUSSIAN_LETTERS = {"Б", "Г", "Д"}
# Words, not rows of letters.
_WORDS = {"AD", "BE", "BED", "CE", "DE", "ACE", "FACE"}
_JOINS = r"(?:[,、;&]|\band\b|\bet\b|\by\b|\bи\b|和|と|[ ])"
_LOWER_LINE = regex.compile(
    rf"(?m)(?:^|:)[\s\ue000\ue001*\"'`(\[]*"
    rf"([a-hавсе](?:[ ]?[*\"'`)\]]*[ ]*{_JOINS}[ ]*[*\"'`(\[]*[a-hавсе])*)[\s*\"'`)\].。}}]*$"
)
_LOWER_HEAD = regex.compile(
    r"(?m)(?:^|(?<=[:,;、\ue001(\[*]|\b(?:and|et|y|и)\b))[ ]*([a-hавсе])(?=\))"
)
_LOWER_JAPANESE = regex.compile(
    r"(?m)(?:^[ ]*([a-h])(?=[がはとで项項选])"
    r"|(?<=[はが、とや])[ ]*([a-h])(?=です|である|の|と|、|[。.]|$)"
    r"|(?<![^\s、,。.])([a-h])(?=[ :.)]*[○×◯✗✓]))"
)
_SHORT = 80  # characters
# 'the answer is c': a word of one letter does not end a short reply.
_LOWER_END = regex.compile(r"(?s)(?<![\p{Latin}\p{Cyrillic}'])([b-dfghвс])[ *\"'`)\].。!]*$")
_LOWER_BEFORE_TEXT = regex.compile(r"(?m)^[ \ue001*(]*([a-h])(?=(?:[ ]?[.):\-–—]|[ ])[ *]*(\S.*))")


_RULES = Grammar("""
SIGNS = [stop colon close dash open]
OWN_LETTER = letter SIGNS* $
HEAD = [letter text] SIGNS+ $
# Where a row of letters that could be a word ('ACE') stands as an answer does.
ANSWERS = ^$|[line blank colon boxed open open_square is are number bullet so] $
# A stop that belongs to an option's text.
WITHIN_TEXT = (?<=text) stop (?=[not chosen and end or but is are comma])
""")


class Tokens(NamedTuple):
    """A reply's tokens: the row of kinds and, at the same places, what each stands for."""

    kinds: str
    values: list[frozenset[str]]
    words: list[str]

    def __str__(self) -> str:
        return named(self.kinds)


class Lexer:
    """Cuts a reply by a dictionary of phrases; what a word is otherwise, a subclass may say."""

    signs: Mapping[str, str] = {sign: KIND[kind] for sign, kind in SIGNS.items()}
    blank = KIND["blank"]

    def __init__(self, text: str, phrases: Lexicon) -> None:
        self.phrases = phrases
        self.raw: list[str] = []
        self.gap: list[bool] = []  # whether a space or clothes stand before
        self.dressed: list[bool] = []
        gap = dressed = False
        for word in WORDS.findall(text):
            if word in _CLOTHES and word not in TELLING:
                dressed = True
            elif word == "\n" or not word.isspace():
                self.raw.append(word)
                self.gap.append(gap)
                self.dressed.append(dressed)
                gap = dressed = False
            else:
                gap = True
        self.dressed.append(dressed)
        self.low = [word.casefold() for word in self.raw]
        self.kinds: list[str] = []
        self.values: list[frozenset[str]] = []
        self.spans: list[tuple[int, int]] = []

    def tokens(self) -> Tokens | None:
        """The tokens; None where the reply cannot be read."""
        at, size = 0, len(self.raw)
        while at < size:
            at = self.next(at)
            if at < 0:
                return None
        self.mend()
        words = [" ".join(self.low[start:end]) for start, end in self.spans]
        return Tokens("".join(self.kinds), self.values, words)

    def next(self, at: int) -> int:
        """Add the token at a word; the place of the word after it, -1 where none can be read."""
        if self.raw[at] == "\n":
            return self.line(at)
        return self.phrase(at) or self.sign(at) or self.word(at)

    def mend(self) -> None:
        """Mend what only the tokens around show."""

    def add(self, kind: str, start: int, end: int, value: frozenset[str] = frozenset()) -> int:
        """Add a token; where it ends."""
        self.kinds.append(kind)
        self.values.append(value)
        self.spans.append((start, end))
        return end

    def line(self, at: int) -> int:
        """Add a line break; where it ends."""
        end = at + 1
        while end < len(self.raw) and self.raw[end] == "\n":
            end += 1
        return self.add(KIND["line"] if end - at == 1 else self.blank, at, end)

    def phrase(self, at: int) -> int:
        """Add the longest phrase; where it ends, 0 where there is none."""
        phrase = self.phrases.longest(self.low, at)
        return self.add(KIND[phrase[1]], at, at + phrase[0]) if phrase else 0

    def sign(self, at: int) -> int:
        """Add a sign."""
        kind = self.signs.get(self.raw[at])
        return self.add(kind, at, at + 1) if kind else 0

    def word(self, at: int) -> int:
        """Add another word: of one that a script without capitals writes, a run is one token."""
        word = self.raw[at]
        if not word[0].isalnum():
            return at + 1
        return self.run(KIND["foreign"], at) if word[0] >= "\u0900" else self.add(WORD, at, at + 1)

    def run(self, kind: str, at: int) -> int:
        """Add a word, to the token before it if that is of its kind."""
        if self.kinds and self.kinds[-1] == kind and self.spans[-1][1] == at:
            self.spans[-1] = (self.spans[-1][0], at + 1)
            return at + 1
        return self.add(kind, at, at + 1)

    def glued(self, at: int) -> bool:
        """Whether a token touches the one before it, and one of them is a word."""
        if not 0 < at < len(self.raw) or self.gap[at] or self.dressed[at]:
            return False
        return self.raw[at][0].isalnum() or self.raw[at - 1][0].isalnum()


def lex(text: str, options: Options) -> Tokens | None:
    """The tokens of an undressed reply; None where it uses the letters of the Russian alphabet."""
    return _Letters(_capitals(text, options), options, lexicon()).tokens()


def _capitals(text: str, options: Options) -> str:
    """The reply with lower-case letters of options in capitals, where they stand as an answer."""
    ends = (_LOWER_END,) if len(text) < _SHORT else ()
    for pattern in (_LOWER_LINE, _LOWER_HEAD, _LOWER_JAPANESE, *ends):
        text = pattern.sub(_raised, text)
    return _LOWER_BEFORE_TEXT.sub(lambda m: _raised_before(m, options), text)


def _raised(match: regex.Match[str]) -> str:
    # A further group, if any, is what follows the letter.
    group = next(at for at in range(1, match.re.groups + 1) if match.start(at) >= 0)
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    whole: str = match[0]
    letters = whole[start:end]
    upper = regex.sub(
        r"(?<!\p{L})[a-hавсе](?!\p{L})", lambda m: m[0].translate(LOOK_ALIKE).upper(), letters
    )
    return whole[:start] + upper + whole[end:]


def _raised_before(match: regex.Match[str], options: Options) -> str:
    words = words_of(match[2])
    at = options.longest(words, 0) if words else None
    return _raised(match) if at and at[1] == match[1].upper() else match[0]


class _Letters(Lexer):
    """The lexer of replies to a question with options."""

    def __init__(self, text: str, options: Options, phrases: Lexicon) -> None:
        super().__init__(text, phrases)
        self.options = options
        # Words without the signs that an option's text is compared without.
        self.kept = [i for i, word in enumerate(self.low) if tells(word)]
        self.place = {i: number for number, i in enumerate(self.kept)}
        self.kept_words = [self.low[i] for i in self.kept]

    def next(self, at: int) -> int:
        end = at
        while end < len(self.raw) and self._says_nothing(self.low[end]):
            end += 1
        if end > at:  # a run of Chinese or Japanese with which no phrase begins
            return self.add(CAPITAL, at, end)
        if self.raw[at] == "\n":
            return self.line(at)
        return self._option(at) or self._phrase_or_letter(at)

    def _says_nothing(self, word: str) -> bool:
        begins = word in self.phrases.first_words or word in self.options.first_words
        return word >= "\u2e80" and not begins and word.isalnum()

    def _option(self, at: int) -> int:
        """Add the text of an option, unless a phrase is longer."""
        if self.low[at] not in self.options.first_words:
            return 0
        text = self._option_text(at)
        phrase = self.phrases.longest(self.low, at)
        if text and (phrase is None or text[0] - at >= phrase[0]):
            return self.add(TEXT, at, text[0], frozenset({text[1]}))
        return 0

    def _phrase_or_letter(self, at: int) -> int:
        word = self.raw[at]
        phrase = self.phrases.longest(self.low, at)
        words = phrase and phrase[0] > 1 and word in "АВСЕ"  # 'В итоге'
        if word[0] < "\u2e80" and word[0].isalnum() and not words:
            end = self._letter_or_number(at)
            if end:
                return end
        if phrase:
            year = phrase[0] > 1 and self.low[at] == "ans" and not self._heads_line(at)
            return self.add(KIND[phrase[1]], at, at + (1 if year else phrase[0]))
        return self.sign(at) or self.word(at)

    def word(self, at: int) -> int:
        """Add another word."""
        word = self.raw[at]
        if not word[0].isalnum() and word not in TELLING and word != "ー":
            # What relates two letters ('A ≈ B'); else an apostrophe, a trade mark, a smile.
            relates = unicodedata.category(word[0]) == "Sm"
            return self.add(WORD, at, at + 1) if relates else at + 1
        if word[0] >= "\u2e80":
            own = self.kinds and self.raw[at - 1][0] >= "\u2e80"
            return self.run(CAPITAL, at) if own else self.add(CAPITAL, at, at + 1)
        return self.add(CAPITAL if word[0].isupper() else WORD, at, at + 1)

    def _letter_or_number(self, at: int) -> int:
        """Add a letter, or the number of a list's item; 0 where there is none."""
        word = self.raw[at]
        before = "".join(self.kinds[-4:])
        option = self.options.rows.get(word)
        if option:
            own = _RULES.OWN_LETTER.search(before)
            if own and self.values[len(self.kinds) - len(own[0])] == {option}:
                return self.add(TEXT, at, at + 1, frozenset({option}))
            return self.add(LETTER, at, at + 1, frozenset("?"))
        mark = _TRUE_FALSE.get(word)
        if mark and word not in self.options.keys and _RULES.HEAD.search(before):
            return self.add(mark, at, at + 1)
        number = self._number_head(at)
        if number:
            return self.add(KIND["number"], at, number)
        if word in _RUSSIAN_LETTERS and not self._joined(at):
            return 0 if at and self.low[at - 1].startswith("витамин") else -1
        letters = self._letters(at)
        return self.add(LETTER, at, at + 1, letters) if letters else 0

    def _option_text(self, at: int) -> tuple[int, str] | None:
        number = self.place.get(at)
        if number is None:
            return None
        match = self.options.longest(self.kept_words, number)
        if match is None:
            return None
        last = self.kept[number + match[0] - 1]
        if "\n" in self.raw[at:last] or self._within_number(at, last):
            return None
        return last + 1, match[1]

    def _within_number(self, first: int, last: int) -> bool:
        """Whether words begin or end within a number ('5 mg' of '1.5 mg', '2' of '2,5')."""
        return self._decimal(first - 1) or self._decimal(last + 1)

    def _decimal(self, at: int) -> bool:
        """Whether a dot or a comma stands between the digits of a number."""
        return (
            0 < at < len(self.raw) - 1
            and self.raw[at] in ".,"
            and self.raw[at - 1][-1].isdigit()
            and self.raw[at + 1][0].isdigit()
            and self.glued(at)
            and self.glued(at + 1)
        )

    def _number_head(self, at: int) -> int:
        """The end of '1.' at the head of a line; 0 where there is none."""
        if not self._heads_line(at):
            return 0
        word = self.raw[at]
        if not word.isdigit() or len(word) > 2 or self.options.numeric:
            return 0
        return at + 2 if self.raw[at + 1 : at + 2] in (["."], [")"]) else 0

    def _heads_line(self, at: int) -> bool:
        return at == 0 or self.raw[at - 1] in ("\n", BULLET)

    def _joined(self, at: int) -> bool:
        """Whether a word is glued to another by a hyphen or an apostrophe ('B-cell', "d'A")."""
        raw = self.raw
        if self.glued(at - 1) and self.glued(at) and raw[at - 1] in "-'":
            return True
        if self.glued(at + 1) and self.glued(at + 2) and raw[at + 1] in "-'":
            text = self._option_text(at + 2)
            return not (text and text[1] == raw[at].translate(LOOK_ALIKE))
        return False

    def _letters(self, at: int) -> frozenset[str] | None:
        word = self.raw[at]
        if not _LETTERS.fullmatch(word) or self._joined(at):
            return None
        if word == "ВСЕ" or (word in _WORDS and not self._stands_alone(at)):
            return None
        if any(
            (noun := naming().longest(self.low, at - far)) and noun[0] == far
            for far in range(1, min(at, _LONGEST_NOUN) + 1)
        ):
            return None  # 'vitamin C', 'type A'
        letters = word.translate(LOOK_ALIKE)
        if len(letters) > 1:
            ascending = list(letters) == sorted(set(letters))
            known = letters in self.options.short_for or letters in self.options.words_in_texts
            if not ascending or known:
                return None
        return frozenset(letters)

    def _stands_alone(self, at: int) -> bool:
        """Whether a row of letters that could be a word ('ACE') stands where an answer does."""
        after = self.raw[at + 1 : at + 2]
        answers = _RULES.ANSWERS.search("".join(self.kinds[-1:]))
        return bool(answers) and not (after and after[0][0].isalnum())

    def mend(self) -> None:
        """Letters that are words of the prose, and dots that end no sentence."""
        kinds, spans = self.kinds, self.spans
        for match in reversed([*_RULES.WITHIN_TEXT.finditer("".join(kinds))]):
            i = match.start()
            if self.raw[spans[i][0]] == "。":
                del kinds[i], self.values[i], spans[i]
        for i, kind in enumerate(kinds[:-1]):
            if kind == LETTER:
                kinds[i] = PROSE if self._in_prose(i) else LETTER
            elif kind == STOP and kinds[i + 1] in (WORD, LETTER) and self._ends_none(i):
                kinds[i] = DOT

    def _in_prose(self, i: int) -> bool:
        """Whether a word follows a letter closely."""
        at = self.spans[i + 1][0]
        close = not self.dressed[at]
        # 'The answer is B. A CT scan was done.'
        article = self.raw[self.spans[i][0]] == "A" and i and self.kinds[i - 1] == STOP
        if article and close and self.kinds[i + 1 : i + 3] in ([CAPITAL, WORD], [CAPITAL, CAPITAL]):
            return True
        han = self.kinds[i + 1] == CAPITAL and CHARACTER.match(self.raw[at])
        return close and bool(self.kinds[i + 1] == WORD or han)

    def _ends_none(self, i: int) -> bool:
        """Whether a dot stands within a sentence: what follows is no beginning of one."""
        if self.raw[self.spans[i][0]] != ".":
            return False
        word = self.raw[self.spans[i + 1][0]]
        article = word == "A" and i > 1 and self.kinds[i - 2] not in row("line blank bullet number")
        letter = self.kinds[i + 1] == LETTER and self.kinds[i + 2 : i + 3] == [WORD]
        return word[0].islower() or word[0].isdigit() or (letter and not article)
