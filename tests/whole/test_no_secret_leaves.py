"""A key in an address or a header, whatever it is called: in no file that is written, in no line."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path

import pytest
import scripted
from builders import lm_eval, readers

from xling_tasks.cli import main
from xling_tasks.discovery import clean_logs

QUERY, JUDGE, HEADER, BARE = "qv7Zp-alpha.31", "judgeonly", "hd5Word!{x}", "Zm9vOmJhcjpiYXo"
SECRETS = (QUERY, JUDGE, HEADER, BARE)
TASKS = "xlinghealth_correctness_demo_en,xlinghealth_correctness_demo_es"


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("all")


@pytest.fixture(scope="module")
def ran(kept):
    """A run whose model and judge are asked at addresses with keys; and all that was said."""
    from conftest import Served

    served = Served(
        lambda text: (
            scripted.judged(text) if "answer_2" in text or "ready" in text else "Drink water."
        )
    )
    said = io.StringIO()
    handler, root = logging.StreamHandler(said), logging.getLogger()
    clean_logs()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    args = {"model": "m", "base_url": f"{served.url}?w={QUERY}&{BARE}#{QUERY}", "max_retries": 1,
            "header": {"X-Team": HEADER}}  # fmt: skip
    judge = {"model": "local-chat-completions",
             "model_args": {"model": "j", "base_url": f"{served.url}?q={JUDGE}"}}  # fmt: skip
    try:
        for name in "ab":
            lm_eval(
                kept, "--model", "local-chat-completions", "--model_args", json.dumps(args),
                "--tasks", TASKS, "--limit", "3", "--apply_chat_template", "--log_samples",
                "--output_path", f"out/{name}", "--metadata", json.dumps({"judge": judge}),
                table=True, XLING_CACHE=str(kept / "cache"),
            )  # fmt: skip
    finally:
        root.setLevel(before)
        root.removeHandler(handler)
        served.server.shutdown()
        served.server.server_close()
    asked = [request["path"] for request in served.requests]
    assert any(QUERY in path for path in asked) and any(JUDGE in path for path in asked)
    assert any(request["headers"].get("X-Team") == HEADER for request in served.requests)
    return said.getvalue()


def leaks(folder: Path) -> dict[str, list[str]]:
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            if there := [secret for secret in SECRETS if secret.encode() in content]:
                found[str(path.relative_to(folder))] = there
    return found


def test_no_file_of_a_run_and_no_line_of_its_log_has_a_key(ran, kept):
    assert leaks(kept) == {}
    assert [line for line in ran.split("\n") if any(secret in line for secret in SECRETS)] == []
    assert "chat/completions?w=<redacted>" in next(kept.rglob("results_*.json")).read_text()


def test_no_command_writes_or_says_a_key(ran, kept, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XLING_CACHE", str(kept / "cache"))
    a, b = (next((kept / "out" / name).iterdir()) for name in "ab")
    to = tmp_path / "to"
    commands = readers(a, to, b)
    both = [[own[0], f"B={b}", *own[1:]] for own in (commands["report"], commands["leaderboard"])]
    single = [commands[name] for name in ("compare", "annotate", "submit hf", "samples")]
    for words in (*both, *single):
        status = main(words)
        out = "".join(capsys.readouterr())
        assert status == 0 or "submit" in words, out
        assert [secret for secret in SECRETS if secret in out] == [], words
    assert leaks(tmp_path) == {} and (to / "report" / "report.html").exists()
