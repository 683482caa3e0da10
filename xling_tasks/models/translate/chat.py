"""Translation by any model of the harness, asked for whole texts with the prompt `translate`."""

from __future__ import annotations

import contextlib
import re

from xling_metrics.languages import Language

from xling_tasks.cache import cache_key
from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.failed_response import FailedResponse, ModelResponse
from xling_tasks.harness.backends import may_be_cut, takes_seed
from xling_tasks.models.backend import load_backend
from xling_tasks.models.http_api import is_api_backend
from xling_tasks.models.model_config import ModelConfig
from xling_tasks.models.translate.base import (
    CUT_OFF,
    SAMPLING,
    Attempt,
    KeepOutput,
    Output,
    escape_for,
    torch_seed,
)
from xling_tasks.models.translate.segments import SegmentedText, split_paragraphs
from xling_tasks.readers.reasoning import strip_reasoning

CLEANING = 4
"""Counts up when cleaning changes, so that cached outputs are not mixed."""

# Characters of a translation to a token, at least; of other scripts tokenizers make more tokens.
_LATIN, _OTHER = 2.5, 0.8


class ChatTranslator:
    """A model of the harness as a translator, with the attributes and methods of `Seq2Seq`."""

    unit = "text"

    def __init__(
        self, config: ModelConfig, prompt: PromptTemplate, cache: str | bool | None = False
    ) -> None:
        self._backend = load_backend("translator", config, cache)
        self._prompt, self._room = prompt, config.max_gen_toks
        tokenizer = None
        with contextlib.suppress(Exception):  # one may be loaded, or fetched, only when asked for
            tokenizer = getattr(self._backend.lm, "tokenizer", None)
        self._escape = escape_for(tokenizer)
        details = (self._backend.chat, prompt.digest, config.max_gen_toks, CLEANING)
        identity = self._backend.identity
        self.identity = identity and ("harness", *identity, *details)
        # The bars inside would look like further fields.
        self.signature = {
            "model": self._backend.signature.replace("|", ";"), "prompt": prompt.digest,
        }  # fmt: skip

    def check(self) -> None:
        """Ask for one short response."""
        self._backend.check()

    def check_pair(self, source: Language, target: Language) -> None:
        """Accept any pair."""

    def segment(self, text: str, source: Language, target: Language) -> SegmentedText:
        """Return the text as one segment, or several of whole paragraphs where it is too long."""
        per_token = _LATIN if target.script == "Latn" else _OTHER
        longest = self._room * per_token * source.density / target.density
        return split_paragraphs(text, int(longest))

    def generate(
        self, segments: list[str], source: Language, target: Language, attempt: Attempt,
        keep: KeepOutput,
    ) -> None:  # fmt: skip
        """Translate segments, the longest first: local models then need little padding."""
        segments = sorted(segments, key=lambda segment: (-len(segment), segment))
        kwargs = self._backend.gen_kwargs() | (SAMPLING if attempt.number else {})
        kwargs["max_gen_toks"] *= attempt.room
        names = {"source_language": source.name, "target_language": target.name}
        prompts = [self._prompt.fill(text=self._escape(segment), **names) for segment in segments]
        requests = self._backend.requests(prompts, kwargs)
        if attempt.number and takes_seed(self._backend.lm):  # or they would be sent one seed
            seeds = [int(cache_key(prompt, attempt.number)[:7], 16) for prompt in prompts]
            requests = [request._replace(gen_kwargs={**kwargs, "seed": seed})
                        for request, seed in zip(requests, seeds, strict=True)]  # fmt: skip

        def keep_response(i: int, response: ModelResponse) -> None:
            keep(segments[i], self._read(response, segments[i], target, kwargs["max_gen_toks"]))

        # Backends in this process take no seed with a request: they draw from torch's generator.
        seed = int(cache_key(prompts, attempt.number)[:7], 16)
        is_api = is_api_backend(self._backend.lm)
        with contextlib.nullcontext() if is_api else torch_seed(seed):
            self._backend.client.send(requests, keep_response)

    def _read(
        self, response: ModelResponse, segment: str, target: Language, max_tokens: int
    ) -> Output:
        """Return what a response says; an empty one is redone like a degenerate translation."""
        if isinstance(response, FailedResponse):
            return Output(None, response.reason, failed=True)
        lm = self._backend.lm
        is_known = response.finish_reason or not is_api_backend(lm)
        cut = is_known and may_be_cut(lm, response, max_tokens)
        return Output(clean(response, segment, target), CUT_OFF if cut else "")


# What chat models write around a translation.

_QUOTES = {'"': '"', "“": "”", "«": "»", "「": "」", "‘": "’", "„": "“"}
_FENCED = re.compile(r"```\w*\n(.*?)\n?```|<(translation)>(.*?)</\2>", re.DOTALL | re.IGNORECASE)
_LABEL = r"\A(?:[^\n:：]{0,60}\btranslat(?:ion|ed)\b[^\n:：]{0,60}|(?:\*\*)?%s)[:：](?:\s*\*\*)?\s*"
# Answers about health have notes of their own: only one about the translation is the model's.
_NOTE = re.compile(
    r"(?:\s*[(\[]|\n\s*[*_(\[]*)\s*(?:translator(?:'s|’s) note"
    r"|note\b[^\n]*\b(?:translat|literal|original (?:text|sentence)))[^\n]*\Z",
    re.IGNORECASE,
)


def clean(response: str, source: str, target: Language) -> str:
    """Return a response without what surely is not translation.

    Thinking, a code fence or tag around everything, a label such as `Here is the translation:`, a
    note on the translation behind it, and bold type or quotes around everything come off, each only
    if the source has nothing of the kind.
    """
    text = (strip_reasoning(response) or "").strip()
    fenced = _FENCED.fullmatch(text)
    if fenced and "```" not in source and "<translation" not in source.lower():
        text = (fenced.group(1) or fenced.group(3) or "").strip()
    if not re.search("[:：]", source.partition("\n")[0]):
        text = re.sub(_LABEL % target.name, "", text, count=1, flags=re.IGNORECASE)
    text = _NOTE.sub("", text, count=1)
    if text[:2] == text[-2:] == "**" and "*" not in source + text[2:-2]:
        text = text[2:-2].strip()
    inner, marks = text[1:-1], {*_QUOTES, *_QUOTES.values()}
    quoted = len(text) > 2 and _QUOTES.get(text[0]) == text[-1]
    if quoted and not marks & {source[0], source[-1]} and not {text[0], text[-1]} & {*inner}:
        text = inner.strip()
    return text
