"""`xling export eee`: documents that the published schema takes, with the report's own numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from boards import ten_models

import xling_tasks
from xling_tasks.cli import main


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = ten_models(tmp_path_factory.mktemp("runs"), n=40)[0]
    to = tmp_path_factory.mktemp("eee") / "to"
    assert main(["export", "eee", folder, "--to", str(to), "--model-id", "a/b"]) == 0
    return folder, {path.name: json.loads(path.read_text("utf-8")) for path in sorted(to.iterdir())}


def test_every_endpoint_has_its_value_direction_and_interval(exported):
    folder, documents = exported
    scores = {
        (row["task"], row["metric"], row["language"]): row
        for row in xling_tasks.read(folder).scores()
    }
    seen = 0
    for document in documents.values():
        assert document["model_info"]["id"] == "a/b"
        for result in document["evaluation_results"]:
            details, config = result["score_details"], result["metric_config"]
            about = details["details"]
            row = scores[about["task"], config["metric_id"], about["language"]]
            assert details["score"] == row["value"]
            assert config["lower_is_better"] == (row["higher_is_better"] is False)
            ends = details["uncertainty"]["confidence_interval"]
            assert (ends["lower"], ends["upper"]) == (row["low"], row["high"])
            seen += config["metric_id"] == "contradictory" and config["lower_is_better"]
    assert seen == 4  # English, Spanish, Chinese, Hindi
    assert "10.0.0.3" not in json.dumps(list(documents.values()))


@pytest.mark.realdata
def test_the_published_schema_takes_every_document(exported, realdata):
    jsonschema = pytest.importorskip("jsonschema")
    schema = realdata.parent / "reference" / "every_eval_ever" / "eval.schema.json"
    if not schema.exists():
        pytest.skip("the schema is not beside the data")
    checker = jsonschema.Draft7Validator(json.loads(schema.read_text("utf-8")))
    assert exported[1]
    for name, document in exported[1].items():
        assert [error.message for error in checker.iter_errors(document)] == [], name


def test_nothing_is_overwritten_and_one_id_is_of_one_model(exported, tmp_path, capsys):
    folders = ten_models(tmp_path / "runs", n=40)[:2]
    assert main(["export", "eee", *folders, "--to", str(tmp_path / "a"), "--model-id", "a/b"]) == 2
    assert "2 models" in capsys.readouterr().err
    assert main(["export", "eee", folders[0], "--to", str(tmp_path / "a")]) == 0
    assert main(["export", "eee", folders[0], "--to", str(tmp_path / "a")]) == 2
    assert "already there" in capsys.readouterr().err
    assert not list(Path(tmp_path / "a").glob(".xling*"))
