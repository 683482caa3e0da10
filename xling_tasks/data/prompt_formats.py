"""Texts with fields, and how a prompt for lettered options writes them and the expected answer.

`{name}` stands for a value, `{{` and `}}` for braces. Beside its text, a prompt that asks for
options by letters may have in a prompt file:

* `option`: how one option is written, with `{letter}` and `{text}` (ours: `{letter}. {text}`);
* `option_joiner`: what stands between options (ours: a line break);
* `target`: the whole expected answer, with `{letters}` and, for rationales, `{rationale}`: what a
  model was trained to write, what few-shot examples and exported training data show, and what tells
  rationale and letters of a reply apart;
* `letter_joiner`: what stands between several right letters in it (ours: `, `);
* `exact: true`: line breaks at the end of the text stay; else they are cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from xling_tasks.errors import PromptError

FIELD = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
"""A doubled brace, a field, or a single brace, which is an error."""


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace every field of a text in one pass: braces in a value stay what they are."""

    def replace(match: re.Match[str]) -> str:
        token = match.group(0)
        return token[0] if token in ("{{", "}}") else values[match.group(1)]

    return FIELD.sub(replace, template)


def fields_of(template: str) -> set[str] | None:
    """Return the names of its fields; None if it has a single brace."""
    names = set()
    for match in FIELD.finditer(template):
        if match.group(1) is not None:
            names.add(match.group(1))
        elif match.group(0) not in ("{{", "}}"):
            return None
    return names


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
        defaults = asdict(PromptFormat())
        return {key: value for key, value in asdict(self).items() if value != defaults[key]}


OURS = PromptFormat()
KEYS = tuple(field.name for field in fields(PromptFormat))


def format_of(location: str, name: str, values: Mapping[str, Any]) -> PromptFormat:
    """Parse a form from a prompt file: texts with the fields that belong there, and `exact`."""
    needed = {"option": {"letter", "text"}, "target": fields_of(TARGETS[name])}
    for key, value in values.items():
        if key == "exact":
            if not isinstance(value, bool):
                raise PromptError(f"{location}: {key}: expected true or false, got {value!r:.40}")
            continue
        if not isinstance(value, str):
            raise PromptError(f"{location}: {key}: expected a text, got {value!r:.40}")
        fields = fields_of(value)
        if fields is None:
            raise PromptError(f"{location}: {key}: a single brace; write {{{{ or }}}} for a brace")
        needed_fields = needed.get(key) or set()
        if fields != needed_fields:
            names = ", ".join(f"{{{item}}}" for item in sorted(needed_fields)) or "none"
            raise PromptError(f"{location}: {key}: its fields must be {names}, got {value!r:.60}")
    return PromptFormat(**values)
