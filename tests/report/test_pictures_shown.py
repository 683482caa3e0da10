"""Pictures in a real browser: legible at every width, light and dark, with no text on another."""

from __future__ import annotations

import pytest
from browser import PHONE, WIDE, Opened, axe
from pictured import cell, conclusion, everything, over_temperatures, report

from xling_tasks.criteria import Panel
from xling_tasks.languages import LANGUAGES
from xling_tasks.pages import FOLDER
from xling_tasks.report.pictures.all import pictures
from xling_tasks.report.pictures.style import css
from xling_tasks.report.pictures.verdicts import overview

NAMES = ("Llama 3.1 8B", "通义千问 2.5", "نموذج عربي")
VERDICTS = ("worse", "inconclusive", "equivalent", "not_comparable", "better")

# Letters on letters (their boxes are 6 pixels higher than they are), beyond the edge, or too small.
_FAULTS = """() => {
  const faults = [];
  for (const chart of document.querySelectorAll('svg.chart[role=img]')) {
    const texts = [...chart.querySelectorAll('text')].map(
      (t) => [t.textContent, t.getBoundingClientRect(), parseFloat(getComputedStyle(t).fontSize)]);
    texts.forEach(([words, a, size], i) => {
      if (size < 11) faults.push(`${words}: ${size} px`);
      if (a.left < -1 || a.right > innerWidth + 1) faults.push(`${words}: beyond the edge`);
      for (const [other, b] of texts.slice(i + 1)) {
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 2 && high > 6) faults.push(`${words} on ${other}`);
      }
    });
  }
  return faults;
}"""


def concluded(model, language, metric, number, criterion="correctness", dataset="liveqa"):
    verdict = VERDICTS[number % 5]
    estimate = None if verdict == "not_comparable" else 0.04 * (number % 7) - 0.2
    return conclusion(
        language, verdict, estimate, metric=metric, model=model, criterion=criterion,
        dataset=dataset, higher=True, english=0.986, width=0.06,
    )  # fmt: skip


def few(models=NAMES):
    found = []
    for i, model in enumerate(models):
        for j, code in enumerate(("es", "zh", "hi")):
            for k, metric in enumerate(("contradictory", "helpful", "usable")):
                found.append(concluded(model, code, metric, 3 * i + j + k))
            found.append(concluded(model, code, "macro_f1", i + j, "verifiability"))
    return found


def many(models):
    codes = [code for code in LANGUAGES if code != "en"]
    return [
        concluded(model, code, metric, i + j, metric.partition("_")[0], "xling")
        for i, model in enumerate(models)
        for j, code in enumerate(codes)
        for metric in ("information_f1", "empathy")
    ]


def values(models):
    """Accuracy in all languages; similarity and macro F1 over five temperatures."""
    acc = Panel("mmedbench_mcqa", "mmedbench", "acc", None)
    cells = [
        cell(model, acc, code, 0.3 + 0.01 * j + 0.02 * i)
        for i, model in enumerate(models)
        for j, code in enumerate(LANGUAGES)
    ]
    taus = (0.0, 0.25, 0.5, 0.75, 1.0)
    cells += over_temperatures(models, "sim_sent", "consistency", taus)
    return [*cells, *over_temperatures(models, temperatures=taus), *everything(models).cells]


def shown(tmp_path, figures):
    path = tmp_path / "pictures.html"
    path.write_text(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>t</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{(FOLDER / 'report.css').read_text('utf-8')}{css()}</style></head>"
        f"<body><main><h1>t</h1>{''.join(map(str, figures))}</main></body></html>",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("size", [WIDE, PHONE, (320, 640)])
def test_no_text_lies_on_another_at_any_width(browser, tmp_path, size):
    figures = [overview(few()), overview(few(NAMES[:1])), overview(many(["m"]))]
    figures += [overview(many([f"model {i}" for i in range(10)]))]
    figures += [picture.html for picture in pictures(report(values(NAMES), few()))]
    page = Opened(browser, shown(tmp_path, figures), size)
    assert page.page.locator("svg.chart[role=img]").count() > 30
    assert page.page.evaluate(_FAULTS) == []
    assert page.fits() and page.well()


def test_the_first_picture_is_small_enough_for_a_first_screen(browser, tmp_path):
    heights = {}
    for name, items in (("few", few(NAMES[:1])), ("many", many(["m"]))):
        for size in (WIDE, PHONE):
            page = Opened(browser, shown(tmp_path, [overview(items)]), size)
            heights[name, size] = page.page.locator("figure").bounding_box()["height"]
    assert heights["few", WIDE] < 150 and heights["few", PHONE] < 330
    assert heights["many", WIDE] < 540


def test_colours_follow_a_dark_page_and_can_be_told_from_it(browser, tmp_path):
    path = shown(tmp_path, [overview(few(NAMES[:1]))])
    for scheme in ("light", "dark"):
        page = Opened(browser, path, color_scheme=scheme)
        assert axe(page.page) == []
        stroke = "e => getComputedStyle(e).stroke"
        colours = {
            kind: page.page.locator(f".chart .{kind}").first.evaluate(stroke)
            for kind in ("worse", "better", "same", "unsure", "apart")
        }
        assert len(set(colours.values())) == 5
        assert colours["worse"] == {"light": "rgb(176, 74, 0)", "dark": "rgb(255, 157, 92)"}[scheme]
