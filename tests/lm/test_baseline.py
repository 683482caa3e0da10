from __future__ import annotations

import math
from collections import Counter

import pytest
from lm_eval.api.instance import Instance

from xling_tasks.data.prompts import PromptTemplates
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import SettingError
from xling_tasks.lm.baseline import BaselineLM
from xling_tasks.safe_json import json_objects

PROMPTS = PromptTemplates()
ROWS = [row for _, row in json_objects(SAMPLE_FOLDER / "advice.jsonl")]
ADVICE = {code: " ".join(row[code] for row in ROWS) for code in ("en", "es", "zh", "hi")}


def ask(context, model=None, repeats=1, **arguments):
    request = Instance("generate_until", {}, (context, arguments), 0, ("t", 0, repeats))
    return (model or BaselineLM()).generate_until([request] * repeats, disable_tqdm=True)


def verdict_prompt(question, answer, language="en"):
    return PROMPTS.get("verifiability", language).fill(
        question=question, answer=answer, language="English"
    )


@pytest.mark.parametrize("language", ["en", "es", "zh", "hi"])
def test_verdict_follows_the_similarity(language):
    alike = verdict_prompt("fever in children", "Fever in children often passes.", language)
    other = verdict_prompt("fever in children", "Store insulin cold.", language)
    assert ask(alike, temperature=0.0) == ["Yes"] and ask(other, temperature=0.0) == ["No"]


def test_temperature_is_real():
    context = verdict_prompt("fever in children", "Other children, and people too.")
    cold = ask(context, temperature=0.0, repeats=50)
    hot = Counter(ask(context, temperature=2.0, repeats=400))
    assert len(set(cold)) == 1
    assert min(hot["Yes"], hot["No"]) > 20


def test_same_seed_same_replies_whatever_the_order():
    first, second = verdict_prompt("a b c d", "a b"), "Question: what about sleep?\n\nAnswer:"
    requests = [
        Instance("generate_until", {}, (c, {"temperature": 1.0}), 0, ("t", 0, 1))
        for c in (first, second, first, second)
    ]
    forward = BaselineLM(seed=3).generate_until(requests, disable_tqdm=True)
    backward = BaselineLM(seed=3).generate_until(requests[::-1], disable_tqdm=True)
    assert [forward[0], forward[2]] == [backward[1], backward[3]]
    assert forward[1] != forward[3]
    assert BaselineLM(seed=4).generate_until(requests, disable_tqdm=True) != forward


def test_what_the_harness_adds_to_the_arguments_of_any_model_is_taken():
    assert BaselineLM(seed=3, trust_remote_code=True).seed == 3  # lm_eval --trust_remote_code
    with pytest.raises(SettingError, match="xling_baseline: seeds: unknown key"):
        BaselineLM(seeds=3)


@pytest.mark.parametrize("code", ["es", "zh", "hi", "en"])
@pytest.mark.parametrize("native", [False, True])
def test_answers_in_the_language_that_the_prompt_names(code, native):
    """Of a question of two words no identifier knows the language."""
    name = {"es": "Spanish", "zh": "Chinese", "hi": "Hindi", "en": "English"}[code]
    template = PROMPTS.get("answer", code if native else "en")
    (answer,) = ask(template.fill(question="metformin 500 mg", language=name), temperature=0.0)
    assert answer.split(".")[0].split("。")[0].split("।")[0] in ADVICE[code]


def test_loglikelihoods_of_yes_and_no_are_complementary():
    context = verdict_prompt("fever in children", "Fever in children.")
    requests = [
        Instance("loglikelihood", {}, (context, word), 0, ("t", 0, 1))
        for word in (" Yes", " No", " maybe")
    ]
    (yes, greedy), (no, _), (other, _) = BaselineLM().loglikelihood(requests, disable_tqdm=True)
    assert math.exp(yes) + math.exp(no) == pytest.approx(1)
    assert greedy and yes > no and other < 0
