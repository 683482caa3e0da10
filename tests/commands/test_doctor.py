"""`xling doctor`: what it says about good, bad, silent and hostile surroundings."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import types
from importlib.metadata import metadata
from pathlib import Path

import pytest
import scripted

from xling_tasks.cli import parsed
from xling_tasks.commands.doctor import checks as doctor_checks
from xling_tasks.commands.doctor import models as doctor_models
from xling_tasks.commands.doctor import resources as doctor_resources
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import SettingError

STATUSES = {"ok", "off", "warn", "fail"}


@pytest.fixture(autouse=True)
def quick(monkeypatch, request):
    """Packages and discovery do not change between tests; most need not look again."""
    if "slow_start" not in request.fixturenames:
        for name in ("packages", "discovery"):
            monkeypatch.setattr(doctor_checks, name, lambda *seconds: iter(()))


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Servers on this machine are there, however long it takes beside other work."""
    monkeypatch.setattr(doctor_checks, "CONNECT_SECONDS", 300.0)
    monkeypatch.setattr(doctor_resources, "HUB_SECONDS", 300.0)


@pytest.fixture
def slow_start():
    """Look at packages and discovery, too."""


def screen(*metadata, words=(), **settings):
    """The whole screen; settings may be words of `--metadata`, or values of their own."""
    given = [*metadata, *([json.dumps(settings)] if settings else [])]
    given = ["--metadata", *given] if given else []
    options = parsed(["doctor", "--timeout", "600", *words, *given])
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
    found = [*doctor_checks.discovery(600)]
    monkeypatch.setattr(doctor_checks, "discovery", lambda seconds: iter(found))
    text = screen()
    assert text.status == 0
    rows = text.splitlines()
    assert all(row.split()[0] in STATUSES for row in rows[1:-1])
    assert re.fullmatch(r"\d+ ok, \d+ off, \d+ warn, 0 fail .*", rows[-1])
    checks = Checks()
    assert {"python", "settings", "cache", "GPU", "extra hf", "extra vllm"} <= set(checks)
    for name in ("judge", "translator", "empathy"):
        checks.say(name, "off")
    checks.say("judge", "off", "labels answers")
    checks.say("discovery", "ok", "xling_replay")
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
        yield doctor_checks.Line("python", "ok", "so far good")
        raise error

    monkeypatch.setattr(doctor_checks, "python", crash)
    monkeypatch.setattr(doctor_resources, "accelerators", lambda: 1 / 0)
    checks = Checks()
    told = " ".join(str(error).split())
    checks.say("python", "ok", "so far good", type(error).__name__, told)
    checks.say("GPU", "fail", "ZeroDivisionError")
    checks.say("cache", "ok")
    assert checks["API keys"]


# The judge

TRIED = ("judge", "judge verdict", "judge claims", "judge support")


def out_of_form(prompt):
    return "I think \x1b[31mthat\u202e is fine."


def wrong(prompt):
    said = judge_reply(prompt).replace("contradictory", "more comprehensive and appropriate")
    return said.replace("NOT SUPPORTED", "SUPPORTED")


@pytest.mark.parametrize(
    ("reply", "statuses", "texts"),
    [
        (judge_reply, "ok ok ok ok", ()),
        (out_of_form, "ok fail fail fail", ("is fine.", "max_gen_toks")),
        (wrong, "ok warn ok warn", ("more_comprehensive",)),
        (lambda prompt: "ready" if "ready" in prompt else None, "ok fail fail fail", ("no reply",)),
    ],
    ids=["good", "out of form", "in form but wrong", "answers once"],
)
def test_a_judge_is_really_asked_every_time(serve, reply, statuses, texts):
    served = serve(reply)
    for times in (1, 2):
        checks = Checks(judge=served.spec())
        assert " ".join(checks[name][0] for name in TRIED) == statuses, checks
        for name in [name for name in TRIED if checks[name][0] == "fail"] or ["judge verdict"]:
            checks.say(name, checks[name][0], *texts)
        assert reply is not judge_reply or len(served.prompts) == 3 * times
    text = screen(judge=served.spec())
    assert "\x1b" not in text and "\u202e" not in text


def test_judges_that_cannot_be_asked(serve):
    Checks("judge=self", "translator=self").say("judge", "off")
    Checks("judge=hff").say("judge", "fail", "hff")
    served = serve(judge_reply)
    served.fail_with = 500
    checks = Checks(judge=served.spec())
    checks.say("judge", "fail", "does not answer")
    checks.say("cache", "ok")
    assert "judge verdict" not in checks


def test_every_judge_of_a_jury_is_tried_and_the_first_with_claims(serve):
    good, poor = serve(judge_reply), serve(lambda prompt: "It looks fine to me.")
    other = {**poor.spec(), "model_args": {**poor.spec()["model_args"], "model": "b"}}
    checks = Checks(judge=[{**good.spec(), "name": "large"}, other])
    for name in TRIED:
        checks.say(name.replace("judge", "judge large"), "ok")
    checks.say("judge 2", "ok")
    checks.say("judge 2 verdict", "fail")
    assert "judge 2 claims" not in checks and "judge" not in checks


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
    assert "did not end within 1 s" in checks["translator"][1] and checks["API keys"]


@pytest.mark.parametrize(
    ("word", "status"), [("NO", "ok"), ("YES", "fail"), ("NONE", "fail"), ("perhaps", "fail")]
)
def test_a_reader_is_given_a_plain_reply(serve, word, status):
    def reply(prompt):
        code = re.search(r"ANSWER (\w+): WORD", prompt)
        return f"ANSWER {code[1]}: {word}" if code else "ready"

    Checks(reader=serve(reply).spec()).say("reader", status)


def test_a_local_judge_is_loaded_only_from_this_machine(tiny_hf):
    args = {"pretrained": tiny_hf, "device": "cpu", "dtype": "float32"}
    checks = Checks(judge={"model": "hf", "model_args": args, "max_gen_toks": 8})
    checks.say("judge", "ok")
    checks.say("judge verdict", "fail")
    args["pretrained"] = "someone/not-here"
    assert "HF_HUB_OFFLINE is set" in Checks(judge={"model": "hf", "model_args": args})["judge"][1]


# The translator


def translating(prompt):
    echo = re.search(r"Sentence: (.+)\n", prompt)
    if echo and "Hindi" in prompt:
        return echo[1]
    return "I have had a dry cough for 3 weeks but no fever. When should I see a doctor?"


def test_a_translator_is_tried_in_the_languages_asked_and_one_that_fails_has_a_line(serve):
    served = serve(translating)
    checks = Checks(translator=served.spec())
    checks.say("translations", "ok", "/ es, zh to en; es: 'I have")
    checks.say("translator hi", "fail")
    checks.say("translator", "ok")
    checks = Checks(translator=served.spec(), languages=["de", "ja"])
    checks.say("translations", "ok", "/ de, ja to en")
    assert any("semanas" in prompt for prompt in served.prompts)


def test_translations_in_a_file(tmp_path):
    good, bad = tmp_path / "ready.jsonl", tmp_path / "bad.jsonl"
    good.write_text('{"language": "es", "text": "Hola.", "translation": "Hello."}\n')
    bad.write_text("nonsense\n")
    checks = Checks(translator={"model": "file", "model_args": {"path": str(good)}})
    checks.say("translator", "ok")
    checks.say("translations", "off")
    checks = Checks(translator={"model": "file", "model_args": {"path": str(bad)}})
    checks.say("translator", "fail", "line 1")


def test_weights_that_are_not_there(monkeypatch, tmp_path):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(doctor_resources, "_hub_problem", lambda name: "not asked")
    spec = {"model": "seq2seq", "model_args": {"pretrained": "someone/not-here"}}
    Checks(translator=spec).say("translator", "warn", "a run would download it")
    assert constants.HF_HUB_OFFLINE is False
    spec["model_args"]["pretrained"] = str(tmp_path / "none")
    Checks(translator=spec).say("translator", "fail", "no such folder")


# Encoders and classifier


def test_encoders(tmp_path):
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path / "bert-base-uncased"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefgh"]
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=8,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)
    spec = {"model": str(folder), "layer": 1}
    checks = Checks(encoder=spec, source_encoder=False)
    checks.say("encoder", "ok", "(folder), layer 1, on")
    checks.say("source_encoder", "off")
    checks = Checks(encoder={**spec, "layer": 7}, source_encoder="someone/not-here")
    checks.say("encoder", "fail", "has 1 to 2")
    checks.say("source_encoder", "fail")


def test_the_default_encoder_may_be_absent(monkeypatch):
    monkeypatch.setattr(doctor_models, "weights_at", lambda *arguments: None)
    pytest.importorskip("torch")
    get = "hf download google-bert/bert-base-uncased"
    Checks().say("encoder", "warn", "no bertscore_*", get)


def test_a_classifier_is_loaded_and_asked(monkeypatch, tmp_path):
    Checks(f"empathy_classifier={tmp_path}").say("empathy", "fail")  # a folder that is none
    asked = []

    class Classifier:
        def profiles(self, pairs):
            asked.extend(pairs)
            return [(True, False, False)]

    fake = types.SimpleNamespace(load_classifier=lambda folder: Classifier())
    monkeypatch.setitem(sys.modules, "xling_tasks.models.empathy.classifier", fake)
    Checks(f"empathy_classifier={tmp_path}").say("empathy", "ok", "3 mechanisms")
    assert len(asked) == 1


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


def test_autoload_switched_off_and_another_lm_eval(slow_start, monkeypatch, tmp_path):
    monkeypatch.setenv("XLING_TASKS_AUTOLOAD", "0")
    command = tmp_path / "bin" / "lm_eval"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=os.pathsep)
    checks = Checks()
    off = ("XLING_TASKS_AUTOLOAD=0", "--include_path $(xling path)")
    checks.say("discovery", "warn", *off)
    checks.say("lm_eval", "warn", str(command))


def test_secrets_are_never_shown(serve, monkeypatch):
    secret = "sk-verysecret-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    monkeypatch.setenv("SOME_PASSWORD", "hunter22")
    monkeypatch.setenv("OTHER_PASSWORD", "rosebud")
    reply = f"Incorrect: it was {secret} or hunter22, rosebud, hf_abcdefghijkl"
    spec = serve(lambda prompt: reply).spec()
    words = ["api_key=sk-othersecret-1", '{"judge": {"api_key": "plain-one"']
    for text in (screen(*words, judge=spec), screen(*words, words=["--json"], judge=spec)):
        assert "Incorrect" in text and "OPENAI_API_KEY" in text
        for hidden in (secret, "hunter22", "rosebud", "hf_abc", "othersecret", "plain-one"):
            assert hidden not in text
    spec["model_args"]["base_url"] = "http://someone:pa55word@127.0.0.1:9/v1"
    assert "pa55word" not in screen(judge=spec)


def test_a_cache_that_cannot_be(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XLING_CACHE", str(tmp_path / "file" / "cache"))
    Checks().say("cache", "fail", "cannot be written to")
    Checks("xling_cache=false").say("cache", "off")
    with monkeypatch.context() as patch:
        patch.setattr(doctor_resources.ReplyStore, "get_many", lambda *keys: {})
        Checks(f"xling_cache={tmp_path}").say("cache", "fail", "cannot be read back")
    monkeypatch.setattr(doctor_resources, "_LITTLE_DISK", 1e9)
    Checks(f"xling_cache={tmp_path}").say("cache", "warn")


def test_accelerators(monkeypatch):
    torch = pytest.importorskip("torch")
    gib = 2**30
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: "H200")
    free = [(130 * gib, 139 * gib), (9 * gib, 139 * gib)]
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda index: free[index])
    checks = {line.check: line for line in doctor_resources.accelerators()}
    assert checks["GPU 0"].status == "ok" and "H200: 130.0 of 139.0" in checks["GPU 0"].found
    assert checks["GPU 1"].status == "warn"
    monkeypatch.setattr(doctor_resources, "find_spec", lambda name: None)
    (none,) = doctor_resources.accelerators()
    assert none.status == "off" and none.found.startswith("no torch")


def test_prompts_of_the_users_and_nothing_is_left_changed(tmp_path):
    from huggingface_hub import constants

    def state():
        return dict(os.environ), constants.HF_HUB_OFFLINE, logging.root.manager.disable, sys.stderr

    before = state()
    (tmp_path / "p.yaml").write_text("jugde: x\n")
    checks = Checks(f"prompts={tmp_path / 'p.yaml'}", "prompts_file=none.jsonl")
    checks.say("prompts", "fail", "Did you mean 'judge'")
    assert before == state()


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


def test_the_command_shows_the_whole_screen_and_fails(serve):
    judge = json.dumps({"judge": serve(lambda prompt: "Nö.").spec()})
    words = [str(Path(sys.executable).parent / "xling"), "doctor", "--metadata", "kk=1", judge]
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stderr
    assert "fail  settings" in done.stdout and "fail  judge verdict" in done.stdout
    assert "API keys" in done.stdout and "Traceback" not in done.stdout + done.stderr
    assert "N\\xf6." in done.stdout
