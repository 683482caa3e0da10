"""The languages of this project: their names, order, groups, and what models call them.

What is known of each stands in its row of `languages.yaml` (`xling_metrics.languages`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping

from xling_metrics.languages import KNOWN, Language, known

from xling_tasks.errors import SettingError

LANGUAGES = {code: row for code, row in KNOWN.items() if row.ours}
"""The languages of our prompts and of arXiv:2505.21999, by code."""

OTHER_LANGUAGES = {code: row for code, row in KNOWN.items() if not row.ours}
"""Further languages of users' own data: name, and code of NLLB-200 where that has them."""


def _grouped(*names: str, kind: Callable[[Language], str]) -> dict[str, tuple[str, ...]]:
    """The languages other than English by group, groups in the order of the tables."""
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


def stop_texts(code: str) -> list[str]:
    """Texts at which an answer ends because the model asks itself the next question.

    These are the word for 'Question:' in English and in the question's language, as our prompts
    write it, at the beginning of a line.
    """
    rows = (KNOWN["en"], known_language(code))
    return list(dict.fromkeys(f"\n{row.question}" for row in rows if row and row.question))


def find(code: str, names: Mapping[str, str] | None = None) -> Language:
    """The language of a code such as `iw`, `he` or `zh-CN`.

    Args:
        code: The code.
        names: Code -> name of languages that only a user's own data know.

    Raises:
        SettingError: If translators here do not know it.
    """
    language = known_language(code)
    if language is None and names and code in names:
        return Language(code, names[code], "")
    if language is None:
        raise SettingError(
            f"translator: language {code!r} is not known to it. Name a model of the harness that "
            "may know it, or a file of translations; or leave the language out, with "
            "--metadata languages=..."
        )
    return language


def unknown_names(names: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """(code, name) of the languages that only a user's own data know."""
    return tuple(sorted(pair for pair in names.items() if known_language(pair[0]) is None))


def known_language(code: str) -> Language | None:
    """The language of a code such as `sw` or `pt-BR`, of ours or of the others; None if unknown."""
    return known(code)


def first_in(vocabulary: Container[str], form: str, language: Language) -> str | None:
    """The first of a language's codes that a model has a token for.

    Args:
        vocabulary: The model's tokens.
        form: How it writes a code as a token, with `{}` for the code: `<2{}>`.
        language: The language.
    """
    tokens = (form.format(alias) for alias in language.aliases)
    return next((token for token in tokens if token in vocabulary), None)


def side_covers(label: str, language: Language) -> bool:
    """Whether one side of a Marian model (`es`, `zho`, `cat+spa`, `ROMANCE`) has a language."""
    parts = {label, *re.split(r"[+_]", label)}
    return any(
        part in language.aliases
        or part.lower() in language.marian
        or (part.lower() == "mul" and language.ours)
        for part in parts
    )


def language_name(code: str) -> str:
    """A language's English name; the code itself where it is not known."""
    language = known_language(code)
    return _NAMED.get(code, code) if language is None else language.name


_NAMED: dict[str, str] = {}
"""Code -> name of languages that only users' own data know, by the results that were read."""

_NAME = re.compile(r"[^\W\d_][\w '’()-]{1,59}")


def name_languages(names: object) -> None:
    """Take names of languages from what results record (`language_names`); others are left."""
    for code, name in names.items() if isinstance(names, Mapping) else ():
        if not isinstance(code, str) or not isinstance(name, str) or known_language(code):
            continue
        if _NAME.fullmatch(name) and name != nameless(code):
            _NAMED[code] = name


def nameless(code: str) -> str:
    """What prompts call a language whose name is not known."""
    return f"the language with the code {code}"


_FIRST = ("en", "es", "zh", "hi")


def rank(code: str) -> tuple[int, str, str]:
    """What languages are sorted by: XLingHealth's as its papers have them, then others by name."""
    return (_FIRST.index(code) if code in _FIRST else len(_FIRST), language_name(code), code)


def in_order(codes: Iterable[str]) -> list[str]:
    """Languages in the one order of every table, picture and page."""
    return sorted(codes, key=rank)
