"""The files of phrases, one a language: a line in them that would do nothing is an error."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from xling_metrics.languages import KNOWN, no_row
from xling_metrics.yaml_file import TEXT, YamlError, read_yaml

from xling_tasks.errors import DataError, did_you_mean
from xling_tasks.readers.kinds import KINDS_IN, PHRASES
from xling_tasks.readers.plain import one_form

FOLDER = Path(__file__).with_name("phrases")
VERDICT = "verdict"
_CHOICE = re.compile(r"\(([^()]*\|[^()]*)\)")
PARTS = ("", VERDICT)
"""Phrases for letters, at the left of a file, and for Yes and No, below `verdict:`."""


@functools.lru_cache(maxsize=1)
def phrases() -> Mapping[str, Mapping[str, Any]]:
    """Language to kind to phrases (`verdict` to such a mapping of its own), as the files say.

    Raises:
        DataError: Naming file and kind, for a file named after no language, an unknown kind, or
            anything but a list of texts.
    """
    return {path.stem: _read(path) for path in sorted(FOLDER.glob("*.yaml"))}


def expanded(phrase: str) -> Iterator[str]:
    """All that a phrase stands for: '(i|we) (will|) choose' are four."""
    parts = [
        part.split("|") if place % 2 else [part] for place, part in enumerate(_CHOICE.split(phrase))
    ]
    return (" ".join("".join(words).split()) for words in itertools.product(*parts))


def of_part(kinds: Mapping[str, Any], part: str) -> Mapping[str, list[str]]:
    """The lists of one part of a file, with all that their phrases stand for."""
    own = kinds.get(part, {}) if part else {k: v for k, v in kinds.items() if k != VERDICT}
    return {
        kind: [*dict.fromkeys(itertools.chain.from_iterable(map(expanded, texts)))]
        for kind, texts in own.items()
    }


def twice() -> Iterator[str]:
    """A line for each phrase that stands twice in one part of a file: only the first counts."""
    for language, kinds in phrases().items():
        for part in PARTS:
            first: dict[str, str] = {}
            for kind, texts in of_part(kinds, part).items():
                for text in texts if kind in PHRASES else ():
                    plain = one_form(text.casefold())
                    if plain in first:
                        yield (
                            f"{FOLDER / language}.yaml: {part and part + ': '}{text!r} stands in "
                            f"{first[plain]} and in {kind}; only the first counts, so keep one"
                        )
                    first.setdefault(plain, kind)


def _read(path: Path) -> Mapping[str, Any]:
    if path.stem not in KNOWN:
        raise DataError(f"{path}: {no_row(path.stem)}")
    try:
        content = read_yaml(path, TEXT)
    except YamlError as error:
        raise DataError(str(error)) from error
    if not isinstance(content, Mapping):
        raise DataError(f"{path}: expected kinds of phrases with their lists, got {content!r:.40}")
    _check(str(path), "", content)
    return content


def _check(path: str, part: str, content: Any) -> None:
    where = f"{path}: {part}" if part else path
    if not isinstance(content, Mapping):
        raise DataError(f"{where}: expected kinds with their lists, got {content!r:.40}")
    for kind, texts in content.items():
        if (part, kind) == ("", VERDICT):
            _check(path, VERDICT, texts)
        elif kind not in KINDS_IN[part]:
            elsewhere = kind in KINDS_IN["" if part else VERDICT]
            told = f" It stands {'at the left, not ' if part else ''}below {VERDICT}:."
            raise DataError(
                f"{where}: unknown kind {kind!r}."
                f"{told if elsewhere else did_you_mean(kind, KINDS_IN[part])}"
            )
        elif not isinstance(texts, list) or not all(
            isinstance(text, str) and text.strip(" *") for text in texts
        ):
            raise DataError(f"{where}: {kind}: expected a list, as in [a, b], got {texts!r:.60}")
        elif wrong := [text for text in texts if "|" in "".join(expanded(text))]:
            raise DataError(
                f"{where}: {kind}: expected '(a|b) c' for two phrases, got {wrong[0]!r}"
            )
