"""`xling check`: what it says about good, bad, silent and hostile surroundings."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from importlib.metadata import metadata

import pytest
import scripted

from xling_tasks.cli import parse
from xling_tasks.commands.doctor import checks as doctor_checks
from xling_tasks.commands.doctor import resources as doctor_resources
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import SettingError

STATUSES = {"ok", "off", "warn", "fail"}


@pytest.fixture(autouse=True)
def quick(monkeypatch, request):
    """Packages do not change between tests; most need not look again."""
    if "slow_start" not in request.fixturenames:
        monkeypatch.setattr(doctor_checks, "packages", lambda: iter(()))


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Servers on this machine are there, however long it takes beside other work."""
    monkeypatch.setattr(doctor_checks, "CONNECT_SECONDS", 300.0)
    monkeypatch.setattr(doctor_resources, "HUB_SECONDS", 300.0)


@pytest.fixture
def slow_start():
    """Look at packages, too."""


def screen(*metadata, words=(), **settings):
    """The whole screen; settings may be words of `--metadata`, or values of their own."""
    given = [*metadata, *([json.dumps(settings)] if settings else [])]
    given = ["--metadata", *given] if given else []
    options = parse(["check", "--timeout", "600", *words, *given])
    return options.run(options)


class Checks(dict):
    """Every line by its check's name, as (status, text); several of one name are joined."""

    def __init__(self, *metadata, words=(), **settings):
        output = screen(*metadata, words=["--json", *words], **settings)
        checks = json.loads(output)["checks"]
        assert all(line["status"] in STATUSES and line["found"] for line in checks)
        assert output.status == int(any(line["status"] == "fail" for line in checks))
        for line in checks:
            status, text = self.get(line["check"], (line["status"], ""))
            self[line["check"]] = (status, f"{text} / {line['found']} -> {line['todo']}")

    def say(self, name, status, *texts):
        """That a line has this status and has these texts."""
        assert self[name][0] == status, (name, self[name])
        assert all(text in self[name][1] for text in texts), (name, self[name])


def judge_reply(prompt):
    """A judge that answers in form, and rightly."""
    if match := re.search(r"^VERDICT (\w+): option", prompt, re.M):
        return f"They conflict.\n\nVERDICT {match[1]}: contradictory"
    return scripted.reply(prompt)


# The screen


def test_nothing_set_is_no_error(slow_start, monkeypatch):
    text = screen()
    assert text.status == 0
    rows = text.splitlines()
    assert all(row.split()[0] in STATUSES for row in rows[1:-1])
    assert re.fullmatch(r"\d+ ok, \d+ off, \d+ warn, 0 fail .*", rows[-1])
    checks = Checks()
    assert {"settings", "extra hf", "extra vllm"} <= set(checks)
    for name in ("judge", "translator"):
        checks.say(name, "off")
    checks.say("judge", "off", "labels answers")
    assert "(>=0.4.13)" in checks["packages"][1]


def test_of_every_extra_that_is_not_there_it_says_what_it_gives(monkeypatch, slow_start):
    def absent(name):
        raise doctor_checks.PackageNotFoundError(name)

    monkeypatch.setattr(doctor_checks, "version", absent)
    extras = [line for line in doctor_checks.packages() if line.check.startswith("extra ")]
    listed = set(metadata("xling-tasks").get_all("Provides-Extra")) - {"dev", "docs", "test"}
    assert {line.check.removeprefix("extra ") for line in extras} == listed
    for line in extras:
        assert re.fullmatch(r"without .+; gives [^ ].{10,}", line.found), line


def test_importing_it_is_light():
    code = "import sys, xling_tasks.commands.doctor.command; print({'torch', 'lm_eval', 'huggingface_hub'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_each_wrong_setting_has_its_own_line_and_the_others_are_used(tmp_path):
    checks = Checks("temperture=1", "k=0", "noequals", "{bad", f"data_dir={tmp_path / 'none'}")
    checks.say("settings", "fail", "Did you mean 'temperatures'", "k: must be a positive integer",
               "expected JSON or key=value", "not valid JSON", "used: data_dir")  # fmt: skip
    checks.say("data liveqa", "fail")
    with pytest.raises(SettingError, match="--timeout"):
        screen(words=["--timeout", "0"])


@pytest.mark.parametrize("error", [RuntimeError("boom\nsecond line"), SystemExit(3)])
def test_a_crash_is_a_line_and_the_others_go_on(monkeypatch, error):
    def crash():
        yield doctor_checks.Line("packages", "ok", "so far good")
        raise error

    monkeypatch.setattr(doctor_checks, "packages", crash)
    checks = Checks()
    told = " ".join(str(error).split())
    checks.say("packages", "ok", "so far good", type(error).__name__, told)
    checks.say("settings", "ok")


# The judge


def test_judges_that_cannot_be_asked(serve):
    Checks("judge=self", "translator=self").say("judge", "off")
    Checks("judge=hff").say("judge", "fail", "hff")
    served = serve(judge_reply)
    served.fail_with = 500
    checks = Checks(judge=served.spec())
    checks.say("judge", "fail", "does not answer")
    checks.say("settings", "ok")


def test_a_dead_server_and_one_that_never_answers():
    def spec(port):
        url = f"http://127.0.0.1:{port}/v1/chat/completions"
        args = {"model": "x", "base_url": url, "max_retries": 1}
        return {"model": "local-chat-completions", "model_args": args}

    with socket.socket() as silent, socket.socket() as closed:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        closed.bind(("127.0.0.1", 0))
        dead, mute = closed.getsockname()[1], silent.getsockname()[1]
        closed.close()
        refused = ("no connection to 127.0.0.1", "ConnectionRefused")
        Checks(judge=spec(dead)).say("judge", "fail", *refused)
        # Whatever else does not end within a second, on a machine that is busy, is a line too.
        start = time.monotonic()
        checks = Checks(translator=spec(mute), words=["--timeout", "1"])
        assert time.monotonic() - start < 200  # the harness would wait for 300 s
    assert "did not end within 1 s" in checks["translator"][1]


# Data


def test_data_in_a_folder_and_offline(tmp_path):
    checks = Checks(f"data_dir={tmp_path}")
    for key in ("healthqa", "liveqa", "mmedbench"):
        checks.say(f"data {key}", "fail")
    shutil.copy(SAMPLE_FOLDER / "xlinghealth_demo.jsonl", tmp_path / "HealthQA.jsonl")
    (tmp_path / "LiveQA.xlsx").write_bytes(b"PK\x03\x04 but no workbook")
    checks = Checks(f"data_dir={tmp_path}")
    checks.say("data demo", "ok")
    checks.say("data liveqa", "fail")
    checks.say("data medicationqa", "off", "no MedicationQA in it")
    checks.say("data mmedbench", "off")
    Checks().say("data liveqa", "warn", "data_dir=FOLDER")
    Checks("dataset=someone/else").say("data liveqa", "fail")


def test_a_gated_dataset(hub, monkeypatch):
    from huggingface_hub import constants

    hub.repositories = {"": {"LiveQA.xlsx": b"x", "MMedBench.zip": b"x"}}
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    url = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url)
    monkeypatch.setenv("HF_TOKEN", "hf_thisisasecret123")
    checks = Checks()
    checks.say("data liveqa", "ok")
    checks.say("data mmedbench", "ok")
    asked = [path for path in hub.asked if "datasets/" in path]
    assert len(asked) == 4  # two questions per repository, not per dataset
    hub.gated = True
    checks = Checks()
    accept = "accept the terms at https://huggingface.co/datasets/claws-lab"
    checks.say("data liveqa", "warn", "gated", "GatedRepoError", accept)
    assert "check network" not in checks["data liveqa"][1]
    assert "thisisasecret" not in screen()
    Checks("dataset=a/b").say("data liveqa", "fail")


# Surroundings


def test_secrets_are_never_shown(serve, monkeypatch):
    secret = "sk-verysecret-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    monkeypatch.setenv("SOME_PASSWORD", "hunter22")
    monkeypatch.setenv("OTHER_PASSWORD", "rosebud")
    reply = f"Incorrect: it was {secret} or hunter22, rosebud, hf_abcdefghijkl"
    spec = serve(lambda prompt: reply).spec()
    words = ["api_key=sk-othersecret-1", '{"judge": {"api_key": "plain-one"']
    for text in (screen(*words, judge=spec), screen(*words, words=["--json"], judge=spec)):
        for hidden in (secret, "hunter22", "rosebud", "hf_abc", "othersecret", "plain-one"):
            assert hidden not in text
    spec["model_args"]["base_url"] = "http://someone:pa55word@127.0.0.1:9/v1"
    assert "pa55word" not in screen(judge=spec)


def test_without_a_network_no_server_is_waited_for_long_or_asked_twice(monkeypatch, capsys):
    from huggingface_hub import constants

    monkeypatch.setattr(doctor_resources, "HUB_SECONDS", 0.5)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    args = {"model": "x", "base_url": "http://judge.invalid/v1/chat/completions"}
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        text = screen(judge={"model": "local-chat-completions", "model_args": args})
    assert text.status == 1 and "no connection to judge.invalid" in text
    assert "did not end within 0.5 s" in text and text.count("cannot be reached") <= 6
    assert capsys.readouterr().err == ""
