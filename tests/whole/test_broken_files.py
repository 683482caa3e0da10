"""Files of a run: what damage is said to be, in one line that names the file, and where names may lead."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from builders import changed, evaluated, readers
from damage import RESULTS, SAMPLES, results_of, samples_of

from xling_tasks.cli import main
from xling_tasks.errors import DataError

TASKS = [f"xlinghealth_correctness_demo_{code}" for code in ("en", "es")]
COMMANDS = ["report", "compare", "annotate"]


@pytest.fixture(scope="module")
def whole(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "m"
    evaluated(run, out, TASKS, limit=4, metadata={"judge": {"model": "xling_baseline"}})
    for path in out.rglob("samples_*.jsonl"):
        path.write_text(path.read_text().replace('"label": "no_response"', '"label": "neither"'))
    return out


def call(words, capsys):
    """Return a command's status and its message; an exception that is not ours fails the test."""
    try:
        status = main(words)
    except SystemExit as error:
        status = error.code
    return status, capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_damage_is_one_line(command, whole, tmp_path, capsys):
    assert call(readers(whole, tmp_path / "sound", whole)[command], capsys)[0] == 0
    for number, (name, spoil) in enumerate({**RESULTS, **SAMPLES}.items()):
        out = tmp_path / f"out-{number}"
        shutil.copytree(whole, out)
        spoil(out)
        status, message = call(readers(out, tmp_path / str(number), whole)[command], capsys)
        assert status == 2 and message.count("\n") == 1, (name, message)
        named = (results_of(out).name, samples_of(out).name, str(out))
        assert any(part in message for part in named), (name, message)


@pytest.mark.parametrize("command", [*COMMANDS, "rank"])
def test_samples_without_their_results_are_an_error(command, whole, tmp_path, capsys):
    """A run that was killed before its end: in what it asked, and how much, is not known."""
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    results_of(out).unlink()
    status, message = call(readers(out, tmp_path, whole)[command], capsys)
    assert status == 2 and f"{results_of(whole).name} is not beside it" in message


def test_every_damage_is_ours_in_a_replay(run, whole, tmp_path):
    for number, spoil in enumerate([*RESULTS.values(), *SAMPLES.values()]):
        out = tmp_path / str(number)
        shutil.copytree(whole, out)
        spoil(out)
        with pytest.raises(DataError, match=str(out)):
            run(TASKS[:1], model="xling_replay", model_args=f"path={out}", limit=4)


@pytest.mark.parametrize("name", ["a b/c", "x/../../../PWNED", "डेटा"])
@pytest.mark.parametrize("command", ["report", "samples"])
def test_a_dataset_of_any_name_stays_in_the_folder(command, name, whole, tmp_path):
    def rename(content):
        for config in content["configs"].values():
            config["metadata"]["xling"]["about"]["dataset"] = name

    out = changed(Path(shutil.copytree(whole, tmp_path / "in" / "out")), rename)
    to = tmp_path / "a" / "b" / "to"
    to.parent.mkdir(parents=True)
    before = {*tmp_path.rglob("*")}
    assert main(readers(out, to, name=name)[command]) == 0
    assert all(to in (path, *path.parents) for path in {*tmp_path.rglob("*")} - before)
