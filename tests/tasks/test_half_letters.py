"""A reply cut within an emoji may hold one half of a surrogate pair: no run ends with it."""

from __future__ import annotations

import json
import logging

import pytest

from tests.tasks.test_second import FAST, Fixed

REPLY = "Beba agua y vaya pronto al médico \ud83d. Descanse usted en su casa \ud83d\ude00. \udc00"


CONSISTENCY, CORRECTNESS = (
    f"xlinghealth_{kind}_demo_es" for kind in ("consistency", "correctness")
)


@pytest.mark.parametrize(
    "task", [CONSISTENCY, CORRECTNESS, "mmedbench_rationale_demo_ja", "xling_empathy"]
)
def test_half_letters_are_scored_and_saved(run, caplog, task):
    model = Fixed(lambda *_: REPLY)
    with caplog.at_level(logging.WARNING):
        found = run(task, model=model, limit=2, metadata=FAST | {"topic_seeds": 1})
    logged = json.dumps(found["samples"], ensure_ascii=False, default=str)
    assert "\ufffd" in logged and "\U0001f600" in logged
    logged.encode()  # what the harness writes
    assert "could not be saved" not in caplog.text
