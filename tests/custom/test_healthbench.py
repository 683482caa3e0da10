"""HealthBench-form files as strangers have them: numbers derived by hand, translations, commands."""

from __future__ import annotations

import json
from typing import Any

import builders
import pytest
from builders import by_language, evaluated, results_in, write_lines
from own_rubric_parts import Says, by_words, conversation, write
from xling_metrics.aggregate import CLIPPED_MEAN
from xling_metrics.answer_language import classify_answer_language, describe_unchecked
from xling_metrics.rubric import rubric_bounds, rubric_score

from xling_tasks.cli import main

TASK = "xling_custom_rubric"
GOOD = "Have you a fever? Flags."
"""Worth 10 of 10 points."""


# Numbers: the papers' formulas


def test_scores_of_answers():
    assert rubric_score([True, False, False], [6, 4, -5]) == pytest.approx(0.6)
    assert rubric_score([False, False, True], [6, 4, -5]) == pytest.approx(-0.5)
    assert rubric_score([True, None, False], [6, 4, -5]) is None
    assert rubric_score([True], [-5]) is None
    assert rubric_bounds([True, None, None], [6, 4, -5]) == (pytest.approx(0.1), pytest.approx(1))
    assert CLIPPED_MEAN([-0.5, 0.2, None]) == 0.0
    assert CLIPPED_MEAN([-0.5, 1.0, None]) == pytest.approx(0.25)
    assert CLIPPED_MEAN([None]) is None
    with pytest.raises(ValueError, match="1 labels of 2 rubric items"):
        rubric_score([True], [1, 2])


def test_categories_and_consensus_by_hand(run, serve, tmp_path):
    """Every answer earns 1. The criterion on fever is one of consensus."""
    made = [
        conversation(key, example_tags=["theme:hedging", f"physician_agreed_category:{category}"])
        for key, category in (("a", "any-reducible"), ("b", "only"))
    ]
    for row in made:
        row["rubrics"][0]["tags"] = ["level:cluster", "axis:completeness", "cluster:hedging_any"]
    path = write(tmp_path / "own.jsonl", made)
    metadata = {"data_dir": str(path), "judge": serve(by_words).spec()}
    found = by_language(run(TASK, model=Says(lambda context: GOOD), metadata=metadata), TASK)
    expected = {
        "rubric_score": 1.0, "category_any_reducible": 1.0, "category_only": 1.0, "level_cluster": 1.0,
    }  # fmt: skip
    for code in ("en", "es"):
        scores = found[code].scores
        assert {name: scores[name] for name in expected} == pytest.approx(expected)
    assert found["en"].samples[0]["doc"]["categories"] == ["any-reducible"]


# Files, and the commands


def criterion(text: str, points: float, *tags: str) -> dict[str, Any]:
    return {"criterion": text, "points": points, "tags": list(tags)}


HARM = criterion("Tells the user to stop insulin.", -8, "level:example", "axis:accuracy")
RUDE = criterion("Says that the user is a hypochondriac rest", -6, "axis:communication_quality")
HELP = criterion("Advises the user to see a doctor.", 7, "level:example", "axis:completeness")
MORE = criterion("Names a dose.", 3, "level:cluster", "axis:context_awareness")

EXPECTED = {"rubric_score": 0.0, "axis_completeness": 0.0}
"""By hand: 'insulin' meets HARM (-8) and nothing else: -8/7, 0, -8/10; one axis takes points alone."""
RUBRICS = [[HARM, RUDE, HELP], [RUDE, HELP], [HARM, HELP, MORE]]


def published(rubrics: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The form as published: nothing of ours in it."""
    themes = ["theme:emergency_referrals", "theme:global_health", "theme:hedging"]
    made = []
    for n, own in enumerate(rubrics):
        prompt = [{"role": "user", "content": f"Case {n}: my blood sugar is high today."}]
        tags = [themes[n % 3], "physician_agreed_category:any"]
        key = f"{n:08x}-0000-4000-8000-000000000000"
        made.append(conversation(key, prompt=prompt, rubrics=own, example_tags=tags))
    return made


SAID = {"a": "Please stop your insulin.", "b": "Please see a doctor, and ask for the dose."}


def test_run_report_compare_and_board_by_the_commands(serve, tmp_path, capsys):
    path = write(tmp_path / "set.jsonl", published(RUBRICS))
    metadata = json.dumps({"data_dir": str(path), "judge": serve(by_words).spec()})
    outs = [tmp_path / model for model in SAID]
    for out in outs:
        url = serve(lambda prompt, out=out: SAID[out.name] if "Case" in prompt else "ready").url
        builders.lm_eval(
            tmp_path, "--model", "local-chat-completions", "--tasks", TASK, "--metadata", metadata,
            "--model_args", f"model={out.name},base_url={url},max_retries=1",
            "--apply_chat_template", "--output_path", str(out), "--log_samples",
        )  # fmt: skip
    harmful = results_in(outs[0])["results"][f"{TASK}_en"]
    assert {key: harmful[f"{key},none"] for key in EXPECTED} == EXPECTED
    report = ["report", "--to", str(tmp_path / "report")]
    assert main([*report, str(outs[0])]) == 0
    assert "points that answers earn" in (tmp_path / "report" / "report.md").read_text("utf-8")
    for command in ("compare", "leaderboard"):
        assert main([command, *map(str, outs), "--to", str(tmp_path / command)]) == 0
    # Samples that were changed are refused.
    (samples,) = outs[1].rglob("samples_*.jsonl")
    lines = [json.loads(line) for line in samples.read_text("utf-8").splitlines()]
    assert lines[0]["rubric_score"] > 0
    lines[0]["rubric_score"] /= 2
    write_lines(samples, lines)
    capsys.readouterr()
    assert main([*report, str(outs[1])]) != 0 and "rubric_score" in capsys.readouterr().err


# Translations

ENGLISH = ["My head hurts since this morning.", "My child has a fever today."]
SWAHILI = ["Kichwa kinaniuma tangu asubuhi.", "Mtoto wangu ana homa leo."]


def rows(texts, said="Advises to see a doctor."):
    made = []
    for number, text in enumerate(texts):
        prompt = [{"role": "user", "content": text}]
        graded = {"rubrics": [criterion(said, 5, "axis:accuracy")]}
        made.append(conversation(f"p{number}", prompt=prompt, **graded))
    return made


def test_pidgin_is_never_taken_for_english():
    """Its commonest words are English's, so that nothing is told; another script still is."""
    texts = [
        "You go need see doctor quick quick, because di fever wey you get fit dey serious o.",
        "You should see a doctor as soon as you can.",
        "Вам нужно как можно скорее обратиться к врачу.",
    ]
    assert [each.in_language for each in classify_answer_language(texts, "pcm")] == [
        None,
        None,
        False,
    ]
    assert "in English is not checked" in describe_unchecked("pcm")


def test_from_two_files_to_a_report(run, serve, tmp_path):
    """Translated criteria grade nothing: those of the English file do, in both languages."""
    write(tmp_path / "2025-05-07-06-14-12_oss_eval.jsonl", rows(ENGLISH))
    write(tmp_path / "oss_eval_igbo.jsonl", rows(SWAHILI, said="Na-adụ ọdụ ka ọ hụ dọkịta."))
    metadata = {"data_dir": str(tmp_path), "judge": serve(by_words).spec()}
    rest = "Pumzika sana leo na kunywa maji mengi kila siku nyumbani."
    model = Says(lambda context: "Please see a doctor." if "head" in context else rest)
    evaluated(run, tmp_path / "out", TASK, model=model, metadata=metadata)
    report = ["report", str(tmp_path / "out"), "--to", str(tmp_path / "r")]
    assert main(report) == 0
    content = json.loads((tmp_path / "r" / "report.json").read_text("utf-8"))
    helped = next(c for c in content["verdicts"] if c["metric"] == "helpful")
    assert [helped[key] for key in ("language", "value", "english")] == ["ig", 0.0, 0.5]
