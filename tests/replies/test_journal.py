"""Journals: nothing is lost, nothing is asked twice, and what is damaged is seen."""

from __future__ import annotations

import json
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import zlib
from contextlib import closing

import pytest
from lm_eval.api import registry
from stored import Killed, dying_after, names_in, saved_in

from xling_tasks.harness.watch import Watch
from xling_tasks.lm import journaled
from xling_tasks.lm.baseline import BaselineLM
from xling_tasks.replies.file import remove
from xling_tasks.replies.journal import Journal, Kept, read_journal
from xling_tasks.tasks.verifiability import VerifiabilityTask

QUICK = {"k": 3, "topic_seeds": 0, "encoder": False, "source_encoder": False}
V = "xlinghealth_verifiability_demo_es"
LL = "xlinghealth_verifiability_ll_demo_es"
T = "xlinghealth_consistency_demo_en"


class Mortal(BaselineLM):
    """The baseline, which counts what it is asked."""

    asked: list = []

    def generate_until(self, requests, disable_tqdm=False):
        Mortal.asked += requests
        return super().generate_until(requests, disable_tqdm)

    def loglikelihood(self, requests, disable_tqdm=False):
        Mortal.asked += requests
        return super().loglikelihood(requests, disable_tqdm)


@pytest.fixture
def mortal(run):
    if "mortal" not in registry.model_registry:
        registry.model_registry.register("mortal", target=Mortal)

    def run_(tasks, lives=10**9, metadata=QUICK, **options):
        """A start of the command; None if it was killed, which lets go of its locks."""
        Mortal.asked = []
        options = {"model": "mortal", "limit": 4, "metadata": dict(metadata), **options}
        try:
            with dying_after(lives):
                return run(tasks, **options)
        except Killed:
            journaled.end()
            return None

    yield run_
    journaled.end()


def plain(results) -> str:
    return json.dumps([results["results"], results["samples"]], sort_keys=True, default=str)


@pytest.mark.parametrize(
    ("tasks", "lives"),
    [([V], 15), ([LL], 15), ([T], 15), ([V, LL, T], 0), ([V, LL, T], 1), ([V, LL, T], 50)],
)
def test_a_killed_run_goes_on_where_it_was(mortal, own_cache, tasks, lives):
    whole = mortal(tasks)
    wanted = len(Mortal.asked)
    journaled.end()
    assert mortal(tasks, lives) is None
    kept = sum(len(read_journal(*each).answers) for each in names_in(own_cache))
    assert kept == lives
    again = mortal(tasks)
    assert len(Mortal.asked) == wanted - lives
    assert plain(again) == plain(whole)


def test_a_finished_run_leaves_saved_answers_and_no_journal(mortal, own_cache):
    mortal([V, LL])
    journaled.end()
    assert not names_in(own_cache) and len(saved_in(own_cache)) == 2
    assert [path.name for path in own_cache.iterdir()] == ["replies.sqlite"]
    mortal(V)
    assert len(Mortal.asked) == 40


def test_killed_while_scoring_asks_nothing_again_and_saves_once(mortal, own_cache, monkeypatch):
    def killed(self):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(VerifiabilityTask, "score", killed)
        assert mortal(V) is None
    assert len(saved_in(own_cache)) == 1
    mortal(V)
    assert Mortal.asked == []
    assert len(saved_in(own_cache)) == 1


@pytest.mark.parametrize("change", [
    {"limit": 3}, {"model_args": {"seed": 5}}, {"torch_random_seed": 7},
    {"metadata": QUICK | {"temperatures": [0.0]}}, {"metadata": QUICK | {"prompt_language": "en"}},
])  # fmt: skip
def test_another_command_takes_nothing(mortal, change):
    mortal(V, 9)
    results = mortal(V, **change)
    assert len(Mortal.asked) == sum(len(s["resps"]) for s in results["samples"][V])


def test_how_fast_it_runs_is_no_other_command_and_it_says_what_is_there(mortal, caplog):
    mortal(V, 9)
    with caplog.at_level(logging.INFO):
        mortal(V, model_args={"batch_size": 4})
    assert len(Mortal.asked) == 31
    assert "resuming: 9 of 40 answers are there" in caplog.text


def test_afresh_on_demand(mortal, own_cache):
    mortal(V, 9)
    mortal(V, metadata=QUICK | {"xling_resume": False})
    assert len(Mortal.asked) == 40
    journaled.end()
    assert [".aside-" in name for _, name in names_in(own_cache)] == [True]
    (aside,) = names_in(own_cache)
    assert len(read_journal(*aside).answers) == 9


def test_another_folder_on_demand(mortal, own_cache, tmp_path):
    mortal(V, 9, metadata=QUICK | {"xling_resume": str(tmp_path)})
    assert names_in(tmp_path) and not names_in(own_cache)
    mortal(V)
    assert len(Mortal.asked) == 40
    mortal(V, metadata=QUICK | {"xling_resume": str(tmp_path)})
    assert len(Mortal.asked) == 31


def test_other_tasks_and_other_models_are_not_touched():
    """The object has its own methods back after the run, and after one that broke off."""
    model = BaselineLM()
    hook = model.cache_hook
    of_class = Watch(model, {"generate_until": print}, lambda *_: None)
    assert model.generate_until is print
    of_class.undo()
    assert model.generate_until.__func__ is BaselineLM.generate_until
    assert model.cache_hook is hook
    model.generate_until = own = lambda requests: []
    Watch(model, {"generate_until": print}, lambda *_: None).undo()
    assert model.generate_until is own


def test_what_is_written_comes_back_exactly(tmp_path):
    scores = [(-0.1, True), (float("-inf"), False), (-1e-300, True), (-12345.678901234567, False)]
    path = tmp_path / "x.sqlite"
    made = Journal(path, "x", {"task": "x"})
    for number, score in enumerate([*scores, "a \ud800 \x00 \n ü", ""]):
        made.put(("k", number), Kept(score))
    made.put(("k", 9), Kept("", "refused", "content filter"))
    made.store.close()
    content = read_journal(path, "x")
    assert [kept.answer for kept in content.answers.values()][:4] == scores
    assert content.answers["k", 4].answer == "a \ud800 \x00 \n ü"
    assert content.answers["k", 9] == Kept("", "refused", "content filter")
    assert content.header == {"task": "x"} and content.starts == 1 and not content.running


OTHER = """
import os, sys, time
from xling_tasks.replies.journal import Journal, Kept
from pathlib import Path
path, name, do = Path(sys.argv[1]), sys.argv[5], sys.argv[2]
journal = Journal(path, name, {})
places = [tuple(place) for place in eval(sys.argv[3])]
known, mine = journal.claim(places)
print(len(known), len(mine), flush=True)
if do == "answer":
    for place in mine:
        time.sleep(0.02)
        journal.put(place, Kept(eval(sys.argv[4])[place]))
    journal.store.close(clear_if_last=True)
else:
    time.sleep(3600)
"""


@pytest.fixture
def killed(mortal, own_cache, monkeypatch):
    """Answers by place, the results, and where the journal of a start that was killed lies."""
    found = {}
    put = Journal.put

    def noted(self, place, kept, **options):
        found[place] = kept.answer
        put(self, place, kept, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "put", noted)
        whole = plain(mortal(V))
    journaled.end()
    mortal(V, 5)
    (where,) = names_in(own_cache)
    return found, whole, where


def other_run(where, do, answers):
    path, name = where
    given = [sys.executable, "-c", OTHER, str(path), do, repr(list(answers)), repr(answers), name]
    process = subprocess.Popen(given, stdout=subprocess.PIPE)
    return process, process.stdout.readline()


def test_a_second_run_takes_the_first_ones_answers_and_says_so(mortal, killed, own_cache, caplog):
    """The same command in another terminal: it waits, pays for nothing, and scores the same."""
    answers, whole, where = killed
    other, said = other_run(where, "answer", answers)
    assert said.split() == [b"5", b"35"]
    with caplog.at_level(logging.WARNING):
        again = mortal(V)
    assert Mortal.asked == [] and plain(again) == whole
    assert f"process {other.pid} on " in caplog.text and "waits" in caplog.text
    assert other.wait() == 0
    journaled.end()
    assert not names_in(own_cache)  # the last one that needs it takes it off the disk


def test_when_the_first_one_dies_the_second_asks_for_the_rest(mortal, killed, caplog):
    answers, whole, where = killed
    other, _ = other_run(where, "hang", answers)
    killer = threading.Timer(1.5, lambda: (os.kill(other.pid, signal.SIGKILL), other.wait()))
    killer.start()
    try:
        assert plain(mortal(V)) == whole
    finally:
        killer.join()
    assert len(Mortal.asked) == 35 and "waits" in caplog.text


def test_with_resume_false_a_second_run_asks_for_answers_of_its_own(mortal, killed, own_cache):
    answers, _, where = killed
    other, _ = other_run(where, "hang", answers)
    try:
        assert mortal(V, metadata=QUICK | {"xling_resume": False}) is not None
        assert len(Mortal.asked) == 40
        journaled.end()
        assert names_in(own_cache) == [where]
        assert f"process {other.pid} on " in read_journal(*where).running[0]
    finally:
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    assert read_journal(*where).running == []


def test_a_read_only_folder_does_not_end_the_run(mortal, own_cache, caplog):
    (own_cache / "replies.sqlite").mkdir()
    assert mortal(V) is not None
    assert "cannot be opened" in caplog.text


def test_without_a_cache_nothing_is_written(mortal, own_cache):
    mortal(V, 9, metadata=QUICK | {"xling_cache": False})
    assert not list(own_cache.iterdir())


def lines(*records):
    """Records as version 0.2 wrote them."""
    texts = [json.dumps(record).encode() for record in records]
    return b"".join(b"%08x %08x %s\n" % (len(text), zlib.crc32(text), text) for text in texts)


def test_a_journal_of_0_2_is_taken_over_once(mortal, killed, own_cache):
    answers, whole, (path, name) = killed
    old = own_cache / "journals" / f"{V}-{name.partition('-')[2]}.journal"
    old.parent.mkdir()
    remove(path)
    some = list(answers.items())[:12]
    records = [{"k": key, "r": number, "a": answer} for (key, number), answer in some]
    head = [{"xling_journal": 1, "task": V}, {"start": 2, "pid": 1}]
    damaged = lines(*records[11:]).replace(b'"a"', b'"b"')
    old.write_bytes(lines(*head, *records[:11]) + damaged + lines(*records[:1])[:20])
    assert mortal(V, 3) is None  # killed again, with the new journal
    assert not old.exists() and len(Mortal.asked) == 40 - 11
    assert read_journal(path, name).starts == 3
    again = mortal(V)
    assert len(Mortal.asked) == 40 - 11 - 3 and plain(again) == whole


def test_a_journal_that_does_not_know_its_starts_draws_new_numbers(tmp_path):
    """Else the second start would give the first one's sampled answers again."""
    path = tmp_path / "x.sqlite"
    made = Journal(path, "x", {})
    made.put(("k", 0), Kept("answer"))
    made.store.close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE replies SET reply = 'spoilt' WHERE key LIKE '%about'")
    again = Journal(path, "x", {})
    assert again.start > 2 and again.claim([("k", 0)])[0] == {("k", 0): Kept("answer")}
    again.store.close()
