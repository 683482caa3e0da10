"""Translation by a transformers encoder-decoder: NLLB-200, M2M-100, MADLAD-400 or Marian.

Needs the extra `hf` (and sentencepiece for M2M-100 and Marian). Weights are loaded on the CPU when
the translator is checked, and moved to the accelerator when there is something to translate, so
that until then the model under test has it to itself.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_metrics.languages import Language

from xling_tasks.cache.paths import cache_key
from xling_tasks.errors import BackendError, SettingError, refuse_unknown
from xling_tasks.models.model_config import ModelConfig
from xling_tasks.models.special_tokens import escape_for
from xling_tasks.models.translate.base import Outcomes, in_batches
from xling_tasks.models.translate.families import Family, Pair

DECODING = 1
"""Counts up when decoding changes, so that cached outcomes are not mixed."""

TEMPERATURE = 0.7
TOP_P = 0.95

_ARGS = ("pretrained", "revision", "dtype", "device", "device_map")
_DTYPES = ("float32", "bfloat16", "float16")
_BATCH = 16

# A translation has at most this many tokens per token of its source, and these on top. Longer ones
# are loops: across languages one vocabulary rarely spends more than twice the tokens on a sentence.
_TOKENS_PER_TOKEN = 3
_TOKENS_MORE = 32

_LIKELY = 1024


class Seq2Seq:
    """One encoder-decoder on one device.

    Attributes:
        batch: Sentences per forward pass.
        identity: What makes its translations what they are, for cache keys.
    """

    def __init__(self, spec: ModelConfig) -> None:
        args = checked_args("translator", spec.model_args)
        self.batch = checked_batch("translator", spec.batch_size)
        self.name = str(args["pretrained"])
        self.dtype = str(args.get("dtype") or "float32")
        self._device, self._device_map = args.get("device"), args.get("device_map")
        self._config, self._tokenizer = self._config_and_tokenizer(args.get("revision"))
        self.revision = _revision(self.name, args.get("revision"), self._config)
        self._escape = escape_for(self._tokenizer)
        self._family = Family(self.name, self._config, self._tokenizer)
        self.identity = ("seq2seq", self.name, self.revision, self.dtype, DECODING)
        self._model: Any = None

    @property
    def signature(self) -> dict[str, str]:
        """The fields of the translator's signature that it decides."""
        return {"model": f"{self.name}@{self.revision}", "dtype": self.dtype}

    def check(self) -> None:
        """Load the weights on the CPU.

        Raises:
            BackendError: If they cannot be loaded.
        """
        if self._model is None:
            self._model = self._load()

    def check_pair(self, source: Language, target: Language) -> None:
        """Raise a SettingError if the model does not know one of two languages."""
        self._family.pair(source, target)

    def order(self, sentences: Sequence[str]) -> list[str]:
        """Longest first, so that batches need little padding and a lack of memory shows at once."""
        if not sentences:
            return []
        ids = self._tokenizer(list(sentences), add_special_tokens=False)["input_ids"]
        length = dict(zip(sentences, map(len, ids), strict=True))
        return sorted(sentences, key=lambda sentence: (-length[sentence], sentence))

    def outcomes(
        self, sentences: Sequence[str], source: Language, target: Language, attempt: int
    ) -> Outcomes:
        """The sentences in batches; see `translate`."""
        return in_batches(
            sentences, self.batch, lambda batch: self.translate(batch, source, target, attempt)
        )

    def translate(
        self, sentences: Sequence[str], source: Language, target: Language, attempt: int
    ) -> list[str | None]:
        """One translation per sentence of a batch; None for one that does not end or is too long.

        Attempt 0 is greedy; above, sampling with a seed of the sentence and the attempt.
        """
        import torch

        pair = self._family.pair(source, target)
        seeds = None
        if attempt:
            seeds = [cache_key(text, source.code, target.code, attempt) for text in sentences]
        try:
            return self._translate(sentences, pair, seeds)
        except torch.cuda.OutOfMemoryError:
            if len(sentences) == 1:
                raise
        # Outside of the handler, which would keep the failed pass's tensors alive.
        torch.cuda.empty_cache()
        half = len(sentences) // 2
        parts = (sentences[:half], sentences[half:])
        translated = [self.translate(part, source, target, attempt) for part in parts]
        return [text for part in translated for text in part]

    # Inside

    def _translate(
        self, sentences: Sequence[str], pair: Pair, seeds: Sequence[str] | None
    ) -> list[str | None]:
        """A batch; a source beyond the model's positions is left out rather than cut."""
        import torch
        from transformers import LogitsProcessorList

        model = self._ready()
        if pair.source is not None:
            self._tokenizer.src_lang = pair.source
        rows = self._tokenizer([pair.prefix + self._escape(text) for text in sentences])[
            "input_ids"
        ]
        fitting = [i for i, row in enumerate(rows) if len(row) <= self._positions]
        if not fitting:
            return [None] * len(sentences)
        ids, mask = _padded([rows[i] for i in fitting], self._tokenizer.pad_token_id)
        limits = [self._limit(len(rows[i])) for i in fitting]
        picks = [_Nucleus([seeds[i] for i in fitting])] if seeds else []
        with torch.inference_mode():
            generated = model.generate(
                input_ids=ids.to(model.device),
                attention_mask=mask.to(model.device),
                generation_config=self._decoding(pair, max(limits)),
                logits_processor=LogitsProcessorList(picks),
            ).tolist()
        translations: list[str | None] = [None] * len(sentences)
        for i, row, limit in zip(fitting, generated, limits, strict=True):
            translations[i] = self._text(row[1:], pair, limit)
        return translations

    def _text(self, ids: list[int], pair: Pair, limit: int) -> str | None:
        """The text of the ids after the decoder's start; None if there is no end within the limit.

        The limit is the sentence's, not the batch's: a result must not depend on its neighbours.
        """
        end = self._tokenizer.eos_token_id
        length = ids.index(end) if end in ids else len(ids)
        if length >= limit or length == len(ids):
            return None
        kept = ids[1:length] if pair.first is not None else ids[:length]
        text: str = self._tokenizer.decode(
            kept, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text.strip()

    def _limit(self, source_tokens: int) -> int:
        return min(_TOKENS_PER_TOKEN * source_tokens + _TOKENS_MORE, self._positions - 1)

    @property
    def _positions(self) -> int:
        return int(getattr(self._config, "max_position_embeddings", None) or 1024)

    def _decoding(self, pair: Pair, most: int) -> Any:
        """Greedy, and nothing but the ids that the model needs.

        The checkpoint's own generation settings (beams, penalties, a forced end) are set aside.
        """
        from transformers import GenerationConfig

        return GenerationConfig(
            num_beams=1,
            do_sample=False,
            max_new_tokens=most,
            forced_bos_token_id=pair.first,
            **self._ids,
        )

    def _ready(self) -> Any:
        """The model on its device."""
        import torch

        self.check()
        if self._device_map is None:
            default = "cuda" if torch.cuda.is_available() else "cpu"
            self._model.to(self._device or default)
        return self._model

    def _load(self) -> Any:
        from transformers import AutoModelForSeq2SeqLM, GenerationConfig, __version__

        options = {} if self._device_map is None else {"device_map": self._device_map}
        renamed = tuple(map(int, __version__.split(".")[:2])) >= (4, 56)
        options["dtype" if renamed else "torch_dtype"] = self.dtype
        local = Path(self.name).is_dir()
        try:
            model = AutoModelForSeq2SeqLM.from_pretrained(
                self.name,
                revision=None if local else self.revision,
                trust_remote_code=False,
                **options,
            ).eval()
        except Exception as error:
            raise _not_loaded(self.name, error) from error
        given = model.generation_config
        self._ids = {
            "decoder_start_token_id": given.decoder_start_token_id,
            "eos_token_id": self._tokenizer.eos_token_id,
            "pad_token_id": self._tokenizer.pad_token_id,
            "bad_words_ids": given.bad_words_ids,
        }
        # `generate` fills what we leave open from here.
        model.generation_config = GenerationConfig()
        return model

    def _config_and_tokenizer(self, revision: str | None) -> tuple[Any, Any]:
        try:
            from transformers import AutoConfig, AutoTokenizer
        except ImportError as error:
            raise BackendError(
                'translator: seq2seq models need torch: pip install "xling-tasks[hf]"'
            ) from error
        source = {"revision": revision or "main", "trust_remote_code": False}
        try:
            return (
                AutoConfig.from_pretrained(self.name, **source),
                AutoTokenizer.from_pretrained(self.name, **source),
            )
        except Exception as error:
            raise _not_loaded(self.name, error) from error


def _padded(rows: Sequence[Sequence[int]], pad: int) -> tuple[Any, Any]:
    """Token ids and attention mask of a batch."""
    import torch

    mask = torch.arange(max(map(len, rows))) < torch.tensor([len(row) for row in rows])[:, None]
    ids = torch.full(mask.shape, pad)
    ids[mask] = torch.tensor([token for row in rows for token in row])
    return ids, mask.long()


class _Nucleus:
    """A logits processor that draws the next token by top-p sampling, and leaves no other.

    Each row draws from its own generator, so that a sentence's translation depends on its own seed
    only, not on the rows beside it, and torch's generator is neither used nor moved.
    """

    def __init__(self, seeds: Sequence[str]) -> None:
        self._rows = [random.Random(seed) for seed in seeds]

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        import torch

        probabilities = torch.softmax(scores.float() / TEMPERATURE, dim=-1)
        # A few tokens nearly always hold the mass; sorting all 256,000 takes eight times as long.
        ranked, tokens = probabilities.topk(min(_LIKELY, probabilities.shape[-1]), dim=-1)
        if bool((ranked.sum(dim=-1) < TOP_P).any()):
            ranked, tokens = probabilities.sort(dim=-1, descending=True)
        mass = ranked.cumsum(dim=-1)
        # The smallest set of likeliest tokens that holds TOP_P of the mass.
        last = (mass < TOP_P).sum(dim=-1, keepdim=True).clamp(max=mass.shape[-1] - 1)
        draws = [[row.random()] for row in self._rows]
        drawn = torch.tensor(draws, dtype=mass.dtype, device=mass.device) * mass.gather(-1, last)
        chosen = tokens.gather(-1, torch.searchsorted(mass, drawn, right=True).minimum(last))
        return torch.full_like(scores, -math.inf).scatter(-1, chosen, 0.0)


def checked_args(name: str, args: Mapping[str, Any]) -> Mapping[str, Any]:
    """The model args of a seq2seq translator.

    Raises:
        SettingError: Naming the key that is wrong.
    """
    refuse_unknown(f"{name}.model_args.", args, _ARGS)
    if not isinstance(args.get("pretrained"), str) or not args["pretrained"]:
        raise SettingError(
            f"{name}.model_args.pretrained: name a model such as facebook/nllb-200-distilled-600M"
        )
    if args.get("dtype") not in (None, *_DTYPES):
        raise SettingError(
            f"{name}.model_args.dtype: {args['dtype']!r} is none of {', '.join(_DTYPES)}"
        )
    return args


def checked_batch(name: str, size: Any) -> int:
    """Sentences per forward pass.

    Raises:
        SettingError: If it is not a positive integer.
    """
    size = _BATCH if size is None else size
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise SettingError(f"{name}.batch_size: must be a positive integer, got {size!r:.40}")
    return size


def _revision(name: str, asked: str | None, config: Any) -> str:
    """The commit of a Hub model; of a folder, a digest of its files' names, sizes and times."""
    folder = Path(name)
    if not folder.is_dir():
        return str(getattr(config, "_commit_hash", None) or asked or "main")
    files = sorted((p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in folder.iterdir())
    return "local-" + hashlib.sha256(repr(files).encode()).hexdigest()[:12]


def _not_loaded(name: str, error: Exception) -> BackendError:
    return BackendError(
        f"translator.model_args.pretrained: {name!r} could not be loaded "
        f"({type(error).__name__}: {error})"
    )
