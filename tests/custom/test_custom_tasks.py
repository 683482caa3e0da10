"""The other tasks over users' own questions, run through the harness."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from builders import write_lines
from custom_tables import FEW, write_csv
from xling_metrics import tokenization
from xling_metrics.base import ExtraMissing

from xling_tasks.errors import DataError, SettingError
from xling_tasks.lm.baseline import BaselineLM

FAST = {"k": 2, "encoder": False, "source_encoder": False, "topic_seeds": 0}


def test_all_tasks_over_one_file_and_a_language_that_nobody_knows(run, tmp_path):
    rows = [
        {
            **row,
            "question_dag_Latn": f"Bo n-soya {row['id']}?",
            "answer_dag_Latn": f"Kom {row['id']}.",
        }
        for row in FEW
    ]
    rows = [{key: text for key, text in row.items() if text} for row in rows]
    for row in rows:
        row |= {"options_en": ["rest", "salt"], "options_pt": ["repouso", "sal"], "correct": "A"}
    path = write_lines(tmp_path / "clinic.jsonl", rows)
    metadata = {"data_dir": str(path), **FAST}
    names = [
        "xling_custom",
        "xling_custom_verifiability_ll",
        "xling_custom_information",
        "xling_custom_mcqa",
    ]
    found = run(names, metadata=metadata, log_samples=True, bootstrap_iters=2)
    results = found["results"]
    answered = {
        task: {
            c: results[task].get(f"n_responses_{c},none") for c in ("en", "pt", "sw", "dag-Latn")
        }
        for task in results
        if task != "xling_custom"
    }
    assert answered["xling_custom_correctness"] == {"en": 3, "pt": 3, "sw": 2, "dag-Latn": 3}
    # k = 2 answers at temperature 1, and one at 0.
    assert answered["xling_custom_consistency"] == {"en": 9, "pt": 9, "sw": 6, "dag-Latn": 9}
    # A right and a drawn wrong answer, at two temperatures.
    assert answered["xling_custom_verifiability"] == {"en": 12, "pt": 12, "sw": 8, "dag-Latn": 12}
    assert answered["xling_custom_mcqa"] == {"en": 3, "pt": 3, "sw": None, "dag-Latn": None}
    mcqa = found["configs"]["xling_custom_mcqa"]["metadata"]["xling"]["data"]
    assert mcqa["languages_left_out"].keys() == {"sw", "dag-Latn"}
    # Every language has its metrics over its own questions; the third has no Swahili text.
    correctness = results["xling_custom_correctness"]
    assert [correctness[f"invalid_rows_{code},none"] for code in ("sw", "en")] == [1, 0]
    for metric in ("langid_match_pt_stderr", "length_words_pt"):
        assert isinstance(correctness[f"{metric},none"], float)
    xling = found["configs"]["xling_custom_correctness"]["metadata"]["xling"]
    about, parts = xling["about"], xling["parts"]
    assert (about["languages"], about["dataset"]) == (["en", "pt", "sw", "dag-Latn"], "clinic")
    assert parts["sw"]["data"]["unusable_questions"] == ["3"] and len(xling["data"]["sha256"]) == 64
    first, _, sample = found["samples"]["xling_custom_correctness"]
    assert list(sample["doc"]["languages"]) == ["en", "pt", "dag-Latn"]
    assert sample["chrf_sw"] is None and sample["chrf_pt"] > 0
    assert "in Swahili" in json.dumps(first["arguments"])
    # langid cannot tell Dagbani; what stands in its place is said.
    assert xling["signatures"]["langid_match_dag-Latn"].endswith("|by:script_Latin_and_not_english")
    # Each language stops at its own word for 'Question:', where our prompts have one.
    stops = {code: own["generation_kwargs"]["until"] for code, own in parts.items()}
    assert set(map(tuple, stops.values())) == {("\nQuestion:",)}
    # Instructions: our English ones, where there is none in the language; recorded.
    parts = found["configs"]["xling_custom_consistency"]["metadata"]["xling"]["parts"]
    assert {c: own["prompts"]["consistency"]["language"] for c, own in parts.items()} == {
        "en": "en", "pt": "en", "sw": "en", "dag-Latn": "en"
    }  # fmt: skip


@pytest.mark.parametrize("languages", [["pt"], "[pt]"])
def test_languages_chooses(run, tmp_path, languages):
    path = write_csv(tmp_path / "clinic.csv", FEW)
    metadata = {"data_dir": str(path), "languages": languages}
    found = run("xling_custom_correctness", metadata=metadata)["results"][
        "xling_custom_correctness"
    ]
    assert "chrf_pt,none" in found and "chrf_en,none" in found and "chrf_sw,none" not in found


@pytest.mark.parametrize("task", ["xling_custom_correctness", "xling_custom_consistency"])
def test_what_cuts_words_is_missed_before_the_model_is_asked(run, tmp_path, monkeypatch, task):
    rows = [{**FEW[0], "question_th": "อะไรช่วยได้", "answer_th": "พักผ่อน"}]
    settings = {"data_dir": str(write_csv(tmp_path / "own.csv", rows)), **FAST}
    monkeypatch.setitem(sys.modules, "pythainlp.tokenize", None)
    tokenization.segmenter.cache_clear()
    monkeypatch.setattr(BaselineLM, "generate_until", lambda *given, **more: pytest.fail("asked"))
    with pytest.raises(ExtraMissing, match=r"language 'th' need .* pip install .xling-tasks\[th\]"):
        run(task, metadata=settings)


def test_a_task_that_can_use_nothing_of_a_file_says_why(run, tmp_path):
    path = str(write_csv(tmp_path / "few.csv", FEW))
    with pytest.raises(DataError, match=r"usable in 'en' \(correct letters missing: 3\);"):
        run("xling_custom_mcqa", metadata={"data_dir": path})


def test_each_language_stops_at_its_own_word_unless_the_user_says_where(run, tmp_path):
    rows = [{"id": "1", "question_en": "Why?", "answer_en": "So.", "question_hi": "क्यों?",
             "answer_hi": "ऐसे।"}]  # fmt: skip
    path = write_lines(tmp_path / "clinic.jsonl", rows)
    seen = {}
    for given in (None, "until=END"):
        found = run("xling_custom_correctness", metadata={"data_dir": str(path)}, log_samples=True,
                    gen_kwargs=given)  # fmt: skip
        (sample,) = found["samples"]["xling_custom_correctness"]
        seen[given] = [arguments["until"] for _, arguments in sample["arguments"]]
    assert seen[None] == [["\nQuestion:"], ["\nQuestion:", "\nप्रश्न:"]]
    assert seen["until=END"] == ["END", "END"]


def test_wrong_answers_are_drawn_from_the_same_question_in_all_languages(run, tmp_path):
    path = write_csv(tmp_path / "clinic.csv", FEW)
    metadata = {"data_dir": str(path), "temperatures": [0.0]}
    found = run("xling_custom_verifiability", metadata=metadata, log_samples=True)
    for sample in found["samples"]["xling_custom_verifiability"]:
        own = sample["doc"]["languages"]
        wrong = {docs["answers"][1]["answer_id"] for docs in own.values()}
        assert len(wrong) == 1
        donor = next(row for row in FEW if f"of_{row['id']}" in wrong)
        assert {c: docs["answers"][1]["text"] for c, docs in own.items()} == {
            c: donor[f"answer_{c}"] for c in own
        }
        assert [docs["answers"][0]["label"] for docs in own.values()] == [1] * len(own)
    data = found["configs"]["xling_custom_verifiability"]["metadata"]["xling"]["parts"]["sw"][
        "data"
    ]
    counts = {"given": 0, "drawn": 3, "without_text": 0, "not_in_all": 0}
    assert data["wrong_answers"] == counts


def test_wrong_answers_of_the_file_go_first_and_must_be_wrong(run, tmp_path):
    rows = [
        {**FEW[0], "wrong_answer_en": "Only salt.", "wrong_answer_pt": "Só sal."},
        {**FEW[1], "wrong_answer_en": "One hour.", "wrong_answer_pt": "Uma hora."},
    ]
    path = write_csv(tmp_path / "clinic.csv", rows)
    metadata = {"data_dir": str(path), "temperatures": [0.0]}
    found = run("xling_custom_verifiability", metadata=metadata, log_samples=True)
    samples = found["samples"]["xling_custom_verifiability"]
    # No question has a wrong answer in Swahili.
    assert [list(sample["doc"]["languages"]) for sample in samples] == [["en", "pt"]] * 2
    data = found["configs"]["xling_custom_verifiability"]["metadata"]["xling"]["data"]
    assert data["languages_left_out"].keys() == {"sw"}


@pytest.mark.realdata
def test_liveqa_as_own_file_scores_as_liveqa(run, tmp_path, realdata):
    """The same questions, given as a file and as the built-in task, give equal numbers."""
    from xling_tasks.data.dataset_info import XLINGHEALTH
    from xling_tasks.data.xlinghealth import load

    place = str(realdata / "xlinghealth" / "LiveQA.xlsx")
    rows = []
    for question in load(XLINGHEALTH["liveqa"], place).questions:
        row: dict[str, Any] = {"id": question.id}
        for code in ("en", "hi"):
            right = [answer.text[code] for answer in question.answers if answer.label == 1]
            wrong = [answer.text[code] for answer in question.answers if answer.label == 0]
            row |= {f"question_{code}": question.text[code], f"answer_{code}": right[0]}
            row[f"wrong_answer_{code}"] = wrong
        rows.append(row)
    path = write_lines(tmp_path / "mine.jsonl", rows)
    limit = {"limit": 30, "bootstrap_iters": 2}
    settings = {"temperatures": [0.0], "judge": {"model": "xling_baseline"}}
    criteria = ("correctness", "verifiability")
    tasks = [f"xling_custom_{criterion}" for criterion in criteria]
    own = run(tasks, metadata={"data_dir": str(path), **settings}, **limit)["results"]
    names = [f"xlinghealth_{kind}_liveqa_{code}" for kind in criteria for code in ("en", "hi")]
    theirs = run(names, metadata={"data_dir": place, **settings}, **limit)["results"]
    compared = 0
    for name in names:
        criterion, code = name.split("_")[1], name[-2:]
        for key, value in theirs[name].items():
            metric, comma, _ = key.partition(",")
            if not comma or metric.startswith("invalid_rows"):
                continue
            stem = metric.removesuffix("_stderr")
            mine = f"{stem}_{code}{metric.removeprefix(stem)},none"
            assert own[f"xling_custom_{criterion}"][mine] == pytest.approx(value), mine
            compared += 1
    assert compared > 60


def test_a_model_translates_a_language_that_only_its_name_tells(run, serve, tmp_path):
    from xling_tasks.languages import find

    rows = [
        {"id": n, "question_en": f"Why {n}?", "question_dag_Latn": f"Bozuɣu {n}?"} for n in (0, 1)
    ]
    path = write_lines(tmp_path / "clinic.jsonl", rows)

    def translate(prompt: str) -> str:
        return "ready" if "Sentence:" not in prompt else "Water and rest help you to recover."

    served = serve(translate)
    metadata = {
        "data_dir": str(path), **FAST, "translator": served.spec(),
    }  # fmt: skip
    results = run("xling_custom_consistency", metadata=metadata)["results"][
        "xling_custom_consistency"
    ]
    assert results["translation_failed_rate_t1.0_dag-Latn,none"] == 0.0
    assert any("the language with the code dag" in prompt for prompt in served.prompts)
    with pytest.raises(SettingError, match="'dag' is not known to it. Name a model of the harness"):
        find("dag")
