"""What a language costs: its tokens by the model's own tokenizer, cut answers, cut prompts."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from builders import evaluated
from fixed import Fixed

from xling_tasks.errors import SettingError
from xling_tasks.report.costs import find_costs, make_table, parse_price, tell_costs
from xling_tasks.report.data import read_models
from xling_tasks.report.lists import make_record
from xling_tasks.report.verdicts import Options

CODES = ("en", "hi")
TASKS = [f"xlinghealth_correctness_demo_{code}" for code in CODES]
THOUGHT, ANSWER = "<think>सोच</think>", "आराम करें।"


class Bytes(Fixed):
    """A local model whose tokens are bytes, behind a first one as in Llama and Gemma."""

    max_length = 100_000

    def tok_encode(self, text, add_special_tokens=True, **_):
        return [0] * add_special_tokens + list(text.encode())


def is_hindi(prompt):
    return any("\u0900" <= letter <= "\u097f" for letter in prompt)


@pytest.fixture
def record(run, tmp_path):
    """`record(model)`: the rows of the report of a run."""

    def made(model, prices=None, tasks=TASKS, **options):
        evaluated(run, tmp_path, tasks, model=model, limit=4, **options)
        return make_record(read_models([tmp_path]), Options(), prices=prices).rows()

    return made


def rows_of(record, kind="tokens"):
    return {row["language"]: row for row in record["remarks"] if row["kind"] == kind}


def test_tokens_are_those_of_the_models_tokenizer(record):
    model = Bytes(lambda prompt, how: THOUGHT + ANSWER if is_hindi(prompt) else "Rest.")
    made = record(model, {"Bytes": (2.0, 8.0)})
    rows = rows_of(made)
    prompts = {code: [p for p, _ in model.seen if is_hindi(p) == (code == "hi")] for code in CODES}
    mean = {code: 1 + sum(len(p.encode()) for p in own) / 4 for code, own in prompts.items()}
    assert {code: row["prompt_tokens"] for code, row in rows.items()} == mean
    assert [rows[c]["n"] for c in CODES] == [rows[c]["responses"] for c in CODES] == [4, 4]
    assert (rows["en"]["answer_tokens"], rows["en"]["thinking_tokens"]) == (5, 0)
    answer = len(f" {ANSWER}".encode())  # what `strip_reasoning` leaves
    whole = len((THOUGHT + ANSWER).encode())
    assert (rows["hi"]["answer_tokens"], rows["hi"]["thinking_tokens"]) == (answer, whole - answer)
    times = (mean["hi"] + whole) / (mean["en"] + 5)
    assert rows["hi"]["times_english"] == pytest.approx(times) and rows["en"]["times_english"] == 1
    assert rows["hi"]["dollars_per_1000"] == pytest.approx((2 * mean["hi"] + 8 * whole) / 1000)
    line = f"Hindi takes {times:.1f} times the tokens of English for the same questions."
    assert tell_costs(made["remarks"]) == [line]
    (table,) = make_table(made["remarks"])
    assert [row["All, English = 1"] for row in table.rows] == [1, rows["hi"]["times_english"]]


def test_no_share_is_cut_where_only_yes_and_no_are_read(record):
    made = record(Bytes(lambda *_: "Yes."), tasks=["xlinghealth_verifiability_demo_en"])
    (table,) = make_table(made["remarks"])
    assert [row["Cut off"] for row in table.rows] == [None] and not tell_costs(made["remarks"])


def test_tokens_and_cut_answers_that_a_service_counts(serve, record):
    server = serve(lambda prompt: "Descanse" if is_hindi(prompt) else "Rest.")
    answer = server.answer

    def counted(body):
        status, headers, raw = answer(body)
        hindi = is_hindi(body["messages"][-1]["content"])
        details = {"completion_tokens_details": {"reasoning_tokens": 20}}
        usage = {"prompt_tokens": 310 if hindi else 100, "completion_tokens": 50, **details}
        data = json.loads(raw)
        data["choices"][0]["finish_reason"] = "length" if hindi else "stop"
        return status, headers, json.dumps({**data, "usage": usage}).encode()

    server.answer = counted
    rows = rows_of(record(**server.under_test()))
    kinds = ("prompt_tokens", "answer_tokens", "thinking_tokens", "cut_rate", "times_english")
    assert [rows["en"][kind] for kind in kinds] == [100, 30, 20, 0, 1]
    assert [rows["hi"][kind] for kind in kinds] == [310, 30, 20, 1, 2.4]
    assert rows["hi"]["prompt_times_english"] == 3.1


def test_a_question_that_failed_in_one_language_is_in_neither_mean():
    def used(tokens):
        return {"asked": 1, "answers": 1, "prompt": tokens, "completion": tokens}

    usage = {"en": {"a": used(10), "b": used(100)}, "hi": {"a": used(20), "b": {"asked": 1}}}
    task = SimpleNamespace(usage=usage, task_key=SimpleNamespace(parallel=True))
    _, hindi = find_costs({("correctness", "demo"): {"m": [task]}}, {})
    assert hindi.values["times_english"] == 2 and hindi.values["n"] == 1


def test_prompts_that_the_context_cuts_are_told_before_and_not_compared(record, caplog):
    model = Bytes(lambda prompt, how: "Rest.")
    model.max_length = 1000 + 400
    options = {"gen_kwargs": {"max_gen_toks": 1000}}
    made = record(model, metadata={"judge": {"model": "xling_baseline"}}, **options)
    lengths = [len(p.encode()) for p, *_ in model.seen]
    cut = sum(n > 400 for n in lengths)
    (row,) = rows_of(made, "cut_prompts").values()
    assert (row["language"], row["cut"], row["asked"]) == ("hi", cut, 4) and cut
    assert f"{cut} of 4 prompts (hi)" in caplog.text
    (task,) = {(v["verdict"], v["reason"], v["next"]) for v in made["verdicts"]}
    assert task == ("not_comparable", "cut_prompts", "context")


def test_prompts_that_are_sent_as_tokens_are_cut_and_counted(run_one, serve, tiny_hf):
    served, task = serve(str), "xlinghealth_verifiability_demo_hi"
    body = json.dumps({"choices": [{"index": 0, "text": "Yes"}]}).encode()
    served.answer = lambda sent: (200, {"Content-Type": "application/json"}, body)
    args = {"model": "m", "base_url": served.url, "tokenizer": tiny_hf, "max_length": 900,
            "tokenizer_backend": "huggingface"}  # fmt: skip
    options = {"model_args": args, "metadata": {"temperatures": [0.0]}, "limit": 2}
    found = run_one(task, model="local-completions", **options)
    lengths = [len(request["prompt"][0]) for request in served.requests]
    assert max(lengths) == 900 - 1 - 64  # the harness's one, and the room for an answer
    assert found.record["cut_prompts"] == {"hi": [lengths.count(max(lengths)), 10]}


@pytest.mark.parametrize("given", ["m=1", "=1/2", "m=1/x", "m=-1/2"])
def test_prices(given):
    assert parse_price("a=b=2.5/10") == ("a=b", (2.5, 10.0))
    with pytest.raises(SettingError, match="write NAME=IN/OUT"):
        parse_price(given)


def line_of(times, cut=0.0):
    row = {
        "kind": "tokens", "model": "m", "responses": 4, "prompt_tokens": 80.0, "answer_tokens": 20.0,
        "thinking_tokens": 0.0, "cut_rate": cut, "thinking_only_rate": 0.0,
    }  # fmt: skip
    rows = [
        {**row, "language": code, "times_english": value, "prompt_times_english": 2 * value}
        for code, value in times.items()
    ]
    return tell_costs(rows)


def test_the_line_names_the_dearest_languages():
    several = {"en": 1.0, "hi": 3.14, "zh": 1.25, "es": 1.1}
    assert line_of(several) == [
        "Hindi takes 3.1 times the tokens of English for the same questions; "
        "Chinese 1.2, Spanish 1.1 times."
    ]
    many = several | dict.fromkeys(("fr", "de", "it", "pt"), 1.5)
    assert line_of(many)[0].endswith("Chinese 1.2 times, 1 more from 1.1 times on.")
    assert line_of({"en": 1.0}) == []
    assert line_of({"en": 0.5, "hi": 1.5}, cut=0.1) == [
        "Hindi takes 3.0 times the tokens of English for the same prompts (answers were cut off)."
    ]
