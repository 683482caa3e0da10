"""What counts as no translation, and what must pass."""

from __future__ import annotations

import pytest
from conftest import cases

from xling_tasks.models.translate.degenerate import find_faults, repeats

TRANSLATIONS = cases("translations")


@pytest.mark.parametrize(
    ("why", "source_language", "target_language", "source", "text"),
    [*((None, *row) for row in TRANSLATIONS["good"]), *TRANSLATIONS["bad"]],
)
def test_real_translations_pass_and_failures_are_named(
    why, source_language, target_language, source, text
):
    assert find_faults([(source, text)], source_language, target_language) == [why]


@pytest.mark.parametrize(("text", "expected"), TRANSLATIONS["repeats"])
def test_repeats(text, expected):
    assert repeats(text) is expected


@pytest.mark.realdata
def test_aligned_sentences_of_the_data_pass(realdata):
    """Of sentences that stand at the same place in a question and its translation, 1% at most."""
    pandas = pytest.importorskip("pandas")
    table = pandas.read_excel(realdata / "xlinghealth" / "LiveQA.xlsx")
    for code, name in {"es": "Spanish", "zh": "Chinese", "hi": "Hindi"}.items():
        rows = table[["question_English", f"question_{name}"]].dropna().drop_duplicates()
        pairs = [(str(b), str(a)) for a, b in rows.itertuples(index=False)]
        faults = [why for why in find_faults(pairs, code, "en") if why]
        assert len(faults) <= 0.01 * len(pairs), faults
