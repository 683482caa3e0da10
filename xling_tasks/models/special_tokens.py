"""Names of special tokens in texts that a model translates, broken up so that they are mere text.

A tokenizer makes a special token of its name wherever it stands: `<|im_start|>` in a sentence would
open a turn. A space behind its first character ends that (transformers #29279, vllm #31735).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_COMMON = (
    r"<\|[^<>|\n]{1,60}\|>|</?s>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|"
    r"</?(?:eos|bos|pad|unk)>"
)


def escape_for(tokenizer: Any = None) -> Callable[[str], str]:
    """Return what breaks up the special tokens of a tokenizer, and those of common chat formats."""
    try:
        names = [str(token) for token in tokenizer.all_special_tokens if len(str(token)) > 1]
    except Exception:  # another library's tokenizer, or none
        names = []
    own = [re.escape(name) for name in sorted(names, key=len, reverse=True) if not name.isalnum()]
    pattern = re.compile("|".join([*own, _COMMON]))

    def escape(text: str) -> str:
        while pattern.search(text):
            text = pattern.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)
        return text

    return escape
