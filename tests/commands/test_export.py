"""Fine-tuned forms: a prompt file says frame, markers and options, byte for byte; training data."""

from __future__ import annotations

import json
import shutil

import pytest
from fixed import Fixed

from xling_tasks.cli import main
from xling_tasks.data.prompts import PromptFormat, PromptTemplates
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import PromptError

OWN = """
mcqa_ft:
  text: "I: letters ({language}).\\nIn: ###Question: {question} One of these.###Options: {options}\\nOut:\\n\\n"
  option: "{letter}. {text} "
  option_joiner: ""
  letter_joiner: "+"
  target: " => {letters} {{x}}"
  exact: true
rationale_ft:
  text: "I: why.\\nIn: ###Question: {question} One of these.###Options: {options}\\nOut:"
  option: "{letter}. {text} "
  option_joiner: ""
  target: "WHY {rationale} SO ({letters})"
"""
DOC = {
    "question": "Which {of} these\ncools?",
    "options": {"A": "Ice", "B": "Fire {1}", "D": "Water"},
    "answer": ["A", "D"],
    "rationale": "Both are cold.",
}


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    return path


def test_a_users_form_is_rendered_byte_for_byte(own):
    prompt = PromptTemplates(str(own)).get("mcqa_ft", "en")
    asked = prompt.fill(
        question=DOC["question"], options=prompt.form.options(DOC["options"]), language="French"
    )
    assert asked.encode() == (
        b"I: letters (French).\nIn: ###Question: Which {of} these\ncools? One of these."
        b"###Options: A. Ice B. Fire {1} D. Water \nOut:\n\n"
    )
    assert prompt.form.answer("mcqa_ft", DOC["answer"]) == " => A+D {x}"
    rationale = PromptTemplates(str(own)).get("rationale_ft", "en")
    assert rationale.template.endswith("\nOut:")
    answer = rationale.form.answer("rationale_ft", DOC["answer"], DOC["rationale"])
    assert answer == "WHY Both are cold. SO (A, D)"
    assert rationale.form.parts(answer) == ("Both are cold.", "A, D")
    assert rationale.form.parts("no such form") is None
    assert prompt.digest != PromptTemplates().get("mcqa_ft", "en").digest


def test_ours_stays_what_it_was():
    prompt = PromptTemplates().get("mcqa_ft", "en")
    assert prompt.form == PromptFormat() and prompt.form.options(DOC["options"]).count("\n") == 2
    for name, answer in {
        "mcqa": "A, D",
        "mcqa_ft": "###Answer: OPTION A, D IS CORRECT.",
        "rationale": "R. [End] A, D",
        "rationale_ft": "###Rationale: R. ###Answer: OPTION A, D IS CORRECT.",
    }.items():
        assert PromptFormat().answer(name, "AD", "R.") == answer


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mcqa_ft:\n  option: '{letter}'", r"option: its fields must be \{letter\}, \{text\}"),
        ("mcqa_ft:\n  target: '{rationale} {letters}'", r"target: its fields must be \{letters\}, got"),
        ("mcqa_ft:\n  option: '{letter} {text} {'", "option: a single"),
        ("answer:\n  option: '{letter} {text}'", "unknown language"),
    ],
)  # fmt: skip
def test_errors_name_the_key(tmp_path, text, message):
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(PromptError, match=message):
        PromptTemplates(str(tmp_path / "p.yaml"))


@pytest.mark.parametrize("kind", ["mcqa_ft", "rationale_ft"])
@pytest.mark.parametrize("form", ["own", "example"])
def test_training_data_and_task_agree(run, tmp_path, capsys, own, kind, form):
    """A model that learned the exported lines by heart answers everything as the target says."""
    if form == "example":
        own = tmp_path / "example.yaml"
        assert main(["export", "trained-prompts", "--to", str(own)]) == 0
    data, to = tmp_path / "data", tmp_path / "train.jsonl"
    for split in ("Train", "Test"):
        shutil.copytree(SAMPLE_FOLDER / "mmedbench_demo" / "Test", data / split)
    words = f"export mmedbench-train --languages fr --kinds {kind} --to {to}".split()
    words += ["--metadata", f"data_dir={data}", f"prompt_templates={own}"]
    assert main(words) == 0
    lines = [json.loads(line) for line in to.read_text(encoding="utf-8").splitlines()]
    assert {line["kind"] for line in lines} == {kind}
    assert f"{len(lines)} lines" in capsys.readouterr().out
    assert main(words) == 2 and "is there already" in capsys.readouterr().err
    task = f"mmedbench_{kind}_fr"
    metadata = {"prompt_templates": str(own), "data_dir": str(data), "source_encoder": False}
    learnt = {line["prompt"]: line["completion"] for line in lines}
    results = run(task, model=Fixed(lambda context, _: learnt[context]), metadata=metadata)
    scores = results["results"][task]
    assert scores["acc,none"] == 1.0
    if kind == "rationale_ft":
        assert scores["bleu1,none"] == pytest.approx(1) and scores["no_end_rate,none"] == 0.0
    recorded = results["configs"][task]["metadata"]["xling"]["prompts"][kind]
    assert recorded["form"]["option_joiner"] == ""
