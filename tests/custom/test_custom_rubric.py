"""`xling_custom_rubric` through the harness: scores derived by hand, hostile replies and data."""

from __future__ import annotations

import re

import pytest
from builders import by_language
from own_rubric_parts import CANARY, Says, by_words, conversation, write
from scripted import material

TASK = "xling_custom_rubric"


ANSWERS = {
    "a": "Have you a fever? These are flags.",  # 10 / 10
    "b": "A fever? Then morphine.",  # (6 - 5) / 10
    "c": "Take morphine.",  # -5 / 10
}


def answer(context: str) -> str:
    return ANSWERS[re.findall(r"\((\w)\)", context)[-1]]


@pytest.fixture
def scored(run, serve, tmp_path):
    """`scored(rows, ...)`: what a run over conversations says by language, its judge and model."""

    def scored_(rows, reply=answer, judging=by_words, **more):
        path = write(tmp_path / "own.jsonl", rows)
        served, model = serve(judging), Says(reply)
        metadata = {"data_dir": str(path), "judge": served.spec(), **more}
        found = run(TASK, model=model, metadata=metadata, bootstrap_iters=2)
        return by_language(found, TASK), served, model

    return scored_


@pytest.mark.parametrize("batch", [1, 2, 20])
def test_scores_by_hand(scored, batch):
    own, judge, model = scored([conversation(key) for key in "abc"], rubric_batch_size=batch)
    # (1 + 0.1 - 0.5) / 3, and the sample standard deviation of 1, 0.1, -0.5 over the root of 3.
    # Completeness has 'fever' alone: 1, 1, 0. Accuracy: 4/4, -5/4, -5/4, whose mean is < 0.
    expected = {
        "rubric_score": 0.2, "theme_context_seeking": 0.2, "axis_completeness": 2 / 3,
        "axis_accuracy": 0.0, "criteria_unscored": 0.0, "unscored_rate": 0.0, "n_scored": 3,
    }  # fmt: skip
    error = (sum((x - 0.2) ** 2 for x in (1, 0.1, -0.5)) / 2 / 3) ** 0.5
    for code in ("en", "es"):
        scores = own[code].scores
        assert {name: scores[name] for name in expected} == pytest.approx(expected)
        assert scores["rubric_score_stderr"] == pytest.approx(error)
    # A call per criterion, or as many criteria in each as are asked for.
    assert len(judge.prompts) == {1: 3, 2: 2, 20: 1}[batch] * 3 * 2
    # The whole conversation goes to the judge, the canary to nobody; the logs keep it.
    assert all("Since when?" in p or "¿Desde cuándo?" in p for p in judge.prompts)
    assert not any("canary" in str(asked).lower() for asked in (*judge.prompts, *model.contexts))
    docs = [sample["doc"] for each in own.values() for sample in each.samples]
    assert len(docs) == 6 and all(doc["canary"] == CANARY for doc in docs)


def test_turns_go_through_the_chat_template(run, tmp_path):
    metadata = {"data_dir": str(write(tmp_path / "own.jsonl", [conversation("a")]))}
    model, plain = Says(answer), Says(answer)
    run(TASK, model=model, metadata=metadata, apply_chat_template=True,
        system_instruction="Be brief.")  # fmt: skip
    english, spanish = (context for context, _ in model.contexts)
    assert english == (
        "<system>Be brief.<user>My head hurts (a).<assistant>Since when?<user>Since today (a)."
        "<assistant>"
    )
    assert spanish.endswith("<user>Me duele (a).<assistant>¿Desde cuándo?<user>Desde hoy (a)."
                            "<assistant>")  # fmt: skip
    run(TASK, model=plain, metadata=metadata)
    context, arguments = plain.contexts[0]
    assert context == (
        "User: My head hurts (a).\n\nAssistant: Since when?\n\nUser: Since today (a).\n\nAssistant:"
    )
    assert "\nUser:" in arguments["until"]


def test_one_unread_criterion_leaves_its_answer_unscored(scored):
    def judge(prompt: str) -> str:
        unread = "flags" in str(material(prompt).get("criteria")) and "(b)" in prompt
        return "I cannot tell." if unread else by_words(prompt)

    own, _, _ = scored([conversation(key) for key in "abc"], judging=judge)
    expected = {"rubric_score": (1 - 0.5) / 2, "criteria_unscored": 1 / 9,
                "unscored_rate": 1 / 3, "judge_failed_rate": 0.0}  # fmt: skip
    scores = own["en"].scores
    assert {name: scores[name] for name in expected} == pytest.approx(expected)
    sample = next(s for s in own["en"].samples if s["doc"]["question_id"] == "b")
    assert sample["rubric_score"] is None
    # Between (6 - 5) / 10 and (6 + 4 - 5) / 10.
    assert sample["n_scored"]["low"] == pytest.approx(0.1)
    assert sample["n_scored"]["high"] == pytest.approx(0.5)
    assert sample["n_scored"]["met"] == [True, None, True]


def test_empty_answers_earn_nothing_and_failed_judges_are_no_score(scored):
    own, _, _ = scored(
        [conversation(key) for key in "ab"],
        lambda context: "" if "(b)" in context else ANSWERS["a"],
        lambda prompt: None if "(a)" in prompt else by_words(prompt),
    )
    for name in ("empty_rate", "judge_failed_rate", "unscored_rate"):
        assert own["en"].scores[name] == 0.5
    assert own["en"].scores["rubric_score"] == 0.0  # of the empty answer alone


def test_conversations_without_criteria_are_counted(scored):
    rows = [
        conversation("a"),
        conversation("b", rubrics=[]),
        conversation("c", rubrics=[{"criterion": "x", "points": -1}]),
    ]
    own, _, _ = scored(rows)
    reasons = own["es"].record["data"]["invalid_reasons"]
    assert reasons == {"criteria missing": 1, "no positive points": 1}
    assert own["es"].scores["n_scored"] == 1


def test_tags_make_sound_names_of_metrics(scored):
    odd = ["theme:Größe_t5/x", "theme:", "theme:b", "Theme: Big One"]
    tags = ["axis:A b", "axis:c", "AXIS: Accuracy", "axis:"]
    rubrics = [{"criterion": "Asks about fever.", "points": 2, "tags": tags}]
    rows = [conversation("a", example_tags=odd, rubrics=rubrics), conversation("b")]
    own, _, _ = scored(rows)
    assert {name for name in own["en"].names if re.match("(theme|axis)_", name)} == {
        "theme_größe_t_5_x", "theme_b", "theme_big_one", "theme_context_seeking",
        "axis_a_b", "axis_c", "axis_accuracy", "axis_completeness",
    }  # fmt: skip
    # Of conversation a alone, whose one criterion is met; accuracy is of both: 1 and -5 / 4.
    for name in ("theme_b", "theme_big_one", "axis_a_b"):
        assert own["en"].scores[name] == 1.0
    assert own["en"].scores["axis_accuracy"] == 0.0
    assert own["en"].scores["theme_context_seeking"] == pytest.approx(0.1)


def test_a_jury_has_its_first_judge_grade_and_records_it(scored, serve):
    first, second = serve(by_words), serve(by_words)
    scored([conversation("a")], judge=[first.spec(), {**second.spec(), "name": "other"}])
    assert len(first.prompts) == 6 and not second.prompts
