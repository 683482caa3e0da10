"""Results in Python: what was measured, what is concluded, and the answers, as tables."""

from __future__ import annotations

import argparse
import copy
import functools
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_metrics.stats.estimate import LEVEL

from xling_tasks.errors import DataError, did_you_mean
from xling_tasks.logs.newest import find_models
from xling_tasks.logs.results import TaskResults
from xling_tasks.report.data import read_models
from xling_tasks.report.lists import check_options, make_record
from xling_tasks.report.words import tell

Row = dict[str, Any]


class Rows(list[Row]):
    """A table: a mapping per row, the same keys in each."""

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`."""
        import pandas

        return pandas.DataFrame(list(self))


class Runs:
    """The newest result of each task of each model in some folders."""

    def __init__(
        self, folders: tuple[str, ...], options: Mapping[str, Any], families: Sequence[str] = (),
        stored: object = None,
    ) -> None:  # fmt: skip
        self._folders, self._families, self._stored = folders, families, stored
        self._options = check_options(argparse.Namespace(**options, to=None))

    @functools.cached_property
    def record(self) -> dict[str, Any]:
        """The content of `report.json`."""
        models = read_models(self._folders, self._families)
        return make_record(models, self._options).rows()

    @functools.cached_property
    def _tasks(self) -> list[tuple[str, str, TaskResults]]:
        models = find_models(self._folders, self._families)
        return [(model.name, *item) for model in models for item in model.tasks.items()]

    def tasks(self) -> Rows:
        """Return a row per model and task: its subject, and how many questions were asked."""
        return Rows(
            {"model": name, "task": task, **key._asdict(), "questions": group.count["effective"]}
            for name, task, group in self._tasks
            if (key := group.task_key) is not None
        )

    def scores(self) -> Rows:
        """Return a row per model, metric and language: value and interval over questions."""
        return Rows(self.record["scores"])

    def verdicts(self) -> Rows:
        """Return a row per model, language and primary metric: the verdict, also in words."""
        return Rows(
            {
                **{name: value for name, value in row.items() if name not in _NESTED},
                "in_words": " ".join(filter(None, tell(row)[4:])),
            }
            for row in self.record["verdicts"]
        )

    def samples(self, task: str) -> Rows:
        """Return a row per question of a task: id, text, answers, and a column per metric.

        Args:
            task: Its name; those of a task over users' own questions have a name per language, as
                `tasks()` lists them.

        Raises:
            DataError: If there is no such task, or no samples were logged.
        """
        rows = [(name, results) for name, present, results in self._tasks if present == task]
        if not rows:
            names = {name for _, name, _ in self._tasks}
            raise DataError(f"no results of {task}.{did_you_mean(task, names)}")
        if unlogged := next((r for _, r in rows if not r.samples.path.exists()), None):
            raise DataError(f"{unlogged.samples.path}: is not there; run with --log_samples")
        table = Rows()
        for name, results in rows:
            metrics = tuple(results.xling.get("signatures") or {})
            for _, row in results.samples.stream(dict):
                if row.get("filter", "none") != "none":
                    continue  # of several filters the one that scores are of
                doc, values = row.get("doc") or {}, {name: row.get(name) for name in metrics}
                table.append({
                    "model": name, "task": task, "question_id": doc.get("question_id"),
                    "question": doc.get("question"), "answers": [
                        str(response)
                        for item in row.get("resps") or ()
                        for response in (item if isinstance(item, list) else [item])
                    ],
                    **{k: float(v) if isinstance(v, (int, float)) else None
                       for k, v in values.items()},
                })  # fmt: skip
        return table


_NESTED = ("outcomes", "counts", "ways", "unparsed", "tags", "differs")


def read(
    *results: str | Path | Mapping[str, Any],
    families: Sequence[str] = (),
    confidence: float = LEVEL,
    margin: float | None = None,
) -> Runs:
    """Read results of runs, as tables.

    Args:
        results: Folders that `lm_eval --output_path` wrote (`NAME=FOLDER` names the model), or what
            `simple_evaluate` returned.
        families: Other tasks of the harness, as of `--family`.
        confidence: Level of intervals.
        margin: Differences up to this are about the same; None: each endpoint's own.

    Raises:
        DataError: If there are no results, or a file is broken.
        SettingError: If an option is impossible.
    """
    if not results:
        raise DataError("name a folder that lm_eval --output_path wrote, or give its results")
    stored = tempfile.TemporaryDirectory(prefix="xling-")
    folders = [
        str(_save(Path(stored.name, str(n)), item) if isinstance(item, Mapping) else item)
        for n, item in enumerate(results)
    ]
    options = {"confidence": confidence, "margin": margin}
    return Runs(tuple(folders), options, families, stored)


def _save(folder: Path, results: Mapping[str, Any]) -> Path:
    """Save what `simple_evaluate` returned as the command saves it; return the folder."""
    from lm_eval.loggers import EvaluationTracker

    if not {"results", "configs", "n-samples"} <= results.keys():
        raise DataError(
            "these are no results of simple_evaluate: results, configs and n-samples are missing"
        )
    target = copy.deepcopy(dict(results))
    samples = target.pop("samples", None) or {}
    tracker = EvaluationTracker(output_path=str(folder))
    tracker.general_config_tracker.model_name_sanitized = "run"
    tracker.save_results_aggregated(results=target, samples=samples)
    for task, rows in samples.items():
        tracker.save_results_samples(task_name=task, samples=rows)
    return folder
