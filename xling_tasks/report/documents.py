"""Documents in Markdown and other plain text, from templates beside those of the pages."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from xling_tasks.languages import language_name
from xling_tasks.logs.results import TaskResults, as_json
from xling_tasks.output import plain
from xling_tasks.pages import FOLDER


def filled(template: str, **values: Any) -> str:
    """Fill a template with its values; a name that it lacks is an error."""
    return _environment().get_template(template).render(**values)


def cell(value: Any) -> str:
    """Format a value in a table or a line: people's own texts stay text."""
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, Mapping):
        return ", ".join(f"{cell(name)} {cell(item)}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(cell, value))
    return "" if value is None else plain(str(value))


@functools.cache
def _environment() -> Environment:
    result = Environment(
        loader=FileSystemLoader(FOLDER), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    result.filters |= {
        "json": as_json, "templates": _templates, "cell": cell, "plain": plain,
        "language_name": language_name,
    }  # fmt: skip
    return result


def _templates(part: TaskResults) -> str:
    """How a task's requests were wrapped."""
    shas = (part.run.content.get(f"{name}_sha") for name in ("chat_template", "system_instruction"))
    chat, system = (sha or "none" for sha in shas)
    return f"Chat template (sha256): {chat}; system instruction (sha256): {system}"
