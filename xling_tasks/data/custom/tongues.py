"""The languages of users' own data: known ones, and any other code whose script is stated."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xling_metrics.languages import SCRIPTS

from xling_tasks.errors import SettingError, did_you_mean
from xling_tasks.languages import LANGUAGES, OTHER_LANGUAGES, known_language, nameless

_CODE = re.compile(r"[a-z]{2,8}(-[a-z0-9]{2,8})*")
_BY_OTHER_NAME = (
    {
        word: row.code
        for row in (LANGUAGES | OTHER_LANGUAGES).values()
        for word in row.members  # `swa`: of a macrolanguage
    }
    | {
        word: row.code
        for row in reversed((LANGUAGES | OTHER_LANGUAGES).values())
        for word in (row.name.lower().replace(" ", "_"), row.nllb[:3], *row.others)
    }
)


Scripts = Mapping[str, tuple[str, str]]
"""The setting `scripts`: code -> (script, name or empty), of codes that are not known here, or to
correct what is known."""


@dataclass(frozen=True)
class Tongue:
    """A language of a file.

    Attributes:
        code: Its code in results.
        name: Its English name, as prompts say it; of an unknown code without a name, words
            around the code.
        script: ISO 15924 code of its script.
        known: Whether the project knows the code; else its script was stated.
    """

    code: str
    name: str
    script: str
    known: bool = True


def tongue(word: str, stated: Scripts) -> Tongue | None:
    """The language that a column or cell names; None if it is neither known nor stated.

    `word` is a code such as `sw`, `pt-BR`, `swh`, or an English name.
    """
    code = word.strip().lower().replace("_", "-").replace(" ", "-")
    if code in stated:
        script, name = stated[code]
        row = known_language(code)
        if row is not None:
            return Tongue(row.code, name or row.name, script)
        return Tongue(code, name or nameless(code), script, known=False)
    row = known_language(_BY_OTHER_NAME.get(code.replace("-", "_"), ""))
    parts = code.split("-")
    if row is None and all(_SUBTAG.fullmatch(part) for part in parts[1:]):
        row = known_language(parts[0]) or known_language(_BY_OTHER_NAME.get(parts[0], ""))
    if row is None:
        return None
    return Tongue(row.code, row.name, _script(row.code, parts[1:]) or row.script)


def english_first(tongues: Mapping[str, Tongue]) -> dict[str, Tongue]:
    """Languages in their order, but English at the beginning."""
    return {code: tongues[code] for code in sorted(tongues, key=lambda code: code != "en")}


_SUBTAG = re.compile(r"[a-z]{2}|\d{3}|" + "|".join(SCRIPTS).lower())
"""What may follow a language's code: a region or a script (BCP 47); 'old' and 'notes' may not."""

_TRADITIONAL = {"tw", "hk", "mo"}


def _script(code: str, subtags: Sequence[str]) -> str:
    """The script that subtags state (`sr-Latn`, `zh-TW`); empty for none."""
    stated = next((part.title() for part in subtags if part.title() in SCRIPTS), "")
    return stated or ("Hant" if code == "zh" and _TRADITIONAL.intersection(subtags) else "")


def stated_scripts(key: str, value: object) -> dict[str, tuple[str, str]]:
    """The setting `scripts`, called `key` in messages.

    It is `{"dag": "Latn"}`, `{"dag": {"script": "Latn", "name": "Dagbani"}}`, or the text
    `dag:Latn+nqo:Nkoo`.
    """
    if isinstance(value, str) and ":" in value:
        pairs = [item.partition(":") for item in value.strip(" {}").split("+")]
        value = {code.strip(" '\""): script.strip(" '\"") for code, _, script in pairs}
    if not isinstance(value, Mapping):
        raise SettingError(
            f'--metadata {key}: expected codes with scripts such as {{"dag": "Latn"}}, '
            f"got {value!r:.60}"
        )
    scripts = {}
    for word, entry in value.items():
        code = str(word).strip().lower().replace("_", "-")
        if not _CODE.fullmatch(code):
            raise SettingError(f"--metadata {key}: {word!r} is no language code such as 'dag'")
        own = entry if isinstance(entry, Mapping) else {"script": entry}
        wrong = own.keys() - {"script", "name"}
        if wrong:
            raise SettingError(f"--metadata {key} [{code}]: unknown key {sorted(wrong)[0]!r}")
        scripts[code] = (checked_script(f"--metadata {key} [{code}]", own.get("script")), "")
        if own.get("name"):
            scripts[code] = (scripts[code][0], str(own["name"]).strip())
    return scripts


def checked_script(where: str, value: object) -> str:
    """An ISO 15924 code that is known here; `where` begins the message about another."""
    script = str(value or "").strip().title()
    if script not in SCRIPTS:
        raise SettingError(f"{where}: unknown script {value!r:.40}.{did_you_mean(script, SCRIPTS)}")
    return script
