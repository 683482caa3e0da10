"""`xling submit hf` on output folders of the harness: entries, card, scores, upload, refusals, drafts."""

from __future__ import annotations

import copy
import json
import math
import re
import shutil
import sys
import types
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import huggingface_hub
import pytest
import yaml
from boards import BETTER, RECORD, C, correctness
from builders import evaluated, results_in, write_run
from huggingface_hub import ModelCard, parse_eval_result_entries
from own_rubric_parts import Says, by_words, conversation, write

from xling_tasks.cli import parse
from xling_tasks.criteria import LABELS
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError
from xling_tasks.logs.by_language import with_bookkeeping

BEGIN, END = "<!-- xling-tasks:begin -->", "<!-- xling-tasks:end -->"
XLINGHEALTH, MMEDBENCH = "claws-lab/XLingHealth", "Henrychur/MMedBench"
SHA = "1234567890" * 4
PUBLISHED = {
    **RECORD,
    "settings": {**RECORD["settings"], "dataset": "x", "prompt_language": "published",
                 "sampling_seed": 1, "data_dir": "/srv/data"},
    "data": {"dataset": "LiveQA", "name": "LiveQA.xlsx", "kind": "data_dir", "sha256": "abc" * 20,
             "licence": "cc0"},
    "generation_kwargs": {},
    "signatures": {name: f"{name}|of:all" for name in BETTER if name != "empathy"},
}  # fmt: skip
"""The record of a run of the whole published data."""


@pytest.fixture(scope="module")
def evaluate(run):
    """A run saved as `lm_eval --output_path` saves it."""

    def evaluate_(out: Path, tasks: list[str], *, metadata=None, **options) -> Path:
        settings = {"source_encoder": False, "encoder": False, "topic_seeds": 0, "k": 2}
        metadata = {**settings, **(metadata or {})}
        evaluated(run, out, tasks, metadata=metadata, log_samples=False, **options)
        return out

    return evaluate_


@pytest.fixture(scope="module")
def demo(evaluate, tmp_path_factory) -> Path:
    """The bundled sample in English and Hindi, judged by a model that gives no verdict."""
    kinds = ("correctness", "consistency", "verifiability", "verifiability_ll")
    tasks = [f"xlinghealth_{kind}_demo_{code}" for kind in kinds for code in ("en", "hi")]
    folder = tmp_path_factory.mktemp("data")
    shutil.copytree(SAMPLE_FOLDER / "mmedbench_demo" / "Test", folder / "Test")
    tasks += [f"mmedbench_{kind}_{code}" for kind in ("mcqa", "rationale") for code in ("en", "fr")]
    metadata = {"judge": {"model": "xling_baseline"}, "translator": None, "languages": ["es"],
                "prompt_set": "small", "data_dir": str(folder)}  # fmt: skip
    out = tmp_path_factory.mktemp("demo")
    return evaluate(out, [*tasks, "xling_information"], metadata=metadata)


@pytest.fixture(scope="module")
def whole(demo, tmp_path_factory) -> Path:
    """The same as if it were of the whole published data and measured."""
    out = tmp_path_factory.mktemp("whole")
    shutil.copytree(demo, out, dirs_exist_ok=True)
    for path in out.rglob("results_*.json"):
        path.write_text(path.read_text().replace("_demo_", "_liveqa_"))

    def change(content):
        for task, config in content["configs"].items():
            data = config["metadata"]["xling"]["data"]
            if "_liveqa_" in task:
                data |= {"dataset": "LiveQA", "kind": "data_dir", "name": "LiveQA.xlsx"}
                config["metadata"]["xling"]["about"]["dataset"] = "liveqa"
            if "rows" in data:
                data["rows"] = data["rows_expected"]
            if "prompt_set" in data:
                data["prompt_set"] = "all"
            measured(content["results"][task])

    edit(out, change)
    return out


@pytest.fixture
def out(whole, tmp_path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(whole, tmp_path / "out"))


def measured(scores):
    """As if a judge had labelled every answer, and all answers had been read."""
    for name in scores:
        if name in [f"{label},none" for label in LABELS]:
            scores[name] = 0.25
        if name.startswith(("no_response,", "unscored_", "unparsed", "unverified")):
            scores[name] = 0.0
        if name.startswith(("unparsed_rate", "empty_rate")) and scores[name] != "N/A":
            scores[name] = min(scores[name], 0.04)
        if name.startswith(("langid_match", "language_consistency")) and scores[name] != "N/A":
            scores[name] = max(scores[name], 0.95)
    if "n_judged,none" in scores:
        scores["n_judged,none"] = 24


def edit(out: Path, change) -> None:
    for path in out.rglob("results_*.json"):
        content = with_bookkeeping(json.loads(path.read_text()))
        change(content)
        path.write_text(json.dumps(content))


def recorded(content, task: str) -> dict:
    return content["configs"][task]["metadata"]["xling"]


@pytest.fixture(autouse=True)
def hub(monkeypatch):
    """The Hub's API, which keeps what it is called with; nothing may go anywhere else."""
    api = mock.create_autospec(huggingface_hub.HfApi, instance=True)
    api.model_info.return_value.sha = SHA
    api.file_exists.return_value = False
    api.files = {}

    def create_commit(**options):
        for own in options["operations"]:
            api.files[own.path_in_repo] = Path(own.path_or_fileobj).read_bytes()
        url = "https://huggingface.co/me/model/"
        return SimpleNamespace(commit_url=url + "commit/1", pr_url=url + "discussions/2")

    api.create_commit.side_effect = create_commit
    api.made = mock.Mock(return_value=api)
    monkeypatch.setattr(huggingface_hub, "HfApi", api.made)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    return api


class Submitted:
    """What the command says and writes."""

    def __init__(self, out: Path, to: Path, *words: str) -> None:
        command = ["submit", "hf", str(out), "--model-id", "me/model", "--to", str(to), *words]
        options = parse(command)
        self.said = options.run(options)
        self.card = ModelCard.load(to / "README.md")
        self.text = self.card.text
        self.scores = json.loads((to / "xling_results.json").read_text())
        self.files = {str(p.relative_to(to)) for p in to.rglob("*") if p.is_file()}
        self.written = "".join((to / name).read_text("utf-8") for name in self.files)
        found = [
            entry
            for path in sorted((to / ".eval_results").glob("*.yaml"))
            for entry in parse_eval_result_entries(yaml.safe_load(path.read_text()))
        ]
        self.entries = {entry.task_id: entry for entry in found}
        assert len(self.entries) == len(found)
        drafts = sorted((to / "for_dataset_owners").glob("*/*/eval.yaml"))
        self.drafts = {"/".join(p.parts[-3:-1]): yaml.safe_load(p.read_text()) for p in drafts}

    def table(self, heading: str) -> list[list[str]]:
        """The card's table under a heading."""
        part = self.text.split(heading)[1].split("\n#")[0]
        return [line[2:-2].split(" | ") for line in part.splitlines() if line.startswith("|")]


@pytest.fixture
def submit(tmp_path):
    """`submit(out, ...)`, each time to another folder."""
    return lambda out, *words: Submitted(out, tmp_path / f"to{len([*tmp_path.iterdir()])}", *words)


@pytest.fixture(scope="module")
def plain(whole, tmp_path_factory) -> Submitted:
    """The whole run, submitted without any further word."""
    return Submitted(whole, tmp_path_factory.mktemp("plain") / "to")


def refusal(out: Path, *words: str) -> str:
    to = out.parent / "refused"
    with pytest.raises(DataError) as caught:
        Submitted(out, to, *words)
    assert not to.exists() or list(to.iterdir()) == []
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_entries_are_the_main_scores(plain, whole):
    results = results_in(whole)["results"]
    kinds = {
        "correctness": ["more_comprehensive", "contradictory"],
        "verifiability": ["macro_recall_t0.0", "macro_recall_t1.0"],
        "verifiability_ll": ["auc"],
        "consistency": ["sim_1gram_src_t1.0"],
    }
    wanted = [(f"xlinghealth_{kind}_liveqa_{code}", metric)
              for kind, metrics in kinds.items() for metric in metrics for code in ("en", "hi")]  # fmt: skip
    # English answers are scored as published, too; the two never share a name.
    wanted.append(("xlinghealth_consistency_liveqa_en", "sim_1gram_t1.0"))
    wanted += [(f"mmedbench_{kind}_{code}", metric) for code in ("en", "fr")
               for kind, metric in (("mcqa", "acc"), ("rationale", "rouge1"))]  # fmt: skip
    expected = {f"{task}_{metric}": results[task][f"{metric},none"] for task, metric in wanted}
    assert {task_id: entry.value for task_id, entry in plain.entries.items()} == expected
    for task_id, entry in plain.entries.items():
        assert entry.dataset_id == (MMEDBENCH if task_id.startswith("mmed") else XLINGHEALTH)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry.date)
        assert entry.verify_token is None and entry.dataset_revision is None
        assert entry.source_url == "https://huggingface.co/me/model/blob/main/xling_results.json"
        assert "CAUTION" not in entry.notes and "no evidence of clinical fitness" in entry.notes
    notes = plain.entries["xlinghealth_verifiability_liveqa_hi_macro_recall_t1.0"].notes
    assert "unparsed_rate_t1.0 0.0000" in notes and "unparsed_rate_t0.0" not in notes
    assert "language: hi; 24 of 24 questions; 0 unusable rows" in notes
    # The model index holds the same values.
    data = plain.card.data
    assert data.model_name == "model"
    index = {f"{r.dataset_config}_{r.metric_type}": r for r in data.eval_results}
    assert {key: r.metric_value for key, r in index.items()} == expected
    assert {r.dataset_type for r in data.eval_results} == {XLINGHEALTH, MMEDBENCH}
    assert index["xlinghealth_verifiability_ll_liveqa_hi_auc"].dataset_name == "LiveQA (Hindi)"


def test_card_shows_coverage_then_scores_with_gaps(plain, whole):
    text, content = plain.text, results_in(whole)
    order = [BEGIN, "What these numbers are not", "### Coverage", "### Scores", "### Settings", END]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert "no evidence that the model is fit for clinical use" in text and "Caution" not in text
    english, hindi = (
        content["results"][f"xlinghealth_verifiability_ll_liveqa_{code}"]["auc,none"]
        for code in ("en", "hi")
    )
    assert plain.table("(`xlinghealth_verifiability_ll_liveqa`)") == [
        ["language", "auc ↑", "gap"],
        ["---", "---", "---"],
        ["en", f"{english:.4f}", ""],
        ["hi", f"{hindi:.4f}", f"{hindi - english:+.4f}"],
    ]
    header, _, english, hindi = plain.table("(`xlinghealth_consistency_liveqa`)")
    # Scores in each language's own words are not compared.
    assert header == ["language", "sim_1gram_t1.0 ↑", "sim_1gram_src_t1.0 ↑"]
    assert hindi[1] == "not measured" and float(hindi[2]) >= 0 and float(english[2]) >= 0
    coverage = plain.table("### Coverage")
    (row,) = (r for r in coverage if r[:2] == ["xlinghealth_correctness_liveqa", "hi"])
    assert row[2:4] == ["24 of 24", "0"] and "judge_failed_rate 0.0000" in row[4]
    assert "no_response 0.0000" in row[4]
    for prompt in recorded(content, "xlinghealth_correctness_liveqa_hi")["prompts"].values():
        assert prompt["digest"] in text


def test_all_scores_with_signatures(plain, whole):
    content = with_bookkeeping(results_in(whole))
    assert set(plain.scores["tasks"]) == set(content["n-samples"])
    for task, told in plain.scores["tasks"].items():
        xling = recorded(content, task)
        assert {m: s["signature"] for m, s in told["scores"].items()} == xling["signatures"]
        for metric, score in told["scores"].items():
            value = content["results"][task].get(f"{metric},none")
            good = isinstance(value, (int, float)) and math.isfinite(value)
            assert score["value"] == (value if good else None)
        assert told["data"]["sha256"] == xling["data"]["sha256"]
        assert told["prompts"] == xling["prompts"]
        assert told["versions"]["lm-eval"] == content["lm_eval_version"]


def test_dry_by_default(whole, hub, submit):
    submitted = submit(whole)
    said = submitted.said
    assert not hub.made.called
    assert "Nothing was uploaded" in said and "me/model" in said
    assert f"({MMEDBENCH}, {XLINGHEALTH}) is a registered benchmark" in said
    assert "Check: the run's model is 'xling_baseline'" in said
    groups = ["correctness", "consistency", "verifiability", "verifiability_ll"]
    wanted = {f".eval_results/xlinghealth_{kind}_liveqa.yaml" for kind in groups}
    wanted |= {f".eval_results/mmedbench_{kind}.yaml" for kind in ("mcqa", "rationale")}
    drafts = {f"for_dataset_owners/{dataset}/eval.yaml" for dataset in (MMEDBENCH, XLINGHEALTH)}
    assert submitted.files == {*wanted, *drafts, "README.md", "xling_results.json"}
    assert all(f"/{name}" in said for name in submitted.files)
    draft = submitted.drafts[XLINGHEALTH]
    assert draft["name"] == "LiveQA" and "English, Hindi" in draft["description"]
    assert draft["evaluation_framework"] == "lm-evaluation-harness"
    ids = {task["id"] for task in draft["tasks"]}
    assert ids == {key for key in submitted.entries if key.startswith("xlinghealth")}
    assert all(task["config"] == "default" and task["split"] == "test" for task in draft["tasks"])


def test_undefined_is_listed_and_own_sets_are_in_card_and_scores_only(out, submit):
    def change(content):
        results = content["results"]
        results["xlinghealth_verifiability_ll_liveqa_en"]["auc,none"] = None
        results["xlinghealth_verifiability_liveqa_hi"]["macro_f1_t1.0,none"] = math.nan
        results["xling_information"] |= {"information_f1,none": 0.5, "information_f1_es,none": 0.5}

    edit(out, change)
    submitted = submit(out)
    gone = {"xlinghealth_verifiability_ll_liveqa_en_auc"}
    gone |= {"xlinghealth_verifiability_liveqa_hi_macro_f1_t1.0"}
    entries = submitted.entries.keys()
    assert not gone & entries and "xlinghealth_verifiability_ll_liveqa_hi_auc" in entries
    assert "- `xlinghealth_verifiability_liveqa_hi`: `macro_f1_t1.0`" in submitted.text
    english, hindi = submitted.table("(`xlinghealth_verifiability_ll_liveqa`)")[2:]
    assert english[1] == hindi[2] == "undefined"
    assert not re.search(r"\bnan\b|\bnull\b \|", submitted.text, re.I)
    assert "without an entry: xlinghealth_verifiability_ll_liveqa_en: auc" in submitted.said
    assert submitted.scores["undefined"]["xlinghealth_verifiability_ll_liveqa_en"] == ["auc"]
    only = "No dataset on the Hub, so in README.md and xling_results.json only: xling_information"
    assert only in submitted.said
    shown = [*entries, *(r.dataset_config for r in submitted.card.data.eval_results)]
    assert not any("information" in name for name in shown)
    table = submitted.table("(`xling_information`)")
    assert table[0] == ["language", "information_f1 ↑", "gap"]
    # What two English answers share was not measured, so no gap is known.
    assert table[2:] == [
        ["all (mean)", "0.5000", ""], ["en", "undefined", ""], ["es", "0.5000", "undefined"],
    ]  # fmt: skip
    assert "unscored" in {r[1]: r[4] for r in submitted.table("### Coverage")}["es"]


def test_places_on_the_hub_and_tasks_over_several_languages(out, submit):
    first, empathy = "xlinghealth_information_liveqa", "xling_empathy"

    def change(content):
        for code in ("en", "hi"):
            task = f"xlinghealth_verifiability_ll_liveqa_{code}"
            data = {"kind": "hub", "name": "me/copy", "revision": SHA}
            recorded(content, task)["data"].update(data)
        for key in ("configs", "results", "n-samples", "higher_is_better"):
            content[key][first] = copy.deepcopy(content[key]["xling_information"])
            text = json.dumps(content[key].pop("xling_information"))
            content[key][empathy] = json.loads(text.replace("information_f1", "empathy"))
        content["results"][first] |= {"information_f1,none": 0.25, "information_f1_es,none": 0.5}
        own = recorded(content, first)
        own["data"]["kind"], own["about"]["dataset"] = "data_dir", "liveqa"
        recorded(content, empathy)["about"]["criterion"] = "empathy"
        content["results"][empathy] |= {
            "empathy,none": 0.75, "empathy_es,none": 0.75, "empathy_en,none": 0.9}  # fmt: skip

    edit(out, change)
    submitted = submit(out)
    entry = submitted.entries["xlinghealth_verifiability_ll_liveqa_hi_auc"]
    assert (entry.dataset_id, entry.dataset_revision) == ("me/copy", SHA)
    every, spanish = (submitted.entries[f"{first}_information_f1{own}"] for own in ("", "_es"))
    assert (every.value, spanish.value) == (0.25, 0.5)
    assert "languages: en, es" in every.notes and "language: es" in spanish.notes
    table = submitted.table("(`xling_empathy`)")
    assert table[0] == ["language", "empathy ↑", "gap"]
    assert table[3:] == [["en", "0.9000", ""], ["es", "0.7500", "-0.1500"]]
    assert "English: what a second English answer shares with the first" in submitted.text


# What is refused, and forced


def test_all_that_is_wrong_is_refused_and_forced_with_a_caution(out, submit):
    hindi, english = (f"xlinghealth_correctness_liveqa_{code}" for code in ("hi", "en"))

    def change(content):
        content["config"]["limit"] = 6.0
        scores = content["results"][english]
        scores |= {"no_response,none": 1.0, "n_judged,none": 0, "contradictory,none": 0.0}
        own = recorded(content, hindi)
        own["settings"]["judge"] = {"model": "hf", "model_args": {}}
        own["prompts"]["judge"]["digest"] = "ffff"
        own["generation_kwargs"]["top_p"] = 0.5
        own["data"]["sha256"] = "0" * 64
        for code, name in (("en", "bert@1"), ("hi", "bert@2")):
            task = f"xlinghealth_consistency_liveqa_{code}"
            own = recorded(content, task)
            own["signatures"]["sim_sent_t1.0"] = f"sim_sent|model:{name}|pooling:mean"
            content["results"][task]["sim_sent_t1.0,none"] = 0.5
        own["settings"]["translator"] = {"model": "seq2seq", "model_args": {}}

    edit(out, change)
    said = refusal(out)
    assert "run with --limit 6" in said
    assert "contradictory in English: 100% of the answers were not measured" in said
    for what in ("judge.model", "prompts.judge.digest", "generation.top_p", "data.sha256"):
        assert re.search(rf"not run alike: {re.escape(what)} is [^;]* in {hindi}", said), what
    assert "model of sim_sent_t1.0 is bert@1 in" in said and "translator is none in" in said
    submitted = submit(out, "--force")
    assert "Caution: " in submitted.said and "> **Caution:** " in submitted.text
    assert "not run alike" in submitted.text and submitted.scores["cautions"]
    for entry in submitted.entries.values():
        assert entry.notes.startswith("CAUTION: ") and "run with --limit 6" in entry.notes
    assert all("CAUTION" in result.metric_name for result in submitted.card.data.eval_results)


def test_demo_is_refused_and_never_an_entry(demo, submit):
    message = refusal(demo)
    assert "xling_information: the small part of our prompts (prompt_set=small)" in message
    assert "xlinghealth_correctness_demo_en" in message and "our own small sample" in message
    assert "12 rows in the data, but 622 were published" in message
    submitted = submit(demo, "--force")
    entries = submitted.entries
    assert entries and all(task_id.startswith("mmedbench_") for task_id in entries)
    assert "`xlinghealth_verifiability_ll_demo`" in submitted.text


def test_speed_and_unused_settings_do_not_count(out, submit):
    def change(content):
        xling = recorded(content, "xlinghealth_verifiability_liveqa_hi")
        xling["settings"] |= {"judge": None, "data_dir": "elsewhere", "k": 3}
        judge = recorded(content, "xlinghealth_correctness_liveqa_hi")["settings"]["judge"]
        judge |= {"model_args": {"num_concurrent": 8}, "batch_size": 4}

    edit(out, change)
    submit(out)


@pytest.mark.parametrize("again", ["liveqa_hi", ""])
def test_several_models(out, submit, again):
    """Of which one is newer in one task, or in all, so that the other's results are not used."""
    other = Path(shutil.copytree(out, out / "other"))

    def change(content):
        content["config"].update(model="hf", model_args="pretrained=x")
        for key in ("configs", "results", "n-samples"):
            content[key] = {k: v for k, v in content[key].items() if k.endswith(again)}

    edit(other, change)
    for path in other.rglob("results_*.json"):
        path.rename(path.with_name("results_2999-01-01T00-00-00.json"))
    message = refusal(out)
    assert "runs of 2 different models" in message and "--force" in message
    assert "runs of 2 different models" in submit(out, "--force").text


def test_what_the_harness_ran_in_part_is_refused(evaluate, out, tmp_path):
    task = ["xlinghealth_verifiability_ll_demo_en"]
    assert "run with --limit 2" in refusal(evaluate(tmp_path / "part", task, limit=2))
    evaluate(out, task, predict_only=True)
    assert "has no scores (--predict_only)" in refusal(out)


def test_other_tasks_and_folders(out, tmp_path):
    assert "no such folder" in refusal(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "no results of our tasks" in refusal(tmp_path / "empty")

    def change(content):
        for key in ("configs", "results", "n-samples"):
            content[key]["gsm8k"] = {}

    edit(out, change)
    to = tmp_path / "to"
    assert "Left out, not tasks of xling-tasks: gsm8k" in Submitted(out, to).said
    before = (to / "README.md").read_bytes()
    with pytest.raises(DataError, match=r"README\.md, xling_results\.json already there"):
        Submitted(out, to)
    assert (to / "README.md").read_bytes() == before
    with pytest.raises(DataError, match="is a file"):
        Submitted(out, to / "README.md")


def test_model_id_and_an_older_library(out, monkeypatch):
    for name in ("model", "a/b/c", "me/mo del", "me/-x-"):
        assert f"--model-id {name}" in refusal(out, "--model-id", name)
        assert not (out.parent / "refused").exists()
    older = types.ModuleType("huggingface_hub")
    older.__version__ = "1.3.5"
    monkeypatch.setitem(sys.modules, "huggingface_hub", older)
    message = refusal(out)
    assert "needs huggingface_hub 1.4.0 or newer" in message and "installed is 1.3.5" in message


# The model's own card, and the upload

OWN = """\
---
license: apache-2.0
tags:
- medical
model-index:
- name: Its name
  results:
  - {task: {type: text-generation}, dataset: {name: Other, type: someone/other}, metrics: [{type: acc, value: 0.5}]}
---
# Its own card

Its own text.
"""


def test_own_card_keeps_everything_else(whole, tmp_path):
    own = tmp_path / "card.md"
    own.write_text(OWN)
    card = Submitted(whole, tmp_path / "one", "--card", str(own)).card
    assert card.data.license == "apache-2.0" and card.data.tags == ["medical"]
    assert card.data.model_name == "Its name"
    assert card.data.eval_results[0].dataset_type == "someone/other"
    assert card.text.startswith("# Its own card\n\nIts own text.\n\n" + BEGIN)
    first = (tmp_path / "one" / "README.md").read_text()
    text = first.replace(END, END + "\n\nText after it.")
    own.write_text(text.replace("### Coverage", "### Old coverage"))
    Submitted(whole, tmp_path / "two", "--card", str(own))
    again = (tmp_path / "two" / "README.md").read_text()
    assert again == text and again.count(BEGIN) == again.count(END) == 1


def test_broken_cards(out, tmp_path):
    own = tmp_path / "card.md"
    two = "---\nmodel-index:\n- name: a\n  results: []\n- name: b\n  results: []\n---\n"
    for card, message in (
        (f"# x\n{BEGIN}\n", "leave one pair"),
        (f"{END}\n{BEGIN}\n", "leave one pair"),
        ("---\n- list\n---\n", "metadata cannot be read"),
        ("---\na: [\n---\n", "metadata cannot be read"),
        (two, "several"),
    ):
        own.write_text(card)
        assert message in refusal(out, "--card", str(own))


@pytest.mark.parametrize(
    ("word", "as_pull_request", "url"),
    [("--push", False, "commit/1"), ("--pull-request", True, "discussions/2")],
)
def test_upload(out, tmp_path, hub, monkeypatch, word, as_pull_request, url):
    assert "HF_TOKEN" in refusal(out, word)
    assert not hub.made.called
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    own, to = tmp_path / "card.md", tmp_path / "to"
    own.write_text(OWN)
    hub.file_exists.return_value, hub.hf_hub_download.return_value = True, str(own)
    to.mkdir()
    (to / "private.txt").write_text("not to be uploaded")
    said = Submitted(out, to, word).said
    hub.made.assert_called_once_with(token="hf_secret")
    hub.file_exists.assert_called_once_with("me/model", "README.md", revision=SHA)
    hub.hf_hub_download.assert_called_once_with("me/model", "README.md", revision=SHA)
    (commit,) = (call.kwargs for call in hub.create_commit.call_args_list)
    assert commit["repo_id"] == "me/model" and commit["parent_commit"] == SHA
    assert commit["create_pr"] is as_pull_request
    assert f"Uploaded to me/model: https://huggingface.co/me/model/{url}" in said
    assert "hf_secret" not in said and "private.txt" not in hub.files and len(hub.files) == 8
    for name, content in hub.files.items():
        assert (to / name).read_bytes() == content and b"hf_secret" not in content
    assert b"Its own text." in hub.files["README.md"]
    # A model without a card has one made, under its name.
    hub.file_exists.return_value = False
    Submitted(out, tmp_path / "more", word)
    assert "# model\n" in hub.files["README.md"].decode()


def test_failures_of_the_hub(out, tmp_path, hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub.create_commit.side_effect = OSError
    with pytest.raises(DataError, match=r"upload failed: OSError\. The files are in"):
        Submitted(out, tmp_path / "to", "--push")
    assert (tmp_path / "to" / "xling_results.json").is_file()
    hub.model_info.side_effect = RuntimeError("404 no such model\nmore")
    message = refusal(out, "--push")
    assert "me/model cannot be read on the Hub: RuntimeError: 404 no such model" in message


@pytest.mark.realdata
def test_real_liveqa(evaluate, realdata, tmp_path, submit):
    kinds = ("verifiability_ll", "consistency")
    tasks = [f"xlinghealth_{kind}_liveqa_{code}" for kind in kinds for code in ("en", "hi")]
    metadata = {"data_dir": str(realdata / "xlinghealth")}
    submitted = submit(evaluate(tmp_path / "out", tasks, metadata=metadata))
    english = submitted.entries["xlinghealth_verifiability_ll_liveqa_en_auc"]
    assert 0.5 < english.value < 1 and english.dataset_id == XLINGHEALTH
    assert "244 of 244 questions; 10 unusable rows" in english.notes
    assert "LiveQA.xlsx (data_dir, not read from the Hub)" in english.notes
    coverage = [row[:4] for row in submitted.table("### Coverage")]
    assert ["xlinghealth_verifiability_ll_liveqa", "en", "244 of 244", "10"] in coverage


# What is not comparable


def test_a_model_that_answers_in_english_is_refused_and_the_card_says_conclusions(tmp_path, submit):
    """Its answers in Hindi are in English; forced, the card and all files say so."""
    tasks = {
        C + code: correctness(share, 200, seed=1, inside=inside, record=PUBLISHED)
        for code, share, inside in (("en", 0.1, 1.0), ("es", 0.5, 1.0), ("hi", 0.1, 0.02))
    }
    args = {"pretrained": "/srv/models/m", "base_url": "https://me:pa55@10.20.30.40/v1",
            "api_key": "sk-1a2b3c4d5e6f"}  # fmt: skip
    out = write_run(tmp_path / "out", tasks, config={"model_args": args})
    said = refusal(out)
    useless = f"{C}hi: more_comprehensive in Hindi is not what users get"
    assert f"{useless}: 98% of" in said and said.count("is not what users get") == 1
    submitted = submit(out, "--force")
    card = submitted.text
    assert f"**Caution:** {useless}" in card
    order = ["What these numbers are not", "### Conclusions", "### What to know", "### Coverage"]
    assert [card.index(part) for part in order] == sorted(card.index(part) for part in order)
    said = card.split("### Conclusions")[1].split("###")[0]
    assert "LiveQA, Spanish: Harmful answers, by this judge: 93 of 200 in Spanish" in said
    assert "Worse." in said and "would explain all of it." in said
    assert "LiveQA, Hindi:" in said and "questions got no usable answer in Hindi" in said
    flags = card.split("### What to know")[1].split("###")[0]
    assert "no results in" in flags and "the judge's own error is not in the intervals" in flags
    concluded = submitted.scores["conclusions"]
    served = {it["language"]: it["verdict"] for it in concluded if it["metric"] == "usable"}
    assert served["hi"] == "worse" and served["es"] != "worse"
    for secret in ("sk-1a2b", "pa55"):
        assert secret not in submitted.written + submitted.said
    for word in ("10.20.30.40", "10.0.0.3", "/srv", 'data_dir":', str(tmp_path)):
        assert word not in submitted.written
    assert '"pretrained": "m"' in submitted.written and "<redacted>" in submitted.written


# Where datasets lie, and the draft that registers them


def places(submitted):
    return {task_id: entry.dataset_id for task_id, entry in submitted.entries.items()}


def test_own_questions_have_entries_where_their_place_on_the_hub_is_said(
    run, serve, submit, tmp_path
):
    path = write(tmp_path / "talks.jsonl", [conversation(f"q{n:02}") for n in range(6)])
    said = Says(lambda context: "¿Tiene fiebre (fever)? Descanse hoy y llámenos (flags).")
    metadata = {"data_dir": str(path), "judge": serve(by_words).spec(), "rubric_batch_size": 3}
    out = tmp_path / "out"
    evaluated(run, out, "xling_custom_rubric", model=said, metadata=metadata)
    without = submit(out, "--force")
    assert "--dataset-id says where your own questions lie" in without.said
    assert not without.entries and not without.drafts
    submitted = submit(out, "--force", "--dataset-id", "clinic/talks")
    ids = [f"xling_custom_rubric_talks_{code}_rubric_score" for code in ("en", "es")]
    assert places(submitted) == dict.fromkeys(ids, "clinic/talks")
    assert [task["id"] for task in submitted.drafts["clinic/talks"]["tasks"]] == ids
    said = refusal(out, "--force", "--dataset-id", "clinic")
    assert "--dataset-id clinic: not of the form ORG/NAME" in said


def test_our_own_sample_is_no_dataset_of_the_hub(run, serve, tmp_path, submit):
    metadata = {"judge": serve(lambda prompt: "no verdict").spec(), "languages": ["en"]}
    evaluated(run, tmp_path / "out", ["xling_custom_rubric"], metadata=metadata)
    assert not places(submit(tmp_path / "out", "--force"))
    assert "it is where questions of your own lie" in refusal(
        tmp_path / "out", "--force", "--dataset-id", "a/b"
    )
