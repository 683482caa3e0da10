"""The Hub: a real HTTP server on loopback stands in for it, gated or open."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

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


class Hub:
    def __init__(self, gated: bool) -> None:
        lines = (SAMPLE_FOLDER / "xlinghealth_demo.jsonl").read_bytes().splitlines(keepends=True)
        content = b"".join(lines[:10])  # two questions
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
                if self.path.startswith("/api/datasets/"):
                    files = [{"rfilename": "README.md"}, {"rfilename": "data/LiveQA.jsonl"}]
                    data = json.dumps(
                        {"id": "claws-lab/XLingHealth", "sha": SHA, "siblings": files, "tags": []}
                    ).encode()
                elif gated:
                    status, headers = 403, {"X-Error-Code": "GatedRepo"}
                    data = b'{"error": "Access to this dataset is restricted"}'
                else:
                    headers |= {"ETag": '"abc"', "Accept-Ranges": "bytes"}
                    data = content
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


def ask(url: str, folder: Path, *arguments: str, offline: bool = False) -> str:
    import os

    env = {
        **os.environ,
        "HF_ENDPOINT": url,
        "HF_HOME": str(folder),
        "HF_HUB_OFFLINE": str(int(offline)),
    }
    env |= {"HF_HUB_DISABLE_XET": "1", "HF_TOKEN": ""}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
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
