"""What is odd in users' own data though it can be read: said in the log of a run and by a check."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from xling_tasks.data.cells import natural
from xling_tasks.data.choices import SIGNS, Asked, coincide, plain, signs
from xling_tasks.data.own.rows import Item
from xling_tasks.data.own.tongues import Tongue
from xling_tasks.output import many

_WORDS = """n/a na n.a. n.d. nd s/d none null nil nan nat undefined - -- --- – — . ... … ? ?? ??? x
xx xxx tbd todo tba missing empty blank pending pendente vazio nenhum sem_resposta hakuna"""
_STAND_INS = frozenset(_WORDS.split())
"""What people and programs write into a cell that should be empty; compared in lower case."""


def notes(items: Sequence[Item], tongues: Mapping[str, Tongue]) -> Iterator[str]:
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
    for (code, kind), those in stand_ins(items).items():
        what = kind.replace("_", " ")
        yield (
            f"the {what} in {tongues[code].name} is a stand-in such as 'N/A' and is taken as it is "
            f"({listed(those)}); empty the cell where there is none"
        )
    for code, tongue in tongues.items():
        spoiled = [item.id for item in items if any(map(_SPOILED.search, item.said(code).values()))]
        if spoiled:
            yield (
                f"texts in {tongue.name} look decoded wrongly, with 'Ã©' for 'é' or '\ufffd': "
                f"{listed(spoiled)}; save them anew from where they are right"
            )
    for (one, other), those in _same_answers(items, tongues).items():
        names = f"{tongues[one].name} and {tongues[other].name}"
        yield f"the same answer in {names}: {listed(those)}; is it translated?"
    yield from _about_options(items, tongues)


# UTF-8 that was read as Windows-1252: the first bytes of é, º and of quotation marks, and what
# stands for a second byte there; or the mark for what could not be decoded at all.
_SPOILED = re.compile(
    "[\u00c3\u00c2][\u00a0-\u00bf\u0080-\u009f\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc"
    "\u2020-\u2022\u2026\u2030\u20ac\u2122]|\u00e2\u20ac|\ufffd"
)


def alike_ids(items: Sequence[Item]) -> list[tuple[str, ...]]:
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


def stand_ins(items: Sequence[Item]) -> dict[tuple[str, str], list[str]]:
    """(language, kind of text) -> questions whose text is a stand-in for none."""
    ids: dict[tuple[str, str], list[str]] = {}
    for item in items:
        for code, own in item.texts.items():
            for kind, text in own.items():
                word = "_".join(text.lower().split())
                if not kind.startswith("option_") and word in _STAND_INS:
                    ids.setdefault((code, kind), []).append(item.id)
    return ids


def _same_answers(
    items: Sequence[Item], tongues: Mapping[str, Tongue]
) -> dict[tuple[str, str], list[str]]:
    """Pairs of languages -> questions with a long answer, right or wrong, that is the same."""
    found: dict[tuple[str, str], list[str]] = {}
    for item in items:
        first: dict[str, str] = {}
        for code in tongues:
            said = item.said(code).items()
            texts = {text for kind, text in said if "answer" in kind and len(text) >= _LONG}
            pairs = {(first[text], code) for text in texts if text in first}
            for pair in sorted(pairs):
                found.setdefault(pair, []).append(item.id)
            for text in texts:
                first.setdefault(text, code)
    return found


_LONG = 20
"""Characters; shorter answers ('500 mg') may be the same in every language."""


def _about_options(items: Sequence[Item], tongues: Mapping[str, Tongue]) -> Iterator[str]:
    """Options without right letters, that are the same, or that a language lacks."""
    every = [item.id for item in items if 0 < len(item.correct) == len(item.letters)]
    if every:
        yield f"every option is right: {listed(every)}; of two options such a reply is not readable"
    lone = [item.id for item in items if not item.correct and item.letters]
    if lone:
        yield f"options without right letters in 'correct': {listed(lone)}"
    fewer: dict[str, list[str]] = {}
    for item in items:
        for code in item.texts:
            if 0 < len(item.options(code)) < len(item.letters):
                fewer.setdefault(code, []).append(item.id)
    yield from _about_translations(items, tongues)
    for code, ids in fewer.items():
        yield (
            f"fewer options in {tongues[code].name} than in another language: {listed(ids)}; "
            "guessing would be easier there, so it is not asked in it"
        )


def _about_translations(items: Sequence[Item], tongues: Mapping[str, Tongue]) -> Iterator[str]:
    """What of questions of multiple choice should be looked at, beside the English ones."""
    found: dict[tuple[str, str], list[str]] = {}
    for item in items:
        asked = {
            c: Asked(own.get("question", ""), item.options(c)) for c, own in item.texts.items()
        }
        english = asked.get("en")
        for code, own in asked.items():
            there = frozenset({"coincide"}) if coincide(own) else frozenset()
            same = english and code != "en" and english.options.keys() == own.options.keys()
            if english and same and own.options:
                there = signs(english, own, code)
                if plain(english.question) == plain(own.question):
                    there -= {"untranslated"}  # said of questions in every language
            for sign in there:
                found.setdefault((sign, code), []).append(item.id)
    for (sign, code), ids in found.items():
        yield f"{SIGNS[sign]} in {tongues[code].name}: {listed(ids)}"


def listed(ids: Sequence[str], most: int = 12) -> str:
    """Questions in words."""
    ids = sorted(ids, key=natural)
    shown = ", ".join(ids[:most]) + (f" and {len(ids) - most} more" if len(ids) > most else "")
    return f"question {shown}" if len(ids) == 1 else f"{many(len(ids), 'question')} ({shown})"
