"""`xling submit mmedbench`: the files that MMedBench's leaderboard takes by e-mail.

The form is that of its SubmissionTutorial.md: two files of responses, two of scores, and a
description of the model. All of it is read from the newest run of each task.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import pandas as pd

from xling_tasks.data.dataset_info import MMEDBENCH_LANGUAGES
from xling_tasks.errors import DataError
from xling_tasks.logs.config_diff import find_differences
from xling_tasks.logs.results import TaskResults, read_results, refuse_mixed_models
from xling_tasks.output import refuse_files, write_files
from xling_tasks.secrets import public


class Half(NamedTuple):
    """One half of a submission: its files, and metrics by the leaderboard's names."""

    responses: str
    scores: str
    metrics: Mapping[str, str]


HALVES = {
    "mcqa": Half("multi_choice_results.csv", "accuracy_metric.csv", {"Accuracy": "acc"}),
    "rationale": Half(
        "rationale_results.csv",
        "rationale_similarity_metric.csv",
        {f"BLEU-{n}": f"bleu{n}" for n in range(1, 5)}
        | {f"ROUGE-{n}": f"rouge{n}" for n in ("1", "2", "L")},
    ),
}
COLUMNS = ("Language", "ModelInput", "ModelOutput", "GT_Answer")
DESCRIPTION = "model_description.md"

_DESCRIPTION = """\
# {name}

- Model name: {name}
- Model size: {size}
- References (Hugging Face URL, papers): TODO
- Training details (pretraining on medical corpora, fine-tuning on medical datasets or the MMedBench
  train set, RLHF, in-context learning): TODO

Run: `{model}` with `{args}`; lm-eval {lm_eval}, xling-tasks {ours}; tasks {tasks}; examples in the
prompt: {shots}. Scores are fractions; Avg is the unweighted mean of the languages.
"""


def run(options: argparse.Namespace) -> str:
    """Write the files of a submission, and say where to send them."""
    out, to = options.out_dir, options.to
    kinds = [options.only] if options.only else list(HALVES)
    names = [name for kind in kinds for name in (HALVES[kind].responses, HALVES[kind].scores)]
    refuse_files(to, [*names, DESCRIPTION])
    tasks = find_tasks(out, kinds, options.ft)
    name, text = _describe([task for of_kind in tasks.values() for task in of_kind])
    files = {DESCRIPTION: text}
    for kind, of_kind in tasks.items():
        replies = pd.DataFrame(_responses(kind, of_kind), columns=COLUMNS)
        files[HALVES[kind].responses] = replies.to_csv(index=False, lineterminator="\r\n")
        files[HALVES[kind].scores] = pd.DataFrame(_scores(kind, of_kind)).to_csv(
            index=False, lineterminator="\r\n"
        )
    write_files(to, files)
    cautions = []  # what differs from the published test set
    for task in next(iter(tasks.values())):
        data = task.xling["data"]
        if data["rows"] != data["rows_expected"]:
            counts = f"{data['rows']} of {data['rows_expected']} published questions"
            cautions.append(f"Caution: {task.task}: {counts}.")
        if data["invalid_rows"]:
            count = f"{data['invalid_rows']} questions are left out as unusable"
            cautions.append(f"Caution: {task.task}: {count}.")
    advice = (
        f"Fill in the lines with TODO in {DESCRIPTION}, and send the files by e-mail as "
        "SubmissionTutorial.md of MMedBench says, with the subject "
        f'"[MMedBench Submission] - {name}".'
    )
    return "\n".join([*(str(to / file) for file in [*names, DESCRIPTION]), *cautions, advice])


def find_tasks(out: Path, kinds: Sequence[str], ft: bool | None) -> dict[str, list[TaskResults]]:
    """Find the tasks of a submission by kind, in the leaderboard's order of languages."""
    newest = {
        (key.criterion, key.language): TaskResults(task, run)
        for run in read_results(out)
        for task, key in run.places.items()
        if key is not None and key.dataset == "mmedbench"
    }
    if ft is None:
        languages = {
            criterion.endswith("_ft")
            for criterion, _ in newest
            if criterion.removesuffix("_ft").removeprefix("mmedbench_") in kinds
        }
        if len(languages) > 1:
            raise DataError(
                f"{out}: holds tasks for fine-tuned models and others; say --ft or --no-ft"
            )
        ft = languages == {True}
    tasks: dict[str, list[TaskResults]] = {}
    problems = []
    for kind in kinds:
        tasks[kind] = []
        for code in MMEDBENCH_LANGUAGES:
            name = f"mmedbench_{kind}{'_ft' * ft}"
            task = newest.get((name, code))
            reason = "no results" if task is None else _problem(task, HALVES[kind])
            if reason:
                problems.append(f"{name}_{code}: {reason}")
            elif task is not None:
                tasks[kind].append(task)
    if problems:
        raise DataError(
            f"{out}: not ready to submit: {'; '.join(problems)}. Run these tasks over the whole "
            "test set with --log_samples; --only mcqa or --only rationale takes one half"
        )
    refuse_mixed_models(out, [task.run for of_kind in tasks.values() for task in of_kind])
    for of_kind in tasks.values():
        pairs = [(of_kind[0], task) for task in of_kind]
        if differences := find_differences(pairs, across_languages=True):
            text = "; ".join(item.describe(of_kind[0].task) for item in differences)
            raise DataError(f"{out}: the languages were run with different settings: {text}")
    return tasks


def _problem(task: TaskResults, half: Half) -> str:
    """Return why a task cannot be submitted; empty if it can."""
    limit, count = task.run.config.get("limit"), task.count
    if limit is not None:
        return f"was run with --limit {limit:g}"
    if count["effective"] != count["original"]:
        return f"has {count['effective']} of {count['original']} questions"
    if not task.samples.path.is_file():
        return f"{task.samples.path.name} is not there"
    missing = [name for name, metric in half.metrics.items() if task.scores.get(metric) is None]
    if missing:
        return f"has no {', '.join(missing)} (--predict_only, or a missing extra)"
    first = next(iter(half.metrics.values()))
    unscored = sum(value is None for _, value in task.samples.stream(lambda row: row[first]))
    return f"{unscored} of {count['effective']} questions have no score" if unscored else ""


def _responses(kind: str, tasks: Sequence[TaskResults]) -> Iterator[Sequence[str]]:
    """Yield each question of each language once."""
    for task in tasks:
        assert task.task_key is not None
        language = MMEDBENCH_LANGUAGES[task.task_key.language]
        for _, texts in task.samples.stream(lambda sample: _row(sample, kind)):
            yield [language, *texts]


def _row(sample: Mapping[str, Any], kind: str) -> tuple[str, str, str]:
    """Return the prompt as it was sent (of chat services JSON), the whole response, the answer."""
    prompt = sample["arguments"]["gen_args_0"]["arg_0"]
    if isinstance(prompt, list):
        (prompt,) = prompt
    doc = sample["doc"]
    answer = doc["rationale"] if kind == "rationale" else ",".join(doc["answer"])
    texts = (prompt, sample["resps"][0][0], answer)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("prompt, response and answer are texts")
    return texts


def _scores(kind: str, tasks: Sequence[TaskResults]) -> Iterator[dict[str, str | float]]:
    """Yield a row per metric: a column per language, and their mean."""
    for name, metric in HALVES[kind].metrics.items():
        values = {
            MMEDBENCH_LANGUAGES[task.task_key.language]: value
            for task in tasks
            if task.task_key and (value := task.scores[metric]) is not None
        }
        yield {"Metric": name, **values, "Avg": fmean(values.values())}


def _describe(tasks: Sequence[TaskResults]) -> tuple[str, str]:
    """Return the model's name, and the description as far as the run tells it."""
    newest = max((task.run for task in tasks), key=lambda run: run.stamp)
    args, size = public(newest.model_args), newest.config.get("model_num_parameters")
    keys = ("peft", "pretrained", "model")
    name = str(next((args[key] for key in keys if args.get(key)), newest.config.get("model")))
    return name, _DESCRIPTION.format(
        name=name,
        size=f"{size:,} parameters" if isinstance(size, int) and size > 0 else "TODO",
        model=newest.config.get("model"),
        args=args,
        lm_eval=", ".join(sorted({task.lm_eval for task in tasks})),
        ours=", ".join(sorted({str(task.xling["version"]) for task in tasks})),
        tasks=", ".join(task.task for task in tasks),
        shots=tasks[0].config.get("num_fewshot") or 0,
    )
