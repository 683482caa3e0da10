"""What `xling submit hf` says of datasets: where they lie, and the draft that registers them."""

from __future__ import annotations

import pytest
import yaml
from boards import BETTER, RECORD, C, correctness
from builders import evaluated, write_run
from huggingface_hub import parse_eval_result_entries
from own_rubric_parts import Says, by_words, conversation, write

from xling_tasks.cli import main

SIGNED = {"generation_kwargs": {}, "signatures": {name: f"{name}|of:all" for name in BETTER}}


def entries_in(folder):
    found = {}
    for path in sorted(folder.glob(".eval_results/*.yaml")):
        for entry in parse_eval_result_entries(yaml.safe_load(path.read_text("utf-8"))):
            found[entry.task_id] = entry.dataset_id
    return found


def drafts_in(folder):
    paths = sorted(folder.glob("for_dataset_owners/*/*/eval.yaml"))
    return {"/".join(path.parts[-3:-1]): yaml.safe_load(path.read_text("utf-8")) for path in paths}


@pytest.fixture
def rubrics(run, serve, tmp_path):
    """A run over a user's own conversations, in English and Spanish."""
    path = write(tmp_path / "talks.jsonl", [conversation(f"q{n:02}") for n in range(6)])
    said = Says(lambda context: "¿Tiene fiebre (fever)? Descanse hoy y llámenos (flags).")
    metadata = {"data_dir": str(path), "judge": serve(by_words).spec(), "rubric_batch": 3}
    evaluated(run, tmp_path / "out", "xling_own_rubric", model=said, metadata=metadata)
    return tmp_path / "out"


def test_a_draft_has_the_ids_of_the_entries(tmp_path):
    record = {
        **RECORD,
        **SIGNED,
        "data": {**RECORD["data"], "kind": "data_dir", "name": "x", "licence": "cc0"},
    }
    tasks = {C + code: correctness(0.1, 60, record=record) for code in ("en", "es")}
    out = write_run(tmp_path / "out", tasks, config={"model_args": {"pretrained": "o/m"}})
    to = tmp_path / "to"
    assert main(["submit", "hf", str(out), "--model-id", "o/m", "--to", str(to)]) == 0
    (draft,) = drafts_in(to).values()
    assert list(drafts_in(to)) == ["claws-lab/XLingHealth"]
    assert draft["name"] == "LiveQA" and "English, Spanish" in draft["description"]
    assert draft["evaluation_framework"] == "lm-evaluation-harness"
    ids = [task["id"] for task in draft["tasks"]]
    assert ids == list(entries_in(to)) and len(ids) == 4
    assert all(task["config"] == "default" and task["split"] == "test" for task in draft["tasks"])


def test_own_questions_have_entries_where_their_place_on_the_hub_is_said(rubrics, tmp_path, capsys):
    words = ["submit", "hf", str(rubrics), "--model-id", "o/m", "--force"]
    assert main([*words, "--to", str(tmp_path / "without")]) == 0
    assert "--dataset-id says where your own questions lie" in capsys.readouterr().out
    assert not entries_in(tmp_path / "without") and not drafts_in(tmp_path / "without")
    to = tmp_path / "with"
    assert main([*words, "--dataset-id", "clinic/talks", "--to", str(to)]) == 0
    ids = [f"xling_own_rubric_talks_{code}_rubric_score" for code in ("en", "es")]
    assert entries_in(to) == dict.fromkeys(ids, "clinic/talks")
    assert [task["id"] for task in drafts_in(to)["clinic/talks"]["tasks"]] == ids
    assert main([*words, "--dataset-id", "clinic", "--to", str(tmp_path / "x")]) == 2
    assert "--dataset-id clinic: not of the form ORG/NAME" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("task", "kind", "place"),
    [
        ("xling_own_rubric", "bundled", None),  # our own sample
        ("mmlu_clinical_mcqa_{}", "data_dir", "Institute-Disease-Modeling/mmlu-winogrande-afr"),
        ("mmlu_clinical_mcqa_mt_{}", "data_dir", None),  # lies nowhere on the Hub
    ],
)
def test_no_dataset_is_called_another(run, serve, realdata, tmp_path, task, kind, place):
    metadata = {}
    if kind == "bundled":
        metadata = {"judge": serve(lambda prompt: "no verdict").spec(), "languages": ["en"]}
    else:
        metadata["data_dir"] = str(realdata / "mmlu_clinical_afr")
    names = list(dict.fromkeys(task.format(code) for code in ("en", "zu")))
    evaluated(run, tmp_path / "out", names, metadata=metadata)
    to = tmp_path / "to"
    words = ["submit", "hf", str(tmp_path / "out"), "--model-id", "o/m", "--force"]
    assert main([*words, "--to", str(to)]) == 0
    assert set(entries_in(to).values()) == ({place} if place else set())
    refused = [*words, "--dataset-id", "a/b", "--to", str(tmp_path / "own")]
    assert main(refused) == 2
