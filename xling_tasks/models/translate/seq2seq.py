"""Translation by NLLB-200 or Marian, encoder-decoders of transformers (extra `hf`).

Weights are loaded on the CPU when the translator is checked, and moved to the accelerator when it
is needed: until then the model under test has it to itself.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_metrics.languages import Language

from xling_tasks.cache import cache_key
from xling_tasks.errors import BackendError, SettingError, refuse_unknown
from xling_tasks.log import log
from xling_tasks.models.model_config import ModelConfig
from xling_tasks.models.translate.base import (
    SAMPLING,
    UNFINISHED,
    Attempt,
    KeepOutput,
    Output,
    escape_for,
    torch_seed,
)
from xling_tasks.models.translate.segments import SegmentedText, require_splitter, split_sentences

DECODING = 1
"""Counts up when decoding changes, so that cached outputs are not mixed."""

_ARGS = ("pretrained", "revision", "dtype", "device", "device_map")
_DTYPES = ("float32", "bfloat16", "float16")
_BATCH = 16  # sentences to a forward pass
_GIVE_UP_AFTER = 3  # failed passes in a row

# A translation has at most this many tokens per token of its source, and these on top: across
# languages one vocabulary rarely spends more than twice the tokens on a sentence.
_TOKENS_PER_TOKEN, _TOKENS_MORE = 3, 32


class Seq2Seq:
    """One encoder-decoder on one device, which translates sentences.

    `identity` is what makes its outputs what they are, `signature` has its fields of a signature.
    """

    unit = "sentence"  # what a segment is

    def __init__(self, config: ModelConfig) -> None:
        args, self.batch = validate_args("translator", config)
        try:
            from transformers import AutoConfig, AutoTokenizer
        except ImportError as error:
            raise BackendError(
                'translator: seq2seq models need torch: pip install "xling-tasks[hf]"'
            ) from error
        self.name, self.dtype = str(args["pretrained"]), str(args.get("dtype") or "float32")
        self._device, self._device_map = args.get("device"), args.get("device_map")
        source = {"revision": args.get("revision") or "main", "trust_remote_code": False}
        try:
            model_config = AutoConfig.from_pretrained(self.name, **source)
            self._tokenizer = AutoTokenizer.from_pretrained(self.name, **source)
        except Exception as error:
            raise _not_loaded(self.name, error) from error
        kind, self._ids_by_token = model_config.model_type, self._tokenizer.get_vocab()
        is_nllb = kind in ("m2m_100", "nllb-moe") and "eng_Latn" in self._ids_by_token
        self._is_marian = kind == "marian"
        if not is_nllb and not self._is_marian:
            raise SettingError(
                f"translator.model_args.pretrained: {self.name} (model type {kind!r}) is no NLLB "
                'or Marian model; a language model translates with {"model": "hf", "model_args": '
                '{"pretrained": ...}}'
            )
        self.revision = _revision(self.name, args.get("revision"), model_config)
        self._escape = escape_for(self._tokenizer)
        self._positions = int(getattr(model_config, "max_position_embeddings", None) or 1024)
        self.identity = ("seq2seq", self.name, self.revision, self.dtype, DECODING)
        self.signature = {"model": f"{self.name}@{self.revision}", "dtype": self.dtype}
        self._model: Any = None

    def check(self) -> None:
        """Load the weights on the CPU; raise BackendError if they cannot be loaded."""
        if self._model is None:
            self._model = self._load()

    def check_pair(self, source: Language, target: Language) -> None:
        """Raise a SettingError if the model does not know a language; look for the splitter."""
        self._take_languages(source, target)
        require_splitter(source.code)

    def _take_languages(self, source: Language, target: Language) -> tuple[str, int | None]:
        """Return what stands before a text, and the first token of its translation."""
        tokenizer, ids = self._tokenizer, self._ids_by_token
        if not self._is_marian and {source.nllb, target.nllb} <= ids.keys():
            tokenizer.src_lang = source.nllb
            return "", ids[target.nllb]
        if self._is_marian:
            codes = tokenizer.supported_language_codes
            tokens = [f">>{alias}<< " for alias in target.aliases if f">>{alias}<<" in codes]
            ends = (tokenizer.source_lang, source), (tokenizer.target_lang, target)
            covers = all(label is None or _covers(label, language) for label, language in ends)
            if covers and (tokens or not codes):
                return tokens[0] if tokens else "", None
        raise SettingError(
            f"translator.model_args.pretrained: {self.name} does not translate {source.name} "
            f"({source.code!r}) to {target.name} ({target.code!r})"
        )

    def segment(self, text: str, source: Language, target: Language) -> SegmentedText:
        """Split a text into sentences: long inputs degrade these models (arXiv:2505.21999)."""
        return split_sentences(text, source.code)

    def generate(
        self, segments: list[str], source: Language, target: Language, attempt: Attempt,
        keep: KeepOutput,
    ) -> None:  # fmt: skip
        """Translate in batches, the longest first: little padding, and a lack of memory shows.

        A batch that fails is halved until its cause is alone; after three failures in a row
        nothing more is asked.
        """
        tokens = self._tokenizer(segments, add_special_tokens=False)["input_ids"]
        length = dict(zip(segments, map(len, tokens), strict=True))
        ordered = sorted(segments, key=lambda segment: (-length[segment], segment))
        size = 1 if attempt.number else self.batch  # a sample must not depend on its neighbours
        batches = [ordered[i : i + size] for i in range(0, len(ordered), size)][::-1]
        failed = 0
        while batches:
            batch = batches.pop()
            outputs = [Output(None, "failed call", failed=True)] * len(batch)
            if failed < _GIVE_UP_AFTER:
                try:
                    texts = self.translate(batch, source, target, attempt.number)
                    outputs = [Output(text, UNFINISHED if text is None else "") for text in texts]
                    failed = 0
                except Exception:
                    if len(batch) > 1:
                        batches += [batch[len(batch) // 2 :], batch[: len(batch) // 2]]
                        continue
                    log.exception("translator: a call failed")
                    failed += 1
            for segment, output in zip(batch, outputs, strict=True):
                keep(segment, output)

    def translate(
        self, sentences: Sequence[str], source: Language, target: Language, attempt: int = 0
    ) -> list[str | None]:
        """Return a translation per sentence; None for one that does not end or is too long.

        Attempt 0 is greedy; above, sampling with a seed of the sentences and the attempt. A source
        beyond the model's positions is left out rather than cut.
        """
        import torch
        from transformers import GenerationConfig

        (prefix, first), model = self._take_languages(source, target), self._ready()
        self._tokenizer.padding_side = "right"
        rows = self._tokenizer([prefix + self._escape(text) for text in sentences])["input_ids"]
        fitting = [i for i, row in enumerate(rows) if len(row) <= self._positions]
        translations: list[str | None] = [None] * len(sentences)
        if not fitting:
            return translations
        inputs = self._tokenizer.pad({"input_ids": [rows[i] for i in fitting]}, return_tensors="pt")
        limits = [self._limit(len(rows[i])) for i in fitting]
        seed = int(cache_key(sentences, source.code, target.code, attempt)[:8], 16)
        # Not the checkpoint's beams and penalties.
        options: dict[str, Any] = {**SAMPLING, "top_k": 0} if attempt else {"do_sample": False}
        decoding = GenerationConfig(
            num_beams=1, max_new_tokens=max(limits), forced_bos_token_id=first,
            **options, **self._special_ids,
        )  # fmt: skip
        with torch.inference_mode(), torch_seed(seed):
            inputs = inputs.to(model.device)
            generated = model.generate(**inputs, generation_config=decoding).tolist()
        for i, row, limit in zip(fitting, generated, limits, strict=True):
            translations[i] = self._text(row[1:], limit, first is not None)
        return translations

    def _text(self, ids: list[int], limit: int, has_language: bool) -> str | None:
        """Return the text of the ids after the decoder's start; None without an end in the limit.

        The limit is the sentence's, not the batch's: a result must not depend on its neighbours.
        """
        end = self._tokenizer.eos_token_id
        length = ids.index(end) if end in ids else len(ids)
        if length >= limit or length == len(ids):
            return None
        text: str = self._tokenizer.decode(
            ids[has_language:length], skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text.strip()

    def _limit(self, source_tokens: int) -> int:
        return min(_TOKENS_PER_TOKEN * source_tokens + _TOKENS_MORE, self._positions - 1)

    def _ready(self) -> Any:
        """Return the model, on its device."""
        import torch

        self.check()
        if self._device_map is None:
            self._model.to(self._device or ("cuda" if torch.cuda.is_available() else "cpu"))
        return self._model

    def _load(self) -> Any:
        from transformers import AutoModelForSeq2SeqLM, GenerationConfig, __version__

        options = {} if self._device_map is None else {"device_map": self._device_map}
        renamed = tuple(map(int, __version__.split(".")[:2])) >= (4, 56)
        options["dtype" if renamed else "torch_dtype"] = self.dtype
        revision = None if Path(self.name).is_dir() else self.revision
        try:
            model = AutoModelForSeq2SeqLM.from_pretrained(
                self.name, revision=revision, trust_remote_code=False, **options
            ).eval()
        except Exception as error:
            raise _not_loaded(self.name, error) from error
        defaults = model.generation_config
        self._special_ids = {
            "decoder_start_token_id": defaults.decoder_start_token_id,
            "eos_token_id": self._tokenizer.eos_token_id,
            "pad_token_id": self._tokenizer.pad_token_id,
            "bad_words_ids": defaults.bad_words_ids,
        }
        model.generation_config = GenerationConfig()  # `generate` fills from it what we leave open
        return model


def validate_args(name: str, config: ModelConfig) -> tuple[Mapping[str, Any], int]:
    """Return the model args, and the sentences to a pass; raise a SettingError for a wrong key."""
    args, size = config.model_args, config.batch_size or _BATCH
    refuse_unknown(f"{name}.model_args.", args, _ARGS)
    if not isinstance(args.get("pretrained"), str) or not args["pretrained"]:
        raise SettingError(
            f"{name}.model_args.pretrained: name a model such as facebook/nllb-200-distilled-600M"
        )
    if args.get("dtype") not in (None, *_DTYPES):
        raise SettingError(
            f"{name}.model_args.dtype: {args['dtype']!r} is none of {', '.join(_DTYPES)}"
        )
    if not isinstance(size, int):
        raise SettingError(f"{name}.batch_size: must be a positive integer, got {size!r:.40}")
    return args, size


def _covers(label: str, language: Language) -> bool:
    """Return whether one end of a Marian model (`es`, `cat+spa`, `ROMANCE`) has a language."""
    return any(
        part in language.aliases
        or part.lower() in language.marian
        or (part.lower() == "mul" and language.ours)
        for part in {label, *re.split(r"[+_]", label)}
    )


def _revision(name: str, requested: str | None, config: Any) -> str:
    """Return a Hub model's commit; of a folder, a digest of its files' names, sizes and times."""
    folder = Path(name)
    if not folder.is_dir():
        return str(getattr(config, "_commit_hash", None) or requested or "main")
    files = sorted((p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in folder.iterdir())
    return "local-" + hashlib.sha256(repr(files).encode()).hexdigest()[:12]


def _not_loaded(name: str, error: Exception) -> BackendError:
    return BackendError(
        f"translator.model_args.pretrained: {name!r} could not be loaded "
        f"({type(error).__name__}: {error})"
    )
