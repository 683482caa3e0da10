"""A file of the store with several shelves: none is lost or altered by what befalls another."""

from __future__ import annotations

import random
from contextlib import closing

from xling_tasks.replies.durable import Shelves
from xling_tasks.replies.file import remove
from xling_tasks.replies.journal import Journal, Kept, read_journal
from xling_tasks.replies.store import ReplyStore


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
        spoilt = bytearray(content)
        spoilt[place] ^= 1 << draw.randrange(8)
        remove(path)
        path.write_bytes(spoilt)
        with closing(ReplyStore(path, "judge")) as store:
            assert store.get_many(wanted).items() <= wanted.items(), place
        for (key, _), kept in read_journal(path, "x").answers.items():
            assert kept.answer == f"answer {key[1:]} " * (int(key[1:]) % 20), place
