"""Read the letters of the chosen options out of a model's reply, in any language; never guess.

A reply is freed of thinking and markup, cut into tokens (`lexer`), and read by the rules below,
which are the same in every language. Letters count only in a place where an answer stands: the
opening of the reply, its last lines, after a label ('Answer:', 'la réponse est', '故选',
'therefore'), or before a statement ('C is the correct answer'). An option's whole text may stand
in the letter's place; nothing is matched by similarity. A list that says of every option whether
it is right is read too.

A reply that hedges ('A or B'), takes its answer back, refuses, names a letter that no option has
or a text that is not its letter's, breaks off within a list, or contradicts itself, is unparsed
(None), and so is every form not foreseen: an unparsed reply is counted beside the score, a wrong
guess would hide in it. Languages are files of phrases (`phrases/`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

import regex

from xling_tasks.readers.kinds import KIND, has, row
from xling_tasks.readers.letter_asked import Asked, asked_words, roots, within
from xling_tasks.readers.letter_false import false_one
from xling_tasks.readers.letter_grammar import RULES
from xling_tasks.readers.letter_labels import LabelledReply
from xling_tasks.readers.letter_lexer import lex
from xling_tasks.readers.letter_list import joined, without_another
from xling_tasks.readers.letter_reply import LETTER, LINES, TEXT, Place
from xling_tasks.readers.letter_rows import marked_line, row_letters, true_ones
from xling_tasks.readers.letter_said import answer_said
from xling_tasks.readers.lexicon import CHARACTER, WORDS, lexicon, plain
from xling_tasks.readers.options import Options, options_of
from xling_tasks.readers.plain import (
    after_question,
    bare,
    one_form,
    undressed,
    unquoted,
    without_next_question,
)

# Longer replies are read at both ends alone: an answer stands at one of them.
_LONGEST = 8_000

# Options as the prompt lists them, and nothing else.
_PROMPT_LIST = regex.compile(r"(?:[A-H][.] [^\n*_]*+(?:\n+|$))++")

_VERDICTS = "right wrong answer answers option options label labels choose chosen explains"
_ROW_HEAD = 4  # tokens: a bullet, a letter, its sign
_CALLED = "answer answers choose chosen right is are so not except because"


def read_letters(
    reply: str,
    options: Mapping[str, str],
    *,
    several: bool,
    cut: bool = False,
    question: str = "",
) -> frozenset[str] | None:
    """The letters that a reply commits to, None where it commits to none.

    Args:
        reply: What the model said, in any language.
        options: Letter (A to H) to text, as the model was shown them.
        several: Whether the question allows more than one letter. A list of letters is read
            in any case (and then scored); 'all of the above' only where this is true.
        cut: Whether the reply is as long as the model was allowed to write: an answer that
            ends where the reply ends may then be the beginning of one.
        question: The question. Where it asks for what is false, a list of true and false is
            read only if one option alone is said to be true.

    Returns:
        A non-empty set of letters of ``options``, or None (unparsed).
    """
    asked = asked_words(question)
    text = bare(reply, _LONGEST, functools.partial(_judges, asked=asked))
    if text is None or not options:
        return None
    known = options_of(options)
    text = unquoted(_unquestioned(text.strip(), question), functools.partial(_calls, known))
    echoed = after_question(text)
    tokens = lex(without_next_question(echoed or text), known) if text else None
    tokens = tokens and without_another(tokens, known.keys)
    if tokens is None or not tokens.kinds:
        return None
    if echoed and {key for value in tokens.values for key in value} < set(known.keys):
        return None  # a question of its own, and not the one that was asked
    verbatim = bool(_PROMPT_LIST.fullmatch(text))
    read = _Reader(tokens, known, several, cut=cut, verbatim=verbatim, question=asked).read()
    if several or read is None or len(read) == 1:
        return read
    # 'A and B', or their texts, where an option of its own is 'Both A and B'
    joining = joined(tuple(sorted(options.items()))).get(read)
    return frozenset({joining}) if joining else read


def _calls(options: Options, text: str) -> bool:
    """Whether a text calls a letter the answer."""
    tokens = lex(text, options)
    kinds = tokens.kinds if tokens else ""
    return has(kinds, "letter") and has(kinds, _CALLED)


def _judges(heading: str, asked: Asked) -> bool:
    """Whether the marks of a column tell which option is right, and not which drug is safe."""
    words = [plain(word) for word in WORDS.findall(heading) if not word.isspace()]
    found = (lexicon(names=_VERDICTS).longest(words, at) for at in range(len(words)))
    said = roots(word for word in words if len(word) > 1 or CHARACTER.match(word))
    return said == within(said, asked.last) or any(found)


@functools.lru_cache(maxsize=4096)
def _asked(question: str) -> str:
    return undressed(one_form(question)).strip()


def _unquestioned(text: str, question: str) -> str:
    """A reply without the question that it repeats at its beginning."""
    asked = _asked(question)
    if not asked or not text.startswith(asked):
        return text
    return text.removeprefix(asked).strip(" \n:-–—") or text


def named_letters(reply: str, options: Mapping[str, str]) -> frozenset[str]:
    """All options that a reply names, by letter or whole text, whatever it says of them."""
    text = bare(reply, _LONGEST)
    tokens = lex(text.strip(), options_of(options)) if text and text.strip() else None
    values = tokens.values if tokens else []
    return frozenset().union(*values) & set(options)


class _Reader(LabelledReply):
    """The rules, and the places where an answer stands."""

    def read(self) -> frozenset[str] | None:
        """What the reply answers, if nothing behind that, read by itself, answers otherwise."""
        found = self._found()
        if isinstance(found, Place):
            return None if self._answers_again(found.letters, found.end) else found.letters
        # What is said in sentences or a list has no end: the last lines, if they are no row of it.
        last = self.kinds.rfind(KIND["blank"])
        row = last < 0 or any(0 < head - last <= _ROW_HEAD for head in self.heads)
        return None if found and not row and self._answers_again(found, last) else found

    def _found(self) -> Place | frozenset[str] | None:
        """The rules in their order: labels and places, then lists of verdicts."""
        kinds = self.kinds
        refused = kinds.rfind(KIND["refusal"])
        if refused >= 0 and not self._labelled_after(refused):
            return None
        opening = self._opening()
        labelled = sorted(set(self.labelled()))
        labelled = [place for place in labelled[:-1] if not self._walks(place)] + labelled[-1:]
        corrected = self._corrected(labelled)
        if corrected:
            labelled = [place for place in labelled if place.start > corrected]
            opening = None
        if labelled and opening and self._from_the_first(opening):
            opening = None
        spans = [*labelled, *([opening] if opening else [])]
        own = [p for p in self._last_lines() if not any(s.start <= p.start < s.end for s in spans)]
        places = [*labelled, *own]
        if not labelled:
            chosen = opening or (own[-1] if own else None)
            rows = row_letters(self, chosen.letters if chosen else frozenset())
            if rows is not None:
                said = None if self.several else marked_line(self) or self._said()
                return rows or said
        if not any(place.letters for place in places) and opening is None:
            return true_ones(self) or marked_line(self) or self._said()
        chosen = opening
        if places:
            chosen = self._last_word(places)
            if chosen is None or (opening and opening.letters != chosen.letters):
                return None
        return self._settled(chosen, places) if chosen else None

    def _settled(self, chosen: Place, places: list[Place]) -> Place | frozenset[str] | None:
        """The place, or letters, of what places say, if nothing else speaks against it."""
        if any(p.letters == chosen.letters and not p.text for p in places):
            # 'Answer: B. ... so it is <its text>. <Other texts> ...'
            chosen = chosen._replace(text=False)
        if self._true_ones_instead(chosen):
            return None
        marked = marked_line(self) if has(self.told, "tick") else None
        if marked and marked != chosen.letters:
            # A table below a heading, with a tick in one of its lines?
            return marked if self.tokens.kinds[chosen.start - 1] in LINES else None
        if self.stands(chosen):
            return chosen
        back = RULES.CORRECTION.search(self.kinds, chosen.end)
        if not back and not chosen.text:
            return None
        said = self._said()
        if back:  # 'Answer: A. No, wait: ... is C'
            return said if said and said <= self.mentioned(back.end()) else None
        return said if not places or said == chosen.letters else None

    def _answers_again(self, letters: frozenset[str], at: int) -> bool:
        """Whether what stands behind a place, by itself, comes to other letters.

        That is the sentences behind it, the lines behind it, and the last lines.
        """
        end = len(self.kinds)
        breaks = (rule.search(self.kinds, at) for rule in (RULES.SENTENCES, RULES.BREAKS))
        starts = {match.end() for match in breaks if match}
        starts |= {self.kinds.rfind(KIND["blank"], min(starts)) + 1} if starts else set()
        for start in starts - {0}:
            if self.letters_in((start, end)) <= letters:
                continue
            behind = _Reader(
                self.tokens.part(start, end), self.options, self.several,
                cut=self.cut, verbatim=False, question=self.question, behind=True,
            )  # fmt: skip
            if self.another(behind.read(), letters):
                return True
        return False

    def _said(self) -> frozenset[str] | None:
        """What sentences say, of each option or of what is asked for."""
        return false_one(self) or answer_said(self)

    def _true_ones_instead(self, place: Place) -> bool:
        """Whether several letters say what is so, where one that is false is asked for."""
        announced = RULES.ANNOUNCED.search(self.kinds[: place.start])
        one_false = self.asked == "false" and not self.several
        return one_false and len(place.letters) > 1 and not announced

    def _corrected(self, labelled: list[Place]) -> int:
        """Where a reply takes back what it said before, if it names an answer behind that; or 0."""
        starts = [match.end() for match in RULES.CORRECTION.finditer(self.kinds)]
        named = [place.start for place in labelled if place.letters]
        return max((at for at in starts if named and at < named[-1]), default=0)

    def _labelled_after(self, at: int) -> bool:
        return any(place.start > at and place.letters for place in self.labelled())

    def _opening(self) -> Place | None:
        kinds = self.kinds
        every = RULES.EVERY.match(kinds)
        if every and self.several:
            return Place(0, every.end(), frozenset(self.keys))
        all_but = None if self.cut or self.asked else RULES.ALL_BUT.match(kinds)
        if all_but and self.several:
            named = self.letters_in(all_but.span("list"))
            rest = frozenset(self.keys) - named
            return Place(0, len(kinds), rest) if rest and named <= set(self.keys) else None
        match = RULES.OPENING.match(kinds)
        if match is None:
            match = RULES.OPENING_TEXT.match(kinds)
            if match and LETTER not in match["list"] and not self.options.yes_or_no:
                match = None
        place = self.place(match)
        if (
            place is None
            or self.unfinished(place)
            or kinds[place.end : place.end + 1] == KIND["query"]
        ):
            return None
        if kinds[0] in row("bullet number") and not RULES.PLAIN_LINE_ENDS.match(kinds, place.end):
            return None  # the first of the options that it goes through
        if has(kinds[: place.end], "line blank") and self._restated(place):
            return None
        if (
            self.behind
            and has(kinds[0], "text")
            and has(kinds[place.end : place.end + 1], "capital")
        ):
            return None  # '... 亚急性甲状腺炎（A）表现不同': what it says of another
        if not RULES.LINE_ENDS.match(kinds, place.end) and self._goes_on(place):
            return None
        if TEXT in kinds[: place.end] and self.one_of_blocks(place):
            return None
        return place

    def _restated(self, place: Place) -> bool:
        """Whether a reply opens with the options, all of them.

        Where several may be right and the reply holds nothing else, it is the question's own list
        ('A. text', a line each) or a list of another make, which is an answer.
        """
        if place.letters != frozenset(self.keys):
            return False
        more = bool(self.kinds[place.end :].strip(KIND["stop"]))
        return self.verbatim or more or TEXT not in self.kinds[: place.end]

    def _walks(self, place: Place) -> bool:
        """Whether a label ('To find the diagnosis:') only leads to a walk through all options."""
        return self.kinds[place.start - 1] in LINES and self.one_of_blocks(place)

    def _from_the_first(self, place: Place) -> bool:
        """Whether a list names three options or more, a line each, from the first one on."""
        letters = sorted(place.letters)
        lines = has(self.kinds[place.start : place.end], "line blank")
        return lines and len(letters) > 2 and letters == self.keys[: len(letters)]

    def _goes_on(self, place: Place) -> bool:
        """Whether a later line begins with a later letter: it goes through the options."""
        for head in self.heads:
            named = self.letters_in((max(head - 3, 0), head))
            if head > place.end and named and min(named) > max(place.letters):
                return True
        return False

    def _last_lines(self) -> Iterator[Place]:
        """Items that stand alone on the last lines."""
        match = RULES.LAST_LINES.search(self.kinds)
        place = self.place(match)
        if place is None or match is None or not match.start():
            return
        if self.cut or self.unfinished(place):
            return
        if self.kinds[: place.start].rstrip(LINES).endswith(KIND["colon"]):
            return  # after a label that is not that of the answer
        above = RULES.LETTERS_ABOVE.search(self.kinds[: place.start])
        named = self.letters_in(above.span("list")) if above and TEXT not in above["list"] else None
        if named and not named <= place.letters:
            return
        if place.text and RULES.NOT_OF_LABEL.search(self.kinds[: place.start]):
            return  # texts, one a line, of which the first could not be read
        lines = self.kinds[: place.start].rstrip(LINES + KIND["stop"])
        if lines.endswith(TEXT) and not self.tokens.values[len(lines) - 1] <= place.letters:
            if place.text:
                return  # a line that is another option's text
            # The cut beginning of such a line, or at odds with what is concluded above?
            if self.kinds[: place.start].endswith(row("text line")) or RULES.CONCLUDED.search(
                lines
            ):
                place = place._replace(letters=frozenset())
        before = [
            self.letters_in((max(head - 3, 0), head))
            for head in self.heads
            if head <= place.start
        ]  # fmt: skip
        if before:
            listed = frozenset().union(*before)
            apart = self.kinds[place.start - 1] == KIND["blank"]
            if not apart or listed != frozenset(self.keys):
                return
        if len(place.letters) == len(self.keys) > 1 and has(
            self.kinds[place.start : place.end], "line"
        ):
            return  # restates the options
        yield place

    def _last_word(self, places: list[Place]) -> Place | None:
        last = places[-1]
        if not last.letters:
            return None
        final = [place for place in places if place.final]
        if final:
            if self.several and len({place.letters for place in final}) > 1:
                return None  # a letter to a box: a correction, or parts of a list?
            return final[-1] if final[-1].letters == last.letters else None
        # A text ('... = 90') that does not stand is no answer beside a letter.
        said = {p.letters for p in places if p.letters and not (p.text and not self.stands(p))}
        if not last.text and said <= {last.letters}:
            return last
        if {place.letters for place in places if place.letters} == {last.letters}:
            return last
        before = RULES.SENTENCES.split(self.kinds[: last.start])[-1]
        return last if last.named and RULES.CONCLUDES.search(before) else None
