"""A conversation of several turns as a prompt."""

from __future__ import annotations


class Conversation(str):
    """A prompt, the reply to it, and what is asked next.

    It is the text that a model without a chat template gets; one with a template gets `messages`.
    """

    messages: list[dict[str, str]]

    def __new__(cls, prompt: str, reply: str, request: str) -> Conversation:
        """Join the turns."""
        self = super().__new__(cls, f"{prompt}\n\n{reply}\n\n{request}\n")
        roles = ("user", "assistant", "user")
        texts = (prompt, reply, request)
        self.messages = [{"role": r, "content": t} for r, t in zip(roles, texts, strict=True)]
        return self


def messages_of(prompt: str) -> list[dict[str, str]]:
    """A prompt as the messages of a chat template."""
    if isinstance(prompt, Conversation):
        return prompt.messages
    return [{"role": "user", "content": prompt}]
