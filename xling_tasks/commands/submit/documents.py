"""Documents in Markdown that `xling submit` writes, from templates beside those of the pages."""

from __future__ import annotations

import functools
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from xling_tasks.logs.results import TaskResults, as_json
from xling_tasks.pages import FOLDER


def filled(template: str, **values: Any) -> str:
    """A template with its values; a name that it lacks is an error."""
    return _environment().get_template(template).render(**values)


@functools.cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(FOLDER), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {"json": as_json, "templates": _templates}
    return made


def _templates(part: TaskResults) -> str:
    """How a task's requests were wrapped."""
    shas = (part.run.content.get(f"{name}_sha") for name in ("chat_template", "system_instruction"))
    chat, system = (sha or "none" for sha in shas)
    return f"Chat template (sha256): {chat}; system instruction (sha256): {system}"
