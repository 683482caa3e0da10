"""The main commands with a chat backend, which gives no log-likelihoods, from run to report."""

from __future__ import annotations

import json

import builders
import pytest
from builders import results_in
from scripted import judged

from xling_tasks.cli import main

TASKS = {"correctness": "contradictory", "consistency": "sim_1gram", "verifiability": "macro_f1"}


def answer(prompt: str) -> str:
    """What a chat model says: a verdict where one is asked for, else a sentence."""
    for words in ("Yes or No", "Yes o No", "Yes 或 No", "Yes या No"):
        if words in prompt:
            return "Yes" if len(prompt) % 3 else "No"
    return f"Drink water and rest. Case {len(prompt)}."


@pytest.mark.parametrize("group", ["xlinghealth_demo", "mmedbench_demo"])
def test_the_group_of_everything_runs_on_a_chat_backend(serve, tmp_path, capsys, group):
    service = serve(judged).spec()
    settings = {"judge": service, "translator": service, "k": 2, "encoder": False, "topic_seeds": 1}
    args = f"model=chat,base_url={serve(answer).url},max_retries=1,num_concurrent=4"
    out = str(tmp_path / "o")
    words = ["--tasks", group, "--limit", "2", "--log_samples", "--output_path", out]
    if group == "xlinghealth_demo":
        words += ["--metadata", json.dumps(settings)]
    builders.lm_eval(
        tmp_path, "--model", "local-chat-completions", "--model_args", args,
        "--apply_chat_template", *words,
    )  # fmt: skip
    results = results_in(tmp_path / "o")["results"]
    assert not any("_ll_" in task for task in results)
    if group == "xlinghealth_demo":
        for criterion, metric in TASKS.items():
            for code in ("en", "es", "zh", "hi"):
                own = results[f"xlinghealth_{criterion}_demo_{code}"]
                assert any(key.startswith(metric) for key in own), (criterion, code)
    assert main(["report", out, "--to", str(tmp_path / "report")]) == 0
    assert (tmp_path / "report" / "report.md").exists()
