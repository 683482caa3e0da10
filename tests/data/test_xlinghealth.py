"""Loading: both published shapes, four formats, the quirks, and errors that name the place."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rapidfuzz.distance import Indel

from xling_tasks.data.records import LANGUAGE_NAMES, RECORDS, XLINGHEALTH
from xling_tasks.data.sources import find_source
from xling_tasks.data.xlinghealth import load
from xling_tasks.errors import DataError

pytestmark = pytest.mark.core

COLUMNS = ["id", "label", "answer_ids"] + [
    f"{kind}_{name}" for name in LANGUAGE_NAMES.values() for kind in ("question", "answer")
]


def row(question: int, label: int, answer: int) -> dict:
    texts = {
        f"{kind}_{name}": f"{kind} {question if kind == 'question' else answer} {name}"
        for name in LANGUAGE_NAMES.values()
        for kind in ("question", "answer")
    }
    return {"id": question, "label": label, "answer_ids": answer, **texts}


def wide() -> list[dict]:
    """Three questions; the wrong answers of one are the right ones of the others."""
    return [row(q, int(q == a), a) for q in range(3) for a in (q, (q + 1) % 3)]


def write(path: Path, rows: list[dict], columns: list[str] = COLUMNS) -> Path:
    grid = [[r.get(c) for c in columns] for r in rows]
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        book.active.title = "Sheet1"
        for line in [columns, *grid]:
            book.active.append(line)
        book.save(path)
    elif path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as handle:
            csv.writer(handle).writerows([columns, *grid])
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(dict(zip(columns, g))) + "\n" for g in grid))
    else:
        pq.write_table(pa.table({c: [g[i] for g in grid] for i, c in enumerate(columns)}), path)
    return path


def liveqa(path: Path):
    return load(RECORDS["liveqa"], str(path), None)


@pytest.mark.parametrize("ending", ["xlsx", "csv", "jsonl", "parquet"])
def test_every_format_gives_the_same_questions(tmp_path, ending):
    data = liveqa(write(tmp_path / f"LiveQA.{ending}", wide()))
    assert [q.id for q in data.questions] == ["0", "1", "2"]
    assert [(a.id, a.label) for a in data.questions[2].answers] == [("2", 1), ("0", 0)]
    assert data.questions[1].text["hi"] == "question 1 Hindi"
    assert data.questions[1].answers[1].text["zh"] == "answer 2 Chinese"


def sheets(path: Path, negatives: bool, change=lambda name, line, i: line) -> Path:
    """The older shape: a sheet per language."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name in LANGUAGE_NAMES.values():
        suffix = "" if name == "English" else "_translated"
        header = [f"question{suffix}", f"answer{suffix}", "neg_sample" if negatives else "label"]
        sheet = book.create_sheet(name)
        sheet.append(header)
        pairs = (
            [(q, q) for q in range(3)]
            if negatives
            else [(q, a) for q in range(3) for a in (q, (q + 1) % 3)]
        )
        for i, (q, a) in enumerate(pairs):
            last = str([(q + 1) % 3]) if negatives else int(q == a)
            sheet.append(change(name, [f"question {q} {name}", f"answer {a} {name}", last], i))
    book.save(path)
    return path


@pytest.mark.parametrize("negatives", [True, False])
def test_sheet_per_language_gives_the_same_questions(tmp_path, negatives):
    old = liveqa(sheets(tmp_path / "LiveQA.xlsx", negatives)).questions
    new = liveqa(write(tmp_path / "wide.xlsx", wide())).questions
    assert [q.text for q in old] == [q.text for q in new]
    assert [[(a.label, a.text) for a in q.answers] for q in old] == [
        [(a.label, a.text) for a in q.answers] for q in new
    ]


def test_negatives_are_parsed_never_evaluated(tmp_path):
    flag = tmp_path / "flag"
    code = f"__import__('pathlib').Path({str(flag)!r}).touch() or [1]"
    path = sheets(
        tmp_path / "LiveQA.xlsx",
        True,
        lambda name, line, i: [*line[:2], code] if (name, i) == ("English", 1) else line,
    )
    with pytest.raises(DataError, match=r"sheet 'English', row 3, column 'neg_sample'"):
        liveqa(path)
    assert not flag.exists()


@pytest.mark.parametrize(
    ("cell", "message"),
    [("[7]", "no row with id '7'"), ("[0, 0]", "names an id twice"), (None, "expected a list")],
)
def test_wrong_negatives(tmp_path, cell, message):
    path = sheets(
        tmp_path / "LiveQA.xlsx",
        True,
        lambda name, line, i: [*line[:2], cell] if (name, i) == ("English", 1) else line,
    )
    with pytest.raises(DataError, match=rf"row 3, column 'neg_sample'.*{message}"):
        liveqa(path)


def test_missing_sheet_and_uneven_sheets(tmp_path):
    path = sheets(tmp_path / "LiveQA.xlsx", False)
    book = openpyxl.load_workbook(path)
    book["Hindi"].delete_rows(4)
    book.save(path)
    with pytest.raises(DataError, match=r"sheet 'Hindi': 5 rows, but sheet 'English' has 6"):
        liveqa(path)
    del book["Hindi"]
    book.save(path)
    with pytest.raises(DataError, match=r"sheet 'Hindi' is missing"):
        liveqa(path)


def test_missing_texts_are_counted_per_language(tmp_path):
    rows = wide()
    rows[0]["question_English"] = rows[1]["question_English"] = None
    rows[2]["answer_Hindi"] = "  "
    data = liveqa(write(tmp_path / "LiveQA.xlsx", rows))
    assert data.coverage("en")["unusable_rows"] == 2
    assert data.coverage("en")["unusable_reasons"] == {"question text missing": 2}
    assert data.coverage("en")["unusable_questions"] == ["0"]
    assert data.coverage("hi")["unusable_reasons"] == {"answer text missing": 1}
    assert data.coverage("es")["unusable_rows"] == 0
    assert [doc["question_id"] for doc in data.docs("en")] == ["1", "2"]
    assert data.docs("hi")[1]["reference"] is None
    assert [doc["parallel"] for doc in data.docs("zh")] == [False, False, True]


def test_wrong_answer_that_equals_the_correct_one_is_unusable(tmp_path):
    rows = wide()
    rows[1]["answer_Spanish"] = rows[0]["answer_Spanish"]
    data = liveqa(write(tmp_path / "LiveQA.xlsx", rows))
    # In every language: the label is wrong in Spanish and doubtful in the others.
    for code in ("en", "es", "zh", "hi"):
        assert data.unusable(code) == [("0", "1", "wrong answer equals the correct one in es")]
        assert data.coverage(code)["unusable_questions"] == ["0"]
        assert [len(doc["answers"]) for doc in data.docs(code)] == [1, 2, 2]
        assert [doc["parallel"] for doc in data.docs(code)] == [False, True, True]


def test_labels_that_contradict_themselves_in_three_languages(tmp_path):
    """As MedicationQA 224: Chinese alone kept the row, with label 0."""
    rows = wide()
    for name in ("English", "Spanish", "Hindi"):
        rows[1][f"answer_{name}"] = rows[0][f"answer_{name}"]
    rows[1]["answer_Hindi"] = f" {rows[1]['answer_Hindi']} "
    data = liveqa(write(tmp_path / "LiveQA.xlsx", rows))
    assert data.unusable("zh") == [("0", "1", "wrong answer equals the correct one in en, es, hi")]
    ids = [
        {
            (doc["question_id"], answer["answer_id"])
            for doc in data.docs(code)
            for answer in doc["answers"]
        }
        for code in ("en", "es", "zh", "hi")
    ]
    assert all(own == ids[0] for own in ids) and ("0", "1") not in ids[0]


def change(rows, index, **cells):
    rows[index].update(cells)
    return rows


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (change(wide(), 3, label=2), r"row 5, column 'label': must be 0 or 1, got '?2"),
        (change(wide(), 3, label=None), r"row 5, column 'label': must be 0 or 1"),
        (change(wide(), 3, id=None), r"row 5, column 'id': the id is missing"),
        (change(wide(), 1, answer_ids=0), r"row 3, column 'answer_ids': duplicate id"),
        (change(wide(), 2, id=0), r"row 4, column 'id': duplicate id: '0'"),
    ],
)
def test_errors_name_file_row_and_column(tmp_path, rows, message):
    for ending in ("xlsx", "csv"):
        path = write(tmp_path / f"LiveQA.{ending}", rows)
        with pytest.raises(DataError, match=message) as caught:
            liveqa(path)
        assert str(path) in str(caught.value)


def test_wrong_columns_name_the_nearest(tmp_path):
    columns = [c.replace("answer_", "anwser_") for c in COLUMNS]
    path = write(tmp_path / "LiveQA.csv", wide(), columns)
    said = r"'answer_Hindi' is missing\. Did you mean 'anwser_Hindi'"
    with pytest.raises(DataError, match=said) as told:
        liveqa(path)
    assert str(told.value).count("Known: ") == 1


def test_unreadable_and_empty_files(tmp_path):
    (tmp_path / "LiveQA.xlsx").write_bytes(b"not a workbook")
    with pytest.raises(DataError, match=r"LiveQA\.xlsx: is no XLSX workbook .*a password"):
        liveqa(tmp_path / "LiveQA.xlsx")
    (tmp_path / "LiveQA.csv").write_bytes(b"")
    with pytest.raises(DataError, match=r"LiveQA\.csv: the file is empty"):
        liveqa(tmp_path / "LiveQA.csv")
    write(tmp_path / "LiveQA.parquet", [])
    with pytest.raises(DataError, match=r"the file has no rows"):
        liveqa(tmp_path / "LiveQA.parquet")
    (tmp_path / "LiveQA.jsonl").write_text('{"id": 1}\n{"id":')
    with pytest.raises(DataError, match=r"LiveQA\.jsonl, row 2: not valid JSON"):
        liveqa(tmp_path / "LiveQA.jsonl")
    (tmp_path / "LiveQA.csv").write_text("id,label\n1,0\n2\n")
    with pytest.raises(DataError, match=r"row 3: 1 fields, but the header has 2"):
        liveqa(tmp_path / "LiveQA.csv")
    (tmp_path / "LiveQA.txt").write_text("x")
    with pytest.raises(DataError, match=r"unknown kind of file '\.txt'"):
        liveqa(tmp_path / "LiveQA.txt")


def test_folder_published_folder_and_wrong_places(tmp_path):
    inner = tmp_path / "XLingHealth_Dataset"
    inner.mkdir()
    write(inner / "LiveQA.xlsx", wide())
    assert find_source(RECORDS["liveqa"], str(tmp_path), None).files == (inner / "LiveQA.xlsx",)
    with pytest.raises(DataError, match=r"no HealthQA in it .*healthqa tasks out"):
        load(RECORDS["healthqa"], str(inner), None)
    with pytest.raises(DataError, match=r"named after LiveQA, but the task wants HealthQA"):
        load(RECORDS["healthqa"], str(inner / "LiveQA.xlsx"), None)
    with pytest.raises(DataError, match="there is no such file or folder"):
        liveqa(tmp_path / "nowhere")
    with pytest.raises(DataError, match="leave data_dir out to read the bundled data"):
        load(RECORDS["demo"], str(tmp_path / "nowhere"), None)


def test_one_sheet_in_two_workbooks_is_an_error(tmp_path):
    for name in ("LiveQA.xlsx", "LiveQA_more.xlsx"):
        sheets(tmp_path / name, True)
    with pytest.raises(
        DataError, match=r"LiveQA_more\.xlsx, sheet 'English': the sheet is in .* too"
    ):
        liveqa(tmp_path)


def test_a_file_with_another_datasets_counts_is_refused(tmp_path):
    rows = [row(q, int(a == 0), a) for q in range(24) for a in range(5)]
    path = write(tmp_path / "data.csv", rows)
    with pytest.raises(DataError, match="120 rows and 24 questions are those of Demo"):
        liveqa(path)


def test_other_counts_than_published_are_said(tmp_path, caplog):
    liveqa(write(tmp_path / "LiveQA.xlsx", wide()))
    assert "expected 1230 rows and 246 questions" in caplog.text


@pytest.mark.realdata
def test_real_liveqa(realdata, caplog):
    data = load(RECORDS["liveqa"], str(realdata / "xlinghealth"), None)
    assert (data.n_rows, len(data.questions)) == (1230, 246)
    assert data.coverage("en")["unusable_rows"] == 10
    assert data.coverage("en")["unusable_questions"] == ["58", "67"]
    assert [data.coverage(code)["unusable_rows"] for code in ("es", "zh", "hi")] == [0, 0, 0]
    assert len(data.docs("en")) == 244
    assert sum(doc["parallel"] for doc in data.docs("hi")) == 244


@pytest.mark.parametrize("record", XLINGHEALTH.values(), ids=XLINGHEALTH)
def test_records(record):
    assert record.languages[0] == "en"
    assert set(record.language_names) == set(record.languages)
    assert record.licence and record.citation and record.translation
    assert record.n_rows > record.n_questions > 0
    assert not (record.bundled and record.hub_id)


def test_bundled_sample_matches_its_record():
    record = RECORDS["demo"]
    data = load(record, None, None)
    assert (data.n_rows, len(data.questions)) == (record.n_rows, record.n_questions)
    for code in record.languages:
        assert data.unusable(code) == []
        assert all(len(doc["answers"]) == 5 for doc in data.docs(code))
        assert all(sum(a["label"] for a in doc["answers"]) == 1 for doc in data.docs(code))


def test_bundled_sample_is_in_the_right_languages():
    from xling_metrics.language import LABELS, identify, sentences

    data = load(RECORDS["demo"], None, None)
    for code in data.record.languages:
        texts = [q.text[code] for q in data.questions]
        answers = [next(a.text[code] for a in q.answers if a.label) for q in data.questions]
        # An answer is long enough for langid to be sure; a short question need not be.
        assert code not in LABELS or identify(answers) == [code] * len(answers)
        assert all(2 <= len(sentences(answer, code)) <= 6 for answer in answers)
        if code in ("zh", "hi"):
            assert not any(c.isascii() and c.isalpha() for text in texts + answers for c in text)


def test_close_wrong_answers_are_the_right_ones_but_for_a_fact():
    """Same questions and right answers as the demo; a wrong one can't be told by its length."""
    demo, close = (load(RECORDS[key], None, None) for key in ("demo", "close"))
    assert len(close.questions) == len(demo.questions) == 24
    for question, own in zip(demo.questions, close.questions, strict=True):
        right, wrong = own.answers
        assert own.text.items() <= question.text.items() and (right.label, wrong.label) == (1, 0)
        (same,) = [answer for answer in question.answers if answer.label == 1]
        assert right.text.items() <= same.text.items()
        for code, text in right.text.items():
            assert wrong.text[code] != text
            assert 0.9 < len(wrong.text[code]) / len(text) < 1.1, (own.id, code)
            shared = Indel.normalized_similarity(text, wrong.text[code])
            assert shared > 0.6, (own.id, code, shared)
    assert not any(close.unusable(code) for code in close.record.languages)


def test_a_set_that_is_nowhere_published_says_how_to_give_it():
    """Instead of asking the Hub for a repository without a name."""
    record = replace(RECORDS["liveqa"], key="ours", title="Ours", file="Ours", hub_id=None)
    with pytest.raises(DataError, match="Ours is not on the Hub: pass --metadata data_dir=FOLDER"):
        find_source(record, None, None)
