"""What was measured at all: questions, replies that could not be scored, languages, samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xling_tasks.criteria import CRITERIA
from xling_tasks.criteria.rates import COLUMNS, IN_LANGUAGE, RATES
from xling_tasks.output import many
from xling_tasks.report.data import Task
from xling_tasks.report.tables.grid import (
    Grid,
    Grids,
    is_language,
    recorded,
    shown_temperature,
    task_languages,
)
from xling_tasks.report.tables.rows import Rows
from xling_tasks.report.tables.table import Table, Value, note

_SHARES = {name: rate.column for name, rate in RATES.items() if rate.column}
_HEADS = (
    "model", "dataset", "language", "T", "in data", "usable", "run", "unusable rows",
    "unusable questions", "reasons", "samples", *_SHARES.values(), "off language",
    *COLUMNS.values(),
)  # fmt: skip

_JUDGED = "Judged: questions with one of the four labels; no response is counted beside them."


def coverage_tables(grids: Grids) -> Iterator[Table]:
    """One table per criterion that any model has."""
    for criterion, places in grids.items():
        rows = Rows(_HEADS)
        notes = [note("coverage"), _JUDGED if CRITERIA[criterion].labelled else ""]
        for grid in places:
            tasks = [task for own in grid.tasks.values() for task in own]
            for line in (line for task in tasks for line in _lines(grid, task)):
                rows.add(*line)
            about = [*grid.notes, *_not_compared(tasks)]
            notes += [f"[{grid.dataset}] {x}" if len(places) > 1 else x for x in about]
        if rows.rows:
            title = f"Coverage: {CRITERIA[criterion].title}"
            yield rows.table(f"coverage_{criterion}", "coverage", title, notes)


def _lines(grid: Grid, task: Task) -> Iterator[list[Value]]:
    """A row per language and temperature of a task."""
    cells = [cell for cell in grid.cells if cell.task is task]
    # The record of a task may not name its languages.
    scored = sorted({cell.language for cell in cells if is_language(cell.language)})
    for language in task_languages(task) or scored:
        taus = {cell.panel.temperature for cell in cells if cell.language == language}
        known: list[float | None] = [*sorted(tau for tau in taus if tau is not None)]
        for tau in known or [None]:
            yield [
                task.model, grid.dataset, language, shown_temperature(tau),
                *_questions(task, language), *_measured(grid, task, language, tau),
            ]  # fmt: skip


def _not_compared(tasks: Sequence[Task]) -> list[str]:
    """What is said of questions that were asked and not compared."""
    said = []
    for task in tasks:
        data = recorded(task, "data")
        of = many(int(data.get("questions") or 0), "question")
        if flagged := data.get("flagged"):
            said.append(
                f"Flagged: {len(flagged)} of {of}. There, a wrong option reads like a right one in "
                "some language, or one is missing: left out in every language, and counted in "
                "acc_with_flagged."
            )
        if kept_out := data.get("excluded_rate"):
            by = ", ".join(sorted(set(kept_out.values())))
            said.append(
                f"Asked and not compared: {len(kept_out)} of {of} (right answers differ by {by}); "
                "claims and F1 are of the others."
            )
    return list(dict.fromkeys(said))


def _questions(task: Task, language: str) -> list[Value]:
    """In data, usable, run, unusable rows and questions, reasons, samples."""
    data = recorded(task, "data")
    samples = "logged" if task.ids else "none"
    lacking = data.get("unusable_questions")
    if CRITERIA[task.place.criterion].several_languages:
        without = None if lacking is None else len(lacking.get(language, ()))
        reasons = list(data.get("invalid_reasons") or {})
        reason = f"{reasons[0]}: {without}" if without and len(reasons) == 1 else None
        return [data.get("questions"), *_asked(task, language, without), without, without, reason,
                samples]  # fmt: skip
    count = task.results.count
    in_data = data.get("questions" if task.place.parallel else "rows")
    told = (data.get("invalid_reasons") or {}).items()
    reason = ", ".join(f"{why}: {n}" for why, n in told) or None
    questions = None if lacking is None else len(lacking)
    return [in_data, count["original"], count["effective"], data.get("invalid_rows"), questions,
            reason, samples]  # fmt: skip


def _asked(task: Task, language: str, without: int | None) -> list[Value]:
    """Usable and run of one language in a task that has several."""
    count = task.results.count
    if without == 0:
        return [count["original"], count["effective"]]
    column = task.columns.get(f"empty_rate_{language}")
    if column is None:
        return [None, None]
    run = int((column.sums[:, 0] == column.sums[:, 0]).sum())
    return [None if task.limited else run, run]


def _measured(grid: Grid, task: Task, language: str, tau: float | None) -> list[Value]:
    """Shares of what could not be scored, and what says how much was."""

    def value(metric: str) -> Value:
        for temperature in dict.fromkeys((tau, None)):
            cell = grid.panels.get((metric, temperature), {}).get(task.model, {}).get(language)
            if cell is not None:
                return cell.value
        return None

    def off(names: Sequence[str]) -> Value:
        inside = next((v for name in names if (v := value(name)) is not None), None)
        return 1 - inside if isinstance(inside, float) else None

    return [
        *map(value, _SHARES),
        off(IN_LANGUAGE),
        *(_whole(value(name), name) for name in COLUMNS),
    ]


def _whole(value: Value, name: str) -> Value:
    """Counts as integers."""
    whole = name in ("n_judged", "profile") and isinstance(value, float)
    return int(value) if whole and value is not None else value
