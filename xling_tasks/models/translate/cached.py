"""Texts through a model: cached as they arrive, and redone where they degenerate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tqdm import tqdm
from xling_metrics.base import signature
from xling_metrics.languages import Language

from xling_tasks.cache.paths import cache_folder, cache_key
from xling_tasks.cache.response_cache import open_cache
from xling_tasks.languages import find
from xling_tasks.log import log
from xling_tasks.models.retry import count_failures, format_reasons
from xling_tasks.models.translate.base import SAMPLING, TRIES, Attempt, Engine, Output, Translator
from xling_tasks.models.translate.degenerate import VERSION, find_faults

_SAME, _SAME_LETTERS = 3, 12
"""One translation of this many segments, and of this length, may be a service's error."""

Pair = tuple[Language, Language]


class CachedTranslator(Translator):
    """Texts through an engine, segment by segment.

    What the engine gives is on disk when it arrives. It is checked after all of an attempt has
    arrived: a kill loses nothing that had come.
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
        translations = self._translate_segments(list(segments), pair)
        whole = {
            text: part.join([translations.get(s) for s in part.to_translate], pair[1].code)
            for text, part in parts.items()
        }
        if failed := sum(text is None for text in whole.values()):
            log.warning(
                "translator: %d of %d texts (%s to %s) could not be translated; they are unscored",
                failed, len(whole), source, target,
            )  # fmt: skip
        return whole

    def _translate_segments(self, segments: list[str], pair: Pair) -> dict[str, str]:
        """Return the translations of distinct segments; those without one are missing."""
        cached = self._cache.get_many(self._key(s, pair) for s in segments)
        results = {s: cached[key] for s in segments if (key := self._key(s, pair)) in cached}
        pending = {Attempt(): [s for s in segments if s not in results]}
        while pending:
            attempt = min(pending)
            results |= self._run_attempt(pending.pop(attempt), pair, attempt, pending)
        reasons = Counter(row["failed"] for row in results.values() if "failed" in row)
        count_failures("translator", reasons)
        if reasons:
            log.warning(
                "translator: %d of %d segments (%s to %s) have no translation (%s)",
                reasons.total(), len(segments), pair[0].code, pair[1].code, format_reasons(reasons),
            )  # fmt: skip
        translations = {s: row["text"] for s, row in results.items() if "text" in row}
        _warn_of_equal(translations)
        return translations

    def _run_attempt(
        self, segments: list[str], pair: Pair, attempt: Attempt,
        pending: dict[Attempt, list[str]],
    ) -> dict[str, dict[str, str]]:  # fmt: skip
        """Translate segments, and return the rows of those that are settled.

        The others are added to `pending`, under the attempt that is theirs next.
        """
        outputs = self._collect_outputs(segments, pair, attempt)
        texts = {s: output.text for s, output in outputs.items() if output.text is not None}
        faults = find_faults([*texts.items()], *(language.code for language in pair))
        reasons = dict(zip(texts, faults, strict=True))
        rows: dict[str, dict[str, str]] = {}
        lost: dict[str, dict[str, str]] = {}
        for segment, output in outputs.items():
            fault = reasons.get(segment)
            # A loop that ran into the limit is no lack of room.
            reason = fault if fault == "repeated" else output.reason or fault
            following = attempt.next(reason) if reason else None
            if output.failed:
                lost[segment] = {"failed": output.reason}
            elif not reason:
                rows[segment] = {"text": str(output.text)}
            elif following is not None:
                pending.setdefault(following, []).append(segment)
            elif reason == "empty":  # which may be a hitch of the service: asked again next time
                lost[segment] = {"failed": reason}
            else:
                rows[segment] = {"failed": reason}
        self._cache.put_many({self._key(s, pair): row for s, row in rows.items()})
        return rows | lost

    def _collect_outputs(
        self, segments: list[str], pair: Pair, attempt: Attempt
    ) -> dict[str, Output]:
        """Return the engine's outputs: those of an earlier start, and the others as they arrive."""
        keys = {segment: self._key(segment, pair, attempt) for segment in segments}
        cached = self._cache.get_many(keys.values())
        outputs = {s: Output(*cached[key]) for s, key in keys.items() if key in cached}

        rest = [segment for segment in segments if segment not in outputs]
        again = "" if attempt == Attempt() else ", again"
        title = f"Translating {pair[0].code} to {pair[1].code}{again}"

        def keep(segment: str, output: Output) -> None:
            outputs[segment] = output
            if not output.failed and output.text != "":
                self._cache.put_many({keys[segment]: [output.text, output.reason]})
            bar.update()

        with tqdm(total=len(rest), desc=title, disable=not rest) as bar:
            if rest:
                self.engine.generate(rest, *pair, attempt, keep)
        return {segment: outputs[segment] for segment in segments}

    def _key(self, segment: str, pair: Pair, attempt: Attempt | None = None) -> str:
        parts = (self.engine.identity, [language.code for language in pair], segment)
        return cache_key(*parts, attempt) if attempt else cache_key(*parts, VERSION, TRIES)


def _warn_of_equal(translations: Mapping[str, str]) -> None:
    """Warn of one translation for many segments, which may be an error of the service."""
    for text, n in Counter(translations.values()).items():
        if n >= _SAME and len(text) >= _SAME_LETTERS:
            log.warning("translator: %d segments got the same translation (%r)", n, text[:120])
