"""The first picture of a report: what it draws, says and leaves out; of made conclusions."""

from __future__ import annotations

import re

import pytest
from pictured import conclusion

from xling_tasks.languages import LANGUAGES
from xling_tasks.report.pictures.style import LOOKS, mark
from xling_tasks.report.pictures.svg import Scale, tag
from xling_tasks.report.pictures.verdicts import gap_panels, overview, overview_drawing

SHARED = {"metric": "information_f1", "criterion": "information", "dataset": "xling",
          "higher": True, "english": 1.0}  # fmt: skip


def three():
    return [
        conclusion("es", "worse", 0.08),
        conclusion("hi", "not_comparable", None),
        conclusion("zh", "inconclusive", -0.03),
    ]


def test_worse_is_to_the_left_whatever_the_metrics_direction():
    (harm,) = gap_panels([conclusion(estimate=0.08, higher=False)])
    (help_,) = gap_panels([conclusion(estimate=-0.08, metric="more_comprehensive", higher=True)])
    # 8 points worse, interval 3 to 13: both the same picture. The scale goes from -13 to 5 with
    # a tenth as room: -14.8 to 6.8, so -8 lies at 6.8 / 21.6 and 0 at 14.8 / 21.6.
    for panel in (harm, help_):
        marks = re.findall(r'<svg x="([\d.]+)%" y="8" width="1"', panel.body)
        assert float(marks[0]) == pytest.approx(100 * 6.8 / 21.6, abs=0.01)
        zero = re.search(r'<line x1="([\d.]+)%"[^>]*class="zero"', panel.body)
        assert float(zero[1]) == pytest.approx(100 * 14.8 / 21.6, abs=0.01)
        ends = re.search(r'<line x1="([\d.]+)%" y1="8" x2="([\d.]+)%"[^>]*"interval"', panel.body)
        found = [float(end) for end in ends.groups()]
        assert found == pytest.approx([100 * 1.8 / 21.6, 100 * 11.8 / 21.6], abs=0.01)
        band = re.search(r'<rect x="([\d.]+)%" y="0" width="([\d.]+)%"[^>]*"margin"', panel.body)
        assert float(band[1]) == pytest.approx(100 * 9.8 / 21.6, abs=0.01)
        assert float(band[2]) == pytest.approx(100 * 10 / 21.6, abs=0.01)


def test_only_verdicts_that_there_are_have_a_mark_and_cannot_tell_is_dashed():
    drawn = str(overview(three()))
    there = {verdict for verdict, look in LOOKS.items() if look.path in drawn}
    assert there == {"worse", "not_comparable", "inconclusive"}
    assert drawn.count("interval dashed") == 1 and ">better</bdi>" not in drawn
    assert overview([]) == ""


def test_numbers_stand_beside_the_marks_and_in_the_text_alternative():
    (panel,) = gap_panels(three())
    # A veto has no estimate and says so.
    assert "Hindi: not comparable: because" in panel.body
    assert panel.body.count('class="interval') == 2
    (only,) = gap_panels([conclusion("hi", "not_comparable", None)])
    assert "not comparable" in only.body and "margin" not in only.body
    assert re.findall(r'class="end">(\d+)<tspan class="roomy">\xa0(vs \d+)', panel.body) == [
        ("19", "vs 11"), ("8", "vs 11"),
    ]  # fmt: skip
    assert panel.alt == (
        "Harmful answers, LiveQA; 246 questions. Worse than English: Spanish (19 vs 11 "
        "per 100; 8.0 per 100 worse, interval −13.0 to −3.0); cannot tell: Chinese; not comparable: "
        "Hindi."
    )


def test_languages_stand_from_the_worst_in_all_panels_alike_and_english_has_no_row():
    def orders(items):
        return [re.findall(r'class="end">([A-Z]\w+)</text>', x.body) for x in gap_panels(items)]

    about = {"metric": "more_comprehensive", "higher": True}
    other = (
        conclusion("es", "inconclusive", -0.01, **about),
        conclusion("zh", estimate=-0.2, **about),
    )
    assert orders(three()) == [["Spanish", "Hindi", "Chinese"]]
    assert orders([*three(), *other]) == [["Chinese", "Spanish", "Hindi"], ["Chinese", "Spanish"]]


def test_many_models_become_signs_alone():
    codes = [code for code in LANGUAGES if code != "en"]
    items = [
        conclusion(code, "worse", -0.2, **SHARED, model=f"model {i}")
        for i in range(10)
        for code in codes
    ]
    drawing = overview_drawing(items)
    (panel,) = drawing.panels
    assert panel.body.count(f'd="{LOOKS["worse"].path}"') == 300
    assert panel.height <= 500 and "model 9: 30 worse than English" in panel.alt
    assert [entry.words for entry in drawing.legend][-1] == "model 9"


def test_ticks_are_few_and_round():
    assert Scale(-13.72, 5.72).ticks(4) == [-10, -5, 0, 5]
    assert Scale(0, 1).ticks(5) == [0, 0.5, 1]
    for high in (0.003, 0.7, 1, 9.9, 42, 1000):
        found = Scale(-high / 3, high).ticks(5)
        assert 2 <= len(found) <= 5 and 0 in found
    assert Scale.over([]) == Scale(-0.04, 1.04) and Scale.over([2, 2]).low < 2


def test_tags_escape_and_drop_what_xml_lacks():
    made = tag("text", 'a<\x00b\ud800>"', kind='"x')
    assert made == '<text class="&#34;x">a&lt;b&gt;&#34;</text>'
    assert 'aria-hidden="true"' in mark("worse")


def test_a_score_is_never_told_as_so_many_of_a_hundred():
    about = {"metric": "macro_f1", "criterion": "verifiability", "higher": True, "english": 0.88}
    (panel,) = gap_panels([conclusion("hi", "worse", -0.28, **about)])
    assert ">0.60<" in panel.body and "vs 0.88" in panel.body and "per 100" not in panel.alt
    assert "Hindi (0.60 vs 0.88; 0.280 worse, interval −0.330 to −0.230)" in panel.alt
    assert "points" not in panel.body and ">0.2<" in panel.body
    # What cannot be told in hundredths is told in thousandths.
    (panel,) = gap_panels([conclusion("hi", "worse", -0.004, **about)])
    assert "0.876 vs 0.880" in panel.body.replace("\xa0", " ")


def test_no_difference_is_neither_worse_nor_better():
    (panel,) = gap_panels([conclusion(verdict="equivalent", estimate=0.0, width=0.01)])
    # An axis has its zero and two more numbers.
    assert re.findall(r'class="small soft middle">([\d.]+)<', panel.body) == ["5", "0", "5"]
    assert "Spanish 11 vs 11 per 100; no difference, interval −1.0 to 1.0;" in panel.body
    assert panel.alt.endswith("246 questions. About the same as English: Spanish.")


def test_an_agreement_with_english_is_less_and_has_no_better():
    (panel,) = gap_panels([conclusion("hi", "worse", -0.2, **SHARED)])
    assert "Hindi (80 per 100; 20.0 per 100 less, interval −25.0 to −15.0)" in panel.alt
    assert ">better<" not in panel.body and "per 100: </tspan>less</text>" in panel.body
