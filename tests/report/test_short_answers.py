"""Answers of four words through the harness and the report: langid's label calls them French."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from builders import evaluated
from lm_eval.api.model import LM
from xling_metrics.language import identify

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


def reported(run: Any, folder: Path, spanish: str) -> tuple[float | None, dict[str, Any]]:
    """Whether Spanish answers are in Spanish, and the content of the report."""
    found = evaluated(run, folder / "out", [C + "en", C + "es"], model=Brief(spanish))
    words = ("report", folder / "out", "--to", folder / "report", "--no-pictures", "--samples", "0")
    assert main([str(word) for word in words]) == 0
    content = json.loads((folder / "report" / "report.json").read_text(encoding="utf-8"))
    return found["results"][C + "es"]["langid_match,none"], content


def outcomes(content: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(each["verdict"], each["outcomes"]) for each in content["conclusions"]]


def test_a_short_answer_is_not_in_a_language_that_it_is_not_in(run, tmp_path):
    assert identify([SHORT["es"]]) == ["fr"]
    inside, content = reported(run, tmp_path, SHORT["es"])
    assert inside == 1.0 and outcomes(content) == [("cannot_tell", [["measured", 24]])]


def test_what_is_too_short_to_tell_is_counted_as_not_measured(run, tmp_path):
    inside, content = reported(run, tmp_path, "Ibuprofeno.")
    assert inside is None and outcomes(content) == []
    assert any(
        "Spanish 24 too short to tell the language of 24" in note for note in content["notes"]
    )


def test_english_is_another_language(run, tmp_path):
    inside, content = reported(run, tmp_path, "Please see your doctor as soon as you can today.")
    assert inside == 0.0 and outcomes(content) == [("worse", [["another_language", 24]])]
