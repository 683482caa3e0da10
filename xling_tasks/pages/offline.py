"""Pages of one HTML file with a script, which load nothing, send nothing, and run offline.

The texts on them come from language models and may be hostile. They are data in a JSON block that
cannot be left from inside (`<`, `>` and `&` are escaped), the script puts them into the document as
text only, and the page's policy allows its one script and style by their hashes, and no markup from
strings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from xling_tasks.pages import digest as hashed
from xling_tasks.pages import page_file

# What could end the JSON block or is no text: markup, line separators, lone halves of characters.
_UNSAFE = re.compile("[<>&\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def offline_page(
    name: str,
    data: object,
    *,
    title: str,
    digest: str = "",
    shared: Sequence[str] = (),
    styles: Sequence[str] = (),
) -> str:
    """A page as HTML, of the template, style and script in this folder that have its name.

    Its script reads the data; the title is plain text of ours; the digest tells it from others of
    its kind. `shared` styles with scripts stand before its own; `styles` are further ones.
    """
    style = "".join(page_file(f"{each}.css") for each in (*shared, name, *styles))
    script = "".join(page_file(f"{each}.js") for each in (*shared, name))
    parts = {
        "title": title,
        "policy": _policy(style, script),
        "digest": digest,
        "style": style,
        "script": script,
        "data": as_block(data),
    }
    # One pass: what a text contains is never taken for a place to fill.
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], page_file(f"{name}.html"))


def as_block(data: object) -> str:
    """JSON that cannot end the element it stands in, whatever its texts contain."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _policy(style: str, script: str) -> str:
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{hashed(script)}'",
            f"style-src '{hashed(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )
