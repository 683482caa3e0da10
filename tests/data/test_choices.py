"""Signs that translation damaged a question of multiple choice, told from its texts."""

from __future__ import annotations

import pytest

from xling_tasks.data.choices import SIGNS, Asked, asked_of, signs
from xling_tasks.data.mmlu_clinical import load
from xling_tasks.data.records import MMLU_CLINICAL


def found(english, other, language="zu", english_options="xyz", options="xyz"):
    one = Asked(english, dict(zip("ABC", english_options, strict=True)))
    return signs(one, Asked(other, dict(zip("ABC", options, strict=True))), language)


@pytest.mark.parametrize(("english", "other", "lost"), [
    ("Take 25 mg.", "Thatha u-25 mg.", False),
    ("Take 25 mg.", "Thatha u-52 mg.", True),  # two digits exchanged
    ("Take 25 mg.", "Thatha.", True),
    ("Within 4 days", "በ 48 ሰዓታት ውስጥ", True),  # another number in its place
    ("Take 2 tablets", "Thatha amaphilisi amabili", False),  # spelt out, as small ones are
    ("1.5 mg", "1,5 mg", False), ("1.5 mg", "15 mg", True),  # a lost point is ten times the dose
    ("1,000 people", "1 000 abantu", False), ("1,000 people", "1.000 abantu", False),
    ("1,000 people", "1000 abantu", False), ("1,000,000 people", "1 000 000 abantu", False),
    ("1,000 people", "100 abantu", True),
    ("at 38.5 degrees", "३८.५ डिग्री", False), ("at 38 degrees", "٣٨ درجة", False),
    ("at 38 degrees", "٣٩ درجة", True), ("CD4 below 200", "i-CD4 engaphansi kuka-200", False),
    ("no number", "25", False),
])  # fmt: skip
def test_numbers_are_compared_by_value(english, other, lost):
    assert ("numbers" in found(english, other)) == lost


@pytest.mark.parametrize(("english", "other", "lost"), [
    ("25 mg", "25 mg", False), ("25 mg", "25mg", False), ("25 milligrams", "25 mg", False),
    ("25 mg", "25", True), ("25 mg", "25 µg", True), ("25 µg", "25 μg", False),
    ("25 mcg", "25 micrograms", False), ("30%", "30", True), ("30%", "30 phesenti", False),
    ("30%", "30٪", False), ("37 °C", "37 °F", True), ("37 °C", "37°C", False),
    ("62 kg", "amakhilogremu angu-62", False),  # the word stands before the number
    ("25 mg", "25 ሚ.ግ", False), ("80-90 minutes", "metsotso e le 80-90:", False),
    ("25 years", "25", False),  # no unit that is known here
])  # fmt: skip
def test_units_stay_beside_their_number(english, other, lost):
    assert ("units" in found(english, other)) == lost


@pytest.mark.parametrize(("english", "other", "language", "lost"), [
    ("Which is not true?", "¿Cuál no es cierto?", "es", False),
    ("Which is not true?", "¿Cuál es cierto?", "es", True),
    ("All of these EXCEPT", "Todos estos, excepto", "es", False),
    ("It doesn't help", "Dit help nie", "af", False), ("It doesn't help", "Dit help", "af", True),
    ("It is not known", "It is unknown", "en", False), ("It is not safe", "It is safe", "en", True),
    ("It is not safe", "不安全", "zh", False), ("It is not safe", "安全", "zh", True),
    ("It is not safe", "Kuphephile", "zu", False),  # not known here: nothing is said of it
    ("It is exceptionally safe", "Es muy seguro", "es", False),
])  # fmt: skip
def test_negations_are_looked_for_where_they_are_known(english, other, language, lost):
    assert ("negations" in found(english, other, language)) == lost


def test_what_is_the_same_as_in_english_is_a_sign_only_of_sentences():
    sentence = "Which of these is the best?"
    assert found(sentence, sentence) == {"untranslated"}
    assert found(sentence, sentence, "en") == frozenset()  # a back-translation
    assert found("Staphylococcus aureus", "Staphylococcus aureus") == frozenset()
    assert found("a", "b", options="xyX") == {"coincide"}
    assert found("a", "b", english_options="xyX", options="xyX") == frozenset()
    assert found("a", "b", options=("x", " ", "z")) == {"empty"} and found("a", "") == {"empty"}


def test_documents_of_other_tasks_are_understood():
    wanted = Asked("What's up?", {"0": "a", "1": "b"})
    for choices in (["a", "b"], {"text": ["a", "b"], "label": ["A", "B"]}):
        assert asked_of({"question": "What&#39;s up?", "choices": choices}) == wanted
    lacking = asked_of({"question": "q", "options": {"A": "a", "B": None}})
    assert lacking.options == {"A": "a", "B": ""}
    for other in (
        {},
        {"question": "q"},
        {"question": 1, "options": ["a"]},
        {"options": {"A": "a"}},
    ):
        assert asked_of(other) is None


@pytest.mark.realdata
def test_the_published_translations(realdata):
    """Found by reading: a case report that lost half its numbers, nine questions left in English."""
    exam = load(MMLU_CLINICAL["mmlu_clinical"], str(realdata / "mmlu_clinical_afr"), None)
    english = {x.id: Asked(x.question, x.options) for x in exam.questions["en"]}
    assert not any(signs(own, own, "en") for own in english.values())
    of_each = {
        code: [signs(english[x.id], Asked(x.question, x.options), code) for x in own]
        for code, own in exam.questions.items()
        if code != "en"
    }
    # The row of docs/mmlu-clinical.md.
    assert {code: sum(map(bool, own)) for code, own in of_each.items()} == {
        "af": 4, "am": 12, "bm": 26, "ig": 21, "nso": 20, "sn": 25, "st": 41, "tn": 14, "ts": 48,
        "xh": 8, "zu": 15,
    }  # fmt: skip
    counts = {sign: sum(sign in own for own in of_each["st"]) for sign in SIGNS}
    assert counts == {"coincide": 13, "empty": 0, "untranslated": 9, "numbers": 21, "units": 0,
                      "negations": 0}  # fmt: skip
