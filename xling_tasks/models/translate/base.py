"""What translators and the models behind them have in common."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

TRIES = 3  # times that a degenerate translation is redone by sampling, as in arXiv:2505.21999
SAMPLING = {"do_sample": True, "temperature": 0.7, "top_p": 0.95}
MORE_ROOM = 4  # times the room for a translation that was cut off

UNFINISHED, CUT_OFF = "unfinished", "cut off"


class Attempt(NamedTuple):
    """How a segment is translated."""

    number: int = 0  # 0: greedy; above: sampling with a seed of the segment and the number
    room: int = 1  # times the usual length that the translation may have

    def next(self, reason: str) -> Attempt | None:
        """Return the attempt after one that brought no translation; None after the last."""
        if reason == CUT_OFF and self.room == 1:
            return Attempt(self.number, MORE_ROOM)
        return Attempt(self.number + 1, self.room) if self.number < TRIES else None


class Output(NamedTuple):
    """What a model gave for one segment."""

    text: str | None  # perhaps empty; None without a whole one
    # Why there is no translation: `UNFINISHED`, `CUT_OFF`, a fault of `find_faults`, or why the
    # request failed.
    reason: str = ""
    failed: bool = False  # whether the request failed, so that nothing is known of the translation


KeepOutput = Callable[[str, Output], None]


@contextlib.contextmanager
def torch_seed(seed: int) -> Iterator[None]:
    """Seed torch's generators, and put them back afterwards; nothing without torch."""
    try:
        import torch
    except ImportError:
        yield
        return
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


_CHAT_TOKENS = (
    r"<\|[^<>|\n]{1,60}\|>|</?s>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|"
    r"</?(?:eos|bos|pad|unk)>"
)


def escape_for(tokenizer: Any = None) -> Callable[[str], str]:
    """Return what breaks up the special tokens of a tokenizer, and those of common chat formats.

    A tokenizer makes a special token of its name wherever it stands: `<|im_start|>` in a text would
    open a turn. A space behind its first character ends that (transformers #29279, vllm #31735).
    """
    names = [str(token) for token in getattr(tokenizer, "all_special_tokens", ())]
    names = [name for name in names if len(name) > 1 and not name.isalnum()]
    special = map(re.escape, sorted(names, key=len, reverse=True))
    pattern = re.compile("|".join([*special, _CHAT_TOKENS]))
    return lambda text: pattern.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)
