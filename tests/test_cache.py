"""The cache of responses: append-only files, several processes, kills and damage."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from xling_tasks.cache import ResponseCache, open_cache


def test_what_is_put_comes_back_exactly_and_the_last_counts(tmp_path):
    values = {"a": "x \ud800 \x00 \n ü", "b": [-1e-300, True], "c": {"text": ""}}
    cache = ResponseCache(tmp_path)
    cache.put_many({"a": "first"})
    cache.put_many(values)
    for each in (cache, ResponseCache(tmp_path)):
        assert each.get_many([*"abcz"]) == values and len(each) == 3
    assert ResponseCache(tmp_path).files_before == 1


@pytest.mark.parametrize("in_memory", [False, True])
def test_what_is_discarded_is_gone(tmp_path, in_memory):
    folder = None if in_memory else tmp_path
    cache = ResponseCache(folder)
    cache.put_many({"a": 1, "b": 2})
    cache.discard(["a", "z"])
    assert cache.get_all() == {"b": 2} and len(cache) == 1
    if folder:
        assert ResponseCache(folder).get_all() == {"b": 2}


def test_processes_see_what_others_wrote(tmp_path):
    one, two = ResponseCache(tmp_path), ResponseCache(tmp_path)
    one.put_many({"a": 1})
    assert two.get_many("a") == {"a": 1}
    if not (child := os.fork()):
        one.put_many({"b": 2})  # into a file of its own
        os._exit(0)
    os.waitpid(child, 0)  # and no other child of this process
    one.put_many({"c": 3})
    assert two.get_all() == {"a": 1, "b": 2, "c": 3} and len(list(tmp_path.iterdir())) == 2


def test_threads_share_it(tmp_path):
    cache = ResponseCache(tmp_path)

    def write(n):
        for i in range(200):
            cache.put_many({f"{n}-{i}": i})
            assert cache.get_many([f"{n}-{i}"])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert len(ResponseCache(tmp_path)) == 800


def test_damaged_lines_are_asked_again(tmp_path):
    cache = ResponseCache(tmp_path)
    cache.put_many({"a": 1})
    (file,) = tmp_path.glob("*.jsonl")
    file.write_bytes(file.read_bytes() + b'garbage\n["b", 2]\n["c", {"text"')
    assert ResponseCache(tmp_path).get_all() == {"a": 1, "b": 2}


def test_a_folder_that_cannot_be_written_ends_no_run(tmp_path, caplog):
    (tmp_path / "responses").write_text("a file")
    cache = open_cache("judge", tmp_path)
    cache.put_many({"a": 1})
    cache.put_many({"b": 2})
    assert cache.get_all() == {"a": 1, "b": 2} and cache.error
    assert caplog.text.count("cannot be written") == 1
