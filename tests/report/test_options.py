"""Options that `xling report`, `compare` and `leaderboard` share."""

from __future__ import annotations

import os

import pytest
from boards import many_models

from xling_tasks.cli import main

COMMANDS = {"report": ["out"], "compare": ["a", "b"], "leaderboard": ["out", "--to", "page"]}
SHARED = [
    (("--margin", "1.5"), "--margin: must be a number between 0 and 1, got 1.5"),
    (("--to", "file"), "--to file: is a file; name a folder"),
]
LEVEL = (("--confidence", "95"), "--confidence: must be a number between 0 and 1, got 95")
CASES = [*(("report", *case) for case in SHARED), ("compare", *SHARED[0]), ("leaderboard", *LEVEL)]


@pytest.mark.parametrize(("command", "words", "said"), CASES)
def test_impossible_options_are_refused_before_anything_is_read(
    capsys, tmp_path, monkeypatch, command, words, said
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("kept", encoding="utf-8")
    assert main([command, *COMMANDS[command], *words]) == 2
    assert f"xling: {said}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize("command", ["report", "samples"])
def test_a_folder_that_cannot_be_opened_is_not_left_out(capsys, tmp_path, monkeypatch, command):
    locked, scandir = tmp_path / "out" / "of somebody else", os.scandir

    def refusing(place="."):
        if os.fspath(place) == str(locked):
            raise PermissionError(13, "Permission denied", str(locked))
        return scandir(place)

    locked.mkdir(parents=True)
    monkeypatch.setattr(os, "scandir", refusing)
    assert main([command, str(tmp_path / "out")]) == 2
    assert f"xling: {locked}: Permission denied; make it" in capsys.readouterr().err


def test_intervals_are_called_by_their_level(tmp_path):
    folder = many_models(tmp_path, [0], n=40)[0]
    for command, page in (("report", "report.html"), ("leaderboard", "index.html")):
        to = tmp_path / command
        assert main([command, folder, "--to", str(to), "--confidence", "0.9"]) == 0
        text = (to / page).read_text("utf-8")
        assert "In 90% of runs" in text and ("(90% interval: " in text) == (command == "report")
        assert "95%" not in text
