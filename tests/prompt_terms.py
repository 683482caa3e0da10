"""The term lists of the bundled texts, and the words by which each language denies.

`cases/terms/concepts.tsv` says by a pattern where the English has a concept; `cases/terms/CODE.tsv` says which
word a language has for it, how that word is told in a text, and on which page it is used in that sense.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import regex

FOLDER = Path(__file__).parent / "cases" / "terms"


class Term(NamedTuple):
    """A language's word for a concept."""

    pattern: regex.Pattern[str]
    """Found in every text, in lower case, whose English has the concept."""
    word: str
    """As a patient meets it in a leaflet."""
    source: str
    """Address of a page that uses it so; empty for everyday words, and where none was found."""


@cache
def concepts() -> dict[str, regex.Pattern[str]]:
    """Each concept -> its pattern in English, in lower case."""
    return {
        concept: regex.compile(pattern) for concept, pattern in rows(FOLDER / "concepts.tsv", 2)
    }


@cache
def terms(code: str) -> dict[str, Term]:
    """Each concept -> the term of a language."""
    return {
        concept: Term(regex.compile(pattern), word, source)
        for concept, pattern, word, source in rows(FOLDER / f"{code}.tsv", 4)
    }


def rows(file: Path, n_columns: int, n_keys: int = 1) -> list[list[str]]:
    """The lines of a table; what its first `n_keys` columns hold stands there once."""
    own = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]
    assert {len(row) for row in own} == {n_columns}, file
    assert len({tuple(row[:n_keys]) for row in own}) == len(own), file
    return own


NEGATIONS = {
    "ar": "لا|لم|لن|ليس|غير|بلا|بدون|دون|ما |لست",
    "bn": "না|নেই|নি|নয়|ছাড়া",
    "cs": "\\bn[ei]|\\bbez|žádn|nikd",
    "de": "nicht|kein|nie|ohne|nichts|\\bun",
    "el": "δεν|μη|χωρίς|ποτέ|τίποτα|κανέ|όχι|καμ",
    "es": "\\bno\\b|\\bsin\\b|nunca|nada|nadie|ning|ni\\b",
    "fa": "ن|بدون|هیچ|بی",
    "fr": "\\bne?\\b|n'|sans|jamais|pas|rien|aucun|inefficac",
    "gu": "ન|વગર|નથી",
    "he": "לא|אין|בלי|אינ|ללא|אף|שום|אסור",
    "hi": "नहीं|ना|न |बिना|मत|बग़ैर",
    "id": "tidak|gak |bukan|tanpa|jangan|belum|tak|kurang",
    "it": "\\bnon\\b|senza|mai|nient|nessun|nulla|né|\\bno\\b",
    "ja": "な[いくかけ]|ません|ず|ぬ|無|未|不|なし",
    "kn": "ಲ್ಲ|ಬೇಡ|ದೆ|ಬಾರ|ರದ|ಆಗದ|ದ |ದವ",
    "ko": "안 |않|못|없|아니|말|지 마|싫|든|모르|몰라",
    "ml": "ില്ല|ല്ല|ാതെ|ാത്ത|രുത്|വയ്യ|വേണ്ട|ാതിരി",
    "nl": "niet|geen|nooit|zonder|niks|nergens|niemand",
    "pa": "ਨਹੀਂ|ਨਾ|ਬਿਨਾਂ|ਨ ",
    "pl": "\\bnie|bez|nikt|nigdy|nic|żadn",
    "pt": "\\bnão\\b|sem|nunca|nada|ningu|nem|nenh",
    "ro": "\\bnu\\b|n-|fără|nici|nimic|nimeni|\\bne",
    "ru": "\\bн[еи]|без|нет|никогда|нельзя",
    "ta": "ில்ல|ாமல்|ாத|ல்ல|ாது|கூடாது|முடியவில்லை|வேண்டாம்|மாட்ட|ாவி|யலை",
    "te": "లే|కాదు|దు|కుండా|వద్దు|ని |ను",
    "th": "ไม่|มิ|อย่า|ไร้|เปล่า|ห้าม",
    "tr": "m[aeıiuü]|değil|yok|s[ıiuü]z",
    "ur": "نہیں|نہ|بغیر|مت|بے",
    "vi": "không|chưa|chẳng|đừng|chả",
    "zh": "不|没|未|无|别|非|怕",
}
"""What denies or forbids; wide, so a text that has none of it has lost its 'not'."""
