"""`xling view`: what is found and shown, from which files, and who may ask for it."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tracemalloc
import urllib.request
import warnings
from pathlib import Path

import pytest
from builders import evaluated, task_of, write_run, write_samples
from damage import RESULTS, SAMPLES
from viewing import TOKEN, texts_of, viewing

from xling_tasks.cli import main
from xling_tasks.commands.view.command import read_link
from xling_tasks.commands.view.details import question, whole_row
from xling_tasks.commands.view.facts import FLAGS, flag_names, flags_of
from xling_tasks.commands.view.index import BATCH_BYTES, KEPT, Index
from xling_tasks.commands.view.queries import GAPS, words_of
from xling_tasks.commands.view.server import HEADERS
from xling_tasks.commands.view.sources import find_sources
from xling_tasks.criteria import about
from xling_tasks.errors import SettingError, XlingError
from xling_tasks.logs.shown import parts_of
from xling_tasks.pages.door import write_door

KEPT_RESULTS = Path(__file__).parents[1] / "cases" / "v0_1_0" / "kept.tar.xz"
OF = "xlinghealth_correctness_liveqa_"


def judged(number, label, language, answer="An answer.", **values):
    doc = {
        "question_id": str(number), "language": language,
        "question": f"Question {number} in {language}?", "reference": f"Reference {number}.",
    }  # fmt: skip
    return {
        "doc_id": number, "doc": doc, "resps": [[answer]], "filtered_resps": [answer],
        "metrics": ["langid_match"], "langid_match": 1.0, "empty_rate": 0.0,
        "n_judged": {"label": label, "reply": f"Because {label}.", "judge": "j"}, **values,
    }  # fmt: skip


M, L, N, C = "more_comprehensive", "less_comprehensive", "neither", "contradictory"
LABELS = {"en": (M, M, C, M, N), "es": (M, C, M, C, N), "hi": (L, C, C, M, C)}


def a_run(folder, labels=LABELS, rows=judged, **run):
    tasks = {
        f"{OF}{code}": task_of(
            {"contradictory": 0.0},
            [rows(i, label, code) for i, label in enumerate(own)],
            record={"about": about("correctness", "liveqa", [code], ["contradictory"])},
            better={"contradictory": False},
        )
        for code, own in labels.items()
    }
    return write_run(folder, tasks, **run)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    def rows(number, label, language):
        special = {
            ("hi", 0): {"langid_match": 0.0},
            ("es", 4): {"answer": "", "empty_rate": 1.0},
            ("hi", 4): {"judge_failed_rate": 1.0},
            ("en", 3): {"answer": "Take two Aspirin, ＡＢＣ and Straße; 对乙酰氨基酚 ok."},
        }
        return judged(number, label, language, **special.get((language, number), {}))

    with viewing(a_run(tmp_path_factory.mktemp("made"), rows=rows)) as viewer:
        yield viewer


@pytest.mark.parametrize(
    ("filters", "questions"),
    [
        ({}, "01234"),
        ({"label": C}, "1234"),
        ({"label": C, "language": "es"}, "13"),
        ({"label": C, "language": "es", "model": "no such"}, ""),
        ({"criterion": "correctness", "dataset": "liveqa"}, "01234"),
        ({"flag": "off_language"}, "0"),
        ({"flag": "empty"}, "4"),
        ({"flag": "judge_failed", "language": "hi"}, "4"),
        ({"flag": "judge_failed", "language": "es"}, ""),
        # Labels by question: MML MCC CMC MCM NNC
        ({"gap": "behind"}, "0134"),
        ({"gap": "behind", "language": "es"}, "13"),
        ({"gap": "english_right"}, "13"),
        ({"gap": "english_right", "language": "hi"}, "1"),
        ({"gap": "english_wrong"}, "2"),
        ({"gap": "harm_here"}, "34"),
        ({"gap": "harm_here", "language": "es"}, "3"),
        ({"gap": "other_label"}, "01234"),
        ({"gap": "other_label", "language": "es"}, "123"),
        # The widest gap first; equal ones as in the data.
        ({"sort": "gap"}, "13402"),
        ({"text": "aspirin"}, "3"),
        ({"text": "ASPIRIN two"}, "3"),
        ({"text": '"two aspirin"'}, "3"),
        ({"text": '"aspirin two"'}, ""),
        ({"text": "abc strasse"}, "3"),
        ({"text": "乙酰"}, "3"),
        ({"text": "酚"}, "3"),
        ({"text": "aspirin", "language": "es"}, ""),
        # All words in one language's texts.
        ({"text": "aspirin es?"}, ""),
        ({"text": "because contradictory", "language": "es"}, "13"),
        ({"text": "100% _ ' ; --"}, ""),
    ],
)
def test_filters(made, filters, questions):
    assert "".join(made.questions(**filters)) == questions


def test_an_unknown_filter_is_an_error_and_no_empty_list(made):
    assert "no flag 'x'" in made.get("list", flag="x")["error"]
    assert "no gap 'x'" in made.get("list", gap="x")["error"]
    assert "a number is expected" in made.get("list", **{"from": "-1"})["error"]
    assert "a number is expected" in made.get("question", id="1;drop")["error"]
    assert made.get("question", id=999)["error"] == "no question 999"


def test_what_fits_is_marked_and_shown_where_it_was_found(made):
    (item,) = made.get("list", text="aspirin")["items"]
    assert [(e["language"], e["fits"]) for e in item["entries"]] == [
        ("en", True), ("es", False), ("hi", False)]  # fmt: skip
    assert "take two aspirin" in item["snippet"]
    assert item["link"] == f"{OF}en" and item["title"] == "Question 3 in en?"
    # What does not fit in English is opened for the language in which it does.
    (item,) = made.get("list", flag="off_language")["items"]
    assert item["link"] == f"{OF}hi" and item["language"] == "en"


def test_the_page_of_a_list_that_has_a_question(tmp_path):
    with viewing(a_run(tmp_path / "out", {"en": (M,) * 120})) as viewer:
        number = viewer.get("find", task=f"{OF}en", question="77")["id"]
        around = viewer.get("list", around=number)
        assert around["from"] == 50 and around["items"][27]["question"] == "77"
        assert viewer.get("list", around=9999)["from"] == 0


def test_counts_to_choose_from(made):
    state = made.get("state")
    assert state["finished"] and state["done"] == state["of"] and state["rows"] == 15
    assert state["choices"]["language"] == {"en": 5, "es": 5, "hi": 5}
    assert state["choices"]["label"] == {M: 6, L: 1, N: 2, C: 6}
    assert state["choices"]["flag"] == {"off_language": 1, "empty": 1, "judge_failed": 1}
    assert set(state["words"]["flag"]) == set(FLAGS) and set(state["words"]["gap"]) == set(GAPS)


def test_less_than_the_expert_said_is_not_simply_good(made):
    entries = [each for item in made.get("list")["items"] for each in item["entries"]]
    assert {each["label"]: each["tone"] for each in entries} == {
        M: "good", L: "partly", N: "", C: "bad"
    }  # fmt: skip


def test_a_question_has_its_texts_in_every_language(made):
    english, spanish, hindi = made.details(f"{OF}hi", "1")
    assert (english["language"], spanish["label"], hindi["right"]) == ("en", C, False)
    titles = [part["title"] for part in spanish["parts"]]
    assert titles == ["Question", "Reference answer", "The model's answer",
                      "The judge's verdict and reasoning"]  # fmt: skip
    assert texts_of(spanish) == ["Question 1 in es?", "Reference 1.", "An answer.",
                                 "Because contradictory."]  # fmt: skip
    (verdict,) = spanish["parts"][3]["passages"]
    assert (verdict["mark"], verdict["tone"]) == ("contradictory", "bad")
    assert ["langid_match", "1.0"] in spanish["measured"]


def test_links_that_lead_nowhere_say_so(made):
    assert "Did you mean" in made.get("find", task=f"{OF}xx", question="1")["error"]
    assert "no question '77'" in made.get("find", task=f"{OF}es", question="77")["error"]
    assert "no model 'x'" in made.get("find", task=f"{OF}es", question="1", model="x")["error"]
    found = made.get("find", task=f"{OF}es", question="1")
    assert (found["language"], found["dataset"]) == ("es", "liveqa")


@pytest.mark.parametrize(
    ("words", "parts", "query"),
    [
        ("", [], ""),
        ("q/a/b", ["a", "b"], ""),
        ("#/q/a/b/c", ["a", "b", "c"], ""),
        ("a/b%2Fc%20d", ["a", "b/c d"], ""),
        ("http://127.0.0.1:1/t/#/q/a/b?text=x", ["a", "b"], "text=x"),
        ("#/?language=hi&sort=gap", [], "language=hi&sort=gap"),
    ],
)
def test_forms_of_a_link(words, parts, query):
    assert read_link(words) == (parts, query)


@pytest.mark.parametrize("words", ["a", "q/a", "a/b/c/d", "a//b"])
def test_no_links(words):
    with pytest.raises(SettingError, match="TASK/QUESTION"):
        read_link(words)


def test_words_of_a_search():
    assert words_of(' Two  "As it IS" ') == ["two", "as it is"]
    assert words_of('"open') == ["open"]


def test_flags_are_told_by_any_criterion_and_each_language():
    sample = {
        "doc": {"text": {"en": "x", "es": "y"}}, "empty_rate_en": 0.0, "empty_rate_es": 1.0,
        "langid_match_en": 0.0, "unverified_es": [1, 6], "unscored_es": 1.0,
        "n_claims_es": {"english": None, "unscored": "translation failed"},
        "failed_rate": [1, 2], "n_answered": {"missing": [[0, 0, "failed", "x"]]},
    }  # fmt: skip
    english, spanish = (flag_names(flags_of("information", sample, code)) for code in ("en", "es"))
    assert english == ["off_language", "failed"]
    assert spanish == ["empty", "unread", "translation_failed", "unscored"]
    swept = {"language_consistency_t1.0": 0.4, "translation_failed_rate_t1.0": [1, 10],
             "refused_rate": [0, 11], "empty_rate_t0.0": [0, 0]}  # fmt: skip
    assert flag_names(flags_of("consistency", swept, "es")) == [
        "off_language",
        "translation_failed",
    ]
    both = {"langid_match_es": 0.0, "second_language_match_es": 1.0,
            "langid_match_en": 1.0, "second_language_match_en": 0.0}  # fmt: skip
    opinions = [flag_names(flags_of("information", both, code)) for code in ("es", "en")]
    assert opinions == [["off_language"], ["second_off_language"]]
    swept = {"language_consistency_t1.0": 0.4, "second_language_consistency_t1.0": 0.4}
    assert flag_names(flags_of("consistency", swept, "es")) == [
        "off_language",
        "second_off_language",
    ]
    assert flag_names(flags_of("something new", {"unparsed_rate": 1, "x": "y"}, "")) == ["unread"]


# Runs of every kind


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """Results that version 0.1.0 wrote: every criterion but empathy."""
    folder = tmp_path_factory.mktemp("old")
    with tarfile.open(KEPT_RESULTS) as archive:
        archive.extractall(folder, filter="data")
    return folder / "one"


def samples_in(folder):
    for path in sorted(folder.rglob("samples_*.jsonl")):
        task = path.name.removeprefix("samples_").rpartition("_")[0]
        for line in path.read_text(encoding="utf-8").splitlines():
            yield task, json.loads(line)


def test_results_of_version_0_1_0_open_and_nothing_of_them_is_hidden(old):
    with viewing(old) as viewer:
        state = viewer.get("state")
        assert state["problems"] == []
        assert set(state["choices"]["criterion"]) == {
            "correctness", "consistency", "verifiability", "verifiability_ll", "information",
            "mmedbench_mcqa", "mmedbench_mcqa_ll", "mmedbench_rationale"}  # fmt: skip
        seen = set()
        for task, sample in samples_in(old):
            if task in seen and sample["doc_id"] > 1:
                continue
            seen.add(task)
            entries = viewer.details(task, sample["doc"]["question_id"])
            own = [e for e in entries if e["task"] == task]
            shown = [text for entry in own for text in texts_of(entry)]
            replies = [text for reply in sample["resps"] for text in reply if isinstance(text, str)]
            assert set(replies) <= set(shown), task
            for entry in own:
                row = viewer.get("row", entry=entry["id"])
                assert json.loads(row["text"]) == sample and row["length"] == len(row["text"])
        assert len(seen) == 35


def test_claims_are_marked_with_their_support(old):
    with viewing(old) as viewer:
        (sample,) = [s for t, s in samples_in(old) if "information" in t and s["doc_id"] == 0]
        entries = viewer.details("xlinghealth_information_demo", "0")
        parts = {p["title"]: p["passages"] for p in entries[1]["parts"]}
        code = entries[1]["language"]
        record = sample[f"n_claims_{code}"]
        assert [p["text"] for p in parts["Claims of this answer"]] == record["claims"]
        said = {"supported": True, "not supported": False}
        assert [said[p["mark"]] for p in parts["Claims of this answer"]] == record["supported"]
        others = [said[p["mark"]] for p in parts["Claims of the English answer"]]
        assert others == record["reference_supported"]
        assert parts["As compared, in English"][0]["text"] == record["english"]


def test_verdicts_on_right_and_wrong_answers(old):
    with viewing(old) as viewer:
        entry = viewer.details("xlinghealth_verifiability_demo_es", "0")[1]
        (sample,) = [s for t, s in samples_in(old)
                     if t == "xlinghealth_verifiability_demo_es" and s["doc_id"] == 0]  # fmt: skip
        parts = [p for p in entry["parts"] if p["title"].startswith(("Right", "Wrong"))]
        assert [p["note"] for p in parts] == ["To say of it: Yes"] + 4 * ["To say of it: No"]
        taus = [name for name in sample if name.startswith("acc_t")]
        for place, part in enumerate(parts):
            said = part["passages"][1:]
            for tau, passage in zip(taus, said, strict=True):
                label, verdict = sample[tau][place]
                right = "not read" if verdict is None else "right" if label == verdict else "wrong"
                assert passage["mark"] == f"T={tau[5:]}: {right}"


def test_letters_of_a_choice(old):
    with viewing(old) as viewer:
        for task, sample in samples_in(old):
            if task != "mmedbench_mcqa_demo_es":
                continue
            (entry,) = viewer.details(task, sample["doc"]["question_id"])
            options = next(p for p in entry["parts"] if p["title"] == "Options")["passages"]
            right = [p["text"][0] for p in options if p["mark"] == "right"]
            assert right == sample["doc"]["answer"]
            note = next(p for p in entry["parts"] if p["title"] == "The model's answer")["note"]
            verdict = (
                "right" if sample["acc"] else "not read" if sample["unparsed_rate"] else "wrong"
            )
            assert entry["label"] == ("unread" if verdict == "not read" else verdict)
            assert note.endswith(f"right: {', '.join(right)}. Scored as {verdict}.")


def test_empathy_profiles():
    sample = {
        "doc": {"question_id": "1", "text": {"en": "post", "es": "mensaje"}},
        "resps": [["There, there."], ["Ya, ya."]],
        "profile_es": {"english": "Now, now.", "profile": [True, False, False]},
        "emotional_reactions_present_es": 1.0, "interpretations_present_es": 0.0, "empathy_es": 0.0,
    }  # fmt: skip
    parts = {p.title: p.passages for p in parts_of("empathy", sample, "es")}
    assert [p[0].text for p in parts.values()] == ["mensaje", "Ya, ya.", "Now, now.",
                                                    "emotional reactions"]  # fmt: skip
    assert parts["Mechanisms of empathy in the answer"][0].mark == "not as in English"


def test_a_jury_shows_every_vote():
    votes = [{"judge": "a", "label": C, "reply": "No.", "swapped": {"label": M, "reply": "Yes."}},
             {"judge": "b", "label": None, "reply": None, "failed": "timed out"}]  # fmt: skip
    sample = {"doc": {"question": "q"}, "n_judged": {"label": C, "reply": "x", "votes": votes}}
    (part,) = [p for p in parts_of("correctness", sample, "en") if p.title.startswith("The judge")]
    assert [(p.mark, p.text, p.tone) for p in part.passages] == [
        ("a: contradictory", "No.", "bad"),
        ("with the answers exchanged: more comprehensive", "Yes.", "good"),
        ("b: failed: timed out", "", "unsure"),
    ]


def test_an_answer_that_is_missing_says_why():
    sample = {"doc": {"question": "q"}, "resps": [["", "  "]],
              "n_answered": {"missing": [[0, 0, "refused", "content_filter"]]}}  # fmt: skip
    (part,) = [p for p in parts_of("correctness", sample, "en") if p.title == "The model's answer"]
    assert [p.mark for p in part.passages] == ["refused: content_filter", "empty"]


def test_tasks_that_nothing_is_known_of_show_all_they_have(tmp_path):
    rows = [{
        "doc_id": 7, "doc": {"query": "Which?", "choices": ["one", "two"], "gold": 1},
        "target": "two", "resps": [["three"]], "filtered_resps": ["three"], "metrics": ["acc"],
        "acc": 0.0, "rubric": [{"criterion": "Says so", "met": False, "why": "It does not."}],
        "filter": name,
    } for name in ("strict", "flexible")]  # fmt: skip
    task = {"scores": {"acc": 0.0}, "rows": rows, "better": {"acc": True},
            "count": {"original": 1, "effective": 1}, "config": {"num_fewshot": 0}}  # fmt: skip
    with viewing(write_run(tmp_path / "out", {"arc_other": task})) as viewer:
        assert viewer.get("state")["problems"] == []
        assert set(viewer.get("state")["choices"]["dataset"]) == {
            "(filter strict)", "(filter flexible)"}  # fmt: skip
        (entry,) = viewer.details("arc_other", "7")
        shown = {p["title"]: p["passages"][0]["text"] for p in entry["parts"]}
        assert shown["Query"] == "Which?" and shown["Target"] == "two"
        assert shown["Choices"] == '["one", "two"]' and shown["The model's answer"] == "three"
        assert "It does not." in shown["Rubric"]
        assert viewer.questions(text="says it") == ["7", "7"]


def test_two_models_stand_beside_each_other(tmp_path):
    a_run(tmp_path / "a", config={"model_args": {"pretrained": "org/first"}})
    a_run(tmp_path / "b", config={"model_args": {"pretrained": "org/second"}})
    with viewing(tmp_path / "a", f"other={tmp_path / 'b'}") as viewer:
        assert list(viewer.get("state")["models"]) == ["first", "other"]
        found = viewer.get("find", task=f"{OF}es", question="1", model="other")
        assert found["model"] == "other" and found["others"] == ["first"]
        assert len(viewer.questions()) == 10 and len(viewer.questions(model="first")) == 5
        # Five questions, of which each model has an entry of its own.
        listed = viewer.get("list")
        assert (listed["total"], listed["questions"]) == (10, 5)


def test_the_newest_run_of_a_task_is_shown(tmp_path):
    a_run(tmp_path, {"en": (M,)}, stamp="2026-01-01T00-00-00.000000")
    a_run(tmp_path, {"en": (C,)}, stamp="2026-01-02T00-00-00.000000")
    with viewing(tmp_path) as viewer:
        assert viewer.details(f"{OF}en", "0")[0]["label"] == C


# Files that are wrong


def test_damaged_files_say_what_is_wrong_in_one_line(run, tmp_path):
    tasks = ["xlinghealth_correctness_demo_en", "xlinghealth_correctness_demo_es"]
    whole = tmp_path / "whole"
    evaluated(run, whole, tasks, limit=3, metadata={"judge": {"model": "xling_baseline"}})
    silent = []
    for kind, spoil in {**RESULTS, **{f"samples {k}": v for k, v in SAMPLES.items()}}.items():
        out = tmp_path / "spoiled"
        shutil.copytree(whole, out)
        spoil(out)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                sources = find_sources([str(out)])
            index = Index(sources)
            index.read_all()
            lines = [*index.progress().problems]
            for (number,) in index.fetch("SELECT id FROM question"):
                for entry in question(index, number, ["en", "es"]):
                    json.dumps([entry, whole_row(index, entry["id"], 0)])
            index.close()
        except XlingError as error:
            lines = [str(error)]
        assert all("\n" not in line and len(line) < 1500 for line in lines), kind
        assert all("samples_" in line or "results_" in line or "no results" in line
                   for line in lines), (kind, lines)  # fmt: skip
        if not lines:
            silent.append(kind)
        shutil.rmtree(out)
    # What only numbers are made of is shown as it stands: there is nothing to compute.
    assert set(silent) <= set(SHOWN_AS_THEY_ARE), set(silent) - set(SHOWN_AS_THEY_ARE)


SHOWN_AS_THEY_ARE = {
    "samples question a list", "samples text for a metric", "samples a list for a metric",
    "samples an object for a metric", "samples infinite metric", "samples a huge metric",
    "samples n_judged a text", "samples n_judged null", "samples label a list",
    "samples resps null", "samples resps a number", "samples filtered_resps empty",
    "samples filtered_resps a number", "samples an answer a number", "samples arguments a list",
    "samples no question_id", "samples doc null", "samples doc a text",
}  # fmt: skip


def test_a_file_that_changes_meanwhile_is_said(tmp_path):
    out = a_run(tmp_path / "out", {"en": (M, M)})
    with viewing(out) as viewer:
        path = next(out.rglob("samples_*"))
        path.write_text("x" * 5000)
        found = viewer.get("find", task=f"{OF}en", question="1")
        answer = viewer.get("question", id=found["id"], languages="en")
        assert "is not what it was" in answer["error"] and "start the view again" in answer["error"]
        path.unlink()
        assert "is not what it was" in viewer.get("question", id=1, languages="en")["error"]


def test_nothing_to_view(tmp_path, capsys):
    for folder, word in ((tmp_path / "none", "no such folder"), (tmp_path, "no results")):
        assert main(["view", str(folder), "--no-browser"]) == 2
        assert word in capsys.readouterr().err
    write_run(tmp_path / "x", {"t": {**task_of({"acc": 1.0}, record={}), "rows": []}})
    assert main(["view", str(tmp_path / "x"), "--no-browser"]) == 2
    assert "run lm_eval again with --log_samples" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["uvicorn", "starlette"])
def test_without_its_extra_it_says_what_to_install(name, tmp_path, capsys, monkeypatch):
    # As if nothing had been imported before.
    for module in [*sys.modules]:
        if module.startswith((f"{name}.", "xling_tasks.commands.view.")):
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SystemExit) as ended:
        main(["view", "--help"])
    assert ended.value.code == 0
    assert main(["view", str(a_run(tmp_path / "out"))]) == 2
    error = capsys.readouterr().err
    assert "pip install 'xling-tasks[view]'" in error and error.count("\n") == 1


def test_a_wrong_link_or_port_is_said_before_anything_starts(tmp_path, capsys):
    out = str(a_run(tmp_path / "out"))
    for words, said in (
        (["--open", f"{OF}xx/1"], "Did you mean"),
        (["--open", f"{OF}es/1/nobody"], "no model 'nobody'"),
        (["--open", "x"], "TASK/QUESTION"),
        (["--port", "70000"], "--port: must be an integer from 0 to 65535"),
    ):
        assert main(["view", out, "--no-browser", *words]) == 2
        assert said in capsys.readouterr().err


# Memory and the kept index


def test_memory_holds_a_row_and_a_batch_however_large_the_files_are(tmp_path):
    long = "All work and no play. " * 500  # 11 kB

    def rows(folder, n):
        labels = {code: (M,) * n for code in ("en", "es")}
        return a_run(folder, labels, lambda i, label, code: judged(i, label, code, long))

    peaks = {}
    for n in (150, 1500):
        out = rows(tmp_path / str(n), n)
        index = Index(find_sources([str(out)]))
        tracemalloc.start()
        index.read_all()
        peaks[n] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert index.progress().rows == 2 * n
        index.close()
        shutil.rmtree(out)
    assert peaks[1500] < 1.5 * peaks[150] + 1e6
    assert peaks[1500] < 4 * BATCH_BYTES


def test_a_complete_index_is_kept_and_found_again_until_a_file_changes(tmp_path, own_cache):
    out = a_run(tmp_path / "out")
    first = Index(find_sources([str(out)]))
    assert not first.finished
    first.read_all()
    first.close()
    again = Index(find_sources([str(out)]))
    assert again.finished and again.progress().rows == 15
    again.read_all()
    assert again.progress().rows == 15
    again.close()
    write_samples(out, f"{OF}en", [judged(0, C, "en")])
    changed = Index(find_sources([str(out)]))
    assert not changed.finished
    changed.close()
    assert len(list((own_cache / "view").iterdir())) == 1


def test_a_damaged_index_is_made_again(tmp_path, own_cache):
    out = a_run(tmp_path / "out")
    for _ in range(2):
        index = Index(find_sources([str(out)]))
        index.read_all()
        assert index.progress().rows == 15 and index.progress().finished
        index.close()
        (kept,) = (own_cache / "view").iterdir()
        kept.write_bytes(b"no database" * 1000)


def test_old_indexes_are_removed(tmp_path, own_cache):
    for number in range(KEPT + 3):
        index = Index(find_sources([str(a_run(tmp_path / str(number), {"en": (M,)}))]))
        index.read_all()
        index.close()
    assert len(list((own_cache / "view").iterdir())) == KEPT


def test_without_a_cache_folder_nothing_is_left(tmp_path, monkeypatch):
    monkeypatch.setenv("XLING_CACHE", "false")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    index = Index(find_sources([str(a_run(tmp_path / "out"))]))
    index.read_all()
    assert index.progress().finished
    index.close()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_what_was_asked_for_is_read_first(tmp_path):
    out = a_run(tmp_path / "out")
    tasks = {"mmedbench_mcqa_es": task_of({"acc": 0.0}, [judged(0, M, "es")],
             record={"about": about("mmedbench_mcqa", "mmedbench", ["es"], ["acc"])})}  # fmt: skip
    write_run(out / "more", tasks)
    index = Index(find_sources([str(out)]), first="mmedbench_mcqa_es")
    assert next(index.sources.files[i].criterion for i in index.order) == "mmedbench_mcqa"
    index.close()


# Who may ask


def test_every_answer_carries_the_headers(made):
    for path in ("", "view.js", "view.css", "api/state", "api/list?flag=x", "no-such", "api"):
        status, headers, _ = made.raw(f"/{TOKEN}/{path}")
        assert status in (200, 400, 404), path
        for name, value in HEADERS.items():
            assert headers[name.lower()] == value, (path, name)
        assert "server" not in headers
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy and "*" not in policy


@pytest.mark.parametrize(
    "path",
    ["/", "/wrong/", "/wrong/api/state", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", f"/?token={TOKEN}",
     f"//{TOKEN}/", f"/%74{TOKEN[1:]}/", "/view.js", f"/../{TOKEN}/", "/%c3%a9/", f"/x/{TOKEN}/"],
)  # fmt: skip
def test_a_wrong_token_is_forbidden(made, path):
    status, headers, content = made.raw(path)
    assert status == 403 and TOKEN not in content
    assert headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("LOCALHOST:{port}", 200),
        ("evil.example:{port}", 403),
        ("evil.example", 403),
        ("127.0.0.1", 403),
        ("127.0.0.1:1", 403),
        ("127.0.0.1.evil.example:{port}", 403),
        ("localhost.:{port}", 403),
        ("[::1]:{port}", 403),
    ],
)
def test_only_this_host_is_answered(made, host, status):
    path = f"/{TOKEN}/api/state"
    assert made.raw(path, Host=host.format(port=made.port))[0] == status


def test_nothing_can_be_sent_and_no_file_be_asked_for(made):
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert made.raw(f"/{TOKEN}/api/state", method)[0] == 405
    for path in ("../pyproject.toml", "%2e%2e/view.py", "annotate.html", "/etc/passwd"):
        assert made.raw(f"/{TOKEN}/{path}")[0] == 404
    assert made.raw(f"/{TOKEN}/api/state", "HEAD")[0] == 200


# The command


def test_the_command_serves_until_it_is_ended_and_writes_nothing_into_the_results(
    tmp_path, own_cache
):
    out = a_run(tmp_path / "out")
    before = {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in [out, *out.rglob("*")]}
    code = "import sys; from xling_tasks.cli import main; sys.exit(main(sys.argv[1:]))"
    report = tmp_path / "report"
    report.mkdir()
    write_door(report)
    words = [sys.executable, "-c", code, "view", str(out), "--no-browser", "--report", str(report)]
    env = {**os.environ, "XLING_CACHE": str(own_cache)}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    ) as first:
        address = first.stdout.readline().strip()
        # At once: whoever has the address is not refused, though the server may not be ready.
        with urllib.request.urlopen(address) as page:
            assert b"Samples" in page.read()
        assert address.startswith("http://127.0.0.1:") and len(address.split("/")[3]) >= 32
        assert address in (report / "view.html").read_text()  # its links lead here
        port = address.split(":")[2].split("/")[0]
        second = subprocess.run([*words, "--port", port], capture_output=True, text=True, env=env)
        assert second.returncode == 2 and f"--port {port}" in second.stderr
        assert address in (report / "view.html").read_text()
        first.send_signal(signal.SIGTERM)
        assert first.wait(120) == 0  # a second where nothing else runs
        assert "Traceback" not in first.stderr.read()
    assert "127.0.0.1" not in (report / "view.html").read_text()
    assert before == {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in [out, *out.rglob("*")]}
    assert [p.suffix for p in (own_cache / "view").iterdir()] == [".sqlite"]


def test_it_leaves_the_handlers_of_logs_open(tmp_path):
    """Of this process, whoever set them up: absl's, closed, takes what was its stderr along."""
    closed = []

    class Kept(logging.Handler):
        def close(self):
            closed.append(self)
            super().close()

    kept = Kept()
    with viewing(a_run(tmp_path)):
        assert not closed
    kept.close()
    assert closed == [kept]
