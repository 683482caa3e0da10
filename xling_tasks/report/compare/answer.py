"""The first lines of `xling compare`: where B is better or worse than A, and its shortfalls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xling_tasks.criteria import ENGLISH
from xling_tasks.report.compare.numbers import Line
from xling_tasks.report.compare.words import headline, language_name
from xling_tasks.report.lines import SEVERITY, names
from xling_tasks.report.model import Conclusion
from xling_tasks.report.tables.grid import is_language

_FALLS = {
    "larger": "larger in {}",
    "smaller": "smaller in {}",
    "levelled_down": "levelled down in {} (smaller only because B's English is worse)",
}


FEW = 6
"""Up to so many languages each have a line with numbers, unfolded; more are told together."""


class Said(NamedTuple):
    """Languages of which the same is said.

    Attributes:
        languages: Their codes.
        verdict: The gravest of B against A over their endpoints; `better` only where none is worse.
        text: How B serves them, and how the shortfall changed.
    """

    languages: Sequence[str]
    verdict: str
    text: str


def answers(lines: Sequence[Line], *, same: bool) -> list[str]:
    """Where B is better or worse than A, then where its shortfall changed; whether both are one."""
    own = _by_language(lines, "difference")
    if not own:
        return ["Nothing can be concluded: no endpoint is in both runs."]
    kinds: dict[str, list[str]] = {}
    for code, group in own.items():
        kinds.setdefault(_kind(group), []).append(code)
    one = "A and B are the same model: what differs is noise between runs, or settings."
    told = [_sentence(_between(kinds, len(own))), *_falls(_by_language(lines, "gap"))]
    return [*([one] if same else []), *told]


def by_language(lines: Sequence[Line]) -> list[Said]:
    """Every language in a sentence, those with the same one together, the gravest first."""
    between = _by_language(lines, "difference")
    few = len(between) <= FEW
    same: dict[tuple[str, str], list[str]] = {}
    for code, group in _by_language(lines, None).items():
        kind = _gravest(between.get(code, ()))
        same.setdefault((kind, headline(group, counted=few)), []).append(code)
    said = [Said(own, kind, text) for (kind, text), own in same.items()]
    return sorted(said, key=lambda item: _ORDER.index(item.verdict))


def conclusions(lines: Sequence[Line]) -> list[Conclusion]:
    """What is concluded of B against A, for a picture."""
    return [line.said for line in lines if line.kind == "difference" and line.said is not None]


_ORDER = ("worse", "better", *(kind for kind in SEVERITY if kind not in ("worse", "better")))


def _by_language(lines: Sequence[Line], kind: str | None) -> dict[str, list[Line]]:
    """Endpoints by language, English last; means over languages are none."""
    own = [x for x in lines if x.said is not None and kind in (None, x.kind)]
    named = {x.language for x in own if is_language(x.language)}
    codes = sorted(named, key=lambda code: (code == ENGLISH, code))
    return {code: [x for x in own if x.language == code] for code in codes}


def _verdicts(group: Sequence[Line]) -> set[str]:
    return {line.said.verdict for line in group if line.said is not None}


def _gravest(group: Sequence[Line]) -> str:
    verdicts = _verdicts(group)
    return next((kind for kind in _ORDER if kind in verdicts), "cannot_tell")


def _kind(group: Sequence[Line]) -> str:
    verdicts = _verdicts(group)
    if "worse" in verdicts:
        return "both" if "better" in verdicts else "worse"
    if "better" in verdicts:
        return "better"
    # Of every endpoint it is excluded that B is worse by more than the margin.
    return "not_worse" if all(line.non_inferior for line in group) else "nothing"


def _between(kinds: Mapping[str, Sequence[str]], of: int) -> list[str]:
    def where(kind: str) -> str:
        return names([language_name(code) for code in kinds[kind]], of)

    said = []
    if "worse" in kinds:
        said.append(f"B is worse than A in {where('worse')}")
    if "both" in kinds:
        said.append(f"B is better in some measures and worse in others in {where('both')}")
    if "better" in kinds:
        said.append(f"B is better than A in {where('better')}")
    rest = " elsewhere" if said else ""
    if "nothing" in kinds:
        shown = f"nothing is shown between A and B{rest}"
        if "not_worse" in kinds:
            shown += f", but that B is not worse in {where('not_worse')}"
        return [*said, shown]
    if "not_worse" in kinds:
        said.append(f"B is not worse{rest}" if said else "B is not worse than A in any language")
    return said


def _falls(own: Mapping[str, Sequence[Line]]) -> list[str]:
    said = []
    for verdict, words in _FALLS.items():
        found = [code for code, group in own.items() if verdict in _verdicts(group)]
        if found:
            said.append(words.format(names([language_name(code) for code in found], len(own))))
    return [_sentence([f"the shortfall to English is {', '.join(said)}"])] if said else []


def _sentence(parts: Sequence[str]) -> str:
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."
