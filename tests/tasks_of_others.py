"""Tasks of nobody here: YAML in the form of the harness's own, on small files, with a scripted model."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from builders import leave_the_machine_unasked, saved, write_lines
from lm_eval.api.model import LM

N = 120
LETTERS = "ABCD"
SAYS = {"en": "The answer is", "hi": "उत्तर है", "sw": "Jibu ni"}


class Scripted(LM):
    """Gives the answer that `knows` makes of (language, question number); logs likelihoods too."""

    def __init__(self, knows: Callable[[str, int], str]) -> None:
        super().__init__()
        self.knows = knows

    def _of(self, context: str) -> str:
        code, number = re.findall(r"#(\w+)-(\d+)#", context)[-1]
        return self.knows(code, int(number))

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        return [self._of(request.args[0]) for request in requests]

    def loglikelihood(self, requests: Any, disable_tqdm: bool = False) -> Any:
        asked = [(self._of(request.args[0]), request.args[1].strip()) for request in requests]
        return [(-1.0 if own == wanted else -9.0, own == wanted) for own, wanted in asked]

    loglikelihood_rolling = None


def docs(code: str, n: int = N, **more: Callable[[int], Any]) -> list[dict[str, Any]]:
    """Questions whose right letters are the same in every language."""
    return [
        {
            "question": f"#{code}-{number}# Which is right of number {number} in {code}?",
            "answer": right(number),
            **{name: make(number) for name, make in more.items()},
        }
        for number in range(n)
    ]


def right(number: int) -> str:
    return random.Random(number).choice(LETTERS)


def wrong(number: int) -> str:
    return LETTERS[(LETTERS.index(right(number)) + 1) % 4]


def written(code: str, task: str) -> dict[str, Any]:
    """A generative task as MMLU-ProX has them: its filter looks for the language's own words."""
    return {
        "task": task, "output_type": "generate_until", "test_split": "train",
        "doc_to_text": "{{question}}", "doc_to_target": "answer",
        "filter_list": [{"name": "custom-extract", "filter": [
            {"function": "regex", "regex_pattern": SAYS[code] + r" \(?([ABCD])\)?"},
            {"function": "take_first"}]}],
        "generation_kwargs": {"until": ["</s>", f"Q-{code}:"], "do_sample": False, "temperature": 0.0},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True,
                         "ignore_case": True, "ignore_punctuation": True}],
        "description": f"Questions in {code}.", "metadata": {"version": 0.0},
    }  # fmt: skip


def chosen(code: str, task: str) -> dict[str, Any]:
    """Multiple choice by log-likelihood, as Global-MMLU and Belebele have it."""
    return {
        "task": task, "output_type": "multiple_choice", "test_split": "train",
        "doc_to_text": "{{question}}\nAnswer:", "doc_to_target": "answer",
        "doc_to_choice": list(LETTERS),
        "metric_list": [{"metric": name, "aggregation": "mean", "higher_is_better": True}
                        for name in ("acc", "acc_norm")],
        "metadata": {"version": 0.0},
    }  # fmt: skip


def run(
    folder: Path,
    tasks: Iterable[tuple[dict[str, Any], Sequence[dict[str, Any]]]],
    knows: Callable[[str, int], str],
    **options: Any,
) -> Path:
    """Run tasks over their documents through the harness, and save what the command saves."""
    import lm_eval
    from lm_eval.tasks import TaskManager

    leave_the_machine_unasked()
    place = folder / "yaml"
    place.mkdir(parents=True, exist_ok=True)
    names = []
    for config, rows in tasks:
        name = config["task"]
        data = place / f"{name}.jsonl"
        write_lines(data, rows)
        whole = {"dataset_path": "json", "dataset_kwargs": {"data_files": str(data)}, **config}
        (place / f"{name}.yaml").write_text(yaml.safe_dump(whole), encoding="utf-8")
        names.append(name)
    results = lm_eval.simple_evaluate(
        model=Scripted(knows), tasks=names, bootstrap_iters=0,
        task_manager=TaskManager(include_path=str(place), include_defaults=False), **options,
    )  # fmt: skip
    return saved(folder / "out", results)
