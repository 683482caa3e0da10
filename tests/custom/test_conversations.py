"""Conversations with rubrics in HealthBench's form, its translations, and users' own tables."""

from __future__ import annotations

import json
import re

import pytest
from custom_tables import write_csv
from own_rubric_parts import CANARY, conversation, write

from xling_tasks.cli import main
from xling_tasks.data.custom.conversations import language_of_file
from xling_tasks.data.custom.dataset import RUBRIC_SAMPLE, is_custom_file, load_custom_dataset
from xling_tasks.errors import DataError

TASK = "xling_custom_rubric"
ENGLISH = ["My head hurts since this morning.", "My child has a fever today."]
SWAHILI = ["Kichwa kinaniuma tangu asubuhi.", "Mtoto wangu ana homa leo."]


def turn(**more):
    return {"prompt": [{"role": "user", **more}]}


def rows(texts, beside=None, **more):
    """Return a row per text; `beside` is another field of its turn, and that field's texts."""
    made = []
    for number, text in enumerate(texts):
        other = {beside[0]: beside[1][number]} if beside else {}
        made.append(conversation(f"p{number}", **turn(content=text, **other), **more))
    return made


def contents(dataset, code):
    return [question.turns[code][0]["content"] for question in dataset.questions]


def load(path):
    return load_custom_dataset(str(path))


def test_the_form_as_published(tmp_path):
    (question,) = load(write(tmp_path / "set.jsonl", [conversation("a")])).questions
    assert [turn["role"] for turn in question.turns["es"]] == ["user", "assistant", "user"]
    assert [item.points for item in question.rubric] == [6, 4, -5]
    assert question.rubric[1].tags == ("axis:accuracy",) and question.canary == CANARY
    assert (question.themes, question.agreed_categories) == (("context_seeking",), ("x",))
    text = question.texts["en"]["question"]
    assert text.startswith(
        "User: My head hurts (a).\n\nAssistant: Since when?\n\nUser: Since today"
    )


def test_the_sample_is_sound_and_what_data_new_writes(tmp_path, capsys):
    dataset = load_custom_dataset(None, RUBRIC_SAMPLE)
    assert tuple(dataset.languages) == ("en", "es", "zh", "hi", "fr", "ar")
    for question in dataset.questions:
        assert set(question.turns) == set(dataset.languages) and question.themes
        assert len(question.rubric) >= 4 and any(item.points < 0 for item in question.rubric)
    path = tmp_path / "talks.jsonl"
    assert main(["data", "new", str(path), "--rubric"]) == 0
    assert main(["data", "check", str(path)]) == 0
    assert "Nothing is odd." in capsys.readouterr().out
    assert main(["data", "new", str(path), "--rubric"]) == 2
    assert main(["data", "new", str(tmp_path / "talks.csv"), "--rubric"]) == 2


BESIDE = ("translated_content", SWAHILI)


def translated(code):
    return {"translation_info": {"lang": code}}


@pytest.mark.parametrize(("name", "made"), [
    ("healthbench_sw.jsonl", rows(ENGLISH, BESIDE, **translated("sw"))),
    ("healthbench_sw.jsonl", rows(ENGLISH, BESIDE)),  # the name says what was translated to
    ("healthbench-swahili.jsonl", rows(ENGLISH, ("content_sw", SWAHILI))),
    ("2025_oss_eval.jsonl", rows(ENGLISH, BESIDE, **translated("Swahili"))),
    ("eval_ig.jsonl", rows(ENGLISH, BESIDE, language="en", **translated("swh"))),
    # The file is Swahili and its English stands beside: the content stays Swahili.
    ("x_sw.jsonl", rows(SWAHILI, ("content_en", ENGLISH))),
])  # fmt: skip
def test_a_file_with_english_and_a_translation_is_read_whatever_its_name(tmp_path, name, made):
    dataset = load(write(tmp_path / name, made))
    assert list(dataset.languages) == ["en", "sw"]
    assert (contents(dataset, "en"), contents(dataset, "sw")) == (ENGLISH, SWAHILI)


@pytest.mark.parametrize(("name", "code"), [
    ("hb_es", "es"), ("hb-pt-BR", "pt-BR"), ("hb_zh_hans", "zh-Hans"), ("hb_Spanish", "es"),
    ("2025-05-07-06-14-12_oss_eval", "en"), ("hindi", "en"),
])  # fmt: skip
def test_a_file_name_says_its_language(tmp_path, name, code):
    assert language_of_file(tmp_path / f"{name}.jsonl").code == code


def test_a_file_per_language_is_paired_by_id_and_the_english_rubric_counts(tmp_path):
    english = [conversation(key, **turn(content=f"Hello {key}")) for key in "ab"]
    hindi = conversation("a", **turn(content="नमस्ते a"))
    for item in hindi["rubrics"]:
        item["criterion"] = "बुखार"
    # The translation is read first.
    write(tmp_path / "a_hi.jsonl", [hindi])
    write(tmp_path / "set_en.jsonl", english)
    dataset = load(tmp_path)
    first, second = dataset.questions
    assert (set(first.turns), set(second.turns)) == ({"en", "hi"}, {"en"})
    assert first.rubric[0].text == "Asks about fever."
    assert len(dataset.provenance["files"]) == 2
    # Called as the folder, so that one more language does not make it another dataset.
    assert dataset.info.title == tmp_path.name.replace("_", " ") and is_custom_file(str(tmp_path))
    # A translation without criteria, or with the English ones alone, is graded by those.
    write(tmp_path / "a_hi.jsonl", [{**hindi, "rubrics": None}])
    assert load(tmp_path).questions[0].rubric == first.rubric
    hindi["rubrics"] = hindi["rubrics"][:2]
    write(tmp_path / "a_hi.jsonl", [hindi])
    with pytest.raises(DataError, match="criteria with other points"):
        load(tmp_path)


def test_a_table_with_a_column_of_criteria(tmp_path):
    criteria = "6: Asks about fever.\n• 2 points | Names rest.\n−5: Advises morphine."
    rows = [{"question_en": "What helps?", "question_sw": "Nini?", "criteria": criteria}]
    (question,) = load(write_csv(tmp_path / "mine.csv", rows)).questions
    assert [item.points for item in question.rubric] == [6, 2, -5]
    assert question.turns_in("sw") == ({"role": "user", "content": "Nini?"},)

    def long(english: str):
        row = {"id": 1, "language": "sw", "question": "a?", "criteria": "5: Sema"}
        return write_csv(
            tmp_path / "long.csv", [row, {**row, "language": "en", "criteria": english}]
        )

    # In a long table they are those of English, and other points are refused.
    assert load(long("5: Says")).questions[0].rubric[0].text == "Says"
    with pytest.raises(DataError, match="row 3: '1' has criteria with other points"):
        load(long("17: Says"))


def points(value):
    return {"rubrics": [{"criterion": "x", "points": value}]}


@pytest.mark.parametrize(("change", "message"), [
    *((points(value), "line 2: criterion 1") for value in (float("nan"), True, "5", 1e9)),
    ({"rubrics": [{"criterion": " ", "points": 5}]}, "a text 'criterion' and a number 'points'"),
    ({"rubrics": {"criterion": "x"}}, "a list of criteria is expected"),
    ({"rubrics": [{"criterion": "x", "points": 1, "tags": "a"}]}, "'tags'"),
    ({"prompt": []}, "the last turn must be the user's"), ({"prompt": "a"}, "a list of turns"),
    (turn(content=5.5, role="robot"), "unknown role 'robot'"),
    (turn(content=[{"text": "a"}]), "images and lists of parts are not asked"),
    (turn(content="x", role="assistant"), "must be the user's"),
    (turn(content="x", content_qqq="y"), "'content_qqq': the language 'qqq' is not known"),
    (turn(content="a", content_en="b"), "two texts in English differ"),
    ({"prompt_id": None}, "'prompt_id' is missing"), ({"prompt_id": ["a"]}, "'prompt_id' is missing"),
    ({"prompt_id": "b"}, "line 2: conversation 'b' in en differs from"),
    ({"example_tags": "theme:x"}, "'example_tags'"),
    ({"rubric": "x", "binary_labels": [True]}, "HealthBench's meta evaluation"),
])  # fmt: skip
def test_what_is_wrong_is_named(tmp_path, change, message):
    path = write(tmp_path / "own.jsonl", [conversation("b"), conversation("a", **change)])
    with pytest.raises(DataError, match=re.escape(message)):
        load(path)


def test_turns_of_two_languages_are_the_same(tmp_path):
    write(tmp_path / "set_en.jsonl", [conversation("a")])
    write(tmp_path / "set_sw.jsonl", [conversation("a", **turn(content="x"))])
    with pytest.raises(DataError, match=r"has other turns in sw \(1\) than in en \(3"):
        load(tmp_path)


def test_data_check_knows_conversations(tmp_path, capsys):
    def checked(*made):
        path = write(tmp_path / "own.jsonl", made)
        status = main(["data", "check", str(path), "--json"])
        return status, json.loads(capsys.readouterr().out)

    part = conversation("b", rubrics=[])
    del part["prompt"][0]["content_es"]
    status, shown = checked(conversation("a"), part, conversation("c", prompt=[]))
    assert status == 1 and shown["usable"] == {TASK: {"en": 1, "es": 1}}
    assert [line.split("own.jsonl, ")[1][:8] for line in shown["problems"]] == ["line 3: "]
    assert "no question in Spanish: question b" in shown["oddities"]
    assert any("line 2: b: criteria missing" in line for line in shown["oddities"])
    status, shown = checked(conversation("a", **points(-1)))
    assert status == 0 and shown["usable"] == {TASK: {"en": 0, "es": 0}}
