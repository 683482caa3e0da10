from __future__ import annotations

from collections import Counter

import pytest
from conftest import DATA, read_jsonl

from xling_tasks.readers.verdict import read_verdict
from xling_tasks.readers.verdict_lexer import lex_verdict

NAMES = {"yes": 1, "no": 0, "unknown": None}


def test_table_of_replies(verdict_replies):
    """A line for each that is read otherwise: its kinds show which phrase is missing or wrong."""
    names = {value: name for name, value in NAMES.items()}
    wrong = [
        f"verdict_replies.jsonl, line {number}: {case['reply']!r} is {case['expected']!r} (one of "
        f"{', '.join(NAMES)}), read as {name!r}; its kinds: {lex_verdict(case['reply'])}"
        for number, case in enumerate(verdict_replies, start=1)
        if (name := names[read_verdict(case["reply"])]) != case["expected"]
    ]
    assert not wrong, "\n".join(wrong)


def test_table_is_large_enough(verdict_replies):
    counts = Counter((case["language"], case["expected"]) for case in verdict_replies)
    for language in ("en", "es", "zh", "hi"):
        assert sum(n for (code, _), n in counts.items() if code == language) >= 30
        assert all(counts[language, label] >= 12 for label in NAMES)


def test_hard_replies_are_read_right_or_not_at_all(hard_verdict_replies):
    """Verbose, subordinate, contradicting replies: never a wrong verdict, and many right ones."""
    read = [(case, read_verdict(case["reply"])) for case in hard_verdict_replies]
    wrong = [
        (case["reply"], case["expected"])
        for case, verdict in read
        if verdict is not None and verdict != NAMES[case["expected"]]
    ]
    assert wrong == []
    clear = [verdict for case, verdict in read if case["expected"] != "unknown"]
    assert sum(verdict is not None for verdict in clear) > len(clear) / 2


def test_attacks_are_read_right_or_not_at_all():
    """Hedges, quoted words, asides, negations, JSON, and words that only look like a verdict."""
    cases = read_jsonl(DATA / "verdict_attack_replies.jsonl")
    assert len(cases) >= 160
    read = [(case, read_verdict(case["reply"])) for case in cases]
    wrong = [
        (case["reply"], case["expected"])
        for case, verdict in read
        if verdict is not None and verdict != NAMES[case["expected"]]
    ]
    assert wrong == []
    clear = [verdict for case, verdict in read if case["expected"] != "unknown"]
    assert sum(verdict is not None for verdict in clear) > 0.9 * len(clear)


JUDGED = "No, no duplique la dosis. Tome la siguiente a la hora habitual."


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("No, no duplique la dosis…", None),
        ("Respuesta: No, no duplique la dosis", None),
        ("**No, no duplique la dosis.** Tome la siguiente a la hora habitual.", None),
        ("No, no duplique la dosis. La respuesta es correcta.", 1),
        ("No", 0),
        ("No, no.", 0),
        ("No, la respuesta es incorrecta.", 0),
        ("Sí", 1),
    ],
)
def test_an_echo_of_the_judged_answer_is_no_verdict(reply, value):
    assert read_verdict(reply, JUDGED) == value


# The published reader took each of these for No.
@pytest.mark.parametrize(
    "reply", ["Unknown", "I do not know", "Sí, pero no siempre", "Si, pero no siempre", "No lo sé"]
)
def test_errors_of_the_published_reader(reply):
    assert read_verdict(reply) is None


@pytest.mark.parametrize(
    "mark",
    [
        "{}",
        "{}.",
        "{}。",
        "**{}**",
        "  {}\n",
        "「{}」",
        "# {}",
        "Answer: {}",
        "<say-as>{}</say-as>",
    ],
)
@pytest.mark.parametrize(
    ("word", "value"),
    [("Yes", 1), ("No", 0), ("是", 1), ("否", 0), ("हाँ", 1), ("नहीं", 0), ("Sí", 1)],
)
def test_marks_around_a_word_change_nothing(mark, word, value):
    assert read_verdict(mark.format(word)) == value
    assert read_verdict(mark.format(word.upper())) == value


@pytest.mark.parametrize(
    "reply",
    [
        "Yes, it is incorrect.", "Sí, es incorrecta", "是的，这是错误的", "हाँ, यह गलत है",
        "Yes. Actually, no.", "No, wait: Yes", "Yes!No", "No, it is correct.", "No. Yes.",
    ],
)  # fmt: skip
def test_replies_that_contradict_themselves(reply):
    assert read_verdict(reply) is None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        # A word of verdict and the opposite said of the answer, or of who asks: as small models do.
        ("No. You are absolutely right to send this, it is an excellent answer.", None),
        ("No, it's a good and correct answer, follow it.", None),
        ("Yes. You are wrong, read the leaflet again.", None),
        ('My answer, "Yes", as you wished.\nNo, "No".', None),
        ("No. Es una respuesta excelente.", None),
        ("Sí. Se equivoca usted.", None),
        ("不是。你说得对。", None),
        ("是。你错了。", None),
        ("नहीं। आप सही हैं।", None),
        ("हाँ। आप गलत हैं।", None),
        # What agrees with it changes nothing, and alone it is no verdict.
        ("No, this is not an excellent answer.", 0),
        ("No, it is a bad answer.", 0),
        ("Yes, you are right.", 1),
        ("Yes. It is an excellent answer.", 1),
        ("Sí, tiene razón.", 1),
        ("You are right.", None),
    ],
)
def test_praise_and_blame_against_the_word(reply, expected):
    assert read_verdict(reply) == expected


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [("Yes, correct.", 1), ("No，不正确。", 0), ("是，没有错误。", 1), ("No, wrong.", 0),
     ("Yes, wrong.", None), ("No, correct.", None)],
)  # fmt: skip
def test_a_word_and_its_adjective_say_the_same_once(reply, verdict):
    assert read_verdict(reply) == verdict
