"""A row of samples of a task that is not ours, read as one of ours.

What such a task measures stays as it is. Its questions get ids that are the same in every language
where, and only where, they are known to be the same question (`logs/joined`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from xling_tasks.criteria.task_metric import EMPTY, UNREAD

_KEY = re.compile(r"[-+\d.,\s\[\]]{1,40}|[A-Za-z]")
"""A right answer that is the same in every language: a number, several, or a letter."""

_FALLBACK = "[invalid]"
"""What the harness's filters return of what they cannot read, unless they are told otherwise."""

_COPIED = frozenset({"doc_id", "doc_hash", "target", "arguments", "resps", "filtered_resps"})


class Reading(NamedTuple):
    """How the samples of a task are read.

    Attributes:
        metric: What counts, as its rows call it.
        filter: The filter after which it was measured.
        name: What it is called here.
        fallbacks: What the filter returns of replies that it cannot read.
        join: The fields that tell a question; none: its number.
        chance: What guessing earns, if the family says so.
        apart: What stands behind every id, so that none is another language's.
        written: Whether the model writes answers, instead of being asked how likely some are.
    """

    metric: str
    filter: str
    name: str
    fallbacks: tuple[str, ...] = ()
    join: tuple[str, ...] = ()
    chance: float | None = None
    apart: str = ""
    written: bool = True

    def counts(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is one of those that count."""
        return bool(row.get("filter", "none") == self.filter)

    def value(self, row: Mapping[str, Any]) -> float:
        """What was measured; a LookupError or TypeError says that it is no number."""
        value = row[self.metric]
        if not isinstance(value, (int, float)) or value != value:
            raise TypeError(f"{self.metric}: a number is expected, not {value!r:.40}")
        return float(value)

    def identity(self, row: Mapping[str, Any]) -> str:
        """What tells the question, without its key: its fields, else its number."""
        return told(row["doc"], self.join) if self.join else str(row["doc_id"])

    def own(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A row as ours are; empty for one that does not count."""
        if not self.counts(row):
            return {}
        key = key_of(row)
        name = self.identity(row) + (f" [{key}]" if key else "") + self.apart
        made = {each: row[each] for each in _COPIED & row.keys()}
        right = row.get("target")
        doc: dict[str, Any] = {"question_id": name}
        doc["question"] = _text(row["doc"], self.join, right)
        n_options = self._options(row)
        doc |= {"fields": row["doc"], "right": right, "options": [""] * n_options}
        if self.written:
            made |= self.rates(row)
        else:
            doc["candidates"] = True
        return {**made, "filter": "none", "doc": doc, self.name: self.value(row)}

    def _options(self, row: Mapping[str, Any]) -> int:
        """As many as make guessing what it is; those that were asked for, where nothing is said."""
        candidates = 0 if self.written else len(row.get("resps") or ())
        return round(1 / self.chance) if self.chance else 0 if self.chance == 0 else candidates

    def rates(self, row: Mapping[str, Any]) -> dict[str, float]:
        """Whether the filter could not read a reply that is there, and whether there is none."""
        first = next(_flat(row.get("filtered_resps")), None)
        empty = not any(str(reply).strip() for reply in _flat(row.get("resps")))
        lost = not empty and str(first) in self.fallbacks
        return {UNREAD: float(lost), EMPTY: float(empty)}


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def fallbacks(config: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """What a filter returns of what it cannot read, after its further steps."""
    named = (own for own in config.get("filter_list") or () if own.get("name") == name)
    steps = [step for own in named for step in own.get("filter") or ()]
    left = [(str(step.get("fallback", _FALLBACK)), at) for at, step in enumerate(steps)]
    return tuple(dict.fromkeys(_through(text, steps[at + 1 :]) for text, at in left))


def _through(text: str, steps: Sequence[Mapping[str, Any]]) -> str:
    """A text as the steps of a filter that change texts leave it."""
    for step in steps:
        if step.get("function") == "map":
            known = {str(key): value for key, value in (step.get("mapping_dict") or {}).items()}
            text = str(known.get(text, step.get("default_value")))
        elif step.get("function") in ("lowercase", "uppercase"):
            text = text.lower() if step["function"] == "lowercase" else text.upper()
    return text


def key_of(row: Mapping[str, Any]) -> str:
    """The right answer, where it is a number or a letter, which no language changes; else ''."""
    target = row.get("target")
    text = target if isinstance(target, str) else json.dumps(target)
    return text.strip() if _KEY.fullmatch(text.strip()) else ""


def told(doc: Mapping[str, Any], fields: Iterable[str]) -> str:
    """Some fields of a document as one text, another for other values.

    A LookupError or TypeError says that one is missing or holds no text or number.
    """
    values = [doc[name] for name in fields]
    for name, value in zip(fields, values, strict=True):
        if not isinstance(value, (str, int)) or value == "":
            raise TypeError(f"doc.{name}: a text or a number is expected, not {value!r:.40}")
    return "/".join(str(value) for value in values)


def _text(doc: Any, join: Iterable[str], right: Any) -> str:
    """All texts of a document: what was asked, as far as its fields say it."""
    if not isinstance(doc, Mapping):
        return str(doc)
    texts = [value for name, value in doc.items() if name not in join and value != right]
    return "\n".join(dict.fromkeys(text for _, text in _leaves(texts) if text.strip()))


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Each text by where it stands, such as `answers/0/atext`."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _leaves(item, f"{path}/{name}")
    elif isinstance(value, (list, tuple)):
        for at, item in enumerate(value):
            yield from _leaves(item, f"{path}/{at}")
