"""What single words of a verdict are worth, and what in a reply is not said by itself.

A quotation of the judged answer, an echo of how it begins, and the keys of a JSON object.
"""

from __future__ import annotations

from collections.abc import Iterable

import regex

from xling_tasks.readers.kinds import KIND, has, row
from xling_tasks.readers.lexer import Tokens
from xling_tasks.readers.lexicon import WORDS
from xling_tasks.readers.verdict_grammar import RULES
from xling_tasks.readers.verdict_lexer import lex_verdict

YES, NO = 1, 0


def one_of(values: Iterable[int | None]) -> int | None:
    """The value that all have."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def value_of(match: regex.Match[str]) -> int:
    """The value of a word of verdict: 1 where it is a Yes."""
    return YES if match["yes"] else NO


def bare_value(kinds: str) -> int | None:
    """The value of a text that is nothing but a verdict, perhaps with a label before it."""
    if not (RULES.SAYS.search(kinds) and RULES.BARE.fullmatch(kinds)):
        return None
    body = RULES.LABELS.sub("", kinds)
    return one_of(value_of(match) for match in RULES.ITEM.finditer(body))


def value_said(match: regex.Match[str]) -> int:
    """What a statement says, its negations counted."""
    groups = match.groupdict()
    turns = sum(
        bool(groups.get(name)) for name in ("doubt", "n1", "n2", "n3", "n4", "n5", "n6", "n7")
    )
    value = YES if groups["adj"] == KIND["right"] else NO
    return value if turns % 2 == 0 else 1 - value


def could_differ(kinds: str, verdict: int) -> bool:
    """Whether behind the first sentence stands a word that could say otherwise."""
    first = RULES.SENTENCE.match(kinds)
    rest = kinds[first.end() :] if first else ""
    if verdict == YES:
        return has(rest, "no not wrong flawed fails disagree")
    return has(rest, "yes right fine agree") or (has(rest, "no not") and has(rest, "wrong flawed"))


# What an answer is quoted with, and what the next words say of it.
_QUOTATION = regex.compile(
    r'([^.!?।。\n"“”„«»「」『』]+)["“„«「『][^\n"“”„«»「」『』]{8,400}["”»」』][,;]?'
)


def after_quotation(text: str) -> Tokens | None:
    """What follows a quotation that opens a reply, where it is a statement on what is quoted.

    'The answer says "No, hugging is safe", and that is correct.'
    """
    match = _QUOTATION.match(text)
    if match is None or not RULES.QUOTES.fullmatch(lex_verdict(match[1]).kinds):
        return None
    tokens = lex_verdict(text[match.end() :])
    skip = len(tokens.kinds) - len(tokens.kinds.lstrip(row("or comma")))
    rest = Tokens(tokens.kinds[skip:], tokens.values, tokens.words[skip:])
    if has(rest.kinds[:1], "is not"):  # 'The answer, "...", is false.'
        return lex_verdict(f"{match[1].rstrip(' ,，:：')} {text[match.end() :]}")
    said = has(rest.kinds[:1], "subject") and RULES.STATEMENT.match(rest.kinds)
    # 'The given answer is: "No, ..." Anemia is ...': no verdict is in what is quoted.
    return rest if said or (match[1].rstrip().endswith((":", "：")) and rest.kinds) else None


_PAIR = regex.compile(r'"([^"\n]{1,40})" ?: ?(true|false|null|"[^"\n]{1,20}")')


def of_json(text: str) -> list[int | None]:
    """What the keys of a JSON object say that ask for it: {"correct": false}, {"errors": "no"}."""
    values: list[int | None] = []
    wrong: list[int | None] = []
    for key, value in _PAIR.findall(text) if text.startswith("{") else ():
        asked, said = lex_verdict(key).kinds, bare_value(lex_verdict(value).kinds)
        if has(asked, "wrong flawed"):
            wrong.append(NO if said == YES else None)  # what is not harmful may yet be wrong
        elif has(asked, "right noun subject"):
            values.append(None if has(asked, "word foreign") else said)
    return [*values, *(each for each in wrong if each is not None or not values)]


def without_echo(text: str, answer: str) -> str:
    """The reply without a passage that repeats how the judged answer begins, to its sentence's end.

    Four words, or a whole sentence of the reply of two or more, make an echo; 'No' alone is a
    verdict, whatever the answer begins with.
    """
    wanted = [word.casefold() for word in WORDS.findall(answer) if word[0].isalnum()][:60]
    if len(wanted) < 3:
        return text
    label = regex.match(r"[^\n:]{0,40}:\s*", text)
    for begin in (0, label.end() if label else 0):
        said = [m for m in WORDS.finditer(text, begin) if m[0][0].isalnum()][:60]
        same = 0
        while same < min(len(said), len(wanted)) and said[same][0].casefold() == wanted[same]:
            same += 1
        ends = same and regex.match(r"[^\w\n]*(?:[.!?。！？।…\n]|$)", text[said[same - 1].end() :])
        if same >= 4 or (same >= 3 and ends):
            rest = regex.search(r"[.!?。！？।…\n]+", text[said[same - 1].end() :])
            return text[said[same - 1].end() + rest.end() :] if rest else ""
    return text
