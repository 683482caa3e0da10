"""Languages by code, from the rows of `languages.yaml`, and their varieties by tag.

A tag is a language's code followed by a script, a region or both: `zh-Hant`, `pt-BR`, `sr-Latn`. A
variety is a language of its own in data and results. Texts must be in the script of the tag. A
language without a row needs a tag with a script (`dag-Latn`).
"""

from __future__ import annotations

import re
from collections import Counter
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
_OLD_CODES = {"iw": "he", "in": "id", "jw": "jv"}


class Language(NamedTuple):
    """A language or a variety of one.

    Attributes:
        code: Our two-letter code (three where there are no two; Hebrew is `he`); a variety's tag.
        name: Its English name.
        nllb: Its code in NLLB-200, or one of the same form: ISO 639-3 and the usual script.
        other_codes: Further codes that Marian models use (`aliases` in the file).
        members: Codes that identifiers give to it too: of members of its macrolanguage without a
            two-letter code, or of another name of the same language.
        ours: Whether it is one of the 31 of our prompts and of arXiv:2505.21999.
        script_group: Its group by script in arXiv:2505.21999; empty for English and all others.
        family: Its family there (Table 12).
        branch: Its linguistic branch; `other` has the branches with one language among the 31.
        marian: Groups by which Marian models name one of their sides (ISO 639-5).
        scripts: ISO 15924 codes of its scripts, if there are several.
        letters: Unicode names of the scripts of its words, if they are not those of `scripts`.
        density: Characters that carry what one of English does; measured on XLingHealth for zh, es
            and hi, estimated from the scripts elsewhere.
        near: Languages that langid takes texts of this one for, even at 60 letters.
        varieties: English names of varieties, each with its script or region: `BR: Brazilian
            Portuguese`.
        segmenter: Distributions that cut it into words; None where spaces do, empty where none of
            ours can (`words` in the file).
        unspaced: Whether sentences follow each other without a space.
        question: How it writes 'Question:' before a question; empty where no prompt has it.
        answer: How it writes 'Answer:'.
    """

    code: str
    name: str
    nllb: str
    other_codes: tuple[str, ...] = ()
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
    varieties: tuple[tuple[str, str], ...] = ()
    segmenter: tuple[str, ...] | None = None
    unspaced: bool = False
    question: str = ""
    answer: str = ""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Every code that it may have outside NLLB, ours first."""
        codes = (self.code, language_code(self.code), self.nllb[:3], *self.other_codes)
        return tuple(dict.fromkeys(codes))

    @property
    def script(self) -> str:
        """ISO 15924 code of its usual script."""
        return self.nllb.partition("_")[2]

    @property
    def unicode_scripts(self) -> tuple[str, ...]:
        """Unicode names of all its scripts."""
        names = (name for code in self.scripts or (self.script,) for name in SCRIPTS.get(code, ()))
        return self.letters or tuple(dict.fromkeys(names))

    @property
    def has_own_script(self) -> bool:
        """Whether a foreign word shows by its letters: one script, and not Latin."""
        kinds = {SCRIPTS.get(code) for code in self.scripts or (self.script,)} - {None}
        return len(kinds) == 1 and kinds != {SCRIPTS["Latn"]}


def language_code(language: str) -> str:
    """Return the code of a tag: `zh-CN` and `zh_Hant` give `zh`, the old `iw` gives `he`."""
    code = language.lower().replace("_", "-").split("-")[0]
    return _OLD_CODES.get(code, code)


_FILE = Path(__file__).with_name("languages.yaml")
_FIELDS = {"aliases": "other_codes", "words": "segmenter"}  # names in the file that differ


def _read_row(code: str, fields: Any) -> Language:
    location = f"{_FILE}, {code}"
    if not re.fullmatch("[a-z]{2,3}", str(code)) or language_code(code) != code:
        raise ValueError(f"{location}: expected a code of ISO 639-1 or 639-3, in lower case")
    if not isinstance(fields, dict) or not {"name", "nllb"} <= fields.keys():
        raise ValueError(f"{location}: a row is like {{name: Finnish, nllb: fin_Latn}}")
    values: dict[str, Any] = {}
    for key, value in fields.items():
        name = _FIELDS.get(key, key)
        if name not in Language._fields[1:] or key in _FIELDS.values():
            raise ValueError(f"{location}: unknown field {key!r}; see `Language` in languages.py")
        default = () if name == "segmenter" else Language._field_defaults.get(name, "")
        types = {tuple: (list, dict), float: (int, float)}.get(type(default), (type(default),))
        if type(value) not in types or value == "":
            expected = "a list, as in [a, b]" if default == () else f"a value like {default!r}"
            raise ValueError(f"{location}: {key}: expected {expected}, got {value!r:.60}")
        items = value.items() if isinstance(value, dict) else value
        values[name] = tuple(items) if default == () else value
    row = Language(code, **values)
    is_valid_script = SCRIPTS.keys() >= {row.script, *row.scripts}
    if not re.fullmatch("[a-z]{3}_[A-Z][a-z]{3}", row.nllb) or not is_valid_script:
        raise ValueError(
            f"{location}: nllb: expected a code of ISO 639-3 and a script, as in fin_Latn, got "
            f"{row.nllb!r}. Known scripts (SCRIPTS in languages.py): {', '.join(SCRIPTS)}"
        )
    if row.scripts and row.scripts[0] != row.script:
        raise ValueError(f"{location}: scripts: the first has to be that of nllb, {row.script}")
    return row


def _read() -> dict[str, Language]:
    rows = {code: _read_row(code, fields) for code, fields in read_yaml(_FILE).items()}
    code_by_name: dict[str, str] = {}
    for code, row in rows.items():
        for name in (row.name, row.nllb):
            if code_by_name.setdefault(name, code) != code:
                raise ValueError(
                    f"{_FILE}, {code}: {name!r} is already that of {code_by_name[name]}"
                )
        unknown = [other for other in row.near if other not in rows or other == code]
        if unknown:
            raise ValueError(f"{_FILE}, {code}: near: {unknown[0]!r} is not another row")
    return rows


ALL_LANGUAGES = _read()
"""Every language that has a row, by its code."""


def describe_missing_row(code: object) -> str:
    """Describe what to do about a code that has no row, for errors."""
    word = str(code).lower()
    rows = ALL_LANGUAGES.values()
    matches = [row.code for row in rows if word in (*row.aliases, row.name.lower())]
    hint = f"Did you mean {matches[0]!r}? " if matches else ""
    return f"the language {code!r} has no row. {hint}Correct the code, or add a row to {_FILE}"


_TRADITIONAL = ("TW", "HK", "MO")


@cache
def find_language(language: str) -> Language | None:
    """Return the language of a code or tag such as `sw`, `pt_br`, `zh-HK` or `dag-Latn`.

    English is one language in every region. Chinese is traditional in Taiwan, Hong Kong and Macau,
    simplified in every other region. None for a code with neither a row nor a script.
    """
    code, (_, *subtags) = language_code(language), re.split("[-_]", language)
    script = next((tag.title() for tag in subtags if tag.title() in SCRIPTS), "")
    region = next((tag.upper() for tag in subtags if re.fullmatch("[A-Za-z]{2}|[0-9]{3}", tag)), "")
    tag, row = "-".join(filter(None, (code, script, region))), ALL_LANGUAGES.get(code)
    if row is None:
        name = f"the language with the code {code}"
        return Language(tag, name, f"{code}_{script}") if script else None
    if tag == code or code == "en":
        return row
    if code == "zh" and not script:
        script = "Hant" if region in _TRADITIONAL else "Hans"
    names, name = dict(row.varieties), row.name
    if script:
        name = names.get(script) or f"{name} in {SCRIPTS[script][0].replace('_', ' ')} script"
    if region:
        name = names.get(region, f"{name} ({region})")
    row = row._replace(code=tag, name=name)
    if not script:
        return row
    letters = row.letters if set(SCRIPTS[script]) & set(row.letters) else ()
    return row._replace(nllb=f"{row.nllb[:3]}_{script}", scripts=(script,), letters=letters)


def in_script(text: str, language: str) -> bool:
    """Return whether a text is in the script of a tag such as `sr-Latn`; True for a bare code.

    At least half of the letters have to be in the script. Simplified and traditional Chinese share
    their letters: a text is in the other one if three characters or more are only in its character
    set (GB 2312, Big5), and more than in that of the tag.
    """
    row = find_language(language)
    if row is None or row is ALL_LANGUAGES.get(language_code(language)) or not row.scripts:
        return True
    letters = len(_LETTER.findall(text))
    if 2 * len(letter_pattern(row.unicode_scripts).findall(text)) < letters:
        return False
    if row.script not in _CHARACTER_SETS:
        return True
    other = "Hans" if row.script == "Hant" else "Hant"
    counts = Counter(map(_character_set, text))
    return not counts[other] >= 3 or counts[row.script] >= counts[other]


_LETTER = regex.compile(r"\p{L}")
_CHARACTER_SETS = {"Hans": "gb2312", "Hant": "big5"}


@cache
def _character_set(character: str) -> str:
    """Return the only script that has a Chinese character; empty if both have it, or none."""
    scripts = []
    for script, encoding in _CHARACTER_SETS.items():
        try:
            character.encode(encoding)
            scripts.append(script)
        except UnicodeEncodeError:
            pass
    return scripts[0] if len(scripts) == 1 else ""


@cache
def letter_pattern(scripts: tuple[str, ...]) -> regex.Pattern[str]:
    """Return a pattern of the letters of scripts, given by Unicode names such as `Devanagari`."""
    inside = "".join(rf"\p{{scx={script}}}" for script in scripts)
    return regex.compile(rf"[\p{{L}}&&[{inside}]]", regex.V1)
