"""`xling translate prompts` on a file of one's own."""

from __future__ import annotations

import json

import pytest
from builders import write_lines
from tests_of_own import FEW, write_csv

from xling_tasks.cli import main
from xling_tasks.data.own.load import load


def test_texts_that_are_missing_are_translated_and_named(serve, tmp_path, capsys):
    def reply(prompt: str) -> str:
        if "Sentence:" not in prompt:
            return "ready"
        sentence = prompt.split("Sentence: ")[1].split("\n")[0]
        return {"Is much salt bad for me?": "Je, chumvi nyingi ni mbaya kwangu?"}.get(
            sentence, "Chumvi nyingi sana huongeza shinikizo la damu."
        )

    rows = [{**row, "criteria": "5: Says rest\n-2: Says salt", "source": "x"} for row in FEW]
    path = write_csv(tmp_path / "f.csv", rows)
    to = tmp_path / "g.xlsx"
    metadata = json.dumps({"translator": serve(reply).spec(), "xling_cache": False})
    command = ["translate", "prompts", str(path), "--to", str(to), "--metadata", metadata]
    assert main(command) == 0, capsys.readouterr().err
    shown = capsys.readouterr().out
    assert "Swahili: 2 texts translated" in shown and "Portuguese: 0 texts" in shown
    assert "Not in it: source." in shown
    data = load(str(to))
    assert {item.criteria for item in data.items} == {"5: Says rest\n-2: Says salt"}
    assert data.items[2].texts["sw"] == {
        "question": "Je, chumvi nyingi ni mbaya kwangu?",
        "answer": "Chumvi nyingi sana huongeza shinikizo la damu.",
    }
    named = [*command[:4], str(tmp_path / "i.csv"), "--for", "Swahili,pt", *command[5:]]
    assert main(named) == 0 and "Swahili: 2 texts translated" in capsys.readouterr().out
    again = ["translate", "prompts", str(to), "--to", str(tmp_path / "h.csv"), *command[5:]]
    assert main(again) == 0 and "Not in it: the 'notes' of before." in capsys.readouterr().out
    # What was there stays, and the file that was read is as it was.
    assert data.items[0].texts == load(str(path)).items[0].texts
    assert "sw" not in {c for c, own in load(str(path)).items[2].texts.items() if own}
    assert main(command) == 2 and "is there already" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["few.csv", "few.jsonl"])
def test_a_translator_that_translates_nothing_is_an_error(serve, tmp_path, capsys, name):
    if name.endswith("csv"):
        path = write_csv(tmp_path / name, FEW)
    else:
        path = tmp_path / name
        write_lines(path, [{"id": "a", "en": "Is salt bad?"}])
    to = tmp_path / f"to-{name}"
    metadata = json.dumps({"translator": serve(lambda _: "").spec(), "xling_cache": False})
    words = ["translate", "prompts", str(path), "--to", str(to), "--for", "it"]
    assert main([*words, "--metadata", metadata]) == 2
    assert "none of the" in capsys.readouterr().err and not to.exists()


def test_scripts_and_criteria_of_other_forms_stay(serve, tmp_path, capsys):
    row = {"id": "1", "question_en": "Rest?", "question_hi_Latn": "Aaraam?",
           "criteria": [{"criterion": "Says rest.", "points": 5, "tags": ["axis:a"]}]}  # fmt: skip
    path = tmp_path / "f.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    metadata = json.dumps({"translator": serve(lambda _: "x").spec(), "xling_cache": False})
    for ending, criteria in (("csv", "5: Says rest."), ("jsonl", row["criteria"])):
        to = str(tmp_path / f"g.{ending}")
        command = ["translate", "prompts", str(path), "--to", to, "--metadata", metadata]
        assert main(command) == 0, capsys.readouterr().err
        data = load(to)
        assert data.tongues["hi"].script == "Latn"
        assert data.items[0].criteria == criteria


def test_questions_with_and_without_criteria_are_written_in_every_format(serve, tmp_path, capsys):
    rows = [{"id": "1", "question_en": "Rest?", "criteria": [{"criterion": "Says.", "points": 5}]},
            {"id": "2", "question_en": "Salt?"}]  # fmt: skip
    path = write_lines(tmp_path / "f.jsonl", rows)
    metadata = {"translator": serve(lambda _: "x").spec(), "xling_cache": False, "languages": "sw"}
    for ending in ("csv", "jsonl", "xlsx", "parquet"):
        to = str(tmp_path / f"g.{ending}")
        command = [
            "translate",
            "prompts",
            str(path),
            "--to",
            to,
            "--metadata",
            json.dumps(metadata),
        ]
        assert main(command) == 0, capsys.readouterr().err
        first, second = load(to).items
        assert first.criteria and not second.criteria
