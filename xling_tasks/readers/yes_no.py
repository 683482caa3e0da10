"""Read Yes or No out of a model's reply, in any language; never guess.

The question is whether an answer is correct. A verdict is a word (Yes, No, true, false) that opens
the reply, follows a label, or is the last line; or a statement on the answer ('The answer is
correct'). What negates, hedges, asks or says both is unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from xling_tasks.readers.text import before_next_question, kinds_of, plain, tokens_of

_WORD = r"(?P<at>[yz])"
OPENING = re.compile(rf"\A[sq(:-]*{_WORD}(?=[)q]*(?:[.,:\n)-]|\Z))")  # 'Yes. The answer ...'
LABEL = re.compile(rf"[aF][aosrF()q]*[:i=\n-]+[s(q:]*{_WORD}(?=[)q]*(?:[.\n]|\Z))")  # 'Answer: No'
LAST = re.compile(rf"(?:\A|[\n.])[sq(-]*{_WORD}[).q]*\Z")  # '...\nYes.'
ALONE = re.compile(rf"(?:\A|[\n.])[sq(-]*{_WORD}[)q]*(?=[.\n]|\Z)")  # a sentence of one word
STATED = re.compile(r"(?:\A|[\n.]|[yz],)s{0,2}ax?is?(?P<at>[yzrw])(?=[)q]*(?:[.\n]|\Z))")
"""'The answer is correct.'"""
RULES = (OPENING, LABEL, LAST, ALONE, STATED)

_YES = "yr"
_BEFORE = re.compile(r"[nh?f|bx]|[yz][^,]")  # 'It is not true that the answer is: No'
_BEHIND = re.compile(r"[,)q]*[isx]{0,3}[hf|b?]|[^.\n]*[u?]|[^.\n]{0,9}h")  # 'Yes, if ...'
_BOTH = re.compile(r"y[)q]*[/|&,-]{1,2}[sq(]*z|z[)q]*[/|&,-]{1,2}[sq(]*y")  # 'Yes/No'
_FIELD = re.compile(r"[\"']([^\"'\n{}:]{1,40})[\"']\s*:\s*[\"']?([^\"',}\n]+)")  # "answer": "yes"


def read_verdict(reply: str, answer: str | None = None) -> int | None:
    """Return 1 for Yes, 0 for No, None where the reply commits to neither.

    Args:
        reply: What the model said.
        answer: The answer that it judges; a reply that repeats it is read behind it.
    """
    text = plain(reply)
    if not text:
        return None
    if answer and len(answer) > 20 and text.startswith(answer.strip()):
        text = text[len(answer.strip()) :].strip()
    return _verdict(before_next_question(text))


def _verdict(text: str) -> int | None:
    """Return what all places of a verdict say."""
    if re.match(r"\s*(?:json)?\s*\{", text):
        return _field(text)
    kinds = kinds_of(tokens_of(text, verdict=True))
    last = max(kinds.rstrip(".)q\n").rfind(sign) for sign in ".\n")
    labelled = any(":" in m[0] or "\n" in m[0] or m.start() > last for m in LABEL.finditer(kinds))
    found = {value for rule in RULES for value in _places(rule, kinds)}
    if len(found) != 1 or 2 in found or _BOTH.search(kinds) or "b" in kinds:
        return None
    verdict = found.pop()
    return None if not labelled and _contradicted(kinds, verdict) else verdict


def _field(text: str) -> int | None:
    """Read '{"answer": "yes"}' where one field is of an answer and holds a word."""
    found = []
    for key, value in _FIELD.findall(text):
        name = kinds_of(tokens_of(key.replace("_", " "), verdict=True))
        word = kinds_of(tokens_of(value, verdict=True))
        if re.fullmatch("[aoryiF]+", name) and re.fullmatch("[yz]", word):
            found.append(int(word == "y"))
    return found[0] if len(found) == 1 else None


def _places(rule: re.Pattern[str], kinds: str) -> Iterator[int]:
    """Yield the verdict of each place of a rule, 2 where it is negated or hedged."""
    for match in rule.finditer(kinds):
        start, end = match.span("at")
        said = kinds[: match.start() + len(match[0]) - len(match[0].lstrip("\n.,"))]
        before = re.split(r"[.\n?,]", said)[-1]
        asked = re.search(r"\?[^.\n]*\Z", said)
        unsure = asked or _BEFORE.search(before) or _BEHIND.match(kinds, end)
        yield 2 if unsure else int(kinds[start] in _YES)


def _contradicted(kinds: str, verdict: int) -> bool:
    """Tell whether a reply says the opposite in another sentence."""
    opposite = "zwn" if verdict == 1 else "yr"
    rule = rf"[.\n,]s?u[^.\n]*[{opposite}]|(?<![nz])ix?[{opposite}](?:[.\n]|\Z)|ai[{opposite}]"
    return bool(re.search(rule, kinds))
