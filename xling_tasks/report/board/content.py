"""What a board publishes: one JSON content for page and programs, with words, and a CSV table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from xling_tasks import __version__
from xling_tasks.criteria import CRITERIA, Panel
from xling_tasks.languages import in_order, language_name
from xling_tasks.output import csv_text, many
from xling_tasks.pages import texts
from xling_tasks.report.board.model import Board, Square
from xling_tasks.report.lines import about_the_judge, in_part, lines, listed
from xling_tasks.report.sentences import VERDICTS, sentence
from xling_tasks.report.tables.grid import dataset_title
from xling_tasks.secrets import publishable, publishable_text

FORMAT = 1


def content_of(board: Board) -> dict[str, Any]:
    """Everything that is published, as plain values without hosts, folders and keys."""
    conclusions = [s.cell.conclusion for s in board.squares if s.cell.conclusion is not None]
    level, said = board.options.level, texts()["board"]
    languages = dict.fromkeys(square.language for square in board.squares)
    made: dict[str, Any] = {
        "format": FORMAT,
        "made_by": f"xling-tasks {__version__}",
        "newest_run": max(entry.stamp for entry in board.entries),
        "level": level,
        "options": asdict(board.options),
        "about": [
            said["ranks"].format(level=f"{level:.0%}"),
            said["groups"],
            *about_the_judge(conclusions),
            said["not_evidence"],
        ],
        "notes": [publishable_text(note) for note in board.notes],
        "verdicts": VERDICTS,
        "by_language": _by_language(board.squares),
        "languages": {code: language_name(code) for code in sorted(languages)},
        "models": [
            {
                "name": entry.name,
                "model": entry.model,
                "versions": entry.versions,
                "newest_run": entry.stamp,
                "made": entry.made,
            }
            for entry in board.entries
        ],
        "endpoints": [_endpoint(board, panel) for panel in board.endpoints],
        "cells": [_cell(square) for square in board.squares],
    }
    content = dict(publishable(made))
    # Links are for everyone: what keeps hosts of servers out is not for them.
    for each, entry in zip(content["models"], board.entries, strict=True):
        each["handed_in"] = [asdict(told) for told in entry.handed_in]
    return content


def key_of(panel: Panel) -> str:
    """An endpoint's key."""
    tau = "" if panel.temperature is None else f"_t{panel.temperature:g}"
    return f"{panel.criterion}/{panel.dataset}/{panel.metric}{tau}"


def _endpoint(board: Board, panel: Panel) -> dict[str, Any]:
    endpoint = board.endpoints[panel]
    own = [square for square in board.squares if square.panel == panel]
    return {
        "key": key_of(panel),
        **panel._asdict(),
        "title": _endpoint_title(panel),
        "place": _place_title(panel),
        "share": is_share(panel),
        "higher_is_better": bool(CRITERIA[panel.criterion].metrics[panel.metric].higher_is_better),
        "same_questions_in_every_language": CRITERIA[panel.criterion].parallel,
        "margin": endpoint.margin if board.options.margin is None else board.options.margin,
        "languages": list(dict.fromkeys(square.language for square in own)),
        "groups": [
            g._asdict()
            for g in board.groups[panel.criterion, panel.dataset]
            if any(square.group == g.number for square in own)
        ],
    }


def _cell(square: Square) -> dict[str, Any]:
    at, said = square.cell.interval, square.cell.conclusion
    low, high, n = (None, None, 0) if at is None else (at.low, at.high, at.n)
    cell: dict[str, Any] = {
        "endpoint": key_of(square.panel),
        "model": square.model,
        "language": square.language,
        "group": square.group,
        "value": square.cell.value,
        "low": low,
        "high": high,
        "n": n,
        "shown": shown(square.panel, square.cell.value),
        "interval_shown": _interval_shown(square.panel, low, high),
        "unread": square.cell.unread,
        **square.rank._asdict(),
        "unranked": publishable_text(square.unranked),
    }
    told = ("verdict", "estimate", "p", "p_holm", "next")
    cell |= {name: None if said is None else getattr(said, name) for name in told}
    cell["estimate_low"] = None if said is None else said.low
    cell["estimate_high"] = None if said is None else said.high
    cell["reason"] = None if said is None else publishable_text(said.reason)
    cell["in_words"] = "" if said is None else publishable_text(sentence(said))
    return cell


_COLUMNS = (
    *("criterion", "dataset", "metric", "temperature", "higher_is_better", "language", "model"),
    *("group", "value", "low", "high", "n", "rank_low", "rank_high", "ranked", "unranked"),
    *("unread", "verdict", "estimate", "estimate_low", "estimate_high", "p", "p_holm"),
    *("reason", "next", "in_words"),
)


def as_csv(content: Mapping[str, Any]) -> str:
    """The cells as a table: numbers in full, what is undefined is empty."""
    endpoints = {endpoint["key"]: endpoint for endpoint in content["endpoints"]}
    rows = ({**endpoints[cell["endpoint"]], **cell} for cell in content["cells"])
    return csv_text(rows, _COLUMNS)


# In words


def _endpoint_title(panel: Panel) -> str:
    """An endpoint in plain words; the temperature where there is more than one."""
    said = CRITERIA[panel.criterion].metric(panel.metric).heading
    return said if panel.temperature is None else f"{said}, T={panel.temperature:g}"


def _place_title(panel: Panel) -> str:
    """Dataset and criterion of an endpoint."""
    said = f"{dataset_title(panel.dataset)}: {CRITERIA[panel.criterion].title}"
    return said[0].upper() + said[1:]


def shown(panel: Panel, value: float | None, *, unit: bool = True) -> str:
    """A value for a reader: percent of a share, else two digits."""
    if value is None:
        return "undefined"
    text = f"{100 * value:.0f}" if is_share(panel) else f"{value:.2f}"
    return text.replace("-", "\u2212") + ("%" if unit and is_share(panel) else "")


def _interval_shown(panel: Panel, low: float | None, high: float | None) -> str:
    """An interval for a reader, in the value's unit."""
    if low is None or high is None:
        return "no interval"
    return f"{shown(panel, low, unit=False)} to {shown(panel, high, unit=False)}"


def is_share(panel: Panel) -> bool:
    """Whether an endpoint's values are shares, told in percent."""
    return CRITERIA[panel.criterion].metric(panel.metric).share


# What someone with one language is told

_NAMED = 5
"""As many models are named in a sentence; more are counted."""
_SAID = {
    "worse": "worse than in English",
    "worse_exam": "worse in an exam of other questions",
    "not_comparable": "not comparable with English",
    "inconclusive": "cannot tell",
    "equivalent": "about the same as in English",
    "better": "better than in English",
    "better_exam": "better in an exam of other questions",
}
"""Verdicts, the gravest first; an exam of other questions may be harder itself."""
_WORSE = ("worse", "worse_exam")


def _by_language(squares: Sequence[Square]) -> list[dict[str, str]]:
    """A sentence per language; those where most models are shown to be worse come first."""
    concluded = [s.cell.conclusion for s in squares if s.cell.conclusion is not None]
    kinds: dict[str, Counter[tuple[str, bool]]] = {}
    for line in lines(concluded, {}):
        kinds.setdefault(line.language, Counter())[line.kind_of_exam, in_part(line)] += 1

    def share_worse(code: str) -> float:
        counts = kinds.get(code)
        return sum(counts[kind, False] for kind in _WORSE) / counts.total() if counts else -1.0

    said = []
    for code in sorted(in_order({s.language for s in squares}), key=share_worse, reverse=True):
        own = [square for square in squares if square.language == code]
        against = _against_english(kinds.get(code, Counter()), len(_models(own)))
        if text := f"{against} {_unbeaten(own)}".strip():
            said.append({"language": code, "said": f"{language_name(code)}: {text}"})
    return said


def _models(squares: Sequence[Square]) -> list[str]:
    return list(dict.fromkeys(square.model for square in squares))


def _against_english(kinds: Counter[tuple[str, bool]], there: int) -> str:
    """How many models, of those that are there with English, serve a language how."""
    total = kinds.total()
    told: list[str] = []
    of = f" of {many(total, 'model')}"
    of += " that have English" if total < there else ""
    for kind, said in _SAID.items():
        for part, more in ((False, ""), (True, ", as far as it can be told,")):
            if n := kinds[kind, part]:
                told.append(f"{said}{more} with {n}{'' if told else of}")
    return f"{', '.join(told)}." if told else ""


def _unbeaten(squares: Sequence[Square]) -> str:
    """Who is shown to be behind nobody, on any measure on which it is ranked."""
    ranked = [square for square in squares if square.rank.ranked]
    models, there = _models(ranked), len(_models(squares))
    if there == 1:
        return ""
    if not models:
        return "None is ranked: no two models that were run alike have scores with samples here."
    beaten = {s.model for s in ranked if s.rank.better}
    first = [model for model in models if model not in beaten]
    # Not every model stands beside every other one, on every measure.
    among = "" if {s.rank.ranked for s in ranked} == {there} else ", among those ranked together"
    of = many(len(models), "model" if len(models) == there else "ranked model")
    worse = f"shown to be worse than another model on some measure{among}"
    if not first:
        return f"Each of the {of} was {worse}."
    if not beaten:
        return f"It is too uncertain to say which of these models is better{among}."
    named = listed(first) if len(first) <= _NAMED else f"the other {len(first)}"
    were = "was" if len(beaten) == 1 else "were"
    return f"Of the {of} {len(beaten)} {were} {worse}; this was not shown of {named}."
