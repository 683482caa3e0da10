"""A model's results for its repository on the Hugging Face Hub: `xling submit hf`.

Entries for the Hub's evaluation results, a section of the model card, and all scores in one file.
Everything is read from `results_*.json`. Nothing leaves the machine without `--push` or
`--pull-request`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from xling_tasks.commands.submit.hf_files import (
    CARD,
    OWNERS,
    RESULTS,
    require_hub,
    write_drafts,
    write_files,
)
from xling_tasks.commands.submit.hf_parts import Submission, Words, gather
from xling_tasks.errors import DataError, unreadable
from xling_tasks.output import refuse_files
from xling_tasks.report.conclusions import conclusions_of
from xling_tasks.report.data import read_models
from xling_tasks.report.lines import about_the_judge
from xling_tasks.report.model import Options, Report
from xling_tasks.report.sentences import sentences
from xling_tasks.report.stats import Statistics
from xling_tasks.report.tables.differences import differences
from xling_tasks.report.tables.grid import dataset_title
from xling_tasks.secrets import publishable, publishable_text

TOKEN = "HF_TOKEN"


def run(options: argparse.Namespace) -> str:
    """`xling submit hf`: write the files, upload them if asked to, and say what they hold."""
    require_hub()
    _check_id("--model-id", options.model_id)
    if options.dataset_id is not None:
        _check_id("--dataset-id", options.dataset_id)
    to, uploads = options.to, options.push or options.pull_request
    token = os.environ.get(TOKEN)
    if uploads and not token:
        raise DataError(f"to upload, set the environment variable {TOKEN} to a token of the Hub")
    refuse_files(to, [CARD, RESULTS])
    out = options.out_dir
    submission = gather(out, options.force, options.dataset_id)
    submission = submission._replace(words=_in_words(out))
    if uploads:
        api, head, card = _repository(options.model_id, token)
    else:
        card = _card_in(options.card) if options.card else None
    names = write_files(to, submission, options.model_id, card)
    # What is for owners of datasets is written, and never uploaded to the model.
    drafts = write_drafts(to / OWNERS, submission)
    lines = [str(to / name) for name in names] + [str(path) for path in drafts]
    if uploads:
        place = _upload(api, options.model_id, to, names, head, options.pull_request)
        lines.append(f"Uploaded to {options.model_id}: {place}")
    else:
        lines.append(_would(options))
    return "\n".join([*lines, *_remarks(submission, options.model_id)])


def _check_id(option: str, given: str) -> None:
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    try:
        validate_repo_id(given)
        good = given.count("/") == 1
    except HFValidationError:
        good = False
    if not good:
        raise DataError(f"{option} {given}: not of the form ORG/NAME")


def _card_in(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"--card {path}: {unreadable(path, error)}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"--card {path}: {error}") from error


# What is said


def _in_words(out: Path) -> Words:
    """What may be said of the newest runs in a folder, as `xling report` says it."""
    models = read_models([out])
    statistics = Statistics(Options()).undescribed()
    concluded = [item for model in models for item in conclusions_of(statistics, model)]
    titles = {item.dataset: dataset_title(item.dataset) for item in concluded}
    flags = differences(Report(tuple(models), (), (), (), statistics.options))
    return Words(
        [publishable_text(line) for line in sentences(concluded, titles)],
        [publishable_text(line) for line in [*flags, *about_the_judge(concluded)]],
        [publishable(asdict(item)) for item in concluded],
    )


def _would(options: argparse.Namespace) -> str:
    own = "" if options.card else (
        f" {CARD} stands for a model without a card; an upload keeps the model's own card and "
        "replaces or adds the section and its model-index results (--card shows it beforehand)."
    )  # fmt: skip
    return (
        f"Nothing was uploaded: --pull-request would offer these files to {options.model_id}, "
        f"--push would commit them.{own}"
    )


def _remarks(submission: Submission, model_id: str) -> list[str]:
    remarks = [f"Caution: {text}" for text in submission.cautions]
    parts = submission.parts
    for part in parts:
        if names := part.undefined():
            remarks.append(f"Undefined, so without an entry: {part.task}: {', '.join(names)}")
    if silent := sorted({part.group for part in parts if not part.main}):
        remarks.append(f"No main metric, so no entries: {', '.join(silent)} (see {RESULTS})")
    if own := sorted({part.group for part in parts if part.hub_dataset is None}):
        hint = " (--dataset-id says where your own questions lie)"
        told = hint if any(part.data.get("kind") == "own" for part in parts) else ""
        remarks.append(
            f"No dataset on the Hub, so in {CARD} and {RESULTS} only: {', '.join(own)}{told}"
        )
    if ids := sorted({part.hub_dataset for part in parts if part.hub_dataset and part.main}):
        remarks.append(
            f"The Hub lists entries on a leaderboard only where the dataset ({', '.join(ids)}) is "
            "a registered benchmark whose eval.yaml has these task ids; that is its owners' to do, "
            f"and {OWNERS}/ has a draft for them."
        )
    args = submission.newest.model_args
    name = str(args.get("pretrained") or args.get("model") or "")
    if name != model_id:
        remarks.append(
            f"Check: the run's model is {name or submission.newest.config.get('model')!r}"
        )
    if submission.others:
        remarks.append(f"Left out, not tasks of xling-tasks: {', '.join(submission.others)}")
    return remarks


# The Hub


def _repository(model_id: str, token: str | None) -> tuple[Any, str, str | None]:
    """The Hub's API, the model's newest commit, and its card at that commit."""
    from huggingface_hub import HfApi

    api = HfApi(token=token)
    try:
        head = str(api.model_info(model_id).sha)
        if not api.file_exists(model_id, CARD, revision=head):
            return api, head, None
        path = api.hf_hub_download(model_id, CARD, revision=head)
    except Exception as error:  # the HTTP library beneath has errors of its own when offline
        raise DataError(f"{model_id} cannot be read on the Hub: {_first_line(error)}") from None
    return api, head, _card_in(Path(path))


def _upload(
    api: Any, model_id: str, to: Path, names: Sequence[str], head: str, as_pull_request: bool
) -> str:
    """One commit with these files only, on top of the commit whose card was read."""
    from huggingface_hub import CommitOperationAdd

    operations = [
        CommitOperationAdd(path_in_repo=name, path_or_fileobj=str(to / name)) for name in names
    ]
    try:
        done = api.create_commit(
            repo_id=model_id,
            operations=operations,
            commit_message="Add xling-tasks results",
            commit_description="Results across languages; see the section in the model card.",
            create_pr=as_pull_request,
            parent_commit=head,
        )
    except Exception as error:  # see above
        raise DataError(
            f"{model_id}: the upload failed: {_first_line(error)}. The files are in {to}"
        ) from None
    return str((as_pull_request and done.pr_url) or done.commit_url)


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0][:300]}" if text else type(error).__name__
