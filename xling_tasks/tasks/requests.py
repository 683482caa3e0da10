"""What a task asks: the model under test, with a seed for every sampled answer; and other models.

With one seed for all questions, answers to different questions share their draws: they begin with
the same words, questions are not independent, and no interval over questions holds. With one seed
for all repeats, the repeats are copies. What other models will be asked is foreseen for `xling
cost`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from xling_tasks.harness.backends import takes_seed
from xling_tasks.harness.run import current

STAND_IN = " ".join(
    f"Sentence {i} of an answer to a person who asks about their health is as long as this."
    for i in range(1, 21)
)
"""For costs: an answer of about 350 words, which is what chat models write on such questions."""


@dataclass(frozen=True)
class SideRequest:
    """A request to another model than the one under test.

    Attributes:
        role: `judge` or `translator`.
        prompt: What it is asked.
        max_gen_toks: The most tokens of its reply.
        language: That of the answer it is about; None for the task's.
    """

    role: str
    prompt: str
    max_gen_toks: int
    language: str | None = None


Request = tuple[str, tuple[Any, ...], int]
"""What a task asks of the model: request type, arguments, repeats."""


def request_seed(
    sampling_seed: int, dataset: str, language: str, question: str, temperature: float, repeat: int
) -> int:
    """The seed of one answer: the same in every run, another for every other answer.

    The first 31 bits of the SHA-256 of all six, written in this order with a zero byte between
    them (the temperature as Python writes the float; a question of several answers with the id of
    the one it is about; repeats from 0).
    """
    parts = (sampling_seed, dataset, language, question, float(temperature), repeat)
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def with_seeds(
    request: Request, sampling_seed: int, dataset: str, language: str, question: str
) -> Iterator[Request]:
    """A request as it is sent: sampled or repeated ones once per answer, each with its seed.

    Greedy single requests, log-likelihoods, and requests to backends that take no seed with a
    request (transformers, whose generator runs on from answer to answer) stay what they are.
    """
    kind, arguments, repeats = request
    lm = current().lm
    if kind != "generate_until" or lm is None or not takes_seed(lm):
        yield request
        return
    context, own = arguments
    temperature = float(own.get("temperature") or 0.0)
    if temperature == 0 and repeats == 1:
        yield request
        return
    first = int(own.get("seed", sampling_seed))
    for repeat in range(repeats):
        seed = request_seed(first, dataset, language, question, temperature, repeat)
        yield kind, (context, {**own, "seed": seed}), 1
