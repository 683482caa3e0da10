"""The languages of this project: their names, order, groups, and what models call them.

What is known of each is in its row of `languages.yaml` (`xling_metrics.languages`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping

from xling_metrics.languages import ALL_LANGUAGES, SCRIPTS, Language, find_language, language_code

from xling_tasks.errors import SettingError

LANGUAGES = {code: row for code, row in ALL_LANGUAGES.items() if row.ours}
"""The languages of our prompts and of arXiv:2505.21999, by code."""


def _grouped(*names: str, kind: Callable[[Language], str]) -> dict[str, tuple[str, ...]]:
    """Return the languages other than English by group, in the order of the tables."""
    return {
        name: tuple(code for code, row in LANGUAGES.items() if kind(row) == name) for name in names
    }


SCRIPT_GROUPS = _grouped(
    "latin", "indic", "perso_arabic", "other", kind=lambda row: row.script_group
)
"""The languages other than English by script, as arXiv:2505.21999 groups them."""

FAMILY_GROUPS = _grouped(
    "romance", "slavic", "indo_aryan", "dravidian", "other", kind=lambda row: row.family
)
"""The same languages by family as arXiv:2505.21999 (Table 12) groups them.

German and Dutch, which are Germanic, count as Romance there, and Persian, which is Iranian, as
Indo-Aryan. These groups stand beside the paper's figures; `BRANCH_GROUPS` has the linguists'.
"""

BRANCH_GROUPS = _grouped(
    *("romance", "germanic", "slavic", "indo_aryan", "dravidian", "other"),
    kind=lambda row: row.branch,
)
"""The same languages by linguistic branch; `other` has the branches with one language here."""


_BY_NAME = {
    word.lower().replace("_", "-").replace(" ", "-"): code
    for names in (
        lambda row: row.members,  # of a macrolanguage
        lambda row: (*(x for x in row.other_codes if "_" not in x), row.nllb[:3], row.name),
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
    code = _BY_NAME.get(code, code)
    if not re.fullmatch("[a-z]{2,3}", code) or not all(map(_SUBTAG.fullmatch, subtags)):
        return None
    return find_language("-".join([code, *subtags]))


def stop_texts(code: str) -> list[str]:
    """Return texts at which an answer ends because the model asks itself the next question.

    These are the word for 'Question:' in English and in the question's language, as our prompts
    write it, at the beginning of a line.
    """
    rows = (ALL_LANGUAGES["en"], find_language(code))
    return list(dict.fromkeys(f"\n{row.question}" for row in rows if row and row.question))


def find(code: str) -> Language:
    """Return the language of a code such as `iw`, `he` or `zh-CN`, for a translator.

    Raises:
        SettingError: If it is not known.
    """
    language = find_language(code)
    if language is None:
        raise SettingError(
            f"translator: language {code!r} is not known to it. Name a model of the harness that "
            "may know it, or a file of translations; or leave the language out, with "
            "--metadata languages=..."
        )
    return language


def first_in(vocabulary: Container[str], form: str, language: Language) -> str | None:
    """Return the first of a language's codes that a model has a token for.

    Args:
        vocabulary: The model's tokens.
        form: How it writes a code as a token, with `{}` for the code: `<2{}>`.
        language: The language.
    """
    tokens = (form.format(alias) for alias in language.aliases)
    return next((token for token in tokens if token in vocabulary), None)


def side_covers(label: str, language: Language) -> bool:
    """Return whether one side of a Marian model (`es`, `cat+spa`, `ROMANCE`) has a language."""
    parts = {label, *re.split(r"[+_]", label)}
    return any(
        part in language.aliases
        or part.lower() in language.marian
        or (part.lower() == "mul" and language.ours)
        for part in parts
    )


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
