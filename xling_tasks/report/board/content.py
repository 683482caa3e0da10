"""What a board publishes: one JSON content for page and programs, and a CSV table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from xling_tasks import __version__
from xling_tasks.criteria import CRITERIA, Panel
from xling_tasks.languages import language_name
from xling_tasks.output import csv_text
from xling_tasks.pages import texts
from xling_tasks.report.board.model import Board, Square
from xling_tasks.report.board.words import (
    by_language,
    endpoint_title,
    interval_shown,
    is_share,
    place_title,
    shown,
)
from xling_tasks.report.lines import about_the_judge
from xling_tasks.report.sentences import VERDICTS, sentence
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
        "by_language": by_language(board.squares),
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
        "title": endpoint_title(panel),
        "place": place_title(panel),
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
        "interval_shown": interval_shown(square.panel, low, high),
        "unread": square.cell.unread,
        **square.rank._asdict(),
        "unranked": publishable_text(square.unranked),
    }
    told = ("verdict", "estimate", "p", "p_holm", "detectable", "turns_at", "next")
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
    *("detectable", "turns_at", "reason", "next", "in_words"),
)


def as_csv(content: Mapping[str, Any]) -> str:
    """The cells as a table: numbers in full, what is undefined is empty."""
    endpoints = {endpoint["key"]: endpoint for endpoint in content["endpoints"]}
    rows = ({**endpoints[cell["endpoint"]], **cell} for cell in content["cells"])
    return csv_text(rows, _COLUMNS)
