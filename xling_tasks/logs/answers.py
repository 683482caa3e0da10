"""The digest of a document, by which a replay finds its logged answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from xling_tasks.replies.folder import key_of

_DIGITS = 32


def doc_digest(doc: Mapping[str, Any]) -> str:
    """The digest of a document's content, as the harness logs it."""
    from lm_eval.utils import handle_non_serializable

    plain = json.loads(json.dumps(doc, default=handle_non_serializable))
    return key_of(plain)[:_DIGITS]
