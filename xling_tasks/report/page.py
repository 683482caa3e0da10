"""The page of `xling report`, made of the rows of `report.json` alone.

It is one file that runs no script, loads nothing and sends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from xling_tasks import __version__
from xling_tasks.criteria import CRITERIA
from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.languages import language_name
from xling_tasks.logs.task_groups import group_of
from xling_tasks.report import charts, costs, grids, html, lead, remarks, words
from xling_tasks.report.grids import Column, column_of
from xling_tasks.report.paper_tables import make_tables
from xling_tasks.report.summary import (
    MANY_MODELS,
    Record,
    heads_of,
    kicker_of,
    meta_of,
    missing_columns,
    models_of,
)
from xling_tasks.report.table import Cell, Table
from xling_tasks.report.words import Row, capitalize, unique


class Context(NamedTuple):
    """What every part of a page needs."""

    record: Record
    models: list[str]
    order: list[str]  # Languages, the worst first.
    has_datasets: bool  # Whether there are several.
    samples: str  # The address of a page of samples; empty where there is none.


def make_page(record: Record, *, published: bool = True, samples: str = "") -> str:
    """Return the page of a report; `samples` is the address of a page of samples."""
    verdicts, scores = record["verdicts"], record["scores"]
    tellings = remarks.tell_remarks(record["remarks"], scores)
    models, rows = models_of(record), lead.by_language(verdicts)
    missing, texts = missing_columns(record["remarks"]), words.words()["page"]
    columns = grids.columns_of(verdicts, missing)
    several = len({column.dataset for column in columns}) > 1
    page = Context(record, models, [code for code, _ in rows], several, samples)
    is_rule = len(models) == 1 and any(remark.kind == "rule" for remark in tellings)
    tables = make_tables(record, published=published)
    criteria = [key for key in CRITERIA if any(column.criterion == key for column in columns)]
    if len(models) == 1:
        overview = grids.grid_by_metric(rows, columns, texts["by_metric"], missing=missing)
    elif len(columns) == 1:
        overview = grids.grid_of_metric(
            columns[0], verdicts, page.order, models, with_dataset=False
        )
    else:
        overview = grids.grid_by_model(rows, models, texts["by_model"])
    return html.render(
        "report.html",
        title=words.join(models) if len(models) <= MANY_MODELS else f"{len(models)} models",
        kicker=kicker_of(scores), meta=meta_of(record), command="xling report",
        version=__version__,
        level=words.format_level(record["options"]["confidence"]),
        note=texts["rule"] if is_rule else "", heads=heads_of(record),
        overview=overview, costs=costs.tell_costs(record["remarks"]),
        limits=[r for r in tellings if r.place == "limit"],
        notes=[r for r in tellings if r.place == "note"],
        steps=remarks.tell_steps(verdicts, tellings),
        languages=[_language(page, code, group) for code, group in rows],
        criteria=[_section(page, key, columns, tables) for key in criteria],
        tables=[table for table in tables if table.criterion not in criteria],
        numbers=verdict_table(verdicts, page.order), kinds=kinds_of(verdicts),
        sources=sources_of(scores),
    )  # fmt: skip


def kinds_of(verdicts: Sequence[Row]) -> list[str]:
    """Return the verdicts that a page has, the most urgent first."""
    seen = {words.look(v) for v in verdicts}
    return [kind for kind in words.ORDER if kind in seen]


def _language(page: Context, code: str, verdicts: Sequence[Row]) -> dict[str, Any]:
    """Return what is said of a language."""
    lines = []
    for v in verdicts:
        subject = [v["model"]] if len(page.models) > 1 else []
        subject += map(capitalize, words.tell_subject(v, page.record["verdicts"]))
        lines.append((words.tell(v), grids.verdict_anchor(v), ", ".join(subject)))
    link = f"{page.samples}#language={code}&against=worse&sort=gap" if page.samples else ""
    return {
        "code": code, "name": language_name(code), "look": lead.overall(verdicts), "told": lines,
        "counts": lead.count_verdicts(verdicts), "link": link,
    }  # fmt: skip


def _section(
    page: Context, key: str, columns: Sequence[Column], tables: Sequence[Table]
) -> dict[str, Any]:
    """Return a criterion: charts of its differences and over temperature, and its tables."""
    forests, tables_of_models = [], []
    for column in (column for column in columns if column.criterion == key):
        verdicts = [v for v in page.record["verdicts"] if column_of(v) == column]
        if len(page.models) > 1 and verdicts and len(columns) > 1:  # of one it stands above
            tables_of_models.append(grids.grid_of_metric(
                column, verdicts, page.order, page.models, with_dataset=page.has_datasets
            ))  # fmt: skip
        dataset = capitalize(words.dataset_name(column.dataset)) if page.has_datasets else ""
        for model in page.models:
            rows = [v for v in verdicts if v["model"] == model]
            if any(v["estimate"] is not None for v in rows):
                name = model if len(page.models) > 1 else ""
                forests.append((name, dataset, charts.make_forest(rows, page.order)))
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for score in page.record["scores"]:
        if score["criterion"] == key and score["metric"] in CRITERIA[key].drawn:
            subject = score["dataset"], score["metric"], score["model"]
            groups.setdefault(subject, []).append(score)
    sweeps = [s for item in groups.values() if (s := charts.make_sweep(item, page.order))]
    if len(page.models) == 1:
        sweeps = [sweep._replace(model="") for sweep in sweeps]
    return {
        "key": key, "title": CRITERIA[key].title, "asks": CRITERIA[key].asks, "sweeps": sweeps,
        "forests": forests, "grids": tables_of_models,
        "tables": [table for table in tables if table.criterion == key],
    }  # fmt: skip


def verdict_table(verdicts: Sequence[Row], order: Sequence[str], base: str = "English") -> Table:
    """Return all verdicts with their numbers, three digits, for papers."""
    ordered = sorted(verdicts, key=lambda v: (
        v["dataset"], words.urgency(v), v["criterion"], v["metric"], v["model"],
        order.index(v["language"]),
    ))  # fmt: skip
    rows: list[dict[str, Cell]] = []
    for v in ordered:
        telling = words.tell(v)
        rows.append({
            "Metric": telling.name, "Data": words.dataset_name(v["dataset"]), "Model": v["model"],
            "Language": telling.language, "Verdict": telling.word, "Value": v["value"],
            base: v["english"], "Difference": v["estimate"], "Low": v["ci_low"],
            "High": v["ci_high"], "p": v["p_adjusted"], "n": v["n"], "Margin": v["margin"],
            "Family": v["family"],
        })  # fmt: skip
    same = {name for name in ("Data", "Model") if len({row[name] for row in rows}) < 2}
    texts = words.words()
    return Table("verdicts", texts["page"]["numbers"], rows, csv_only=same,
                 note=texts["tables"]["numbers"])  # fmt: skip


def sources_of(scores: Sequence[Row]) -> list[tuple[str, str]]:
    """Return citation and licence of the data, with an address where the citation has one."""
    result = []
    for dataset in unique(score["dataset"] for score in scores):
        info = next((info for info in DATASETS.values() if info.dataset == dataset), None)
        group, citation = group_of(dataset), words.words()["page"]["custom"]
        if group is not None and group.citation:
            citation = group.citation
        elif info is not None:
            citation = f"{info.citation}; licence {info.licence}"
        found = re.search(r"arXiv:(\d{4}\.\d{4,5})", citation)
        name = capitalize(words.dataset_name(dataset))
        result.append((
            f"{name}: {citation}.", f"https://arxiv.org/abs/{found[1]}" if found else ""
        ))  # fmt: skip
    return result
