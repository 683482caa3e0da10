"""The tables of MMedBench: accuracy and rationales by language, with the mean over languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xling_tasks.criteria import form_of
from xling_tasks.criteria.rates import COVERAGE
from xling_tasks.data.published import PublishedScore, published
from xling_tasks.report.data import Task
from xling_tasks.report.tables.grid import Grid, Grids, Lookup, paper_note, printed
from xling_tasks.report.tables.rows import Rows, wide_cells, wide_heads
from xling_tasks.report.tables.table import Table, note

_LANGUAGES = ("en", "es", "zh", "fr", "ja", "ru")
_OF_100 = frozenset({"sacrebleu"})
_RATIONALES = ("mmedbench_rationale", "mmedbench_rationale_ft")
_ANSWERS_ONLY = "full fine-tuning, answers only"
_SETTINGS = {
    "mmedbench_mcqa": ("zero-shot", "peft", "full fine-tuning", _ANSWERS_ONLY),
    "mmedbench_mcqa_ft": ("peft", "full fine-tuning", _ANSWERS_ONLY),
    "mmedbench_rationale": ("zero-shot", "peft", "full fine-tuning"),
    "mmedbench_rationale_ft": ("peft", "full fine-tuning"),
}
_TABLES = {
    "accuracy": ("Table 1", "Table 6"),
    "rationale": ("Table 2", *(f"Table {number}" for number in range(7, 14))),
}
"""Where the paper has them: 1 and 2 for all models, 6 and 7 without parts of the training data, 8
to 13 for the other metrics of rationales."""
_IDF = "bertscore_f1_idf"
_OURS = {"accuracy_percent": "acc", "bertscore_f1_percent": "bertscore_f1"}


def mmedbench_tables(grids: Grids) -> Iterator[Table]:
    """Accuracy in percent as Table 1, then the other metrics; rationales as Table 2."""
    for grid in (grid for own in grids.values() for grid in own if not grid.known.parallel):
        metrics = [name for name in grid.metrics if name not in COVERAGE]
        figures = mmedbench_figures(grid.criterion, grid.dataset) if grid.shown else []
        groups = {("", ""): metrics}
        if grid.criterion not in _RATIONALES:
            rest = [name for name in metrics if name != "acc"]
            groups = {("", ": accuracy"): ["acc"], ("_more", ": more"): rest}
        for (key, title), chosen in groups.items():
            ours = idf_weighed if _IDF in chosen else _ours
            names = {ours(item.metric): item.metric for item in figures}
            own = [item for item in figures if ours(item.metric) in chosen]
            yield _table(grid, grid.key + key, grid.heading + title, chosen, own, names)


def idf_weighed(metric: str) -> str:
    """Our name of a printed metric, BERTScore with the idf of the paper's equation 4."""
    name = _ours(metric)
    return _IDF if name == "bertscore_f1" else name


def _ours(metric: str) -> str:
    return _OURS.get(metric, metric)


def mmedbench_figures(criterion: str, dataset: str) -> list[PublishedScore]:
    """The printed scores of a criterion, of models asked in its form."""
    tables = _TABLES["rationale" if criterion in _RATIONALES else "accuracy"]
    return [
        item
        for table in tables
        for item in published(source="mmedbench", table=table, dataset=dataset)
        if item.setting in _SETTINGS.get(criterion, ())
    ]


def _table(
    grid: Grid, key: str, title: str, metrics: Sequence[str], figures: Sequence[PublishedScore],
    names: Mapping[str, str],
) -> Table:  # fmt: skip
    rows = Rows(("metric", "model", "setting", *wide_heads(_LANGUAGES, average=True)))
    lacking: dict[str, list[str]] = {}
    for metric in metrics:
        for model, tasks in grid.tasks.items():
            find = percent_lookup(grid, model, metric)
            cells = wide_cells(find, metric, _LANGUAGES, average=True)
            settings = " / ".join(dict.fromkeys(map(_setting, tasks)))
            if rows.measured((metric, model, settings), cells):
                without = [c for c, v in zip(_LANGUAGES, cells, strict=False) if v is None]
                if without:
                    lacking.setdefault(f"{model}: {', '.join(without)}", []).append(metric)
        for source in printed(figures, names):
            cells = wide_cells(source.find, metric, _LANGUAGES, average=True)
            rows.measured((metric, source.name, source.setting), cells, published=True)
    scale = _scale_note(grid.criterion, metrics)
    about = [scale, _average_note(lacking), note("mmedbench_questions"), *grid.notes]
    notes = [*about, paper_note(figures, "mmedbench_paper")]
    return rows.table(key, grid.criterion, title, notes, digits=2)


def percent_lookup(grid: Grid, model: str, metric: str) -> Lookup:
    """A metric in the paper's unit: percent, but for what has 0-100 of itself."""
    return grid.lookup(model, scale=1 if metric in _OF_100 else 100)


def _scale_note(criterion: str, metrics: Sequence[str]) -> str:
    if metrics == ["acc"]:
        return "Accuracy in percent: the set of letters is the right one."
    if criterion in _RATIONALES:
        weighed = "mmedbench_weighed" if _IDF in metrics else "mmedbench_not_weighed"
        text = note("mmedbench_rationales")
        return f"{text} {note(weighed)}" if "bertscore_f1" in metrics else text
    return "In percent. acc_parsed and jaccard are over the replies that letters could be read of."


def _average_note(lacking: dict[str, list[str]]) -> str:
    text = "Avg.: unweighted mean over the six languages, undefined where one is missing"
    parts = [f"{which} ({', '.join(names)})" for which, names in lacking.items()]
    return f"{text}: {'; '.join(parts)}." if parts else f"{text}."


def _setting(task: Task) -> str:
    """How a model was asked, in the paper's words."""
    run = task.results.run
    if form_of(task.place.criterion).fine_tuned:
        start = "fine-tuned form"
    else:
        shots = (run.content.get("n-shot") or {}).get(task.results.task)
        start = "shots unknown" if shots is None else f"{shots}-shot" if shots else "zero-shot"
    likelihood = ", log-likelihood" if form_of(task.place.criterion).by_likelihood else ""
    return start + likelihood + (", peft" if run.model_args.get("peft") else "")
