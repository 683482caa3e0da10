"""Claims of English texts: extracted, and checked against another text, by the judge.

Two passes for a whole task: every distinct text is taken apart once, then every list of claims is
checked once against each text it is compared with. Every line that counts carries a code (see
`readers.fences`), so that a text's own list or verdicts are not taken for the judge's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from xling_metrics.claims import distinct_claims

from xling_tasks.data.prompts import Prompt
from xling_tasks.models.backend import Backend
from xling_tasks.readers.fences import Fences, behind_code
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
_VERDICT = re.compile(
    r"[\s*_>#(\[|-]*(?:claim\s*#?)?(\d{1,3})[\s*_)\]|]*[.):=-]*[\s*_\[\"'|]*"
    r"(not[\s-]+supported|unsupported|supported)\b[\s*_\]\"'|]*([.;:,(–—-].*)?",
    re.I,
)
# Behind SUPPORTED: `Supported: no`, `SUPPORTED (contradicted)`, `SUPPORTED, NOT SUPPORTED`.
_TAKEN_BACK = re.compile(
    r"\W*(?:but\s+)?(?:only\s+)?(?:partial|partially|partly|in\s+part|not\s+(?:really|fully|quite"
    r"|entirely|completely|exactly)|(?:no|not|false)\s*(?:[^\w\s]|$)"
    r"|(?:it\s+is\s+|is\s+)?(?:contradicted\b|refuted\b|not\s+(?:said|stated|mentioned|given)\b"
    r"(?!\s+(?:verbatim|literally|explicitly|directly|word|in\s+(?:these|those|so))))"
    r"|(?:the\s+)?(?:reference|text)\s+(?:does\s+not|doesn['’]t|never)\s+"
    r"(?:say|state|mention|support)s?\s+(?:it|this|so|that)\s*(?:[^\w\s]|$)"
    r"|(?:the\s+)?(?:reference|text)\s+(?:contradicts|refutes)\s+"
    r"(?:it\b|this\s*(?:[^\w\s]|$)|(?:this|the)\s+claim\b))"
    r"|.*\b(?:not[\s-]+supported|unsupported)\b",
    re.I,
)
# A line that takes a verdict back begins so; elsewhere the words are those of a reason.
_CORRECTED = re.compile(
    r"\W*(?:wait|actually|correction|corrected|on second thought|(?:my )?mistake|sorry|oops"
    r"|i (?:was wrong|made a mistake)|(?:so )?claim \d{1,3} should)\b",
    re.I,
)
_CORRECTED_ONE = re.compile(r"\b(\d{1,3})\s*(?:is|should|:|->|→)", re.I)
_TAKEN_BACK_TOO = re.compile(r".*(?<!NOT[\s-])\bSUPPORTED\b")


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


def extract(
    texts: Sequence[str], prompt: Prompt, judge: Backend, fences: Fences
) -> list[Extraction]:
    """The claims of each text, in order; equal texts are asked about once, empty ones never."""
    codes = {text: fences.code(text) for text in dict.fromkeys(texts) if text.strip()}
    prompts = [fill_claims(prompt, text, code, judge.inert) for text, code in codes.items()]
    code_in = dict(zip(prompts, codes.values(), strict=True))

    def reads(prompt: str, reply: str) -> bool:
        return read_claims(reply, code_in[prompt]).claims is not None

    replies = judge.ask(prompts, until=("[BEGIN TEXT",), at_least=EXTRACTION_TOKENS, reads=reads)
    extractions = {
        text: read_claims(reply, code)
        for (text, code), reply in zip(codes.items(), replies, strict=True)
    }
    return [extractions[text] if text.strip() else Extraction(()) for text in texts]


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
    lines = [behind_code(line, code) or "" for line in _lines(reply)]
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


def _lines(reply: str) -> list[str]:
    """The lines that say something, those of a model's thinking left aside."""
    text = without_thinking(reply)
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
    pairs: Sequence[tuple[tuple[str, ...], str]], prompt: Prompt, judge: Backend, fences: Fences
) -> list[list[bool | None]]:
    """Whether each reference supports its claims: one verdict per claim, None where there is none.

    Args:
        pairs: (claims, reference text). Equal pairs are asked about once; an empty reference
            supports nothing and is not asked about.
        prompt: The prompt `support`.
        judge: Whom to ask.
        fences: Where codes come from.
    """
    distinct = dict.fromkeys(pair for pair in pairs if pair[0] and pair[1].strip())
    parts = {pair: list(_chunks(pair[0])) for pair in distinct}
    asked = [(part, reference) for (_, reference), chunks in parts.items() for part in chunks]
    codes = [fences.code(listed(part), reference) for part, reference in asked]
    prompts = [
        fill_support(prompt, part, reference, code, judge.inert)
        for (part, reference), code in zip(asked, codes, strict=True)
    ]
    code_in = dict(zip(prompts, codes, strict=True))

    def reads(prompt: str, reply: str) -> bool:
        return read_support(reply, 1, code_in[prompt]) != [None]

    replies = judge.ask(prompts, until=("[BEGIN REFERENCE",), reads=reads)
    verdicts = iter(
        [
            read_support(reply, len(part), code)
            for reply, (part, _), code in zip(replies, asked, codes, strict=True)
        ]
    )
    supported = {
        pair: [verdict for _ in chunks for verdict in next(verdicts)]
        for pair, chunks in parts.items()
    }
    return [supported.get(pair, [False] * len(pair[0])) for pair in pairs]


def listed(claims: Sequence[str]) -> str:
    """Claims as they stand in the prompt, numbered from 1."""
    return "\n".join(f"{i}. {claim}" for i, claim in enumerate(claims, start=1))


def fill_support(
    prompt: Prompt, claims: Sequence[str], reference: str, code: str, inert: Callable[[str], str]
) -> str:
    """The prompt that checks claims against a reference; `inert` breaks up control tokens."""
    return prompt.fill(claims=inert(listed(claims)), reference=inert(reference), code=code)


def read_support(reply: str | None, count: int, code: str) -> list[bool | None]:
    """The verdicts on claims 1 to `count` in a reply.

    A verdict is a line with the code, the number and SUPPORTED or NOT SUPPORTED, perhaps with a
    reason behind it, outside of what stands in `<think>`. A number with none, with two that
    differ, or with one that the words behind it or a later line take back, has None. So has every
    claim if a verdict has the number 0: the judge counts from there, and each would be another's.
    """
    stated_of: dict[int, set[bool]] = {}
    for line in (without_thinking(reply or "") or "").splitlines():
        said = behind_code(line, code)
        if said and (match := _VERDICT.fullmatch(said)):
            verdict = match[2].lower() == "supported"
            taken_back = (_TAKEN_BACK if verdict else _TAKEN_BACK_TOO).match(match[3] or "")
            stated = {verdict, not verdict} if taken_back else {verdict}
            stated_of.setdefault(int(match[1]), set()).update(stated)
        elif "supported" in line.lower() and _CORRECTED.match(said or line):
            for number in map(int, _CORRECTED_ONE.findall(said or line)):
                if number in stated_of:
                    stated_of[number] = {True, False}
    if 0 in stated_of:
        return [None] * count
    unique = {number: said.pop() for number, said in stated_of.items() if len(said) == 1}
    return [unique.get(number) for number in range(1, count + 1)]


def _chunks(claims: Iterable[str]) -> Iterable[tuple[str, ...]]:
    rest = iter(claims)
    while part := tuple(islice(rest, PER_PROMPT)):
        yield part
