"""What every translator is to its callers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

from xling_metrics.languages import language_code

from xling_tasks.log import log


class Translator(ABC):
    """A translator; get one with `translator`."""

    @property
    @abstractmethod
    def signature(self) -> str:
        """How its translations are made, in one line."""

    @abstractmethod
    def check(self, *pairs: tuple[str, str]) -> None:
        """Fail before a run rather than after it.

        Raises:
            XlingError: If the translator cannot be reached, or does not know a language.
            ImportError: If a language's sentence splitter is not installed.
        """

    def translate(self, texts: Sequence[str], source: str, target: str = "en") -> list[str | None]:
        """One translation per text, in order; equal texts are translated once.

        White space and line breaks stay. Text without letters comes back as it is, up to its
        digits, and so does any text whose language is `target` already.

        Returns:
            As many translations as texts; None where there is none.

        Raises:
            SettingError: If the translator does not know one of the languages.
        """
        if language_code(source) == language_code(target):
            return list(texts)
        translations = self._texts(list(dict.fromkeys(texts)), source, target)
        return [translations[text] for text in texts]

    @abstractmethod
    def _texts(self, texts: Sequence[str], source: str, target: str) -> dict[str, str | None]:
        """The outcome for each of some distinct texts."""


_GIVE_UP_AFTER = 3


class TranslationResult(NamedTuple):
    """What a model made of one sentence.

    Attributes:
        sentence: The source.
        text: Its translation, perhaps empty; None where the model gave no whole one.
        failed: Why the call failed; '' if it did not.
    """

    sentence: str
    text: str | None
    failed: str = ""


Outcomes = Generator[list[TranslationResult], None, None]
"""Outcomes as they arrive; close it to end the requests under way."""


def in_batches(
    sentences: Sequence[str], size: int, call: Callable[[Sequence[str]], list[str | None]]
) -> Outcomes:
    """Batches through a model in this process.

    A batch that fails is tried again one by one, so that a sentence that breaks it does not cost
    its neighbours. After three failures in a row nothing more is asked. A call gives as many
    translations as sentences, None for one that is not whole.
    """
    failed = 0

    def attempt(batch: Sequence[str]) -> list[TranslationResult] | None:
        try:
            return [TranslationResult(s, t) for s, t in zip(batch, call(batch), strict=True)]
        except Exception:
            log.exception("translator: a call failed")
            return None

    for start in range(0, len(sentences), size):
        batch = sentences[start : start + size]
        whole = attempt(batch) if failed < _GIVE_UP_AFTER else None
        if whole is not None:
            failed = 0
            yield whole
            continue
        for sentence in batch:
            again = failed < _GIVE_UP_AFTER and len(batch) > 1
            one = attempt([sentence]) if again else None
            failed = 0 if one is not None else failed + 1
            yield one or [TranslationResult(sentence, None, "failed call")]
