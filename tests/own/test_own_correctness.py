"""`xling_own_correctness`: one file, any languages, one task."""

from __future__ import annotations

import json

import pytest
from tests_of_own import FEW, write_csv


def test_every_language_has_its_metrics_over_its_own_questions(run, tmp_path):
    path = write_csv(tmp_path / "clinic.csv", FEW)
    metadata = {"data_dir": str(path)}
    found = run("xling_own_correctness", metadata=metadata, log_samples=True, bootstrap_iters=2)
    results = found["results"]["xling_own_correctness"]
    # The third question has no Swahili text.
    assert [results[f"n_answered_{code},none"] for code in ("en", "pt", "sw")] == [3, 3, 2]
    assert results["unusable_rows_sw,none"] == 1 and results["unusable_rows_en,none"] == 0
    assert isinstance(results["langid_match_pt_stderr,none"], float)
    assert isinstance(results["length_words_pt,none"], float)
    xling = found["configs"]["xling_own_correctness"]["metadata"]["xling"]
    assert (
        xling["about"]["languages"] == ["en", "pt", "sw"] and xling["about"]["dataset"] == "clinic"
    )
    assert xling["parts"]["sw"]["data"]["unusable_questions"] == ["3"]
    assert len(xling["data"]["sha256"]) == 64
    sample = found["samples"]["xling_own_correctness"][2]
    assert list(sample["doc"]["languages"]) == ["en", "pt"]
    assert sample["chrf_sw"] is None and sample["chrf_pt"] > 0
    assert "in Swahili" in json.dumps(found["samples"]["xling_own_correctness"][0]["arguments"])


@pytest.mark.parametrize("languages", [["pt"], "[pt]"])
def test_languages_chooses(run, tmp_path, languages):
    path = write_csv(tmp_path / "clinic.csv", FEW)
    metadata = {"data_dir": str(path), "languages": languages}
    found = run("xling_own_correctness", metadata=metadata)["results"]["xling_own_correctness"]
    assert "chrf_pt,none" in found and "chrf_en,none" in found and "chrf_sw,none" not in found
