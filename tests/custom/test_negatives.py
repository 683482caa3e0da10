"""Wrong answers to users' questions, and what a question lacks."""

from __future__ import annotations

import pytest
from custom_tables import loaded

from xling_tasks.data.custom.dataset import missing_part
from xling_tasks.data.custom.documents import negatives_of
from xling_tasks.data.custom.questions import is_same_answer

pytestmark = pytest.mark.core


def test_drawn_wrong_answers_are_never_right(tmp_path):
    rows = [{"id": str(n), "question_en": f"q{n}", "answer_en": f"a{n % 3}"} for n in range(30)]
    negatives = negatives_of(loaded(tmp_path, rows))
    assert len(negatives) == 30
    for key, ((negative,)) in negatives.items():
        assert negative.is_drawn and negative.texts["en"] != f"a{int(key) % 3}"
    # 'Yes.' is no wrong answer beside 'yes'.
    texts = ("Yes.", "yes", "No")
    rows = [{"id": str(n), "question_en": f"q{n}", "answer_en": x} for n, x in enumerate(texts)]
    assert negatives_of(loaded(tmp_path, rows))["0"][0].id == "of_2"
    assert negatives_of(loaded(tmp_path, rows[:1])) == {}


@pytest.mark.parametrize(("one", "other", "same"), [
    ("5 mg", ".5 mg", False), ("5", "5%", False), ("5", "-5", False), ("Rh", "Rh-", False),
    ("10²", "102", False),
    ("Yes", "«Yes».", True), ("¿Sí?", "sí", True), ("(Rest)", '"rest!"', True),
])  # fmt: skip
def test_a_sign_that_changes_an_answer_makes_another_one(one, other, same):
    assert is_same_answer(one, other) is same


@pytest.mark.parametrize(("given", "shown"), [
    # Portuguese lacks the second, so it is shown nowhere.
    ({"en": "xy", "pt": "x_", "sw": "xy"}, {"en": [1], "pt": [1], "sw": [1]}),
    # A language without any goes without; the others keep theirs.
    ({"en": "xy", "pt": "xy", "sw": "__"}, {"en": [1, 2], "pt": [1, 2], "sw": []}),
])  # fmt: skip
def test_every_language_is_shown_as_many_wrong_answers(tmp_path, given, shown):
    row = {"id": "1"}
    for code, texts in given.items():
        row |= {f"question_{code}": "a?", f"answer_{code}": "right"}
        for number, text in enumerate(texts.replace("_", " "), start=1):
            row[f"wrong_answer_{number}_{code}"] = text.strip()
    (negatives,) = negatives_of(loaded(tmp_path, [row])).values()
    found = {code: [int(n.id[-1]) for n in negatives if n.is_usable(code)] for code in given}
    assert found == shown


def test_a_question_is_not_asked_where_guessing_is_easier(tmp_path):
    rows = [
        {"id": "1", "question_en": "a?", "question_pt": "b?", "correct": "A",
         "options_en": ["x", "y", "z"], "options_pt": ["x", "y"]},
        {"id": "2", "question_en": "c?", "question_pt": "d?", "options_en": ["n/a", "N/A"]},
    ]  # fmt: skip
    dataset = loaded(tmp_path, rows, "jsonl")
    reasons = {"1": "fewer options than in another language", "2": "correct letters missing"}
    for code, expected in (("pt", reasons), ("en", {"2": "correct letters missing"})):
        parts = {each.id: missing_part(each, code, ("choice",)) for each in dataset.questions}
        assert {key: reason for key, reason in parts.items() if reason} == expected
