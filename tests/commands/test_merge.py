"""Parts of a run: cut by `xling parts cut`, joined by replay and `xling parts merge`, seen by the report."""

from __future__ import annotations

import functools
import json
import operator
import os
import shutil
import subprocess
import time

import pytest
from builders import changed, evaluated
from stored import journals_in, saved_in

from xling_tasks.cli import main
from xling_tasks.commands.parts import cut
from xling_tasks.errors import DataError, SettingError
from xling_tasks.logs.results import read_results

T = "xlinghealth_consistency_demo_es"
V = "xlinghealth_verifiability_demo_en"
R = "mmedbench_rationale_demo_en"
QUICK = {"k": 3, "topic_seeds": 2, "encoder": False, "source_encoder": False}


@pytest.fixture
def logged(run):
    def logged_(out, tasks, metadata=QUICK, **options):
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


@pytest.fixture
def parts(logged, tmp_path):
    """A whole run of seven questions, and the same in parts of 2, 4 and 1."""
    cuts = {"a": [0, 5], "b": [1, 2, 3, 6], "c": [4]}
    whole = logged(tmp_path / "whole", [T, V, R], samples={key: [*range(7)] for key in [T, V, R]})
    for name, numbers in cuts.items():
        logged(tmp_path / name, [T, V, R], samples=dict.fromkeys([T, V, R], numbers))
    return whole, [tmp_path / name for name in cuts]


def test_parts_are_scored_as_one_run(parts, run, tmp_path, capsys):
    """Topic models, corpus BLEU and macro F1 included: not means of the parts' values."""
    whole, folders = parts
    joined = run(
        [T, V, R], model="xling_replay", model_args="path=" + "+".join(map(str, folders)),
        metadata=dict(QUICK), samples={key: [*range(7)] for key in [T, V, R]},
    )  # fmt: skip
    same_numbers(whole["results"], joined["results"])
    assert main(["parts", "merge", *map(str, folders), "--to", str(tmp_path / "out")]) == 0
    assert f"{T}: 7 questions of 3 parts" in capsys.readouterr().out
    (merged,) = read_results(tmp_path / "out")
    same_numbers(whole["results"], merged.content["results"])
    assert merged.model == read_results(tmp_path / "whole")[0].model


def test_parts_in_one_folder(logged, tmp_path, capsys):
    """The harness puts both halves beside each other; the report says so and offers the merge."""
    out = tmp_path / "out"
    whole = logged(tmp_path / "whole", V, limit=6)
    logged(out, V, samples={V: [0, 1, 2]})
    time.sleep(0.01)
    logged(out, V, samples={V: [3, 4, 5]})
    assert (
        main(
            [
                "report",
                str(out),
                "--to",
                str(tmp_path / "r"),
                "--no-pictures",
                "--n-resamples",
                "1000",
            ]
        )
        == 0
    )
    said = capsys.readouterr().out
    assert "xling parts merge" in said and str(next(out.rglob("results_*.json")).name) in said
    assert main(["parts", "merge", str(out), "--to", str(tmp_path / "both")]) == 0
    same_numbers(whole["results"], read_results(tmp_path / "both")[0].content["results"])


def test_what_does_not_belong_together_is_refused(logged, run, tmp_path, capsys):
    a, b, c = (tmp_path / name for name in "abc")
    logged(a, V, samples={V: [0, 1]})
    logged(b, V, samples={V: [1, 2]})
    with pytest.raises(DataError, match="row 1 and .*row 2 are the same question"):
        run(V, model="xling_replay", model_args=f"path={a}+{b}", metadata=dict(QUICK), limit=3)
    assert main(["parts", "merge", str(a), str(b), "--to", str(tmp_path / "o")]) == 2
    assert "question 1 is in" in capsys.readouterr().err
    logged(c, V, samples={V: [3]}, model_args={"seed": 9})
    with pytest.raises(DataError, match="different models"):
        run(V, model="xling_replay", model_args=f"path={a}+{c}", metadata=dict(QUICK), limit=3)
    logged(tmp_path / "d", V, samples={V: [3]}, metadata=QUICK | {"temperatures": [0.5]})
    assert main(["parts", "merge", str(a), str(tmp_path / "d"), "--to", str(tmp_path / "o")]) == 2
    assert "temperatures" in capsys.readouterr().err
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    assert main(["parts", "merge", str(a), "--to", str(tmp_path / "full")]) == 2
    assert main(["parts", "merge", str(tmp_path / "nothing"), "--to", str(tmp_path / "o")]) == 2
    for path in a.rglob("samples_*"):
        path.unlink()
    assert main(["parts", "merge", str(a), "--to", str(tmp_path / "o")]) == 2
    assert "--log_samples" in capsys.readouterr().err


def test_every_question_is_in_one_part():
    counts = {"a": 7, "b": 16, "c": 100}
    for parts in (1, 2, 3, 7):
        shards = cut(counts, parts)
        for task, count in counts.items():
            numbers = [shard[task] for shard in shards]
            assert sorted(functools.reduce(operator.iadd, numbers, [])) == [*range(count)]
            assert max(map(len, numbers)) - min(map(len, numbers)) <= 1
            assert min(map(len, numbers)) > 0
    with pytest.raises(SettingError, match="a has 7 questions"):
        cut(counts, 8)


def test_shard_writes_what_the_harness_takes(tmp_path, capsys):
    to = tmp_path / "parts"
    words = ["--tasks", f"{V},{T}", "--parts", "3", "--limit", "7", "--to", str(to)]
    assert main(["parts", "cut", *words, "--metadata", "k=3", "topic_seeds=2"]) == 0
    assert "3 parts of 14 questions in 2 tasks" in capsys.readouterr().out
    files = sorted(to.glob("part-*.json"))
    assert [json.loads(file.read_text())[V] for file in files] == [[0, 3, 6], [1, 4], [2, 5]]
    assert main(["parts", "cut", *words]) == 2
    assert "not empty" in capsys.readouterr().err


def test_the_slurm_scripts_are_shell_that_runs(tmp_path, capsys):
    """With commands of the same names that note what they are given."""
    to = tmp_path / "a b" / "parts"
    assert main([
        "parts", "cut", "--tasks", V, "--parts", "12", "--to", str(to),
        "--slurm=--model hf --model_args pretrained=x,dtype=auto --apply_chat_template",
        "--metadata", '{"judge": {"model": "hf"}}',
    ]) == 0  # fmt: skip
    assert "sbatch --dependency=afterok:$job" in capsys.readouterr().out
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("lm_eval", "xling"):
        (tools / name).write_text(
            '#!/bin/sh\nfor a in "$@"; do echo "$a"; done\necho "$XLING_CACHE"\n'
        )
        (tools / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "SLURM_ARRAY_TASK_ID": "7"}
    env.pop("XLING_CACHE", None)
    bash = shutil.which("bash")
    done = subprocess.run(
        [bash, str(to / "array.sh")], env=env, capture_output=True, text=True, check=True
    )
    given = done.stdout.splitlines()
    assert given[given.index("--samples") + 1] == f"{to}/part-07.json"
    assert os.path.exists(given[given.index("--samples") + 1])
    assert given[given.index("--metadata") + 1] == '{"judge": {"model": "hf"}}'
    assert given[given.index("--tasks") + 1] == V and given[-1] == f"{to}/cache"
    (to / "out" / "part-00").mkdir(parents=True)
    done = subprocess.run(
        [bash, str(to / "merge.sh")], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[:5] == [
        "parts",
        "merge",
        f"{to}/out/part-00",
        "--to",
        f"{to}/whole",
    ]


def test_the_cache_and_what_is_removed(run, own_cache, capsys):
    from xling_tasks.lm import journaled
    from xling_tasks.replies.journal import Journal, Kept

    run(V, limit=2, metadata=dict(QUICK))
    journaled.end()
    journal = Journal(
        own_cache / "replies.sqlite",
        "1-2-3-rank0of1",
        {"task": "t", "requests": 9, "model": "hf"},
    )
    journal.put(("k", 0), Kept("x"))
    assert main(["cache", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["kept"]
    assert {(row["kind"], row["of"]) for row in rows} >= {
        ("running", "t: 1 of 9 answers of hf"),
        ("answers", V),
    }
    assert main(["cache", "--prune", "--days", "0"]) == 0
    assert len(journals_in(own_cache)) == 1 and not saved_in(own_cache)
    journal.store.close()
    assert main(["cache"]) == 0
    assert "unfinished" in capsys.readouterr().out
    assert main(["cache", "--prune", "--max-mb", "0"]) == 0
    assert not journals_in(own_cache)
    assert main(["cache", "--days", "-1"]) == 2
    assert main(["cache", "--folder", str(own_cache / "none")]) == 2


def test_a_part_that_is_missing_is_told(logged, tmp_path, capsys):
    for name, numbers in {"a": [0, 5], "b": [*range(6, 24)]}.items():
        logged(tmp_path / name, V, metadata={}, samples={V: numbers})
    folders = [str(tmp_path / name) for name in "ab"]
    assert main(["parts", "merge", *folders, "--to", str(tmp_path / "gap")]) == 0
    assert f"{V}: 20 questions of 2 parts. 4 of the task's 24" in capsys.readouterr().out
    logged(tmp_path / "c", V, metadata={}, samples={V: [*range(1, 5)]})
    assert (
        main(["parts", "merge", *folders, str(tmp_path / "c"), "--to", str(tmp_path / "whole")])
        == 0
    )
    assert f"{V}: 24 questions of 3 parts\n" in capsys.readouterr().out


def test_parts_that_a_newer_version_wrote_are_refused(logged, tmp_path, capsys):
    logged(tmp_path / "a", V, metadata={}, limit=2)

    def newer(content):
        content["configs"][V]["metadata"]["xling"]["about"]["format"] = 99

    changed(tmp_path / "a", newer)
    assert main(["parts", "merge", str(tmp_path / "a"), "--to", str(tmp_path / "whole")]) == 2
    assert "in format 99" in capsys.readouterr().err
