"""What every translator is to its callers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from xling_metrics.languages import language_code


@dataclass(frozen=True)
class Counts:
    """What a translator has done in this process, in sentences (of a file: in texts).

    Attributes:
        translated: Translated now, by the model (or found in the file).
        cached: Taken from the cache, failures included.
        redone: Those of `translated` and `failed` that needed sampling now.
        failed: Without a translation, now or by the cache.
    """

    translated: int = 0
    cached: int = 0
    redone: int = 0
    failed: int = 0


class Translator(ABC):
    """A translator; get one with `translator`.

    Attributes:
        counts: What it has done so far.
    """

    def __init__(self) -> None:
        self.counts = Counts()

    @property
    @abstractmethod
    def signature(self) -> str:
        """How its translations are made, in one line."""

    @abstractmethod
    def check(self, *pairs: tuple[str, str]) -> None:
        """Fail before a run rather than after it.

        Args:
            *pairs: (source, target) languages that will be needed.

        Raises:
            XlingError: If the translator cannot be reached, or does not know a language.
            ImportError: If a language's sentence splitter is not installed.
        """

    def translate(self, texts: Sequence[str], source: str, target: str = "en") -> list[str | None]:
        """One translation per text, in order; equal texts are translated once.

        White space and line breaks stay. Text without letters comes back as it is, up to its
        digits, and so does any text whose language is `target` already.

        Args:
            texts: Texts of one language.
            source: Their language.
            target: The language wanted.

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

    def _count(self, **more: int) -> None:
        now = self.counts
        self.counts = replace(now, **{name: getattr(now, name) + n for name, n in more.items()})
