"""Parts of a run, joined by replay and named by the report."""

from __future__ import annotations

import time

import pytest
from builders import evaluated

from xling_tasks.cli import main
from xling_tasks.errors import DataError

T = "xlinghealth_consistency_demo_es"
V = "xlinghealth_verifiability_demo_en"
R = "mmedbench_rationale_demo_en"
QUICK = {"k": 3, "topic_seeds": 2, "encoder": False, "source_encoder": False}


@pytest.fixture
def logged(run):
    def logged_(out, tasks, numbers=None, metadata=QUICK, **options):
        if numbers is not None:
            names = [tasks] if isinstance(tasks, str) else tasks
            options["samples"] = {task: [*numbers] for task in names}
        return evaluated(run, out, tasks, metadata=dict(metadata), **options)

    return logged_


def same_numbers(first, second):
    assert first.keys() == second.keys()
    for task in first:
        for key, value in first[task].items():
            if isinstance(value, float):
                assert second[task][key] == pytest.approx(value, abs=1e-9), (task, key)
            elif key != "sample_len":
                assert second[task][key] == value, (task, key)


def test_parts_are_scored_as_one_run(logged, run, tmp_path):
    """Topic models, corpus BLEU and macro F1 included: not means of the parts' values."""
    cuts = {"a": [0, 5], "b": [1, 2, 3, 6], "c": [4]}
    whole = logged(tmp_path / "whole", [T, V, R], range(7))
    for name, numbers in cuts.items():
        logged(tmp_path / name, [T, V, R], numbers)
    folders = [str(tmp_path / name) for name in cuts]
    joined = run(
        [T, V, R], model="xling_replay", model_args="path=" + "+".join(folders),
        metadata=dict(QUICK), samples={key: [*range(7)] for key in [T, V, R]},
    )  # fmt: skip
    same_numbers(whole["results"], joined["results"])


def test_parts_in_one_folder(logged, run, tmp_path, capsys):
    """The harness puts both halves beside each other; the report says so and offers to join them."""
    out = tmp_path / "out"
    whole = logged(tmp_path / "whole", V, limit=6)
    logged(out, V, range(3))
    time.sleep(0.01)
    logged(out, V, range(3, 6))
    words = ["--to", str(tmp_path / "r")]
    assert main(["report", str(out), *words]) == 0
    said = capsys.readouterr().out
    assert "xling_replay" in said and str(next(out.rglob("results_*.json")).name) in said
    joined = run(V, model="xling_replay", model_args=f"path={out},run=all",
                 metadata=dict(QUICK), limit=6)  # fmt: skip
    same_numbers(whole["results"], joined["results"])


def test_what_does_not_belong_together_is_refused(logged, run, tmp_path):
    a, b, c = (tmp_path / name for name in "abc")

    def replay(*folders):
        path = "+".join(map(str, folders))
        run(V, model="xling_replay", model_args=f"path={path}", metadata=dict(QUICK), limit=3)

    logged(a, V, [0, 1])
    logged(b, V, [1, 2])
    logged(c, V, [3], model_args={"seed": 9})
    with pytest.raises(DataError, match="row 1 and .*row 2 are the same question"):
        replay(a, b)
    with pytest.raises(DataError, match="different models"):
        replay(a, c)
