"""A Hugging Face Hub on loopback, which holds data sets, open or gated; and who asks it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from loopback import Answer, Loopback

SHA = "1234567890" * 4
"""The commit of every repository."""


class Hub(Loopback):
    """The server.

    Attributes:
        repositories: A repository's name -> its files by name; the name "" stands for any.
        gated: Whether files are refused; which there are is told all the same.
        asked: Every path that was asked for.
        url: Its address.
    """

    def __init__(self) -> None:
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.gated = False
        self.asked: list[str] = []
        super().__init__()
        self.url = self.host

    def respond(self, path: str, headers: dict[str, str], body: bytes) -> Answer:
        self.asked.append(path)
        status, told, data = self.answer(path)
        return status, {**told, "X-Repo-Commit": SHA}, data

    def answer(self, path: str) -> Answer:
        """Status, headers and body."""
        known = self.repositories.items()
        files = next((own for name, own in known if not name or f"/{name}/" in f"{path}/"), {})
        if path.startswith("/api/datasets/") and "/tree/" in path:
            tree = [
                {"type": "file", "path": name, "size": len(content), "oid": SHA}
                for name, content in files.items()
            ]
            return 200, {"Content-Type": "application/json"}, json.dumps(tree).encode()
        if path.startswith("/api/datasets/") and not (self.gated and path.endswith("auth-check")):
            siblings = [{"rfilename": name} for name in files]
            told = {"id": "claws-lab/XLingHealth", "sha": SHA, "siblings": siblings, "tags": []}
            return 200, {"Content-Type": "application/json"}, json.dumps(told).encode()
        if self.gated:
            said = b'{"error": "Access to this dataset is restricted"}'
            return 403, {"X-Error-Code": "GatedRepo"}, said
        name = path.partition("/resolve/")[2].partition("/")[2]
        if name not in files:
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        tag = f'"{hashlib.sha256(files[name]).hexdigest()}"'
        return 200, {"ETag": tag, "Accept-Ranges": "bytes"}, files[name]


def ask(url: str, home: Path, script: str, *arguments: str, offline: bool = False) -> str:
    """What a script prints in a process of its own, which knows this Hub alone; no error is raised."""
    settings = {"HF_ENDPOINT": url, "HF_HOME": str(home), "HF_HUB_OFFLINE": str(int(offline))}
    settings |= {"HF_HUB_DISABLE_XET": "1", "HF_TOKEN": ""}
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], env={**os.environ, **settings}, cwd=home,
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout
