"""MMLU's clinical questions in African languages, made a file of one's own as docs/own-data.md says."""

from __future__ import annotations

import pytest
from docs_commands import python_blocks

from xling_tasks.cli import main
from xling_tasks.data.custom.dataset import load_custom_dataset


@pytest.mark.realdata
def test_mmlu_clinical_in_english_and_zulu(run, tmp_path, realdata, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "human").symlink_to(realdata / "mmlu_clinical_afr" / "human")
    (block,) = [text for text in python_blocks() if "mmlu_clinical" in text]
    exec(block, {})
    dataset = load_custom_dataset("mmlu_clinical.csv")
    assert len(dataset.questions) == 265 and list(dataset.languages) == ["en", "zu"]
    first = dataset.questions[0]
    assert first.options("en").keys() == first.options("zu").keys() == set("ABCD")
    assert main(["data", "check", "mmlu_clinical.csv"]) == 0
    assert "| xling_custom_mcqa" in capsys.readouterr().out
