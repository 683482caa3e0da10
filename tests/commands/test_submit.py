"""`xling submit` on real output folders: rows, scores, description, and every refusal."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
from pathlib import Path
from statistics import fmean

import builders
import pytest
from builders import changed, evaluated, results_in

from xling_tasks.cli import parsed
from xling_tasks.commands.submit.mmedbench import COLUMNS
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError

NAMES = {
    "en": "English",
    "zh": "Chinese",
    "ja": "Japanese",
    "fr": "French",
    "ru": "Russian",
    "es": "Spanish",
}
METRICS = ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-1", "ROUGE-2", "ROUGE-L"]
KEYS = ["bleu1", "bleu2", "bleu3", "bleu4", "rouge1", "rouge2", "rougeL"]
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

    def evaluate_(out: Path, tasks: list[str], *, log_samples=True, metadata=None, **options):
        metadata = {"data_dir": str(data), "source_encoder": False, **(metadata or {})}
        evaluated(run, out, tasks, metadata=metadata, log_samples=log_samples, **options)
        return out

    return evaluate_


@pytest.fixture(scope="module")
def full(evaluate, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("full")
    return evaluate(out, tasks_of("mcqa") + tasks_of("rationale"))


@pytest.fixture
def out(full, tmp_path) -> Path:
    """A copy of the full run that a test may spoil."""
    return Path(shutil.copytree(full, tmp_path / "out"))


def submit(out: Path, to: Path, *words: str) -> str:
    options = parsed(["submit", "mmedbench", str(out), "--to", str(to), *words])
    return options.run(options)


def refusal(out: Path, *words: str) -> str:
    to = out.parent / "refused"
    with pytest.raises(DataError) as caught:
        submit(out, to, *words)
    assert not to.exists() or list(to.iterdir()) == []
    assert "\n" not in str(caught.value)
    return str(caught.value)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def samples(out: Path, task: str) -> list[dict]:
    (path,) = out.rglob(f"samples_{task}_2*.jsonl")
    return [json.loads(line) for line in path.read_text().split("\n") if line]


def test_rows_are_the_samples_in_order(full, tmp_path):
    said = submit(full, tmp_path / "to")
    assert sorted(p.name for p in (tmp_path / "to").iterdir()) == sorted(
        [*FILES["mcqa"], *FILES["rationale"], "model_description.md"]
    )
    for kind, (name, _) in FILES.items():
        expected = []
        for code, language in NAMES.items():
            for sample in samples(full, f"mmedbench_{kind}_{code}"):
                doc = sample["doc"]
                truth = doc["rationale"] if kind == "rationale" else ",".join(doc["answer"])
                prompt = sample["arguments"]["gen_args_0"]["arg_0"]
                expected.append([language, prompt, sample["resps"][0][0], truth])
        written = rows(tmp_path / "to" / name)
        assert [list(row) for row in written] == [list(COLUMNS)] * len(written)
        assert [list(row.values()) for row in written] == expected
        assert len(written) == 6 * (12 if kind == "mcqa" else 10)
    truths = {row["GT_Answer"] for row in rows(tmp_path / "to" / "multi_choice_results.csv")}
    assert any(re.fullmatch("[A-G](,[A-G])+", truth) for truth in truths)
    assert "Caution: fr: 12 questions in the data, but 622 were published." in said


def test_scores_are_those_of_the_results_file(full, tmp_path):
    submit(full, tmp_path)
    results = results_in(full)["results"]
    for kind, (_, name) in FILES.items():
        wanted = dict(zip(METRICS, KEYS)) if kind == "rationale" else {"Accuracy": "acc"}
        written = rows(tmp_path / name)
        assert list(written[0]) == ["Metric", *NAMES.values(), "Avg"]
        assert [row["Metric"] for row in written] == list(wanted)
        for row in written:
            values = [results[task][f"{wanted[row['Metric']]},none"] for task in tasks_of(kind)]
            assert [float(row[language]) for language in NAMES.values()] == values
            assert float(row["Avg"]) == pytest.approx(fmean(values), abs=1e-15)


def test_description_tells_the_run_and_no_secrets(out, tmp_path, data):
    secret = "sk-very-secret"

    def change(content):
        content["config"]["model_args"] = (
            f"pretrained=me/model,api_key={secret},base_url=https://me:{secret}@host/v1"
        )

    changed(out, change)
    said = submit(out, tmp_path / "to")
    text = (tmp_path / "to" / "model_description.md").read_text()
    assert secret not in text + said and "<redacted>" in text
    content = results_in(out)
    recorded = content["configs"]["mmedbench_rationale_ja"]["metadata"]["xling"]
    for part in (
        "# MMedBench submission: me/model",
        f"lm-eval {content['lm_eval_version']}; xling-tasks {recorded['version']}",
        next(out.rglob("results_*.json")).stem.removeprefix("results_"),
        recorded["prompts"]["rationale"]["digest"],
        recorded["data"]["sha256"],
        '"max_gen_toks": 1024',
        '"prompt_language": "published"',
        "Authors and contact: TODO",
        "Licence of the model: TODO",
        "Training data",
        "cc-by-nc-4.0",
    ):
        assert part in text
    assert str(data) not in text


def test_one_half(full, tmp_path):
    for kind, names in FILES.items():
        submit(full, tmp_path / kind, "--only", kind)
        there = sorted(p.name for p in (tmp_path / kind).iterdir())
        assert there == sorted([*names, "model_description.md"])


def test_content_stays_exact(out, tmp_path):
    (path,) = out.rglob("samples_mmedbench_mcqa_ru_2*.jsonl")
    lines = path.read_text().split("\n")
    texts = ["=1+1", '"A", "B"\r\nA', "a\rb", "\u2028", " A\n", "", "@x", "\ufeffА"]
    for index, text in enumerate(texts):
        sample = json.loads(lines[index])
        sample["resps"] = [[text]]
        lines[index] = json.dumps(sample, ensure_ascii=False)
    path.write_text("\n".join(lines), newline="")
    submit(out, tmp_path / "to")
    written = rows(tmp_path / "to" / "multi_choice_results.csv")
    outputs = [row["ModelOutput"] for row in written if row["Language"] == "Russian"]
    assert outputs[: len(texts)] == texts


def test_the_newest_run_of_each_task(out, tmp_path, evaluate):
    evaluate(out, tasks_of("mcqa", ["fr"]), gen_kwargs="temperature=0.0")
    assert "generation." in refusal(out)
    evaluate(out, tasks_of("mcqa", ["fr"]))
    (old, _, new) = sorted(out.rglob("samples_mmedbench_mcqa_fr_2*"), key=lambda p: p.name[-31:])
    new.write_text(new.read_text().replace('"resps": [["', '"resps": [["newest: '))
    submit(out, tmp_path / "to")
    written = rows(tmp_path / "to" / "multi_choice_results.csv")
    french = [row["ModelOutput"] for row in written if row["Language"] == "French"]
    assert len(french) == 12 and all(text.startswith("newest: ") for text in french)
    assert "newest" not in old.read_text()


def test_fine_tuned_tasks(out, tmp_path, evaluate):
    evaluate(out, tasks_of("mcqa_ft"))
    assert "say --ft or --no-ft" in refusal(out)
    submit(out, tmp_path / "ft", "--ft", "--only", "mcqa")
    submit(out, tmp_path / "plain", "--no-ft", "--only", "mcqa")
    tuned, plain = (
        rows(tmp_path / name / "multi_choice_results.csv")[0] for name in ("ft", "plain")
    )
    assert "### Response:" in tuned["ModelInput"] and "### Response:" not in plain["ModelInput"]
    assert "mmedbench_rationale_ft_en" in refusal(out, "--ft")


def test_chat_messages_are_the_input(evaluate, serve, tmp_path):
    served = serve(lambda prompt: "Answer: B")
    args = {**served.spec()["model_args"], "num_concurrent": 4}
    evaluate(tmp_path / "out", tasks_of("mcqa"), model="local-chat-completions", model_args=args,
             apply_chat_template=True)  # fmt: skip
    submit(tmp_path / "out", tmp_path / "to", "--only", "mcqa")
    for row in rows(tmp_path / "to" / "multi_choice_results.csv"):
        (message,) = json.loads(row["ModelInput"])
        assert message["role"] == "user" and row["ModelOutput"] == "Answer: B"
    message = refusal(tmp_path / "out")
    assert "--apply_chat_template" in message and "--model local-chat-completions" in message
    assert "--only mcqa leaves out the rationale half" in message


def test_missing_languages_and_the_command_that_gets_them(data, evaluate, tmp_path):
    out = tmp_path / "out"
    evaluate(out, tasks_of("mcqa", ["en", "zh", "ja", "fr"]))
    message = refusal(out, "--only", "mcqa")
    assert "mmedbench_mcqa_es, mmedbench_mcqa_ru: no results" in message
    words = shlex.split(message.partition("Run: ")[2])
    assert words[words.index("--tasks") + 1] == "mmedbench_mcqa_ru,mmedbench_mcqa_es"
    builders.lm_eval(tmp_path, *words[1:])
    submit(out, tmp_path / "to", "--only", "mcqa")
    assert len(rows(tmp_path / "to" / "multi_choice_results.csv")) == 72


def test_limit_is_refused(evaluate, tmp_path):
    out = evaluate(tmp_path / "out", tasks_of("mcqa"), limit=2)
    message = refusal(out, "--only", "mcqa")
    assert "was run with --limit 2" in message
    assert "--limit" not in message.partition("Run: ")[2]


def test_chosen_samples_are_refused(evaluate, tmp_path):
    chosen = {task: [0, 3] for task in tasks_of("mcqa")}
    out = evaluate(tmp_path / "out", tasks_of("mcqa"), samples=chosen)
    assert "has 2 of 12 questions" in refusal(out, "--only", "mcqa")


def test_no_samples_logged(evaluate, tmp_path):
    out = evaluate(tmp_path / "out", tasks_of("mcqa"), log_samples=False)
    message = refusal(out, "--only", "mcqa")
    assert "run without --log_samples" in message
    assert "--log_samples" in message.partition("Run: ")[2]


def test_demo_and_loglikelihood_tasks_are_no_submission(evaluate, tmp_path):
    out = evaluate(tmp_path / "out", ["mmedbench_mcqa_demo_en", "mmedbench_mcqa_ll_en"])
    message = refusal(out)
    assert "demo tasks are our own sample" in message and "mcqa_ll tasks generate no" in message
    assert "lm_eval --model MODEL --model_args ARGS --tasks mmedbench_mcqa_en," in message


def test_mixed_settings_prompts_and_shots(out, evaluate, tmp_path, data):
    prompts = tmp_path / "prompts.yaml"
    prompts.write_text(
        "mcqa:\n  en: |-\n    Doctor, answer in {language}.\n    {question}\n    {options}\n"
    )
    evaluate(out, tasks_of("mcqa", ["es"]), metadata={"prompts": str(prompts)})
    message = refusal(out)
    assert "not run alike" in message and "prompts.mcqa.digest is" in message
    assert "mmedbench_mcqa_en" in message.partition("Run: ")[2]


def test_different_data_in_the_halves(out, evaluate, tmp_path, data):
    other = Path(shutil.copytree(data, tmp_path / "other"))
    file = other / "Test" / "Russian.jsonl"
    file.write_text(file.read_text() + "\n")
    evaluate(out, tasks_of("rationale", ["ru"]), metadata={"data_dir": str(other)})
    message = refusal(out)
    assert "mmedbench_mcqa_ru and mmedbench_rationale_ru read different data" in message
    submit(out, tmp_path / "half", "--only", "rationale")


def test_runs_of_several_models(out, tmp_path):
    other = Path(shutil.copytree(out, out / "other"))
    changed(other, lambda content: content["config"].update(model="hf", model_args="pretrained=x"))
    message = refusal(out)
    assert "runs of 2 different models" in message
    assert "xling_baseline {}" in message and 'hf {"pretrained": "x"} (other/' in message
    submit(other, tmp_path / "to")


def test_speed_does_not_make_another_model(out, tmp_path):
    other = Path(shutil.copytree(out, out / "other"))
    changed(other, lambda content: content["config"].update(model_args="num_concurrent=4"))
    submit(out, tmp_path / "to")


def test_predict_only_is_refused(evaluate, tmp_path):
    out = evaluate(tmp_path / "out", tasks_of("mcqa"), predict_only=True)
    assert "has no acc (--predict_only" in refusal(out, "--only", "mcqa")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[: len(text) // 2], "not a sample of mmedbench_mcqa_zh"),
        (lambda text: "".join(text.splitlines(True)[:-1]), "11 of 12 questions"),
        (lambda text: text + text.splitlines(True)[0], "stands there twice"),
        (lambda text: text.replace('"resps"', '"other"'), "row 1: not a sample"),
    ],
)
def test_broken_samples(out, change, message):
    (path,) = out.rglob("samples_mmedbench_mcqa_zh_2*.jsonl")
    path.write_text(change(path.read_text()))
    assert message in refusal(out)


def test_folders(out, tmp_path):
    assert "no such folder" in refusal(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "no results" in refusal(tmp_path / "empty")
    submit(out, tmp_path / "to")
    before = (tmp_path / "to" / "model_description.md").read_bytes()
    with pytest.raises(DataError, match=r"model_description\.md already there"):
        submit(out, tmp_path / "to")
    assert (tmp_path / "to" / "model_description.md").read_bytes() == before
    with pytest.raises(DataError, match="is a file"):
        submit(out, tmp_path / "to" / "model_description.md")
    for path in out.rglob("results_*.json"):
        path.write_text("{")
    assert "not valid JSON" in refusal(out)
