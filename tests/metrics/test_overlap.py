from __future__ import annotations

import unicodedata

import pytest
import sacrebleu
from xling_metrics.overlap import chrf, chrf_signature

PAIRS = [
    ("Take it with food.", "Take the tablet with food."),
    ("Lávese las manos.", "Lávese las manos con agua y jabón."),
    ("多喝水，好好休息。", "请多喝水并休息。"),
    ("पानी पिएँ और आराम करें।", "आराम करें और खूब पानी पिएँ।"),
]


@pytest.mark.parametrize(("answer", "reference"), PAIRS)
def test_equals_sacrebleu(answer, reference):
    assert chrf(answer, reference) == sacrebleu.sentence_chrf(answer, [reference]).score


def test_equal_nothing_alike_nothing_to_compare_and_signature():
    assert chrf("same text", "same text") == pytest.approx(100)
    assert chrf("aaaa", "zzzz") == pytest.approx(0)
    assert chrf("", "x") is chrf("  ", "x") is chrf("x", "") is None
    assert chrf_signature() == (
        "chrf2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|aggregation:mean_of_answers"
        f"|sacrebleu:{sacrebleu.__version__}"
    )


def test_letters_and_accents_as_two_signs_are_the_same_text():
    answer, reference = "La réponse : une hypertension traitée", "Une hypertension déjà traitée"
    apart = unicodedata.normalize("NFD", answer)
    assert apart != answer and chrf(apart, reference) == chrf(answer, reference)
