"""`xling annotate`: the sample, and the page in a real browser, by keys, by Tab and for axe-core."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import partial

import pytest
from annotating import CORRECTNESS, HOSTILE, Annotator, data_of, rating_page, sample, write, xling
from browser import PHONE, WIDE, Opened, axe, reload_with_its_store, share_a_store
from builders import STAMP, saved

from xling_tasks.commands.annotate.draw import allocate
from xling_tasks.commands.annotate.page import render
from xling_tasks.criteria import LABELS
from xling_tasks.criteria.labels import MEANINGS
from xling_tasks.errors import DataError, SettingError
from xling_tasks.logs.annotations import OTHER_LABELS
from xling_tasks.pages.offline import as_block
from xling_tasks.scorers.answered import replies_of

TEXTS = {
    "ar": "هل يمكنني تناول الباراسيتامول مع الكحول؟",
    "hi": "क्या मैं बुखार में पैरासिटामोल ले सकता हूँ?",
    "zh": "发烧时可以服用对乙酰氨基酚吗？请问需要注意什么？",
}


def page_of(tmp_path, *words, name="page.html"):
    """The page's data, and what is said of it."""
    if (tmp_path / name).parent.is_dir():
        (tmp_path / name).unlink(missing_ok=True)
    printed = xling("annotate", tmp_path / "out", "--to", tmp_path / name, *words)
    return data_of(tmp_path / name), printed


def labelled(counts=(60, 25, 10, 5)):
    labels = [label for label, n in zip(LABELS, counts) for _ in range(n)]
    return [sample(i, label) for i, label in enumerate(labels)]


# The sample


@pytest.mark.parametrize(
    ("counts", "n", "sizes"),
    [
        ((60, 25, 10, 5), 20, (12, 5, 2, 1)),  # exact quotas
        ((50, 30, 20), 7, (4, 2, 1)),  # 3.5, 2.1, 1.4: the largest remainder is the first's
        ((97, 1, 1, 1), 10, (7, 1, 1, 1)),  # 9.7, 0.1, 0.1, 0.1: at least one of each
        ((997, 1, 0, 2), 4, (2, 1, 0, 1)),  # none where there is none
        ((3, 2, 0, 0), 103, (3, 2, 0, 0)),  # fewer than wanted: all
        ((0, 0, 0, 0), 103, (0, 0, 0, 0)),
        ((1, 1, 1, 1), 4, (1, 1, 1, 1)),
    ],
)
def test_items_per_label(counts, n, sizes):
    allocated = allocate({str(i): count for i, count in enumerate(counts)}, n)
    assert tuple(allocated.values()) == sizes


def test_a_stratified_sample_per_language_depends_on_the_seed_and_not_on_the_order_of_lines(
    tmp_path,
):
    out = tmp_path / "out"
    write(out, labelled(), "en")
    write(out, labelled((99, 0, 0, 1)), "hi")
    data, printed = page_of(tmp_path, "--n", 20, "--seed", 3)
    assert "12 of 60" in printed and data["digest"] in printed
    made = dict(data["made"])
    strata = {(row["task"][-2:], row["label"]): row for row in made.pop("strata")}
    assert made.pop("answers").keys() == {item["id"] for item in data["items"]}
    assert made == {"seed": 3, "n": 20, "blind": False, "judge": "judge-1"}
    expected = dict(zip([("en", x) for x in LABELS], ((60, 12), (25, 5), (10, 2), (5, 1))))
    expected |= {("hi", LABELS[0]): (99, 19), ("hi", LABELS[3]): (1, 1)}
    sizes = {key: (row["population"], row["sample"]) for key, row in strata.items()}
    assert sizes == expected
    there = Counter((item["language"], item["judge_label"]) for item in data["items"])
    assert there == {key: n for key, (_, n) in expected.items()}
    assert [entry["name"] for entry in data["languages"]] == ["English", "Hindi"]
    # Labels are mixed, not shown one after the other.
    own = [item["judge_label"] for item in data["items"] if item["language"] == "en"]
    assert own != sorted(own, key=LABELS.index)
    text = (tmp_path / "page.html").read_bytes()
    write(out, labelled()[::-1], "en")
    assert page_of(tmp_path, "--n", 20, "--seed", 3)[0] == data
    assert (tmp_path / "page.html").read_bytes() == text
    other, _ = page_of(tmp_path, "--n", 20, "--seed", 1)
    ids = {i["id"] for i in data["items"]}
    assert other["digest"] != data["digest"] and {i["id"] for i in other["items"]} != ids
    # Nested: a larger sample of the same seed only adds within a label.
    larger, _ = page_of(tmp_path, "--n", 40, "--seed", 3)
    assert ids <= {i["id"] for i in larger["items"]}


def test_every_item_has_the_same_chance(tmp_path):
    write(tmp_path / "out", [sample(i) for i in range(20)])
    counts = Counter()
    for seed in range(80):
        data, _ = page_of(tmp_path, "--n", 5, "--seed", seed)
        counts.update(item["question_id"] for item in data["items"])
    # 80 * 5 / 20 = 20 expected, standard deviation 3.9; four of them on either side.
    assert len(counts) == 20 and all(4 < count < 36 for count in counts.values())


def test_only_the_newest_judged_answers_of_correctness_and_the_rest_is_counted(tmp_path):
    out = tmp_path / "out"
    write(out, [sample(9, answer="old")], stamp="2025-01-02T03-04-05.678901")
    rows = [sample(0), sample(1, "no_response", ""), sample(2, None, None)]
    rows += [sample(3, "contradictory"), {**sample(0, "contradictory"), "filter": "second"}]
    write(out, rows)
    (out / f"some__model/samples_xlinghealth_verifiability_liveqa_en_{STAMP}.jsonl").write_text("x")
    data, printed = page_of(tmp_path)
    assert sorted(item["question_id"] for item in data["items"]) == ["0", "3"]
    header, _, row = printed.splitlines()[:3]
    cells = dict(zip(map(str.strip, header.split("|")), map(str.strip, row.split("|"))))
    assert cells["left out: no_response"] == cells["left out: judge_failed"] == "1"


def test_languages_and_datasets(tmp_path):
    out = tmp_path / "out"
    for language in ("en", "hi"):
        for dataset in ("liveqa", "healthqa"):
            write(out, [sample(0)], language, dataset)
    data, _ = page_of(tmp_path, "--languages", "hi", "--datasets", "liveqa, healthqa")
    shown = [(item["language"], item["dataset"]) for item in data["items"]]
    assert sorted(shown) == [("hi", "healthqa"), ("hi", "liveqa")]
    assert len({item["id"] for item in data["items"]}) == 2
    for words, message in (
        (("--languages", "en,hu"), r"--languages hu: no samples of it.*Known: en, hi"),
        (("--datasets", "livqa"), r"--datasets livqa.*Did you mean 'liveqa'"),
        (("--datasets", ","), r"--datasets ,"),
        (("--n", 3), "--n 3: at least 4"),
    ):
        with pytest.raises(SettingError, match=message):
            page_of(tmp_path, *words)


def test_errors_in_samples_and_of_folders(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(DataError, match="no such folder"):
        page_of(tmp_path)
    out.mkdir()
    with pytest.raises(DataError, match=r"no samples of correctness.*judge"):
        page_of(tmp_path)
    unjudged = {key: own for key, own in sample(0).items() if key != "n_judged"}
    changes = (
        ({"n_judged": {"label": "good", "reply": "", "judge": ""}}, "row 2.*unknown label 'good'"),
        ({"n_judged": 1.0}, "row 2.*no label with its reply.*--log_samples"),
        ({"doc": {"question_id": "5", "question": "?"}}, "row 2.*'reference'"),
        ({"doc": sample(0)["doc"]}, "row 2: .*question '0' stands there twice"),
        ({"n_judged": {"label": "neither", "reply": "", "judge": "other"}}, "labels of 2 judges"),
    )
    for rows, message in (
        *(([sample(0), {**sample(1), **change}], message) for change, message in changes),
        ([unjudged], r"have no judge's labels.*needs correctness with a judge"),
        ([], "no questions are there"),
        ([sample(0, None, None)], "no answer has a label"),
    ):
        write(out, rows)
        with pytest.raises(DataError, match=message):
            page_of(tmp_path)
    write(out, [sample(0)])
    with pytest.raises(SettingError, match=r"ends in .html"):
        page_of(tmp_path, name="page.json")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="--to"):
        page_of(tmp_path, name="file/page.html")
    page_of(tmp_path)
    with pytest.raises(DataError, match="page.html: is there already"):  # people may be at work
        xling("annotate", out, "--to", tmp_path / "page.html")


def test_a_run_of_the_harness(tmp_path, run, serve):
    def reply(prompt):
        return '{"reasoning": "Reasons.", "verdict": "contradictory"}'

    task = "xlinghealth_correctness_demo_zh"
    results = run(task, metadata={"judge": serve(reply).spec()})
    saved(tmp_path / "out", results)
    data, _ = page_of(tmp_path, "--n", 10)
    logged = {s["doc"]["question_id"]: s for s in results["samples"][task]}
    assert len(data["items"]) == 10
    for item in data["items"]:
        assert item["answer"] == logged[item["question_id"]]["filtered_resps"][0]
        assert item["judge_label"] == "contradictory" and "Reasons." in item["reply"]


# The page


@pytest.fixture
def opened(browser):
    """`opened(path, ...)`: a page in a context of its own."""
    return partial(Annotator, browser)


@pytest.fixture
def three(tmp_path):
    """The page of three items in three languages."""
    for code, text in TEXTS.items():
        texts = {"question": text, "answer": text * 4, "reference": text * 9}
        write(tmp_path / "out", [sample(7, "contradictory", **texts)], code)
    page_of(tmp_path)
    return tmp_path / "page.html"


def test_three_items_by_keyboard_then_reload_export_and_import(tmp_path, opened, three):
    page = opened(three)
    # The guide counts the labels that there are.
    data = data_of(three)
    guide = " ".join(page.page.locator("#guide").text_content().split())
    of_people, n = len(OTHER_LABELS), len(data["labels"])
    assert f"one of the last {of_people} if answer 1 itself is wrong" in guide
    assert f"the first of the other {n - of_people} that applies" in guide
    assert page.page.locator("#last-label").text_content() == str(n) == "6"
    assert page.page.locator("#own kbd").all_text_contents() == [str(i + 1) for i in range(n)]
    page.page.click("#export")
    assert "Write your name" in page.text("#problem")
    assert page.page.evaluate("document.activeElement.id") == "annotator"
    page.page.keyboard.type("Anna ad12 Ü.")  # letters that are keys elsewhere
    assert page.checked() == {}
    page.press("Escape", "a", "s")  # agrees with both
    assert page.checked() == {"agree_label": "yes", "agree_reasoning": "yes"}
    assert "1 of 3 items done" in page.text("#status")
    assert "Arabic: 1 of 1" in page.text("#languages")
    page.press("n", "d", "f")
    assert "1 of 3 items done" in page.text("#status")  # their own label is missing
    assert page.page.locator("#own label:visible").count() == 5  # the judge's is not offered
    page.press("1", "c")
    page.page.keyboard.type("Not so, as 2 says.")
    page.press("Escape")
    assert page.page.evaluate("document.activeElement.id") == "place"
    page.press("u", "3")  # the next open item; a label of their own says that they disagree
    assert page.checked() == {"agree_label": "no", "label": "more_comprehensive"}
    assert page.text("#place").startswith("Item 3 of 3: Chinese, liveqa, question 7")

    reload_with_its_store(page.page)
    assert page.checked() == {"agree_label": "no", "label": "more_comprehensive"}
    assert "2 of 3 items done" in page.text("#status")
    assert page.page.input_value("#annotator") == "Anna ad12 Ü."
    page.press("p")
    assert page.page.input_value("#comment") == "Not so, as 2 says."
    exported = page.export()
    assert exported.name == f"annotations_Anna-ad12-Ü-_{data['digest']}.json"
    content = json.loads(exported.read_text(encoding="utf-8"))
    assert {key: content[key] for key in content if key != "items"} == {
        "format": "xling-annotations", "version": 1, "page_digest": data["digest"],
        "annotator": "Anna ad12 Ü.", "seed": 0, "n": 103, "blind": False, "judge": "judge-1",
        "strata": data["made"]["strata"], "answers": data["made"]["answers"]}  # fmt: skip
    assert sum(row["sample"] for row in content["strata"]) == 3
    common = {"question_id": "7", "judge_label": "contradictory"}
    said = [
        ("ar", True, True, "contradictory", ""),
        ("hi", False, False, "neither", "Not so, as 2 says."),
        ("zh", False, None, "more_comprehensive", ""),
    ]
    assert content["items"] == [
        {"id": f"{CORRECTNESS}{code}/7", "task": CORRECTNESS + code, "language": code, **common,
         "agree_label": agree, "agree_reasoning": reasoning, "label": label, "comment": comment}
        for code, agree, reasoning, label, comment in said]  # fmt: skip
    page.press("a")
    assert page.checked()["agree_label"] == "yes" and page.well()

    other = opened(three)  # another browser
    assert other.checked() == {}
    good = {"format": "xling-annotations", "version": 1, "page_digest": "x", "items": []}
    digest = data["digest"]
    for wrong, message in (
        ("{", "was not imported"),
        ("null", "no export of such a page"),
        (json.dumps({**good, "version": 2}), "its version is 2"),
        (json.dumps(good), f"belongs to page x, this is {digest}"),
        (json.dumps({**good, "page_digest": digest, "items": [{"id": "y"}]}), "has items that"),
    ):
        (tmp_path / "wrong.json").write_text(wrong)
        other.page.set_input_files("#import", tmp_path / "wrong.json")
        other.page.locator("#problem", has_text=message).wait_for()
    other.page.set_input_files("#import", exported)
    other.page.locator("#status", has_text="Imported").wait_for()
    assert "2 of 3 items done" in other.text("#status")
    again = json.loads(other.export(tmp_path / "again.json").read_text(encoding="utf-8"))
    assert again == content and other.well()
    other.page.click("#restart")
    assert other.checked() == {} and len(other.noise) == 1  # it asks
    assert "0 of 1" in other.text("#languages")


def test_hostile_texts_are_shown_and_do_nothing(tmp_path, opened):
    texts = list(HOSTILE.values())
    rows = [sample(i, reply=t, answer=t, question=t, reference=t) for i, t in enumerate(texts)]
    write(tmp_path / "out", [*rows, sample("<b>id</b>")])
    data, _ = page_of(tmp_path)
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert html.count("<script") == html.count("</script>") == 2 and "<img" not in html
    block = html.split('id="page">')[1].split("</script>")[0]
    assert not set(block) & set("<>&\u2028\u2029\ufeff")
    answers = {item["question_id"]: item["answer"] for item in data["items"]}
    answers.pop("<b>id</b>")
    assert answers == {str(i): replies_of(text)[0] for i, text in enumerate(texts)}
    assert json.loads(as_block(HOSTILE)) == HOSTILE and set(MEANINGS) == set(LABELS)
    page = opened(tmp_path / "page.html")
    controls = re.compile(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff"
        "\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
    )
    seen = []
    for place in range(len(rows) + 1):
        page.page.select_option("#jump", index=place)
        number = page.text("#place").rpartition(" ")[2]
        if number == "<b>id</b>":
            continue
        seen.append(number)
        text = texts[int(number)].replace("\r\n", "\n")
        literal = controls.sub(lambda match: f"U+{ord(match[0]):04X}", text)
        for name in ("question", "reference", "reply", "answer"):
            shown = page.page.locator(f"#{name}").evaluate("(node) => node.textContent")
            # The answer is read out of the reply, in which half a letter has become U+FFFD.
            answer = literal.strip().replace("U+D83D", "\ufffd")
            expected = answer if name == "answer" else literal
            assert shown.encode("utf-8", "replace") == expected.encode("utf-8", "replace"), name
            inside = page.page.locator(f"#{name} *:not(.control)").count()
            boxes = page.page.locator(f"#{name} .control").count()
            lost = name == "answer" and "\ud83d" in text
            assert inside == 0 and boxes == len(controls.findall(text)) - lost
    assert sorted(seen) == [str(i) for i in range(len(texts))]
    assert page.page.evaluate("window.hacked") is None and page.well()
    assert page.page.locator("img, iframe, object, body script ~ img").count() == 0
    assert page.page.evaluate("document.querySelectorAll('*').length") < 400
    # What the policy forbids, should a mistake ever let it in.
    for attempt in (
        "document.body.innerHTML = '<img src=x onerror=alert(5)>'",
        "document.body.appendChild(document.createElement('script')).text = 'alert(6)'",
    ):
        with pytest.raises(Exception, match="TrustedHTML|TrustedScript"):
            page.page.evaluate(f"() => {{ {attempt} }}")
    assert not any("alert" in said for said in page.noise)


def test_blind_choices_come_first_and_stay(tmp_path, opened, three):
    page_of(tmp_path, "--blind")
    page = opened(three).named("Bo")
    page.press("a", "s")
    assert page.checked() == {} and not page.page.is_visible("#verdict")
    page.press("v")
    assert not page.page.is_visible("#verdict")  # no label is chosen yet
    page.press("3", "2", "v")
    assert page.page.is_visible("#verdict")
    page.press("1", "s", "n", "4", "v", "f", "n", "1")
    content = json.loads(page.export().read_text(encoding="utf-8"))
    assert content["blind"] is True
    assert [(i["agree_label"], i["agree_reasoning"], i["label"]) for i in content["items"]] == [
        (True, True, "contradictory"), (False, False, "less_comprehensive"), (None, None, "neither")]  # fmt: skip
    assert "2 of 3 items done" in page.text("#status")
    reload_with_its_store(page.page)
    assert not page.page.is_visible("#verdict") and page.checked() == {"label": "neither"}
    page.press("p")
    assert page.page.is_visible("#verdict") and page.page.is_disabled("#own input >> nth=0")
    assert page.well()


@pytest.mark.parametrize("size", [PHONE, WIDE])
def test_it_fits_and_reads_in_every_script(tmp_path, opened, three, size):
    long = {"answer": "long" * 25_000, "reference": "http://x.org/" + "a" * 500}
    write(tmp_path / "out", [sample(1, **long)])
    page_of(tmp_path)
    page = opened(three, size)
    for place, code in enumerate(("ar", "en", "hi", "zh")):
        page.page.select_option("#jump", index=place)
        page.press("d")
        assert page.page.get_attribute("#answer", "lang") == code and page.fits()
        style = "(e) => [getComputedStyle(e).direction, getComputedStyle(e).textAlign]"
        shown = page.page.locator("#question").evaluate(style)
        assert shown == ["rtl" if code == "ar" else "ltr", "start"]
    page.page.emulate_media(media="print")
    assert not page.page.is_visible(".steps") and page.page.is_visible("#answer") and page.well()


def test_keys_of_other_scripts_and_without_keys(opened, three):
    page = opened(three)
    send = """([key, code]) => document.body.dispatchEvent(
        new KeyboardEvent('keydown', {bubbles: true, key, code}))"""
    disagrees = {"agree_label": "no", "label": "neither", "agree_reasoning": "no"}
    for keys, chosen in (
        ((("ب", "KeyF"), ("१", "Digit1")), disagrees),  # an Arabic keyboard, Hindi digits
        # AZERTY: letters by their label, digits without Shift; the second label is the judge's.
        ((("é", "Digit2"),), {"agree_label": "yes"}),
        ((("&", "Digit1"), ("q", "KeyA")), {"label": "neither"}),
        ((("a", "KeyQ"),), {"agree_label": "yes"}),
        ((("в", "KeyD"), ("Dead", "Digit1")), disagrees),  # Cyrillic and a dead key by their place
    ):
        for key in keys:
            page.page.evaluate(send, key)
        assert page.checked() == page.checked() | chosen
    page.press("Control+s")
    page.page.click("#guide summary")
    page.page.uncheck("#keys")
    page.press("s", "a")
    assert page.checked() == disagrees and page.well()


def test_two_tabs_share_what_is_chosen_and_a_full_browser_says_so(opened, three):
    for _ in range(20):
        page = opened(three)
        second = page.context.new_page()
        second.goto(page.url)
        if share_a_store(page.page, second):
            break
    page.press("n", "a", "s")
    second.locator("#status", has_text="1 of 3 items").wait_for()
    assert second.inner_text("#place").startswith("Item 1 of 3")  # where it was
    second.close()
    full = "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); }"
    page.page.evaluate(f"() => {{ {full} }}")
    assert page.text("#problem") == "" and page.well()
    page.press("f")
    assert "does not save" in page.text("#problem") and page.checked()["agree_reasoning"] == "no"
    kinds = []
    page.page.on("dialog", lambda dialog: kinds.append(dialog.type))
    page.page.reload()
    assert kinds == ["beforeunload"] and len(page.noise) == 1


def test_what_was_saved_and_cannot_be_read_is_told(opened, three):
    page, data = opened(three), data_of(three)
    key = f"xling-annotate:{data['digest']}"

    def reload_with(kept):
        page.page.evaluate("([k, v]) => localStorage.setItem(k, v)", [key, kept])
        reload_with_its_store(page.page)

    for kept in ("{", '{"items": 3}'):
        reload_with(kept)
        assert "cannot be read" in page.text("#problem") and page.checked() == {}
        page.press("a")  # is not written over it
        aside = "(k) => localStorage.getItem(k)"
        assert page.page.evaluate(aside, f"{key}:unread") == kept
    odd = {"label": "bad", "agree_label": "yes", "agree_reasoning": True, "comment": 5}
    odd["id"] = data["items"][0]["id"]
    reload_with(json.dumps({"annotator": 3, "at": 99, "items": [{"id": "x"}, odd]}))
    assert page.checked() == {"agree_reasoning": "yes"}
    assert page.text("#place").startswith("Item 1 ") and page.well()


def test_render_fills_every_place_once():
    data = {"digest": "d", "made": {"blind": False}, "labels": [], "languages": []}
    html = render({**data, "items": [{"x": "{{digest}}"}]})
    left = html.replace('"{{digest}}"', "")
    assert '"{{digest}}"' in html and not re.search(r"\{\{\w+\}\}", left)
    assert "require-trusted-types-for 'script'" in html and "unsafe" not in html


# axe-core finds nothing, and Tab, Space and arrows do everything


def judged(tmp_path, *words):
    """The page of a judge's check, an item per language."""
    for code, text in TEXTS.items():
        texts = {"question": text, "reference": f"{text} {HOSTILE['bidi']}", "answer": text * 5}
        write(tmp_path / "out", [sample(7, "contradictory", **texts)], code)
    page_of(tmp_path, *words)
    return tmp_path / "page.html"


def ratings(tmp_path, **made):
    """The page of translations, of the data or of a run's answers."""
    texts = {code: [(f"Is it safe? {HOSTILE['bidi']}", text)] for code, text in TEXTS.items()}
    return rating_page(tmp_path / "page.html", texts, **made)


SMALL = """[...document.querySelectorAll('button, .button, select, summary, textarea, fieldset label, '
    + 'label:has([type=checkbox]), [type=text]')].filter((e) => e.checkVisibility()
    && Math.min(e.offsetHeight, e.offsetWidth) < 44).map((e) => e.outerHTML.slice(0, 80))"""
"""What is too small for a finger."""

FORMS = {
    "judge": (lambda t: judged(t), ("d", "2", "s", "c")),
    "blind": (lambda t: judged(t, "--blind"), ("3", "v", "f")),
    "translation": (lambda t: ratings(t, source={"liveqa": "abc"}), ("4", "5")),
    "answers": (lambda t: ratings(t, of="answers", translator="t"), ("3",)),
}


@pytest.mark.parametrize("form", FORMS)
def test_axe_finds_nothing_at_any_step(browser, tmp_path, form):
    make, keys = FORMS[form]
    path = make(tmp_path)
    for size, options in ((WIDE, {}), (PHONE, {"color_scheme": "dark"})):
        opened = Opened(browser, path, size, **options)
        assert axe(opened.page) == [], "as it opens"
        assert opened.on_first_screen("#place, #answer")
        assert opened.page.evaluate(SMALL) == []
        for key in keys:
            opened.page.keyboard.press(key)
        opened.unfold()
        assert opened.page.evaluate(SMALL) == []
        opened.page.set_input_files(
            "#import", {"name": "x.json", "mimeType": "application/json", "buffer": b"{}"}
        )
        opened.page.wait_for_selector("#problem:not([hidden])")
        assert axe(opened.page) == [], "with a choice made, the guide open and a problem told"
        assert opened.fits() and opened.noise == []
        opened.close()


def tab_to(page, wanted):
    """Press Tab until an element has the focus, which it or its label must show."""
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", wanted):
            assert page.evaluate(
                "[document.activeElement, document.activeElement.closest('label'),"
                " document.activeElement.previousElementSibling]"
                ".some((e) => e && getComputedStyle(e).outlineStyle === 'solid')"
            ), wanted
            return
    raise AssertionError(f"Tab never comes to {wanted}")


@pytest.mark.parametrize(
    ("form", "steps", "expected"),
    [
        ("judge", (("[name=agree_label]", "Space"), ("[name=agree_reasoning]", "Space ArrowDown")),
         {"agree_label": True, "label": "contradictory", "agree_reasoning": False}),
        ("translation", (("[name=fluency]", "Space ArrowDown"), ("[name=meaning]", "Space")),
         {"fluency": 2, "meaning": 1}),
    ],
)  # fmt: skip
def test_tab_space_and_arrows_are_enough(opened, tmp_path, form, steps, expected):
    """As for someone whose screen reader takes all single keys: these are switched off first."""
    own = opened(FORMS[form][0](tmp_path))
    page = own.page
    tab_to(page, "#guide summary")
    own.press("Enter")
    tab_to(page, "#keys")
    own.press("Space")
    assert not page.is_checked("#keys")
    for wanted, keys in steps:
        tab_to(page, wanted)
        own.press(*keys.split())
    tab_to(page, "#comment")
    tab_to(page, "#next")
    own.press("Enter")
    assert "2" in own.text("#place")
    tab_to(page, "#annotator")
    page.keyboard.type("Anna")
    tab_to(page, "#export")
    with page.expect_download() as download:
        own.press("Enter")
    saved = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert saved["annotator"] == "Anna"
    assert {name: saved["items"][0][name] for name in expected} == expected
    for wanted in ("#import", "#restart"):
        tab_to(page, wanted)
