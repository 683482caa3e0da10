"""The README.md with which a board's folder is a static Space of the Hugging Face Hub."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_TEXT = """\
---
title: Health answers across languages
emoji: 🌍
colorFrom: blue
colorTo: gray
sdk: static
app_file: index.html
pinned: false
short_description: How language models serve people by language
tags:
- leaderboard
- evaluation
- multilingual
- health
---

# Health answers across languages

How language models answer questions about health in several languages, measured with the
xling-tasks plugin of lm-evaluation-harness. `index.html` is the page (it works from disk too);
`board.csv` and `board.json` have every number.

## By language

SENTENCES

## How to read it

ABOUT
"""


def space_readme(content: Mapping[str, Any]) -> str:
    """The Space's settings, and in short what the board is."""
    said = "\n".join(f"- {_plain(each['said'])}" for each in content["by_language"])
    about = "\n\n".join(content["about"])
    return _TEXT.replace("ABOUT", about).replace("SENTENCES", said)


def _plain(text: str) -> str:
    """A text that Markdown takes for nothing else, whatever models are called."""
    return re.sub(r"([\\`*_\[\]<>|#!])", r"\\\1", " ".join(text.split()))
