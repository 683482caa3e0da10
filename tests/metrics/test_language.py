"""Language identification: labels equal langid's own; shares and passes by hand."""

from __future__ import annotations

import csv
import functools
import random

import langid
import pytest
from xling_metrics import langid_batches
from xling_metrics.language import (
    LanguageConfusion,
    identify_language,
    in_language,
    in_language_rule,
    langid_code,
    langid_knows,
    language_consistency_corpus,
    published_language_consistency_corpus,
    published_sentences,
    score_language_confusion,
    sentences,
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


EVERY = {"en": EN, "es": ES, "fr": FR, "zh": ZH, "hi": HI, "ja": JA, "ko": KO, "ar": AR, "ru": RU}


def language_consistency(text: str, language: str) -> float | None:
    (share,) = language_consistency_corpus([text], language)
    return share


@functools.cache
def _label(text: str | bytes) -> str:
    return str(langid.classify(text)[0])


@pytest.fixture(params=["numpy", "compiled"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    """The compiled loops, or those of numpy, whatever the size."""
    if request.param == "compiled":
        pytest.importorskip("numba")
    else:
        monkeypatch.setattr(langid_batches, "load_kernel", lambda *_args, **_options: None)


def test_identify_literals_and_nothing_of_empty_text():
    assert identify_language(list(EVERY.values())) == list(EVERY)
    assert langid.classify("")[0] == "en"  # what must not count
    assert identify_language(["", EN, " \n\t\u3000"]) == [None, "en", None]
    assert identify_language([]) == []


def test_identify_equals_langid_on_random_text(kernel):
    rng = random.Random(5)
    pool = " .,;0123abcdefghijklmnopqrstuvwxyzéñüßøłАбвгдежз的是不了人あいのにはक्षहिींمنفيالהומ가나다กขค\U0001f600\x00"
    texts = ["".join(rng.choices(pool, k=rng.randrange(1, 60))) for _ in range(120)]
    # parts of real text, cut anywhere; the same text in a long and in a short batch
    source = " ".join(EVERY.values()) * 2
    texts += [source[rng.randrange(300) :][: rng.randrange(1, 200)] for _ in range(80)]
    texts = [text for text in texts if text.strip()]
    expected = list(map(_label, texts))
    assert identify_language(texts) == expected
    assert [identify_language([text])[0] for text in texts[:40]] == expected[:40]


def test_half_a_letter_does_not_end_a_run():
    """A reply that was cut within an emoji may end with one half of its surrogate pair."""
    assert sentences(EN + "\ud83d", "en") == [EN, "\ufffd"]
    assert language_consistency(JA + " \udc00", "ja") == 1.0


def test_batches_do_not_change_labels(kernel, monkeypatch):
    texts = [EN, HI, ZH * 40, ES, AR, EN]
    expected = identify_language(texts)
    for size in (1, 100, 700):  # every text alone; cut in the middle of the list
        monkeypatch.setattr(langid_batches, "_BATCH_BYTES", size)
        assert identify_language(texts) == expected == list(map(_label, texts))


def test_langid_code_and_langid_narrowed_elsewhere_does_not_matter():
    assert [langid_code(c) for c in ("iw", "he", "zh-CN", "hi")] == ["he", "he", "zh", "hi"]
    with pytest.raises(ValueError, match="langid does not know 'tlh'; it knows af, am"):
        langid_code("tlh")
    try:
        langid.set_languages(["en", "fr"])
        assert identify_language([HI]) == ["hi"]
    finally:
        langid.set_languages(None)


@pytest.mark.parametrize(
    ("language", "expected", "glue"),
    [
        ("en", ["Take 3.5 mg.", "Dr. Rao agrees!", "Twice?"], "  "),
        ("zh-CN", ["你好。", "今天怎么样？", "我很好！"], ""),
        ("hi", ["आप कैसे हैं?", "यह एक वाक्य है।", "ठीक है।"], " "),
        ("en", [], " \n "), ("en", [], ""),
    ],
)  # fmt: skip
def test_sentences(language, expected, glue):
    assert sentences(glue.join(expected) or glue, language) == expected
    # The published split cuts numbers.
    assert published_sentences("Take 3.5 mg. यह है।ठीक？ ") == ["Take 3.", "5 mg.", "यह है।", "ठीक？"]
    assert published_sentences("") == []


def test_language_consistency_by_hand():
    # two Hindi sentences and one English: 2/3 and 1/3
    assert language_consistency(f"{HI} {EN} {HI}", "hi") == pytest.approx(2 / 3)
    assert language_consistency(f"{HI} {EN} {HI}", "en") == pytest.approx(1 / 3)
    nothing = ["", " \n", "***\n\n12."]
    assert language_consistency_corpus([*nothing, ZH * 3], "zh-CN") == [None, None, None, 1.0]
    assert language_consistency_corpus([], "zh") == []
    # langid calls '24.' English; the share is over the one sentence that has letters
    answer = f"{ZH}\n\n24."
    assert len(sentences(answer, "zh")) == 2
    assert language_consistency(answer, "zh") == 1.0
    assert published_language_consistency_corpus([answer], "zh") == [0.5]
    # French is none of the four: Spanish 1 of 1, and an answer in French alone is not scored
    assert published_language_consistency_corpus([f"{ES} {FR}", FR], "es") == [1.0, None]
    with pytest.raises(ValueError, match="published for en, es, zh, hi only"):
        published_language_consistency_corpus([FR], "fr")


LONG = ZH * 4  # one line, long enough in Chinese that langid has no doubt


@pytest.mark.parametrize(
    ("text", "language", "lines", "words"),
    [
        (f"{ES}\n{ES}", "es", True, None),  # words of Latin letters do not show
        (f"{ES}\n{EN}", "es", False, None),
        (f"{ES}\n- OK, two mg\n\n", "es", True, None),  # three words: too short to count
        ("Sí.\nNo.", "es", None, None), ("", "es", None, None), ("", "hi", None, None),
        # ten letters of Chinese stand for five words, in a line of any language
        ("对不起我不能回答此题", "zh", True, True), ("对不起我不能回答此题", "hi", False, None),
        ("我不能回答", "hi", None, None),
        (f"{LONG}建议查询 https://www.who.int/health 和 help@who.int 了解更多", "zh", True, True),
        # units, upper case or a digit, symbols
        (f"{LONG}血糖低于 5.6 mmol/L，检查 HbA1c，服用 Paracetamol，α 受体", "zh", True, True),
        (f"{LONG}请注意 fasting 血糖", "zh", True, False),
        (f"{LONG}请注意 도움말 血糖", "zh", True, False),  # without case two letters are enough
        (HI, "hi", True, True), (f"{HI} कृपया water ज़रूर पिएँ।", "hi", True, False),
        (JA, "ja", True, True),  # kana, kanji and the long-vowel mark
        (f"{KO} 매일 培养 하세요.", "ko", True, False),
    ],
)  # fmt: skip
def test_line_and_word_pass(text, language, lines, words):
    assert score_language_confusion([text], language) == [LanguageConfusion(lines, words)]


@pytest.mark.realdata
def test_real_answers_equal_langid_and_look_sane(realdata):
    with (realdata / "completions" / "command-r-plus.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        rows = [row for row in csv.DictReader(file) if row["task"] == "monolingual"]
    assert len({row["language"] for row in rows}) == 15
    lines = [line for row in rows for line in row["completion"].splitlines() if line.strip()]
    sample = lines[:: len(lines) // 700]
    assert identify_language(sample) == list(map(_label, sample))
    for code, least in (("zh", 0.95), ("hi", 0.9), ("ar", 0.95), ("fr", 0.95), ("id", 0.75)):
        answers = [row["completion"] for row in rows if row["language"] == code]
        passes = [c.line_pass for c in score_language_confusion(answers, code)]
        assert passes.count(True) / (len(passes) - passes.count(None)) >= least


def test_a_language_that_langid_does_not_know_is_told_by_its_script():
    nko = "ߊ߬ ߖߊ߬ߕߋ߬ ߓߌ߬ߟߊ߬ ߟߊ߫"
    english = "Rest and plenty of fluids help the body to recover from a cold."
    assert not langid_knows("nqo") and langid_knows("sw") and langid_knows("iw")
    assert in_language([nko, english, "12.", ""], "nqo-Nkoo") == [True, False, None, None]
    # In a script that English has too, English is the one thing that can be told apart.
    assert in_language([english, "Vuhim mini kom n-sɔŋdi a."], "dag-Latn") == [False, True]
    assert language_consistency_corpus([f"{nko}. {english}"], "nqo-Nkoo") == [0.5]
    assert score_language_confusion([english], "nqo-Nkoo")[0] == (False, None)
    assert in_language_rule("dag-Latn") == "|by:script_Latin_and_not_english"
    assert in_language_rule("hi") == ""
    # Hindi in Latin letters: langid would never call it Hindi.
    roman = "Aap zyada pani piyen aur aaram karen, isse sharir theek hota hai."
    assert language_consistency(roman, "hi") == 0.0
    assert language_consistency_corpus([roman], "hi-Latn") == [1.0]
