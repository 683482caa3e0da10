"""A criterion is one module: what `toy.py` declares reaches every command, and no other file knows it."""

from __future__ import annotations

import importlib.util
import json
import random
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from builders import leave_the_machine_unasked, saved
from own_rubric_parts import Says

from xling_tasks.cli import main
from xling_tasks.criteria import CRITERIA, Endpoint, declared

HERE = Path(__file__).parent
LEAF = """class: !function toy.ToyTask
task: toy_demo_{code}
test_split: test
output_type: generate_until
num_fewshot: 0
metric_list: []
generation_kwargs: {{max_gen_toks: 64, until: []}}
dataset_kwargs: {{record: demo, language: {code}}}
metadata: {{version: 1.0}}
"""
CODES = ("en", "es", "hi")


@pytest.fixture(scope="module")
def toy():
    spec = importlib.util.spec_from_file_location("toy_criterion", HERE / "toy.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["toy_criterion"] = module
    spec.loader.exec_module(module)
    with declared(module.TOY):
        yield module
    assert "toy" not in CRITERIA
    del sys.modules["toy_criterion"]


@pytest.fixture(scope="module")
def outs(toy, tmp_path_factory):
    """Two models, both polite in English and curt elsewhere, through the harness itself."""
    import lm_eval
    from lm_eval.tasks import TaskManager

    folder = tmp_path_factory.mktemp("toys")
    shutil.copy(HERE / "toy.py", folder / "toy.py")
    for code in CODES:
        (folder / f"toy_{code}.yaml").write_text(LEAF.format(code=code), encoding="utf-8")
    leave_the_machine_unasked()
    manager = TaskManager(include_path=str(folder), include_defaults=False)
    for name, share in (("one", 0.1), ("two", 0.3)):

        def answer(context: str, share: float = share) -> str:
            polite = context.isascii() or random.Random(context).random() < share
            return "Drink water, please." if polite else "Drink water."

        results = lm_eval.simple_evaluate(
            model=Says(answer), tasks=[f"toy_demo_{code}" for code in CODES],
            task_manager=manager, bootstrap_iters=0,
        )  # fmt: skip
        saved(folder / name, results)
    return folder


def xling(*words: object) -> None:
    assert main([str(word) for word in words]) == 0, words


def test_report(outs, tmp_path):
    xling("report", f"one={outs / 'one'}", "--to", tmp_path)
    told = json.loads((tmp_path / "report.json").read_text("utf-8"))
    found = {item["language"]: item for item in told["verdicts"]}
    assert found.keys() == {"es", "hi"} and found["hi"]["verdict"] == "worse"
    assert found["hi"]["metric"] == "says_please"
    html = (tmp_path / "report.html").read_text("utf-8")
    for text in (
        "Politeness of toys", "Does the answer say please?", "A toy is asked.",
        "1 of 24 (4%) in Hindi", "Answers that say please</b>", "A toy says please, or it does not.",
    ):  # fmt: skip
        assert text in html, text
    table = (tmp_path / "tables/toy.csv").read_text("utf-8")
    assert "says_please" in table or "Polite" in table


def test_compare_and_leaderboard(outs, tmp_path):
    xling("compare", outs / "one", outs / "two", "--to", tmp_path / "c")
    assert "Answers that say please" in (tmp_path / "c" / "compare.html").read_text("utf-8")
    xling("leaderboard", f"one={outs / 'one'}", f"two={outs / 'two'}", "--to", tmp_path / "b")
    assert "Answers that say please" in (tmp_path / "b" / "index.html").read_text("utf-8")


def test_samples(outs, tmp_path):
    xling("samples", outs / "one", "--to", tmp_path)
    data = {path.name: path.read_text("utf-8") for path in (tmp_path / "data").iterdir()}
    assert '"polite"' in data["0.js"] and '"curt"' in data["0.js"]
    assert "Drink water, please." in data["0_0.js"]
    assert "Politeness of toys" in (tmp_path / "index.html").read_text("utf-8")


def test_annotate_says_what_it_needs(outs, tmp_path, capsys):
    assert main(["annotate", str(outs / "one"), "--to", str(tmp_path / "page.html")]) != 0
    said = capsys.readouterr().err
    assert "Traceback" not in said and "no samples of correctness" in said


def test_submit(outs, tmp_path, capsys):
    words = ("submit", "hf", outs / "one", "--model-id", "me/toy", "--to", tmp_path / "s")
    assert main([*map(str, words)]) == 2
    assert "toy_demo_en is over the bundled sample" in capsys.readouterr().err


def test_a_criterion_that_does_not_hold_together_is_refused(toy):
    with pytest.raises(ValueError, match="already"), declared(toy.TOY):
        pass
    broken = replace(toy.TOY, key="other", endpoints=(Endpoint("nothing"),))
    with pytest.raises(ValueError, match="'nothing' has no direction"), declared(broken):
        pass
