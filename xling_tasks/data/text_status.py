"""How far each text of the bundled sets of prompts has been checked.

A line of the file has `language`, `status` and `texts`: id -> digest of the text that was read. A
text that was changed afterwards has another digest and is the author's again, so nobody vouches for
words that they have not seen. What stands in no line is the author's.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from xling_tasks.data.prompt_sets import PromptSet
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError
from xling_tasks.safe_json import json_objects

STATUSES = ("author", "back_translated", "native_read")
"""From the least checked: as written; translated back to English by a reader who saw neither the
English nor the card, and compared; read by a native speaker."""

FILE = SAMPLE_FOLDER / "text_status.jsonl"

_ROW = "an object with language, status, texts"


def text_digest(text: str) -> str:
    """The first 12 hexadecimal digits of a text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def statuses(data: PromptSet, path: Path = FILE) -> dict[str, Counter[str]]:
    """Texts of a set by language (English left out: it is the source) and status.

    Raises:
        DataError: If a line of the file is wrong.
    """
    known = _read_digests(path)
    counts: dict[str, Counter[str]] = {}
    for code in data.languages[1:]:
        texts = {item["id"]: item["text"][code] for item in data.prompts}
        counts[code] = Counter(
            _status(known.get((code, key), {}), text) for key, text in texts.items() if text
        )
    return counts


def _status(known: Mapping[str, str], text: str) -> str:
    """The highest status that was given to this very text."""
    digest = text_digest(text)
    return next((s for s in reversed(STATUSES) if known.get(s) == digest), STATUSES[0])


def _read_digests(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """(language, id) -> status -> digest of the text that was read."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error
    known: dict[tuple[str, str], dict[str, str]] = {}
    for number, row in json_objects(str(path), content, expected=_ROW):
        language, status, texts = (row.get(key) for key in ("language", "status", "texts"))
        if not isinstance(language, str) or status not in STATUSES or not isinstance(texts, dict):
            raise DataError(
                f"{path}, line {number}: expected language, status ({', '.join(STATUSES)}) and "
                "texts (id and digest)"
            )
        for key, digest in texts.items():
            known.setdefault((language, key), {})[status] = str(digest)
    return known
