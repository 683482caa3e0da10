"""What a reply judges in verbs and nouns: 'I would mark it as wrong', 'it has no errors'.

Rows of tokens of such a statement become one token, `fine` or `flawed`, on which the other rules
work; what another says, and what is only supposed, stays as it is.
"""

from __future__ import annotations

import regex

from xling_tasks.readers.kinds import KIND, LIMITS, has, row
from xling_tasks.readers.lexicon import lexicon
from xling_tasks.readers.verdict_grammar import RULES

_CANNOT = regex.compile(r".(?:not|' t)$|^no |不|无|नहीं .")  # in phrases that decline or offer
_LONGEST_BETWEEN = 30  # characters of what a mistake is called ('serious factual')


def judged(kinds: str, words: list[str]) -> str:
    """The kinds, with `fine` or `flawed` for a judgement in a verb, and for mistakes."""
    if not has(kinds, "judges marks agree fault shows not no replies offer"):
        return kinds
    kinds = RULES.SUPPOSED.sub(lambda match: KIND["opinion"] * len(match[0]), kinds)
    for rule, value, needs in (
        (RULES.GRADED, _graded, "judges marks agree noun"),
        (RULES.FAULT, _faulty, "fault shows not no"),
        (RULES.GIVES, _gives, "replies"),
    ):
        if not has(kinds, needs):
            continue
        for match in reversed([*rule.finditer(kinds)]):
            start = sentence_start(kinds, match.start())
            first = start if rule is RULES.FAULT else match.start()
            said = range(first, match.end())
            own = [words[at] for at in said if not has(kinds[at], "judges marks matter")]
            if not says_itself(own) or RULES.SUPPOSING.search(kinds, start, match.start()):
                continue
            kind = value(match, kinds, words)
            if kind:
                kinds = one_token(kinds, words, match.span(), kind)
    return kinds


def _graded(match: regex.Match[str], kinds: str, words: list[str]) -> str:
    """'I would mark it as wrong', '判为正确', 'it cannot be accepted as correct'; nobody else's."""
    before = match["before"]
    by_form = has(match[0], "marks") and before.count(KIND["word"]) < 2  # 'nadie la daría ...'
    known = by_form or has(before, "subject") or not before.strip(row("adverb opinion is not no"))
    if not RULES.OWN.match(before) and (not known or has(before, "foreign")):
        return ""
    denied = denials(match, words, "before") or match["n1"] or match["n2"] or match["n3"]
    good = has(match["value"], "yes right")
    if denied and not good and has(before, "offer refusal"):
        return ""  # 'I can't call it wrong' does not call it right
    return "fine" if good != bool(denied) else "flawed"


def _faulty(match: regex.Match[str], kinds: str, words: list[str]) -> str:
    """'It contains a serious error', 'there is no error in this answer'; of the answer only."""
    start = sentence_start(kinds, match.start())
    sentence = RULES.SENTENCE.match(kinds, start)
    assert sentence is not None
    if not _is_fault(match, words) or sentence[0].count(KIND["fault"]) > 1:
        return ""
    subject = has(sentence[0], "subject")
    right = has(match["fault"], "right")
    not_found = RULES.NOT_FOUND.search(kinds[start : match.start()])
    turns = (
        right
        + bool(not_found)
        + sum(denials(match, words, name) for name in ("deny", "deny2", "deny3"))
    )
    behind = RULES.BEHIND.match(kinds, match.end())
    in_what = behind and len(behind[0]) > 2 and bare_word(words[behind.end() - 1])
    if in_what or (right and not (subject and match["shows"])):
        return ""  # 'no error in taking it'
    if turns % 2 == 0:
        offered = has(sentence[0], "offer") and not turns
        subject = has(kinds[start : match.start()], "subject") or bool(behind)
        alone = start == match.start() and RULES.ALONE.match(kinds, match.end(), sentence.end())
        stated = bool((subject or alone) and (match["shows"] or turns))
        return "flawed" if stated and not offered else ""
    if has(match["fault"], "question"):  # '没问题' is what the polite say, too
        before = range(start, match.start())
        stated = any(has(kinds[at], "subject") and not bare_word(words[at]) for at in before)
    else:
        stated = subject or bool(RULES.LED.fullmatch(kinds, start, match.start()))
    more = has(kinds[match.end() : match.end() + 1], "word")  # 'no error message'
    return "fine" if stated and (behind or not more) else ""


def _gives(match: regex.Match[str], kinds: str, words: list[str]) -> str:
    """'सही जानकारी देता है': what the answer gives."""
    return "fine" if has(match["fault"], "right") != bool(match["deny"]) else "flawed"


def denials(match: regex.Match[str], words: list[str], name: str) -> int:
    """How often a part of a match denies, also in a phrase that declines ('I cannot')."""
    part, start = match[name] or "", match.start(name)
    said = zip(part, words[start:], strict=False)
    cannot = sum(has(kind, "offer refusal") and bool(_CANNOT.search(word)) for kind, word in said)
    return cannot + sum(has(kind, "not no") for kind in part)


def _is_fault(match: regex.Match[str], words: list[str]) -> bool:
    """Whether what is found is a mistake: in Chinese 'wrong' and 'a problem' may be one, too."""
    fault, word = match["fault"], words[match.start("fault")]
    between = words[match.start("between") : match.end("between")]
    if sum(map(len, between)) >= _LONGEST_BETWEEN or match["between"].count(KIND["word"]) > 2:
        return False
    alone = word >= "\u0900" and not has(match["between"], "or")  # not '不安全也不正确'
    alone = alone if has(fault, "wrong") else word.startswith("问")
    return alone or has(fault, "fault") or len(fault) > 1


def sentence_start(kinds: str, at: int) -> int:
    """Where the sentence of a token begins."""
    return max(kinds.rfind(end, 0, at) for end in row("stop query line")) + 1


def says_itself(words: list[str], limits: str = "tells") -> bool:
    """Whether no word of a passage says that these are another's words ('The text says: ...')."""
    return not limited(" ".join(words), limits)


def bare_word(subject: str) -> bool:
    """Whether a subject is 'this' alone, which may be the article of what follows."""
    each = subject.split()
    return lexicon("verdict", LIMITS).longest(each, 0) == (len(each), "bare")


def part_alone(subject: str) -> bool:
    """Whether a subject is the answer only where nothing more is said of it ('advice', 'this')."""
    return bare_word(subject) or limited(subject, "part tells")


def limited(words: str, kinds: str) -> bool:
    """Whether words have one that limits what is judged, of these kinds."""
    each = words.split()
    found = (lexicon("verdict", LIMITS).longest(each, at) for at in range(len(each)))
    return any(phrase and phrase[1] in kinds.split() for phrase in found)


def one_token(kinds: str, words: list[str], span: tuple[int, int], kind: str) -> str:
    """The kinds with one token for a passage."""
    start, end = span
    words[start:end] = [" ".join(words[start:end])]
    return kinds[:start] + KIND[kind] + kinds[end:]


def forgotten(kinds: str, words: list[str], names: str) -> str:
    """The kinds, where some are other words again; of a script without capitals a run is one."""
    if not has(kinds, names):
        return kinds
    gone, foreign = row(names), KIND["foreign"]
    for at in range(len(kinds) - 1, -1, -1):
        if kinds[at] not in gone:
            continue
        if words[at] < "\u0900":
            kinds = kinds[:at] + KIND["word"] + kinds[at + 1 :]
            continue
        end = at + 2 if kinds[at + 1 : at + 2] == foreign else at + 1
        start = at - 1 if at and kinds[at - 1] == foreign else at
        kinds = one_token(kinds, words, (start, end), "foreign")
    return kinds
