"""The key of codes: where it lies, who can read it, and what the results say of it."""

from __future__ import annotations

import json
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pytest

from xling_tasks.errors import SettingError
from xling_tasks.models import fence_key
from xling_tasks.models.fence_key import NAME, fences

LONG = "0123456789abcdef" * 3


def test_the_key_of_a_folder_stays_and_is_its_owners(tmp_path):
    first = fences(str(tmp_path))
    path = tmp_path / NAME
    assert first.kind == "cache" and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert fences(str(tmp_path)) == first != fences(str(tmp_path / "other"))
    assert re.fullmatch("[0-9a-f]{64}\n", path.read_text())
    assert [item.name for item in tmp_path.iterdir() if item.is_file()] == [NAME]
    path.chmod(0o644)
    assert fences(str(tmp_path)) == first and stat.S_IMODE(path.stat().st_mode) == 0o600


def test_of_many_that_start_at_once_one_makes_the_key(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        keys = {each.key for each in pool.map(lambda _: fences(str(tmp_path)), range(64))}
    assert len(keys) == 1


def test_without_links_a_key_is_made_as_well(tmp_path, monkeypatch):
    monkeypatch.setattr(fence_key.os, "link", Mock(side_effect=OSError("not here")))
    assert fences(str(tmp_path)) == fences(str(tmp_path))
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600


def test_no_cache_a_key_of_the_run(tmp_path, monkeypatch):
    assert fences(False).kind == "run" and fences(False) == fences(False)
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(fence_key.os, "open", Mock(side_effect=full))
    assert fences(str(tmp_path)) == fences(False)


def test_a_key_of_the_users(tmp_path):
    path = tmp_path / "my.key"
    path.write_text(LONG + "\n")
    own = fences(str(tmp_path), str(path))
    assert own.kind == "setting" and own == fences(False, str(path))
    assert own.code("q", "r", "a") == "qbshcf"


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 3])
def test_a_key_that_is_none(tmp_path, content):
    path = tmp_path / NAME
    path.write_bytes(content)
    with pytest.raises(SettingError, match="is no key; delete it"):
        fences(str(tmp_path))
    with pytest.raises(SettingError, match=r"fence_key=.*at least 32"):
        fences(False, str(path))
    with pytest.raises(SettingError, match=r"fence_key=.*there is no such file"):
        fences(False, str(tmp_path / "none"))


def verdict(prompt):
    code = re.search(r"VERDICT (\w+): option", prompt)
    return f"VERDICT {code[1]}: contradictory" if code else "ready"


def test_results_say_which_key_and_cached_verdicts_keep_working(run, serve, tmp_path, own_cache):
    served = serve(verdict)
    task, path = "xlinghealth_correctness_demo_en", tmp_path / "my.key"
    path.write_text(LONG)

    def judged(**more):
        results = run(task, metadata={"judge": served.spec(), **more}, limit=2)
        assert results["results"][task]["contradictory,none"] == 1.0
        key = (own_cache / NAME).read_text().strip()
        assert not re.search(f"{key}|{LONG}", json.dumps(results, default=str))
        kind = results["configs"][task]["metadata"]["xling"]["fence_codes"]
        return kind, len(served.prompts)

    assert judged() == judged() == ("cache", 2)
    assert judged(fence_key=str(path)) == ("setting", 4)
    assert judged(xling_cache=False) == ("run", 6)
    # A key that cannot be read is an error before anything is asked.
    with pytest.raises(SettingError, match="fence_key=/nowhere/at/all: there is no such file"):
        judged(fence_key="/nowhere/at/all")
    assert len(served.prompts) == 6
