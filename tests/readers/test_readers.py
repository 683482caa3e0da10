"""The readers on replies as models write them: `replies.yaml`."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from xling_tasks.readers import read_verdict
from xling_tasks.readers.choices import GUARDS, RULES, read_letters

CASES = yaml.safe_load(Path(__file__).with_name("replies.yaml").read_text(encoding="utf-8"))
OPTIONS = {"A": "Aspirin", "B": "Ibuprofen", "C": "Paracetamol", "D": "Naproxen"}
VERDICTS = {"yes": 1, "no": 0, "none": None}


def read(reply, several=False, **kwargs):
    letters = read_letters(reply, OPTIONS, several=several, **kwargs)
    return None if letters is None else ",".join(sorted(letters))


@pytest.mark.parametrize("code", CASES["languages"])
@pytest.mark.parametrize("letter", "BCD")
def test_every_language(code, letter):
    label, sentence, *_ = CASES["languages"][code]
    assert read(label.format(letter)) == letter
    assert read("Aspirin lowers fever.\n\n" + label.format(letter)) == letter
    assert read(sentence.format(letter)) == letter


@pytest.mark.parametrize("code", CASES["languages"])
def test_yes_and_no_of_every_language(code):
    _, _, yes, no = CASES["languages"][code]
    assert [read_verdict(yes), read_verdict(no + ".")] == [1, 0]


@pytest.mark.parametrize(
    ("reply", "means"),
    [(reply, means) for means, each in CASES["letters"].items() for reply in each],
)
def test_letters(reply, means):
    assert read(reply, several="," in means) == means


@pytest.mark.parametrize("reply", CASES["none"])
def test_no_letter(reply):
    assert read(reply) is None


@pytest.mark.parametrize(
    ("reply", "means"),
    [(reply, means) for means, each in CASES["verdicts"].items() for reply in each],
)
def test_verdicts(reply, means):
    assert read_verdict(reply) == VERDICTS[means]


def test_native_letters_count_where_the_question_shows_them():
    question = "Что снижает жар?\nА) Аспирин\nБ) Ибупрофен\nВ) Парацетамол\nГ) Напроксен"
    assert read("Ответ: Б", question=question) == "B"
    assert read("Ответ: В", question=question) == "C"
    assert read("الإجابة: ب", question="أ) أسبرين ب) إيبوبروفين ج) باراسيتامول د) نابروكسين") == "B"
    assert read("उत्तर: ख", question="क) एस्पिरिन ख) आइबुप्रोफेन ग) पैरासिटामोल घ) नेप्रोक्सेन") == "B"
    assert read("คำตอบ: ข", question="ก. แอสไพริน ข. ไอบูโพรเฟน ค. พาราเซตามอล ง. นาพรอกเซน") == "B"
    assert read("Answer: 2", question="1. Aspirin 2. Ibuprofen 3. Paracetamol 4. Naproxen") == "B"
    assert read("Ответ: Б") is None


def test_an_unfinished_list_is_unread():
    assert read("Answer: A, C", several=True, cut=True) is None
    assert read("Answer: A, C", several=True) == "A,C"


def test_patterns_are_short():
    assert all(len(each.pattern) <= 120 for each in (*RULES.values(), *GUARDS.values()))
