"""Prompt templates: ours from `prompt_files/`, any of them replaced by the user's file.

A prompt file is YAML: prompt name -> text, or -> one text per language (`en`, `es`, ...). `{name}`
stands for a field; write `{{` and `}}` for braces. Fields are filled in one pass, so that braces
in a question or an answer stay what they are. Beside its text, a prompt that asks for options by
letters may have:

* `option`: how one option is written, with `{letter}` and `{text}` (ours: `{letter}. {text}`);
* `option_joiner`: what stands between options (ours: a line break);
* `target`: the whole expected answer, with `{letters}` and, for rationales, `{rationale}`: what a
  model was trained to write, what few-shot examples and exported training data show, and what tells
  rationale and letters of a reply apart;
* `letter_joiner`: what stands between several right letters in it (ours: `, `);
* `exact: true`: line breaks at the end of the text stay; else they are cut off.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from xling_metrics.languages import ALL_LANGUAGES, find_language, language_code
from xling_metrics.yaml_file import YamlError, read_yaml

from xling_tasks.errors import PromptError, did_you_mean, no_such, user_path
from xling_tasks.languages import LANGUAGES

FOLDER = Path(__file__).with_name("prompt_files")

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

_FIELD = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
"""A doubled brace, a field, or a single brace, which is an error."""


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace every field of a text in one pass: braces in a value stay what they are."""
    return _FIELD.sub(lambda match: match[0][0] if match[1] is None else values[match[1]], template)


def fields_of(location: str, template: str) -> set[str]:
    """Return the names of a text's fields; a single brace is an error."""
    matches = [*_FIELD.finditer(template)]
    for match in matches:
        if match[0] in ("{", "}"):
            raise PromptError(f"{location}: a single {match[0]!r}; write {match[0] * 2!r} for it")
    return {match[1] for match in matches if match[1] is not None}


TARGETS = {
    "mcqa": "{letters}",
    "custom_mcqa": "{letters}",
    "mcqa_ft": "###Answer: OPTION {letters} IS CORRECT.",
    "rationale": "{rationale} [End] {letters}",
    "rationale_ft": "###Rationale: {rationale} ###Answer: OPTION {letters} IS CORRECT.",
}
"""The prompts that may have a form -> the expected answer where the prompt file states none."""


@dataclass(frozen=True)
class PromptFormat:
    """One prompt's form; the attributes are the keys above."""

    option: str = "{letter}. {text}"
    option_joiner: str = "\n"
    letter_joiner: str = ", "
    target: str | None = None
    exact: bool = False

    def options(self, options: Mapping[str, str]) -> str:
        """Format lettered options as the prompt shows them."""
        texts = [fill(self.option, {"letter": k, "text": v}) for k, v in options.items()]
        return self.option_joiner.join(texts)

    def answer(self, name: str, letters: Iterable[str], rationale: str = "") -> str:
        """Format the answer that the prompt `name` expects, with all correct letters."""
        values = {"letters": self.letter_joiner.join(letters), "rationale": rationale}
        return fill(TARGETS[name] if self.target is None else self.target, values)

    def parts(self, reply: str) -> tuple[str, str] | None:
        """Split a response in the form of `target`: the texts at its two fields.

        No rationale is an empty text; several letters are parted by commas. None where no target
        is stated, or the reply has not the text that stands before the letters in it.
        """
        if self.target is None:
            return None
        before, _, end = self.target.partition("{letters}")
        start, field, between = before.rpartition("{rationale}")
        start, between, end = (fill(text, {}).strip() for text in (start, between, end))
        rationale, sign, letters = reply.rpartition(between) if between else ("", "", "")
        if not sign:
            return None
        letters = letters.strip().removesuffix(end).strip()
        if self.letter_joiner.strip():
            letters = ", ".join(map(str.strip, letters.split(self.letter_joiner.strip())))
        return (rationale.strip().removeprefix(start).strip() if field else ""), letters

    def changed(self) -> dict[str, Any]:
        """Return the keys that differ from ours, as plain values."""
        return {key: value for key, value in asdict(self).items() if value != getattr(OURS, key)}


OURS = PromptFormat()


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
        return fields_of(self.name, self.template)

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
        self._texts = {name: texts for name, (_, texts) in bundled_texts().items()}
        self._given = {name: texts for name, (texts, _) in entries.items()}
        self._forms = {name: form for name, (_, form) in entries.items()}
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
        is_english = "en" in texts and not chosen
        if "*" in texts or instruction in texts or not (is_english or language in texts):
            return
        raise PromptError(
            f"prompt {name!r} is given in {'en' if is_english else language!r}, but instructions "
            f"to {language!r} questions are taken in {instruction!r}; add --metadata "
            f"prompt_language={'en' if is_english else 'native'}, or give an {instruction!r} text"
        )


_Entry = tuple[dict[str, str], PromptFormat]
"""What a prompt file has under one name."""


@functools.lru_cache(maxsize=1)
def bundled_texts() -> dict[str, tuple[Path, dict[str, str]]]:
    """Return our prompts: name -> the one file that has it, and its text by language."""
    by_name: dict[str, tuple[Path, dict[str, str]]] = {}
    for file in sorted(FOLDER.glob("*.yaml")):
        for name, (texts, _) in _entries(file).items():
            if name in by_name:
                raise PromptError(f"{file}: prompt {name!r} stands in {by_name[name][0]} too")
            by_name[name] = (file, texts)
    return by_name


def _entries(path: Path) -> dict[str, _Entry]:
    if not path.is_file():
        raise PromptError(f"prompt_templates={path}: {no_such(path)}")
    try:
        content = read_yaml(path)
    except YamlError as error:
        raise PromptError(str(error)) from error
    if not isinstance(content, Mapping):
        raise PromptError(f"{path}: expected prompt names with their texts, got {content!r:.40}")
    return {str(name): _read_entry(path, str(name), value) for name, value in content.items()}


def _read_entry(path: Path, name: str, value: Any) -> _Entry:
    if name not in FIELDS:
        raise PromptError(f"{path}: unknown prompt {name!r}.{did_you_mean(name, FIELDS)}")
    texts = dict(value) if isinstance(value, Mapping) else {"*": value}
    form = OURS
    if name in TARGETS:
        keys = {key: texts.pop(key) for key in asdict(OURS) if key in texts}
        form = _read_format(f"{path}: prompt {name!r}", name, keys)
        texts = {"*" if key == "text" else key: text for key, text in texts.items()}
        if keys and not texts:
            return {}, form
    if not texts:
        raise PromptError(f"{path}: prompt {name!r}: expected a text, or one text per language")
    for language, text in texts.items():
        location = f"{path}: prompt {name!r}" + (f" [{language}]" if language != "*" else "")
        if language != "*" and find_language(str(language)) is None:
            raise PromptError(
                f"{location}: unknown language.{did_you_mean(str(language), LANGUAGES)}"
            )
        if not isinstance(text, str) or not text.strip():
            raise PromptError(f"{location}: expected a text, got {text!r:.40}")
        needed, optional = FIELDS[name]
        names = fields_of(location, text)
        if name == "judge" and "material" not in names:  # as published: options on the last line
            needed = frozenset({"question", "reference", "answer"})
        if unknown := sorted(names - needed - optional):
            hint = did_you_mean(unknown[0], needed | optional)
            raise PromptError(f"{location}: unknown field {{{unknown[0]}}}.{hint}")
        if missing := sorted(needed - names):
            raise PromptError(f"{location}: the field {{{missing[0]}}} is missing")
    # YAML block scalars end in a line break; a prompt must end where the reply begins.
    return {str(c): text if form.exact else text.rstrip("\n") for c, text in texts.items()}, form


def _read_format(location: str, name: str, values: Mapping[str, Any]) -> PromptFormat:
    """Parse a form from a prompt file: texts with the fields that belong there, and `exact`."""
    needed = {"option": {"letter", "text"}, "target": fields_of(location, TARGETS[name])}
    for key, value in values.items():
        if not isinstance(value, bool if key == "exact" else str):
            kind = "true or false" if key == "exact" else "a text"
            raise PromptError(f"{location}: {key}: expected {kind}, got {value!r:.40}")
        if key != "exact" and fields_of(f"{location}: {key}", str(value)) != needed.get(key, set()):
            names = ", ".join(f"{{{item}}}" for item in sorted(needed.get(key, ()))) or "none"
            raise PromptError(f"{location}: {key}: its fields must be {names}, got {value!r:.60}")
    return PromptFormat(**values)
