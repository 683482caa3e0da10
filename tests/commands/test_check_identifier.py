"""`xling check identifier`: shares and agreement by hand, columns, and what is missing."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from xling_metrics import identifiers

from xling_tasks.cli import main
from xling_tasks.models import identifiers as models

ROWS = [
    ("es", "El médico llegó tarde. Tome agua con frecuencia."),
    ("es", "The doctor came late. Please drink water often."),
    ("es", "12.5 %"),
    ("hi", "डॉक्टर देर से आए। पानी पीते रहें।"),
    ("dag", "Bo n-soya maa?"),
    ("", "Nobody says in which language this was asked."),
]


@pytest.fixture
def path(tmp_path) -> Path:
    target = tmp_path / "answers.csv"
    with target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("language", "completion"), *ROWS])
    return target


@pytest.fixture(autouse=True)
def stub(monkeypatch) -> None:
    """An identifier that calls everything with 'agua' Spanish, and the rest English."""
    monkeypatch.setattr(identifiers, "find_spec", lambda name: True)
    found = identifiers.Identifier(
        "stub:1", frozenset({"es", "en", "hi"}),
        lambda texts: ["es" if "agua" in text else "en" for text in texts],
    )  # fmt: skip
    monkeypatch.setattr(models, "identifier", lambda name: found)


def test_shares_by_hand(path, capsys):
    assert main(["check", "identifier", str(path), "--second", "py3langid", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = {row["language"]: row for row in found["languages"]}
    assert found["second"] == "stub:1" and set(rows) == {"es", "hi", "dag"}

    def shares(code, of):
        return [rows[code][f"{of}{key}"] for key in ("", ": langid", ": second", ": agree")]

    # Of two answers with letters both call the first one Spanish; of its two sentences langid both,
    # the other one of them.
    assert shares("es", "texts") == [2, 0.5, 0.5, 1.0]
    assert shares("es", "sentences") == [4, 0.5, 0.25, 0.75]
    assert shares("hi", "texts")[1::2] == [1.0, 0.0]
    assert shares("dag", "texts") == [1, None, None, None]  # neither knows Dagbani


def test_no_text_of_the_file_is_shown(path, capsys):
    assert main(["check", "identifier", str(path), "--second", "py3langid"]) == 0
    shown = capsys.readouterr().out
    assert "| es " in shown and "stub:1" in shown
    words = {word for _, text in ROWS for word in text.split() if word.isalpha() and len(word) > 5}
    assert not any(word in shown for word in words - {"language"})


def test_what_is_missing_is_named(path, tmp_path, capsys):
    langid = ("--second", "py3langid")
    for words, message in (
        ((path, "--second", "langid"), "--second='langid': neither one of py3langid, lingua"),
        ((path, *langid, "--text", "reply"), "no column 'reply'"),
        ((path, *langid, "--language", "lang"), "Did you mean 'language'"),
        ((tmp_path / "absent.csv", *langid), "no such file"),
    ):
        assert main(["check", "identifier", *map(str, words)]) == 2
        assert message in capsys.readouterr().err
