"""Read the letters of the chosen options out of a model's reply, in any language; never guess.

A reply is turned into a row of kinds (see `text`), one character a word; `RULES` are patterns over
such rows, whose group `at` is the letters. A place that a rule finds counts unless a guard refuses
it: a negation, a condition, 'or', a question, a hedge, a retraction, a quotation. Places that
differ make a reply unread, except a last answer that is called final or follows a retraction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from xling_tasks.readers.choice_mentions import letter_tokens, native_letters
from xling_tasks.readers.text import (
    before_next_question,
    kinds_of,
    one_form,
    opens_with_question,
    plain,
    tokens_of,
)

_LABEL = r"(?:[ac]|o(?=[sFi]*r)|r(?=[oisF]*[i:]))"  # 'answer', 'I choose', 'correct option'
# What may stand between a label and its letter
_GAP = r"[osirFac:()q\n,-]{0,6}"
_RULES = [
    # name, pattern, a reply that it reads
    ("whole", r"\A[aocsirF:()q\n.-]*(?P<at>[LIM](?:\)\([LIM])*)[).q\n,-]*\Z", "Answer: B"),
    ("label", rf"(?:{_LABEL}[osrFac:()q,-]{{0,6}}[i:\n)]|c){_GAP}(?P<at>[LIMX])",
     "The correct answer is (B), because it is hot."),
    ("label alone", rf"{_LABEL}[osrFac(q]{{0,4}}(?P<at>[LI])(?![)q]*[i,]|[^.\n]*L)",
     "That leaves answer B"),
    ("verb last", r"a[osr]{0,3}[(q]*(?P<at>[LI])[)q]*i(?=[.\n]|\Z)", "सही उत्तर B है।"),
    ("opening", r"\A[orsF(q:-]*(?P<at>[LIX])(?!\)[LI])(?=[)q]*(?:[.)\n-]|:\n|\Z))", "B. It is hot"),
    ("last line", r"\n[osF(q:-]*(?P<at>[LI])[).:q]*T?[.)]*\Z", "It is hot.\nB"),
    ("short line", r"^x{1,3}:\(?(?P<at>[LMI])[).]*$", "It is hot.\nKarabo: B"),
    ("item", r"(?:\A[-(q]*|[i:][os:(q]*)(?P<at>I)", "The cause is B. <text of B>, as it is hot"),
    ("item line", r"^[-(q]*(?P<at>I)[.)]*$", "Hot it is:\nB) <text of B>\nThat is it."),
    ("statement", r"o?[s(q]*(?P<at>[LI])[)q]*o?[^.\nLIX,nwf|h?]{0,25}?(?:[is]*r|is*a)",
     "B is correct."),
    ("plain statement", r"(?P<at>[LI])[)q]*i[s]*[ra](?!x)", "Option B is correct"),
    ("last sentence", r"i[osr(q]*(?P<at>[LI])[)q.]*\Z", "It is hot. So the best cause is (B)."),
    ("text", r"(?:\A[sq]*|[ac][osirFac:()q\n-]{0,9}|\n)(?P<at>T)(?=[.)q]*$)", "<text of B>"),
    ("text first", r"\A(?:#[.,):]*)?[sq]*(?P<at>T)q?\.", "<text of B>. It is hot."),
]  # fmt: skip
_GUARDS = [
    # name, pattern, what it refuses
    ("clause", r"[nw|LIX]", "It is not the case that | the answer is B"),
    ("sentence", r"[fh0]", "If it is viral, | the answer is B"),
    ("behind", r"[)q]*(?:[isx]{0,4}[nw]|[is]{0,3}h|,?&?X|[sx,(]{0,3}[f0]|\([xs]*[nwhf]|-u)",
     "B | is not"),
    ("behind a stop", r"[)q]*(?:[.:,()-]{1,2}[is]{0,2}w|[.:,-]{1,3}n[.,:])", "B|. Incorrect"),
    ("or", r"[)q]*(?:,?[)(]*\||[.:)-][^\n]*\|[os(]*[LIX])", "B| or C"),
    ("maybe", r"[)qT.]*(?:[,(&]{1,2}[xsiu&]{0,3}h[xsio]{0,4}[LIX]|[^.\n]{0,9}\?)", "B|, maybe C"),
    ("of some", r"[)qT.]*\([^)\n]{1,6}\),?&?[LI]", "A| (in adults), C (in children)"),
    ("retraction", r"b|v[^.\n]{0,15}[LIX]|v[sx]?n|u[sxiov,]{0,4}[LI][)q]*[xsv]{0,2}(?:\.|$)",
     "Wait, that is wrong. Actually, it is C. But B too."),
    ("condition", r"[^.\n]*f", "B would be correct| if it were hot"),
    ("false one", r"w[sora]*i", "The incorrect statement is"),
    ("true and false", r"[LI][.:)(-]*[rw][^LI]*[LI][.:)(-]*[rw]", "A: true, B: false"),
    ("walk", r"[).:(-][^\n]*(?:[.,]|\n[-(q]*o?)[LI][).:(-]", "The options are A|. hot, B. cold"),
    ("more lines", r"(?:\n[-(q]*[LI][.)]*(?=\n|$))+", "The answers are\n- B|\n- C"),
    ("lone", r"^[-(q]*[LI][.)]*$", "a line that is a letter"),
    ("head", r"^[-(q]*(?:I|L(?=[).:-]|$))", "a line that begins with a letter: 'A. hot'"),
    ("any head", r"(?:^|[.,])[-(q]*(?:I|L(?=[).:-]|$))|(?<=I)I", "A: hot. B: cold."),
]  # fmt: skip
RULES = {name: re.compile(pattern, re.M) for name, pattern, _ in _RULES}
"""Every rule over kinds, in order; `json_field` alone reads the text."""
GUARDS = {name: re.compile(pattern, re.M) for name, pattern, _ in _GUARDS}
"""What refuses a place; '|' in an example is where the guard looks from."""

_KEY = re.compile(r"[\"']([^\"'\n{}:]{1,40})[\"']\s*:\s*")  # "answer":
_VALUE = re.compile(
    r"\"([^\"\n]*)\"|'([^'\n]*)'|\[([^\]]*)\]|([A-Ha-h](?:\s*,\s*[A-Ha-h]\b)+|[^,}\n]+)"  # "B"
)
_SMALL = re.compile(r"[\s(\[<\"']*[a-h](?:[\s\"']*[,，、/&][\s\"']*[a-h])*[\s.)\]>\"']*")  # 'a, c'
_VERB_FINAL = re.compile(r"[\u0900-\u0dff\u3040-\u30ff\uac00-\ud7af]")  # Hindi, Japanese, Korean
_QUOTED = re.compile(r"[“«「『]([^”»」』\n]{12,})[”»」』]|(?<!\w)\"([^\"\n]{12,})\"(?!\w)")
_NO_OPTION = frozenset({"?"})


class Place(NamedTuple):
    """Where letters stand: from the first token of the rule to the one behind the letters."""

    start: int
    end: int
    letters: frozenset[str]


class _Contradiction(Exception):
    """Raised where a reply says two things, or hedges."""


class Reply:
    """The tokens of a reply to a question with options."""

    def __init__(
        self, text: str, options: Mapping[str, str], native: Mapping[str, str], several: bool = True
    ) -> None:
        text = text.upper() if _SMALL.fullmatch(text) else text
        self.text, self.options, self.native, self.several = text, options, native, several
        self.tokens = letter_tokens(text, options, native)
        self.kinds = kinds_of(self.tokens)

    def read(self) -> frozenset[str] | None:
        """Return the letters of the first group of rules that finds some."""
        steps = (self.json_field, self.whole, self.labelled, self.item, self.stated, self.by_text)
        try:
            found = next((letters for step in steps if (letters := step())), None)
        except _Contradiction:
            return None
        return found if found and found <= set(self.options) else None

    def places(self, *rules: str) -> Iterator[Place]:
        """Yield the places of rules that no guard refuses."""
        for rule in rules:
            for match in RULES[rule].finditer(self.kinds):
                start, end = match.span("at")
                more = GUARDS["more lines"].match(self.kinds, end) if "\n" in match[0] else None
                end = more.end() if more else end
                letters = self._named(start, end) if self.kinds[start] != "X" else _NO_OPTION
                listed = self._lists_options(rule, match, letters)
                if not listed and not self._refused(match.start(), end):
                    yield Place(match.start(), end, letters)

    def _named(self, start: int, end: int) -> frozenset[str]:
        """Return the letters that tokens name."""
        return frozenset().union(*(token.letters for token in self.tokens[start:end]))

    def _lists_options(self, rule: str, match: re.Match[str], letters: frozenset[str]) -> bool:
        """Tell whether a place lists the options, or says when one would be correct."""
        if len(letters) == len(self.options) > 2 and not self.several:
            return not re.search(r"ai|\(", match[0])  # 'Options: A, B, C, D'
        if rule == "label" and letters == {min(self.options)}:
            return bool(GUARDS["walk"].match(self.kinds, match.end("at")))
        condition = GUARDS["condition"].match(self.kinds, match.end())
        return rule in ("statement", "plain statement") and bool(condition)

    def _refused(self, start: int, end: int) -> bool:
        """Tell whether a place is negated or quoted; raise where it hedges."""
        if any(GUARDS[name].match(self.kinds, end) for name in ("or", "maybe", "of some")):
            raise _Contradiction
        sentence = re.split(r"[.?\n]", self.kinds[:start])[-1]
        clause = sentence.rpartition(",")[2]
        if GUARDS["clause"].search(clause) or GUARDS["sentence"].search(sentence):
            return True
        if any(GUARDS[name].match(self.kinds, end) for name in ("behind", "behind a stop")):
            return True
        last = re.split(r"[.?\n,]", self.kinds[end:])[0] if _VERB_FINAL.search(self.text) else ""
        at = self.tokens[start].start
        quoted = any(m.start() < at < m.end() for m in _QUOTED.finditer(self.text))
        return quoted or bool(re.search("[nwh]", last))

    def json_field(self) -> frozenset[str] | None:
        """Read '"answer": "B"'; every such field, and labels in prose, must agree."""
        found = []
        for key in _KEY.finditer(self.text):
            kinds = kinds_of(tokens_of(key[1].replace("_", " ")))
            value = _VALUE.match(self.text, key.end())
            if value and re.search("[aor]|prediction", kinds + key[1].lower()):
                field = Reply(next(filter(None, value.groups()), ""), self.options, self.native)
                letters = field.value()
                if letters is None and re.fullmatch("[LIMX/|&, )(q]+", field.kinds):
                    raise _Contradiction
                found += [letters] if letters else []
        if not found:
            return None
        prose = [p.letters for p in self.places("label") if self.kinds[p.end - 1] in "LI"]
        return _agreed(found + [letters for letters in prose if len(letters) == len(found[0])])

    def value(self) -> frozenset[str] | None:
        """Read the value of a field: letters, an item, or an option's text."""
        try:
            places = self.places("whole", "opening", "item", "text")
            return next((place.letters for place in places), None)
        except _Contradiction:
            return None

    def whole(self) -> frozenset[str] | None:
        """Read a reply that is letters and a label alone."""
        place = next(self.places("whole"), None)
        run = place and "M" in self.kinds[place.start : place.end] and not self.several
        return place.letters if place and not run else None

    def labelled(self) -> frozenset[str] | None:
        """Read the last label, or else the opening or last line, which must not differ."""
        rules = ("label", "verb last", "label alone", "short line")
        labels = next((found for rule in rules if (found := list(self.places(rule)))), [])
        opening, last = self._opening(), self._last_line()
        chosen = labels[-1] if labels else opening or last
        if chosen is None:
            return None
        others = labels[:-1] if labels else self._said("plain statement")
        others = [place for place in others if self.several or len(place.letters) == 1]
        others += [place for place in (opening, last, *self.places("short line")) if place]
        others += self.places("last sentence")
        if any(self._contradicts(other, chosen) for other in others):
            raise _Contradiction
        goes_on = self.several and self._goes_on(chosen)
        if goes_on or GUARDS["retraction"].search(self.kinds, chosen.end):
            raise _Contradiction
        return chosen.letters

    def _contradicts(self, other: Place, chosen: Place) -> bool:
        """Tell whether a place differs, unless the chosen one is final or takes it back."""
        if other.letters in (chosen.letters, _NO_OPTION):
            return False
        between = self.kinds[other.end : chosen.start] + "L"
        final = "F" in self.kinds[chosen.start : chosen.end]
        replaced = final or GUARDS["retraction"].search(between)
        return other.start > chosen.start or not replaced

    def _goes_on(self, chosen: Place) -> bool:
        """Tell whether a sentence behind a list names more letters, and not as wrong ones."""
        for match in re.finditer(r"[^.\n]+", self.kinds[chosen.end :]):
            part = self.tokens[chosen.end + match.start() : chosen.end + match.end()]
            named = frozenset().union(*(t.letters for t in part if t.kind in "LI"))
            if named - chosen.letters and not re.search("[nwh]", match[0]):
                return True
        return False

    def _said(self, rule: str) -> list[Place]:
        """Return statements on one letter, unless the reply asks for what is false."""
        if "0" in self.kinds or any(
            GUARDS[name].search(self.kinds) for name in ("false one", "true and false")
        ):
            return []
        return [place for place in self.places(rule) if self.several or len(place.letters) == 1]

    def _heads(self, guard: str) -> list[frozenset[str]]:
        """Return the letters of each place that lists a letter."""
        return [self._named(*match.span()) for match in GUARDS[guard].finditer(self.kinds)]

    def _walks(self) -> bool:
        """Tell whether lines are letters alone, or a reply says of each whether it is true."""
        return len(set(self._heads("lone"))) > 1 or bool(
            GUARDS["true and false"].search(self.kinds)
        )

    def _opening(self) -> Place | None:
        """Find a letter that opens the reply, unless the reply walks through the options."""
        place = None if self._walks() else next(self.places("opening"), None)
        if place and min(self.options) in place.letters:
            later = [head for head in self._heads("any head") if min(head) > max(place.letters)]
            return None if later else place
        return place

    def _last_line(self) -> Place | None:
        """Find a letter, or a letter and its text, that is all of the last line."""
        place = None if self._walks() else next(self.places("last line"), None)
        listed = place and self.kinds[place.end - 1] == "I" and len(self._heads("head")) > 1
        return None if listed else place

    def item(self) -> frozenset[str] | None:
        """Read a letter with its own text, in a sentence or as the one such line."""
        found = [place.letters for place in self.places("item")]
        if found and len(self._heads("head")) < 2:
            return _agreed(found)
        lines = {place.letters for place in self.places("item line")}
        return lines.pop() if len(lines) == 1 else None

    def stated(self) -> frozenset[str] | None:
        """Read 'B is correct', or the one letter at the end of the last sentence."""
        if found := [place.letters for place in self._said("statement")]:
            return _agreed(found)
        last = re.split(r"[.?\n](?=.)", self.kinds.rstrip(".)q"))[-1]
        if not re.search(r"[rF]|\As", last) or len(re.findall("[LI]", last)) != 1:
            return None
        start = self.kinds.rfind(last)
        places = (place for place in self.places("last sentence") if place.start >= start)
        return next((place.letters for place in places), None)

    def by_text(self) -> frozenset[str] | None:
        """Read an option's whole text where a letter could stand."""
        found = [place.letters for place in self.places("text", "text first")]
        return _agreed(found) if found else None


def _agreed(found: list[frozenset[str]]) -> frozenset[str]:
    """Return what all places say."""
    if len(set(found)) > 1:
        raise _Contradiction
    return found[-1]


def read_letters(
    reply: str,
    options: Mapping[str, str],
    *,
    several: bool,
    cut: bool = False,
    question: str = "",
) -> frozenset[str] | None:
    """Return the letters that a reply commits to, None where it commits to none.

    Args:
        reply: What the model said, in any language.
        options: Letter (A to H) to text, as the model was shown them.
        several: Whether the question allows more than one letter; a list is read in any case.
        cut: Whether the reply reached the limit of length, so that a list at its end may go on.
        question: The question; native letters (А Б В Г) count where it shows them.
    """
    text = plain(reply)
    asked = one_form(question).strip()
    text = (text or "").removeprefix(asked).strip() or text
    if not text or not options:
        return None
    native = native_letters(asked, options)
    read = Reply(before_next_question(text), options, native, several)
    if not any(token.letters for token in read.tokens):  # the question was restated
        read = Reply(text, options, native, several)
    if opens_with_question(text) and len(re.findall("[IT]", read.kinds)) < 2:
        return None  # it answers a question of its own
    unfinished = cut and several and len(read.tokens) > 1 and read.tokens[-1].letters
    return None if unfinished else read.read()
