"""The language of an answer: script first, then odds, and nothing where it is too short to tell."""

from __future__ import annotations

import pytest
import yaml
from conftest import DATA
from xling_metrics.answer_language import AnswerLanguage, Told, in_users_language, tell
from xling_metrics.langid_batches import known_labels, labels_of, scores_of

pytestmark = pytest.mark.core

CASES = yaml.safe_load((DATA / "languages.yaml").read_text(encoding="utf-8"))

USERS, ANOTHER, UNTOLD = Told
OWN, SHORT = AnswerLanguage(USERS), AnswerLanguage(UNTOLD)
ENGLISH = AnswerLanguage(ANOTHER, "en")


def told(text: str, language: str) -> AnswerLanguage:
    (one,) = tell([text], language)
    return one


@pytest.mark.parametrize(("language", "text", "whose", "other"), CASES["told"])
def test_what_is_told(language: str, text: str, whose: str, other: str | None):
    assert told(text, language) == (Told[whose], other)


def test_the_script_of_a_tag_is_the_one_that_counts():
    hindi = "Aapko doctor se milna chahiye aur dawa leni chahiye"
    assert told(hindi, "hi-Latn") == OWN
    assert told("अपने डॉक्टर से सलाह लें।", "hi-Latn").told is ANOTHER
    # A language without a row is judged by its tag.
    assert told("ߌ ߣߌ ߗߋ߫", "nqo-Nkoo").told is USERS
    assert told("Please take it with some water.", "nqo-Nkoo") == ENGLISH
    assert told("Kom yɛligu din be", "dag").told is UNTOLD


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
            assert told(text, asked).told is (USERS if asked == written else ANOTHER)
            assert told(text, asked[:2]).told is USERS
    assert told(CHINESE["zh-Hant"], "zh-HK").told is USERS
    assert told(CHINESE["zh-Hans"], "zh-HK").told is ANOTHER
    assert told("Tome este comprimido depois do café da manhã.", "pt-BR").told is USERS


def test_equal_texts_and_order():
    found = tell(["ใช่", "", "ใช่", "Please take it with some water."], "th")
    assert found == [OWN, SHORT, OWN, ENGLISH] and tell([], "es") == []
    assert [in_users_language(each) for each in found] == [1.0, None, 1.0, 0.0]


def test_odd_text_breaks_nothing():
    odd = ["\ud800 word", "\x00" * 50, "a" * 100_000, "\u200d\u200c", "ａｂｃ", "𝓗𝓮𝓵𝓵𝓸 𝔀𝓸𝓻𝓵𝓭"]
    for code in ("es", "hi", "zh", "sr", "bm", "xx"):
        assert len(tell(odd, code)) == len(odd)


def test_scores_are_those_that_langids_labels_come_from():
    from langid.langid import LanguageIdentifier, model

    identifier = LanguageIdentifier.from_modelstring(model)
    texts = ["Consulte a su médico.", "See a doctor.", "अपने डॉक्टर से सलाह लें।", ""]
    scores = scores_of([text.encode() for text in texts])
    for text, row in zip(texts, scores):
        expected = dict(identifier.rank(text))  # unnormalized log-probabilities
        assert dict(zip(known_labels(), row)) == pytest.approx(expected, abs=1e-3)
    best = [known_labels()[i] for i in scores.argmax(axis=1)]
    assert best == labels_of([text.encode() for text in texts])
