"""The texts of a run that scoring translates to English."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.criteria import CRITERIA, ENGLISH, Place
from xling_tasks.errors import DataError
from xling_tasks.logs.results import newest_samples
from xling_tasks.scorers.values import replies_of

TRANSLATED = tuple(key for key, own in CRITERIA.items() if "translator" in own.settings)
"""The criteria whose answers are translated to English."""

_HINT = (
    "Answers are translated for consistency, information and empathy; give the --output_path of a "
    "run of theirs with --log_samples (--predict_only will do)"
)


class Text(NamedTuple):
    """A text to translate.

    Attributes:
        language: Code of its language.
        text: The text, without white space around it.
        target: Code of the language wanted.
    """

    language: str
    text: str
    target: str = ENGLISH

    @property
    def id(self) -> str:
        """What tells it from others: a digest of all three."""
        plain = "\0".join((self.language, self.target, self.text))
        return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def row(self) -> dict[str, str]:
        """The line of a file; the translation is still empty."""
        named = {"id": self.id, "language": self.language, "target": self.target}
        return {**named, "text": self.text, "translation": ""}


def texts_of(out: Path) -> tuple[list[Text], dict[str, int]]:
    """Every text of a run that scoring translates, once; by language, in the order of the samples.

    Args:
        out: A folder that `lm_eval --output_path` wrote.

    Returns:
        The texts, and language -> how many answers they are.

    Raises:
        DataError: If there is none, or a file is broken.
    """
    distinct: dict[Text, None] = {}
    answers: dict[str, int] = {}
    for place, samples in newest_samples(out, TRANSLATED):
        if place.language == ENGLISH:
            continue

        def read(row: dict[str, Any], place: Place = place) -> list[Text]:
            return list(_in_sample(row, place))

        for _, texts in samples.stream(read, hint=_HINT):
            for text in texts:
                distinct[text] = None
                answers[text.language] = answers.get(text.language, 0) + 1
    if not distinct:
        raise DataError(f"{out}: no answers that scoring would translate. {_HINT}")
    order = {code: at for at, code in enumerate(answers)}
    return sorted(distinct, key=lambda text: order[text.language]), answers


def _in_sample(row: Mapping[str, Any], place: Place) -> Iterator[Text]:
    """The answers of a sample that were not asked for in English."""
    results = row["filtered_resps"]
    codes = [place.language] * len(results)
    if CRITERIA[place.criterion].several_languages:
        codes = list(row["doc"]["text"])
        codes += [ENGLISH] * (len(results) == len(codes) + 1)  # English, answered again
    for code, result in zip(codes, results, strict=True):
        for reply in replies_of(result):
            if code != ENGLISH and reply.strip():
                yield Text(code, str(reply).strip())
