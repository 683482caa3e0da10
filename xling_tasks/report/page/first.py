"""The first screen of the page: the answer, a sentence per language, what to be wary of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xling_tasks.criteria import CRITERIA, ENGLISH
from xling_tasks.report.lines import SEVERITY, Line, about_the_judge, answer, lines
from xling_tasks.report.model import Conclusion, Report
from xling_tasks.report.pictures.words import questions
from xling_tasks.report.sentences import (
    against_one,
    agreement,
    metric_of,
    shown_values,
    unremarkable,
)
from xling_tasks.report.tables.differences import FLAGS, remarks_of
from xling_tasks.report.tables.grid import dataset_title

FEW, SOME, MODELS, DRAWN = 4, 6, 3, 24
"""Up to so many lines there is room for each, and for a short form of each; more are grouped. Of
more models only the answers have room. So many estimates are drawn with all endpoints."""


class Group(NamedTuple):
    """Languages with one verdict on one endpoint, in one sentence."""

    verdict: str  # As in `Conclusion`.
    items: list[str]  # Each language with its evidence.
    said: str  # The verdict in words.
    about: str  # What it is about, or why.
    leads: list[Conclusion]  # The conclusion of each language.


class Block(NamedTuple):
    """What is said of one model."""

    model: str  # Its short name.
    answer: str  # Which languages are served worse.
    lines: list[Line]  # One per language; empty where they are grouped.
    groups: list[Group]  # The same as few sentences, where there are many languages.


class Flag(NamedTuple):
    """What to be wary of, in a few words, and the anchor of more."""

    words: str
    target: str


class First(NamedTuple):
    """The first screen."""

    size: str  # `few`, `some` or `many` lines.
    blocks: list[Block]  # One per model.
    flags: list[Flag]  # What to be wary of, in a few words each.
    shown: list[Conclusion]  # The conclusions that its picture shows.
    nothing: str  # Why nothing is concluded; empty if something is.
    most: int = MODELS  # Models that have room for more than their answer.


def first_screen(report: Report) -> First:
    """What the first screen says of a report."""
    titles = {item.dataset: dataset_title(item.dataset) for item in report.conclusions}
    every = lines(report.conclusions, titles)
    size = "few" if len(every) <= FEW else "some" if len(every) <= SOME else "many"
    blocks = []
    for model in dict.fromkeys(model.name for model in report.models) if every else ():
        own = [line for line in every if line.model == model]
        groups = grouped(own) if size == "many" else []
        said = answer(own) or _nothing(report, model)
        blocks.append(Block(model, said, [] if groups else own, groups))
    nothing = "" if report.conclusions else _nothing(report)
    return First(size, blocks, _flags(report), _shown(report, every), nothing)


def answers(report: Report) -> list[str]:
    """Which languages are served worse, a sentence per model; named if there are several."""
    first = first_screen(report)
    if first.nothing:
        return [first.nothing]
    several = len(first.blocks) > 1
    return [f"{b.model}: {b.answer}" if several else b.answer for b in first.blocks]


def _flags(report: Report) -> list[Flag]:
    about: dict[str, dict[str, None]] = {}
    for item in remarks_of(report):
        about.setdefault(item.kind, {})[CRITERIA[item.criterion].title] = None
    named = {kind: ", ".join(titles) for kind, titles in about.items()}
    flags = [Flag(FLAGS[k].format(named[k]), "know-first") for k in FLAGS if k in named]
    if about_the_judge(report.conclusions):
        flags.append(Flag("The judge's own errors are not in the intervals", "all"))
    return flags


def _nothing(report: Report, model: str = "") -> str:
    """Why nothing is concluded of a model, or of all."""
    languages = {cell.language for cell in report.cells if model in ("", cell.model)}
    lacking = "another language" if ENGLISH in languages else "English"
    what = "comparable results" if languages > {ENGLISH} else "results"
    return f"Nothing can be compared with English: there are no {what} in {lacking}."


def _shown(report: Report, every: Sequence[Line]) -> list[Conclusion]:
    """What the picture has room for: all endpoints that tell something, else each model's leads.

    Where no language is comparable there is nothing to draw.
    """
    telling = [item for item in report.conclusions if not unremarkable(item)]
    if len(every) > FEW or len(telling) > DRAWN:
        leads = {_panel(line.lead) for line in every}
        telling = [item for item in telling if _panel(item) in leads]
    drawn = {_panel(item) for item in telling if item.verdict != "not_comparable"}
    return [item for item in telling if _panel(item) in drawn]


def _panel(item: Conclusion) -> tuple[str, str, str, str]:
    return item.model, item.criterion, item.dataset, item.metric


# Many languages


def grouped(own: Sequence[Line]) -> list[Group]:
    """Languages by verdict and endpoint, the gravest first."""
    groups: dict[tuple[str, ...], list[Line]] = {}
    for line in own:
        unsure = line.kind == "inconclusive"
        reason = line.lead.reason if unsure or line.kind == "not_comparable" else ""
        endpoint = line.lead.criterion, line.lead.metric, line.lead.dataset
        groups.setdefault((line.kind, *endpoint, reason), []).append(line)
    ordered = sorted(groups.values(), key=lambda group: SEVERITY.index(group[0].kind))
    return [_group(group) for group in ordered]


def _group(group: Sequence[Line]) -> Group:
    first = group[0]
    verdict, names = first.lead.verdict, [line.name for line in group]
    leads = [line.lead for line in group]
    if verdict == "not_comparable":
        reason = first.lead.reason
        return Group(verdict, names, first.verdict, reason[:1].upper() + reason[1:], leads)
    values = [shown_values(line.lead) for line in group]
    bases = {base for _, base in values}
    about = metric_of(first.lead).heading
    about += f", {first.dataset}" if first.dataset else ""
    alone = against_one(first.lead)
    english = "two English answers" if agreement(first.lead) else "English"
    if len(bases) == 1 and not alone:
        about += f" ({english} {bases.pop()})"
        alone = True
    items = [
        f"{line.name} {value}" + ("" if alone else f" ({english} {base})")
        for line, (value, base) in zip(group, values, strict=True)
    ]
    return Group(verdict, items, first.verdict, f"{about}; {_basis(verdict, group)}", leads)


def _basis(verdict: str, group: Sequence[Line]) -> str:
    """Of how many questions, and why nothing can be told."""
    counts = sorted({line.lead.n for line in group})
    ends = questions(counts)
    if verdict != "inconclusive":
        return ends
    own = {line.why.removesuffix(".") for line in group}  # one language's numbers are no other's
    why = own.pop() if len(own) == 1 else group[0].lead.reason
    return f"{ends}; {why[:1].lower()}{why[1:]}"
