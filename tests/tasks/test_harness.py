"""The wrapper of the harness's `evaluate`: what tasks know of a run, and a harness that is another."""

from __future__ import annotations

import gc
import types
import weakref
from typing import Any

import lm_eval.evaluator
import pytest
from fixed import Fixed

from xling_tasks.harness.run import HarnessChanged, RunContext, current, install
from xling_tasks.tasks.correctness import CorrectnessTask

ES, EN = "xlinghealth_correctness_demo_es", "xlinghealth_correctness_demo_en"


def speaker() -> Fixed:
    return Fixed(lambda *_: "Beba agua.")


@pytest.fixture
def seen(monkeypatch):
    """The run that each task, and whoever asks, saw while it was scored."""
    found: list[tuple[RunContext, RunContext]] = []
    score = CorrectnessTask.score

    def watched(self: Any, answered: Any) -> Any:
        found.append((self.run, current()))
        return score(self, answered)

    monkeypatch.setattr(CorrectnessTask, "score", watched)
    return found


def test_one_run_for_all_tasks_and_another_in_the_next(run, seen):
    lm = speaker()
    run([ES, EN], model=lm, limit=1)
    run(ES, model="xling_baseline", model_args={"seed": 5}, limit=1, bootstrap_iters=9)
    (first, asked), (second, _), (third, _) = seen
    assert first is second is asked is not third
    assert (first.lm, first.model, first.standard_errors) == (lm, None, False)
    assert (third.model, dict(third.model_args)) == ("BaselineLM", {"seed": 5})
    assert third.standard_errors and not third.chat_template
    assert current().lm is None


def test_the_model_is_not_held_after_the_run(run):
    lm = speaker()
    run(ES, model=lm, limit=1)
    gone = weakref.ref(lm)
    del lm
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(("evaluate", "said"), [
    (None, "no function 'evaluate'"),
    (lambda lm, tasks: {}, "no parameter apply_chat_template, bootstrap_iters, task_dict"),
])  # fmt: skip
def test_another_evaluate_is_an_error_that_names_the_version(monkeypatch, evaluate, said):
    module = types.ModuleType("lm_eval.evaluator")
    monkeypatch.setattr(lm_eval, "evaluator", module)
    if evaluate:
        module.evaluate = evaluate
    version = lm_eval.__version__
    with pytest.raises(HarnessChanged, match=rf"lm_eval {version} does not fit.* {said}"):
        install(lambda run, tasks: None)


def test_the_harness_decides_about_groups_and_gets_their_standard_errors(run):
    found = run("mmedbench_mcqa_demo", bootstrap_iters=9)["results"]
    assert 0 < found["mmedbench_mcqa_demo"]["acc_stderr,none"] < 1
