"""Compiled loops: the folder of numba's cache may be full, spoilt or read-only."""

from __future__ import annotations

import pytest
from xling_metrics.acceleration import compile_loop

caching = pytest.importorskip("numba.core.caching")


def _double(number: int) -> int:
    return 2 * number


def test_a_full_disk_does_not_end_a_run(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    assert compile_loop()(_double)(4) == 8
    assert not [*tmp_path.rglob("*.nb?")]


def test_spoilt_files_are_compiled_anew(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path))
    assert compile_loop()(_double)(4) == 8
    kept = [*tmp_path.rglob("*.nb?")]
    assert kept
    for content in (b"", b"spoilt"):
        for file in kept:
            file.write_bytes(content)
        assert compile_loop()(_double)(4) == 8
