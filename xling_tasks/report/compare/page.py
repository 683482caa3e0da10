"""The page of `xling compare`, in the form of a report's: the answer, a picture, then the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup
from xling_metrics.stats.resampling import LEVEL

from xling_tasks.report.compare.answer import FEW, by_language, conclusions
from xling_tasks.report.compare.numbers import Line
from xling_tasks.report.compare.words import tables
from xling_tasks.report.page.html import environment
from xling_tasks.report.page.page import page_style, policy
from xling_tasks.report.pictures.verdicts import overview


def compare_page(content: Mapping[str, Any], lines: Sequence[Line]) -> str:
    """The comparison as one HTML document; equal arguments give equal text.

    Args:
        content: What `compare.json` holds.
        lines: Every comparison, with what is concluded.
    """
    style = page_style()
    said = by_language(lines)
    return (
        environment()
        .get_template("compare.html")
        .render(
            policy=Markup(policy(style)),
            style=Markup(style),
            content=content,
            banner=[],
            criteria=(),
            picture=overview(conclusions(lines), LEVEL, "A"),
            said=said,
            folded=len(said) > FEW,
            tables=tables(lines),
        )
    )
