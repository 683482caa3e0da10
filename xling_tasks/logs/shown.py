"""A logged sample as people read it: its texts by heading, for one of its languages.

A criterion says which; of anything else every field of the document, every response and every
further value is shown as it stands, so that nothing is hidden.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from xling_tasks.criteria import CRITERIA
from xling_tasks.criteria.sample import Part, Passage, answer_part, as_text, mapping, words
from xling_tasks.failed_response import RESPONSES
from xling_tasks.logs.external_tasks import flatten

KNOWN = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
    | {"doc_hash", "prompt_hash", "target_hash"}
)
"""What the harness puts into a row, beside what a task measured."""


def parts_of(criterion: str, sample: Mapping[str, Any], language: str) -> list[Part]:
    """Return the texts of a sample in one of its languages; CRITERION may be unknown."""
    known_criterion = CRITERIA.get(criterion)
    if known_criterion is None or known_criterion.shown is None:
        parts = [*_doc_parts(sample, language), *_further_parts(sample)]
    else:
        make, used_values = known_criterion.shown.parts, known_criterion.shown.values
        codes = mapping(mapping(sample.get("doc")).get("text"))
        used = {name.format(code) for name in used_values for code in codes or ("",)}
        parts = [*make(sample, language)]
        parts += _further_parts(sample, used)
    return [part for part in parts if part.passages]


def languages_in(criterion: str, sample: Mapping[str, Any], language: str) -> list[str]:
    """Return the languages that a sample has: one, or those of its prompts."""
    doc = mapping(sample.get("doc"))
    if several_languages(criterion) and (texts := mapping(doc.get("text"))):
        return list(texts)
    return [language or as_text(doc.get("language") or "")]


def several_languages(criterion: str) -> bool:
    """Return whether a criterion's samples have several languages."""
    return criterion in CRITERIA and CRITERIA[criterion].several_languages


def _doc_parts(sample: Mapping[str, Any], language: str) -> list[Part]:
    """Return every field of the document, the target and the responses."""
    doc = sample.get("doc")
    fields = doc if isinstance(doc, dict) else {"document": doc}
    parts = [
        Part(words(name).capitalize(), [Passage(as_text(value), language)])
        for name, value in fields.items()
        if value is not None and name not in ("question_id", "language")
    ]
    parts.sort(key=lambda part: part.title not in ("Question", "Prompt"))
    if sample.get("target") not in (None, ""):
        parts.append(Part("Target", [Passage(as_text(sample["target"]), language)]))
    return [*parts, answer_part(sample, language)]


def _further_parts(sample: Mapping[str, Any], used: Collection[str] = ()) -> list[Part]:
    """Return values with texts in them that no heading of the criterion shows."""
    hidden = KNOWN | set(used) | {RESPONSES}
    return [
        Part(words(name).capitalize(), [Passage(as_text(value))])
        for name, value in sample.items()
        if name not in hidden and any(isinstance(x, str) and x for x in flatten(value))
    ]
