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
key, place = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
try:
    if key == "own":
        data = load_custom_dataset(place)
        print(len(data.questions), data.info.key, data.provenance["revision"])
        raise SystemExit
    of = mmedbench if key == "mmedbench" else xlinghealth
    data = of.load(DATASETS[key], *(("fr", "test", place) if of is mmedbench else (place,)))
    print(data.n_rows, *(data.provenance[name] for name in ("name", "revision", "files")))
except DataError as error:
    print("DataError:", error)
"""
NOBODY = "http://127.0.0.1:9"
LIVEQA = b"".join((SAMPLE_FOLDER / "xlinghealth_demo.jsonl").read_bytes().splitlines(True)[:10])
LINE = {"question": "q", "options": {"A": "x", "B": "y"}, "answer_idx": "A"}
FRENCH = json.dumps(LINE).encode()


def zipped() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("MMedBench/Test/French.jsonl", FRENCH + b"\n" + FRENCH)
    return content.getvalue()


FILES = {
    "liveqa": {"README.md": b"", "data/LiveQA.jsonl": LIVEQA, "data/HealthQA.jsonl": b"x"},
    "mmedbench": {"MMedBench.zip": zipped(), "README.md": b""},
}
READ = {
    "liveqa": f"10 claws-lab/XLingHealth {SHA} ['LiveQA.jsonl']",
    "mmedbench": f"2 Henrychur/MMedBench {SHA} ['MMedBench.zip', 'MMedBench/Test/French.jsonl']",
}


@pytest.mark.parametrize("key", FILES)
def test_the_repository_is_read_once_at_a_recorded_revision_and_serves_offline(hub, tmp_path, key):
    hub.repositories = {"": FILES[key]}
    assert ask(hub.url, tmp_path, SCRIPT, key).strip() == READ[key]
    assert not any("README" in path or "HealthQA.jsonl" in path for path in hub.asked)
    # On a machine that is offline, or that only cannot reach the Hub.
    for offline in (True, False):
        assert ask(NOBODY, tmp_path, SCRIPT, key, offline=offline).strip() == READ[key]


def test_another_repository_and_revision(hub, tmp_path):
    hub.repositories = {"": FILES["liveqa"]}
    said = ask(hub.url, tmp_path, SCRIPT, "liveqa", "me/copy@v2")
    assert said.startswith(f"10 me/copy {SHA}")
    assert any("/api/datasets/me/copy/revision/v2" in path for path in hub.asked)
    # Loose files in the place of the zip; and none.
    hub.repositories = {"": {"Test/French.jsonl": FRENCH}}
    assert ask(hub.url, tmp_path, SCRIPT, "mmedbench", "me/loose").startswith(f"1 me/loose {SHA}")
    hub.repositories = {"": {"README.md": b""}}
    assert "data_dir=me/empty: no" in ask(hub.url, tmp_path, SCRIPT, "mmedbench", "me/empty")
    assert "data_dir=me/no: no LiveQA in the repository" in ask(
        hub.url, tmp_path, SCRIPT, "liveqa", "me/no"
    )
    # Questions of one's own.
    hub.repositories = {"": {"data/exam.jsonl": b'{"question_en": "a?"}', "README.md": b""}}
    assert ask(hub.url, tmp_path, SCRIPT, "own", "me/exam") == f"1 exam {SHA}\n"


@pytest.mark.parametrize(("key", "needed"), [
    ("liveqa", ("accept its terms", "HF_TOKEN", "XLingHealth_Dataset", "xlinghealth_demo")),
    ("mmedbench", ("download MMedBench.zip of", "cc-by-nc-4.0", "data_dir=", "mmedbench_demo")),
])  # fmt: skip
def test_who_may_not_or_cannot_fetch_it_is_told_how_to_go_on(hub, tmp_path, key, needed):
    hub.repositories, hub.gated = {"": FILES[key]}, True
    for url, offline in ((hub.url, False), (NOBODY, True)):
        said = ask(url, tmp_path, SCRIPT, key, offline=offline)
        assert said.startswith("DataError: ") and "could not be fetched from the Hub" in said
        assert [part for part in needed if part not in said] == [] and said.count("\n") == 1


def test_local_files_go_first_and_what_is_neither_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert local_path("me/copy") is None and local_path("me/copy@v2") is None
    (tmp_path / "me" / "copy").mkdir(parents=True)
    assert local_path("me/copy") is not None and local_path(None) is None
    for name in ("me/other", "LiveQA.xlsx", "a/b/c", "/nowhere"):
        with pytest.raises(DataError, match=r"no such file or folder.*REPO@REVISION on the Hub"):
            local_path(name)
