"""What a task asks: seeds of the model under test's responses, and requests to other models.

With one seed for all questions, answers to different questions share their draws: they begin with
the same words, questions are not independent, and no interval over questions holds. With one seed
for all repeats, the repeats are copies. What other models will be asked is foreseen for `xling
cost`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

STAND_IN = " ".join(
    f"Sentence {i} of an answer to a person who asks about their health is as long as this."
    for i in range(1, 21)
)
"""For costs: an answer of about 350 words, which is what chat models write on such questions."""


@dataclass(frozen=True)
class AuxiliaryRequest:
    """A request to another model than the one under test.

    Attributes:
        role: `judge`, `translator` or `answer_extractor`.
        prompt: What it is asked.
        max_gen_toks: The most tokens of its reply.
        language: That of the answer it is about; None for the task's.
    """

    role: str
    prompt: str
    max_gen_toks: int
    language: str | None = None


def request_seed(
    sampling_seed: int, dataset: str, language: str, question: str, temperature: float, repeat: int
) -> int:
    """Return the seed of one response: the same in every run, another for every other response.

    The first 31 bits of the SHA-256 of all six, written in this order with a zero byte between
    them (the temperature as Python writes the float; a question of several answers with the id of
    the one it is about; repeats from 0).
    """
    parts = (sampling_seed, dataset, language, question, float(temperature), repeat)
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
