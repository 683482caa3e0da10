"""What stands in a reply to an exam question: rationale, marker and letters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from xling_tasks.data.prompt_formats import PromptFormat
from xling_tasks.readers import read_letters
from xling_tasks.readers.reasoning import strip_reasoning

# The marker of the prompt, also translated or in other brackets; with the marks of a heading or of
# bold type around it, and a colon after it.
_END = re.compile(
    r"(?:^[ \t]*#+[ \t]*)?[*_`]*[\[［【〔]"
    r"\s*(?:end|fin|конец|结束|結束|終わり|終了|अंत|समाप्त)\s*[\]］】〕]"
    r"[*_`]*\s*[:：]?[*_`]*",
    re.I | re.M,
)
_FT_LABEL = re.compile(r"#{1,3}\s*Answer\s*:?", re.I)
_FT_QUESTION = re.compile(r"#{1,3}\s*Question\b", re.I)
_FT_ANSWER = re.compile(r"#{1,3}\s*Answer\s*:?\s*(.*)", re.S | re.I)
# A statement of the form, not the beginning of one ('OPTION B IS CORRECT only in children').
_FT_OPTION = re.compile(
    r"OPTIONS?\s+([A-H](?:\s*(?:,|AND|&)?\s*[A-H])*)\s+(?:IS|ARE)\s+CORRECT(?=[\s*]*(?:[.!,;:#\n]|$))"
)
_FT_RATIONALE = re.compile(r"#{1,3}\s*Rationale\s*:?\s*(.*?)(?=#{1,3}\s*Answer|$)", re.S | re.I)


def rationale_of(reply: str, *, fine_tuned: bool, form: PromptFormat | None = None) -> str:
    """The part of a reply before the marker; all of it where there is none.

    What stands between rationale and letters may be said by the `target` of the prompt's form.
    """
    parts = form.parts(reply) if form else None
    if parts is not None:
        return parts[0]
    if fine_tuned:
        match = _FT_RATIONALE.search(reply)
        return (match[1] if match else _FT_ANSWER.sub("", reply)).strip()
    return _END.split(reply)[0].strip()


def has_marker(reply: str, *, fine_tuned: bool, form: PromptFormat) -> bool:
    """Whether a reply has what stands between rationale and letters."""
    marker = _FT_ANSWER if fine_tuned else _END
    return form.parts(reply) is not None or marker.search(reply) is not None


def letters_of(
    reply: str,
    doc: Mapping[str, Any],
    *,
    fine_tuned: bool,
    cut: bool = False,
    form: PromptFormat | None = None,
) -> frozenset[str] | None:
    """The letters after the marker; read from the whole reply where there is none.

    A marker within the model's thinking is none, and one with nothing behind it ends the letters.
    """
    parts = form.parts(reply) if form else None
    if parts is not None:
        return stated_letters(parts[1], doc, fine_tuned=fine_tuned, cut=cut)
    if not fine_tuned:
        said = strip_reasoning(reply)
        if said is None:
            return None
        before, *after = _END.split(said, maxsplit=1)
        reply = after[0] if after and any(map(str.isalnum, after[0])) else before
    return stated_letters(reply, doc, fine_tuned=fine_tuned, cut=cut)


def stated_letters(
    reply: str, doc: Mapping[str, Any], *, fine_tuned: bool, cut: bool
) -> frozenset[str] | None:
    """The letters that a reply, or its part after the marker, commits to."""
    text = _ft_letters(reply) if fine_tuned else reply
    return read_letters(
        text, doc["options"], several=doc["several"], cut=cut, question=doc.get("question", "")
    )


def _ft_letters(reply: str) -> str:
    """The letters in the fixed output form, where one is stated; else what stands in its place.

    The part after the last label counts, or the whole reply where there is none. Several statements
    ('OPTION A IS CORRECT. OPTION C IS CORRECT.') are left to the reader, as any list is.
    """
    own = _FT_QUESTION.split(reply, maxsplit=1)[0] or reply
    _, *labelled = _FT_LABEL.split(own)
    place = re.split("#{1,3}", labelled[-1], maxsplit=1)[0] if labelled else reply
    stated = set(_FT_OPTION.findall(place))
    if len(stated) != 1:
        return place
    return ", ".join(re.findall("[A-H]", stated.pop().replace("AND", ",")))
