"""Texts through a model: outputs cached as they arrive, and redone where they degenerate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tqdm import tqdm
from xling_metrics.base import signature
from xling_metrics.languages import Language

from xling_tasks.cache.paths import cache_folder, cache_key
from xling_tasks.cache.response_cache import open_cache
from xling_tasks.languages import find
from xling_tasks.log import log
from xling_tasks.models.retry import count_failures, format_reasons
from xling_tasks.models.translate.base import SAMPLING, TRIES, Attempt, Output, Translator
from xling_tasks.models.translate.chat import ChatTranslator
from xling_tasks.models.translate.degenerate import VERSION, find_faults
from xling_tasks.models.translate.seq2seq import Seq2Seq

Pair = tuple[Language, Language]
Engine = Seq2Seq | ChatTranslator


class CachedTranslator(Translator):
    """Texts through an engine, segment by segment.

    Each output is on disk when it arrives, and is checked after all of an attempt have arrived.
    """

    def __init__(self, engine: Engine, cache: str | bool | None) -> None:
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
        """Check the languages first, then load or reach the model."""
        for source, target in pairs:
            self._find_languages(source, target)
        self.engine.check()

    def _find_languages(self, source: str, target: str) -> Pair:
        pair = find(source), find(target)
        if pair[0] != pair[1]:
            self.engine.check_pair(*pair)
        return pair

    def _translate(self, texts: Sequence[str], source: str, target: str) -> dict[str, str | None]:
        pair = self._find_languages(source, target)
        parts = {text: self.engine.segment(text, *pair) for text in texts}
        segments = dict.fromkeys(s for part in parts.values() for s in part.to_translate)
        outputs = self._translate_segments(list(segments), pair)
        translations = {s: None if output.reason else output.text for s, output in outputs.items()}
        segmented = {
            text: part.join([translations[s] for s in part.to_translate], pair[1].code)
            for text, part in parts.items()
        }
        if failed := sum(text is None for text in segmented.values()):
            log.warning(
                "translator: %d of %d texts (%s to %s) could not be translated; they are unscored",
                failed, len(segmented), source, target,
            )  # fmt: skip
        return segmented

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
        outputs = self._collect_outputs(segments, pair, attempt)
        texts = {s: output.text for s, output in outputs.items() if output.text is not None}
        faults = find_faults([*texts.items()], *(language.code for language in pair))
        for segment, fault in zip(texts, faults, strict=True):
            # A loop that ran into the limit is no lack of room.
            if fault and (fault == "repeated" or not outputs[segment].reason):
                outputs[segment] = outputs[segment]._replace(reason=fault)
        return outputs

    def _collect_outputs(
        self, segments: list[str], pair: Pair, attempt: Attempt
    ) -> dict[str, Output]:
        """Return the engine's outputs: those of an earlier start, and the others as they arrive."""
        codes = [language.code for language in pair]
        keys = {s: cache_key(self.engine.identity, codes, s, attempt) for s in segments}
        cached = self._cache.get_many(keys.values())
        outputs = {s: Output(*cached[key]) for s, key in keys.items() if key in cached}
        remaining = [segment for segment in segments if segment not in outputs]
        suffix = "" if attempt == Attempt() else ", again"
        title = f"Translating {pair[0].code} to {pair[1].code}{suffix}"

        def keep(segment: str, output: Output) -> None:
            # An empty text may be a hitch of the service: it is asked for again the next time.
            if not output.failed and output.text != "":
                self._cache.put_many({keys[segment]: [output.text, output.reason]})
            outputs[segment] = output
            bar.update()

        with tqdm(total=len(remaining), desc=title, disable=not remaining) as bar:
            if remaining:
                self.engine.generate(remaining, *pair, attempt, keep)
        return {segment: outputs[segment] for segment in segments}
