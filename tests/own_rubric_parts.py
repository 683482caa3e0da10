"""What the tests of rubrics share: conversations, a scripted model, a scripted judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fixed import Fixed
from scripted import material

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


def by_words(prompt: str) -> str:
    """A judge that finds a criterion met where the answer has its last word."""
    texts = material(prompt)
    if "criteria" not in texts:
        return "ready"
    verdicts = []
    for number, line in enumerate(texts["criteria"], 1):
        met = line.rstrip(".").rsplit(" ", 1)[-1].lower() in texts["answer"].lower()
        verdicts.append({"criterion": number, "reason": "By its last word.", "met": met})
    return json.dumps({"verdicts": verdicts})
