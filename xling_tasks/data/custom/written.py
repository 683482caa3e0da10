"""In which script the texts of users' own data are, column by column."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from xling_metrics.languages import SCRIPTS, known, letters_of
from xling_metrics.words import LETTER

from xling_tasks.data.custom.dataset import CustomDataset
from xling_tasks.data.custom.oddities import listed
from xling_tasks.languages import language_name

KINDS = {"question": "questions", "answer": "answers", "wrong_answer": "wrong answers",
         "option": "options"}  # fmt: skip
"""Kinds of text as they begin in an item -> what they are called."""


@dataclass(frozen=True)
class Texts:
    """The texts of a kind (of `KINDS`), stated to be in a language, by question.

    Options and wrong answers of a question are one text.
    """

    code: str
    kind: str
    of: dict[str, str]

    @property
    def name(self) -> str:
        """What they are, such as `questions stated as Arabic`."""
        return f"{KINDS[self.kind]} stated as {language_name(self.code)}"


def texts_of(data: CustomDataset) -> list[Texts]:
    """All texts by language and kind, in the file's order of languages."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for item in data.questions:
        for code, own in item.texts.items():
            for key, text in own.items():
                found.setdefault((code, _kind(key)), {}).setdefault(item.id, []).append(text)
    return [
        Texts(code, kind, {key: " ".join(parts) for key, parts in found[code, kind].items()})
        for code in data.languages
        for kind in KINDS
        if (code, kind) in found
    ]


@functools.cache
def _kind(key: str) -> str:
    return next((kind for kind in KINDS if key == kind or key.startswith(f"{kind}_")), "")


def in_other_scripts(data: CustomDataset) -> Iterator[str]:
    """Texts that are written in another script than stated."""
    for texts in texts_of(data):
        found = {key: foreign_script(data, texts.code, text) for key, text in texts.of.items()}
        other = {key: script for key, script in found.items() if script}
        # Names of drugs, tests and units are options in any script.
        if other and (texts.kind != "option" or 2 * len(other) > len(texts.of)):
            shown = Counter(other.values()).most_common(1)[0][0]
            yield f"{texts.name} are written in {shown} letters: {listed(list(other))}"


def foreign_script(data: CustomDataset, code: str, text: str) -> str:
    """The script that most letters of a text are in; empty where it is that of its language."""
    row, stated = known(code), data.languages[code]
    right = SCRIPTS.get(stated.script, ())
    if row is not None and stated.script == row.script:
        right = tuple(dict.fromkeys((*right, *row.unicode_scripts)))
    letters = LETTER.findall(text)
    if not right or 2 * len(letters_of(right).findall(text)) >= len(letters):
        return ""
    counts = {name: len(letters_of((name,)).findall(text)) for name in _NAMES}
    most = max(counts, key=lambda name: counts[name])
    return most.replace("_", " ") if counts[most] else "other"


_NAMES = tuple(dict.fromkeys(name for names in SCRIPTS.values() for name in names))
