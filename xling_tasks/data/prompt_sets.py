"""Sets of prompts in several languages: ours, or any JSONL file.

One prompt per line: `id`, `category` and `varies` (both optional), and one field per language,
named by its code (`en`, `es`, ...). `varies` says by what right answers to the prompt differ
(`country`): an answer that is not the English one is no mistake there. `id` being the prompt's,
Indonesian's field is `ind`. Every line has the same languages; `null` says that there is no text in
one.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from xling_metrics.languages import language_code

from xling_tasks.data.dataset_info import DatasetInfo
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError, did_you_mean, unreadable, user_path
from xling_tasks.languages import LANGUAGES
from xling_tasks.safe_json import json_objects

ABOUT_FIELDS = ("id", "category", "varies")
"""The fields that are no language's, in their order."""

FIELDS = {code: "ind" if code == "id" else code for code in LANGUAGES}
"""The field of each language."""

ALL, SMALL = "all", "small"
PARTS = (ALL, SMALL)
"""How much of a bundled set is asked: all of it, or its fixed balanced first part."""

ROW = "an object with id, en, ..."
"""What a line of a set is, for error messages."""

_PLACEHOLDER = re.compile(r"\{[^{}\s]*\}")


@dataclass(frozen=True)
class PromptSet:
    """A loaded set: English is the first of its languages, the others are in the file's order.

    A prompt has `id`, `category`, `text` by language (None where there is none), and `varies` where
    it has one; the provenance is name and sha256 of the file.
    """

    languages: tuple[str, ...]
    prompts: tuple[dict[str, Any], ...]
    provenance: dict[str, Any]

    def missing(self, language: str) -> list[str]:
        """Return the ids of the prompts without a text in a language."""
        return [item["id"] for item in self.prompts if item["text"][language] is None]


def load_prompts(record: DatasetInfo, chosen: str = ALL) -> PromptSet:
    """Read the bundled set, its small part, or the file that `chosen` names.

    `SMALL` is the bundled set's first `record.n_small` prompts. The digest is of the part, so that
    runs of different parts are told apart.
    """
    bundled = chosen in PARTS
    path = SAMPLE_FOLDER / record.file if bundled else user_path(chosen)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"prompt_set={path}: {unreadable(path, error)}; give a JSONL file with id, en and "
            "other languages, or leave the setting out for the bundled prompts"
        ) from error
    if chosen == SMALL:
        content = b"".join(content.splitlines(keepends=True)[: record.n_small])
    parsed = _parsed(str(path), content, "bundled" if bundled else "file")
    which = {"set_version": record.version, "prompt_set": chosen} if bundled else {}
    return replace(parsed, provenance={**parsed.provenance, **which})


@functools.lru_cache(maxsize=8)
def _parsed(path: str, content: bytes, kind: str) -> PromptSet:
    prompts: list[dict[str, Any]] = []
    codes: dict[str, str] = {}
    ids: dict[str, int] = {}
    for number, row in json_objects(path, content, expected=ROW):
        try:
            codes = codes or _languages(row)
            prompts.append(_prompt(row, codes))
            key = prompts[-1]["id"]
            if (first := ids.setdefault(key, number)) != number:
                raise DataError(f"id {key!r} stands in line {first} already")
        except DataError as error:
            raise DataError(f"{path}, line {number}: {error}") from None
    if not prompts:
        raise DataError(f"{path}: the file has no prompts")
    languages = ("en", *(code for code in codes.values() if code != "en"))
    digest = hashlib.sha256(content).hexdigest()
    provenance = {"kind": kind, "name": Path(path).name, "sha256": digest}
    return PromptSet(languages, tuple(prompts), provenance)


def language_of(name: str) -> str:
    """Return the code that a field stands for: `ind` is Indonesian, `iw` Hebrew."""
    return "id" if name == "ind" else language_code(name)


def placeholders(text: str) -> list[str]:
    """Return the placeholders in a text, such as `{age}`, sorted."""
    return sorted(_PLACEHOLDER.findall(text))


def _languages(row: dict[str, Any]) -> dict[str, str]:
    """Return field -> language code, from the first line."""
    codes: dict[str, str] = {}
    for name in row.keys() - {*ABOUT_FIELDS}:
        code = language_of(name)
        if code not in LANGUAGES:
            hint = did_you_mean(name, {*ABOUT_FIELDS, *FIELDS.values()})
            raise DataError(f"unknown field {name!r}.{hint}")
        if code in codes.values():
            raise DataError(f"field {name!r}: language {code!r} stands there twice")
        codes[name] = code
    if "en" not in codes.values() or len(codes) < 2:
        raise DataError(
            "'en' and another language are needed; `xling translate-prompts` adds other languages"
        )
    return {name: codes[name] for name in row if name in codes}


def _prompt(row: dict[str, Any], codes: dict[str, str]) -> dict[str, Any]:
    for name, value in row.items():
        if name not in codes and name not in ABOUT_FIELDS:
            known = ", ".join(codes)
            raise DataError(f"field {name!r}: not in the first line, whose languages are {known}")
        is_text = isinstance(value, str) and bool(value.strip())
        is_number = name in ABOUT_FIELDS and type(value) is int
        is_absent = value is None and codes.get(name, "en") != "en"
        if not (is_text or is_number or is_absent):
            raise DataError(f"field {name!r}: expected a text, got {value!r:.40}")
    if missing := [name for name in ("id", *codes) if name not in row]:
        raise DataError(f"field {missing[0]!r}: missing; write null if there is no text")
    text = {code: row[name] for name, code in codes.items()}
    expected = placeholders(text["en"])
    for code, translation in text.items():
        if translation is not None and placeholders(translation) != expected:
            raise DataError(
                f"field {code!r}: placeholders {placeholders(translation)} differ from those in "
                f"English, {expected}"
            )
    varies = {"varies": str(row["varies"])} if "varies" in row else {}
    return {"id": str(row["id"]), "category": str(row.get("category", "")), **varies, "text": text}


# How far each text of the bundled sets has been checked

STATUSES = ("author", "back_translated", "native_read")
"""From the least checked: as written; translated back to English by a reader who saw neither the
English nor the card, and compared; read by a native speaker."""

STATUS_FILE = SAMPLE_FOLDER / "text_status.jsonl"


def text_digest(text: str) -> str:
    """Return the first 12 hexadecimal digits of a text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def statuses(data: PromptSet, path: Path = STATUS_FILE) -> dict[str, Counter[str]]:
    """Count the texts of a set by language (without English, the source) and status.

    A line of the file has `language`, `status` and `texts`: id -> digest of the text that was read.
    A text that was changed afterwards has another digest and is the author's again, so nobody
    vouches for words that they have not seen. What stands in no line is the author's.
    """
    read = {
        (row["language"], key, digest, row["status"])
        for _, row in json_objects(path)
        for key, digest in row["texts"].items()
    }
    counts: dict[str, Counter[str]] = {code: Counter() for code in data.languages[1:]}
    for code, item in product(counts, data.prompts):
        if text := item["text"][code]:
            key = code, item["id"], text_digest(text)
            statuses = [status for status in STATUSES if (*key, status) in read]
            counts[code][statuses[-1] if statuses else STATUSES[0]] += 1
    return counts
