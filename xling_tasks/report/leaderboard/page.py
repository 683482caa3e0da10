"""The page of `xling leaderboard`, made of the rows of `leaderboard.json` alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from xling_tasks import __version__
from xling_tasks.criteria import ENGLISH
from xling_tasks.languages import language_name
from xling_tasks.report import grids, html, lead, remarks, words
from xling_tasks.report.grids import Column, Grid, GridRow, Head, Square, column_of
from xling_tasks.report.page import kinds_of, sources_of, verdict_table
from xling_tasks.report.words import Row, unique

Record = Mapping[str, Any]
"""The content of `leaderboard.json`."""


def make_page(record: Record, samples: str = "") -> str:
    """Return the page of a leaderboard; `samples` is the address of a page of samples."""
    verdicts, texts = record["verdicts"], words.words()["leaderboard"]
    rows, lines = lead.by_language(verdicts), model_lines(record)
    models = [line["model"] for line in lines]
    order = [code for code, _ in rows]
    present = remarks.tell_remarks(record["remarks"], record["scores"])
    columns = grids.columns_of(record["scores"])
    return html.render(
        "leaderboard.html",
        title=_title(len(models), len(rows)), kicker="Leaderboard",
        meta=texts["not_evidence"], command="xling leaderboard", version=__version__,
        level=words.format_level(record["options"]["confidence"]),
        lines=lines, kinds=[k for k in words.ORDER if any(k in line["counts"] for line in lines)],
        method=kinds_of(verdicts),
        overview=(
            grids.grid_by_model(rows, models, texts["languages"], is_linked=False)
            if len(columns) > 1 else None
        ),
        columns=[
            (grids.anchor_of(*column), column.text, words.dataset_name(column.dataset),
             metric_grid(column, record, order, models, samples))
            for column in columns
        ],
        ranks=texts["ranks"].format(level=f"{record['options']['confidence']:.0%}"),
        limits=[remark for remark in present if remark.place != "note"],
        models=[_info(item) for item in record["models"]],
        numbers=verdict_table(verdicts, order) if verdicts else None,
        sources=sources_of(record["scores"]),
    )  # fmt: skip


def _title(models: int, languages: int) -> str:
    texts = words.words()["leaderboard"]["title"]
    return ", ".join(
        words.count_noun(n, forms) for n, forms in zip((models, languages), texts, strict=True)
    )


def model_lines(record: Record) -> list[dict[str, Any]]:
    """Return each model with its languages by verdict, and what is worst.

    Those are first with the fewest languages that are served worse than English or were not run, so
    that nobody comes first by running one.
    """
    texts, lines = words.words()["leaderboard"], []
    total = len({v["language"] for v in record["verdicts"]})
    for item in record["models"]:
        rows = lead.by_language([v for v in record["verdicts"] if v["model"] == item["model"]])
        kinds = [lead.overall(group) for _, group in rows]
        kinds += ["not_measured"] * (total - len(rows))
        worst, first = texts["none"], rows[0][1][0] if rows else None
        if first is not None and words.look(first) == "worse":
            worst = texts["worst"].format(
                who=language_name(first["language"]),
                name=words.metric_in(first, record["verdicts"]),
                text=words.tell_evidence(first, brief=True),
            )
        counts = {kind: kinds.count(kind) for kind in words.ORDER if kind in kinds}
        lines.append({"model": item["model"], "counts": counts, "n": total, "worst": worst})
    return sorted(lines, key=lambda line: (
        line["counts"].get("worse", 0) + line["counts"].get("not_measured", 0),
        -sum(line["counts"].get(kind, 0) for kind in ("equivalent", "better")),
    ))  # fmt: skip


def metric_grid(
    column: Column, record: Record, order: Sequence[str], models: Sequence[str], samples: str
) -> Grid:
    """Return the grid of one metric: value, gap to English and places of each model."""
    by, scores, ranks = (
        {(row["model"], row["language"]): row for row in record[name] if column_of(row) == column}
        for name in ("verdicts", "scores", "ranks")
    )
    present = unique(code for _, code in scores)
    codes = unique([*(c for c in (ENGLISH, *order) if c in present), *present])
    address = ("model", "criterion", "dataset", "language")

    def square(model: str, code: str) -> Square:
        v, score = by.get((model, code)), scores.get((model, code))
        if score is None:
            return Square("not_measured")
        value = words.format_number(score["value"], column.text)
        if v is not None and v["estimate"] is not None:
            value += f" ({words.format_signed(v['estimate'], column.text)})"
        if note := words.note_temperature(score, scores.values()):
            value += f", {note}"
        style = words.look(v) if v is not None else "" if code == ENGLISH else "not_measured"
        link, places, rank = "", "", ranks.get((model, code))
        if samples and v is not None and style == "worse":
            parts = [*(f"{name}={v[name]}" for name in address), "against=worse", "sort=gap"]
            link = f"{samples}#{'&'.join(parts)}"
        if rank is not None and rank["rank_low"] is not None:
            places = "–".join(unique([str(rank["rank_low"]), str(rank["rank_high"])]))
            places = words.words()["leaderboard"]["place"].format(place=places)
        return Square(style, value, places, link)

    rows = [GridRow(language_name(code), "", [square(m, code) for m in models]) for code in codes]
    texts = words.words()["leaderboard"]["cells"]
    notes = ", ".join([*grids.head_notes(column, list(by.values())), texts])
    title = f"{column.text.name}, {words.dataset_name(column.dataset)}: {notes}"
    return Grid(title, [Head(model) for model in models], rows)


def _info(item: Row) -> dict[str, Any]:
    """Return what is said of how a model was run."""
    rows = {"Name and arguments": item["full"], "Newest run": item["newest_run"][:10]}
    rows |= item["versions"]
    rows |= {
        role.replace("_", " ").capitalize(): ", ".join(group)
        for role, group in item["helpers"].items()
    }
    links = []
    for subject in item["about"]:
        price, paid = subject["price"], subject["paid"]
        lines = {
            "By": subject["by"], "Paid for the run": f"${paid:g}" if paid is not None else "",
            "Price of a million tokens":
                f"${price[0]:g} sent, ${price[1]:g} received" if price else "",
        }  # fmt: skip
        rows |= {name: value for name, value in lines.items() if value}
        links += [subject["samples"]] if subject["samples"] else []
    return {"model": item["model"], "rows": rows, "links": links}


def summarize(record: Record) -> Iterator[str]:
    """Yield a line for each model, and what must be known first."""
    labels = words.words()["verdicts"]
    languages = {v["language"] for v in record["verdicts"]}
    yield _title(len(record["models"]), len(languages))
    for line in model_lines(record):
        counts = [
            f"{labels[k][0].lower()} in {n} of {line['n']}" for k, n in line["counts"].items()
        ]
        yield f"- {line['model']}: {', '.join(counts) or 'nothing to compare'}. {line['worst']}"
    present = remarks.tell_remarks(record["remarks"], record["scores"])
    yield from remarks.plain_lines(present, [])


def language_lines(record: Record) -> Iterator[str]:
    """Yield a sentence for each language: how many models serve it how."""
    labels = words.words()["verdicts"]
    for code, group in lead.by_language(record["verdicts"]):
        models = unique(v["model"] for v in group)
        kinds = [lead.overall([v for v in group if v["model"] == model]) for model in models]
        counts = [
            f"{labels[kind][0].lower()} with {kinds.count(kind)}"
            for kind in words.ORDER
            if kind in kinds
        ]
        yield f"{language_name(code)}, of {len(models)} models: {', '.join(counts)}."
