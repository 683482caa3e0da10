"""Translation by any model of the harness, asked with the prompt `translate`.

Sentence by sentence, as with the encoder-decoders: the protocol's way, one cache and one set of
tests for both, and no reply comes near its length limit. The price is that pronouns and ellipses
are translated without the sentences around them.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from xling_tasks.data.prompts import Prompt
from xling_tasks.languages import Language
from xling_tasks.models.backend import CHUNK, backend
from xling_tasks.models.spec import ModelSpec
from xling_tasks.models.store import key_of
from xling_tasks.models.translate.seq2seq import TEMPERATURE, TOP_P

CLEANING = 1
"""Counts up when cleaning changes, so that cached outcomes are not mixed."""

_QUOTES = {'"': '"', "“": "”", "«": "»", "「": "」", "‘": "’", "„": "“"}
_FENCED = re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL)


class HarnessModel:
    """A model of the harness as a translator.

    Attributes:
        batch: Sentences per call.
        identity: What makes its translations what they are; None if it cannot be told, and so
            nothing can be cached.
    """

    batch = CHUNK

    def __init__(self, spec: ModelSpec, prompt: Prompt) -> None:
        # Without a cache of its own: the translator keeps outcomes, not replies.
        self._backend = backend("translator", spec, False)
        self._prompt = prompt
        known = self._backend.identity
        self.identity = known and (
            "harness", *known, self._backend.chat, prompt.digest, spec.max_gen_toks, CLEANING,
        )  # fmt: skip

    @property
    def signature(self) -> dict[str, str]:
        """The fields of the translator's signature that it decides."""
        # The bars inside would look like further fields.
        model = self._backend.signature.replace("|", ";")
        return {"model": model, "prompt": self._prompt.digest}

    def check(self) -> None:
        """Ask for one short reply."""
        self._backend.check()

    def check_pair(self, source: Language, target: Language) -> None:
        """Any pair will do."""

    def order(self, sentences: Sequence[str]) -> list[str]:
        """Longest first: local models then need little padding."""
        return sorted(sentences, key=lambda sentence: (-len(sentence), sentence))

    def translate(
        self, sentences: Sequence[str], source: Language, target: Language, attempt: int
    ) -> list[str | None]:
        """One translation per sentence, perhaps an empty one.

        Args:
            sentences: At most `batch` sentences.
            source: Their language.
            target: Another language.
            attempt: 0 is greedy; above, sampling with a seed of the sentence and the attempt.
        """
        prompts = [
            self._prompt.fill(
                text=sentence, source_language=source.name, target_language=target.name
            )
            for sentence in sentences
        ]
        kwargs = self._backend._gen_kwargs([])
        if attempt == 0:
            replies = self._backend._generate(prompts, kwargs)
        else:
            kwargs |= {"do_sample": True, "temperature": TEMPERATURE, "top_p": TOP_P}
            replies = [self._sample(prompt, kwargs, attempt) for prompt in prompts]
        return [
            clean(reply, sentence, target)
            for reply, sentence in zip(replies, sentences, strict=True)
        ]

    def _sample(self, prompt: str, kwargs: dict[str, Any], attempt: int) -> str:
        """One sampled reply, by itself, so that it depends on its own seed only.

        API backends would send the same seed with every request, so they get one of their own.
        Others take no seed among the arguments; those in this process draw from torch's generator.
        """
        seed = int(key_of(prompt, attempt)[:7], 16)
        if self._takes_seed():
            return self._backend._generate([prompt], {**kwargs, "seed": seed})[0]
        with _torch_seed(seed):
            return self._backend._generate([prompt], kwargs)[0]

    def _takes_seed(self) -> bool:
        """Whether the backend sends a seed to its server; Anthropic's has no such argument."""
        names = {base.__name__ for base in type(self._backend.lm).__mro__}
        return "TemplateAPI" in names and "AnthropicChat" not in names


def clean(reply: str, source: str, target: Language) -> str:
    """A reply without what surely is not translation.

    A code fence around everything, a label such as `Translation:` and quotes around everything
    come off, each only if the source has nothing of the kind.
    """
    reply = reply.strip()
    fenced = _FENCED.fullmatch(reply)
    if fenced and "```" not in source:
        reply = fenced.group(1).strip()
    if not re.search("[:：]", source):
        label = rf"(?:(?:the |{target.name} )?translation|{target.name})\s*[:：]\s*"
        reply = re.sub(rf"\A(?:\*\*)?{label}(?:\*\*\s*)?", "", reply, count=1, flags=re.IGNORECASE)
    inner = reply[1:-1]
    marks = {*_QUOTES, *_QUOTES.values()}
    quoted = len(reply) > 2 and _QUOTES.get(reply[0]) == reply[-1]
    if quoted and not marks & {source[0], source[-1]} and not {reply[0], reply[-1]} & {*inner}:
        reply = inner.strip()
    return reply


@contextlib.contextmanager
def _torch_seed(seed: int) -> Iterator[None]:
    """Torch's generators seeded, and put back afterwards; nothing where torch is not installed."""
    try:
        import torch
    except ImportError:
        yield
        return
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
