"""The page of `xling compare`, and its lines on the terminal, made of verdicts alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from xling_tasks import __version__
from xling_tasks.criteria import ENGLISH
from xling_tasks.languages import language_name
from xling_tasks.report import charts, grids, html, lead, remarks, words
from xling_tasks.report.grids import ByLanguage, column_of
from xling_tasks.report.page import kinds_of, verdict_table
from xling_tasks.report.words import Row, unique

Record = Mapping[str, Any]
"""The content of `compare.json`."""

SHOWN = 6
"""Languages that have a line on the terminal."""


def find(record: Record, kind: str) -> list[Row]:
    """Return the verdicts of a kind: `models` or `gap`."""
    return [v for v in record["verdicts"] if v["comparison"] == kind]


def tell_findings(record: Record) -> list[str]:
    """Describe first whether the gap to English changed, then where B is worse or better."""
    texts, lines = words.words()["headline"]["models"], []
    names = {"a": record["a"], "b": record["b"]}
    for kind, nothing, keys in (
        ("gap", "none_gap", {"larger": "worse", "smaller": "better", "levelled": "gap_levelled"}),
        ("models", "none", {"worse": "worse", "better": "better"}),
    ):
        verdicts, parts = find(record, kind), list[str]()
        total = len({v["language"] for v in verdicts})
        found = {
            key: [v for v in verdicts if wanted in (v["verdict"], v["reason"])]
            for key, wanted in keys.items()
        }
        for key, rows in ((key, rows) for key, rows in found.items() if rows):
            parts.append(texts[key].format(**names, who=_name(rows, found.values(), total)))
        if verdicts or kind == "models":
            key = nothing if verdicts else "nothing"
            lines.append(" ".join(parts) or texts[key].format(**names))
    return lines


def _name(rows: Sequence[Row], by_kind: Iterable[Sequence[Row]], total: int) -> str:
    """Name the languages of verdicts, with the metrics where others say the opposite."""
    codes = unique(v["language"] for v in rows)
    others = {v["language"] for other in by_kind if other is not rows for v in other}
    if others.isdisjoint(codes):
        return lead.name_languages(codes, total)
    return words.join(
        f"{language_name(code)} ({words.join(words.metric_in(v, rows) for v in of_language)})"
        if code in others
        else language_name(code)
        for code in codes
        if (of_language := [v for v in rows if v["language"] == code])
    )


def order_languages(record: Record) -> ByLanguage:
    """Return languages with their verdicts on the models, the worst first and English last."""
    rows = lead.by_language(find(record, "models"))
    return sorted(rows, key=lambda row: row[0] == ENGLISH)


def summarize(record: Record) -> Iterator[str]:
    """Yield the findings, a line for each language, limits, and what to run next."""
    yield from tell_findings(record)
    rows = order_languages(record)
    for code, group in rows[:SHOWN]:
        first, name = group[0], words.metric_in(group[0], record["verdicts"])
        text = f"{name}: {words.tell_evidence(first, brief=True)}."
        extra = lead.count_verdicts(group, others=True)
        yield f"- {words.tell(first).word}: {language_name(code)}: {text} {extra}".strip()
    if len(rows) > SHOWN:
        forms = "{n} more language is", "{n} more languages are"
        yield f"- {words.count_noun(len(rows) - SHOWN, forms)} on the page."
    tellings = remarks.tell_remarks(record["remarks"], [])
    yield from remarks.plain_lines(tellings, remarks.tell_steps(record["verdicts"], tellings))


def make_page(record: Record) -> str:
    """Return the page of a comparison."""
    models, gaps, texts = find(record, "models"), find(record, "gap"), words.words()["page"]
    a, b, rows = record["a"], record["b"], order_languages(record)
    order, columns = [code for code, _ in rows], grids.columns_of(models)
    tellings = remarks.tell_remarks(record["remarks"], [])
    data = unique(words.dataset_name(v["dataset"]) for v in models) or ["nothing"]
    # What the finding counts stands first.
    gap_rows = sorted(
        lead.by_language(gaps), key=lambda row: lead.overall(row[1]) not in ("worse", "better")
    )
    names, forests = {"a": a, "b": b}, []
    for column in columns:
        one, gap = ([v for v in some if column_of(v) == column] for some in (models, gaps))
        if any(v["estimate"] is not None for v in one):
            gap_chart = charts.make_forest(gap, order) if gap else None
            name = words.capitalize(words.dataset_name(column.dataset)) if len(data) > 1 else ""
            forests.append((charts.make_forest(one, order), gap_chart, name))
    return html.render(
        "compare.html",
        title=f"{b} compared with {a}", kicker="Comparison of two models", 
        meta=f"{words.capitalize(words.join(data))}. Over the questions that both models answered.",
        command="xling compare", version=__version__,
        level=words.format_level(record["options"]["confidence"]),
        **names, first=tell_findings(record),
        overview=grids.grid_by_metric(
            rows, columns, texts["compare"].format(**names), value=_format_pair, is_pair=True
        ),
        gap_grid=grids.grid_by_metric(
            gap_rows, columns, texts["gap"].format(**names), value=_format_pair, is_pair=True
        ) if gaps else None,
        limits=[r for r in tellings if r.place != "note"],
        notes=[r for r in tellings if r.place == "note"],
        steps=remarks.tell_steps(record["verdicts"], tellings),
        languages=[_language(code, item, gaps, record["verdicts"]) for code, item in rows],
        forests=forests,
        tables=[verdict_table(item, order, base="Baseline") for item in (models, gaps) if item],
        kinds=kinds_of(record["verdicts"]),
    )  # fmt: skip


def _format_pair(v: Row) -> str:
    """Format the values of A and B."""
    if v["comparison"] == "gap":
        text = words.display(v)
        return " → ".join(words.format_signed(v[key], text) for key in ("english", "value"))
    return " → ".join(words.format_value(v, key) for key in ("english", "value"))


def _language(
    code: str, verdicts: Sequence[Row], gaps: Sequence[Row], related: Sequence[Row]
) -> dict[str, Any]:
    def tell(v: Row) -> tuple[words.Telling, str, str]:
        subject = map(words.capitalize, words.tell_subject(v, related))
        return words.tell(v), grids.verdict_anchor(v), ", ".join(subject)

    return {
        "code": code, "name": language_name(code), "look": lead.overall(verdicts),
        "told": list(map(tell, verdicts)),
        "gaps": [tell(v) for v in gaps if v["language"] == code],
        "counts": lead.count_verdicts(verdicts),
    }  # fmt: skip
