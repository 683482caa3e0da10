"""Answers without a place: lists that say of every option whether it is right."""

from __future__ import annotations

import regex

from xling_tasks.readers.kinds import KIND, has
from xling_tasks.readers.kinds import row as kinds_of
from xling_tasks.readers.letter_grammar import RULES
from xling_tasks.readers.letter_reply import TEXT, Reply

BEFORE_ROW = kinds_of(
    "line blank stop comma semicolon bullet number colon and end because tick cross close open"
)


def row_letters(reply: Reply, answer: frozenset[str]) -> frozenset[str] | None:
    """The options that a list of verdicts says are right; empty where the list is no answer.

    Every option must have exactly one verdict. None where the reply is no such list; sentences
    ('A is wrong') are none where an answer stands elsewhere, nor is what is said of the others.
    """
    for pattern in (RULES.ROW_BEFORE, RULES.ROW_AFTER):
        rows = [
            match
            for match in pattern.finditer(reply.kinds)
            if not match.start() or reply.kinds[match.start() - 1] in BEFORE_ROW
        ]
        if reply.options.yes_or_no and len(rows) == 1 and TEXT in rows[0]["head"]:
            return None  # 'No. That is wrong.' of options that are Yes and No
        spoken = all(_spoken(reply, row) for row in rows)
        if answer and rows and all(_denies(row, reply, answer) for row in rows):
            continue
        if spoken and _one_sentence(reply, rows):
            return _true_rows(reply, rows) or None
        some = frozenset().union(*(reply.letters_in(row.span("head")) for row in rows))
        if spoken and rows and not reply.several and some < set(reply.keys):
            return None  # 'A is wrong. B is wrong, too. C is right.'
        opens = len(rows) == 1 and not rows[0].start() and not reply.several
        if opens and reply.letters_in(rows[0].span("head")) == answer:
            return None  # 'C ✓', and what is said of the others
        if rows and not (spoken and (answer or len(rows) == 1 >= len(reply.heads))):
            return _true_rows(reply, rows)
    return None


def _denies(row: regex.Match[str], reply: Reply, answer: frozenset[str]) -> bool:
    """Whether a row says of another option than the answer that it is wrong."""
    false = row["mark"] == KIND["cross"] if "mark" in row.groupdict() else row["no"]
    return bool(false) and not reply.letters_in(row.span("head")) & answer


def _one_sentence(reply: Reply, rows: list[regex.Match[str]]) -> bool:
    """Whether verdicts stand in one sentence ('A is right, B is wrong'): it may be all."""
    return bool(rows) and not has(
        reply.kinds[rows[0].start() : rows[-1].start()], "stop line blank"
    )


def _spoken(reply: Reply, row: regex.Match[str]) -> bool:
    """Whether a verdict is a sentence ('A is wrong'), not a row of a list ('A: wrong')."""
    between = reply.kinds[row.end("head") : row.end()]
    return row.re is RULES.ROW_AFTER and bool(RULES.SPOKEN.match(between))


def _true_rows(reply: Reply, rows: list[regex.Match[str]]) -> frozenset[str]:
    verdicts: dict[str, bool] = {}
    for match in rows:
        named = reply.letters_in(match.span("head"))
        if named & verdicts.keys() or (len(named) > 1 and TEXT in match["head"]):
            return frozenset()
        groups = match.groupdict()
        is_true = bool(groups.get("yes")) or groups.get("mark") == KIND["tick"]
        verdicts |= dict.fromkeys(named, is_true)
    true = frozenset(key for key, value in verdicts.items() if value)
    all_but_one = len(true) == len(reply.keys) - 1 > 1
    if all_but_one and reply.asked and not reply.several:
        true = frozenset(reply.keys) - true  # one alone can be the answer
    if verdicts.keys() != set(reply.keys) or not (reply.several or len(true) == 1):
        return frozenset()
    if len(true) > 1 and (reply.asked == "false" or (reply.asked and all_but_one)):
        return frozenset()  # 'true' of a statement, or of its being the answer?
    later = reply.mentioned(rows[-1].end())
    if later and not later & true:
        return frozenset()  # 'D is incorrect. ... so the one to choose is B'
    return frozenset() if has(reply.kinds, "wait refusal query") else true


def marked_line(reply: Reply) -> frozenset[str] | None:
    """The only option whose line affirms it, where every option has a line of its own."""
    if reply.asked or reply.several or reply.cut or has(reply.told, "wait refusal query"):
        return None
    affirmed: dict[frozenset[str], bool] = {}
    for line in RULES.LINE.finditer(reply.told):
        head = RULES.MARKED_HEAD.match(line[0])
        named = reply.letters_in((line.start(), line.start() + head.end())) if head else frozenset()
        if not head or not named:
            continue
        rest = line[0][head.end() :]
        marks = [kind for kind in line[0] if has(kind, "tick cross")]
        tick = marks[-1:] == [KIND["tick"]]
        says_so = bool(RULES.AFFIRMED.search(rest)) and not RULES.DENIES_ONE.search(rest)
        unclear = tick and (has(line[0], "wrong") or (KIND["cross"] in marks and len(marks) == 2))
        if named in affirmed or len(named) > 1 or unclear:
            return None
        affirmed[named] = (tick or says_so) and not has(rest, "maybe supposing or also")
    true = [named for named, value in affirmed.items() if value]
    every = frozenset().union(*affirmed) == set(reply.keys)
    return true[0] if len(true) == 1 and every else None


def true_ones(reply: Reply) -> frozenset[str] | None:
    """The options said to be true, if no other option is mentioned."""
    true: set[str] = set()
    for match in RULES.TRUE.finditer(reply.kinds):
        place = reply.place(match)
        if place is None or reply.denied(match.start()):
            return None
        only = has(reply.kinds[place.start : place.end], "both")
        place = place._replace(text=False, named=only)
        if reply.unfinished(place) or not reply.stands(place):
            return None
        true |= place.letters
    false = {
        key
        for match in RULES.ROW_AFTER.finditer(reply.kinds)
        if match["no"]
        for key in reply.letters_in(match.span("head"))
    }
    if reply.asked == "false" and len(true) > 1:
        return None  # true statements, in a question for what is false
    return frozenset(true) if true and reply.mentioned() - false <= true else None
