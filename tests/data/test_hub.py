"""`data_dir` names a repository: a real HTTP server on loopback stands in for the Hub."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from hub import SHA, ask

from xling_tasks.data.sources import SAMPLE_FOLDER, local_path
from xling_tasks.errors import DataError

SCRIPT = """
import sys
from xling_tasks.errors import DataError
from xling_tasks.data import mmedbench, xlinghealth
from xling_tasks.data.custom.dataset import load_custom_dataset
from xling_tasks.data.dataset_info import DATASETS
for word in sys.argv[1:]:
    key, _, place = word.partition("=")
    try:
        if key == "own":
            data = load_custom_dataset(place)
            print(len(data.questions), data.info.key, data.provenance["revision"])
            continue
        module = mmedbench if key == "mmedbench" else xlinghealth
        given = ("fr", "test", place or None) if module is mmedbench else (place or None,)
        data = module.load(DATASETS[key], *given)
        print(data.n_rows, *(data.provenance[name] for name in ("name", "revision", "files")))
    except DataError as error:
        print("DataError:", error)
"""
NOBODY = "http://127.0.0.1:9"
LIVEQA = b"".join((SAMPLE_FOLDER / "xlinghealth_demo.jsonl").read_bytes().splitlines(True)[:10])
FRENCH = json.dumps({"question": "q", "options": {"A": "x", "B": "y"}, "answer_idx": "A"}).encode()


def zipped() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("MMedBench/Test/French.jsonl", FRENCH + b"\n" + FRENCH)
    return content.getvalue()


LIVEQA_FILES = {"README.md": b"", "data/LiveQA.jsonl": LIVEQA, "data/HealthQA.jsonl": b"x"}
REPOSITORIES = {
    "claws-lab/XLingHealth": LIVEQA_FILES,
    "Henrychur/MMedBench": {"MMedBench.zip": zipped(), "README.md": b""},
    "me/copy": LIVEQA_FILES,
    "me/loose": {"Test/French.jsonl": FRENCH},  # in the place of the zip
    "me/empty": {"README.md": b""},
    "me/exam": {"data/exam.jsonl": b'{"question_en": "a?"}', "README.md": b""},
}
READ = [
    f"10 claws-lab/XLingHealth {SHA} ['LiveQA.jsonl']",
    f"2 Henrychur/MMedBench {SHA} ['MMedBench.zip', 'MMedBench/Test/French.jsonl']",
]


def test_repositories_are_read_once_at_a_recorded_revision_and_serve_offline(hub, tmp_path):
    hub.repositories = REPOSITORIES
    words = ("liveqa", "mmedbench", "liveqa=me/copy@v2", "mmedbench=me/loose", "mmedbench=me/empty",
             "liveqa=me/empty", "own=me/exam")  # fmt: skip
    lines = ask(hub.url, tmp_path, SCRIPT, *words).splitlines()
    assert lines[:2] == READ and lines[6] == f"1 exam {SHA}"
    assert lines[2].startswith(f"10 me/copy {SHA}") and lines[3].startswith(f"1 me/loose {SHA}")
    assert "data_dir=me/empty: no" in lines[4]
    assert "data_dir=me/empty: no LiveQA in the repository" in lines[5]
    assert any("/api/datasets/me/copy/revision/v2" in path for path in hub.asked)
    assert not any("README" in path or "HealthQA.jsonl" in path for path in hub.asked)
    # On a machine that is offline, or that only cannot reach the Hub.
    for offline in (True, False):
        again = ask(NOBODY, tmp_path, SCRIPT, *words[:2], offline=offline).splitlines()
        assert again == READ


def test_who_may_not_or_cannot_fetch_it_is_told_how_to_go_on(hub, tmp_path):
    hub.repositories, hub.gated = REPOSITORIES, True
    needed = (
        ("accept its terms", "HF_TOKEN", "XLingHealth_Dataset", "xlinghealth_demo"),
        ("name, or download MMedBench.zip of", "cc-by-nc-4.0", "data_dir=", "mmedbench_demo"),
    )
    for url, offline in ((hub.url, False), (NOBODY, True)):
        lines = ask(url, tmp_path, SCRIPT, "liveqa", "mmedbench", offline=offline).splitlines()
        for line, parts in zip(lines, needed, strict=True):
            assert line.startswith("DataError: ") and "could not be fetched from the Hub" in line
            assert [part for part in parts if part not in line] == []


def test_local_files_go_first_and_what_is_neither_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert local_path("me/copy") is None and local_path("me/copy@v2") is None
    (tmp_path / "me" / "copy").mkdir(parents=True)
    assert local_path("me/copy") is not None and local_path(None) is None
    for name in ("me/other", "LiveQA.xlsx", "a/b/c", "/nowhere"):
        with pytest.raises(DataError, match=r"no such file or folder.*REPO@REVISION on the Hub"):
            local_path(name)
