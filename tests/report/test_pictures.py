"""The pictures of a report: of constructed reports, without a run of the harness."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from pictured import (
    cell,
    everything,
    linear,
    of_information,
    over_temperatures,
    report,
)

from xling_tasks.criteria import Panel
from xling_tasks.report.pictures.all import pictures, summary
from xling_tasks.report.pictures.drawing import Drawing
from xling_tasks.report.pictures.style import LOOKS, css, series_mark
from xling_tasks.report.pictures.svg import Scale, clean
from xling_tasks.report.pictures.words import Facet, Point, number, over_temperature, questions

ACC = Panel("mmedbench_mcqa", "mmedbench", "acc", None)
CHRF = Panel("correctness", "demo", "chrf", None)
DOTS = "mmedbench_mcqa_mmedbench_dots_acc"
HOSTILE = 'a<b>&"c"$\\frac{x}$ </svg><script>alert(1)</script>\x00\n$y$ id="x'


def one(made, key=DOTS):
    (picture,) = [picture for picture in pictures(made) if picture.key == key]
    return picture


def accuracies(*values, **more):
    """A report of accuracies: (model, language, value)."""
    return report([cell(model, ACC, code, value, **more) for model, code, value in values])


def body(panel):
    return ET.fromstring(f"<svg>{panel.body}</svg>")


def words(panel):
    """Texts of a panel, from top to bottom as they are written."""
    return ["".join(node.itertext()) for node in body(panel).iter("text")]


def per_cent(node, name="x"):
    return float(node.get(name).removesuffix("%")) / 100


def marks(panel):
    """Where the marks lie, as shares of the field's width."""
    placed = [node for node in body(panel).iter("svg") if node.get("width") == "1"]
    return [(per_cent(node), float(node.get("y"))) for node in placed]


def boxes_of(panel, kind):
    return [node for node in body(panel).iter("rect") if kind in (node.get("class") or "")]


def intervals(panel):
    lines = [node for node in body(panel).iter("line") if node.get("class") == "interval"]
    return [(per_cent(node, "x1"), per_cent(node, "x2")) for node in lines if node.get("x1")]


def languages_in(panel):
    return [text for text in words(panel) if "(" in text]


def test_every_kind_is_valid_and_the_same_every_time():
    made = everything()
    shown = pictures(made)
    assert shown == pictures(made)
    assert [picture.key for picture in shown] == [
        "correctness_demo_gaps", "correctness_demo_labels",
        "consistency_demo_lines_sim_sent", "consistency_demo_lines_language_consistency",
        "verifiability_demo_gaps", "verifiability_demo_lines_macro_recall",
        "mmedbench_mcqa_mmedbench_gaps", "mmedbench_mcqa_mmedbench_dots_acc",
        "information_xling_dots_information_f1",
    ]  # fmt: skip
    for picture in [summary(made), *shown]:
        assert picture.drawing.panels
        assert "question" in picture.title + picture.alt and re.fullmatch(r"\w+", picture.key)
        assert picture.section == "summary" or picture.title in picture.alt
        for panel in picture.drawing.panels:
            assert panel.alt and words(panel) and panel.height > 20
    for picture in pictures(everything((HOSTILE, "k"))):
        stands_on_a_page(picture)


def stands_on_a_page(picture):
    page = ET.fromstring(f"<div>{picture.html}</div>")
    drawn = [n for n in page.iter("svg") if n.get("role") == "img" and n.get("aria-label")]
    assert len(drawn) == len(picture.drawing.panels)
    groups = {clean(panel.group) for panel in picture.drawing.panels} - {""}
    assert groups <= {node.text for node in page.iter("bdi")}
    assert "style" not in {node.tag for node in page.iter()}
    for node in page.iter():
        assert not any(name in ("style", "id") or name.startswith("on") for name in node.attrib)


def test_hostile_names_are_text():
    picture = one(accuracies((HOSTILE, "en", 0.5), ("$x^2$", "en", 0.4)))
    page = ET.fromstring(f"<div>{picture.html}</div>")
    assert [node.text for node in page.iter("bdi")] == [clean(HOSTILE), "$x^2$"]
    assert clean("a\n b\x00\u202ec\ud800") == "a bc"


def test_dots_are_the_cells_numbers_and_undefined_is_no_dot():
    picture = one(accuracies(("m", "en", 0.8), ("m", "zh", 0.0), ("m", "ja", None),
                             ("k", "en", 0.7), ("k", "zh", None), ("k", "ja", float("nan"))))  # fmt: skip
    assert "no value for Japanese (ja)" in picture.title
    for said in (
        "No value for Japanese (ja).",
        "m: worst Chinese (zh) 0.00",
        "k: English (en) 0.70",
    ):
        assert said in picture.alt
    (drawn,) = picture.drawing.panels
    # Intervals are 0.05 to either side: from -0.05 to 0.85, with 4% room -0.086 to 0.886.
    places = [0.886 / 0.972, 0.786 / 0.972, 0.086 / 0.972]
    assert [x for x, _ in marks(drawn)] == pytest.approx(places, abs=1e-4)
    ends = intervals(drawn)
    assert ends[0] == pytest.approx((0.836 / 0.972, 0.936 / 0.972), abs=1e-4) and len(ends) == 3
    texts = words(drawn)
    assert [t for t in texts if re.fullmatch(r"\d\.\d\d", t)] == ["0.80", "0.70", "0.00"]
    assert texts.count("no value") == 1
    assert languages_in(drawn) == ["English (en)", "Chinese (zh)"]
    assert drawn.note == "Accuracy (acc), share of questions, 0 to 1; higher is better"
    assert [entry.words for entry in picture.drawing.legend] == ["m", "k"]
    none = one(accuracies(("m", "en", 0.8), ("m", "zh", 0.6), interval=False))
    assert "interval" not in none.title + none.alt + str(none.drawing.panels[0].body)


def test_nothing_is_drawn_of_nothing_or_of_one_value_alone():
    assert pictures(report([])) == [] and summary(report([])) is None
    for values in ([("en", None), ("zh", None)], [("en", 0.5)], [("en", 0.5), ("zh", 0.5)]):
        assert pictures(accuracies(*(("m", *own) for own in values))) == []
    none = [cell("m", Panel("consistency", "demo", "sim_sent", t), "en", None) for t in (0.0, 1.0)]
    assert pictures(report(none)) == []


def test_lines_are_the_cells_numbers():
    cells = over_temperatures(("m",), "sim_1gram", "consistency")
    cells[0] = cell("m", cells[0].panel, "en", None)
    picture = one(report(cells), "consistency_demo_lines_sim_1gram")
    assert "largest change" in picture.alt and "at temperature 1" in picture.alt
    (drawn,) = picture.drawing.panels
    # From 0.45 (Hindi at 1, its interval) to 0.85 (Spanish at 0): 8 values, 170 pixels high.
    scale = Scale.over([0.45, 0.85])
    values = [0.8, 0.7, 0.8, 0.7, 0.6, 0.7, 0.6, 0.5]
    places = [170 * (1 - scale.at(v)) for v in values]
    assert [y for _, y in marks(drawn)] == pytest.approx(places, abs=0.02)
    kinds = [node.get("class") for node in body(drawn).iter("line")]
    own = [kind for kind in kinds if re.fullmatch(r"l\d", kind)]
    assert own == ["l1", "l2", "l2", "l3", "l3"] and kinds.count("interval") == 8
    assert len({node.get("d") for node in body(drawn).iter("path")}) == 3
    names = [entry.words for entry in picture.drawing.legend]
    assert names == ["English (en)", "Spanish (es)", "Hindi (hi)"]


def test_gaps_are_the_conclusions():
    picture = one(everything(("m",)), "correctness_demo_gaps")
    more, harm = picture.drawing.panels
    # 30 points worse, 20 to 40: the scale goes from -40 to 5 with a tenth as room.
    scale = Scale.over([-40, 5], 0.1)
    assert [x for x, _ in marks(more)] == pytest.approx([scale.at(-30)] * 2, abs=1e-4)
    assert [t for t in words(more) if "vs" in t] == ["20\xa0vs 50"] * 2
    # Lower is better: 0.2 more than English's 0.1 is 20 points worse.
    scale = Scale.over([-30, 5], 0.1)
    assert [x for x, _ in marks(harm)] == pytest.approx([scale.at(-20)] * 2, abs=1e-4)
    assert [t for t in words(harm) if "vs" in t] == ["30\xa0vs 10"] * 2
    assert "left is worse than English" in picture.title and "24 questions" in picture.title
    assert "Worse than English: Spanish (20 vs 50 per 100; 30.0 per 100 worse" in picture.alt
    assert "Cannot tell: Spanish, Hindi." in picture.alt


def test_stacks_sum_to_one_with_the_judges_failures():
    picture = one(everything(("m",)), "correctness_demo_labels")
    (drawn,) = picture.drawing.panels
    sums = {}
    for node in boxes_of(drawn, "edge"):
        assert per_cent(node) == pytest.approx(sums.get(node.get("y"), 0.0), abs=1e-4)
        sums[node.get("y")] = sums.get(node.get("y"), 0.0) + per_cent(node, "width")
    assert list(sums.values()) == pytest.approx([1.0] * 3, abs=1e-3)
    assert "English (en) 38% more comprehensive" in picture.alt
    assert "25% judge failed" in picture.alt
    assert len({entry.mark for entry in picture.drawing.legend}) == len(picture.drawing.legend) == 6
    # A language with a label missing is skipped.
    lacking = ("correctness", "es", "neither")
    made = [
        cell("m", c.panel, "es", None)
        if (c.panel.criterion, c.language, c.panel.metric) == lacking
        else c
        for c in everything(("m",)).cells
    ]
    picture = one(report(made), "correctness_demo_labels")
    assert "no value for Spanish (es)" in picture.title
    assert languages_in(picture.drawing.panels[0]) == ["English (en)", "Hindi (hi)"]


def test_languages_have_one_order_and_means_come_last():
    picture = one(report(of_information()), "information_xling_dots_information_f1")
    assert "family" not in picture.alt and "best Chinese (zh) 0.78" in picture.alt
    assert "mean of all 0.49" in picture.alt
    names = [t for t in words(picture.drawing.panels[0]) if "(" in t or "Mean" in t]
    assert names[:4] == ["Spanish (es)", "Chinese (zh)", "Hindi (hi)", "Arabic (ar)"]
    assert len(names) == 30 + 5 and names[30:32] == ["Mean: all", "Mean: Latin"]


def test_a_model_has_one_mark_in_every_picture():
    made = report([cell("m", ACC, "en", 0.5), cell("k", ACC, "en", 0.4)])
    both = one(made).drawing.panels[0]
    assert [node.get("class") for node in body(both).iter("path")] == ["s1 edge", "s2 edge"]


def test_many_models_and_languages_stay_apart():
    models = ("m", "k", "a model with quite a long name indeed 7B" * 3)
    picture = one(report(of_information(models)), "information_xling_dots_information_f1")
    (drawn,) = picture.drawing.panels
    places = sorted(y for _, y in marks(drawn))
    assert len(places) == 3 * 35 and min(b - a for a, b in itertools.pairwise(places)) >= 12.4
    assert max(places) < drawn.height - 18


def test_numbers_and_counts_in_words():
    pairs = [(-0.001, 0.5), (-0.21, 1), (0.004, 0.01), (23.45, 23.45), (0.0, 0.0)]
    assert [number(*pair) for pair in pairs] == ["0.00", "−0.21", "0.004", "23.4", "0.00"]
    told = [questions(n) for n in ([24, 20], [1], [], [1134])]
    assert told == ["20 to 24 questions", "1 question", "", "1,134 questions"]


def test_a_drawing_of_several_columns_keeps_groups_apart():
    panels = one(everything(("m", "k")), "correctness_demo_gaps").drawing.panels
    assert [panel.group for panel in panels] == ["m", "m", "k", "k"]
    drawing = Drawing(panels, columns=2)
    assert str(drawing.html()).count('class="panels many"') == 2


# Machado, Oliveira & Fernandes 2009, severity 1: what is left of linear red, green and blue.
SEEN_BY = {
    "all": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                 [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900]],
}  # fmt: skip


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIE L*a*b* of linear sRGB, in which 2.3 is a difference that one just sees."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = to_xyz @ np.clip(rgb, 0, 1) / np.array([0.9505, 1, 1.089])
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eyes", SEEN_BY)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_with_a_meaning_stay_apart_for_every_eye(scheme, eyes):
    bright, _, dark = css().partition("@media screen")
    of = dict(re.findall(r"--([\w-]+): (#\w{6})", bright))
    if scheme == "dark":
        of |= dict(re.findall(r"--([\w-]+): (#\w{6})", dark))
    labels = dict(re.findall(r"\.chart \.(k\d) \{ fill: (#\w{6})", css()))
    verdicts = [of[look.kind] for look in LOOKS.values()]
    for colors, least in ((verdicts, 15), ([of[f"s{i}"] for i in range(1, 9)], 15),
                          (list(labels.values()), 12)):  # fmt: skip
        seen = [lab(np.array(SEEN_BY[eyes]) @ linear(color)) for color in colors]
        assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) >= least
    paper = linear({"light": "#ffffff", "dark": "#14181d"}[scheme])
    for color in verdicts:
        shine = sorted(float(np.clip([0.2126, 0.7152, 0.0722] @ (np.array(SEEN_BY[eyes]) @ each), 0, 1))
                       for each in (linear(color), paper))  # fmt: skip
        assert (shine[1] + 0.05) / (shine[0] + 0.05) >= 4


def test_nothing_is_told_by_colour_alone():
    for field in ("sign", "name", "path"):
        assert len({getattr(look, field) for look in LOOKS.values()}) == len(LOOKS)
    shapes = [re.search(r' d="([^"]+)"', str(series_mark(i)))[1] for i in range(8)]
    assert len(set(shapes)) == 8 and not {look.path for look in LOOKS.values()} & {*shapes[2:]}


def test_what_a_picture_over_temperatures_says_is_true_between_its_ends_too():
    def said(*values):
        series = {str(i): {"hi": Point(value)} for i, value in enumerate(values)}
        return over_temperature(Facet("", "", ("hi",), series), [i / 4 for i in range(len(values))])

    assert said(0.5) == "values from 0.50 to 0.50"  # one temperature tells nothing of a change
    up_and_down = "every language as high at its highest temperature as at its lowest"
    assert said(0.5, 0.9, 0.5) == f"values from 0.50 to 0.90; {up_and_down}"
    higher = "Hindi (hi) from 0.50 at temperature 0 to 0.90 at temperature 0.25"
    assert said(0.5, 0.9).endswith(higher)
