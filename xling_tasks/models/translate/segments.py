"""A text split into segments to translate, and joined again in the same shape.

Sentences come from sentencex: it has rules for ar bn de el en es fr gu hi it ja kn ml nl pa pl pt
ru ta te, and general ones for cs fa he id ko ro tr ur vi zh. Thai, without full stops and spaces,
goes through pythainlp's crfcut (extra `th`). Line breaks, list marks and segments without letters
stay what they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import regex
from xling_metrics.base import import_optional
from xling_metrics.languages import find_language, language_code
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

# Longer sentences are cut at a clause: translation models are trained on sentences.
_LONGEST, _LONGEST_UNSPACED = 600, 200
_CLAUSE = regex.compile(r"[,;:،؛，；：、–—)）]\s*|\s+")


class Segment(NamedTuple):
    """A stretch of a text, the white space after it, and whether it is translated."""

    text: str
    gap: str
    translatable: bool


class SegmentedText(NamedTuple):
    """A text in segments: `start`, then each segment's text and gap, give the text exactly."""

    start: str
    segments: tuple[Segment, ...]

    @property
    def to_translate(self) -> list[str]:
        """The texts of the segments to translate, in order."""
        return [segment.text for segment in self.segments if segment.translatable]

    def join(self, translations: Sequence[str | None], target: str) -> str | None:
        """Return the text with its segments replaced; None where one has no translation.

        Within a line, sentences of a language that puts no space between them get one in a
        language that does, and the other way round. Segments that stay get ASCII digits.
        """
        remaining, unspaced = iter(translations), _is_unspaced(target)
        parts = [self.start]
        for i, segment in enumerate(self.segments):
            digits = (str(unicodedata.digit(c)) if c.isdecimal() else c for c in segment.text)
            text = next(remaining) if segment.translatable else "".join(digits)
            if text is None:
                return None
            following = self.segments[i + 1].text if i + 1 < len(self.segments) else ""
            parts += [text, _gap(segment, following, unspaced)]
        return "".join(parts)


def split_sentences(text: str, language: str) -> SegmentedText:
    """Split a text into sentences; raise an ImportError that names the extra of a splitter."""
    code = language_code(language)
    longest = _LONGEST_UNSPACED if _is_unspaced(code) else _LONGEST
    start, lines = _split_lines(text)
    segments: list[Segment] = []
    for line, gap in lines:
        mark = _LIST_MARK.match(line)
        position = mark.end() if mark else 0
        stretches = [line[:position]] if position else []
        for sentence in _align(line[position:], _split_line(line[position:], code)):
            stretches += _cut(sentence, longest)
        for stretch in stretches:
            core = stretch.rstrip()
            segments.append(Segment(core, stretch[len(core) :], bool(LETTER.search(core))))
        segments[-1] = segments[-1]._replace(gap=segments[-1].gap + gap)
    return SegmentedText(start, tuple(segments))


def split_paragraphs(text: str, longest: int) -> SegmentedText:
    """Split a text into as few segments of whole paragraphs as have `longest` characters each."""
    start, lines = _split_lines(text)
    groups: list[tuple[str, str]] = []  # text and gap
    for line, gap in lines:
        longer = "".join(groups[-1]) + line if groups else ""
        if longer and len(longer) <= longest:
            groups[-1] = (longer, gap)
        else:
            groups.append((line, gap))
    segments = (Segment(line, gap, bool(LETTER.search(line))) for line, gap in groups)
    return SegmentedText(start, tuple(segments))


def require_splitter(language: str) -> None:
    """Fail now rather than after generation, with an ImportError as `split_sentences`."""
    _split_line("a", language_code(language))


def _split_lines(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the white space before a text, and its lines, each with what is behind it."""
    start = text[: len(text) - len(text.lstrip())]
    body = text[len(start) :]
    end = body[len(body.rstrip()) :]
    parts = _BREAK.split(body[: len(body) - len(end)])
    return start, list(zip(parts[::2], [*parts[1::2], end], strict=True)) if body else []


def _is_unspaced(language: str) -> bool:
    row = find_language(language)
    return row is not None and row.unspaced


def _split_line(text: str, code: str) -> list[str]:
    if code != "th":
        from sentencex import segment  # type: ignore[import-untyped]

        return list(segment(code, text))
    need = "sentences of Thai"
    import_optional("pycrfsuite", need, "th")  # what crfcut needs beside pythainlp
    sent_tokenize = import_optional("pythainlp.tokenize", need, "th").sent_tokenize
    return list(sent_tokenize(text, engine="crfcut")) if text.strip() else []


def _align(text: str, sentences: Sequence[str]) -> list[str]:
    """Return stretches that give `text` exactly; a title stays with the name behind it."""
    starts, position = [0], 0
    for core in filter(None, map(str.strip, sentences)):
        begin = text.find(core, position)
        if begin < 0:
            continue
        if position and not _TITLE.search(text[starts[-1] : begin]):
            starts.append(begin)
        position = begin + len(core)
    bounds = zip(starts, [*starts[1:], len(text)], strict=True)
    return [text[i:j] for i, j in bounds if i < j]


def _cut(sentence: str, longest: int) -> Iterator[str]:
    """Yield a sentence in stretches of at most `longest` characters, cut at a clause or word."""
    while len(sentence.rstrip()) > longest:
        marks = [m for m in _CLAUSE.finditer(sentence, 0, longest) if m.end() > longest // 3]
        clauses = [m for m in marks if not m.group().isspace()]
        end = (clauses or marks)[-1].end() if marks else longest
        yield sentence[:end]
        sentence = sentence[end:]
    if sentence:
        yield sentence


def _gap(segment: Segment, following: str, unspaced: bool) -> str:
    """Return the white space behind a translated segment."""
    if not following or _BREAK.search(segment.gap):
        return segment.gap
    if unspaced:
        return "" if segment.translatable and segment.gap.isspace() else segment.gap
    closes = unicodedata.category(following[0]) in ("Pe", "Pf", "Po")
    return segment.gap or ("" if closes or not segment.translatable else " ")
