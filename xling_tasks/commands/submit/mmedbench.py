"""MMedBench's leaderboard: `xling submit mmedbench`.

It takes two files of replies, two of scores and a description of the model. All of it is read from
`results_*.json` and `samples_*.jsonl` of the newest run of each task; nothing is generated or
scored anew, and what cannot be submitted is refused with the reason.
"""

from __future__ import annotations

import argparse
import csv
import functools
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from xling_tasks.criteria import Place
from xling_tasks.data.dataset_info import MMEDBENCH_LANGUAGES
from xling_tasks.errors import DataError
from xling_tasks.logs import alike
from xling_tasks.logs.results import (
    Results,
    TaskResults,
    as_json,
    read_results,
    refuse_mixed_models,
)
from xling_tasks.output import all_or_none, markdown_table, refuse_files
from xling_tasks.report.documents import filled
from xling_tasks.secrets import is_secret, redact, without_hosts

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


COLUMNS = ("Language", "ModelInput", "ModelOutput", "GT_Answer")
DESCRIPTION = "model_description.md"


def run(options: argparse.Namespace) -> str:
    """`xling submit mmedbench`: write the files of a full submission, and say what they hold."""
    out, to = options.out_dir, options.to
    kinds = [options.only] if options.only else list(KINDS)
    names = [name for kind in kinds for name in (KINDS[kind].results, KINDS[kind].scores)]
    names.append(DESCRIPTION)
    refuse_files(to, names)
    parts = checked_parts(out, kinds, options.ft)
    with all_or_none(to, names) as folder:
        for kind, of_kind in parts.items():
            _write(folder / KINDS[kind].results, COLUMNS, _rows(kind, of_kind, out))
            _write(folder / KINDS[kind].scores, *_scores(kind, of_kind))
        description = _description(parts)
        (folder / DESCRIPTION).write_text(description, encoding="utf-8", newline="\n")
    lines = [f"{to / name}" for name in names]
    return "\n".join([*lines, *cautions(parts), f"Fill in the lines with TODO in {DESCRIPTION}."])


def _write(path: Path, header: Sequence[str], rows: Iterator[Sequence[object]]) -> None:
    """RFC 4180, UTF-8; every text as it is, also one that a spreadsheet would take as a formula."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def _rows(kind: str, parts: Sequence[Part], out: Path) -> Iterator[Sequence[str]]:
    """The rows of a file of replies, streamed; each question of each language once."""
    for part in parts:
        again = f"Run: {command(out, [part.run], [part.task])}"
        take = functools.partial(_row, rationale=kind == "rationale")
        for _, texts in part.samples.stream(take, hint=again):
            yield [MMEDBENCH_LANGUAGES[part.language], *texts]


def _row(sample: Mapping[str, Any], *, rationale: bool) -> tuple[str, str, str]:
    """A sample's prompt, reply and right answer.

    The prompt is what was sent, with chat template (chat services: the messages as JSON). The
    reply is whole, marker and letters of a rationale included.
    """
    prompt = sample["arguments"]["gen_args_0"]["arg_0"]
    if isinstance(prompt, list):
        (prompt,) = prompt
    doc = sample["doc"]
    answer = doc["rationale"] if rationale else ",".join(doc["answer"])
    texts = (prompt, sample["resps"][0][0], answer)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("prompt, reply and answer must be texts")
    return texts


def _scores(
    kind: str, parts: Sequence[Part]
) -> tuple[Sequence[str], Iterator[Sequence[str | float]]]:
    """Header and rows of a file of scores: fractions as in the results, `Avg` unweighted."""
    header = ["Metric", *(MMEDBENCH_LANGUAGES[part.language] for part in parts), "Avg"]
    rows: list[Sequence[str | float]] = []
    for name, metric in KINDS[kind].metrics.items():
        values = [value for part in parts if (value := part.score(metric)) is not None]
        rows.append([name, *values, fmean(values)])
    return header, iter(rows)


def cautions(parts: Mapping[str, Sequence[Part]]) -> list[str]:
    """What makes the submission differ from one of the whole published test set."""
    lines = []
    for part in next(iter(parts.values())):
        data = part.xling["data"]
        if data["rows"] != data["rows_expected"]:
            lines.append(
                f"Caution: {part.language}: {data['rows']} questions in the data, but "
                f"{data['rows_expected']} were published."
            )
        if data["invalid_rows"]:
            lines.append(f"Caution: {part.language}: {data['invalid_rows']} unusable, left out.")
    return lines


def _description(parts: Mapping[str, Sequence[Part]]) -> str:
    """The model's description as far as the run tells it; the rest is marked TODO."""
    everything = [part for of_kind in parts.values() for part in of_kind]
    newest = max((part.run for part in everything), key=lambda run: run.stamp)
    args, size = newest.model_args, newest.config.get("model_num_parameters")
    text = filled(
        "mmedbench.j2",
        run=newest,
        name=next((args[key] for key in ("peft", "pretrained", "model") if args.get(key)), None),
        size=f"{size:,} parameters" if isinstance(size, int) and size > 0 else "TODO",
        versions=sorted({part.lm_eval for part in everything}),
        ours=sorted({str(part.xling["version"]) for part in everything}),
        stamps=sorted({part.run.stamp for part in everything}),
        halves=[_half(kind, of_kind) for kind, of_kind in parts.items()],
        licence=everything[0].xling["data"]["licence"],
        data=_data(parts),
        cautions=cautions(parts),
    )
    return str(without_hosts(text)).rstrip() + "\n"


def _half(kind: str, parts: Sequence[Part]) -> dict[str, Any]:
    """What is said of one half of a submission."""
    newest = max(parts, key=lambda part: part.run.stamp)
    prompts: dict[str, list[str]] = {}
    for part in parts:
        for name, prompt in part.xling["prompts"].items():
            text = f"`{name}` in `{prompt['language']}`, digest `{prompt['digest']}`"
            prompts.setdefault(text, []).append(part.language)
    return {
        "kind": KINDS[kind],
        "parts": parts,
        "newest": newest,
        "prompts": prompts,
        "generation": redact(newest.xling["generation_kwargs"]),
        "settings": redact({key: newest.xling["settings"].get(key) for key in SETTINGS}),
    }


def _data(parts: Mapping[str, Sequence[Part]]) -> str:
    """A table of what was read in each language."""
    counts = [f"questions ({kind})" for kind in parts]
    columns = ["language", *counts, "left out", "source", "revision", "sha256"]
    rows = []
    for row in zip(*parts.values(), strict=True):
        data = row[0].xling["data"]
        cells = [row[0].language, *(part.count["original"] for part in row), data["invalid_rows"]]
        rows.append([*cells, data["name"], data["revision"] or "", data["sha256"]])
    return markdown_table(columns, rows)
