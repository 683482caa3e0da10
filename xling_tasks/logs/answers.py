"""The digest of a document, by which a replay finds its logged answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from xling_tasks.cache.paths import cache_key

_DIGITS = 32


def doc_digest(doc: Mapping[str, Any]) -> str:
    """Return the digest of a document's content, as the harness logs it."""
    from lm_eval.utils import handle_non_serializable

    plain = json.loads(json.dumps(doc, default=handle_non_serializable))
    return cache_key(plain)[:_DIGITS]
