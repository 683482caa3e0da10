"""Results of tasks with several languages in one, read as one task per language; older forms.

The tasks over users' own questions (`xling_custom_*`) ask a question in all its languages in one
document. What they record of each language (`parts` in their record) is enough to read results and
samples as those of the built-in tasks, which have a language each: so that whatever reads runs
needs to know one form only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OF_ALL = frozenset(
    {"doc_id", "filter", "doc_hash", "prompt_hash", "target_hash", "target", "metrics"}
)
"""What a sample has once for all its languages."""


def recorded(configs: Any, task: str) -> dict[str, Any]:
    """What a task of ours recorded; {} of others, and where that cannot be told."""
    try:
        return dict(configs[task]["metadata"]["xling"])
    except (LookupError, TypeError, ValueError):
        return {}


def with_bookkeeping(content: Mapping[str, Any]) -> dict[str, Any]:
    """A results file's content, in which what tasks recorded beside their scores stands with these.

    Up to some version of 0.2 it was written so; readers need to know one form only. What is no
    mapping stays as it is: it is refused where contents are checked.
    """
    results = content.get("results")
    if not isinstance(results, Mapping):
        return dict(content)
    whole = {}
    for task, scores in results.items():
        kept = recorded(content.get("configs"), task).get("bookkeeping")
        whole[task] = scores
        if isinstance(kept, Mapping) and isinstance(scores, Mapping):
            more = {f"{name},none": value for name, value in kept.items()}
            whole[task] = {**scores, **more, **scores}
    return {**content, "results": whole}


def split(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a results file with a task per language in the place of such tasks."""
    divided = dict(content)
    tables = ("results", "configs", "n-samples", "higher_is_better")
    divided |= {name: dict(content.get(name) or {}) for name in tables}
    for task in content.get("n-samples") or ():
        # What is no object here raises: half of a task must not be read as the whole.
        parts = {**recorded(content["configs"], task).get("parts", {})}
        if not parts:
            continue
        whole = {name: divided[name].pop(task, None) or {} for name in tables}
        for code, part in parts.items():
            name = f"{task}_{(part.get('about') or {}).get('dataset')}_{code}"
            for table, entry in _part(task, str(code), part, whole).items():
                divided[table][name] = entry
    return divided


def _part(
    task: str, code: str, part: Mapping[str, Any], whole: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """A part's entry in each table of a results file."""
    names = part.get("signatures") or {}
    results = {
        f"{name}{key.removeprefix(f'{name}_{code}')}": value
        for name in names
        for key, value in whole["results"].items()
        if key.startswith((f"{name}_{code},", f"{name}_{code}_stderr,"))
    }
    higher = whole["higher_is_better"]
    metadata = whole["configs"]["metadata"]
    kept = {key: value for key, value in metadata["xling"].items() if key != "parts"}
    kept |= {**part, "part_of": {"task": task, "language": code}}
    return {
        "results": {**results, "alias": code},
        "configs": {**whole["configs"], "metadata": {**metadata, "xling": kept}},
        "n-samples": _counts(part.get("data") or {}, whole["n-samples"]),
        "higher_is_better": {name: higher.get(f"{name}_{code}") for name in names},
    }


def _counts(data: Mapping[str, Any], whole: Mapping[str, Any]) -> dict[str, Any]:
    """A part's questions: all that can be used in its language, and those that were asked."""
    try:
        original = data["questions"] - data["invalid_rows"]
        asked = data.get("asked")
        effective = min(original, whole["effective"]) if asked is None else asked
        return {"original": original, "effective": effective}
    except (LookupError, TypeError):
        return dict(whole)


def part_of(row: Mapping[str, Any], language: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """A sample's share of one language, with the part's metrics; empty where it has no question.

    Raises:
        LookupError, TypeError, ValueError: If the line is not as our tasks log it.
    """
    doc = row["doc"]
    if not isinstance(doc["languages"], dict) or not isinstance(row.get("arguments") or {}, dict):
        raise TypeError("doc.languages and arguments: objects are expected")
    if language not in doc["languages"]:
        return {}
    own_row = {key: row[key] for key in _OF_ALL & row.keys()}
    own_row |= {name: row[key] for name in names if (key := f"{name}_{language}") in row}
    own_row["doc"] = doc["languages"][language]
    begin, end = _span(doc, language, len(row["resps"]))
    for key in ("resps", "filtered_resps"):
        if isinstance(row.get(key), list):
            own_row[key] = row[key][begin:end]
    arguments = list((row.get("arguments") or {}).values())[begin:end]
    own_row["arguments"] = {f"gen_args_{number}": own for number, own in enumerate(arguments)}
    return own_row


def _span(doc: Mapping[str, Any], language: str, n_requests: int) -> tuple[int, int]:
    """Which of a document's requests are of a language: each of its prompts has as many."""
    prompts = [(code, int(doc["prompts"][code])) for code in doc["languages"]]
    each, rest = divmod(n_requests, sum(count for _, count in prompts))
    if rest:
        raise ValueError(f"{n_requests} replies to {sum(n for _, n in prompts)} prompts")
    begin = 0
    for code, count in prompts:
        if code == language:
            return begin * each, (begin + count) * each
        begin += count
    raise LookupError(language)
