"""A viewer in this process, as `xling view` starts it, for tests."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from builders import task_of, write_run

from xling_tasks.criteria import about

TOKEN = "t0ken-of_tests"


class Viewer:
    """A server over an index that has read everything."""

    def __init__(self, folders: Sequence[Path | str]) -> None:
        pytest.importorskip("uvicorn")
        pytest.importorskip("starlette")
        from xling_tasks.commands.view.command import bound
        from xling_tasks.commands.view.index import Index
        from xling_tasks.commands.view.server import server
        from xling_tasks.commands.view.sources import find_sources

        self.index = Index(find_sources([str(folder) for folder in folders]))
        self.index.read_all()
        self.socket = bound(0)
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/{TOKEN}/"
        self.server = server(self.index, self.port, TOKEN)
        self.thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True
        )
        self.thread.start()
        while not self.server.started:
            assert self.thread.is_alive()
            time.sleep(0.01)

    def get(self, name: str, **values: object) -> Any:
        """The JSON of a call; an error's too."""
        try:
            with urllib.request.urlopen(f"{self.url}api/{name}?{urlencode(values)}") as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def questions(self, **filters: str) -> list[str]:
        """The ids of the questions that fit, in their order."""
        found: list[str] = []
        while True:
            answer = self.get("list", **{**filters, "from": len(found)})
            found += [item["question"] for item in answer["items"]]
            if len(found) >= answer["total"]:
                return found

    def details(self, task: str, question: str, model: str = "") -> list[dict[str, Any]]:
        """A question in all its languages."""
        found = self.get("find", task=task, question=question, model=model)
        entries = self.get("question", id=found["id"])["entries"]
        codes = ",".join(entry["language"] for entry in entries)
        return list(self.get("question", id=found["id"], languages=codes)["entries"])

    def link(self, *parts: str) -> str:
        """The address of a question."""
        return self.url + "#/q/" + "/".join(quote(part, safe="") for part in parts)

    def raw(
        self, path: str, method: str = "GET", **headers: str
    ) -> tuple[int, dict[str, str], str]:
        """Status, headers and content of a request written by hand."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": f"127.0.0.1:{self.port}", **headers}.items():
            if value:
                connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        content = answer.read().decode()
        connection.close()
        return answer.status, {name.lower(): v for name, v in answer.getheaders()}, content

    def close(self) -> None:
        """End it."""
        self.server.should_exit = True
        self.thread.join(120)
        self.index.close()


@contextmanager
def viewing(*folders: Path | str) -> Iterator[Viewer]:
    """A viewer of some folders."""
    viewer = Viewer(folders)
    try:
        yield viewer
    finally:
        viewer.close()


def texts_of(entry: dict[str, Any]) -> list[str]:
    """All texts that are shown of a sample."""
    return [passage["text"] for part in entry["parts"] for passage in part["passages"]]


OF = "xlinghealth_correctness_liveqa_"


def judged(
    number: int, label: str, language: str, answer: str = "An answer.", **values: Any
) -> Any:
    """An answer that a judge has labelled, as the harness logs it."""
    doc = {
        "question_id": str(number), "language": language,
        "question": f"Question {number} in {language}?", "reference": f"Reference {number}.",
    }  # fmt: skip
    return {
        "doc_id": number, "doc": doc, "resps": [[answer]], "filtered_resps": [answer],
        "metrics": ["langid_match"], "langid_match": 1.0, "empty_rate": 0.0,
        "n_judged": {"label": label, "reply": f"Because {label}.", "judge": "j"}, **values,
    }  # fmt: skip


def made_of(
    folder: Path, labels: Mapping[str, Sequence[str]], rows: Any = judged, **run: Any
) -> Path:
    """A run of correctness: code -> the label of each answer, of which `rows` makes a sample."""
    tasks = {
        f"{OF}{code}": task_of(
            {"contradictory": 0.0},
            [rows(i, label, code) for i, label in enumerate(own)],
            record={"about": about("correctness", "liveqa", [code], ["contradictory"])},
            better={"contradictory": False},
        )
        for code, own in labels.items()
    }
    return write_run(folder, tasks, **run)
