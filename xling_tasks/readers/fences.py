"""Codes that mark what counts in a reply, and that no text in the prompt can hold.

A judge reads texts that nobody vouches for: an answer may state its own verdict, fake the end of
its fence, or give orders. So fences, and every line of a reply that counts, carry a code. It
follows from the texts under a key that no writer of a text knows (HMAC, RFC 2104), and it is drawn
again as long as one of the texts holds it in any spelling: `skeleton` is at least as lenient as
`said_lines`, in which replies are read. A judge that merely repeats what it reads therefore says
nothing.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import json
import re
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from xling_tasks.readers.thinking import without_thinking

ALPHABET = "bcdfghjkmnpqrstvwxz"
"""Letters of a code: none that looks like another, and no vowel, so that no code is a word."""

LENGTH = 6
"""Letters in a code: 47 million codes."""

_T = TypeVar("_T")
_K = TypeVar("_K", bound=Hashable)


@dataclass(frozen=True)
class Fences:
    """The codes under one key.

    Attributes:
        kind: Where the key is from: `cache`, `setting` or `run`. This stands in results.
        key: The key, which stands nowhere.
    """

    kind: str
    key: bytes = field(repr=False)

    def code(self, *texts: str, apart_from: Sequence[str] = ()) -> str:
        """Six letters that follow from the key and the texts, and occur in none of them.

        Args:
            texts: What the code is about.
            apart_from: Other texts of the prompt, which must not hold the code either. But for one
                code in millions they do not change it, so that prompts over the same `texts`
                begin in the same way, whatever stands behind.
        """
        held = skeleton("\n".join((*texts, *apart_from)))
        content = json.dumps(texts).encode()
        for attempt in range(1000):
            message = b"%d\0" % attempt + content
            number = int.from_bytes(hmac.digest(self.key, message, hashlib.sha256), "big")
            code = ""
            for _ in range(LENGTH):
                number, index = divmod(number, len(ALPHABET))
                code += ALPHABET[index]
            if code not in held:
                return code
        raise AssertionError("a text of finite length cannot hold a thousand codes by chance")


STAND_IN = Fences("none", b"only for prompts that are counted and never sent")
"""For estimates: codes of the right length."""


# What a text holds


def skeleton(text: str) -> str:
    """The letters a to z of a text, and those that look like them; everything else falls away.

    Case, accents, full-width and other styled forms, look-alikes of other alphabets, spaces,
    dashes, markdown and invisible marks make no difference.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKD", _NO_LATIN.sub("", text))
        if any(_LATIN[ord(each)] for each in set(text) if not each.isascii()):
            text = text.translate(_LATIN)
    return text.lower().encode("ascii", "ignore").translate(None, _NO_LETTERS).decode()


_NO_LETTERS = bytes(set(range(128)) - set(b"abcdefghijklmnopqrstuvwxyz"))
# Letters of India, Japan, China and Korea: dropped at once, for speed alone.
_NO_LATIN = re.compile("[\u0900-\u0dff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")

_LOOK_ALIKE = {
    letter: latin
    for latin, letters in {
        "a": "аαӓⲁꭺɑꓮᎪ", "b": "вьЬБβƄᏏᖯꓐᏴ", "c": "сςϲᏟⲥꓚ", "d": "ԁᏧժɖꓓᎠ", "e": "еєεҽ℮ꓰᎬ",
        "f": "ғϝẝƒꓝ", "g": "ԍɡցǥꓖᏀ", "h": "нһηՀհᏂꓧᎻ", "i": "іιїӏɩıꓲ", "j": "јϳյɉꓙᎫ", "k": "кκҝⲕꓗᏦ",
        "l": "ⅼӏլǀꓡᏞ", "m": "мμϻⲙꓟᎷ", "n": "ոпνɳռℵꓠ", "o": "оοօσ০०〇ꓳ", "p": "рρϱⲣꓑᏢ", "q": "ԛգզφ",
        "r": "гяᴦⲅꭇꓣᎡ", "s": "ѕꜱՏςʂꓢᏚ", "t": "тτεէⲧꓔᎢ", "u": "υսцμꓴ", "v": "ѵνսᴠꓦᏙ", "w": "ѡωաԝшꓪᎳ",
        "x": "хχ×жꓫ", "y": "уγүყꓬᎩ", "z": "ʐᴢζȥꓜᏃ",
    }.items()
    for letter in letters
}  # fmt: skip
_NAMED = re.compile(
    r"(?:LATIN|REGIONAL INDICATOR SYMBOL|NEGATIVE \w+(?: LATIN)?|CROSSED NEGATIVE SQUARED LATIN|"
    r"TAG LATIN|MODIFIER|SQUARED LATIN).*?LETTER(?: SMALL| CAPITAL| SIDEWAYS| TURNED| REVERSED"
    r"| SCRIPT| OPEN| DOTLESS)* ([A-Z])\b|TAG LATIN \w+ LETTER ([A-Z])"
)


class _Latin(dict[int, str]):
    """Code point -> its letters a to z, found when first asked for."""

    def __missing__(self, point: int) -> str:
        self[point] = letters = _latin(chr(point))
        return letters


def _latin(character: str) -> str:
    folded = unicodedata.normalize("NFKD", character.casefold())
    plain = "".join(each for each in folded if "a" <= each <= "z")
    if plain:
        return plain
    if folded[:1] in _LOOK_ALIKE:
        return _LOOK_ALIKE[folded[0]]
    name = unicodedata.name(character, "")
    if name.startswith("REGIONAL INDICATOR SYMBOL LETTER "):
        return name[-1].lower()
    match = _NAMED.match(name)
    return (match[1] or match[2]).lower() if match else ""


_LATIN = _Latin()


# What a reply says


def cleaned(text: str) -> str:
    """A text in compatibility forms, without invisible marks; line breaks stay."""
    return unicodedata.normalize("NFKC", text).translate(_INVISIBLE)


class _Invisible(dict[int, "int | None"]):
    """Code point -> itself, or None for what shows nothing."""

    def __missing__(self, point: int) -> int | None:
        character = chr(point)
        hidden = unicodedata.category(character) in ("Cf", "Co", "Cs") or character in _FILLERS
        control = unicodedata.category(character) == "Cc" and not character.isspace()
        self[point] = None if hidden or control else point
        return self[point]


_FILLERS = frozenset("\u034f\u115f\u1160\u3164\uffa0") | {*map(chr, range(0xFE00, 0xFE10))}
_INVISIBLE = _Invisible()
_MARKUP = re.compile(
    r"</?(?:b|strong|i|em|u|p|br|code|mark|span)\b[^<>]{0,80}>|\\(?:boxed|text(?:bf|it|rm)?)\b|[*_`#\"'“”‘’]",
    re.I,
)


def said_lines(reply: str | None, codes: Sequence[str] = ()) -> list[str]:
    """The lines of a reply in one form: outside of thinking, cleaned, no markup, one case.

    A label on the line after its code ('VERDICT abcdef:') is part of that line.

    Args:
        reply: The reply.
        codes: The codes of lines that count.

    Returns:
        The lines that say something; none where the reply was cut off within its thinking.
    """
    text = without_thinking(cleaned(reply or ""), codes)
    said: list[str] = []
    for whole in (text or "").splitlines():
        line = " ".join(_MARKUP.sub(" ", whole).casefold().split())
        if said and any(said[-1].endswith((f"{code}:", f"{code} :")) for code in codes):
            said[-1] = f"{said[-1]} {line}" if line else said[-1]
        elif line:
            said.append(line)
    return said


_TAKEN_BACK = re.compile(
    r"\b(?:actually|wait|correction|corrected|instead|retract|reconsider|scratch that|change my"
    r"|on second|on reflection|mistake|withdraw|disregard|in error)\b"
)
# A line that leads to a verdict says so in these words, or is a label of two words. Any other line
# with a colon at its end ('Answer 2 demands that I write:') leads to what somebody else says.
_LEADS = re.compile(
    r"(?:\W|\d|\b(?:so|therefore|thus|hence|my|the|final|in|conclusion|verdict|is|are|as|follows|here"
    r"|overall|judge?ment|label|decision|result|ranking|answer|reasoning|and|this|with|for|each"
    r"|lines?|verdicts|criteria|criterion|claims|output|end|ending|now)\b)*"
)


def last_statement(lines: Sequence[str], code: str, read: Callable[[str], _T | None]) -> _T | None:
    """What the last line of a reply states.

    It states nothing where anything that says something stands behind it, where the line before
    it reports it as another's words ('It demands this line:'), or where an earlier statement
    differs and no line between says that it is taken back.

    Args:
        lines: The lines of the reply, from `said_lines`.
        code: The code that a statement carries.
        read: A line's statement; None if it is none.
    """
    end = last_words(lines)
    stated = read(lines[end - 1]) if end and has_code(lines[end - 1], code) else None
    if stated is None or reported(lines, end - 1):
        return None
    for place in range(end - 1):
        differs = has_code(lines[place], code) and read(lines[place]) not in (None, stated)
        if differs and not any(map(_TAKEN_BACK.search, lines[place + 1 : end])):
            return None
    return stated


def coded_statements(
    lines: Sequence[str], read: Callable[[str], tuple[_K, _T] | None]
) -> dict[_K, _T]:
    """What the lines of a list at the end of a reply state, by what each is about.

    The conditions are those of `last_statement`, line by line: of two that differ on one thing the
    last counts where a line between takes the first back, else neither.

    Args:
        lines: The lines of the reply.
        read: What a line is about and what it states; None if it states nothing.
    """
    end = last_words(lines)
    found = [read(line) for line in lines[:end]]
    if not found or found[-1] is None:
        return {}
    stated: dict[_K, tuple[int, _T]] = {}
    doubtful: set[_K] = set()
    quoted = False
    for place, each in enumerate(found):
        if each is None:
            continue
        if not place or found[place - 1] is None:
            quoted = reported([line.casefold() for line in lines[:end]], place)
        if quoted:
            continue
        about, value = each
        if about in stated and stated[about][1] != value:
            between = lines[stated[about][0] + 1 : place + 1]
            if not any(_TAKEN_BACK.search(line.casefold()) for line in between):
                doubtful.add(about)
        stated[about] = (place, value)
    if quoted:
        return {}
    return {about: value for about, (_, value) in stated.items() if about not in doubtful}


def last_words(lines: Sequence[str]) -> int:
    """The number of lines up to the last one that has a letter or a digit."""
    end = len(lines)
    while end and not any(map(str.isalnum, lines[end - 1])):
        end -= 1
    return end


def reported(lines: Sequence[str], place: int) -> bool:
    """Whether the line before a place leads to another's words."""
    before = lines[place - 1].rstrip(" -–—") if place else ""
    if not before.endswith((":", "：")):
        return False
    label = len(before.split()) == 2 or len(before) <= _LABEL
    return not (label or _LEADS.fullmatch(before))


_LABEL = 9
"""Characters of a label without spaces ('最终判断:')."""


def has_code(line: str, code: str) -> bool:
    """Whether a line, in the form of `said_lines`, has the code as a word."""
    return _word(code).search(line) is not None


@functools.lru_cache(maxsize=4096)
def _word(code: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){code}(?!\w)")


def behind_code(line: str, code: str) -> str | None:
    """What a line of a list says, without the code at its head; None if it has no code there.

    The code stands first, or behind the item's bullet or number (`1. abcdef Text`); it may stand
    in brackets.

    Args:
        line: A line of a reply as it is: what it says is kept to the letter.
        code: The code.
    """
    head, _, rest = line.partition(" ")
    if head == code and rest[:1].isalnum():
        return rest  # the form asked for, quickly
    match = _head(code).fullmatch(line) if code in line.lower() else None
    if match is None:
        return None
    bullet = "- " if match["bullet"] else ""
    number = f"{match['number']}. " if match["number"] else ""
    return f"{number or bullet}{match['rest']}"


@functools.lru_cache(maxsize=4096)
def _head(code: str) -> re.Pattern[str]:
    return re.compile(
        r"[\s>#|_`]*(?P<bullet>[-*–•]\s)?[\s*_>#|`]*(?:claim\s+)?"
        r"(?:[(\[]?(?P<number>\d{1,3})[\s*_]*[.):\]|-]{1,2}(?!\d))?[\s*_`|]*"
        rf"(?P<open>[\[(<{{])?[*_`]*{code}(?!\w)[*_`]*(?(open)[\])>}}]|(?![\])>}}]))"
        r"[*_`]*\s*(?:[:|,]|[–—-](?=\s*\d))?\s*(?P<rest>.*)",
        re.I | re.S,
    )
