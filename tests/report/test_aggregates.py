"""A report makes each score again from samples: with the aggregate of the task, whatever comes."""

from __future__ import annotations

import math
import random

import pytest
from own_rubric_parts import by_words, conversation, write
from scripted import judged
from xling_metrics.aggregate import CLIPPED_MEAN, HARMONIC, MEAN, RATIO, SPREAD, mean_over
from xling_metrics.classification import classification_scores, hard_answer, probability_scores

from xling_tasks.report.columns import column_of, probability_column, reduce_value
from xling_tasks.tasks.task import HealthTask

COUNTS = {"invalid_rows", "repeated_responses", "n_judged", "n_responses", "n_scored", "profile"}
"""Counts of documents; no scores."""
WHOLE = {"sacrebleu", "judge_alpha", "auc", "auc_hard", "ece", "brier"}
"""Scores of all rows at once, which no aggregate of documents makes."""


def test_every_metric_of_every_task_is_made_again_by_its_own_aggregate(run, serve, tmp_path):
    """Of each metric of each task, the report takes the aggregate that the task took."""
    seen = []

    def noting(whole):
        def noted(task):
            seen.append((task, whole(task)))
            return seen[-1][1]

        return noted

    path = write(tmp_path / "own.jsonl", [conversation(key) for key in "abcd"])
    judge, rubric = serve(judged).spec(), serve(by_words).spec()
    questions = ["xlinghealth_correctness_demo_hi", "xlinghealth_verifiability_demo_es",
                 "xlinghealth_consistency_demo_zh", "xlinghealth_verifiability_ll_demo_en",
                 "mmedbench_mcqa_demo_ja", "mmedbench_mcqa_ll_demo_en",
                 "mmedbench_rationale_demo_fr"]  # fmt: skip
    many = {"languages": ["hi", "es"], "translator": judge}
    compared = set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HealthTask, "aggregation", noting(HealthTask.aggregation))
        for names, metadata in (
            (questions, {"judge": judge, "k": 3, "temperatures": [0.0, 1.0], "topic_seeds": 2}),
            (["xling_information", "xling_empathy"], {"judge": judge, **many}),
            ("xling_custom_rubric", {"judge": rubric, "data_dir": str(path)}),
        ):
            seen.clear()
            found = run(names, metadata=metadata, log_samples=True, limit=4)
            compared |= set(_compared(found, seen))
    assert {"mean", "clipped", "ratio", "harmonic", "harmonic:es,hi"} <= compared


def _compared(found, seen):
    for task, made in seen:
        name = task.config.task
        samples = found["samples"].get(name, [])
        metrics = {metric.name: metric for metric in task.metrics()}
        for metric in made:
            base = metric.rpartition("_t")[0] or metric
            if base in WHOLE or metric.startswith(tuple(COUNTS)):
                continue
            kept = [reduce_value(metric, sample[metric]) for sample in samples]
            again = column_of(metric, kept, metrics[metric].signature(task))
            value = found["results"][name].get(f"{metric},none")
            whole = None if again is None else again.score()
            assert whole == value or math.isclose(whole, value, abs_tol=1e-12), metric
            own = metrics[metric].aggregate
            if again is not None and hasattr(own, "name") and "_judge" not in metric:
                assert again.aggregate.name == own.name, metric
                yield own.name


def test_by_hand():
    # Two of three scored; the mean of precision is of one, that of recall of two.
    pairs = [{"precision": 1.0, "recall": 0.5}, None, {"precision": None, "recall": 0.0}]
    over = mean_over(["es", "hi"])
    for made, values, wanted in (
        (MEAN, [0.5, None, 1.0], 0.75), (MEAN, [None], None), (MEAN, [], None),
        (CLIPPED_MEAN, [-0.5, 0.2, None], 0.0), (CLIPPED_MEAN, [3.0], 1.0),
        (RATIO, [[1, 2], None, [0, 0], [3, 4]], 4 / 6),
        (HARMONIC, pairs, 2 * 1.0 * 0.25 / 1.25),
        # Seeds' means over two questions are 0.2 and 0.4, 0.1 from their mean: sqrt(0.02).
        (SPREAD, [[0.1, 0.5], [0.3, 0.3], None], math.sqrt(0.02)),
        (over, [{"es": 1.0, "hi": 0.0}, {"es": None, "hi": 1.0}], 0.75),
        (over, [{"es": 1.0, "hi": None}], None),
    ):  # fmt: skip
        assert made(values) == (wanted if wanted is None else pytest.approx(wanted))


def test_verdicts_and_chances_are_scored_alike():
    """The tasks use scikit-learn over all rows, the reports counts per question."""
    for seed in range(100):
        r = random.Random(seed)
        questions = [
            [[r.randrange(2), r.choice([None, 0.0, 0.3, 0.5, 0.9, 1.0])]
             for _ in range(r.randrange(1, 5))]
            for _ in range(r.randrange(1, 6))
        ]  # fmt: skip
        rows = [row for own in questions for row in own]
        labels, chances = [row[0] for row in rows], [row[1] for row in rows]
        hard = classification_scores(labels, list(map(hard_answer, chances)))
        for score in ("macro_precision", "macro_recall", "macro_f1", "acc"):
            column = column_of(score, [reduce_value(score, own) for own in questions])
            expected = getattr(hard, score)
            found = None if column is None else column.score()
            assert found == expected or math.isclose(found, expected), (score, questions)
        soft = probability_scores(labels, chances)
        pairs = [[(a, b) for a, b in own] for own in questions]
        for name in ("brier", "ece"):
            column = probability_column(name, pairs)
            assert column is not None
            again, value = column.score(), getattr(soft, name)
            assert again == value or math.isclose(again, value, abs_tol=1e-12), (name, questions)
