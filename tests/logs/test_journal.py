"""Journals: nothing is lost, nothing is asked twice, and what is damaged is seen."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from xling_tasks.errors import XlingError
from xling_tasks.lm import journaled
from xling_tasks.lm.baseline import BaselineLM
from xling_tasks.logs.journal import Journal, Kept, read_journal
from xling_tasks.logs.lock import Lock, Locked, held

QUICK = {"k": 3, "topic_seeds": 0, "encoder": False, "source_encoder": False}
V = "xlinghealth_verifiability_demo_es"
LL = "xlinghealth_verifiability_ll_demo_es"
T = "xlinghealth_consistency_demo_en"


class Killed(BaseException):
    """Stands for a kill: no handler for exceptions sees it."""


class Mortal(BaselineLM):
    """The baseline, which dies after some answers, and counts what it is asked."""

    lives = 10**9
    asked: list = []

    def generate_until(self, requests, disable_tqdm=False):
        Mortal.asked += [(r.task_name, r.args[0], json.dumps(r.args[1])) for r in requests]
        with dying(self):
            return super().generate_until(requests, disable_tqdm)

    def loglikelihood(self, requests, disable_tqdm=False):
        Mortal.asked += [(r.task_name, *r.args) for r in requests]
        with dying(self):
            return super().loglikelihood(requests, disable_tqdm)


@contextlib.contextmanager
def dying(model):
    hook = model.cache_hook

    class Hook:
        def add_partial(self, *told):
            if Mortal.lives <= 0:
                raise Killed
            Mortal.lives -= 1
            hook.add_partial(*told)

    model.cache_hook = Hook()
    try:
        yield
    finally:
        model.cache_hook = hook


@pytest.fixture
def mortal(run):
    from lm_eval.api import registry

    if "mortal" not in registry.model_registry:
        registry.model_registry.register("mortal", target=Mortal)

    def run_(tasks, lives=10**9, metadata=QUICK, **options):
        """A start of the command; None if it was killed, which lets go of its locks."""
        Mortal.lives, Mortal.asked = lives, []
        try:
            return run(tasks, model="mortal", limit=4, metadata=dict(metadata), **options)
        except Killed:
            journaled.end()
            return None

    yield run_
    journaled.end()


def plain(results) -> str:
    return json.dumps([results["results"], results["samples"]], sort_keys=True, default=str)


def journals(cache: Path) -> list[Path]:
    return sorted((cache / "journals").glob("*.journal"))


@pytest.mark.parametrize("tasks", [[V], [LL], [T], [V, LL, T]])
@pytest.mark.parametrize("lives", [0, 1, 15])
def test_a_killed_run_goes_on_where_it_was(mortal, own_cache, tasks, lives):
    whole = mortal(tasks)
    wanted = len(Mortal.asked)
    journaled.end()
    assert mortal(tasks, lives) is None
    assert sum(len(read_journal(path).answers) for path in journals(own_cache)) == lives
    again = mortal(tasks)
    assert len(Mortal.asked) == wanted - lives
    assert plain(again) == plain(whole)


def test_it_says_what_is_there(mortal, caplog):
    mortal(V, 5)
    with caplog.at_level(logging.INFO):
        mortal(V)
    assert "resuming: 5 of 40 answers are there" in caplog.text


def test_a_finished_run_leaves_saved_answers_and_no_journal(mortal, own_cache):
    mortal([V, LL])
    journaled.end()
    assert not journals(own_cache)
    assert not list((own_cache / "journals").iterdir())
    assert len(list((own_cache / "answers").iterdir())) == 2
    mortal(V)
    assert len(Mortal.asked) == 40


def test_killed_while_scoring_asks_nothing_again_and_saves_once(mortal, own_cache, monkeypatch):
    from xling_tasks.tasks.verifiability import VerifiabilityTask

    def killed(self):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(VerifiabilityTask, "score", killed)
        assert mortal(V) is None
    assert len(list((own_cache / "answers").iterdir())) == 1
    mortal(V)
    assert Mortal.asked == []
    assert len(list((own_cache / "answers").iterdir())) == 1


@pytest.mark.parametrize("change", [
    {"limit": 3}, {"model_args": {"seed": 5}}, {"torch_random_seed": 7},
    {"metadata": QUICK | {"temperatures": [0.0]}}, {"metadata": QUICK | {"prompt_language": "en"}},
])  # fmt: skip
def test_another_command_takes_nothing(mortal, run, change):
    mortal(V, 9)
    Mortal.lives, Mortal.asked = 10**9, []
    results = run(V, **{"model": "mortal", "limit": 4, "metadata": QUICK} | change)
    assert len(Mortal.asked) == sum(len(s["resps"]) for s in results["samples"][V])


def test_how_fast_it_runs_is_no_other_command(mortal):
    mortal(V, 9)
    mortal(V, model_args={"batch_size": 4})
    assert len(Mortal.asked) == 31


def test_afresh_on_demand(mortal, own_cache):
    mortal(V, 9)
    mortal(V, metadata=QUICK | {"xling_resume": False})
    assert len(Mortal.asked) == 40
    journaled.end()
    assert len(list((own_cache / "journals").glob("*.aside"))) == 1


def test_another_folder_on_demand(mortal, own_cache, tmp_path):
    mortal(V, 9, metadata=QUICK | {"xling_resume": str(tmp_path)})
    assert journals(tmp_path) and not journals(own_cache)
    mortal(V)
    assert len(Mortal.asked) == 40
    mortal(V, metadata=QUICK | {"xling_resume": str(tmp_path)})
    assert len(Mortal.asked) == 31


def test_other_tasks_and_other_models_are_not_touched(mortal):
    """The object has its own methods back after the run, and after one that broke off."""
    model = BaselineLM()
    hook = model.cache_hook
    from xling_tasks.harness.watch import Watch

    watch = Watch(model, {"generate_until": print}, lambda *_: None)
    assert model.generate_until is print
    watch.undo()
    assert model.generate_until.__func__ is BaselineLM.generate_until
    assert model.cache_hook is hook
    model.generate_until = own = lambda requests: []
    watch = Watch(model, {"generate_until": print}, lambda *_: None)
    watch.undo()
    assert model.generate_until is own


def test_a_torn_end_is_cut_off_and_damage_is_asked_again(mortal, own_cache, caplog):
    whole = plain(mortal(V))
    journaled.end()
    mortal(V, 9)
    (path,) = journals(own_cache)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[4] = lines[4].replace(b'"a":"', b'"a":"N', 1)  # not what was written any more
    path.write_bytes(b"".join(lines) + lines[5][:30])
    with caplog.at_level(logging.WARNING):
        again = mortal(V)
    assert len(Mortal.asked) == 40 - 8
    assert "1 damaged records" in caplog.text
    assert plain(again) == whole


def test_every_cut_and_every_flipped_byte_is_survived(tmp_path):
    path = tmp_path / "x.journal"
    journal = Journal(path, {"task": "x"})
    for number in range(6):
        journal.put((f"key{number}", 0), Kept(f"answer {number} \n ü \ud800"))
    journal.close()
    content = path.read_bytes()
    right = read_journal(path).answers
    assert len(right) == 6
    for cut in range(len(content)):
        path.write_bytes(content[:cut])
        rest = read_journal(path)
        assert rest.answers.items() <= right.items()
        assert rest.damaged == 0
    draw = random.Random(1)
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        rest = read_journal(path)
        assert rest.answers.items() <= right.items(), place
        assert len(rest.answers) >= 4


def test_what_is_written_comes_back_exactly(tmp_path):
    scores = [(-0.1, True), (float("-inf"), False), (-1e-300, True), (-12345.678901234567, False)]
    path = tmp_path / "x.journal"
    journal = Journal(path, {})
    for number, score in enumerate(scores):
        journal.put(("k", number), Kept(score))
    journal.close()
    assert [kept.answer for kept in read_journal(path).answers.values()] == scores


def test_two_runs_are_kept_apart(mortal, own_cache, run):
    mortal(V, 5)
    (path,) = journals(own_cache)
    code = (
        "import sys, time; from pathlib import Path; from xling_tasks.logs.lock import Lock;"
        "lock = Lock(Path(sys.argv[1])); print('held', flush=True); time.sleep(3600)"
    )
    lock = path.with_suffix(".lock")
    other = subprocess.Popen([sys.executable, "-c", code, str(lock)], stdout=subprocess.PIPE)
    try:
        assert other.stdout.readline() == b"held\n"
        assert f"process {other.pid} on " in held(lock)
        with pytest.raises(XlingError, match=f"process {other.pid} on .* xling_resume=false"):
            mortal(V)
        assert mortal(V, metadata=QUICK | {"xling_resume": False}) is not None
        assert len(Mortal.asked) == 40
        journaled.end()
    finally:
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    assert lock.exists() and held(lock) is None  # a dead process's lock is nobody's
    mortal(V)
    assert len(Mortal.asked) == 35


def test_a_lock_in_one_process(tmp_path):
    lock = Lock(tmp_path / "a.lock")
    with pytest.raises(Locked, match=f"process {os.getpid()}"):
        Lock(tmp_path / "a.lock")
    lock.release()
    Lock(tmp_path / "a.lock").release()
    assert not list(tmp_path.iterdir())


def test_a_full_disk_does_not_end_the_run(mortal, own_cache, monkeypatch, caplog):
    write, left = os.write, [6]

    def full(file, data):
        if data[8:9] == b" " and b'"k":' in data:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(28, "No space left on device")
        return write(file, data)

    monkeypatch.setattr("xling_tasks.logs.journal.os.write", full)
    assert mortal(V) is not None
    assert caplog.text.count("No space left on device") == 1


def test_a_read_only_folder_does_not_end_the_run(mortal, own_cache, caplog):
    (own_cache / "journals").write_text("a file where the folder should be")
    assert mortal(V) is not None
    assert "cannot be written" in caplog.text


def test_without_a_cache_nothing_is_written(mortal, own_cache):
    mortal(V, 9, metadata=QUICK | {"xling_cache": False})
    assert not list(own_cache.iterdir())


def test_a_journal_of_a_newer_version_is_set_aside(mortal, own_cache, caplog):
    mortal(V, 9)
    (path,) = journals(own_cache)
    path.unlink()
    journal = Journal(path, {})
    journal._write({"xling_journal": 99})
    journal.close()
    mortal(V)
    assert len(Mortal.asked) == 40
    assert "format 99" in caplog.text
