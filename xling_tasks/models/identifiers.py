"""The setting `language_identifier`: a fastText model that replaces langid."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from xling_metrics.identifiers import Identifier, load_fasttext, missing_package
from xling_metrics.language import deciding_scripts, has_own_script, langid_knows
from xling_metrics.languages import SCRIPTS, find_language, language_code

from xling_tasks.errors import SettingError

# Scripts that labels call otherwise.
_SAME_SCRIPT = {"Hani": "Hans", "Hant": "Hans", "Kore": "Hang", "Hrkt": "Jpan"}


def validate_identifier(option: str, value: object) -> str | None:
    """Return the setting if all that it needs is there; None if there is none.

    Raises:
        SettingError: If it is not a file, or the package is missing.
    """
    if value is None or value is False or value == "":
        return None
    value = os.path.expanduser(value) if isinstance(value, str) else value
    if not isinstance(value, str) or not Path(value).is_file():
        raise SettingError(
            f"{option}={value!r:.80}: not a file; give a fastText model (GlotLID, OpenLID, lid.176)"
        )
    if (package := missing_package()) is not None:
        raise SettingError(
            f'{option}={value}: needs {package}; pip install "xling-tasks[identifiers]"'
        )
    return value


def load_identifier(name: str) -> Identifier:
    """Load the model of the setting, once per process.

    Raises:
        SettingError: If it cannot be loaded.
    """
    try:
        return load_fasttext(name)
    except Exception as error:  # whatever a package's reader raises
        raise SettingError(
            f"--metadata language_identifier={name}: cannot be loaded ({error}); give a fastText "
            "model such as GlotLID's"
        ) from error


def labels_for(labels: Collection[str], language: str) -> frozenset[str]:
    """Return the labels of an identifier that stand for a language.

    These are its codes of two and three letters, and those of its macrolanguage's members (Egyptian
    Arabic is Arabic, Cantonese is Chinese; Indonesian, with a code of its own, is no Malay). Where
    labels name a script (`hin_Latn`), it must be the language's: that of its tag, or the usual one
    if the language has one alone.

    Returns:
        No label where the identifier does not know the language, or not in this script.
    """
    code, row = language_code(language), find_language(language)
    codes = {code}
    if row is not None:
        codes |= {alias.partition("_")[0] for alias in row.aliases} | {*row.members}
    scripts, usual_row = deciding_scripts(language), find_language(code)
    declared = {
        script for script, names in SCRIPTS.items() if scripts and set(names) & set(scripts)
    }
    usual = usual_row.script if usual_row is not None else ""
    # Labels without a script mean the usual one.
    unusual = (
        bool(declared) and usual not in declared and (usual_row is not None or langid_knows(code))
    )
    allowed = declared or ({usual} if usual and has_own_script(code) else set())

    def means_language(label: str) -> bool:
        label_code, _, script = label.partition("_")
        if label_code not in codes or not script:
            return label_code in codes and not unusual
        return not allowed or _SAME_SCRIPT.get(script, script) in allowed

    return frozenset(filter(means_language, labels))
