"""The permutation test itself, on answers whose likeness is known."""

from __future__ import annotations

import random

from tests.engines.alike import excess

WORDS = "a patient may rest drink water call doctor soon fever pain sleep and then wait"


def answers(shared: bool, seed: int) -> list[list[str]]:
    """Six questions, four answers each; with shared seeds the first words follow the number."""
    drawn = []
    for question in range(6):
        own = []
        for number in range(4):
            rng = random.Random(f"{seed} {number}" if shared else f"{seed} {question} {number}")
            start = rng.sample(WORDS.split(), 4)
            rng = random.Random(f"{seed} {question} {number} rest")
            own.append(" ".join(start + rng.sample(WORDS.split(), 6)))
        drawn.append(own)
    return drawn


def test_shared_seeds_are_seen_and_own_seeds_are_not():
    for seed in range(5):
        assert excess(answers(True, seed), 500).p < 0.01
    # Under independence p is uniform: five of five below 0.05 would be no accident.
    assert sum(excess(answers(False, seed), 500).p < 0.05 for seed in range(10)) <= 3
