"""The harness's table has scores; what counts and describes is recorded, and read with them."""

from __future__ import annotations

import json

import builders
import pytest
from builders import results_in

from xling_tasks.criteria import CRITERIA
from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.logs.results import read_results

C = "xlinghealth_correctness_demo_en"
V = "xlinghealth_verifiability_demo_en"


def test_the_demo_fits_a_screen_or_two_and_shows_scores(tmp_path, capsys):
    builders.lm_eval(
        tmp_path, "--model", "xling_baseline", "--tasks", "xlinghealth_demo",
        "--output_path", "out", "--log_samples", "--metadata", "k=2,topic_seeds=2", table=True,
    )  # fmt: skip
    printed = capsys.readouterr().out
    n_languages = len(DATASETS["demo"].languages)
    assert 15 * n_languages < len(printed.splitlines()) <= 30 * n_languages
    shown = {line.split("|")[5].strip() for line in printed.splitlines() if line.startswith("|")}
    assert {"macro_f1_t0.0", "unparsed_rate_t0.0", "chrf", "sim_1gram_src_t1.0"} <= shown
    for name in ("invalid_rows", "n_responses", "failed_rate", "length_words", "empty_rate_t0.0"):
        assert name not in shown
    content = results_in(tmp_path / "out")
    record = content["configs"][V]["metadata"]["xling"]["bookkeeping"]
    assert record["failed_rate"] == 0.0 and record["invalid_rows"] == 0
    # 24 questions with 5 answers each, at two temperatures.
    assert record["n_responses"] == 24 * 5 * 2
    assert not record.keys() & {key.removesuffix(",none") for key in content["results"][V]}
    (samples,) = (tmp_path / "out").rglob(f"samples_{V}_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text("utf-8").splitlines()]
    assert [row["n_responses"]["asked"] for row in rows] == [10] * 24
    assert all(row["failed_rate"] == [0, 10] and "invalid_rows" in row["metrics"] for row in rows)
    (run,) = read_results(tmp_path / "out")
    assert run.content["results"][V]["n_responses,none"] == 240


def test_values_are_those_of_the_samples_and_empty_answers_are_said(run_one, serve, caplog):
    served = serve(lambda prompt: "" if len(prompt) % 3 else "Drink water.")
    _, rows, record, _ = run_one(C, **served.under_test())
    kept = record["bookkeeping"]
    assert 0 < kept["empty_rate"] < 1
    for name in ("empty_rate", "refusal_rate", "length_words"):
        assert kept[name] == pytest.approx(sum(row[name] for row in rows) / len(rows))
    assert f"{C}: all: {kept['empty_rate']:.1%} of the answers are empty" in caplog.text


def test_endpoints_and_what_is_submitted_are_scores():
    for criterion in CRITERIA.values():
        names = {name for name, each in criterion.metrics.items() if each.bookkeeping}
        assert names >= {"invalid_rows", "n_responses", "failed_rate", "content_filter_rate"}
        assert not names & {each.metric for each in criterion.endpoints}
        assert not names & set(criterion.submission.main)
