"""Read Yes or No in a model's response, in any language; never guess.

A verdict on an answer is a word (Yes, false) that opens a response, follows a label or is a
sentence, or a statement ('The answer is not correct'). One that hedges is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import regex

from xling_tasks.readers.patterns import SIGNS, load_patterns
from xling_tasks.readers.text import signs_of, split_next_question, strip_markup, tokenize

WORDS = load_patterns("yes or no")
STATEMENTS = load_patterns("statements")
SIGNALS = load_patterns("verdict signals")

_LONE_SHI = regex.compile(r"(?<!\p{Han})是(?!\p{Han})")  # Yes; within a clause it is a copula
_TRUE, _FALSE = SIGNS["yes"] + SIGNS["right"], SIGNS["no"] + SIGNS["wrong"]
_HEAD = re.compile("[{line}{stop}{comma}]*".format_map(SIGNS))


def read_verdict(response: str, answer: str | None = None) -> int | None:
    """Return 1 for Yes, 0 for No, None where the response commits to neither.

    Args:
        response: The model's response.
        answer: The answer that it judges; a response that repeats it is read behind it.
    """
    text = _LONE_SHI.sub("是的", strip_markup(response))
    answer = (answer or "").strip()
    if len(answer) > 20 and text.startswith(answer):
        text = text.removeprefix(answer).strip()
    text, _ = split_next_question(text)
    kinds = signs_of(tokenize(text.replace("_", " "), "yes_no"))  # '"is_correct": true'
    verdicts = {verdict for name in WORDS for verdict in _find(WORDS[name], kinds)}
    labelled = any(True for _ in _find(WORDS["label"], kinds))
    if not labelled:
        found = (_find(pattern, kinds, negated=True) for pattern in STATEMENTS.values())
        verdicts |= {verdict for group in found for verdict in group}
    if len(verdicts) != 1 or SIGNALS["unsure"].search(kinds):
        return None
    (verdict,) = verdicts
    opposite = SIGNALS["not Yes" if verdict else "not No"]
    contradicted = not labelled and (SIGNALS["both"].search(kinds) or opposite.search(kinds))
    return None if contradicted else verdict


def _find(pattern: re.Pattern[str], kinds: str, negated: bool = False) -> Iterator[int | None]:
    """Yield the verdict of each match of a rule, None where it hedges or asks."""
    for match in pattern.finditer(kinds):
        start, end = match.span("at")
        head = _HEAD.match(kinds, match.start()).end()  # type: ignore[union-attr]
        clause = SIGNALS["clause end"].split(kinds[:head])[-1]
        is_question = pattern != WORDS["asked"] and SIGNALS["asked before"].search(kinds[:head])
        if is_question or SIGNALS["before"].search(clause) or SIGNALS["behind"].match(kinds, end):
            yield None
        else:
            first = match.start() + 2 * (match[0][1:2] == SIGNS["comma"])  # behind 'Yes,'
            around = kinds[first:start] + kinds[end : match.end() + 1]
            denials = len(SIGNALS["negation"].findall(around)) if negated else 0
            yield int((kinds[start] in _TRUE) == (denials % 2 == 0))
