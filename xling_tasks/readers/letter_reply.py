"""A reply to a question with options, as tokens: what a place says, and what speaks against it."""

from __future__ import annotations

from typing import NamedTuple

import regex

from xling_tasks.readers.kinds import KIND, has, row
from xling_tasks.readers.letter_asked import Asked
from xling_tasks.readers.letter_grammar import RULES
from xling_tasks.readers.lexer import Tokens
from xling_tasks.readers.lexicon import lexicon
from xling_tasks.readers.options import TELLING, Options, stem

LETTER, TEXT, PROSE, WORD, WRONG = tuple(row("letter text prose word wrong"))
WITHIN_ITEM = row(
    "stop colon dash tick open close open_square close_square option answer label end"
)
TOLD_AGAIN = row("is so or")
MENTIONS = LETTER + PROSE
BEFORE_ITEM = row("line blank bullet number comma and stop colon semicolon dash open close")
LINES, ENDS = row("line blank"), row("stop query line blank")


def _without_granted(kinds: str) -> str:
    """The kinds; a clause that only grants something ("Although B is common, ...") is prose."""
    if not has(kinds, "concession granted aside"):
        return kinds
    kinds = RULES.GRANTED.sub(lambda match: RULES.SAYS.sub(WORD, match[0]), kinds)
    return kinds.translate({ord(kind): KIND["but"] for kind in row("concession granted")})


def _as_asked(tokens: Tokens, asked: str) -> str:
    """The kinds, with those of words that mean something else in what a question asks for."""
    against = lexicon(names="asks_against")
    kinds = list(tokens.kinds if asked != "against" else RULES.FINE.sub(WORD, tokens.kinds))
    for at, words in enumerate(tokens.words):
        if words == "exception":  # the name of the answer, or none
            kinds[at] = KIND["answer"] if asked == "false" else WORD
        elif asked == "against" and kinds[at] == WRONG and against.longest(words.split(), 0):
            kinds[at] = KIND["right"]  # 'D is contraindicated'
    # 'D is ruled out' doesn't say that it is false, where that is asked for.
    excluded = "not" if asked and asked != "against" else "wrong"
    return "".join(kinds).replace(KIND["excluded"], KIND[excluded])


class Place(NamedTuple):
    """Where an answer stands.

    Attributes:
        start: Its first token.
        end: The token after its last.
        letters: The letters that it names; none where a label is followed by no answer.
        final: Whether it is called final.
        named: Whether words call it the answer.
        text: Whether it is of texts without letters.
    """

    start: int
    end: int
    letters: frozenset[str]
    final: bool = False
    named: bool = False
    text: bool = False


class Reply:
    """The tokens of a reply, with what is asked of any place in it.

    Attributes:
        kinds: The kinds of the tokens, without line breaks at the end.
        keys: The letters of the options, in order.
        told: The kinds, with those that only `letter_said` looks at.
        heads: The ends of what heads an item of a list ('A.').
        several: Whether the question allows more than one letter.
        cut: Whether the reply may have been cut off.
        verbatim: Whether it is a list of options as a prompt has them, and nothing else.
        behind: Whether it is only what stands behind an answer.
        question: What the question says.
        asked: What it asks for, if that is 'false' or 'not' so.
    """

    def __init__(
        self,
        tokens: Tokens,
        options: Options,
        several: bool,
        *,
        cut: bool,
        verbatim: bool,
        question: Asked,
        behind: bool = False,
    ) -> None:
        kinds = _as_asked(tokens, question.asks)
        kinds = (RULES.OFFER.sub("", kinds) if has(kinds, "offer") else kinds).rstrip(LINES)
        kinds = RULES.INTERJECTED.sub(lambda match: KIND["article"] * len(match[0]), kinds)
        kinds = RULES.HEADING.sub(lambda match: match[0][:-1] + KIND["colon"], kinds)
        self.tokens, self.told = tokens, _without_granted(kinds)
        self.kinds = self.told.translate({ord(kind): WORD for kind in row("looks advised has")})
        self.question = question
        self.options, self.several, self.cut, self.verbatim = options, several, cut, verbatim
        self.behind = behind
        self.keys, self.asked = options.keys, question.asks.removeprefix("against")
        self.heads = [match.end() for match in RULES.HEAD_LINE.finditer(self.kinds)]

    def place(self, match: regex.Match[str] | None) -> Place | None:
        """The letters of a list; None where one is no option's or has another option's text."""
        if match is None:
            return None
        start, end = match.span("list")
        letters: list[str] = []
        before_text = False  # whether the last item was a text, which its letter may follow
        texts_only, own, line_breaks, with_text, own_text = True, "", 0, 0, False
        texts_alone, text_last = 0, False
        for at in range(start, end):
            kind, value = self.kinds[at], self.tokens.values[at]
            if kind == LETTER:
                texts_only = texts_only and before_text
                if not value <= set(self.keys) or value & self.options.ambiguous:
                    return None
                if before_text and value == {letters[-1]}:
                    continue
                if before_text:
                    return None
                letters += sorted(value)
                own, own_text = "".join(sorted(value)), False
            elif kind == TEXT:
                key = "".join(value)
                before_text = text_last = not own
                if own and key != own:
                    return None
                if not own and key not in letters:
                    letters.append(key)
                    texts_alone += 1
                own, own_text, with_text = "", True, with_text + 1
            elif kind in TOLD_AGAIN:
                before_text = text_last  # 'Text, that is C'
            elif kind not in WITHIN_ITEM + KIND["article"]:
                own, before_text = "", False
                line_breaks += kind in LINES
        letters = letters[:1] if len(set(letters)) == 1 else letters  # said again and again
        if line_breaks and not texts_only and letters != sorted(set(letters)):
            return None
        if with_text and with_text < len(letters) and not own_text:
            return None  # the last item has no text where others have one
        if texts_alone and texts_alone < len(letters) and not texts_only:
            return None  # 'C, vitamin A', where vitamin A is another letter's
        items = self.kinds[start:end].strip(KIND["blank"])
        if TEXT not in items and (KIND["number"] in items or KIND["blank"] in items):
            return None  # letters by number, or one to a paragraph: answers to several questions?
        text = LETTER not in self.kinds[start:end]
        return Place(start, match.end(), frozenset(letters), text=text)

    def unfinished(self, place: Place) -> bool:
        """Whether a list goes on after what could be read of it, or may have been cut off."""
        after = self.kinds[place.end :]
        if not self.cut and self._begins_own_text(place):
            return False
        if RULES.GOES_ON.fullmatch(after):
            return True
        if self.cut and not after.strip(row("close close_square end stop")):
            return True
        if RULES.NEXT_BULLET.match(after) and self.kinds[place.start] in row("bullet text"):
            return True
        if RULES.NEXT_LETTER.match(after) and any(head >= place.end for head in self.heads):
            following = self.kinds.find(LETTER, place.end)
            if following >= 0 and min(self.tokens.values[following]) > max(place.letters):
                return True
        return self._breaks_off(place)

    def _begins_own_text(self, place: Place) -> bool:
        """Whether a line is a letter and the first words of its text ('B - Watchful waiting')."""
        line = RULES.BREAKS.split(self.kinds[place.end :], maxsplit=1)[0]
        if len(place.letters) > 1 or place.text or not RULES.WORDS_ALONE.fullmatch(line):
            return False
        if any(head > place.end + 1 for head in self.heads):
            return False
        said = [
            word for words in self.tokens.words[place.end :][: len(line)] for word in words.split()
        ]
        said = [stem(word) for word in said if word[:1].isalnum()]
        return list(self.options.texts[min(place.letters)][: len(said)]) == said != []

    def _breaks_off(self, place: Place) -> bool:
        """Whether the reply ends within the text of an option, or within an item's verdict."""
        end = len(self.kinds)
        line = max(self.kinds.rfind(kind) for kind in LINES) + 1
        if line <= place.end:
            bare = TEXT not in self.kinds[place.start : place.end]
            tail = RULES.TAIL.fullmatch(self.kinds[max(place.end - 1, 0) :].lstrip(LETTER + TEXT))
            rest = tail["rest"] if bare and tail else ""
            if rest and rest[0] in row("word capital article") and (self.cut or len(rest) < 4):
                return True
        if self.kinds.rstrip(LINES + row("stop close close_square"))[-1:] == LETTER and not (
            self.cut or place.text
        ):
            return False  # a letter, not the beginning of a word
        if line > place.end and self.kinds.endswith(KIND["stop"]) and not self.cut:
            return False  # another line, which has an end
        words: list[str] = []
        for at in range(end - 1, place.end - 1, -1):
            here = self.tokens.words[at].split(" ")
            words = [stem(w) for w in here if w[:1].isalnum() or w in TELLING] + words
            if len(words) > self.options.longest_text:
                return False
            if self.kinds[at] == TEXT and self.tokens.values[at] <= place.letters:
                return False
            again = at - 2 > place.end and self.tokens.values[at - 2] == place.letters
            if again and self.kinds[at - 3] in LINES:
                return False  # the same letter again
            begins = at == place.end or self.kinds[at - 1] in BEFORE_ITEM
            if begins and words and self.options.begins(words):
                return True
        return False

    def one_of_blocks(self, place: Place, one_announced: bool = False) -> bool:
        """Whether later options follow, each at the head of lines of its own, as if right too.

        'B. Text', its reason, 'D. Text', its reason: is it both, or the answer and what is said
        of another option? It is the answer where an earlier option or all of them follow, where
        all that follow are called wrong, or where a line leads to them ('The others:').
        """
        later = [head for head in self.heads if head > place.end]
        named = [self.letters_in((max(head - 4, 0), head)) & set(self.keys) for head in later]
        following = frozenset().union(*named)
        if not (following and place.letters) or min(following) <= max(place.letters):
            return False
        lines = [RULES.BREAKS.split(self.kinds[head:], maxsplit=1)[0] for head in later]
        if all(RULES.NEGATIVE.search(line) for line in lines):
            return False
        between = RULES.BREAKS.split(self.kinds[place.end : later[0]])
        if len(between) > 2 and RULES.OF_OTHERS.search(between[-2]):
            return False
        if following | place.letters != set(self.keys):
            return True
        return not one_announced and min(place.letters) == self.keys[0]

    def letters_in(self, span: tuple[int, int]) -> frozenset[str]:
        """The letters of the tokens of a span."""
        return frozenset().union(*self.tokens.values[span[0] : span[1]])

    def another(self, letters: frozenset[str] | None, answer: frozenset[str]) -> bool:
        """Whether letters are another answer; where one is asked for, several are the others."""
        if not letters or letters <= answer:
            return False
        return self.several or len(letters) == 1

    def glossed(self, place: Place) -> frozenset[str]:
        """The letter of a text that the letters of a place stand for ('Text, i.e. A')."""
        match = RULES.GLOSSED.search(self.kinds[: place.start])
        return self.letters_in(match.span()) if match else frozenset()

    def mentioned(self, start: int = 0, end: int | None = None) -> set[str]:
        """The letters of options that stand in a span, as answers or in prose."""
        span = range(start, len(self.kinds) if end is None else end)
        return {key for i in span if self.kinds[i] in MENTIONS for key in self.tokens.values[i]}

    def doubted(self, start: int) -> bool:
        """Whether the sentence before a place doubts, or supposes what the question doesn't say."""
        sentence = RULES.SENTENCES.split(self.kinds[:start])[-1]
        doubt = RULES.DOUBT_OF_ANOTHER.sub("", RULES.PARTS.split(sentence)[-1])
        return has(doubt, "maybe") or bool(RULES.SUPPOSED.search(sentence))

    def denied(self, start: int) -> bool:
        """Whether the words before a label deny it, doubt it or make it another's."""
        clause = RULES.CLAUSES.split(self.kinds[:start])[-1]
        sentence = RULES.SENTENCES.split(self.kinds[:start])[-1]
        # 'Apart from A, the right ones are B and C'
        apart = self.several and RULES.APART_FROM.search(sentence)
        return bool(RULES.DENIES.search(clause) or apart) or self.doubted(start)

    def stands(self, place: Place) -> bool:
        """Whether nothing after the letters takes them back, adds to them or asks."""
        after = self.kinds[place.end :]
        if len(place.letters) == len(self.keys) and (len(self.keys) == 2 or not self.several):
            return False
        if place.text and self._other_texts(place):
            return False
        again = RULES.LABELLED_AGAIN.finditer(self.kinds, place.end)
        if any(self.another(self.letters_in(match.span("list")), place.letters) for match in again):
            return False
        if (
            RULES.TAKEN_BACK.match(after)
            or RULES.RETHINKS.search(after)
            or RULES.ALSO.search(after)
        ):
            return False
        each = RULES.OWN_REASON.match(after) and RULES.REASON_EACH.search(after)
        if each or self._more_heads(place):
            return False
        skipped = RULES.CLOSING.match(after)
        tail_start = place.end + (skipped.end() if skipped else 0)
        tail = RULES.TAILS.split(self.kinds[tail_start:])[0]
        sentence = RULES.SENTENCES.split(self.kinds[: place.start])[-1]
        close, asks = tuple(row("close query"))
        if tail.rstrip(close).endswith(asks) or after.lstrip(close).startswith(asks):
            return False
        whole = not self.several or len(place.letters) > 1
        whole = whole or has(self.kinds[place.start : place.end], "both")  # 'Only A'
        # 'C - Text. The other drug (A) ...': a letter and its text, and no list of such.
        both = TEXT in self.kinds[place.start : place.end] and not place.text
        adds = (place.named or both) and RULES.BUT_ADDS.match(tail)
        if has(tail[:2], "but") and not (adds or RULES.BUT_NOT_OTHERS.match(tail)):
            return False
        so_itself = bool(RULES.SO_ITSELF.search(self.kinds[: place.start]))
        named = place.named or so_itself or bool(RULES.BRACKETED.match(tail))
        whole = whole and (named or (both and not has(tail[:1], "letter number bullet")))
        closing = after[: skipped.end() if skipped else 0]
        next_one = has(closing, "semicolon") and has(tail[:1], "letter")
        if whole and (has(closing, "stop") or next_one):
            return True  # the next sentence speaks of something else
        if has(sentence + RULES.REASONS.sub("", tail), "none"):
            return False
        others = self.mentioned(tail_start, tail_start + len(tail)) - place.letters
        wrong = tail.find(KIND["wrong"])
        denies = min(place.letters) == self.options.denial
        if wrong >= 0 and not others and not denies and not has(tail[:wrong], "because aside"):
            return False
        return not others or bool(RULES.DENIES_ANOTHER.search(tail))

    def _more_heads(self, place: Place) -> bool:
        """Whether a letter that opens a reply is one of several ('A. Reason. C. Reason.')."""
        if place.start or not self.several or len(place.letters) > 1:
            return False
        later = RULES.HEAD_INLINE.finditer(self.kinds, place.end)
        heads = [match for match in later if not RULES.NEGATIVE.search(match["rest"])]
        return any(self.letters_in(match.span("head")) - place.letters for match in heads)

    def _other_texts(self, place: Place) -> bool:
        """Whether another option's text stands where it would contradict."""
        sentence_start = place.end
        for at in range(place.end, len(self.kinds)):
            kind = self.kinds[at]
            if kind in ENDS:
                sentence_start = at + 1
            if kind != TEXT or self.tokens.values[at] <= place.letters:
                continue
            before = self.kinds[sentence_start:at]
            if KIND["because"] in before or RULES.AGAINST_TEXT.search(before):
                continue
            short = len(self.tokens.words[at]) < 4
            if not short or not before.strip(row("bullet comma")) or RULES.HEDGES.search(before):
                return True
        return False
