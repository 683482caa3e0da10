"""What `xling submit` submits: the newest run of each task, and why it cannot be submitted."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from xling_tasks.criteria import Place
from xling_tasks.data.records import MMEDBENCH_LANGUAGES
from xling_tasks.errors import DataError
from xling_tasks.logs import alike
from xling_tasks.logs.results import (
    Results,
    TaskResults,
    as_json,
    read_results,
    refuse_mixed_models,
)
from xling_tasks.secrets import is_secret, redact

# The settings that MMedBench's tasks use, but for where the data lies: its digest says more.
SETTINGS = ("dataset", "prompts", "prompt_language", "source_encoder")


class Kind(NamedTuple):
    """One of the two halves of a submission: its files, and metrics by the leaderboard's names."""

    results: str
    scores: str
    metrics: Mapping[str, str]


KINDS = {
    "mcqa": Kind("multi_choice_results.csv", "accuracy_metric.csv", {"Accuracy": "acc"}),
    "rationale": Kind(
        "rationale_results.csv",
        "rationale_similarity_metric.csv",
        {f"BLEU-{n}": f"bleu{n}" for n in range(1, 5)}
        | {f"ROUGE-{n}": f"rouge{n}" for n in ("1", "2", "L")},
    ),
}


@dataclass(frozen=True)
class Part(TaskResults):
    """One language's task in the newest run that has it."""

    language: str

    def problem(self, metrics: Sequence[str]) -> str | None:
        """Why it cannot be submitted, or None."""
        limit, count = self.run.config.get("limit"), self.count
        name = self.run.path.name
        if limit is not None:
            return f"{name} was run with --limit {limit:g}"
        if count["effective"] != count["original"]:
            return f"{name} has {count['effective']} of {count['original']} questions"
        if not self.xling:
            return f"{name} was not written by xling-tasks"
        if not self.samples.path.is_file():
            return f"{self.samples.path.name} is not there (run without --log_samples)"
        missing = [metric for metric in metrics if self.score(metric) is None]
        if missing:
            return f"{name} has no {', '.join(missing)} (--predict_only, or a missing extra)"
        return None


def checked_parts(out: Path, kinds: Sequence[str], ft: bool | None) -> dict[str, list[Part]]:
    """The tasks of a submission by kind, in the leaderboard's order of languages, all checked."""
    runs = read_results(out)
    ft = _variant(out, runs, kinds, ft)
    names = {kind: _tasks(kind, ft) for kind in kinds}
    wanted = {place for places in names.values() for place in places}
    used = [run for run in runs if wanted & set(run.places.values())]
    refuse_mixed_models(out, used)
    newest = {
        place: Part(task, run, place.language)
        for run in used
        for task, place in run.places.items()
        if place in wanted
    }
    parts: dict[str, list[Part]] = {}
    missing, problems = dict[str, str](), dict[str, str]()
    for kind, places in names.items():
        parts[kind] = [newest[place] for place in places if place in newest]
        missing |= {task: "no results" for place, task in places.items() if place not in newest}
        for part in parts[kind]:
            if problem := part.problem(list(KINDS[kind].metrics.values())):
                problems[part.task] = problem
    if problems := {**dict(sorted(missing.items())), **problems}:
        raise DataError(_unready(out, runs, used, names, problems))
    for of_kind in parts.values():
        _refuse_mixed_ways(out, of_kind)
    _refuse_mixed_data(out, parts)
    return parts


def _tasks(kind: str, ft: bool) -> dict[Place, str]:
    """What the six tasks of a kind are about, with their names."""
    criterion = f"mmedbench_{kind}{'_ft' * ft}"
    codes = MMEDBENCH_LANGUAGES
    return {Place(criterion, "mmedbench", code): f"{criterion}_{code}" for code in codes}


def _variant(out: Path, runs: Sequence[Results], kinds: Sequence[str], ft: bool | None) -> bool:
    """Whether to take the `_ft` tasks: as asked, else those that are there."""
    if ft is not None:
        return ft
    there = {place: task for run in runs for task, place in run.places.items()}
    tuned, plain = (
        sorted(there[place] for kind in kinds for place in _tasks(kind, which) if place in there)
        for which in (True, False)
    )
    if tuned and plain:
        raise DataError(
            f"{out}: holds tasks for fine-tuned models ({', '.join(tuned)}) and others "
            f"({', '.join(plain)}); say --ft or --no-ft"
        )
    return bool(tuned)


def _unready(
    out: Path,
    runs: Sequence[Results],
    used: Sequence[Results],
    names: Mapping[str, Mapping[Place, str]],
    problems: Mapping[str, str],
) -> str:
    """What is missing, task by task, and the command to get it."""
    by_reason: dict[str, list[str]] = {}
    for task, reason in problems.items():
        by_reason.setdefault(reason, []).append(task)
    listed = "; ".join(f"{', '.join(tasks)}: {reason}" for reason, tasks in by_reason.items())
    there = [place for run in runs for place in run.places.values() if place is not None]
    hints = []
    if not used and any(p.dataset == "demo" and not p.parallel for p in there):
        hints.append("the demo tasks are our own sample, not MMedBench")
    if not used and any(place.criterion == "mmedbench_mcqa_ll" for place in there):
        hints.append("the mcqa_ll tasks generate no replies to submit")
    for kind, tasks in names.items():
        others = [other for other in names if other != kind]
        if others and all(problems.get(t) == "no results" for t in tasks.values()) and used:
            hints.append(f"--only {others[0]} leaves out the {kind} half")
    hint = "".join(f" ({text})" for text in hints)
    named = [task for tasks in names.values() for task in tasks.values() if task in problems]
    ordered = list(dict.fromkeys([*named, *problems]))
    return f"{out}: not ready to submit: {listed}{hint}. Run: {command(out, used, ordered)}"


def _refuse_mixed_ways(out: Path, parts: Sequence[Part]) -> None:
    """One way of asking in all languages: settings, prompts, shots, templates, data's revision."""
    newest = max(parts, key=lambda part: part.run.stamp)
    pairs = [(newest, part) for part in parts]
    differing = alike.differences(pairs, across_languages=True)
    if differing:
        listed = "; ".join(item.told(newest.task) for item in differing)
        tasks = list(dict.fromkeys(task for item in differing for task in item.tasks))
        again = command(out, [newest.run], tasks)
        raise DataError(f"{out}: the languages were not run alike: {listed}. Run: {again}")


def _refuse_mixed_data(out: Path, parts: Mapping[str, Sequence[Part]]) -> None:
    """Both halves are of the same files."""
    for pair in zip(*parts.values(), strict=True):
        if len({part.xling["data"].get("sha256") for part in pair}) > 1:
            tasks = [part.task for part in pair]
            again = command(out, [max((p.run for p in pair), key=lambda run: run.stamp)], tasks)
            raise DataError(f"{out}: {' and '.join(tasks)} read different data. Run: {again}")


def command(out: Path, runs: Sequence[Results], tasks: Sequence[str]) -> str:
    """The `lm_eval` command for tasks, like the newest of some runs, without its secrets."""
    if not runs:
        words = ["--model", "MODEL", "--model_args", "ARGS"]
    else:
        words = _as_before(runs[-1], tasks)
    words += ["--tasks", ",".join(tasks), "--output_path", str(out), "--log_samples"]
    return shlex.join(["lm_eval", *words])


def _as_before(run: Results, tasks: Sequence[str]) -> list[str]:
    from xling_tasks.settings import Settings

    words = ["--model", str(run.config.get("model"))]
    args = {key: value for key, value in run.model_args.items() if not is_secret(key)}
    if args:
        plain = all(isinstance(v, (str, int, float)) and "," not in str(v) for v in args.values())
        text = ",".join(f"{key}={value}" for key, value in args.items())
        words += ["--model_args", text if plain else as_json(args)]
    known = [task for task, place in run.places.items() if place and not place.parallel]
    config = run.content["configs"][next((t for t in known if t in tasks), known[0])]
    if config.get("num_fewshot"):
        words += ["--num_fewshot", str(config["num_fewshot"])]
    if run.config.get("gen_kwargs"):
        words += ["--gen_kwargs", as_json(redact(run.config["gen_kwargs"]))]
    if run.content.get("system_instruction"):
        words += ["--system_instruction", str(run.content["system_instruction"])]
    # A chat service applies its own template: ours is then empty, but not None.
    if run.content.get("chat_template") is not None:
        words.append("--apply_chat_template")
        if config.get("num_fewshot") and not run.content.get("fewshot_as_multiturn"):
            words += ["--fewshot_as_multiturn", "false"]
    default = Settings().dump()
    settings = (config["metadata"].get("xling") or {}).get("settings") or {}
    given = {key: value for key, value in settings.items() if value != default.get(key)}
    return [*words, "--metadata", as_json(given)] if given else words
