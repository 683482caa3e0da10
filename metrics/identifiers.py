"""Other identifiers of language than langid: a second opinion, never the published column.

`py3langid` (Barbaresi; a newer model in langid's manner), `lingua` (Stahl; made for short and mixed
texts, slow), or a fastText model in a file, such as GlotLID (Kargaran et al. 2023, some 2,000
languages with their scripts), OpenLID or lid.176 (Joulin et al. 2016, which the Language Confusion
Benchmark takes). Each names languages in its own way; which labels stand for a language is told by
the caller.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from xling_metrics.base import library_version, whole_letters
from xling_metrics.words import LETTER

PACKAGES = {"py3langid": "py3langid", "lingua": "lingua-language-detector"}
"""The identifiers that are packages: name -> distribution; any other name is a fastText file."""

FASTTEXT = "fasttext-predict"
"""The distribution that reads fastText files here; others with a module `fasttext` do too."""

_PREFIX = "__label__"


@dataclass(frozen=True)
class Identifier:
    """An identifier of language.

    Attributes:
        name: What it is, for signatures: `lingua-language-detector:2.1.1`, `file.bin@1a2b3c4d5e6f`
            (the file's name and the beginning of its SHA-256).
        labels: All labels that it gives.
        classify: From texts with letters to their labels; None where it names no language.
    """

    name: str
    labels: frozenset[str]
    classify: Callable[[Sequence[str]], list[str | None]] = field(repr=False, compare=False)

    def identify(self, texts: Sequence[str]) -> list[str | None]:
        """The label of each text; None for one without letters, and where no language is named."""
        distinct = [text for text in dict.fromkeys(texts) if LETTER.search(text)]
        label_of = dict(zip(distinct, self.classify([*map(whole_letters, distinct)]), strict=True))
        return [label_of.get(text) for text in texts]

    def in_language(self, texts: Sequence[str], wanted: Collection[str]) -> list[bool | None]:
        """Whether each text has one of the labels wanted; None for one without letters."""
        return [
            label in wanted if LETTER.search(text) else None
            for text, label in zip(texts, self.identify(texts), strict=True)
        ]


def missing(name: str) -> str | None:
    """The distribution that an identifier needs and that is not installed; None if all is there."""
    module, distribution = (name, PACKAGES[name]) if name in PACKAGES else ("fasttext", FASTTEXT)
    return None if find_spec(module) else distribution


@cache
def identifier(name: str) -> Identifier:
    """Load an identifier, once per process.

    Args:
        name: A key of `PACKAGES`, or the path of a fastText model.

    Raises:
        ImportError: If its package is missing.
        ValueError: If the file is no fastText model.
        OSError: If the file cannot be read.
    """
    if name in PACKAGES:
        labels, classify = _LOADERS[name]()
        return Identifier(f"{PACKAGES[name]}:{library_version(PACKAGES[name])}", labels, classify)
    return _fasttext(Path(name))


def _py3langid() -> tuple[frozenset[str], Callable[[Sequence[str]], list[str | None]]]:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    # Of our own: the global one may have been narrowed by set_languages.
    model = LanguageIdentifier.from_model_file(MODEL_FILE)
    return frozenset(model.labels), lambda texts: [model.classify(text)[0] for text in texts]


def _lingua() -> tuple[frozenset[str], Callable[[Sequence[str]], list[str | None]]]:
    from lingua import Language, LanguageDetectorBuilder

    detector = LanguageDetectorBuilder.from_all_languages().build()
    code_of = {each: each.iso_code_639_1.name.lower() for each in Language.all()}

    owner = os.getpid()

    def classify(texts: Sequence[str]) -> list[str | None]:
        # A forked process has none of the threads that lingua keeps, and would wait for them.
        if os.getpid() == owner:
            languages = detector.detect_languages_in_parallel_of(list(texts)) if texts else []
        else:
            languages = [detector.detect_language_of(text) for text in texts]
        return [None if each is None else code_of[each] for each in languages]

    return frozenset(code_of.values()), classify


_LOADERS = {"py3langid": _py3langid, "lingua": _lingua}


def _fasttext(path: Path) -> Identifier:
    import fasttext

    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
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
