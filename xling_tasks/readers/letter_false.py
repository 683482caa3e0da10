"""What a reply says of statements, where the question asks for the one that is not so."""

from __future__ import annotations

from collections.abc import Iterator

from xling_tasks.readers.kinds import has
from xling_tasks.readers.letter_clause import Clause
from xling_tasks.readers.letter_grammar import RULES
from xling_tasks.readers.letter_reply import Reply

_UNSURE = "maybe seems or supposing answer answers choose chosen"  # or it is said of the answer
_LEFT = "so both aside wrong"  # 'the only one left', 'therefore', 'the remaining one'


def false_one(reply: Reply) -> frozenset[str] | None:
    """The only option that a reply says is not so; None where it says it of none, or of more.

    'E is wrong', and of the others nothing or that they are right; 'A to D are right, so it is
    the one that is left'.
    """
    if not reply.asked or reply.several or reply.cut or has(reply.told, "wait refusal query"):
        return None
    statements = [*_statements(reply)]
    said: dict[frozenset[str], bool | None] = {}
    for letters, so, *_ in statements:
        if said.setdefault(letters, so) != so and so is not None:
            return None
    rest = reply.told[statements[-1][2] :] if statements else ""
    concluded = {letters for letters, *_, last in statements if last}
    false = [letters for letters, so in said.items() if so is False]
    true = frozenset().union(*(letters for letters, so in said.items() if so))
    unsaid = [letters for letters, so in said.items() if so is None]
    left = frozenset(reply.keys) - true
    if not false and not unsaid and len(left) == 1 and len(true) > 1:
        # No walk that may have been cut off before the last, and something is denied of it.
        listed = len(said) == 1 and has(rest, "not no none wrong")
        return left if listed or has(rest, _LEFT) else None
    if not false and len(said) == len(unsaid) == 1 and len(unsaid[0]) == len(reply.keys) - 1:
        # 'A, B, D and E are usual. The wrong one is what is left'
        return left - unsaid[0] if has(rest, "wrong") and has(rest, "so aside") else None
    if len(false) != 1 or len(false[0]) != 1 or false[0] & true:
        return None
    # 'A is incorrect' where an exception is asked for: as a statement, or as the answer?
    alone = reply.question.wrong and (not unsaid or false[0] in concluded)
    return false[0] if alone or len(left) == 1 else None


def _statements(reply: Reply) -> Iterator[tuple[frozenset[str], bool | None, int, bool]]:
    """Options named together, if they are said to be so (None: neither), where, and if at last."""
    for match in RULES.LISTED_SAID.finditer(reply.told):
        place = reply.place(match)
        if place is None:
            yield reply.letters_in(match.span("list")), None, match.end(), False
            continue
        clause = Clause.around(reply.told, place.start, place.end)
        if clause.reason():
            continue
        before = "" if clause.led else clause.before
        beside = has(before + clause.after, "letter prose text")  # 'B and C are both wrong'
        doubted = beside or has(before + clause.after, _UNSURE) or has(clause.behind[-1:], "query")
        # 'The false statement is E', and no 'one must exclude E'.
        before = before if has(before, "option options is are") else ""
        so = None if doubted else _so(before + clause.after)
        so = _so(clause.rest) if so is None and not doubted else so
        yield place.letters, so, place.end, has(clause.before, "so both")


def _so(words: str) -> bool | None:
    """Whether words say that something is so, or that it isn't."""
    if has(words, "wrong cross"):
        return bool(RULES.NOT_WRONG.search(words))
    denied = has(words, "not no none")
    return not denied if has(words, "right tick yes") else None
