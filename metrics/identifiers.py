"""A fastText model that tells the language of texts in the place of langid.

Such as GlotLID (Kargaran et al. 2023, some 2,000 languages with their scripts), OpenLID or lid.176
(Joulin et al. 2016, which the Language Confusion Benchmark takes). Each names languages in its own
way; which labels stand for a language is told by the caller.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from xling_metrics.base import replace_lone_surrogates
from xling_metrics.tokenization import LETTER

FASTTEXT = "fasttext-predict"
"""The distribution that reads fastText files here; others with a module `fasttext` do too."""

_PREFIX = "__label__"


@dataclass(frozen=True)
class Identifier:
    """An identifier of language.

    Attributes:
        name: What it is, for signatures: `file.bin@1a2b3c4d5e6f` (the file's name and the beginning
            of its SHA-256).
        labels: All labels that it gives.
        classify: From texts with letters to their labels; None where it names no language.
    """

    name: str
    labels: frozenset[str]
    classify: Callable[[Sequence[str]], list[str | None]] = field(repr=False, compare=False)

    def identify(self, texts: Sequence[str]) -> list[str | None]:
        """The label of each text; None for one without letters, and where no language is named."""
        distinct = [text for text in dict.fromkeys(texts) if LETTER.search(text)]
        label_of = dict(
            zip(distinct, self.classify([*map(replace_lone_surrogates, distinct)]), strict=True)
        )
        return [label_of.get(text) for text in texts]

    def in_language(self, texts: Sequence[str], wanted: Collection[str]) -> list[bool | None]:
        """Whether each text has one of the labels wanted; None for one without letters."""
        return [
            label in wanted if LETTER.search(text) else None
            for text, label in zip(texts, self.identify(texts), strict=True)
        ]


def missing() -> str | None:
    """The distribution that is needed and not installed; None if it is there."""
    return None if find_spec("fasttext") else FASTTEXT


@cache
def identifier(file: str) -> Identifier:
    """Load a model, once per process.

    Args:
        file: The path of a fastText model.

    Raises:
        ImportError: If the package is missing.
        ValueError: If the file is no fastText model.
        OSError: If the file cannot be read.
    """
    import fasttext

    path, digest = Path(file), hashlib.sha256()
    with path.open("rb") as opened:
        while block := opened.read(1 << 20):
            digest.update(block)
    model = fasttext.load_model(str(path))

    def predict(text: str, count: int, least: float) -> list[str]:
        # A line at a time: fastText reads no further.
        return [str(each) for each in model.predict(" ".join(text.split()), count, least)[0]]

    labels = predict("a", -1, -1.0)
    if not labels or not all(each.startswith(_PREFIX) for each in labels):
        raise ValueError(f"{path} is no fastText model of labels")

    def classify(texts: Sequence[str]) -> list[str | None]:
        predicted = [predict(text, 1, 0.0) for text in texts]
        return [each[0].removeprefix(_PREFIX) if each else None for each in predicted]

    return Identifier(
        f"{path.name}@{digest.hexdigest()[:12]}",
        frozenset(each.removeprefix(_PREFIX) for each in labels),
        classify,
    )
