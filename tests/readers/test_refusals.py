"""Answers that decline in words, and answers that only warn: `refusals.yaml`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.readers.refusals import is_refusal

CASES = yaml.safe_load(Path(__file__).with_name("refusals.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("code", CASES["refusals"])
def test_refusals(code):
    assert [text for text in CASES["refusals"][code] if not is_refusal(text)] == []


def test_answers_are_no_refusals():
    assert [text for text in CASES["answers"] if is_refusal(text)] == []


def test_no_advice_of_the_sample_is_a_refusal():
    lines = (SAMPLE_FOLDER / "advice.jsonl").read_text(encoding="utf-8").splitlines()
    advice = [text for line in lines if line for text in json.loads(line).values()]
    texts = [text for text in advice if isinstance(text, str)]
    assert len(texts) > 140 and not [text for text in texts if is_refusal(text)]


def test_the_rate_in_the_scores_of_correctness(run):
    from lm_eval.api.model import LM

    class Half(LM):
        def generate_until(self, requests, disable_tqdm=False):
            replies = ["I cannot answer this question.", "Rest and drink water."]
            return [replies[i % 2] for i in range(len(requests))]

        loglikelihood = loglikelihood_rolling = None

    task = "xlinghealth_correctness_demo_en"
    results = run(task, model=Half(), limit=4)
    assert results["results"][task]["refusal_rate,none"] == 0.5
    assert [sample["refusal_rate"] for sample in results["samples"][task]] == [1.0, 0.0, 1.0, 0.0]
