"""The lexer of replies to a question with options: letters, in capitals or not, and texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

import regex

from xling_tasks.readers.kinds import KIND, LETTERED, Grammar, has, row
from xling_tasks.readers.lexer import Lexer, Tokens
from xling_tasks.readers.lexicon import CHARACTER, Lexicon, lexicon
from xling_tasks.readers.options import LOOK_ALIKE, TELLING, Options, stem, tells
from xling_tasks.readers.plain import BULLET

LETTER, TEXT, PROSE, WORD, CAPITAL, STOP, DOT, TICK, CROSS = tuple(
    row("letter text prose word capital stop dot tick cross")
)
_LETTERS = regex.compile(r"[A-HАВСЕ]{1,8}")
# 'A) V', 'B: F': true and false in one letter.
_TRUE_FALSE = {"V": TICK, "T": TICK, "F": CROSS}
_LONGEST_NOUN = 4  # characters of a noun that a letter names a kind of ('ビタミンC')
_RUSSIAN_LETTERS = {"Б", "Г", "Д"}
_RUSSIAN_ORDER = "АБВГДЕЖЗ"
_SMILE = regex.compile(r"[\U0001f600-\U0001f60f\U0001f642]")  # faces that doubt nothing
_PICTURE = regex.compile(r"[\U0001f300-\U0001faff]")
# Words, not rows of letters.
_WORDS = {"AD", "BE", "BED", "CE", "DE", "ACE", "FACE"}
# Lower-case letters of options, of which some are words, too ('a', 'e', 'и в').
_LOWER, _LOWER_WORDS = set("abcdefghавсе"), set("aeавсе")
_SHORT = 25  # words and signs of a reply that a lower-case letter may end
_HAN = regex.compile(r"[\p{Han}\p{Katakana}ー]")
_AFTER_RUSSIAN = row("word has looks maybe supposing article option answer advised")
_NTH = row("first second third fourth fifth last")

_RULES = Grammar("""
SIGNS = [stop colon close dash open]
OWN_LETTER = letter SIGNS* $
HEAD = [letter text] SIGNS+ $
# An option, perhaps with a particle: a picture behind it ends the sentence.
CLOSED = [letter text] (?:end dash?)? $
# Where a row of letters that could be a word ('ACE') stands as an answer does.
ANSWERS = ^$|(?:[line blank colon boxed open_square is are number bullet so]
 |(?<![word capital]) open) $
# What stands before a lower-case letter that is an option's, and behind it.
STARTS = [line blank bullet number]
LOWER_BEFORE = (?:(?:^|STARTS) [article letter]*|[colon open open_square boxed dash tick cross
 answer answers option options label is are right choose so points explains_best final both
 seems and or]
 |letter [close close_square]* [comma and]+|[answer choose option] comma) article? $
LOWER_BEHIND = [is are seems right wrong not because so chosen explains explains_best end and or
 comma semicolon colon close close_square dash tick cross option query slash]
# 'The correct answer is a' may have been cut off.
CUT = [is are right article option answer choose] $
NTH = [first second third fourth fifth last]
# 'The answer is the fourth:', 'I pick the second one': a place behind words for an answer.
CHOSEN_NTH = [answer right] [article final right option]* (?:[is are dash]+|colon) [article both]*
 NTH option? (?=(?:[dash comma colon open] article*|article+) text) |(?:answer [article final
 right]* is article+|choose [article comma]* article |[choose so] [article both word]* (?=NTH
 article? option)) NTH article? option? end* (?=[stop colon because line blank]|comma (?!article*
 (?:NTH|letter))|$) |choose NTH end* (?=[stop colon because dash line blank]|$)|(?:answer [final
 right]*|(?<=^|[stop line blank]) article* (?:right|option wrong|wrong option)) (?:[is dash]|is
 comma because comma) article* NTH end* (?=[stop line blank]|$)
ORDINAL = NTH (?:article? option [article option comma open]+|article) letter
 |NTH article? [option options]|option NTH|CHOSEN_NTH
# 'The second option, naloxone', 'The first option is right': no 'first choice of treatment'.
NAMED_NTH = (?:(?P<text>[comma dash colon open] article* text) [close end]*|[is are] right end*)
 (?=[stop comma line blank because]|$) (?!comma [word capital is are])
# 'Surgery is the last option'
SUBJECT = [word capital text] article* [is are dash]+ article* $
# 'A is too slow' says how much.
DEGREE = (?<=[is are]) also (?=word|wrong)
# 'Actually, B', 'No, it is actually B'; 'Smoking actually protects' corrects nothing.
CORRECTS = (?<=^|[stop query comma semicolon colon line blank open dash but no so]) actually
 |actually (?=[^stop query line blank]* [letter text])
# 'Options A to D', 'от A до D': the first and the last, with a word that is none of ours between.
SPAN = letter [word capital] letter
# A stop that belongs to an option's text.
WITHIN_TEXT = (?<=text) stop (?=[not chosen and end or but is are comma])
""")


def lex(text: str, options: Options) -> Tokens | None:
    """The tokens of an undressed reply; None where Russian letters stand without a text."""
    return _Letters(text, options, lexicon()).tokens()


class _Letters(Lexer):
    """The lexer of replies to a question with options."""

    def __init__(self, text: str, options: Options, phrases: Lexicon) -> None:
        super().__init__(text, phrases)
        self.options = options
        # Words without the signs that an option's text is compared without.
        self.kept = [i for i, word in enumerate(self.low) if tells(word) and not self._joins(i)]
        self.place = {i: number for number, i in enumerate(self.kept)}
        self.stems = [stem(word) for word in self.low]
        self.kept_words = [self.stems[i] for i in self.kept]
        self.russian = dict(self._russian())
        self.own_order = any(self.raw[at] not in "Аа" for at in self.russian)

    def next(self, at: int) -> int:
        end = at
        while end < len(self.raw) and self._says_nothing(self.low[end]):
            end += 1
        if end > at:  # a run of Chinese or Japanese with which no phrase begins
            return self.add(CAPITAL, at, end)
        if self.raw[at] == "\n":
            return self.line(at)
        return self._option(at) or self._phrase_or_letter(at)

    def _russian(self) -> Iterator[tuple[int, str]]:
        """Letters of the Russian alphabet, by its order, before the very text of their option."""
        for at, word in enumerate(self.raw[:-2]):
            place = _RUSSIAN_ORDER.find(word.upper()) if len(word) == 1 else -1
            if 0 <= place < len(self.options.keys) and self.raw[at + 1] == ")":
                text = self._option_text(at + 2)
                if text and text[1] == self.options.keys[place]:
                    yield at, text[1]

    def _joins(self, at: int) -> bool:
        """Whether a hyphen joins two words, which may stand without it, too."""
        if self.raw[at] != "-":
            return False
        ends = "".join(self.raw[max(at - 1, 0) : at])[-1:], "".join(self.raw[at + 1 : at + 2])[:1]
        return self.glued(at) and self.glued(at + 1) and all(map(str.isalpha, ends))

    def _says_nothing(self, word: str) -> bool:
        begins = word in self.phrases.first_words or word in self.options.first_words
        return word >= "\u2e80" and not begins and word.isalnum()

    def _option(self, at: int) -> int:
        """Add the text of an option, unless a phrase is longer."""
        if self.stems[at] not in self.options.first_words:
            return 0
        text = self._option_text(at)
        phrase = self.phrases.longest(self.low, at)
        if text and (phrase is None or text[0] - at >= phrase[0]):
            return self.add(TEXT, at, text[0], frozenset({text[1]}))
        return 0

    def _phrase_or_letter(self, at: int) -> int:
        word = self.raw[at]
        phrase = self.phrases.longest(self.low, at)
        words = phrase and phrase[0] > 1 and word in "AАВСЕ"  # 'A primera vista', 'В итоге'
        if word[0] < "\u2e80" and word[0].isalnum() and not words:
            end = self._letter_or_number(at)
            if end:
                return end
        if phrase:
            year = phrase[0] > 1 and self.low[at] == "ans" and not self._heads_line(at)
            # The comma of 'で、' and 'が、' is one as well.
            end = at + phrase[0] - (self.raw[at + phrase[0] - 1] == "、" and phrase[0] > 1)
            return self.add(KIND[phrase[1]], at, at + 1 if year else end)
        return self.sign(at) or self.word(at)

    def word(self, at: int) -> int:
        """Add another word."""
        word = self.raw[at]
        if not word[0].isalnum() and word not in TELLING and word != "ー":
            # What relates two letters ('A ≈ B'); else an apostrophe, a trade mark, a smile.
            relates = unicodedata.category(word[0]) == "Sm"
            closes = _RULES.CLOSED.search("".join(self.kinds[-3:]))
            if closes and (_PICTURE if has(closes[0], "end") else _SMILE).match(word):
                return self.add(STOP, at, at + 1)
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
        if at in self.russian:
            return self.add(LETTER, at, at + 1, frozenset({self.russian[at]}))
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
        if letters and self.own_order and word in "ВЕве":
            opens = self._heads_line(at) or self.raw[at - 1] == "."
            return 0 if opens and "".join(self.raw[at + 1 : at + 2]).islower() else -1
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
        """Whether a word is glued to another ('B-cell', "d'A", 'E.coli', 'Aさん')."""
        raw = self.raw
        if self.glued(at - 1) and self.glued(at) and raw[at - 1] in "-'":
            return True
        if raw[at + 1 : at + 3] == ["さ", "ん"]:
            return True
        stop = raw[at + 1 : at + 2] == ["."] and at + 2 < len(raw)
        known = stop and (self.low[at], self.stems[at + 2]) in self.options.abbreviated
        glued = self.glued(at + 1) and self.glued(at + 2)
        if known or (glued and (raw[at + 1] in "-'" or (stop and "a" <= raw[at + 2][0] <= "z"))):
            text = self._option_text(at + 2)
            return not (text and text[1] == raw[at].translate(LOOK_ALIKE))
        return False

    def _letters(self, at: int) -> frozenset[str] | None:
        word = self.raw[at].upper() if self._raised(at) else self.raw[at]
        if not _LETTERS.fullmatch(word) or self._joined(at):
            return None
        if word == "ВСЕ" or (word in _WORDS and not self._stands_alone(at)):
            return None
        if any(
            (noun := lexicon(names=LETTERED).longest(self.low, at - far)) and noun[0] == far
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

    def _raised(self, at: int) -> bool:
        """Whether a lower-case letter stands where only an option's can."""
        word, kinds, behind = self.raw[at], "".join(self.kinds[-4:]), self.raw[at + 1 : at + 4]
        if word not in _LOWER or (at and self.raw[at - 1].isdigit()):  # '2 g'
            return False
        is_word = word in _LOWER_WORDS
        if not is_word and len(self.raw) < _SHORT and not "".join(behind).strip(".!。) \n"):
            return True  # 'the answer is clearly c'
        if behind[:1] == [")"] and kinds[-1:] in row("comma and semicolon"):
            return True
        if not _RULES.LOWER_BEFORE.search(kinds):
            return False
        if not behind or behind[0] == "\n":
            return not (is_word and _RULES.CUT.search(kinds))
        phrase = self.phrases.longest(self.low, at)
        return not (phrase and phrase[0] > 1) and self._raised_before(at, is_word)

    def _raised_before(self, at: int, is_word: bool) -> bool:
        """Whether what stands behind a lower-case letter lets it be an option's."""
        behind = self.raw[at + 1 : at + 3]
        if behind[0] == "'" and self.raw[at - 1] == "'":
            return True
        text = self._option_text(at + 2 if behind[0] in ".:-" else at + 1)
        if (text and text[1] == self.raw[at].translate(LOOK_ALIKE).upper()) or (
            CHARACTER.match(behind[0])
        ):
            return True
        if behind[0] in _LOWER:  # 'b c e'
            return not self.kinds or self.kinds[-1] in row("line letter")
        if behind[0] in ".!。":
            return behind[0] != "." or not behind[1:] or not behind[1].islower()
        phrase = None if is_word else self.phrases.longest(self.low, at + 1)
        kind = self.signs.get(behind[0]) or (KIND[phrase[1]] if phrase else WORD)
        return bool(_RULES.LOWER_BEHIND.match(kind))

    def _stands_alone(self, at: int) -> bool:
        """Whether a row of letters that could be a word ('ACE') stands where an answer does."""
        after = self.raw[at + 1 : at + 2]
        answers = _RULES.ANSWERS.search("".join(self.kinds[-2:]))
        return bool(answers) and not (after and after[0][0].isalnum())

    def mend(self) -> None:
        """Letters that are words of the prose, and dots that end no sentence."""
        kinds, spans = self.kinds, self.spans
        first, last = ({self.options.keys[place]} for place in (0, -1))
        for match in _RULES.SPAN.finditer("".join(kinds)):
            start, end = match.start(), match.end() - 1
            if [self.values[start], self.values[end]] == [first, last]:
                kinds[start] = kinds[end] = CAPITAL
        for match in _RULES.ORDINAL.finditer("".join(kinds)):
            self._ordinal(*match.span())
        for match in _RULES.CORRECTS.finditer("".join(kinds)):
            kinds[match.start()] = KIND["wait"]
        for match in _RULES.DEGREE.finditer("".join(kinds)):
            if self.raw[spans[match.start()][0]] == "too":
                kinds[match.start()] = WORD
        stops = _RULES.WITHIN_TEXT.finditer("".join(kinds)) if self.options.sentences else ()
        for match in reversed([*stops]):
            i = match.start()
            if self.raw[spans[i][0]] == "。":
                del kinds[i], self.values[i], spans[i]
        for i, kind in enumerate(kinds):
            if kind == KIND["or"] and self._no_or(i):
                kinds[i] = CAPITAL
            if kind == KIND["actually"]:
                kinds[i] = WORD
            elif kind in _NTH:
                kinds[i] = WORD if self.raw[spans[i][0]][0] < "\u2e80" else CAPITAL
        for i, kind in enumerate(kinds[:-1]):
            if kind == LETTER and self._preposition(i):
                kinds[i] = CAPITAL
            elif kind == LETTER:
                kinds[i] = PROSE if self._in_prose(i) else LETTER
            elif kind == STOP and kinds[i + 1] in (WORD, LETTER) and self._ends_none(i):
                kinds[i] = DOT
                if i > 1 and [*kinds[i - 2 : i], kinds[i + 1]] == [WORD, LETTER, WORD]:
                    kinds[i - 1] = CAPITAL  # 'against E. coli'

    def _no_or(self, i: int) -> bool:
        """Whether a Japanese 'か' is part of a word: it joins options only behind one."""
        joins = i and self.kinds[i - 1] in row("letter text prose close option end comma")
        return self.raw[self.spans[i][0]] == "か" and not joins

    def _ordinal(self, start: int, end: int) -> None:
        """Make 'the third option' its letter; 'the first option' may be the first treatment."""
        at = next(i for i in range(start, end) if self.kinds[i] in _NTH)
        place, keys = _NTH.index(self.kinds[at]), self.options.keys
        key = keys[-1] if place == len(_NTH) - 1 else "".join(keys[place : place + 1]) or "?"
        if self.kinds[end - 1] == LETTER:  # 'the first option, A'
            if self.values[end - 1] == {key}:
                self.kinds[start : end - 1] = [KIND["article"]] * (end - 1 - start)
            return
        named = _RULES.NAMED_NTH.match("".join(self.kinds), end)
        if named and named["text"] and self.values[named.end("text") - 1] != {key}:
            return
        chosen = named or self.kinds[start] in row("answer choose so right wrong article")
        if chosen or (place > 1 and not _RULES.SUBJECT.search("".join(self.kinds[:start]))):
            self.kinds[at], self.values[at] = LETTER, frozenset({key})

    def _preposition(self, i: int) -> bool:
        """Whether a letter is a Russian word that opens a sentence ('В этой ситуации')."""
        opens = not i or self.kinds[i - 1] in row("stop line blank dot")
        at = self.spans[i][0]
        next_to = self.spans[i + 1][0] == at + 1 and not self.dressed[at + 1]
        return opens and next_to and self.raw[at] in "АВС" and self.kinds[i + 1] in _AFTER_RUSSIAN

    def _in_prose(self, i: int) -> bool:
        """Whether a word follows a letter closely."""
        at = self.spans[i + 1][0]
        close = not self.dressed[at]
        # 'The answer is B. A CT scan was done.'
        article = self.raw[self.spans[i][0]] == "A" and i and self.kinds[i - 1] == STOP
        if article and close and self.kinds[i + 1 : i + 3] in ([CAPITAL, WORD], [CAPITAL, CAPITAL]):
            return True
        han = self.kinds[i + 1] == CAPITAL and _HAN.match(self.raw[at])
        return close and bool(self.kinds[i + 1] == WORD or han)

    def _ends_none(self, i: int) -> bool:
        """Whether a dot stands within a sentence: what follows is no beginning of one."""
        if self.raw[self.spans[i][0]] != ".":
            return False
        word = self.raw[self.spans[i + 1][0]]
        if i + 2 < len(self.kinds) and self._preposition(i + 1):
            return False
        article = word == "A" and i > 1 and self.kinds[i - 2] not in row("line blank bullet number")
        letter = self.kinds[i + 1] == LETTER and self.kinds[i + 2 : i + 3] == [WORD]
        short = len(self.raw[self.spans[i - 1][0]]) < 4
        letter = letter and short and (self.kinds[i - 1] != LETTER or word == "A")
        return word[0].islower() or word[0].isdigit() or (letter and not article)
