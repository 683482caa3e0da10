"""Claims of English texts: extracted, and checked against another text, by the judge.

Two passes for a whole task: every distinct text is taken apart once, then every list of claims is
checked once against each text it is compared with. Every line that counts carries a code (see
`readers.fences`), so that a text's own list or verdicts are not taken for the judge's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any

from xling_metrics.claims import distinct_claims

from xling_tasks.data.prompts import Prompt
from xling_tasks.models.again import Second, ask_again, both_replies
from xling_tasks.models.backend import Backend
from xling_tasks.models.failures import ANSWER, Reply
from xling_tasks.readers.fences import Fences, behind_code, coded_statements
from xling_tasks.readers.thinking import without_thinking

PER_PROMPT = 30
"""Claims checked in one prompt, so that no reply comes near its length limit."""

EXTRACTION_TOKENS = 2048
"""Room for the claims of one text; a list cut off within would have no end mark."""

# A digit behind the mark makes it part of a number: `2.5 mg` begins no item.
_NUMBERED = re.compile(
    r"[\s*_>#]*(?:claim\s+)?[(\[]?(\d{1,3})[\s*_]*[.):\]]{1,2}(?!\d)[\s*_]*(\S.*?)[\s*_]*", re.I
)
_BULLET = re.compile(r"\s*(?:[-*–]\s|•)[\s*_]*(\S.*?)[\s*_]*")
_END = re.compile(r"\W*end\W+of\W+claims\W*", re.I)
_NONE = re.compile(r"(?:\W*1\s*[.):])?\W*none\W*", re.I)
# A claim that there is no claim: neither a claim nor the word that was asked for.
_NO_CLAIM = re.compile(
    r"\W*(?:none|n\W?a|nil|nothing|not applicable"
    r"|(?:(?:the|this) (?:text|answer|response) (?:makes|has|contains|gives|does not make)"
    r"|there (?:is|are))? ?(?:no|any)(?: \w+){0,2}? claims?(?: (?:is|are|were)? ?"
    r"(?:made|found|present|identified|to list|in (?:the|this) text|about the world))?)\W*",
    re.I,
)
_FENCE = re.compile(r"\s*(?:```|~~~)\w*\s*")
# Nothing may stand behind the word: a claim that is restated may begin with it.
_VERDICT = re.compile(
    r"[\s*_>#(\[|-]*(?:claim\s*#?)?(\d{1,3})[\s*_)\]|]*[.):=-]*[\s*_\[\"'|✅✔☑❌✗]*"
    r"(not[\s-]+supported|unsupported|supported)\b[\s*_\]\"'|.✅✔☑❌✗]*",
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
        asked_again: Whether it was asked a second time.
    """

    claims: tuple[str, ...] | None
    unparsed: int = 0
    reply: str | None = None
    asked_again: bool = False


def extract(
    texts: Sequence[str], prompt: Prompt, judge: Backend, fences: Fences
) -> list[Extraction]:
    """The claims of each text, in order; equal texts are asked about once, empty ones never."""
    codes = {text: fences.code(text) for text in dict.fromkeys(texts) if text.strip()}
    prompts = [fill_claims(prompt, text, code, judge.inert) for text, code in codes.items()]
    code_in = dict(zip(prompts, codes.values(), strict=True))

    def reads(prompt: str, reply: str) -> bool:
        return read_claims(reply, code_in[prompt]).claims is not None

    how: dict[str, Any] = {"until": ("[BEGIN TEXT",), "at_least": EXTRACTION_TOKENS}
    replies = dict(zip(prompts, judge.replies(prompts, reads=reads, **how), strict=True))
    second = ask_again(
        judge,
        replies,
        lambda prompt, reply: int(not reads(prompt, reply)),
        lambda _, new: claims_again(new[0]),
        fences,
        **how,
    )
    extractions = {
        text: _extraction(replies[prompt], codes[text], second.get(prompt))
        for text, prompt in zip(codes, prompts, strict=True)
    }
    return [extractions[text] if text.strip() else Extraction(()) for text in texts]


def _extraction(reply: Reply, code: str, second: Second | None) -> Extraction:
    said = reply.text if reply.outcome == ANSWER else None
    if second is None:
        return read_claims(said, code)
    again = second.reply.text if second.reply.outcome == ANSWER else None
    return replace(
        read_claims(again, second.codes[0]), reply=both_replies(said, again or ""), asked_again=True
    )


def claims_again(code: str) -> str:
    """What a judge is asked whose reply is no whole list of claims."""
    return (
        "Your reply is no list in the form that I asked for. Write the whole list once more and "
        f"nothing else, under a new code: every line begins with {code}, then the claim's number "
        "and a dot, then the claim; or, if the text makes no claim, write one line with that code "
        f"and the single word NONE. In either case end with this line:\n{code} END OF CLAIMS"
    )


def support_again(numbers: Iterable[int], code: str) -> str:
    """What a judge is asked whose reply has no verdict on claims with these numbers."""
    return (
        "Your reply has no line in the form that I asked for on the claims "
        f"{', '.join(map(str, numbers))}. Write a line for each of these and nothing else, with "
        "the claim's number for N, under a new code:\n"
        f"{code} N: SUPPORTED\nor\n{code} N: NOT SUPPORTED"
    )


def fill_claims(prompt: Prompt, text: str, code: str, inert: Callable[[str], str]) -> str:
    """The prompt that takes a text apart; `inert` breaks up control tokens in it."""
    return prompt.fill(text=inert(text), code=code)


def read_claims(reply: str | None, code: str) -> Extraction:
    """The claims in a reply.

    Read are lines that begin with the code: numbered ones, or bulleted ones where none is
    numbered, outside of what stands in `<think>`. The end mark must be there, with the code:
    without it the list may have been cut off, and shares over a part of the claims would be wrong
    without a sign of it. For the same reason there are no claims if the numbers start again (of
    two lists one may be notes) or another list with an end mark follows, if two items stand on one
    line, if a claim says that there is none, or if more lines are unread than read. Lines before
    the first claim are ignored; others that are no claim are counted.
    """
    if reply is None:
        return Extraction(None)
    # A line without the code says nothing: it is none of the judge's claims, nor its end mark.
    lines = [behind_code(line, code) or "" for line in _lines(without_thinking(reply))]
    ends = [i for i, line in enumerate(lines) if "claims" in line.lower() and _END.fullmatch(line)]
    if not ends:
        return Extraction(None, len(lines), reply)
    behind, lines = lines[ends[0] + 1 : ends[-1] + 1], lines[: ends[0]]
    nones = [i for i, line in enumerate(lines) if "none" in line.lower() and _NONE.fullmatch(line)]
    items = ["" if i in nones else line for i, line in enumerate(lines)]
    matches = list(map(_NUMBERED.fullmatch, items))
    numbered = any(matches)
    if not numbered:
        matches = list(map(_BULLET.fullmatch, items))
    matches = [m if m and any(map(str.isalpha, m[m.re.groups])) else None for m in matches]
    hits = [match for match in matches if match]
    if not hits and nones == [len(lines) - 1] and len(lines) <= 2:  # NONE, perhaps introduced
        return Extraction((), 0, reply)
    doubtful = any(code in match[match.re.groups].casefold() for match in hits)
    if not hits or nones or doubtful or (numbered and _is_doubtful(hits)):
        return Extraction(None, len(lines), reply)
    unparsed = len(lines) - matches.index(hits[0]) - len(hits)
    if numbered:
        numbers = {int(match[1]) for match in hits}
        unparsed = max(unparsed, max(numbers) - len(numbers))
    if unparsed > len(hits):
        return Extraction(None, unparsed, reply)
    claims = distinct_claims([match[match.re.groups] for match in hits])
    if any(map(_NO_CLAIM.fullmatch, claims)) or _is_another_list(behind, claims):
        return Extraction(None, len(lines), reply)
    return Extraction(tuple(claims), unparsed, reply)


def _lines(text: str | None) -> list[str]:
    """The lines that say something."""
    if text is None:
        return []
    lines = text.splitlines()
    if "```" in text or "~~~" in text:
        lines = [line for line in lines if not _FENCE.fullmatch(line)]
    return [line for line in lines if any(map(str.isalnum, line))]


def _is_doubtful(hits: Sequence[re.Match[str]]) -> bool:
    """Whether numbers go down, or an item holds the next one's number."""
    numbers = [int(match[1]) for match in hits]
    return any(b < a for a, b in pairwise(numbers)) or any(
        str(number + 1) in match[2] and re.search(rf"[.!?;]\s+\(?{number + 1}[.)]\s", match[2])
        for number, match in zip(numbers, hits, strict=True)
    )


def _is_another_list(lines: Iterable[str], claims: Sequence[str]) -> bool:
    """Whether a second list has other items than the first, which may be a draft."""
    matches = (_NUMBERED.fullmatch(line) or _BULLET.fullmatch(line) for line in lines)
    items = [match[match.re.groups] for match in matches if match]
    return len(distinct_claims([*claims, *items])) > len(claims)


def verify(
    pairs: Sequence[tuple[tuple[str, ...], str]],
    prompt: Prompt,
    judge: Backend,
    fences: Fences,
    asked_again: set[tuple[tuple[str, ...], str]] | None = None,
) -> list[list[bool | None]]:
    """Whether each reference supports its claims: one verdict per claim, None where there is none.

    Args:
        pairs: (claims, reference text). Equal pairs are asked about once; an empty reference
            supports nothing and is not asked about.
        prompt: The prompt `support`.
        judge: Whom to ask.
        fences: Where codes come from.
        asked_again: Pairs that were asked about a second time are added here.
    """
    distinct = dict.fromkeys(pair for pair in pairs if pair[0] and pair[1].strip())
    parts = {pair: list(_chunks(pair[0])) for pair in distinct}
    asked = [(part, reference) for (_, reference), chunks in parts.items() for part in chunks]
    filled = [fill_support(prompt, *each, fences, judge.inert) for each in asked]
    prompts, codes = [text for text, _ in filled], [code for _, code in filled]
    code_in = dict(zip(prompts, codes, strict=True))

    def reads(prompt: str, reply: str) -> bool:
        return read_support(reply, 1, code_in[prompt]) != [None]

    parts_in = {prompt: part for prompt, (part, _) in zip(prompts, asked, strict=True)}

    def lacking(prompt: str, reply: str) -> list[int]:
        said = read_support(reply, len(parts_in[prompt]), code_in[prompt])
        return [number for number, verdict in enumerate(said, start=1) if verdict is None]

    how: dict[str, Any] = {"until": ("[BEGIN REFERENCE",)}
    replies = dict(zip(prompts, judge.replies(prompts, reads=reads, **how), strict=True))
    second = ask_again(
        judge,
        replies,
        lambda prompt, reply: int(bool(lacking(prompt, reply))),
        lambda prompt, new: support_again(lacking(prompt, replies[prompt].text), new[0]),
        fences,
        **how,
    )
    verdicts = iter(
        [
            _both(replies[prompt], len(part), code, second.get(prompt))
            for prompt, (part, _), code in zip(prompts, asked, codes, strict=True)
        ]
    )
    if asked_again is not None:
        known = {asked[prompts.index(prompt)] for prompt in second}
        asked_again |= {
            pair for pair, chunks in parts.items() if {(c, pair[1]) for c in chunks} & known
        }
    supported = {
        pair: [verdict for _ in chunks for verdict in next(verdicts)]
        for pair, chunks in parts.items()
    }
    return [supported.get(pair, [False] * len(pair[0])) for pair in pairs]


def _both(reply: Reply, count: int, code: str, second: Second | None) -> list[bool | None]:
    """The verdicts of the first reply, and of the second where the first has none."""
    first = read_support(reply.text if reply.outcome == ANSWER else None, count, code)
    if second is None or second.reply.outcome != ANSWER:
        return first
    later = read_support(second.reply.text, count, second.codes[0])
    return [b if a is None else a for a, b in zip(first, later, strict=True)]


def listed(claims: Sequence[str]) -> str:
    """Claims as they stand in the prompt, numbered from 1."""
    return "\n".join(f"{i}. {claim}" for i, claim in enumerate(claims, start=1))


def fill_support(
    prompt: Prompt,
    claims: Sequence[str],
    reference: str,
    fences: Fences,
    inert: Callable[[str], str],
) -> tuple[str, str]:
    """The prompt that checks claims against a reference, and the code of the lines that count.

    The code follows from the reference, against which many lists of claims are checked.

    Args:
        prompt: The prompt `support`.
        claims: The claims.
        reference: The text they are checked against.
        fences: Where codes come from.
        inert: What breaks up control tokens in a text.
    """
    code = fences.code("reference", reference, apart_from=claims)
    text = prompt.fill(claims=inert(listed(claims)), reference=inert(reference), code=code)
    return text, code


def read_support(reply: str | None, count: int, code: str) -> list[bool | None]:
    """The verdicts on claims 1 to `count` in a reply.

    A verdict is a line with the code, the number and SUPPORTED or NOT SUPPORTED, and nothing else,
    outside of what stands in `<think>`. A number with none, or with two that differ, has None. So
    has every claim if something stands behind the lines, or if a verdict has the number 0: the
    judge counts from there, and each would be another's.
    """

    def read(line: str) -> tuple[int, bool] | None:
        match = _VERDICT.fullmatch(behind_code(line, code) or "")
        return None if match is None else (int(match[1]), match[2].lower() == "supported")

    lines = _lines(without_thinking(reply or "", [code]))
    stated = coded_statements(lines, read)
    return [None if 0 in stated else stated.get(number) for number in range(1, count + 1)]


def _chunks(claims: Iterable[str]) -> Iterable[tuple[str, ...]]:
    rest = iter(claims)
    while part := tuple(islice(rest, PER_PROMPT)):
        yield part
