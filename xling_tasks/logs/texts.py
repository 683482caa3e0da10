"""Which texts of anybody's document are the question, and which its options.

Documents name them as they like: `option_a`, `op1`, `mc_answer1`, `answers: [{atext: ...}]`. Texts
that are counted through under one name are options; of the others, what stands in the prompt is
what was asked, and the rest (a source, a subject, a link) is about the question.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_LETTERS = 10
"""Characters below which a text stands in a prompt by chance."""

_NUMBERED = re.compile(r"(.*?)(\d+)(\D*)", re.S)
_LETTERED = re.compile(r"(.*)([A-Za-z])()", re.S)


def asked(doc: Any, arguments: Any, n_options: int = 0) -> dict[str, Any]:
    """The question and its options: `question`, and `options` by number.

    Args:
        doc: The document.
        arguments: Of its first request, as samples have them: the prompt is in it.
        n_options: How many options there are, where that is known.
    """
    texts = dict(_leaves(doc))
    options = _options(texts, n_options)
    prompt = "\n".join(text for _, text in _leaves(arguments))
    others = [text for path, text in texts.items() if path not in options and text.strip()]
    told = [text for text in others if _stands_in(text.strip(), prompt)]
    if not told or max(map(len, told)) < min(_LETTERS, max(map(len, others))):
        told = others  # A prompt that writes the question in another way, and a letter of it.
    return {
        "question": "\n".join(dict.fromkeys(told)),
        "options": {str(at): texts[path] for at, path in enumerate(options)},
    }


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Each text by where it stands, such as `answers/0/atext`."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _leaves(item, f"{path}/{name}")
    elif isinstance(value, (list, tuple)):
        for at, item in enumerate(value):
            yield from _leaves(item, f"{path}/{at}")


def _stands_in(text: str, prompt: str) -> bool:
    """Whether a prompt has a text as it is, or as JSON writes it (chats are logged so)."""
    return text in prompt or json.dumps(text, ensure_ascii=False)[1:-1] in prompt


def _options(texts: Mapping[str, str], n: int) -> list[str]:
    """Where the options stand: as many as there are to be, else the most that are counted.

    What only counts itself (`label: [A, B, C]`) is none.
    """
    series = [own for own in _series(texts) if not _labels([texts[path].strip() for path in own])]
    right = [own for own in series if len(own) == n]
    return (right or sorted(series, key=len, reverse=True) or [[]])[0]


def _series(texts: Mapping[str, str]) -> Iterator[list[str]]:
    """Texts whose places differ in one number or letter, counted through from the first."""
    for pattern, firsts in ((_NUMBERED, ("0", "1")), (_LETTERED, ("a", "A"))):
        groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for path in texts:
            if match := pattern.fullmatch(path):
                groups.setdefault((match[1], match[3]), []).append((match[2], path))
        for own in groups.values():
            marks = [mark for mark, _ in own]
            if len(own) > 1 and marks[0] in firsts and _counted_through(marks):
                yield [path for _, path in own]


def _labels(texts: Sequence[str]) -> bool:
    return all(len(text) == 1 for text in texts) and _counted_through(texts)


def _counted_through(marks: Sequence[str]) -> bool:
    numbers = [int(mark) if mark.isdecimal() else ord(mark) for mark in marks]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))
