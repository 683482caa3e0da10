"""Which files of samples there are to view: the newest of every task of every model."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xling_tasks.criteria import CRITERIA, ENGLISH
from xling_tasks.errors import DataError, SettingError, did_you_mean
from xling_tasks.logs.results import TaskResults
from xling_tasks.logs.samples import Samples
from xling_tasks.output import many
from xling_tasks.report.data import newest_results

_END = 1 << 16


@dataclass(frozen=True)
class Source:
    """One file of samples, of SIZE bytes; IDENTITY changes whenever the file does.

    MODEL is the short name that a report of the same folders uses. CRITERION is a key of
    `CRITERIA`, or the name of a task that is not ours, which has no dataset; PRIMARY has the task's
    endpoints, with whether higher is better.
    """

    model: str
    samples: Samples
    criterion: str
    dataset: str
    language: str
    primary: Mapping[str, bool | None]
    size: int
    identity: str

    @property
    def task(self) -> str:
        """The task."""
        return self.samples.task


@dataclass(frozen=True)
class Sources:
    """What there is to view: files by criterion, dataset, model and language, English first.

    MODELS: short name -> name and arguments. NOTES: what else there is to know, a line each.
    """

    files: tuple[Source, ...]
    models: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(source.size for source in self.files)

    def refuse_unknown(self, task: str, model: str = "", *, of: str = "") -> None:
        """Check that a link leads somewhere; OF: the option that it was given with."""
        tasks = {source.task for source in self.files}
        if task not in tasks:
            known = did_you_mean(task, tasks)
            raise SettingError(f"{of}no samples of a task {task!r:.80}.{known}")
        if model and model not in self.models:
            raise SettingError(f"{of}no model {model!r:.80}.{did_you_mean(model, self.models)}")


def find_sources(folders: Sequence[str], families: Sequence[str] = ()) -> Sources:
    """The newest file of samples of every task in some output folders.

    FOLDERS are given as for a report: of `lm_eval --output_path`, or `NAME=FOLDER`.
    """
    files, models, notes = [], {}, []
    for name, full, tasks, about in newest_results(folders, families, only_ours=False):
        models[name] = full
        notes += about
        without = []
        for task, results in tasks.items():
            if results.samples.path.is_file():
                files.append(_source(name, results))
            else:
                without.append(task)
        if without:
            shown = ", ".join(without[:5]) + (", ..." if len(without) > 5 else "")
            notes.append(f"{name}: {many(len(without), 'task')} without logged samples ({shown}).")
    if not files:
        raise DataError(
            f"{', '.join(folders)}: no samples in it; run lm_eval again with --log_samples"
        )
    return Sources(tuple(sorted(files, key=_order)), models, tuple(notes))


def _source(model: str, results: TaskResults) -> Source:
    place, samples = results.place, results.samples
    higher = results.directions
    try:
        stat = samples.path.stat()
        with samples.path.open("rb") as file:
            ends = file.read(_END)
            file.seek(max(0, stat.st_size - _END))
            ends += file.read(_END)
    except OSError as error:
        raise DataError(f"{samples.path}: {error.strerror or error}") from error
    read = (*samples[:2], samples.reading)
    parts = (samples.path.resolve(), read, model, stat.st_size, stat.st_mtime_ns)
    digest = hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape") + ends)
    return Source(
        model=model,
        samples=samples,
        criterion=place.criterion if place else results.task,
        dataset=place.dataset if place else "",
        language=place.language if place else "",
        primary={name: higher.get(name) for name in results.primary},
        size=stat.st_size,
        identity=digest.hexdigest(),
    )


def _order(source: Source) -> tuple[object, ...]:
    known = list(CRITERIA)
    at = known.index(source.criterion) if source.criterion in known else len(known)
    other = source.language != ENGLISH
    return at, source.criterion, source.dataset, source.model, other, source.language, source.task
