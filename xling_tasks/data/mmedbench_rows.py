"""A line of MMedBench as a question with lettered options, one or more right, and a rationale.

A line of the published files is a JSON object with `question`, `options`, `answer_idx`,
`rationale`, `human_checked` and `human_check_passed`; other fields are not used. A sample that no
human has checked has `sample_rationale` in the place of the two: true where the rationale stands
for a checked one.

*Options* are an object (letter to text, in any order) or a list, whose first item is A, its second
B and so on; a list whose items carry letters of their own is refused, as its order says nothing.
`null` options at the end are padding (tools that need equal columns write them), not options.
*Right answers* are letters, parted by commas or the like or written together (`AB`), or a list.
Missing, `null` and `NaN` are the same; numbers are read as they are written.

What cannot be understood is an error. What is understood but would give a wrong score (an option
without text; a wrong option worded like a right one) is left out, counted and named.
"""

from __future__ import annotations

import hashlib
import json
import re
import string
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import Any, NoReturn

from xling_tasks.errors import DataError, did_you_mean
from xling_tasks.safe_json import json_objects

_SEPARATORS = re.compile(r"""[\s,;/|&+、・\[\]()'"]+""")
_LABEL = re.compile(r"\s*\(?([A-Z])\s*[.):：、．）]")
_FLAGS = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        id: `<language>-<split>-<row>-<digest>`; the digest is of question, options and answer, so
            that an id never stands for two contents.
        question: Its text.
        options: Text by letter, in the letters' order.
        answer: The right letters, at least one.
        rationale: Why they are right; None if there is none.
        rationale_checked: Whether that rationale passed the human check, or is a sample's that
            stands for one.
        row: The line in the file, from 1.
    """

    id: str
    question: str
    options: dict[str, str]
    answer: frozenset[str]
    rationale: str | None
    rationale_checked: bool
    row: int


def parse(
    content: bytes, place: str, language: str, split: str
) -> tuple[list[Question], dict[str, int]]:
    """All questions of the file `place`, and what was seen in it, by name."""
    questions, notes = [], Counter[str]()
    seen: set[str] = set()
    # Numbers stay as written: an option 0.10 is not 0.1.
    how: Any = {"parse_int": str, "parse_float": str, "parse_constant": lambda _: None}
    for number, fields in json_objects(place, content, unit="row", whole=True, **how):
        row = _Row(f"{place}, row {number}", fields)
        question = _question(row, f"{language}-{split}-{number}", notes)
        text = json.dumps([question.question, sorted(question.options.values())])
        notes["question and options stand in an earlier row too"] += text in seen
        seen.add(text)
        questions.append(question)
    if not questions:
        raise DataError(f"{place}: the file has no rows; download it again")
    return questions, {name: count for name, count in notes.items() if count}


@dataclass(frozen=True)
class _Row:
    """One line as read, with its place."""

    place: str
    fields: dict[str, Any]

    def fail(self, field: str, problem: str) -> NoReturn:
        """Raise the error of a field."""
        raise DataError(f"{self.place}, field {field!r}: {problem}; correct or remove the line")

    def require(self, field: str) -> Any:
        """A field that must be there."""
        if field not in self.fields:
            self.fail(field, f"is missing.{did_you_mean(field, self.fields)}".rstrip("."))
        return self.fields[field]

    def text(self, field: str, value: object) -> str:
        """A text without outer white space; empty where there is none."""
        if value is None:
            return ""
        if not isinstance(value, str):
            self.fail(field, f"expected a text, got {value!r:.60}")
        return value.strip()


def _question(row: _Row, prefix: str, notes: Counter[str]) -> Question:
    text = row.text("question", row.require("question"))
    if not text:
        row.fail("question", "the question is empty")
    options = _options(row)
    answer = _answer(row, options)
    rationale = row.text("rationale", row.fields.get("rationale")) or None
    checked, passed = _flag(row, "human_checked"), _flag(row, "human_check_passed")
    sample = _flag(row, "sample_rationale")
    if sample is not None and (checked is not None or passed is not None):
        row.fail("sample_rationale", "stands beside the flags of a human check; keep one of them")
    is_passed = bool(sample) or (passed is True and checked is not False)
    is_checked = is_passed and rationale is not None
    notes["rationale of a sample: checked by no human"] += sample is not None
    notes["human-check flags missing"] += sample is None and (checked is None or passed is None)
    notes["passed the human check but not human-checked: not used as checked"] += (
        passed is True and checked is False
    )
    notes["passed the human check but without rationale: not used as checked"] += (
        passed is True and rationale is None
    )
    notes["options repeat a text"] += len(set(options.values())) < len(options)
    content = json.dumps([text, options, sorted(answer)], ensure_ascii=False)
    digest = hashlib.sha256(content.encode()).hexdigest()[:8]
    number = int(prefix.rpartition("-")[2])
    return Question(f"{prefix}-{digest}", text, options, answer, rationale, is_checked, number)


def _options(row: _Row) -> dict[str, str]:
    """The options' texts by letter, in the letters' order; an empty text where it is missing."""
    value = row.require("options")
    pairs = _from_list(row, value) if isinstance(value, list) else value
    if not isinstance(pairs, dict):
        row.fail("options", f"expected an object (letter to text) or a list, got {value!r:.60}")
    options: dict[str, Any] = {}
    for key, text in pairs.items():
        letter = _plain(key).strip()
        if len(letter) != 1 or letter not in string.ascii_uppercase:
            row.fail("options", f"{_named(key)} is not one of the letters A to Z")
        if letter in options:
            row.fail("options", f"the letter {letter} appears twice")
        options[letter] = text
    letters = sorted(options)
    while letters and options[letters[-1]] is None:
        letters.pop()
    if len(letters) < 2:
        row.fail("options", f"at least two options are needed, got {value!r:.60}")
    return {letter: row.text("options", options[letter]) for letter in letters}


def _from_list(row: _Row, items: list[Any]) -> dict[str, Any]:
    if len(items) > len(string.ascii_uppercase):
        row.fail("options", f"{len(items)} options, but there are 26 letters")
    labels = [_LABEL.match(item) if isinstance(item, str) else None for item in items]
    own = [label[1] for label in labels if label]
    if len(own) == len(items) > 1 and len(set(own)) == len(own):
        row.fail(
            "options",
            f"the items of the list carry letters of their own ({', '.join(own)}); write an "
            "object, letter to text",
        )
    return dict(zip(string.ascii_uppercase, items, strict=False))


def _answer(row: _Row, options: dict[str, str]) -> frozenset[str]:
    """The right letters from `A`, `a,b`, `AB` (if all are options' letters) or `["A", "B"]`."""
    value = row.require("answer_idx")
    letters: list[str] = []
    for item in value if isinstance(value, list) else [value]:
        text = _plain(row.text("answer_idx", item))
        letters += [letter for part in _SEPARATORS.split(text) for letter in part]
    if not letters:
        row.fail("answer_idx", f"no right answer, got {value!r:.60}")
    wrong = [letter for letter in letters if letter not in options]
    if wrong:
        row.fail(
            "answer_idx",
            f"{_named(wrong[0])} is not among the options {', '.join(options)}, got {value!r:.60}",
        )
    if len(set(letters)) < len(letters):
        row.fail("answer_idx", f"names a letter twice, got {value!r:.60}")
    return frozenset(letters)


def _plain(text: str) -> str:
    """Upper case and without full-width forms, which mean the same letters."""
    return unicodedata.normalize("NFKC", text).upper()


def _named(text: str) -> str:
    """A letter that can be told from its look-alikes of other scripts."""
    if len(text) == 1 and not text.isascii():
        return f"{text!r} ({unicodedata.name(text, 'unknown character')})"
    return repr(text)


def _flag(row: _Row, field: str) -> bool | None:
    """A yes or no; None where it is missing."""
    value = row.fields.get(field)
    if value is None or isinstance(value, bool):
        return value
    known = _FLAGS.get(value.strip().lower()) if isinstance(value, str) else None
    if known is None:
        row.fail(field, f"must be true or false, got {value!r:.40}")
    return known
