"""One task's share in a run: its requests on this process, and the journal of their answers."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from xling_tasks.logs.results import as_json
from xling_tasks.replies.journal import Journal, Kept, Place
from xling_tasks.unanswered import Unanswered, failed


class Part:
    """One task's requests on this process, and the journal of their answers."""

    def __init__(
        self,
        instances: Sequence[Any],
        journal: Journal | None,
        keys: list[str],
        reads: Callable[[str], bool] | None = None,
    ) -> None:
        self.journal, self.reads = journal, reads
        self.keys = {id(item): key for item, key in zip(instances, keys, strict=True)}
        self.allowed = Counter[str]()
        for item, key in zip(instances, keys, strict=True):
            self.allowed[key] += item.repeats
        self.scored = self.looked_through = False
        self.failed = Counter[str]()  # by reason

    @property
    def there(self) -> int:
        """How many of its answers are kept."""
        return 0 if self.journal is None else self.journal.number

    def place(self, request: Any, seen: Counter[Place]) -> Place | None:
        """Which of the task's requests it is; None for one that only fills up a batch."""
        key = self.keys.get(id(request))
        if key is None:
            return None
        number = seen[key, 0]
        seen[key, 0] += 1
        return (key, number) if number < self.allowed[key] else None

    def unsettled(self) -> bool:
        """Whether an earlier start did not look into what it got (`models.doubt`); said once."""
        known = self.looked_through or self.journal is None or self.journal.settled
        self.looked_through = True
        return not known

    def keep(self, place: Place, reply: Any, *, again: bool = False) -> None:
        """Put an answer into the journal; a failed call is none, and is asked for again.

        With `again` the journal has it already, but otherwise.
        """
        if failed(reply):
            self.failed[reply.reason] += 1
            if again and self.journal is not None:
                self.journal.forget(place)
            return
        outcome = (reply.outcome, reply.reason) if isinstance(reply, Unanswered) else ("", "")
        kept = Kept(str(reply) if isinstance(reply, str) else reply, *outcome)
        if self.journal is not None:
            self.journal.put(place, kept, again=again)


def hook_key(kind: str, request: Any) -> tuple[Any, ...]:
    """By what a request is known when the hook tells of it."""
    context, argument = request[0], request[1]
    if not isinstance(context, (str, tuple)):
        context = as_json(context)
    # Few arguments among many requests: one text for each.
    return kind, context, sys.intern(as_json(argument))


def changed_answers(early: dict[int, Any], chunk: Iterable[int], given: Sequence[Any]) -> set[int]:
    """Answers that the hook told otherwise; equal requests may have changed places among them."""
    returned = dict(zip(chunk, given, strict=True))
    if Counter(early.values()) == Counter(returned[number] for number in early):
        return set()
    return {number for number, answer in early.items() if returned[number] != answer}
