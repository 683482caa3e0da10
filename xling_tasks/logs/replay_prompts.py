"""Prompts as they were logged, compared with the prompts that a replay asks for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


class ChatPrompt(str):
    """A prompt made of messages, as JSON; the logged prompt has gone through a chat template."""

    messages: list[dict[str, Any]]

    @classmethod
    def of(cls, messages: list[dict[str, Any]]) -> ChatPrompt:
        """Return the prompt of some messages."""
        prompt = cls(json.dumps(messages, ensure_ascii=False))
        prompt.messages = messages
        return prompt


@dataclass(frozen=True)
class Logged:
    """A prompt as the harness logged it: a text, or messages of a chat service.

    Without a chat template it must be the prompt asked. With one, what is asked must occur in it:
    all its messages, in order, or else the prompt before the template as one piece; white space
    at the ends aside, which templates cut.
    """

    content: Any
    templated: bool

    def slack(self, prompt: str) -> int | None:
        """Return the length of what the template added; None if it is another prompt."""
        if isinstance(self.content, str):
            if not self.templated or str(prompt) == self.content:
                return 0 if str(prompt) == self.content else None
            messages = prompt.messages if isinstance(prompt, ChatPrompt) else [{"content": prompt}]
            return _slack_in_text(self.content, [str(m["content"]).strip() for m in messages])
        messages = self._messages()
        if isinstance(prompt, ChatPrompt):
            return 0 if prompt.messages == messages else None
        contents = [str(message.get("content")) for message in messages]
        if not any(prompt.strip() in content for content in contents):
            return None
        return sum(map(len, contents)) - len(prompt.strip())

    def text(self) -> str | None:
        """Return the text, or that of the last message."""
        if isinstance(self.content, str):
            return self.content
        messages = self._messages()
        return str(messages[-1].get("content")) if messages else None

    def _messages(self) -> list[dict[str, Any]]:
        """Return the messages; the API backends log them as a list that holds their JSON."""
        messages = self.content
        if len(messages) == 1 and isinstance(messages[0], str):
            messages = json.loads(messages[0])
        return [dict(message) for message in messages]


def _slack_in_text(text: str, pieces: list[str]) -> int | None:
    start = 0
    for piece in pieces:
        position = text.find(piece, start)
        if position < 0:
            return None
        start = position + len(piece)
    return len(text) - sum(map(len, pieces))
