"""Texts through a model, sentence by sentence: cached, and redone where they degenerate."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from tqdm import tqdm
from xling_metrics.base import signature

from xling_tasks.languages import Language, find
from xling_tasks.log import log
from xling_tasks.models.store import ReplyStore, cache_folder, key_of
from xling_tasks.models.translate import degenerate
from xling_tasks.models.translate.base import Translator
from xling_tasks.models.translate.passages import require_splitter, split
from xling_tasks.models.translate.seq2seq import TEMPERATURE, TOP_P

TRIES = 3
"""How often a degenerate translation is redone by sampling."""

_GIVE_UP_AFTER = 3


class Engine(Protocol):
    """A model that translates a batch of sentences."""

    batch: int
    identity: Any

    @property
    def signature(self) -> dict[str, str]:
        """Its fields of the translator's signature."""

    def check(self) -> None:
        """Fail if it cannot be used."""

    def check_pair(self, source: Language, target: Language) -> None:
        """Fail if it does not know one of the languages."""

    def order(self, sentences: Sequence[str]) -> list[str]:
        """The order in which sentences are best put into batches."""

    def translate(
        self, sentences: Sequence[str], source: Language, target: Language, attempt: int
    ) -> list[str | None]:
        """As many translations as sentences; None where the model gave no whole one."""


class SentenceTranslator(Translator):
    """Texts through a model, sentence by sentence."""

    def __init__(self, engine: Engine, cache: str | bool | None) -> None:
        super().__init__()
        self.engine = engine
        folder = cache_folder(cache) if engine.identity is not None else None
        self._store = ReplyStore(folder, "translations") if folder is not None else None

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
        passages = {text: split(text, pair[0].code) for text in texts}
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

    def __init__(self, owner: SentenceTranslator, source: Language, target: Language) -> None:
        self._owner, self._engine, self._store = owner, owner.engine, owner._store
        self._pair = source, target
        self._done: dict[str, str | None] = {}
        self._why: Counter[str] = Counter()

    def outcomes(self, sentences: list[str]) -> dict[str, str | None]:
        """The translation of each distinct sentence; None if there is none."""
        open_ = self._look_up(sentences)
        source, target = (language.code for language in self._pair)
        with tqdm(
            total=len(open_), desc=f"Translating {source} to {target}", disable=not open_
        ) as bar:
            open_ = self._attempt(open_, 0, bar)
            self._owner._count(redone=len(open_))
            for attempt in range(1, TRIES + 1):
                open_ = self._attempt(open_, attempt, bar)
        failed = [sentence for sentence in sentences if self._done.get(sentence) is None]
        self._owner._count(failed=len(failed))
        if failed:
            reasons = ", ".join(f"{why}: {n}" for why, n in sorted(self._why.items()))
            log.warning(
                "translator: %d of %d sentences (%s to %s) have no translation (%s)",
                len(failed), len(sentences), source, target, reasons,
            )  # fmt: skip
        return {sentence: self._done.get(sentence) for sentence in sentences}

    def _look_up(self, sentences: list[str]) -> list[str]:
        """Take what the cache knows; the rest is returned."""
        if self._store is None:
            return sentences
        found = self._store.get_many(map(self._key, sentences))
        for sentence in sentences:
            row = found.get(self._key(sentence))
            if row is not None:
                outcome = json.loads(row)
                self._done[sentence] = outcome.get("text")
                self._why.update([outcome["failed"]] if "failed" in outcome else [])
        self._owner._count(cached=len(self._done))
        return [sentence for sentence in sentences if sentence not in self._done]

    def _attempt(self, sentences: list[str], attempt: int, bar: tqdm[Any]) -> list[str]:
        """Translate some sentences; returns those to be tried again."""
        again: list[str] = []
        for batch, texts in self._batches(self._engine.order(sentences), attempt):
            if texts is None:
                self._why["failed call"] += len(batch)
                bar.update(len(batch))
                continue
            rows: dict[str, dict[str, Any]] = {}
            for sentence, text, why in zip(batch, texts, self._faults(batch, texts), strict=True):
                if why is None:
                    rows[sentence] = {"text": text, "tries": attempt}
                elif attempt == TRIES:
                    rows[sentence] = {"failed": why, "tries": attempt}
                    self._why[why] += 1
                else:
                    again.append(sentence)
            self._keep(rows)
            bar.update(len(rows))
        return again

    def _batches(
        self, sentences: list[str], attempt: int
    ) -> Iterator[tuple[list[str], list[str | None] | None]]:
        """Batches with their translations; None for a failed call.

        A batch that fails is tried again one by one, so that a sentence that a service refuses
        does not cost its neighbours. After three failures in a row nothing more is asked.
        """
        failed = 0
        for start in range(0, len(sentences), self._engine.batch):
            batch = sentences[start : start + self._engine.batch]
            texts = self._call(batch, attempt) if failed < _GIVE_UP_AFTER else None
            if texts is not None:
                failed = 0
                yield batch, texts
                continue
            for sentence in batch:
                again = failed < _GIVE_UP_AFTER and len(batch) > 1
                one = self._call([sentence], attempt) if again else None
                failed = 0 if one is not None else failed + 1
                yield [sentence], one

    def _call(self, batch: list[str], attempt: int) -> list[str | None] | None:
        try:
            return self._engine.translate(batch, *self._pair, attempt)
        except Exception:
            log.exception("translator: a call failed")
            return None

    def _faults(self, batch: list[str], texts: list[str | None]) -> list[str | None]:
        whole = [(s, text) for s, text in zip(batch, texts, strict=True) if text is not None]
        found = iter(degenerate.reasons(whole, *(language.code for language in self._pair)))
        return ["unfinished" if text is None else next(found) for text in texts]

    def _keep(self, rows: dict[str, dict[str, Any]]) -> None:
        for sentence, row in rows.items():
            self._done[sentence] = row.get("text")
        self._owner._count(translated=sum("text" in row for row in rows.values()))
        if self._store is not None:
            # An empty reply may be a hitch of the service, so it is asked for again next time.
            kept = {s: row for s, row in rows.items() if row.get("failed") != "empty"}
            self._store.put_many(
                {self._key(s): json.dumps(row, ensure_ascii=False) for s, row in kept.items()}
            )

    def _key(self, sentence: str) -> str:
        pair = [language.code for language in self._pair]
        return key_of(self._engine.identity, degenerate.VERSION, TRIES, pair, sentence)
