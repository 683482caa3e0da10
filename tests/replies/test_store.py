"""The store: nothing is lost or altered, whatever is spoilt, and nothing is paid twice."""

from __future__ import annotations

import os
import random
import signal
import socket
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from xling_tasks.replies import durable, file, role
from xling_tasks.replies import store as stores
from xling_tasks.replies.durable import Shelves
from xling_tasks.replies.journal import Journal, Kept, read_journal
from xling_tasks.replies.role import store_of
from xling_tasks.replies.store import ReplyStore

REPLIES = {f"{n:064x}": f"reply {n}: " + "नमस्ते, take 200 mg. \ud800" * (n % 40) for n in range(120)}


@pytest.fixture
def made(tmp_path):
    store = ReplyStore(tmp_path / "x.sqlite")
    store.put_many(REPLIES)
    store.claim(["other"])
    store.close()
    return store.path


def test_many_keys_and_the_first_one_stays(tmp_path):
    store = ReplyStore(tmp_path / "x.sqlite")
    store.put_many({str(i): "a" for i in range(1200)})
    store.put_many({"3": "b"})
    assert len(store.get_many(map(str, range(1300)))) == 1200 and len(store) == 1200
    assert store.get_many(["3"]) == {"3": "a"}
    store.put_many({"3": "b"}, replace=True)
    store.forget(["4"])
    assert store.get_many(["3", "4"]) == {"3": "b"}


def test_what_is_written_is_there_after_a_kill(tmp_path):
    store = ReplyStore(tmp_path / "x.sqlite")
    pid = os.fork()
    if pid == 0:
        for n in range(50):
            store.put_many({str(n): f"reply {n}"})
        os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    assert ReplyStore(store.path).everything() == {str(n): f"reply {n}" for n in range(50)}


def classes(content):
    """Places of every kind of byte: header, schema, heads of pages, cells' pointers, text, ..."""
    draw = random.Random(0)
    places = [*range(0, 100, 4), *range(100, 120, 2), *draw.sample(range(120, 4096), 40)]
    for page in range(4096, len(content), 4096):
        places += [page + n for n in draw.sample(range(14), 2)]
        places += [page + draw.randrange(14, 4096)]
    return places


def spoil(path, content, bytes_at):
    """Write a file anew with some bytes changed."""
    spoilt = bytearray(content)
    for place, byte in bytes_at.items():
        spoilt[place] = byte
    file.remove(path)
    path.write_bytes(spoilt)


def test_no_flipped_bit_alters_a_reply_or_ends_a_run(made, caplog):
    """Every byte class: what comes is right, or missing and asked again."""
    content = made.read_bytes()
    draw, lost = random.Random(1), []
    for place in classes(content):
        spoil(made, content, {place: content[place] ^ 1 << draw.randrange(8)})
        with closing(ReplyStore(made)) as store:
            found = store.get_many(REPLIES)
            assert found.items() <= REPLIES.items(), place
            store.put_many({"new": "reply"})
            assert store.get_many(["new"]) == {"new": "reply"} and store.keeps, place
        lost.append(len(REPLIES) - len(found))
        for aside in made.parent.glob("*.damaged-*"):
            aside.unlink()
    assert len(lost) > 150
    # Header and schema cost nothing; a page costs what is on it, and one that others hang on more.
    assert sum(lost[:25]) == 0
    assert sum(lost) / len(lost) < 0.5 and max(lost) < 20


def test_a_file_of_shelves_bears_flipped_bits_and_is_made_smaller(tmp_path, caplog):
    path = tmp_path / "replies.sqlite"
    judge, gone = ReplyStore(path, "judge"), ReplyStore(path, "translations")
    wanted = {str(n): f"reply {n} " * (n % 30) for n in range(60)}
    judge.put_many(wanted)
    made = Journal(path, "x", {})
    for n in range(60):
        made.put((f"k{n}", 0), Kept(f"answer {n} " * (n % 20)))
    made.store.close()
    gone.put_many({str(n): "x" * 900 for n in range(300)})
    before = path.stat().st_size + path.with_name("replies.sqlite-wal").stat().st_size
    gone.close(clear_if_last=True)
    judge.close()
    with closing(Shelves(path)) as shelves:
        assert shelves.names() == ["judge", "model/x"] and shelves.names("mod") == ["model/x"]
        shelves.shrink()
    assert path.stat().st_size < before / 3
    content, draw = path.read_bytes(), random.Random(1)
    for place in (*range(0, 100, 7), *draw.sample(range(len(content)), 60)):
        spoil(path, content, {place: content[place] ^ 1 << draw.randrange(8)})
        with closing(ReplyStore(path, "judge")) as store:
            assert store.get_many(wanted).items() <= wanted.items(), place
        for (key, _), kept in read_journal(path, "x").answers.items():
            assert kept.answer == f"answer {key[1:]} " * (int(key[1:]) % 20), place


@pytest.mark.parametrize("byte", [0x00, 0xFF])
def test_one_spoilt_byte_in_header_or_schema_costs_no_reply(made, caplog, byte):
    content = made.read_bytes()
    for place in (*range(0, 100, 3), *range(100, 900, 37)):
        spoil(made, content, {place: byte})
        began = time.monotonic()
        assert ReplyStore(made).get_many(REPLIES) == REPLIES, place
        assert time.monotonic() - began < 5
    assert "is damaged" in caplog.text


def test_a_spoilt_reply_is_missing_and_counted(made, caplog):
    content = made.read_bytes()
    starts = [content.index(f"reply {n}: ".encode()) for n in (3, 50, 118)]
    spoil(made, content, {start + 2: 0xFF for start in starts})
    store = ReplyStore(made)
    found = store.get_many(REPLIES)
    assert len(found) == len(REPLIES) - 3 and store.damaged == 3
    assert "3 replies are damaged" in caplog.text
    store.put_many(REPLIES)
    assert store.get_many(REPLIES) == REPLIES and not list(made.parent.glob("*.damaged-*"))


@pytest.mark.parametrize("keep", [0, 50, 4096, 3 * 4096 + 7, -1])
def test_a_file_cut_short(made, keep):
    content = made.read_bytes()
    made.write_bytes(content[:keep])
    store = ReplyStore(made)
    assert store.get_many(REPLIES).items() <= REPLIES.items()
    store.put_many(REPLIES)
    assert ReplyStore(made).get_many(REPLIES) == REPLIES


def test_a_claim_ends_with_its_process_and_with_its_silence(tmp_path, monkeypatch):
    path = tmp_path / "x.sqlite"
    first, second = ReplyStore(path), ReplyStore(path)
    assert first.claim(["a", "b"]) == ({}, {"a", "b"})
    assert second.claim(["a", "c"]) == ({}, {"c"})
    first.put_many({"a": "x"})
    assert second.claim(["a", "b"]) == ({"a": "x"}, set())
    first.release()
    assert second.claim(["b"]) == ({}, {"b"})
    now = stores.time.time()
    monkeypatch.setattr(stores.time, "time", lambda: now + stores.LEASE + 1)
    assert first.claim(["b"]) == ({}, {"b"})
    third, fourth = ReplyStore(path), ReplyStore(path)
    third._owner = f"{socket.gethostname()}/999999999/x"  # a process that is gone
    assert third.claim(["z"]) == ({}, {"z"}) and fourth.claim(["z"]) == ({}, {"z"})


def test_a_fork_is_another_owner_with_a_connection_of_its_own(tmp_path):
    store = ReplyStore(tmp_path / "x.sqlite")
    store.claim(["a"])
    pid = os.fork()
    if pid == 0:
        store.put_many({"child": "x"})
        os._exit(0 if store.get_many(["child"]) else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert store.get_many(["child"]) == {"child": "x"}


def test_a_store_that_is_removed_while_it_is_used_is_made_again(tmp_path):
    store = ReplyStore(tmp_path / "x.sqlite")
    store.put_many({"a": "x"})
    file.remove(store.path)
    time.sleep(2 * durable._LOOK)
    store.put_many({"b": "y"})
    assert ReplyStore(store.path).everything() == {"b": "y"}


MOUNTS = """/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb /home/local ext4 rw 0 0
//nas/my\\040share /mnt/my\\040share cifs rw 0 0
x /scratch lustre rw 0 0
"""


@pytest.mark.parametrize(("path", "network"), [
    ("/tmp/x", False), ("/home/me/x", True), ("/home/local/x", False), ("/homes/x", False),
    ("/mnt/my share/x", True), ("/scratch/x", True),
])  # fmt: skip
def test_network_disks_are_told(monkeypatch, path, network):
    monkeypatch.setattr(Path, "read_text", lambda self, **_: MOUNTS)
    assert file.on_network(Path(path)) is network


def test_on_a_network_disk_each_machine_writes_its_own_file_and_reads_all(tmp_path, monkeypatch):
    monkeypatch.setattr(file, "on_network", lambda path: True)
    monkeypatch.setattr(role, "on_network", lambda path: True)
    hosts = {}
    for host in ("node1", "node2"):
        monkeypatch.setattr(socket, "gethostname", lambda host=host: host)
        hosts[host] = store_of("judge", tmp_path)
        hosts[host].put_many({host: f"of {host}"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "replies@node1.sqlite", "replies@node2.sqlite",
    ]  # fmt: skip
    both = {"node1": "of node1", "node2": "of node2"}
    assert hosts["node1"].get_many(both) == hosts["node2"].get_many(both) == both
    with sqlite3.connect(hosts["node1"].path) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    hosts["node2"].path.write_bytes(b"nonsense" * 1000)
    assert hosts["node1"].get_many(["node1"]) == {"node1": "of node1"}


def test_a_cache_of_0_2_is_taken_over_once(tmp_path):
    old = tmp_path / "judge.sqlite"
    with sqlite3.connect(old) as db:
        db.execute("CREATE TABLE replies (key TEXT PRIMARY KEY, reply TEXT)")
        rows = [(str(n), f"reply {n}") for n in range(5000)]
        db.executemany("INSERT INTO replies VALUES (?, ?)", rows)
        db.execute("INSERT INTO replies VALUES ('bad', CAST(x'ff41' AS TEXT))")
    db.close()
    store = store_of("judge", tmp_path)
    assert store.everything() == dict(rows)
    store.close()
    assert not old.exists() and len(store_of("judge", tmp_path)) == 5000
