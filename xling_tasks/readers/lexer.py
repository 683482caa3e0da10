"""Cut a reply to a multiple-choice question into tokens: letters, option texts, phrases, signs.

A token has a kind of one character, so the kinds of a reply are a string, and rules are patterns
over that string. Besides the kinds of phrases (`lexicon.KINDS`):

    L  letters of options         T  the whole text of an option
    m  a letter in running prose  x, U  another word (U: capitalised, or Chinese or Japanese)
    .  end of a sentence          ~  a dot that ends none ('C. difficile')
    ,  ;  :  ?  (  )  [  ]  /     as they are
    -  a dash                     n  a new line       p  an empty line
    *  9  head of a list's item   t  a tick           F  a cross        #  'final answer'

Quotes and stars leave no token.
"""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

import regex

from xling_tasks.readers.letter_grammar import HEADING
from xling_tasks.readers.lexicon import CHARACTER, WORDS, Lexicon, lexicon, naming, signs
from xling_tasks.readers.options import LOOK_ALIKE, TELLING, Options, tells, words_of
from xling_tasks.readers.plain import BULLET

_SIGNS = signs({
    ",": "،", ";": ";", "(": "〔", ")": "〕", "[": "[【", "]": "]】", "-": "~〜～−", "/": "\\",
    "&": "&+・·", "s": "→⇒➜∴", "t": "✓√✅✔☑○◯⭕🟢👍", "F": "✗❌✘×✖☒❎☐🔴👎",
})  # fmt: skip
_CLOTHES = set('*_`#"“”„«»「」『』{}¿¡<>〈〉《》')
_LETTERS = regex.compile(r"[A-HАВСЕ]{1,8}")
# 'A) V', 'B: F': true and false in one letter.
_TRUE_FALSE = {"V": "t", "T": "t", "F": "F"}
_AFTER_HEAD = r"[LT][.:)\-(]+$"
_RUSSIAN_LETTERS = {"Б", "Г", "Д"}
# Words, not rows of letters.
_WORDS = {"AD", "BE", "BED", "CE", "DE", "ACE", "FACE"}
_JOINS = r"(?:[,、;&]|\band\b|\bet\b|\by\b|\bи\b|和|と|[ ])"
_LOWER_LINE = regex.compile(
    rf"(?m)(?:^|:)[\s\ue000\ue001*\"'`(\[]*"
    rf"([a-hавсе](?:[ ]?[*\"'`)\]]*[ ]*{_JOINS}[ ]*[*\"'`(\[]*[a-hавсе])*)[\s*\"'`)\].。}}]*$"
)
_LOWER_HEAD = regex.compile(r"(?m)(?:^|(?<=[:,;、\ue001(\[*]))[ ]*([a-hавсе])(?=\))")
_LOWER_JAPANESE = regex.compile(
    r"(?m)(?:^[ ]*([a-h])(?=[がはとで项項选])"
    r"|(?<=[はが、とや])[ ]*([a-h])(?=です|である|の|と|、|[。.]|$)"
    r"|(?<![^\s、,。.])([a-h])(?=[ :.)]*[○×◯✗✓]))"
)
_LOWER_BEFORE_TEXT = regex.compile(r"(?m)^[ \ue001*(]*([a-h])(?=(?:[ ]?[.):\-–—]|[ ])[ *]*(\S.*))")


class Tokens(NamedTuple):
    """A reply's tokens: the string of kinds and, at the same places, what each stands for."""

    kinds: str
    values: list[frozenset[str]]
    words: list[str]


def lex(text: str, options: Options) -> Tokens | None:
    """The tokens of an undressed reply; None where it uses the letters of the Russian alphabet."""
    return _Lexer(_capitals(text, options), options, lexicon()).tokens()


def _capitals(text: str, options: Options) -> str:
    """The reply with lower-case letters of options in capitals, where they stand as an answer."""
    for pattern in (_LOWER_LINE, _LOWER_HEAD, _LOWER_JAPANESE):
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


class _Lexer:
    def __init__(self, text: str, options: Options, phrases: Lexicon) -> None:
        self.options, self.phrases = options, phrases
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
        # Words without the signs that an option's text is compared without.
        self.kept = [i for i, word in enumerate(self.low) if tells(word)]
        self.place = {i: number for number, i in enumerate(self.kept)}
        self.kept_words = [self.low[i] for i in self.kept]
        self.kinds: list[str] = []
        self.values: list[frozenset[str]] = []
        self.spans: list[tuple[int, int]] = []

    def tokens(self) -> Tokens | None:
        at, size = 0, len(self.raw)
        begins = (self.phrases.first_words, self.options.first_words)
        while at < size:
            end = at
            while end < size and self._says_nothing(self.low[end], *begins):
                end += 1
            if end > at:  # a run of Chinese or Japanese with which no phrase begins
                self._add("U", at, end)
            at = end if end > at else self._next(at)
            if at < 0:
                return None
        self._mend()
        self._head()
        words = [" ".join(self.low[start:end]) for start, end in self.spans]
        return Tokens("".join(self.kinds), self.values, words)

    def _head(self) -> None:
        """Give a line that is a label alone ('### Answer') the colon that it would have."""
        for match in reversed([*HEADING.finditer("".join(self.kinds))]):
            at, place = match.end(), self.spans[match.end()][0]
            self.kinds.insert(at, ":")
            self.values.insert(at, frozenset())
            self.spans.insert(at, (place, place))

    @staticmethod
    def _says_nothing(word: str, phrases: frozenset[str], texts: frozenset[str]) -> bool:
        return word >= "\u2e80" and word not in phrases and word not in texts and word.isalnum()

    def _add(self, kind: str, start: int, end: int, value: frozenset[str] = frozenset()) -> int:
        self.kinds.append(kind)
        self.values.append(value)
        self.spans.append((start, end))
        return end

    def _next(self, at: int) -> int:
        """Add the token at a word; the place of the word after it, -1 where none can be read."""
        word, low = self.raw[at], self.low[at]
        if word == "\n":
            end = at
            while end < len(self.raw) and self.raw[end] == "\n":
                end += 1
            return self._add("n" if end - at == 1 else "p", at, end)
        text = self._option_text(at) if low in self.options.first_words else None
        phrase = self.phrases.longest(self.low, at)
        if phrase and phrase[0] > 1 and low == "ans" and not self._heads_line(at):
            phrase = (1, phrase[1])  # '65 ans.' of French, with the end of its sentence
        if text and (phrase is None or text[0] - at >= phrase[0]):
            return self._add("T", at, text[0], frozenset({text[1]}))
        words = phrase and phrase[0] > 1 and word in "АВСЕ"  # 'В итоге'
        if word[0] < "\u2e80" and word[0].isalnum() and not words:
            end = self._letter_or_number(at)
            if end:
                return end
        if phrase:
            return self._add(phrase[1], at, at + phrase[0])
        if word in _SIGNS:
            return self._add(_SIGNS[word], at, at + 1)
        if not word[0].isalnum() and word not in TELLING and word != "ー":
            if unicodedata.category(word[0]) == "Sm":
                return self._add("x", at, at + 1)  # what relates two letters ('A ≈ B')
            return at + 1  # an apostrophe, a trade mark, a smile
        if word[0] >= "\u2e80":
            if self.kinds and self.kinds[-1] == "U" and self.raw[at - 1][0] >= "\u2e80":
                self.spans[-1] = (self.spans[-1][0], at + 1)
                return at + 1
            return self._add("U", at, at + 1)
        return self._add("U" if word[0].isupper() else "x", at, at + 1)

    def _letter_or_number(self, at: int) -> int:
        """Add a letter, or the number of a list's item; 0 where there is none."""
        word = self.raw[at]
        row = self.options.rows.get(word)
        if row:
            own = regex.search(r"L[.:)\-(]*$", "".join(self.kinds[-4:]))
            if own and self.values[len(self.kinds) - len(own[0])] == {row}:
                return self._add("T", at, at + 1, frozenset({row}))
            return self._add("L", at, at + 1, frozenset("?"))
        mark = _TRUE_FALSE.get(word)
        if (
            mark
            and word not in self.options.keys
            and regex.search(_AFTER_HEAD, "".join(self.kinds[-3:]))
        ):
            return self._add(mark, at, at + 1)
        number = self._number_head(at)
        if number:
            return self._add("9", at, number)
        if word in _RUSSIAN_LETTERS and not self._joined(at):
            return 0 if at and self.low[at - 1].startswith("витамин") else -1
        letters = self._letters(at)
        return self._add("L", at, at + 1, letters) if letters else 0

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
            and self._glued(at)
            and self._glued(at + 1)
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
        if self._glued(at - 1) and self._glued(at) and raw[at - 1] in "-'":
            return True
        if self._glued(at + 1) and self._glued(at + 2) and raw[at + 1] in "-'":
            text = self._option_text(at + 2)
            return not (text and text[1] == raw[at].translate(LOOK_ALIKE))
        return False

    def _glued(self, at: int) -> bool:
        """Whether a token touches the one before it, and one of them is a word."""
        if not 0 < at < len(self.raw) or self.gap[at] or self.dressed[at]:
            return False
        return self.raw[at][0].isalnum() or self.raw[at - 1][0].isalnum()

    def _letters(self, at: int) -> frozenset[str] | None:
        word = self.raw[at]
        if not _LETTERS.fullmatch(word) or self._joined(at):
            return None
        if word == "ВСЕ" or (word in _WORDS and not self._stands_alone(at)):
            return None
        if at and naming().longest(self.low, at - 1):
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
        before, after = "".join(self.kinds[-1:]), self.raw[at + 1 : at + 2]
        return before in ("", *"np:#([ij9*s") and not (after and after[0][0].isalnum())

    def _mend(self) -> None:
        """Letters that are words of the prose, and dots that end no sentence."""
        kinds, spans = self.kinds, self.spans
        for i in range(len(kinds) - 2, 0, -1):  # a stop that belongs to an option's text
            inside = kinds[i] == "." and kinds[i - 1] == "T" and kinds[i + 1] in "!C&z|vij,"
            if inside and self.raw[spans[i][0]] == "。":
                del kinds[i], self.values[i], spans[i]
        for i, kind in enumerate(kinds):
            after = kinds[i + 1] if i + 1 < len(kinds) else ""
            if kind == "L":
                word = after and self.raw[spans[i + 1][0]]
                close = after and not self.dressed[spans[i + 1][0]]
                if (after == "x" and close) or (after == "U" and close and CHARACTER.match(word)):
                    kinds[i] = "m"
            elif kind == "." and after in ("x", "L") and self.raw[spans[i][0]] == ".":
                word = self.raw[spans[i + 1][0]]
                further = kinds[i + 2] if i + 2 < len(kinds) else ""
                article = word == "A" and i > 1 and kinds[i - 2] not in "np*9"
                letter = after == "L" and further == "x" and not article
                if word[0].islower() or word[0].isdigit() or letter:
                    kinds[i] = "~"
