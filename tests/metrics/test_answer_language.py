"""The language of an answer: script first, then odds, and nothing where it is too short to tell."""

from __future__ import annotations

import pytest
from xling_metrics.answer_language import AnswerLanguage, Told, in_users_language, tell
from xling_metrics.langid_batches import known_labels, labels_of, scores_of

pytestmark = pytest.mark.core

USERS, ANOTHER, UNTOLD = Told
OWN, SHORT = AnswerLanguage(USERS), AnswerLanguage(UNTOLD)
ENGLISH = AnswerLanguage(ANOTHER, "en")


def told(text: str, language: str, **options) -> AnswerLanguage:
    (one,) = tell([text], language, **options)
    return one


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        # langid's label of the first is French, and of four to six words often another neighbour.
        ("es", "Consulte a su médico.", OWN),
        ("es", "Lo siento, no puedo ayudarte con eso.", OWN),
        ("es", "CONSULTE A SU MÉDICO DE INMEDIATO", OWN),
        ("es", "No.", SHORT),
        ("es", "Paracetamol, ibuprofeno", SHORT),
        ("es", "Please see a doctor as soon as possible today.", ENGLISH),
        ("es", "PLEASE CONSULT YOUR DOCTOR AS SOON AS POSSIBLE", ENGLISH),
        ("es", "Consulte o seu médico o mais rápido possível, por favor.", (ANOTHER, "pt")),
        # A script that no other language here has decides with one word.
        ("th", "ใช่", OWN),
        ("ko", "네", OWN),
        ("th", "Yes", SHORT),
        ("th", "Take Paracetamol 500 mg (Tylenol) PRN", SHORT),
        ("th", "Please take it with some water.", ENGLISH),
        ("th", "请尽快去看医生，不要自己吃药。", (ANOTHER, "zh")),
        # Romanized: not as its users write it, and no other language either.
        ("hi", "Aapko doctor se milna chahiye aur dawa leni chahiye", (ANOTHER, None)),
        ("hi", "अपने डॉक्टर से सलाह लें।", OWN),
        # Japanese has its own letters beside Chinese ones.
        ("zh", "薬を飲んでください。", (ANOTHER, "ja")),
        ("en", "Consulte a su médico cuanto antes.", (ANOTHER, "es")),
        ("en", "See a doctor.", OWN),
        # Two scripts, of which langid knows one.
        ("sr", "Обратите се свом лекару што пре.", OWN),
        ("sr", "Obratite se svom lekaru što pre.", SHORT),
        # A language that langid does not know: told from English by common words alone.
        ("bm", "Aw ni ce, dɔgɔtɔrɔ ka kan ka aw lajɛ joona", OWN),
        ("bm", "I ni ce", SHORT),
        ("bm", "Please see a doctor as soon as you can today", ENGLISH),
        ("bm", "Обратитесь к врачу как можно скорее.", (ANOTHER, None)),
        # No letter, or none outside of addresses.
        ("es", "", SHORT), ("es", "120/80 (90-120)", SHORT), ("th", "**\n- \n", SHORT),
        ("th", "https://www.example.org/health/flu/symptoms/when-to-see-a-doctor", SHORT),
    ],
)  # fmt: skip
def test_what_is_told(language: str, text: str, expected: tuple[Told, str | None]):
    assert told(text, language) == expected


def test_a_script_that_the_user_states_takes_the_place_of_the_usual_one():
    hindi = "Aapko doctor se milna chahiye aur dawa leni chahiye"
    assert told(hindi, "hi", scripts=["Latin"]) == OWN
    assert told("अपने डॉक्टर से सलाह लें।", "hi", scripts=["Latin"]).told is ANOTHER
    # A language without a row is judged by what was stated.
    assert told("ߌ ߣߌ ߗߋ߫", "nqo", scripts=["Nko"]).told is USERS
    assert told("Please take it with some water.", "nqo", scripts=["Nko"]) == ENGLISH
    assert told("Kom yɛligu din be", "dag").told is UNTOLD


def test_a_second_identifier_that_contradicts_leaves_it_untold():
    spanish, english = "Consulte a su médico hoy.", "Please see a doctor as soon as possible today."
    for says, expected in (
        ([True, False], [OWN, ENGLISH]),
        ([False, True], [OWN, SHORT]),
        ([None, None], [OWN, ENGLISH]),
    ):
        assert tell([spanish, english], "es", second=lambda texts, says=says: says) == expected
    # It is not asked where letters decide.
    assert told("ใช่", "th", second=lambda texts: [False for _ in texts]) == OWN


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
