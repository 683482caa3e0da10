"""What a reply says of each option that it names, where no place says which one is the answer.

Every option, or list of them, is a mention: asserted, denied, doubted or only talked about. The
words of its clause tell which. The answer is what is asserted, if nothing else is and nothing
takes it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from xling_tasks.readers.kinds import KIND, has, row
from xling_tasks.readers.letter_asked import HIRAGANA
from xling_tasks.readers.letter_clause import NAMED, Clause
from xling_tasks.readers.letter_echo import Echo
from xling_tasks.readers.letter_grammar import RULES
from xling_tasks.readers.letter_reply import ENDS, LETTER, PROSE, TEXT, Place, Reply
from xling_tasks.readers.options import TELLING, stem


class Status(Enum):
    """What a clause says of the options that it names."""

    ANSWERED = "the answer, in the words of the question: another may be hinted at before"
    STATED = "the answer, in words for it: others may be talked about"
    HINTED = "what it is, or what one should do: an answer if all others are denied"
    DENIED = "not so, or contrasted"
    DOUBTED = "hedged, asked, or under a condition"
    TOGETHER = "named with another one in its clause"
    DISCUSSED = "talked about, and no more"
    BROKEN = "asserted, but a list goes on, or the sentence with a but"
    REASON = "part of a reason, which is passed over"


OTHERS = "word capital foreign"
_SHORT_WORD = 4  # characters: 'on', 'que', 'с' are before a letter that answers
_MOST = 100  # mentions: each is looked at with its sentence
OUTRIGHT = (Status.ANSWERED, Status.STATED)
ASSERTED = (*OUTRIGHT, Status.HINTED)
_A_WORD = (PROSE, frozenset("A"))


class Mention(NamedTuple):
    """Options named together: the first token, their letters, what is said, whether by letter."""

    at: int
    letters: frozenset[str]
    status: Status
    lettered: bool = False


def answer_said(reply: Reply) -> frozenset[str] | None:
    """The options that a reply says are the answer; None where it says it of none, or of more."""
    named = sum(kind in NAMED for kind in reply.told)
    if reply.cut or has(reply.told, "refusal") or named > _MOST:
        return None
    since = max((match.end() for match in RULES.CORRECTION.finditer(reply.told)), default=0)
    mentions = [m for m in _mentions(reply) if m.at >= since and m.status is not Status.REASON]
    last = next((m for m in reversed(mentions) if m.status in ASSERTED), None)
    most = len(reply.keys) - 1 if reply.several and not reply.asked else 1
    if last is None:
        return None if reply.several or reply.heads else _only_left(reply, mentions)
    if len(last.letters) > most:
        return None
    own = [m for m in mentions if m.letters == last.letters]
    others = [m for m in mentions if m.letters != last.letters]
    later = {m.status for m in mentions if m.at > last.at and _unsure(reply, m, last)}
    first = own[0] if own[0].status in ASSERTED and own[0].lettered else None
    outright = first and first.status in OUTRIGHT
    adds = first and RULES.BEHIND_ADDS.match(reply.told, last.at)
    open_rule = {Status.HINTED: RULES.LEFT_OPEN, Status.ANSWERED: RULES.HOWEVER}.get(last.status)
    if open_rule and open_rule.match(reply.told, last.at) and not adds:
        return None
    if reply.asked and not reply.several and _true(reply, last.at):
        return None
    # 'D. Folate deficiency is the cause. ... a poor intake of folate ...'
    against = {m.status for m in own if not outright or m.lettered}
    if reply.question.asks and last.status in OUTRIGHT:
        against.discard(Status.DENIED)  # of what it is not, too
    if Status.DOUBTED in later or against & {Status.DENIED, Status.BROKEN}:
        return None
    stated = not reply.several and any(m.status in OUTRIGHT for m in own)
    # 'I first thought of A, but ...; it is B': a doubt before a letter may be left behind.
    left = {Status.DENIED}
    behind = last.lettered and not reply.several and bool(others)
    if behind and has(reply.told[others[0].at : last.at], "but"):
        left |= {Status.DOUBTED, Status.TOGETHER}
    hints = {m.letters for m in others if m.status is Status.HINTED and m.at < last.at}
    for letters, status in _last_said(others).items():
        hint = last.status is Status.ANSWERED and status is Status.HINTED and letters in hints
        if (status in ASSERTED and not hint) or not (stated or status in left):
            return None
    return None if reply.several and any(m.letters & last.letters for m in others) else last.letters


def _unsure(reply: Reply, mention: Mention, last: Mention) -> bool:
    """Whether what is said behind an answer bears on it: of another, only what its clause says."""
    outright = last.status is Status.ANSWERED or (last.status is Status.STATED and last.lettered)
    if not outright or mention.letters & last.letters:
        return True
    clause = Clause.around(reply.told, mention.at, mention.at + 1)
    words = clause.words.replace(KIND["also"], "") if has(clause.behind, "but") else clause.words
    return has(words, "maybe seems also or query") or bool(RULES.NOT_WRONG.search(words))


def _true(reply: Reply, at: int) -> bool:
    """Whether an option is called right where one that is not is asked for, and no answer."""
    clause = Clause.around(reply.told, at, at + 1)
    words = clause.after if has(clause.after, "right") else clause.words
    return has(words, "right") and not has(words, "answer answers choose chosen wrong not no")


def _only_left(reply: Reply, mentions: list[Mention]) -> frozenset[str] | None:
    """The option of which nothing is said but that it is there, if all others are denied."""
    said = _last_said(mentions)
    denied = (letters for letters, status in said.items() if status is Status.DENIED)
    left = frozenset(reply.keys).difference(*denied)
    if len(left) == 1 and left not in said and not reply.asked:
        rest = reply.told[mentions[-1].at :]  # 'B, C and D are wrong. One statement is left'
        return left if has(rest, "so right") and has(rest, "option both aside") else None
    return left if len(left) == 1 and said.get(left) is Status.DISCUSSED else None


def _last_said(mentions: list[Mention]) -> dict[frozenset[str], Status]:
    """What is said of each: what is asserted or denied stands until the opposite is said."""
    said: dict[frozenset[str], Status] = {}
    for mention in mentions:
        before = said.get(mention.letters)
        weak = mention.status in (Status.DISCUSSED, Status.TOGETHER, Status.DOUBTED)
        if not (before in ASSERTED and weak) and not (
            before is Status.DENIED and mention.status is Status.DISCUSSED
        ):
            said[mention.letters] = mention.status
    return said


def _mentions(reply: Reply) -> Iterator[Mention]:
    """The options that a reply names, with what it says of them."""
    at = 0
    for match in RULES.LISTED_SAID.finditer(reply.told):
        yield from _strays(reply, at, match.start())
        at = match.end()
        place = reply.place(match)
        if place is None:
            letters = reply.letters_in(match.span("list"))
            yield Mention(match.start(), letters, Status.DOUBTED)
        elif not place.text or not reply.options.yes_or_no:
            yield Mention(place.start, place.letters, _status(reply, place), not place.text)
    yield from _strays(reply, at, len(reply.told))


def _strays(reply: Reply, start: int, end: int) -> Iterator[Mention]:
    """Letters within prose; an A is often a word there ('A patient')."""
    for at in range(start, end):
        named = reply.tokens.values[at]
        if reply.told[at] not in NAMED:
            continue
        clause = Clause.around(reply.told, at, at + 1)
        if clause.all_others_wrong():
            yield Mention(at, named, Status.STATED, True)
        elif (named != {"A"} or reply.several) and not clause.reason():
            denied = RULES.DENIES_ONE.search(clause.words)
            yield Mention(at, named, Status.DENIED if denied else Status.DISCUSSED)


def _status(reply: Reply, place: Place) -> Status:
    """What is said of the options of a list."""
    clause = Clause.around(reply.told, place.start, place.end)
    echo = Echo(reply, place, clause)
    if clause.reason() and not echo.reasons_as_asked():
        return Status.REASON
    if clause.all_others_wrong():
        return Status.STATED
    odd = RULES.ALL_EXCEPT.search(clause.before_all) if reply.asked == "false" else None
    if odd or (reply.asked and RULES.ODD_ONE.search(clause.before_all)):
        return Status.STATED
    asked = RULES.ASKED_AND.match(reply.told, place.end)
    if asked:
        return Status.STATED if asked["yes"] else Status.DENIED
    if clause.doubted() or reply.glossed(place) - place.letters:
        return Status.DOUBTED
    if _beside(reply, place, clause):
        return Status.TOGETHER
    answers = echo.answers()
    if reply.asked and answers:
        return Status.ANSWERED
    if RULES.DENIES_ONE.search(clause.words):
        unclear = reply.several and has(clause.after, "aside")
        return Status.DOUBTED if unclear or RULES.NOT_WRONG.search(clause.words) else Status.DENIED
    if reply.unfinished(place) and not _goes_into_words(reply, place):
        return Status.DISCUSSED if place.text and len(place.letters) == 1 else Status.BROKEN
    said = Status.DISCUSSED
    if clause.led and reply.one_of_blocks(place):
        return said  # 'One may choose:', and all options, a line each
    if not clause.looked_at() or echo.looks_as_asked():
        said = (_said_of_text if place.text else _said_of_letters)(reply, place, clause)
        if answers is not None and said is not Status.STATED:
            said = Status.ANSWERED if answers else Status.HINTED
        if place.text and (echo.of_something_else() or echo.rest_is_of_another()):
            said = Status.DISCUSSED
    discussed = said is Status.DISCUSSED
    if discussed and len(place.letters) == 1 and RULES.DENIES_ONE.search(clause.rest):
        return Status.DENIED
    if RULES.GOES_ON_TO.match(clause.behind):
        return Status.DOUBTED if discussed else Status.BROKEN
    back = KIND["wrong"] in clause.rest or RULES.TAKEN_BACK.match(clause.rest)
    return Status.DOUBTED if back and not discussed else said


def _goes_into_words(reply: Reply, place: Place) -> bool:
    """Whether a letter is said to be it ('so B, ...'), and what follows names no other."""
    led = RULES.ITSELF.search(reply.told[max(place.start - 1, 0) : place.start + 1])
    more = has(reply.told[place.end :], "letter prose text and or")
    return bool(led) and not more and len(place.letters) == 1 and not reply.several


def _beside(reply: Reply, place: Place, clause: Clause) -> bool:
    """Whether a clause names other options, too; 'A este paciente' names none."""
    span = range(place.start - len(clause.before), place.end + len(clause.after))
    named = {(reply.told[at], reply.tokens.values[at]) for at in span if reply.told[at] in NAMED}
    itself = RULES.DENIED_ITSELF.search(clause.before)  # 'not B and not C'
    return not itself and any(each[1] - place.letters for each in named - {_A_WORD})


def _said_of_text(reply: Reply, place: Place, clause: Clause) -> Status:
    """Whether a text without its letter is what a clause says."""
    short = RULES.SHORT_DASH.search(clause.before_all)
    likely = RULES.LIKELY.search(clause.before_all)
    within = RULES.WITHIN_WORDS.search(clause.before) and not short and not likely
    ends = RULES.ENDS_CLAUSE.match(clause.behind) and not within
    last = ends and not clause.behind.strip(ENDS + KIND["end"])
    dash = clause.behind[:1] == KIND["dash"]  # 'Naloxone - an antidote'
    heads = not dash and _heads(reply, place)
    last_words = last or RULES.EMPHASIS.fullmatch(clause.behind)
    # 'Metformin. It is ...', 'Metformin, without a doubt.'
    alone = heads and last_words and clause.behind and not clause.before
    if alone or RULES.SAID_FULLY.fullmatch(clause.after):
        return Status.STATED
    left = RULES.LEFT_IS.search(clause.before_all) or (
        last and RULES.SAID_BEFORE.search(clause.before)
    )
    if ends and left and not _of_another(reply, place):
        return Status.ANSWERED
    dose = "".join(reply.tokens.words[place.end : place.end + 1])[:1].isdigit()
    hinted = (
        (heads and (ends or dose))
        or (ends and RULES.HINTED_BEFORE.search(RULES.DASHED.sub("", clause.before)))
        or (ends and RULES.SAID_BEFORE.search(clause.before))
        or (ends and (short or likely))
        or RULES.SAID_BEHIND.match(clause.behind)
        or RULES.ADVISED_TEXT.search(clause.before)
    )
    return Status.HINTED if hinted and not _of_another(reply, place) else Status.DISCUSSED


def _said_of_letters(reply: Reply, place: Place, clause: Clause) -> Status:
    """Whether letters are what a clause says."""
    named = reply.told[place.start : place.end]
    several, texts = len(place.letters) > 1, TEXT in named
    if not texts and not several and _ends_a_name(reply, place):
        return Status.DISCUSSED
    pair = texts and not several
    ends = pair or RULES.ENDS_CLAUSE.match(clause.behind)
    last = not clause.behind.strip(ENDS + row("end" if several else "end article is"))
    alone = RULES.ALONE.fullmatch(clause.before)
    if ends and RULES.LEFT_IS.search(clause.before_all):
        return Status.ANSWERED
    if RULES.SEEMS_RIGHT.match(clause.after) and KIND["but"] not in clause.behind:
        return Status.HINTED
    if (
        (ends and RULES.SAID_BEFORE.search(clause.before))
        or (RULES.FOLLOWS.search(clause.before) and clause.after[:1] in row("is are"))
        or RULES.SAID_BEHIND.match(clause.behind)
        or (has(named, "both") and RULES.EXPLAINS.match(clause.after))
        or (last and alone and KIND["so"] in clause.before_all)
        or (last and not several and has(clause.before, "advised"))
    ):
        return Status.STATED
    if RULES.QUALIFIED.search(clause.before):
        return Status.DOUBTED  # 'An alternative answer is B'
    if place.start and has(named, "option") and not clause.behind + clause.before_all:
        return Status.DISCUSSED  # '... Option B', and no more
    hinted = (
        (ends and RULES.HINTED_BEFORE.search(clause.before_all))
        or has(clause.before, "advised")
        or (last and not clause.led and _ends_in(reply, place, clause))
        or _opens(reply, place, clause, texts)
        or (RULES.EXPLAINS.match(clause.after) and KIND["but"] not in clause.behind)
    )
    return Status.HINTED if hinted else Status.DISCUSSED


def _ends_a_name(reply: Reply, place: Place) -> bool:
    """Whether a letter belongs to the word before it ('amphotericin B', '两性霉素B')."""
    at = place.start - 1
    if at < 0 or reply.told[place.start] != LETTER or not has(reply.told[at], OTHERS):
        return False
    words = reply.tokens.words[at].split()
    long = len(words[-1]) > _SHORT_WORD
    return long or (len(words) > 2 and not HIRAGANA.match(words[-1]))


def _ends_in(reply: Reply, place: Place, clause: Clause) -> bool:
    """Whether a sentence ends in letters that it can but be about."""
    named = reply.told[place.start : place.end]
    before = range(place.start)
    if len(place.letters) > 1 or any(
        reply.told[at] == TEXT and reply.tokens.values[at] <= place.letters for at in before
    ):
        return True  # several, or after its own text
    if TEXT in named:
        return bool(clause.before) and not RULES.LISTS.search(clause.before)
    return bool(RULES.ALONE.fullmatch(clause.before))


def _opens(reply: Reply, place: Place, clause: Clause, texts: bool) -> bool:
    """Whether letters open the reply, and what follows is a few words or about their text."""
    sign = set("".join(reply.tokens.words[place.end : place.end + 1])) & TELLING  # '10-15 %'
    return _heads(reply, place) and bool(
        (RULES.ITSELF.match(reply.told[place.start]) and clause.behind[:1] in row("comma colon"))
        or RULES.OPENED.match(reply.told, place.end)
        or (texts and RULES.OPENED_PAIR.match(reply.told, place.end) and not sign)
    )


def _heads(reply: Reply, place: Place) -> bool:
    """Whether a reply opens with a place."""
    return not reply.behind and bool(RULES.HEADS_REPLY.fullmatch(reply.told[: place.start]))


def _of_another(reply: Reply, place: Place) -> bool:
    """Whether a sentence has words of which another option's text alone is made."""
    texts = reply.options.texts
    own = {word for key in place.letters for word in texts[key]}
    of_others = {word for key in texts.keys() - place.letters for word in texts[key]} - own
    start = max(reply.told.rfind(kind, 0, place.start) for kind in ENDS) + 1
    end = len(RULES.WHY_OR_END.split(reply.told[place.end :])[0]) + place.end
    said = {stem(word) for words in reply.tokens.words[start:end] for word in words.split()}
    return any(len(word) > 3 for word in said & of_others)
