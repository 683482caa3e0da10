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

from xling_metrics.languages import Language

from xling_tasks.cache.paths import cache_key
from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.failed_response import FailedResponse, ModelResponse
from xling_tasks.harness.backends import takes_seed
from xling_tasks.models.backend import load_backend
from xling_tasks.models.http_api import ApiRequest
from xling_tasks.models.model_config import ModelConfig
from xling_tasks.models.special_tokens import escape_for
from xling_tasks.models.translate.base import Outcomes, TranslationResult
from xling_tasks.models.translate.seq2seq import TEMPERATURE, TOP_P
from xling_tasks.models.transport import Arrived
from xling_tasks.readers.reasoning import strip_reasoning

CLEANING = 2
"""Counts up when cleaning changes, so that cached outcomes are not mixed."""

_QUOTES = {'"': '"', "“": "”", "«": "»", "「": "」", "‘": "’", "„": "“"}
_FENCED = re.compile(r"```\w*\n(.*?)\n?```|<(translation)>(.*?)</\2>", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(
    r"\A(?:(?:sure|certainly|of course|okay|ok)\s*[!,.]\s*)?"
    r"(?:here(?:'s|’s| is) (?:the|your|my) (?:\w+ )?translation"
    r"(?: of [\w ]{1,30})?(?: (?:in)?to \w+)?"
    r"|the (?:\w+ )?translation(?: of (?:the|this) \w+)? is"
    r"|translated (?:text|sentence))\s*[:：]\s*",
    re.IGNORECASE,
)
# Answers about health have notes of their own: only one about the translation is the model's.
_ABOUT_TRANSLATION = (
    r"\b(?:translat(?:ions?|ed|es|ing|ors?)|source (?:text|language|sentence)|literal(?:ly)?"
    r"|idiom\w*|phrase|phrasing|wording|render(?:ed|ing)"
    r"|original (?:text|sentence|words?|question|language|source|says|reads|is|was|has|uses"
    r"|contains|spanish|chinese|hindi|french|russian|japanese|arabic)|original(?=\W*\Z))\b"
)
_HEAD = rf"(?:translator(?:'s|’s)?\s+note\s*[:：]|note\s*[:：](?=[^()\[\]]*{_ABOUT_TRANSLATION}))"
_NOTE = re.compile(
    rf"\s*[(\[]\s*{_HEAD}[^()\[\]]*[)\]]\s*\Z|\n\s*[*_(\[]*{_HEAD}.*\Z", re.IGNORECASE | re.DOTALL
)
# What `strip_reasoning` takes for the start of a thought, and may be a blank to fill in.
_BLANK = re.compile(
    r"[\[<]((?:reason|reasoning|reflection|analysis|thoughts?))[\]>]", re.IGNORECASE
)


def _tokenizer_of(lm: Any) -> Any:
    try:
        return getattr(lm, "tokenizer", None)
    except Exception:  # loaded, or even fetched, only when asked for
        return None


class ChatTranslator:
    """A model of the harness as a translator.

    Attributes:
        identity: What makes its translations what they are; None if it cannot be told, and so
            nothing can be cached.
    """

    def __init__(
        self, spec: ModelConfig, prompt: PromptTemplate, cache: str | bool | None = False
    ) -> None:
        # It keeps no replies: the translator keeps outcomes.
        self._backend = load_backend("translator", spec, cache, caches=False)
        self._prompt = prompt
        self._escape = escape_for(_tokenizer_of(self._backend.lm))
        rest = (self._backend.chat, prompt.digest, spec.max_gen_toks, CLEANING)
        known = self._backend.identity
        self.identity = known and ("harness", *known, *rest)

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

    def outcomes(
        self, sentences: Sequence[str], source: Language, target: Language, attempt: int
    ) -> Outcomes:
        """One translation per sentence, perhaps an empty one, as they arrive.

        Attempt 0 is greedy; above, sampling with a seed of the sentence and the attempt.
        """
        prompts = [
            self._prompt.fill(
                text=self._escape(sentence),
                source_language=source.name,
                target_language=target.name,
            )
            for sentence in sentences
        ]
        kwargs = self._backend.gen_kwargs()
        if attempt:
            kwargs |= {"do_sample": True, "temperature": TEMPERATURE, "top_p": TOP_P}
        calls = self._backend.requests(prompts, kwargs)
        seeds = [int(cache_key(prompt, attempt)[:7], 16) for prompt in prompts] if attempt else []
        if seeds and takes_seed(self._backend.lm):
            # API backends would send the same seed with every request.
            calls = [
                call._replace(gen_kwargs={**kwargs, "seed": seed})
                for call, seed in zip(calls, seeds, strict=True)
            ]
            seeds = []
        for places, arrived in self._arriving(calls, seeds):
            yield [_outcome(sentences[places[i]], reply, target) for i, reply in arrived]

    def _arriving(
        self, calls: list[ApiRequest], seeds: Sequence[int]
    ) -> Iterator[tuple[Sequence[int], Arrived]]:
        """Replies with their calls' places; with seeds, call by call.

        Backends in this process take no seed among the arguments and draw from torch's generator.
        """
        if not seeds:
            with contextlib.closing(self._backend.client.send(calls)) as arriving:
                for arrived in arriving:
                    yield range(len(calls)), arrived
            return
        for i, (call, seed) in enumerate(zip(calls, seeds, strict=True)):
            with (
                _torch_seed(seed),
                contextlib.closing(self._backend.client.send([call])) as arriving,
            ):
                replies = [item for arrived in arriving for item in arrived]
            yield [i], replies


def _outcome(sentence: str, reply: ModelResponse, target: Language) -> TranslationResult:
    """An empty reply is a translation that degenerated, and tried again by sampling."""
    if isinstance(reply, FailedResponse):
        return TranslationResult(sentence, None, reply.reason or reply.outcome)
    return TranslationResult(sentence, clean(reply, sentence, target))


def clean(reply: str, source: str, target: Language) -> str:
    """A reply without what surely is not translation.

    Thinking, a code fence or tag around everything, a label such as `Translation:` or `Here is the
    translation:`, a note behind it, and bold type or quotes around everything come off, each only
    if the source has nothing of the kind.
    """
    reply = _said(reply, source)
    fenced = _FENCED.fullmatch(reply)
    if fenced and "```" not in source and "<translation" not in source.lower():
        reply = (fenced.group(1) or fenced.group(3) or "").strip()
    if not re.search("[:：]", source):
        reply = _OPENING.sub("", reply, count=1)
        if source.rstrip(" .。")[-1:] not in (*")）]］】",):
            reply = _NOTE.sub("", reply, count=1)
        label = rf"(?:(?:the |{target.name} )?translation|{target.name})\s*[:：]\s*"
        reply = re.sub(rf"\A(?:\*\*)?{label}(?:\*\*\s*)?", "", reply, count=1, flags=re.IGNORECASE)
    if reply[:2] == reply[-2:] == "**" and "*" not in source + reply[2:-2]:
        reply = reply[2:-2].strip()
    inner = reply[1:-1]
    marks = {*_QUOTES, *_QUOTES.values()}
    quoted = len(reply) > 2 and _QUOTES.get(reply[0]) == reply[-1]
    if quoted and not marks & {source[0], source[-1]} and not {reply[0], reply[-1]} & {*inner}:
        reply = inner.strip()
    return reply


def _said(reply: str, source: str) -> str:
    """The reply behind its thinking; '' if it is cut off within.

    Blanks to fill in, `[reason]`, are kept where the source has some in brackets.
    """
    said = strip_reasoning(reply)
    if said is None and re.search(r"[\[［【]|<\s*\w[^<>]*>", source):
        # As long as before, so that what is kept can be told by its length.
        rest = (strip_reasoning(_BLANK.sub(r"(\1)", reply)) or "").strip()
        said = reply.rstrip()[-len(rest) :] if rest else None
    return (said or "").strip()


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
