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

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import regex

from xling_tasks.readers import letter_grammar as grammar
from xling_tasks.readers.lexer import Options, Tokens, lex, options_of
from xling_tasks.readers.lexicon import asks_for
from xling_tasks.readers.plain import (
    after_question,
    ends_of,
    one_form,
    undressed,
    without_next_question,
)
from xling_tasks.readers.thinking import without_thinking

# Longer replies are read at both ends alone: an answer stands at one of them.
_LONGEST = 8_000

# Options as the prompt lists them, and nothing else.
_PROMPT_LIST = regex.compile(r"(?:[A-H][.] [^\n*_]*+(?:\n+|$))++")


class _Place(NamedTuple):
    start: int
    end: int
    letters: frozenset[str]
    final: bool = False
    named: bool = False
    text: bool = False


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
    said = without_thinking(one_form(reply))
    if said is None or not options:
        return None
    text = undressed(ends_of(said, _LONGEST)).strip()
    known = options_of(options)
    echoed = after_question(text)
    tokens = lex(without_next_question(echoed or text), known) if text else None
    if tokens is None or not tokens.kinds:
        return None
    if echoed and {key for value in tokens.values for key in value} < set(known.keys):
        return None  # a question of its own, and not the one that was asked
    verbatim = bool(_PROMPT_LIST.fullmatch(text))
    reader = _Reader(tokens, known, several, cut=cut, verbatim=verbatim)
    reader.asked = asks_for(question)
    return reader.read()


class _Reader:
    def __init__(
        self, tokens: Tokens, options: Options, several: bool, *, cut: bool, verbatim: bool
    ) -> None:
        self.tokens, self.kinds = tokens, tokens.kinds.rstrip("np")
        self.options, self.several, self.cut, self.verbatim = options, several, cut, verbatim
        self.keys = options.keys
        self.asked = ""
        self.heads = [match.end() for match in grammar.HEAD_LINE.finditer(self.kinds)]

    def read(self) -> frozenset[str] | None:
        """The rules in their order: labels and places, then lists of verdicts, then a quote."""
        kinds = self.kinds
        if "R" in kinds and not self._labelled_after(kinds.rindex("R")):
            return None
        opening = self._opening()
        labelled = sorted(set(self._labelled()))
        if labelled and opening and self._from_the_first(opening):
            opening = None
        spans = [*labelled, *([opening] if opening else [])]
        own = [p for p in self._last_lines() if not any(s.start <= p.start < s.end for s in spans)]
        places = [*labelled, *own]
        if not labelled:
            rows = self._rows(answered=bool(opening or own))
            if rows is not None:
                return rows or None
        if not places and opening is None:
            return self._true_ones() or self._quoted()
        chosen = opening
        if places:
            chosen = self._last_word(places)
            if chosen is None or (opening and opening.letters != chosen.letters):
                return None
        return chosen.letters if chosen and self._stands(chosen) else None

    def _labelled_after(self, at: int) -> bool:
        return any(place.start > at and place.letters for place in self._labelled())

    # Places where an answer stands

    def _place(self, match: regex.Match[str] | None) -> _Place | None:
        """The letters of a list; None where one is no option's or has another option's text."""
        if match is None:
            return None
        start, end = match.span("list")
        letters: list[str] = []
        before_text = False  # whether the last item was a text, which its letter may follow
        texts_only, own, line_breaks, with_text, own_text = True, "", 0, 0, False
        for at in range(start, end):
            kind, value = self.kinds[at], self.tokens.values[at]
            if kind == "L":
                texts_only = texts_only and before_text
                if not value <= set(self.keys) or value & self.options.ambiguous:
                    return None
                if self.kinds[at - 1 : at] and before_text and value == {letters[-1]}:
                    continue
                if before_text:
                    return None
                letters += sorted(value)
                own, own_text = "".join(sorted(value)), False
            elif kind == "T":
                key = "".join(value)
                before_text = not own
                if own and key != own:
                    return None
                if not own:
                    letters.append(key)
                own, own_text, with_text = "", True, with_text + 1
            elif kind not in ".:-()[]o":
                own, before_text = "", False
                line_breaks += kind in "np"
        if line_breaks and not texts_only and letters != sorted(set(letters)):
            return None
        if with_text and with_text < len(letters) and not own_text:
            return None  # the last item has no text where others have one
        if "9" in self.kinds[start:end] and "T" not in self.kinds[start:end]:
            return None  # numbered letters: answers to several questions?
        if "p" in self.kinds[start:end].strip("p") and "T" not in self.kinds[start:end]:
            return None  # one letter to a paragraph: answers to several questions?
        return _Place(start, match.end(), frozenset(letters), text=texts_only)

    def _opening(self) -> _Place | None:
        kinds = self.kinds
        every = grammar.EVERY.match(kinds)
        if every and self.several:
            return _Place(0, every.end(), frozenset(self.keys))
        match = grammar.OPENING.match(kinds)
        if match is None:
            match = grammar.OPENING_TEXT.match(kinds)
            if match and "L" not in match["list"] and not self._yes_or_no():
                match = None
        place = self._place(match)
        if place is None or self._unfinished(place):
            return None
        if kinds[0] in "*9" and not regex.match(r"[.)\]]*(?:[np]|$)", kinds[place.end :]):
            return None  # the first of the options that it goes through
        if regex.search("[np]", kinds[: place.end]) and self._restated(place):
            return None
        if not regex.match(r"[.)\]z]*(?:[np]|$)", kinds[place.end :]) and self._goes_on(place):
            return None
        return place

    def _restated(self, place: _Place) -> bool:
        """Whether a reply opens with the options, all of them.

        Where several may be right and the reply holds nothing else, it is the question's own list
        ('A. text', a line each) or a list of another make, which is an answer.
        """
        if place.letters != frozenset(self.keys):
            return False
        more = bool(self.kinds[place.end :].strip("."))
        return self.verbatim or more or "T" not in self.kinds[: place.end]

    def _from_the_first(self, place: _Place) -> bool:
        """Whether a list names three options or more, a line each, from the first one on."""
        letters = sorted(place.letters)
        lines = regex.search("[np]", self.kinds[place.start : place.end])
        return bool(lines) and len(letters) > 2 and letters == self.keys[: len(letters)]

    def _goes_on(self, place: _Place) -> bool:
        """Whether a later line begins with a later letter: it goes through the options."""
        for head in self.heads:
            named = self._letters_in((max(head - 3, 0), head))
            if head > place.end and named and min(named) > max(place.letters):
                return True
        return False

    def _yes_or_no(self) -> bool:
        """Whether the options are a Yes and a No, with which a sentence may go on after a comma."""
        return len(self.keys) == 2 and all(
            len(words) == 1 and words[0] in _YES_NO for words in self.options.texts.values()
        )

    def _unfinished(self, place: _Place) -> bool:
        """Whether a list goes on after what could be read of it, or may have been cut off."""
        after = self.kinds[place.end :]
        if regex.fullmatch(r"[)\].z]*[,&|:;(\[\-][^.?np)b!u]{0,3}", after):
            return True
        if self.cut and not after.strip(")]z."):
            return True
        if regex.match(r"\.?[np]\*", after) and self.kinds[place.start] in "*T":
            return True
        if regex.match(r"\.?[np](?:\*$|[*9]?[oO]?L[.:)\-~]|[*9]?L$)", after) and any(
            head >= place.end for head in self.heads
        ):
            following = [
                self.tokens.values[i]
                for i in range(place.end, len(self.kinds))
                if self.kinds[i] == "L"
            ]
            if following and min(following[0]) > max(place.letters):
                return True
        return self._breaks_off(place)

    def _breaks_off(self, place: _Place) -> bool:
        """Whether the reply ends within the text of an option, or within an item's verdict."""
        end = len(self.kinds)
        line = max(self.kinds.rfind("n"), self.kinds.rfind("p")) + 1
        if line <= place.end:
            bare = (
                self.kinds[place.end - 1] != "T" and "T" not in self.kinds[place.start : place.end]
            )
            tail = regex.fullmatch(
                r"[)\].:,\-(]+([^.?]*)", self.kinds[max(place.end - 1, 0) :].lstrip("LT")
            )
            if bare and tail and tail[1] and tail[1][0] in "xUa" and (self.cut or len(tail[1]) < 4):
                return True
        words: list[str] = []
        for at in range(end - 1, place.end - 1, -1):
            here = self.tokens.words[at].split(" ")
            words = [w for w in here if w[:1].isalnum() or w in "+%-<>=±/°"] + words
            if len(words) > self.options.longest_text:
                return False
            begins = at == place.end or self.kinds[at - 1] in "np*9,&.:;-()"
            if begins and words and self.options.begins(words):
                return True
        return False

    def _last_lines(self) -> Iterator[_Place]:
        """Items that stand alone on the last lines."""
        match = grammar.LAST_LINES.search(self.kinds)
        place = self._place(match)
        if place is None or match is None or not match.start():
            return
        if self.cut or self._unfinished(place):
            return
        if self.kinds[: place.start].rstrip("np").endswith(":"):
            return  # after a label that is not that of the answer
        if place.text and regex.search(r"[^.:]n$", self.kinds[: place.start]):
            return  # texts, one a line, of which the first could not be read
        before = [
            self._letters_in((max(head - 3, 0), head))
            for head in self.heads
            if head <= place.start
        ]  # fmt: skip
        if before:
            listed = frozenset().union(*before)
            apart = self.kinds[place.start - 1] == "p"
            if not apart or listed != frozenset(self.keys):
                return
        if len(place.letters) == len(self.keys) > 1 and "n" in self.kinds[place.start : place.end]:
            return  # restates the options
        yield place

    def _labelled(self) -> Iterator[_Place]:
        for match in grammar.NOT_BUT.finditer(self.kinds):
            place = self._place(match)
            refused = self._letters_in(match.span("no"))
            if place and not place.letters & refused and not self._doubted(match.start()):
                yield place._replace(named=True)
        for pattern, loose in grammar.LABELS:
            for match in pattern.finditer(self.kinds):
                if self._denied(match.start("core")):
                    continue
                yield from self._after_label(match, loose)
        for match in grammar.STATED.finditer(self.kinds):
            place = self._place(match)
            weak = self.asked == "false" and not regex.search(
                "[AP]", match[0][len(match["list"]) :]
            )
            weak = weak and place is not None and len(place.letters) > 1
            if weak or grammar.FALSE_ONE.search(self.kinds):
                continue
            if place and not self._denied(match.start()):
                yield place._replace(named=True, text=False)

    def _after_label(self, match: regex.Match[str], loose: bool) -> Iterator[_Place]:
        kinds, end = self.kinds, match.end()
        every = grammar.EVERY.match(kinds, end)
        place: _Place | None
        if every and self.several:
            place = _Place(end, every.end(), frozenset(self.keys))
        else:
            place = self._place(grammar.LISTED[loose].match(kinds, end))
        if place is None or self._unfinished(place) or self._half_of(match, place):
            if loose and regex.match(r"[^np.;]{0,4}[LmTh!]", kinds[end:]):
                yield _Place(match.start(), match.end(), frozenset())
            return
        if "L" not in kinds[place.start : place.end] and kinds[place.start - 1] in "oO":
            return
        yield place._replace(final=match["core"] in "#" or "f" in match["core"], named=loose)

    def _half_of(self, label: regex.Match[str], place: _Place) -> bool:
        """Whether one letter ends a reply that announced several ('Les réponses sont A')."""
        announced = regex.search(r"[PO]", label["core"]) and "j" in label["mark"]
        return bool(announced) and len(place.letters) == 1 and place.end >= len(self.kinds)

    def _letters_in(self, span: tuple[int, int]) -> frozenset[str]:
        return frozenset().union(*self.tokens.values[span[0] : span[1]])

    def _mentioned(self, start: int = 0, end: int | None = None) -> set[str]:
        span = range(start, len(self.kinds) if end is None else end)
        return {key for i in span if self.kinds[i] in "Lm" for key in self.tokens.values[i]}

    # What speaks against a place

    def _doubted(self, start: int) -> bool:
        sentence = regex.split(r"[.?np;]", self.kinds[:start])[-1]
        return "h" in sentence

    def _denied(self, start: int) -> bool:
        """Whether the words before a label deny it, doubt it or make it another's."""
        clause = regex.split(r"[.?,;:np]", self.kinds[:start])[-1]
        return bool(regex.search(r"[!0|ewH]", clause)) or self._doubted(start)

    def _last_word(self, places: list[_Place]) -> _Place | None:
        last = places[-1]
        if not last.letters:
            return None
        final = [place for place in places if place.final]
        if final:
            return final[-1] if final[-1].letters == last.letters else None
        if {place.letters for place in places if place.letters} == {last.letters}:
            return last
        before = regex.split(r"[.?np]", self.kinds[: last.start])[-1]
        return last if last.named and grammar.CONCLUDES.search(before) else None

    def _stands(self, place: _Place) -> bool:
        """Whether nothing after the letters takes them back, adds to them or asks."""
        after = self.kinds[place.end :]
        if len(place.letters) == len(self.keys) and (len(self.keys) == 2 or not self.several):
            return False
        if place.text and self._other_texts(place):
            return False
        if grammar.TAKEN_BACK.match(after) or "k" in after or grammar.ALSO.search(after):
            return False
        skipped = regex.match(r"[ )\]:.\-z]*", after)
        tail_start = place.end + (skipped.end() if skipped else 0)
        tail = regex.split(r"(?<=[.?])|[np]", self.kinds[tail_start:])[0]
        sentence = regex.split(r"[.?np]", self.kinds[: place.start])[-1]
        if tail.rstrip(")").endswith("?") or after.lstrip(")").startswith("?"):
            return False
        if "N" in sentence or "N" in tail or "v" in tail[:2]:
            return False
        others = self._mentioned(tail_start, tail_start + len(tail)) - place.letters
        wrong = regex.search("[w]", tail)
        denies = self._yes_or_no() and self.options.texts[min(place.letters)][0] in _NO
        if wrong and not others and not denies and not regex.search("[bu]", tail[: wrong.start()]):
            return False
        return not others or bool(regex.search(r"[wbuF]|[!0v][aoO]*[Lm]", tail))

    def _other_texts(self, place: _Place) -> bool:
        """Whether another option's text stands where it would contradict."""
        sentence_start = place.end
        for at in range(place.end, len(self.kinds)):
            kind = self.kinds[at]
            if kind in ".?np":
                sentence_start = at + 1
            if kind != "T" or self.tokens.values[at] <= place.letters:
                continue
            before = self.kinds[sentence_start:at]
            if "b" in before or regex.match("z?!", self.kinds[at + 1 :]):
                continue
            short = len(self.tokens.words[at]) < 4
            if not short or not before.strip("*,") or regex.search(r"[vhH|]", before):
                return True
        return False

    # Other ways to answer

    def _rows(self, answered: bool) -> frozenset[str] | None:
        """The options that a list of verdicts says are right; empty where the list is no answer.

        Every option must have exactly one verdict. None where the reply is no such list; sentences
        ('A is wrong') are none where an answer stands elsewhere.
        """
        for pattern in (grammar.ROW_BEFORE, grammar.ROW_AFTER):
            rows = [
                match
                for match in pattern.finditer(self.kinds)
                if not match.start() or self.kinds[match.start() - 1] in "np.,;*9:&zbtF)("
            ]
            if self._yes_or_no() and len(rows) == 1 and "T" in rows[0]["head"]:
                return None  # 'No. That is wrong.' of options that are Yes and No
            spoken = all(self._spoken(row) for row in rows)
            if spoken and self._one_sentence(rows):
                return self._true_rows(rows) or None
            if (
                len(rows) == 1
                and pattern is grammar.ROW_BEFORE
                and regex.fullmatch(r"t[^tFnp]*", self.kinds)
            ):
                return None  # one option with a tick
            if rows and not (spoken and (answered or len(rows) == 1 >= len(self.heads))):
                return self._true_rows(rows)
        return None

    def _one_sentence(self, rows: list[regex.Match[str]]) -> bool:
        """Whether verdicts stand in one sentence ('A is right, B is wrong'): it may be all."""
        return bool(rows) and not regex.search(
            "[.np]", self.kinds[rows[0].start() : rows[-1].start()]
        )

    def _spoken(self, row: regex.Match[str]) -> bool:
        """Whether a verdict is a sentence ('A is wrong'), not a row of a list ('A: wrong')."""
        between = self.kinds[row.end("head") : row.end()]
        return row.re is grammar.ROW_AFTER and bool(regex.match(r"[ij!0rwgy]", between))

    def _true_rows(self, rows: list[regex.Match[str]]) -> frozenset[str]:
        verdicts: dict[str, bool] = {}
        for match in rows:
            named = self._letters_in(match.span("head"))
            if named & verdicts.keys() or (len(named) > 1 and "T" in match["head"]):
                return frozenset()
            groups = match.groupdict()
            is_true = bool(groups.get("yes")) or groups.get("mark") == "t"
            verdicts |= dict.fromkeys(named, is_true)
        true = frozenset(key for key, value in verdicts.items() if value)
        if verdicts.keys() != set(self.keys) or not (self.several or len(true) == 1):
            return frozenset()
        all_but_one = len(true) == len(self.keys) - 1
        if len(true) > 1 and (self.asked == "false" or (self.asked and all_but_one)):
            return frozenset()  # 'true' of a statement, or of its being the answer?
        return frozenset() if regex.search("[kR?]", self.kinds) else true

    def _true_ones(self) -> frozenset[str] | None:
        """The options said to be true, if no other option is mentioned."""
        true: set[str] = set()
        for match in grammar.TRUE.finditer(self.kinds):
            place = self._place(match)
            if place is None or self._denied(match.start()):
                return None
            place = place._replace(text=False)
            if self._unfinished(place) or not self._stands(place):
                return None
            true |= place.letters
        false = {
            key
            for match in grammar.ROW_AFTER.finditer(self.kinds)
            if match["no"]
            for key in self._letters_in(match.span("head"))
        }
        if self.asked == "false" and len(true) > 1:
            return None  # true statements, in a question for what is false
        return frozenset(true) if true and self._mentioned() - false <= true else None

    def _quoted(self) -> frozenset[str] | None:
        """The one option whose text is in bold, if the reply names no other and denies nothing."""
        texts = [i for i, kind in enumerate(self.kinds) if kind == "T"]
        named = {key for i in texts for key in self.tokens.values[i]}
        if len(named) != 1 or not all(self.tokens.enclosed[i] for i in texts) or self._mentioned():
            return None
        against = r"[?!0hHwNeku|*9]"
        return None if self.cut or regex.search(against, self.kinds) else frozenset(named)


_NO = {"нет", "no", "non", "否", "いいえ", "false"}
_YES_NO = {
    "да",
    "нет",
    "yes",
    "no",
    "oui",
    "non",
    "sí",
    "是",
    "否",
    "はい",
    "いいえ",
    "true",
    "false",
}
