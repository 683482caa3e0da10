"""A leaderboard submission from the harness's own output files: `xling submit`.

MMedBench's leaderboard takes two files of replies, two of scores and a description of the model.
All of it is read from `results_*.json` and `samples_*.jsonl`; nothing is generated or scored anew.
"""

from __future__ import annotations

import argparse
import csv
import functools
import json
import math
import os
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from .errors import DataError

COLUMNS = ("Language", "ModelInput", "ModelOutput", "GT_Answer")
DESCRIPTION = "model_description.md"
# Model arguments that say how fast a model runs, not which model it is.
_SPEED = frozenset({"batch_size", "device", "max_batch_size", "max_retries", "num_concurrent"})
# The settings that MMedBench's tasks use, but for where the data lies: its digest says more.
_SETTINGS = ("dataset", "prompts", "prompt_language", "source_encoder")


class Kind(NamedTuple):
    """One of the two halves of a submission.

    Attributes:
        results: The file of replies.
        scores: The file of scores.
        metrics: The harness's metrics by the leaderboard's names.
    """

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


def add_submit(commands: Any) -> None:
    """Add `xling submit` to the commands."""
    parser = commands.add_parser("submit", help="a leaderboard submission from lm_eval's output")
    parser.add_argument("dataset", choices=["mmedbench"])
    parser.add_argument("out_dir", metavar="OUT_DIR", help="the --output_path of lm_eval")
    parser.add_argument("--to", required=True, metavar="DIR", help="folder to write to")
    parser.add_argument("--only", choices=list(KINDS), help="one half of the submission")
    parser.add_argument(
        "--ft",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="the _ft tasks, or the others; needed only where OUT_DIR holds both",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """`xling submit`: write the files, and say what they hold.

    Raises:
        DataError: If the runs in `OUT_DIR` are no full submission; the message says what is
            missing and the command that gets it.
    """
    out, to = Path(options.out_dir), Path(options.to)
    kinds = [options.only] if options.only else list(KINDS)
    names = [name for kind in kinds for name in (KINDS[kind].results, KINDS[kind].scores)]
    _refuse_overwriting(to, [*names, DESCRIPTION])
    parts = _parts(out, kinds, options.ft)
    try:
        _write_all(out, to, parts, [*names, DESCRIPTION])
    except OSError as error:
        raise DataError(f"{error.filename or to}: {error.strerror or error}") from error
    lines = [f"{to / name}" for name in [*names, DESCRIPTION]]
    return "\n".join([*lines, *_cautions(parts), f"Fill in the lines with TODO in {DESCRIPTION}."])


# Reading runs


@dataclass(frozen=True)
class _Run:
    """One results file."""

    path: Path
    content: Mapping[str, Any]

    @property
    def stamp(self) -> str:
        """Its time, as in the names of its files."""
        return self.path.stem.removeprefix("results_")

    @property
    def config(self) -> Mapping[str, Any]:
        """The harness's record of the command."""
        found: Mapping[str, Any] = self.content.get("config") or {}
        return found

    @functools.cached_property
    def model_args(self) -> dict[str, Any]:
        """The model's arguments without secrets."""
        from .settings import redact

        args = self.config.get("model_args") or {}
        if isinstance(args, str):
            from lm_eval.utils import simple_parse_args_string

            args = simple_parse_args_string(args)
        return dict(redact(args)) if isinstance(args, Mapping) else {}

    @property
    def model(self) -> str:
        """The model, as its name and arguments tell it."""
        args = {key: value for key, value in self.model_args.items() if key not in _SPEED}
        return f"{self.config.get('model')} {_json(args)}"


@dataclass(frozen=True)
class _Part:
    """One language's task in the newest run that has it."""

    task: str
    language: str
    run: _Run

    @property
    def samples(self) -> Path:
        """The file of its samples."""
        return self.run.path.with_name(f"samples_{self.task}_{self.run.stamp}.jsonl")

    @property
    def config(self) -> Mapping[str, Any]:
        """The task's configuration as recorded."""
        found: Mapping[str, Any] = self.run.content["configs"][self.task]
        return found

    @property
    def xling(self) -> Mapping[str, Any]:
        """What our tasks record; empty for a task that is not ours."""
        found: Mapping[str, Any] = (self.config.get("metadata") or {}).get("xling") or {}
        return found

    @property
    def count(self) -> Mapping[str, int]:
        """Questions, `original` and `effective`."""
        found: Mapping[str, int] = self.run.content["n-samples"][self.task]
        return found

    def score(self, metric: str) -> float | None:
        """A metric's value; None where there is none."""
        value = self.run.content["results"][self.task].get(f"{metric},none")
        good = isinstance(value, (int, float)) and math.isfinite(value)
        return float(value) if good else None

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
        if not self.samples.is_file():
            return f"{self.samples.name} is not there (run without --log_samples)"
        missing = [metric for metric in metrics if self.score(metric) is None]
        if missing:
            return f"{name} has no {', '.join(missing)} (--predict_only, or a missing extra)"
        return None

    def ways(self) -> dict[str, Any]:
        """What has to be the same in all languages of a submission."""
        settings, content = self.xling["settings"], self.run.content
        native = settings["prompt_language"] == "native"
        chat, shots = content.get("chat_template") is not None, self.config.get("num_fewshot") or 0
        return {
            **{key: settings.get(key) for key in _SETTINGS},
            "prompts": {
                name: "native" if native else prompt["digest"]
                for name, prompt in self.xling["prompts"].items()
            },
            "data": [self.xling["data"].get(key) for key in ("dataset", "kind", "revision")],
            "num_fewshot": shots,
            "generation_kwargs": self.xling["generation_kwargs"],
            "system_instruction": content.get("system_instruction_sha"),
            "apply_chat_template": chat,
            "chat_template": content.get("chat_template_sha"),
            "fewshot_as_multiturn": bool(chat and shots and content.get("fewshot_as_multiturn")),
            "task version": self.config["metadata"].get("version"),
        }


def _runs(out: Path) -> list[_Run]:
    """All results files under a folder, oldest first."""
    if not out.is_dir():
        raise DataError(f"{out}: not a folder; give the --output_path of lm_eval")
    found = []
    for path in out.rglob("results_*.json"):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise DataError(f"{path}: not valid JSON ({error}); remove it or run again") from error
        if isinstance(content, dict) and {"results", "configs", "n-samples"} <= set(content):
            found.append(_Run(path, content))
    return sorted(found, key=lambda run: (run.stamp, str(run.path)))


def _parts(out: Path, kinds: Sequence[str], ft: bool | None) -> dict[str, list[_Part]]:
    """The tasks of a submission by kind, in the leaderboard's order of languages, all checked."""
    runs = _runs(out)
    ft = _variant(out, runs, kinds, ft)
    names = {kind: _tasks(kind, ft) for kind in kinds}
    wanted = {task for tasks in names.values() for task in tasks}
    used = [run for run in runs if wanted & set(run.content["n-samples"])]
    _refuse_mixed_models(out, used)
    newest = {task: run for run in used for task in wanted & set(run.content["n-samples"])}
    parts = {
        kind: [_Part(task, code, newest[task]) for task, code in tasks.items() if task in newest]
        for kind, tasks in names.items()
    }
    problems = {task: "no results" for task in sorted(wanted - set(newest))}
    for kind, of_kind in parts.items():
        for part in of_kind:
            problem = part.problem(list(KINDS[kind].metrics.values()))
            problems |= {part.task: problem} if problem else {}
    if problems:
        raise DataError(_unready(out, runs, used, names, problems))
    for of_kind in parts.values():
        _refuse_mixed_ways(out, of_kind)
    _refuse_mixed_data(out, parts)
    return parts


def _tasks(kind: str, ft: bool) -> dict[str, str]:
    """The six tasks of a kind, with their languages."""
    from .mmedbench_source import LANGUAGE_NAMES

    return {f"mmedbench_{kind}{'_ft' * ft}_{code}": code for code in LANGUAGE_NAMES}


def _variant(out: Path, runs: Sequence[_Run], kinds: Sequence[str], ft: bool | None) -> bool:
    """Whether to take the `_ft` tasks: as asked, else those that are there."""
    if ft is not None:
        return ft
    there = {task for run in runs for task in run.content["n-samples"]}
    tuned, plain = (
        sorted(there & {task for kind in kinds for task in _tasks(kind, which)})
        for which in (True, False)
    )
    if tuned and plain:
        raise DataError(
            f"{out}: holds tasks for fine-tuned models ({', '.join(tuned)}) and others "
            f"({', '.join(plain)}); say --ft or --no-ft"
        )
    return bool(tuned)


# Refusals


def _refuse_overwriting(to: Path, names: Sequence[str]) -> None:
    if to.exists() and not to.is_dir():
        raise DataError(f"--to {to}: is a file; name a folder")
    there = [name for name in names if (to / name).exists()]
    if there:
        raise DataError(f"--to {to}: {', '.join(there)} already there; name another folder")


def _refuse_mixed_models(out: Path, runs: Sequence[_Run]) -> None:
    models: dict[str, str] = {}
    for run in runs:
        models.setdefault(run.model, str(run.path.relative_to(out)))
    if len(models) > 1:
        listed = "; ".join(f"{model} ({path})" for model, path in models.items())
        raise DataError(
            f"{out}: runs of {len(models)} different models: {listed}; give the folder of one, or "
            "move the others' files away"
        )


def _unready(
    out: Path,
    runs: Sequence[_Run],
    used: Sequence[_Run],
    names: Mapping[str, Mapping[str, str]],
    problems: Mapping[str, str],
) -> str:
    """What is missing, task by task, and the command to get it."""
    by_reason: dict[str, list[str]] = {}
    for task, reason in problems.items():
        by_reason.setdefault(reason, []).append(task)
    found = "; ".join(f"{', '.join(tasks)}: {reason}" for reason, tasks in by_reason.items())
    there = {task for run in runs for task in run.content["n-samples"]}
    hints = []
    if not used and any("_demo_" in task for task in there):
        hints.append("the demo tasks are our own sample, not MMedBench")
    if not used and any(task.startswith("mmedbench_mcqa_ll_") for task in there):
        hints.append("the mcqa_ll tasks generate no replies to submit")
    for kind, tasks in names.items():
        others = [other for other in names if other != kind]
        if others and all(problems.get(task) == "no results" for task in tasks) and used:
            hints.append(f"--only {others[0]} leaves out the {kind} half")
    hint = "".join(f" ({text})" for text in hints)
    ordered = [task for tasks in names.values() for task in tasks if task in problems]
    return f"{out}: not ready to submit: {found}{hint}. Run: {_command(out, used, ordered)}"


def _refuse_mixed_ways(out: Path, parts: Sequence[_Part]) -> None:
    """One way of asking in all languages: settings, prompts, shots, templates, data's revision."""
    newest = max(parts, key=lambda part: part.run.stamp)
    like = newest.ways()
    differing: dict[tuple[str, str], list[str]] = {}
    for part in parts:
        for key, value in part.ways().items():
            if value != like[key]:
                differing.setdefault((key, _json(value)), []).append(part.task)
    if differing:
        listed = "; ".join(
            f"{key} is {_json(like[key])} in {newest.task}, but {value} in {', '.join(tasks)}"
            for (key, value), tasks in differing.items()
        )
        tasks = list(dict.fromkeys(task for found in differing.values() for task in found))
        again = _command(out, [newest.run], tasks)
        raise DataError(f"{out}: the languages were not run alike: {listed}. Run: {again}")


def _refuse_mixed_data(out: Path, parts: Mapping[str, Sequence[_Part]]) -> None:
    """Both halves are of the same files."""
    for pair in zip(*parts.values(), strict=True):
        if len({part.xling["data"].get("sha256") for part in pair}) > 1:
            tasks = [part.task for part in pair]
            again = _command(out, [max((p.run for p in pair), key=lambda run: run.stamp)], tasks)
            raise DataError(f"{out}: {' and '.join(tasks)} read different data. Run: {again}")


def _command(out: Path, runs: Sequence[_Run], tasks: Sequence[str]) -> str:
    """The `lm_eval` command for tasks, like the newest of some runs, without its secrets."""
    if not runs:
        words = ["--model", "MODEL", "--model_args", "ARGS"]
    else:
        words = _as_before(runs[-1], tasks)
    words += ["--tasks", ",".join(tasks), "--output_path", str(out), "--log_samples"]
    return shlex.join(["lm_eval", *words])


def _as_before(run: _Run, tasks: Sequence[str]) -> list[str]:
    from .settings import Settings, is_secret, redact

    words = ["--model", str(run.config.get("model"))]
    args = {key: value for key, value in run.model_args.items() if not is_secret(key)}
    if args:
        plain = all(isinstance(v, (str, int, float)) and "," not in str(v) for v in args.values())
        text = ",".join(f"{key}={value}" for key, value in args.items())
        words += ["--model_args", text if plain else _json(args)]
    known = [task for task in run.content["configs"] if task.startswith("mmedbench_")]
    config = run.content["configs"][next((t for t in known if t in tasks), known[0])]
    if config.get("num_fewshot"):
        words += ["--num_fewshot", str(config["num_fewshot"])]
    if run.config.get("gen_kwargs"):
        words += ["--gen_kwargs", _json(redact(run.config["gen_kwargs"]))]
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
    return [*words, "--metadata", _json(given)] if given else words


# Writing


def _write_all(
    out: Path, to: Path, parts: Mapping[str, Sequence[_Part]], names: Sequence[str]
) -> None:
    """All files or none: a refusal half-way leaves nothing behind."""
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to, prefix=".xling-") as folder:
        for kind, of_kind in parts.items():
            _write(Path(folder, KINDS[kind].results), COLUMNS, _rows(of_kind, out))
            _write(Path(folder, KINDS[kind].scores), *_scores(kind, of_kind))
        description = _description(parts)
        Path(folder, DESCRIPTION).write_text(description, encoding="utf-8", newline="\n")
        for name in names:
            os.replace(Path(folder, name), to / name)


def _write(path: Path, header: Sequence[str], rows: Iterator[Sequence[object]]) -> None:
    """RFC 4180, UTF-8; every text as it is, also one that a spreadsheet would take as a formula."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def _rows(parts: Sequence[_Part], out: Path) -> Iterator[Sequence[str]]:
    """The rows of a file of replies, streamed; each question of each language once."""
    from .mmedbench_source import LANGUAGE_NAMES

    for part in parts:
        seen = set()
        with part.samples.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    doc_id, *texts = _row(json.loads(line), part.task)
                except (ValueError, LookupError, TypeError) as error:
                    raise DataError(
                        f"{part.samples}, row {number}: not a sample of {part.task} ({error!r}). "
                        f"Run: {_command(out, [part.run], [part.task])}"
                    ) from error
                if doc_id in seen:
                    raise DataError(f"{part.samples}, row {number}: question {doc_id} came before")
                seen.add(doc_id)
                yield [LANGUAGE_NAMES[part.language], *texts]
        if len(seen) != part.count["original"]:
            raise DataError(
                f"{part.samples}: {len(seen)} of {part.count['original']} questions. "
                f"Run: {_command(out, [part.run], [part.task])}"
            )


def _row(sample: Mapping[str, Any], task: str) -> tuple[str, str, str, str]:
    """A sample's id, prompt, reply and right answer.

    The prompt is what was sent, with chat template (chat services: the messages as JSON). The
    reply is whole, marker and letters of a rationale included.
    """
    prompt = sample["arguments"]["gen_args_0"]["arg_0"]
    if isinstance(prompt, list):
        (prompt,) = prompt
    doc = sample["doc"]
    rationale = task.startswith("mmedbench_rationale_")
    answer = doc["rationale"] if rationale else ",".join(doc["answer"])
    texts = (prompt, sample["resps"][0][0], answer)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("prompt, reply and answer must be texts")
    return (str(doc["question_id"]), *texts)


def _scores(
    kind: str, parts: Sequence[_Part]
) -> tuple[Sequence[str], Iterator[Sequence[str | float]]]:
    """Header and rows of a file of scores: fractions as in the results, `Avg` unweighted."""
    from .mmedbench_source import LANGUAGE_NAMES

    header = ["Metric", *(LANGUAGE_NAMES[part.language] for part in parts), "Avg"]
    rows: list[Sequence[str | float]] = []
    for name, metric in KINDS[kind].metrics.items():
        values = [value for part in parts if (value := part.score(metric)) is not None]
        rows.append([name, *values, fmean(values)])
    return header, iter(rows)


def _cautions(parts: Mapping[str, Sequence[_Part]]) -> list[str]:
    """What makes the submission differ from one of the whole published test set."""
    found = []
    for part in next(iter(parts.values())):
        data = part.xling["data"]
        if data["rows"] != data["rows_expected"]:
            found.append(
                f"Caution: {part.language}: {data['rows']} questions in the data, but "
                f"{data['rows_expected']} were published."
            )
        if data["unusable_rows"]:
            found.append(f"Caution: {part.language}: {data['unusable_rows']} unusable, left out.")
    return found


def _description(parts: Mapping[str, Sequence[_Part]]) -> str:
    """The model's description as far as the run tells it; the rest is marked TODO."""
    everything = [part for of_kind in parts.values() for part in of_kind]
    newest = max((part.run for part in everything), key=lambda run: run.stamp)
    args = newest.model_args
    name = next((args[key] for key in ("peft", "pretrained", "model") if args.get(key)), None)
    model = f"{newest.config.get('model')}: {name}" if name else str(newest.config.get("model"))
    size = newest.config.get("model_num_parameters")
    versions = sorted({str(part.run.content.get("lm_eval_version")) for part in everything})
    ours = sorted({str(part.xling["version"]) for part in everything})
    stamps = sorted({part.run.stamp for part in everything})
    lines = [
        f"# MMedBench submission: {name or newest.config.get('model')}",
        "",
        f"- Model: {model}",
        f"- Size: {f'{size:,} parameters' if isinstance(size, int) and size > 0 else 'TODO'}",
        "- Authors and contact: TODO",
        "- References (address of the model, papers): TODO",
        "- Licence of the model: TODO",
        "- Training data (medical corpora, MMedBench's training split, other exams): TODO",
        "- Training method (pretraining, fine-tuning, RLHF): TODO",
        "",
        "## Run",
        "",
        f"- Model arguments: `{_json(args)}`",
        f"- lm-eval {', '.join(versions)}; xling-tasks {', '.join(ours)}",
        f"- Date: {', '.join(stamps)}",
    ]
    for kind, of_kind in parts.items():
        lines += ["", *_kind_lines(kind, of_kind)]
    lines += ["", *_data_lines(parts), "", *(f"- {text}" for text in _cautions(parts))]
    return "\n".join(lines).rstrip() + "\n"


def _kind_lines(kind: str, parts: Sequence[_Part]) -> list[str]:
    part = max(parts, key=lambda item: item.run.stamp)
    from .settings import redact

    content, xling = part.run.content, part.xling
    settings = {key: xling["settings"].get(key) for key in _SETTINGS}
    digests: dict[str, list[str]] = {}
    for item in parts:
        for name, prompt in item.xling["prompts"].items():
            text = f"`{name}` in `{prompt['language']}`, digest `{prompt['digest']}`"
            digests.setdefault(text, []).append(item.language)
    return [
        f"## {KINDS[kind].results}, {KINDS[kind].scores}",
        "",
        f"- Tasks: {', '.join(item.task for item in parts)}; "
        f"version {part.config['metadata'].get('version')}",
        *(f"- Prompt: {text} ({', '.join(codes)})" for text, codes in digests.items()),
        f"- Examples in the prompt: {part.config.get('num_fewshot') or 0}",
        f"- Chat template (sha256): {content.get('chat_template_sha') or 'none'}; "
        f"system instruction (sha256): {content.get('system_instruction_sha') or 'none'}",
        f"- Generation: `{_json(redact(xling['generation_kwargs']))}`",
        f"- Settings: `{_json(redact(settings))}`",
        "- Scores are fractions (1 is 100%); Avg is the unweighted mean of the languages.",
        *(
            f"- {metric}: `{part.xling['signatures'].get(metric)}` ({part.language})"
            for metric in KINDS[kind].metrics.values()
        ),
    ]


def _data_lines(parts: Mapping[str, Sequence[_Part]]) -> list[str]:
    counts = [f"questions ({kind})" for kind in parts]
    columns = ["language", *counts, "left out", "source", "revision", "sha256"]
    licence = next(iter(parts.values()))[0].xling["data"]["licence"]
    lines = [
        f"## Data: MMedBench ({licence})",
        "",
        f"| {' | '.join(columns)} |",
        f"|{'---|' * len(columns)}",
    ]
    for row in zip(*parts.values(), strict=True):
        data = row[0].xling["data"]
        cells = [row[0].language, *(part.count["original"] for part in row), data["unusable_rows"]]
        cells += [data["name"], data["revision"] or "", data["sha256"]]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
