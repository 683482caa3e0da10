"""The benchmark of verdicts still runs: a data set of each row that goes through files."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import inference


@pytest.mark.parametrize(
    "row", [row for row in inference.rows() if row.files], ids=lambda row: f"{row.truth}, {row.n}"
)
def test_a_row_goes_by_files_to_words(row):
    found, lines = inference.by_files(row.draw(np.random.default_rng(1), row.n))
    assert found and len(lines) == len(found) and all(line.endswith(".") for line in lines)
