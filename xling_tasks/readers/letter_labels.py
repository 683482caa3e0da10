"""Where an answer stands behind a label ('Answer:', 'I choose'), or before what calls it one."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from xling_tasks.readers.kinds import has
from xling_tasks.readers.letter_grammar import LABELS, RULES
from xling_tasks.readers.letter_reply import LETTER, TEXT, Place, Reply

NOUNS, SEVERAL = "answer answers", "answers options"


class LabelledReply(Reply):
    """A reply with the places that are called the answer."""

    def labelled(self) -> Iterator[Place]:
        """The places, and a place without letters for a label that no answer follows."""
        present = set(self.kinds)
        contrasted = has(present, "not no but")
        for match in RULES.NOT_BUT.finditer(self.kinds) if contrasted else ():
            place = self.place(match)
            refused = self.letters_in(match.span("no"))
            if place and not place.letters & refused and not self.doubted(match.start()):
                yield place._replace(named=True)
        false_label = [(RULES.FALSE_LABEL, True, present)] if self.asked else []
        for pattern, loose, needed in [*LABELS, *false_label]:
            if needed.isdisjoint(present):
                continue
            for match in pattern.finditer(self.kinds):
                if self.denied(match.start("core")):
                    continue
                yield from self._after_label(match, loose)
        stated = has(present, "answer answers option options right chosen")
        for match in RULES.STATED.finditer(self.kinds) if stated else ():
            place = self.place(match)
            true_ones = self.asked == "false" and not has(match[0][len(match["list"]) :], NOUNS)
            several = place and (len(place.letters) > 1 or self._true(place.start) - place.letters)
            if (true_ones and several) or RULES.FALSE_ONE.search(self.kinds):
                continue
            if place and not self.denied(match.start()):
                yield place._replace(named=True, text=False)

    def _true(self, end: int) -> frozenset[str]:
        """The options that are called true before a place."""
        matches = RULES.TRUE.finditer(self.kinds, 0, end)
        return frozenset().union(*(self.letters_in(match.span("list")) for match in matches))

    def _after_label(self, match: regex.Match[str], loose: bool) -> Iterator[Place]:
        kinds, end = self.kinds, match.end()
        every = RULES.EVERY.match(kinds, end)
        place: Place | None
        if every and self.several:
            place = Place(end, every.end(), frozenset(self.keys))
        else:
            place = self.place((RULES.LISTED_LOOSELY if loose else RULES.LISTED).match(kinds, end))
        if place and self.several and len(place.letters) == 1:
            several = has(match["core"], SEVERAL) or has(match["mark"], "are")
            if self.one_of_blocks(place, one_announced=not several):
                place = None
        if place and place.text and self._first_line(match, place):
            return
        if place is None or self.unfinished(place) or self._half_of(match, place):
            denied = RULES.DENIAL.match(kinds, end)
            says = RULES.SAYS_ELSE.match(kinds, end)
            if loose and not denied and says and not self._said_again(says):
                yield Place(match.start(), match.end(), frozenset())
            return
        if LETTER not in kinds[place.start : place.end] and has(
            kinds[place.start - 1], "option options"
        ):
            return
        if has(match["core"], "so") and len(place.letters) > 1 and not self.several:
            return  # 'That leaves B and C'
        true_ones = has(match["core"], "right") and not has(match["core"], NOUNS)
        if self.asked == "false" and true_ones and len(place.letters) > 1:
            return  # 'the true statements are ...'
        if (glossed := self.glossed(place)) - place.letters:
            return  # 'Aortic dissection, i.e. B', where B is another's
        yield place._replace(
            final=has(match["core"], "boxed final"),
            named=loose or bool(glossed),
        )

    def _said_again(self, says: regex.Match[str]) -> bool:
        """Whether a text is that of the letter before ('Answer: C. <text>. Cause: <text>')."""
        named = self.tokens.values[says.end() - 1]
        text = self.kinds[says.end() - 1] == TEXT
        return text and self.mentioned(0, says.start()) == named

    def _first_line(self, label: regex.Match[str], place: Place) -> bool:
        """Whether a mere verb ('Il s'agit de') leads to texts of which the next has a line."""
        verb = RULES.VERB_ONLY.fullmatch(label["core"])
        return bool(verb and RULES.FIRST_OF_LINES.match(self.kinds, place.end))

    def _half_of(self, label: regex.Match[str], place: Place) -> bool:
        """Whether one letter ends a reply that announced several ('Les réponses sont A')."""
        announced = has(label["core"], SEVERAL) and has(label["mark"], "are")
        return announced and len(place.letters) == 1 and place.end >= len(self.kinds)
