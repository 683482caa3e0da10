"""What is known of each language: a row of `languages.yaml`, beside this module.

Nothing else in the project keeps a table of languages, but for the phrases that replies are read by
(a file per language) and the texts of data sets and prompts. A language is added by adding its row.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import regex
from xling_metrics.yaml_file import read_yaml

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


def language_code(language: str) -> str:
    """The two-letter code: `zh-CN` and `zh_Hant` give `zh`, the old `iw` gives `he`."""
    code = language.lower().replace("_", "-").split("-")[0]
    return _OLD_CODES.get(code, code)


_FILE = Path(__file__).with_name("languages.yaml")
_RENAMED = {"aliases": "others", "words": "segmenter"}
_IN_FILE = {name: key for key, name in _RENAMED.items()}


def _row(code: str, fields: Any) -> Language:
    where = f"{_FILE}, {code}"
    if not re.fullmatch("[a-z]{2,3}", code) or language_code(code) != code:
        raise ValueError(
            f"{where}: a language is known by its two letters of ISO 639-1, or three of 639-3, in "
            "lower case"
        )
    if not isinstance(fields, dict):
        raise ValueError(f"{where}: a row is like {{name: Finnish, nllb: fin_Latn}}")
    unknown = fields.keys() - {_IN_FILE.get(name, name) for name in Language._fields[1:]}
    if unknown or not {"name", "nllb"} <= fields.keys():
        what = f"unknown field {min(unknown)!r}" if unknown else "a row needs name and nllb"
        raise ValueError(f"{where}: {what}; `Language` in languages.py has all fields")
    fixed: dict[str, Any] = {}
    for key, value in fields.items():
        name = _RENAMED.get(str(key), str(key))
        default = () if name == "segmenter" else Language._field_defaults.get(name)
        _check_type(f"{where}: {key}", value, default)
        fixed[name] = tuple(value) if isinstance(value, list) else value
    return _with_scripts(where, Language(code, **fixed))


def _check_type(where: str, value: Any, default: Any) -> None:
    """Raise for a value of another kind than the field's: text, true or false, number, list."""
    if isinstance(default, bool):
        right, kind = isinstance(value, bool), "true or false"
    elif isinstance(default, float):
        right = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 1.5
        kind = "a number between 0 and 1.5"
    elif isinstance(default, tuple):
        right = isinstance(value, list) and all(isinstance(item, str) for item in value)
        kind = "a list, as in [a, b]"
    else:
        right, kind = isinstance(value, str) and bool(value.strip()), "a text"
    if not right:
        raise ValueError(f"{where}: expected {kind}, got {value!r:.60}")


def _with_scripts(where: str, row: Language) -> Language:
    if not re.fullmatch("[a-z]{3}_[A-Z][a-z]{3}", row.nllb):
        raise ValueError(
            f"{where}: nllb: expected a code of ISO 639-3 and a script, as in fin_Latn, got "
            f"{row.nllb!r}"
        )
    unknown = [script for script in (row.script, *row.scripts) if script not in SCRIPTS]
    if unknown:
        raise ValueError(
            f"{where}: the script {unknown[0]!r} is not known. Known: {', '.join(SCRIPTS)}; "
            "another is added to SCRIPTS in languages.py, with Unicode's name for it"
        )
    if row.scripts and row.scripts[0] != row.script:
        raise ValueError(f"{where}: scripts: the first is that of nllb, {row.script}")
    return row


def _read() -> dict[str, Language]:
    rows = {code: _row(code, fields) for code, fields in read_yaml(_FILE).items()}
    names: dict[str, str] = {}
    for code, row in rows.items():
        for what in (row.name, row.nllb):
            if names.setdefault(what, code) != code:
                raise ValueError(
                    f"{_FILE}, {code}: {what!r} is {names[what]}'s already; no two languages share "
                    "a name or an nllb"
                )
        unknown = [other for other in row.near if other not in rows or other == code]
        if unknown:
            raise ValueError(f"{_FILE}, {code}: near: {unknown[0]!r} is no other row of the file")
    return rows


KNOWN = _read()
"""Every language by its code."""


def no_row(code: object) -> str:
    """What to do about a code that has no row, for errors."""
    word = str(code).lower()
    meant = [row.code for row in KNOWN.values() if word in (*row.aliases, row.name.lower())]
    hint = f"Did you mean {meant[0]!r}? " if meant else ""
    return f"the language {code!r} has no row. {hint}Mend the code, or add a row to {_FILE}"


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
