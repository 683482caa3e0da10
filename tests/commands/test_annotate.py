"""`xling annotate` and `xling agreement`: the sample, the page in a browser, the figures."""

from __future__ import annotations

import csv
import json
from collections import Counter

import pytest
import scripted
from annotating import data_of, export, sample, write, xling
from browser import PHONE, WIDE, Opened, axe, reload_with_its_store

from xling_tasks.commands.annotate import Item, allocate, page_data, write_page
from xling_tasks.criteria import LABELS
from xling_tasks.errors import DataError, SettingError

HOSTILE = [
    "<script>window.hacked=1</script>",
    "</script><img src=x onerror=alert(2)><!-- ]]> --> {{data}} {{script}}",
    "safe \u202eetsisnoc\u202c \u2066x\u2069 end",
    "nul \u0000 half \ud83d tag \U000e0041 emoji \U0001f600",
]
MORE, LESS, NEITHER, CONTRADICTORY = LABELS


def page_of(tmp_path, *words, name="page.html"):
    """The page's data, and what is said of it."""
    (tmp_path / name).unlink(missing_ok=True)
    printed = xling("annotate", tmp_path / "out", "--to", tmp_path / name, *words)
    return data_of(tmp_path / name), printed


# The sample


@pytest.mark.parametrize(
    ("counts", "n", "sizes"),
    [
        ((60, 25, 10, 5), 20, (12, 5, 2, 1)),  # exact quotas
        ((50, 30, 20), 7, (4, 2, 1)),  # 3.5, 2.1, 1.4: the largest remainder is the first's
        ((97, 1, 1, 1), 10, (7, 1, 1, 1)),  # at least one of each
        ((3, 2, 0, 0), 103, (3, 2, 0, 0)),  # fewer than wanted: all
        ((5, 5, 5), 2, (1, 1, 0)),  # fewer items than strata
    ],
)
def test_items_per_label(counts, n, sizes):
    allocated = allocate({str(i): count for i, count in enumerate(counts)}, n)
    assert tuple(allocated.values()) == sizes


def test_a_stratified_sample_by_language_and_seed(tmp_path):
    labels = [x for x, n in zip(LABELS, (60, 25, 10, 5)) for _ in range(n)]
    for code in ("en", "hi"):
        write(tmp_path / "out", [sample(i, x) for i, x in enumerate(labels)], code)
    data, printed = page_of(tmp_path, "--n", 20, "--seed", 3)
    counts = Counter((item["language"], item["judge_label"]) for item in data["items"])
    assert counts == {(c, x): n for c in ("en", "hi") for x, n in zip(LABELS, (12, 5, 2, 1))}
    assert "| en       | more_comprehensive | 12 of 60" in printed
    shown = [item["judge_label"] for item in data["items"]]
    assert shown != sorted(shown, key=LABELS.index)  # mixed
    of = {c: {i["question_id"] for i in data["items"] if i["language"] == c} for c in ("en", "hi")}
    assert of["en"] != of["hi"]  # a sample of its own in each language
    write(tmp_path / "out", [sample(i, x) for i, x in enumerate(labels)][::-1], "en")
    assert page_of(tmp_path, "--n", 20, "--seed", 3)[0] == data
    other, _ = page_of(tmp_path, "--n", 20, "--seed", 1)
    assert other["digest"] != data["digest"]


def test_what_is_left_out_is_counted_and_what_is_asked_for_is_refused_in_words(tmp_path):
    out = tmp_path / "out"
    write(out, [sample(0), sample(1, "no_response"), sample(2, None), sample(3, CONTRADICTORY)])
    write(out, [sample(4)], "hi", "healthqa")
    data, printed = page_of(tmp_path, "--datasets", "liveqa")
    assert sorted(item["question_id"] for item in data["items"]) == ["0", "3"]
    assert "no_response" in printed and "judge_failed" in printed and "left out: 1" in printed
    assert {item["language"] for item in page_of(tmp_path, "--languages", "hi")[0]["items"]} == {
        "hi"
    }
    with pytest.raises(SettingError, match="--languages hu: no samples.*Known: en, hi"):
        page_of(tmp_path, "--languages", "en,hu")
    page_of(tmp_path)
    with pytest.raises(DataError, match="is there already"):
        xling("annotate", out, "--to", tmp_path / "page.html")
    write(out, [sample(0, judge="judge-2")], "es")
    with pytest.raises(DataError, match=r"labels of 2 judges: judge-1; judge-2"):
        page_of(tmp_path)


def test_translations_of_answers_and_of_data(run, serve, tmp_path):
    served = serve(scripted.reply)
    from builders import saved

    metadata = {"judge": served.spec(), "translator": served.spec()}
    results = run("xlinghealth_information_demo", metadata=metadata, limit=6)
    saved(tmp_path / "out", results)
    data, _ = page_of(tmp_path, "--form", "fidelity", "--n", 4)
    assert Counter(item["language"] for item in data["items"]) == {"es": 4, "zh": 4, "hi": 4}
    rows = {row["doc"]["question_id"]: row for own in results["samples"].values() for row in own}
    for item in data["items"]:
        row, code = rows[item["question_id"]], item["language"]
        place = list(row["doc"]["text"]).index(code)
        (_, answer, _), (_, english, _) = item["texts"]
        assert (answer, english) == (row["resps"][place][0], row[f"n_claims_{code}"]["english"])
    asked = [[i["question_id"] for i in data["items"] if i["language"] == c] for c in ("es", "hi")]
    assert asked[0] == asked[1]
    words = ("--form", "meaning", "--datasets", "demo", "--languages", "hi", "--n", 5)
    xling("annotate", "--to", tmp_path / "data.html", *words)
    items = data_of(tmp_path / "data.html")["items"]
    assert len(items) == 5 and {item["language"] for item in items} == {"hi"}
    assert [text[2] for text in items[0]["texts"]] == ["en", "hi"]


# The page


class Page(Opened):
    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def export(self, path):
        with self.page.expect_download() as download:
            self.page.click("#export")
        download.value.save_as(path)
        return list(csv.DictReader(path.open(encoding="utf-8-sig", newline="")))


@pytest.fixture
def made(tmp_path):
    write(tmp_path / "out", [sample(i, x, answer=HOSTILE[i]) for i, x in enumerate(LABELS)])
    page_of(tmp_path)
    return tmp_path / "page.html"


def test_labels_by_keyboard_saved_exported_and_imported(made, browser, tmp_path):
    opened = Page(browser, made)
    opened.press("2", "n", "1")
    opened.page.fill("#comment", '=cmd "quoted",\nsecond line')
    opened.page.click("#export")
    assert "Write your name" in opened.page.inner_text("#problem")
    opened.page.fill("#annotator", "Ana")
    reload_with_its_store(opened.page)
    assert "2 of 4 done" in opened.page.inner_text("#status")
    rows = opened.export(tmp_path / "ana.csv")
    items = data_of(made)["items"]
    assert [row["label"] for row in rows] == [CONTRADICTORY, NEITHER, "", ""]
    assert [row["answer"] for row in rows] == [item["answer"] for item in items]
    assert all(row["answer"][0] == "x" for row in rows)  # Excel rounds 16 digits
    assert rows[1]["comment"].startswith("'=cmd") and rows[0]["annotator"] == "Ana"
    assert {row["model"] for row in rows} == {"some__model"} and opened.well()
    other = Page(browser, made)
    other.page.set_input_files("#import", tmp_path / "ana.csv")
    other.page.locator("#status", has_text="2 of 4 done").wait_for()
    other.press("u", "u")
    assert "Item 4 of 4" in other.page.inner_text("#place")
    assert other.export(tmp_path / "again.csv") == rows


def test_hostile_texts_stay_texts_and_a_blind_page_hides_the_judge(made, browser, tmp_path):
    opened = Page(browser, made)
    shown = [opened.page.inner_text("#texts")]
    for _ in range(3):
        opened.press("n")
        shown.append(opened.page.inner_text("#texts"))
    text = "\n".join(shown)
    assert "<script>window.hacked=1</script>" in text and "U+202E" in text and "U+0000" in text
    assert opened.page.evaluate("window.hacked") is None and opened.well()
    assert "The judge:" in opened.page.inner_text("#judge")
    page_of(tmp_path, "--blind", name="blind.html")
    blind = Page(browser, tmp_path / "blind.html")
    assert not blind.page.is_visible("#judge")
    blind.press("1")
    assert blind.page.is_visible("#judge")


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (PHONE, "dark")])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(browser, tmp_path, size, scheme):
    texts = [
        ("Answer", "هل يمكنني تناول الباراسيتامول مع الكحول؟", "ar"),
        ("Translation", "May I?", "en"),
    ]
    items = [Item("liveqa_ar", "ar", str(i), "x", texts, "0") for i in range(3)]
    write_page(
        tmp_path / "p.html", page_data("fidelity", {"form": "fidelity", "model": "m"}, items)
    )
    opened = Page(browser, tmp_path / "p.html", size, color_scheme=scheme)
    opened.unfold()
    assert axe(opened.page) == [] and opened.fits()
    assert opened.page.locator(".text").first.get_attribute("dir") == "rtl"


# Figures


def test_agreement_with_the_judge_and_among_people(tmp_path):
    labels = [MORE] * 6 + [CONTRADICTORY] * 4
    write(tmp_path / "out", [sample(i, x) for i, x in enumerate(labels)], "es")
    page_of(tmp_path)
    page = tmp_path / "page.html"
    files = [
        export(page, "Ana", lambda item: item["judge_label"]),
        export(page, "Ben", lambda item: MORE),
        export(page, "Cleo", lambda item: MORE if item["question_id"] != "9" else None),
    ]
    content = json.loads(xling("agreement", *files, "--json"))
    whole, ana, ben, _ = content["agreement"]
    # Six of ten majorities are the judge's; 9 has one vote for each label, so no majority.
    assert (whole["items"], whole["labels"], whole["ties"]) == (10, 29, 1)
    assert whole["agreement_percent"] == pytest.approx(100 * 6 / 9)
    assert whole["unanimous_percent"] == pytest.approx(100 * 6 / 9)
    assert (ana["agreement_percent"], ben["agreement_percent"]) == (100, 60)
    # By hand: 29 ratings, 25 MORE and 4 not; pairs in 9 items of 3 and one of 2.
    observed = (3 * 4 / 2 + 2) / 29
    expected = 2 * 25 * 4 / (29 * 28)
    assert whole["alpha"] == pytest.approx(1 - observed / expected)
    assert whole["published_percent"] and len(content["remarks"]) == 4 + 3
    # Two who share no item agree on none, and one who labels nothing is no annotator.
    half = export(page, "Ana", lambda item: MORE if item["question_id"] < "5" else None)
    other = export(page, "Ben", lambda item: MORE if item["question_id"] >= "5" else None)
    none = export(page, "Cleo", lambda item: None)
    whole = json.loads(xling("agreement", half, other, none, "--json"))["agreement"][0]
    assert (whole["annotator"], whole["unanimous_percent"]) == ("Ana, Ben", None)


def test_ratings_have_means_ordinal_alpha_and_published_values(tmp_path):
    texts = [("Answer", "Hola", "es"), ("Translation", "Hi", "en")]
    items = [Item("xling_information", "es", str(i), "x", texts, "0") for i in range(4)]
    page = tmp_path / "p.html"
    write_page(page, page_data("fidelity", {"form": "fidelity", "model": "m"}, items))
    files = [
        export(page, "Ana", lambda item: "4"),
        export(page, "Ben", lambda item: "5", comment="ok"),
    ]
    content = json.loads(xling("agreement", *files, "--json"))
    row = content["agreement"][0]
    assert (row["mean"], row["ratings"], row["items"]) == (4.5, 8, 4) and row["published"]
    assert row["alpha"] == pytest.approx(1 - 7 / 4)  # every pair differs: 1 - (n - 1) / 4
    assert [remark["comment"] for remark in content["remarks"]] == ["ok"] * 4


def test_what_is_no_export_is_named(tmp_path):
    write(tmp_path / "out", [sample(i) for i in range(3)])
    page_of(tmp_path)
    good = export(tmp_path / "page.html", "Ana", lambda item: NEITHER)
    with pytest.raises(DataError, match="a second time"):
        xling("agreement", good, good)
    text, bad = good.read_text(), tmp_path / "bad.csv"
    label = "bad.csv, row 2, column 'label': unknown 'neithr'. Did you mean"
    for old, new, message in (
        ("neither,,", "neithr,,", label), ("judge_label,", "x,", "has no column judge_label"),
        ("Ana", "", "row 2: no annotator"),
    ):  # fmt: skip
        bad.write_text(text.replace(old, new))
        with pytest.raises(DataError, match=message):
            xling("agreement", bad)
    semicolons = tmp_path / "excel.csv"
    semicolons.write_text("\ufeff" + text.replace(",", ";"))
    assert xling("agreement", semicolons) == xling("agreement", good)
