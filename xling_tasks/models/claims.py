"""Claims of English texts: extracted, and checked against another text, by the judge.

Two passes for a whole task: every distinct text is taken apart once, then every list of claims is
checked once against each text it is compared with. Every line that counts carries a code (see
`readers.fences`), so that a text's own list or verdicts are not taken for the judge's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from xling_metrics.claims import distinct_claims

from xling_tasks.data.prompts import Prompt
from xling_tasks.models.again import Asked, ask_in_form, both_replies
from xling_tasks.models.backend import Backend
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
    prompts = {text: fill_claims(prompt, text, code, judge.inert) for text, code in codes.items()}
    asked = ask_in_form(
        judge,
        {prompts[text]: code for text, code in codes.items()},
        lambda code, reply: [code] if read_claims(reply, code).claims is None else [],
        lambda _, new: claims_again(new[0]),
        fences,
        until=("[BEGIN TEXT",),
        at_least=EXTRACTION_TOKENS,
    )
    extractions = {text: _extraction(asked[prompts[text]], code) for text, code in codes.items()}
    return [extractions[text] if text.strip() else Extraction(()) for text in texts]


def _extraction(asked: Asked, code: str) -> Extraction:
    first, second, codes = asked
    if second is None:
        return read_claims(first.said, code)
    replies = both_replies(first.said, second.said or "")
    return replace(read_claims(second.said, codes[0]), reply=replies, asked_again=True)


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

    Pairs are (claims, reference text); equal ones are asked about once, and an empty reference
    supports nothing and is not asked about. What was asked about a second time is added to
    `asked_again`.
    """
    distinct = dict.fromkeys(pair for pair in pairs if pair[0] and pair[1].strip())
    parts = {
        pair: [pair[0][at : at + PER_PROMPT] for at in range(0, len(pair[0]), PER_PROMPT)]
        for pair in distinct
    }
    filled = {
        (part, reference): fill_support(prompt, part, reference, fences, judge.inert)
        for (_, reference), chunks in parts.items()
        for part in chunks
    }

    def lacking(about: tuple[int, str], reply: str) -> list[list[int]]:
        said = enumerate(read_support(reply, *about), start=1)
        numbers = [number for number, verdict in said if verdict is None]
        return [numbers] if numbers else []

    came = ask_in_form(
        judge,
        {text: (len(part), code) for (part, _), (text, code) in filled.items()},
        lacking,
        lambda numbers, new: support_again(numbers[0], new[0]),
        fences,
        reads=lambda about, reply: read_support(reply, 1, about[1]) != [None],
        until=("[BEGIN REFERENCE",),
    )
    verdicts = {
        each: _both(came[text], len(each[0]), code) for each, (text, code) in filled.items()
    }
    if asked_again is not None:
        again = {each for each, (text, _) in filled.items() if came[text].second is not None}
        asked_again |= {pair for pair in parts if {(c, pair[1]) for c in parts[pair]} & again}
    supported = {
        (claims, reference): [each for part in chunks for each in verdicts[part, reference]]
        for (claims, reference), chunks in parts.items()
    }
    return [supported.get(pair, [False] * len(pair[0])) for pair in pairs]


def _both(asked: Asked, count: int, code: str) -> list[bool | None]:
    """The verdicts of the first reply, and of the second where the first has none."""
    first = read_support(asked.first.said, count, code)
    if asked.second is None or asked.second.said is None:
        return first
    later = read_support(asked.second.text, count, asked.codes[0])
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
