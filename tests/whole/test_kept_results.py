"""Results that version 0.1.0 wrote: still read, compared and replayed, and still the same numbers.

`cases/v0_1_0/kept.tar.xz` holds three `--output_path` folders, as `lm_eval` wrote them but for paths
and the address of the judge: `one` and `two` (xling_baseline with seed 1 and 2 on all demo tasks,
with the judge and translator of `scripted.py`, `SETTINGS` below) and `demo` (the README's first
command, without an encoder to load); and `sample`, the bundled texts of that version, because a
comparison of scores needs the same questions.
"""

from __future__ import annotations

import fnmatch
import json
import re
import tarfile
from pathlib import Path

import kept_reports
import pytest
import scripted

# prompt_sets stands here so that it takes the sample's folder before a test puts another there.
from xling_tasks.data import mmedbench, prompt_sets, sources  # noqa: F401
from xling_tasks.data.records import RECORDS
from xling_tasks.lm import baseline

CASES = Path(__file__).parents[1] / "cases" / "v0_1_0"
CHANGELOG = Path(__file__).parents[2] / "CHANGELOG.md"
LANGUAGES = ("en", "es", "zh", "hi")
"""The sample's languages in 0.1.0; it may have more."""


def of_demo(*criteria):
    return [f"xlinghealth_{each}_demo_{code}" for each in criteria for code in LANGUAGES]


TASKS = of_demo("correctness", "consistency", "verifiability", "verifiability_ll")
TASKS += ["mmedbench_demo", "mmedbench_mcqa_ll_demo", "xlinghealth_information_demo"]
SETTINGS = {"encoder": False, "source_encoder": False, "topic_seeds": 2, "hdp": True, "k": 3}
SETTINGS["languages"] = list(LANGUAGES[1:])

INTENDED: dict[tuple[str, str], str] = {
    ("xlinghealth_verifiability_demo_*", "*_t1.0"): "Prompts as published",
    ("xlinghealth_consistency_demo_*", "*_t1.0"): "Prompts as published",
}
"""What is meant to differ from 0.1.0: (tasks, metrics) as patterns -> words of its CHANGELOG line.

Every other number must be the same to the last digit, those of LDA to 1e-9 (its sums are in another
order). An entry that nothing differs by fails too.
"""


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    with tarfile.open(CASES / "kept.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    sample = folder / "sample" / "xlinghealth_demo.jsonl"
    lines = [json.loads(line) for line in sample.read_text("utf-8").splitlines()]
    for line in lines:  # a language that the sample has since, which no kept task asks
        for name in RECORDS["demo"].language_names.values():
            for kind in ("question", "answer"):
                line.setdefault(f"{kind}_{name}", line[f"{kind}_English"])
    sample.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return folder


@pytest.fixture
def old_sample(kept, monkeypatch):
    """The bundled texts as they were, for tasks, baseline, scripted judge and translator."""
    folder = kept / "sample"
    for module in (baseline, mmedbench, sources):
        monkeypatch.setattr(module, "SAMPLE_FOLDER", folder)
    monkeypatch.setattr(scripted, "ADVICE", folder / "advice.jsonl")

    def forget():
        for cached in (baseline._advice_file, scripted.english_of):
            cached.cache_clear()

    forget()
    yield
    forget()


def scores(results):
    """Every number of a run by (task, metric), without groups, aliases and standard errors."""
    return {
        (task, metric.partition(",")[0]): value
        for task, values in results["results"].items()
        for metric, value in values.items()
        if "," in metric and "_stderr," not in metric and task in results["configs"]
    }


def kept_scores(folder):
    (path,) = folder.glob("*/results_*.json")
    return scores(json.loads(path.read_text(encoding="utf-8")))


def same_processor():
    """Whether tomotopy samples as it did: it is compiled for each set of vector instructions."""
    return pytest.importorskip("tomotopy").isa == "avx512"


def differing(now, before):
    """The (task, metric) of `before` whose value is another now, or gone."""
    other = {
        key: (before[key], now.get(key, "gone"))
        for key in before
        if now.get(key) != before[key]
        and not ("lda" in key[1] and now.get(key) == pytest.approx(before[key], abs=1e-9))
    }
    return {key: pair for key, pair in other.items() if same_processor() or "hdp" not in key[1]}


def as_logged(values):
    """Through JSON and back, as the kept ones went."""
    return {key: json.loads(json.dumps(value)) for key, value in values.items()}


def intended(key):
    return [rule for rule in INTENDED if all(map(fnmatch.fnmatchcase, key, rule))]


def unintended(results, before):
    """What differs from the kept scores, without what is meant to."""
    changed = differing(as_logged(scores(results)), before)
    return {key: pair for key, pair in changed.items() if not intended(key)}


def test_the_demo_scores_what_it_scored(kept, old_sample, run, serve):
    judge = serve(scripted.judged).spec()
    metadata = {**SETTINGS, "judge": judge, "translator": judge}
    results = run(TASKS, model_args={"seed": 1}, metadata=metadata)
    before = kept_scores(kept / "one")
    assert len(before) > 450
    assert unintended(results, before) == {}
    changed = differing(as_logged(scores(results)), before)
    used = {rule for key in changed for rule in intended(key)}
    assert set(INTENDED) == used


def test_what_changed_stands_in_the_changelog():
    text = CHANGELOG.read_text(encoding="utf-8")
    newer, _, _ = text.partition("\n## 0.1.0")
    section = re.split(r"^### ", newer, flags=re.M)
    (lines,) = (each for each in section if each.startswith("Scores that changed"))
    words = " ".join(lines.split())
    assert [line for line in INTENDED.values() if line not in words] == []


@pytest.mark.parametrize("name", ["one", "demo"])
def test_replayed(kept, old_sample, run, serve, name):
    # Of the README's command what needs no topics of ten answers each; `one` has them of three.
    criteria = ("correctness", "verifiability", "verifiability_ll")
    tasks = TASKS if name == "one" else of_demo(*criteria)
    judge = serve(scripted.judged).spec()
    more = {"judge": judge, "translator": judge} if name == "one" else {"k": 10}
    path = {"path": str(kept / name)}
    results = run(tasks, model="xling_replay", model_args=path, metadata=SETTINGS | more)
    whole = kept_scores(kept / name)
    before = {of: whole[of] for of in whole if name == "one" or "_consistency_" not in of[0]}
    assert len(before) > 100
    assert unintended(results, before) == {}


def shown_as(row):
    """The task and metric of a line of the report."""
    if row["criterion"] == "information":
        of = "" if row["language"] == "avg" else "_" + row["language"].replace(":", "_")
        return "xlinghealth_information_demo", row["metric"] + of
    family = "" if row["criterion"].startswith("mmedbench") else "xlinghealth_"
    at = "" if row["temperature"] is None else f"_t{float(row['temperature'])}"
    return f"{family}{row['criterion']}_{row['dataset']}_{row['language']}", row["metric"] + at


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What the commands write of these and of new runs, numbers of nine digits."""
    return kept_reports.texts(tmp_path_factory.mktemp("made"))


def test_reports_are_what_they_were(made):
    assert kept_reports.differing(made) == [], "see `python -m tests.kept_reports HEAD`"
    assert "old/report.md" in kept_reports.differing({"old/report.md": "a word"})


def test_reported(kept, made):
    told = json.loads(made["old/report.json"])
    for name, model in zip(("one", "two"), told["models"], strict=True):
        shown = {shown_as(row): row["value"] for row in told["values"] if row["model"] == model}
        before = kept_scores(kept / name)
        undefined = {key for key, value in before.items() if value is None}
        assert {key for key in before if shown[key] is None} == undefined
        # Reports are kept with nine decimals.
        for key in before.keys() - undefined:
            assert shown[key] == pytest.approx(before[key], rel=1e-8, abs=1e-9)
        # What follows from the samples of that version too: who was served, and helped.
        more = {key: value for key, value in shown.items() if key not in before}
        assert {metric.partition("_")[0] for _, metric in more} == {"served", "helped"}
        assert all(0 <= value <= 1 for value in more.values())
        of = "xlinghealth_correctness_demo_hi"
        helped = pytest.approx(before[of, "more_comprehensive"], rel=1e-8)
        assert more[of, "served"] == 1 and more[of, "helped"] == helped


def test_compared(kept, made):
    wanted = {"acc", "chrf", "macro_f1", "auc", "more_comprehensive", "information_precision"}
    lines = [
        line
        for line in json.loads(made["compare/compare.json"])["comparisons"]
        if line["kind"] == "difference" and line["metric"] in wanted
    ]
    a, b = (kept_scores(kept / name) for name in ("one", "two"))
    assert {line["criterion"] for line in lines} >= {"correctness", "verifiability", "information"}
    for line in lines:
        if line["criterion"] == "information":
            continue
        task, metric = shown_as(line)
        if metric == "acc" and max(each.get((task, "unparsed_rate"), 0) for each in (a, b)) == 1:
            # Every choice was a tie: nothing was read, so that nothing is compared.
            assert (line["a"], line["b"], line["n"]) == (None, None, 0)
            continue
        assert line["a"] == pytest.approx(a[task, metric], rel=1e-8)
        assert line["b"] == pytest.approx(b[task, metric], rel=1e-8)
