"""The Hub: a real HTTP server on loopback stands in for it, gated or open."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from builders import results_in
from hub import SHA, ask

from xling_tasks.data.mmlu_clinical import SUBJECTS
from xling_tasks.data.sources import SAMPLE_FOLDER

SCRIPT = """
import sys
from xling_tasks.errors import DataError
from xling_tasks.data.records import RECORDS
from xling_tasks.data.xlinghealth import load
try:
    data = load(RECORDS["liveqa"], None, sys.argv[1] if len(sys.argv) > 1 else None)
    print(data.n_rows, data.provenance["name"], data.provenance["revision"])
except DataError as error:
    print("DataError:", error)
"""


@pytest.fixture
def hub(hub):
    """It has LiveQA, with two questions."""
    lines = (SAMPLE_FOLDER / "xlinghealth_demo.jsonl").read_bytes().splitlines(keepends=True)
    hub.repositories = {"": {"README.md": b"", "data/LiveQA.jsonl": b"".join(lines[:10])}}
    return hub


def test_open_repository_is_read_at_a_recorded_revision(hub, tmp_path):
    assert ask(hub.url, tmp_path, SCRIPT) == f"10 claws-lab/XLingHealth {SHA}\n"
    assert any(f"/resolve/{SHA}/data/LiveQA.jsonl" in path for path in hub.asked)
    assert ask(hub.url, tmp_path, SCRIPT, "me/copy@v2") == f"10 me/copy {SHA}\n"
    assert any("/api/datasets/me/copy/revision/v2" in path for path in hub.asked)


def test_gated_repository_or_none_says_how_to_go_on(hub, tmp_path):
    hub.gated = True
    gated = ("gated", "accept its terms", "HF_TOKEN", "data_dir=FOLDER", "LiveQA.xlsx")
    offline = ask("http://127.0.0.1:9", tmp_path, SCRIPT, offline=True)
    for said, needed in ((ask(hub.url, tmp_path, SCRIPT), gated), (offline, ("data_dir=FOLDER",))):
        assert said.startswith("DataError: LiveQA could not be fetched") and said.count("\n") == 1
        assert [part for part in needed if part not in said] == []


# MMLU-Clinical: the publisher's repository, and MMLU's own for English

RUN = """
from pathlib import Path
from builders import UNASKED, lm_eval
exec(UNASKED)
lm_eval(Path("."), "--model", "xling_baseline", "--tasks", "mmlu_clinical_mcqa_en,mmlu_clinical_mcqa_ts",
        "--output_path", "out", "--log_samples")
"""


def clinical() -> dict[str, dict[str, bytes]]:
    """Both repositories, in the form in which their publishers write them."""
    import pyarrow
    import pyarrow.parquet

    translated, english = {"README.md": b""}, {}
    for subject, count in SUBJECTS.items():
        texts = [[f"Xitsonga {n}?", *(f"{letter}{n}" for letter in "wxyz")] for n in range(count)]
        file = io.StringIO(newline="")
        writer = csv.writer(file)
        writer.writerow(["Question", "OptionA", "OptionB", "OptionC", "OptionD", "Answer"])
        writer.writerows([*row, "ABCD"[n % 4]] for n, row in enumerate(texts))
        for split in ("dev", "test", "val"):
            path = f"mmlu_{subject}/{subject}_{split}_ts.csv"
            translated[path] = file.getvalue().encode() if split == "test" else b"not read"
        rows = [
            {"question": f"Which {n}?", "subject": subject, "choices": row[1:], "answer": n % 4}
            for n, row in enumerate(texts)
        ]
        table = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), table)
        english[f"{subject}/test-00000-of-00001.parquet"] = table.getvalue()
    return {"Institute-Disease-Modeling/mmlu-winogrande-afr": translated, "cais/mmlu": english}


def test_clinical_questions_come_from_two_repositories_through_the_harness(
    hub, tmp_path, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    hub.repositories = clinical()
    ask(hub.url, tmp_path, RUN)
    content = results_in(tmp_path / "out")
    for code in ("en", "ts"):
        task = f"mmlu_clinical_mcqa_{code}"
        assert content["n-samples"][task]["effective"] == 604
        data = content["configs"][task]["metadata"]["xling"]["data"]
        assert (data["kind"], data["revision"]) == ("hub", SHA)
        assert data["name"] == "Institute-Disease-Modeling/mmlu-winogrande-afr"
        assert data["english"] == f"cais/mmlu@{SHA}" and {*data["flagged_by"]} == {"en", "ts"}
    [samples] = (tmp_path / "out").rglob("samples_mmlu_clinical_mcqa_ts_*")
    doc = json.loads(samples.read_text().splitlines()[266])["doc"]
    assert (doc["question_id"], doc["question"]) == ("college_medicine-1", "Xitsonga 1?")
    assert (doc["options"]["D"], doc["answer"]) == ("z1", ["B"])
    assert not any("_dev_" in path or "_val_" in path for path in hub.asked)
