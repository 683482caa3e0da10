"""`xling_custom_rubric` through the harness: scores derived by hand, hostile replies and data."""

from __future__ import annotations

import json
import re

import pytest
from custom_tables import write_csv
from own_rubric_parts import CANARY, Says, by_words, conversation, write
from scripted import material

from xling_tasks.cli import main
from xling_tasks.data.custom.check import check_conversations, is_own_file
from xling_tasks.data.custom.rubrics import load_rubrics
from xling_tasks.data.custom.turns import SAMPLE
from xling_tasks.errors import DataError

TASK = "xling_custom_rubric"


ANSWERS = {
    "a": "Have you a fever? These are flags.",  # 10 / 10
    "b": "A fever? Then morphine.",  # (6 - 5) / 10
    "c": "Take morphine.",  # -5 / 10
}


def answer(context: str) -> str:
    return ANSWERS[re.findall(r"\((\w)\)", context)[-1]]


@pytest.fixture
def scored(run_one, serve, tmp_path):
    """`scored(rows, ...)`: what a run over conversations says, its judge and its model."""

    def scored_(rows, reply=answer, judging=by_words, **more):
        path = write(tmp_path / "own.jsonl", rows)
        served, model = serve(judging), Says(reply)
        metadata = {"data_dir": str(path), "judge": served.spec(), **more}
        return run_one(TASK, model=model, metadata=metadata, bootstrap_iters=2), served, model

    return scored_


def told(capsys, *words):
    """Status of a command and what it says as JSON."""
    capsys.readouterr()
    status = main([*words, "--json"])
    return status, json.loads(capsys.readouterr().out)


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
        assert {name: own.scores[f"{name}_{code}"] for name in expected} == pytest.approx(expected)
        assert own.scores[f"rubric_score_{code}_stderr"] == pytest.approx(error)
    # A call per criterion, or as many criteria in each as are asked for.
    assert len(judge.prompts) == {1: 3, 2: 2, 20: 1}[batch] * 3 * 2
    # The whole conversation goes to the judge, the canary to nobody; the logs keep it.
    assert all("Since when?" in p or "¿Desde cuándo?" in p for p in judge.prompts)
    assert not any("canary" in str(asked).lower() for asked in (*judge.prompts, *model.contexts))
    docs = [doc for sample in own.samples for doc in sample["doc"]["languages"].values()]
    assert all(doc["canary"] == CANARY for doc in docs)


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

    (scores, samples, *_), _, _ = scored([conversation(key) for key in "abc"], judging=judge)
    expected = {"rubric_score_en": (1 - 0.5) / 2, "criteria_unscored_en": 1 / 9,
                "unscored_rate_en": 1 / 3, "judge_failed_rate_en": 0.0}  # fmt: skip
    assert {name: scores[name] for name in expected} == pytest.approx(expected)
    sample = next(s for s in samples if s["doc"]["question_id"] == "b")
    assert sample["rubric_score_en"] is None
    # Between (6 - 5) / 10 and (6 + 4 - 5) / 10.
    assert sample["n_scored_en"]["low"] == pytest.approx(0.1)
    assert sample["n_scored_en"]["high"] == pytest.approx(0.5)
    assert sample["n_scored_en"]["met"] == [True, None, True]


def test_empty_answers_earn_nothing_and_failed_judges_are_no_score(scored):
    own, _, _ = scored(
        [conversation(key) for key in "ab"],
        lambda context: "" if "(b)" in context else ANSWERS["a"],
        lambda prompt: None if "(a)" in prompt else by_words(prompt),
    )
    for name in ("empty_rate_en", "judge_failed_rate_en", "unscored_rate_en"):
        assert own.scores[name] == 0.5
    assert own.scores["rubric_score_en"] == 0.0  # of the empty answer alone


# Forms of files


def test_the_sample_is_sound_and_what_data_new_writes(tmp_path, capsys):
    data = load_rubrics(None)
    assert tuple(data.languages) == ("en", "es", "zh", "hi", "fr", "ar")
    assert len(data.rubrics) == 6
    for rubric in data.rubrics.values():
        assert set(rubric.turns) == set(data.languages)
        assert 4 <= len(rubric.criteria) <= 6
        assert any(c.points < 0 for c in rubric.criteria) and rubric.themes
    assert SAMPLE.name == "rubric_demo.jsonl"
    path = tmp_path / "talks.jsonl"
    assert main(["data", "new", str(path), "--rubric"]) == 0
    assert len(load_rubrics(str(path)).rubrics) == 6
    assert main(["data", "check", str(path)]) == 0
    assert "Nothing is odd." in capsys.readouterr().out
    assert main(["data", "new", str(path), "--rubric"]) == 2
    assert main(["data", "new", str(tmp_path / "talks.csv"), "--rubric"]) == 2


def test_translations_beside_each_turn(tmp_path):
    row = conversation("a", translation_info={"lang": "swh"})
    row["prompt"] = [
        {"role": "user", "content": "Hello", "translated_content": "Habari", "content_jp": "今日は"}
    ]
    data = load_rubrics(str(write(tmp_path / "own.jsonl", [row])))
    said = {code: turns[0]["content"] for code, turns in data.rubrics["a"].turns.items()}
    assert said == {"en": "Hello", "sw": "Habari", "ja": "今日は"}


def test_a_file_per_language_is_paired_by_id(tmp_path, capsys):
    english = [conversation(key, **turn(content=f"Hello {key}")) for key in "ab"]
    hindi = [conversation("a", **turn(content="नमस्ते a"), rubrics=None)]  # those of English hold
    paths = [write(tmp_path / "set_en.jsonl", english), write(tmp_path / "set_hi.jsonl", hindi)]
    data = load_rubrics(str(tmp_path))
    assert [set(rubric.turns) for rubric in data.rubrics.values()] == [{"en", "hi"}, {"en"}]
    assert len(data.rubrics["a"].criteria) == 3 and len(data.provenance["files"]) == 2
    # Called as the folder, so that one more language does not make it another dataset.
    assert data.record.dataset == data.info.key and data.record.title == tmp_path.name
    # Parted by commas, they are checked as they are run.
    status, said = told(capsys, "data", "check", ",".join(map(str, paths)))
    assert (status, said["usable"]) == (0, {TASK: {"en": 2, "hi": 1}})


def test_a_table_with_a_column_of_criteria(run_one, serve, tmp_path):
    criteria = "6: Asks about fever.\n-5: Advises morphine."
    rows = [{"question_en": "What helps (a)?", "question_sw": "Nini (a)?", "criteria": criteria}]
    path = write_csv(tmp_path / "mine.csv", rows)
    metadata = {"data_dir": str(path), "judge": serve(by_words).spec()}
    assert run_one(TASK, model=Says(answer), metadata=metadata).scores["rubric_score_sw"] == 1.0

    def long(english: str) -> str:
        row = {"id": 1, "language": "sw", "question": "a?", "criteria": "5: Sema"}
        rows = [row, {**row, "language": "en", "criteria": english}]
        return str(write_csv(tmp_path / "long.csv", rows))

    # In a long table they are those of English, and others are refused.
    (rubric,) = load_rubrics(long("5: Says")).rubrics.values()
    assert [each.text for each in rubric.criteria] == ["Says"]
    with pytest.raises(DataError, match="row 3, column 'criteria': conversation '1' has criteria"):
        load_rubrics(long("17: Says"))


def points(value):
    return {"rubrics": [{"criterion": "x", "points": value}]}


def turn(**more):
    return {"prompt": [{"role": "user", **more}]}


@pytest.mark.parametrize(("change", "said"), [
    *((points(value), "line 2, criterion 1, 'points'") for value in (float("nan"), True, "5")),
    ({"rubrics": [{"criterion": " ", "points": 5}]}, "the text 'criterion' is missing"),
    ({"rubrics": {"criterion": "x"}}, "a list of criteria is expected"),
    ({"rubrics": [{"criterion": "x", "points": 1, "tags": "a"}]}, "'tags'"),
    ({"prompt": []}, "'prompt' must be a list of turns"),
    (turn(content=5), "line 2, turn 1, 'content'"),
    (turn(content="x", role="robot"), "unknown role 'robot'"),
    (turn(content="x", role="assistant"), "must be the user's"),
    (turn(content="x", content_qqq="y"), "'qqq'"),
    (turn(content="x", translated_content="y"), "translation_info"),
    ({"prompt_id": None}, "'prompt_id' is missing"), ({"prompt_id": ["a"]}, "'prompt_id' is missing"),
    ({"prompt_id": "b"}, "line 2: prompt_id 'b' in en stands in line 1 already"),
    ({"example_tags": "theme:x"}, "'example_tags'"),
])  # fmt: skip
def test_what_is_wrong_is_named(tmp_path, change, said):
    path = write(tmp_path / "own.jsonl", [conversation("b"), conversation("a", **change)])
    with pytest.raises(DataError, match=re.escape(said)):
        load_rubrics(str(path))


def test_deep_json_and_other_points(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text('{"prompt": ' + "[" * 100_000, encoding="utf-8")
    with pytest.raises(DataError, match="line 1: not valid JSON"):
        load_rubrics(str(path))
    write(path, [conversation("a")])
    other = conversation("a", **turn(content="नमस्ते"))
    other["rubrics"] = other["rubrics"][:2]
    write(tmp_path / "own_hi.jsonl", [other])
    with pytest.raises(DataError, match="criteria with other points"):
        load_rubrics(str(tmp_path))


def test_conversations_without_criteria_are_counted(scored):
    rows = [conversation("a"), conversation("b", rubrics=[]), conversation("c", **points(-1))]
    own, _, _ = scored(rows)
    data = own.record["parts"]["es"]["data"]
    assert data["invalid_reasons"] == {"criteria missing": 1, "no positive points": 1}
    assert own.scores["n_scored_es"] == 1


def test_data_check_and_doctor_know_conversations(tmp_path, capsys):
    rows = [conversation("a"), conversation("b", rubrics=[]), conversation("c", prompt=[])]
    path = write(tmp_path / "own.jsonl", rows)
    status, said = told(capsys, "data", "check", str(path))
    assert status == 1 and said["usable"] == {TASK: {"en": 1, "es": 1}}
    wrong = f"{path}, line 3: 'prompt' must be a list of turns with role and content"
    odd = f"{path}, line 2: conversation b has no criteria"
    assert (said["errors"], said["look"]) == ([wrong], [odd])
    write(path, rows[:1])
    assert main(["data", "check", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "Nothing is odd." in shown and f"--tasks {TASK} --metadata '{{" in shown
    assert f'"data_dir": "{path}"' in shown
    assert is_own_file(str(path)) and is_own_file(str(tmp_path))


def test_data_check_reads_the_criteria_of_a_table(tmp_path, capsys):
    def checked(*criteria):
        rows = [{"question_en": f"What ({n})?", "criteria": own} for n, own in enumerate(criteria)]
        return told(capsys, "data", "check", str(write_csv(tmp_path / "mine.csv", rows)))

    status, said = checked("five: Asks.")
    assert status == 1 and said["usable"][TASK] == {"en": 0}
    assert "points, a colon and the criterion are expected" in said["errors"][0]
    status, said = checked("5: x; 3: y", "-3: z")
    look = "\n".join(said["look"])
    assert status == 0 and "conversation 1 has points within a criterion" in look
    assert "conversation 2 has no criterion with points > 0" in look


def test_tags_make_sound_names_of_metrics(scored):
    odd = ["theme:Größe_t5/x", "theme:", "theme:b", "Theme: Big One"]
    tags = ["axis:A b", "axis:c", "AXIS: Accuracy", "axis:"]
    rubrics = [{"criterion": "Asks about fever.", "points": 2, "tags": tags}]
    rows = [conversation("a", example_tags=odd, rubrics=rubrics), conversation("b")]
    own, _, _ = scored(rows)
    names = {name for name in own.names if re.match("(theme|axis)_.*_en$", name)}
    assert {name.removesuffix("_en") for name in names} == {
        "theme_größe_t_5_x", "theme_b", "theme_big_one", "theme_context_seeking",
        "axis_a_b", "axis_c", "axis_accuracy", "axis_completeness",
    }  # fmt: skip
    # Of conversation a alone, whose one criterion is met; accuracy is of both: 1 and -5 / 4.
    for name in ("theme_b", "theme_big_one", "axis_a_b"):
        assert own.scores[f"{name}_en"] == 1.0
    assert own.scores["axis_accuracy_en"] == 0.0
    assert own.scores["theme_context_seeking_en"] == pytest.approx(0.1)


def test_a_jury_has_its_first_judge_grade_and_records_it(scored, serve):
    first, second = serve(by_words), serve(by_words)
    scored([conversation("a")], judge=[first.spec(), {**second.spec(), "name": "other"}])
    assert len(first.prompts) == 6 and not second.prompts


@pytest.mark.parametrize(
    ("name", "code"),
    [("hb_es", "es"), ("hb-es", "es"), ("hb_pt_BR", "pt"), ("hb-pt-BR", "pt"), ("hb_zh_hans", "zh"),
     ("hb_zh_Hans_CN", "zh"), ("hb_jp", "ja"), ("hb_swh_Latn", "sw"), ("Spanish", "es"),
     ("2025-05-07-06-14-12_oss_eval", "en"), ("hb_en_US", "en"), ("hb_pt_br", None), ("my_es", None),
     ("as_it_is", None), ("hb_es_mx", "es"), ("hb_en_ca", None), ("set_sw_ke", "sw"), ("bn_bd", "bn"),
     ("hb_ar_eg", "ar"), ("how_to_do", "en"), ("data_in_us", None)],
)  # fmt: skip
def test_a_file_name_says_its_language_or_nothing_is_guessed(tmp_path, name, code):
    path = write(tmp_path / f"{name}.jsonl", [conversation("a", **turn(content="?"))])
    if code is None:
        with pytest.raises(DataError, match="state it in a field 'language' of every row"):
            load_rubrics(str(path))
        write(path, [conversation("a", **turn(content="?"), language="es")])
        code = "es"
    assert set(load_rubrics(str(path)).rubrics["a"].turns) == {code}


def test_turns_that_contradict_one_another_are_refused(tmp_path):
    def said(*rows):
        for code, row in zip(("en", "es"), rows):
            write(tmp_path / f"set_{code}.jsonl", [row])
        checked = check_conversations(tmp_path, {})
        try:
            load_rubrics(str(tmp_path))
        except DataError as error:
            assert str(error) in checked.errors
            return str(error)
        assert not checked.errors
        return "\n".join(checked.look)

    def turns(**more):
        return conversation("a", **turn(**more))

    for more, wrong in (
        (
            {"content": "a", "content_en": "b"},
            "'content' and 'content_en' are both English and differ",
        ),
        ({"content": "a", "content_id": "u1"}, "'content_id': could be the turn's id"),
        ({"content": [{"text": "a"}]}, "images and lists of parts are not asked"),
        ({"content": None}, "no conversation has a text in each of its turns"),
    ):
        assert wrong in said(turns(**more))
    # The same text twice is one; a language that lacks a turn is named.
    assert said(turns(content="a", content_en="a", content_sw="b")) == ""
    part = conversation("a")
    del part["prompt"][0]["content_es"]
    assert "no question in Spanish: question a" in said(part)
    # Criteria of a translation grade English where its own row has none, and that is said.
    own = turns(content="Why?")
    assert "is graded by the criteria that stand here" in said({**own, "rubrics": []}, own)
    assert said(own, {**own, "rubrics": []}) == ""
    # A translation has the same turns.
    assert "has other turns in es (1) than in en (3" in said(conversation("a"), turns(content="x"))
