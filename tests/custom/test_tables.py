"""Users' tables: every form that is read, and what is said of broken ones."""

from __future__ import annotations

import unicodedata
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from custom_tables import FEW, loaded, write_book, write_csv, write_table

from xling_tasks.data.custom.dataset import dataset_name, load_custom_dataset, missing_part
from xling_tasks.data.tables import write_rows
from xling_tasks.errors import DataError

pytestmark = pytest.mark.core

LONG = [
    {"id": row["id"], "language": code, "question": row[f"question_{code}"],
     "answer": row[f"answer_{code}"]}
    for row in FEW for code in ("en", "pt", "sw") if row[f"question_{code}"]
]  # fmt: skip


def raised(path: Path | str | None) -> str:
    with pytest.raises(DataError) as error:
        load_custom_dataset(str(path) if path else None)
    return str(error.value)


def edited(path: Path, change: Any) -> Path:
    book = openpyxl.load_workbook(path)
    change(book)
    book.save(path)
    return path


OF_CSV = {
    "bom": {"encoding": "utf-8-sig"},
    "utf16": {"encoding": "utf-16", "delimiter": "\t"},
    "semicolon": {"delimiter": ";"},
}


@pytest.mark.parametrize("rows", [FEW, LONG], ids=["wide", "long"])
@pytest.mark.parametrize("form", ["csv", *OF_CSV, "xlsx", "parquet", "jsonl"])
def test_every_form_is_read_alike(tmp_path, form, rows):
    ending = "csv" if form in OF_CSV else form
    path = write_table(tmp_path / f"f.{ending}", rows, **OF_CSV.get(form, {}))
    if ending == "xlsx":
        edited(path, lambda book: book.create_sheet("Notes").append(["for people"]))
    dataset = load_custom_dataset(str(path))
    assert [question.id for question in dataset.questions] == ["1", "2", "3"]
    names = {code: language.name for code, language in dataset.languages.items()}
    assert names == {"en": "English", "pt": "Portuguese", "sw": "Swahili"}
    assert dataset.questions[1].texts["pt"]["answer"] == FEW[1]["answer_pt"]
    missing = [missing_part(each, "sw", ("question",)) for each in dataset.questions]
    assert missing == ["", "", "question text missing"]


BROKEN: list[tuple[list[dict[str, Any]], str]] = [
    ([{"label": 1, "answer_ids": 2, "question_en": "a"}], "tasks xlinghealth_* read"),
    ([{"id": "1", "text": "a"}], "no questions in its columns"),
    ([{"question_en": "a", "question_xx": "b"}], "column 'question_xx': the lan"),
    ([{"question_pt": "a", "question_por": "b"}], "are both question in Portuguese"),
    ([{"question_id": "1", "question_en": "a"}], "may be the question's id or Indo"),
    ([{"question_en": "a", "answer_sw": "b"}], "no column 'question_sw'"),
    ([{**LONG[0], "question_sw": "a"}], "there is 'language', too"),
    ([{"language": "en", "question": "a"}], "the column 'id' is missing"),
    ([LONG[0], LONG[0]], "row 3, column 'id': id '1' in English is in row 2 already"),
    ([{**LONG[0], "language": ""}], "row 2, column 'language': the language is mis"),
    ([{**LONG[0], "language": "klingonese"}], "language 'klingonese' is not known"),
    ([{**FEW[0], "answer_pt": "#REF!"}], "row 2, column 'answer_pt': the cell shows"),
    ([{**FEW[0], "correct": "Z"}], "row 2, column 'correct': correct letters such as A"),
    ([{**FEW[0], "correct_en": "A", "correct_pt": "B"}], "letters differ between"),
    ([{**FEW[0], "option_a_en": "x", "option_b_en": "y", "correct": "C"}],
     "row 2: the correct letters are C, but the options A, B"),
    ([{"question_en": "a?", "option_a_en": "x", "option_b_en": "y", "answer_en": "b"}],
     "the answer in en is 'b', the letter of an option; write it in 'correct'"),
    ([{"question_en": "a?", "Correct answer": "B"}], "write 'correct' for letters of options"),
    ([{**FEW[0], "wrong_answer_pt": FEW[0]["answer_pt"].upper() + "!"}],
     "row 2: question '1': wrong_answer_1 equals the answer in pt"),
    ([{"id": "1", "question_en": ""}], "no row has a question"),
    ([{**FEW[0], "criteria": "five: Asks."}], "column 'criteria': points, a colon and"),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "message"), BROKEN, ids=[message for _, message in BROKEN])
def test_what_is_wrong_is_said_with_its_row_and_column(tmp_path, rows, message):
    path = write_table(tmp_path / "f.xlsx", rows)
    assert message in raised(path) and str(path) in raised(path)


def test_everything_that_is_wrong_is_said_at_once(tmp_path):
    rows = [FEW[0], {**FEW[1], "answer_pt": "#N/A"}, *({**FEW[2], "id": x} for x in ("", "1", "4"))]
    lines = raised(write_csv(tmp_path / "f.csv", rows)).split("\n")
    assert [line.split("f.csv, ")[1][:30] for line in lines] == [
        "row 3, column 'answer_pt': the", "row 4, column 'id': the id is ",
        "row 5, column 'id': id '1' is ",
    ]  # fmt: skip
    columns = [{"question_en": "a", "question_xx": "b", "question_yy": "c"}]
    assert raised(write_csv(tmp_path / "f.csv", columns)).count("is not known") == 2


def test_damaged_csv_files(tmp_path):
    path, header = tmp_path / "f.csv", "id,question_en,question_pt\n"
    for content, message in (
        ((header + '1,a,"b').encode(), "after row 1: not valid CSV"),
        ((header + "1,a,caf\xe9\n").encode("cp1252"), "line 2: not UTF-8 (byte 0xe9)"),
        ((header + "1,a\n2,b,c\n3,d\n").encode(), "row 2: 2 fields, but the header has 3"),
        (b"", "the file has no rows"),
        (header.encode(), "the file has no rows"),
        (header.encode().replace(b"question_pt", b"question_en"), "appears twice in the header"),
        (b"Perguntas\nid;question_en\n1;a?\n", "so delete a title above it"),
    ):
        path.write_bytes(content)
        assert message in raised(path)
    path.write_bytes(b"PK\x03\x04 no workbook")
    assert "cannot be read as .xlsx" in raised(path.rename(tmp_path / "f.xlsx"))


def test_what_stands_above_and_beside_a_header(tmp_path):
    wide, rows = list(FEW[0]), [list(row.values()) for row in FEW]
    # Numbers of rows are those of the sheet.
    path = write_book(tmp_path / "a.xlsx", [None], [None], wide, *rows, ["1", "again?"])
    assert "row 7, column 'id': id '1' is in row 4 already" in raised(path)
    path = write_book(tmp_path / "b.xlsx", ["Perguntas 2024"], wide, *rows)
    assert "is 'Perguntas 2024' a title? delete the rows above the header" in raised(path)
    path = tmp_path / "d.csv"  # with the line by which Excel knows the separator
    path.write_text('sep=;\nid;question_en;"for, people"\n1;a, b?;note\n', encoding="utf-8")
    assert load_custom_dataset(str(path)).unused == ("for, people",)


def sheet_of(folder: Path, cell: Any, number_format: str = "General") -> Path:
    path = write_book(folder / "f.xlsx", ["id", "question_en", "answer_en"], [1, "a?", cell])

    def change(book: Any) -> None:
        book.active["C2"].number_format = number_format

    return edited(path, change)


@pytest.mark.parametrize(("cell", "number_format", "message"), [
    (datetime(2024, 2, 1), "yyyy-mm-dd", "holds a date or time (2024-02-01 00:00:00), not a text"),
    (0.05, "0%", "column 'answer_en': the cell is shown as a percentage and stored as 0.05"),
    ("=1+1", "General", "column 'answer_en': a formula without a stored value"),
    ("#N/A", "General", "the cell shows the error #N/A"),
    (True, "General", "a text is expected, not True"),
])  # fmt: skip
def test_cells_whose_text_is_not_what_is_shown_are_refused(tmp_path, cell, number_format, message):
    assert f"row 2, {message}".split("row 2, ")[1] in raised(
        sheet_of(tmp_path, cell, number_format)
    )


@pytest.mark.parametrize(("cell", "number_format", "text"), [
    (0.1 + 0.2, "General", "0.3"), (1500, "#,##0", "1500"), (37.5, "0.00", "37.5"),
    ("5%", "@", "5%"), ("One_x000D_\ntwo_x005F_x000D_", "@", "One\ntwo_x000D_"),
    ("Hot_x0000_ _xD83D__xDE00_", "@", "Hot 😀"),
])  # fmt: skip
def test_cells_that_are_read_as_they_are_shown(tmp_path, cell, number_format, text):
    (question,) = load_custom_dataset(str(sheet_of(tmp_path, cell, number_format))).questions
    assert question.texts["en"]["answer"] == text


def test_a_written_table_reads_back(tmp_path):
    row = {"id": "1", "question_en": "a\rb", "answer_en": 'c, "d"\n\ne'}
    write_rows(tmp_path / "own.xlsx", [{**row, "question_en": "a\vb"}])
    (question,) = load_custom_dataset(str(tmp_path / "own.xlsx")).questions
    assert question.texts["en"] == {"question": "a\nb", "answer": row["answer_en"]}
    write_rows(tmp_path / "own.csv", [row])
    (question,) = load_custom_dataset(str(tmp_path / "own.csv")).questions
    assert question.texts["en"]["answer"] == row["answer_en"]


def test_formulas_are_read_by_their_stored_values(tmp_path):
    path = write_book(tmp_path / "f.xlsx", ["id", "question_en"], [1, '="Rest"&"?"'])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = "xl/worksheets/sheet1.xml"
    stored = parts[name].replace(b"<v />", b"<v>Rest?</v>").replace(b"<v></v>", b"<v>Rest?</v>")
    with zipfile.ZipFile(path, "w") as archive:
        for other, content in {**parts, name: stored.replace(b'r="B2"', b'r="B2" t="str"')}.items():
            archive.writestr(other, content)
    assert load_custom_dataset(str(path)).questions[0].texts["en"]["question"] == "Rest?"


def test_texts_are_in_nfc_and_without_unseen_signs(tmp_path):
    text = unicodedata.normalize("NFD", "Où est la pharmacie, Ọlá?")
    assert text != unicodedata.normalize("NFC", text)
    row = {"id": "\ufeff8\u200b", "question_en\ufeff": f" {text} "}
    for ending in ("csv", "xlsx", "jsonl", "parquet"):
        (question,) = loaded(tmp_path, [row], ending).questions
        assert question.id == "8"
        assert question.texts["en"]["question"] == unicodedata.normalize("NFC", text)


def test_lists_of_options_and_wrong_answers(tmp_path):
    row = {"id": 1.0, "question_en": "a?", "answer_en": "x", "correct": ["a"],
           "options_en": ["x", 5.0], "wrong_answer_en": ["y", "z"]}  # fmt: skip
    for ending in ("jsonl", "parquet"):
        if ending == "parquet":
            row["options_en"] = ["x", "5"]
        (question,) = loaded(tmp_path, [row], ending).questions
        assert question.options("en") == {"A": "x", "B": "5"} and question.correct == ("A",)
        assert question.texts["en"]["wrong_answer_2"] == "z"
    base = {"id": "1", "question_en": "a?", "answer_en": "b"}
    for more, message in (
        ({"options_en": ["x", "y"], "option_a_en": "z"}, "option_a is in another column already"),
        ({"wrong_answer_en": ["x", "y"], "wrong_answer_2_en": "z"}, "wrong_answer_2 is in another"),
        ({"wrong_answer_en": "['x', 'y']"}, "a list written as a text"),
        ({"options_en": '["x", "y"]'}, "give each a column, as option_a"),
        ({"answer_en": "a\ud800"}, "row 1: holds half of a character"),
        ({"question_en": {"x": 1}}, "a text is expected"),
    ):
        assert message in raised(write_table(tmp_path / "f.jsonl", [{**base, **more}]))


@pytest.mark.parametrize("letters", ["a", "A", " a ;", "A,"])
def test_a_correct_letter_may_be_small(tmp_path, letters):
    for name in ("correct", "answer_idx"):  # as MedQA and MMedBench have it
        row = {"question_en": "a?", "option_a_en": "x", "option_b_en": "y", name: letters}
        assert loaded(tmp_path, [row]).questions[0].correct == ("A",)


def test_files_that_are_none_say_what_to_do(tmp_path):
    path = write_table(tmp_path / "g.xlsx", FEW)
    assert "2 sheets have questions" in raised(
        edited(path, lambda book: book.copy_worksheet(book.active))
    )
    assert "--metadata data_dir=FILE" in raised(None)
    assert "no questions in it (of a folder .jsonl)" in raised(tmp_path)
    assert "there is no such file or folder" in raised(tmp_path / "x.csv")
    (tmp_path / "x.ods").touch()
    assert "save it as one of .xlsx, .parquet, .csv, .jsonl" in raised(tmp_path / "x.ods")


def test_a_dataset_is_named_after_the_file_and_never_as_one_of_ours():
    names = {"My Clinic 2.csv": "my-clinic-2", "liveqa.xlsx": "own-liveqa", "Überweisung.csv":
             "überweisung", "U\u0308b.csv": "üb", "xling.csv": "own-xling"}  # fmt: skip
    assert {name: dataset_name(Path(name)) for name in names} == names
    assert dataset_name(Path("?!.csv")) == "questions"


# Languages and their varieties


def languages_of(folder: Path, *names: str) -> dict[str, str]:
    row = {"id": "1", "question_en": "a?", **dict.fromkeys(names, "b?")}
    languages = loaded(folder, [row]).languages
    return {code: language.script for code, language in languages.items() if code != "en"}


def test_languages_may_be_named_in_many_ways(tmp_path):
    names = ["Question (Portuguese)", "question_swh", "question_iw", "question_ind", "Question: hi"]
    assert list(languages_of(tmp_path, *names)) == ["pt", "sw", "he", "id", "hi"]
    flores = ["question_arb_Arab", "question_hin_Deva", "question_zho_Hans", "question_zho_Hant"]
    assert list(languages_of(tmp_path, *flores)) == ["ar", "hi", "zh", "zh-Hant"]
    (expert,) = loaded(tmp_path, [{"question_en": "a?", "Expert answer (English)": "b"}]).questions
    assert expert.texts["en"] == {"question": "a?", "answer": "b"}
    norwegian = ["question_nb", "Question (Norwegian Nynorsk)", "question_nor"]
    assert list(languages_of(tmp_path, *norwegian)) == ["nb", "nn", "no"]
    assert languages_of(tmp_path, "question_en_GB".replace("en_GB", "ckb")) == {"ckb": "Arab"}


def test_varieties_stand_beside_each_other(tmp_path):
    names = ["question_zh_Hant", "question_zh-Hans", "question_pt_BR", "Question (pt-PT)",
             "question_sr_latn", "question_sr-Cyrl", "question_hi_Latn", "question_dag_Latn"]  # fmt: skip
    assert languages_of(tmp_path, *names) == {
        "zh-Hant": "Hant", "zh-Hans": "Hans", "pt-BR": "Latn", "pt-PT": "Latn",
        "sr-Latn": "Latn", "sr-Cyrl": "Cyrl", "hi-Latn": "Latn", "dag-Latn": "Latn",
    }  # fmt: skip
    assert languages_of(tmp_path, "question_yue", "question_yue_Hans", "question_zh") == {
        "yue": "Hant", "yue-Hans": "Hans", "zh": "Hans",
    }  # fmt: skip
    # Hong Kong, Macau and Taiwan write traditional Chinese.
    assert languages_of(tmp_path, *(f"question_zh-{x}" for x in ("HK", "TW", "CN"))) == {
        "zh-HK": "Hant", "zh-TW": "Hant", "zh-CN": "Hans",
    }  # fmt: skip
    long = [
        {**row, "language": {"pt": "pt-BR"}.get(row["language"], row["language"])} for row in LONG
    ]
    long += [{**row, "language": "pt-PT"} for row in LONG if row["language"] == "pt"]
    dataset = loaded(tmp_path, long)
    assert [language.name for language in dataset.languages.values()] == [
        "English", "Brazilian Portuguese", "Swahili", "European Portuguese"
    ]  # fmt: skip
    assert dataset.questions[0].texts["pt-BR"] == dataset.questions[0].texts["pt-PT"]


@pytest.mark.parametrize(
    "name", ["question_sw_notes", "question_pt_old", "question_en_2", "question_dag"]
)
def test_what_is_no_tag_is_no_language(tmp_path, name):
    with pytest.raises(DataError, match="is not known here; write its ISO 639 code"):
        languages_of(tmp_path, name)
