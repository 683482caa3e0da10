"""The families of encoder-decoder translators, and how each takes the two languages."""

from __future__ import annotations

from typing import Any, NamedTuple

from xling_metrics.languages import Language

from xling_tasks.errors import SettingError
from xling_tasks.languages import first_in, side_covers
from xling_tasks.log import warn_once


class Pair(NamedTuple):
    """How a model takes the two languages.

    Attributes:
        prefix: Put before the text.
        source: The tokenizer's `src_lang`; None where it has none.
        first: The token that a translation is forced to begin with; None where there is none.
    """

    prefix: str = ""
    source: str | None = None
    first: int | None = None


def detect_family(model: str, config: Any, tokenizer: Any) -> str:
    """Return `nllb`, `m2m100`, `madlad` or `marian`; raise a SettingError for another model."""
    kind, vocabulary = config.model_type, tokenizer.get_vocab()
    if kind == "marian":
        return "marian"
    if kind in ("m2m_100", "nllb-moe") and "eng_Latn" in vocabulary:
        return "nllb"
    if kind == "m2m_100" and "en" in getattr(tokenizer, "lang_code_to_id", {}):
        return "m2m100"
    if kind == "t5" and "<2en>" in vocabulary:
        return "madlad"
    raise SettingError(
        f"translator.model_args.pretrained: {model} (model type {kind!r}) is no NLLB, "
        "M2M-100, MADLAD-400 or Marian model; a language model translates with "
        '{"model": "hf", "model_args": {"pretrained": ...}}'
    )


def build_pair(family: str, model: str, tokenizer: Any, source: Language, target: Language) -> Pair:
    """Return how a model takes that it translates from `source` to `target`.

    Raises:
        SettingError: If the model does not know one of them.
    """

    def require(token: str | None, language: Language) -> str:
        if token is None:
            raise SettingError(
                f"translator.model_args.pretrained: {model} ({family}) does not translate "
                f"{language.name} ({language.code!r})"
            )
        return token

    if family == "marian":
        for label, language in ((tokenizer.source_lang, source), (tokenizer.target_lang, target)):
            if label is None:
                warn_once(f"translator: {model} does not say which languages it translates")
            else:
                require(label if side_covers(label, language) else None, language)
        codes = tokenizer.supported_language_codes
        return Pair(f"{require(first_in(codes, '>>{}<<', target), target)} " if codes else "")
    if family == "madlad":
        return Pair(f"{require(first_in(tokenizer.get_vocab(), '<2{}>', target), target)} ")
    if family == "m2m100":
        ids = tokenizer.lang_code_to_id
        codes = [require(first_in(ids, "{}", end), end) for end in (source, target)]
    else:
        ids = tokenizer.get_vocab()
        codes = [require(end.nllb if end.nllb in ids else None, end) for end in (source, target)]
    return Pair(source=codes[0], first=ids[codes[1]])
