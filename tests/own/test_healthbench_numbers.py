"""HealthBench's own numbers, derived by hand: papers' formulas, and the reference's meta evaluation."""

from __future__ import annotations

import itertools
import re

import pytest
from own_rubric_parts import Says, by_words, conversation, write
from xling_metrics.rubric import length_adjusted, rater_scores, worst_at

from xling_tasks.errors import SettingError

TASK = "xling_own_rubric"
GOOD, HALF, BAD = "Have you a fever? Flags.", "A fever? Then morphine.", "Take morphine."
"""Worth 10, 6 - 5 and -5 of 10 points."""


def test_the_worst_of_k_answers():
    """Of 1, 0.1 and -0.5 the pairs have the minima 0.1, -0.5 and -0.5."""
    scores = [1.0, 0.1, -0.5]
    assert worst_at(scores, 1) == pytest.approx(0.2)
    assert worst_at(scores, 2) == pytest.approx(-0.3)
    assert worst_at(scores, 3) == -0.5
    # The paper's example: right three times in four; 0.75 at every k where it is always 0.75.
    assert worst_at([1.0, 1.0, 1.0, 0.0], 2) == pytest.approx(0.5)
    assert worst_at([0.75] * 4, 4) == 0.75
    assert worst_at([1.0, None, 0.0], 1) is None
    several = [0.3, 0.9, -0.2, 0.9, 0.1]
    for k in range(1, 6):
        subsets = list(itertools.combinations(several, k))
        assert worst_at(several, k) == pytest.approx(sum(map(min, subsets)) / len(subsets))
    with pytest.raises(ValueError, match="worst of 4 from 3"):
        worst_at(scores, 4)


def test_length_adjusted_scores():
    """2.94e-5 per character from 2,000 on: 0.0147 per 500; a shorter answer gains."""
    assert length_adjusted(0.5, 2000) == 0.5
    assert length_adjusted(0.5, 2500) == pytest.approx(0.4853)
    assert length_adjusted(-0.1, 1000) == pytest.approx(-0.0706)
    assert length_adjusted(None, 1000) is None


def test_the_graders_macro_f1_is_that_of_the_reference():
    """Pairs with each physician's label: met 3 right of 4 said and of 5 true; not met 2 of 4, of 3.

    F1 of met 2 * 3/4 * 3/5 / (3/4 + 3/5) = 2/3; of not met 2 * 2/4 * 2/3 / (7/6) = 4/7.
    """
    own = [True, True, False, False]
    physicians = [[True, True], [True, False], [True, False], [False, True]]
    scores = rater_scores(own, physicians)
    assert scores.n == 8 and scores.agreement == pytest.approx(5 / 8)
    assert scores.balanced_f1 == pytest.approx((2 / 3 + 4 / 7) / 2)


def rows():
    """Two conversations; the criterion on fever is one of consensus."""
    made = [
        conversation("a", example_tags=["theme:hedging", "physician_agreed_category:any-reducible"]),
        conversation("b", example_tags=["theme:hedging", "physician_agreed_category:only"]),
    ]  # fmt: skip
    for row in made:
        row["rubrics"][0]["tags"] = ["level:cluster", "axis:completeness", "cluster:hedging_any"]
    return made


def test_several_answers_categories_and_consensus_by_hand(run, serve, tmp_path):
    """Answers of a: 1, 0.1, -0.5; of b always 1."""
    path = write(tmp_path / "own.jsonl", rows())
    left = {"a": [GOOD, HALF, BAD] * 2, "b": [GOOD] * 6}
    model = Says(lambda context: left[re.findall(r"\((\w)\)", context)[-1]].pop(0))
    metadata = {"data_dir": str(path), "judge": serve(by_words).spec(), "rubric_answers": 3}
    found = run(TASK, model=model, metadata=metadata, log_samples=True)
    results = found["results"][TASK]
    assert {arguments["temperature"] for _, arguments in model.contexts} == {1.0}
    for code in ("en", "es"):
        assert results[f"rubric_score_{code},none"] == 1.0  # of the first answers
        assert results[f"worst_at_1_{code},none"] == pytest.approx(0.6)
        assert results[f"worst_at_2_{code},none"] == pytest.approx(0.35)
        assert results[f"worst_at_3_{code},none"] == pytest.approx(0.25)
        adjusted = 1 - 2.94e-5 * (len(GOOD) - 2000)
        assert results[f"length_adjusted_{code},none"] == min(adjusted, 1.0) == 1.0
        assert results[f"category_any_reducible_{code},none"] == 1.0
        assert results[f"category_only_{code},none"] == 1.0
        assert results[f"level_cluster_{code},none"] == 1.0
    sample = found["samples"][TASK][0]
    assert sample["length_adjusted_en"] == pytest.approx(adjusted)
    assert sample["doc"]["languages"]["en"]["categories"] == ["any-reducible"]


def test_copies_of_one_answer_are_refused(run, tmp_path):
    path = write(tmp_path / "own.jsonl", rows())
    metadata = {"data_dir": str(path), "rubric_answers": 2}
    with pytest.raises(SettingError, match="would be copies of one"):
        run(TASK, metadata=metadata, gen_kwargs="temperature=0")
