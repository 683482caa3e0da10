"""The Hub: a real HTTP server on loopback stands in for it, gated or open."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from xling_tasks.data.mmlu_clinical import SUBJECTS
from xling_tasks.data.sources import SAMPLE_FOLDER

SHA = "1234567890" * 4
SCRIPT = """
import sys
from xling_tasks.errors import DataError
from xling_tasks.data.records import RECORDS
from xling_tasks.data.xlinghealth import load
try:
    data = load(RECORDS["liveqa"], None, sys.argv[1] if len(sys.argv) > 1 else None)
    print(data.n_rows, data.provenance["name"], data.provenance["revision"])
except DataError as error:
    print("DataError:", error)
"""


def sample() -> dict[str, bytes]:
    """A repository of LiveQA with two questions."""
    lines = (SAMPLE_FOLDER / "xlinghealth_demo.jsonl").read_bytes().splitlines(keepends=True)
    return {"README.md": b"", "data/LiveQA.jsonl": b"".join(lines[:10])}


class Hub:
    def __init__(self, gated: bool = False, **repositories: dict[str, bytes]) -> None:
        asked = self.asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self.answer(body=False)

            def do_GET(self) -> None:
                self.answer(body=True)

            def answer(self, body: bool) -> None:
                asked.append(self.path)
                headers = {"X-Repo-Commit": SHA}
                status, data = 200, b""
                files = next(
                    (own for name, own in repositories.items() if f"/{name}/" in f"{self.path}/"),
                    {} if repositories else sample(),
                )
                if self.path.startswith("/api/datasets/"):
                    siblings = [{"rfilename": name} for name in files]
                    told = {"id": "claws-lab/XLingHealth", "sha": SHA, "siblings": siblings}
                    data = json.dumps({**told, "tags": []}).encode()
                elif gated:
                    status, headers = 403, {"X-Error-Code": "GatedRepo"}
                    data = b'{"error": "Access to this dataset is restricted"}'
                else:
                    name = self.path.partition(f"/resolve/{SHA}/")[2]
                    status, data = (200, files[name]) if name in files else (404, b"")
                    headers |= {"ETag": f'"{hash(data)}"', "Accept-Ranges": "bytes"}
                self.send_response(status)
                for key, value in {**headers, "Content-Length": str(len(data))}.items():
                    self.send_header(key, value)
                self.end_headers()
                if body:
                    self.wfile.write(data)

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()


def ask(
    url: str, folder: Path, *arguments: str, offline: bool = False, script: str = SCRIPT
) -> str:

    env = {
        **os.environ,
        "HF_ENDPOINT": url,
        "HF_HOME": str(folder),
        "HF_HUB_OFFLINE": str(int(offline)),
    }
    env |= {"HF_HUB_DISABLE_XET": "1", "HF_TOKEN": ""}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=env,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.fixture
def hub(request):
    made = Hub(gated=request.param)
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.mark.parametrize("hub", [False], indirect=True)
def test_open_repository_is_read_at_a_recorded_revision(hub, tmp_path):
    assert ask(hub.url, tmp_path) == f"10 claws-lab/XLingHealth {SHA}\n"
    assert any(f"/resolve/{SHA}/data/LiveQA.jsonl" in path for path in hub.asked)


@pytest.mark.parametrize("hub", [False], indirect=True)
def test_repository_and_revision_of_the_user(hub, tmp_path):
    assert ask(hub.url, tmp_path, "me/copy@v2") == f"10 me/copy {SHA}\n"
    assert any("/api/datasets/me/copy/revision/v2" in path for path in hub.asked)


@pytest.mark.parametrize("hub", [True], indirect=True)
def test_gated_repository_says_how_to_get_in(hub, tmp_path):
    said = ask(hub.url, tmp_path)
    assert said.startswith("DataError: LiveQA could not be fetched")
    for needed in ("gated", "accept its terms", "HF_TOKEN", "data_dir=FOLDER", "LiveQA.xlsx"):
        assert needed in said
    assert len(said.splitlines()) == 1


def test_offline_says_how_to_use_a_folder(tmp_path):
    said = ask("http://127.0.0.1:9", tmp_path, offline=True)
    assert said.startswith("DataError: LiveQA could not be fetched")
    assert "data_dir=FOLDER" in said and len(said.splitlines()) == 1


# MMLU-Clinical: the publisher's repository, and MMLU's own for English

RUN = """
from pathlib import Path
from builders import lm_eval
lm_eval(Path("."), "--model", "xling_baseline", "--tasks", "mmlu_clinical_mcqa_en,mmlu_clinical_mcqa_ts",
        "--output_path", "out", "--log_samples")
"""


def clinical() -> dict[str, dict[str, bytes]]:
    """Both repositories, in the form in which their publishers write them."""
    import pyarrow
    import pyarrow.parquet

    translated, english = {"README.md": b""}, {}
    for subject, count in SUBJECTS.items():
        texts = [[f"Xitsonga {n}?", *(f"{letter}{n}" for letter in "wxyz")] for n in range(count)]
        file = io.StringIO(newline="")
        writer = csv.writer(file)
        writer.writerow(["Question", "OptionA", "OptionB", "OptionC", "OptionD", "Answer"])
        writer.writerows([*row, "ABCD"[n % 4]] for n, row in enumerate(texts))
        for split in ("dev", "test", "val"):
            path = f"mmlu_{subject}/{subject}_{split}_ts.csv"
            translated[path] = file.getvalue().encode() if split == "test" else b"not read"
        rows = [
            {"question": f"Which {n}?", "subject": subject, "choices": row[1:], "answer": n % 4}
            for n, row in enumerate(texts)
        ]
        table = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), table)
        english[f"{subject}/test-00000-of-00001.parquet"] = table.getvalue()
    return {"Institute-Disease-Modeling/mmlu-winogrande-afr": translated, "cais/mmlu": english}


def test_clinical_questions_come_from_two_repositories_through_the_harness(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    hub = Hub(**clinical())
    try:
        ask(hub.url, tmp_path, script=RUN)
    finally:
        hub.server.shutdown()
        hub.server.server_close()
    [results] = (tmp_path / "out").rglob("results_*.json")
    content = json.loads(results.read_text())
    for code in ("en", "ts"):
        task = f"mmlu_clinical_mcqa_{code}"
        assert content["n-samples"][task]["effective"] == 604
        data = content["configs"][task]["metadata"]["xling"]["data"]
        assert (data["kind"], data["revision"]) == ("hub", SHA)
        assert data["name"] == "Institute-Disease-Modeling/mmlu-winogrande-afr"
        assert data["english"] == f"cais/mmlu@{SHA}" and {*data["flagged_by"]} == {"en", "ts"}
    [samples] = (tmp_path / "out").rglob("samples_mmlu_clinical_mcqa_ts_*")
    doc = json.loads(samples.read_text().splitlines()[266])["doc"]
    assert (doc["question_id"], doc["question"]) == ("college_medicine-1", "Xitsonga 1?")
    assert (doc["options"]["D"], doc["answer"]) == ("z1", ["B"])
    assert not any("_dev_" in path or "_val_" in path for path in hub.asked)
