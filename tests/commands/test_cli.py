"""The command line: help, errors of one line, signals, settings as lm_eval takes them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from xling_tasks.cli import COMMANDS, help_text, main, parse
from xling_tasks.commands.options import read_metadata
from xling_tasks.errors import SettingError
from xling_tasks.settings import Settings

KINDS = ("data check", "data new", "submit mmedbench", "submit hf", "export mmedbench-train",
         "export trained-prompts")  # fmt: skip
DEMO = "cost --tasks xlinghealth_correctness_demo_en"


@pytest.mark.core
def test_help_lists_the_commands_on_one_screen_without_importing_one(capsys):
    code = (
        "import sys; from xling_tasks.cli import main; main(['--help'])\n"
        "print(sorted({*sys.modules} & {'numpy', 'lm_eval', 'xling_tasks.commands.options'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *lines, imported = done.stdout.splitlines()
    assert imported == "[]" and len(lines) < 25 and max(map(len, lines)) <= 100
    assert all(f"  {name} " in done.stdout for name in COMMANDS) and len(COMMANDS) <= 20
    assert main([]) == 0 and capsys.readouterr().out.rstrip() == help_text()


@pytest.mark.core
@pytest.mark.parametrize("name", [*COMMANDS, *KINDS])
def test_help_of_a_command_fits_a_screen(capsys, name):
    with pytest.raises(SystemExit) as ended:
        main([*name.split(), "--help"])
    text = capsys.readouterr().out
    assert ended.value.code == 0 and text.startswith(f"usage: xling {name} ")
    assert len(text.splitlines()) <= 40


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("reprot out", "reprot: unknown command. Did you mean 'report'?"),
        ("submit hff out", "invalid choice: 'hff' (choose from "),
        ("data --jsn", "unrecognized arguments: --jsn (see xling data --help)"),
        ("cost --tasks arc_easy", "--tasks arc_easy: not one of ours; `lm_eval ls tasks`"),
        (f"{DEMO} --tokenizer nope/nope", "--tokenizer nope/nope: cannot be loaded"),
        (f"{DEMO} --limit 0", "--limit: must be an integer from 1, got '0'"),
        ("data --metadata {bad", "not valid JSON"),
        ("data --metadata data_dir=nobody-has-it", "there is no such file or folder"),
        ("round-trip", """set the translator and judge, as for the tasks: --metadata '{"translator": {"model": """),
        ("report ~whom-nobody-knows/x", "~whom-nobody-knows/x"),
    ],
)  # fmt: skip
def test_errors_are_one_line(capsys, words, message):
    if "--tokenizer" in words:
        pytest.importorskip("transformers")
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_command_in_one_line(sent, status):
    code = (
        "import signal, sys, time; from xling_tasks import cli\n"
        # A shell lets what it starts in the background ignore Ctrl-C, and children inherit that.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from xling_tasks.commands import cost\n"
        "cost.load_tasks = lambda *_: (print('ready', flush=True), time.sleep(60))\n"
        f"sys.argv = ['xling', *{DEMO.split()!r}]; sys.exit(cli.main())"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout.readline() == "ready\n"
    os.kill(run.pid, sent)
    _, error = run.communicate(timeout=60)
    assert run.returncode == status
    assert error in ("xling: interrupted\n", "xling: terminated\n")


def test_a_tilde_is_the_home_folder_also_where_no_shell_reads_it(monkeypatch, tmp_path):
    home = Path.home()
    options = parse(["annotate", "~/out", "--to=~/page.html"])
    assert (options.out_dir, options.to) == (home / "out", home / "page.html")
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = Settings.parse(read_metadata(["encoder=~/bert"]), {})
    assert json.loads(settings.encoder.arguments)["model"] == str(tmp_path / "bert")


def test_data_lists_what_is_there_and_what_is_missing(capsys, tmp_path):
    assert main(["data", "--metadata", f"data_dir={tmp_path}"]) == 0
    out = capsys.readouterr().out
    assert "| demo " in out and "| 120 " in out and "no LiveQA in it" in out
    assert "Texts of our prompts: " in out and "back_translated" in out


def test_metadata_words_are_cut_as_lm_eval_cuts_them():
    words = ["a=[0.0,1]", "data_dir=/a,b/c,judge=self", "c=true", "languages=[es,hi]",
             '{"d": {"e": 1}, "encoder": false}']  # fmt: skip
    assert read_metadata(words) == {
        "a": [0.0, 1], "data_dir": "/a,b/c", "judge": "self", "c": True, "languages": "[es,hi]",
        "d": {"e": 1}, "encoder": False,
    }  # fmt: skip
    with pytest.raises(SettingError):
        read_metadata(["{"])
