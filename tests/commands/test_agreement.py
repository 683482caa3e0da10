"""`xling agreement`: people's exports, made by hand and in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from annotating import CORRECTNESS, Annotator, export, sample, write, xling
from builders import pick

from xling_tasks.criteria import LABELS
from xling_tasks.errors import DataError, SettingError
from xling_tasks.output import plain

MORE, LESS, NEITHER, CONTRADICTORY = LABELS
PAGE = "0123456789abcdef"


def item(number, label, *, judge=NEITHER, sound=True, language="en", comment="", **more):
    """An item as the page exports it."""
    task = f"{CORRECTNESS}{language}"
    return {
        "id": f"{task}/{number}", "task": task, "language": language, "question_id": str(number),
        "judge_label": judge, "agree_label": None if label is None else label == judge,
        "agree_reasoning": sound, "label": label, "comment": comment, **more,
    }  # fmt: skip


def stratum(population, sample):
    """The sizes of a stratum as the page exports them."""
    task = f"{CORRECTNESS}en"
    return {"task": task, "label": NEITHER, "population": population, "sample": sample}


def result(tmp_path, *words):
    page = xling("agreement", *words, "--to", tmp_path / "to")
    assert (tmp_path / "to/agreement.md").read_text(encoding="utf-8") == page + "\n"
    return json.loads((tmp_path / "to/agreement.json").read_text(encoding="utf-8")), page


def files_of(tmp_path, table, names=("anna", "bo", "chi"), **more):
    """Annotators' files from rows of their labels; the judge says `neither` everywhere."""
    return [
        export(tmp_path / f"{name}{more.get('page_digest', '')}.json", name,
               [item(i, row[place]) for i, row in enumerate(table)], **more)
        for place, name in enumerate(names)
    ]  # fmt: skip


def test_majority_percent_and_alpha(tmp_path):
    table = [
        (NEITHER, NEITHER, NEITHER),  # unanimous, as the judge
        (NEITHER, NEITHER, LESS),  # majority as the judge
        (MORE, MORE, NEITHER),  # majority, another one
        (MORE, LESS, NEITHER),  # a tie
        (LESS, None, None),  # one label only
        (None, None, None),
    ]
    figures, page = result(tmp_path, *files_of(tmp_path, table))
    row = pick(figures["agreement"], language="en")
    # alpha: four items with two labels or more, all with three: n = 12, of them neither 7, more 3,
    # less 2. Expected 144 - 49 - 9 - 4 = 82. Observed (9 - sum of squares) / 2 per item:
    # 0, (9 - 5) / 2 = 2, 2, (9 - 3) / 2 = 3: 7. alpha = 1 - 11 * 7 / 82.
    assert row.pop("alpha") == pytest.approx(1 - 77 / 82)
    assert row == {
        "batch": PAGE, "language": "en", "items": 6, "annotators": 3, "labels": 13,
        "missing_labels": 5, "majority": 4, "ties": 1, "no_label": 1, "agreement_percent": 50.0,
        "reasoning_percent": 100.0, "unanimous_percent": 25.0,
        "unanimous_with_judge_percent": 25.0, "published_percent": [96.08, 92.31]}  # fmt: skip
    assert pick(figures["annotators"], annotator="anna")["agreement_percent"] == 40.0  # 2 of 5
    assert pick(figures["annotators"], annotator="chi")["labels"] == 4
    assert [row["question_id"] for row in figures["disagreements"]] == ["1", "2", "3", "4"]
    assert [row["majority"] for row in figures["disagreements"]] == [NEITHER, MORE, None, LESS]
    assert "96.08, 92.31" in page and "0.06" in page
    (batch,) = figures["batches"]
    assert batch["annotators"] == ["anna", "bo", "chi"] and batch["judge"] == "judge-1"


def test_all_with_the_judge_is_less_than_all_alike(tmp_path):
    """XLingEval's 74.74% counts the items in which all three have the judge's label."""
    wrong = "reference_wrong"
    table = [(NEITHER,) * 3, (LESS,) * 3, (wrong,) * 3, (wrong, "both_wrong", NEITHER)]
    figures, page = result(tmp_path, *files_of(tmp_path, table))
    row = pick(figures["agreement"], language="en")
    assert (row["unanimous_percent"], row["unanimous_with_judge_percent"]) == (75.0, 25.0)
    assert [r["majority"] for r in figures["disagreements"]] == [LESS, wrong, None]
    assert "both_wrong" in page.replace("\\", "")


def test_a_table_of_the_paper(tmp_path):
    """49 of 51 and 48 of 52 English items, as in Table A7."""
    files = []
    for page, n, hits in (("a", 51, 49), ("b", 52, 48)):
        table = [(NEITHER if i < hits else LESS,) * 3 for i in range(n)]
        files += files_of(tmp_path, table, page_digest=page)
    figures, _ = result(tmp_path, *files)
    assert [round(row["agreement_percent"], 2) for row in figures["agreement"]] == [96.08, 92.31]


def test_undefined_is_empty(tmp_path):
    nothing = export(tmp_path / "a.json", "anna", [item(0, None, sound=None)])
    figures, page = result(tmp_path, nothing)
    row = figures["agreement"][0]
    names = ("agreement_percent", "reasoning_percent", "unanimous_percent", "alpha")
    assert [row[name] for name in names] == [None] * 4 and row["no_label"] == 1
    assert "Nobody disagrees" in page
    figures, _ = result(tmp_path, *files_of(tmp_path, [(NEITHER, NEITHER)], ("anna", "bo")))
    row = figures["agreement"][0]
    assert [row[name] for name in names] == [100.0, 100.0, 100.0, None]


def test_languages_and_pages_are_apart(tmp_path):
    both = [item(0, NEITHER, language="hi"), item(0, LESS, language="sw")]
    one = export(tmp_path / "a.json", "anna", both)
    two = export(tmp_path / "b.json", "anna", both[:1], page_digest="other", seed=1)
    figures, _ = result(tmp_path, one, two)
    rows = [(r["batch"], r["language"], r["agreement_percent"]) for r in figures["agreement"]]
    assert rows == [(PAGE, "hi", 100.0), (PAGE, "sw", 0.0), ("other", "hi", 100.0)]
    assert figures["agreement"][1]["published_percent"] == []
    assert [batch["seed"] for batch in figures["batches"]] == [0, 1]


def test_disagreements_with_the_reasoning_and_without_a_label(tmp_path):
    hostile = "<script>alert(1)</script> | a\n## b `c` \ud83d"
    items = [
        item(0, NEITHER, sound=False, comment=hostile),
        item(1, None, agree_label=False),
        item(2, None, agree_label=None, sound=None),
    ]
    figures, page = result(tmp_path, export(tmp_path / "a.json", "# an|na", items))
    assert [row["question_id"] for row in figures["disagreements"]] == ["0", "1"]
    assert figures["disagreements"][0]["said"][0]["comment"] == hostile
    assert "another label" in page and "reasoning flawed" in page
    assert "<script>" not in page.replace("\\<script>", "") and "\n## b" not in page
    assert pick(figures["annotators"], annotator="# an|na")["disagree_only"] == 1
    assert "\n- \\# an\\|na: " in page  # no heading within a list
    assert "| \\# an\\|na " in page and "\\\\" not in page  # escaped, and once
    assert figures["agreement"][0]["reasoning_percent"] == 50.0


def test_a_disagreement_without_a_label_counts_against_the_judge(tmp_path):
    """One of three agrees, two say only that the label is wrong: no agreement of 100 percent."""
    # Yes: agrees; no: another label, which is not named; "-": nothing said.
    table = {"a": "yyy", "b": "ny-", "c": "nnn"}
    said = {"y": (NEITHER, {}), "n": (None, {"agree_label": False}), "-": (None, {})}
    files = [
        export(tmp_path / name, name, [item(i, said[k][0], **said[k][1]) for i, k in enumerate(own)])
        for name, own in table.items()
    ]  # fmt: skip
    figures, _ = result(tmp_path, *files)
    (row,) = figures["agreement"]
    assert (row["majority"], row["ties"], row["no_label"]) == (2, 1, 0)
    assert row["agreement_percent"] == 50.0
    assert pick(figures["annotators"], annotator="b")["agreement_percent"] == 50.0
    assert pick(figures["annotators"], annotator="c")["labels"] == 0
    assert figures["disagreements"][0]["majority"] == "another label"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "no export of a page"),
        ({"version": 2}, "version 2, this program reads 1"),
        ({"annotator": " "}, "'annotator': a text is expected; write a name"),
        ({"page_digest": 3}, "'page_digest'"),
        ({"items": []}, "'items': a list of items"),
        ({"items": [item(0, NEITHER), 3]}, "item 2: an object"),
        ({"items": [item(0, NEITHER), item(0, NEITHER)]}, "item 2: .*appears twice"),
        ({"items": [item(0, "nether")]}, "item 1, field 'label': unknown label 'nether'. Did you mean 'neither'"),
        ({"items": [item(0, NEITHER, judge="x")]}, "field 'judge_label': unknown label 'x'"),
        ({"items": [item(0, ["neither"])]}, "unknown label"),
        ({"items": [item(0, NEITHER, agree_label=False)]}, "'agree_label' is false, but 'label' is 'neither'"),
        ({"items": [item(0, NEITHER, sound="yes")]}, "'agree_reasoning': true, false or null"),
        ({"items": [item(0, NEITHER, agree_label=1)]}, "'agree_label': true, false or null"),
        ({"items": [item(0, NEITHER, language=None, task="t")]}, "item 1, field 'language'"),
        ({"strata": {}}, "'strata': a list"),
        ({"strata": []}, "'strata': none for xlinghealth_correctness_liveqa_en, 'neither'"),
        ({"strata": [3]}, "stratum 1: an object"),
        ({"strata": [stratum(9, 2)]}, "stratum 1: population 9, sample 2, but the file has 1 items"),
        ({"strata": [stratum(0, 1)]}, "stratum 1: population 0, sample 1"),
        ({"strata": [stratum("9", 1)]}, "stratum 1: population '9'"),
        ({"strata": [stratum(9, 1), stratum(9, 1)]}, "stratum 2: .* appears twice"),
    ],
)  # fmt: skip
def test_errors_name_file_item_and_field(tmp_path, change, message):
    content = {"annotator": "anna", "items": [item(0, NEITHER)], **change}
    with pytest.raises(DataError, match=rf"anna\.json.*{message}"):
        xling("agreement", export(tmp_path / "anna.json", **content))


def test_errors_of_files_that_do_not_fit_together(tmp_path):
    one, two, three = (tmp_path / f"{name}.json" for name in "abc")
    export(one, "Anna", [item(0, NEITHER)])
    for name, items, more, message in (
        (" anna ", [item(0, LESS)], {}, r"b\.json and .*a\.json are both by 'anna' on page 0123"),
        ("bo", [item(1, LESS)], {}, r"b\.json and .*different items"),
        ("bo", [item(0, LESS), item(1, LESS)], {}, r"b\.json and .*different items"),
        ("bo", [item(0, MORE, judge=LESS)], {}, r"b\.json and .*item .* differs in .*judge_label"),
        ("bo", [item(0, MORE)], {"seed": 2}, "different items or settings"),
    ):
        with pytest.raises(DataError, match=message):
            xling("agreement", one, export(two, name, items, **more))
    for content in (b"{", b"\xff{}"):
        three.write_bytes(content)
        with pytest.raises(DataError, match=r"c\.json: not valid JSON"):
            xling("agreement", three)
    with pytest.raises(DataError, match=r"none\.json: there is no such file"):
        xling("agreement", tmp_path / "none.json")
    with pytest.raises(DataError, match=r"--to .*a\.json"):
        xling("agreement", one, "--to", one)
    with pytest.raises(SettingError, match="is not empty and holds no agreement"):
        xling("agreement", one, "--to", tmp_path)


def make_page(tmp_path, *words):
    """A page of three items, whose judge says neither, contradictory and less comprehensive."""
    for code, label in (("en", NEITHER), ("hi", CONTRADICTORY), ("zh", LESS)):
        texts = {"question": f"{code} <b>asks</b>?", "reference": "Rest.", "answer": "Sleep."}
        write(tmp_path / "out", [sample(1, label, "Reasons.", **texts)], code)
    path = tmp_path / "page.html"
    xling("annotate", tmp_path / "out", "--to", path, *words)
    return path


def annotate_in(browser, path, name, keys):
    """One annotator in a browser of their own; returns their file."""
    page = Annotator(browser, path).named(name)
    page.press(*keys)
    saved = page.export()
    page.close()
    return saved


def test_three_annotators_in_the_browser(tmp_path, browser):
    path = make_page(tmp_path)
    keys = {"Anna": "asnasnas", "Bo": "asnd3fnas", "Chi": "asnd3fn1s"}
    files = [annotate_in(browser, path, name, own) for name, own in keys.items()]
    content, page = result(tmp_path, *files, "--pages", path)
    names = ("agreement_percent", "reasoning_percent", "unanimous_percent", "published_percent")
    assert {r["language"]: tuple(r[name] for name in names) for r in content["agreement"]} == {
        "en": (100.0, 100.0, 100.0, [96.08, 92.31]),
        "hi": (0.0, pytest.approx(0.0), 0.0, [84.31, 84.62]),
        "zh": (100.0, 100.0, 0.0, [70.59, 84.62]),
    }
    hindi, chinese = content["disagreements"]
    assert hindi["majority"] == MORE and chinese["majority"] == LESS
    assert hindi["texts"] == {"question": "hi <b>asks</b>?", "reference": "Rest.",
                              "answer": "Sleep.", "reply": "Reasons."}  # fmt: skip
    assert "> Question: hi \\<b>asks\\</b>?" in page and "> Judge: Reasons." in page
    (batch,) = content["batches"]
    assert batch["annotators"] == list(keys) and batch["files"] == [f.name for f in files]


def test_blind_annotators_in_the_browser(tmp_path, browser):
    file = annotate_in(browser, make_page(tmp_path, "--blind"), "Anna", "1vsn1vfn4")
    figures, _ = result(tmp_path, file)
    assert [row["agreement_percent"] for row in figures["agreement"]] == [100.0, 0.0, None]
    assert figures["batches"][0]["blind"] is True


def test_wrong_pages(tmp_path):
    path = make_page(tmp_path)
    one = export(tmp_path / "a.json", "Anna", [item(0, NEITHER)])
    with pytest.raises(DataError, match=rf"is page \w+, but the files belong to {PAGE}"):
        xling("agreement", one, "--pages", path)
    for content in ("<p>", re.sub('"items"', '"other"', path.read_text(encoding="utf-8"))):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(DataError, match=r"page\.html: no page of"):
            xling("agreement", one, "--pages", path)
    with pytest.raises(DataError, match="no such file"):
        xling("agreement", one, "--pages", Path("none.html"))


def test_names_and_comments_stay_what_they_are_in_markdown():
    assert plain("max_gen_toks: -1 in a > b, c#d") == "max_gen_toks: -1 in a > b, c#d"
    assert plain("# x\n*y* _z_ __i__") == r"\# x \*y\* \_z\_ \_\_i\_\_"
    assert plain("> [a](b) <b> `c` | &lt; \\") == "\\> [a\\](b) \\<b> \\`c\\` \\| \\&lt; \\\\"
    assert plain("- \ud83d") == r"\- ?"
