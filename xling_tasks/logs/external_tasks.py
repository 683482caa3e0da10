"""Rows of samples of other people's tasks, read as rows of ours.

What such a task measures stays as it is. Its questions get ids that are the same in every language
where, and only where, they are known to be the same question (`align_questions`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from xling_tasks.criteria.task_metric import EMPTY, UNREAD

_KEY = re.compile(r"[-+\d.,\s\[\]]{1,40}|[A-Za-z]")
"""A correct answer that is the same in every language: a number, several, or a letter."""

_FALLBACK = "[invalid]"
"""What lm_eval's filters return of what they cannot read, unless they are told otherwise."""

_COPIED = frozenset({"doc_id", "doc_hash", "target", "arguments", "resps", "filtered_resps"})


class Reading(NamedTuple):
    """How the samples of a task are read.

    Attributes:
        metric: What counts, as its rows call it.
        filter: The filter after which it was measured.
        name: What it is called here.
        fallbacks: What the filter returns of responses that it cannot read.
        join: The fields that tell a question; none: its number.
        chance: What guessing earns, if the group says so.
        suffix: What stands behind every id, so that none is another language's.
        written: Whether the model writes answers, instead of being asked how likely some are.
    """

    metric: str
    filter: str
    name: str
    fallbacks: tuple[str, ...] = ()
    join: tuple[str, ...] = ()
    chance: float | None = None
    suffix: str = ""
    written: bool = True

    def counts(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row is one of those that count."""
        return bool(row.get("filter", "none") == self.filter)

    def value(self, row: Mapping[str, Any]) -> float:
        """Return what was measured; a LookupError or TypeError says that it is no number."""
        value = row[self.metric]
        if not isinstance(value, (int, float)) or value != value:
            raise TypeError(f"{self.metric}: a number is expected, not {value!r:.40}")
        return float(value)

    def convert(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row as ours are; empty for one that does not count."""
        if not self.counts(row):
            return {}
        key, target = key_of(row), row.get("target")
        identity = join_fields(row["doc"], self.join) if self.join else str(row["doc_id"])
        doc: dict[str, Any] = {
            "question_id": identity + (f" [{key}]" if key else "") + self.suffix,
            "question": _text(row["doc"], self.join, target),
            "fields": row["doc"],
            "right": target,
            "options": [""] * self._n_options(row),
        }
        values: dict[str, Any] = {name: row[name] for name in _COPIED & row.keys()}
        if self.written:
            values |= self.rates(row)
        else:
            doc["candidates"] = True
        return {**values, "filter": "none", "doc": doc, self.name: self.value(row)}

    def _n_options(self, row: Mapping[str, Any]) -> int:
        """Return as many as make guessing what it is; where nothing is known, those asked for."""
        candidates = 0 if self.written else len(row.get("resps") or ())
        return round(1 / self.chance) if self.chance else 0 if self.chance == 0 else candidates

    def rates(self, row: Mapping[str, Any]) -> dict[str, float]:
        """Return whether the filter could not read a response, and whether there is none."""
        first = next(_flatten(row.get("filtered_resps")), None)
        empty = not any(str(response).strip() for response in _flatten(row.get("resps")))
        unparsed = not empty and str(first) in self.fallbacks
        return {UNREAD: float(unparsed), EMPTY: float(empty)}


def _flatten(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _flatten(item)
    else:
        yield value


def fallbacks(config: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return what a filter returns of what it cannot read, after its further steps."""
    filters = (row for row in config.get("filter_list") or () if row.get("name") == name)
    steps = [step for row in filters for step in row.get("filter") or ()]
    texts = [
        _apply(str(step.get("fallback", _FALLBACK)), steps[index + 1 :])
        for index, step in enumerate(steps)
    ]
    return tuple(dict.fromkeys(texts))


def _apply(text: str, steps: Sequence[Mapping[str, Any]]) -> str:
    """Return a text as the steps of a filter that change texts leave it."""
    for step in steps:
        if step.get("function") == "map":
            mapping = {str(key): value for key, value in (step.get("mapping_dict") or {}).items()}
            text = str(mapping.get(text, step.get("default_value")))
        elif step.get("function") in ("lowercase", "uppercase"):
            text = text.lower() if step["function"] == "lowercase" else text.upper()
    return text


def key_of(row: Mapping[str, Any]) -> str:
    """Return the correct answer, where it is a number or a letter, which no language changes."""
    target = row.get("target")
    text = (target if isinstance(target, str) else json.dumps(target)).strip()
    return text if _KEY.fullmatch(text) else ""


def join_fields(doc: Mapping[str, Any], fields: Iterable[str]) -> str:
    """Return some fields of a doc as one text, another for other values.

    A LookupError or TypeError says that one is missing or holds no text or number.
    """
    values = [(name, doc[name]) for name in fields]
    for name, value in values:
        if not isinstance(value, (str, int)) or value == "":
            raise TypeError(f"doc.{name}: a text or a number is expected, not {value!r:.40}")
    return "/".join(str(value) for _, value in values)


def _text(doc: Any, join: Iterable[str], target: Any) -> str:
    """Return all texts of a doc: what was asked, as far as its fields say it."""
    if not isinstance(doc, Mapping):
        return str(doc)
    texts = [value for name, value in doc.items() if name not in join and value != target]
    return "\n".join(dict.fromkeys(text for text in _leaves(texts) if text.strip()))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(item)
