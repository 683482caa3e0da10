"""Answers that are as long as they may be are counted, by language."""

from __future__ import annotations

import pytest
from tests_of_own import FEW, write_csv

LONG = "Rest and drink and"
C = "xlinghealth_correctness_demo_es"


def recorded(run_one, serve, task, reply, **metadata):
    options = serve(reply).under_test(gen_kwargs={"max_gen_toks": 5}, metadata=metadata)
    return run_one(task, limit=2, **options).record.get("cut")


@pytest.mark.parametrize(("reply", "cut"), [(LONG, {"es": [2, 2]}), ("Rest.", None)])
def test_one_language(run_one, serve, caplog, reply, cut):
    assert recorded(run_one, serve, C, lambda prompt: reply) == cut
    assert ("2 of 2 answers are as long as they may be" in caplog.text) == (cut is not None)


def test_several_languages(run_one, serve, tmp_path):
    settings = {
        "data_dir": str(write_csv(tmp_path / "own.csv", FEW)), "k": 3, "temperatures": [1.0],
        "encoder": False, "source_encoder": False, "topic_seeds": 0,
    }  # fmt: skip

    def reply(prompt):
        return LONG if "resfriado" in prompt else "Rest."

    cut = recorded(run_one, serve, "xling_own_consistency", reply, **settings)
    assert cut == {"en": [0, 6], "pt": [3, 6], "sw": [0, 6]}


def test_a_verdict_may_be_followed_by_what_it_likes(run_one, serve):
    task = "xlinghealth_verifiability_demo_es"
    assert recorded(run_one, serve, task, lambda prompt: "Yes, rest and drink") is None
