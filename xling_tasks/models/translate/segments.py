"""A text taken apart into sentences to translate, and put together again in the same shape.

Sentences come from sentencex: it has rules for ar bn de el en es fr gu hi it ja kn ml nl pa pl pt
ru ta te, takes Slovak's for cs, and general ones (every script's sentence marks, abbreviations of
English) for fa he id ko ro tr ur vi zh. Thai, written without full stops and without spaces between
words, goes through pythainlp's crfcut (the extra `th`). Line breaks, list marks and pieces without
letters are no sentences: they stay what they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex
from xling_metrics.base import import_optional
from xling_metrics.languages import known, language_code
from xling_metrics.tokenization import LETTER

_BREAK = re.compile(r"(\s*[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]\s*)")
_LIST_MARK = regex.compile(
    r"\s*(?:(?:[-*+•·‣▪◦–—>#]+\s+)|(?:\(?\p{Nd}{1,3}(?:[.)．](?!\p{Nd})|、)\s*))*", regex.V1
)

# Titles after which sentencex ends a sentence in some languages ("Consultez le Dr. Dupont").
_TITLE = regex.compile(
    r"(?:^|[\s(])(?:dr|dra|prof|profa|mme|mlle|mgr|dott|pr|lek|ths|ts|bs|gs|डॉ|डा|प्रो|ડૉ|ਡਾ|ডা|د|др)\.\s*$"
    r"|(?:^|[\s(])M\.\s*$",
    regex.IGNORECASE,
)

# Longer pieces are cut at a clause: translation models are trained on sentences.
_LONGEST = 600
_LONGEST_DENSE = 200
_CLAUSE = regex.compile(r"[,;:،؛，；：、–—)）]\s*|\s+")


@dataclass(frozen=True)
class Segment:
    """A stretch of a text.

    Attributes:
        text: Its text.
        gap: The white space after it.
        translatable: Whether it is a sentence; else it is kept.
    """

    text: str
    gap: str
    translatable: bool


@dataclass(frozen=True)
class SegmentedText:
    """A text in pieces: `start`, then each piece's text and gap, give the text exactly."""

    start: str
    pieces: tuple[Segment, ...]

    @property
    def sentences(self) -> list[str]:
        """The sentences to translate, in order."""
        return [piece.text for piece in self.pieces if piece.translatable]

    def join(self, translations: Sequence[str], target: str) -> str:
        """The text with its sentences replaced.

        Within a line, sentences of a language that puts no space between them get one in a
        language that does, and the other way round. Kept pieces get ASCII digits.
        """
        remaining = iter(translations)
        unspaced = _unspaced(target)
        out = [self.start]
        for i, piece in enumerate(self.pieces):
            out.append(next(remaining) if piece.translatable else _ascii_digits(piece.text))
            following = self.pieces[i + 1].text if i + 1 < len(self.pieces) else ""
            out.append(_gap(piece, following, unspaced))
        return "".join(out)


def segment_text(text: str, language: str) -> SegmentedText:
    """Take a text apart.

    Raises:
        ImportError: If the language's splitter is not installed; the message names the extra.
    """
    start = text[: len(text) - len(text.lstrip())]
    pieces: list[Segment] = []
    parts = _BREAK.split(text[len(start) :])
    for line, gap in zip(parts[::2], [*parts[1::2], ""], strict=True):
        own = list(_pieces(line, language))
        if own:
            last = own.pop()
            own.append(Segment(last.text, last.gap + gap, last.translatable))
        pieces += own
    return SegmentedText(start, tuple(pieces))


def require_splitter(language: str) -> None:
    """Fail now rather than after generation.

    Raises:
        ImportError: As `split`.
    """
    _segments("a", language_code(language))


def _pieces(line: str, language: str) -> Iterator[Segment]:
    """The pieces of one line; a line that is not empty has at least one."""
    if not line:
        return
    code = language_code(language)
    mark = _LIST_MARK.match(line)
    at = mark.end() if mark else 0
    if at:
        yield _piece(line[:at])
    for segment in _aligned(line[at:], _segments(line[at:], code)):
        for part in _cut(segment, _LONGEST_DENSE if _unspaced(code) else _LONGEST):
            yield _piece(part)


def _unspaced(language: str) -> bool:
    row = known(language)
    return row is not None and row.unspaced


def _piece(raw: str) -> Segment:
    text = raw.rstrip()
    return Segment(text, raw[len(text) :], bool(LETTER.search(text)))


def _segments(text: str, code: str) -> list[str]:
    if code != "th":
        from sentencex import segment  # type: ignore[import-untyped]

        return list(segment(code, text))
    need = "sentences of Thai"
    import_optional("pycrfsuite", need, "th")  # what crfcut needs beside pythainlp
    sent_tokenize = import_optional("pythainlp.tokenize", need, "th").sent_tokenize
    return list(sent_tokenize(text, engine="crfcut")) if text.strip() else []


def _aligned(text: str, segments: Sequence[str]) -> list[str]:
    """The segments as stretches that give `text` exactly; titles stay with the name behind them."""
    starts = [0]
    position = 0
    for segment in segments:
        core = segment.strip()
        begin = text.find(core, position)
        if not core or begin < 0:
            continue
        if position and not _TITLE.search(text[starts[-1] : begin]):
            starts.append(begin)
        position = begin + len(core)
    bounds = zip(starts, [*starts[1:], len(text)], strict=True)
    return [text[i:j] for i, j in bounds if i < j]


def _cut(sentence: str, longest: int) -> Iterator[str]:
    """A sentence in stretches of at most `longest` characters, cut behind a clause or word."""
    while len(sentence.rstrip()) > longest:
        marks = [m for m in _CLAUSE.finditer(sentence, 0, longest) if m.end() > longest // 3]
        clauses = [m for m in marks if not m.group().isspace()]
        at = (clauses or marks)[-1].end() if marks else _between_letters(sentence, longest)
        yield sentence[:at]
        sentence = sentence[at:]
    if sentence:
        yield sentence


def _between_letters(text: str, at: int) -> int:
    """The last place up to `at` that does not part a letter from its marks."""
    while at > 1 and (unicodedata.category(text[at]).startswith("M") or text[at] == "\u200d"):
        at -= 1
    return at


def _gap(piece: Segment, following: str, unspaced: bool) -> str:
    if not following or _BREAK.search(piece.gap):
        return piece.gap
    if unspaced:
        return "" if piece.translatable and piece.gap.isspace() else piece.gap
    closes = unicodedata.category(following[0]) in ("Pe", "Pf", "Po")
    return piece.gap or ("" if closes or not piece.translatable else " ")


def _ascii_digits(text: str) -> str:
    return "".join(str(unicodedata.digit(c)) if c.isdecimal() else c for c in text)
