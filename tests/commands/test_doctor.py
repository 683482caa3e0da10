"""`xling doctor`: what it says about good, bad, silent and hostile surroundings."""

from __future__ import annotations

import json
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
from xling_tasks.commands.doctor import (
    checks as doctor_checks,
)
from xling_tasks.commands.doctor import (
    models as doctor_models,
)
from xling_tasks.commands.doctor import (
    resources as doctor_resources,
)
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import SettingError

BIN = Path(sys.executable).parent
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


def screen(*metadata, words=()):
    given = ["--metadata", *metadata] if metadata else []
    options = parsed(["doctor", "--timeout", "600", *words, *given])
    return options.run(options)


def lines(*metadata, words=()):
    """Every line by its check's name; several of one name are joined."""
    output = screen(*metadata, words=["--json", *words])
    checks = json.loads(output)["checks"]
    assert all(line["status"] in STATUSES and line["found"] for line in checks)
    assert output.status == int(any(line["status"] == "fail" for line in checks))
    by_name = {}
    for line in checks:
        by_name.setdefault(line["check"], []).append(line)
    return {
        name: {
            "status": own[0]["status"],
            "text": " / ".join(f"{x['found']} -> {x['todo']}" for x in own),
        }
        for name, own in by_name.items()
    }


def status(checks):
    return {name: line["status"] for name, line in checks.items()}


def judge_reply(prompt):
    """A judge that answers in form, and rightly."""
    if match := re.search(r"^VERDICT (\w+): option", prompt, re.M):
        return f"They conflict.\n\nVERDICT {match[1]}: contradictory"
    return scripted.reply(prompt)


def as_json(**settings):
    return json.dumps(settings)


# The screen


def test_nothing_set_is_no_error(slow_start, monkeypatch):
    found = [*doctor_checks.discovery(600)]
    monkeypatch.setattr(doctor_checks, "discovery", lambda seconds: iter(found))
    text = screen()
    assert text.status == 0
    rows = text.splitlines()
    assert all(row.split()[0] in STATUSES for row in rows[1:-1])
    assert re.fullmatch(r"\d+ ok, \d+ off, \d+ warn, 0 fail .*", rows[-1])
    checks = lines()
    assert {"python", "packages", "discovery", "settings", "cache", "GPU"} <= set(checks)
    assert {"extra hf", "extra vllm", "extra topics"} <= set(checks)
    assert {name: checks[name]["status"] for name in ("judge", "translator", "empathy")} == {
        "judge": "off",
        "translator": "off",
        "empathy": "off",
    }
    assert "labels answers" in checks["judge"]["text"]
    assert checks["discovery"]["status"] == "ok" and "xling_replay" in checks["discovery"]["text"]
    assert "(>=0.4.13)" in checks["packages"]["text"]


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
    checks = lines("temperture=1", "k=0", "noequals", "{bad", f"data_dir={tmp_path / 'none'}")
    text = checks["settings"]["text"]
    assert "Did you mean 'temperatures'" in text and "k: must be a positive integer" in text
    assert "expected JSON or key=value" in text and "not valid JSON" in text
    assert "used: data_dir" in text
    assert checks["data liveqa"]["status"] == "fail"


def test_a_timeout_must_be_a_time():
    with pytest.raises(SettingError, match="--timeout"):
        screen(words=["--timeout", "0"])


@pytest.mark.parametrize("error", [RuntimeError("boom\nsecond line"), SystemExit(3)])
def test_a_crash_is_a_line_and_the_others_go_on(monkeypatch, error):
    def crash():
        yield doctor_checks.Line("python", "ok", "so far good")
        raise error

    monkeypatch.setattr(doctor_checks, "python", crash)
    monkeypatch.setattr(doctor_resources, "accelerators", lambda: 1 / 0)
    checks = lines()
    assert (
        "so far good" in checks["python"]["text"]
        and type(error).__name__ in checks["python"]["text"]
    )
    assert checks["GPU"]["status"] == "fail" and "ZeroDivisionError" in checks["GPU"]["text"]
    assert checks["API keys"] and checks["cache"]["status"] == "ok"
    assert " ".join(str(error).split()) in checks["python"]["text"]


# The judge


def test_a_good_judge_is_really_asked_every_time(serve):
    served = serve(judge_reply)
    for times in (1, 2):
        checks = lines(as_json(judge=served.spec()))
        names = ("judge", "judge verdict", "judge claims", "judge support")
        assert {name: checks[name]["status"] for name in names} == dict.fromkeys(names, "ok"), (
            checks
        )
        assert len(served.prompts) == 3 * times


def test_every_judge_of_a_jury_is_tried_and_the_first_with_claims(serve):
    good, poor = serve(judge_reply), serve(lambda prompt: "It looks fine to me.")
    other = {**poor.spec(), "model_args": {**poor.spec()["model_args"], "model": "b"}}
    checks = lines(as_json(judge=[{**good.spec(), "name": "large"}, other]))
    for name in ("judge large", "judge large verdict", "judge large claims", "judge large support"):
        assert checks[name]["status"] == "ok"
    assert checks["judge 2"]["status"] == "ok" and checks["judge 2 verdict"]["status"] == "fail"
    assert "judge 2 claims" not in checks and "judge" not in checks


def test_a_judge_out_of_form_fails_with_what_it_said(serve):
    served = serve(lambda prompt: "I think \x1b[31mthat\u202e is fine.")
    checks = lines(as_json(judge=served.spec()))
    assert checks["judge"]["status"] == "ok"
    for name in ("judge verdict", "judge claims", "judge support"):
        assert checks[name]["status"] == "fail"
        assert "is fine." in checks[name]["text"] and "max_gen_toks" in checks[name]["text"]
    text = screen(as_json(judge=served.spec()))
    assert "\x1b" not in text and "\u202e" not in text


def test_a_judge_in_form_but_wrong_is_a_warning(serve):
    def reply(prompt):
        said = judge_reply(prompt).replace("contradictory", "more comprehensive and appropriate")
        return said.replace("NOT SUPPORTED", "SUPPORTED")

    checks = lines(as_json(judge=serve(reply).spec()))
    assert checks["judge verdict"]["status"] == checks["judge support"]["status"] == "warn"
    assert "more_comprehensive" in checks["judge verdict"]["text"]


def test_a_judge_that_answers_once_and_then_fails(serve):
    served = serve(lambda prompt: "ready" if "ready" in prompt else None)
    checks = lines(as_json(judge=served.spec()))
    assert checks["judge"]["status"] == "ok" and checks["judge verdict"]["status"] == "fail"
    assert "no reply" in checks["judge verdict"]["text"]


def test_a_server_that_refuses(serve):
    served = serve(judge_reply)
    served.fail_with = 500
    checks = lines(as_json(judge=served.spec()))
    assert checks["judge"]["status"] == "fail" and "does not answer" in checks["judge"]["text"]
    assert "judge verdict" not in checks and checks["cache"]["status"] == "ok"


def test_a_dead_server_and_one_that_never_answers():
    with socket.socket() as silent, socket.socket() as closed:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        closed.bind(("127.0.0.1", 0))
        dead, mute = closed.getsockname()[1], silent.getsockname()[1]
        closed.close()

        def spec(port):
            url = f"http://127.0.0.1:{port}/v1/chat/completions"
            args = {"model": "x", "base_url": url, "max_retries": 1}
            return {"model": "local-chat-completions", "model_args": args}

        judge = lines(as_json(judge=spec(dead)))["judge"]
        # Whatever else does not end within a second, on a machine that is busy, is a line too.
        start = time.monotonic()
        checks = lines(as_json(translator=spec(mute)), words=["--timeout", "1"])
        assert time.monotonic() - start < 200  # the harness would wait for 300 s
    assert judge["status"] == "fail" and "no connection to 127.0.0.1" in judge["text"]
    assert "ConnectionRefused" in judge["text"]
    assert "did not end within 1 s" in checks["translator"]["text"]
    assert checks["API keys"]


@pytest.mark.parametrize(
    ("word", "status"), [("NO", "ok"), ("YES", "fail"), ("NONE", "fail"), ("perhaps", "fail")]
)
def test_a_reader_is_given_a_plain_reply(serve, word, status):
    def reply(prompt):
        code = re.search(r"ANSWER (\w+): WORD", prompt)
        return f"ANSWER {code[1]}: {word}" if code else "ready"

    checks = lines(as_json(reader=serve(reply).spec()))
    assert checks["reader"]["status"] == status


def test_judges_that_are_not_asked_here():
    assert lines("judge=self", "translator=self")["judge"]["status"] == "off"
    checks = lines("judge=hff")
    assert checks["judge"]["status"] == "fail" and "hff" in checks["judge"]["text"]


def test_a_local_judge_is_loaded_only_from_this_machine(tiny_hf):
    args = {"pretrained": tiny_hf, "device": "cpu", "dtype": "float32"}
    checks = lines(as_json(judge={"model": "hf", "model_args": args, "max_gen_toks": 8}))
    assert checks["judge"]["status"] == "ok" and checks["judge verdict"]["status"] == "fail"
    args["pretrained"] = "someone/not-here"
    checks = lines(as_json(judge={"model": "hf", "model_args": args}))
    assert "HF_HUB_OFFLINE is set" in checks["judge"]["text"]


# The translator


def translating(prompt):
    return "I have had a dry cough for 3 weeks but no fever. When should I see a doctor?"


def test_a_translator_is_tried_in_the_languages_asked(serve):
    served = serve(translating)
    checks = lines(as_json(translator=served.spec()))
    assert checks["translations"]["status"] == "ok", checks
    assert checks["translations"]["text"].startswith("es, zh, hi to en; es: 'I have")
    checks = lines(as_json(translator=served.spec(), languages=["de", "ja"]))
    assert checks["translations"]["text"].startswith("de, ja to en")
    assert any("semanas" in prompt for prompt in served.prompts)


def test_a_language_that_fails_has_a_line_of_its_own(serve):
    def reply(prompt):
        echo = re.search(r"Sentence: (.+)\n", prompt)
        return echo[1] if echo and "Hindi" in prompt else translating(prompt)

    checks = lines(as_json(translator=serve(reply).spec()))
    assert checks["translator hi"]["status"] == "fail" and checks["translator"]["status"] == "ok"
    assert checks["translations"]["text"].startswith("es, zh to en")


def test_translations_in_a_file(tmp_path):
    file = tmp_path / "ready.jsonl"
    file.write_text('{"language": "es", "text": "Hola.", "translation": "Hello."}\n')
    spec = {"model": "file", "model_args": {"path": str(file)}}
    checks = lines(as_json(translator=spec))
    assert checks["translator"]["status"] == "ok" and checks["translations"]["status"] == "off"
    spec["model_args"]["path"] = str(tmp_path / "bad.jsonl")
    (tmp_path / "bad.jsonl").write_text("nonsense\n")
    checks = lines(as_json(translator=spec))
    assert checks["translator"]["status"] == "fail" and "line 1" in checks["translator"]["text"]


def test_weights_that_are_not_there(monkeypatch, tmp_path):
    from huggingface_hub import constants

    spec = {"model": "seq2seq", "model_args": {"pretrained": "someone/not-here"}}
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(doctor_resources, "_hub_problem", lambda name: "not asked")
    checks = lines(as_json(translator=spec))
    assert checks["translator"]["status"] == "warn"
    assert "a run would download it" in checks["translator"]["text"]
    assert constants.HF_HUB_OFFLINE is False
    spec["model_args"]["pretrained"] = str(tmp_path / "none")
    checks = lines(as_json(translator=spec))
    assert (
        checks["translator"]["status"] == "fail"
        and "no such folder" in checks["translator"]["text"]
    )


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
    checks = lines(as_json(encoder=spec, source_encoder=False))
    assert checks["encoder"]["status"] == "ok", checks["encoder"]
    assert "(folder), layer 1, on" in checks["encoder"]["text"]
    assert checks["source_encoder"]["status"] == "off"
    checks = lines(as_json(encoder={**spec, "layer": 7}, source_encoder="someone/not-here"))
    assert checks["encoder"]["status"] == "fail" and "has 1 to 2" in checks["encoder"]["text"]
    assert checks["source_encoder"]["status"] == "fail"


def test_the_default_encoder_may_be_absent(monkeypatch, tmp_path):
    monkeypatch.setattr(doctor_models, "weights_at", lambda *arguments: None)
    pytest.importorskip("torch")
    check = lines()["encoder"]
    assert check["status"] == "warn" and "no bertscore_*" in check["text"]
    assert "hf download google-bert/bert-base-uncased" in check["text"]


def test_a_classifier_is_loaded_and_asked(monkeypatch, tmp_path):
    asked = []

    class Classifier:
        def profiles(self, pairs):
            asked.extend(pairs)
            return [(True, False, False)]

    fake = types.SimpleNamespace(load_classifier=lambda folder: Classifier())
    monkeypatch.setitem(sys.modules, "xling_tasks.models.empathy.classifier", fake)
    check = lines(f"empathy_classifier={tmp_path}")["empathy"]
    assert check["status"] == "ok" and len(asked) == 1 and "3 mechanisms" in check["text"]


def test_a_folder_that_is_no_classifier(tmp_path):
    checks = lines(f"empathy_classifier={tmp_path}")
    assert checks["empathy"]["status"] == "fail"


# Data


def test_data_in_a_folder(tmp_path):
    shutil.copy(SAMPLE_FOLDER / "xlinghealth_demo.jsonl", tmp_path / "HealthQA.jsonl")
    (tmp_path / "LiveQA.xlsx").write_bytes(b"PK\x03\x04 but no workbook")
    checks = lines(f"data_dir={tmp_path}")
    assert checks["data demo"]["status"] == "ok"
    assert checks["data liveqa"]["status"] == "fail"
    assert checks["data medicationqa"]["status"] == checks["data mmedbench"]["status"] == "off"
    assert "no MedicationQA in it" in checks["data medicationqa"]["text"]


def test_a_folder_with_nothing_in_it_is_a_failure(tmp_path):
    checks = lines(f"data_dir={tmp_path}")
    assert {checks[f"data {key}"]["status"] for key in ("healthqa", "liveqa", "mmedbench")} == {
        "fail"
    }


def test_offline_is_respected():
    checks = lines()
    assert (
        checks["data liveqa"]["status"] == "warn"
        and "data_dir=FOLDER" in checks["data liveqa"]["text"]
    )
    assert lines("dataset=someone/else")["data liveqa"]["status"] == "fail"


@pytest.fixture
def hub(hub, monkeypatch):
    from huggingface_hub import constants

    hub.repositories = {"": {"LiveQA.xlsx": b"x", "MMedBench.zip": b"x"}}
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    url = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url)
    return hub


def test_a_gated_dataset(hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_thisisasecret123")
    checks = lines()
    assert checks["data liveqa"]["status"] == checks["data mmedbench"]["status"] == "ok"
    asked = [path for path in hub.asked if "datasets/" in path]
    assert len(asked) == 4  # two questions per repository, not per dataset
    hub.gated = True
    check = lines()["data liveqa"]
    assert check["status"] == "warn" and "gated" in check["text"]
    assert "GatedRepoError" in check["text"] and "check network" not in check["text"]
    assert "accept the terms at https://huggingface.co/datasets/claws-lab" in check["text"]
    assert "thisisasecret" not in screen()
    assert lines("dataset=a/b")["data liveqa"]["status"] == "fail"


# Discovery


def test_autoload_switched_off(slow_start, monkeypatch):
    monkeypatch.setenv("XLING_TASKS_AUTOLOAD", "0")
    check = lines()["discovery"]
    assert check["status"] == "warn" and "XLING_TASKS_AUTOLOAD=0" in check["text"]
    assert "--include_path $(xling path)" in check["text"]


def test_another_lm_eval_comes_first(slow_start, monkeypatch, tmp_path):
    command = tmp_path / "bin" / "lm_eval"
    command.parent.mkdir()
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", str(command.parent), prepend=os.pathsep)
    check = lines()["lm_eval"]
    assert check["status"] == "warn" and str(command) in check["text"]


# Surroundings


def test_secrets_are_never_shown(serve, monkeypatch):
    secret = "sk-verysecret-0123456789"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    monkeypatch.setenv("SOME_PASSWORD", "hunter22")
    monkeypatch.setenv("OTHER_PASSWORD", "rosebud")
    reply = f"Incorrect: it was {secret} or hunter22, rosebud, hf_abcdefghijkl"
    served = serve(lambda prompt: reply)
    words = [
        as_json(judge=served.spec()),
        "api_key=sk-othersecret-1",
        '{"judge": {"api_key": "plain-one"',
    ]
    for text in (screen(*words), screen(*words, words=["--json"])):
        assert "Incorrect" in text and "OPENAI_API_KEY" in text
        for hidden in (secret, "hunter22", "rosebud", "hf_abc", "othersecret", "plain-one"):
            assert hidden not in text
    spec = served.spec()
    spec["model_args"]["base_url"] = "http://someone:pa55word@127.0.0.1:9/v1"
    assert "pa55word" not in screen(as_json(judge=spec))


def test_a_cache_that_cannot_be(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XLING_CACHE", str(tmp_path / "file" / "cache"))
    check = lines()["cache"]
    assert check["status"] == "fail" and "cannot be written to" in check["text"]
    assert lines("xling_cache=false")["cache"]["status"] == "off"
    monkeypatch.setattr(doctor_resources.ReplyStore, "get_many", lambda *keys: {})
    check = lines(f"xling_cache={tmp_path}")["cache"]
    assert check["status"] == "fail" and "cannot be read back" in check["text"]


def test_little_room(monkeypatch):
    monkeypatch.setattr(doctor_resources, "_LITTLE_DISK", 1e9)
    assert lines()["cache"]["status"] == "warn"


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


def test_prompts_of_the_users(tmp_path):
    (tmp_path / "p.yaml").write_text("jugde: x\n")
    checks = lines(f"prompts={tmp_path / 'p.yaml'}", "prompts_file=none.jsonl")
    assert (
        checks["prompts"]["status"] == "fail"
        and "Did you mean 'judge'" in checks["prompts"]["text"]
    )


def test_nothing_is_left_changed():
    import logging

    from huggingface_hub import constants

    before = dict(os.environ), constants.HF_HUB_OFFLINE, logging.root.manager.disable, sys.stderr
    screen()
    assert before == (
        dict(os.environ), constants.HF_HUB_OFFLINE, logging.root.manager.disable, sys.stderr,
    )  # fmt: skip


def test_without_a_network_no_server_is_waited_for_long_or_asked_twice(monkeypatch, capsys):
    from huggingface_hub import constants

    monkeypatch.setattr(doctor_resources, "HUB_SECONDS", 0.5)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    args = {"model": "x", "base_url": "http://judge.invalid/v1/chat/completions"}
    judge = as_json(judge={"model": "local-chat-completions", "model_args": args})
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        text = screen(judge)
    assert text.status == 1 and "no connection to judge.invalid" in text
    assert "did not end within 0.5 s" in text and text.count("cannot be reached") <= 6
    assert capsys.readouterr().err == ""


# As a user types it


def test_the_command_shows_the_whole_screen_and_fails(serve):
    served = serve(lambda prompt: "Nö.")
    words = ["doctor", "--metadata", "kk=1", as_json(judge=served.spec())]
    done = subprocess.run(
        [str(BIN / "xling"), *words], env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "fail  settings" in done.stdout and "fail  judge verdict" in done.stdout
    assert "API keys" in done.stdout and "Traceback" not in done.stdout + done.stderr
    assert "N\\xf6." in done.stdout
