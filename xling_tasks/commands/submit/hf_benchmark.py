"""For owners of a dataset: a draft of the `eval.yaml` that makes it a benchmark of the Hub.

A model's entries are listed on a leaderboard only where the dataset's repository has this file with
their task ids, which is not for us to put there. What only its owners know is left open in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xling_tasks.commands.submit.hf_files import on_the_hub, task_id
from xling_tasks.commands.submit.hf_parts import Submission
from xling_tasks.commands.submit.hf_task import HubTask
from xling_tasks.criteria import CRITERIA
from xling_tasks.languages import language_name
from xling_tasks.output import writing

OWNERS, FILE = "for_dataset_owners", "eval.yaml"
_HEAD = """\
# Draft for the owners of DATASET: it goes to the root of that repository, which makes the dataset a
# benchmark (https://huggingface.co/docs/hub/eval-results). A task is a score in a language; its id
# is what `xling submit hf` writes into a model's .eval_results. To check before it is pushed:
# config and split as the repository has them, and whether the Hub knows the framework's name.
"""


def write_drafts(folder: Path, submission: Submission) -> list[Path]:
    """A draft for each dataset on the Hub that the results are about, below its name.

    Raises:
        DataError: If a file cannot be written.
    """
    import yaml

    by_dataset: dict[str, list[HubTask]] = {}
    for part in submission.parts:
        if part.hub_dataset is not None and any(on_the_hub([part])):
            by_dataset.setdefault(part.hub_dataset, []).append(part)
    paths = []
    for dataset, parts in by_dataset.items():
        path = folder / dataset / FILE
        text = yaml.safe_dump(_draft(parts), sort_keys=False, allow_unicode=True, width=100)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            head = _HEAD.replace("DATASET", dataset)
            path.write_text(head + text, encoding="utf-8", newline="\n")
        paths.append(path)
    return paths


def _draft(parts: Sequence[HubTask]) -> dict[str, Any]:
    names = dict.fromkeys(str(part.data["dataset"]) for part in parts)
    codes = dict.fromkeys(code for part in parts for code in part.languages)
    asked = dict.fromkeys(CRITERIA[part.about.criterion].title for part in parts)
    return {
        "name": ", ".join(names),
        "description": (
            f"{', '.join(asked)}: questions in "
            f"{', '.join(language_name(code) for code in codes)}, scored per language with the "
            "xling-tasks plugin of lm-evaluation-harness."
        ),
        "evaluation_framework": "lm-evaluation-harness",
        "tasks": [
            {"id": task_id(part, score), "config": "default", "split": "test"}
            for part, score in on_the_hub(parts)
        ],
    }
