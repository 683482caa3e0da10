"""The benchmarks of what is printed still run: one data set of each part, by files to the page."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from xling_tasks.languages import LANGUAGES

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import answer_language
import conclusions
from printed import Way, information


@pytest.mark.parametrize("part", conclusions.PARTS, ids=lambda part: part.__name__)
def test_each_part_goes_by_files_to_words(part):
    row = next(part())
    said = row.draw(np.random.default_rng(1), Way())
    assert conclusions.found_in(row, said) or row.low < 1, (row.truth, said)


def test_a_language_that_shares_more_than_two_english_answers_do_rules_out_no_size():
    rng = np.random.default_rng(1)
    shared = {"en": rng.binomial(8, 0.5, (2, 110)) / 8, "hi": rng.binomial(8, 0.9, (2, 110)) / 8}
    said = Way().report(information(110, shared, dict.fromkeys(("en", "hi"), np.zeros(110))))
    item = said.items["information_f1", "hi"]
    assert item.verdict == "equivalent" and item.low > item.margin
    text = said.of("information_f1")
    assert "no less is shared than by two English answers" in text and "ruled out" not in text


def test_the_bundled_texts_are_found_in_every_language():
    assert answer_language.texts().keys() == LANGUAGES.keys()
