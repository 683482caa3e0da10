"""Files of data that were damaged, or made to do harm: our error, soon, naming the place."""

from __future__ import annotations

import time

import openpyxl
import pytest
from builders import write_lines
from custom_tables import write_book

from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.tables import read_tables
from xling_tasks.data.xlinghealth import parse
from xling_tasks.errors import DataError
from xling_tasks.output import harmless


def book(path, place="A1", value="a"):
    made = openpyxl.load_workbook(write_book(path, ["a", "b"], [1, "x"]))
    made.active[place] = value
    made.save(path)
    return path


def test_a_stray_cell_at_the_end_of_the_sheet(tmp_path):
    began = time.process_time()
    with pytest.raises(DataError, match=r"row 1048576: a cell in a column without a name.*stray"):
        read_tables(book(tmp_path / "a.xlsx", "XFD1048576", "stray"))
    # An empty one there says nothing.
    (table,) = read_tables(book(tmp_path / "b.xlsx", "XFD1048576", " "))
    assert table.rows == {2: {"a": "1", "b": "x"}}
    # Under a second; all cells up to there would take hours.
    assert time.process_time() - began < 30


def test_texts_that_are_lists_and_ids_that_are_nan(tmp_path):
    names = ("English", "Hindi", "Chinese", "Spanish")
    row = {"id": "q", "label": 1, "answer_ids": "a"}
    row |= {f"{kind}_{name}": "x" for kind in ("question", "answer") for name in names}
    for column, value, message in (
        ("question_English", ["x"], r"a text is expected, not \['x'\]"),
        ("id", float("nan"), "the id is missing"), ("label", [1], "must be 0 or 1"),
    ):  # fmt: skip
        path = write_lines(tmp_path / "healthqa.jsonl", [{**row, column: value}])
        with pytest.raises(DataError, match=f"row 1, column '{column}': .*{message}"):
            parse(DATASETS["healthqa"], read_tables(path))


def test_cells_that_a_spreadsheet_would_run():
    for text in ("=1+1", "+cmd", "-x", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1"):
        assert harmless(text) == "'" + text
    for value in ("plain", "-0.5", "1e-3", -0.5, None, "a=b", ""):
        assert harmless(value) == value
