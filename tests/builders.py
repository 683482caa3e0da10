"""Runs on disk, as `lm_eval --output_path --log_samples` leaves them: one way for all tests.

`lm_eval` is the command itself, `evaluated` saves a run through the API, and `write_run` writes the
files of a run that never was.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import os
import pickle
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from tqdm import tqdm

# The lock of tqdm's bars is one for a process and its forks: a fork that is killed while it draws would
# keep it for ever.
os.register_at_fork(after_in_child=lambda: tqdm.set_lock(threading.RLock()))

STAMP = "2026-01-02T03-04-05.678901"
PACKAGES = {
    "xling_tasks": "xling_tasks",
    "metrics": "xling_metrics",
    "task_yaml": "xling_task_yaml",
}
"""Folder -> what is imported."""

ONLY_OURS = """
from pathlib import Path
import lm_eval.tasks.manager as manager
every = manager.TaskIndex._iter_yaml_files
own = Path(manager.__file__).parent
manager.TaskIndex._iter_yaml_files = staticmethod(lambda root: () if root == own else every(root))
"""
"""Code for a fresh interpreter: the harness's own 16,000 task files are not read (seconds)."""

UNASKED = """
from lm_eval import utils
utils.is_torch_available = utils.is_transformers_available = lambda: False
"""
"""Code for a fresh interpreter: the harness takes it for one without torch, which we can do without.

It imports none for its seeds (a second and more), and does not ask pip and the machine for their parts
after a run (a dozen processes, two seconds).
"""

COMMAND = f"{ONLY_OURS}{UNASKED}\nfrom lm_eval.__main__ import cli_evaluate\ncli_evaluate()\n"
"""Code for `python -c CODE WORDS`, where the process itself is what is tested."""

SEES = (
    f"{ONLY_OURS}\n"
    "from lm_eval.tasks import TaskManager; print('xlinghealth_demo' in TaskManager().all_tasks)"
)
"""Code that says whether the harness finds our tasks."""


def leave_the_machine_unasked() -> None:
    """The harness does not ask pip and the machine for their parts after a run; torch stays."""
    from lm_eval import utils

    if utils.is_torch_available():
        from torch.utils import collect_env

        collect_env.get_pretty_env_info = lambda: "not asked"


def our_tasks(metadata: Mapping[str, Any] | None = None) -> Any:
    """A task manager of the harness that knows our tasks alone."""
    from lm_eval.tasks.manager import TaskManager

    from xling_tasks.discovery import task_folder

    with our_index_once():
        return TaskManager(
            include_path=str(task_folder()), include_defaults=False, metadata=metadata
        )


def with_filters(
    folder: Path, task: str, *filters: tuple[str, ...], metadata: Mapping[str, Any] | None = None
) -> Any:
    """A task manager that knows `filtered`: a task of XLingHealth with filters (name, functions)."""
    from lm_eval.tasks.manager import TaskManager

    from xling_tasks.discovery import task_folder

    listed = [
        {"name": name, "filter": [{"function": function} for function in functions]}
        for name, *functions in filters
    ]
    include = f"include: {task_folder()}/xlinghealth/{task}.yaml\ntask: filtered\n"
    text = f"{include}filter_list: {json.dumps(listed)}\n"
    (folder / "filtered.yaml").write_text(text, encoding="utf-8")
    return TaskManager(include_path=str(folder), include_defaults=False, metadata=metadata)


@contextlib.contextmanager
def our_index_once() -> Iterator[None]:
    """Let the harness's index leave out its own task files, and read ours once and for all."""
    from lm_eval.tasks import manager

    from xling_tasks.discovery import add_custom_tasks, task_folder

    build, known = manager.TaskIndex.build, {task_folder(), Path(manager.__file__).parent}

    def ours(paths: Iterable[Path], **options: Any) -> Any:
        metadata = sys._getframe(1).f_locals.get("metadata")  # where our own hook looks too
        others = [path for path in paths if Path(path).resolve() not in known]
        if others:
            return build([task_folder(), *others], **options)
        tasks = pickle.loads(_our_index())
        add_custom_tasks(tasks, metadata or {})
        return tasks

    _our_index()
    with mock.patch.object(manager.TaskIndex, "build", staticmethod(ours)):
        yield


@functools.cache
def _our_index() -> bytes:
    """Pickled, so that every manager has an index of its own."""
    from lm_eval.tasks.manager import TaskIndex

    from xling_tasks.discovery import task_folder

    return pickle.dumps(TaskIndex.build([task_folder()]))


def lm_eval(cwd: Path, *words: str, table: bool = False, **environment: str) -> None:
    """Run the command `lm_eval WORDS` from a folder, in this process; an error of ours is raised.

    Without the harness's own task files, and the table of scores if nothing looks at it.
    """
    from lm_eval._cli import HarnessCLI

    leave_the_machine_unasked()
    no_table = mock.patch("lm_eval.utils.make_table", return_value="")
    with (
        inside(cwd),
        our_index_once(),
        contextlib.nullcontext() if table else no_table,
        mock.patch.object(sys, "argv", ["lm_eval", *words]),
        mock.patch.dict(os.environ, environment),
    ):
        cli = HarnessCLI()
        cli.execute(cli.parse_args())


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work from another folder (`contextlib.chdir` is of Python 3.11)."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def with_all(found: dict[str, Any] | None) -> dict[str, Any] | None:
    """Results in which the bookkeeping stands with the scores; None of ranks that have none."""
    from xling_tasks.logs.checked import with_bookkeeping

    return found and with_bookkeeping(found)


class OfTask(NamedTuple):
    """What a run says of one task; `found` is all that the run returned."""

    scores: dict[str, Any]
    samples: list[dict[str, Any]]
    record: dict[str, Any]
    found: dict[str, Any]

    @property
    def names(self) -> set[str]:
        """The metrics."""
        return {name for name in self.scores if "_stderr" not in name}


def of_task(found: dict[str, Any], task: str) -> OfTask:
    """One task of a run."""
    scores = found["results"][task].items()
    return OfTask(
        {key.removesuffix(",none"): value for key, value in scores if "," in key},
        found.get("samples", {}).get(task, []),
        found["configs"][task]["metadata"]["xling"],
        found,
    )


def by_language(found: dict[str, Any], group: str) -> dict[str, OfTask]:
    """The tasks of a group over users' own questions, by language."""
    names = [name for name in found["configs"] if name.rpartition("_")[0] == group]
    return {name.rpartition("_")[2]: of_task(found, name) for name in names}


def as_written(found: Mapping[str, Any]) -> dict[str, Any]:
    """The results as the harness has them: without what `with_all` put there."""
    kept = {
        task: ((config.get("metadata") or {}).get("xling") or {}).get("bookkeeping") or {}
        for task, config in found["configs"].items()
    }
    results = {
        task: {key: own for key, own in scores.items() if key[:-5] not in kept.get(task, {})}
        for task, scores in found["results"].items()
    }
    return {**found, "results": results}


def saved(out: Path, results: dict[str, Any], *, log_samples: bool = True, **tracker: Any) -> Path:
    """Save what `simple_evaluate` returned, which stays as it is, as the command does it."""
    from lm_eval.loggers import EvaluationTracker

    writer = tracker.get("evaluation_tracker") or EvaluationTracker(output_path=str(out))
    if not tracker:
        writer.general_config_tracker.model_name_sanitized = "m"
    written = as_written(results)
    samples = pickle.loads(pickle.dumps(written.pop("samples", {})))
    written = copy.deepcopy(written)
    writer.save_results_aggregated(results=written, samples=samples if log_samples else None)
    for task in samples if log_samples else ():
        writer.save_results_samples(task_name=task, samples=samples[task])
    return out


def evaluated(run: Callable[..., Any], out: Path, tasks: Any, **options: Any) -> dict[str, Any]:
    """Run tasks as the fixture RUN does it, save everything in OUT, and return the results."""
    from lm_eval.loggers import EvaluationTracker

    tracker = EvaluationTracker(output_path=str(out))
    logged = options.pop("log_samples", True)
    results: dict[str, Any] = run(tasks, evaluation_tracker=tracker, **options)
    saved(out, results, log_samples=logged, evaluation_tracker=tracker)
    return results


_NAMES = (
    (re.compile(r"xlinghealth_(information)_(\w+)"), ""),
    (re.compile(r"xlinghealth_(correctness|consistency|verifiability(?:_ll)?)_(\w+)_(\w\w)"), ""),
    (re.compile(r"(mmedbench_(?:mcqa|rationale)(?:_ll|_ft)?)_(?:(demo)_)?(\w\w)"), "mmedbench"),
    (re.compile(r"xling_(information|empathy)"), "xling"),
)


def _place(task: str) -> Any:
    """What a task of ours is about, by its name; None for others."""
    from xling_tasks.criteria import CRITERIA, TaskKey

    for pattern, dataset in _NAMES:
        if match := pattern.fullmatch(task):
            parts = [part for part in match.groups()[1:] if part is not None]
            if CRITERIA[match[1]].several_languages:
                return TaskKey(match[1], parts[0] if parts else dataset, "")
            return TaskKey(match[1], parts[0] if len(parts) > 1 else dataset, parts[-1])
    return None


def recorded(task: str, config: Any, scores: Any) -> Any:
    """A task's config with the record of what it is about, which our tasks write."""
    from xling_tasks.criteria import about

    metadata = config.get("metadata") if isinstance(config, dict) else None
    record = metadata.get("xling") if isinstance(metadata, dict) else None
    place = _place(task)
    if not isinstance(record, dict) or "about" in record or place is None:
        return config
    names = [name.partition(",")[0] for name in scores] if isinstance(scores, dict) else []
    languages = [place.language] if place.language else []
    own = about(place.criterion, place.dataset, languages, names)
    return {**config, "metadata": {**metadata, "xling": {**record, "about": own}}}


def _with_outcome(task: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row with the outcome of each answer, which our tasks record, by its rates."""
    from xling_tasks.criteria import CRITERIA
    from xling_tasks.failed_response import RESPONSES
    from xling_tasks.outcomes import OUTCOME, SERVED, outcome_of

    place = _place(task)
    if place is None or SERVED not in CRITERIA[place.criterion].metrics:
        return row
    known = row.get(RESPONSES) or {"responses": []}
    texts = row["doc"].get("text")
    codes = {place.language: ""} if place.language else {c: f"_{c}" for c in texts or ()}
    found = {
        code: outcome_of(row, suffix, inside=None if told is None else bool(told))
        for code, suffix in codes.items()
        if (told := row.get(f"langid_match{suffix}", row)) is not row
    }
    if not found or OUTCOME in known:
        return row
    return {**row, RESPONSES: {**known, OUTCOME: dict.fromkeys(codes) | found}}


def write_samples(
    folder: Path, task: str, rows: Iterable[Mapping[str, Any]], stamp: str = STAMP
) -> Path:
    """A file of samples, beside results that say nothing where there are none yet."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{stamp}.jsonl"
    whole = ({"filter": "none", **_with_outcome(task, row)} for row in rows)
    lines = [json.dumps(row, ensure_ascii=True) + "\n" for row in whole]
    path.write_text("".join(lines), encoding="utf-8")
    results = folder / f"results_{stamp}.json"
    nothing: dict[str, Any] = {"results": {}, "configs": {}, "n-samples": {}}
    content = json.loads(results.read_text("utf-8")) if results.exists() else nothing
    if isinstance(content, dict) and not any(content.get("results", {}).values()) and _place(task):
        content["configs"].setdefault(task, {"metadata": {"xling": {}}})
        content["results"].setdefault(task, {})
        content["n-samples"].setdefault(task, {"original": len(lines), "effective": len(lines)})
    if not results.exists() or content.get("configs"):
        write_results(folder, content, stamp)
    return path


def write_results(folder: Path, content: Mapping[str, Any], stamp: str = STAMP) -> Path:
    """A results file; tasks of ours record what they are about."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"results_{stamp}.json"
    configs = content.get("configs")
    if isinstance(configs, dict):
        scores = content.get("results") or {}
        told = {task: recorded(task, own, scores.get(task)) for task, own in configs.items()}
        content = {**content, "configs": told}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def results_in(out: Path) -> dict[str, Any]:
    """What the only results file below a folder says."""
    (path,) = out.rglob("results_*.json")
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def changed(out: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """Let `change` alter the content of every results file below a folder, which is returned."""
    for path in out.rglob("results_*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        change(content)
        path.write_text(json.dumps(content), encoding="utf-8")
    return out


def pick(rows: Iterable[dict[str, Any]], **wanted: Any) -> dict[str, Any]:
    """The only row with these values."""
    (row,) = [row for row in rows if all(row.get(key) == own for key, own in wanted.items())]
    return row


def write_lines(path: Path, rows: Iterable[Any]) -> Path:
    """A file of JSON lines; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(row) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def task_of(
    scores: Mapping[str, float | None],
    rows: Iterable[Mapping[str, Any]] = (),
    *,
    record: Mapping[str, Any],
    better: Mapping[str, bool | None] | None = None,
    original: int | None = None,
    effective: int | None = None,
    **config: Any,
) -> dict[str, Any]:
    """One task of a run for `write_run`: scores, samples, and what our tasks record of it."""
    rows = list(rows)
    ran = len(rows) if effective is None else effective
    metadata = {"version": 1.0, "xling": dict(record)}
    return {
        "scores": scores,
        "rows": rows,
        "better": better or {},
        "count": {"original": original or ran, "effective": ran},
        "config": {"num_fewshot": 0, **config, "metadata": metadata},
    }


def write_run(
    folder: Path,
    tasks: Mapping[str, Mapping[str, Any]],
    *,
    stamp: str = STAMP,
    change: Callable[[dict[str, Any]], None] | None = None,
    config: Mapping[str, Any] | None = None,
    **top: Any,
) -> Path:
    """The files of a run, from tasks that `task_of` made; CONFIG is the record of the command.

    `change` is called with the whole content before it is written.
    """
    content: dict[str, Any] = {
        "results": {
            name: {"alias": name, **{f"{metric},none": v for metric, v in own["scores"].items()}}
            for name, own in tasks.items()
        },
        "configs": {name: own["config"] for name, own in tasks.items()},
        "higher_is_better": {name: own["better"] for name, own in tasks.items()},
        "n-samples": {name: own["count"] for name, own in tasks.items()},
        "n-shot": {name: own["config"]["num_fewshot"] for name, own in tasks.items()},
        "config": {"model": "hf", **(config or {})},
        "chat_template": None,
        "chat_template_sha": None,
        "system_instruction_sha": None,
        "lm_eval_version": "0.4.13",
        **top,
    }
    for name, own in tasks.items():
        if own["rows"]:
            write_samples(folder, name, own["rows"], stamp)
    if change:
        content = copy.deepcopy(content)
        change(content)
    write_results(folder, content, stamp)
    return folder


def readers(out: Path, to: Path, other: Path | None = None, name: str = "") -> dict[str, list[str]]:
    """The words of every command that reads results and writes below a folder."""
    judge = ["--metadata", "judge=xling_baseline"]
    hf = ["--model-id", "a/b", "--dataset-id", "a/data"]
    words: dict[str, list[Any]] = {
        "report": ["report", out, "--to", to / "report"],
        "leaderboard": ["leaderboard", f"{name}={out}" if name else out, "--to", to / "board"],
        "samples": ["samples", out, "--to", to / "samples"],
        "compare": ["compare", out, other or out, "--to", to / "compare"],
        "compare back": ["compare", other or out, out, "--to", to / "compare"],
        "annotate": ["annotate", out, "--n", "4", "--to", to / "page.html"],
        "submit hf": ["submit", "hf", out, *hf, "--to", to / "hf"],
        "submit mmedbench": ["submit", "mmedbench", out, "--to", to / "mmed"],
        "rank": ["rank", out, other or out, *judge, "--to", to / "rank"],
    }
    return {command: list(map(str, own)) for command, own in words.items()}
