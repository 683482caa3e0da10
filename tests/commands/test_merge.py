"""Parts of a run: cut by `xling parts cut`, joined by replay and `xling parts merge`, seen by the report."""

from __future__ import annotations

import json
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
from xling_tasks.lm import journaled
from xling_tasks.logs.results import read_results
from xling_tasks.replies.journal import Journal, Kept

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


def merge(*folders):
    *parts, to = map(str, folders)
    return main(["parts", "merge", *parts, "--to", to])


def same_numbers(first, second):
    assert first.keys() == second.keys()
    for task in first:
        for key, value in first[task].items():
            if isinstance(value, float):
                assert second[task][key] == pytest.approx(value, abs=1e-9), (task, key)
            elif key != "sample_len":
                assert second[task][key] == value, (task, key)


def test_parts_are_scored_as_one_run(logged, run, tmp_path, capsys):
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
    assert merge(*folders, tmp_path / "out") == 0
    assert f"{T}: 7 questions of 3 parts" in capsys.readouterr().out
    (merged,) = read_results(tmp_path / "out")
    same_numbers(whole["results"], merged.content["results"])
    assert merged.model == read_results(tmp_path / "whole")[0].model


def test_parts_in_one_folder(logged, tmp_path, capsys):
    """The harness puts both halves beside each other; the report says so and offers the merge."""
    out = tmp_path / "out"
    whole = logged(tmp_path / "whole", V, limit=6)
    logged(out, V, range(3))
    time.sleep(0.01)
    logged(out, V, range(3, 6))
    words = ["--to", str(tmp_path / "r"), "--no-pictures", "--n-resamples", "1000"]
    assert main(["report", str(out), *words]) == 0
    said = capsys.readouterr().out
    assert "xling parts merge" in said and str(next(out.rglob("results_*.json")).name) in said
    assert merge(out, tmp_path / "both") == 0
    same_numbers(whole["results"], read_results(tmp_path / "both")[0].content["results"])


def test_what_does_not_belong_together_is_refused(logged, run, tmp_path, capsys):
    a, b, c, d, newer, to, full, nothing = (tmp_path / name for name in "abcdefgh")

    def replay(*folders):
        path = "+".join(map(str, folders))
        run(V, model="xling_replay", model_args=f"path={path}", metadata=dict(QUICK), limit=3)

    logged(a, V, [0, 1])
    logged(b, V, [1, 2])
    logged(c, V, [3], model_args={"seed": 9})
    logged(d, V, [3], QUICK | {"temperatures": [0.5]})
    shutil.copytree(a, newer)
    changed(
        newer, lambda content: content["configs"][V]["metadata"]["xling"]["about"].update(format=99)
    )
    full.mkdir()
    (full / "x").touch()
    with pytest.raises(DataError, match="row 1 and .*row 2 are the same question"):
        replay(a, b)
    with pytest.raises(DataError, match="different models"):
        replay(a, c)
    for folders, said in (
        ((a, b, to), "question 1 is in"),
        ((a, d, to), "temperatures"),
        ((newer, to), "in format 99"),
        ((a, full), "not empty"),
        ((nothing, to), "no such folder"),
    ):
        assert merge(*folders) == 2
        assert said in capsys.readouterr().err
    for path in a.rglob("samples_*"):
        path.unlink()
    assert merge(a, to) == 2
    assert "--log_samples" in capsys.readouterr().err


def test_a_part_that_is_missing_is_told(logged, tmp_path, capsys):
    for name, numbers in {"a": [0, 5], "b": range(6, 24), "c": range(1, 5)}.items():
        logged(tmp_path / name, V, numbers, {})
    a, b, c = (tmp_path / name for name in "abc")
    assert merge(a, b, tmp_path / "gap") == 0
    assert f"{V}: 20 questions of 2 parts. 4 of the task's 24" in capsys.readouterr().out
    assert merge(a, b, c, tmp_path / "whole") == 0
    assert f"{V}: 24 questions of 3 parts\n" in capsys.readouterr().out


def test_every_question_is_in_one_part():
    counts = {"a": 7, "b": 16, "c": 100}
    for parts in (1, 2, 3, 7):
        shards = cut(counts, parts)
        for task, count in counts.items():
            numbers = [shard[task] for shard in shards]
            assert sorted(number for own in numbers for number in own) == [*range(count)]
            sizes = [*map(len, numbers)]
            assert max(sizes) - min(sizes) <= 1 and min(sizes) > 0
    with pytest.raises(SettingError, match="a has 7 questions"):
        cut(counts, 8)


def test_shard_writes_what_the_harness_takes(tmp_path, capsys):
    to = tmp_path / "parts"
    words = f"parts cut --tasks {V},{T} --parts 3 --limit 7 --to {to}".split()
    assert main([*words, "--metadata", "k=3", "topic_seeds=2"]) == 0
    assert "3 parts of 14 questions in 2 tasks" in capsys.readouterr().out
    files = sorted(to.glob("part-*.json"))
    assert [json.loads(file.read_text())[V] for file in files] == [[0, 3, 6], [1, 4], [2, 5]]
    assert main(words) == 2
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
    notes = '#!/bin/sh\nfor a in "$@"; do echo "$a"; done\necho "$XLING_CACHE"\n'
    for name in ("lm_eval", "xling"):
        (tools / name).write_text(notes)
        (tools / name).chmod(0o755)
    env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "SLURM_ARRAY_TASK_ID": "7"}
    env.pop("XLING_CACHE", None)

    def given(script):
        words = [shutil.which("bash"), str(to / script)]
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    array = given("array.sh")
    after = {word: array[array.index(word) + 1] for word in ("--samples", "--metadata", "--tasks")}
    samples = f"{to}/part-07.json"
    wanted = {"--samples": samples, "--metadata": '{"judge": {"model": "hf"}}', "--tasks": V}
    assert after == wanted and os.path.exists(samples) and array[-1] == f"{to}/cache"
    (to / "out" / "part-00").mkdir(parents=True)
    words = ["parts", "merge", f"{to}/out/part-00", "--to", f"{to}/whole"]
    assert given("merge.sh")[:5] == words


def test_the_cache_and_what_is_removed(run, own_cache, capsys):
    run(V, limit=2, metadata=dict(QUICK))
    journaled.end()
    made = {"task": "t", "requests": 9, "model": "hf"}
    journal = Journal(own_cache / "replies.sqlite", "1-2-3-rank0of1", made)
    journal.put(("k", 0), Kept("x"))
    assert main(["cache", "--json"]) == 0
    kept = {(row["kind"], row["of"]) for row in json.loads(capsys.readouterr().out)["kept"]}
    assert kept >= {("running", "t: 1 of 9 answers of hf"), ("answers", V)}
    assert main(["cache", "--prune", "--days", "0"]) == 0
    assert len(journals_in(own_cache)) == 1 and not saved_in(own_cache)
    journal.store.close()
    assert main(["cache"]) == 0
    assert "unfinished" in capsys.readouterr().out
    assert main(["cache", "--prune", "--max-mb", "0"]) == 0
    assert not journals_in(own_cache)
    assert main(["cache", "--folder", str(own_cache / "none")]) == 2
