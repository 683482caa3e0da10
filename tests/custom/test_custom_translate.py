"""`xling translate-prompts` on a file of one's own."""

from __future__ import annotations

import json

from custom_tables import FEW, write_csv, write_table

from xling_tasks.cli import main
from xling_tasks.data.custom.dataset import load_custom_dataset


def translated(serve, path, to, *words, says="x", **metadata):
    """The status of the command, with a translator that always says the same."""
    told = {"translator": serve(lambda _: says).spec(), "xling_cache": False, **metadata}
    command = ["translate-prompts", str(path), "--to", str(to), *words]
    return main([*command, "--metadata", json.dumps(told)])


def test_texts_that_are_missing_are_translated_and_named(serve, tmp_path, capsys):
    def reply(prompt: str) -> str:
        if "Text:" not in prompt:
            return "ready"
        sentence = prompt.split("Text: ")[1].split("\n")[0]
        return {"Is much salt bad for me?": "Je, chumvi nyingi ni mbaya kwangu?"}.get(
            sentence, "Chumvi nyingi sana huongeza shinikizo la damu."
        )

    rows = [{**row, "criteria": "5: Says rest\n-2: Says salt", "source": "x"} for row in FEW]
    path = write_csv(tmp_path / "f.csv", rows)
    to = tmp_path / "g.xlsx"
    metadata = json.dumps({"translator": serve(reply).spec(), "xling_cache": False})
    command = ["translate-prompts", str(path), "--to", str(to), "--metadata", metadata]
    assert main(command) == 0, capsys.readouterr().err
    shown = capsys.readouterr().out
    assert "Swahili: 2 texts translated" in shown and "Portuguese: 0 texts" in shown
    assert "Not in it: source, an earlier column 'notes'." in shown
    data = load_custom_dataset(str(to))
    assert {tuple(item.text for item in q.rubric) for q in data.questions} == {
        ("Says rest", "Says salt")
    }
    assert data.questions[2].texts["sw"] == {
        "question": "Je, chumvi nyingi ni mbaya kwangu?",
        "answer": "Chumvi nyingi sana huongeza shinikizo la damu.",
    }
    named = [*command[:3], str(tmp_path / "i.csv"), "--languages", "Swahili,pt", *command[4:]]
    assert main(named) == 0 and "Swahili: 2 texts translated" in capsys.readouterr().out
    again = ["translate-prompts", str(to), "--to", str(tmp_path / "h.csv"), *command[4:]]
    assert main(again) == 0
    # What was there stays, and the file that was read is as it was.
    assert data.questions[0].texts == load_custom_dataset(str(path)).questions[0].texts
    assert "sw" not in {
        c for c, own in load_custom_dataset(str(path)).questions[2].texts.items() if own
    }
    assert main(command) == 2 and "is there already" in capsys.readouterr().err


def test_a_translator_that_translates_nothing_is_an_error(serve, tmp_path, capsys):
    for name, rows in (("few.csv", FEW), ("few.jsonl", [{"id": "a", "en": "Is salt bad?"}])):
        path, to = write_table(tmp_path / name, rows), tmp_path / f"to-{name}"
        assert translated(serve, path, to, "--languages", "it", says="") == 2
        assert "none of the" in capsys.readouterr().err and not to.exists()


def test_scripts_and_criteria_of_other_forms_stay(serve, tmp_path):
    """In every format, and of questions with and without criteria."""
    criteria = [{"criterion": "Says rest.", "points": 5, "tags": ["axis:a"]}]
    rows = [{"id": "1", "question_en": "Rest?", "question_hi_Latn": "Aaraam?", "criteria": criteria},
            {"id": "2", "question_en": "Salt?"}]  # fmt: skip
    path = write_table(tmp_path / "f.jsonl", rows)
    for ending in ("csv", "jsonl", "xlsx", "parquet"):
        to = tmp_path / f"g.{ending}"
        assert translated(serve, path, to, languages="sw") == 0
        data = load_custom_dataset(str(to))
        assert data.languages["hi-Latn"].script == "Latn"
        (item,) = data.questions[0].rubric
        assert (item.text, item.points) == ("Says rest.", 5)
        assert item.tags == (("axis:a",) if ending in ("jsonl", "parquet") else ())
        assert not data.questions[1].rubric


def test_conversations_stay_conversations(serve, tmp_path, capsys):
    """Every turn is translated, and no transcript is made the one question."""
    english = "How many hours of sleep do most adults need?"
    turns = [{"role": role, "content": english, "content_es": f"¿Cuánto {role}?"}
             for role in ("user", "assistant", "user")]  # fmt: skip
    row = {"prompt_id": "1", "prompt": turns, "canary": "c", "example_tags": ["theme:hedging"],
           "rubrics": [{"criterion": "Says no.", "points": -2, "tags": ["axis:a"]},
                       {"criterion": "Asks.", "points": 3}]}  # fmt: skip
    path, to = write_table(tmp_path / "f.jsonl", [row]), tmp_path / "g.jsonl"
    said = "A maioria dos adultos precisa de sete a nove horas de sono."
    assert translated(serve, path, tmp_path / "g.csv", languages="pt", says=said) == 2
    assert "conversations are written as .jsonl" in capsys.readouterr().err
    assert translated(serve, path, to, languages="pt", says=said) == 0, capsys.readouterr()
    before, after = (load_custom_dataset(str(file)).questions[0] for file in (path, to))
    assert [turn["content"] for turn in after.turns_in("pt")] == [said] * 3
    assert {**after.turns, "pt": ()} == {**before.turns, "pt": ()}
    for name in ("rubric", "themes", "canary"):
        assert getattr(after, name) == getattr(before, name)
