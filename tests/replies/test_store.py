"""The store of replies: what is written is there, also after a kill and beside other processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from xling_tasks.replies.store import ReplyStore, store_of


def test_what_is_put_comes_back_exactly_and_the_first_one_stays(tmp_path):
    values = {"a": "x \ud800 \x00 \n ü", "b": [-1e-300, True], "c": {"text": ""}}
    store = ReplyStore(tmp_path / "s")
    store.put_many(values)
    store.put_many({"a": "other", "d": 1})
    for own in (store, ReplyStore(tmp_path / "s")):
        assert own.get_many([*"abcdz"]) == {**values, "d": 1} and len(own) == 4
    store.put_many({"a": "other"}, replace=True)
    assert ReplyStore(tmp_path / "s").get_many("a") == {"a": "other"}


def test_what_is_forgotten_is_asked_for_again(tmp_path):
    for folder in (tmp_path / "s", None):
        store = ReplyStore(folder)
        store.put_many({"a": 1, "b": 2})
        store.forget(["a", "z"])
        assert store.everything() == {"b": 2}
    assert ReplyStore(tmp_path / "s").everything() == {"b": 2}


def test_a_store_sees_what_another_process_writes(tmp_path):
    one, two = ReplyStore(tmp_path), ReplyStore(tmp_path)
    one.put_many({"a": 1})
    assert two.get_many(["a"]) == {"a": 1}
    asked = []
    two.share({"A": "a", "B": "b"}, lambda known: asked.append(known), asked.append)
    assert asked == [{"A": 1}, ["B"]]


def test_what_is_written_is_there_after_a_kill(tmp_path):
    code = (
        "import sys; from pathlib import Path; from xling_tasks.replies.store import ReplyStore\n"
        "store = ReplyStore(Path(sys.argv[1]))\n"
        "for i in range(10**6): store.put_many({str(i): i}); print(i, flush=True)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE
    ) as run:
        told = [run.stdout.readline() for _ in range(200)]
        os.kill(run.pid, signal.SIGKILL)
    found = ReplyStore(tmp_path).everything()
    assert {str(int(line)): int(line) for line in told}.items() <= found.items()


def test_damaged_lines_and_half_ones_are_asked_for_again(tmp_path):
    store = ReplyStore(tmp_path)
    store.put_many({"a": 1, "b": 2})
    store.close()
    (file,) = tmp_path.glob("*.jsonl")
    file.write_bytes(b"\xff\x00\n[]\n" + file.read_bytes() + b'["c", 3')
    assert ReplyStore(tmp_path).everything() == {"a": 1, "b": 2}


def test_without_a_folder_or_a_disk_replies_are_kept_for_the_run(tmp_path, caplog):
    (tmp_path / "replies").write_text("")
    for folder in (None, tmp_path):
        store = store_of("judge", folder)
        store.put_many({"a": 1})
        store.put_many({"b": 2})
        assert store.everything() == {"a": 1, "b": 2}
    assert caplog.text.count("cannot be written") == 1
