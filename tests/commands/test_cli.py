"""The commands, as functions and as a user types them."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import builders
import pytest
import scripted
from xling_metrics.stats.resampling import LEVEL, RESAMPLES

from xling_tasks.cli import COMMANDS, ROOMS, describe, main, parsed
from xling_tasks.commands.options import read_metadata
from xling_tasks.commands.submit.mmedbench import KINDS
from xling_tasks.commands.table import table
from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.errors import SettingError
from xling_tasks.models.empathy.classifier import BACKENDS
from xling_tasks.settings import Settings


def xling(capsys, *words: str) -> str:
    assert main(words) == 0
    return capsys.readouterr().out


def costs(capsys, tasks, *words, **settings):
    """The first row of `xling cost` for a task and a role."""
    words = ("cost", "--tasks", tasks, "--json", *words, "--metadata", json.dumps(settings))
    return {(row["task"], row["role"]): row for row in json.loads(xling(capsys, *words))[::-1]}


def test_cost_counts_what_a_run_asks_for(capsys, run, serve):
    served = serve(scripted.judged)
    settings = {"judge": served.spec(), "greedy_repeats": "once"}
    rows = costs(capsys, "xlinghealth_demo", **settings)
    assert served.requests == []
    results = run("xlinghealth_demo", metadata={**settings, "topic_seeds": 0})
    for task, samples in results["samples"].items():
        asked = sum(len(group) for sample in samples for group in sample["resps"])
        assert rows[task, "model"]["requests"] == asked
    assert rows["total", "judge"]["requests"] == len(served.prompts)
    total = rows["total", "model"]
    # Per language 24 answers, 24 x 11 answers of consistency, and 120 rows x 2 temperatures.
    assert total["kind"] == "generate_until"
    assert total["requests"] == len(DATASETS["demo"].languages) * (24 + 24 * 11 + 240)


def test_cost_follows_limit_temperatures_and_translation_by_a_model(capsys):
    task = "xlinghealth_verifiability_demo_en"
    rows = costs(capsys, task, "--limit", "2", temperatures=[0.0, 0.5, 1.0])
    one = rows[task, "model"]
    assert one["requests"] == rows["total", "model"]["requests"] == 2 * 5 * 3
    assert one["max_output_tokens"] == 30 * 64 and one["prompt_tokens"] > 30 * 100
    settings = {"translator": {"model": "xling_baseline"}, "k": 3, "greedy_repeats": "once"}
    rows = costs(capsys, "xlinghealth_consistency_demo_*", **settings)
    # A request per sentence of an answer, for which the reference stands in: 103 in 24 of them.
    assert rows["xlinghealth_consistency_demo_hi", "translator"]["requests"] == 103 * 4
    assert ("xlinghealth_consistency_demo_en", "translator") not in rows


def test_cost_for_people_says_what_only_the_answers_decide(capsys, serve):
    spec = serve(lambda prompt: "ready").spec()

    def said(tasks, **settings):
        return xling(capsys, "cost", "--tasks", tasks, "--metadata", json.dumps(settings))

    out = said("xlinghealth_correctness_demo_*")
    assert "| total " in out and "estimated from characters" in out
    assert "stand in for answers" not in out
    out = said("xlinghealth_information_demo", judge=spec, translator=spec)
    assert "judge, translator: what they will read is not written yet" in out
    assert "translator: a request per sentence" in out and "over 30 claims" in out
    out = said("xlinghealth_correctness_demo_en", judge=spec)
    assert "judge: what they will read is not written yet" in out and "30 claims" not in out
    assert "the most that there can be" in out and "translator" not in out
    for role in ("judge", "answer_extractor", "translator"):  # no run could ask it
        settings = json.dumps({role: {"model": "gpt9"}})
        words = ("cost", "--tasks", "xlinghealth_correctness_demo_en", "--metadata", settings)
        assert main(words) == 2
        error = capsys.readouterr().err
        assert f"{role}.model: " in error and "gpt9" in error


def test_cost_in_dollars_by_calls_and_by_batches(capsys):
    sample = Path(__file__).parents[2] / "xling_tasks/data/sample/rubric_demo.jsonl"
    settings = {"data_dir": str(sample), "judge": {"model": "xling_baseline"}}
    task, price = "xling_custom_rubric", ("--price", "judge=2.5/10")
    rows = costs(capsys, task, *price, "--shared-from", "128", **settings)
    judge = rows["total", "judge"]
    sent, shared, back = (judge[f"{k}_tokens"] for k in ("prompt", "shared", "max_output"))
    assert judge["dollars"] == pytest.approx((2.5 * sent + 10 * back) / 1e6)
    assert judge["dollars_batch"] == pytest.approx(judge["dollars"] / 2)
    assert judge["dollars_shared"] == pytest.approx(judge["dollars"] - 0.9 * 2.5 * shared / 1e6)
    assert 0.7 < shared / sent < 0.9 and rows["total", "model"]["dollars"] is None
    # Services that bill long beginnings alone see none here. A price for each role.
    rows = costs(capsys, task, *price, "model=1/2", **settings)
    assert {row["shared_tokens"] for row in rows.values()} == {0}
    model = rows["total", "model"]
    cost = (model["prompt_tokens"] + 2 * model["max_output_tokens"]) / 1e6
    assert model["dollars"] == pytest.approx(cost)
    words = ["cost", "--tasks", task, "--metadata", json.dumps(settings), "--price"]
    for wrong, said in (("judge=2.5", "write ROLE=IN/OUT"), ("reader=1/2", "no such role here")):
        assert main([*words, wrong]) == 2
        assert said in capsys.readouterr().err


def test_cost_with_a_real_tokenizer(capsys, tiny_hf):
    from transformers import AutoTokenizer

    from xling_tasks.commands.cost import load_tasks

    name = "xlinghealth_verifiability_ll_demo_hi"
    estimated, exact = (
        costs(capsys, name, "--limit", "1", *more)[name, "model"]["prompt_tokens"]
        for more in ((), ("--tokenizer", tiny_hf))
    )
    tokenizer = AutoTokenizer.from_pretrained(tiny_hf)
    (task,) = load_tasks(name, {})
    asked = task.fewshot_context(task.eval_docs[0], num_fewshot=0)
    assert exact == sum(len(tokenizer.tokenize(c + w)) for c in asked for w in (" Yes", " No"))
    assert estimated != exact


def test_data_lists_what_is_there_and_what_is_missing(capsys, tmp_path):
    out = xling(capsys, "data", "--metadata", f"data_dir={tmp_path}")
    assert "| demo " in out and "| 120 " in out and "no LiveQA in it" in out
    assert "back_translated" in out and "| information |" in out and "how far each language" in out


DEMO = "cost --tasks xlinghealth_correctness_demo_en"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("cost --tasks xlinghealth_dmo", "did you mean 'xlinghealth_demo'?"),
        ("cost --tasks xling_informaton", "did you mean 'xling_information'?"),
        ("cost --tasks arc_easy", "--tasks arc_easy: not one of ours; `lm_eval ls tasks`"),
        (f"{DEMO} --metadata temperture=1", "Did you mean 'temperatures'"),
        (f"{DEMO} --tokenizer nope/nope", "--tokenizer nope/nope: cannot be loaded"),
        (f"{DEMO} --limit 0", "--limit: must be an integer from 1, got 0"),
        (f"{DEMO} --limit two", "--limit: must be an integer from 1, got 'two'"),
        (f"{DEMO} --limit 1.5", "--limit: must be an integer from 1, got '1.5'"),
        ("data --metadata {bad", "not valid JSON"),
        ("data --metadata data_dir=nobody-has-it", "there is no such file or folder"),
        ("data --metadata word", "expected JSON or key=value"),
        ("check translator", """set the translator and judge, as for the tasks: --metadata '{"translator": {"model": """),
    ],
)  # fmt: skip
def test_errors_are_one_line(capsys, words, message):
    if "--tokenizer" in words:
        pytest.importorskip("transformers")
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_a_missing_extra_is_one_line(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    model = '{"model": "xling_baseline"}'
    settings = (f"translator={model}", f"judge={model}")
    assert main(["check", "translator", "--metadata", *settings]) == 2
    error = capsys.readouterr().err
    assert 'pip install "xling-tasks[th]"' in error and "Traceback" not in error


@pytest.mark.core
@pytest.mark.parametrize(
    ("words", "start", "end"),
    [
        (["reprot", "out"], "usage: xling ", " Did you mean report?"),
        (["empathy", "trian"], "usage: xling empathy ", " Did you mean train?"),
        (["submit", "hff", "out"], "usage: xling submit ", " Did you mean hf?"),
        (["data", "--jsn"], "usage: xling data ", "arguments: --jsn. Did you mean --json?"),
        (["cost", "--tasks", "x", "--limits=3"], "usage: xling cost ", " Did you mean --limit?"),
        (["submit", "mmedbench", "out", "--to", "x", "--no-tf"], "usage: xling submit mmedbench ", " Did you mean --no-ft?"),
        (["data", "--zzz"], "usage: xling data ", "unrecognized arguments: --zzz"),
        (["data", "check", "--jsno", "a=b", "own.jsonl"], "usage: xling data check ", "arguments: --jsno. Did you mean --json?"),
        (["xyzzy"], "usage: xling ", ")"),
        (["check"], "usage: xling check ", "required: {translator}"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_what_is_misspelt_is_told_with_what_was_meant(capsys, words, start, end):
    with pytest.raises(SystemExit) as ended:
        main(words)
    said = capsys.readouterr()
    assert ended.value.code == 2 and said.out == ""
    assert said.err.startswith(start) and said.err.rstrip("\n").endswith(end)
    assert said.err.splitlines()[-1].startswith(start.removeprefix("usage: ").strip() + ": error: ")


@pytest.mark.core
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("annotate out --to p.html --metadata k=2", "--metadata is for --form translation"),
        ("annotate out --form translation --to p.html --blind", "--blind is for --form judge"),
        ("rank a b --to r --human-ranks h.csv --prompts p.yaml", "--prompts is for --judge"),
        ("empathy train --data d --to e --lr 1", "--lr is for --backend transformer"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(words, said):
    with pytest.raises(SettingError, match=said):
        parsed(words.split())


@pytest.mark.core
@pytest.mark.parametrize(
    "words",
    [
        "annotate out --to p.html --metadata k=2 --form translation",
        "annotate out --to p.html --blind --n 50",
        "rank a b --to r --human-ranks h.csv --prompts p.yaml --judge x",
        "empathy train --data d --to e --lr 1 --backend transformer",
    ],
)
def test_an_option_is_taken_with_what_it_is_for(words):
    assert parsed(words.split())


def test_a_tilde_is_the_home_folder_also_where_no_shell_reads_it(monkeypatch, tmp_path):
    home = Path.home()
    options = parsed(["annotate", "~/out", "--to=~/page.html"])
    assert (options.out_dir, options.to) == (home / "out", home / "page.html")
    options = parsed(["agreement", "~/a.json", "--pages=~/page.html"])
    assert (options.files, options.pages) == ([home / "a.json"], [home / "page.html"])
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = Settings.parse(read_metadata(["encoder=~/bert"]), {})
    assert json.loads(settings.encoder.arguments)["model"] == str(tmp_path / "bert")


def test_the_home_folder_of_a_user_whom_nobody_knows_is_a_folder_that_is_not_there(capsys):
    nobody = "~whom-nobody-knows/x"
    commands = [
        ("report", nobody), ("compare", f"a={nobody}", nobody), ("view", nobody),
        ("agreement", nobody), ("data", "check", nobody),
        ("empathy", "judge", "--data", nobody, "--metadata", "judge=xling_baseline"),
        *(("cost", "--tasks", "xling_custom_mcqa", "--metadata", f"{key}={nobody}")
          for key in ("data_dir", "prompt_templates")),
    ]  # fmt: skip
    for words in commands:
        assert main(words) == 2, words
        error = capsys.readouterr().err
        assert nobody in error and "Traceback" not in error


@pytest.mark.core
def test_help_lists_every_command_and_asks_for_no_command_and_no_spelling():
    code = (
        "import sys; from xling_tasks.cli import parsed\n"
        "try: parsed(['--help'])\n"
        "except SystemExit as ended: assert not ended.code\n"
        "print(sorted({*sys.modules} & {'numpy', 'lm_eval', 'xling_tasks.commands.options'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *listed, imported = (line.strip() for line in done.stdout.splitlines())
    assert imported == "[]" and "usage: xling" in done.stdout
    assert all(any(line.startswith(f"{name} ") for line in listed) for name in COMMANDS)


@pytest.mark.core
@pytest.mark.parametrize("name", [*COMMANDS])
def test_every_command_has_its_own_help(capsys, name):
    with pytest.raises(SystemExit) as ended:
        main([*name.split(), "--help"])
    said = capsys.readouterr()
    assert ended.value.code == 0 and said.out.startswith(f"usage: xling {name} ")


def parsers(parser: argparse.ArgumentParser | None = None, name: str = ""):
    """The parsers of all commands, or of one and those below it, with their names."""
    if parser is None:
        for name, row in COMMANDS.items():
            parser = argparse.ArgumentParser(prog=name)
            describe(parser, row)
            yield from parsers(parser, name)
        return
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, below in action.choices.items():
                yield from parsers(below, f"{name} {word}")


def arguments():
    """Every argument of every command, with the command's name."""
    for command, own in parsers():
        for action in own._actions:
            if not isinstance(action, (argparse._SubParsersAction, argparse._HelpAction)):
                yield command, action


@pytest.mark.core
def test_help_says_what_a_command_is_about_and_every_default():
    for command, parser in parsers():
        assert parser.description, command
        for item in parser._actions:
            default = "" if item.default == argparse.SUPPRESS else item.default
            shown = bool(default) or str(default) == "0"
            told = str(item.help)
            assert ("(default %(default)s)" in told) == shown, (command, item.dest)
            assert not shown or told.count("default") == 2, (command, told)
    assert ROOMS.keys() == {name.split()[0] for name in COMMANDS if " " in name}


@pytest.mark.core
def test_an_option_means_the_same_in_every_command():
    forms: dict[str, dict[tuple, list[str]]] = {}
    for command, item in arguments():
        told, metavar = str(item.help), item.metavar
        kind = item.type or (isinstance(item.const, tuple) and item.const[0])
        for word in item.option_strings:
            if word == "--to":  # what is written is a folder or a file, and its name says so
                assert metavar in ("DIR", "FILE"), command
                assert ("folder" in told) == (metavar == "DIR"), command
                metavar = None
            form = (type(item), kind, item.nargs, metavar)
            forms.setdefault(word, {}).setdefault(form, []).append(command)
        if not item.option_strings and "--output_path" in told:
            assert metavar in ("OUT", "A", "B"), command  # a run has one name
        if told.startswith("only these languages"):
            assert item.option_strings[0] == "--for", command
    assert {word: own for word, own in forms.items() if len(own) > 1} == {}


def test_the_table_of_commands_says_what_their_modules_know():
    options = parsed(["report", "out"])
    assert (options.n_resamples, options.level) == (RESAMPLES, LEVEL)
    choices = {"--only": tuple(KINDS), "--backend": BACKENDS}
    there = {word: tuple(item.choices) for _, item in arguments()
             for word in choices.keys() & {*item.option_strings}}  # fmt: skip
    assert there == choices
    for row in COMMANDS.values():
        for own in (row, *row.get("kinds", {}).values()):
            module, _, function = own.get("run", "cli:main").partition(":")
            assert callable(getattr(import_module(f"xling_tasks.{module}"), function))


@pytest.mark.core
def test_alone_it_says_what_to_do_with_what_lies_in_the_folder(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "lm_eval --model xling_baseline" in xling(capsys)
    for place in ("a/m1", "a/m2", "my run/m1", ".hidden/m1"):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        (folder / "results_2026-01-01T00-00-00.000000.json").write_text("not read")
    (tmp_path / "clinic.xlsx").write_text("not read")
    said = xling(capsys)
    assert "a: 2 results files (m1, m2)" in said and ".hidden" not in said
    assert "xling report a --to report" in said and "xling compare a 'my run'" in said
    assert "xling board a 'my run' --to board" in said and "xling data check clinic.xlsx" in said


def test_metadata_words_are_cut_as_lm_eval_cuts_them():
    words = ["a=[0.0,1]", "data_dir=/a,b/c,judge=self", "c=true", "languages=[es,hi]",
             '{"d": {"e": 1}, "encoder": false}']  # fmt: skip
    assert read_metadata(words) == {
        "a": [0.0, 1], "data_dir": "/a,b/c", "judge": "self", "c": True, "languages": "[es,hi]",
        "d": {"e": 1}, "encoder": False,
    }  # fmt: skip
    with pytest.raises(SettingError):
        read_metadata(["{"])


def test_table_aligns():
    assert table([{"a": 1234, "b": "x"}, {"a": 2}]).splitlines() == [
        "| a     | b |",
        "| ----- | - |",
        "| 1,234 | x |",
        "| 2     |   |",
    ]


def test_lm_eval_lists_us(tmp_path):
    command = [sys.executable, "-c", builders.COMMAND, "ls", "tasks"]
    listed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert "xlinghealth_verifiability_liveqa_hi" in listed.stdout


def test_a_run_writes_table_results_and_samples(tmp_path, capsys):
    words = "--model xling_baseline --tasks xlinghealth_demo --limit 3 --output_path out"
    settings = "temperatures=[0.0,0.5],topic_seeds=0"
    words = [*words.split(), "--log_samples", "--metadata", settings]
    builders.lm_eval(tmp_path, *words, table=True)
    shown = capsys.readouterr().out
    assert "xlinghealth_verifiability_demo_hi" in shown and "macro_f1_t0.5" in shown
    (results,) = tmp_path.glob("out/*/results_*.json")
    content = json.loads(results.read_text(), parse_constant=pytest.fail)
    config = content["configs"]["xlinghealth_verifiability_demo_en"]
    assert config["metadata"]["xling"]["settings"]["temperatures"] == [0.0, 0.5]
    n_tasks = 3 * len(DATASETS["demo"].languages)
    assert len(list(tmp_path.glob("out/*/samples_*.jsonl"))) == n_tasks


def test_a_reader_that_stops_early_such_as_head_is_no_error():
    program = "import sys; from xling_tasks.cli import main; sys.exit(main([]))"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        run.stdout.close()
        complaint = run.stderr.read()
    assert (run.returncode, complaint) == (0, "")
