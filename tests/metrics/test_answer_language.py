from __future__ import annotations

import langid
import pytest
import yaml
from conftest import DATA
from xling_metrics.answer_language import AnswerLanguage, classify_answer_language
from xling_metrics.langid_batches import known_labels, labels_of, scores_of

pytestmark = pytest.mark.core

CASES = yaml.safe_load((DATA / "languages.yaml").read_text(encoding="utf-8"))

ENGLISH = AnswerLanguage(False, "en")


def classify(text: str, language: str) -> AnswerLanguage:
    (result,) = classify_answer_language([text], language)
    return result


@pytest.mark.parametrize(("language", "text", "inside", "other"), CASES["answers"])
def test_cases(language: str, text: str, inside: bool | None, other: str | None):
    assert classify(text, language) == (inside, other)


def test_the_script_of_a_tag_is_the_one_that_counts():
    hindi = "Aapko doctor se milna chahiye aur dawa leni chahiye"
    assert classify(hindi, "hi-Latn") == (True, None)
    assert classify("अपने डॉक्टर से सलाह लें।", "hi-Latn").in_language is False
    # A language without a row is judged by its tag.
    assert classify("ߌ ߣߌ ߗߋ߫", "nqo-Nkoo").in_language is True
    assert classify("Please take it with some water.", "nqo-Nkoo") == ENGLISH
    assert classify("Kom yɛligu din be", "dag").in_language is None


SERBIAN = {"sr-Cyrl": "Узмите ову таблету после доручка и пијте много воде.",
           "sr-Latn": "Uzmite ovu tabletu posle doručka i pijte mnogo vode."}  # fmt: skip
CHINESE = {
    "zh-Hans": "请在饭后服用这种药物，并多喝水。",
    "zh-Hant": "請在飯後服用這種藥物，並多喝水。",
}


@pytest.mark.parametrize("texts", [SERBIAN, CHINESE], ids=["sr", "zh"])
def test_varieties_by_script_are_two_languages(texts):
    for asked in texts:
        for written, text in texts.items():
            assert classify(text, asked).in_language is (asked == written)
            assert classify(text, asked[:2]).in_language is True
    assert classify(CHINESE["zh-Hant"], "zh-HK").in_language is True
    assert classify(CHINESE["zh-Hans"], "zh-HK").in_language is False
    assert classify("Tome este comprimido depois do café da manhã.", "pt-BR").in_language is True


def test_odd_text_breaks_nothing():
    odd = ["\ud800 word", "\x00" * 50, "a" * 10_000, "\u200d\u200c", "ａｂｃ", "𝓗𝓮𝓵𝓵𝓸 𝔀𝓸𝓻𝓵𝓭"]
    for code in ("es", "hi", "xx"):
        assert len(classify_answer_language(odd, code)) == len(odd)


def test_scores_are_those_that_langids_labels_come_from():
    texts = ["Consulte a su médico.", "See a doctor.", "अपने डॉक्टर से सलाह लें।", ""]
    scores = scores_of([text.encode() for text in texts])
    for text, row in zip(texts, scores):
        expected = dict(langid.rank(text))  # unnormalized log-probabilities
        assert dict(zip(known_labels(), row)) == pytest.approx(expected, abs=1e-3)
    best = [known_labels()[i] for i in scores.argmax(axis=1)]
    assert best == labels_of([text.encode() for text in texts])
