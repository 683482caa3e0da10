"""How much of a judge's prompts is shared: what a service bills as cached input, and an engine computes once.

    python tests/benchmarks/judging.py

Runs the bundled samples through the harness with a judge that notes its prompts. Of each role's it
prints the characters, and the share that begin as another prompt did.
"""

from __future__ import annotations

import os
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import common  # noqa: F401  # finds the tests' own modules
import scripted
from builders import our_tasks
from fixed import Fixed
from lm_eval import simple_evaluate
from lm_eval.api.registry import register_model

from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.discovery import register_models

TASKS = {
    "xling_custom_rubric": {"data_dir": str(Path(SAMPLE_FOLDER) / "rubric_demo.jsonl")},
    "xlinghealth_correctness_demo": {},
    "xlinghealth_information_demo": {"translator": {"model": "notes"}},
}
ROLES = {"CRITERION": "rubric", "CLAIMS": "support", "TEXT": "claims", "ANSWER 2": "judge"}
PROMPTS: dict[str, set[str]] = defaultdict(set)


@register_model("notes")
class Notes(Fixed):
    """A judge that keeps the prompts of each role."""

    def __init__(self, **_: object) -> None:
        super().__init__(self.noted)

    def noted(self, prompt: str, *_: object) -> str:
        role = next((role for mark, role in ROLES.items() if f"[BEGIN {mark} " in prompt), None)
        if role and type(prompt) is str:  # not asked again
            PROMPTS[role].add(prompt)
        return scripted.reply(prompt)


def main() -> None:
    """Run, and print a line for each role."""
    register_models()
    for task, own in TASKS.items():
        judge = {"model": "notes", "detect_errors": False}
        metadata = {**own, "xling_cache": False, "xling_resume": False, "judge": judge}
        simple_evaluate(
            model="xling_baseline",
            tasks=[task],
            task_manager=our_tasks(metadata),
            bootstrap_iters=0,
        )
    for role, prompts in PROMPTS.items():
        total = sum(map(len, prompts))
        shared = sum(len(os.path.commonprefix(both)) for both in pairwise(sorted(prompts)))  # noqa: RUF071
        print(f"{role}: {len(prompts)} prompts, {total:,} characters, {shared / total:.0%} shared")


if __name__ == "__main__":
    main()
