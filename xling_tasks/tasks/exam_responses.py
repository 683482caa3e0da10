"""Rationale, marker and letters of responses to exam questions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from xling_tasks.data.prompts import PromptFormat
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


def rationale_of(text: str, *, fine_tuned: bool, form: PromptFormat | None = None) -> str:
    """Return the part of a response before the marker; all of it where there is none.

    What stands between rationale and letters may be said by the `target` of the prompt's form.
    """
    parts = form.parts(text) if form else None
    if parts is not None:
        return parts[0]
    if fine_tuned:
        match = _FT_RATIONALE.search(text)
        return (match[1] if match else _FT_ANSWER.sub("", text)).strip()
    return _END.split(text)[0].strip()


def has_marker(text: str, *, fine_tuned: bool, form: PromptFormat) -> bool:
    """Return whether a response has what stands between rationale and letters."""
    marker = _FT_ANSWER if fine_tuned else _END
    return form.parts(text) is not None or marker.search(text) is not None


def letters_of(
    text: str,
    doc: Mapping[str, Any],
    *,
    fine_tuned: bool,
    cut: bool = False,
    form: PromptFormat | None = None,
    after_marker: bool = True,
) -> frozenset[str] | None:
    """Return the letters behind the marker; read from the whole response where there is none.

    A marker within the model's reasoning is none, and one with nothing behind it ends the letters.
    Without `after_marker` no marker but that of the prompt's form is looked for.
    """
    parts = form.parts(text) if form else None
    if parts is not None:
        text = parts[1]
    elif after_marker and not fine_tuned:
        stripped = strip_reasoning(text)
        if stripped is None:
            return None
        before, *after = _END.split(stripped, maxsplit=1)
        text = after[0] if after and any(map(str.isalnum, after[0])) else before
    stated = _ft_letters(text) if fine_tuned else text
    return read_letters(
        stated, doc["options"], several=doc["several"], cut=cut, question=doc.get("question", "")
    )


def _ft_letters(text: str) -> str:
    """Return the letters in the fixed output form, where one is stated; else what stands there.

    The part after the last label counts, or the whole response where there is none. Several
    statements ('OPTION A IS CORRECT. OPTION C IS CORRECT.') are left to `read_letters`.
    """
    answer = _FT_QUESTION.split(text, maxsplit=1)[0] or text
    _, *labelled = _FT_LABEL.split(answer)
    statement = re.split("#{1,3}", labelled[-1], maxsplit=1)[0] if labelled else text
    letters = set(_FT_OPTION.findall(statement))
    if len(letters) != 1:
        return statement
    return ", ".join(re.findall("[A-H]", letters.pop().replace("AND", ",")))
