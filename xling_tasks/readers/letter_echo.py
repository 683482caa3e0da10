"""What a clause around options shares with the question, and what it says of something else."""

from __future__ import annotations

from collections.abc import Iterable

import regex

from xling_tasks.readers.kinds import KIND, has, row
from xling_tasks.readers.letter_asked import answers, echoes, of_something_else, roots, within
from xling_tasks.readers.letter_clause import NAMED, Clause
from xling_tasks.readers.letter_grammar import RULES
from xling_tasks.readers.letter_reply import Place, Reply
from xling_tasks.readers.options import stem

OTHERS = row("word capital foreign")
# What a sentence lacks that answers a question in the question's words.
_LIMITING = "but not no none wrong maybe seems"
_DENYING = row("not no none wrong")
_UNCLEAR = NAMED + _DENYING + row("or but maybe seems also except aside wait supposing query")


class Echo:
    """A clause beside the question.

    Attributes:
        around: The tokens of its sentence up to its end, without the option's own and without a
            reason ('..., so').
    """

    def __init__(self, reply: Reply, place: Place, clause: Clause) -> None:
        self.reply, self.place, self.clause = reply, place, clause
        start, self.end = place.start - len(clause.before_all), place.end + len(clause.after)
        start += clause.before_all.rfind(KIND["so"]) + 1
        self.around = [*range(start, place.start), *range(place.end, self.end)]

    def _words(self, span: Iterable[int], kinds: str = "") -> list[str]:
        """The words of tokens, of some kinds or of all."""
        words, told = self.reply.tokens.words, self.reply.told
        return [w for at in span if not kinds or told[at] in kinds for w in words[at].split()]

    def looks_as_asked(self) -> bool:
        """Whether what looks at options is the question's own word ('What is to be monitored?')."""
        looks = self._words(self.around, KIND["looks"])
        return roots(looks) == within(roots(looks), self.reply.question.last)

    def reasons_as_asked(self) -> bool:
        """Whether what gives a reason is the question's own ('due to injury of which nerve?')."""
        why = map(stem, self._words(self.around, KIND["because"]))
        return {*why} <= self.reply.question.words

    def answers(self) -> bool | None:
        """Whether it says little but what the question does (else None), or nothing but that."""
        reply, place, told = self.reply, self.place, self.reply.told
        if reply.several or len(place.letters) > 1 or has(self.clause.rest, _LIMITING):
            return None  # 'It is used for hypertension, but not in pregnancy'
        unclear = _UNCLEAR
        if reply.asked:  # the question's own 'not'
            if not any(told[at] in _DENYING for at in self.around):
                return None
            unclear = unclear.translate(dict.fromkeys(map(ord, _DENYING)))
        if any(told[at] in unclear for at in self.around):
            return None
        if reply.asked and has("".join(told[at] for at in self.around), "looks both each all"):
            return None  # 'not always a sign', 'no sign of this one only'
        if RULES.ROW_OF.match(self.clause.behind) or self.rest_is_of_another():
            return None
        if place.text and {*reply.options.texts[min(place.letters)]} <= reply.question.words:
            return None
        later = range(self.end, place.end + len(self.clause.behind))
        said, behind = self._words(self.around, OTHERS), self._words(later, OTHERS)
        wholly = answers(said, self._words(self.around), behind, reply.question)
        return wholly if RULES.PREDICATE.search(self._before()) else None

    def of_something_else(self) -> bool:
        """Whether it has words of another matter, but for what explains the option in brackets."""
        place, told = self.place, self.reply.told
        after = RULES.BRACKETS.sub(lambda match: " " * len(match[0]), self.clause.after)
        kept = (at for at, kind in enumerate(after, place.end) if kind != " ")
        span = [*(at for at in self.around if at < place.start), *kept]
        asked = self.reply.question
        dose = "".join(self.reply.tokens.words[place.end : place.end + 1])[:1].isdigit()
        # 'Next step: Naloxone.', and nothing else
        label = RULES.LABEL_ALONE.fullmatch(told[: place.start]) and not told[place.end + 1 :]
        if not asked.every or dose or label:
            return False
        return of_something_else(self._words(span, OTHERS), self._words(span), asked)

    def rest_is_of_another(self) -> bool:
        """Whether the next sentence names one other option, and half of what this one leaves out.

        'First-line for hypertension is lisinopril. Pregnant women get labetalol.'
        """
        reply, end = self.reply, self.place.end + len(self.clause.behind)
        following: regex.Match[str] | None = RULES.NEXT_SENTENCE.match(reply.told, end)
        span = range(end, following.end() if following else end)
        named = (reply.tokens.values[at] for at in span if reply.told[at] in NAMED)
        if len(frozenset().union(*named) - self.place.letters) != 1:
            return False
        here, then = (roots(self._words(tokens)) for tokens in (self.around, span))
        left_out = reply.question.last - within(reply.question.last, here)
        return 2 * len(within(left_out, then)) >= max(len(left_out), 1)

    def _before(self) -> str:
        """The kinds before the option, without words of the question beside it."""
        reply, before = self.reply, self.place.start
        start = before - len(self.clause.before_all)
        echoed = OTHERS + KIND["article"] + (_DENYING if reply.asked else "")
        while before > start and reply.told[before - 1] in echoed:
            other = reply.told[before - 1] in OTHERS
            if other and not echoes(reply.tokens.words[before - 1].split(), reply.question):
                break
            before -= 1
        return reply.told[start:before]
