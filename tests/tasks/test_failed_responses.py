"""A failed call and a filtered answer are no empty answers: counted apart, and not scored."""

from __future__ import annotations

import pytest
from builders import saved
from fixed import Fixed
from xling_metrics.classification import classification_scores

from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.xlinghealth import load
from xling_tasks.failed_response import CONTENT_FILTER, REQUEST_FAILED, FailedResponse
from xling_tasks.lm.baseline import BaselineLM
from xling_tasks.outcomes import OUTCOMES
from xling_tasks.report.data import read_models
from xling_tasks.report.unscored import count_unparsed

QUICK = {"k": 4, "topic_seeds": 1, "encoder": False, "source_encoder": False, "temperatures": [1.0]}


class Flaky(BaselineLM):
    """The baseline, whose replies at some places are something else."""

    def __init__(self, instead):
        super().__init__()
        self.instead = instead

    def generate_until(self, requests, disable_tqdm=False):
        replies = super().generate_until(requests, True)
        return [self.instead.get(i, reply) for i, reply in enumerate(replies)]


GONE = FailedResponse(REQUEST_FAILED, "null content")
HELD = FailedResponse(CONTENT_FILTER, "finish reason content_filter")


@pytest.fixture
def flaky(run_one):
    """`flaky(task, instead, **settings)`: a run in which some replies are other ones, by number."""

    def flaky_(task, instead, limit=None, samples=None, **settings):
        options = {"limit": limit, "samples": samples, "metadata": QUICK | settings}
        return run_one(task, model=Flaky(instead), **options)

    return flaky_


@pytest.mark.parametrize("task", [
    "xlinghealth_correctness_demo_hi", "mmedbench_mcqa_demo_en", "mmedbench_rationale_demo_en",
])  # fmt: skip
def test_one_answer_a_question(flaky, task):
    """Scores are those of the run without the failed question; a refusal counts as no answer."""
    scores = flaky(task, {0: GONE, 1: HELD, 2: ""}, limit=4).scores
    counts = {
        "failed_rate": 1 / 4,
        "content_filter_rate": 1 / 4,
        "empty_rate": 1 / 3,
        "n_responses": 2,
    }
    assert {name: scores[name] for name in counts} == counts
    others = flaky(task, {0: HELD, 1: ""}, samples={task: [1, 2, 3]}).scores
    for name in scores:
        if (
            not name.startswith(("failed", "content_filter", "n_responses"))
            and "_stderr" not in name
        ):
            assert scores[name] == others[name], name


def test_verdicts(flaky):
    task = "xlinghealth_verifiability_demo_en"
    rows = [row for sample in flaky(task, {}, 3).samples for row in sample["acc_t1.0"]]
    scores = flaky(task, {0: GONE, 3: "", 4: HELD}, 3).scores
    left = [row for i, row in enumerate(rows) if i != 0]
    left[2][1] = left[3][1] = None
    expected = classification_scores([r[0] for r in left], [r[1] for r in left])
    n = len(rows)
    assert scores["acc_t1.0"] == pytest.approx(expected.acc)
    assert scores["failed_rate"] == scores["content_filter_rate"] == 1 / n
    assert scores["unparsed_rate_t1.0"] == 2 / (n - 1)
    assert scores["empty_rate_t1.0"] == 1 / (n - 1)


def test_every_question_has_one_outcome(flaky):
    """Recorded with its sample, and counted by language in the results."""
    english = "You should drink a glass of water and rest, and see a doctor if the fever stays."
    declined = "I'm sorry, but I can't help with that. Please ask a doctor about this question."
    task = "xlinghealth_correctness_demo_en"
    own = flaky(task, {0: GONE, 1: HELD, 2: "", 3: "120/80", 4: declined}, 6)
    found = [sample["n_responses"]["outcome"]["en"] for sample in own.samples]
    assert found == ["request_failed", "content_filter", "empty", "too_short", "refusal", "scored"]
    assert own.record["outcomes"] == {"en": {name: 1 for name in OUTCOMES if name in found}}
    outcomes = flaky(task.replace("_en", "_hi"), {0: english}, 2).record["outcomes"]
    assert outcomes == {"hi": {"scored": 1, "wrong_language": 1}}


def test_the_judge_is_not_asked_about_a_failed_call(flaky, serve):
    served = serve(lambda prompt: "ready")
    scores, (sample, *_), _, _ = flaky(
        "xlinghealth_correctness_demo_en", {0: GONE}, 3, judge=served.spec()
    )
    # Each is not in form, and asked about once more.
    assert len(served.prompts) == 2 * 2
    assert scores["judge_failed_rate"] == 0 and scores["no_response"] == 1
    assert (
        sample["no_response"] is None
        and sample["n_responses"]["responses"][0]["outcome"] == REQUEST_FAILED
    )


def test_failed_requests_of_verdicts_are_among_the_unparsed(run, tmp_path):
    """Rule 4 counts them; a question without a response at one temperature is no damaged file."""
    task = "xlinghealth_verifiability_demo_en"
    first = load(DATASETS["demo"], None).questions[0].text["en"]
    cold = Fixed(lambda asked, how: GONE if first in asked and not how["temperature"] else "Yes")
    found = run(task, model=cold, limit=3, metadata=QUICK | {"temperatures": [0.0, 1.0]})
    saved(tmp_path, found)
    (model,) = read_models([tmp_path])
    counts = [count_unparsed(model.tasks[0], f"macro_recall_t{tau}") for tau in (0.0, 1.0)]
    answers = [len(sample["doc"]["answers"]) for sample in found["samples"][task]]
    assert [(x.n, x.asked, x.kind) for x in counts] == [
        (answers[0], sum(answers), "request_failed"), (0, sum(answers), ""),
    ]  # fmt: skip


def test_a_replay_of_predictions_knows_which_failed(run, run_one, tmp_path):
    task = "xlinghealth_correctness_demo_en"
    found = run(task, model=Flaky({0: GONE, 1: HELD}), limit=3, predict_only=True, metadata=QUICK)
    saved(tmp_path, found)
    options = {"model_args": f"path={tmp_path}", "limit": 3, "metadata": QUICK}
    scores = run_one(task, model="xling_replay", **options).scores
    assert scores["failed_rate"] == scores["content_filter_rate"] == 1 / 3
    assert scores["empty_rate"] == 0
