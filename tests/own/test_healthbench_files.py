"""HealthBench-form files as strangers have them: from the file to report, compare and board."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import builders
import pytest
from builders import results_in, write_lines
from own_rubric_parts import by_words, write

from xling_tasks.cli import main

TASK = "xling_own_rubric"


def criterion(text: str, points: float, *tags: str) -> dict[str, Any]:
    return {"criterion": text, "points": points, "tags": list(tags)}


HARM = criterion("Tells the user to stop insulin.", -8, "level:example", "axis:accuracy")
RUDE = criterion("Says that the user is a hypochondriac rest", -6, "axis:communication_quality")
HELP = criterion("Advises the user to see a doctor.", 7, "level:example", "axis:completeness")
MORE = criterion("Names a dose.", 3, "level:cluster", "axis:context_awareness")

FILES = {
    # Every criterion of one axis takes points away, so that the axis has no score.
    "axis_of_harm": [[HARM, RUDE, HELP], [RUDE, HELP], [HARM, HELP, MORE]],
    # Each axis has points to earn, and what is met takes away more: all below 0.
    "all_below_zero": [
        [HARM, criterion("Gives a phone number.", 4, "axis:accuracy"), MORE],
        [HARM, criterion("Gives the name of a ward.", 5, "axis:accuracy"), MORE],
        [HARM, criterion("Gives an address.", 1, "axis:accuracy"), MORE],
    ],
    # One theme is below 0 and the total is above.
    "one_theme_below": [[HELP], [HARM, criterion("Gives a form.", 2, "axis:accuracy")], [HELP]],
}


def rows(rubrics: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The form as published: nothing of ours in it."""
    themes = ["theme:emergency_referrals", "theme:global_health", "theme:hedging"]
    return [
        {
            "example_tags": [themes[n % 3], "physician_agreed_category:any"],
            "ideal_completions_data": None,
            "prompt": [{"role": "user", "content": f"Case {n}: my blood sugar is high today."}],
            "prompt_id": f"{n:08x}-0000-4000-8000-000000000000",
            "rubrics": own,
            "canary": "healthbench:00000000-0000-0000-0000-000000000000",
        }
        for n, own in enumerate(rubrics)
    ]


def asked(prompt: str) -> str:
    return "Please stop your insulin." if "Case" in prompt else "ready"


def better(prompt: str) -> str:
    return "Please see a doctor, and ask for the dose." if "Case" in prompt else "ready"


def scored(out: Path) -> dict[str, float | None]:
    return results_in(out)["results"][TASK]


@pytest.mark.parametrize("name", FILES)
def test_run_report_compare_and_board_by_the_commands(serve, tmp_path, name):
    path = write(tmp_path / f"{name}.jsonl", rows(FILES[name]))
    metadata = json.dumps({"data_dir": str(path), "judge": serve(by_words).spec()})
    outs = [tmp_path / "a", tmp_path / "b"]
    for out, reply in zip(outs, (asked, better), strict=True):
        args = f"model={out.name},base_url={serve(reply).url},max_retries=1"
        builders.lm_eval(
            tmp_path, "--model", "local-chat-completions", "--model_args", args,
            "--apply_chat_template", "--tasks", TASK, "--metadata", metadata,
            "--output_path", str(out), "--log_samples",
        )  # fmt: skip
    harmful = scored(outs[0])
    # By hand: 'insulin' meets HARM (-8) and nothing else.
    expected = {
        "axis_of_harm": {"rubric_score_en": 0.0, "axis_completeness_en": 0.0},  # (-8/7, 0, -8/10)
        "all_below_zero": {"rubric_score_en": 0.0, "axis_accuracy_en": 0.0},
        "one_theme_below": {"theme_global_health_en": 0.0, "theme_hedging_en": 0.0},  # -4, 0
    }[name]
    assert {key: harmful[f"{key},none"] for key in expected} == expected
    assert main(["report", str(outs[0]), "--to", str(tmp_path / "report"), "--no-pictures"]) == 0
    told = (tmp_path / "report" / "report.md").read_text("utf-8")
    assert "rubric" in told.lower()
    assert main(["compare", *map(str, outs), "--to", str(tmp_path / "compare")]) == 0
    assert main(["board", *map(str, outs), "--to", str(tmp_path / "board")]) == 0


def test_changed_samples_are_still_refused(serve, tmp_path, capsys):
    path = write(tmp_path / "own.jsonl", rows(FILES["all_below_zero"]))
    metadata = json.dumps({"data_dir": str(path), "judge": serve(by_words).spec()})
    args = f"model=m,base_url={serve(better).url},max_retries=1"
    builders.lm_eval(
        tmp_path, "--model", "local-chat-completions", "--model_args", args,
        "--apply_chat_template", "--tasks", TASK, "--metadata", metadata,
        "--output_path", str(tmp_path / "a"), "--log_samples",
    )  # fmt: skip
    (samples,) = (tmp_path / "a").rglob("samples_*.jsonl")
    lines = [json.loads(line) for line in samples.read_text("utf-8").splitlines()]
    assert lines[0]["rubric_score_en"] > 0
    lines[0]["rubric_score_en"] = 0.9
    write_lines(samples, lines)
    assert main(["report", str(tmp_path / "a"), "--to", str(tmp_path / "report")]) != 0
    assert "rubric_score" in capsys.readouterr().err
