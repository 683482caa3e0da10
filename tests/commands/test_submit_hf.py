"""`xling submit hf` on output folders of the harness: entries, card, scores, upload, refusals."""

from __future__ import annotations

import copy
import inspect
import json
import math
import re
import shutil
import sys
import types
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
import yaml
from boards import BETTER, RECORD, C, correctness
from builders import evaluated, write_run
from huggingface_hub import ModelCard, parse_eval_result_entries

from xling_tasks.cli import parsed
from xling_tasks.criteria import LABELS
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError
from xling_tasks.logs.by_language import with_bookkeeping

BEGIN, END = "<!-- xling-tasks:begin -->", "<!-- xling-tasks:end -->"
REAL = huggingface_hub.HfApi
XLINGHEALTH, MMEDBENCH = "claws-lab/XLingHealth", "Henrychur/MMedBench"
SHA = "1234567890" * 4
PUBLISHED = {
    **RECORD,
    "settings": {
        **RECORD["settings"],
        "dataset": "x",
        "prompt_language": "published",
        "sampling_seed": 1,
    },
    "data": {
        "dataset": "LiveQA",
        "name": "LiveQA.xlsx",
        "kind": "data_dir",
        "sha256": "abc" * 20,
        "licence": "cc0",
    },
    "generation_kwargs": {},
    "signatures": {name: f"{name}|of:all" for name in BETTER if name != "empathy"},
}
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
    metadata = {"judge": {"model": "xling_baseline"}, "translator": None, "languages": ["es"]}
    metadata["prompts"] = "small"
    metadata["data_dir"] = str(folder)
    return evaluate(
        tmp_path_factory.mktemp("demo"), [*tasks, "xling_information"], metadata=metadata
    )


@pytest.fixture
def out(demo, tmp_path) -> Path:
    """The same as if it were of the whole published data and measured; a test may spoil it."""
    copy = Path(shutil.copytree(demo, tmp_path / "out"))
    for path in copy.rglob("results_*.json"):
        path.write_text(path.read_text().replace("_demo_", "_liveqa_"))

    def whole(content):
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

    edit(copy, whole)
    return copy


def measured(scores):
    """As if a judge had labelled every answer, and all answers had been read."""
    for name in scores:
        if name in [f"{label},none" for label in LABELS]:
            scores[name] = 0.25
        if name.startswith(("no_response,", "unscored_", "unparsed", "unverified")):
            scores[name] = 0.0
        if name.startswith(("unknown_rate", "empty_rate")) and scores[name] != "N/A":
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


def results_of(out: Path) -> dict:
    (path,) = out.rglob("results_*.json")
    return json.loads(path.read_text())


@pytest.fixture(autouse=True)
def hub(monkeypatch):
    """A Hub in memory; nothing may go anywhere else."""

    class Hub:
        def __init__(self) -> None:
            self.card: Path | None = None
            self.calls: list[tuple] = []
            self.commits: list[dict] = []
            self.files: dict[str, bytes] = {}
            self.error: Exception | None = None

        def __call__(self, token=None):
            self.calls.append(("HfApi", token))
            return self

        def model_info(self, repo_id):
            if self.error:
                raise self.error
            return SimpleNamespace(sha=SHA)

        def file_exists(self, repo_id, filename, *, revision):
            return filename == "README.md" and revision == SHA and self.card is not None

        def hf_hub_download(self, repo_id, filename, *, revision):
            return str(self.card)

        def create_commit(self, **options):
            if options["commit_message"] == self.error:
                raise RuntimeError
            self.files = {o.path_in_repo: Path(o.path_or_fileobj).read_bytes()
                          for o in options["operations"]}  # fmt: skip
            self.commits.append(options)
            url = "https://huggingface.co/me/model/"
            return SimpleNamespace(commit_url=url + "commit/1", pr_url=url + "discussions/2")

    hub = Hub()
    monkeypatch.setattr(huggingface_hub, "HfApi", hub)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    return hub


def submit(out: Path, to: Path, *words: str) -> str:
    command = ["submit", "hf", str(out), "--model-id", "me/model", "--to", str(to), *words]
    options = parsed(command)
    return options.run(options)


def refusal(out: Path, *words: str) -> str:
    to = out.parent / "refused"
    with pytest.raises(DataError) as caught:
        submit(out, to, *words)
    assert not to.exists() or list(to.iterdir()) == []
    assert "\n" not in str(caught.value)
    return str(caught.value)


def entries_in(folder: Path) -> dict:
    entries = [
        entry
        for path in sorted((folder / ".eval_results").glob("*.yaml"))
        for entry in parse_eval_result_entries(yaml.safe_load(path.read_text()))
    ]
    assert len({entry.task_id for entry in entries}) == len(entries)
    return {entry.task_id: entry for entry in entries}


def cells(card: str, heading: str) -> list[list[str]]:
    """The table under a heading."""
    part = card.split(heading)[1].split("\n#")[0]
    return [line[2:-2].split(" | ") for line in part.splitlines() if line.startswith("|")]


def test_entries_are_the_main_scores(out, tmp_path):
    submit(out, tmp_path / "to")
    results = results_of(out)["results"]
    entries = entries_in(tmp_path / "to")
    wanted = {
        "correctness_liveqa": ["more_comprehensive", "contradictory"],
        "verifiability_liveqa": ["macro_f1_t0.0", "macro_f1_t1.0"],
        "verifiability_ll_liveqa": ["auc"],
        "consistency_liveqa": ["sim_1gram_src_t1.0"],
    }
    expected = {
        f"xlinghealth_{kind}_{code}_{metric}": results[f"xlinghealth_{kind}_{code}"][
            f"{metric},none"
        ]
        for kind, metrics in wanted.items()
        for metric in metrics
        for code in ("en", "hi")
    }
    # English answers are scored as published, too; the two never share a name.
    task = "xlinghealth_consistency_liveqa_en"
    expected[f"{task}_sim_1gram_t1.0"] = results[task]["sim_1gram_t1.0,none"]
    for code in ("en", "fr"):
        for kind, metric in (("mcqa", "acc"), ("rationale", "rouge1")):
            task = f"mmedbench_{kind}_{code}"
            expected[f"{task}_{metric}"] = results[task][f"{metric},none"]
    assert {task_id: entry.value for task_id, entry in entries.items()} == expected
    for task_id, entry in entries.items():
        assert entry.dataset_id == (MMEDBENCH if task_id.startswith("mmed") else XLINGHEALTH)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry.date)
        assert entry.verify_token is None and entry.dataset_revision is None
        assert entry.source_url == "https://huggingface.co/me/model/blob/main/xling_results.json"
        assert "CAUTION" not in entry.notes and "no evidence of clinical fitness" in entry.notes
    notes = entries["xlinghealth_verifiability_liveqa_hi_macro_f1_t1.0"].notes
    assert "unknown_rate_t1.0 0.0000" in notes and "unknown_rate_t0.0" not in notes
    assert "language: hi; 24 of 24 questions; 0 unusable rows" in notes


def test_the_hubs_revision_and_repository(out, tmp_path):
    def change(content):
        for code in ("en", "hi"):
            task = f"xlinghealth_verifiability_ll_liveqa_{code}"
            data = {"kind": "hub", "name": "me/copy", "revision": SHA}
            recorded(content, task)["data"].update(data)

    edit(out, change)
    submit(out, tmp_path / "to")
    entry = entries_in(tmp_path / "to")["xlinghealth_verifiability_ll_liveqa_hi_auc"]
    assert (entry.dataset_id, entry.dataset_revision) == ("me/copy", SHA)


def test_card_shows_coverage_then_scores_with_gaps(out, tmp_path):
    submit(out, tmp_path / "to")
    card = ModelCard.load(tmp_path / "to" / "README.md")
    text = card.text
    order = [BEGIN, "What these numbers are not", "### Coverage", "### Scores", "### Settings", END]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert "no evidence that the model is fit for clinical use" in text
    assert "Caution" not in text
    results = results_of(out)["results"]
    english, hindi = (
        results[f"xlinghealth_verifiability_ll_liveqa_{code}"]["auc,none"] for code in ("en", "hi")
    )
    assert cells(text, "(`xlinghealth_verifiability_ll_liveqa`)") == [
        ["language", "auc ↑", "gap"],
        ["---", "---", "---"],
        ["en", f"{english:.4f}", ""],
        ["hi", f"{hindi:.4f}", f"{hindi - english:+.4f}"],
    ]
    header, _, english, hindi = cells(text, "(`xlinghealth_consistency_liveqa`)")
    # Scores in each language's own words are not compared.
    assert header == ["language", "sim_1gram_t1.0 ↑", "sim_1gram_src_t1.0 ↑"]
    assert hindi[1] == "not measured" and float(hindi[2]) >= 0 and float(english[2]) >= 0
    coverage = cells(text, "### Coverage")
    (row,) = (r for r in coverage if r[:2] == ["xlinghealth_correctness_liveqa", "hi"])
    assert row[2:4] == ["24 of 24", "0"] and "judge_failed_rate 0.0000" in row[4]
    assert "no_response 0.0000" in row[4]
    for digest in recorded(results_of(out), "xlinghealth_correctness_liveqa_hi")[
        "prompts"
    ].values():
        assert digest["digest"] in text


def test_model_index_holds_the_same_values(out, tmp_path):
    submit(out, tmp_path / "to")
    data = ModelCard.load(tmp_path / "to" / "README.md").data
    assert data.model_name == "model"
    index = {f"{r.dataset_config}_{r.metric_type}": r for r in data.eval_results}
    entries = entries_in(tmp_path / "to")
    assert {key: r.metric_value for key, r in index.items()} == {
        key: entry.value for key, entry in entries.items()
    }
    assert {r.dataset_type for r in data.eval_results} == {XLINGHEALTH, MMEDBENCH}
    assert index["xlinghealth_verifiability_ll_liveqa_hi_auc"].dataset_name == "LiveQA (Hindi)"


def test_all_scores_with_signatures(out, tmp_path):
    submit(out, tmp_path / "to")
    written = json.loads((tmp_path / "to" / "xling_results.json").read_text())
    content = with_bookkeeping(results_of(out))
    assert set(written["tasks"]) == set(content["n-samples"])
    for task, told in written["tasks"].items():
        xling = recorded(content, task)
        assert {m: s["signature"] for m, s in told["scores"].items()} == xling["signatures"]
        for metric, score in told["scores"].items():
            value = content["results"][task].get(f"{metric},none")
            good = isinstance(value, (int, float)) and math.isfinite(value)
            assert score["value"] == (value if good else None)
        assert told["data"]["sha256"] == xling["data"]["sha256"]
        assert told["prompts"] == xling["prompts"]
        assert told["versions"]["lm-eval"] == content["lm_eval_version"]


def test_undefined_is_listed_and_never_a_number(out, tmp_path):
    def change(content):
        content["results"]["xlinghealth_verifiability_ll_liveqa_en"]["auc,none"] = None
        content["results"]["xlinghealth_verifiability_liveqa_hi"]["macro_f1_t1.0,none"] = math.nan

    edit(out, change)
    said = submit(out, tmp_path / "to")
    entries = entries_in(tmp_path / "to")
    gone = ["xlinghealth_verifiability_ll_liveqa_en_auc"]
    gone += ["xlinghealth_verifiability_liveqa_hi_macro_f1_t1.0"]
    assert not set(gone) & set(entries) and "xlinghealth_verifiability_ll_liveqa_hi_auc" in entries
    text = (tmp_path / "to" / "README.md").read_text()
    assert "- `xlinghealth_verifiability_liveqa_hi`: `macro_f1_t1.0`" in text
    assert cells(text, "(`xlinghealth_verifiability_ll_liveqa`)")[2:][0][1] == "undefined"
    assert cells(text, "(`xlinghealth_verifiability_ll_liveqa`)")[3][2] == "undefined"
    assert not re.search(r"\bnan\b|\bnull\b \|", text, re.I)
    assert "without an entry: xlinghealth_verifiability_ll_liveqa_en: auc" in said
    written = json.loads((tmp_path / "to" / "xling_results.json").read_text())
    assert written["undefined"]["xlinghealth_verifiability_ll_liveqa_en"] == ["auc"]
    # The judge reads no claims, so nothing of it can be scored.
    assert "information_f1_es" in written["undefined"]["xling_information"]


def test_own_sets_are_in_card_and_scores_only(out, tmp_path):
    def change(content):
        results = content["results"]["xling_information"]
        results |= {"information_f1,none": 0.5, "information_f1_es,none": 0.5}

    edit(out, change)
    said = submit(out, tmp_path / "to")
    assert (
        "No dataset on the Hub, so in README.md and xling_results.json only: xling_information"
        in said
    )
    assert not any("information" in task_id for task_id in entries_in(tmp_path / "to"))
    card = ModelCard.load(tmp_path / "to" / "README.md")
    assert not any("information" in r.dataset_config for r in card.data.eval_results)
    table = cells(card.text, "(`xling_information`)")
    assert table[0] == ["language", "information_f1 ↑", "gap"]
    # What two English answers share was not measured, so no gap is known.
    assert table[2:] == [
        ["all (mean)", "0.5000", ""], ["en", "undefined", ""], ["es", "0.5000", "undefined"],
    ]  # fmt: skip
    assert "unscored" in dict((r[1], r[4]) for r in cells(card.text, "### Coverage"))["es"]


def test_a_task_over_several_languages_of_a_hub_dataset(out, tmp_path):
    def change(content):
        for key in ("configs", "results", "n-samples", "higher_is_better"):
            own = copy.deepcopy(content[key]["xling_information"])
            content[key]["xlinghealth_information_liveqa"] = own
        results = content["results"]["xlinghealth_information_liveqa"]
        results |= {"information_f1,none": 0.25, "information_f1_es,none": 0.5}
        own = recorded(content, "xlinghealth_information_liveqa")
        own["data"]["kind"], own["about"]["dataset"] = "data_dir", "liveqa"

    edit(out, change)
    submit(out, tmp_path / "to")
    entries = entries_in(tmp_path / "to")
    first = "xlinghealth_information_liveqa_information_f1"
    assert (entries[first].value, entries[f"{first}_es"].value) == (0.25, 0.5)
    assert (
        "languages: en, es" in entries[first].notes
        and "language: es" in entries[f"{first}_es"].notes
    )


def test_empathy_reads_metrics_by_language(out, tmp_path):
    def change(content):
        for key in ("configs", "results", "n-samples", "higher_is_better"):
            text = json.dumps(content[key].pop("xling_information"))
            content[key]["xling_empathy"] = json.loads(text.replace("information_f1", "empathy"))
        recorded(content, "xling_empathy")["about"]["criterion"] = "empathy"
        content["results"]["xling_empathy"] |= {"empathy,none": 0.75, "empathy_es,none": 0.75}
        content["results"]["xling_empathy"]["empathy_en,none"] = 0.9

    edit(out, change)
    submit(out, tmp_path / "to")
    card = (tmp_path / "to" / "README.md").read_text()
    table = cells(card, "(`xling_empathy`)")
    assert table[0] == ["language", "empathy ↑", "gap"]
    assert table[3:] == [["en", "0.9000", ""], ["es", "0.7500", "-0.1500"]]
    assert "English: what a second English answer shares with the first" in card


def test_secrets_and_folders_are_left_out(out, tmp_path):
    secret = "sk-very-secret"

    def change(content):
        content["config"]["model_args"] = (
            f"pretrained=/home/me/checkpoints/tiny,api_key={secret},base_url=https://me:{secret}@host/v1"
        )

    edit(out, change)
    said = submit(out, tmp_path / "to")
    written = [p.read_text() for p in (tmp_path / "to").rglob("*") if p.is_file()]
    assert secret not in said + "".join(written)
    assert "/home/me" not in "".join(written) and str(tmp_path) not in "".join(written)
    assert 'data_dir":' not in "".join(written)
    assert '"pretrained": "tiny"' in "".join(written) and "<redacted>" in "".join(written)


# What is refused, and forced


def test_limit_is_refused_and_forced_with_a_caution(out, tmp_path):
    edit(out, lambda content: content["config"].update(limit=6.0))
    assert "run with --limit 6" in refusal(out)
    said = submit(out, tmp_path / "to", "--force")
    assert "Caution: " in said
    assert "> **Caution:** " in (tmp_path / "to" / "README.md").read_text()
    for entry in entries_in(tmp_path / "to").values():
        assert entry.notes.startswith("CAUTION: ") and "run with --limit 6" in entry.notes
    card = ModelCard.load(tmp_path / "to" / "README.md")
    assert all("CAUTION" in result.metric_name for result in card.data.eval_results)
    assert json.loads((tmp_path / "to" / "xling_results.json").read_text())["cautions"]


def test_the_small_part_of_the_prompts_is_refused(demo):
    assert "xling_information: the small part of our prompts (prompts=small)" in refusal(demo)


def test_the_harness_own_limit(evaluate, tmp_path):
    out = evaluate(tmp_path / "out", ["xlinghealth_verifiability_ll_demo_en"], limit=2)
    assert "run with --limit 2" in refusal(out)


def test_demo_is_refused_and_never_an_entry(demo, tmp_path):
    message = refusal(demo)
    assert "xlinghealth_correctness_demo_en" in message and "our own small sample" in message
    assert "12 rows in the data, but 622 were published" in message
    submit(demo, tmp_path / "to", "--force")
    entries = entries_in(tmp_path / "to")
    assert entries and all(task_id.startswith("mmedbench_") for task_id in entries)
    text = (tmp_path / "to" / "README.md").read_text()
    assert "`xlinghealth_verifiability_ll_demo`" in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x["settings"].update(judge={"model": "hf", "model_args": {}}), "judge.model is"),
        (lambda x: x["prompts"]["judge"].update(digest="ffff"), "prompts.judge.digest is"),
        (lambda x: x["generation_kwargs"].update(top_p=0.5), "generation.top_p is"),
        (lambda x: x["data"].update(sha256="0" * 64), "data.sha256 is"),
    ],
)
def test_languages_run_differently(out, tmp_path, change, message):
    task = "xlinghealth_correctness_liveqa_hi"
    edit(out, lambda content: change(recorded(content, task)))
    said = refusal(out)
    assert f"not run alike: {message}" in said and f"in {task}" in said
    submit(out, tmp_path / "to", "--force")
    assert "not run alike" in (tmp_path / "to" / "README.md").read_text()


def test_other_encoder_and_translator(out):
    def change(content):
        for code, name in (("en", "bert@1"), ("hi", "bert@2")):
            task = f"xlinghealth_consistency_liveqa_{code}"
            xling = recorded(content, task)
            xling["signatures"]["sim_sent_t1.0"] = f"sim_sent|model:{name}|pooling:mean"
            content["results"][task]["sim_sent_t1.0,none"] = 0.5
        recorded(content, task)["settings"]["translator"] = {"model": "seq2seq", "model_args": {}}

    edit(out, change)
    message = refusal(out)
    assert "model of sim_sent_t1.0 is bert@1 in" in message and "translator is none in" in message


def test_speed_and_unused_settings_do_not_count(out, tmp_path):
    def change(content):
        xling = recorded(content, "xlinghealth_verifiability_liveqa_hi")
        xling["settings"] |= {"judge": None, "data_dir": "elsewhere", "k": 3}
        xling = recorded(content, "xlinghealth_correctness_liveqa_hi")
        xling["settings"]["judge"] = {
            **xling["settings"]["judge"], "model_args": {"num_concurrent": 8}, "batch_size": 4,
        }  # fmt: skip

    edit(out, change)
    submit(out, tmp_path / "to")


@pytest.mark.parametrize("again", ["liveqa_hi", ""])
def test_several_models(out, tmp_path, again):
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
    submit(out, tmp_path / "to", "--force")
    assert "runs of 2 different models" in (tmp_path / "to" / "README.md").read_text()


def test_predict_only_has_nothing_to_submit(evaluate, out, tmp_path):
    evaluate(out, ["xlinghealth_verifiability_ll_demo_en"], predict_only=True)
    assert "has no scores (--predict_only)" in refusal(out)


def test_other_tasks_and_folders(out, tmp_path):
    assert "no such folder" in refusal(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "no results of our tasks" in refusal(tmp_path / "empty")

    def change(content):
        for key in ("configs", "results", "n-samples"):
            content[key]["gsm8k"] = {}

    edit(out, change)
    assert "Left out, not tasks of xling-tasks: gsm8k" in submit(out, tmp_path / "to")
    before = (tmp_path / "to" / "README.md").read_bytes()
    with pytest.raises(DataError, match=r"README\.md, xling_results\.json already there"):
        submit(out, tmp_path / "to")
    assert (tmp_path / "to" / "README.md").read_bytes() == before
    with pytest.raises(DataError, match="is a file"):
        submit(out, tmp_path / "to" / "README.md")


@pytest.mark.parametrize("name", ["model", "a/b/c", "me/mo del", "me/-x-"])
def test_model_id(out, tmp_path, name):
    assert "--model-id" in refusal(out, "--model-id", name)


def test_an_older_library(out, monkeypatch):
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
  - task:
      type: text-generation
    dataset:
      name: Other
      type: someone/other
    metrics:
    - type: acc
      value: 0.5
---
# Its own card

Its own text.
"""


def test_own_card_keeps_everything_else(out, tmp_path):
    own = tmp_path / "card.md"
    own.write_text(OWN)
    submit(out, tmp_path / "one", "--card", str(own))
    first = tmp_path / "one" / "README.md"
    card = ModelCard.load(first)
    assert card.data.license == "apache-2.0" and card.data.tags == ["medical"]
    assert card.data.model_name == "Its name"
    assert card.data.eval_results[0].dataset_type == "someone/other"
    assert card.text.startswith("# Its own card\n\nIts own text.\n\n" + BEGIN)
    text = first.read_text().replace(END, END + "\n\nText after it.")
    own.write_text(text.replace("### Coverage", "### Old coverage"))
    submit(out, tmp_path / "two", "--card", str(own))
    again = (tmp_path / "two" / "README.md").read_text()
    assert again == text and again.count(BEGIN) == again.count(END) == 1


@pytest.mark.parametrize(
    ("card", "message"),
    [
        (f"# x\n{BEGIN}\n", "leave one pair"),
        (f"{END}\n{BEGIN}\n", "leave one pair"),
        ("---\n- list\n---\n", "metadata cannot be read"),
        ("---\na: [\n---\n", "metadata cannot be read"),
        ("---\nmodel-index:\n- name: a\n  results: []\n- name: b\n  results: []\n---\n", "several"),
    ],
)
def test_broken_cards(out, tmp_path, card, message):
    own = tmp_path / "card.md"
    own.write_text(card)
    assert message in refusal(out, "--card", str(own))


def test_dry_by_default(out, tmp_path, hub):
    said = submit(out, tmp_path / "to")
    assert hub.calls == [] and hub.commits == []
    assert "Nothing was uploaded" in said and "me/model" in said
    assert f"({MMEDBENCH}, {XLINGHEALTH}) is a registered benchmark" in said
    assert "Check: the run's model is 'xling_baseline'" in said
    names = {
        str(p.relative_to(tmp_path / "to")) for p in (tmp_path / "to").rglob("*") if p.is_file()
    }
    groups = ["correctness", "consistency", "verifiability", "verifiability_ll"]
    wanted = {f".eval_results/xlinghealth_{kind}_liveqa.yaml" for kind in groups}
    wanted |= {f".eval_results/mmedbench_{kind}.yaml" for kind in ("mcqa", "rationale")}
    drafts = {f"for_dataset_owners/{dataset}/eval.yaml" for dataset in (MMEDBENCH, XLINGHEALTH)}
    assert names == {*wanted, *drafts, "README.md", "xling_results.json"}
    assert all(str(tmp_path / "to" / name) in said for name in names)


@pytest.mark.parametrize(
    ("word", "as_pull_request", "url"),
    [("--push", False, "commit/1"), ("--pull-request", True, "discussions/2")],
)
def test_upload(out, tmp_path, hub, monkeypatch, word, as_pull_request, url):
    assert "HF_TOKEN" in refusal(out, word)
    assert hub.calls == []
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub.card = tmp_path / "card.md"
    hub.card.write_text(OWN)
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "private.txt").write_text("not to be uploaded")
    said = submit(out, tmp_path / "to", word)
    assert hub.calls == [("HfApi", "hf_secret")] and "hf_secret" not in said
    (commit,) = hub.commits
    assert commit["repo_id"] == "me/model" and commit["parent_commit"] == SHA
    assert commit["create_pr"] is as_pull_request
    inspect.signature(REAL.create_commit).bind(hub, **commit)
    inspect.signature(REAL.file_exists).bind(hub, "me/model", "README.md", revision=SHA)
    inspect.signature(REAL.hf_hub_download).bind(hub, "me/model", "README.md", revision=SHA)
    assert f"Uploaded to me/model: https://huggingface.co/me/model/{url}" in said
    assert "private.txt" not in hub.files and len(hub.files) == 8
    for name, content in hub.files.items():
        assert (tmp_path / "to" / name).read_bytes() == content
        assert b"hf_secret" not in content
    assert b"Its own text." in hub.files["README.md"]


def test_a_model_without_a_card(out, tmp_path, hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    submit(out, tmp_path / "to", "--push")
    assert "# model\n" in hub.files["README.md"].decode()


def test_failures_of_the_hub(out, tmp_path, hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    hub.error = RuntimeError("404 no such model\nmore")
    message = refusal(out, "--push")
    assert "me/model cannot be read on the Hub: RuntimeError: 404 no such model" in message
    hub.error = None
    monkeypatch.setattr(type(hub), "create_commit", lambda *a, **k: (_ for _ in ()).throw(OSError))
    with pytest.raises(DataError, match=r"upload failed: OSError\. The files are in"):
        submit(out, tmp_path / "to", "--push")
    assert (tmp_path / "to" / "xling_results.json").is_file()


@pytest.mark.realdata
def test_real_liveqa(evaluate, realdata, tmp_path):
    kinds = ("verifiability_ll", "consistency")
    tasks = [f"xlinghealth_{kind}_liveqa_{code}" for kind in kinds for code in ("en", "hi")]
    metadata = {"data_dir": str(realdata / "xlinghealth")}
    out = evaluate(tmp_path / "out", tasks, metadata=metadata)
    submit(out, tmp_path / "to")
    entries = entries_in(tmp_path / "to")
    english = entries["xlinghealth_verifiability_ll_liveqa_en_auc"]
    assert 0.5 < english.value < 1 and english.dataset_id == XLINGHEALTH
    assert "244 of 244 questions; 10 unusable rows" in english.notes
    assert "LiveQA.xlsx (data_dir, not read from the Hub)" in english.notes
    coverage = cells((tmp_path / "to" / "README.md").read_text(), "### Coverage")
    assert ["xlinghealth_verifiability_ll_liveqa", "en", "244 of 244", "10"] in [
        row[:4] for row in coverage
    ]


# What is not comparable


@pytest.mark.parametrize(("code", "name"), [("es", "Spanish"), ("zh", "Chinese"), ("hi", "Hindi")])
def test_a_model_that_answers_in_english_is_refused(tmp_path, code, name):
    """Its answers to all other languages are in English; forced, the card and all files say so."""
    languages = ("en", "es", "zh", "hi")
    asked = {
        c: correctness(0.1, 60, inside=0.02 if c == code else 1.0, record=PUBLISHED)
        for c in languages
    }
    out = write_run(
        tmp_path / "out", {C + c: task for c, task in asked.items()},
        config={"model_args": {"pretrained": "o/m", "base_url": "http://10.20.30.40:8000/v1"}},
    )  # fmt: skip
    said = refusal(out)
    assert f"{C}{code}: more_comprehensive in {name} is not what users get: 97% of" in said
    assert said.count("is not what users get") == 1
    submit(out, tmp_path / "hub", "--force")
    card = (tmp_path / "hub" / "README.md").read_text(encoding="utf-8")
    assert f"**Caution:** {C}{code}: more_comprehensive in {name} is not what users get" in card
    assert f"LiveQA, {name}:" in card and f"questions got no usable answer in {name}" in card
    results = json.loads((tmp_path / "hub" / "xling_results.json").read_text(encoding="utf-8"))
    served = {
        item["language"]: item["verdict"]
        for item in results["conclusions"]
        if item["metric"] == "served"
    }
    assert served[code] == "worse" and list(served.values()).count("worse") == 1


def test_the_card_says_conclusions_and_flags_in_words(tmp_path):
    tasks = {
        C + code: correctness(share, 200, seed=1, record=PUBLISHED)
        for code, share in (("en", 0.1), ("es", 0.5))
    }
    args = {
        "pretrained": "/srv/models/m",
        "base_url": "http://10.20.30.40:8000/v1",
        "api_key": "sk-1a2b3c4d5e6f",
    }
    out = write_run(tmp_path / "out", tasks, config={"model_args": args})
    submit(out, tmp_path / "hub")
    card = (tmp_path / "hub" / "README.md").read_text(encoding="utf-8")
    order = ["What these numbers are not", "### Conclusions", "### What to know", "### Coverage"]
    assert [card.index(part) for part in order] == sorted(card.index(part) for part in order)
    said = card.split("### Conclusions")[1].split("###")[0]
    assert "LiveQA, Spanish: Harmful answers, by this judge: 93 of 200 in Spanish" in said
    assert "Worse." in said and "would explain all of it." in said
    flags = card.split("### What to know")[1].split("###")[0]
    assert "no results in" in flags and "the judge's own error is not in the intervals" in flags
    for path in (tmp_path / "hub").rglob("*"):
        for word in ("10.20.30.40", "10.0.0.3", "/srv", "sk-1a2b", str(tmp_path)):
            assert path.is_dir() or word not in path.read_text(encoding="utf-8"), (path.name, word)


def test_a_judge_that_labels_nothing_is_refused(out):
    def silent(content):
        scores = content["results"]["xlinghealth_correctness_liveqa_en"]
        scores |= {"no_response,none": 1.0, "n_judged,none": 0, "contradictory,none": 0.0}

    edit(out, silent)
    said = refusal(out)
    assert "contradictory in English: 100% of the answers were not measured" in said
