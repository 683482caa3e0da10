"""What every translator is to its callers."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from xling_metrics.languages import Language, language_code

from xling_tasks.models.translate.segments import SegmentedText

TRIES = 3  # times that a degenerate translation is redone by sampling, as in arXiv:2505.21999
SAMPLING = {"do_sample": True, "temperature": 0.7, "top_p": 0.95}
MORE_ROOM = 4  # times the room for a translation that was cut off

UNFINISHED, CUT_OFF = "unfinished", "cut off"


class Translator(ABC):
    """A translator; get one with `load_translator`."""

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
        """Return one translation per text, in order; equal texts are translated once.

        White space and line breaks around stay. Text without letters comes back as it is, up to its
        digits, and so does any text whose language is `target` already.

        Returns:
            As many translations as texts; None where there is none.

        Raises:
            SettingError: If the translator does not know one of the languages.
        """
        if language_code(source) == language_code(target):
            return list(texts)
        translations = self._translate(list(dict.fromkeys(texts)), source, target)
        return [translations[text] for text in texts]

    @abstractmethod
    def _translate(self, texts: Sequence[str], source: str, target: str) -> dict[str, str | None]:
        """Return the translation of each of some distinct texts."""


class Attempt(NamedTuple):
    """How a segment is translated.

    Attributes:
        number: 0 for greedy decoding; above, sampling with a seed of the segment and the number.
        room: Times the usual length that the translation may have.
    """

    number: int = 0
    room: int = 1

    def next(self, reason: str) -> Attempt | None:
        """Return the attempt after one that brought no translation; None after the last."""
        if reason == CUT_OFF and self.room == 1:
            return Attempt(self.number, MORE_ROOM)
        return Attempt(self.number + 1, self.room) if self.number < TRIES else None


class Output(NamedTuple):
    """What a model gave for one segment.

    Attributes:
        text: The text, perhaps empty; None without a whole one.
        reason: Why there is none: `UNFINISHED`, `CUT_OFF`, or why the request failed; else ''.
        failed: Whether the request failed, so that nothing is known of the translation.
    """

    text: str | None
    reason: str = ""
    failed: bool = False


KeepOutput = Callable[[str, Output], None]


class Engine(Protocol):
    """A model that translates segments.

    Attributes:
        unit: What a segment is: `sentence` or `text`.
        identity: What makes its outputs what they are; None if it cannot be told, and so nothing
            can be cached.
        signature: The fields of the translator's signature that it decides.
    """

    unit: str
    identity: Any
    signature: dict[str, str]

    def check(self) -> None:
        """Load or reach the model."""

    def check_pair(self, source: Language, target: Language) -> None:
        """Raise a SettingError if the model does not know one of two languages."""

    def segment(self, text: str, source: Language, target: Language) -> SegmentedText:
        """Split a text into what is translated at once."""

    def generate(
        self, segments: list[str], source: Language, target: Language, attempt: Attempt,
        keep: KeepOutput,
    ) -> None:  # fmt: skip
        """Translate distinct segments; give each output to `keep` the moment it arrives."""


@contextlib.contextmanager
def torch_seed(seed: int) -> Iterator[None]:
    """Seed torch's generators, and put them back afterwards; nothing without torch."""
    try:
        import torch
    except ImportError:
        yield
        return
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
