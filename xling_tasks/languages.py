"""The languages of this project: their names, order, groups, and what models call them.

What is known of each is in its row of `languages.yaml` (`xling_metrics.languages`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from xling_metrics.languages import ALL_LANGUAGES, SCRIPTS, Language, find_language, language_code

from xling_tasks.errors import SettingError

LANGUAGES = {code: row for code, row in ALL_LANGUAGES.items() if row.ours}
"""The languages of our prompts and of arXiv:2505.21999, by code."""


def _group(field: str, names: str) -> dict[str, tuple[str, ...]]:
    """Return the languages other than English by group, in the order of the tables."""
    rows = LANGUAGES.items()
    return {
        name: tuple(code for code, row in rows if getattr(row, field) == name)
        for name in names.split()
    }


SCRIPT_GROUPS = _group("script_group", "latin indic perso_arabic other")
"""The languages other than English by script, as arXiv:2505.21999 groups them."""

FAMILY_GROUPS = _group("family", "romance slavic indo_aryan dravidian other")
"""The same languages by family as arXiv:2505.21999 (Table 12) groups them.

German and Dutch, which are Germanic, count as Romance there, and Persian, which is Iranian, as
Indo-Aryan. These groups stand beside the paper's figures; `BRANCH_GROUPS` has the linguists'.
"""

BRANCH_GROUPS = _group("branch", "romance germanic slavic indo_aryan dravidian other")
"""The same languages by linguistic branch; `other` has the branches with one language here."""


_BY_NAME = {
    word.lower().replace("_", "-").replace(" ", "-"): code
    for names in (
        lambda row: {*row.members} - {*ALL_LANGUAGES},  # of a macrolanguage
        lambda row: (
            *(x for x in row.other_codes if "_" not in x),
            row.nllb,
            row.nllb[:3],
            row.name,
        ),
    )
    for row in reversed(ALL_LANGUAGES.values())
    for word, code in (
        *((name, row.code) for name in names(row)),
        *((name, f"{row.code}-{subtag}") for subtag, name in row.varieties),
    )
}
_SUBTAG = re.compile("[a-z]{2}|[0-9]{3}|" + "|".join(SCRIPTS).lower())


def language_of(word: str) -> Language | None:
    """Return the language or variety that a code, a tag or an English name stands for.

    Returns:
        None for what is none of them. A code that has no row needs a script: `dag-Latn`.
    """
    tag = re.sub(r"[\s_-]+", "-", word.strip().lower())
    code, *subtags = _BY_NAME.get(tag, tag).lower().split("-")
    code = code if code in ALL_LANGUAGES else _BY_NAME.get(code, code)
    if not re.fullmatch("[a-z]{2,3}", code) or not all(map(_SUBTAG.fullmatch, subtags)):
        return None
    return find_language("-".join([code, *subtags]))


def stop_texts(code: str) -> list[str]:
    """Return texts at which an answer ends because the model asks itself the next question.

    These are lines that begin with `Question:` in English or in the question's language.
    """
    rows = (ALL_LANGUAGES["en"], find_language(code))
    return list(dict.fromkeys(f"\n{row.question}" for row in rows if row and row.question))


def find(code: str) -> Language:
    """Return the language of a code such as `iw` or `zh-CN`; raise a SettingError if unknown."""
    language = find_language(code)
    if language is None:
        raise SettingError(
            f"translator: language {code!r} is not known to it. Name a model of the harness that "
            "may know it, or leave the language out, with --metadata languages=..."
        )
    return language


def language_name(code: str) -> str:
    """Return a language's English name; the code or tag itself where it has no row."""
    language = find_language(code) if language_code(code) in ALL_LANGUAGES else None
    return _NAMES.get(code, code) if language is None else language.name


_NAMES: dict[str, str] = {}
"""Names of languages as other projects' tasks write them (`hin_Latn`)."""


def add_names(names: Mapping[str, str]) -> None:
    """Add names of languages that have no row: code -> name."""
    _NAMES.update(names)


_FIRST = ("en", "es", "zh", "hi")


def rank(code: str) -> tuple[int, str, str]:
    """Return the key to sort languages: XLingHealth's in its papers' order, then by name."""
    return (_FIRST.index(code) if code in _FIRST else len(_FIRST), language_name(code), code)


def in_order(codes: Iterable[str]) -> list[str]:
    """Sort languages in the one order of every table and page."""
    return sorted(codes, key=rank)
