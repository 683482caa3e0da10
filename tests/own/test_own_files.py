"""Users' files: every form that is read, and what is said of broken ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest
from tests_of_own import FEW, write_csv

from xling_tasks.data.own.load import dataset_name, load
from xling_tasks.data.own.wrong import wrong_answers
from xling_tasks.errors import DataError, SettingError
from xling_tasks.settings import Settings

pytestmark = pytest.mark.core

LONG = [
    {"id": row["id"], "language": code, "question": row[f"question_{code}"],
     "answer": row[f"answer_{code}"]}
    for row in FEW for code in ("en", "pt", "sw") if row[f"question_{code}"]
]  # fmt: skip


def write_xlsx(path: Path, rows: list[dict[str, Any]], *sheets: tuple[str, list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.active.append(list(rows[0]))
    for row in rows:
        book.active.append([None if value == "" else value for value in row.values()])
    for title, cells in sheets:
        book.create_sheet(title).append(cells)
    book.save(path)
    return path


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.mark.parametrize("rows", [FEW, LONG], ids=["wide", "long"])
@pytest.mark.parametrize(
    "write",
    [
        lambda p, rows: write_csv(p / "f.csv", rows),
        lambda p, rows: write_csv(p / "f.csv", rows, encoding="utf-8-sig"),
        lambda p, rows: write_csv(p / "f.csv", rows, encoding="utf-16", delimiter="\t"),
        lambda p, rows: write_csv(p / "f.csv", rows, delimiter=";"),
        lambda p, rows: write_xlsx(p / "f.xlsx", rows, ("Notes", ["for people"])),
        lambda p, rows: write_parquet(p / "f.parquet", rows),
        lambda p, rows: write_jsonl(p / "f.jsonl", rows),
    ],
    ids=["csv", "bom", "utf16", "semicolon", "xlsx", "parquet", "jsonl"],
)
def test_every_form_is_read_alike(tmp_path, write, rows):
    data = load(str(write(tmp_path, rows)))
    assert [item.id for item in data.items] == ["1", "2", "3"]
    assert {code: own.name for code, own in data.tongues.items()} == {
        "en": "English", "pt": "Portuguese", "sw": "Swahili"
    }  # fmt: skip
    assert data.items[1].texts["pt"]["answer"] == FEW[1]["answer_pt"]
    assert data.unusable("sw", ("question",)) == {"3": "question text missing"}


def test_languages_may_be_named_in_many_ways_and_unknown_ones_by_their_script(tmp_path):
    names = ["question_English", "Question (pt-BR)", "question_swh", "question_iw", "question_ind"]
    path = write_csv(tmp_path / "f.csv", [dict.fromkeys(names, "Some text?") | {"id": "1"}])
    assert list(load(str(path)).tongues) == ["en", "pt", "sw", "he", "id"]
    long = [{**row, "script": "Latn"} for row in LONG if row["language"] != "sw"]
    long += [{**LONG[0], "language": "dag", "script": "Latn"}]
    assert load(str(write_csv(tmp_path / "long.csv", long))).tongues["dag"].script == "Latn"
    stated = Settings.parse({"scripts": {"dag": {"script": "latn", "name": "Dagbani"}}}, {}).scripts
    path = write_csv(tmp_path / "g.csv", [{"question_en": "A?", "question_dag": "B?"}])
    assert load(str(path), stated).tongues["dag"].name == "Dagbani"
    assert Settings.parse({"scripts": "dag:Latn+nqo:Nkoo"}, {}).scripts["nqo"] == ("Nkoo", "")


BROKEN: list[tuple[str, list[dict[str, Any]], str]] = [
    ("no questions", [{"id": "1", "text": "a"}], "no questions in its columns"),
    ("unknown language", [{"question_en": "a", "question_xx": "b"}], "the language 'xx' is not"),
    ("twice", [{"question_pt": "a", "question_pt_BR": "b"}], "are both question in Portuguese"),
    ("question_id", [{"question_id": "1", "question_en": "a"}], "or Indonesian"),
    ("answer alone", [{"question_en": "a", "answer_sw": "b"}], "no column 'question_sw'"),
    ("same id", [{**FEW[0]}, {**FEW[0]}], "row 3, column 'id': id '1' stands in row 2 already"),
    ("no id", [{**FEW[0]}, {**FEW[1], "id": ""}], "row 3, column 'id': the id is missing"),
    ("both shapes", [{**LONG[0], "question_sw": "a"}], "keep one of the two"),
    ("long without id", [{"language": "en", "question": "a"}], "column 'id' is missing"),
    ("long twice", [LONG[0], LONG[0]], "row 3, column 'id': question '1' in English stands"),
    ("no language", [{**LONG[0], "language": ""}], "row 2, column 'language': the language is"),
    ("odd language", [{**LONG[0], "language": "klingonese"}], "the language 'klingonese' is not"),
    ("odd script", [{**LONG[0], "script": "Runic"}], "row 2, column 'script': unknown script"),
    ("excel error", [{**FEW[0], "answer_pt": "#REF!"}], "column 'answer_pt': the cell shows the er"),
    ("letters", [{**FEW[0], "correct": "Z"}], "row 2, column 'correct': right letters such as A"),
    ("contradiction", [{**FEW[0], "correct_en": "A", "correct_pt": "B"}], "right letters differ"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "said"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN])
@pytest.mark.parametrize("write", [write_csv, write_xlsx], ids=["csv", "xlsx"])
def test_what_is_wrong_is_said_in_one_line_with_its_place(tmp_path, write, rows, said):
    path = tmp_path / f"f.{'csv' if write is write_csv else 'xlsx'}"
    with pytest.raises(DataError) as error:
        load(str(write(path, rows)))
    assert said in str(error.value) and "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_damaged_csv_files(tmp_path):
    path = tmp_path / "f.csv"
    header = "id,question_en,question_pt\n"
    for content, said in (
        ((header + '1,a,"b').encode(), "line 2: not valid CSV"),
        ((header + "1,a,caf\xe9\n").encode("cp1252"), "line 2: not UTF-8 (byte 0xe9)"),
        ((header + "1,a\n").encode(), "row 2: 2 fields, but the header has 3"),
        (b"", "the file is empty"),
        (header.encode(), "the file has no rows"),
        (header.encode().replace(b"question_pt", b"question_en"), "appears twice in the header"),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError) as error:
            load(str(path))
        assert said in str(error.value) and "\n" not in str(error.value)


def test_formulas_that_were_never_computed_and_several_sheets_of_questions(tmp_path):
    rows: list[dict[str, Any]] = [{"id": 1, "question_en": "a", "question_pt": '="b"&"c"'}]
    path = write_xlsx(tmp_path / "f.xlsx", rows)
    with pytest.raises(DataError, match="row 2, column 'question_pt': a formula without a stored"):
        load(str(path))
    path = write_xlsx(tmp_path / "g.xlsx", FEW)
    book = openpyxl.load_workbook(path)
    book.copy_worksheet(book.active)
    book.save(path)
    with pytest.raises(DataError, match="2 sheets have questions"):
        load(str(path))


def test_a_missing_file_a_folder_and_no_setting_say_what_to_do(tmp_path):
    for place, said in (
        (None, "--metadata data_dir=FILE"),
        (str(tmp_path), "is a folder"),
        (str(tmp_path / "x.csv"), "xling data new x.csv"),
    ):
        with pytest.raises(DataError, match=said):
            load(place)
    for value in ("Latn", {"dag": "Runic"}, {"dag!": "Latn"}, {"dag": {"x": 1}}, 3):
        with pytest.raises(SettingError, match="scripts"):
            Settings.parse({"scripts": value}, {})


def test_a_dataset_is_named_after_the_file_and_never_as_one_of_ours():
    names = {"My Clinic 2.csv": "my-clinic-2", "liveqa.xlsx": "own-liveqa", "Überweisung.csv":
             "überweisung", "xling.csv": "own-xling"}  # fmt: skip
    assert {name: dataset_name(Path(name)) for name in names} == names
    assert len(dataset_name(Path("?!.csv"))) == 8


def test_draws_of_wrong_answers_depend_on_the_seed_and_are_never_right(tmp_path):
    rows = [{"id": str(n), "question_en": f"q{n}", "answer_en": f"a{n % 3}"} for n in range(30)]
    data = load(str(write_csv(tmp_path / "f.csv", rows)))
    first, again = wrong_answers(data, 0), wrong_answers(data, 0)
    assert first == again != wrong_answers(data, 1)
    assert all(own[0].text["en"] != f"a{int(key) % 3}" for key, own in first.items())
    alone = load(str(write_csv(tmp_path / "g.csv", rows[:1])))
    assert wrong_answers(alone, 0) == {}
