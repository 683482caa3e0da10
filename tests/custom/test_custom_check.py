"""`xling data check` and `xling data new`."""

from __future__ import annotations

import json

import openpyxl
import pytest
from custom_tables import FEW, write_book, write_csv, write_table

from xling_tasks.cli import main
from xling_tasks.data.custom import columns
from xling_tasks.data.custom.dataset import load_custom_dataset


def test_one_language_alone_has_nothing_to_be_compared_with(tmp_path, capsys):
    for code, said in (("en", "English alone: there is nothing"), ("pt", "no English: there is")):
        rows = [{"id": 1, f"question_{code}": FEW[0][f"question_{code}"]}]
        assert main(["data", "check", str(write_csv(tmp_path / f"{code}.csv", rows))]) == 0
        assert said in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet", "jsonl"])
@pytest.mark.parametrize("shape", [[], ["--long"]], ids=["wide", "long"])
def test_the_example_is_read_without_a_remark(tmp_path, capsys, ending, shape):
    path = str(tmp_path / f"clinic.{ending}")
    assert main(["data", "new", path, *shape]) == 0
    assert len(load_custom_dataset(path).questions) == 6 and list(
        load_custom_dataset(path).languages
    ) == ["en", "pt", "sw"]
    assert main(["data", "check", path]) == 0
    shown = capsys.readouterr().out
    assert "Nothing is odd." in shown
    assert "| xling_custom_verifiability | 6  | 6  | 6  |" in shown
    assert "| xling_custom_mcqa          | 0  | 0  | 0  |" in shown
    # It is never written over.
    assert main(["data", "new", path]) == 2
    assert f"xling: {path}: is there already" in capsys.readouterr().err


def checked(path, capsys, *more):
    status = main(["data", "check", str(path), "--json", *more])
    return status, json.loads(capsys.readouterr().out)


def test_errors_are_listed_row_by_row_and_the_rest_is_counted(tmp_path, capsys):
    rows = [FEW[0], {**FEW[1], "answer_pt": "#N/A"}, *({**FEW[2], "id": x} for x in ("", "1", "4"))]
    status, told = checked(write_csv(tmp_path / "f.csv", rows, delimiter=";"), capsys)
    assert status == 1 and told["form"] == "CSV, UTF-8, fields parted by semicolons"
    assert [error.split("f.csv, ")[1][:32] for error in told["errors"]] == [
        "row 3, column 'answer_pt': the c",
        "row 4, column 'id': the id is mi",
        "row 5, column 'id': '1' stands i",
    ]
    assert told["usable"]["xling_custom_correctness"] == {"en": 2, "pt": 2, "sw": 1}


def test_what_is_odd_but_read_is_named(tmp_path, capsys):
    english = "Please drink enough water every day and rest well until you have recovered from it."
    rows = [
        {**FEW[0], "colour": "blue", "wrong_answer_en": FEW[0]["answer_en"]},
        {**FEW[1], "answer_pt": english, "question_pt": english},
        {**FEW[2], "question_en": FEW[0]["question_en"], "question_pt": FEW[0]["question_en"]},
    ]
    rows = [{"colour": "", "wrong_answer_en": "", **row} for row in rows]
    path = write_csv(tmp_path / "f.csv", rows, encoding="utf-16", delimiter="\t")
    status, told = checked(path, capsys)
    look = "\n".join(told["look"])
    assert status == 0 and told["form"] == "CSV, UTF-16, fields parted by tabs"
    for said in (
        "columns that are not used: colour",
        "no question in Swahili: question 3",
    ):
        assert said in look
    assert told["usable"]["xling_custom_verifiability"]["en"] == 2


def test_a_missing_id_and_a_stated_script(tmp_path, capsys):
    path = write_book(
        tmp_path / "f.xlsx",
        ["id", "language", "question", "option_a", "option_b", "correct"],
        [1, "en", "Which?", "this", "that", "C"],
        [None, "dag", "Dini?", "ŋɔ", "dina", None],
    )
    book = openpyxl.load_workbook(path)
    book.active.merge_cells("A2:A3")
    book.save(path)
    status, told = checked(path, capsys, "--metadata", "scripts=dag:Latn")
    assert status == 1
    assert told["errors"] == [
        f"{path}, sheet 'Sheet', row 3, column 'id': the id is missing; if cells are merged, "
        "unmerge them and write the id in every row"
    ]


def test_a_misspelt_column_is_told_with_what_may_be_meant(tmp_path, capsys):
    def said_of(name, *rows):
        _, told = checked(write_table(tmp_path / name, rows), capsys)
        return (told["errors"] or told["look"])[0]

    unused = "columns that are not used: "
    row = {"id": "1", "question_en": "Is it safe?", "anwser_en": "Yes.", "corect": "", "ids": "7"}
    meant = "anwser_en (did you mean answer_en?), corect (did you mean correct?), ids"
    assert said_of("f.csv", row) == unused + meant
    row = {"qestion_en": "A?", "question_es": "B?"}
    assert said_of("e.csv", row) == f"{unused}qestion_en (did you mean question_en?)"
    # In JSONL a row may have the right name, and another row the wrong one; long tables, too.
    one, two = {"question": "Is it safe?", "answer": "Yes."}, {"question": "Is it?", "anwser": 5}
    rows = [{"id": number, "language": "en", **own} for number, own in enumerate((one, two))]
    assert said_of("g.jsonl", *rows) == f"{unused}anwser (did you mean answer?)"
    assert "call it question_en, or add 'language'" in said_of("h.jsonl", one, two)


def test_names_of_columns_are_read_once_however_long_a_table_is(tmp_path, capsys, monkeypatch):
    read = []
    monkeypatch.setattr(columns, "normal", lambda name, as_it_is=columns.normal: (
        read.append(name), as_it_is(name))[1])  # fmt: skip
    rows = [{"question_en": f"Is {i} mg safe?", **{f"more{x}": "x" for x in range(9)}}
            for i in range(300)]  # fmt: skip
    checked(write_csv(tmp_path / "f.csv", rows), capsys)
    assert len(read) < 300


def test_columns_that_cannot_be_understood_are_said(tmp_path, capsys):
    path = write_csv(tmp_path / "f.csv", [{"id": "1", "text": "a"}])
    status, told = checked(path, capsys)
    assert status == 1 and "no questions in its columns" in told["errors"][0]
    for name, said in (
        ("clinic.csv", "no such file (is there a slip in its name?); `xling data new clinic.csv`"),
        ("ff.csv", "there is no such file (did you mean f.csv?)"),
        ("", "is a folder; name a file"),
        ("none/f.csv", "there is no such file (is there a slip in its name?)"),
    ):
        assert main(["data", "check", str(tmp_path / name)]) == 2
        assert said in capsys.readouterr().err


def test_doctor_looks_at_the_file_and_at_no_other_dataset(tmp_path):
    from xling_tasks.commands.doctor.resources import data as lines_of_data
    from xling_tasks.settings import Settings

    path = write_csv(tmp_path / "f.csv", FEW)
    lines = {line.check: line for line in lines_of_data(Settings(data_dir=str(path)))}
    assert lines.keys() == {"data own", "data demo", "data close", "data mmedbench_demo"}
    assert lines["data own"].found == "data_dir: 3 questions, 3 rows, 1 unusable in some language"
    path = write_csv(tmp_path / "g.csv", [{"question_en": "a", "question_xx": "b"}])
    (own, *_) = lines_of_data(Settings(data_dir=str(path)))
    assert own.status == "fail" and "the language 'xx' is not known" in own.found
