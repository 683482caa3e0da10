"""A sample as it is read: its texts by heading, for one of its languages.

What is known of a criterion decides headings and marks; of anything else every field of the
document, every reply and every further value is shown as it stands, so that nothing is hidden.
The texts are both what the page shows and what its search looks through.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xling_tasks.criteria import CRITERIA, form_of
from xling_tasks.criteria.sample import Part, Passage, mapping
from xling_tasks.logs.shown.anything import SHORT, anything, rest

MOST = 300
"""Texts under one heading that are shown; the row itself has the others."""


def parts_of(criterion: str, sample: Mapping[str, Any], language: str) -> list[Part]:
    """The texts of a sample in one language, by heading.

    Args:
        criterion: A key of `CRITERIA`, or anything else.
        sample: A row of a file of samples.
        language: One of its languages.
    """
    form, known = form_of(criterion), CRITERIA.get(criterion)
    if known is None or known.shown is None:
        made = anything(sample, language)
    else:
        make, shown = known.shown.parts, known.shown.values
        codes = mapping(mapping(sample.get("doc")).get("text"))
        used = {each.format(code) for each in shown for code in codes or ("",)}
        made = [*make(sample, language, form.by_likelihood), *rest(sample, used)]
    return [
        Part(part.title, [_with_short_mark(each) for each in part.passages[:MOST]], _more(part))
        for part in made
        if part.passages
    ]


def _with_short_mark(passage: Passage) -> Passage:
    mark = passage.mark
    return passage if len(mark) <= SHORT else passage._replace(mark=f"{mark[:SHORT]}\u2026")


def _more(part: Part) -> str:
    left = len(part.passages) - MOST
    return f"{part.note} {left} more are in the row.".strip() if left > 0 else part.note
