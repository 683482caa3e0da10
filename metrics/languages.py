"""What is known of each language: a row of `languages.yaml`, beside this module.

Nothing else in the project keeps a table of languages, but for the phrases that replies are read by
(a file per language) and the texts of data sets and prompts. A language is added by adding its row.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import regex
import yaml

# ISO 15924 codes of scripts -> the names that Unicode has for them.
SCRIPTS = {
    "Arab": ("Arabic",), "Armn": ("Armenian",), "Beng": ("Bengali",), "Cans": (
    "Canadian_Aboriginal",), "Cher": ("Cherokee",), "Cyrl": ("Cyrillic",), "Deva": ("Devanagari",),
    "Ethi": ("Ethiopic",), "Geor": ("Georgian",), "Grek": ("Greek",), "Gujr": ("Gujarati",),
    "Guru": ("Gurmukhi",), "Hang": ("Hangul",), "Hans": ("Han",), "Hant": ("Han",),
    "Hebr": ("Hebrew",), "Jpan": ("Han", "Hiragana", "Katakana"), "Khmr": ("Khmer",),
    "Knda": ("Kannada",), "Laoo": ("Lao",), "Latn": ("Latin",), "Mlym": ("Malayalam",),
    "Mong": ("Mongolian",), "Mymr": ("Myanmar",), "Nkoo": ("Nko",), "Olck": ("Ol_Chiki",),
    "Orya": ("Oriya",), "Sinh": ("Sinhala",), "Syrc": ("Syriac",), "Taml": ("Tamil",),
    "Telu": ("Telugu",), "Tfng": ("Tifinagh",), "Thaa": ("Thaana",), "Thai": ("Thai",),
    "Tibt": ("Tibetan",), "Vaii": ("Vai",), "Yiii": ("Yi",),
}  # fmt: skip
"""The scripts that are known."""

_OLD_CODES = {"iw": "he", "in": "id", "jw": "jv"}


class Language(NamedTuple):
    """A language, as its row has it.

    Attributes:
        code: Our two-letter code (three where there are no two); Hebrew is `he`.
        name: Its English name.
        nllb: Its code in NLLB-200, or made like it: ISO 639-3 and the usual script; empty for a
            language that only a user's own data know.
        others: Further codes that MADLAD-400 or Marian models use (`aliases` in the file).
        members: Codes that identifiers give to it too: of its macrolanguage's members without a
            two-letter code of their own, or of another name of the same language.
        ours: Whether it is one of the 31 of our prompts and of arXiv:2505.21999.
        script_group: Its group by script in arXiv:2505.21999; empty for English and all others.
        family: Its family there (Table 12).
        branch: Its linguistic branch; `other` has the branches with one language among the 31.
        marian: Groups by which Marian models name one of their sides (ISO 639-5).
        scripts: ISO 15924 codes of its scripts, where there are several.
        letters: Unicode names of the scripts of its words, where they are not those of `scripts`.
        density: Characters that say what one of English says; measured on XLingHealth for zh, es
            and hi, estimated from the scripts elsewhere.
        near: Languages that langid takes texts of this one for, even at 60 letters.
        country: The code of a country by which some files call it.
        segmenter: Distributions that cut it into words; None where spaces do, and empty where
            nothing here can (`words` in the file).
        unspaced: Whether sentences follow each other without a space.
        question: How it writes 'Question:' before a question, in prompts and when a model goes on
            with one of its own; empty where no prompt has it.
        answer: The same for 'Answer:'.
        only_verdict: What asks for Yes or No and nothing else, where a first reply was unread; in
            English where it is empty.
        declines: A pattern that whoever declines in it uses; empty where none was written.
        negates: A pattern of its words for no, not, without, except; empty likewise.
    """

    code: str
    name: str
    nllb: str
    others: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    ours: bool = False
    script_group: str = ""
    family: str = ""
    branch: str = ""
    marian: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    letters: tuple[str, ...] = ()
    density: float = 1.1
    near: tuple[str, ...] = ()
    country: str = ""
    segmenter: tuple[str, ...] | None = None
    unspaced: bool = False
    question: str = ""
    answer: str = ""
    only_verdict: str = ""
    declines: str = ""
    negates: str = ""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Every code it may have outside NLLB, ours first."""
        return (self.code, self.nllb[:3], *self.others)

    @property
    def script(self) -> str:
        """ISO 15924 code of its usual script; empty where it is not known."""
        return self.nllb.partition("_")[2]

    @property
    def unicode_scripts(self) -> tuple[str, ...]:
        """Unicode names of all its scripts."""
        codes = self.scripts or (self.script,)
        return self.letters or tuple(
            dict.fromkeys(name for code in codes for name in SCRIPTS.get(code, ()))
        )

    @property
    def has_own_script(self) -> bool:
        """Whether a foreign word shows by its letters: one script, and not Latin."""
        kinds = {SCRIPTS.get(code) for code in self.scripts or (self.script,)} - {None}
        return len(kinds) == 1 and kinds != {SCRIPTS["Latn"]}


_FILE = Path(__file__).with_name("languages.yaml")
_RENAMED = {"aliases": "others", "words": "segmenter"}


def _row(code: str, fields: dict[str, Any]) -> Language:
    named = {_RENAMED.get(key, key): value for key, value in fields.items()}
    unknown = named.keys() - set(Language._fields)
    if unknown or not {"name", "nllb"} <= named.keys():
        what = f"unknown field {min(unknown)!r}" if unknown else "a row needs name and nllb"
        raise ValueError(f"{_FILE}, {code}: {what}")
    fixed: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in named.items()}
    return Language(code, **fixed)


def _read() -> dict[str, Language]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    rows = yaml.load(_FILE.read_text(encoding="utf-8"), loader)
    return {code: _row(code, fields) for code, fields in rows.items()}


KNOWN = _read()
"""Every language by its code."""


def language_code(language: str) -> str:
    """The two-letter code: `zh-CN` and `zh_Hant` give `zh`, the old `iw` gives `he`."""
    code = language.lower().replace("_", "-").split("-")[0]
    return _OLD_CODES.get(code, code)


def known(language: str) -> Language | None:
    """The row of a code such as `sw` or `pt-BR`; None for one that has no row."""
    return KNOWN.get(language_code(language))


@cache
def letters_of(scripts: tuple[str, ...]) -> regex.Pattern[str]:
    """The letters of some scripts.

    Args:
        scripts: Unicode names, such as `Devanagari`.
    """
    inside = "".join(rf"\p{{scx={script}}}" for script in scripts)
    return regex.compile(rf"[\p{{L}}&&[{inside}]]", regex.V1)
