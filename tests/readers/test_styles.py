"""Replies in the styles of real models: none is read wrong, few clear ones stay unread."""

from __future__ import annotations

import importlib.util
import random
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from xling_tasks.readers.letters import read_letters
from xling_tasks.readers.verdict import read_verdict

HERE = Path(__file__).parent


def _module(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


letter_styles = _module("letter_styles")
verdict_styles = _module("verdict_styles")
styles = _module("styles")


def _check_letters(questions):
    counts, wrong, unread = Counter(), [], []
    for number, question in enumerate(questions):
        for style, reply in letter_styles.replies(question, number):
            outcome = styles.outcome(reply, question.options, question.several)
            counts[style] += 1
            if outcome == "wrong":
                wrong.append((style, question.language, reply.text, reply.means))
            elif outcome == "unread" and not reply.may:
                unread.append((style, question.language, reply.text))
    assert wrong == []
    assert len(unread) < 0.005 * sum(counts.values()), unread[:20]
    return counts


def test_letters_in_every_style_of_the_sample():
    counts = _check_letters(styles.questions(styles.SAMPLE))
    assert len([style for style in counts if not style.startswith("cut")]) >= 40
    assert sum(counts.values()) > 5_000


@pytest.mark.realdata
def test_letters_in_every_style_of_real_questions(realdata):
    """A tenth of the questions; `styles.py --data` reads all of them."""
    questions = list(styles.questions(realdata / "mmedbench"))
    assert {question.language for question in questions} >= {"fr", "ja", "ru"}
    _check_letters(questions[::10])


def test_verdicts_in_every_style():
    wrong, unread, counts = [], [], Counter()
    for language, style, reply in verdict_styles.replies():
        verdict = read_verdict(reply.text)
        counts[style] += 1
        if verdict is not None and verdict != reply.means:
            wrong.append((language, style, reply.text))
        elif verdict != reply.means and not reply.may:
            unread.append((language, style, reply.text))
    assert wrong == []
    assert len(unread) < 0.005 * sum(counts.values()), unread[:20]
    assert len([style for style in counts if not style.startswith("cut")]) >= 40


@pytest.mark.parametrize("style", ["bold letter and text", "bullets of texts", "ticks and crosses"])
def test_a_perfect_model_behind_a_server_scores_1(style, serve, run, monkeypatch):
    """Through the harness, French; all styles are read above."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    asked = [pair for pair in styles.asked(styles.SAMPLE) if pair[1].language == "fr"]

    def reply(prompt):
        numbered = [(n, q) for n, (text, q) in enumerate(asked) if text in prompt]
        return letter_styles.CLEAR[style](numbered[0][1], numbered[0][0]) if numbered else "ready"

    results = run(
        "mmedbench_mcqa_demo_fr",
        model="local-chat-completions",
        model_args=serve(reply).spec()["model_args"],
        apply_chat_template=True,
    )
    assert results["results"]["mmedbench_mcqa_demo_fr"]["acc,none"] == 1.0


OPTIONS = {"A": "oui", "B": "50 %", "C": "Vitamine C", "D": "All of the above"}
HOSTILE = [
    "A, " * 30_000, "A and B " * 12_000, "Answer: " * 12_000, "the answer is not " * 6_000,
    "(" * 100_000, "\n" * 100_000, "- A. oui\n" * 11_000, "| A " * 25_000, "*" * 100_000,
    "<think>" * 14_000, "</think>" * 12_000, "\\boxed{" * 14_000, "~~" * 50_000, "是" * 100_000,
    "答案是" * 30_000, "yes no " * 14_000, "No, " * 25_000, "correct incorrect " * 5_500, "A" * 100_000,
    "a) b) " * 16_000, "Vitamine " * 11_000, "<b " * 30_000, "A.\n" * 30_000, "ⒶⒷ" * 30_000,
    "A: vrai, " * 11_000, "\n\n".join(["```", "A", "|"] * 10_000), "Question: x\n" * 8_000,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_a_hostile_reply_takes_no_longer_than_another(text):
    start = time.process_time()
    read_letters(text, OPTIONS, several=True)
    read_verdict(text, text)
    # The slowest takes half a second; where time grows with the square of the length, minutes.
    assert time.process_time() - start < 10


PIECES = [
    "A", "B", "а", "В", "(", ")", "[", "]", "**", "*", "_", "`", "~~", "#", ">", "|", "-", "—", "\n", "\n\n", " ", ".",
    ",", ":", ";", "?", "!", "。", "、", "：", "\\boxed{", "}", "$", "<think>", "</think>", "<b>", "<|im_end|>", "{", '"',
    "oui", "50 %", "yes", "no", "sí", "是", "否", "हाँ", "नहीं", "ग़लत", "correct", "not", "the answer is", "答案", "正しい",
    "なのは", "или", "ответ", "1.", "²", "\ue000", "\u200b", "\ud800", "\x00", "\u0301", "ﬁ", "①", "Ⅳ", "𝐀", "🅰", "✅",
]  # fmt: skip


def test_no_text_raises():
    rng = random.Random(0)
    for _ in range(4_000):
        text = "".join(rng.choices(PIECES, k=rng.randint(0, 14)))
        if rng.random() < 0.3:
            text += "".join(chr(rng.randrange(1, 0x2FFFF)) for _ in range(4))
        letters = read_letters(text, OPTIONS, several=True, cut=rng.random() < 0.3)
        assert letters is None or (letters and letters <= set(OPTIONS))
        assert read_verdict(text, text[:20]) in (None, 0, 1)
