"""`xling rank`: rationales of several models, ranked over HTTP by a scripted judge."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path

import pytest
from builders import STAMP, evaluated, pick, write_results, write_samples
from scripted import material

from xling_tasks.cli import parse
from xling_tasks.commands.rank import METRICS, common_questions, read_runs
from xling_tasks.data.prompts import PromptTemplates
from xling_tasks.errors import DataError, SettingError

QUALITY = {"alpha": 0.9, "beta": 0.5, "gamma": 0.1}


def sample(language, number, text, **scores):
    doc = {
        "question_id": f"{language}-{number}", "question": f"Question {number}?",
        "options": {"A": "Rest", "B": "Water"}, "answer": ["A", "B"],
        "rationale": "The reference says rest.",
    }  # fmt: skip
    said = f"{text} [End] A, B"
    return {"doc": doc, "filtered_resps": [said], "filter": "none", **scores}


def make_run(folder, samples, language="en", stamp=STAMP):
    """A run as the harness logs it."""
    write_samples(folder / "some__model", f"mmedbench_rationale_{language}", samples, stamp)
    return folder


def make_three(tmp_path, n=4, languages=("en",), text="{name} explains {number}."):
    """Three runs; bleu1 orders them alpha, beta, gamma, rouge1 the other way, rouge2 ties."""
    for name, quality in QUALITY.items():
        scores = {"bleu1": quality, "rouge1": 1 - quality, "rouge2": 0.5, "bleu2": None}
        for language in languages:
            rows = [
                sample(language, i, text.format(name=name, number=i), **scores) for i in range(n)
            ]
            make_run(tmp_path / name, rows, language)
    return [str(tmp_path / name) for name in QUALITY]


def blocks(prompt):
    """The shown rationales, in order."""
    return [text.partition(": ")[2] for text in material(prompt).get("rationales", ())]


def said(*places):
    return json.dumps({"reasoning": "Reasons.", "ranking": places})


def by_name(prompt):
    """A judge that puts alpha before beta before gamma, wherever they stand."""
    shown = blocks(prompt)
    places = sorted(range(len(shown)), key=shown.__getitem__)
    return said(*(place + 1 for place in places)) if shown else "ready"


def human_ranks(path, ranks):
    """A file of people's ranks: question -> the rank of each model, by its name."""
    rows = [f"{key},{name},{rank}" for key, own in ranks.items() for name, rank in own.items()]
    path.write_text("\n".join(["question_id,model,rank", *rows]) + "\n")
    return path


def result(tmp_path, *words):
    chosen = parse(["rank", *map(str, words), "--to", str(tmp_path / "out")])
    page = chosen.run(chosen)
    with (tmp_path / "out/ranking.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    return json.loads((tmp_path / "out/ranking.json").read_text()), rows, page


@pytest.fixture
def judge(serve):
    """A judge that ranks `by_name`, with the words that name it."""
    served = serve(by_name)
    served.words = ("--metadata", json.dumps({"judge": served.spec()}))
    return served


def test_points_taus_and_files(tmp_path, judge):
    outs = make_three(tmp_path, n=4, languages=("en", "fr"))
    ranking, rows, page = result(tmp_path, *outs, *judge.words, "--seed", 3)
    assert len(judge.prompts) == 8  # one request per question
    for language, n in (("en", 4), ("fr", 4), ("all", 8)):
        for name, mean in (("alpha", 3.0), ("beta", 2.0), ("gamma", 1.0)):
            row = pick(ranking["points"], rater="judge", language=language, model=name)
            assert (row["mean"], row["ci_low"], row["ci_high"], row["n"]) == (mean, mean, mean, n)
    # Points 3, 2, 1 are given out in every question, so the mean over positions is 2.
    shown = [row["mean"] for row in ranking["positions"] if row["language"] == "all"]
    assert len(shown) == 3 and sum(shown) == pytest.approx(6)
    assert len(rows) == 24 and {row["status"] for row in rows} == {"ranked"}
    assert {(row["model"], row["rank"]) for row in rows} == {
        ("alpha", "1"), ("beta", "2"), ("gamma", "3")}  # fmt: skip
    assert ranking["prompt"]["digest"] == PromptTemplates().get("rank", "en").digest
    assert len(ranking["responses"]) == 8 and "Reasons." in ranking["responses"]["en-0"]
    # Six means, 3, 2, 1 twice; by bleu1 the same, by rouge1 turned round; rouge2 ties throughout.
    same = pick(ranking["pooled"], rater="judge", metric="bleu1")
    assert (same["tau"], same["slope"]) == (pytest.approx(1), pytest.approx(1))
    assert (same["pairs"], same["questions"]) == (6, 8)
    assert pick(ranking["pooled"], metric="rouge1")["tau"] == pytest.approx(-1)
    assert pick(ranking["pooled"], metric="rouge2")["tau"] is None
    assert {row["metric"] for row in ranking["pooled"]} == {"bleu1", "rouge1", "rouge2"}
    for metric, means in (("bleu1", (3, 2, 1)), ("rouge1", (1, 2, 3)), ("rouge2", (2, 2, 2))):
        for name, mean in zip(QUALITY, means):
            row = pick(ranking["metric_points"], metric=metric, language="fr", model=name)
            assert (row["mean"], row["n"]) == (mean, 4)
    assert ranking["published_points"] == []  # three models: another scale than the paper's six
    assert "Kendall's tau over models and languages" in page


def test_what_cannot_be_compared_is_counted_and_not_asked(tmp_path, judge):
    """A failed call is no empty rationale; questions that are missing or differ."""
    outs = make_three(tmp_path, n=7)
    rows = [sample("en", i, f"beta explains {i}.") for i in range(6)]  # 6 is missing
    for row, outcome in zip(rows, ("request_failed", "content_filter")):
        failed = {"request": 0, "repeat": 0, "outcome": outcome, "reason": "HTTP 500"}
        row |= {"filtered_resps": [""], "n_responses": {"asked": 1, "responses": [failed]}}
    rows[2]["doc"]["options"]["B"] = "Wine"
    make_run(tmp_path / "beta", rows)
    ranking, rows, _ = result(tmp_path, *outs, *judge.words)
    count = pick(ranking["counts"], language="en")
    assert count["questions"] == 4 == len(judge.prompts)
    assert (count["request_failed"], count["missing"], count["different_content"]) == (1, 1, 1)
    assert {row["question_id"] for row in rows} == {"en-1", "en-3", "en-4", "en-5"}
    assert not any(row["metric"] == "bleu1" for row in ranking["pooled"])  # beta logged none


def test_n_questions_per_language_are_drawn(tmp_path, judge):
    outs = make_three(tmp_path, n=6, languages=("en", "fr"))
    ranking, rows, _ = result(tmp_path, *outs, *judge.words, "--n", 4)
    assert len(judge.prompts) == 8
    count = pick(ranking["counts"], language="en")
    assert (count["questions"], count["not_drawn"]) == (4, 2)
    again = result(tmp_path, *reversed(outs), *judge.words, "--n", 4)[1]
    assert {row["question_id"] for row in rows} == {row["question_id"] for row in again}


def test_six_models_stand_beside_the_published_points(tmp_path):
    ranks = {f"m{place}": 6 - place for place in range(6)}
    outs = [
        make_run(tmp_path / name, [sample("en", i, f"{name} {i}", bleu1=1 - rank / 6) for i in range(2)])
        for name, rank in ranks.items()
    ]  # fmt: skip
    human = human_ranks(tmp_path / "h.csv", {"en-0": ranks, "en-1": ranks})
    ranking, _, _ = result(tmp_path, *outs, "--human-ranks", human)
    published = {"model": "MMedLM", "language": "ja"}
    row = pick(ranking["published_points"], rater="human", **published)
    assert row["mean"] == 4.94 and row["source"] == "arXiv:2402.13963, Table 15"
    assert pick(ranking["pooled"], rater="human", metric="bleu1")["tau"] == pytest.approx(1)
    assert pick(ranking["points"], rater="human", language="en", model="m5")["mean"] == 6.0


def test_order_is_shuffled_by_seed_and_question_and_not_by_the_command_line(tmp_path):
    outs = make_three(tmp_path, n=40)

    def orders(words, seed):
        runs = read_runs(words)
        questions, _ = common_questions(runs, seed)
        ordered = [sorted(rows, key=lambda row: row["position"]) for rows in questions]
        return [tuple(row["model"] for row in rows) for rows in ordered]

    first = orders(outs, 0)
    assert len(set(first)) == 6  # every order of three occurs
    assert orders(outs[::-1], 0) == first and orders(outs, 1) != first
    # Each of three models is shown first in 40 / 3 = 13 questions, give or take four deviations.
    assert all(2 <= sum(order[0] == name for order in first) <= 25 for name in QUALITY)


def test_models_are_anonymous_and_every_text_is_shown_once(tmp_path, judge):
    outs = make_three(tmp_path, n=2, text="{number}: rest {{question}} {{code}}.")
    result(tmp_path, *outs, *judge.words)
    for prompt in judge.prompts:
        assert not any(name in prompt for name in (*QUALITY, "some__model"))
        assert len(blocks(prompt)) == 3 and prompt.count("rest {question} {code}.") == 3
        assert material(prompt)["correct"] == "A, B"
        assert material(prompt)["options"] == ["A. Rest", "B. Water"]
        assert "The reference says" not in prompt and "[End]" not in prompt


def test_a_judge_that_always_prefers_the_first_shows_in_the_positions(tmp_path, judge):
    judge.reply = lambda p: said(1, 2, 3) if blocks(p) else "ok"
    ranking, _, _ = result(tmp_path, *make_three(tmp_path, n=12), *judge.words)
    assert [row["mean"] for row in ranking["positions"] if row["language"] == "en"] == [3, 2, 1]
    assert all(row["mean"] < 3 for row in ranking["points"])


def test_invalid_rankings_are_counted_and_left_out(tmp_path, judge):
    judge.reply = lambda p: "They are all good." if "Question 1?" in p else by_name(p)
    outs = make_three(tmp_path, n=4)
    ranking, rows, page = result(tmp_path, *outs, *judge.words)
    counts = pick(ranking["counts"], language="en")
    assert counts == {"language": "en", "questions": 4, "ranked": 3, "invalid": 1}
    alpha = pick(ranking["points"], language="en", model="alpha")
    assert (alpha["mean"], alpha["n"], page.status) == (3.0, 3, 0)
    assert [row["status"] for row in rows].count("invalid") == 3
    # A judge that repeats what it is asked ranks nothing.
    judge.reply = lambda p: p if blocks(p) else "ready"
    ranking, rows, page = result(tmp_path, *outs, *judge.words, "xling_cache=false")
    assert (page.status, ranking["points"], {row["rank"] for row in rows}) == (1, [], {""})


def test_people_rank_instead_of_or_beside_the_judge(tmp_path, judge):
    outs = make_three(tmp_path, n=4)
    # 0: as bleu1; 1: gamma, beta, alpha; 2: a tie, invalid; 3: not ranked; 9: unknown.
    ranks = {"en-0": (1, 2, 3), "en-1": (3, 2, 1), "en-2": (1, 1, 3), "en-9": (1, 2, 3)}
    ranks = {question: dict(zip(QUALITY, own)) for question, own in ranks.items()}
    human = human_ranks(tmp_path / "human.csv", ranks)
    human.write_text(human.read_text().replace(",", ";"))  # as Excel writes it in Europe
    ranking, rows, page = result(tmp_path, *outs, "--human-ranks", human)
    assert "unknown_questions" in page
    assert {k: ranking["human"][k] for k in ("ranked", "invalid", "no_ranking")} == {
        "ranked": 2, "invalid": 1, "no_ranking": 1}  # fmt: skip
    assert ranking["human"]["unknown_questions"] == 1 and "judge" not in ranking
    assert ranking["positions"] == []
    points = pick(ranking["points"], rater="human", language="en", model="alpha")
    # 3 and 1 points: 2 -+ 12.7 * 1.414 / 1.414, within 1 to 3.
    assert (points["mean"], points["ci_low"], points["ci_high"], points["n"]) == (2, 1, 3, 2)
    assert [row["human_rank"] for row in rows[:3]] == ["1", "2", "3"]
    ranking, _, _ = result(tmp_path, *outs, "--human-ranks", human, *judge.words)
    # People's means are 2, 2, 2: no order to agree with.
    both = pick(ranking["pooled"], rater="human", metric="judge")
    assert (both["tau"], both["questions"]) == (None, 2)
    # What was written can be read as a file of rankings.
    copied = Path(shutil.copy(tmp_path / "out/ranking.csv", tmp_path / "copied.csv"))
    ranking, _, _ = result(tmp_path, *outs, "--human-ranks", copied)
    assert ranking["human"]["ranked"] == 4
    assert pick(ranking["points"], rater="human", language="en", model="alpha")["mean"] == 3.0


def test_errors_before_anything_is_asked(tmp_path, judge):
    outs, human = make_three(tmp_path), tmp_path / "human.csv"
    for row, message in (
        ("en-0,alfa,1", "'alfa' is no run. Did you mean 'alpha'"),
        ("en-0,alpha,first", "could not convert string to float: 'first'"),
        ("en-0,alpha,1\nen-0,alpha,2", "Index contains duplicate entries"),
    ):
        human.write_text(f"question_id,model,rank\n{row}\n")
        with pytest.raises(DataError, match=re.escape(message)):
            result(tmp_path, *outs, "--human-ranks", human)
    (tmp_path / "empty").mkdir()
    for words, error, message in (
        ((outs[0], *judge.words), SettingError, "at least two"),
        ((outs[0], outs[0], *judge.words), SettingError, "two runs are called 'alpha'"),
        (outs, SettingError, "set the judge"),
        ((outs[0], tmp_path / "empty", *judge.words), DataError, "--log_samples"),
    ):
        with pytest.raises(error, match=message):
            result(tmp_path, *words)
    assert judge.requests == []


def test_names_newest_file_and_metrics_made_differently(tmp_path, judge):
    outs = make_three(tmp_path, n=1)
    later = "2026-02-02T03-04-05.678901"
    newer = [sample("en", 0, "alpha, newer.", bleu1=0.2, rouge1=0.3)]
    make_run(tmp_path / "alpha", newer, stamp=later)
    for name, stamp, kind in (("alpha", later, "x"), ("beta", STAMP, "y")):
        signatures = {"bleu1": f"bleu1|tokens:{kind}", "rouge1": "rouge1|same"}
        task, count = "mmedbench_rationale_en", {"original": 1, "effective": 1}
        configs = {task: {"metadata": {"xling": {"signatures": signatures}}}}
        content = {"configs": configs, "results": {task: {}}, "n-samples": {task: count}}
        write_results(tmp_path / name / "some__model", content, stamp)
    ranking, _, page = result(tmp_path, f"one={outs[0]}", *outs[1:], *judge.words)
    assert list(ranking["models"]) == ["one", "beta", "gamma"]
    assert "alpha, newer." in judge.prompts[0]
    assert ranking["metrics_left_out"] == {"en": ["bleu1"]} and "computed them differently" in page
    assert {row["metric"] for row in ranking["pooled"]} == {"rouge1"}


def test_runs_of_the_harness_of_both_forms(tmp_path, run, judge):
    """Real logs: the text ranked is the text scored; fine-tuned models compare with others."""
    tasks = {"one": "mmedbench_rationale_demo_zh", "two": "mmedbench_rationale_ft_demo_zh"}
    outs, logged = [str(tmp_path / name) for name in tasks], {}
    for name, task in tasks.items():
        results = evaluated(run, tmp_path / name, task, metadata={"source_encoder": False})
        logged[name] = {s["doc"]["question_id"]: s for s in results["samples"][task]}
    ranking, _, _ = result(tmp_path, *outs, *judge.words)
    assert len(judge.prompts) == 10 == pick(ranking["counts"], language="zh")["ranked"]
    for name, rows in read_runs(outs).items():
        for row in rows:
            assert row["text"] == logged[name][row["question_id"]]["sacrebleu"][0]
            assert row["signatures"]["bleu1"].startswith("bleu1|")
    assert {row["metric"] for row in ranking["pooled"]} == set(METRICS) - {"bertscore_f1"}
