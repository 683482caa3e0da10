"""What is odd in users' own data though it can be read: said in the log of a run and by a check."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from xling_tasks.data.cells import natural
from xling_tasks.data.choices import plain
from xling_tasks.data.custom.questions import Question
from xling_tasks.data.custom.tongues import Tongue
from xling_tasks.output import many


def notes(items: Sequence[Question], tongues: Mapping[str, Tongue]) -> Iterator[str]:
    """A line for each odd thing."""
    for ids in alike_ids(items):
        shown = " and ".join(map(repr, ids))
        yield f"ids {shown} are two questions here; write one id in one way in every row"
    for code, tongue in tongues.items():
        asked = [item for item in items if item.asked(code)]
        shared = any(item.asked("en") for item in asked)
        if asked and not shared and "en" in tongues:
            yield (
                f"no question is in both English and {tongue.name}, so nothing can be compared; "
                "the same question has the same id in every language"
            )
    yield from _coinciding(items, tongues)
    yield from _fewer(items, tongues)


def alike_ids(items: Sequence[Question]) -> list[tuple[str, ...]]:
    """Ids that differ in case, leading zeros, spaces or unseen characters alone."""
    groups: dict[str, list[str]] = {}
    for item in items:
        groups.setdefault(_plain(item.id), []).append(item.id)
    return [tuple(ids) for ids in groups.values() if len(ids) > 1]


def _plain(key: str) -> str:
    key = unicodedata.normalize("NFKC", key).casefold()
    key = "".join(c for c in key if unicodedata.category(c) != "Cf" and not c.isspace())
    key = re.sub(r"^(\d+)\.0+$", r"\1", key)
    return re.sub(r"(?<!\d)0+(?=\d)", "", key)


def _fewer(items: Sequence[Question], tongues: Mapping[str, Tongue]) -> Iterator[str]:
    """Languages that lack an option of a question."""
    fewer: dict[str, list[str]] = {}
    for item in items:
        for code in item.texts:
            if 0 < len(item.options(code)) < len(item.letters):
                fewer.setdefault(code, []).append(item.id)
    for code, ids in fewer.items():
        yield (
            f"fewer options in {tongues[code].name} than in another language: {listed(ids)}; "
            "guessing would be easier there, so it is not asked in it"
        )


def _coinciding(items: Sequence[Question], tongues: Mapping[str, Tongue]) -> Iterator[str]:
    """Languages in which two options of a question read alike."""
    found: dict[str, list[str]] = {}
    for item in items:
        for code in item.texts:
            texts = list(map(plain, item.options(code).values()))
            if len(set(texts)) < len(texts):
                found.setdefault(code, []).append(item.id)
    for code, ids in found.items():
        yield f"two options read alike in {tongues[code].name}: {listed(ids)}"


def listed(ids: Sequence[str], most: int = 12) -> str:
    """Questions in words."""
    ids = sorted(ids, key=natural)
    shown = ", ".join(ids[:most]) + (f" and {len(ids) - most} more" if len(ids) > most else "")
    return f"question {shown}" if len(ids) == 1 else f"{many(len(ids), 'question')} ({shown})"
