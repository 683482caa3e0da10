"""The page of `xling view` in a real browser: reading, filters, search, links, keys, attacks."""

from __future__ import annotations

import re
import time
from functools import partial

import pytest
import scripted
from browser import PATIENCE, PHONE, WIDE, Opened, axe
from builders import evaluated, task_of, write_run
from viewing import OF, Viewer, judged, made_of, viewing

from xling_tasks.commands.view.index import Index
from xling_tasks.criteria import about
from xling_tasks.languages import LANGUAGES

CODES = ("en", "es", "zh", "hi")
ARABIC = "هل يمكنني تناول الباراسيتامول مع الكحول؟"
HINDI = "क्या मैं बुखार में पैरासिटामोल ले सकता हूँ?"
CHINESE = "发烧时可以服用对乙酰氨基酚吗？请问需要注意什么？"

HOSTILE = {
    "script": "<script>window.hacked=1;alert(1)</script><img src=x onerror=alert(2)>",
    "link": '<a href="javascript:alert(3)">x</a> [y](javascript:alert(4)) <base href=//evil>',
    "style": "<style>*{display:none}</style><meta http-equiv=refresh content=0;url=//evil>",
    "template": "{{data}} ${alert(5)} &lt;b&gt; &amp; \\u003c </title></textarea>--></script>",
    "bidi": "safe \u202eetsisnoc\u202c \u2066x\u2069 end",
    "odd": "nul \u0000 half \ud83d bom \ufeff tag \U000e0041 emoji \U0001f600 \x1b[31m",
}


class Page(Opened):
    """The viewer's page, loaded."""

    def __init__(self, browser, viewer: Viewer, hash_: str = "", size=WIDE, **options) -> None:
        super().__init__(browser, viewer.url + hash_, size, **options)
        self.until("document.querySelector('#count').textContent !== 'Loading'")

    def until(self, expression: str, arg: object = None) -> None:
        """Wait until it is true; the driver's own way would need scripts from strings."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.page.evaluate(expression, arg):
                return
            self.page.wait_for_timeout(25)
        shown = self.page.inner_text("body")[:600]
        raise AssertionError(f"not within {PATIENCE:.0f} s: {expression} {arg!r}: {shown}")

    def good(self) -> bool:
        """Nothing was loaded from elsewhere, and nothing went wrong."""
        base = self.url.partition("#")[0]
        return all(url.startswith((base, "data:")) for url in self.requests) and self.noise == []

    def count(self, text: str) -> None:
        """Wait until the list says so."""
        self.until("(text) => document.querySelector('#count').textContent === text", arg=text)

    def lists(self, found: list[str]) -> None:
        """Wait for so many questions, and entries if there are more."""
        different = len(set(found))
        said = f"{different} question{'s' * (different > 1)}"
        self.count(said if different == len(found) else f"{said}, {len(found)} entries")

    def question(self, title: str) -> None:
        """Wait for a question."""
        self.until(
            "(t) => !document.querySelector('#question').hidden"
            " && document.querySelector('#title').textContent.includes(t)",
            arg=title,
        )

    def choose(self, name: str, value: str) -> None:
        self.page.locator("#more-filters").evaluate("(e) => { e.open = true; }")
        self.page.select_option(f"#{name}", value)

    def clear(self) -> None:
        self.page.locator("#more-filters").evaluate("(e) => { e.open = true; }")
        self.page.click("#clear")

    def columns(self) -> list[str]:
        return self.page.locator("#columns h3").all_inner_texts()


@pytest.fixture
def opened(browser):
    return partial(Page, browser)


# A real LiveQA run


@pytest.fixture(scope="module")
def liveqa(run, realdata, tmp_path_factory):
    """All of LiveQA, answered by the baseline; a scripted judge labels the answers."""
    from conftest import Served

    out = tmp_path_factory.mktemp("liveqa")
    served = Served(scripted.judged)
    metadata = {"data_dir": str(realdata / "xlinghealth"), "temperatures": [0.0],
                "judge": served.spec()}  # fmt: skip
    tasks = [*(f"{OF}{code}" for code in CODES), "xlinghealth_verifiability_liveqa_hi"]
    evaluated(run, out, tasks, limit=30, metadata=metadata)
    served.server.shutdown()
    served.server.server_close()
    with viewing(out) as viewer:
        yield viewer


@pytest.mark.realdata
def test_filters_search_and_links_on_a_real_run(liveqa, opened):
    page = opened(liveqa)
    everything = liveqa.questions()
    # LiveQA's questions are asked for correctness and, in Hindi, for verifiability.
    assert len(everything) == 2 * len(set(everything))
    page.lists(everything)
    filters, found = {}, []
    for name, value in (("label", "contradictory"), ("language", "hi"), ("gap", "english_right")):
        page.choose(name, value)
        filters[name] = value
        found = liveqa.questions(**filters)
        assert 0 < len(found) < len(everything)
        page.lists(found)
    # The address has the filters: the same list comes back with it.
    again = opened(liveqa, "#" + page.page.url.partition("#")[2])
    again.lists(found)
    assert again.page.input_value("#language") == "hi"
    page.page.locator("#items a").first.click()
    page.question(f"question {found[0]}")
    assert page.columns() == ["English", "Hindi", "Spanish", "Chinese"]
    assert page.page.locator(".column-head .label").all_text_contents()[1] == "✗ bad: contradictory"
    page.clear()
    page.lists(everything)
    # A Hindi word of the data, from its own text.
    hindi = liveqa.details(f"{OF}hi", "1")[2]["parts"][0]["passages"][0]["text"]
    for word in ("diabetes", max(re.findall(r"\w+", hindi), key=len)):
        page.page.fill("#text", word)
        page.lists(liveqa.questions(text=word))
        assert word in page.page.locator("#items mark").first.inner_text().lower()
    assert page.good(), page.noise


@pytest.mark.realdata
def test_links_of_a_report_lead_to_their_question(liveqa, opened):
    page = opened(liveqa, f"#/q/{OF}es/2")
    page.question("Correctness, liveqa, question 2")
    page.until("document.querySelectorAll('#items a[aria-current]').length === 1")
    assert page.columns()[:2] == ["English", "Spanish"] and len(page.columns()) == 4
    assert page.page.evaluate(
        "(e => e.scrollWidth <= e.clientWidth)(document.querySelector('#columns'))"
    )  # all four side by side on a laptop
    shown = " ".join(page.page.locator("#columns .column").first.inner_text().split())
    for part in liveqa.details(f"{OF}es", "2")[0]["parts"]:
        assert " ".join(part["passages"][0]["text"].split())[:200] in shown
    # Pasted into the search of a page that is open.
    page.page.fill("#text", f"#/q/{OF}hi/5")
    page.question("question 5")
    assert page.columns()[1] == "Hindi"
    page.page.evaluate("location.hash = '#/q/xlinghealth_correctness_liveqa_es/none'")
    page.page.wait_for_selector("#problem:not([hidden])")
    assert "no question 'none'" in page.page.inner_text("#problem")
    # Only what the browser itself says of the refused call.
    refused = "Failed to load resource: the server responded with a status of 400 (Bad Request)"
    assert page.noise == [refused]


@pytest.mark.realdata
def test_accessible_and_within_the_screen_in_light_and_dark(liveqa, opened):
    for size, scheme in ((WIDE, "light"), (PHONE, "dark")):
        page = opened(liveqa, "#/?text=the", size=size, color_scheme=scheme)
        assert axe(page.page) == [] and page.fits()
        page.page.evaluate(f"location.hash = '#/q/{OF}hi/2?text=the'")
        page.question("question 2")
        page.unfold()
        page.page.wait_for_selector(".row:not(:empty)")
        assert axe(page.page) == [] and page.fits()
        page.page.click("#help-button")
        assert axe(page.page) == [] and page.fits()


@pytest.mark.realdata
def test_reading_by_keyboard_alone(liveqa, opened):
    ids = liveqa.questions()
    page = opened(liveqa)
    press = page.page.keyboard.press
    for key, place in (("j", 0), ("j", 1), ("ArrowRight", 2), ("k", 1), ("ArrowLeft", 0)):
        press(key)
        page.question(f"question {ids[place]}")
    assert page.page.evaluate("document.activeElement.id") == "title"
    press("/")
    page.page.keyboard.type("asthma j k ?")
    assert page.page.input_value("#text") == "asthma j k ?"
    press("Control+A")
    page.page.keyboard.type("what")
    page.lists(liveqa.questions(text="what"))
    press("Escape")
    assert page.page.evaluate("document.activeElement.id") in ("title", "count")
    press("j")
    page.until("!document.querySelector('#question').hidden")
    press("Escape")
    page.until("document.querySelector('#question').hidden")
    press("?")
    assert page.page.evaluate("document.querySelector('#help').open")
    page.page.uncheck("#keys")
    press("Escape")
    press("j")
    page.page.wait_for_timeout(300)
    assert page.page.locator("#question").is_hidden()
    assert page.good(), page.noise
    # Past the end of a page of the list comes the next one.
    page = opened(liveqa, f"#/q/{liveqa.get('list')['items'][49]['link']}/{ids[49]}")
    for key, place in (("", 49), ("j", 50), ("k", 49)):
        if key:
            page.page.keyboard.press(key)
        page.question(f"question {ids[place]}")
        assert page.page.locator("#items a[aria-current]").count() == 1


# Attacks, scripts, sizes


def made_up(folder, texts, languages=("en",)):
    """A run whose question, reference, answer and judge say what the test wants."""

    def row(number, text, code):
        doc = {
            "question_id": [*texts][number],
            "language": code,
            "question": text,
            "reference": text,
        }
        said = {"label": text, "reply": text, "judge": text}
        return judged(number, text, code, text, doc=doc, metrics=["note"], note=text, n_judged=said)

    return made_of(folder, {code: [*texts.values()] for code in languages}, row)


def test_hostile_texts_are_shown_and_do_nothing(tmp_path, opened):
    texts = {**HOSTILE, "<img src=x onerror=alert(9)>/#?&%00": HOSTILE["script"]}
    with viewing(made_up(tmp_path / "<i>out", texts)) as viewer:
        page = opened(viewer)
        for name, text in texts.items():
            page.page.evaluate("location.hash = '#/'")
            page.until("document.querySelector('#question').hidden")
            place = list(texts).index(name)
            page.page.locator("#items a").nth(place).click()
            page.question(name)
            page.unfold()
            page.page.wait_for_selector(".row:not(:empty)")
            shown = page.page.locator("#columns .text").first.evaluate("(e) => e.textContent")
            plain = re.sub(r"[\x00-\x08\x0e-\x1f\u2066-\u2069\u202c\u202e\ufeff\U000e0041\ud800-\udfff]",
                           lambda m: f"U+{ord(m[0]):04X}", text)  # fmt: skip
            assert shown == plain
        assert page.page.evaluate("window.hacked") is None
        inside = "#columns :is(script, img, a, style, meta, base, iframe), #items :is(script, img)"
        assert page.page.locator(inside).count() == 0
        assert page.good(), page.noise


def test_a_script_that_gets_in_would_not_run(tmp_path, opened):
    """The policy, tried from inside: no inline script, no markup from strings, no other host."""
    with viewing(made_up(tmp_path / "out", {"1": "x"})) as viewer:
        page = opened(viewer)
        page.page.evaluate(
            """async () => {
              const script = document.createElement('script');
              try { script.textContent = 'window.hacked = 1'; } catch (e) { window.typed = e.name; }
              document.body.append(script);
              try { document.body.insertAdjacentHTML('beforeend', '<b>x</b>'); } catch (e) { window.html = e.name; }
              window.fetched = await fetch('http://127.0.0.1:9/').catch((e) => e.name);
              window.same = await fetch('/').then((r) => r.status);
            }"""
        )
        found = page.page.evaluate(
            "[window.hacked, window.typed, window.html, window.fetched, window.same]"
        )
        assert found == [None, "TypeError", "TypeError", "TypeError", 403]


def test_an_answer_of_five_megabytes_and_emoji_at_a_border(tmp_path, opened):
    long, emoji = "Drink water. " * 400_000 + "the end", "\U0001f600" * 20_500
    texts = {"1": "Short?", "2": long, "3": emoji}
    with viewing(made_up(tmp_path / "out", texts)) as viewer:
        assert viewer.questions(text="water the end") == ["2"]
        page = opened(viewer, f"#/q/{OF}en/2")
        page.question("question 2")
        text, more = (page.page.locator(f"#columns {own}").first for own in (".text", "button"))
        assert len(text.inner_text()) == 20_000
        length = "document.querySelector('#columns .text').textContent.length"
        more.click()
        page.until(f"{length} === 220000")
        left = len(long) - 220_000
        assert more.inner_text() == f"Show more: {left:,} characters left" and page.fits()
        # The last characters come as they are.
        entry = viewer.details(f"{OF}en", "2")[0]["id"]
        end = viewer.get("text", entry=entry, part=0, passage=0, **{"from": len(long) - 7})
        assert end == {"text": "the end"}
        page.page.evaluate(f"location.hash = '#/q/{OF}en/3'")
        page.question("question 3")
        more.click()
        page.until(f"{length} === 41000")
        assert text.evaluate("(e) => e.textContent") == emoji


def test_scripts_and_directions(tmp_path, opened):
    for code, text in {"ar": ARABIC, "hi": HINDI, "zh": CHINESE, "fa": ARABIC}.items():
        with viewing(made_up(tmp_path / code, {"1": text}, languages=("en", code))) as viewer:
            page = opened(viewer, f"#/q/{OF}{code}/1", size=PHONE)
            page.question("question 1")
            shown = page.page.locator(f".column .text[lang={code}]").first
            assert shown.inner_text() == text
            assert shown.evaluate("(e) => e.matches(':dir(rtl)')") == (text == ARABIC)
            assert page.fits() and page.good()
            page.page.click("#close")
            page.page.fill("#text", text[3:6].strip())
            page.count("1 question")


def test_a_text_runs_as_most_of_its_letters_do(tmp_path, opened):
    """Also where it begins with a Latin name, or was to be in another language."""
    texts = {
        "1": ("Tylenol (باراسيتامول): 500 ملغ، مرتين يوميًا.", "rtl"),
        "2": ("Acetaminophen همان پاراستامول است؛ ۵۰۰ میلی‌گرم.", "rtl"),
        "3": ("Yes. The word is كلى, kidney.", "ltr"),
        "4": ("39.5 °C?", "ltr"),
        "5": ("פרצטמול 500 mg, פעמיים.", "rtl"),
    }
    answers = {name: text for name, (text, _) in texts.items()}
    with viewing(made_up(tmp_path / "out", answers, languages=("en", "ar"))) as viewer:
        page = opened(viewer)
        for name, (text, direction) in texts.items():
            page.page.evaluate(f"location.hash = '#/q/{OF}ar/{name}'")
            page.question(f"question {name}")
            for node in page.page.locator(".column .text").all()[:3]:
                assert node.get_attribute("dir") == direction, text
            # The last sign stands at the end of its line: left of all letters, or right of them.
            at = page.page.locator(".column .text").first.evaluate(
                """(node) => { const box = (from) => { const range = document.createRange();
                  range.setStart(node.firstChild, from); range.setEnd(node.firstChild, from + 1);
                  return range.getBoundingClientRect().left; };
                  return [box(0), box(node.firstChild.length - 1)]; }"""
            )
            assert (at[1] < at[0]) == (direction == "rtl"), text
        assert page.good() and page.fits()


def test_thirty_languages_stay_readable(tmp_path, opened):
    codes = ["en", *(code for code in LANGUAGES if code != "en")]
    doc = {"question_id": "1", "text": {code: f"Question in {code}" for code in codes}}
    row = {"doc_id": 0, "doc": doc, "resps": [[f"Answer {c}"] for c in codes], "metrics": []}
    row |= {f"information_f1_by_prompt_{c}": 0.5 for c in codes[1:]}
    row |= {"information_f1_by_prompt_ta": 0.1, "langid_match_th": 0.0}
    task = task_of({"x": 1.0}, [row], record={"about": about("information", "xling", codes, [])})
    with viewing(write_run(tmp_path / "out", {"xling_information": task})) as viewer:
        page = opened(viewer, "#/q/xling_information/1")
        page.question("question 1")

        def shows(n):
            page.until("(n) => document.querySelectorAll('#columns h3').length === n", arg=n)

        # English and those that fare worst, in rows that are as wide as the screen.
        assert page.columns()[0] == "English" and "Tamil" in page.columns()
        assert len(page.columns()) == 8 and page.fits()
        page.page.click("#choosing summary")  # folded: 31 choices would fill the screen
        page.page.check("#languages input[value=vi]")
        shows(9)
        assert "Vietnamese" in page.columns()
        page.page.click("text=All 31 languages")
        shows(31)
        assert page.fits() and page.page.evaluate(
            "[...document.querySelectorAll('.column')].every((e) => e.getBoundingClientRect().right <= innerWidth)"
        )
        for code, left in (("en", 30), ("ta", 29)):
            page.page.uncheck(f"#languages input[value={code}]")
            shows(left)
        assert "English" not in page.columns()
        assert axe(page.page) == [] and page.good()
        page.clear()
        page.choose("flag", "off_language")
        page.until("document.querySelector('#items .fits')")  # one question before, too
        page.count("1 question")
        fits = page.page.locator("#items .fits").all_inner_texts()
        assert fits == ["th ⚠ not in the language asked for"]


def test_problems_stand_on_the_page(tmp_path, opened):
    out = made_up(tmp_path / "out", {"1": "x", "2": "y"})
    path = next(out.glob("samples_*"))
    path.write_text(path.read_text()[:-40])
    with viewing(out) as viewer:
        page = opened(viewer)
        page.count("1 question")
        page.page.click("#problems summary")
        assert f"{path.name}, row 2: not a sample" in page.page.inner_text("#problems")
        viewer.close()
        page.page.fill("#text", "x")
        page.page.wait_for_selector("#problem:not([hidden])")
        assert "does not answer" in page.page.inner_text("#problem")


def test_while_files_are_read_the_page_says_so_and_fills(tmp_path, opened, monkeypatch):
    whole = Index.read_all
    monkeypatch.setattr(Index, "read_all", lambda self: None)
    with viewing(made_up(tmp_path / "out", {"1": "x", "2": "y"})) as viewer:
        page = opened(viewer, f"#/q/{OF}en/2")
        assert page.page.inner_text("#progress").startswith("Reading: 0% of 1 MB.")
        page.page.wait_for_selector("#problem:not([hidden])")
        assert "not read yet" in page.page.inner_text("#problem")
        whole(viewer.index)
        page.question("question 2")
        page.count("2 questions")
        done = "document.querySelector('#progress').textContent === '1 model, 1 task, 2 samples'"
        page.until(done)
        assert page.page.locator("#problem").is_hidden() and page.good()
