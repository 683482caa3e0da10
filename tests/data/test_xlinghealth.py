"""XLingHealth: both forms, four formats, rows that cannot be used, errors that name the place, real files."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from custom_tables import write_table
from rapidfuzz.distance import Indel

from xling_tasks.data.dataset_info import DATASETS, LANGUAGE_NAMES
from xling_tasks.data.sources import find_source
from xling_tasks.data.xlinghealth import load
from xling_tasks.errors import DataError

pytestmark = pytest.mark.core

CODES = ("en", "es", "zh", "hi")


def row(question: int, label: int, answer: int) -> dict:
    texts = {
        f"{kind}_{name}": f"{kind} {number} {name}"
        for name in LANGUAGE_NAMES.values()
        for kind, number in (("question", question), ("answer", answer))
    }
    return {"id": question, "label": label, "answer_ids": answer, **texts}


PAIRS = [(q, a) for q in range(3) for a in (q, (q + 1) % 3)]


def wide(index: int = 0, **cells) -> list[dict]:
    """Three questions; the wrong answers of one are the right ones of the others; some cells changed."""
    rows = [row(q, int(q == a), a) for q, a in PAIRS]
    rows[index] |= cells
    return rows


def liveqa(path: Path):
    return load(DATASETS["liveqa"], str(path))


def refused(path: Path, said: str, key: str = "liveqa") -> str:
    with pytest.raises(DataError, match=said) as caught:
        load(DATASETS[key], str(path))
    return str(caught.value)


@pytest.mark.parametrize("ending", ["xlsx", "csv", "jsonl", "parquet"])
def test_every_format_gives_the_same_questions(tmp_path, ending):
    data = liveqa(write_table(tmp_path / f"LiveQA.{ending}", wide()))
    assert [q.id for q in data.questions] == ["0", "1", "2"]
    assert [(a.id, a.label) for a in data.questions[2].answers] == [("2", 1), ("0", 0)]
    assert data.questions[1].text["hi"] == "question 1 Hindi"
    assert data.questions[1].answers[1].text["zh"] == "answer 2 Chinese"


def sheets(path: Path, negatives: bool = True, cell: object = ...) -> Path:
    """The form that XLingEval's code also reads: a sheet per language; one cell may be another."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name in LANGUAGE_NAMES.values():
        suffix = "" if name == "English" else "_translated"
        sheet = book.create_sheet(name)
        last = "neg_sample" if negatives else "label"
        sheet.append([f"question{suffix}", f"answer{suffix}", last])
        for i, (q, a) in enumerate([(q, q) for q in range(3)] if negatives else PAIRS):
            value = str([(q + 1) % 3]) if negatives else int(q == a)
            value = cell if cell is not ... and (name, i) == ("English", 1) else value
            sheet.append([f"question {q} {name}", f"answer {a} {name}", value])
    book.save(path)
    return path


@pytest.mark.parametrize("negatives", [True, False])
def test_sheet_per_language_gives_the_same_questions(tmp_path, negatives):
    old, new = (
        [(q.text, [(a.label, a.text) for a in q.answers]) for q in liveqa(path).questions]
        for path in (sheets(tmp_path / "LiveQA.xlsx", negatives), write_table(tmp_path / "wide.xlsx", wide()))
    )  # fmt: skip
    assert old == new


def test_wrong_negatives_are_named_and_never_evaluated(tmp_path):
    flag = tmp_path / "flag"
    code = f"__import__('pathlib').Path({str(flag)!r}).touch() or [1]"
    for cell in (code, "[7]", "[0, 0]", None):
        path = sheets(tmp_path / "LiveQA.xlsx", cell=cell)
        refused(path, r"sheet 'English', row 3, column 'neg_sample'")
    assert not flag.exists()


def test_a_missing_sheet_and_uneven_sheets(tmp_path):
    path = sheets(tmp_path / "LiveQA.xlsx", False)
    book = openpyxl.load_workbook(path)
    book["Hindi"].delete_rows(4)
    book.save(path)
    refused(path, r"sheet 'Hindi': 5 rows, but sheet 'English' has 6")
    del book["Hindi"]
    book.save(path)
    refused(path, r"sheet 'Hindi' is missing")


def test_missing_texts_are_counted_per_language(tmp_path, caplog):
    rows = wide(2, answer_Hindi="  ")
    rows[0]["question_English"] = rows[1]["question_English"] = None
    data = liveqa(write_table(tmp_path / "LiveQA.xlsx", rows))
    english = {"invalid_rows": 2, "invalid_reasons": {"question text missing": 2},
               "unusable_questions": ["0"]}  # fmt: skip
    assert data.coverage("en") | english == data.coverage("en")
    assert data.coverage("hi")["invalid_reasons"] == {"answer text missing": 1}
    assert data.coverage("es")["invalid_rows"] == 0
    assert [doc["question_id"] for doc in data.docs("en")] == ["1", "2"]
    assert data.docs("hi")[1]["reference"] is None
    assert [doc["parallel"] for doc in data.docs("zh")] == [False, False, True]
    assert "expected 1230 rows and 246 questions" in caplog.text


def test_wrong_answer_that_equals_the_correct_one_is_unusable(tmp_path):
    data = liveqa(write_table(tmp_path / "LiveQA.xlsx", wide(1, answer_Spanish="answer 0 Spanish")))
    # In every language: the label is wrong in Spanish and doubtful in the others.
    for code in CODES:
        assert data.unusable(code) == [("0", "1", "wrong answer equals the correct one in es")]
        assert data.coverage(code)["unusable_questions"] == ["0"]
        assert [len(doc["answers"]) for doc in data.docs(code)] == [1, 2, 2]
        assert [doc["parallel"] for doc in data.docs(code)] == [False, True, True]
    # As MedicationQA 224: Chinese alone kept the row, with label 0.
    same = {f"answer_{name}": f"answer 0 {name}" for name in ("English", "Spanish")}
    rows = wide(1, **same, answer_Hindi=" answer 0 Hindi ")
    data = liveqa(write_table(tmp_path / "LiveQA.xlsx", rows))
    assert data.unusable("zh") == [("0", "1", "wrong answer equals the correct one in en, es, hi")]
    for code in CODES:
        docs = data.docs(code)
        ids = {(doc["question_id"], a["answer_id"]) for doc in docs for a in doc["answers"]}
        assert ids == {(str(q), str(a)) for q, a in PAIRS} - {("0", "1")}


@pytest.mark.parametrize(("rows", "message"), [
    (wide(3, label=2), r"row 5, column 'label': must be 0 or 1, got '?2"),
    (wide(3, label=None), r"row 5, column 'label': must be 0 or 1"),
    (wide(3, id=None), r"row 5, column 'id': the id is missing"),
    (wide(1, answer_ids=0), r"row 3: question '0' has answer '0' twice"),
    (wide(2, id=0), r"row 4: question '0' has another text than in .* row 2"),
])  # fmt: skip
def test_errors_name_file_row_and_column(tmp_path, rows, message):
    for ending in ("xlsx", "csv"):
        path = write_table(tmp_path / f"LiveQA.{ending}", rows)
        assert str(path) in refused(path, message)


@pytest.mark.parametrize(("ending", "content", "said"), [
    ("xlsx", "not a workbook", r"LiveQA\.xlsx: cannot be read as \.xlsx .*a password"),
    ("csv", "", r"LiveQA\.csv: the file has no rows"), ("parquet", None, r"the file has no rows"),
    ("jsonl", '{"id": 1}\n{"id":', r"LiveQA\.jsonl, row 2: not valid JSON"),
    ("csv", "id,label\n1,0\n2\n", r"row 3: 1 fields, but the header has 2"),
    ("parquet", "[", "cannot be read as .parquet"),
])  # fmt: skip
def test_unreadable_and_empty_files(tmp_path, ending, content, said):
    path = tmp_path / f"LiveQA.{ending}"
    if content is None:
        pq.write_table(pa.table({"id": []}), path)
    else:
        path.write_text(content)
    refused(path, said)


def test_folder_published_folder_and_wrong_places(tmp_path):
    inner = tmp_path / "XLingHealth_Dataset"
    inner.mkdir()
    write_table(inner / "LiveQA.xlsx", wide())
    assert find_source(DATASETS["liveqa"], str(tmp_path)).files == (inner / "LiveQA.xlsx",)
    refused(inner, r"no HealthQA in it .*healthqa tasks out", "healthqa")
    refused(tmp_path / "nowhere", "there is no such file or folder")
    refused(tmp_path / "nowhere", "there is no such file or folder", "demo")
    rows = [row(q, int(a == 0), a) for q in range(24) for a in range(5)]
    path = write_table(tmp_path / "data.csv", rows)
    refused(path, "120 rows and 24 questions are those of Demo")


@pytest.mark.realdata
def test_real_liveqa(realdata):
    data = load(DATASETS["liveqa"], str(realdata / "xlinghealth"))
    assert (data.n_rows, len(data.questions)) == (1230, 246)
    assert [data.coverage(code)["invalid_rows"] for code in CODES] == [10, 0, 0, 0]
    assert data.coverage("en")["unusable_questions"] == ["58", "67"]
    assert len(data.docs("en")) == sum(doc["parallel"] for doc in data.docs("hi")) == 244


def test_bundled_sample_matches_its_record_and_is_in_the_right_languages():
    from xling_metrics.language import identify_language, langid_knows, sentences

    record = DATASETS["demo"]
    data = load(record, None)
    assert (data.n_rows, len(data.questions)) == (record.n_rows, record.n_questions)
    for code in record.languages:
        assert data.unusable(code) == []
        assert all(len(doc["answers"]) == 5 for doc in data.docs(code))
        assert all(sum(a["label"] for a in doc["answers"]) == 1 for doc in data.docs(code))
        texts = [q.text[code] for q in data.questions]
        answers = [next(a.text[code] for a in q.answers if a.label) for q in data.questions]
        # An answer is long enough for langid to be sure; a short question need not be.
        assert not langid_knows(code) or identify_language(answers) == [code] * len(answers)
        assert all(2 <= len(sentences(answer, code)) <= 6 for answer in answers)
        if code in ("zh", "hi"):
            assert not any(c.isascii() and c.isalpha() for text in texts + answers for c in text)


def test_close_wrong_answers_are_the_right_ones_but_for_a_fact():
    """Same questions and right answers as the demo; a wrong one can't be told by its length."""
    demo, close = (load(DATASETS[key], None) for key in ("demo", "close"))
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
    assert not any(close.unusable(code) for code in close.info.languages)
