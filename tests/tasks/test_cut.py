"""Answers that were cut off: counted by language, and saved where they end within an emoji."""

from __future__ import annotations

import json
import logging

import pytest
from fixed import Fixed

FAST = {"k": 2, "encoder": False, "source_encoder": False}
LONG = "Rest and drink and"
C = "xlinghealth_correctness_demo_es"


def recorded(run_one, serve, task, reply, **metadata):
    options = serve(reply).under_test(gen_kwargs={"max_gen_toks": 5}, metadata=metadata)
    return run_one(task, limit=2, **options).record.get("cut")


@pytest.mark.parametrize(("reply", "cut"), [(LONG, {"es": [2, 2]}), ("Rest.", None)])
def test_one_language(run_one, serve, caplog, reply, cut):
    assert recorded(run_one, serve, C, lambda prompt: reply) == cut
    assert ("2 of 2 answers are as long as they may be" in caplog.text) == (cut is not None)


@pytest.mark.parametrize("name", ["max_new_tokens", "max_tokens", "max_completion_tokens"])
def test_the_limit_by_its_other_names(run_one, serve, name):
    served = serve(lambda prompt: LONG)
    options = served.under_test(gen_kwargs={name: 5})
    assert run_one(C, limit=1, **options).record["cut"] == {"es": [1, 1]}
    assert [{k: v for k, v in x.items() if k.startswith("max_")} for x in served.requests] == [
        {"max_tokens": 5}
    ]


REPLY = "Beba agua y vaya pronto al médico \ud83d. Descanse usted en su casa \ud83d\ude00. \udc00"


CONSISTENCY, CORRECTNESS = (
    f"xlinghealth_{kind}_demo_es" for kind in ("consistency", "correctness")
)


@pytest.mark.parametrize(
    "task", [CONSISTENCY, CORRECTNESS, "mmedbench_rationale_demo_ja", "xling_empathy"]
)
def test_half_letters_are_scored_and_saved(run, caplog, task):
    """A reply cut within an emoji may hold one half of a surrogate pair: no run ends with it."""
    model = Fixed(lambda *_: REPLY)
    with caplog.at_level(logging.WARNING):
        found = run(task, model=model, limit=2, metadata=FAST | {"topic_seeds": 1})
    logged = json.dumps(found["samples"], ensure_ascii=False, default=str)
    assert "\ufffd" in logged and "\U0001f600" in logged
    logged.encode()  # what the harness writes
    assert "could not be saved" not in caplog.text
