"""`xling compare`: is one checkpoint better than another, and did its gap to English shrink?"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from markupsafe import Markup
from xling_metrics.stats.resampling import LEVEL

from xling_tasks.errors import DataError
from xling_tasks.output import csv_text, many, refuse_others, writing
from xling_tasks.pages import texts
from xling_tasks.report.compare.numbers import Line, all_lines
from xling_tasks.report.compare.pairs import (
    made_differently,
    missing,
    one_model,
    paired,
    remarks,
    shared,
)
from xling_tasks.report.compare.verdicts import one_model_only, with_verdicts
from xling_tasks.report.compare.words import (
    FEW,
    answers,
    by_language,
    conclusions,
    in_words,
    language_name,
    outcome,
    summary,
    tables,
)
from xling_tasks.report.data import Model
from xling_tasks.report.documents import filled
from xling_tasks.report.human_pages import read_human
from xling_tasks.report.model import checked
from xling_tasks.report.page.html import environment
from xling_tasks.report.page.page import page_style, policy
from xling_tasks.report.pictures.verdicts import overview
from xling_tasks.report.stats import Statistics
from xling_tasks.report.tables.table import as_markdown
from xling_tasks.secrets import without_hosts

FILES = ("compare.html", "compare.md", "compare.csv", "compare.json")


def compare(options: argparse.Namespace) -> str:
    """Compare two models' runs; returns the answer in a few lines, or all as JSON."""
    if options.to is None and not options.json:
        options.to = Path("compare")
    chosen = checked(options)
    if options.to is not None:
        refuse_others(options.to, "compare.json", "comparison")
    a, b = (one_model(side, options.family) for side in (options.a, options.b))
    both = shared(a, b, options.metrics)
    pairs, changed, about_questions = paired(both)
    notes = [*remarks(a, b), *missing(a, b), *about_questions]
    unlike = [*made_differently(both), *changed]
    if unlike and not options.force:
        raise DataError(
            f"A ({options.a}) and B ({options.b}) were not made alike: {'; '.join(unlike)}. Run "
            "one of them again like the other, or compare anyway with --force"
        )
    if not pairs:
        raise DataError(f"nothing to compare: {'; '.join(notes) or 'no metric of both runs'}")
    human = None if options.human is None else read_human(options.human, [a, b])
    del both  # `pairs` has their questions: half of the memory
    a, b = (replace(model, tasks=[]) for model in (a, b))
    statistics = Statistics(chosen, human)
    lines = with_verdicts(all_lines(pairs, statistics), pairs, statistics)
    if human is not None:
        notes += [*human.notes, *one_model_only(human, pairs)]
    content = _content(options, (a, b), unlike, notes, lines)
    text = json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
    if options.to is not None:
        table = csv_text(content["comparisons"])
        _write(
            options.to,
            (_page(content, lines), _markdown(content, lines), table, text + "\n"),
        )
    return text if options.json else "\n".join(_on_terminal(content, lines, options.to))


def _write(folder: Path, texts: Sequence[str]) -> None:
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in zip(FILES, texts, strict=True):
            (folder / name).write_text(without_hosts(text), encoding="utf-8")


# What is said


def _content(
    options: argparse.Namespace,
    models: tuple[Model, Model],
    unlike: Sequence[str],
    notes: Sequence[str],
    lines: Sequence[Line],
) -> dict[str, Any]:
    """Everything that is written, as plain values."""
    sides = zip("ab", models, (options.a, options.b), strict=True)
    alike = models[0].name == models[1].name
    return {
        **{
            side: {"name": f"{m.name} ({at})" if alike else m.name, "model": m.full, "folder": at}
            for side, m, at in sides
        },
        "seed": options.seed,
        "made_differently": list(unlike),
        "notes": list(notes),
        "answer": answers(lines, same=models[0].full == models[1].full),
        "summary": summary(lines),
        "comparisons": [
            {**_plain(line), "outcome": outcome(line), "in_words": in_words(line)} for line in lines
        ],
        "how": texts()["compare"]["notes"],
    }


_MADE = ("difference", "low", "high", "p", "n", "left_out", "se", "method")
_SAID = (
    *("p_holm", "verdict", "reason", "next", "margin", "questions", "ways"),
    "judge_error_in_interval",
)


def _plain(line: Line) -> dict[str, Any]:
    made, said = line.made, {} if line.said is None else asdict(line.said)
    wins = dict.fromkeys(("wins", "ties", "losses"))
    if line.wins is not None:
        wins = dict(zip(wins, line.wins, strict=True))
    return {
        "kind": line.kind, **line.panel._asdict(), "language": line.language,
        "better": line.better, "a": made.base, "b": made.value,
        **{name: getattr(made, name) for name in _MADE}, **wins,
        "d_z": None if made.detail is None else made.detail.d_z, "n_english": line.n_english,
        "role": "endpoint" if said else "exploratory", "non_inferior": line.non_inferior,
        **{name: said.get(name) for name in _SAID},
    }  # fmt: skip


def _page(content: Mapping[str, Any], lines: Sequence[Line]) -> str:
    """One HTML document in the form of a report's: the answer, a picture, then the rest."""
    style, said = page_style(), by_language(lines)
    template = environment().get_template("compare.html")
    return template.render(
        policy=Markup(policy(style)), style=Markup(style), content=content, banner=[], criteria=(),
        picture=overview(conclusions(lines), LEVEL, "A"), said=said, folded=len(said) > FEW,
        tables=tables(lines),
    )  # fmt: skip


def _on_terminal(content: Mapping[str, Any], lines: Sequence[Line], to: Path) -> Iterator[str]:
    """At most a dozen lines: the answer, the languages it is about, where the rest stands."""
    yield f"A: {content['a']['name']}; B: {content['b']['name']}"
    yield from content["answer"]
    said = by_language(lines)
    yield from (
        f"{', '.join(map(language_name, item.languages))}: {item.text}" for item in said[:FEW]
    )
    if len(said) > FEW:
        yield "What is said of other languages stands in the page."
    unlike, notes = len(content["made_differently"]), len(content["notes"])
    if unlike:
        yield f"A and B were made differently in {unlike} way{'s' * (unlike > 1)} (--force)."
    counted = f", {many(notes, 'note')} on the runs" if notes else ""
    yield f"{to / FILES[0]}: {many(len(lines), 'comparison')}{counted}."


def _markdown(content: Mapping[str, Any], lines: Sequence[Line]) -> str:
    made = [as_markdown(table).rstrip() for table in tables(lines)]
    return filled("compare.j2", content=content, tables=made).rstrip() + "\n"
