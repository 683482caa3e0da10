"""Translation of answers and prompts, by the setting `translator`.

It names what translates: an encoder-decoder (`seq2seq`), any model of the harness, or a file of
ready translations (`file`). What cannot be translated is None: never empty, never the source.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_metrics.base import signature
from xling_metrics.languages import language_code

from xling_tasks.cache.paths import cache_key
from xling_tasks.data.prompts import PromptTemplate, PromptTemplates
from xling_tasks.errors import (
    DataError,
    SettingError,
    no_such,
    refuse_unknown,
    user_path,
)
from xling_tasks.log import log
from xling_tasks.models.backend import id_of_model
from xling_tasks.models.model_config import ModelConfig
from xling_tasks.models.translate.base import Translator
from xling_tasks.models.translate.cached import CachedTranslator
from xling_tasks.models.translate.chat import ChatTranslator
from xling_tasks.models.translate.seq2seq import Seq2Seq, validate_args
from xling_tasks.safe_json import json_objects

__all__ = ["Translator", "load_translator", "parse_translator"]

SEQ2SEQ, FILE = "seq2seq", "file"


def parse_translator(name: str, value: Any) -> ModelConfig | None:
    """Parse the setting `translator`; return None for no translator (`null` or `none`).

    Raises:
        SettingError: Naming the key that is wrong.
    """
    if value is None or value in ("", "none"):
        return None
    config = ModelConfig.parse(name, value)
    if config.model == SEQ2SEQ:
        validate_args(name, config)
    elif config.model == FILE:
        _path_in(name, config.model_args)
    return config


def load_translator(
    config: ModelConfig,
    cache: str | bool | None = None,
    prompt: PromptTemplate | None = None,
) -> Translator:
    """Return the translator of a setting; the same one for the same setting.

    Models of the harness are asked with `prompt`; with ours if there is none.

    Raises:
        XlingError: If the file is wrong, or the model cannot be built.
    """
    if config.model in (SEQ2SEQ, FILE):
        prompt = None  # which they do not use: others must not load a second copy
    elif prompt is None:
        prompt = PromptTemplates().get("translate", "en")
    return _shared(config, cache, prompt, id_of_model(config))


@functools.lru_cache(maxsize=4)
def _shared(
    config: ModelConfig, cache: str | bool | None, prompt: PromptTemplate | None, model_id: int
) -> Translator:
    if config.model == FILE:
        return FileTranslator(config)
    engine = Seq2Seq(config) if prompt is None else ChatTranslator(config, prompt, cache)
    return CachedTranslator(engine, cache)


_HINT = (
    "Texts must be those of the answers that are scored: have the answers of a run OUT translated, "
    "and score the same answers with --model xling_replay --model_args path=OUT"
)


class FileTranslator(Translator):
    """Ready translations; a text that is not in the file has none."""

    def __init__(self, config: ModelConfig) -> None:
        self._path = _path_in("translator", config.model_args)
        self._translations = read_translations(self._path)
        self._digest = cache_key(sorted(self._translations.items()))[:12]

    @property
    def signature(self) -> str:
        """The file's name and a digest of its content."""
        return signature("translate", file=self._path.name, digest=self._digest)

    def check(self, *pairs: tuple[str, str]) -> None:
        """Raise a DataError if the file has no text of any of the languages."""
        wanted = {(language_code(source), language_code(target)) for source, target in pairs}
        if wanted and not wanted & {key[:2] for key in self._translations}:
            names = ", ".join(sorted(f"{source} to {target}" for source, target in wanted))
            raise DataError(f"{self._path}: has no translations of {names}. {_HINT}")

    def _translate(self, texts: Sequence[str], source: str, target: str) -> dict[str, str | None]:
        pair = language_code(source), language_code(target)
        translations = {
            text: self._translations.get((*pair, text.strip())) if text.strip() else text
            for text in texts
        }
        if missing := sum(text is None for text in translations.values()):
            log.warning(
                "translator: %d of %d texts (%s to %s) are not in %s; they are unscored. %s",
                missing, len(translations), *pair, self._path, _HINT,
            )  # fmt: skip
        return translations


def read_translations(path: Path) -> dict[tuple[str, str, str], str]:
    """Read whole texts with their translations, one JSON object a line.

    Each has `language`, `text` and `translation`, and may have `target` (`en` if left out).

    Returns:
        (language, target, stripped text) -> translation.

    Raises:
        DataError: Naming file, line and field.
    """
    if not path.is_file():
        raise DataError(f"translator.model_args.path: {path}: {no_such(path)}")
    translations: dict[tuple[str, str, str], str] = {}
    for number, line in json_objects(path):
        row = {"target": "en", **line}
        for field in ("language", "target", "text", "translation"):
            if not isinstance(value := row.get(field), str) or not value.strip():
                raise DataError(
                    f"{path}, line {number}, field {field!r}: expected text, got {value!r:.40}"
                )
        codes = language_code(row["language"]), language_code(row["target"])
        translations[(*codes, row["text"].strip())] = row["translation"]
    return translations


def _path_in(name: str, args: Mapping[str, Any]) -> Path:
    """Return the path in the model args of a file translator."""
    refuse_unknown(f"{name}.model_args.", args, ["path"])
    if not isinstance(args.get("path"), str) or not args["path"]:
        raise SettingError(f"{name}.model_args.path: name a JSONL file of translations")
    return user_path(args["path"])
