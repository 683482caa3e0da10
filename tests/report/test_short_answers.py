"""Answers of four words through the harness and the report: langid's label calls them French."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builders import evaluated
from lm_eval.api.model import LM
from xling_metrics.language import identify_language

from xling_tasks.cli import main

SHORT = {"es": "Consulte a su médico.", "en": "See your own doctor."}
C = "xlinghealth_correctness_demo_"


class Brief(LM):  # type: ignore[misc]
    """Four words in the language of the question, or what a function says."""

    tokenizer_name = "brief"

    def __init__(self, spanish: str) -> None:
        super().__init__()
        self.spanish = spanish

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        return [
            self.spanish if request.task_name.endswith("_es") else SHORT["en"]
            for request in requests
        ]

    loglikelihood = loglikelihood_rolling = generate_until


@pytest.mark.parametrize(
    ("spanish", "inside", "concluded", "lost"),
    [
        # langid's label of these four words is French.
        (SHORT["es"], 1.0, [("inconclusive", {"scored": 24})], []),
        ("Ibuprofeno.", None, [], [{"too_short": 24}]),
        ("Please see your doctor as soon as you can today.", 0.0,
         [("worse", {"wrong_language": 24})], []),
    ],
)  # fmt: skip
def test_in_which_language_a_short_answer_is(run, tmp_path, spanish, inside, concluded, lost):
    assert identify_language([SHORT["es"]]) == ["fr"]
    found = evaluated(run, tmp_path / "out", [C + "en", C + "es"], model=Brief(spanish))
    assert found["results"][C + "es"]["langid_match,none"] == inside
    words = ("report", tmp_path / "out", "--to", tmp_path / "r")
    assert main([str(word) for word in words]) == 0
    content = json.loads((tmp_path / "r" / "report.json").read_text(encoding="utf-8"))
    assert [(each["verdict"], each["outcomes"]) for each in content["verdicts"]] == concluded
    assert [row["outcomes"] for row in content["remarks"] if row["kind"] == "partly"] == lost
