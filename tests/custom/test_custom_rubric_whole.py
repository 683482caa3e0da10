"""From conversations to conclusions: what reads runs reads rubrics too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import builders
import pytest
from own_rubric_parts import Says, by_words, conversation, write

from xling_tasks.cli import main

N = 24
TASK = "xling_custom_rubric"


def answer(wrong: int) -> Any:
    """All criteria met in English; of the first `wrong` conversations in Spanish only 6 of 10."""

    def say(context: str) -> str:
        number = int(context.rpartition("(q")[2][:2])
        if "Me duele" not in context:
            return "Have you a fever? Rest today, and call us if you see any of these flags."
        bad = number < wrong
        return "¿Tiene fiebre (fever)? Descanse hoy y llámenos" + ("." if bad else " (flags).")

    return say


@pytest.fixture
def outs(run, serve, tmp_path) -> tuple[Path, Path, Path]:
    """A run that is worse in Spanish, one that is not, and the file."""
    path = write(tmp_path / "clinic.jsonl", [conversation(f"q{n:02}") for n in range(N)])
    metadata = {"data_dir": str(path), "judge": serve(by_words).spec(), "rubric_batch_size": 3}
    for name, wrong in (("a", 18), ("b", 0)):
        builders.evaluated(run, tmp_path / name, TASK, model=Says(answer(wrong)), metadata=metadata)
    return tmp_path / "a", tmp_path / "b", path


def test_report_compare_board_submit_and_replay(run, serve, outs, tmp_path, capsys):
    first, second, path = outs
    assert main(["report", str(first), "--to", str(tmp_path / "rep")]) == 0
    told = json.loads((tmp_path / "rep" / "report.json").read_text("utf-8"))
    # Of usable answers `rubric_score`; the endpoint is of all questions, and here all are usable.
    (found,) = [each for each in told["verdicts"] if each["metric"] == "helpful"]
    # Of 24 conversations 18 lack 4 of 10 points: 0.4 * 0.75.
    assert (found["language"], found["verdict"], found["n"]) == ("es", "worse", N)
    assert found["estimate"] == pytest.approx(-0.3) and found["tags"] == ["judge"]
    page = (tmp_path / "rep" / "report.html").read_text("utf-8")
    assert "70% in Spanish" in page and "Its errors are not in the intervals" in page
    assert "Theme context seeking" in page

    # The answers are there to read, with their criteria and the canary.
    assert main(["samples", str(first), "--to", str(tmp_path / "samples")]) == 0
    texts = (tmp_path / "samples/data/0_0.js").read_text("utf-8")
    assert "canary GUID 0f0f-test" in texts
    assert "Descanse hoy" in texts and "+4: Names red flags." in texts and "not met" in texts

    assert main(["compare", str(first), str(second), "--to", str(tmp_path / "cmp")]) == 0
    assert "better" in capsys.readouterr().out.lower()
    assert main(["leaderboard", str(first), str(second), "--to", str(tmp_path / "board")]) == 0
    submit = ["submit", "hf", str(first), "--model-id", "me/m", "--to", str(tmp_path / "hf")]
    assert main([*submit, "--dataset-id", "me/clinic"]) == 0
    assert "rubric score" in (tmp_path / "hf" / "README.md").read_text("utf-8")

    harsh = serve(lambda prompt: by_words(prompt).replace("true", "false"))
    again = run(
        TASK, model="xling_replay", model_args={"path": str(first)},
        metadata={"data_dir": str(path), "judge": harsh.spec()},
    )["results"]  # fmt: skip
    assert [again[f"{TASK}_{code}"]["rubric_score,none"] for code in ("en", "es")] == [0.0, 0.0]
    assert again[f"{TASK}_es"]["n_scored,none"] == N


def test_the_view_shows_each_criterion():
    from xling_tasks.logs.shown import parts_of

    criteria = [
        {"text": "a", "points": 5.0},
        {"text": "b", "points": -2.0},
        {"text": "c", "points": 1.0},
    ]
    sample = {
        "doc": {"question": "Q", "criteria": criteria},
        "n_scored": {"met": [True, True, None], "replies": ["because"]},
        "resps": [["answer"]],
    }
    parts = {part.title: part.passages for part in parts_of("rubric", sample, "es")}
    assert [(each.mark, each.tone) for each in parts["Criteria"]] == [
        ("met", "good"), ("met", "bad"), ("no verdict", "unsure")
    ]  # fmt: skip
    assert parts["The judge's replies"][0].text == "because"
