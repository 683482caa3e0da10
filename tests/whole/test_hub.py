"""The Hub: a real HTTP server on loopback stands in for it, gated or open."""

from __future__ import annotations

import pytest
from hub import SHA, ask

from xling_tasks.data.sources import SAMPLE_FOLDER

SCRIPT = """
import sys
from xling_tasks.errors import DataError
from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.xlinghealth import load
try:
    data = load(DATASETS["liveqa"], None, sys.argv[1] if len(sys.argv) > 1 else None)
    print(data.n_rows, data.provenance["name"], data.provenance["revision"])
except DataError as error:
    print("DataError:", error)
"""


@pytest.fixture
def hub(hub):
    """It has LiveQA, with two questions."""
    lines = (SAMPLE_FOLDER / "xlinghealth_demo.jsonl").read_bytes().splitlines(keepends=True)
    hub.repositories = {"": {"README.md": b"", "data/LiveQA.jsonl": b"".join(lines[:10])}}
    return hub


def test_open_repository_is_read_at_a_recorded_revision(hub, tmp_path):
    assert ask(hub.url, tmp_path, SCRIPT) == f"10 claws-lab/XLingHealth {SHA}\n"
    assert any(f"/resolve/{SHA}/data/LiveQA.jsonl" in path for path in hub.asked)
    assert ask(hub.url, tmp_path, SCRIPT, "me/copy@v2") == f"10 me/copy {SHA}\n"
    assert any("/api/datasets/me/copy/revision/v2" in path for path in hub.asked)


def test_gated_repository_or_none_says_how_to_go_on(hub, tmp_path):
    hub.gated = True
    gated = ("gated", "accept its terms", "HF_TOKEN", "data_dir=FOLDER", "LiveQA.xlsx")
    offline = ask("http://127.0.0.1:9", tmp_path, SCRIPT, offline=True)
    for said, needed in ((ask(hub.url, tmp_path, SCRIPT), gated), (offline, ("data_dir=FOLDER",))):
        assert said.startswith("DataError: LiveQA could not be fetched") and said.count("\n") == 1
        assert [part for part in needed if part not in said] == []
