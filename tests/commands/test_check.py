"""`xling check`: a line for packages, settings, data and models, and the exit status."""

from __future__ import annotations

import json
import shutil
import socket

import scripted

from xling_tasks.cli import parse
from xling_tasks.commands import check
from xling_tasks.data.sources import SAMPLE_FOLDER


def screen(*words, flags=(), **settings):
    """The whole screen; settings may be words of `--metadata`, or values of their own."""
    given = [*words, *([json.dumps(settings)] if settings else [])]
    options = parse(["check", *flags, *(["--metadata", *given] if given else [])])
    return options.run(options)


def lines_of(*words, **settings):
    """Check -> status and text; the exit status is compared."""
    output = screen(*words, flags=["--json"], **settings)
    lines = json.loads(output)
    assert output.status == int(any(line["status"] == "fail" for line in lines))
    found = {}
    for line in lines:
        status, text = found.get(line["check"], (line["status"], ""))
        found[line["check"]] = (status, f"{text} {line['text']} -> {line['advice']}")
    return found


def test_nothing_set_is_no_error():
    text = screen()
    assert text.status == 0
    assert all(row.split()[0] in ("ok", "off", "warn") for row in text.splitlines())
    lines = lines_of()
    assert lines["packages"][0] == "ok" and "lm-eval 0." in lines["packages"][1]
    assert {"settings", "extra hf", "extra vllm"} <= set(lines)
    assert lines["judge"] == lines["translator"] == ("off", " not set -> ")


def test_a_missing_extra_says_how_to_install_it(monkeypatch):
    def absent(name):
        raise check.PackageNotFoundError(name)

    monkeypatch.setattr(check, "version", absent)
    lines = {line.check: line for line in check.check_packages()}
    assert lines["packages"].status == "fail" and "lm-eval is missing" in lines["packages"].text
    assert lines["extra hf"].status == "off" and "torch is missing" in lines["extra hf"].text
    assert lines["extra api"].text.count("tenacity is missing") == 1
    assert lines["extra hf"].advice == 'pip install "xling-tasks[hf]"'


def test_each_wrong_setting_has_its_own_line_and_the_others_are_used(tmp_path):
    words = ("temperture=1", "k=0", "noequals", "{bad", f"data_dir={tmp_path / 'none'}")
    lines = lines_of(*words)
    status, text = lines["settings"]
    assert status == "fail" and "none" in lines["data"][1]
    for part in ("Did you mean 'temperatures'", "k: must be an integer from 1 to 10,000",
                 "expected JSON or key=value", "not valid JSON"):  # fmt: skip
        assert part in text


def test_models_that_answer_and_models_that_do_not(serve):
    lines = lines_of("judge=self", "translator=self")
    assert lines["judge"][0] == lines["translator"][0] == "off"
    assert lines_of("judge=hff")["judge"][0] == "fail"
    served = serve(scripted.reply)
    status, text = lines_of(judge=served.spec())["judge"]
    assert status == "ok" and "answers: " in text
    served.fail_with = 500
    assert lines_of(judge=served.spec())["judge"][0] == "fail"
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    args = {"model": "x", "base_url": f"http://127.0.0.1:{port}/v1/chat/completions"}
    spec = {"model": "local-chat-completions", "model_args": args}
    status, text = lines_of(judge=spec)["judge"]
    assert status == "fail" and "no connection to 127.0.0.1" in text


def test_data_in_a_folder(tmp_path):
    assert lines_of(f"data_dir={tmp_path}")["data healthqa"][0] == "fail"
    shutil.copy(SAMPLE_FOLDER / "xlinghealth_demo.jsonl", tmp_path / "HealthQA.jsonl")
    (tmp_path / "LiveQA.xlsx").write_bytes(b"PK\x03\x04 but no workbook")
    lines = lines_of(f"data_dir={tmp_path}")
    assert lines["data healthqa"][0] == lines["data liveqa"][0] == "fail"
    assert "those of Demo" in lines["data healthqa"][1]
    assert lines["data medicationqa"][0] == "off"
    assert "no MedicationQA in it" in lines["data medicationqa"][1]
    own = tmp_path / "own.csv"
    own.write_text("question_en,question_es\nIs it?,¿Es?\n", encoding="utf-8")
    assert "1 question in en, es" in lines_of(f"data_dir={own}")["data"][1]


def test_a_gated_dataset(hub, monkeypatch):
    from huggingface_hub import constants

    hub.repositories = {"": {"LiveQA.xlsx": b"x", "MMedBench.zip": b"x"}}
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    status, text = lines_of()["data"]
    assert status == "ok" and text.count("may be downloaded") == 2
    hub.gated = True
    status, text = lines_of()["data"]
    assert status == "warn"
    assert "gated -> accept the terms at https://huggingface.co/datasets/claws-lab" in text


def test_secrets_are_never_shown(serve, monkeypatch):
    secret = "sk-verysecret-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    monkeypatch.setenv("SOME_PASSWORD", "hunter22")
    spec = serve(lambda prompt: f"Incorrect: {secret} or hunter22, hf_abcdefghijkl").spec()
    text = screen("api_key=sk-othersecret-1", '{"judge": {"api_key": "plain-one"', judge=spec)
    for hidden in (secret, "hunter22", "hf_abc", "othersecret"):
        assert hidden not in text
