"""Results of custom tasks that were spoiled."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import builders
import damage
import pytest
from custom_tables import FEW, write_csv

from xling_tasks.errors import XlingError
from xling_tasks.logs.samples import newest_samples
from xling_tasks.report.data import read_models


@pytest.fixture(scope="module")
def whole(run, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    path = write_csv(folder / "clinic.csv", FEW)
    tasks = ["xling_custom_correctness", "xling_custom_verifiability"]
    metadata = {"data_dir": str(path), "temperatures": [0.0]}
    builders.evaluated(run, folder / "out", tasks, metadata=metadata)
    return folder / "out"


OWN = {
    "parts are a list": lambda x: x.update(parts=[1]),
    "a part is a text": lambda x: x["parts"].update(en="no"),
    "signatures are a list": lambda x: x["parts"]["en"].update(signatures=["a"]),
    "about is a text": lambda x: x["parts"]["pt"].update(about="pt"),
    "about is of another criterion": lambda x: x["parts"]["pt"]["about"].update(criterion="x"),
    "counts are texts": lambda x: x["parts"]["pt"]["data"].update(questions="3"),
    "part_of is a text": lambda x: x.update(part_of="x"),
}


@pytest.mark.parametrize("kind", OWN)
def test_what_is_recorded_of_languages_and_was_spoiled_is_said_in_one_line(whole, tmp_path, kind):
    def spoil(content: Any) -> None:
        for config in content["configs"].values():
            OWN[kind](config["metadata"]["xling"])

    out = builders.changed(shutil.copytree(whole, tmp_path / "out"), spoil)
    try:
        read_models([out])
        newest_samples(out, {"correctness"})
    except XlingError as error:
        assert "\n" not in str(error) and "results_" in str(error)


def test_every_damage_of_samples_is_ours(whole, tmp_path):
    changes = {
        "no languages": lambda row: row["doc"].pop("languages"),
        "languages are a list": lambda row: row["doc"].update(languages=["en"]),
        "a language is a text": lambda row: row["doc"]["languages"].update(en="a"),
        "no prompts": lambda row: row["doc"].pop("prompts"),
        "prompts are texts": lambda row: row["doc"].update(prompts={"en": "x", "pt": 1, "sw": 1}),
        "no prompts at all": lambda row: row["doc"].update(prompts={"en": 0, "pt": 0, "sw": 0}),
        "resps are a number": lambda row: row.update(resps=3),
        "a reply is lost": lambda row: row.update(resps=row["resps"][:-1]),
        "arguments are a list": lambda row: row.update(arguments=[1]),
        "a value is a text": lambda row: row.update(chrf_en="high"),
    }
    for kind, change in changes.items():
        out = shutil.copytree(whole, tmp_path / kind)
        damage.in_sample(lambda row, change=change: change(row) and None)(out)
        with pytest.raises(XlingError) as error:
            read_models([out])
        assert "\n" not in str(error.value) and "samples_" in str(error.value), kind
