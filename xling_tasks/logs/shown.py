"""A logged sample as people read it: its texts by heading, for one of its languages.

The report shows a choice of this, the viewer all of it, and its search looks through the same. What
is known of a criterion decides headings and marks; of anything else every field of the document,
every reply and every further value is shown as it stands, so that nothing is hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from xling_tasks.criteria import CRITERIA, form_of
from xling_tasks.criteria.sample import Part, Passage, answer_part, as_text, mapping, words
from xling_tasks.failed_response import RESPONSES

MOST = 300
"""Texts under one heading that are shown; the row itself has the others."""

SHORT = 300
"""Characters of marks and measured values that are shown; the row itself has the others."""

KNOWN = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
    | {"doc_hash", "prompt_hash", "target_hash"}
)
"""What the harness puts into a row, beside what a task measured."""


def parts_of(criterion: str, sample: Mapping[str, Any], language: str) -> list[Part]:
    """Return the texts of a sample in one of its languages; CRITERION may be unknown."""
    form, known_criterion = form_of(criterion), CRITERIA.get(criterion)
    if known_criterion is None or known_criterion.shown is None:
        parts = anything(sample, language)
    else:
        make, used_values = known_criterion.shown.parts, known_criterion.shown.values
        codes = mapping(mapping(sample.get("doc")).get("text"))
        used = {name.format(code) for name in used_values for code in codes or ("",)}
        parts = [*make(sample, language, form.by_likelihood), *rest(sample, used)]
    return [
        Part(part.title, list(map(_with_short_mark, part.passages[:MOST])), _more(part))
        for part in parts
        if part.passages
    ]


def _with_short_mark(passage: Passage) -> Passage:
    mark = passage.mark
    return passage if len(mark) <= SHORT else passage._replace(mark=f"{mark[:SHORT]}\u2026")


def _more(part: Part) -> str:
    n_hidden = len(part.passages) - MOST
    return f"{part.note} {n_hidden} more are in the row.".strip() if n_hidden > 0 else part.note


def languages_in(criterion: str, sample: Mapping[str, Any], language: str) -> list[str]:
    """Return the languages that a sample has: one, or those of its prompts."""
    texts = mapping(mapping(sample.get("doc")).get("text"))
    if several_languages(criterion) and texts:
        return [str(code) for code in texts]
    return [language or as_text(mapping(sample.get("doc")).get("language") or "")]


def several_languages(criterion: str) -> bool:
    """Return whether a criterion's samples have several languages."""
    return criterion in CRITERIA and CRITERIA[criterion].several_languages


def anything(sample: Mapping[str, Any], language: str) -> list[Part]:
    """Return every field of the document, the target, the responses and all further values."""
    doc = sample.get("doc")
    fields = doc if isinstance(doc, dict) else {"document": doc}
    parts = [
        Part(words(name).capitalize(), [Passage(as_text(value), language)])
        for name, value in fields.items()
        if value is not None and name not in ("question_id", "language")
    ]
    parts.sort(key=lambda part: part.title not in ("Question", "Prompt"))
    target = sample.get("target")
    if target not in (None, ""):
        parts.append(Part("Target", [Passage(as_text(target), language)]))
    return [*parts, answer_part(sample, language), *rest(sample)]


def rest(sample: Mapping[str, Any], used: Collection[str] = ()) -> list[Part]:
    """Return values with texts in them that no heading of the criterion shows."""
    hidden = KNOWN | set(used) | {RESPONSES}
    return [
        Part(words(name).capitalize(), [Passage(as_text(value))])
        for name, value in sample.items()
        if isinstance(value, (str, list, dict)) and name not in hidden and _has_text(value)
    ]


def _has_text(value: Any) -> bool:
    """Return whether a value holds words, at any depth."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack += item.values()
        elif isinstance(item, list):
            stack += item
        elif isinstance(item, str) and item:
            return True
    return False
