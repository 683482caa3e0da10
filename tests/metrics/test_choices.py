from __future__ import annotations

import math

import pytest
from xling_metrics.choices import best_choice, chance_level, is_exact_match, jaccard


def test_sets_of_letters():
    assert is_exact_match({"A", "C"}, ["C", "A"])
    assert not is_exact_match({"A"}, ["A", "C"])
    assert not is_exact_match(None, ["A"])
    # {A, B} and {B, C} share one of three.
    assert jaccard({"A", "B"}, {"B", "C"}) == pytest.approx(1 / 3)
    assert jaccard({"A"}, {"A"}) == 1.0
    assert jaccard({"A"}, {"B"}) == 0.0
    assert jaccard(None, {"B"}) is None
    with pytest.raises(ValueError, match="at least one correct letter"):
        jaccard({"A"}, set())


def test_best_and_chance():
    assert chance_level(4, several=False) == 0.25
    assert chance_level(5, several=True) == pytest.approx(1 / 31)
    assert best_choice([-3.0, -1.0, -2.0]) == 1
    assert best_choice([-1.0, -1.0, -2.0]) is None
    assert best_choice([-math.inf, -math.inf]) is None
    assert best_choice([float("nan"), -5.0]) == 1
    assert best_choice([]) is None
