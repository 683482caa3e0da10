"""Texts in the languages of rationales, for the tests of BLEU and ROUGE."""

from __future__ import annotations

import pytest
from rationale_texts import generated, pairs, real
from xling_metrics.rationale_tokens import RATIONALE_LANGUAGES


@pytest.fixture(
    params=[
        pytest.param((kind, code), marks=[pytest.mark.realdata] if kind == "real" else [])
        for kind in ("generated", "real")
        for code in RATIONALE_LANGUAGES
    ],
    ids=" ".join,
)
def rationales(request: pytest.FixtureRequest) -> tuple[str, list[tuple[str, str]]]:
    """A language, and pairs of texts in it."""
    kind, code = request.param
    if code == "ja":
        pytest.importorskip("janome", reason="the extra ja is not installed")
    if kind == "generated":
        return code, pairs(generated(code), 60)
    return code, pairs(real(request.getfixturevalue("realdata"), code), 25)
