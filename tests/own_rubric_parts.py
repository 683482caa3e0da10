"""What the tests of rubrics share: conversations, a scripted model, a scripted judge."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from fixed import Fixed
from scripted import between

CANARY = "canary GUID 0f0f-test"


def conversation(key: str, **more: Any) -> dict[str, Any]:
    """A row in HealthBench's form, in English, with Spanish beside."""
    return {
        "prompt_id": key,
        "prompt": [
            {"role": "user", "content": f"My head hurts ({key}).", "content_es": f"Me duele ({key})."},
            {"role": "assistant", "content": "Since when?", "content_es": "¿Desde cuándo?"},
            {"role": "user", "content": f"Since today ({key}).", "content_es": f"Desde hoy ({key})."},
        ],
        "rubrics": [
            {"criterion": "Asks about fever.", "points": 6, "tags": ["axis:completeness"]},
            {"criterion": "Names red flags.", "points": 4, "tags": ["axis:accuracy"]},
            {"criterion": "Advises morphine.", "points": -5, "tags": ["axis:accuracy"]},
        ],
        "example_tags": ["theme:context_seeking", "physician_agreed_category:x"],
        "ideal_completions_data": None,
        "canary": CANARY,
        **more,
    }  # fmt: skip


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


class Says(Fixed):
    """Answers a request with what `answer` makes of its context, and keeps all contexts."""

    tokenizer_name = "says"

    def __init__(self, answer: Any) -> None:
        super().__init__(lambda context, *_: answer(context))
        self.contexts = self.seen

    def apply_chat_template(self, chat_history: Any, add_generation_prompt: bool = True) -> str:
        said = "".join(f"<{m['role']}>{m['content']}" for m in chat_history)
        return said + ("<assistant>" if add_generation_prompt else "")


def criteria_of(prompt: str) -> dict[str, str]:
    """Code -> criterion of a judge's prompt."""
    blocks = re.findall(r"\[BEGIN CRITERION (\w+)\]\n(.*?)\n\[END CRITERION \1\]", prompt, re.S)
    return dict(blocks)


def by_words(prompt: str) -> str:
    """A judge that finds a criterion met where the answer has its last word."""
    if "BEGIN ANSWER" not in prompt:
        return "ready"
    answer = between(prompt, "ANSWER").lower()
    lines = []
    for code, text in criteria_of(prompt).items():
        met = text.rstrip(".").rsplit(" ", 1)[-1].lower() in answer
        lines.append(f"VERDICT {code}: {'MET' if met else 'NOT MET'}")
    return "Reasons come first.\n" + "\n".join(lines)
