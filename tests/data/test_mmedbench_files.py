"""MMedBench: every shape of a line, the folder, the zip (bombs too), the Hub, real files."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path

import pytest
from conftest import read_jsonl

from xling_tasks.data import mmedbench
from xling_tasks.data.choices import find_problem
from xling_tasks.data.dataset_info import MMEDBENCH as DATASETS
from xling_tasks.data.dataset_info import MMEDBENCH_LANGUAGES as LANGUAGE_NAMES
from xling_tasks.data.mmedbench import load, parse, published_path
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError

RECORD = DATASETS["mmedbench"]
FRENCH = "Test/French.jsonl"
UNFLAGGED = {"human_checked": ..., "human_check_passed": ...}


def line(number: int = 1, **fields) -> dict:
    """A line in the published shape; a field given as `...` is left out."""
    made = {
        "question": f"question {number}", "options": {x: f"option {x}" for x in "ABCDE"},
        "answer_idx": "A", "rationale": "because", "human_checked": True,
        "human_check_passed": True, **fields,
    }  # fmt: skip
    return {key: value for key, value in made.items() if value is not ...}


def text(*lines: dict | str) -> bytes:
    whole = (json.dumps(own, ensure_ascii=False) if isinstance(own, dict) else own for own in lines)
    return "".join(f"{own}\n" for own in whole).encode()


def parsed(*lines: dict | str, split: str = "test"):
    return parse(text(*lines), "French.jsonl", "fr", split)[0]


def one(**fields):
    (question,) = parsed(line(**fields))
    return question


def folder(root: Path, *lines: dict, name: str = FRENCH) -> Path:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text(*(lines or (line(),))))
    return root


def zipped(path: Path, members: dict[str, bytes] | None = None, kind=zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, content in (members or {FRENCH: text(line())}).items():
            archive.writestr(name, content)
    return path


def french(place: Path, split: str = "test"):
    return load(RECORD, "fr", split, str(place))


def refused(place: Path, said: str, split: str = "test") -> str:
    with pytest.raises(DataError, match=said) as caught:
        french(place, split)
    return str(caught.value)


# --- Shapes of a line


@pytest.mark.parametrize(("answer", "letters"), [
    ("A", "A"), ("a", "A"), (" B ", "B"), ("A,", "A"), ("A,B", "AB"), ("A, B", "AB"), ("D,A", "AD"),
    ("b,c,e", "BCE"), ("AB", "AB"), ("ABCDE", "ABCDE"), ("A;C", "AC"), ("A/C", "AC"), ("A C", "AC"),
    ("A、C", "AC"), ("A，C", "AC"),  # the ideographic and the full-width comma
    ("Ａ", "A"),  # a full-width letter
    ("['A', 'B']", "AB"),  # a list printed as text
    (["A"], "A"), (["C", "A"], "AC"), (["a", " e "], "AE"), (["A,B", "C"], "ABC"),
])  # fmt: skip
def test_every_shape_of_the_answer(answer, letters):
    assert one(answer_idx=answer).answer == frozenset(letters)


@pytest.mark.parametrize(("options", "expected"), [
    ({"A": "x", "B": "y"}, {"A": "x", "B": "y"}),
    ({"C": "z", "A": "x", "B": "y"}, {"A": "x", "B": "y", "C": "z"}),
    ({"b": "y", "a": " x "}, {"A": "x", "B": "y"}),
    ({"Ｂ": "y", "Ａ": "x"}, {"A": "x", "B": "y"}),
    (["x", "y", "z"], {"A": "x", "B": "y", "C": "z"}),
    # IgakuQA has one question with eight.
    ({letter: letter * 2 for letter in "HGFEDCBA"}, {x: x * 2 for x in "ABCDEFGH"}),
    # Padding of tools that need equal columns is no option.
    ({"A": "x", "B": "y", "C": None, "D": None}, {"A": "x", "B": "y"}),
    (["x", "y", None], {"A": "x", "B": "y"}),
    # Letters need not be neighbours.
    ({"A": "x", "D": "y"}, {"A": "x", "D": "y"}),
    # A single item that looks labelled is a text.
    (["A. fumigatus", "yeast"], {"A": "A. fumigatus", "B": "yeast"}),
])  # fmt: skip
def test_every_shape_of_the_options(options, expected):
    question = one(options=options)
    assert question.options == expected and list(question.options) == sorted(expected)
    assert find_problem(question.options, question.answer) == ""


KEYS = [{"key": "A", "value": "x"}, {"key": "B", "value": "y"}]
WRONG = [
    ("answer_idx", ..., r"is missing\. Known: human_check_passed, human_checked, options, question, rat"),
    ("answer_idx", None, "no correct answer, got None"), ("answer_idx", "", "no correct answer, got ''"),
    ("answer_idx", " , ", "no correct answer"), ("answer_idx", [], r"no correct answer, got \[\]"),
    ("answer_idx", "F", "'F' is not among the options A, B, C, D, E, got 'F'"),
    ("answer_idx", "A,F", "'F' is not among"), ("answer_idx", "AX", "'X' is not among"),
    ("answer_idx", "А", r"'А' \(CYRILLIC CAPITAL LETTER A\) is not among"),
    ("answer_idx", "1", "'1' is not among"), ("answer_idx", 0, "'0' is not among"),
    ("answer_idx", True, "expected a text, got True"),
    ("answer_idx", {"A": 1}, "expected a text, got {'A'"),
    ("answer_idx", ["A", ["B"]], r"expected a text, got \['B'\]"),
    ("answer_idx", "A and B", "'N' is not among"), ("answer_idx", "A,A", "names a letter twice"),
    ("answer_idx", ["B", "b"], "names a letter twice"),
    ("options", ..., "is missing"), ("options", {}, "at least two options"),
    ("options", None, r"expected an object \(letter to text\) or a list, got None"),
    ("options", "A. x B. y", "expected an object"), ("options", {"A": "x"}, "at least two options"),
    ("options", {"A": "x", "B": None}, "at least two options"), ("options", [], "at least two options"),
    ("options", {"A": "x", "1": "y"}, "'1' is not one of the letters A to Z"),
    ("options", {"A": "x", "AB": "y"}, "'AB' is not one of the letters"),
    ("options", {"A": "x", "": "y"}, "'' is not one of the letters"),
    ("options", {"A": "x", "В": "y"}, r"'В' \(CYRILLIC CAPITAL LETTER VE\) is not one of"),
    ("options", {"A": "x", "a": "y"}, "the letter A appears twice"),
    ("options", {"A": "x", "B": ["y"]}, r"expected a text, got \['y'\]"),
    ("options", KEYS, "expected a text, got {'key'"),
    ("options", ["x"] * 27, "27 options, but there are 26 letters"),
    ("options", ["B. y", "A. x"], r"the items of the list carry letters of their own \(B, A\)"),
    ("options", ["(A) x", "(B) y"], r"the items of the list carry letters of their own \(A, B\)"),
    ("question", ..., "is missing"), ("question", "", "the question is empty"),
    ("question", " \n", "the question is empty"), ("question", None, "the question is empty"),
    ("question", ["q"], "expected a text"),
    ("human_checked", "maybe", "must be true or false"), ("human_check_passed", [], "must be true or f"),
    ("rationale", {"en": "x"}, "expected a text"),
    ("sample_rationale", True, "stands beside the flags of a human"),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value", "said"), WRONG)
def test_what_is_wrong_is_named_with_file_row_and_field(field, value, said):
    with pytest.raises(DataError, match=rf"French\.jsonl, row 2, field '{field}': {said}"):
        parsed(line(), line(2, **{field: value}))


def test_numbers_stay_as_written():
    content = '{"question": "q", "options": {"A": 0.10, "B": 1e3, "C": 7}, "answer_idx": "A"}'
    assert parsed(content)[0].options == {"A": "0.10", "B": "1e3", "C": "7"}


@pytest.mark.parametrize(("fields", "checked"), [
    ({}, True), ({"human_checked": ...}, True), ({"human_check_passed": ...}, False), (UNFLAGGED, False),
    ({"human_checked": None, "human_check_passed": None}, False), ({"human_check_passed": False}, False),
    ({"human_checked": False}, False),  # contradicts itself
    ({"human_checked": "True", "human_check_passed": 1}, True), ({"human_check_passed": 0}, False),
    ({"rationale": ""}, False), ({"rationale": ...}, False),
    ({"human_check_passed": float("nan")}, False),  # as pandas writes what is missing
    ({**UNFLAGGED, "sample_rationale": True}, True), ({**UNFLAGGED, "sample_rationale": False}, False),
    ({**UNFLAGGED, "sample_rationale": True, "rationale": ""}, False),
])  # fmt: skip
def test_flags(fields, checked):
    assert one(**fields).rationale_checked is checked


def test_the_sample_claims_no_human_check():
    """Its rationales stand for checked ones under a name of their own, and the notes say so."""
    for file in (SAMPLE_FOLDER / "mmedbench_demo" / "Test").glob("*.jsonl"):
        rows = read_jsonl(file)
        assert rows and not any("human" in field for row in rows for field in row)
    with pytest.raises(DataError, match="'sample_rationale': must be true or false"):
        one(**UNFLAGGED, sample_rationale="perhaps")


def test_missing_rationales_are_none():
    assert one(rationale=" because ").rationale == "because"
    for empty in ("", " ", None, ..., float("nan")):
        assert one(rationale=empty).rationale is None


TWICE = '{"question": "q", "options": {"A": "x", "B": "y", "A": "z"}, "answer_idx": "A"}'


@pytest.mark.parametrize(("content", "message"), [
    (b"", "f: the file has no rows"), (b"\n \n", "f: the file has no rows"),
    (text(line(), "{"), "f, row 2: not valid JSON"),
    (text(TWICE), "f, row 1: not valid JSON .the key 'A' appears twice; keep one"),
    (text(line(), "", "[1]"), r"f, row 3: expected an object, got \['1'\]"),
    (b"\n\xff\xfe{}", "f, row 2: not valid JSON .not UTF-8"),
    (b"[" * 100_000, "f, row 1: not valid JSON"),
    (json.dumps(line(options={"A": "x", "B": "\ud800"})).encode(), "f, row 1: holds half of a"),
])  # fmt: skip
def test_unreadable_lines(content, message):
    with pytest.raises(DataError, match="^" + message):
        parse(content, "f", "fr", "test")


def test_lines_are_lines_of_the_file():
    """A byte-order mark, CRLF, empty lines, and line separators within a text."""
    lines = text(line(1, question="a\u2028b\x85c"), "", line(2))
    questions, _ = parse(b"\xef\xbb\xbf" + lines.replace(b"\n", b"\r\n"), "f", "ja", "train")
    assert [question.row for question in questions] == [1, 3]
    assert questions[0].question == "a\u2028b\x85c"
    assert [question.id[:11] for question in questions] == ["ja-train-1-", "ja-train-3-"]


def test_ids_follow_content():
    """Of question, options and answer; neither the order of options nor a flag changes an id."""
    content = json.dumps(["question 1", {x: f"option {x}" for x in "ABCDE"}, ["A"]])
    digest = hashlib.sha256(content.encode()).hexdigest()[:8]
    backwards = {letter: f"option {letter}" for letter in "EDCBA"}
    assert one().id == one(options=backwards, human_checked=False).id == f"fr-test-1-{digest}"
    assert len({one().id, one(answer_idx="A,B").id, one(question="other").id}) == 3


# --- What is counted


def test_rows_that_would_give_a_wrong_score_are_left_out_and_counted(tmp_path, caplog):
    same = {"A": "x", "B": "y", "C": "x"}
    lines = [
        line(1),
        line(2, options={"A": "x", "B": " ", "C": "z"}),
        line(3, options=same, answer_idx="A"),  # C is worded like the right one
        line(4, options=same, answer_idx="B"),  # two wrong ones alike: the letter decides
        line(5, options=same, answer_idx="A,C"),
        line(6, options={"A": "x", "B": None, "C": "z"}),  # not at the end: no padding
    ]
    data = french(folder(tmp_path, *lines))
    assert [question.row for question in data.questions] == [1, 4, 5]
    counts = data.coverage()
    assert [identity[:10] for identity in counts.pop("unusable_questions")] == [
        "fr-test-2-", "fr-test-3-", "fr-test-6-"
    ]  # fmt: skip
    assert counts | {
        "rows": 6, "questions": 3, "notes": {"options repeat a text": 3},
        "invalid_reasons": {"option text missing": 2, "wrong option equals a right one": 1},
        "options_per_question": {"3": 2, "5": 1}, "several_right_answers": 1,
    } == counts  # fmt: skip
    assert "3 of 6 rows unusable (option text missing: 2, wrong option equals" in caplog.text
    assert "6 questions, but 622 were published" in caplog.text
    unusable = folder(tmp_path, line(options=["x", ""]))
    refused(unusable, "none of 1 rows can be used: option text missing")


def test_notes(tmp_path):
    lines = [line(1), line(1), line(2, human_checked=...), line(3, human_checked=False)]
    data = french(folder(tmp_path, *lines, line(4, rationale="")))
    assert data.notes == {
        "human-check flags missing": 1,
        "passed the human check but not human-checked: not used as checked": 1,
        "passed the human check but without rationale: not used as checked": 1,
        "question and options stand in an earlier row too": 1,
    }
    assert data.coverage()["rationales_checked"] == 3 and data.coverage()["rationales"] == 4
    assert len({question.id for question in data.questions}) == 5


def test_docs_and_what_is_asked_of_them(tmp_path):
    data = french(folder(tmp_path, line(1, answer_idx="C,A"), line(2, human_check_passed=False)))
    first, second = data.docs()
    assert first == {
        "question_id": data.questions[0].id, "language": "fr", "split": "test", "row": 1,
        "question": "question 1", "options": {x: f"option {x}" for x in "ABCDE"},
        "answer": ["A", "C"], "several": True, "rationale": "because", "rationale_checked": True,
    }  # fmt: skip
    assert second["answer"] == ["A"] and second["several"]
    assert data.docs(checked_only=True) == [first]
    json.dumps([*data.docs(), data.coverage()])
    first["options"]["A"] = "changed"
    assert data.docs()[0]["options"]["A"] == "option A"
    failed = {"human_check_passed": False}
    data = french(folder(tmp_path, line(**failed), line(2, answer_idx="B", **failed)))
    assert not data.multi_answer
    with pytest.raises(DataError, match=r"Test/French\.jsonl \[fr, test\]: none of 2 rows has"):
        data.docs(checked_only=True)
    # A question that cannot be scored still says what its source asks.
    unusable = line(2, answer_idx="A,B", options=["x", "", "z"])
    assert french(folder(tmp_path, line(1), unusable)).multi_answer


# --- Places


@pytest.mark.parametrize("name", [FRENCH, "MMedBench/Test/French.jsonl"])
def test_folder_its_parent_and_the_split_itself(tmp_path, name):
    folder(tmp_path, name=name)
    folder(tmp_path, line(1), line(2), name=name.replace("Test", "Train"))
    root = (tmp_path / name).parent
    for place in (tmp_path, root.parent, root):
        data = french(place)
        assert data.n_rows == 1 and data.provenance["kind"] == "data_dir"
        assert data.provenance["name"].endswith(FRENCH)
        content = (tmp_path / name).read_bytes()
        assert data.provenance["sha256"] == hashlib.sha256(content).hexdigest()
        assert french(place, "train").n_rows == 2


def test_wrong_places(tmp_path):
    refused(tmp_path / "nowhere", "there is no such file or folder")
    refused(tmp_path, r"no Test/French\.jsonl in it \(found: nothing\)")
    folder(tmp_path, name="Test/Russian.jsonl")
    folder(tmp_path, name=".hidden/Test/French.jsonl")
    refused(tmp_path, r"no Test/French\.jsonl in it .*found: \.hidden, Test")
    loose = tmp_path / "Test" / "Russian.jsonl"
    refused(loose, r"Russian\.jsonl: not a readable zip .*give MMedBench\.zip")
    for name in ("a", "b"):
        folder(tmp_path, name=f"{name}/Test/French.jsonl")
    refused(tmp_path, r"more than once \(a/Test/French\.jsonl, b/Test/French")
    with pytest.raises(DataError, match=r"no language 'hi'\..* Known: en, es, fr, ja, ru, zh\."):
        load(RECORD, "hi")
    with pytest.raises(DataError, match=r"no split 'tests'\. Did you mean 'test'"):
        load(RECORD, "fr", "tests")


def test_read_once_and_again_after_a_change_and_never_remembered_when_bad(tmp_path):
    folder(tmp_path, name="test/french.JSONL")  # names in another case
    assert french(tmp_path) is french(tmp_path)
    folder(tmp_path, line(1), line(2), name="test/french.JSONL")
    assert french(tmp_path).n_rows == 2
    folder(tmp_path, line(answer_idx=""), name="test/french.JSONL")
    for _ in range(2):
        refused(tmp_path, r"test/french\.JSONL, row 1, field 'answer_idx'")


# --- The zip


@pytest.mark.parametrize("top", ["", "MMedBench/", "a/b/c/"])
def test_zip_is_read_without_unpacking(tmp_path, top):
    junk = {"__MACOSX/Test/French.jsonl": b"x", f"{top}Test/._French.jsonl": b"x", "README.md": b"",
            "../evil": b"x"}  # fmt: skip
    inner = tmp_path / "inner"
    inner.mkdir()
    path = zipped(inner / "MMedBench.zip", {**junk, f"{top}{FRENCH}": text(line())})
    for place in (path, inner):
        data = french(place)
        assert data.n_rows == 1
        assert data.provenance == {
            "kind": "data_dir", "name": "MMedBench.zip", "revision": None,
            "files": ["MMedBench.zip", f"{top}{FRENCH}"],
            "sha256": hashlib.sha256(text(line())).hexdigest(),
        }  # fmt: skip
    assert [file.name for file in tmp_path.rglob("*")] == ["inner", "MMedBench.zip"]


def test_errors_within_a_zip_name_zip_member_row_and_field(tmp_path):
    path = zipped(tmp_path / "own.zip", {"x/Test/French.jsonl": text(line(answer_idx="Z"))})
    said = f"{path}, member 'x/Test/French.jsonl', row 1, field 'answer_idx'"
    assert said in refused(path, "own.zip")
    path = zipped(tmp_path / "a.zip")
    refused(path, r"no Train/French\.jsonl in the zip .*Test/French\.jsonl", "train")
    two = {f"{top}/Test/French.jsonl": text(line()) for top in "ab"}
    refused(zipped(tmp_path / "b.zip", two), r"more than once \(a/Test/French\.jsonl, b/")


def test_damaged_zips(tmp_path):
    path = tmp_path / "MMedBench.zip"
    content = zipped(path).read_bytes()
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    for spoiled, said in (
        (content[:-30], r"MMedBench\.zip: not a readable zip .*download it again"),
        (content.replace(content[60:70], bytes(10), 1), r"MMedBench\.zip: not a readable zip"),
        (pointer, r"Git LFS pointer; run `git lfs pull`"), (b"", "not a readable zip"),
    ):  # fmt: skip
        path.write_bytes(spoiled)
        refused(tmp_path, said)


# --- Records, the sample, and real files


def test_records_hold_the_published_figures():
    for record in DATASETS.values():
        assert record.languages == ("en", "zh", "ja", "fr", "ru", "es")
        assert set(record.sources) == set(record.languages)
        assert all(set(counts) == set(record.languages) for counts in record.splits.values())
        assert record.licence and record.citation and record.homepage
        assert record.bundled != bool(record.hub_id)
    published = [sum(RECORD.splits[split].values()) for split in ("train", "test")]
    assert published == [45_048, 8_518]
    assert RECORD.licence == "cc-by-nc-4.0" and "2402.13963" in RECORD.citation
    assert published_path(RECORD, "zh", "train") == "Train/Chinese.jsonl"


def test_sample_is_found_in_the_package(tmp_path, monkeypatch):
    monkeypatch.setattr(mmedbench, "SAMPLE_FOLDER", tmp_path)
    folder(tmp_path, line(), name="mmedbench_demo/Test/French.jsonl")
    demo = DATASETS["mmedbench_demo"]
    data = load(demo, "fr", data_dir="/")
    assert data.provenance["kind"] == "bundled"
    assert data.provenance["name"] == "mmedbench_demo/Test/French.jsonl"
    for words, said in (
        (("fr", "test", "/nowhere"), "there is no such file or folder"),
        (("fr", "train"), "bundled sample has no train split"),
    ):
        with pytest.raises(DataError, match=said):
            load(demo, *words)


@pytest.mark.parametrize("language", LANGUAGE_NAMES)
def test_bundled_sample_matches_its_record(language):
    data = load(DATASETS["mmedbench_demo"], language)
    assert len(data.questions) == data.n_expected == 12 and data.left_out == ()
    assert data.notes == {"rationale of a sample: checked by no human": 12} and data.multi_answer
    counts = data.coverage()
    assert counts["several_right_answers"] == 4 and counts["rationales"] == 12
    assert len(data.docs(checked_only=True)) == 10


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
    assert f"{rows} questions, but {data.n_expected} were published" in caplog.text
