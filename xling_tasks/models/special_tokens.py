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
    names = [str(token) for token in getattr(tokenizer, "all_special_tokens", ())]
    names = [name for name in names if len(name) > 1 and not name.isalnum()]
    special = map(re.escape, sorted(names, key=len, reverse=True))
    pattern = re.compile("|".join([*special, _COMMON]))
    return lambda text: pattern.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)
