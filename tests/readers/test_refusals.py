"""Answers that decline in words, and answers that only warn."""

from __future__ import annotations

import pytest

from xling_tasks.readers.refusals import is_refusal

DECLINE = [
    "I'm sorry, but I can't provide medical advice.",
    "I cannot answer this question. Please consult a doctor.",
    "As an AI language model, I am not able to diagnose conditions. Please see a healthcare professional. Is there anything else?",
    "I’m unable to help with that.",
    "Lo siento, pero no puedo proporcionar consejos médicos. Consulte a un profesional.",
    "No puedo responder a esta pregunta.",
    "抱歉，我无法提供医疗建议。请咨询医生。",
    "很抱歉，我不能回答这个问题。",
    "मुझे क्षमा करें, मैं चिकित्सा सलाह नहीं दे सकता। कृपया डॉक्टर से मिलें।",
    "Je ne peux pas vous donner de conseils. Consultez un médecin.",
    "Извините, я не могу дать медицинский совет. Обратитесь к врачу.",
    "申し訳ありませんが、医療上のアドバイスは提供できません。医師にご相談ください。",
    "<think>Should I? Take aspirin.</think>I can't help with that.",
]
ANSWER = [
    "",
    "Yes",
    "I can't diagnose you, but this sounds like a cold.",
    "I cannot give a diagnosis. Take 400 mg of ibuprofen twice a day.",
    "You cannot take both medicines together. Ask your doctor.",
    "Sorry to hear that. Drink water and rest.",
    "No puedo darle un diagnóstico, pero la fiebre suele bajar sola.",
    "Los pacientes no pueden ofrecer resistencia a ese virus.",
    "我不能诊断，但是您可以多喝水。",
    "不能同时服用这两种药。请咨询医生。",
    "मैं निदान नहीं कर सकता, लेकिन आराम कीजिए।",
    "Ask your doctor.",
    "I can't provide a diagnosis. " + "Fever is common in children. " * 6,
    "If I can't help, a nurse will.",
]


@pytest.mark.parametrize("answer", DECLINE)
def test_declining(answer):
    assert is_refusal(answer)


@pytest.mark.parametrize("answer", ANSWER)
def test_answering(answer):
    assert not is_refusal(answer)


@pytest.mark.parametrize("code", ["en", "es", "zh", "hi", "ja", "fr", "ru"])
def test_no_advice_of_the_sample_declines(code):
    import json

    from xling_tasks.data.sources import SAMPLE_FOLDER

    lines = (SAMPLE_FOLDER / "advice.jsonl").read_text(encoding="utf-8").split("\n")
    advice = [json.loads(line)[code] for line in lines if line]
    assert len(advice) > 20 and not [text for text in advice if is_refusal(text)]


def test_the_share_of_correctness(run, serve):
    from lm_eval.api.model import LM

    class Half(LM):
        def generate_until(self, requests, disable_tqdm=False):
            said = ["I cannot answer this question.", "Rest and drink water."]
            return [said[i % 2] for i in range(len(requests))]

        loglikelihood = loglikelihood_rolling = None

    task = "xlinghealth_correctness_demo_en"
    results = run(task, model=Half(), limit=4)
    assert results["results"][task]["refusal_rate,none"] == 0.5
    assert [s["refusal_rate"] for s in results["samples"][task]] == [1.0, 0.0, 1.0, 0.0]
