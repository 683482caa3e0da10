"""Translation of answers and prompts, by the setting `translator`.

It names what translates: an encoder-decoder (`seq2seq`) or any model of the harness. What cannot be
translated is None: never empty, never the source.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm
from xling_metrics.base import signature
from xling_metrics.languages import Language, language_code

from xling_tasks.cache import cache_folder, cache_key, open_cache
from xling_tasks.data.prompts import PromptTemplate, PromptTemplates
from xling_tasks.languages import find
from xling_tasks.log import log
from xling_tasks.models.backend import id_of_model
from xling_tasks.models.model_config import ModelConfig
from xling_tasks.models.retry import count_failures, format_reasons
from xling_tasks.models.translate.base import SAMPLING, TRIES, Attempt, Output
from xling_tasks.models.translate.chat import ChatTranslator
from xling_tasks.models.translate.degenerate import VERSION, find_faults
from xling_tasks.models.translate.seq2seq import Seq2Seq, validate_args

SEQ2SEQ = "seq2seq"
Pair = tuple[Language, Language]


def parse_translator(name: str, value: Any) -> ModelConfig | None:
    """Parse the setting `translator`; return None for `null` or `none`."""
    if value is None or value in ("", "none"):
        return None
    config = ModelConfig.parse(name, value)
    if config.model == SEQ2SEQ:
        validate_args(name, config)
    return config


def load_translator(
    config: ModelConfig, cache: str | bool | None = None, prompt: PromptTemplate | None = None
) -> Translator:
    """Return the translator of a setting; the same one for the same setting.

    Models of the harness are asked with `prompt`; with ours if there is none.
    """
    if config.model == SEQ2SEQ:
        prompt = None  # which it does not use: others must not load a second copy
    elif prompt is None:
        prompt = PromptTemplates().get("translate", "en")
    return _shared(config, cache, prompt, id_of_model(config))


@functools.lru_cache(maxsize=4)
def _shared(
    config: ModelConfig, cache: str | bool | None, prompt: PromptTemplate | None, model_id: int
) -> Translator:
    engine = Seq2Seq(config) if prompt is None else ChatTranslator(config, prompt, cache)
    return Translator(engine, cache)


class Translator:
    """Texts through an engine, segment by segment; get one with `load_translator`.

    Each output is on disk when it arrives, and is checked after all of an attempt have arrived.
    """

    def __init__(self, engine: Seq2Seq | ChatTranslator, cache: str | bool | None) -> None:
        self.engine = engine
        self._cache = open_cache("translations", cache_folder(cache) if engine.identity else None)

    @property
    def signature(self) -> str:
        """Model, splitter, decoding and the rules by which a translation counts as degenerate."""
        sentences = self.engine.unit == "sentence"
        return signature(
            "translate",
            **self.engine.signature,
            unit=self.engine.unit,
            decoding="greedy,redo:{}xT{temperature}/p{top_p}".format(TRIES, **SAMPLING),
            degenerate=f"v{VERSION}",
            **({"thai": "crfcut"} if sentences else {}),
            libraries=("sentencex", "langid") if sentences else ("langid",),
        )

    def check(self, *pairs: tuple[str, str]) -> None:
        """Check the languages, then load or reach the model: before a run rather than after it.

        Raises:
            XlingError: If the model cannot be reached, or does not know a language.
            ImportError: If a language's sentence splitter is not installed.
        """
        for source, target in pairs:
            self._find_languages(source, target)
        self.engine.check()

    def translate(self, texts: Sequence[str], source: str, target: str = "en") -> list[str | None]:
        """Return one translation per text, in order; None where there is none.

        Equal texts are translated once. Text without letters comes back as it is, up to its digits,
        and so does any text whose language is `target` already.

        Raises:
            SettingError: If the translator does not know one of the languages.
        """
        if language_code(source) == language_code(target):
            return list(texts)
        pair = self._find_languages(source, target)
        parts = {text: self.engine.segment(text, *pair) for text in texts}
        segments = dict.fromkeys(s for part in parts.values() for s in part.to_translate)
        outputs = self._translate_segments(list(segments), pair)
        translated = {s: None if output.reason else output.text for s, output in outputs.items()}
        translations = {
            text: part.join([translated[s] for s in part.to_translate], pair[1].code)
            for text, part in parts.items()
        }
        if failed := sum(text is None for text in translations.values()):
            log.warning(
                "translator: %d of %d texts (%s to %s) could not be translated; they are unscored",
                failed, len(translations), source, target,
            )  # fmt: skip
        return [translations[text] for text in texts]

    def _find_languages(self, source: str, target: str) -> Pair:
        pair = find(source), find(target)
        if pair[0] != pair[1]:
            self.engine.check_pair(*pair)
        return pair

    def _translate_segments(self, segments: list[str], pair: Pair) -> dict[str, Output]:
        """Return the last output of each of some distinct segments."""
        outputs: dict[str, Output] = {}
        pending = {Attempt(): segments}
        while pending:
            attempt = min(pending)
            arrived = self._run_attempt(pending.pop(attempt), pair, attempt)
            for segment, output in arrived.items():
                redo = output.reason and not output.failed
                following = attempt.next(output.reason) if redo else None
                if following is None:
                    outputs[segment] = output
                else:
                    pending.setdefault(following, []).append(segment)
        reasons = Counter(output.reason for output in outputs.values() if output.reason)
        count_failures("translator", reasons)
        if reasons:
            log.warning(
                "translator: %d of %d segments (%s to %s) have no translation (%s)",
                reasons.total(), len(segments), pair[0].code, pair[1].code, format_reasons(reasons),
            )  # fmt: skip
        return outputs

    def _run_attempt(self, segments: list[str], pair: Pair, attempt: Attempt) -> dict[str, Output]:
        """Return the outputs of an attempt, those that are no translation with their fault."""
        codes = [language.code for language in pair]
        keys = {s: cache_key(self.engine.identity, codes, s, attempt) for s in segments}
        cached = self._cache.get_many(keys.values())
        outputs = {s: Output(*cached[key]) for s, key in keys.items() if key in cached}
        remaining = [segment for segment in segments if segment not in outputs]

        def keep(segment: str, output: Output) -> None:
            # An empty text may be a hitch of the service: it is asked for again the next time.
            if not output.failed and output.text != "":
                self._cache.put_many({keys[segment]: [output.text, output.reason]})
            outputs[segment] = output
            bar.update()

        title = f"Translating {codes[0]} to {codes[1]}{'' if attempt == Attempt() else ', again'}"
        with tqdm(total=len(remaining), desc=title, disable=not remaining) as bar:
            if remaining:
                self.engine.generate(remaining, *pair, attempt, keep)
        texts = {s: text for s in segments if (text := outputs[s].text) is not None}
        faults = find_faults([*texts.items()], *codes)
        for segment, fault in zip(texts, faults, strict=True):
            # A loop that ran into the limit is no lack of room.
            if fault and (fault == "repeated" or not outputs[segment].reason):
                outputs[segment] = outputs[segment]._replace(reason=fault)
        return {segment: outputs[segment] for segment in segments}
