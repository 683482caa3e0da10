"""Language identification: labels equal langid's own; shares and passes by hand."""

from __future__ import annotations

import csv
import functools
import os
import random
import sys
from pathlib import Path

import langid
import numpy as np
import pytest
from xling_metrics import langid_batches
from xling_metrics.language import (
    Confusion,
    identify,
    langid_code,
    language_confusion_corpus,
    language_consistency,
    language_consistency_corpus,
    line_pass,
    published_language_consistency_corpus,
    published_sentences,
    sentences,
    word_pass,
)

pytestmark = pytest.mark.core

EN = "Please drink a glass of water with every pill."
ES = "Por favor, beba un vaso de agua con cada pastilla."
FR = "Veuillez boire un verre d'eau avec chaque comprimé."
ZH = "请每次服药时喝一杯水，并按时复查血压。"
HI = "कृपया हर गोली के साथ एक गिलास पानी पिएँ।"
JA = "薬を飲むときは、必ずコップ一杯の水を飲んでください。"
KO = "약을 드실 때마다 물 한 잔을 함께 마시고 쉬세요."
AR = "يرجى شرب كوب من الماء مع كل حبة دواء."
RU = "Если после приёма лекарства вам стало хуже, обратитесь к врачу."


@functools.cache
def _label(text: str | bytes) -> str:
    return str(langid.classify(text)[0])


def _langid(texts: list[str]) -> list[str]:
    return list(map(_label, texts))


def test_identify_literals() -> None:
    labels = ["en", "es", "fr", "zh", "hi", "ja", "ko", "ar", "ru"]
    assert identify([EN, ES, FR, ZH, HI, JA, KO, AR, RU]) == labels


def test_empty_and_space_have_no_language() -> None:
    assert langid.classify("")[0] == "en"  # what must not count
    assert identify(["", EN, " \n\t\u3000"]) == [None, "en", None]
    assert identify([]) == []


@pytest.mark.parametrize("compiled", [False, True])
def test_identify_equals_langid_on_random_text(
    monkeypatch: pytest.MonkeyPatch, compiled: bool
) -> None:
    _switch_kernel(monkeypatch, compiled)
    rng = random.Random(5)
    pool = " .,;0123abcdefghijklmnopqrstuvwxyzéñüßøłАбвгдежз的是不了人あいのにはक्षहिींمنفيالהומ가나다กขค\U0001f600\x00"
    texts = ["".join(rng.choices(pool, k=rng.randrange(1, 60))) for _ in range(250)]
    # parts of real text, cut anywhere; the same text in a long and in a short batch
    source = " ".join([EN, ES, FR, ZH, HI, JA, KO, AR, RU]) * 2
    texts += [source[rng.randrange(300) :][: rng.randrange(1, 200)] for _ in range(150)]
    texts = [text for text in texts if text.strip()]
    expected = _langid(texts)
    assert identify(texts) == expected
    assert [identify([text])[0] for text in texts[:40]] == expected[:40]


@pytest.mark.parametrize("compiled", [False, True])
def test_bytes_of_any_kind_have_langids_label(
    monkeypatch: pytest.MonkeyPatch, compiled: bool
) -> None:
    """Bytes that are no UTF-8, one alone, and empty texts among others."""
    _switch_kernel(monkeypatch, compiled)
    rng = random.Random(9)
    texts = [rng.randbytes(rng.choice([1, 2, 5, 40])) for _ in range(200)]
    texts += [bytes([number]) for number in range(256)]
    texts = [b"", EN.encode(), b"", b"", *texts, b""]
    assert langid_batches.labels_of(texts) == list(map(_label, texts))
    assert langid_batches.labels_of([b""]) == ["en"]
    assert langid_batches.labels_of([]) == []


def test_half_a_letter_does_not_end_a_run() -> None:
    """A reply that was cut within an emoji may end with one half of its surrogate pair."""
    assert sentences(EN + "\ud83d", "en") == [EN, "\ufffd"]
    assert language_consistency(JA + " \udc00", "ja") == 1.0


@pytest.mark.parametrize("compiled", [False, True])
def test_batches_do_not_change_labels(monkeypatch: pytest.MonkeyPatch, compiled: bool) -> None:
    _switch_kernel(monkeypatch, compiled)
    texts = [EN, HI, ZH * 40, ES, AR, EN]
    expected = identify(texts)
    for size in (1, 100, 700):  # every text alone; cut in the middle of the list
        monkeypatch.setattr(langid_batches, "_BATCH_BYTES", size)
        assert identify(texts) == expected == _langid(texts)


def _switch_kernel(monkeypatch: pytest.MonkeyPatch, compiled: bool) -> None:
    """Take the compiled loops, or those of numpy, whatever the size."""
    if compiled:
        pytest.importorskip("numba")
    else:
        monkeypatch.setattr(langid_batches, "_kernel", lambda _size: None)


def test_numba_is_loaded_where_that_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.delitem(sys.modules, "numba")
    assert langid_batches._kernel(10_000) is None
    monkeypatch.setitem(sys.modules, "numba", None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, "xling_metrics._langid_kernel", raising=False)
    assert langid_batches._kernel(1 << 30) is None


def test_sums_are_exact_in_any_order() -> None:
    # All weights are multiples of 2**-24 below 2**5: partial sums below 2**29 fit float64's 53 bits.
    model = langid_batches._model()
    for weights in (model.weights, model.prior):
        assert np.all(weights * 2.0**24 % 1 == 0)
    from langid.langid import LanguageIdentifier
    from langid.langid import model as model_string

    assert np.abs(LanguageIdentifier.from_modelstring(model_string).nb_ptc).max() < 2**5


def test_long_lines_are_those_of_five_words() -> None:
    """Counted word by word; two letters of a script without spaces stand for a word."""
    from xling_metrics.language import _UNSPACED_LETTER, _is_long
    from xling_metrics.words import words

    rng = random.Random(3)
    pool = [
        "a",
        "don't",
        "3.5",
        "水を",
        "薬",
        "ยา",
        "ок",
        "।",
        "-",
        "គ",
        "คำ",
        "मरीज़",
        "2-3",
        "_",
        "。",
    ]
    seen = set()
    for _ in range(600):
        line = rng.choice([" ", "", " - "]).join(rng.choices(pool, k=rng.randrange(12)))
        unspaced = len(_UNSPACED_LETTER.findall(line))
        long = len(words(_UNSPACED_LETTER.sub(" ", line), "en")) + unspaced // 2 >= 5
        assert _is_long(line) is long, line
        seen.add((long, unspaced > 0))
    assert len(seen) == 4


def test_langid_narrowed_elsewhere_does_not_matter() -> None:
    try:
        langid.set_languages(["en", "fr"])
        assert identify([HI]) == ["hi"]
    finally:
        langid.set_languages(None)


def test_langid_code() -> None:
    assert [langid_code(c) for c in ("iw", "he", "zh-CN", "hi")] == ["he", "he", "zh", "hi"]
    with pytest.raises(ValueError, match="langid does not know 'tlh'; it knows af, am"):
        langid_code("tlh")


def test_sentences() -> None:
    assert sentences("Take 3.5 mg. Dr. Rao agrees!  Twice?", "en") == [
        "Take 3.5 mg.",
        "Dr. Rao agrees!",
        "Twice?",
    ]
    assert sentences("你好。今天怎么样？我很好！", "zh-CN") == [
        "你好。",
        "今天怎么样？",
        "我很好！",
    ]
    assert sentences("आप कैसे हैं? यह एक वाक्य है। ठीक है।", "hi") == [
        "आप कैसे हैं?",
        "यह एक वाक्य है।",
        "ठीक है।",
    ]
    assert sentences(" \n ", "en") == sentences("", "en") == []


def test_published_sentences_cut_numbers() -> None:
    assert published_sentences("Take 3.5 mg. यह है।ठीक？ ") == ["Take 3.", "5 mg.", "यह है।", "ठीक？"]
    assert published_sentences("") == []


def test_language_consistency_by_hand() -> None:
    # two Hindi sentences and one English: 2/3 and 1/3
    assert language_consistency(f"{HI} {EN} {HI}", "hi") == pytest.approx(2 / 3)
    assert language_consistency(f"{HI} {EN} {HI}", "en") == pytest.approx(1 / 3)
    assert language_consistency(ZH * 3, "zh-CN") == 1.0


def test_language_consistency_of_nothing_is_none() -> None:
    assert language_consistency_corpus(["", " \n", "***\n\n12.", ZH], "zh") == [
        None,
        None,
        None,
        1.0,
    ]
    assert language_consistency_corpus([], "zh") == []


def test_sentence_without_letters_does_not_count() -> None:
    # langid calls '24.' English; the share is over the one sentence that has letters
    answer = f"{ZH}\n\n24."
    assert len(sentences(answer, "zh")) == 2
    assert language_consistency(answer, "zh") == 1.0
    assert published_language_consistency_corpus([answer], "zh") == [0.5]


def test_corpus_equals_single_answers() -> None:
    answers = [f"{ES} {EN}", "", ES, f"{ES} {EN}", FR]
    expected = [language_consistency(answer, "es") for answer in answers]
    assert language_consistency_corpus(answers, "es") == expected == [0.5, None, 1.0, 0.5, 0.0]


def test_published_share_leaves_out_other_languages() -> None:
    # French is none of the four: Spanish 1 of 1, and an answer in French alone is not scored
    assert published_language_consistency_corpus([f"{ES} {FR}", FR], "es") == [1.0, None]
    with pytest.raises(ValueError, match="published for en, es, zh, hi only"):
        published_language_consistency_corpus([FR], "fr")


def test_line_pass() -> None:
    assert line_pass(f"{ES}\n{ES}", "es") is True
    assert line_pass(f"{ES}\n{EN}", "es") is False
    assert line_pass(f"{ES}\n- OK, two mg\n\n", "es") is True  # three words: too short to count
    assert line_pass("Sí.\nNo.", "es") is None
    assert line_pass("", "es") is None
    # ten letters of Chinese stand for five words, in a line of any language
    assert line_pass("对不起我不能回答此题", "zh") is True
    assert line_pass("对不起我不能回答此题", "hi") is False
    assert line_pass("我不能回答", "hi") is None


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        ("", True),
        ("建议查询 https://www.who.int/health 和 help@who.int 了解更多", True),  # addresses
        ("血糖低于 5.6 mmol/L，每天 20 mg", True),  # units
        ("检查 HbA1c 和 COVID-19，服用 Paracetamol", True),  # upper case or a digit
        ("α 和 β 受体", True),  # symbols
        ("请注意 fasting 血糖", False),
        ("请注意 도움말 血糖", False),  # a script without case: two letters are enough
    ],
)
def test_word_pass_chinese(added: str, expected: bool) -> None:
    # one line, long enough in Chinese that langid has no doubt
    assert language_confusion_corpus([ZH * 4 + added], "zh") == [Confusion(True, expected)]


def test_word_pass_other_scripts() -> None:
    assert word_pass(HI, "hi") is True
    assert word_pass(f"{HI} कृपया water ज़रूर पिएँ।", "hi") is False
    assert word_pass(JA, "ja") is True  # kana, kanji and the long-vowel mark
    assert word_pass(f"{AR} هذا مهم جدا dosage للمريض", "ar") is False
    assert word_pass(f"{KO} 매일 培养 하세요.", "ko") is False


def test_word_pass_is_none_without_line_pass_and_for_latin_script() -> None:
    assert word_pass(f"{HI}\n{EN}", "hi") is None
    assert word_pass("", "hi") is None
    assert language_confusion_corpus([ES], "es") == [Confusion(True, None)]


@pytest.mark.realdata
def test_real_answers_equal_langid_and_look_sane() -> None:
    folder = os.environ.get("XLING_REALDATA")
    if not folder:
        pytest.skip("set XLING_REALDATA to the folder of the real data sets")
    with Path(folder, "completions", "command-r-plus.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        rows = [row for row in csv.DictReader(file) if row["task"] == "monolingual"]
    assert len({row["language"] for row in rows}) == 15
    lines = [line for row in rows for line in row["completion"].splitlines() if line.strip()]
    sample = lines[:: len(lines) // 700]
    assert identify(sample) == _langid(sample)
    for code, least in (("zh", 0.95), ("hi", 0.9), ("ar", 0.95), ("fr", 0.95), ("id", 0.75)):
        answers = [row["completion"] for row in rows if row["language"] == code]
        passes = [
            c.line_pass for c in language_confusion_corpus(answers, code) if c.line_pass is not None
        ]
        assert sum(passes) / len(passes) >= least


def test_a_language_that_langid_does_not_know_is_told_by_its_script():
    from xling_metrics.language import (
        in_language,
        knows,
        language_confusion_corpus,
        language_consistency,
        language_consistency_corpus,
        match_rule,
    )

    nko = "ߊ߬ ߖߊ߬ߕߋ߬ ߓߌ߬ߟߊ߬ ߟߊ߫"
    english = "Rest and plenty of fluids help the body to recover from a cold."
    assert not knows("nqo") and knows("sw") and knows("iw")
    assert in_language([nko, english, "12.", ""], "nqo", ["Nko"]) == [True, False, None, None]
    # In a script that English has too, English is the one thing that can be told apart.
    assert in_language([english, "Vuhim mini kom n-sɔŋdi a."], "dag", ["Latin"]) == [False, True]
    assert language_consistency_corpus([f"{nko}. {english}"], "nqo", ["Nko"]) == [0.5]
    assert language_confusion_corpus([english], "nqo", ["Nko"])[0] == (False, None)
    assert match_rule(["Latin"]) == "|by:script_Latin_and_not_english" and match_rule() == ""
    # Hindi in Latin letters: langid would never call it Hindi.
    roman = "Aap zyada pani piyen aur aaram karen, isse sharir theek hota hai."
    assert language_consistency(roman, "hi") == 0.0
    assert language_consistency_corpus([roman], "hi", ["Latin"]) == [1.0]
