"""A failed call and a filtered answer are no empty answers: counted apart, and not scored."""

from __future__ import annotations

import json
import math
import pickle

import pytest
from xling_metrics.classification import verdict_scores

from xling_tasks.lm.baseline import BaselineLM
from xling_tasks.outcomes import OUTCOMES
from xling_tasks.unanswered import FAILED, REFUSED, Unanswered, empty, failed, refused

QUICK = {"k": 4, "topic_seeds": 1, "encoder": False, "source_encoder": False, "temperatures": [1.0]}


class Flaky(BaselineLM):
    """The baseline, whose replies at some places are something else."""

    def __init__(self, instead):
        super().__init__()
        self.instead = instead

    def generate_until(self, requests, disable_tqdm=False):
        replies = super().generate_until(requests, True)
        return [self.instead.get(i, reply) for i, reply in enumerate(replies)]


GONE = Unanswered.of(FAILED, "null content")
HELD = Unanswered.of(REFUSED, "finish reason content_filter")


def test_it_is_no_empty_text():
    assert GONE != "" and HELD != GONE and GONE != ""
    assert {GONE: 1, "": 2, HELD: 3}[""] == 2
    assert Unanswered.of(FAILED, "other reason") == GONE
    assert failed(GONE) and refused(HELD) and empty(" \n")
    assert not (failed(HELD) or refused(GONE) or empty(GONE) or empty(HELD) or failed(""))
    again = pickle.loads(pickle.dumps(HELD))
    assert again == HELD and again.reason == HELD.reason
    assert json.dumps(GONE) == '""'


def rate(results, task, name):
    return results["results"][task][f"{name},none"]


@pytest.mark.parametrize("task", [
    "xlinghealth_correctness_demo_hi", "mmedbench_mcqa_demo_en", "mmedbench_rationale_demo_en",
])  # fmt: skip
def test_one_answer_a_question(run, task):
    """Scores are those of the run without the failed question; a refusal counts as no answer."""
    options = {"metadata": QUICK, "limit": 4}
    results = run(task, model=Flaky({0: GONE, 1: HELD, 2: ""}), **options)
    assert rate(results, task, "failed_rate") == 1 / 4
    assert rate(results, task, "refused_rate") == 1 / 4
    assert rate(results, task, "empty_rate") == 1 / 3
    assert rate(results, task, "n_answered") == 2
    others = run(task, model=Flaky({0: HELD, 1: ""}), metadata=QUICK, samples={task: [1, 2, 3]})
    for key, value in results["results"][task].items():
        if key.endswith(",none") and not key.startswith(("failed", "refused", "n_answered")):
            assert value == others["results"][task][key], key


def test_verdicts(run):
    task = "xlinghealth_verifiability_demo_en"
    clean = run(task, model=BaselineLM(), metadata=QUICK, limit=3)
    rows = [row for sample in clean["samples"][task] for row in sample["acc_t1.0"]]
    results = run(task, model=Flaky({0: GONE, 3: "", 4: HELD}), metadata=QUICK, limit=3)
    left = [row for i, row in enumerate(rows) if i != 0]
    left[2][1] = left[3][1] = None
    expected = verdict_scores([r[0] for r in left], [r[1] for r in left])
    n = len(rows)
    assert rate(results, task, "acc_t1.0") == pytest.approx(expected.acc)
    assert rate(results, task, "unknown_rate_t1.0") == 2 / (n - 1)
    assert rate(results, task, "empty_rate_t1.0") == 1 / (n - 1)
    assert rate(results, task, "failed_rate") == 1 / n
    assert rate(results, task, "refused_rate") == 1 / n


def test_consistency_compares_the_answers_that_came(run):
    task = "xlinghealth_consistency_demo_en"
    clean = run(task, model=BaselineLM(), metadata=QUICK, limit=2)
    results = run(task, model=Flaky({1: GONE}), metadata=QUICK, limit=2)
    three = run(task, model=Flaky({}), metadata=QUICK | {"k": 3}, limit=2)
    assert rate(results, task, "failed_rate") == 1 / 8
    assert rate(results, task, "empty_rate_t1.0") == 0
    first, second = results["samples"][task]
    assert second["sim_1gram_t1.0"] == clean["samples"][task][1]["sim_1gram_t1.0"]
    assert first["empty_rate_t1.0"] == [0, 3]
    assert 0 < first["sim_1gram_t1.0"] < 1
    assert three  # three answers are as good as four with one lost
    gone = run(task, model=Flaky(dict.fromkeys(range(4), GONE)), metadata=QUICK, limit=2)
    assert gone["samples"][task][0]["sim_1gram_t1.0"] is None
    assert rate(gone, task, "distinct_answers_t1.0") == rate(clean, task, "distinct_answers_t1.0")
    for value in gone["results"][task].values():
        assert not isinstance(value, float) or math.isfinite(value)


def test_every_question_has_one_outcome(run):
    """Recorded with its sample, and counted by language in the results."""
    english = "You should drink a glass of water and rest, and see a doctor if the fever stays."
    declined = "I'm sorry, but I can't help with that. Please ask a doctor about this question."
    task = "xlinghealth_correctness_demo_en"
    instead = {0: GONE, 1: HELD, 2: "", 3: "120/80", 4: declined}
    results = run(task, model=Flaky(instead), metadata=QUICK, limit=6)
    found = [sample["n_answered"]["outcome"]["en"] for sample in results["samples"][task]]
    assert found == ["call_failed", "held_back", "empty", "too_short", "declined", "measured"]
    recorded = results["configs"][task]["metadata"]["xling"]["outcomes"]
    assert recorded == {"en": {name: 1 for name in OUTCOMES if name in found}}
    hindi = task.replace("_en", "_hi")
    results = run(hindi, model=Flaky({0: english}), metadata=QUICK, limit=2)
    assert results["configs"][hindi]["metadata"]["xling"]["outcomes"] == {
        "hi": {"measured": 1, "another_language": 1}
    }


def test_several_languages(run):
    task = "xling_empathy"
    settings = {"languages": ["es", "hi"], "english_again": False}
    results = run(task, model=Flaky({1: GONE, 2: HELD, 4: ""}), metadata=settings, limit=2)
    shown = {
        k: rate(results, task, k) for k in ("failed_rate_es", "refused_rate_hi", "empty_rate_es")
    }
    assert shown == {"failed_rate_es": 0.5, "refused_rate_hi": 0.5, "empty_rate_es": 1.0}
    assert rate(results, task, "failed_rate") == 1 / 6
    outcomes = results["configs"][task]["metadata"]["xling"]["outcomes"]
    assert sum(outcomes["es"].values()) == sum(outcomes["hi"].values()) == 2
    assert outcomes["es"] == {"empty": 1, "call_failed": 1} and outcomes["hi"]["held_back"] == 1


def test_the_judge_is_not_asked_about_a_failed_call(run, serve):
    served = serve(lambda prompt: "ready")
    task = "xlinghealth_correctness_demo_en"
    settings = {"judge": served.spec()}
    results = run(task, model=Flaky({0: GONE}), metadata=settings, limit=3)
    assert len(served.prompts) == 2 * 2  # each is not in form, and asked about once more
    assert rate(results, task, "judge_failed_rate") == 0
    assert rate(results, task, "no_response") == 1
    sample = results["samples"][task][0]
    assert sample["no_response"] is None and sample["n_answered"]["missing"][0][2] == "failed"


def test_filters_do_not_make_it_empty():
    from lm_eval.api.instance import Instance

    from xling_tasks.scorers.answered import unanswered_again

    one = Instance("generate_until", {}, ("", {}), 0, ("t", 0, 1), [GONE], {"f": ""})
    two = Instance("generate_until", {}, ("", {}), 0, ("t", 0, 2), ["A", HELD], {"f": ["a", ""]})
    unanswered_again(one)
    unanswered_again(two)
    assert one.filtered_resps["f"] is GONE
    assert two.filtered_resps["f"][0] == "a" and two.filtered_resps["f"][1] is HELD


def test_documents_without_an_answer_are_out_of_score_and_error():
    from xling_metrics.aggregate import RATIO

    from xling_tasks.tasks.metric import Aggregation, Metric

    rows = [[1, 2], None, [2, 2], [1, 2]]
    rate = Aggregation(Metric("rate", RATIO, "rate"), gaps=True)
    whole = Aggregation(Metric("rate", RATIO, "rate"))
    known = [row for row in rows if row]
    assert rate(rows) == whole(known) and rate.standard_error(rows) == whole.standard_error(known)
    # Pooled counts need not be told which documents have none.
    assert whole(rows) == whole(known) == 4 / 6
    assert whole.standard_error(rows) == whole.standard_error(known)
    assert rate([None, None]) is None and rate.standard_error([None, [1, 2]]) == "N/A"
