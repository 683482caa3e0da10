"""A language and a criterion that nothing knows, added as CONTRIBUTING.md says, and used."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
import yaml
from builders import PACKAGES, task_of, write_run

ROOT = Path(__file__).resolve().parents[2]
ROW = "dag: {name: Dagbani, nllb: dag_Latn, question: 'Bohigu:', near: [tw]}\n"
PROMPTS = {
    "verifiability": "Bohigu: {question}\nLabsibu: {answer}\nYes bee No?",
    "consistency": "Bohigu: {question}\nLabsibu:",
    "answer": "Bohigu: {question}\nLabsibu:",
}
RUN = """
import json, sys, builders
exec(builders.UNASKED)
from lm_eval import simple_evaluate
from lm_eval.api.model import LM

class Speaks(LM):
    def generate_until(self, requests, disable_tqdm=False):
        return ["Iin." if "Yes bee No" in item.args[0] else ANSWER for item in requests]
    loglikelihood = loglikelihood_rolling = generate_until

ANSWER = "Nyuma kom pam ka chaŋ ashibiti yomyom, ka vuhi a yiŋa dahin zaa."
names = ["xlinghealth_demo_dag", "xlinghealth_correctness_demo_en"]
quick = {"k": 2, "encoder": False, "source_encoder": False, "topic_seeds": 0}
found = simple_evaluate(
    model=Speaks(), tasks=names, limit=2, bootstrap_iters=0, task_manager=builders.our_tasks(quick)
)
found = builders.with_all(found)
json.dump({key: found[key] for key in ("results", "configs", "samples")}, sys.stdout, default=str)
"""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages with the language in it, and its task files generated."""
    house = tmp_path_factory.mktemp("house")
    for folder, package in PACKAGES.items():
        shutil.copytree(ROOT / folder, house / package, ignore=shutil.ignore_patterns("*.pyc"))
    rows = house / "xling_metrics" / "languages.yaml"
    rows.write_text(rows.read_text() + ROW)
    ours = house / "xling_tasks"
    records = ours / "data/datasets.yaml"
    content = yaml.safe_load(records.read_text())
    sample = {**content["xlinghealth"]["all"], **content["xlinghealth"]["demo"]}
    content["xlinghealth"]["demo"]["languages"] = [*sample["languages"], "dag"]
    records.write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False))
    sample = ours / "data/sample/xlinghealth_demo.jsonl"
    lines = [json.loads(line) for line in sample.read_text().splitlines()]
    for line, kind in product(lines, ("question", "answer")):
        line[f"{kind}_Dagbani"] = f"{line[f'{kind}_English']} (dag)"
    sample.write_text("".join(json.dumps(line) + "\n" for line in lines))
    prompts = ours / "data/prompt_files/xlinghealth.yaml"
    texts = yaml.safe_load(prompts.read_text())
    for name, text in PROMPTS.items():
        texts[name]["dag"] = text
    prompts.write_text(yaml.safe_dump(texts, allow_unicode=True))
    words = ours / "readers/words.yaml"
    words.write_text(words.read_text() + "dag:\n  yes: iin\n  no: aayi\n")
    _python(house, "-m", "xling_task_yaml._generate")
    return house


def _python(house: Path, *words: str, status: int = 0) -> str:
    paths = os.pathsep.join((str(house), str(ROOT / "tests")))
    done = subprocess.run(
        [sys.executable, *words], cwd=house, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": paths, "XLING_CACHE": str(house / "cache")},
    )  # fmt: skip
    assert done.returncode == status, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout + (done.stderr if status else "")


def test_its_own_tasks_alone_are_new(house):
    sides = [
        {p.relative_to(side): p.read_bytes() for p in side.glob("*/*") if p.suffix in ("", ".yaml")}
        for side in (ROOT / "task_yaml", house / "xling_task_yaml")
    ]
    before, after = ({path.name: text for path, text in side.items()} for side in sides)
    kinds = ("consistency", "correctness", "verifiability", "verifiability_ll")
    assert {name for name in after.keys() - before.keys() if not name.startswith("_")} == {
        f"xlinghealth_{kind}_demo_dag.yaml" for kind in kinds
    }
    changed = {name for name, text in before.items() if after[name] != text}
    # Groups that hold its tasks; no template, so no version, and no other language's task.
    assert changed and all(name.startswith("_xlinghealth") for name in changed)
    assert not any("template" in name for name in changed)


ROWS, DATASETS = "xling_metrics/languages.yaml", "xling_tasks/data/datasets.yaml"
TEXTS = "xling_tasks/data/prompt_files/xlinghealth.yaml"
SAMPLE = "xling_tasks/data/sample/xlinghealth_demo.jsonl"
WORDS = "xling_tasks/readers/words.yaml"
ALCOHOL = "Can I drink alcohol while taking paracetamol?"
INSULIN = "How should I store my insulin at home?"
SLIPS = {
    "row": [(ROWS, "dag_Latn", "dag", "languages.yaml, dag: nllb: expected a code of ISO 639-3")],
    "script": [
        (ROWS, "dag_Latn", "dag_Grek", r"'answer' \[dag\]: is not in the letters of Dagbani"),
        (SAMPLE, " ", " ", "id 23: question_Dagbani: is not in the letters of Dagbani")],
    "code": [(DATASETS, "- dag", "- dga", "datasets.yaml, demo: the language 'dga' has no row. Correct the code")],
    "several": [
        (ROWS, ", question: 'Bohigu:'", "", "languages.yaml, dag: no `question`"),
        (TEXTS, "verifiability:\n  dag", "verifiability:\n  tw", r"'verifiability' \[dag\]: there is"),
        (WORDS, "yes: iin", "the: iin", "words.yaml: dag: yes: there is none; a Yes in Dagbani"),
        (SAMPLE, f"{ALCOHOL} (dag)", "", "id 1, answer_ids 1, in Dagbani: question text missing"),
        (SAMPLE, f"{INSULIN} (dag)", INSULIN, "id 3: question_Dagbani: is the English text")],
}  # fmt: skip


@pytest.mark.parametrize("slips", SLIPS.values(), ids=SLIPS)
def test_a_slip_is_named_with_file_and_row_by_the_generator(house, slips):
    """Not by a wrong score: what would do nothing, or be taken for something else, is told."""
    before = {house / file: (house / file).read_text() for file, *_ in slips}
    now = dict(before)
    for file, right, wrong, _ in slips:
        assert right in now[house / file]
        now[house / file] = now[house / file].replace(right, wrong)
    try:
        for path, text in now.items():
            path.write_text(text)
        told = _python(house, "-m", "xling_task_yaml._generate", status=1)
    finally:
        for path, text in before.items():
            path.write_text(text)
    for *_, said in slips:
        assert re.search(said, told), told[-2000:]


def test_it_is_asked_and_read_through_the_harness(house):
    _python(house, "-m", "xling_task_yaml._generate")  # slips have left other files
    found = json.loads(_python(house, "-c", RUN).splitlines()[-1])
    results, configs = found["results"], found["configs"]
    for kind in ("consistency", "correctness", "verifiability"):
        task = f"xlinghealth_{kind}_demo_dag"
        assert configs[task]["generation_kwargs"]["until"] == ["\nQuestion:", "\nBohigu:"]
        own = configs[task]["metadata"]["xling"]
        assert own["about"]["languages"] == ["dag"] and results[task]["failed_rate,none"] == 0.0
    # Asked in its own words, read in its own words, and told to be in it.
    prompts = configs["xlinghealth_verifiability_demo_dag"]["metadata"]["xling"]["prompts"]
    assert prompts["verifiability"]["language"] == "dag"
    assert results["xlinghealth_verifiability_demo_dag"]["unparsed_rate_t0.0,none"] == 0.0
    assert results["xlinghealth_correctness_demo_dag"]["langid_match,none"] == 1.0
    english = configs["xlinghealth_correctness_demo_en"]
    assert english["generation_kwargs"]["until"] == ["\nQuestion:"]


POLITENESS = """
from xling_tasks.criteria.criterion import Endpoint, criterion
from xling_tasks.criteria.metric import DisplayText, Metric

METRICS = (Metric("polite", lambda row: row.polite, higher_is_better=True),)
POLITENESS = criterion(
    "politeness", METRICS,
    {"polite": DisplayText("Polite answers", "Polite", "Is the answer polite?", "share", "count")},
    position=16, title="Politeness", asks="Is the answer polite?", endpoints=(Endpoint("polite"),),
)
"""


def test_a_criterion_is_one_file_and_its_report_needs_no_other(house):
    (house / "xling_tasks/criteria/politeness.py").write_text(POLITENESS)
    tasks = {}
    for code, polite in (("en", 90), ("es", 30)):
        subject = {"criterion": "politeness", "dataset": "letters", "languages": [code]}
        rows = [
            {"doc_id": n, "doc": {"question_id": str(n)}, "resps": [["Dear"]], "target": "",
             "arguments": {"gen_args_0": {"arg_0": f"{code} {n}"}}, "polite": float(n < polite)}
            for n in range(100)
        ]  # fmt: skip
        record = {"about": {**subject, "primary": ["polite"], "format": 1}}
        tasks[f"politeness_{code}"] = task_of(
            {"polite": polite / 100}, rows, record=record, better={"polite": True}
        )
    write_run(house / "out", tasks)
    _python(house, "-c", "from xling_tasks.cli import main; main(['report', 'out'])")
    (verdict,) = json.loads((house / "report/report.json").read_text())["verdicts"]
    assert (verdict["criterion"], verdict["verdict"]) == ("politeness", "worse")
    assert (
        "30 of 100 (30%) in Spanish, 90 of 100 (90%) in English"
        in (house / "report/report.md").read_text()
    )
