"""`xling submit`: MMedBench's files against the samples, and a model card that the Hub's classes read."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from statistics import fmean

import pytest
from builders import changed, evaluated, results_in
from huggingface_hub import ModelCard, metadata_load
from huggingface_hub.repocard_data import model_index_to_eval_results

from xling_tasks.cli import parse
from xling_tasks.commands.submit import hf
from xling_tasks.commands.submit.mmedbench import COLUMNS
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError
from xling_tasks.report.data import read_models
from xling_tasks.report.record import Score

NAMES = {"en": "English", "zh": "Chinese", "ja": "Japanese", "fr": "French", "ru": "Russian",
         "es": "Spanish"}  # fmt: skip
METRICS = {"BLEU-1": "bleu1", "BLEU-2": "bleu2", "BLEU-3": "bleu3", "BLEU-4": "bleu4",
           "ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL"}  # fmt: skip
FILES = {
    "mcqa": ["multi_choice_results.csv", "accuracy_metric.csv"],
    "rationale": ["rationale_results.csv", "rationale_similarity_metric.csv"],
}


def tasks_of(kind: str, codes=NAMES) -> list[str]:
    return [f"mmedbench_{kind}_{code}" for code in codes]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """The sample as a published folder."""
    folder = tmp_path_factory.mktemp("data")
    shutil.copytree(SAMPLE_FOLDER / "mmedbench_demo" / "Test", folder / "Test")
    return folder


@pytest.fixture(scope="module")
def evaluate(run, data):
    """A run saved as `lm_eval --output_path --log_samples` saves it."""

    def evaluate_(out: Path, tasks: list[str], *, metadata=None, **options):
        metadata = {"data_dir": str(data), "source_encoder": False, **(metadata or {})}
        evaluated(run, out, tasks, metadata=metadata, **options)
        return out

    return evaluate_


@pytest.fixture(scope="module")
def full(evaluate, tmp_path_factory) -> Path:
    return evaluate(tmp_path_factory.mktemp("full"), tasks_of("mcqa") + tasks_of("rationale"))


def submit(kind: str, out: Path, to: Path, *words: str) -> str:
    options = parse(["submit", kind, str(out), "--to", str(to), *words])
    return options.run(options)


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def samples(out: Path, task: str) -> list[dict]:
    (path,) = out.rglob(f"samples_{task}_2*.jsonl")
    return [json.loads(line) for line in path.read_text().split("\n") if line]


# MMedBench


def test_rows_are_the_samples_in_order_with_the_scores_of_the_results_file(full, tmp_path):
    to = tmp_path / "to"
    text = submit("mmedbench", full, to)
    names = [*FILES["mcqa"], *FILES["rationale"], "model_description.md"]
    assert sorted(path.name for path in to.iterdir()) == sorted(names)
    assert '"[MMedBench Submission] - xling_baseline"' in text and "by e-mail" in text
    results = results_in(full)["results"]
    for kind, (replies, scores) in FILES.items():
        expected = []
        for code, language in NAMES.items():
            for sample in samples(full, f"mmedbench_{kind}_{code}"):
                doc = sample["doc"]
                truth = doc["rationale"] if kind == "rationale" else ",".join(doc["answer"])
                prompt = sample["arguments"]["gen_args_0"]["arg_0"]
                expected.append([language, prompt, sample["resps"][0][0], truth])
        assert rows(to / replies) == [list(COLUMNS), *expected]
        assert len(expected) == 6 * (12 if kind == "mcqa" else 10)
        wanted = METRICS if kind == "rationale" else {"Accuracy": "acc"}
        header, *written = rows(to / scores)
        assert header == ["Metric", *NAMES.values(), "Avg"]
        assert [row[0] for row in written] == list(wanted)
        for row in written:
            values = [results[task][f"{wanted[row[0]]},none"] for task in tasks_of(kind)]
            assert [float(cell) for cell in row[1:-1]] == values
            assert float(row[-1]) == pytest.approx(fmean(values))
    description = (to / "model_description.md").read_text()
    assert "Model size: TODO" in description and "mmedbench_mcqa_en" in description
    assert "Caution: mmedbench_mcqa_en: 12 of 1273 published questions." in text
    with pytest.raises(DataError, match="already there"):
        submit("mmedbench", full, to)


def test_what_is_no_whole_submission_is_refused(full, evaluate, tmp_path):
    def refused(out: Path, message: str, *words: str) -> None:
        with pytest.raises(DataError, match=message):
            submit("mmedbench", out, tmp_path / "to", *words)
        assert not (tmp_path / "to").exists()

    part = Path(shutil.copytree(full, tmp_path / "part"))
    evaluate(part, tasks_of("mcqa", ["ru"]), limit=2)
    refused(part, "mmedbench_mcqa_ru: was run with --limit 2")
    submit("mmedbench", part, tmp_path / "half", "--only", "rationale")
    ft = Path(shutil.copytree(full, tmp_path / "ft"))
    evaluate(ft, tasks_of("mcqa_ft"))
    refused(ft, "say --ft or --no-ft", "--only", "mcqa")
    refused(ft, "mmedbench_rationale_ft_en: no results", "--ft")
    submit("mmedbench", ft, tmp_path / "tuned", "--ft", "--only", "mcqa")
    other = Path(shutil.copytree(full, tmp_path / "other"))
    changed(other, lambda content: content["configs"]["mmedbench_mcqa_es"].update(num_fewshot=1))
    refused(other, "run with different settings: .*num_fewshot", "--only", "mcqa")
    for path in part.rglob("samples_mmedbench_rationale_fr*"):  # a request failed
        path.write_text(re.sub(r'"bleu1": [\d.e-]+', '"bleu1": null', path.read_text(), count=1))
    refused(part, "mmedbench_rationale_fr: 1 of 10 questions have no score", "--only", "rationale")
    for path in part.rglob("samples_mmedbench_rationale_ja*"):
        path.unlink()
    refused(part, "samples_mmedbench_rationale_ja.* is not there", "--only", "rationale")


# The Hub


@pytest.fixture(scope="module")
def liveqa(run, tmp_path_factory) -> Path:
    """A run over the sample, as if it were over LiveQA."""
    demo, out = tmp_path_factory.mktemp("demo"), tmp_path_factory.mktemp("liveqa")
    tasks = [f"xlinghealth_verifiability_demo_{code}" for code in ("en", "hi")]
    evaluated(run, demo, tasks)
    for path in filter(Path.is_file, demo.rglob("*")):
        to = out / path.relative_to(demo).as_posix().replace("_demo_", "_liveqa_")
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(path.read_text().replace("_demo_", "_liveqa_"))

    def change(content):
        for config in content["configs"].values():
            config["metadata"]["xling"]["about"]["dataset"] = "liveqa"
            data = config["metadata"]["xling"]["data"]
            data |= {"dataset": "LiveQA", "kind": "data_dir", "name": "/home/me/LiveQA.xlsx"}

    changed(out, change)
    return out


IDS = ("--model-id", "me/model")


def test_a_card_whose_results_the_hub_reads(liveqa, full, tmp_path):
    to = tmp_path / "to"
    said = submit("hf", liveqa, to, *IDS)
    assert "8 results" in said and "hf upload me/model" in said
    name, results = model_index_to_eval_results(metadata_load(to / "README.md")["model-index"])
    assert name == "model"
    scores = results_in(liveqa)["results"]
    found = {
        (r.dataset_config[-2:], r.metric_type, r.metric_args["temperature"]): r for r in results
    }
    for (code, metric, tau), result in found.items():
        task = f"xlinghealth_verifiability_liveqa_{code}"
        assert result.metric_value == scores[task][f"{metric}_t{tau},none"]
        assert (result.dataset_type, result.dataset_split) == ("claws-lab/XLingHealth", "test")
    # Macro recall, on which verdicts rest, and the paper's macro F1 beside it.
    assert {key[1] for key in found} == {"macro_recall", "macro_f1"} and len(found) == 8
    card = (to / "README.md").read_text()
    assert "no\nevidence that the model is fit for clinical use" in card and "/home/me" not in card
    assert "| verifiability | liveqa  | Hindi " in card
    exams = tmp_path / "exams"
    submit("hf", full, exams, *IDS)
    _, results = model_index_to_eval_results(metadata_load(exams / "README.md")["model-index"])
    assert {r.dataset_type for r in results} == {"Henrychur/MMedBench"}
    assert sum(r.metric_type == "acc" for r in results) == 6


def test_an_existing_card_keeps_everything_else(liveqa, tmp_path):
    own = tmp_path / "card.md"
    own.write_text(
        "---\nlicense: mit\nmodel-index:\n- name: mine\n  results:\n  - task:\n      type: x\n    dataset:\n"
        "      type: d\n      name: D\n    metrics:\n    - type: acc\n      value: 0.5\n---\n# Mine\n\nText.\n"
    )
    submit("hf", liveqa, tmp_path / "a", *IDS, "--card", str(own))
    first = ModelCard.load(tmp_path / "a" / "README.md")
    assert first.data.license == "mit" and first.data.model_name == "mine"
    assert first.text.startswith("# Mine\n\nText.") and len(first.data.eval_results) == 9
    # Once more over our own card: nothing is there twice.
    submit("hf", liveqa, tmp_path / "b", *IDS, "--card", str(tmp_path / "a" / "README.md"))
    again = ModelCard.load(tmp_path / "b" / "README.md")
    assert len(again.data.eval_results) == 9 and again.text.count(hf.BEGIN) == 1
    own.write_text("---\n[broken\n---\n")
    with pytest.raises(DataError, match="metadata cannot be read"):
        submit("hf", liveqa, tmp_path / "c", *IDS, "--card", str(own))


def test_what_should_not_be_published_is_refused(liveqa, run, tmp_path):
    def refused(out: Path, message: str, *words: str) -> None:
        with pytest.raises(DataError, match=message):
            submit("hf", out, tmp_path / "to", *(words or IDS))
        assert not (tmp_path / "to").exists()

    evaluated(run, tmp_path / "demo", ["xlinghealth_verifiability_demo_en"], limit=2)
    refused(tmp_path / "demo", "not ready to submit: xlinghealth_.* was run with --limit")
    evaluated(run, tmp_path / "sample", ["xlinghealth_verifiability_demo_en"])
    refused(tmp_path / "sample", "is over the bundled sample")
    refused(liveqa, "not of the form ORG/NAME", "--model-id", "model")


def test_scores_that_many_questions_lack_are_refused(liveqa):
    (model,) = read_models([liveqa])
    name = ("m", "verifiability", "liveqa", "macro_recall", 0.0, "hi", 0.8, 0.7, 0.9)
    card = hf.describe([Score(*name, signature="x|judge:gpt(a=1)|temperature:0")], [], model)
    assert "Judge: `gpt(a=1)|temperature:0`." in card
    hf.refuse_unscored([Score(*name, n=23)], model)  # 1 of 24 questions is 4%
    with pytest.raises(
        DataError, match="macro recall at temperature 0 in Hindi: 22 of 24 questions"
    ):
        hf.refuse_unscored([Score(*name, n=22)], model)
