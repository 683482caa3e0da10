"""Rows of samples of other people's tasks, read as rows of ours.

What such a task measures stays as it is. Its questions get ids that are the same in every language
where, and only where, they are known to be the same question (`align_questions`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from xling_tasks.criteria.task_metric import EMPTY, UNREAD

_KEY = re.compile(r"[-+\d.,\s\[\]]{1,40}|[A-Za-z]")
"""A correct answer that is the same in every language: a number, several, or a letter."""

_COPIED = frozenset({"doc_id", "doc_hash", "target", "arguments", "resps", "filtered_resps"})


class Reading(NamedTuple):
    """How the samples of a task are read.

    Attributes:
        metric: What counts, as its rows call it.
        filter: The filter after which it was measured.
        name: What it is called here.
        fallbacks: What the filter returns of responses that it cannot read.
        join: The fields that identify a question; none: its number.
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
        """Return a row that counts as ours are.

        It has as many options as make guessing what it is; where nothing is known, those whose
        likelihood was asked for.
        """
        key, target = key_of(row), row.get("target")
        n_options = 0 if self.written else len(row.get("resps") or ())
        if self.chance is not None:
            n_options = round(1 / self.chance) if self.chance else 0
        doc: dict[str, Any] = {
            "question_id": identify(row, self.join) + (f" [{key}]" if key else "") + self.suffix,
            "question": _text(row["doc"], self.join, target),
            "fields": row["doc"],
            "right": target,
            "options": [""] * n_options if n_options > 1 else [],
        }
        values: dict[str, Any] = {name: row[name] for name in _COPIED & row.keys()}
        if self.written:
            values |= self.rates(row)
        else:
            doc["candidates"] = True
        return {**values, "filter": "none", "doc": doc, self.name: self.value(row)}

    def rates(self, row: Mapping[str, Any]) -> dict[str, float]:
        """Return whether the filter could not read a response, and whether there is none."""
        first = next(flatten(row.get("filtered_resps")), None)
        empty = not any(str(response).strip() for response in flatten(row.get("resps")))
        unparsed = not empty and str(first) in self.fallbacks
        return {UNREAD: float(unparsed), EMPTY: float(empty)}


def fallbacks(config: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return what a filter returns of what it cannot read."""
    filters = (row for row in config.get("filter_list") or () if row.get("name") == name)
    steps = [step for row in filters for step in row.get("filter") or ()]
    texts = set()
    for number, step in enumerate(steps):
        text = str(step.get("fallback", "[invalid]"))
        for later in steps[number + 1 :]:
            if later.get("function") == "map":
                text = str((later.get("mapping_dict") or {}).get(text, later.get("default_value")))
            elif later.get("function") in ("lowercase", "uppercase"):
                text = text.lower() if later["function"] == "lowercase" else text.upper()
        texts.add(text)
    return tuple(texts)


def key_of(row: Mapping[str, Any]) -> str:
    """Return the correct answer, where it is a number or a letter, which no language changes."""
    target = row.get("target")
    text = (target if isinstance(target, str) else json.dumps(target)).strip()
    return text if _KEY.fullmatch(text) else ""


def identify(row: Mapping[str, Any], join: Iterable[str]) -> str:
    """Return what identifies a row's question: some fields of its doc, or its number.

    A LookupError or TypeError says that a field is missing or holds no text or number.
    """
    values = [row["doc"][name] for name in join] or [row["doc_id"]]
    for value in values:
        if not isinstance(value, (str, int)) or value == "":
            raise TypeError(f"a text or a number is expected as an id, not {value!r:.40}")
    return "/".join(map(str, values))


def _text(doc: Any, join: Iterable[str], target: Any) -> str:
    """Return all texts of a doc: what was asked, as far as its fields say it."""
    if not isinstance(doc, Mapping):
        return str(doc)
    fields = [value for name, value in doc.items() if name not in join and value != target]
    texts = (text for text in flatten(fields) if isinstance(text, str) and text.strip())
    return "\n".join(dict.fromkeys(texts))


def flatten(value: Any) -> Iterator[Any]:
    """Yield what is in a value at any depth; itself if it holds nothing else."""
    if isinstance(value, (Mapping, list, tuple)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from flatten(item)
    else:
        yield value
