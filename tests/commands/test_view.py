"""`xling view`: what is found and shown, from which files, and who may ask for it."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tracemalloc
import urllib.request
import warnings
from contextlib import contextmanager

import pytest
from builders import evaluated, task_of, write_run, write_samples
from damage import RESULTS, SAMPLES, UNREAD
from viewing import OF, TOKEN, judged, made_of, texts_of, viewing

from xling_tasks.cli import main
from xling_tasks.commands.view.command import read_link
from xling_tasks.commands.view.details import question, whole_row
from xling_tasks.commands.view.facts import FLAGS, flag_names, flags_of
from xling_tasks.commands.view.index import BATCH_BYTES, KEPT, Index
from xling_tasks.commands.view.queries import GAPS
from xling_tasks.commands.view.server import HEADERS
from xling_tasks.commands.view.sources import find_sources
from xling_tasks.criteria import about
from xling_tasks.errors import SettingError, XlingError
from xling_tasks.logs.shown import parts_of

M, L, N, C = "more_comprehensive", "less_comprehensive", "neither", "contradictory"
LABELS = {"en": (M, M, C, M, N), "es": (M, C, M, C, N), "hi": (L, C, C, M, C)}


def a_run(folder, labels=LABELS, rows=judged, **run):
    return made_of(folder, labels, rows, **run)


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
        ({"text": ' Two  "ASPIRIN, ａｂｃ'}, "3"),
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


def test_an_unknown_filter_or_link_is_an_error_and_no_empty_list(made):
    for call, values, said in (
        ("list", {"flag": "x"}, "no flag 'x'"),
        ("list", {"gap": "x"}, "no gap 'x'"),
        ("list", {"from": "-1"}, "a number is expected"),
        ("question", {"id": "1;drop"}, "a number is expected"),
        ("question", {"id": 999}, "no question 999"),
        ("find", {"task": f"{OF}xx", "question": "1"}, "Did you mean"),
        ("find", {"task": f"{OF}es", "question": "77"}, "no question '77'"),
        ("find", {"task": f"{OF}es", "question": "1", "model": "x"}, "no model 'x'"),
    ):
        assert said in made.get(call, **values)["error"]
    found = made.get("find", task=f"{OF}es", question="1")
    assert (found["language"], found["dataset"]) == ("es", "liveqa")


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


def test_counts_to_choose_from_tones_and_texts_in_every_language(made):
    state = made.get("state")
    assert state["finished"] and state["done"] == state["of"] and state["rows"] == 15
    assert state["choices"]["language"] == {"en": 5, "es": 5, "hi": 5}
    assert state["choices"]["label"] == {M: 6, L: 1, N: 2, C: 6}
    assert state["choices"]["flag"] == {"off_language": 1, "empty": 1, "judge_failed": 1}
    assert set(state["words"]["flag"]) == set(FLAGS) and set(state["words"]["gap"]) == set(GAPS)
    # Less than the expert said is not simply good.
    entries = [each for item in made.get("list")["items"] for each in item["entries"]]
    tones = {each["label"]: each["tone"] for each in entries}
    assert tones == {M: "good", L: "partly", N: "", C: "bad"}
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


def test_forms_of_a_link():
    for words, parts, query in (
        ("", [], ""),
        ("q/a/b", ["a", "b"], ""),
        ("#/q/a/b/c", ["a", "b", "c"], ""),
        ("a/b%2Fc%20d", ["a", "b/c d"], ""),
        ("http://127.0.0.1:1/t/#/q/a/b?text=x", ["a", "b"], "text=x"),
        ("#/?language=hi&sort=gap", [], "language=hi&sort=gap"),
    ):
        assert read_link(words) == (parts, query)
    for words in ("a", "q/a", "a/b/c/d", "a//b"):
        with pytest.raises(SettingError, match="TASK/QUESTION"):
            read_link(words)


INFORMATION = {
    "empty_rate_en": 0.0, "empty_rate_es": 1.0, "langid_match_en": 0.0, "unverified_es": [1, 6],
    "unscored_es": 1.0, "n_claims_es": {"english": None, "unscored": "translation failed"},
    "failed_rate": [1, 2], "n_responses": {"responses": [{"request": 0, "repeat": 0, "outcome": "request_failed", "reason": "x"}]},
}  # fmt: skip
SWEPT = {"language_consistency_t1.0": 0.4, "translation_failed_rate_t1.0": [1, 10],
         "content_filter_rate": [0, 11], "empty_rate_t0.0": [0, 0]}  # fmt: skip


@pytest.mark.parametrize(
    ("criterion", "sample", "code", "flags"),
    [
        ("information", INFORMATION, "en", "off_language failed"),
        ("information", INFORMATION, "es", "empty unparsed translation_failed unscored"),
        ("consistency", SWEPT, "es", "off_language translation_failed"),
        ("something new", {"unparsed_rate": 1, "x": "y"}, "", "unparsed"),
    ],
)
def test_flags_are_told_by_any_criterion_and_each_language(criterion, sample, code, flags):
    sample = {"doc": {"text": {"en": "x", "es": "y"}}, **sample}
    assert flag_names(flags_of(criterion, sample, code)) == flags.split()


# Runs of every kind


def test_empathy_profiles_votes_of_a_jury_and_missing_answers():
    sample = {
        "doc": {"question_id": "1", "text": {"en": "post", "es": "mensaje"}},
        "resps": [["There, there."], ["Ya, ya."]],
        "profile_es": {"english": "Now, now.", "profile": [True, False, False]},
        "emotional_reactions_present_es": 1.0, "interpretations_present_es": 0.0, "empathy_es": 0.0,
    }  # fmt: skip
    parts = {p.title: p.passages for p in parts_of("empathy", sample, "es")}
    shown = ["mensaje", "Ya, ya.", "Now, now.", "emotional reactions"]
    assert [p[0].text for p in parts.values()] == shown
    assert parts["Mechanisms of empathy in the answer"][0].mark == "not as in English"
    votes = [{"judge": "a", "label": C, "reply": "No.", "swapped": {"label": M, "reply": "Yes."}},
             {"judge": "b", "label": None, "reply": None, "failed": "timed out"}]  # fmt: skip
    sample = {"doc": {"question": "q"}, "n_judged": {"label": C, "reply": "x", "votes": votes},
              "resps": [["", "  "]],
              "n_responses": {"responses": [{"request": 0, "repeat": 0, "outcome": "content_filter", "reason": "x"}]}}  # fmt: skip
    parts = {p.title: p.passages for p in parts_of("correctness", sample, "en")}
    (judged,) = [own for title, own in parts.items() if title.startswith("The judge")]
    assert [(p.mark, p.text, p.tone) for p in judged] == [
        ("a: contradictory", "No.", "bad"),
        ("with the answers exchanged: more comprehensive", "Yes.", "good"),
        ("b: failed: timed out", "", "unsure"),
    ]
    missing = [p.mark for p in parts["The model's answer"]]
    assert missing == ["content_filter: x", "empty"]


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


def test_models_stand_beside_each_other_with_the_newest_run_of_a_task(tmp_path):
    first, second = ({"model_args": {"pretrained": f"org/{name}"}} for name in ("first", "second"))
    a_run(tmp_path / "first", config=first)
    a_run(tmp_path / "first", {"en": (M,) * 5}, config=first, stamp="2026-01-01T00-00-00.000000")
    a_run(tmp_path / "second", config=second)
    with viewing(tmp_path / "first", f"other={tmp_path / 'second'}") as viewer:
        assert list(viewer.get("state")["models"]) == ["first", "other"]
        found = viewer.get("find", task=f"{OF}es", question="1", model="other")
        assert found["model"] == "other" and found["others"] == ["first"]
        assert len(viewer.questions()) == 10 and len(viewer.questions(model="first")) == 5
        # Five questions, of which each model has an entry of its own.
        listed = viewer.get("list")
        assert (listed["total"], listed["questions"]) == (10, 5)
        assert viewer.details(f"{OF}en", "2", "first")[0]["label"] == C


# Files that are wrong


@contextmanager
def indexed(*folders, read=True, **options):
    """The index of some folders, read."""
    index = Index(find_sources([str(folder) for folder in folders]), **options)
    if read:
        index.read_all()
    yield index
    index.close()


def test_damaged_files_say_what_is_wrong_in_one_line(run, tmp_path):
    tasks = ["xlinghealth_correctness_demo_en", "xlinghealth_correctness_demo_es"]
    whole, out = tmp_path / "whole", tmp_path / "spoiled"
    evaluated(run, whole, tasks, limit=3, metadata={"judge": {"model": "xling_baseline"}})
    silent = set()
    for kind, spoil in {**RESULTS, **{f"samples {k}": v for k, v in SAMPLES.items()}}.items():
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
        named = ("samples_", "results_", "no results")
        for line in lines:
            assert "\n" not in line and len(line) < 1500 and any(n in line for n in named), kind
        if not lines:
            silent.add(kind)
        shutil.rmtree(out)
    # What only numbers are made of is shown as it stands: there is nothing to compute.
    shown = (UNREAD & SAMPLES.keys()) | {"no question_id", "doc null", "doc a text"}
    assert silent <= {f"samples {kind}" for kind in shown}, silent


def test_a_file_that_changes_meanwhile_is_said(tmp_path):
    out = a_run(tmp_path / "out", {"en": (M, M)})
    with viewing(out) as viewer:
        path = next(out.rglob("samples_*"))
        number = viewer.get("find", task=f"{OF}en", question="1")["id"]
        for change in (lambda: path.write_text("x" * 5000), path.unlink):
            change()
            said = viewer.get("question", id=number, languages="en")["error"]
            assert "is not what it was" in said and "start the view again" in said


def test_what_cannot_be_viewed_is_said_before_anything_starts(tmp_path, capsys):
    write_run(tmp_path / "x", {"t": {**task_of({"acc": 1.0}, record={}), "rows": []}})
    a_run(tmp_path / "out")
    (tmp_path / "empty").mkdir()
    for words, said in (
        (["none"], "no such folder"),
        (["empty"], "no results"),
        (["x"], "run lm_eval again with --log_samples"),
        (["out", "--open", f"{OF}xx/1"], "Did you mean"),
        (["out", "--open", f"{OF}es/1/nobody"], "no model 'nobody'"),
        (["out", "--open", "x"], "TASK/QUESTION"),
        (["out", "--port", "70000"], "--port: must be an integer from 0 to 65535"),
    ):
        assert main(["view", str(tmp_path / words[0]), "--no-browser", *words[1:]]) == 2
        assert said in capsys.readouterr().err


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


# Memory and the kept index


def test_memory_holds_a_row_and_a_batch_however_large_the_files_are(tmp_path):
    long = "All work and no play. " * 500  # 11 kB
    peaks = {}
    for n in (150, 1500):
        labels = {code: (M,) * n for code in ("en", "es")}
        a_run(tmp_path / str(n), labels, lambda i, label, code: judged(i, label, code, long))
        with indexed(tmp_path / str(n), read=False) as index:
            tracemalloc.start()
            index.read_all()
            peaks[n] = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert index.progress().rows == 2 * n
        shutil.rmtree(tmp_path / str(n))
    assert peaks[1500] < 1.5 * peaks[150] + 1e6
    assert peaks[1500] < 4 * BATCH_BYTES


def test_a_complete_index_is_kept_and_found_again_until_a_file_changes(tmp_path, own_cache):
    out, kept = a_run(tmp_path / "out"), own_cache / "view"
    with indexed(out, read=False) as index:
        assert not index.finished
        index.read_all()
    with indexed(out, read=False) as index:
        assert index.finished and index.progress().rows == 15
        index.read_all()
        assert index.progress().rows == 15
    (file,) = kept.iterdir()
    file.write_bytes(b"no database" * 1000)  # is made again
    with indexed(out) as index:
        assert index.progress().rows == 15 and index.progress().finished
    write_samples(out, f"{OF}en", [judged(0, C, "en")])
    with indexed(out, read=False) as index:
        assert not index.finished
    assert len(list(kept.iterdir())) == 1
    for number in range(KEPT + 3):  # old ones are removed
        with indexed(a_run(tmp_path / str(number), {"en": (M,)})):
            pass
    assert len(list(kept.iterdir())) == KEPT


def test_without_a_cache_folder_nothing_is_left(tmp_path, monkeypatch):
    monkeypatch.setenv("XLING_CACHE", "false")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with indexed(a_run(tmp_path / "out")) as index:
        assert index.progress().finished
    assert list((tmp_path / "temporary").iterdir()) == []


def test_what_was_asked_for_is_read_first(tmp_path):
    out = a_run(tmp_path / "out")
    record = {"about": about("mmedbench_mcqa", "mmedbench", ["es"], ["acc"])}
    task = task_of({"acc": 0.0}, [judged(0, M, "es")], record=record)
    write_run(out / "more", {"mmedbench_mcqa_es": task})
    with indexed(out, read=False, first="mmedbench_mcqa_es") as index:
        assert next(index.sources.files[i].criterion for i in index.order) == "mmedbench_mcqa"


# Who may ask


def test_every_answer_carries_the_headers(made):
    for path in ("", "view.js", "view.css", "api/state", "api/list?flag=x", "no-such", "api"):
        status, headers, _ = made.raw(f"/{TOKEN}/{path}")
        assert status in (200, 400, 404) and "server" not in headers, path
        for name, value in HEADERS.items():
            assert headers[name.lower()] == value, (path, name)
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy and "default-src 'none'" in policy and "*" not in policy


def test_only_this_host_with_this_token_is_answered(made):
    for path in (
        "/", "/wrong/", "/wrong/api/state", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", f"/?token={TOKEN}",
        f"//{TOKEN}/", f"/%74{TOKEN[1:]}/", "/view.js", f"/../{TOKEN}/", "/%c3%a9/", f"/x/{TOKEN}/",
    ):  # fmt: skip
        status, headers, content = made.raw(path)
        assert status == 403 and TOKEN not in content, path
        assert headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
    with_port = ("evil.example", "127.0.0.1.evil.example", "localhost.", "[::1]")
    wrong = ["evil.example", "127.0.0.1", "127.0.0.1:1"]
    wrong += [f"{name}:{made.port}" for name in with_port]
    right = [f"{name}:{made.port}" for name in ("127.0.0.1", "localhost", "LOCALHOST")]
    for status, hosts in ((403, wrong), (200, right)):
        for host in hosts:
            assert made.raw(f"/{TOKEN}/api/state", Host=host)[0] == status, host


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
    words = [sys.executable, "-c", code, "view", str(out), "--no-browser"]
    env = {**os.environ, "XLING_CACHE": str(own_cache)}
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    ) as first:
        address = first.stdout.readline().strip()
        # At once: whoever has the address is not refused, though the server may not be ready.
        with urllib.request.urlopen(address) as page:
            assert b"Samples" in page.read()
        assert address.startswith("http://127.0.0.1:") and len(address.split("/")[3]) >= 32
        port = address.split(":")[2].split("/")[0]
        second = subprocess.run([*words, "--port", port], capture_output=True, text=True, env=env)
        assert second.returncode == 2 and f"--port {port}" in second.stderr
        first.send_signal(signal.SIGTERM)
        assert first.wait(120) == 0  # a second where nothing else runs
        assert "Traceback" not in first.stderr.read()
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
