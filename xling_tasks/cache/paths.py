"""Folders and keys of caches."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from xling_tasks.errors import user_path
from xling_tasks.log import warn_once

_JSON = json.JSONEncoder(sort_keys=True, ensure_ascii=False, default=str)


def cache_folder(setting: str | bool | None) -> Path | None:
    """Return the cache folder: the setting, else `XLING_CACHE`, else `~/.cache/xling_tasks`.

    Returns:
        The folder, created if need be; None if the setting is False, or (with a warning) if it
        cannot be created: a cache never ends a run.
    """
    folder = configured_folder(setting)
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        warn_once(
            f"the cache folder {folder} cannot be created ({error}); the run goes on without: "
            "responses of judges and translators are not stored for a later run. Set --metadata "
            "xling_cache=FOLDER or the environment variable XLING_CACHE"
        )
        return None
    return folder


def configured_folder(setting: str | bool | None) -> Path | None:
    """Return the folder of `cache_folder` without creating it."""
    name = setting if isinstance(setting, str) else os.environ.get("XLING_CACHE")
    # In the environment everything is text: 'false' there is no name of a folder.
    if setting is False or (setting is None and str(name).lower() in ("false", "off", "0")):
        return None
    return user_path(name or "~/.cache/xling_tasks")


def cache_key(*parts: Any) -> str:
    """Return a content key: the digest of the parts' canonical JSON."""
    text = _JSON.encode(parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
