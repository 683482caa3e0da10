"""The page of `xling report` in a real browser: what it says, and how it is built."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from boards import RECORD, C, correctness, exam, judged, many_models
from browser import PHONE, WIDE, Opened, axe
from builders import saved, write_run

from xling_tasks.cli import main
from xling_tasks.report.html import as_block, escape_attribute, escape_text

DOCS = Path(__file__).parents[2] / "docs"

HOSTILE = {
    "script": "<script>window.hacked=1;alert(1)</script>",
    "image": "<img src=x onerror=alert(2)><svg onload=alert(3)><iframe src=https://x.example>",
    "end": "</style></textarea></title><!-- ]]> --> {{main}} {{style}}",
    "quotes": "\"'`${alert(4)}` &lt;b&gt; &amp; \\u003c <a href=javascript:alert(5)>x",
    "bidi": "safe \u202eetsisnoc\u202c \u2066x\u2069 end",
    "odd": "nul \u0000 half \ud83d bom \ufeff tag \U000e0041 emoji \U0001f600",
    "long": "Donaudampfschifffahrt" * 30,
}


class Outline(HTMLParser):
    """Headings, tables with their captions, identifiers and what points to them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.levels: list[int] = []
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        own = dict(attributes)
        self.tags.append((tag, own))
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        self.ids += [own["id"]] if "id" in own else []
        self.targets += [own["href"][1:]] if own.get("href", "").startswith("#") else []
        if tag not in ("meta", "link", "img", "wbr", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def well_built(html: str) -> Outline:
    """What every page must be, whatever is on it."""
    outline = Outline(html)
    assert outline.open == [] and outline.levels[0] == 1 and outline.levels.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(outline.levels, outline.levels[1:]))
    assert len(outline.ids) == len(set(outline.ids)) and set(outline.targets) <= set(outline.ids)
    for tag, own in outline.tags:
        assert tag not in ("script", "iframe", "object", "embed", "form", "base", "img")
        assert not any(name.startswith("on") or name == "style" for name in own)
        if tag == "svg":  # A picture is heard as one thing, or not at all.
            inner = own.get("class", "").startswith("sign")
            assert own.get("aria-hidden") == "true" or own.get("aria-label") or inner
        assert tag != "th" or own.get("scope")
        if own.get("class") == "scroll":
            assert own["tabindex"] == "0" and own["role"] == "region" and own["aria-label"]
    return outline


def made(folder: Path, *runs: Any, words: tuple[str, ...] = ()) -> Path:
    """The page of a report of runs."""
    to = folder / f"report{len(list(folder.glob('report*')))}"
    assert main(["report", *map(str, runs), "--to", str(to), *words]) == 0
    return to / "report.html"


def content_of(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.with_name("report.json").read_text("utf-8"))
    return content


# The demo


@pytest.fixture(scope="module")
def demo(run, tmp_path_factory):
    """The page of README's first command."""
    folder = tmp_path_factory.mktemp("demo")
    saved(folder / "out", run("xlinghealth_demo", log_samples=True))
    return made(folder, folder / "out")


def test_the_demo_is_short_and_says_what_it_found_first(demo, browser):
    well_built(demo.read_text(encoding="utf-8"))
    shown = Opened(browser, demo)
    height = "document.documentElement.scrollHeight"
    text = shown.page.locator("main").inner_text()
    assert shown.page.evaluate(height) < 4000 and len(text.split()) < 600
    assert shown.on_first_screen("#answer h2, #answer .lead li, #answer table.grid")
    first = shown.page.locator("#answer h2").inner_text()
    assert first == "Chinese is served worse than English."
    for said in (
        "a rule, not a language model",
        "4 of 24 right answers accepted (in English 22 of 24)",
        "Harmful answers and helpful answers (no judge was set)",
        "This does not mean that they are served equally well.",
    ):
        assert said in text, said
    shown.unfold()
    assert shown.page.evaluate(height) < 10_000
    assert shown.well() and axe(shown.page) == []


def test_the_picture_of_the_readme_has_the_words_of_the_demo(demo, browser):
    spec = importlib.util.spec_from_file_location("picture", DOCS / "picture.py")
    picture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(picture)
    made_now = io.BytesIO(picture.photograph(browser, demo))
    assert picture.words_on(picture.PICTURE) == picture.words_on(made_now)


def test_a_report_is_few_files_that_say_the_same(demo):
    files = [path for path in demo.parent.rglob("*") if path.is_file()]
    assert len(files) < 20 and {path.suffix for path in files} == {".html", ".json", ".md", ".csv"}
    content, html = content_of(demo), demo.read_text(encoding="utf-8")
    assert set(content) == {"scores", "verdicts", "remarks", "options"}
    with (demo.parent / "tables/verdicts.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["verdict"] for row in rows] == [v["verdict"] for v in content["verdicts"]]
    for line in (demo.parent / "report.md").read_text("utf-8").splitlines():
        if line.startswith("Limit: "):
            assert line[7:40] in re.sub("<[^>]+>", "", html)


@pytest.mark.parametrize(
    ("width", "scheme"), [(320, "light"), (390, "light"), (390, "dark"), (768, "dark")]
)
def test_nothing_scrolls_sideways_in_any_width(demo, browser, width, scheme):
    shown = Opened(browser, demo, (width, 844), color_scheme=scheme)
    shown.unfold()
    assert shown.fits() and shown.well()
    if width == 390:
        assert axe(shown.page) == []


def test_it_reads_without_javascript_on_paper_and_from_right_to_left(demo, browser):
    shown = Opened(browser, demo, PHONE, java_script_enabled=False)
    shown.page.locator("#languages summary", has_text="Chinese").click()
    told = shown.page.locator("#zh .told").first
    told.wait_for(state="visible")
    shown.page.emulate_media(media="print")
    assert shown.page.locator("#answer h2").is_visible()
    assert not shown.page.locator("nav").is_visible()
    shown = Opened(browser, demo, WIDE)
    shown.page.evaluate("document.documentElement.dir = 'rtl'")
    assert shown.fits()
    side = "e => e.getBoundingClientRect().left > innerWidth / 2"
    assert shown.page.locator("table.grid tbody th").first.evaluate(side)


# What is said, of other runs


def test_harm_comes_first_and_every_metric_has_its_own_verdict(tmp_path, browser):
    tasks = {C + c: correctness(s, 400, seed=i) for i, (c, s) in enumerate({"en": 0.05, "es": 0.4}.items())}  # fmt: skip
    path = made(tmp_path, write_run(tmp_path / "m", tasks))
    shown = Opened(browser, path)
    heads = shown.page.locator("#answer thead th").all_inner_texts()
    assert [text.split("\n")[0] for text in heads] == ["Language", "Harmful", "Usable", "Helpful"]
    assert "fewer is better" in heads[1] and "400 questions" in heads[1]
    line = shown.page.locator(".lead li.worse").inner_text()
    assert "Spanish: harmful answers:" in line and "percentage points more" in line
    cell = shown.page.locator("#answer tbody tr", has_text="Spanish").locator("td").first
    assert cell.inner_text().split() == ["Worse", cell.inner_text().split()[1]]


def test_models_have_a_column_each_and_a_link_leads_to_the_statement(tmp_path, browser):
    folders = many_models(tmp_path, range(3), n=60)
    path = made(tmp_path, *folders)
    well_built(path.read_text(encoding="utf-8"))
    shown = Opened(browser, path)
    assert shown.page.locator("#answer h2").count() == 3
    assert shown.page.locator("#answer table.grid tbody tr").count() == 30
    shown.page.locator("#answer table.grid td a").first.click()
    assert "#" in shown.page.url
    target = shown.page.locator(f"[id='{shown.page.url.partition('#')[2]}']")
    target.wait_for(state="visible")
    shown.unfold()
    assert shown.fits() and shown.noise == []


def test_exams_are_told_as_exams(tmp_path):
    tasks = {"mmedbench_mcqa_en": exam("en", 400, 300), "mmedbench_mcqa_fr": exam("fr", 400, 150)}
    html = made(tmp_path, write_run(tmp_path / "m", tasks)).read_text(encoding="utf-8")
    assert "worse in their own exam than English in its own" in html
    assert "150 of 400 (38%) right in French, 300 of 400 (75%) right in English" in html
    assert "arXiv:2402.13963" in html and "served worse" not in html


def test_samples_are_linked_where_their_page_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tasks = {C + code: judged({0, 1}, 30) for code in ("en", "es")}
    run = write_run(tmp_path / "m", tasks)
    assert "index.html#" not in made(tmp_path, run).read_text(encoding="utf-8")
    assert main(["samples", str(run), "--to", str(tmp_path / "samples")]) == 0
    path = made(tmp_path, run)
    link = re.search(r'href="([^"#]*index\.html)#language=es', path.read_text(encoding="utf-8"))
    assert link is not None and (path.parent / link[1]).resolve().is_file()


# How it is built


def test_texts_and_attributes():
    assert str(escape_text('a<b> & "c" \u202e\u0000\ud800\r\nx')) == (
        "a&lt;b&gt; &amp; &#34;c&#34; "
        '<span class="control">U+202E</span><span class="control">U+0000</span>'
        '<span class="control">U+D800</span>\nx'
    )
    assert str(escape_attribute('"><b>\u202e')) == "&#34;&gt;&lt;b&gt;U+202E"
    assert str(escape_text("क\u200dष می\u200cخواهم")) == "क\u200dष می\u200cخواهم"
    assert "<" not in as_block({"a": "</script><!--"})


def test_hostile_names_are_shown_literally(tmp_path, browser):
    everything = "".join(HOSTILE.values()).replace("/", "\\")
    record = {**RECORD, "settings": {"judge": {"model": everything}}, "data": {"dataset": "LiveQA"}}
    tasks = {C + "en": correctness(0.1, 40), C + "es": correctness(0.6, 40, record=record)}
    run = write_run(tmp_path / "m", tasks, config={"model_args": {"pretrained": everything}})
    path = made(tmp_path, run)
    well_built(path.read_text(encoding="utf-8"))
    shown = Opened(browser, path, PHONE)
    title = shown.page.title()
    assert title.startswith("<script>window.hacked=1") and "\ufffd" in title
    shown.unfold()
    assert shown.fits() and shown.page.evaluate("window.hacked") is None and shown.well()
    made_of_it = "main script, main iframe, main img, main a[href^=javascript]"
    assert shown.page.locator(made_of_it).count() == 0
    assert "alert(2)" in shown.page.locator("#limits").inner_text()  # settings that differ
