"""Prompt templates: ours from `prompt_files/`, any of them replaced by the user's file.

A prompt file is YAML: prompt name -> text, or -> one text per language (`en`, `es`, ...). `{name}`
stands for a field; write `{{` and `}}` for braces. Fields are filled in one pass, so that braces
in a question or an answer stay what they are.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from xling_metrics.languages import ALL_LANGUAGES, find_language, language_code
from xling_metrics.yaml_file import YamlError, read_yaml

from xling_tasks.data.prompt_formats import (
    FIELD,
    KEYS,
    OURS,
    TARGETS,
    PromptFormat,
    fields_of,
    fill,
    format_of,
)
from xling_tasks.errors import PromptError, did_you_mean, no_such, user_path
from xling_tasks.languages import LANGUAGES as TRANSLATED

FOLDER = Path(__file__).with_name("prompt_files")

LANGUAGES = tuple(TRANSLATED)
"""Languages that a prompt may be written in."""

FIELDS = {
    name: (frozenset(needed.split()), frozenset(optional.split()))
    for names, needed, optional in (
        ("verifiability", "question answer", "language"),
        ("answer consistency", "question", "language"),
        ("judge", "", "material question reference answer language"),
        ("translate", "text", "source_language target_language"),
        ("mcqa rationale mcqa_ft rationale_ft", "question options", "language"),
        ("custom_mcqa", "question options", "label language"),
        ("information", "prompt", "language"),
        ("empathy", "post", "language"),
        ("claims support", "material", ""),
        ("read_letters read_verdict", "material", "language"),
        ("empathy_examples", "definition examples material", ""),
        ("rubric", "material", "language"),
        ("topic", "topics material", ""),
        ("rank", "material count", "language"),
    )
    for name in names.split()
}
"""Fields of each prompt: those it must have, and those it may have."""


@dataclass(frozen=True)
class PromptTemplate:
    """One template in one language, and how it writes options and the expected answer."""

    name: str
    language: str
    template: str
    form: PromptFormat = OURS

    def fill(self, **values: str) -> str:
        """Replace every field of the text, in one pass."""
        return fill(self.template, values)

    @property
    def fields(self) -> set[str]:
        """The fields in the template."""
        return fields_of(self.template) or set()

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that identify the wording."""
        changed = self.form.changed()
        text = self.template + (json.dumps(changed, sort_keys=True) if changed else "")
        return hashlib.sha256(text.encode()).hexdigest()[:12]


class PromptTemplates:
    """Ours, with those of the file at `path` in their place."""

    def __init__(self, path: str | None = None) -> None:
        entries = {} if path is None else _entries(user_path(path))
        self._texts = {name: dict(texts) for name, texts in _bundled().items()}
        self._given = {name: entry.texts for name, entry in entries.items()}
        self._forms = {name: entry.form for name, entry in entries.items()}
        for name, texts in self._given.items():
            # A single text of the user's stands for every language.
            self._texts[name] = texts if "*" in texts else {**self._texts[name], **texts}

    def get(self, name: str, language: str) -> PromptTemplate:
        """Return the prompt `name` with its instruction in `language`, which it must have.

        A variety has that of its language, if it is written in the same script.
        """
        texts, form = self._texts[name], self._forms.get(name, OURS)
        base, row = language_code(language), find_language(language)
        if language not in texts and row is not None and base in ALL_LANGUAGES:
            language = base if row.script == ALL_LANGUAGES[base].script else language
        if language in texts:
            return PromptTemplate(name, language, texts[language], form)
        if "*" in texts:
            return PromptTemplate(name, "any", texts["*"], form)
        raise PromptError(
            f"prompt {name!r} has no text for language {language!r} "
            f"(has {', '.join(sorted(texts))}); add it with --metadata prompt_templates=FILE"
        )

    def check_used(self, name: str, language: str, instruction: str, chosen: bool = True) -> None:
        """Refuse a text of the user's for a language in which it would silently not be used.

        That is one for `language`, that of the questions, where there is none for `instruction`, in
        which the prompt is taken; or an English one, where the user did not choose the latter.
        """
        texts = self._given.get(name, {})
        if not chosen and "en" in texts and instruction not in texts and "*" not in texts:
            raise PromptError(
                f"prompt {name!r} is given in English, but instructions to {language!r} questions "
                f"are taken in {instruction!r}, as published; add --metadata prompt_language=en, "
                f"or give an {instruction!r} text (prompt_language=native leaves ours for it)"
            )
        if language in texts and instruction not in texts and "*" not in texts:
            raise PromptError(
                f"prompt {name!r} is given for {language!r}, but instructions are taken in "
                f"{instruction!r}; add --metadata prompt_language=native, or give an "
                f"{instruction!r} text"
            )


class _Entry(NamedTuple):
    """What a prompt file has under one name."""

    texts: dict[str, str]
    form: PromptFormat


def bundled_texts() -> dict[str, tuple[Path, dict[str, str]]]:
    """Return our prompts: name -> the one file that has it, and its text by language."""
    found: dict[str, tuple[Path, dict[str, str]]] = {}
    for file in sorted(FOLDER.glob("*.yaml")):
        for name, entry in _entries(file).items():
            if name in found:
                raise PromptError(f"{file}: prompt {name!r} stands in {found[name][0]} too")
            found[name] = (file, entry.texts)
    return found


@functools.lru_cache(maxsize=1)
def _bundled() -> dict[str, dict[str, str]]:
    return {name: texts for name, (_, texts) in bundled_texts().items()}


def _entries(path: Path) -> dict[str, _Entry]:
    if not path.is_file():
        raise PromptError(f"prompt_templates={path}: {no_such(path)}")
    try:
        content = read_yaml(path)
    except YamlError as error:
        raise PromptError(str(error)) from error
    if not isinstance(content, Mapping):
        raise PromptError(f"{path}: expected prompt names with their texts, got {content!r:.40}")
    return {str(name): _checked(path, str(name), value) for name, value in content.items()}


def _checked(path: Path, name: str, value: Any) -> _Entry:
    if name not in FIELDS:
        raise PromptError(f"{path}: unknown prompt {name!r}.{did_you_mean(name, FIELDS)}")
    texts = {"*": value} if isinstance(value, str) else value
    form = OURS
    if isinstance(texts, Mapping) and name in TARGETS:
        settings = {key: item for key, item in texts.items() if key in KEYS}
        form = format_of(f"{path}: prompt {name!r}", name, settings)
        texts = {
            "*" if key == "text" else key: v for key, v in texts.items() if key not in settings
        }
        if settings and not texts:
            return _Entry({}, form)
    if not isinstance(texts, Mapping) or not texts:
        raise PromptError(f"{path}: prompt {name!r}: expected a text, or one text per language")
    for language, text in texts.items():
        location = f"{path}: prompt {name!r}" + (f" [{language}]" if language != "*" else "")
        if language != "*" and find_language(str(language)) is None:
            raise PromptError(
                f"{location}: unknown language.{did_you_mean(str(language), LANGUAGES)}"
            )
        if not isinstance(text, str) or not text.strip():
            raise PromptError(f"{location}: expected a text, got {text!r:.40}")
        _check_fields(location, name, text)
    # YAML block scalars end in a line break; a prompt must end where the reply begins.
    return _Entry(
        {str(code): text if form.exact else text.rstrip("\n") for code, text in texts.items()}, form
    )


def _check_fields(location: str, name: str, text: str) -> None:
    needed, optional = FIELDS[name]
    for match in FIELD.finditer(text):
        token, field = match.group(0), match.group(1)
        if field is None and token not in ("{{", "}}"):
            raise PromptError(f"{location}: a single {token!r}; write {token * 2!r} for a brace")
        if field is not None and field not in needed | optional:
            raise PromptError(
                f"{location}: unknown field {{{field}}}.{did_you_mean(field, needed | optional)} "
                "Write {{ and }} for braces that are no field."
            )
    fields = fields_of(text) or set()
    if (
        name == "judge" and "material" not in fields
    ):  # the published form: an option on the last line
        needed = frozenset({"question", "reference", "answer"})
    missing = sorted(needed - fields)
    if missing:
        raise PromptError(f"{location}: the field {{{missing[0]}}} is missing")
