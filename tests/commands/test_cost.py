"""`xling cost`: counted requests and tokens against what runs send."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import scripted

from xling_tasks.cli import main
from xling_tasks.data.dataset_info import DATASETS


def xling(capsys, *words: str) -> str:
    assert main(words) == 0
    return capsys.readouterr().out


def costs(capsys, tasks, *words, **settings):
    """The first row of `xling cost` for a task and a role."""
    words = ("cost", "--tasks", tasks, "--json", *words, "--metadata", json.dumps(settings))
    return {(row["task"], row["role"]): row for row in json.loads(xling(capsys, *words))[::-1]}


def test_cost_counts_what_a_run_asks_for(capsys, run, serve):
    served = serve(scripted.judged)
    settings = {"judge": served.spec(), "greedy_repeats": "once"}
    rows = costs(capsys, "xlinghealth_demo", **settings)
    assert served.requests == []
    results = run("xlinghealth_demo", metadata={**settings, "topic_seeds": 0})
    for task, samples in results["samples"].items():
        asked = sum(len(group) for sample in samples for group in sample["resps"])
        assert rows[task, "model"]["requests"] == asked
    assert rows["total", "judge"]["requests"] == len(served.prompts)
    total = rows["total", "model"]
    # Per language 24 answers, 24 x 11 answers of consistency, and 120 rows x 2 temperatures.
    assert total["kind"] == "generate_until"
    assert total["requests"] == len(DATASETS["demo"].languages) * (24 + 24 * 11 + 240)


def test_cost_follows_limit_temperatures_and_translation_by_a_model(capsys):
    task = "xlinghealth_verifiability_demo_en"
    rows = costs(capsys, task, "--limit", "2", temperatures=[0.0, 0.5, 1.0])
    one = rows[task, "model"]
    assert one["requests"] == rows["total", "model"]["requests"] == 2 * 5 * 3
    assert one["max_output_tokens"] == 30 * 64 and one["prompt_tokens"] > 30 * 100
    settings = {"translator": {"model": "xling_baseline"}, "k": 3, "greedy_repeats": "once"}
    rows = costs(capsys, "xlinghealth_consistency_demo_*", **settings)
    # A request per answer, for which the reference stands in: 24, four times each.
    assert rows["xlinghealth_consistency_demo_hi", "translator"]["requests"] == 24 * 4
    assert ("xlinghealth_consistency_demo_en", "translator") not in rows


def test_what_only_the_answers_decide_and_models_that_no_run_could_ask(capsys, serve):
    spec = serve(lambda prompt: "ready").spec()
    settings = json.dumps({"judge": spec, "translator": spec})
    out = xling(capsys, "cost", "--tasks", "xlinghealth_information_demo", "--metadata", settings)
    assert "judge, translator: the responses that they will read do not exist yet" in out
    assert "| total " in out and "estimated from characters" in out
    for role in ("judge", "answer_extractor", "translator"):
        settings = json.dumps({role: {"model": "gpt9"}})
        words = ("cost", "--tasks", "xlinghealth_correctness_demo_en", "--metadata", settings)
        assert main(words) == 2
        error = capsys.readouterr().err
        assert f"{role}.model: " in error and "gpt9" in error


def test_cost_in_dollars_by_calls_and_by_batches(capsys):
    sample = Path(__file__).parents[2] / "xling_tasks/data/sample/rubric_demo.jsonl"
    settings = {"data_dir": str(sample), "judge": {"model": "xling_baseline"}}
    task, price = "xling_custom_rubric", ("--price", "judge=2.5/10", "model=1/2")
    rows = costs(capsys, task, *price, **settings)
    judge, model = rows["total", "judge"], rows["total", "model"]
    sent, back = (judge[f"{k}_tokens"] for k in ("prompt", "max_output"))
    assert judge["dollars"] == pytest.approx((2.5 * sent + 10 * back) / 1e6)
    assert judge["dollars_batch"] == pytest.approx(judge["dollars"] / 2)
    dollars = (model["prompt_tokens"] + 2 * model["max_output_tokens"]) / 1e6
    assert model["dollars"] == pytest.approx(dollars)
    assert costs(capsys, task, *price[:2], **settings)["total", "model"]["dollars"] is None
    words = ["cost", "--tasks", task, "--metadata", json.dumps(settings), "--price"]
    for wrong, said in (("judge=2.5", "write NAME=IN/OUT"), ("reader=1/2", "no such role here")):
        assert main([*words, wrong]) == 2
        assert said in capsys.readouterr().err


def test_cost_with_a_real_tokenizer(capsys, tiny_hf):
    from transformers import AutoTokenizer

    from xling_tasks.commands.cost import load_tasks

    name = "xlinghealth_verifiability_ll_demo_hi"
    estimated, exact = (
        costs(capsys, name, "--limit", "1", *more)[name, "model"]["prompt_tokens"]
        for more in ((), ("--tokenizer", tiny_hf))
    )
    tokenizer = AutoTokenizer.from_pretrained(tiny_hf)
    (task,) = load_tasks(name, {})
    asked = task.fewshot_context(task.eval_docs[0], num_fewshot=0)
    assert exact == sum(len(tokenizer.tokenize(c + w)) for c in asked for w in (" Yes", " No"))
    assert estimated != exact
