"""The other tasks over users' own questions, run through the harness."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from builders import by_language, write_lines
from custom_tables import FEW, write_csv
from xling_metrics import tokenization
from xling_metrics.base import ExtraMissing

from xling_tasks.errors import DataError, SettingError
from xling_tasks.lm.baseline import BaselineLM

FAST = {"k": 2, "encoder": False, "source_encoder": False, "topic_seeds": 0}


def test_all_tasks_over_one_file_and_a_language_that_nobody_knows(run, tmp_path, caplog):
    rows = [{key: text for key, text in row.items() if text} for row in FEW]
    for row in rows:
        row |= {"question_dag_Latn": f"Bo n-soya {row['id']}?", "answer_dag_Latn": f"Kom {row['id']}.",
                "options_en": ["rest", "salt"], "options_pt": ["repouso", "sal"], "correct": "A"}  # fmt: skip
    path = write_lines(tmp_path / "clinic.jsonl", rows)
    metadata = {"data_dir": str(path), **FAST}
    names = [
        "xling_custom",
        *(f"xling_custom_{x}" for x in ("verifiability_ll", "information", "mcqa")),
    ]
    found = run(names, metadata=metadata, log_samples=True, bootstrap_iters=2)
    own = {kind: by_language(found, f"xling_custom_{kind}") for kind in
           ("correctness", "consistency", "verifiability", "verifiability_ll", "mcqa")}  # fmt: skip
    answered = {
        kind: {code: of.scores.get("n_responses") for code, of in tasks.items()}
        for kind, tasks in own.items()
    }
    assert answered["correctness"] == {"en": 3, "pt": 3, "sw": 2, "dag-Latn": 3}
    # k = 2 answers at temperature 1, and one at 0.
    assert answered["consistency"] == {"en": 9, "pt": 9, "sw": 6, "dag-Latn": 9}
    # A right and a drawn wrong answer, at two temperatures.
    assert answered["verifiability"] == {"en": 12, "pt": 12, "sw": 8, "dag-Latn": 12}
    assert answered["verifiability_ll"].keys() == answered["verifiability"].keys()
    assert answered["mcqa"] == {"en": 3, "pt": 3}
    assert "xling_custom_mcqa: language sw is left out" in caplog.text
    prompts = {c: json.dumps(of.samples[0]["arguments"]) for c, of in own["mcqa"].items()}
    assert "Answer: " in prompts["en"] and "Resposta: " in prompts["pt"]
    # Every language has its metrics over its own questions; the third has no Swahili text.
    correctness = own["correctness"]
    assert [correctness[code].scores["invalid_rows"] for code in ("sw", "en")] == [1, 0]
    for metric in ("langid_match_stderr", "length_words"):
        assert isinstance(correctness["pt"].scores[metric], float)
    record = correctness["sw"].record
    assert record["about"]["dataset"] == "clinic" and record["about"]["languages"] == ["sw"]
    assert record["data"]["unusable_questions"] == ["3"] and len(record["data"]["sha256"]) == 64
    sample = correctness["sw"].samples[0]
    assert sample["chrf"] > 0 and "in Swahili" in json.dumps(sample["arguments"])
    # langid cannot tell Dagbani; what stands in its place is said.
    signatures = correctness["dag-Latn"].record["signatures"]
    assert signatures["langid_match"].endswith("|by:script_Latin_and_not_english")
    # Instructions: our English ones, where there is none in the language; recorded.
    prompts = {c: of.record["prompts"] for c, of in own["consistency"].items()}
    assert {c: own["consistency"]["language"] for c, own in prompts.items()} == dict.fromkeys(
        ("en", "pt", "sw", "dag-Latn"), "en"
    )


def test_languages_are_chosen_and_one_that_the_file_lacks_is_named(run, tmp_path):
    metadata = {"data_dir": str(write_csv(tmp_path / "clinic.csv", FEW))}
    found = run("xling_custom_correctness", metadata=metadata | {"languages": "[pt]"})
    assert by_language(found, "xling_custom_correctness").keys() == {"en", "pt"}
    found = run("xling_custom_correctness_sw", metadata=metadata)
    assert found["results"].keys() == {"xling_custom_correctness_sw"}
    with pytest.raises(SettingError, match=r"no questions in 'hi'; its languages are en, pt, sw"):
        run("xling_custom_correctness", metadata=metadata | {"languages": ["hi"]})
    with pytest.raises(DataError, match=r"usable in 'en' \(correct letters missing: 3\);"):
        run("xling_custom_mcqa", metadata=metadata)


def test_what_cuts_words_is_missed_before_the_model_is_asked(run, tmp_path, monkeypatch):
    rows = [{**FEW[0], "question_th": "อะไรช่วยได้", "answer_th": "พักผ่อน"}]
    settings = {"data_dir": str(write_csv(tmp_path / "own.csv", rows)), **FAST}
    monkeypatch.setitem(sys.modules, "pythainlp.tokenize", None)
    tokenization.segmenter.cache_clear()
    monkeypatch.setattr(BaselineLM, "generate_until", lambda *given, **more: pytest.fail("asked"))
    with pytest.raises(ExtraMissing, match=r"language 'th' need .* pip install .xling-tasks\[th\]"):
        run("xling_custom_correctness", metadata=settings)


def test_each_language_stops_at_its_own_word_unless_the_user_says_where(run, tmp_path):
    rows = [{"id": "1", "question_en": "Why?", "answer_en": "So.", "question_hi": "क्यों?",
             "answer_hi": "ऐसे।"}]  # fmt: skip
    path = write_lines(tmp_path / "clinic.jsonl", rows)
    seen = {}
    for given in (None, "until=END"):
        found = run("xling_custom_correctness", metadata={"data_dir": str(path)}, gen_kwargs=given)
        tasks = by_language(found, "xling_custom_correctness").values()
        seen[given] = [own.samples[0]["arguments"][0][1]["until"] for own in tasks]
    assert seen[None] == [["\nQuestion:"], ["\nQuestion:", "\nप्रश्न:"]]
    assert seen["until=END"] == ["END", "END"]


def test_wrong_answers_are_drawn_from_the_same_question_in_all_languages(run, tmp_path):
    path = write_csv(tmp_path / "clinic.csv", FEW)
    metadata = {"data_dir": str(path), "temperatures": [0.0]}
    found = by_language(run("xling_custom_verifiability", metadata=metadata),
                        "xling_custom_verifiability")  # fmt: skip
    docs = {code: {s["doc"]["question_id"]: s["doc"]["answers"] for s in own.samples}
            for code, own in found.items()}  # fmt: skip
    for question, (right, wrong) in docs["en"].items():
        donor = next(row for row in FEW if f"of_{row['id']}" in wrong["answer_id"])
        for code in docs:
            if question in docs[code]:
                own, other = docs[code][question]
                assert own["label"] == right["label"] == 1
                assert other == {**wrong, "text": donor[f"answer_{code}"]}
    assert found["sw"].record["data"]["wrong_answers"] == {"given": 0, "drawn": 3}


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
            mine = own[f"xling_custom_{criterion}_{code}"]
            assert mine[key] == pytest.approx(value), key
            compared += 1
    assert compared > 60


def test_a_model_translates_a_language_that_only_its_name_tells(run, serve, tmp_path):
    from xling_tasks.languages import find

    rows = [
        {"id": n, "question_en": f"Why {n}?", "question_dag_Latn": f"Bozuɣu {n}?"} for n in (0, 1)
    ]
    path = write_lines(tmp_path / "clinic.jsonl", rows)

    def translate(prompt: str) -> str:
        text = prompt.partition("Text: ")[2]
        return text.partition("\n\nTranslation:")[0] or "ready"  # an English answer stays

    served = serve(translate)
    metadata = {
        "data_dir": str(path), **FAST, "translator": served.spec(),
    }  # fmt: skip
    found = by_language(
        run("xling_custom_consistency", metadata=metadata), "xling_custom_consistency"
    )
    assert found["dag-Latn"].scores["translation_failed_rate_t1.0"] == 0.0
    assert any("the language with the code dag" in prompt for prompt in served.prompts)
    with pytest.raises(SettingError, match="'dag' is not known to it. Name a model of the harness"):
        find("dag")
