"""`xling data check` and `xling data new`: what is odd, and what each task can use."""

from __future__ import annotations

import json
import zipfile

import openpyxl
import pytest
from custom_tables import FEW, write_book, write_csv, write_table

from xling_tasks.cli import main
from xling_tasks.data.custom.dataset import load_custom_dataset


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet", "jsonl"])
@pytest.mark.parametrize("shape", [[], ["--long"]], ids=["wide", "long"])
def test_the_example_is_read_without_a_remark(tmp_path, capsys, ending, shape):
    path = str(tmp_path / f"clinic.{ending}")
    assert main(["data", "new", path, *shape]) == 0
    dataset = load_custom_dataset(path)
    assert len(dataset.questions) == 6 and list(dataset.languages) == ["en", "pt", "sw"]
    assert main(["data", "check", path]) == 0
    shown = capsys.readouterr().out
    assert "Nothing is odd." in shown
    assert "| xling_custom_verifiability | 6  | 6  | 6  |" in shown
    assert "| xling_custom_mcqa          | 0  | 0  | 0  |" in shown
    # It is never written over.
    assert main(["data", "new", path]) == 2
    assert f"xling: {path}: is there already" in capsys.readouterr().err


@pytest.fixture
def checked(tmp_path, capsys):
    """Return the status and the JSON of `xling data check` on a file, or on rows."""

    def check(path_or_rows, name="f.csv"):
        path = path_or_rows
        if isinstance(path_or_rows, list):
            path = write_table(tmp_path / name, path_or_rows)
        status = main(["data", "check", str(path), "--json"])
        return status, json.loads(capsys.readouterr().out)

    return check


def test_problems_are_listed_and_the_rest_is_counted(checked):
    rows = [FEW[0], {**FEW[1], "answer_pt": "#N/A"}, *({**FEW[2], "id": x} for x in ("", "1", "4"))]
    status, shown = checked(rows)
    assert status == 1 and len(shown["problems"]) == 3
    assert shown["form"] == "CSV, UTF-8, fields separated by ','"
    assert shown["usable"]["xling_custom_correctness"] == {"en": 2, "pt": 2, "sw": 1}
    assert [row["questions"] for row in shown["languages"]] == [2, 2, 1]


ENGLISH = "Please drink enough water every day and rest well until you have recovered from it."
PENDING = [{"id": str(n), "question_en": f"Why {n}?", "question_sw": "TRANSLATION PENDING"}
           for n in range(4)]  # fmt: skip
ODD = {
    "a column that is not used": (
        [{**FEW[0], "colour": "blue"}], "not used: colour; read are question_CODE, "),
    "a misspelt column": (
        [{**FEW[0], "anwser_en": "Yes."}], "anwser_en"),
    "a question without Swahili": (FEW, "no question in Swahili: question 3"),
    "an answer that is missing": (
        [FEW[0], {**FEW[1], "answer_pt": ""}], "no answer in Portuguese: question 2"),
    "an empty column": (
        [{**row, "question_de": ""} for row in FEW], "German: its column of questions is empty"),
    "English alone": ([{"question_en": "a?"}], "English alone: there is nothing to compare it with"),
    "no English": ([{"question_pt": "a?"}], "no English: there is nothing to compare with"),
    "no question in both": (
        [{"id": "1", "question_en": "a?", "question_pt": ""},
         {"id": "2", "question_en": "", "question_pt": "b?"}],
        "no question is in both English and Portuguese"),
    "options that coincide": (
        [{"question_en": "a?", "option_a_en": "n/a", "option_b_en": "N/A"}],
        "two options read alike in English: question 2"),
    "options without a correct letter": (
        [{"question_en": "a?", "option_a_en": "x", "option_b_en": "y"}],
        "options, but no letter in 'correct': question 2"),
    "fewer options": (
        [{"question_en": "a?", "question_pt": "b?", "correct": "A", "option_a_en": "x",
          "option_b_en": "y", "option_a_pt": "x", "option_b_pt": ""}],
        "fewer options in Portuguese than in another language: question 2"),
    "another script": (
        [{"question_en": "a?", "question_hi": ENGLISH}],
        "questions in Hindi are mostly in Latin letters: question 2"),
    "English in another language's column": (
        [{"question_en": "a?", "question_sw": ENGLISH}], "questions in Swahili are in English: question 2"),
    "a wrong option that reads like the right one": (
        [{"question_en": "a?", "correct": "A", "option_a_en": "x", "option_b_en": "X"}],
        "1 of them, where one is right, are scored in no language"),
    "one text in many rows": (
        PENDING, "one question in Swahili stands in 4 questions (0, 1, 2, 3): 'TRANSLATION PENDING'"),
    "a language that langid does not know": (
        [{"question_en": "a?", "question_dag_Latn": "b?"}], "langid does not know it"),
    "a criterion without points to earn": (
        [{"question_en": "a?", "criteria": "-3: z"}], "no positive points"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ODD)
def test_what_is_odd_is_named(checked, kind):
    rows, message = ODD[kind]
    status, shown = checked(rows)
    assert status == 0 and message in "\n".join(shown["oddities"])


def test_answers_that_are_equal_in_english_too_are_not_odd(checked):
    rows = [{"id": str(n), "question_en": f"Why {n}?", "question_sw": f"Kwa nini {n}?",
             "answer_en": "Yes.", "answer_sw": "Ndiyo."} for n in range(5)]  # fmt: skip
    assert checked(rows)[1]["oddities"] == []


def test_what_a_spreadsheet_does_not_show_is_said(tmp_path, checked):
    path = write_book(tmp_path / "f.xlsx", FEW[0], *(row.values() for row in FEW))
    book = openpyxl.load_workbook(path)
    sheet = book.active
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["C"].hidden = True
    book.create_sheet("Old").append(["question_en"])
    book.create_sheet("Notes").append(["for people"])
    book["Notes"].append(["x"])
    book.save(path)
    look = "\n".join(checked(path)[1]["oddities"])
    assert "1 hidden row read and asked (hidden: 3)" in look
    assert "hidden columns are read: answer_en" in look and "not read: Notes" in look
    sheet.auto_filter.ref = "A1:G4"
    sheet.auto_filter.add_filter_column(0, ["1"])
    sheet.sheet_state = "hidden"
    book.active = 1
    book.save(path)
    look = "\n".join(checked(path)[1]["oddities"])
    assert "hidden by a filter: 3" in look and "the sheet is hidden" in look


def test_a_strict_workbook_is_named(tmp_path, capsys):
    """EPPlus #2325, ExcelDataReader #498: other namespaces, in which readers found no rows."""
    path, strict = write_table(tmp_path / "f.xlsx", FEW), tmp_path / "strict.xlsx"
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(strict, "w") as target:
        for name in source.namelist():
            old, new = b"schemas.openxmlformats.org/spreadsheetml/2006", b"purl.oclc.org/ooxml"
            target.writestr(name, source.read(name).replace(old, new))
    assert main(["data", "check", str(strict)]) == 2
    assert "is saved as Strict Open XML; save it as" in capsys.readouterr().err


def test_merged_cells_hold_for_the_rows_that_they_span(tmp_path):
    path = write_book(
        tmp_path / "f.xlsx",
        ["id", "category", "language", "question"],
        [None],
        [1, "heart", "en", "Which?"],
        [None, None, "pt", "Qual?"],
        [2, None, "en", "Why?"],
    )
    book = openpyxl.load_workbook(path)
    for cells in ("A1:A2", "A3:A4", "B3:B5"):
        book.active.merge_cells(cells)
    book.save(path)
    questions = load_custom_dataset(str(path)).questions
    assert [(q.id, q.category, [*q.texts]) for q in questions] == [
        ("1", "heart", ["en", "pt"]), ("2", "heart", ["en"])
    ]  # fmt: skip


def test_the_next_step(tmp_path, checked, capsys):
    path = write_csv(tmp_path / "f.csv", [{"id": "", "language": "en", "question": "a?"}])
    assert checked(path)[1]["problems"] == [f"{path}, row 2, column 'id': the id is missing"]
    main(["data", "check", str(path)])
    assert "Next: correct the file" in capsys.readouterr().out
    path = write_csv(tmp_path / "g.csv", [{"question_en": "a?", "answer_en": "b"}])
    main(["data", "check", str(path)])
    shown = capsys.readouterr().out
    assert f'"data_dir": "{path}"' in shown and "--tasks xling_custom_correctness" in shown


def test_what_cannot_be_read_at_all(tmp_path, capsys, checked):
    status, shown = checked([{"id": "1", "text": "a"}])
    assert status == 1 and "no questions in its columns" in shown["problems"][0]
    assert main(["data", "check", str(tmp_path / "ff.csv")]) == 2
    assert "there is no such file or folder (did you mean f.csv?)" in capsys.readouterr().err
