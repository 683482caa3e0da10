"""Files of a run that was killed or damaged: one line that names the file, from every command."""

from __future__ import annotations

import shutil

import pytest
from builders import evaluated, readers
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
