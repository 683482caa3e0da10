"""One text for different prompts: a service in trouble, or a model that says so?

In whatever language a service speaks of its trouble, it says the same to prompts that have nothing
in common. So does a model that declines, or has one way to answer. What tells them apart is not
the text, but how it comes: a model makes it word by word and ends where the request says; a message
of the service, or of a gate before the model, comes whole.

1. Requests that got it are made with room for its beginning alone, then again as they were, few at
   a time. If never all of it came where there was no room, and it comes again, or its beginning
   did, it is the model's, and counts.
2. Where it came whole, and not every time, or does not come any more, it is the trouble of a
   moment: all are asked again, the second reply counts, and what is the same text once more failed.
3. Where it comes whole every time, prompts that got other replies are asked once more, and two
   questions of ours. If all of these get it now, too, it is the service that says it, and the run
   ends in words; if not, something holds these prompts back.
"""

from __future__ import annotations

import itertools
import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from xling_tasks.log import log
from xling_tasks.models.failures import (
    ANSWER,
    FAILED,
    HELD,
    REFUSED,
    REPEATED,
    CallFailed,
    Reply,
    alike,
)
from xling_tasks.models.health import Health, Limits
from xling_tasks.models.rounds import Arrived, Call, one_round
from xling_tasks.secrets import redact_text

T = TypeVar("T")

PROMPTS = 3
"""Different prompts with one text above which it is looked into."""

IN_A_ROW = 40
"""Replies in a row with one text above which it is looked into at once."""

_TRIED = 12
_MOST_TRIED = 100
_BY_CHANCE = 0.05
_SURELY = 0.001
_OTHERS = 3
_A_TOKEN = 16
"""More letters than tokens have on average, in any language: so many tokens hold half of a text."""

_OURS = ("How much is 3 + 4? Reply with the number alone.", "What is the capital of France?")


def shared(said: Iterable[tuple[T, str, str]]) -> set[T]:
    """What got one text that three or more different prompts got."""
    places: dict[str, dict[T, str]] = {}
    for item, prompt, reply in said:
        if text := _common(reply):
            places.setdefault(text, {})[item] = alike(prompt)
    alone = (same for same in places.values() if len(set(same.values())) < PROMPTS)
    return {item for same in places.values() for item in same} - set(itertools.chain(*alone))


def _common(reply: str) -> str:
    """What a reply may have in common with others; '' if it says nothing."""
    text = alike(reply)
    return text if any(unicodedata.category(c)[0] == "L" for c in text) else ""


class Doubt:
    """What is said to the calls of one stream, and whether a service says it."""

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
            or (text not in looked_into and len({*map(self._prompt, same)}) >= PROMPTS)
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
        begun, whole = self._cut_short(text, same)
        tried = same[:_TRIED]
        again = self._again(tried)
        stays = sum(self._text(i, again[i]) == text for i in tried)
        stayed = stays == len(tried)
        if stayed and whole:
            yield (
                self._failed(same, shown)
                if self._is_the_services(text)
                else self._held(same, shown)
            )
        elif not whole and (stayed or begun or self._is_their_answer(stays, same)):
            self._models.add(text)
        else:
            yield self._second(text, same, again, shown)

    def _cut_short(self, text: str, same: Sequence[int]) -> tuple[int, int]:
        """How often a text begins where there is no room for more, and how often it comes whole."""
        share = len(same) / (2 + len(self._said))  # asked as often as would surely meet it
        most = min(_MOST_TRIED, max(_TRIED, math.ceil(math.log(_SURELY) / math.log1p(-share))))
        others = {  # a beginning that these have says nothing
            reply.text.strip() for reply in self._said.values() if _common(reply.text) != text
        }
        places, by_length = itertools.cycle(same), True
        begun = whole = tried = 0
        while not whole and tried < most and not 0 < tried == begun:
            said = [(i, self._said[i].text.strip()) for i in itertools.islice(places, _TRIED)]
            calls = [self._short(*each, by_length) for each in said]
            replies = self._again(range(len(calls)), calls)
            if by_length and not any(reply.outcome == ANSWER for reply in replies.values()):
                by_length = False  # a model that thinks says nothing in so little room
                continue
            for at, reply in replies.items():
                start, full = reply.text.strip(), said[at][1]
                # A model that thinks may take no stops: what comes whole then may be its own.
                whole += by_length and _common(start) == text
                cut = start and start != full and full.startswith(start)
                begun += bool(cut) and not any(other.startswith(start) for other in others)
            tried += len(said)
        return begun, whole

    def _short(self, place: int, full: str, by_length: bool) -> Call:
        """A request that leaves room for the beginning of what came: by a stop, and by length."""
        call, half = self._calls[place], full[len(full) // 2 :]
        stop = half[:_A_TOKEN].strip() or full[-1]
        room: dict[str, Any] = {"until": [stop, *(call.gen_kwargs.get("until") or ())]}
        if by_length:
            room["max_gen_toks"] = max(1, len(full) // (2 * _A_TOKEN))
        return call._replace(gen_kwargs={**call.gen_kwargs, **room})

    def _is_their_answer(self, stays: int, same: Sequence[int]) -> bool:
        """Whether a text comes again to the same prompts more often than to any."""
        tried, share = min(_TRIED, len(same)), len(same) / len(self._said)
        by_chance = sum(
            math.comb(tried, n) * share**n * (1 - share) ** (tried - n)
            for n in range(stays, tried + 1)
        )
        return by_chance < _BY_CHANCE

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

    def _held(self, same: list[int], shown: str) -> Arrived:
        log.warning(
            "%s: %d of %d prompts get one and the same text (%r), whole even where there is no "
            "room for it: no model's answer, and counted as held back by the service. If it is an "
            "answer, set detect_errors=false",
            self._health.name, len(same), len(self._said), shown,
        )  # fmt: skip
        return self._instead(same, Reply("", REFUSED, HELD))

    def _instead(self, same: list[int], reply: Reply) -> Arrived:
        self._said.update(dict.fromkeys(same, reply))
        return [(i, reply) for i in same]

    def _failed(self, same: list[int], shown: str) -> Arrived:
        log.error(
            "%s: %d prompts, and others that got another reply before, get one and the same reply "
            "now (%r): an error of the service; they are unscored and asked again by the next "
            "start. If it is what the model says, set detect_errors=false",
            self._health.name, len(same), shown,
        )  # fmt: skip
        self._health.one_text = shown
        return self._instead(same, Reply("", FAILED, REPEATED))

    def _is_the_services(self, text: str) -> bool:
        """Whether prompts that got other replies, and questions of ours, get this text now."""
        texts = Counter(alike(reply.text) for reply in self._said.values())
        others = [
            i for i, reply in self._said.items()
            if reply.outcome == ANSWER and texts[alike(reply.text)] < PROMPTS
        ][-_OTHERS:]  # fmt: skip
        ours = [Call(self._context(question), self._calls[0].gen_kwargs) for question in _OURS]
        replies = self._again(range(len(ours)), ours), self._again(others)
        return all(
            reply.failed or alike(reply.text) == text for each in replies for reply in each.values()
        )

    def _prompt(self, place: int) -> str:
        """A prompt, but for the numbers in it."""
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
