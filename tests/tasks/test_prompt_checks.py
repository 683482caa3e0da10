"""What is said before a run, by hand; and a run whose template refuses conversations."""

from __future__ import annotations

import pytest

from xling_tasks.errors import SettingError
from xling_tasks.tasks import prompt_checks
from xling_tasks.tasks.prompt_checks import (
    fewest_questions,
    find_refused,
    refuse_plain_chat,
    warn_of_limit,
)


def test_fewest_questions_by_hand():
    # 2 / 2^5 = 0.0625 shows nothing, 2 / 2^6 = 0.03125 does; of three, 2 / 2^7 = 0.0156 < 0.05 / 3.
    assert [fewest_questions(m) for m in (0, 1, 2, 3, 30)] == [6, 6, 7, 7, 11]


@pytest.mark.parametrize(
    ("limit", "message"),
    [(5, "with 5 questions"), (0.02, "with 2 questions"), (7, ""), (0.5, ""), (None, "")],
)
def test_a_limit_that_can_show_nothing(monkeypatch, limit, message):
    said = []
    monkeypatch.setattr(prompt_checks, "warn_once", said.append)
    warn_of_limit(limit, 100, 3)
    assert bool(said) == bool(message)
    # -ln(0.05 / 3) / 0.05 = 81.9: the rule of three, corrected for three languages.
    assert all(message in text and "At least 7" in text and "about 82" in text for text in said)


def test_a_chat_service_needs_the_template():
    kind = type("LocalChatCompletion", (), {})
    refuse_plain_chat(kind(), chat_template=True)
    with pytest.raises(SettingError, match="LocalChatCompletion .*--apply_chat_template"):
        refuse_plain_chat(kind(), chat_template=False)


def test_conversations_that_a_template_refuses():
    def template(turns, add_generation_prompt):
        if turns[0]["role"] == "system":
            raise ValueError("System role not supported\nsecond line")
        return "x"

    def dropping(turns, add_generation_prompt):
        return " ".join(turn["content"] for turn in turns if turn["role"] != "system")

    user, system = {"role": "user", "content": "x"}, {"role": "system", "content": "y"}
    talks = [("a", [user]), ("b", [system, user])]
    assert find_refused(template, talks) == {"b": "System role not supported"}
    assert find_refused(dropping, talks) == {"b": "it has no system turn"}
