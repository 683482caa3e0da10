"""What a sentence translator asks of its model, and batches that lose nothing but their own."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple, Protocol

from xling_metrics.languages import Language

from xling_tasks.log import log

_GIVE_UP_AFTER = 3


class Outcome(NamedTuple):
    """What a model made of one sentence.

    Attributes:
        sentence: The source.
        text: Its translation, perhaps empty; None where the model gave no whole one.
        failed: Why the call failed; '' if it did not.
    """

    sentence: str
    text: str | None
    failed: str = ""


Outcomes = Generator[list[Outcome], None, None]
"""Outcomes as they arrive; close it to end the requests under way."""


class Engine(Protocol):
    """A model that translates sentences."""

    identity: Any
    former: Any
    """The identity in caches of 0.2, where it was another; else None."""
    detects_errors: bool
    """Whether it is a service whose error texts may come as translations."""
    any_language: bool
    """Whether it is told languages by their names, and so may be told any."""

    @property
    def signature(self) -> dict[str, str]:
        """Its fields of the translator's signature."""

    def check(self) -> None:
        """Fail if it cannot be used."""

    def check_pair(self, source: Language, target: Language) -> None:
        """Fail if it does not know one of the languages."""

    def order(self, sentences: Sequence[str]) -> list[str]:
        """The order in which sentences are best asked for."""

    def outcomes(
        self, sentences: Sequence[str], source: Language, target: Language, attempt: int
    ) -> Outcomes:
        """The outcomes as they arrive, one for each sentence."""


def in_batches(
    sentences: Sequence[str], size: int, call: Callable[[Sequence[str]], list[str | None]]
) -> Outcomes:
    """Batches through a model in this process.

    A batch that fails is tried again one by one, so that a sentence that breaks it does not cost
    its neighbours. After three failures in a row nothing more is asked.

    Args:
        sentences: What to translate.
        size: Sentences of a batch.
        call: As many translations as sentences; None for one that is not whole.
    """
    failed = 0

    def attempt(batch: Sequence[str]) -> list[Outcome] | None:
        try:
            return [Outcome(s, t) for s, t in zip(batch, call(batch), strict=True)]
        except Exception:
            log.exception("translator: a call failed")
            return None

    for start in range(0, len(sentences), size):
        batch = sentences[start : start + size]
        whole = attempt(batch) if failed < _GIVE_UP_AFTER else None
        if whole is not None:
            failed = 0
            yield whole
            continue
        for sentence in batch:
            again = failed < _GIVE_UP_AFTER and len(batch) > 1
            one = attempt([sentence]) if again else None
            failed = 0 if one is not None else failed + 1
            yield one or [Outcome(sentence, None, "failed call")]
