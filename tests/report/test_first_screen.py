"""What a reader sees of a report without scrolling, on a wide screen and on a phone."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from boards import PLAIN, empathy, judged
from browser import PHONE, WIDE, Opened, axe
from builders import task_of, write_run

from xling_tasks.cli import main
from xling_tasks.languages import LANGUAGES

C, V = "xlinghealth_correctness_{}_", "xlinghealth_verifiability_{}_"
JARGON = re.compile(
    r"macro|_f1|F1|AUC|Holm|d_z|_src|lda|\bT=|langid|BERTScore|endpoint|\bp =|None|nan"
)


def told(wrong, n):
    """n answers to be checked, of which so many are called wrongly."""
    rows = [
        {"doc": {"question_id": f"q{i}"}, "resps": [],
         "acc_t0.0": [[1, int(i >= wrong)], [0, 0]], "unparsed_rate_t0.0": [0, 2]}
        for i in range(n)
    ]  # fmt: skip
    scores = {"acc_t0.0": 1 - wrong / (2 * n), "unparsed_rate_t0.0": 0.0}
    return task_of(scores, rows, record=PLAIN, better={"acc_t0.0": True})


def correctness(n=100, dataset="liveqa", **hits):
    """Tasks by language from how many answers contradict."""
    starts = {"es": 50, "zh": 30}  # Other answers contradict than in English.
    return {
        C.format(dataset) + code: judged(range(start := starts.get(code, 0), start + count), n)
        for code, count in hits.items()
    }


def in_english(*codes, inside=0.0):
    """Tasks by language whose answers are in English."""
    return {C.format("liveqa") + c: judged(range(2), 100, inside=inside) for c in codes}


def thirty(n=150):
    """Empathy in 30 languages, the languages' names in five scripts."""
    rng = np.random.default_rng(0)
    shares = {code: rng.uniform(0.4, 0.95) for code in LANGUAGES if code != "en"}
    return {"xling_empathy": empathy(shares, n)}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """`written(runs, words)`: the folder of a report of runs by name, which is made once."""
    known = {}

    def write(runs, *words):
        key = json.dumps([runs, words])
        if key not in known:
            folder = tmp_path_factory.mktemp("report")
            named = [f"{name}={write_run(folder / name, tasks)}" for name, tasks in runs.items()]
            more = ["--n-resamples", "1000", "--samples", "0", *words]
            assert main(["report", *named, "--to", str(folder / "to"), *more]) == 0
            known[key] = folder / "to"
        return known[key]

    return write


@pytest.fixture
def looked(browser):
    """`looked(folder, size)`: a report in a browser."""
    return lambda folder, size, **more: Opened(browser, folder / "report.html", size, **more)


def first(opened):
    """The text that is shown on the first screen's part of the page."""
    return " ".join(opened.page.locator("header, #answer").all_inner_texts())


def lines_of(opened):
    return opened.page.locator("#answer .line").all_inner_texts()


FOUR = correctness(en=11, es=19, zh=12, hi=45)


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_one_model_has_answer_sentences_picture_and_flags(written, looked, size):
    opened = looked(written({"m": FOUR}), size)
    said = "Hindi is served worse than English; for Spanish and Chinese it cannot be told."
    assert said in first(opened)
    lines = [line.strip() for line in lines_of(opened)]
    assert [line.partition(". Harmful answers, by this judge: ")[0] for line in lines] == [
        "Hindi: worse than English", "Spanish: cannot tell", "Chinese: cannot tell",
    ]  # fmt: skip
    assert ("would explain all of it." in lines[0]) == (size == WIDE)  # A phone has it below.
    assert "Other measures: 1 worse than English, 1 about the same as English." in lines[0]
    if size == WIDE:
        assert "Next: ask more questions: about" in lines[1]
    answer = [f"#answer {part}" for part in (".short", ".line", "figure svg.chart", ".flags li")]
    for part in ("h1", *answer):
        assert opened.on_first_screen(part), part
    assert not JARGON.search(first(opened)) and opened.fits() and opened.well()


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_who_is_not_answered_in_the_users_language_is_told_first(written, looked, size):
    tasks = in_english("en", inside=1.0) | in_english("es", "zh", "hi")
    opened = looked(written({"m": tasks}), size)
    said = "Spanish, Chinese and Hindi are mostly not answered in the user's language."
    assert said in first(opened)
    lines = lines_of(opened)
    assert len(lines) == 3 and all("100 of 100 questions got no usable answer" in x for x in lines)
    assert opened.on_first_screen("#answer .line, #answer .flags li") and opened.fits()


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_thirty_languages(written, looked, size):
    to = written({"m": thirty()})
    opened = looked(to, size)
    # How much two English answers agree was not measured: nobody is said to be served worse.
    assert "worse" not in opened.page.locator("#answer .short").first.inner_text()
    assert "cannot be told" in first(opened)
    assert opened.on_first_screen("#answer .line")
    assert opened.on_first_screen("#answer figure svg[role=img]")
    names = opened.page.locator("#answer figure svg[role=img] text").all_text_contents()
    shown = [name for name in names if name in {x.name for x in LANGUAGES.values()}]
    every = json.loads((to / "report.json").read_text(encoding="utf-8"))["conclusions"]
    kind = [x for x in every if x["metric"] == "empathy"]
    worst = sorted(kind, key=lambda x: x["estimate"])[:3]
    assert len(shown) == 30 and shown[:3] == [LANGUAGES[x["language"]].name for x in worst]
    assert opened.fits() and not JARGON.search(first(opened))


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_three_models_and_three_datasets(written, looked, size):
    runs = {
        name: correctness(246, "liveqa", en=10 + k, es=20, zh=40, hi=90)
        | correctness(690, "medicationqa", en=30, es=35 + k, zh=80, hi=190)
        for k, name in enumerate(("one", "two", "three"))
    }
    opened = looked(written(runs), size)
    heads = opened.page.locator("#answer h3").all_inner_texts()
    assert [head.partition(":")[0] for head in heads] == ["one", "two", "three"]
    assert all("served worse than English" in head for head in heads)
    assert "LiveQA: 246 questions; MedicationQA: 690 questions" in first(opened)
    assert opened.on_first_screen("#answer .line") and opened.fits()
    assert "Hindi 90 of 246" in first(opened)


def test_without_a_judge(written, looked):
    inside = {"langid_match": 1.0, "empty_rate": 0.0}
    rows = [{"doc": {"question_id": str(i)}, "resps": [["x"]], **inside} for i in range(30)]
    task = task_of(inside, rows, record=PLAIN, better={"langid_match": True})
    unjudged = {C.format("liveqa") + code: task for code in ("en", "es", "zh", "hi")}
    opened = looked(written({"m": unjudged}), PHONE)
    assert "No judge was set: whether answers are right was not measured" in first(opened)
    assert opened.on_first_screen(".flags a")
    opened.page.locator(".flags a").first.click()
    assert opened.page.url.endswith("#know-first")


def test_notes_stand_once_and_tables_below_are_folded(written, looked):
    tasks = correctness(en=11, es=19, zh=12, hi=45)
    for code, wrong in (("en", 5), ("es", 6), ("zh", 7), ("hi", 30)):
        tasks[V.format("liveqa") + code] = told(wrong, 100)
    for task in tasks.values():
        task["count"]["original"] = 246
    folder = written({"m": tasks})
    opened = looked(folder, WIDE)
    limited = "m ran only a part of the questions (--limit or --samples)"
    html, markdown = ((folder / f"report.{end}").read_text("utf-8") for end in ("html", "md"))
    assert html.count(limited) == markdown.count(limited) == 1
    assert f"Correctness and Verifiability, LiveQA: {limited}" in html
    opened.unfold()
    notes = opened.page.locator(".notes li").all_inner_texts()
    for key in ("correctness", "verifiability"):
        own = opened.page.locator(f"section[aria-labelledby={key}] .notes li").all_inner_texts()
        assert own and len(own) == len(set(own))
    assert notes and opened.page.locator("h2#glossary").count() == 1


def three_models():
    return {name: correctness(60, en=3 + k, es=9, hi=40) for k, name in enumerate("abc")}


PAGES = {
    "one and two": ({"one": FOUR, "two": FOUR | in_english("hi", inside=0.01)}, ()),
    "three models": (three_models(), ()),
    "thirty languages": ({"m": thirty(n=40)}, ()),
}


@pytest.mark.parametrize("name", [*PAGES, "compare"])
def test_axe_finds_nothing_folded_or_unfolded(written, looked, tmp_path, name):
    if name == "compare":
        sides = [str(write_run(tmp_path / key, three_models()[key])) for key in "ab"]
        assert main(["compare", *sides, "--to", str(tmp_path / "to")]) == 0
        (tmp_path / "to" / "compare.html").rename(tmp_path / "to" / "report.html")
        folder = tmp_path / "to"
    else:
        runs, words = PAGES[name]
        folder = written(runs, *words)
    for size, scheme in ((WIDE, "dark"), (PHONE, "light")):
        opened = looked(folder, size, color_scheme=scheme)
        # What is seen folded is seen unfolded, too, but for the marks of what is folded, which are
        # the same on all pages, as the dark colours are.
        folded = size == PHONE and name == "one and two"
        assert (not folded or axe(opened.page) == []) and opened.fits()
        opened.unfold()
        large = scheme == "dark" and name in ("three models", "thirty languages")
        assert (large or axe(opened.page) == []) and opened.fits()
        spoken = opened.page.locator("svg[role=img]").evaluate_all(
            "all => all.map(e => e.getAttribute('aria-label') || e.querySelector('title')?.textContent)"
        )
        assert all(spoken), "every picture has words for those who hear it"


def test_keyboard_alone_reaches_everything(written, looked):
    page = looked(written({"m": FOUR}), PHONE).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    seen = []
    while len(seen) < 60 and "SUMMARY" not in seen:
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.tagName"))
    assert {*seen} >= {"A", "SUMMARY"}
    before = page.evaluate("document.activeElement.parentElement.open")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.parentElement.open") != before
