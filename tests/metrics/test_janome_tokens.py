"""Japanese tokens are Janome's own, whatever runs."""

from __future__ import annotations

import json
import random
import sys
from importlib import import_module
from pathlib import Path

import pytest
from xling_metrics import janome_tokens
from xling_metrics.rationale_tokens import rationale_tokens

janome = pytest.importorskip("janome.tokenizer")

PROSE = (
    "患者は発熱し、血圧が上昇したため、薬を投与した。検査の結果ＣＲＰは１２．３mg/dLで、"
    "ペースメーカー植え込み術後であった。すもももももももものうち。What's next？\n"
    "６５歳の女性。３日前からの腹痛を主訴に来院した．既往歴に特記すべきことはない．"
    "意識は清明。体温36.8℃。脈拍72/分、整。この患者への対応として適切なのはどれか。２つ選べ。"
)
LETTERS = (
    "患者は発熱しアイウエオァィーabcXYZ012９８７ＡＢ。、,.？?！! \u3000\n\r\tΑβДж一二三百千万億①★♪😀"
    "ｱｲｳ々ヶヴーー〜～㌔㎎℃½«»çé한국ไทย\u200b\u3099゛"
)


@pytest.fixture(scope="module")
def both():
    """Our tokens and Janome's of a text."""
    pytest.importorskip("numba")
    tokenizer = janome.Tokenizer(wakati=True)
    ours = janome_tokens.Lattice(tokenizer, import_module("xling_metrics._lattice_kernel"))
    return lambda text: (ours.tokenize(text), list(tokenizer.tokenize(text)))


def test_words_by_hand(both):
    ours, theirs = both("すもももももももものうち")
    assert ours == theirs == ["すもも", "も", "もも", "も", "もも", "の", "うち"]
    assert both("")[0] == both(" \u3000\n")[0] == []


def test_tokens_of_any_letters_are_janomes(both):
    draw = random.Random(7)
    for _ in range(150):
        ours, theirs = both("".join(draw.choices(LETTERS, k=draw.randrange(1, 50))))
        assert ours == theirs
        cut = draw.randrange(len(PROSE))
        ours, theirs = both(PROSE[cut : cut + draw.randrange(60)])
        assert ours == theirs


@pytest.mark.parametrize("length", [499, 500, 501, 1023, 1024, 1025, 2100])
def test_long_texts_are_cut_where_janome_cuts_them(both, length: int):
    """From 500 letters on after a stop or a blank line, at 1,024 anywhere."""
    endless = (PROSE * 20).translate(dict.fromkeys(map(ord, "、。,.？?！!．\n")))
    for text in (PROSE * 20, endless, endless[:510] + "\n\n" + endless, "あ1" * 1100, "a" * 2200):
        ours, theirs = both(text[:length])
        assert ours == theirs
    ours, theirs = both(endless[: length - 4] + "\r\n\r\n" + endless[:50])
    assert ours == theirs


@pytest.mark.realdata
def test_real_questions_have_janomes_tokens(both, realdata: Path):
    path = realdata / "mmedbench" / "Test" / "Japanese.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    texts = [part for row in rows for part in (row["question"], *row["options"].values())]
    for text in random.Random(0).sample(texts, 250):
        ours, theirs = both(text)
        assert ours == theirs


def test_janome_itself_runs_for_short_texts_and_without_numba(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("numba")
    expected = list(janome.Tokenizer(wakati=True).tokenize(PROSE))
    monkeypatch.delitem(sys.modules, "numba")
    tokenize = janome_tokens.load()
    assert tokenize(PROSE) == expected
    assert janome_tokens._kernel(1000) is None
    monkeypatch.undo()
    assert janome_tokens._kernel(1000) is not None
    assert tokenize(PROSE) == expected
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "xling_metrics._lattice_kernel", raising=False)
    assert janome_tokens._kernel(1 << 30) is None
    assert janome_tokens.load()(PROSE) == expected


def test_another_version_of_janome_runs_itself(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(janome_tokens, "KNOWN_VERSIONS", ())
    monkeypatch.setattr(janome_tokens, "Lattice", None)  # not to be called
    assert janome_tokens.load()(PROSE) == list(janome.Tokenizer(wakati=True).tokenize(PROSE))


def test_half_a_letter_becomes_a_sign_of_its_own():
    """Janome refuses it; one reply that was cut within an emoji must not end a run."""
    assert rationale_tokens("もも\ud83d", "ja") == rationale_tokens("もも\ufffd", "ja")
