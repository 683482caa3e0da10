"""Runs that are killed: nothing is lost, and nothing is asked twice."""

from __future__ import annotations

import json
import logging
import time
from types import SimpleNamespace

import pytest
from fixed import Fixed
from lm_eval.api import registry
from lm_eval.api.instance import Instance
from stored import Killed, dying_after, kept_in

from xling_tasks.cache import ResponseCache
from xling_tasks.harness.run import RunContext
from xling_tasks.lm.baseline import BaselineLM
from xling_tasks.lm.resumable import ResumableLM, clear_finished
from xling_tasks.tasks.verifiability import VerifiabilityTask

QUICK = {"k": 3, "topic_seeds": 0, "encoder": False, "source_encoder": False}
V = "xlinghealth_verifiability_demo_es"
LL = "xlinghealth_verifiability_ll_demo_es"
T = "xlinghealth_consistency_demo_en"


class Mortal(BaselineLM):
    """The baseline, which counts what it is asked."""

    asked: list = []

    def generate_until(self, requests, disable_tqdm=False):
        Mortal.asked += requests
        return super().generate_until(requests, disable_tqdm)

    def loglikelihood(self, requests, disable_tqdm=False):
        Mortal.asked += requests
        return super().loglikelihood(requests, disable_tqdm)


@pytest.fixture
def mortal(run):
    if "mortal" not in registry.model_registry:
        registry.model_registry.register("mortal", target=Mortal)

    def run_(tasks, lives=10**9, metadata=QUICK, **options):
        """A start of the command; None if it was killed."""
        Mortal.asked = []
        # A model without arguments is known in its process alone.
        args = {"seed": 1234} | options.pop("model_args", {})
        options = {"model": "mortal", "limit": 4, "metadata": dict(metadata), **options}
        try:
            with dying_after(lives):
                return run(tasks, model_args=args, **options)
        except Killed:
            return None

    yield run_
    clear_finished()


def plain(results) -> str:
    return json.dumps([results["results"], results["samples"]], sort_keys=True, default=str)


@pytest.mark.parametrize(
    ("tasks", "lives"),
    [([V], 15), ([LL], 15), ([T], 15), ([V, LL, T], 0), ([V, LL, T], 1), ([V, LL, T], 50)],
)
def test_a_killed_run_goes_on_where_it_was(mortal, own_cache, tasks, lives):
    whole = mortal(tasks)
    wanted = len(Mortal.asked)
    clear_finished()
    assert mortal(tasks, lives) is None
    assert sum(len(ResponseCache(folder)) for folder in kept_in(own_cache)) == lives
    again = mortal(tasks)
    assert len(Mortal.asked) == wanted - lives
    assert plain(again) == plain(whole)


def test_killed_while_scoring_asks_nothing_again(mortal, own_cache, monkeypatch):
    def killed(self, answered):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(VerifiabilityTask, "score", killed)
        assert mortal(V) is None
    assert len(kept_in(own_cache)) == 1
    mortal(V)
    assert Mortal.asked == []


@pytest.mark.parametrize("change", [
    {"limit": 3}, {"model_args": {"seed": 5}}, {"torch_random_seed": 7},
    {"metadata": QUICK | {"temperatures": [0.0]}}, {"metadata": QUICK | {"prompt_language": "en"}},
])  # fmt: skip
def test_another_command_takes_nothing(mortal, change):
    mortal(V, 9)
    results = mortal(V, **change)
    assert len(Mortal.asked) == sum(len(s["resps"]) for s in results["samples"][V])


def test_how_fast_it_runs_is_no_other_command_and_it_says_what_is_there(mortal, caplog):
    mortal(V, 9)
    with caplog.at_level(logging.INFO):
        mortal(V, model_args={"batch_size": 4})
    assert len(Mortal.asked) == 31
    assert "resuming: 9 of 40 answers are there" in caplog.text


def test_many_requests_take_linear_time():
    settings = SimpleNamespace(xling_resume=None, xling_cache=False, batch=False)
    model = Fixed(lambda *_: "Yes")
    resumable = ResumableLM(RunContext(model), {"t": SimpleNamespace(settings=settings)})
    requests = [Instance("generate_until", {}, (str(n), {}), 0, ("t", n, 1)) for n in range(20_000)]
    start = time.process_time()
    assert resumable.generate_until(requests) == ["Yes"] * 20_000
    assert time.process_time() - start < 4  # measured: 0.2, and 7 in quadratic time


def test_afresh_on_demand(mortal, own_cache):
    mortal(V, 9)
    mortal(V, metadata=QUICK | {"xling_resume": False})
    assert len(Mortal.asked) == 40
    clear_finished()
    (aside,) = kept_in(own_cache)
    assert ".aside-" in aside.name and len(ResponseCache(aside)) == 9
