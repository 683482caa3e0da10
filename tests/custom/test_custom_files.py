"""Users' files: every form that is read, and what is said of broken ones."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from custom_tables import FEW, loaded, write_book, write_csv, write_table

from xling_tasks.data.custom.dataset import dataset_name, load_custom_dataset
from xling_tasks.data.custom.negatives import negatives_of
from xling_tasks.data.custom.oddities import alike_ids, notes
from xling_tasks.errors import DataError, SettingError
from xling_tasks.settings import Settings

pytestmark = pytest.mark.core

LONG = [
    {"id": row["id"], "language": code, "question": row[f"question_{code}"],
     "answer": row[f"answer_{code}"]}
    for row in FEW for code in ("en", "pt", "sw") if row[f"question_{code}"]
]  # fmt: skip


def raised(path: Path) -> str:
    with pytest.raises(DataError) as error:
        load_custom_dataset(str(path))
    assert "\n" not in str(error.value) and str(path) in str(error.value)
    return str(error.value)


def edited(path: Path, change: Any) -> Path:
    """A workbook, changed."""
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
    data = load_custom_dataset(str(path))
    assert [item.id for item in data.questions] == ["1", "2", "3"]
    assert {code: own.name for code, own in data.languages.items()} == {
        "en": "English", "pt": "Portuguese", "sw": "Swahili"
    }  # fmt: skip
    assert data.questions[1].texts["pt"]["answer"] == FEW[1]["answer_pt"]
    assert data.unusable("sw", ("question",)) == {"3": "question text missing"}


def test_languages_may_be_named_in_many_ways_and_unknown_ones_by_their_script(tmp_path):
    names = ["question_English", "Question (pt-BR)", "question_swh", "question_iw", "question_ind"]
    rows = [dict.fromkeys(names, "Some text?") | {"id": "1"}]
    assert list(loaded(tmp_path, rows).languages) == ["en", "pt", "sw", "he", "id"]
    long = [{**row, "script": "Latn"} for row in LONG if row["language"] != "sw"]
    long += [{**LONG[0], "language": "dag", "script": "Latn"}]
    assert loaded(tmp_path, long).languages["dag"].script == "Latn"
    stated = Settings.parse({"scripts": {"dag": {"script": "latn", "name": "Dagbani"}}}, {}).scripts
    path = write_csv(tmp_path / "g.csv", [{"question_en": "A?", "question_dag": "B?"}])
    assert load_custom_dataset(str(path), stated).languages["dag"].name == "Dagbani"
    assert Settings.parse({"scripts": "dag:Latn+nqo:Nkoo"}, {}).scripts["nqo"] == ("Nkoo", "")


BROKEN: list[tuple[str, list[dict[str, Any]], str]] = [
    ("conversations", [{"prompt": "a", "rubrics": "b"}], "which xling_custom_rubric reads"),
    ("published", [{"label": 1, "answer_ids": 2, "question_en": "a"}], "tasks xlinghealth_* read"),
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
@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_what_is_wrong_is_said_in_one_line_with_its_place(tmp_path, ending, rows, said):
    assert said in raised(write_table(tmp_path / f"f.{ending}", rows))


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
        assert said in raised(path)


def test_several_sheets_of_questions(tmp_path):
    path = write_table(tmp_path / "g.xlsx", FEW)
    assert "2 sheets have questions" in raised(
        edited(path, lambda book: book.copy_worksheet(book.active))
    )


def test_a_missing_file_a_folder_and_no_setting_say_what_to_do(tmp_path):
    for place, said in (
        (None, "--metadata data_dir=FILE"),
        (str(tmp_path), "is a folder"),
        (str(tmp_path / "x.csv"), "xling data new x.csv"),
    ):
        with pytest.raises(DataError, match=said):
            load_custom_dataset(place)
    for value in ("Latn", {"dag": "Runic"}, {"dag!": "Latn"}, {"dag": {"x": 1}}, 3):
        with pytest.raises(SettingError, match="scripts"):
            Settings.parse({"scripts": value}, {})
    with pytest.raises(SettingError, match="such as .*dag.*, got 'Latn'"):
        Settings.parse({"scripts": "Latn"}, {})


def test_a_dataset_is_named_after_the_file_and_never_as_one_of_ours():
    names = {"My Clinic 2.csv": "my-clinic-2", "liveqa.xlsx": "own-liveqa", "Überweisung.csv":
             "überweisung", "xling.csv": "own-xling"}  # fmt: skip
    assert {name: dataset_name(Path(name)) for name in names} == names
    assert len(dataset_name(Path("?!.csv"))) == 8


def test_drawn_wrong_answers_are_never_right(tmp_path):
    rows = [{"id": str(n), "question_en": f"q{n}", "answer_en": f"a{n % 3}"} for n in range(30)]
    data = loaded(tmp_path, rows)
    first = negatives_of(data)
    assert all(own[0].text["en"] != f"a{int(key) % 3}" for key, own in first.items())
    # 'Yes.' is no wrong answer beside 'yes'.
    rows = [{"id": str(n), "question_en": f"q{n}", "answer_en": text, "wrong_answer_en": wrong}
            for n, (text, wrong) in enumerate([("Yes.", ""), ("yes", "YES!"), ("No", "")])]  # fmt: skip
    made = negatives_of(loaded(tmp_path, rows))
    assert [w.id for w in made["0"]] == ["of_2"] and made["1"][0].contradicts == ("en",)
    assert negatives_of(loaded(tmp_path, rows[:1])) == {}


def test_a_sign_that_changes_an_answer_makes_a_wrong_one(tmp_path):
    pairs = [("5 mg", ".5 mg"), ("5", "5%"), ("5", "-5"), ("Rh", "Rh-"), ("Yes", "«Yes»."),
             ("¿Sí?", "sí"), ("(Rest)", '"rest!"')]  # fmt: skip
    rows = [{"id": str(n), "question_en": f"q{n}", "answer_en": right, "wrong_answer_en": wrong}
            for n, (right, wrong) in enumerate(pairs)]  # fmt: skip
    made = negatives_of(loaded(tmp_path, rows))
    same = [bool(made[str(n)][0].contradicts) for n in range(len(pairs))]
    assert same == [False] * 4 + [True] * 3


def test_what_stands_above_and_beside_a_header(tmp_path):
    wide, rows = list(FEW[0]), [list(row.values()) for row in FEW]
    # Empty rows above the header are none; numbers of rows stay those of the sheet.
    path = write_book(tmp_path / "a.xlsx", [None], [None], wide, *rows, ["1", "again?"])
    assert "row 7, column 'id': id '1' stands in row 4 already" in raised(path)
    path = write_book(tmp_path / "b.xlsx", ["Perguntas 2024"], wide, *rows)
    assert "is 'Perguntas 2024' a title? delete the rows above the header" in raised(path)
    # Cells of a column without a name are not read, and that is said.
    merged = [name if name != "answer_en" else None for name in wide]
    data = load_custom_dataset(str(write_book(tmp_path / "c.xlsx", merged, *rows)))
    assert data.columns.unused == ("column C, which has no name",)
    path = tmp_path / "d.csv"
    path.write_text("sep=;\nid;question_en;question_pt;\n1;a, b?;c?;note\n", encoding="utf-8")
    data = load_custom_dataset(str(path))
    assert data.columns.unused == ("column 4, which has no name",)
    assert data.questions[0].place.endswith("row 3")
    path.write_text('id;question_en;"notes, for, people, only"\n1;a?;b\n', encoding="utf-8")
    assert load_custom_dataset(str(path)).questions[0].texts["en"]["question"] == "a?"
    for content, said in (
        (b"Perguntas\nid;question_en\n1;a?\n", "so delete a title above it"),
        (b"Perguntas\nid,question_en\n1,a?\n", "but the header has 1; a text with ',' in it"),
        ("id,question_en\n1,a?\n".encode("utf-16-le"), "line 1: holds a NUL character"),
    ):
        path.write_bytes(content)
        assert said in raised(path)


COMMA = r'_-* #,##0_-;\-* #,##0_-;_-* "-"_-;_-@_-'
ACCOUNTS = '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)'
"""Styles of Excel that show a number as it is."""


def test_cells_that_are_no_texts_are_never_made_into_other_ones(tmp_path):
    def sheet(cell: Any, form: str = "") -> Path:
        path = write_book(tmp_path / "f.xlsx", ["id", "question_en", "answer_en"], [1, "a?", cell])
        return edited(path, lambda book: form and setattr(book.active["C2"], "number_format", form))

    assert "holds a date or time (2024-02-01 00:00:00)" in raised(sheet(datetime(2024, 2, 1)))
    for value, form, text in ((0.1 + 0.2, "General", "0.3"), (1500, "#,##0", "1500"), (37.5, "0.00",
                              "37.5"), (500, COMMA, "500"), (500, ACCOUNTS, "500"),
                              (-500, COMMA, "-500"), (500, "[$-409]0", "500")):  # fmt: skip
        assert (
            load_custom_dataset(str(sheet(value, form))).questions[0].texts["en"]["answer"] == text
        )
    rows = [{"id": 1.0, "question_en": "a?", "option_a_en": 5.0, "option_b_en": 7.5}]
    (item,) = loaded(tmp_path, rows, "parquet").questions
    assert (item.id, item.options("en")) == ("1", {"A": "5", "B": "7.5"})


def test_errors_of_spreadsheets_in_other_languages_and_escapes_of_workbooks(tmp_path):
    row = {"id": "1", "question_en": "a?"}
    for shown in ("#N/D", "#VALOR!", "#NOME?", "#NÚM!", "#¿NOMBRE?", "#WERT!", "#DIV/0!", "#####"):
        rows = [{**row, "answer_en": shown}]
        assert f"shows the error {shown}" in raised(write_csv(tmp_path / "f.csv", rows))
    for fine in ("#1 rest", "Take #2!", "#", "N/D"):
        (item,) = loaded(tmp_path, [{**row, "answer_en": fine}]).questions
        assert item.texts["en"]["answer"] == fine
    # As Excel writes a pasted line end; such an escape that is meant as a text is escaped itself.
    text = "One_x000D_\ntwo_x005F_x000D_, _xD83D__xDE00_"
    (item,) = loaded(tmp_path, [{"id": 1, "question_en": text}], "xlsx").questions
    assert item.texts["en"]["question"] == "One\ntwo_x000D_, \U0001f600"


def test_headers_with_unseen_characters_scripts_and_more_than_a_language(tmp_path):
    def languages(*names: str) -> list[tuple[str, str]]:
        row = {"id": "1", "ques\u200btion_en\ufeff": "a?", **dict.fromkeys(names, "b?")}
        tongues = loaded(tmp_path, [row]).languages
        return [(own.code, own.script) for own in list(tongues.values())[1:]]

    assert languages("question\u00a0pt\u00a0BR", "Question (zh-Hant)", "question_hi_Latn") == [
        ("pt", "Latn"), ("zh", "Hant"), ("hi", "Latn")
    ]  # fmt: skip
    for name in ("question_sw_notes", "question_pt_old", "question_en_2"):
        with pytest.raises(DataError, match="A column of another kind is called otherwise"):
            languages(name)


def test_no_text_is_written_over_by_another(tmp_path):
    base = {"id": "1", "question_en": "a?", "answer_en": "b"}
    for more, said in (
        ({"options_en": ["x", "y"], "option_a_en": "z"}, "option_a stands in another column"),
        ({"options_en": {"A": "x", "a": "z"}}, "option_a stands in another column"),
        ({"wrong_answer_en": ["x", "y"], "wrong_answer_2_en": "z"}, "wrong_answer_2 stands in"),
        ({"wrong_answer_en": "['x', 'y']"}, "a list written as a text"),
        ({"options_en": '["x", "y"]'}, "give each a column, as option_a"),
        ({"question_en": None}, "no row has a question"),
        ({"answer_en": "a\ud800"}, "row 1: holds half of a character"),
    ):
        assert said in raised(write_table(tmp_path / "f.jsonl", [{**base, **more}]))
    long = [{**LONG[0], "wrong_answer": "x", "wrong_answer_1": "y"}]
    assert "are the same" in raised(write_csv(tmp_path / "f.csv", long))


def test_a_key_that_appears_twice_is_refused(tmp_path):
    path = tmp_path / "f.jsonl"
    path.write_text('{"id": "1", "question_en": "a?"}\n{"id": "2", "question_en": "b?", '
                    '"question_en": "c?"}', encoding="utf-8")  # fmt: skip
    assert "row 2: not valid JSON (the key 'question_en' appears twice; keep one)" in raised(path)


def test_odd_ids_do_not_break_and_alike_ones_are_named(tmp_path):
    ids = ["007", "7", "²", "9" * 5000, "Q1", "q1", "\ufeff8\u200b"]
    data = loaded(tmp_path, [{"id": key, "question_en": f"{n}?"} for n, key in enumerate(ids)])
    assert alike_ids(data.questions) == [("007", "7"), ("Q1", "q1")]
    assert data.questions[-1].id == "8" and data.unusable("en", ("answer",))


def test_languages_that_share_no_question_are_named(tmp_path):
    other = {"en": "", "pt": "0", "sw": ""}
    data = loaded(tmp_path, [{**row, "id": other[row["language"]] + row["id"]} for row in LONG])
    (said,) = [n for n in notes(data.questions, data.languages) if "nothing can be compared" in n]
    assert said.startswith("no question is in both English and Portuguese")


def test_a_question_is_not_asked_where_guessing_is_easier(tmp_path):
    rows = [
        {"id": "1", "question_en": "a?", "question_pt": "b?", "correct": "A",
         "options_en": ["x", "y", "z"], "options_pt": ["x", "y"]},
        {"id": "2", "question_en": "c?", "question_pt": "d?", "options_en": ["n/a", "N/A"],
         "options_pt": ["p", "q"], "answer_pt": "N/A"},
    ]  # fmt: skip
    data = loaded(tmp_path, rows, "jsonl")
    assert data.unusable("pt", ("choice",)) == {
        "1": "fewer options than in another language", "2": "correct letters missing"
    }  # fmt: skip
    assert set(data.unusable("en", ("choice",))) == {"2"}
    said = "\n".join(notes(data.questions, data.languages))
    for part in (
        "two options read alike in English: question 2",
        "fewer options in Portuguese than in another language: question 1",
    ):
        assert part in said


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        # Portuguese lacks the second, so it is shown nowhere.
        ({"en": "xy", "pt": "x_", "sw": "xy"}, {"en": [1], "pt": [1], "sw": [1]}),
        # A language without any goes without; the others keep theirs.
        ({"en": "xy", "pt": "xy", "sw": "__"}, {"en": [1, 2], "pt": [1, 2], "sw": []}),
        # Nothing in common with English: it goes without.
        ({"en": "x_", "pt": "_y", "sw": "xy"}, {"en": [1], "pt": [], "sw": [1]}),
        ({"en": "__", "pt": "x_", "sw": "_y"}, {"en": [], "pt": [1], "sw": []}),
    ],
)
def test_every_language_is_shown_as_many_wrong_answers(tmp_path, given, shown):
    row = {"id": "1"}
    for code, own in given.items():
        row |= {f"question_{code}": "a?", f"answer_{code}": "right"}
        for number, text in enumerate(own.replace("_", " "), start=1):
            row[f"wrong_answer_{number}_{code}"] = text.strip()
    (wrong,) = negatives_of(loaded(tmp_path, [row])).values()
    found = {code: [int(w.id[-1]) for w in wrong if w.usable(code)] for code in given}
    assert found == shown


def test_chinese_in_two_scripts_is_told_how_to_write_one(tmp_path):
    rows = [{"id": str(n), "language": code, "question": "a?"}
            for n, code in enumerate(("zh-TW", "zh"))]  # fmt: skip
    said = raised(write_csv(tmp_path / "f.csv", rows))
    assert "(zh-TW is Hant; write zh-Hant or zh-Hans in every row)" in said
