"""A model under test that says what a function says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lm_eval.api.model import LM


class Fixed(LM):  # type: ignore[misc]
    """Answers every request with `reply(*its arguments)`, and remembers them in `seen`.

    The arguments are a context and, of a text to be generated, how; of a log-likelihood, of what.
    """

    tokenizer_name = "fixed"

    def __init__(self, reply: Callable[..., Any]) -> None:
        super().__init__()
        self.reply = reply
        self.seen: list[tuple[Any, ...]] = []

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[Any]:
        self.seen += [request.args for request in requests]
        return [self.reply(*request.args) for request in requests]

    loglikelihood = loglikelihood_rolling = generate_until

    def apply_chat_template(self, chat_history: Any, add_generation_prompt: bool = True) -> str:
        return f"<user>{chat_history[-1]['content']}<assistant>"
