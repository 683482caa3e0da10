"""Templates of pages: one environment in which every value is escaped.

Characters that do not show (controls, direction overrides, lone halves) are named in a box wherever
a value is written.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from xling_tasks.languages import language_name
from xling_tasks.pages import FOLDER, hash_source, read_page_file
from xling_tasks.report import words
from xling_tasks.report.table import format_cell
from xling_tasks.secrets import without_hosts

SIGNS = {
    "worse": "M-6,-4.5H6L0,6Z",
    "better": "M-6,4.5H6L0,-6Z",
    "equivalent": "M-5,-4H5V-1H-5ZM-5,1H5V4H-5Z",
    "inconclusive": "M-5,0A5,5 0 1 1 5,0A5,5 0 1 1 -5,0Z",
    "not_comparable": "M-4.5,-4.5L4.5,4.5M-4.5,4.5L4.5,-4.5",
    "not_measured": "M-5,0H5",
}
"""The sign of each verdict, as an SVG path around 0."""

_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u2028-\u202e\u2060-\u2069\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)


def escape_text(value: object) -> Markup:
    """Escape a value for HTML and name what does not show; markup of ours stays as it is."""
    if hasattr(value, "__html__"):
        return Markup(value)
    text = str(escape(str(value).replace("\r\n", "\n")))
    return Markup(_INVISIBLE.sub(lambda m: f'<span class="control">U+{ord(m[0]):04X}</span>', text))


def escape_attribute(value: object) -> Markup:
    """Escape a value in the double quotes of an attribute, where no box can stand."""
    return Markup(_INVISIBLE.sub(lambda m: f"U+{ord(m[0]):04X}", str(escape(str(value)))))


def mark_code(text: str) -> Markup:
    """Escape a text in which code stands between backquotes."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape_text(text))))


@functools.cache
def environment() -> Environment:
    """Return the templates; a name that a template lacks is an error."""
    result = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        finalize=escape_text,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    result.globals |= {"SIGNS": SIGNS, "W": words.words()}
    result.filters |= {
        "attribute": escape_attribute,
        "code": mark_code,
        "cell": format_cell,
        "language": language_name,
    }
    return result


def as_block(data: object) -> Markup:
    """Format data as JSON that cannot end the element it stands in, whatever its texts contain."""
    text = json.dumps(data, ensure_ascii=True)
    return Markup(re.sub("[<>&]", lambda m: f"\\u{ord(m[0]):04x}", text))


def render(
    template: str, *, script: str = "", note: str = "",
    styles: Sequence[str] = ("page.css", "fonts.css"), **values: Any,
) -> str:  # fmt: skip
    """Render a page whose policy allows its style, its script, and scripts that lie beside it."""
    style = "".join(map(read_page_file, styles))
    scripts = f"script-src '{hash_source(script)}' 'self' file:; " if script else ""
    policy = (
        f"default-src 'none'; {scripts}style-src '{hash_source(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    page = environment().get_template(template)
    values |= {"style": Markup(style), "policy": Markup(policy), "script": Markup(script)}
    return without_hosts(page.render(**values, note=note))
