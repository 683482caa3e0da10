"""The pages of `xling annotate`: axe-core finds nothing, and Tab, Space and arrows do everything."""

from __future__ import annotations

import json

import pytest
from browser import PHONE, WIDE, Opened, axe
from builders import write_samples

from xling_tasks.cli import parsed
from xling_tasks.commands.annotate.page import RATING, page_data, write_page

TEXTS = {
    "ar": "هل يمكنني تناول الباراسيتامول؟",
    "hi": "क्या मैं बुखार में दवा ले सकता हूँ?",
    "zh": "发烧时可以服用吗？",
}
ODD = "safe \u202eetsisnoc\u202c <b>x</b>"


def judged(tmp_path, *words):
    """The page of a judge's check, an item per language."""
    for code, text in TEXTS.items():
        doc = {"question_id": "7", "question": text, "reference": f"{text} {ODD}"}
        reply = {"label": "contradictory", "reply": "Because of this.", "judge": "j"}
        row = {"doc": doc, "filtered_resps": [text * 5], "filter": "none", "n_judged": reply}
        write_samples(tmp_path / "out", f"xlinghealth_correctness_liveqa_{code}", [row])
    page = tmp_path / "page.html"
    chosen = parsed(["annotate", str(tmp_path / "out"), "--to", str(page), *words])
    chosen.run(chosen)
    return page


def ratings(tmp_path, **made):
    """The page of translations, of the data or of a run's answers."""
    items = [
        {"id": f"liveqa_{code}/1", "dataset": "liveqa", "language": code, "question_id": "1",
         "source": f"Is it safe? {ODD}", "translation": text}
        for code, text in TEXTS.items()
    ]  # fmt: skip
    write_page(tmp_path / "page.html", page_data(items, {**RATING, "seed": 0, "n": 1, **made}), [])
    return tmp_path / "page.html"


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
    """Press Tab until an element has the focus, and it must show."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", wanted):
            return
    raise AssertionError(f"Tab never comes to {wanted}")


def outlined(page):
    """Whether what has the focus, or its label, is outlined."""
    return page.evaluate(
        "[document.activeElement, document.activeElement.closest('label')]"
        ".some((e) => e && getComputedStyle(e).outlineStyle === 'solid')"
    )


@pytest.mark.parametrize(
    ("form", "steps", "expected"),
    [
        ("judge", (("[name=agree_label]", "Space"), ("[name=agree_reasoning]", "Space ArrowDown")),
         {"agree_label": True, "label": "contradictory", "agree_reasoning": False}),
        ("translation", (("[name=fluency]", "Space ArrowDown"), ("[name=meaning]", "Space")),
         {"fluency": 2, "meaning": 1}),
    ],
)  # fmt: skip
def test_tab_space_and_arrows_are_enough(browser, tmp_path, form, steps, expected):
    """As for someone whose screen reader takes all single keys: these are switched off first."""
    opened = Opened(browser, FORMS[form][0](tmp_path))
    page = opened.page
    tab_to(page, "#guide summary")
    page.keyboard.press("Enter")
    tab_to(page, "#keys")
    page.keyboard.press("Space")
    assert not page.is_checked("#keys")
    for wanted, keys in steps:
        tab_to(page, wanted)
        assert outlined(page)
        page.keyboard.press(keys.split()[0])
        for key in keys.split()[1:]:
            page.keyboard.press(key)
    tab_to(page, "#next")
    assert outlined(page)
    page.keyboard.press("Enter")
    assert "2" in page.inner_text("#place")
    tab_to(page, "#annotator")
    page.keyboard.type("Anna")
    tab_to(page, "#export")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    saved = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert saved["annotator"] == "Anna"
    assert {name: saved["items"][0][name] for name in expected} == expected
    opened.close()
