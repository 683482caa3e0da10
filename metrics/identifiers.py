"""A fastText model that identifies the language of texts instead of langid.

Such as GlotLID (Kargaran et al. 2023, some 2,000 languages with their scripts), OpenLID or lid.176
(Joulin et al. 2016, which the Language Confusion Benchmark uses).
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
"""The distribution that reads fastText files; others with a module `fasttext` do too."""

_PREFIX = "__label__"


@dataclass(frozen=True)
class Identifier:
    """An identifier of language.

    Attributes:
        name: Its name in signatures: `file.bin@1a2b3c4d5e6f` (file and beginning of its SHA-256).
        labels: All labels that it gives.
        classify: From a text with letters to its label; None where the model names no language.
    """

    name: str
    labels: frozenset[str]
    classify: Callable[[str], str | None] = field(repr=False, compare=False)

    def identify(self, texts: Sequence[str]) -> list[str | None]:
        """Return the label of each text; None for one without letters, or without a label."""
        label_by_text = {
            text: self.classify(replace_lone_surrogates(text)) if LETTER.search(text) else None
            for text in dict.fromkeys(texts)
        }
        return [label_by_text[text] for text in texts]

    def in_language(self, texts: Sequence[str], labels: Collection[str]) -> list[bool | None]:
        """Return whether each text has one of some labels; None for one without letters."""
        return [
            label in labels if LETTER.search(text) else None
            for text, label in zip(texts, self.identify(texts), strict=True)
        ]


def missing_package() -> str | None:
    """Return the distribution that has to be installed; None if nothing has."""
    return None if find_spec("fasttext") else FASTTEXT


@cache
def load_fasttext(file: str) -> Identifier:
    """Load a fastText model, once per process.

    Raises:
        ImportError: If the package is missing.
        ValueError: If the file is not a fastText model of labels.
        OSError: If the file cannot be read.
    """
    import fasttext

    path, digest = Path(file), hashlib.sha256()
    with path.open("rb") as opened:
        while block := opened.read(1 << 20):
            digest.update(block)
    model = fasttext.load_model(str(path))

    def predict(text: str, count: int, threshold: float) -> list[str]:
        # fastText reads up to the first line end.
        return [str(x) for x in model.predict(" ".join(text.split()), count, threshold)[0]]

    labels = predict("a", -1, -1.0)
    if not labels or not all(label.startswith(_PREFIX) for label in labels):
        raise ValueError(f"{path} is not a fastText model of labels")

    def classify(text: str) -> str | None:
        predicted = predict(text, 1, 0.0)
        return predicted[0].removeprefix(_PREFIX) if predicted else None

    return Identifier(
        f"{path.name}@{digest.hexdigest()[:12]}",
        frozenset(label.removeprefix(_PREFIX) for label in labels),
        classify,
    )
