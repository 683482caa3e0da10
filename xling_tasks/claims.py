"""Claims of English texts: extracted, and checked against another text, by the judge.

Two passes for a whole task: every distinct text is taken apart once, then every list of claims is
checked once against each text it is compared with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from xling_metrics.claims import distinct_claims

from .backend import Backend
from .judge import fence_code
from .prompts import Prompt

PER_PROMPT = 30
"""Claims checked in one prompt, so that no reply comes near its length limit."""

EXTRACTION_TOKENS = 2048
"""Room for the claims of one text; a list cut off within would have no end mark."""

_NUMBERED = re.compile(r"[\s*_>#]*\(?(\d{1,3})\s*[.):][\s*_]*(\S.*?)[\s*_]*")
_BULLET = re.compile(r"\s*[-*•–][\s*_]*(\S.*?)[\s*_]*")
_END = re.compile(r"\W*end\W+of\W+claims\W*", re.I)
_NONE = re.compile(r"(?:\W*1\s*[.):])?\W*none\W*", re.I)
_VERDICT = re.compile(
    r"[\s*_>#(\[]*(?:claim\s*)?(\d{1,3})[\s*_)\]]*[.):=-]*[\s*_\[\"']*"
    r"(not[\s-]+supported|unsupported|supported)\b[\s*_\]\"']*(?:[.;:,(–—-].*)?",
    re.I,
)


@dataclass(frozen=True)
class Extraction:
    """The claims of one text.

    Attributes:
        claims: The distinct claims; () for a text that makes none; None if the judge could not be
            asked or its reply is no whole list.
        unparsed: Lines of the list that are no claim, and numbers that are missing.
        reply: What the judge said; None if it was not asked or did not answer.
    """

    claims: tuple[str, ...] | None
    unparsed: int = 0
    reply: str | None = None


def extract(texts: Sequence[str], prompt: Prompt, judge: Backend) -> list[Extraction]:
    """The claims of each text, in order; equal texts are asked about once, empty ones never."""
    asked = list(dict.fromkeys(text for text in texts if text.strip()))
    prompts = [fill_claims(prompt, text) for text in asked]
    replies = judge.ask(prompts, until=("[BEGIN TEXT",), at_least=EXTRACTION_TOKENS)
    found = {text: read_claims(reply) for text, reply in zip(asked, replies, strict=True)}
    return [found[text] if text.strip() else Extraction(()) for text in texts]


def fill_claims(prompt: Prompt, text: str) -> str:
    """The prompt that takes a text apart."""
    return prompt.fill(text=text, code=fence_code(text))


def read_claims(reply: str | None) -> Extraction:
    """The claims in a reply.

    Read are numbered lines, or bulleted ones where none is numbered. The end mark must be there:
    without it the list may have been cut off, and shares over a part of the claims would be
    wrong without a sign of it. Lines before the first claim are ignored; others that are no claim
    are counted.
    """
    if reply is None:
        return Extraction(None)
    lines = [line for line in reply.splitlines() if line.strip()]
    ends = [i for i, line in enumerate(lines) if _END.fullmatch(line)]
    if not ends:
        return Extraction(None, len(lines), reply)
    lines = lines[: ends[0]]
    if len(lines) == 1 and _NONE.fullmatch(lines[0]):
        return Extraction((), 0, reply)
    numbered = any(_NUMBERED.fullmatch(line) for line in lines)
    pattern = _NUMBERED if numbered else _BULLET
    matches = [pattern.fullmatch(line) for line in lines]
    first = next((i for i, match in enumerate(matches) if match), None)
    if first is None or any(_NONE.fullmatch(line) for line in lines):
        return Extraction(None, len(lines), reply)
    hits = [match for match in matches if match]
    unparsed = len(matches) - first - len(hits)
    if numbered:
        numbers = {int(match[1]) for match in hits}
        unparsed = max(unparsed, max(numbers) - len(numbers))
    return Extraction(tuple(distinct_claims([match[match.re.groups] for match in hits])),
                      unparsed, reply)  # fmt: skip


def verify(
    pairs: Sequence[tuple[tuple[str, ...], str]], prompt: Prompt, judge: Backend
) -> list[list[bool | None]]:
    """Whether each reference supports its claims: one verdict per claim, None where there is none.

    Args:
        pairs: (claims, reference text). Equal pairs are asked about once; an empty reference
            supports nothing and is not asked about.
        prompt: The prompt `support`.
        judge: Whom to ask.
    """
    distinct = dict.fromkeys(pair for pair in pairs if pair[0] and pair[1].strip())
    parts = {pair: list(_chunks(pair[0])) for pair in distinct}
    prompts = [
        fill_support(prompt, part, reference)
        for (_, reference), chunks in parts.items()
        for part in chunks
    ]
    replies = iter(judge.ask(prompts, until=("[BEGIN REFERENCE",)))
    found = {
        pair: [verdict for part in chunks for verdict in read_support(next(replies), len(part))]
        for pair, chunks in parts.items()
    }
    return [found.get(pair, [False] * len(pair[0])) for pair in pairs]


def fill_support(prompt: Prompt, claims: Sequence[str], reference: str) -> str:
    """The prompt that checks claims against a reference."""
    listed = "\n".join(f"{i}. {claim}" for i, claim in enumerate(claims, start=1))
    return prompt.fill(claims=listed, reference=reference, code=fence_code(listed, reference))


def read_support(reply: str | None, count: int) -> list[bool | None]:
    """The verdicts on claims 1 to `count` in a reply.

    A verdict is a line with the number and SUPPORTED or NOT SUPPORTED, perhaps with a reason
    behind it. A number with none, or with two that differ, has None.
    """
    found: dict[int, set[bool]] = {}
    for line in (reply or "").splitlines():
        if match := _VERDICT.fullmatch(line.strip()):
            found.setdefault(int(match[1]), set()).add(match[2].lower() == "supported")
    unique = {number: said.pop() for number, said in found.items() if len(said) == 1}
    return [unique.get(number) for number in range(1, count + 1)]


def _chunks(claims: Iterable[str]) -> Iterable[tuple[str, ...]]:
    rest = iter(claims)
    while part := tuple(islice(rest, PER_PROMPT)):
        yield part
