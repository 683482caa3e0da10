"""What was measured at all: questions, replies that could not be scored, languages, samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xling_tasks.criteria import CRITERIA, Panel
from xling_tasks.criteria.rates import COLUMNS, IN_LANGUAGE, RATES, SECOND_OPINIONS
from xling_tasks.report.data import Task
from xling_tasks.report.tables.differences import Difference, grouped, notes_about, task_languages
from xling_tasks.report.tables.grid import Grid, is_language, shown_temperature
from xling_tasks.report.tables.rows import Rows
from xling_tasks.report.tables.table import Table, Value

_SHARES = {name: rate.column for name, rate in RATES.items() if rate.column}
_HEADS = (
    "model", "dataset", "language", "T", "in data", "usable", "run", "unusable rows",
    "unusable questions", "reasons", "samples", *_SHARES.values(), "off language",
    "off language (second)", *COLUMNS.values(),
)  # fmt: skip

_NOTE = (
    "In data: questions of the file. Usable: those that this task can ask in this language "
    "(rationales: those whose rationale passed the human check). Run: asked in this run; fewer "
    "than usable means --limit. Unusable rows are left out, for the reasons given. Shares are of "
    "the questions, rows or answers run; off language is the share in another language than "
    "asked for, of those of which that can be told (consistency and exams: of sentences, by "
    "langid). An undefined value is a dash, not zero."
)
_SECOND_NOTE = (
    "Second: by the identifier of the setting second_identifier, named in the signatures; "
    "identifiers agree: the share of answers of which langid and it say the same, in the language "
    "or not."
)
_JUDGED = "Judged: questions with one of the four labels; no response is counted beside them."


def coverage_tables(grid: Grid, remarks: Sequence[Difference]) -> list[Table]:
    """One table per criterion that any model has."""
    tasks = grouped(grid.report.models)
    tables = []
    for criterion, known in CRITERIA.items():
        rows, notes = Rows(_HEADS), [_NOTE, _JUDGED if criterion == "correctness" else ""]
        for dataset in grid.datasets(criterion):
            for own in tasks[criterion, dataset].values():
                for task in own:
                    for line in _lines(grid, task):
                        rows.add(*line)
            several = len(grid.datasets(criterion)) > 1
            runs = [task for own in tasks[criterion, dataset].values() for task in own]
            about = [*notes_about(remarks, criterion, dataset), *_not_compared(runs)]
            notes += [f"[{dataset}] {note}" if several else note for note in about]
        datasets = grid.datasets(criterion)
        if any("identifiers_agree" in grid.metrics(criterion, name) for name in datasets):
            notes.append(_SECOND_NOTE)
        if rows.rows:
            tables.append(
                rows.table(f"coverage_{criterion}", "coverage", f"Coverage: {known.title}", notes)
            )
    return tables


def _lines(grid: Grid, task: Task) -> Iterator[list[Value]]:
    """A row per language and temperature of a task."""
    place = task.place
    for language in task_languages(task) or sorted(_scored_languages(grid, task)):
        panels = {
            cell.panel
            for cell in grid.of(place.criterion, place.dataset)
            if cell.task is task and cell.language == language
        }
        taus = sorted({panel.temperature for panel in panels if panel.temperature is not None})
        own: list[float | None] = [*taus] or [None]
        start: list[Value] = [task.model, place.dataset, language]
        for tau in own:
            yield [
                *start,
                shown_temperature(tau),
                *_questions(task, language),
                *_measured(grid, task, language, tau),
            ]


def _not_compared(tasks: Sequence[Task]) -> list[str]:
    """What is said of questions that were asked and not compared."""
    said: dict[str, None] = {}
    for task in tasks:
        data: dict[str, Any] = dict(task.results.xling.get("data") or {})
        if flagged := data.get("flagged"):
            said[
                f"{len(flagged)} of {data.get('questions')} questions are flagged: in some "
                "language a wrong option reads like a right one, or one is missing. They are left "
                "out in every language; acc_with_flagged has them."
            ] = None
        if kept_out := data.get("not_compared"):
            by = ", ".join(sorted(set(kept_out.values())))
            said[
                f"{len(kept_out)} of {data.get('questions')} questions are asked and not compared "
                f"(right answers to them differ by {by}): claims and F1 are of the others."
            ] = None
    return list(said)


def _scored_languages(grid: Grid, task: Task) -> set[str]:
    """The languages of a task whose record does not name them."""
    cells = grid.of(task.place.criterion, task.place.dataset)
    return {cell.language for cell in cells if cell.task is task and is_language(cell.language)}


def _questions(task: Task, language: str) -> list[Value]:
    """In data, usable, run, unusable rows and questions, reasons, samples."""
    data: dict[str, Any] = dict(task.results.xling.get("data") or {})
    samples = "logged" if task.ids else "none"
    lacking = data.get("unusable_questions")
    if CRITERIA[task.place.criterion].several_languages:
        without = None if lacking is None else len(lacking.get(language, ()))
        reasons = list(data.get("unusable_reasons") or {})
        reason = f"{reasons[0]}: {without}" if without and len(reasons) == 1 else None
        return [data.get("questions"), *_asked(task, language, without), without, without, reason,
                samples]  # fmt: skip
    count = task.results.count
    in_data = data.get("questions" if task.place.parallel else "rows")
    told = (data.get("unusable_reasons") or {}).items()
    reason = ", ".join(f"{why}: {n}" for why, n in told) or None
    questions = None if lacking is None else len(lacking)
    return [in_data, count["original"], count["effective"], data.get("unusable_rows"), questions,
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
            panel = Panel(task.place.criterion, task.place.dataset, metric, temperature)
            cell = grid.cell(task.model, panel, language)
            if cell is not None:
                return cell.value
        return None

    def off(names: Sequence[str]) -> Value:
        inside = next((v for name in names if (v := value(name)) is not None), None)
        return 1 - inside if isinstance(inside, float) else None

    both = (off(IN_LANGUAGE), off(SECOND_OPINIONS))
    return [*map(value, _SHARES), *both, *(_whole(value(name), name) for name in COLUMNS)]


def _whole(value: Value, name: str) -> Value:
    """Counts as integers."""
    whole = name in ("n_judged", "profile") and isinstance(value, float)
    return int(value) if whole and value is not None else value
