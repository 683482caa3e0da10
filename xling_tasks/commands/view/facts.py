"""What is found by: the label, score and flags of a sample in one of its languages."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from xling_tasks.criteria import CRITERIA, Found
from xling_tasks.criteria.rates import IN_LANGUAGE, RATES
from xling_tasks.criteria.sample import as_text, mapping, missing, number
from xling_tasks.failed_response import CONTENT_FILTER, REQUEST_FAILED
from xling_tasks.logs.shown import languages_in, parts_of, several_languages

FLAGS = {
    "off_language": "not in the language asked for",
    "empty": "empty answer",
    "content_filter": "held back by the service",
    "refusal": "declined by the model",
    "failed": "failed call",
    "unparsed": "reply or verdict not read",
    "judge_failed": "judge failed",
    "no_majority": "judges without a majority",
    "order_sensitive": "another label with the answers exchanged",
    "translation_failed": "translation failed",
    "unscored": "not scored",
    "abstained": "no claims in the answer",
}
"""What may be the matter with an answer, in words; the place of each is its bit."""

_BITS = {name: 1 << place for place, name in enumerate(FLAGS)}

_TEMPERATURE = re.compile(r"(.+?)(?:_t(\d+(?:\.\d+)?))?")
_TITLE = 240
_LABEL = 80


class Row(NamedTuple):
    """A sample in one language, whose code is empty where it is not known.

    TITLE is the beginning of its question, LABEL what was found, as a key, or empty. SCORE (higher
    is better, within one criterion) and RIGHT are None where there is none; FLAGS are bits of
    `FLAGS`; TEXT is all its texts, folded for the search.
    """

    question: str
    language: str
    title: str
    label: str
    score: float | None
    right: bool | None
    flags: int
    text: str


def facts(
    criterion: str,
    language: str,
    sample: Mapping[str, Any],
    primary: Mapping[str, bool | None],
) -> Iterator[Row]:
    """A sample in each of its languages, or in the task's, where that has one.

    CRITERION is a key of `CRITERIA`, or anything else; PRIMARY has the task's endpoints, with
    whether higher is better.
    """
    doc = mapping(sample.get("doc"))
    question = doc.get("question_id", sample.get("doc_id"))
    for code in languages_in(criterion, sample, language):
        parts = parts_of(criterion, sample, code)
        asked = parts[0].passages[0].text[: 2 * _TITLE] if parts else ""
        judged = _found(criterion, sample, code, primary)
        yield Row(
            question=storable(as_text(question)),
            language=storable(code),
            title=" ".join(asked.split())[:_TITLE],
            label=storable(judged.label[:_LABEL]),
            score=judged.score,
            right=judged.right,
            flags=flags_of(criterion, sample, code),
            text=fold("\0".join(p.text for part in parts for p in part.passages)),
        )


def fold(text: str) -> str:
    """A text without what a search should not depend on: case, and forms of one character."""
    return unicodedata.normalize("NFKC", text).casefold()


def storable(text: str) -> str:
    """A text whose lone halves of characters are replaced: no database takes them."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# Flags


def flags_of(criterion: str, sample: Mapping[str, Any], language: str) -> int:
    """What is the matter with an answer, as bits of `FLAGS`."""
    names = set(_named(criterion, sample, language))
    if several_languages(criterion):
        names -= {"content_filter", "failed"}
        codes = list(mapping(mapping(sample.get("doc")).get("text")))
        at = str(codes.index(language)) if language in codes else ""
        outcomes = {said[0] for place, said in missing(sample).items() if place[0] == at}
        flags = {CONTENT_FILTER: "content_filter", REQUEST_FAILED: "failed"}
        names |= {flag for outcome, flag in flags.items() if outcome in outcomes}
        reason = mapping(sample.get(f"n_claims_{language}")).get("unscored")
        if isinstance(reason, str) and reason.startswith("translation failed"):
            names.add("translation_failed")
        profile = mapping(sample.get(f"profile_{language}"))
        if profile.get("english", "") is None and not outcomes:
            names.add("translation_failed")
    return sum(_BITS[name] for name in names)


def _named(criterion: str, sample: Mapping[str, Any], language: str) -> Iterator[str]:
    for name, value in sample.items():
        share = _share(value)
        if share is None:
            continue
        base, own = _base(criterion, name)
        if own not in ("", language):
            continue
        if share > 0 and base in RATES and RATES[base].flag:
            yield RATES[base].flag
        elif share < 0.5 and base in IN_LANGUAGE:
            yield "off_language"


@functools.lru_cache(maxsize=65_536)
def _base(criterion: str, name: str) -> tuple[str, str]:
    """A metric's name without temperature and language, and the language."""
    if several_languages(criterion):
        metric, _, code = CRITERIA[criterion].split(name)
        return metric, "" if code == "avg" else code
    match = _TEMPERATURE.fullmatch(name)
    return (match[1] if match else name), ""


def _share(value: Any) -> float | None:
    """A number, or hits of so many."""
    if isinstance(value, list) and len(value) == 2:
        hits, of = map(number, value)
        return None if hits is None or not of else hits / of
    return number(value)


# Label and score


def _found(
    criterion: str, sample: Mapping[str, Any], language: str, primary: Mapping[str, bool | None]
) -> Found:
    known = CRITERIA.get(criterion)
    if known is not None and known.shown is not None and known.shown.found is not None:
        return known.shown.found(sample, language)
    label = mapping(sample.get("n_judged")).get("label")
    for name, higher in primary.items():
        value = _share(sample.get(name))
        if value is not None:
            return Found(label or "", -value if higher is False else value)
    return Found(label or "")


def flag_names(bits: int) -> list[str]:
    """The names of flags that are set."""
    return [name for name, bit in _BITS.items() if bits & bit]


def bit_of(name: str) -> int:
    """The bit of a flag; 0 for none of them."""
    return _BITS.get(name, 0)
