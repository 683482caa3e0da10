"""How far the labels of correctness depend on who judges, and on the order of the two answers."""

from __future__ import annotations

from collections.abc import Iterator

from xling_tasks.criteria import LABELS, MOST_JUDGES, NO_RESPONSE, of_judge
from xling_tasks.report.tables.grid import Grid, heading
from xling_tasks.report.tables.rows import Rows
from xling_tasks.report.tables.table import Table

_OWN = (*LABELS, NO_RESPONSE, "judge_failed_rate")
_TOGETHER = {
    "no_majority": "no majority",
    "judge_agreement": "two judges alike",
    "judge_alpha": "alpha",
    "order_sensitive_rate": "order sensitive",
    "order_unread_rate": "order unread",
}
_HEADS = (
    *("model", "language", "judge"),
    *(label.replace("_", " ") for label in (*LABELS, NO_RESPONSE)),
    "failed",
    *_TOGETHER.values(),
)
_NOTE = (
    "Judge: its place in the setting (the signature has the models); all: the label that more than "
    "half of them gave, or the one judge's. Shares are of the questions that have a label or no "
    "response. Two judges alike and alpha (Krippendorff's, nominal; 0 is chance) are of labels "
    "that two judges gave the same answer. Order sensitive: the label contradicts the one with the "
    "two answers exchanged; the published order's counts."
)


def judge_tables(grid: Grid, dataset: str) -> Iterator[Table]:
    """One table where a run had several judges, or asked in both orders; else none."""
    if not set(_TOGETHER) & set(grid.metrics("correctness", dataset)):
        return
    rows = Rows(_HEADS)
    for model in grid.models("correctness", dataset):
        find = grid.lookup(model, "correctness", dataset)
        for code in grid.languages("correctness", dataset):
            together = [find(metric, code).value for metric in _TOGETHER]
            if all(value is None for value in together):
                continue
            own = [find(metric, code).value for metric in _OWN]
            rows.add(model, code, "all", *own, *together)
            for number in range(1, MOST_JUDGES + 1):
                own = [find(of_judge(metric, number), code).value for metric in _OWN]
                if any(value is not None for value in own):
                    rows.add(model, code, str(number), *own, *[None] * len(_TOGETHER))
    if rows.rows:
        title = f"{heading('correctness', dataset)}: judges"
        yield rows.table(f"correctness_judges_{dataset}", "correctness", title, [_NOTE])
