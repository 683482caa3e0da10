"""Texts through a model, sentence by sentence: cached, and redone where they degenerate.

What a model says is kept as it arrives. Whether it degenerated takes longer to tell, and is told
beside: by a kill nothing is lost that had come.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from tqdm import tqdm
from xling_metrics.base import signature
from xling_metrics.languages import Language

from xling_tasks.cache.paths import cache_folder, cache_key
from xling_tasks.cache.response_cache import open_cache
from xling_tasks.languages import find
from xling_tasks.log import log
from xling_tasks.models.retry import count_failures
from xling_tasks.models.translate import degenerate
from xling_tasks.models.translate.base import TranslationResult, Translator
from xling_tasks.models.translate.chat import ChatTranslator
from xling_tasks.models.translate.segments import require_splitter, segment_text
from xling_tasks.models.translate.seq2seq import TEMPERATURE, TOP_P, Seq2Seq

TRIES = 3
"""How often a degenerate translation is redone by sampling."""

_SAME = 3
_SAME_LETTERS = 12
"""One translation of this many sentences, and of this length, may be a service's error."""


class CachedTranslator(Translator):
    """Texts through a model, sentence by sentence."""

    def __init__(
        self,
        engine: Seq2Seq | ChatTranslator,
        cache: str | bool | None,
    ) -> None:
        self.engine = engine
        folder = cache_folder(cache) if engine.identity is not None else None
        self._store = open_cache("translations", folder)

    @property
    def signature(self) -> str:
        """Model, splitter, decoding and the rules by which a translation counts as degenerate."""
        return signature(
            "translate",
            **self.engine.signature,
            unit="sentence",
            decoding=f"greedy,redo:{TRIES}xT{TEMPERATURE}/p{TOP_P}",
            degenerate=f"v{degenerate.VERSION}",
            thai="crfcut",
            libraries=("sentencex", "langid"),
        )

    def check(self, *pairs: tuple[str, str]) -> None:
        """Check the languages first, then load or reach the model."""
        for source, target in pairs:
            self._checked(source, target)
        self.engine.check()

    def _checked(self, source: str, target: str) -> tuple[Language, Language]:
        pair = find(source), find(target)
        if pair[0] != pair[1]:
            self.engine.check_pair(*pair)
            require_splitter(source)
        return pair

    def _texts(self, texts: Sequence[str], source: str, target: str) -> dict[str, str | None]:
        pair = self._checked(source, target)
        passages = {text: segment_text(text, pair[0].code) for text in texts}
        sentences = dict.fromkeys(s for passage in passages.values() for s in passage.sentences)
        outcomes = _Run(self, *pair).outcomes(list(sentences))
        whole: dict[str, str | None] = {}
        for text, passage in passages.items():
            parts = [outcomes[sentence] for sentence in passage.sentences]
            kept = [part for part in parts if part is not None]
            whole[text] = passage.join(kept, pair[1].code) if len(kept) == len(parts) else None
        failed = sum(text is None for text in whole.values())
        if failed:
            log.warning(
                "translator: %d of %d texts (%s to %s) could not be translated; they are unscored",
                failed, len(whole), source, target,
            )  # fmt: skip
        return whole


class _Run:
    """The sentences of one call: what is known, then greedy, then sampling for what degenerated."""

    def __init__(self, owner: CachedTranslator, source: Language, target: Language) -> None:
        self._engine, self._store = owner.engine, owner._store
        self._pair = source, target
        self._done: dict[str, str | None] = {}
        self._why: Counter[str] = Counter()

    def outcomes(self, sentences: list[str]) -> dict[str, str | None]:
        """The translation of each distinct sentence; None if there is none."""
        key = {sentence: self._key(sentence) for sentence in sentences}
        there = self._store.get_many(key.values())
        self._take({s: there[k] for s, k in key.items() if k in there})
        if rest := [s for s, k in key.items() if k not in there]:
            self._translate(rest)
        self._say_same(sentences)
        source, target = (language.code for language in self._pair)
        failed = [sentence for sentence in sentences if self._done.get(sentence) is None]
        count_failures("translator", self._why)
        if failed:
            reasons = ", ".join(f"{why}: {n}" for why, n in sorted(self._why.items()))
            log.warning(
                "translator: %d of %d sentences (%s to %s) have no translation (%s)",
                len(failed), len(sentences), source, target, reasons,
            )  # fmt: skip
        return {sentence: self._done.get(sentence) for sentence in sentences}

    def _translate(self, sentences: list[str]) -> None:
        """All attempts at some sentences."""
        self._failed: dict[str, str] = {}
        source, target = (language.code for language in self._pair)
        bar = tqdm(total=len(sentences), desc=f"Translating {source} to {target}")
        try:
            with bar:
                open_ = self._attempt(sentences, 0, bar)
                for attempt in range(1, TRIES + 1):
                    open_ = self._attempt(open_, attempt, bar)
        finally:
            self._why.update(self._failed.values())

    def _take(self, there: Mapping[str, str]) -> None:
        """Take what is known."""
        for sentence, row in there.items():
            outcome = json.loads(row)
            self._done[sentence] = outcome.get("text")
            self._why.update([outcome["failed"]] if "failed" in outcome else [])

    def _attempt(self, sentences: list[str], attempt: int, bar: tqdm[Any]) -> list[str]:
        """Translate some sentences; returns those to be tried again."""
        # What came at this attempt in an earlier start need not be paid for again.
        key = {self._key(sentence) + f"-{attempt}": sentence for sentence in sentences}
        known = {key[k]: _said(row) for k, row in self._store.get_many(key).items()}
        again = [sentence for sentence, said in known.items() if said is None]
        there = [said for said in known.values() if said is not None]
        open_ = [sentence for sentence in sentences if sentence not in known]
        checks: list[Future[None]] = []
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="xling-checks") as beside:
            checks.append(beside.submit(self._arrived, there, attempt, again, bar))
            if open_:
                arriving = self._engine.outcomes(self._engine.order(open_), *self._pair, attempt)
                with contextlib.closing(arriving):
                    for outcomes in arriving:
                        came = [outcome for outcome in outcomes if not outcome.failed]
                        self._store.put_many(
                            {self._key(o.sentence) + f"-{attempt}": _row(o) for o in came},
                        )
                        # What ended a check is raised here.
                        checks = [each for each in checks if not each.done() or each.result()]
                        checks.append(beside.submit(self._arrived, outcomes, attempt, again, bar))
        for check in checks:
            check.result()
        # What a service's trouble stood for first may have got its translation since.
        return [sentence for sentence in dict.fromkeys(again) if sentence not in self._done]

    def _arrived(
        self, outcomes: list[TranslationResult], attempt: int, again: list[str], bar: tqdm[Any]
    ) -> None:
        """Take some outcomes; those to be tried again are added to `again`."""
        failed = [outcome for outcome in outcomes if outcome.failed]
        self._failed.update({o.sentence: o.failed for o in failed})
        bar.update(len(failed))
        self._take_back([o.sentence for o in failed], attempt)
        rows = self._rows([o for o in outcomes if not o.failed], attempt, again)
        self._keep(rows)
        self._store.discard(self._key(sentence) + f"-{attempt}" for sentence in rows)
        bar.update(len(rows))

    def _rows(
        self, outcomes: list[TranslationResult], attempt: int, again: list[str]
    ) -> dict[str, dict[str, Any]]:
        """What to keep of some outcomes; those to be tried again are added to `again`."""
        rows: dict[str, dict[str, Any]] = {}
        batch, texts = [o.sentence for o in outcomes], [o.text for o in outcomes]
        for sentence, text, why in zip(batch, texts, self._faults(batch, texts), strict=True):
            if why is None:
                rows[sentence] = {"text": text, "tries": attempt}
            elif attempt == TRIES:
                rows[sentence] = {"failed": why, "tries": attempt}
                self._why[why] += 1
            else:
                again.append(sentence)
                place = self._key(sentence) + f"-{attempt}"
                if why == "empty":  # which may be a hitch of the service
                    self._store.discard([place])
                else:
                    self._store.put_many({place: why})
        return rows

    def _say_same(self, sentences: list[str]) -> None:
        """Warn of one translation for many sentences, which may be an error of the service."""
        texts = Counter(text for s in sentences if (text := self._done.get(s)))
        for text, n in texts.items():
            if n >= _SAME and len(text) >= _SAME_LETTERS:
                log.warning("translator: %d sentences got the same translation (%r)", n, text[:120])

    def _faults(self, batch: list[str], texts: list[str | None]) -> list[str | None]:
        whole = [(s, text) for s, text in zip(batch, texts, strict=True) if text is not None]
        reasons = iter(degenerate.reasons(whole, *(language.code for language in self._pair)))
        return ["unfinished" if text is None else next(reasons) for text in texts]

    def _take_back(self, sentences: list[str], attempt: int) -> None:
        """What came first turned out to be no translation."""
        self._store.discard(self._key(sentence) + f"-{attempt}" for sentence in sentences)
        known = [sentence for sentence in sentences if self._done.pop(sentence, None) is not None]
        self._store.discard(map(self._key, known))

    def _keep(self, rows: dict[str, dict[str, Any]]) -> None:
        self._done.update({sentence: row.get("text") for sentence, row in rows.items()})
        # An empty reply may be a hitch of the service, so it is asked for again next time.
        kept = {s: row for s, row in rows.items() if row.get("failed") != "empty"}
        self._store.put_many(
            {self._key(s): json.dumps(row, ensure_ascii=False) for s, row in kept.items()},
        )

    def _key(self, sentence: str, identity: Any = None) -> str:
        pair = [language.code if language.nllb else list(language[:2]) for language in self._pair]
        return cache_key(
            identity or self._engine.identity, degenerate.VERSION, TRIES, pair, sentence
        )


def _row(outcome: TranslationResult) -> str:
    """What a model said, until it is known whether it is a translation."""
    return json.dumps([outcome.sentence, outcome.text], ensure_ascii=False)


def _said(row: str) -> TranslationResult | None:
    """What a row says; None for one that tells why it degenerated."""
    return TranslationResult(*json.loads(row)) if row.startswith("[") else None
