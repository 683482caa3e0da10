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
from xling_metrics.language import deciding_scripts, has_own_script, langid_knows
from xling_metrics.languages import SCRIPTS, find_language, language_code
from xling_metrics.tokenization import LETTER

FASTTEXT = "fasttext-predict"
"""The distribution that reads fastText files; others with a module `fasttext` do too."""

_PREFIX = "__label__"
# Scripts that labels call otherwise.
_SAME_SCRIPT = {"Hani": "Hans", "Hant": "Hans", "Kore": "Hang", "Hrkt": "Jpan"}


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


def labels_for(labels: Collection[str], language: str) -> frozenset[str]:
    """Return the labels of an identifier that stand for a language.

    These are its codes of two and three letters, and those of its macrolanguage's members (Egyptian
    Arabic is Arabic, Cantonese is Chinese; Indonesian, with a code of its own, is no Malay). Where
    labels name a script (`hin_Latn`), it must be the language's: that of its tag, or the usual one
    if the language has one alone. There is none where the identifier does not know the language.
    """
    code, row = language_code(language), find_language(language)
    codes = {code}
    if row is not None:
        codes |= {alias.partition("_")[0] for alias in row.aliases} | {*row.members}
    scripts, usual_row = set(deciding_scripts(language)), find_language(code)
    declared = {script for script, names in SCRIPTS.items() if scripts & set(names)}
    usual = usual_row.script if usual_row is not None else ""
    # Labels without a script mean the usual one.
    is_known = usual_row is not None or langid_knows(code)
    unusual = bool(declared) and usual not in declared and is_known
    allowed = declared or ({usual} if usual and has_own_script(code) else set())

    def means_language(label: str) -> bool:
        label_code, _, script = label.partition("_")
        if label_code not in codes or not script:
            return label_code in codes and not unusual
        return not allowed or _SAME_SCRIPT.get(script, script) in allowed

    return frozenset(filter(means_language, labels))
