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

from xling_tasks.cli import parse
from xling_tasks.commands.submit.mmedbench import COLUMNS
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError

NAMES = {"en": "English", "zh": "Chinese", "ja": "Japanese", "fr": "French", "ru": "Russian",
         "es": "Spanish"}  # fmt: skip
METRICS = {"BLEU-1": "bleu1", "BLEU-2": "bleu2", "BLEU-3": "bleu3", "BLEU-4": "bleu4",
           "ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL"}  # fmt: skip
FILES = {
    "mcqa": ["multi_choice_results.csv", "accuracy_metric.csv"],
    "rationale": ["rationale_results.csv", "rationale_similarity_metric.csv"],
}
CHOICES, DESCRIPTION = FILES["mcqa"][0], "model_description.md"
HALF = ("--only", "mcqa")


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
    out = tmp_path_factory.mktemp("full")
    return evaluate(out, tasks_of("mcqa") + tasks_of("rationale"))


@pytest.fixture
def out(full, tmp_path) -> Path:
    """A copy of the full run that a test may spoil."""
    return Path(shutil.copytree(full, tmp_path / "out"))


def submit(out: Path, to: Path, *words: str) -> str:
    options = parse(["submit", "mmedbench", str(out), "--to", str(to), *words])
    return options.run(options)


def refusal(out: Path, *words: str) -> str:
    to = out.parent / "refused"
    with pytest.raises(DataError) as caught:
        submit(out, to, *words)
    assert not to.exists() or list(to.iterdir()) == []
    assert "\n" not in str(caught.value)
    return str(caught.value)


def rows(path: Path, language: str = "") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if language in ("", row["Language"])]


def there(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def samples(out: Path, task: str) -> list[dict]:
    (path,) = out.rglob(f"samples_{task}_2*.jsonl")
    return [json.loads(line) for line in path.read_text().split("\n") if line]


def test_rows_are_the_samples_in_order_with_the_scores_of_the_results_file(full, tmp_path):
    said, to = submit(full, tmp_path / "to"), tmp_path / "to"
    assert there(to) == sorted([*FILES["mcqa"], *FILES["rationale"], DESCRIPTION])
    results = results_in(full)["results"]
    for kind, (replies, scores) in FILES.items():
        expected = []
        for code, language in NAMES.items():
            for sample in samples(full, f"mmedbench_{kind}_{code}"):
                doc = sample["doc"]
                truth = doc["rationale"] if kind == "rationale" else ",".join(doc["answer"])
                prompt = sample["arguments"]["gen_args_0"]["arg_0"]
                expected.append([language, prompt, sample["resps"][0][0], truth])
        written = rows(to / replies)
        assert [list(row) for row in written] == [list(COLUMNS)] * len(written)
        assert [list(row.values()) for row in written] == expected
        assert len(written) == 6 * (12 if kind == "mcqa" else 10)
        wanted = METRICS if kind == "rationale" else {"Accuracy": "acc"}
        with (to / scores).open(encoding="utf-8", newline="") as file:
            header, *written = csv.reader(file)
        assert header == ["Metric", *NAMES.values(), "Avg"]
        assert [row[0] for row in written] == list(wanted)
        for row in written:
            values = [results[task][f"{wanted[row[0]]},none"] for task in tasks_of(kind)]
            assert [float(value) for value in row[1:-1]] == values
            assert float(row[-1]) == pytest.approx(fmean(values), abs=1e-15)
        submit(full, tmp_path / kind, "--only", kind)
        assert there(tmp_path / kind) == sorted([*FILES[kind], DESCRIPTION])
    truths = {row["GT_Answer"] for row in rows(to / CHOICES)}
    assert any(re.fullmatch("[A-G](,[A-G])+", truth) for truth in truths)
    assert "Caution: fr: 12 questions in the data, but 622 were published." in said


def test_description_tells_the_run_and_no_secrets(out, tmp_path, data):
    secret = "sk-very-secret"
    args = f"pretrained=me/model,api_key={secret},base_url=https://me:{secret}@host/v1"
    changed(out, lambda content: content["config"].update(model_args=args))
    said = submit(out, tmp_path / "to")
    text = (tmp_path / "to" / DESCRIPTION).read_text()
    assert secret not in text + said and "<redacted>" in text and str(data) not in text
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


def test_content_stays_exact(out, tmp_path):
    (path,) = out.rglob("samples_mmedbench_mcqa_ru_2*.jsonl")
    lines = path.read_text().split("\n")
    texts = ["=1+1", '"A", "B"\r\nA', "a\rb", "\u2028", " A\n", "", "@x", "\ufeffА"]
    for index, text in enumerate(texts):
        sample = json.loads(lines[index]) | {"resps": [[text]]}
        lines[index] = json.dumps(sample, ensure_ascii=False)
    path.write_text("\n".join(lines), newline="")
    submit(out, tmp_path / "to")
    outputs = [row["ModelOutput"] for row in rows(tmp_path / "to" / CHOICES, "Russian")]
    assert outputs[: len(texts)] == texts


def test_the_newest_run_of_each_task(out, tmp_path, evaluate):
    evaluate(out, tasks_of("mcqa", ["fr"]), gen_kwargs="temperature=0.0")
    assert "generation." in refusal(out)
    evaluate(out, tasks_of("mcqa", ["fr"]))
    (old, _, new) = sorted(out.rglob("samples_mmedbench_mcqa_fr_2*"), key=lambda p: p.name[-31:])
    new.write_text(new.read_text().replace('"resps": [["', '"resps": [["newest: '))
    submit(out, tmp_path / "to")
    french = [row["ModelOutput"] for row in rows(tmp_path / "to" / CHOICES, "French")]
    assert len(french) == 12 and all(text.startswith("newest: ") for text in french)
    assert "newest" not in old.read_text()


def test_fine_tuned_tasks(out, tmp_path, evaluate):
    evaluate(out, tasks_of("mcqa_ft"))
    assert "say --ft or --no-ft" in refusal(out)
    for word in ("--ft", "--no-ft"):
        submit(out, tmp_path / word, word, *HALF)
        asked = rows(tmp_path / word / CHOICES)[0]["ModelInput"]
        assert ("### Response:" in asked) == (word == "--ft")
    assert "mmedbench_rationale_ft_en" in refusal(out, "--ft")


def test_chat_messages_are_the_input(evaluate, serve, tmp_path):
    served = serve(lambda prompt: "Answer: B")
    args = {**served.spec()["model_args"], "num_concurrent": 4}
    out = evaluate(tmp_path / "out", tasks_of("mcqa"), model="local-chat-completions",
                   model_args=args, apply_chat_template=True)  # fmt: skip
    submit(out, tmp_path / "to", *HALF)
    for row in rows(tmp_path / "to" / CHOICES):
        (message,) = json.loads(row["ModelInput"])
        assert message["role"] == "user" and row["ModelOutput"] == "Answer: B"
    message = refusal(out)
    assert "--apply_chat_template" in message and "--model local-chat-completions" in message
    assert "--only mcqa leaves out the rationale half" in message


def test_missing_languages_and_the_command_that_gets_them(evaluate, tmp_path):
    out = evaluate(tmp_path / "out", tasks_of("mcqa", ["en", "zh", "ja", "fr"]))
    message = refusal(out, *HALF)
    assert "mmedbench_mcqa_es, mmedbench_mcqa_ru: no results" in message
    words = shlex.split(message.partition("Run: ")[2])
    assert words[words.index("--tasks") + 1] == "mmedbench_mcqa_ru,mmedbench_mcqa_es"
    builders.lm_eval(tmp_path, *words[1:])
    submit(out, tmp_path / "to", *HALF)
    assert len(rows(tmp_path / "to" / CHOICES)) == 72


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": 2}, "was run with --limit 2"),
        ({"samples": {task: [0, 3] for task in tasks_of("mcqa")}}, "has 2 of 12 questions"),
        ({"log_samples": False}, "run without --log_samples"),
        ({"predict_only": True}, "has no acc (--predict_only"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_runs_in_part_are_refused_with_the_command_for_all(evaluate, tmp_path, options, message):
    said = refusal(evaluate(tmp_path / "out", tasks_of("mcqa"), **options), *HALF)
    again = said.partition("Run: ")[2]
    assert message in said and "--log_samples" in again and "--limit" not in again


def test_demo_and_loglikelihood_tasks_are_no_submission(evaluate, tmp_path):
    out = evaluate(tmp_path / "out", ["mmedbench_mcqa_demo_en", "mmedbench_mcqa_ll_en"])
    message = refusal(out)
    assert "demo tasks are our own sample" in message and "mcqa_ll tasks generate no" in message
    assert "lm_eval --model MODEL --model_args ARGS --tasks mmedbench_mcqa_en," in message


def test_other_prompts_and_different_data_in_the_halves(out, evaluate, tmp_path, data):
    other = Path(shutil.copytree(data, tmp_path / "other"))
    file = other / "Test" / "Russian.jsonl"
    file.write_text(file.read_text() + "\n")
    evaluate(out, tasks_of("rationale", ["ru"]), metadata={"data_dir": str(other)})
    message = refusal(out)
    assert "mmedbench_mcqa_ru and mmedbench_rationale_ru read different data" in message
    submit(out, tmp_path / "half", "--only", "rationale")
    prompts = tmp_path / "prompts.yaml"
    asked = "Doctor, answer in {language}.\n    {question}\n    {options}\n"
    prompts.write_text(f"mcqa:\n  en: |-\n    {asked}")
    evaluate(out, tasks_of("mcqa", ["es"]), metadata={"prompt_templates": str(prompts)})
    message = refusal(out)
    assert "not run alike" in message and "prompts.mcqa.digest is" in message
    assert "mmedbench_mcqa_en" in message.partition("Run: ")[2]


def test_runs_of_several_models_but_for_their_speed(out, tmp_path):
    other = Path(shutil.copytree(out, out / "other"))
    changed(other, lambda content: content["config"].update(model_args="num_concurrent=4"))
    submit(out, tmp_path / "same")
    changed(other, lambda content: content["config"].update(model="hf", model_args="pretrained=x"))
    message = refusal(out)
    assert "runs of 2 different models" in message
    assert "xling_baseline {}" in message and 'hf {"pretrained": "x"} (other/' in message
    submit(other, tmp_path / "to")


def test_broken_samples_and_folders(out, tmp_path):
    (path,) = out.rglob("samples_mmedbench_mcqa_zh_2*.jsonl")
    text = path.read_text()
    first, *_, last = text.splitlines(True)
    for broken, message in (
        (text[: len(text) // 2], "not a sample of mmedbench_mcqa_zh"),
        (text.removesuffix(last), "11 of 12 questions"),
        (text + first, "stands there twice"),
        (text.replace('"resps"', '"other"'), "row 1: not a sample"),
    ):
        path.write_text(broken)
        assert message in refusal(out)
    path.write_text(text)
    assert "no such folder" in refusal(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "no results" in refusal(tmp_path / "empty")
    submit(out, tmp_path / "to")
    before = (tmp_path / "to" / DESCRIPTION).read_bytes()
    with pytest.raises(DataError, match=r"model_description\.md already there"):
        submit(out, tmp_path / "to")
    assert (tmp_path / "to" / DESCRIPTION).read_bytes() == before
    with pytest.raises(DataError, match="is a file"):
        submit(out, tmp_path / "to" / DESCRIPTION)
    for path in out.rglob("results_*.json"):
        path.write_text("{")
    assert "not valid JSON" in refusal(out)
