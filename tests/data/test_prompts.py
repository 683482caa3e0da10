from __future__ import annotations

import pytest

from xling_tasks.data.prompts import PromptTemplates
from xling_tasks.errors import PromptError


def test_fields_are_filled_in_one_pass():
    prompt = PromptTemplates().get("verifiability", "en")
    text = prompt.fill(question="{answer} {x} {{", answer="}} {question}", language="English")
    assert "Question: {answer} {x} {{" in text and "Answer: }} {question}" in text


def user_file(tmp_path, text):
    path = tmp_path / "prompts.yaml"
    path.write_text(text, encoding="utf-8")
    return PromptTemplates(str(path))


def test_a_file_replaces_by_name_and_language(tmp_path):
    prompts = user_file(
        tmp_path, "verifiability:\n  hi: 'X {question} {answer}'\nanswer: 'Y {question} {{z}}'\n"
    )
    assert prompts.get("verifiability", "hi").template == "X {question} {answer}"
    assert prompts.get("verifiability", "en") == PromptTemplates().get("verifiability", "en")
    assert prompts.get("answer", "zh").fill(question="q") == "Y q {z}"
    assert prompts.get("answer", "zh").digest != PromptTemplates().get("answer", "zh").digest


WRONG = [
    ("judgement: x", "unknown prompt 'judgement'. Did you mean 'judge'"),
    ("answer: 'no field'", "prompt 'answer': the field {question} is missing"),
    ("answer: '{question} {qestion}'", "unknown field {qestion}. Did you mean 'question'"),
    ("answer: '{question} { '", "a single '{'"),
    ("answer:\n  en: 3", r"prompt 'answer' \[en\]: expected a text"),
    ("answer:\n  eng: 'x {question}'\n", "unknown language. Did you mean 'en'"),
    ("- a", "expected prompt names"),
    ("a: [", "not valid YAML"),
    ("judge: '{question} {answer}'", "prompt 'judge': the field {reference} is missing"),
    ("judge: 'Best?'", "the field {answer} is missing"),
    ("claims: '{text} List.'", "unknown field {text}"),
    ("support: 'Which?'", "the field {material} is missing"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_errors_name_file_prompt_and_field(tmp_path, text, message):
    with pytest.raises(PromptError, match=message) as caught:
        user_file(tmp_path, text)
    assert "prompts.yaml" in str(caught.value)


def test_texts_that_would_not_be_used(tmp_path, run):
    user_file(tmp_path, "answer:\n  hi: 'x {question}'\n")
    metadata = {"prompt_templates": str(tmp_path / "prompts.yaml")}
    task = "xlinghealth_correctness_demo_hi"
    with pytest.raises(PromptError, match="prompt_language=native"):
        run(task, metadata=metadata, limit=1)
    run(task, metadata={**metadata, "prompt_language": "native"}, limit=1)
