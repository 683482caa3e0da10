from __future__ import annotations

import math
from collections import Counter

import pytest
from lm_eval.api.instance import Instance

from xling_tasks.data.prompts import PromptTemplates
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import SettingError
from xling_tasks.lm.baseline import BaselineLM, coverage
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


def test_arguments_that_are_wrong_are_named():
    with pytest.raises(SettingError, match="xling_baseline: sed: unknown key. Did you mean 'seed'"):
        BaselineLM(sed=2)
    with pytest.raises(SettingError, match="xling_baseline: seed: must be an int"):
        BaselineLM(seed="x")


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


@pytest.mark.parametrize(
    ("question", "script"),
    [
        ("कब मुझे बुखार के लिए डॉक्टर के पास जाना चाहिए?", "\u0900"),
        ("发烧时什么时候应该去看医生？", "\u4e00"),
        ("¿Cuándo debo ir al médico por la fiebre de mi hijo?", "a"),
    ],
)
def test_answers_in_the_language_of_the_question(question, script):
    (answer,) = ask(f"Question: {question}\n\nAnswer:", temperature=0.0)
    assert any(script <= c <= chr(ord(script) + 0x5000) for c in answer)


@pytest.mark.parametrize("code", ["es", "zh", "hi", "en"])
@pytest.mark.parametrize("native", [False, True])
def test_answers_in_the_language_that_the_prompt_names(code, native):
    """Of a question of two words no identifier knows the language."""
    name = {"es": "Spanish", "zh": "Chinese", "hi": "Hindi", "en": "English"}[code]
    template = PROMPTS.get("answer", code if native else "en")
    (answer,) = ask(template.fill(question="metformin 500 mg", language=name), temperature=0.0)
    assert answer.split(".")[0].split("。")[0].split("।")[0] in ADVICE[code]


def test_until_and_length_are_obeyed():
    context = "Question: what about sleep and rest?\n\nAnswer:"
    (answer,) = ask(context, temperature=0.0)
    assert ask(context, temperature=0.0, until=[". "])[0] == answer.split(". ")[0]
    assert ask(context, temperature=0.0, max_gen_toks=2) == [answer[:8]]


def test_loglikelihoods_of_yes_and_no_are_complementary():
    context = verdict_prompt("fever in children", "Fever in children.")
    requests = [
        Instance("loglikelihood", {}, (context, word), 0, ("t", 0, 1))
        for word in (" Yes", " No", " maybe")
    ]
    (yes, greedy), (no, _), (other, _) = BaselineLM().loglikelihood(requests, disable_tqdm=True)
    assert math.exp(yes) + math.exp(no) == pytest.approx(1)
    assert greedy and yes > no and other < 0


@pytest.mark.parametrize(
    ("text", "within", "share"),
    [
        ("abcd", "xx abcde", 1), ("abcd", "bcda", 0), ("12 34", "12 34", 0), ("", "x", 0),
        ("发烧", "孩子发烧了", 1),
    ],
)  # fmt: skip
def test_coverage(text, within, share):
    assert coverage(text, within) == share
