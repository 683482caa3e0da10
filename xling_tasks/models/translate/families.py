"""The families of encoder-decoder translators, and how each is told which languages to use."""

from __future__ import annotations

from typing import Any, NamedTuple

from xling_metrics.languages import Language

from xling_tasks.errors import SettingError
from xling_tasks.languages import first_in, side_covers
from xling_tasks.log import warn_once


class Pair(NamedTuple):
    """How a model is told the two languages.

    Attributes:
        prefix: Put before the text.
        source: The tokenizer's `src_lang`; None where it has none.
        first: The token that a translation is forced to begin with; None where there is none.
    """

    prefix: str = ""
    source: str | None = None
    first: int | None = None


class Family:
    """One model's way with languages, by the name `nllb`, `m2m100`, `madlad` or `marian`."""

    def __init__(self, model: str, config: Any, tokenizer: Any) -> None:
        self._model, self._tokenizer = model, tokenizer
        self._vocabulary: dict[str, int] = tokenizer.get_vocab()
        self.name = self._detect(config.model_type)

    def pair(self, source: Language, target: Language) -> Pair:
        """Return how this model is told that it translates from `source` to `target`.

        Raises:
            SettingError: If the model does not know one of them.
        """
        if self.name == "marian":
            return Pair(prefix=self._marian_prefix(source, target))
        if self.name == "madlad":
            token = self._require(first_in(self._vocabulary, "<2{}>", target), target)
            return Pair(prefix=f"{token} ")
        if self.name == "m2m100":
            ids = self._tokenizer.lang_code_to_id
            codes = [self._require(first_in(ids, "{}", side), side) for side in (source, target)]
            return Pair(source=codes[0], first=ids[codes[1]])
        for side in (source, target):
            self._require(side.nllb if side.nllb in self._vocabulary else None, side)
        return Pair(source=source.nllb, first=self._vocabulary[target.nllb])

    def _detect(self, kind: str) -> str:
        if kind == "marian":
            return "marian"
        if kind in ("m2m_100", "nllb-moe") and "eng_Latn" in self._vocabulary:
            return "nllb"
        if kind == "m2m_100" and "en" in getattr(self._tokenizer, "lang_code_to_id", {}):
            return "m2m100"
        if kind == "t5" and "<2en>" in self._vocabulary:
            return "madlad"
        raise SettingError(
            f"translator.model_args.pretrained: {self._model} (model type {kind!r}) is no NLLB, "
            "M2M-100, MADLAD-400 or Marian model; a language model translates with "
            '{"model": "hf", "model_args": {"pretrained": ...}}'
        )

    def _marian_prefix(self, source: Language, target: Language) -> str:
        tokenizer = self._tokenizer
        for label, side in ((tokenizer.source_lang, source), (tokenizer.target_lang, target)):
            if label is None:
                warn_once(f"translator: {self._model} does not say which languages it translates")
            else:
                self._require(label if side_covers(label, side) else None, side)
        codes = tokenizer.supported_language_codes
        return f"{self._require(first_in(codes, '>>{}<<', target), target)} " if codes else ""

    def _require(self, token: str | None, language: Language) -> str:
        if token is None:
            raise SettingError(
                f"translator.model_args.pretrained: {self._model} ({self.name}) does not translate "
                f"{language.name} ({language.code!r})"
            )
        return token
