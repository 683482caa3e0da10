"""The turns of one conversation, in every language that a row has them in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_metrics.languages import KNOWN, SCRIPTS

from xling_tasks.data.custom.tongues import Scripts, Tongue, tongue
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError

SAMPLE = SAMPLE_FOLDER / "rubric_demo.jsonl"
"""The bundled conversations."""

ROLES = {"user": "User", "assistant": "Assistant", "system": "System"}
"""Who speaks in a turn, and what a plain transcript calls it."""

_OTHER_ROLES = {"developer": "system"}
_COUNTRIES = {row.country: code for code, row in KNOWN.items() if row.country}
"""Codes of countries that translations are found under in place of languages."""

_REGIONS = (
    "ad ae af ag ai al am ao aq ar as au aw ax az ba bb bd be bf bg bh bi bj bl bm bn bo bq br bs "
    "bt bv bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm dz ec ee "
    "eg eh er es et fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk "
    "hm hn hr ht hu id ie il im io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb "
    "lc li lk lr ls lt lu lv ly ma mc md mf mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz "
    "na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs "
    "ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st sv sx sy sz tc td tf tg th tj tk tl "
    "tm tn to tr tt tv tw tz ua ug um us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw"
)
"""ISO 3166-1 codes in small letters, but for words of English such as 'do' and 'me'."""

_ENGLISH = frozenset({"am", "as", "be", "in", "is", "it", "my", "no", "or", "so", "to"})
"""Codes of languages that are words of English: `data_in_us` is hardly Indonesian."""

Turn = Mapping[str, str]
"""`role` and `content`."""


def turns_of(
    where: str, row: Mapping[str, Any], of_file: Tongue | DataError, stated: Scripts
) -> tuple[dict[str, tuple[Turn, ...]], dict[str, Tongue]]:
    """Language -> turns, where each has a text; and all languages in which some turn has one."""
    given = row.get("prompt")
    if not isinstance(given, list) or not given:
        raise DataError(f"{where}: 'prompt' must be a list of turns with role and content")
    info = row.get("translation_info")
    stated_word = info.get("lang") if isinstance(info, Mapping) else None
    of_row = tongue_of(where, "translation_info.lang", stated_word, stated) if stated_word else None
    word = row.get("language", row.get("lang"))
    if word is not None:
        of_file = tongue_of(where, "language", word, stated)
    beside = any(isinstance(turn, Mapping) and "translated_content" in turn for turn in given)
    if of_row is not None and not beside and word is None:
        of_file = of_row  # a file whose contents themselves are the translation
    if word is None:
        of_file, of_row = _original(where, given, of_file, of_row, stated)
    if isinstance(of_file, DataError):
        raise of_file
    texts: dict[str, list[Turn]] = {}
    tongues: dict[str, Tongue] = {}
    for number, turn in enumerate(given, start=1):
        if not isinstance(turn, Mapping):
            raise DataError(f"{where}, turn {number}: expected role and content, got {turn!r:.40}")
        role = turn.get("role")
        role = _OTHER_ROLES.get(role, role) if isinstance(role, str) else role
        if not isinstance(role, str) or role not in ROLES:
            raise DataError(
                f"{where}, turn {number}: unknown role {role!r:.40}; use {', '.join(ROLES)}"
            )
        said: dict[str, tuple[str, str]] = {}
        for name, own, text in _contents(f"{where}, turn {number}", turn, of_file, of_row, stated):
            first = said.setdefault(own.code, (name, text))
            if first != (name, text):
                if first[1] == text:
                    continue
                raise DataError(
                    f"{where}, turn {number}: {first[0]!r} and {name!r} are both {own.name} and "
                    "differ; keep one, or state the language of 'content' in a field 'language'"
                )
            tongues[own.code] = own
            texts.setdefault(own.code, []).append({"role": role, "content": text})
    whole = {code: tuple(own) for code, own in texts.items() if len(own) == len(given)}
    for code, every in whole.items():
        if every[-1]["role"] != "user":
            raise DataError(
                f"{where}: the last turn ({code}) must be the user's; the model answers it"
            )
    return whole, tongues


def _original(
    where: str,
    given: Sequence[Any],
    of_file: Tongue | DataError,
    of_row: Tongue | None,
    stated: Scripts,
) -> tuple[Tongue | DataError, Tongue | None]:
    """The languages of `content` and `translated_content`, where rows do not state the former.

    Where a translation stands beside 'content', the file is called after the translation, and
    'content' is the English that was translated.
    """
    named = {name for turn in given if isinstance(turn, Mapping) for name in turn}
    beside = {
        tongue_of(where, name, name.removeprefix("content_"), stated).code
        for name in named - {"content_id"}
        if isinstance(name, str) and name.startswith("content_")
    }
    if "translated_content" in named:
        if of_row is None and isinstance(of_file, Tongue) and of_file.code != "en":
            of_row = of_file
        beside |= {of_row.code} if of_row is not None else set()
    after_it = isinstance(of_file, DataError) or of_file.code in beside
    english = tongue("en", {})
    if beside and "en" not in beside and after_it and english is not None:
        return english, of_row
    return of_file, of_row


def _contents(
    where: str, turn: Mapping[str, Any], of_file: Tongue, of_row: Tongue | None, stated: Scripts
) -> Iterator[tuple[str, Tongue, str]]:
    """(field, language, text) of everything that a turn says; nothing of an empty text."""
    for name, text in turn.items():
        own = None
        if name == "content":
            own = of_file
        elif name == "translated_content":
            if of_row is None:
                raise DataError(
                    f"{where}: 'translated_content' without 'translation_info': {{'lang': ...}} on "
                    "the row, which says its language"
                )
            own = of_row
        elif name == "content_id":
            raise DataError(
                f"{where}, {name!r}: could be the turn's id or Indonesian; call the one otherwise, "
                "the other 'content_ind'"
            )
        elif name.startswith("content_"):
            own = tongue_of(where, name, name.removeprefix("content_"), stated)
        if own is None or text is None:
            continue
        if not isinstance(text, str):
            raise DataError(
                f"{where}, {name!r}: expected a text, got {text!r:.40}; images and lists of parts "
                "are not asked"
            )
        if text.strip():
            yield name, own, text


def tongue_of(where: str, name: str, word: Any, stated: Scripts) -> Tongue:
    """The language that a field names; it must be known or stated."""
    text = word.strip() if isinstance(word, str) else ""
    named = tongue(_COUNTRIES.get(text.lower(), text), stated) if text else None
    if named is None:
        raise DataError(
            f"{where}, {name!r}: the language {word!r:.40} is not known here; write its ISO 639 "
            'code, or state its script: --metadata \'{"scripts": {"CODE": "Latn"}}\''
        )
    return named


def language_of_file(path: Path, stated: Scripts) -> Tongue | DataError:
    """The language at the end of a file's name (`set_hi.jsonl`, `set-pt_BR`); else English.

    Where it ends in two words that are both languages (`set_my_es`), an error, for rows that do not
    say their language themselves.
    """
    english = tongue("en", {})
    assert english is not None
    if path == SAMPLE:
        return english
    words = re.split(r"[-_. ]+", path.stem)
    last = tongue(_COUNTRIES.get(words[-1].lower(), words[-1]), stated)
    # `zh_Hans_TW`, `zh_Hans`, `pt_BR`: a language with a script, a region, or both.
    for size in (3, 2):
        second = words[-size + 1] if len(words) >= size else ""
        script = second.title() in SCRIPTS
        possible = script or (bool(second) and size == 2)
        named = tongue("-".join(words[-size:]), stated) if possible else None
        if named is None:
            continue
        region = last is None and words[-1] in _REGIONS.split()  # `sw_ke`: `ke` is no language
        if region and words[-size].lower() not in _ENGLISH:
            return named
        if not script and words[-1].islower() and named.code != (last or english).code:
            return DataError(
                f"{path}: its name ends in {'_'.join(words[-size:])!r}, which may be {named.name} "
                f"or {last.name if last else 'no language'}; state it in a field 'language' of "
                "every row, or write a region in capital letters (pt_BR)"
            )
        if script or not words[-1].islower():
            return named
    return last or english


def looks_like_a_language(path: Path, stated: Scripts) -> str:
    """The last word of a file's name, where it may be a code that is not known; else empty."""
    first, *others = re.split(r"[-_. ]+", path.stem)
    word = others[-1] if others else first
    own = language_of_file(path, stated)
    known = isinstance(own, DataError) or own.code != "en" or word.lower() in ("en", "us", "gb")
    return word if others and not known and re.fullmatch(r"[A-Za-z]{2,3}", word) else ""


def transcript(turns: Sequence[Turn]) -> str:
    """A conversation as a text to read; a single question as it is."""
    if len(turns) == 1:
        return turns[0]["content"]
    return "\n\n".join(f"{ROLES[turn['role']]}: {turn['content']}" for turn in turns)
