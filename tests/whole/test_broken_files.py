"""Damaged results and samples: one line that names the file, from every command that reads them."""

from __future__ import annotations

import json
import shutil
import warnings

import pytest
from builders import evaluated, readers
from damage import RESULTS, SAMPLES, UNREAD, results_of, samples_of

from xling_tasks.cli import main
from xling_tasks.errors import DataError

TASKS = [f"xlinghealth_correctness_demo_{code}" for code in ("en", "es")]


@pytest.fixture(scope="module")
def whole(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    judge = {"model": "xling_baseline"}
    evaluated(run, out / "m", TASKS, limit=4, metadata={"judge": judge})
    for path in (out / "m").rglob("samples_*.jsonl"):
        path.write_text(path.read_text().replace('"label": "no_response"', '"label": "neither"'))
    return out / "m"


@pytest.fixture(scope="module")
def ready(whole, tmp_path_factory):
    """The same as if it were of published data, which alone can be submitted."""
    out = tmp_path_factory.mktemp("ready") / "m"
    shutil.copytree(whole, out)
    for path in out.rglob("*_demo_*"):
        path.rename(path.with_name(path.name.replace("_demo_", "_liveqa_")))
    path = results_of(out)
    content = json.loads(path.read_text().replace("_demo_", "_liveqa_"))
    for config in content["configs"].values():
        own = config["metadata"]["xling"]
        own["data"] |= {"dataset": "LiveQA", "kind": "data_dir", "name": "LiveQA.xlsx"}
        own["about"]["dataset"] = "liveqa"
    content["config"]["limit"] = None
    for count in content["n-samples"].values():
        count["original"] = count["effective"]
    path.write_text(json.dumps(content))
    return out


COMMANDS = ["report", "compare", "compare back", "annotate", "submit hf", "submit mmedbench"]


def told(words, capsys):
    """The command's status and what it says; an exception that is not ours fails the test."""
    try:
        status = main(words + (["--no-pictures", "--no-published"] if words[0] == "report" else []))
    except SystemExit as error:
        status = error.code
    return status, capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_read_the_whole_run(command, whole, ready, tmp_path, capsys):
    out = ready if command == "submit hf" else whole
    status, said = told(readers(out, tmp_path, whole)[command], capsys)
    if command != "submit mmedbench":
        assert status == 0, said


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["results", "samples"])
def test_every_damage_is_one_line(command, kind, whole, ready, tmp_path, capsys):
    wrong = []
    whole = ready if command == "submit hf" else whole
    for number, (name, spoil) in enumerate((RESULTS if kind == "results" else SAMPLES).items()):
        out = tmp_path / f"out-{number}"
        shutil.copytree(whole, out)
        spoil(out)
        words = readers(out, tmp_path / str(number), whole)[command]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                status, said = told(words, capsys)
            except Exception as error:
                wrong.append((name, f"{type(error).__name__}: {error}"[:100]))
                continue
        if status in (0, None):
            # What is broken where a command looks at it must not pass in silence.
            silent = status == 0 and (command, kind) in MUST_SAY and name not in UNREAD
            wrong += [(name, "nothing was said")] if silent else []
            continue
        named = (results_of(out).name, samples_of(out).name, str(out))
        if "\n" in said.strip() or "Traceback" in said:
            wrong.append((name, said[-300:]))
        if "submit" not in command and not any(part in said for part in named):
            wrong.append((name, "names no file: " + said))
    assert wrong == []


@pytest.mark.parametrize("command", [*COMMANDS, "rank"])
def test_samples_without_their_results_are_an_error(command, whole, tmp_path, capsys):
    """How they were made, and how many they were, is not known."""
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    results_of(out).unlink()
    status, said = told(readers(out, tmp_path, whole)[command], capsys)
    assert status == 2 and f"{results_of(whole).name} is not beside it" in said


MUST_SAY = {("report", "results"), ("report", "samples"), ("compare", "results"),
            ("annotate", "results"), ("annotate", "samples")}  # fmt: skip


def test_every_damage_is_ours_in_a_replay(run, whole, tmp_path):
    wrong = []
    for kind, damages in (("results", RESULTS), ("samples", SAMPLES)):
        for number, (name, spoil) in enumerate(damages.items()):
            out = tmp_path / f"{kind}-{number}"
            shutil.copytree(whole, out)
            spoil(out)
            try:
                run(TASKS[:1], model="xling_replay", model_args=f"path={out}", limit=4)
            except DataError as error:
                if "\n" in str(error) or str(out) not in str(error):
                    wrong.append((kind, name, str(error)))
            except Exception as error:
                wrong.append((kind, name, f"{type(error).__name__}: {error}"[:100]))
    assert wrong == []
