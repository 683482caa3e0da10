"""`xling report` over real output of the harness: two models on the demo, and LiveQA."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import builders
import pytest
import scripted
from browser import PHONE, WIDE, Opened
from builders import saved, write_lines
from conftest import Served
from report.test_page import well_built
from xling_metrics.stats.multiple import holm

from xling_tasks.cli import main
from xling_tasks.tasks import empathy as empathy_task

DEMO = "xlinghealth_correctness_demo_*,xlinghealth_consistency_demo_*,xlinghealth_verifiability_*demo_*,xlinghealth_information_demo,mmedbench_mcqa_demo_*"
QUICK = {"encoder": False, "source_encoder": False, "topic_seeds": 0, "k": 3}


@pytest.fixture(scope="module")
def served():
    made = Served(scripted.judged)
    yield made
    made.server.shutdown()
    made.server.server_close()


def lm_eval(
    folder: Path, tasks: str, served: Served, *words: str, seed: int = 1, **settings
) -> Path:
    """A run of the harness's command; its output folder."""
    metadata = {**QUICK, "judge": served.spec(), **settings}
    command = ["--model", "xling_baseline", "--model_args", f"seed={seed}"]
    command += ["--tasks", tasks, "--output_path", str(folder), "--log_samples"]
    builders.lm_eval(folder.parent, *command, "--metadata", json.dumps(metadata), *words)
    return folder


@pytest.fixture(scope="module")
def two_models(served, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    more = {"translator": served.spec(), "xling_cache": str(folder / "cache")}
    return [lm_eval(folder / name, DEMO, served, seed=seed, **more)
            for seed, name in ((1, "one"), (2, "two"))]  # fmt: skip


def xling(capsys, *words):
    status = main([str(word) for word in words])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def content_of(folder):
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))


def table_of(folder, name="summary"):
    with (folder / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def written(two_models, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    one, two = two_models
    words = ["report", f"one={one}", f"two={two}", "--to", str(folder), "--no-pictures"]
    assert main(words) == 0
    return folder


def test_the_page_of_two_models_is_well_built_and_fits(written, browser):
    path = written / "report.html"
    html = path.read_text(encoding="utf-8")
    outline = well_built(html)
    assert len(html) < 10_000_000
    criteria = ["correctness", "consistency", "verifiability", "information"]
    heads = [*criteria, "glossary", "settings", "sources"]
    assert [key for key in outline.ids if key in heads] == heads
    assert {f"samples-{name}" for name in criteria} <= {*outline.ids}
    for size in (WIDE, PHONE):
        shown = Opened(browser, path, size)
        shown.unfold()
        assert shown.fits() and shown.well()


def test_endpoints_alone_are_corrected_each_model_and_harm_by_itself(written):
    content = content_of(written)
    for name in ("one", "two"):
        own = [c for c in content["conclusions"] if c["model"] == name]
        assert {c["dataset"] for c in own} == {"demo"}
        for harm in (True, False):  # Two families.
            family = [c for c in own if (c["meaning"] == "harm") == harm]
            assert [c["p_holm"] for c in family] == holm([c["p"] for c in family])
    names = ("model", "criterion", "metric", "temperature")
    concluded = {(*(c[name] for name in names), c["language"]) for c in content["conclusions"]}
    for item in content["against_english"]:
        key = (*(item[name] for name in names), item["side"])
        assert (item["role"] == "endpoint") == (key in concluded)
        assert item["p_holm"] is None or item["role"] == "endpoint"


def test_a_limited_run_says_so_on_top_and_topics_have_their_spread_over_seeds(
    two_models, served, tmp_path, capsys
):
    tasks = (
        "xlinghealth_correctness_demo_en,xlinghealth_correctness_demo_hi,"
        "xlinghealth_consistency_demo_en,xlinghealth_consistency_demo_es"
    )
    out = lm_eval(tmp_path / "out", tasks, served, "--limit", "6", topic_seeds=3)
    words = ["report", out, f"other={two_models[1]}", "--to", tmp_path / "r", "--no-pictures"]
    status, shown, _ = xling(capsys, *words)
    assert status == 0 and "limit" in shown and "6 of 24" in shown
    page = (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert page.index("6 of 24") < page.index("<table")
    content = content_of(tmp_path / "r")
    spread = [v for v in content["values"]
              if v["metric"].startswith("sim_lda20_") and "seed_sd" in v["metric"]]  # fmt: skip
    assert spread and all(v["value"] > 0 and v["interval"]["low"] is not None for v in spread)
    assert not any("seed_sd" in c["metric"] for c in content["against_english"])


def test_files_that_do_not_belong_together_are_refused(two_models, tmp_path, capsys):
    out = shutil.copytree(two_models[0], tmp_path / "out")
    (path,) = out.rglob("samples_xlinghealth_correctness_demo_hi_*.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    changed = {**json.loads(lines[0]), "chrf": 99.0}
    for wrong, said in (
        (lines[:-1], "23 of 24 questions are there. The file was cut or changed: copy the file"),
        ([json.dumps(changed) + "\n", *lines[1:]], "do not belong together"),
    ):
        path.write_text("".join(wrong), encoding="utf-8")
        status, _, err = xling(capsys, "report", out, "--to", tmp_path / "r")
        assert status == 2 and path.name in err and said in err
    # The results under another name: their samples would be taken for samples that were not logged.
    (results,) = out.rglob("results_*.json")
    results.rename(results.with_name("results_mine.json"))
    status, _, err = xling(capsys, "report", out, "--to", tmp_path / "r")
    assert status == 2 and f"{results.name} is not beside it" in err


def test_the_short_table_says_no_more_than_the_numbers(written):
    rows = table_of(written)
    assert {row["criterion"] for row in rows} >= {"Correctness", "Consistency", "Verifiability"}
    # Every wording that is checked below occurs.
    assert {row["verdict"] for row in rows} >= {"worse", "inconclusive"}
    uncorrected = 0
    for row in rows:
        if not row["low"]:
            assert row["verdict"] == "inconclusive"
            continue
        low, high, margin = (float(row[name]) for name in ("low", "high", "margin"))
        if row["verdict"] in ("worse", "better"):
            assert float(row["p (Holm)"]) < 0.05 and not low <= 0 <= high
        inside = -margin <= low and high <= margin
        assert inside or row["verdict"] != "equivalent"
        assert bool(row["next"]) == (row["verdict"] == "inconclusive")
        if "may look so by chance" in row["in words"]:
            uncorrected += 1
            assert float(row["p (Holm)"]) >= 0.05 and not low <= 0 <= high
    assert uncorrected


def test_a_language_without_any_profile(run, monkeypatch, tmp_path, capsys):
    """Spanish responses are never translated; French ones have no empathy, like the English."""

    class Nothing:
        signature = "nothing"

        def profiles(self, pairs):
            return [(False, False, False)] * len(pairs)

    monkeypatch.setattr(empathy_task, "load_classifier", lambda path: Nothing())
    posts = [{"id": str(i), "en": f"I am sad {i}.", "es": f"Estoy triste {i}.", "fr": f"x{i}"}
             for i in range(3)]  # fmt: skip
    path = write_lines(tmp_path / "posts.jsonl", posts)
    metadata = {"translator": "none", "empathy_classifier": "x", "prompt_set": str(path)}
    saved(tmp_path / "out", run("xling_empathy", metadata=metadata, log_samples=True))
    words = ["report", tmp_path / "out", "--to", tmp_path / "r", "--no-pictures"]
    assert xling(capsys, *words)[0] == 0
    table = table_of(tmp_path / "r")
    words = {row["language"]: row["in words"] for row in table if row["metric"] == "empathy"}
    assert words["es"].startswith("cannot tell: no question has a score on both sides")
    assert "; on 100% of posts neither response shows any empathy" in words["fr"]


def test_a_second_report_into_one_folder_leaves_nothing_of_the_first(two_models, tmp_path, capsys):
    one, _ = two_models
    target = tmp_path / "r"
    words = ["--to", target, "--no-pictures", "--n-resamples", "1000"]
    assert xling(capsys, "report", f"one={one}", *words)[0] == 0
    old = target / "tables" / "from_before.csv"
    old.write_text("x", encoding="utf-8")
    assert xling(capsys, "report", f"one={one}", *words)[0] == 0
    assert not old.exists() and (target / "tables" / "summary.csv").exists()
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("x", encoding="utf-8")
    status, _, error = xling(capsys, "report", f"one={one}", "--to", mine)
    assert status == 2 and "is not empty and holds no report" in error
    assert (mine / "thesis.txt").exists()
