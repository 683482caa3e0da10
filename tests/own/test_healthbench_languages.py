"""Translations of HealthBench-form files as strangers have them: names, fields, languages beyond 31."""

from __future__ import annotations

import json

import pytest
from own_rubric_parts import write
from xling_metrics.answer_language import Told, not_checked, tell

from xling_tasks.cli import main
from xling_tasks.data.own.rubrics import load_rubrics
from xling_tasks.languages import known_language

ENGLISH = ["My head hurts since this morning.", "My child has a fever today."]
SWAHILI = ["Kichwa kinaniuma tangu asubuhi.", "Mtoto wangu ana homa leo."]


def rows(texts, beside=None, **more):
    return [
        {
            "prompt_id": f"p{n}",
            "prompt": [{"role": "user", "content": text, **({} if beside is None else {beside[0]: beside[1][n]})}],
            "rubrics": [{"criterion": "Advises to see a doctor.", "points": 5, "tags": ["axis:accuracy"]}],
            **more,
        }
        for n, text in enumerate(texts)
    ]  # fmt: skip


BESIDE = ("translated_content", SWAHILI)
INFO = {"translation_info": {"lang": "sw"}}


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("healthbench_sw.jsonl", rows(ENGLISH, BESIDE, **INFO)),
        ("healthbench_sw.jsonl", rows(ENGLISH, BESIDE)),  # the name says what was translated to
        ("healthbench-swahili.jsonl", rows(ENGLISH, ("content_sw", SWAHILI))),
        ("set_my_es.jsonl", rows(ENGLISH, BESIDE, translation_info={"lang": "swa"})),
        ("2025_oss_eval.jsonl", rows(ENGLISH, BESIDE, translation_info={"lang": "Swahili"})),
        ("eval_ig.jsonl", rows(ENGLISH, BESIDE, language="en", translation_info={"lang": "swh"})),
    ],
)
def test_a_file_with_english_and_a_translation_is_read_whatever_its_name(tmp_path, name, made):
    data = load_rubrics(str(write(tmp_path / name, made)))
    assert list(data.tongues) == ["en", "sw"]
    for n, rubric in enumerate(data.rubrics.values()):
        assert rubric.turns["en"][0]["content"] == ENGLISH[n]
        assert rubric.turns["sw"][0]["content"] == SWAHILI[n]


def test_contents_of_two_languages_are_not_mixed_up(tmp_path):
    """The file is Swahili and its English stands beside: the content stays Swahili."""
    path = write(tmp_path / "x_sw.jsonl", rows(SWAHILI, ("content_en", ENGLISH)))
    data = load_rubrics(str(path))
    assert data.rubrics["p0"].turns["sw"][0]["content"] == SWAHILI[0]


def test_one_language_alone_is_told_how_english_comes_beside_it(tmp_path, capsys):
    write(tmp_path / "hb_ig.jsonl", rows(SWAHILI))
    assert main(["data", "check", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert (
        "no English: there is nothing to compare with; put the English file into one folder" in said
    )
    assert "Igbo: langid does not know it" in said and "only whether in English" in said


@pytest.mark.parametrize("code", ["ig", "yo", "sw", "ha", "am", "zu", "ki", "pcm"])
def test_languages_of_translations_under_way_are_known(code):
    row = known_language(code)
    assert row is not None and row.script == ("Ethi" if code == "am" else "Latn")
    assert (not_checked(code) == "") == (code in ("am", "sw", "zu"))


def test_pidgin_is_never_taken_for_english():
    """Its commonest words are English's, so that nothing is told; another script still is."""
    text = "You go need see doctor quick quick, because di fever wey you get fit dey serious o."
    russian = "Вам нужно как можно скорее обратиться к врачу."
    told = [
        each.told
        for each in tell([text, "You should see a doctor as soon as you can.", russian], "pcm")
    ]
    assert told == [Told.UNTOLD, Told.UNTOLD, Told.ANOTHER]
    assert "in English is not checked" in not_checked("pcm")


def test_from_two_files_to_a_report(run, serve, tmp_path):
    """Translated criteria grade nothing: those of the English file do, in both languages."""
    from builders import evaluated
    from own_rubric_parts import Says, by_words

    folder = tmp_path / "hb"
    folder.mkdir()
    write(folder / "2025-05-07-06-14-12_oss_eval.jsonl", rows(ENGLISH))
    igbo = rows(SWAHILI)
    for row in igbo:
        row["rubrics"][0]["criterion"] = "Na-adụ ọdụ ka ọ hụ dọkịta."
    write(folder / "oss_eval_igbo.jsonl", igbo)
    metadata = {"data_dir": str(folder), "judge": serve(by_words).spec()}
    rest = "Pumzika sana leo na kunywa maji mengi kila siku nyumbani."
    model = Says(lambda context: "Please see a doctor." if "head" in context else rest)
    evaluated(run, tmp_path / "out", "xling_own_rubric", model=model, metadata=metadata)
    words = ["report", str(tmp_path / "out"), "--to", str(tmp_path / "r"), "--no-pictures"]
    assert main(words) == 0
    content = json.loads((tmp_path / "r" / "report.json").read_text("utf-8"))
    found = {c["metric"]: c for c in content["conclusions"]}
    assert found["helped"]["language"] == "ig"
    assert (found["helped"]["value"], found["helped"]["english"]) == (0.0, 0.5)
