"""The language of the instructions, and consistency's own prompt."""

from __future__ import annotations

import pytest
from builders import of_task
from fixed import Fixed

from xling_tasks.errors import PromptError

TASKS = {
    name: f"xlinghealth_{name}_demo_hi" for name in ("correctness", "verifiability", "consistency")
}
QUICK = {"temperatures": [1.0], "k": 2, "topic_seeds": 0, "encoder": False, "source_encoder": False}


def prompts(run, **metadata):
    """Criterion -> the first prompt that was asked, and what the results say of its prompts."""
    model = Fixed(lambda *_: "Yes")
    found = run(list(TASKS.values()), model=model, limit=1, metadata={**QUICK, **metadata})
    own = {name: of_task(found, task) for name, task in TASKS.items()}
    texts = {name: of.samples[0]["arguments"][0][0] for name, of in own.items()}
    assert set(texts.values()) <= {context for context, _ in model.seen}
    return texts, {name: of.record["prompts"] for name, of in own.items()}


def test_published_is_the_default_and_differs_by_criterion(run):
    texts, recorded = prompts(run)
    assert texts["correctness"].startswith("You are a medical expert")
    assert "Answer the question below in Hindi" in texts["correctness"]
    assert texts["verifiability"].startswith("आप एक अनुभवी चिकित्सक")
    assert texts["consistency"].startswith("एक डॉक्टर के रूप में")
    assert {name: own[next(iter(own))]["language"] for name, own in recorded.items()} == {
        "correctness": "en", "verifiability": "hi", "consistency": "hi",
    }  # fmt: skip
    assert texts == prompts(run, prompt_language="published")[0]


def test_an_english_text_that_would_not_be_used_is_refused(run, tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text("verifiability:\n  en: 'MINE {question} {answer}'\n")
    with pytest.raises(PromptError, match="add --metadata prompt_language=en"):
        prompts(run, prompt_templates=str(file))
    assert (
        prompts(run, prompt_templates=str(file), prompt_language="en")[0]["verifiability"][:5]
        == "MINE "
    )
    native = prompts(run, prompt_templates=str(file), prompt_language="native")[0]["verifiability"]
    assert not native.startswith("MINE ")
