"""One text for different prompts: a service in trouble, or a model that says so?

In whatever language a service speaks of its trouble, it says the same to prompts that have nothing
in common. So does a model that declines, or has one way to answer. What tells them apart is not
the text, but what else is said:

1. A few of them are asked again, few at a time. A model says it again to the same prompts; the
   trouble of a service comes again no more often there than elsewhere. So does a sentence that a
   model draws for any question with the same odds; but it never says it to sums of ours, which
   trouble meets as often as all else. If it is trouble, all are asked again, the second reply
   counts, and what is the same text once more has failed.
2. Where it comes again every time, prompts that got other replies are asked once more, and two
   questions of ours. If all of these get that text now, too, it is the service that says it, and
   the run ends in words; if not, the model does.
3. Where nothing but that one text ever comes, even to our questions, nothing can tell them apart
   but its words: a text that declines is taken for the model's (`declined_rate` has its share), and
   so is any where there are fewer than 40 prompts, with a warning. Any other ends the run.
"""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from xling_tasks.log import log
from xling_tasks.models.failures import ANSWER, FAILED, REPEATED, CallFailed, Reply, alike
from xling_tasks.models.health import Health, Limits
from xling_tasks.models.rounds import Arrived, Call, one_round
from xling_tasks.readers.refusals import declines
from xling_tasks.secrets import redact_text

T = TypeVar("T")

PROMPTS = 3
"""Different prompts with one text above which it is looked into."""

IN_A_ROW = 40
"""Replies in a row with one text above which it is looked into at once."""

_TRIED = 12
_BY_CHANCE = 0.05
_SURELY = 0.001
_MOST_SUMS = 100
_OTHERS = 3
_SUM = "How much is {} + {}? Reply with the number alone."
_OURS = (_SUM.format(3, 4), "What is the capital of France?")


def shared(said: Iterable[tuple[T, str, str]]) -> set[T]:
    """What got one text that three or more different prompts got, and that does not decline.

    Args:
        said: Anything, with its prompt and its reply.
    """
    places: dict[str, dict[T, str]] = {}
    for item, prompt, reply in said:
        if text := _common(reply):
            places.setdefault(text, {})[item] = alike(prompt)
    return {
        item
        for text, same in places.items()
        if len(set(same.values())) >= PROMPTS and not declines(text)
        for item in same
    }


def _common(reply: str) -> str:
    """What a reply may have in common with others; '' if it says nothing."""
    text = alike(reply)
    return text if any(unicodedata.category(c)[0] == "L" for c in text) else ""


def _odds(hits: range, tried: int, share: float) -> float:
    """The probability of so many hits."""
    return sum(math.comb(tried, n) * share**n * (1 - share) ** (tried - n) for n in hits)


class Doubt:
    """What is said to the calls of one stream, and whether a service says it.

    Args:
        lm: The backend.
        calls: All calls.
        limits: How long to go on.
        health: What is known of the service.
    """

    def __init__(self, lm: Any, calls: Sequence[Call], limits: Limits, health: Health) -> None:
        self._lm, self._calls, self._limits, self._health = lm, calls, limits, health
        self._said: dict[int, Reply] = {}
        self._row: tuple[str, set[str]] = ("", set())
        self._models: set[str] = set()  # texts that are known to be the model's

    def arrived(self, replies: Arrived) -> Arrived:
        """Note what arrived; returns what to put in its place if a service says nothing else.

        Raises:
            ServiceDown: In the next call after such a return.
        """
        self._said.update(replies)
        for i, reply in replies:
            text = self._text(i, reply)
            if not text or text in self._models or text != self._row[0]:
                self._row = (text, set())
            self._row[1].add(self._prompt(i))
        text, prompts = self._row
        if not text or len(prompts) < IN_A_ROW:
            return []
        self._row = ("", set())
        places = [i for i, reply in self._said.items() if self._text(i, reply) == text]
        return list(itertools.chain.from_iterable(self._settle(text, places)))

    def rest(self) -> Iterator[Arrived]:
        """At the end: what to put in the place of replies that were none."""
        looked_into: set[str] = set()
        while doubtful := self._doubtful(looked_into):  # second replies may be in trouble, too
            for text, same in doubtful.items():
                looked_into.add(text)
                yield from self._settle(text, same)
                if text in self._models:
                    log.warning(
                        "%s: %d of %d requests got one and the same reply (%r), also when asked "
                        "again: it is the model's own, and counts", self._health.name, len(same),
                        len(self._said), redact_text(self._said[same[0]].text)[:120],
                    )  # fmt: skip

    def _doubtful(self, looked_into: set[str]) -> dict[str, list[int]]:
        """The texts to look into, with their places."""
        places: dict[str, list[int]] = {}
        for i, reply in self._said.items():
            if text := self._text(i, reply):
                places.setdefault(text, []).append(i)
        return {
            text: same
            for text, same in places.items()
            if text in self._health.troubles
            or (text not in looked_into and self._prompts(same) >= PROMPTS)
        }

    def _text(self, place: int, reply: Reply) -> str:
        """What a reply has in common with others; '' where it may be the same by right."""
        reads = self._calls[place].reads
        if reply.outcome != ANSWER or (reads is not None and reads(reply.text)):
            return ""
        return _common(reply.text)

    def _settle(self, text: str, same: list[int]) -> Iterator[Arrived]:
        if text in self._models:
            return
        shown = redact_text(self._said[same[0]].text)[:120]
        if text in self._health.troubles:
            yield self._second(text, same, {}, shown)
            return
        tried = same[:_TRIED]
        again = self._again(tried)
        stays = sum(self._text(i, again[i]) == text for i in tried)
        # Numbers that go with the prompt are the model's; a service's go with the time.
        by_prompt = len({self._said[i].text for i in tried}) > 1 and all(
            again[i].text == self._said[i].text for i in tried
        )
        if stays == len(tried):
            if not by_prompt and self._is_the_services(text, same[0]):
                yield self._failed(same, shown)
                return
        elif not (
            self._is_the_models(stays, len(tried), same) or self._is_drawn(text, same, again)
        ):
            yield self._second(text, same, again, shown)
            return
        self._models.add(text)

    def _is_the_models(self, stays: int, tried: int, same: list[int]) -> bool:
        """Whether a text comes again to the same prompts more often than to any."""
        if any(self._calls[i].gen_kwargs.get("temperature") for i in same) and declines(
            self._said[same[0]].text
        ):
            return True  # drawn again it is no less its answer, and would become rarer
        share = len(same) / len(self._said)
        return _odds(range(stays, tried + 1), tried, share) < _BY_CHANCE

    def _is_drawn(self, text: str, same: list[int], again: dict[int, Reply]) -> bool:
        """Whether a sampled text comes to questions as often as before, and to sums never.

        As many sums as would surely meet trouble of its share; where these are too many, nothing
        is told. More second replies are added to `again`.
        """
        share = len(same) / (2 + len(self._said))
        number = math.ceil(math.log(_SURELY) / math.log1p(-share))
        sampled = any(self._calls[i].gen_kwargs.get("temperature") for i in same)
        if not sampled or number > _MOST_SUMS:
            return False
        again |= self._again(same[len(again) : number])
        stays = sum(self._text(i, reply) == text for i, reply in again.items())
        if not stays or _odds(range(stays + 1), len(again), share) < _BY_CHANCE:
            return False  # it has stopped since, as trouble does
        kwargs = self._calls[same[0]].gen_kwargs
        sums = [Call(self._context(_SUM.format(n, number)), kwargs) for n in range(number)]
        said = self._again(range(number), sums).values()
        return not any(reply.failed or alike(reply.text) == text for reply in said)

    def _second(self, text: str, same: list[int], again: dict[int, Reply], shown: str) -> Arrived:
        """The second replies; those that are the same text once more have failed."""
        self._health.troubles.add(text)
        again |= self._again(same[len(again) :])
        for i, reply in again.items():
            if self._text(i, reply) in self._health.troubles:
                again[i] = Reply("", FAILED, REPEATED)
        log.warning(
            "%s: %d different requests got one and the same reply (%r), and another one when they "
            "were asked again (%d still that one, which are unscored): an error of the service. "
            "The second reply counts. detect_errors=false switches this off",
            self._health.name, len(same), shown, sum(reply.failed for reply in again.values()),
        )  # fmt: skip
        self._said.update(again)
        return list(again.items())

    def _failed(self, same: list[int], shown: str) -> Arrived:
        log.error(
            "%s: %d prompts, and others that got another reply before, get one and the same reply "
            "now (%r): an error of the service; they are unscored and asked again by the next "
            "start. If it is what the model says, set detect_errors=false",
            self._health.name, len(same), shown,
        )  # fmt: skip
        gone = [(i, Reply("", FAILED, REPEATED)) for i in same]
        self._said.update(gone)
        self._health.says_nothing_else(shown)
        return gone

    def _is_the_services(self, text: str, place: int) -> bool:
        """Whether prompts that got other replies, or questions of ours, get this text now."""
        texts = Counter(alike(reply.text) for reply in self._said.values())
        others = [
            i for i, reply in self._said.items()
            if reply.outcome == ANSWER and texts[alike(reply.text)] < PROMPTS
        ][-_OTHERS:]  # fmt: skip
        if len(others) < _OTHERS and self._prompts(self._said) < IN_A_ROW:
            return False  # too few to end a run for
        ours = [Call(self._context(question), self._calls[0].gen_kwargs) for question in _OURS]
        replies = self._again(range(len(ours)), ours), self._again(others)
        nothing_else = all(
            reply.failed or alike(reply.text) == text for each in replies for reply in each.values()
        )
        return nothing_else and not declines(self._said[place].text)

    def _prompts(self, places: Iterable[int]) -> int:
        """How many different prompts there are, but for numbers in them."""
        return len({self._prompt(i) for i in places})

    def _prompt(self, place: int) -> str:
        return alike(str(self._calls[place].context))

    def _context(self, prompt: str) -> Any:
        if type(self._calls[0].context) is str:
            return prompt
        return self._lm.apply_chat_template([{"role": "user", "content": prompt}])

    def _again(
        self, places: Sequence[int], calls: Sequence[Call] | None = None
    ) -> dict[int, Reply]:
        """Replies to calls that are made a second time, few at a time."""
        replies: dict[int, Reply] = {}
        before = self._lm._concurrent
        self._lm._concurrent = max(1, int(before or 1) // 4)
        try:
            for arrived in one_round(
                self._lm, calls or self._calls, places, self._limits, self._health
            ):
                for i, reply in arrived:
                    failed = isinstance(reply, CallFailed)
                    replies[i] = Reply("", FAILED, reply.reason) if failed else reply
        finally:
            self._lm._concurrent = before
        return replies
