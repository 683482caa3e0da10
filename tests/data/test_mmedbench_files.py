"""MMedBench: shapes of a line, the folder, the zip, what is left out and counted, real files."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from conftest import read_jsonl

from xling_tasks.data.dataset_info import MMEDBENCH, MMEDBENCH_LANGUAGES
from xling_tasks.data.mmedbench import load, parse
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError

RECORD = MMEDBENCH["mmedbench"]
FRENCH = "Test/French.jsonl"
UNFLAGGED = {"human_checked": ..., "human_check_passed": ...}


def line(number: int = 1, **fields) -> dict:
    """A line in the published shape; a field given as `...` is left out."""
    row = {
        "question": f"question {number}", "options": {x: f"option {x}" for x in "ABCDE"},
        "answer_idx": "A", "rationale": "because", "human_checked": True,
        "human_check_passed": True, **fields,
    }  # fmt: skip
    return {key: value for key, value in row.items() if value is not ...}


def text(*lines: dict | str) -> bytes:
    rows = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in lines)
    return "".join(f"{row}\n" for row in rows).encode()


def parsed(*lines: dict | str):
    return parse(text(*lines), "French.jsonl", "fr", "test")[0]


def one(**fields):
    (question,) = parsed(line(**fields))
    return question


def folder(root: Path, *lines: dict, name: str = FRENCH) -> Path:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text(*(lines or (line(),))))
    return root


def zipped(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def french(place: Path, split: str = "test"):
    return load(RECORD, "fr", split, str(place))


def refused(place: Path, message: str, split: str = "test") -> str:
    with pytest.raises(DataError, match=message) as caught:
        french(place, split)
    return str(caught.value)


@pytest.mark.parametrize(("answer", "letters"), [
    ("A", "A"), ("a", "A"), ("A,", "A"), ("D, A", "AD"), ("AB", "AB"), ("A，C", "AC"), ("Ａ", "A"), (["A", "C"], "AC"),
])  # fmt: skip
def test_shapes_of_the_answer(answer, letters):
    assert one(answer_idx=answer).answer == frozenset(letters)


@pytest.mark.parametrize(("options", "expected"), [
    ({"C": "z", "A": "x", "b": " y "}, {"A": "x", "B": "y", "C": "z"}),
    # IgakuQA has one question with eight.
    ({letter: letter * 2 for letter in "HGFEDCBA"}, {x: x * 2 for x in "ABCDEFGH"}),
    # Padding of tools that need equal columns is no option; letters need not be neighbours.
    ({"A": "x", "B": "y", "C": None, "D": None}, {"A": "x", "B": "y"}), ({"A": "x", "D": "y"},) * 2,
])  # fmt: skip
def test_shapes_of_the_options(options, expected):
    question = one(options=options)
    assert question.options == expected and list(question.options) == sorted(expected)


WRONG = [
    ("answer_idx", ..., r"is missing\. Known: human_check_passed, human_checked, options, question, rat"),
    ("answer_idx", None, "letters of the options A, B, C, D, E, each once, are expected, got ''"),
    ("answer_idx", "A,F", "letters of the options"), ("answer_idx", "A,A", "letters of the options"),
    ("answer_idx", "А", r"letters of the options .* got '\\u0410'"),  # Cyrillic
    ("answer_idx", ["A", "Z"], "letters of the options"), ("answer_idx", {}, "expected a text, got {}"),
    ("options", ["x", "y"], r"expected an object \(letter to text\), got \['x', 'y'\]"),
    ("options", {"A": "x", "B": None}, "at least two options"),
    ("options", {"A": "x", "1": "y"}, "the letters A to Z, each once"),
    ("options", {"A": "x", "a": "y"}, "the letters A to Z, each once"),
    ("question", " \n", "the question is empty"), ("human_checked", "True", "must be true or false"),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value", "message"), WRONG)
def test_what_is_wrong_is_named_with_file_row_and_field(field, value, message):
    with pytest.raises(DataError, match=rf"French\.jsonl, row 2, field '{field}': {message}"):
        parsed(line(), line(2, **{field: value}))


def test_numbers_stay_as_written():
    content = '{"question": "q", "options": {"A": 0.10, "B": 1e3, "C": 7}, "answer_idx": "A"}'
    assert parsed(content)[0].options == {"A": "0.10", "B": "1e3", "C": "7"}


@pytest.mark.parametrize(("fields", "checked"), [
    ({}, True), ({"human_checked": ...}, True), ({"human_check_passed": ...}, False),
    ({"human_check_passed": False}, False), ({"human_checked": False}, False),
    ({"rationale": ""}, False),
    ({"human_check_passed": float("nan")}, False),  # as pandas writes what is missing
    ({**UNFLAGGED, "sample_rationale": True}, True), ({**UNFLAGGED, "sample_rationale": False}, False),
])  # fmt: skip
def test_flags(fields, checked):
    assert one(**fields).rationale_checked is checked


@pytest.mark.parametrize(("content", "message"), [
    (b"\n \n", "f: the file has no rows"), (text(line(), "{"), "f, row 2: not valid JSON"),
    (b'{"options": {"A": "x", "A": "z"}}', "f, row 1: not valid JSON .the key 'A' appears twice"),
    (text(line(), "", "[1]"), r"f, row 3: expected an object"),
    (b"\n\xff\xfe{}", "f, row 2: not valid JSON .not UTF-8"),
    (json.dumps(line(options={"A": "x", "B": "\ud800"})).encode(), "f, row 1: holds half of a"),
])  # fmt: skip
def test_unreadable_lines(content, message):
    with pytest.raises(DataError, match="^" + message):
        parse(content, "f", "fr", "test")


def test_lines_are_lines_of_the_file():
    """A byte-order mark, CRLF, empty lines, and line separators within a text."""
    lines = text(line(1, question="a\u2028b\x85c"), "", line(2))
    questions, _ = parse(b"\xef\xbb\xbf" + lines.replace(b"\n", b"\r\n"), "f", "ja", "train")
    assert questions[0].question == "a\u2028b\x85c"
    assert [question.id[:11] for question in questions] == ["ja-train-1-", "ja-train-3-"]


def test_ids_follow_content():
    """Of question, options and answer; neither the order of options nor a flag changes an id."""
    content = json.dumps(["question 1", {x: f"option {x}" for x in "ABCDE"}, ["A"]])
    digest = hashlib.sha256(content.encode()).hexdigest()[:8]
    backwards = {letter: f"option {letter}" for letter in "EDCBA"}
    assert one().id == one(options=backwards, human_checked=False).id == f"fr-test-1-{digest}"
    assert len({one().id, one(answer_idx="A,B").id, one(question="other").id}) == 3


def test_rows_that_would_give_a_wrong_score_are_left_out_and_counted(tmp_path, caplog):
    same = {"A": "x", "B": "y", "C": "x"}
    lines = [
        line(1, human_checked=...),
        line(2, options={"A": "x", "B": " ", "C": "z"}),
        line(3, options=same, answer_idx="A"),  # C is worded like the right one
        line(4, options=same, answer_idx="B"),  # two wrong ones alike: the letter decides
        line(5, options=same, answer_idx="A,C"),
        line(6, options={"A": "x", "B": None, "C": "z"}),  # not at the end: no padding
        line(1),
    ]
    data = french(folder(tmp_path, *lines))
    assert [question.id[8] for question in data.questions] == [*"1457"] and data.multi_answer
    counts = data.coverage()
    assert [identity[:10] for identity in counts["unusable_questions"]] == [
        "fr-test-2-", "fr-test-3-", "fr-test-6-"
    ]  # fmt: skip
    assert counts | {
        "rows": 7, "questions": 4, "rationales_checked": 4,
        "notes": {"human-check flags missing": 1},
        "invalid_reasons": {"option text missing": 2, "wrong option equals a right one": 1},
        "options_per_question": {"3": 2, "5": 2}, "several_right_answers": 1,
    } == counts  # fmt: skip
    assert "3 of 7 rows unusable (option text missing: 2, wrong option equals" in caplog.text
    assert "7 questions, but 622 were published" in caplog.text
    unusable = folder(tmp_path, line(options={"A": "x", "B": ""}))
    refused(unusable, "none of 1 rows can be used: option text missing")


def test_docs_and_what_is_asked_of_them(tmp_path):
    data = french(folder(tmp_path, line(1, answer_idx="C,A"), line(2, human_check_passed=False)))
    first, second = data.docs()
    assert first == {
        "question_id": data.questions[0].id, "language": "fr", "split": "test",
        "question": "question 1", "options": {x: f"option {x}" for x in "ABCDE"},
        "answer": ["A", "C"], "several": True, "rationale": "because", "rationale_checked": True,
    }  # fmt: skip
    assert second["answer"] == ["A"] and second["several"]
    assert data.docs(checked_only=True) == [first]
    data = french(folder(tmp_path, line(human_check_passed=False)))
    with pytest.raises(DataError, match=r"Test/French\.jsonl \[fr, test\]: none of 1 rows has"):
        data.docs(checked_only=True)


# Places


@pytest.mark.parametrize("name", [FRENCH, "MMedBench/test/french.JSONL"])
def test_folder_its_parent_and_the_split_itself(tmp_path, name):
    folder(tmp_path, name=name)
    folder(tmp_path, line(1), line(2), name=name.replace("est/", "rain/").replace("/t", "/T"))
    root = (tmp_path / name).parent
    for place in (tmp_path, root.parent, root):
        data = french(place)
        assert data is french(place) and data.n_rows == 1
        content = (tmp_path / name).read_bytes()
        assert data.provenance["sha256"] == hashlib.sha256(content).hexdigest()
    folder(tmp_path, line(answer_idx=""), name=name)  # a file that changed is read again
    refused(tmp_path, r"row 1, field 'answer_idx'")


def test_wrong_places(tmp_path):
    refused(tmp_path / "nowhere", "there is no such file or folder")
    folder(tmp_path, name="Test/Russian.jsonl")
    refused(tmp_path, r"no Test/French\.jsonl in it .*Test/Russian\.jsonl\); give the folder")
    refused(tmp_path / "Test" / "Russian.jsonl", r"Russian\.jsonl: not a readable zip .*give MMed")
    for name in ("a", "b"):
        folder(tmp_path, name=f"{name}/Test/French.jsonl")
    refused(tmp_path, r"more than once \(a/Test/French\.jsonl, b/Test/French")
    with pytest.raises(DataError, match=r"no language 'hi'\..* Known: en, es, fr, ja, ru, zh\."):
        load(RECORD, "hi")
    with pytest.raises(DataError, match="bundled sample has no train split"):
        load(MMEDBENCH["mmedbench_demo"], "fr", "train")


@pytest.mark.parametrize("top", ["", "MMedBench/", "a/b/c/"])
def test_zip_is_read_without_unpacking(tmp_path, top):
    junk = {f"__MACOSX/{top}Test/._French.jsonl": b"x", "../evil": b"x"}
    inner = tmp_path / "inner"
    inner.mkdir()
    path = zipped(inner / "MMedBench.zip", {**junk, f"{top}{FRENCH}": text(line())})
    for place in (path, inner):
        assert french(place).provenance == {
            "kind": "data_dir", "name": "MMedBench.zip", "revision": None,
            "files": ["MMedBench.zip", f"{top}{FRENCH}"],
            "sha256": hashlib.sha256(text(line())).hexdigest(),
        }  # fmt: skip
    assert [file.name for file in tmp_path.rglob("*")] == ["inner", "MMedBench.zip"]


def test_errors_within_a_zip_and_damaged_zips(tmp_path):
    path = zipped(tmp_path / "own.zip", {"x/Test/French.jsonl": text(line(answer_idx="Z"))})
    message = f"{path}, member 'x/Test/French.jsonl', row 1, field 'answer_idx'"
    assert message in refused(path, "own.zip")
    refused(path, r"no Train/French\.jsonl in it .*x/Test/French\.jsonl", "train")
    two = {f"{top}/Test/French.jsonl": text(line()) for top in "ab"}
    refused(zipped(tmp_path / "b.zip", two), r"more than once \(a/Test/French\.jsonl, b/")
    content = path.read_bytes()
    for spoiled in (content[:-30], content.replace(content[60:70], bytes(10), 1), b""):
        path.write_bytes(spoiled)
        refused(path, r"own\.zip: not a readable zip .*download it again")


# The sample, and real files


@pytest.mark.parametrize("language", MMEDBENCH_LANGUAGES)
def test_bundled_sample_matches_its_record(language):
    """Its rationales, which no human checked, stand for checked ones under a name of their own."""
    data = load(MMEDBENCH["mmedbench_demo"], language)
    counts = data.coverage()
    assert len(data.questions) == counts["rows_expected"] == 12 and data.left_out == ()
    assert data.notes == {"rationale of a sample: checked by no human": 12} and data.multi_answer
    assert counts["several_right_answers"] == 4 and counts["rationales"] == 12
    assert len(data.docs(checked_only=True)) == 10
    file = SAMPLE_FOLDER / "mmedbench_demo" / f"Test/{MMEDBENCH_LANGUAGES[language]}.jsonl"
    assert not any("human" in field for row in read_jsonl(file) for field in row)


def test_records_hold_the_published_figures():
    assert [sum(RECORD.splits[split].values()) for split in ("train", "test")] == [45_048, 8_518]
    assert all(set(counts) == set(RECORD.languages) for counts in RECORD.splits.values())


@pytest.mark.realdata
@pytest.mark.parametrize(("language", "rows", "several", "options"), [
    ("ja", 243, 32, {"5": 242, "8": 1}), ("fr", 312, 148, {"5": 312}), ("ru", 300, 0, {"2": 300}),
])  # fmt: skip
def test_real_files(realdata, caplog, language, rows, several, options):
    data = load(RECORD, language, "test", str(realdata / "mmedbench"))
    counts = data.coverage()
    assert counts["rows"] == counts["questions"] == rows
    assert counts["several_right_answers"] == several and data.multi_answer is bool(several)
    assert counts["options_per_question"] == options
    assert counts["notes"] == {} and counts["rationales_checked"] == 0
    # These files are of the same exams, but not the published split; that is said.
    assert f"{rows} questions, but {counts['rows_expected']} were published" in caplog.text
