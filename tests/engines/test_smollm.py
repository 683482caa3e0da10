"""A real chat model through the `hf` backend: chat template, batches, sampling, judge, resuming.

The model has 135 million parameters (`smollm`). Where it is missing these tests skip and say so;
`.ci/run` installs it.
"""

from __future__ import annotations

import pytest
from stored import Killed, dying_after

from tests.engines import smollm
from xling_tasks.criteria import LABELS, NO_RESPONSE
from xling_tasks.lm.resumable import ResumableLM, clear_finished

pytestmark = [
    pytest.mark.realmodel,
    pytest.mark.skipif(smollm.package() is None, reason=smollm.MISSING),
]

QUICK = {"topic_seeds": 0, "encoder": False, "source_encoder": False}
SHORT = "max_gen_toks=16"


@pytest.fixture(scope="module")
def start(run, tmp_path_factory):
    """`start(tasks, ...)`: a run of the model through the harness."""
    folder = tmp_path_factory.mktemp("smollm")
    smollm.convert(smollm.package(), folder)
    args = {"pretrained": str(folder), "dtype": "float32", "device": "cpu"}

    def started(tasks, *, metadata=None, **options):
        options = {"batch_size": 8, "gen_kwargs": SHORT, "limit": 1, **options}
        metadata = {**QUICK, **(metadata or {})}
        return run(
            tasks, model="hf", model_args=args, metadata=metadata, apply_chat_template=True, **options
        )  # fmt: skip

    return started


def test_answers_in_two_languages_with_itself_as_judge(start):
    """Every answer is counted once: with a label that its judge gave in form, or as unread."""
    tasks = [f"xlinghealth_correctness_demo_{code}" for code in ("en", "hi")]
    found = start(tasks, metadata={"judge": {"model": "self", "max_gen_toks": 16}})
    for task in tasks:
        (row,), scores = found["samples"][task], found["results"][task]
        prompt, answer = row["arguments"][0][0], row["resps"][0][0]
        assert prompt.count("<|im_start|>user\n") == 1 and row["doc"]["question"] in prompt
        assert prompt.endswith("<|im_start|>assistant\n")
        assert answer.strip() and "<|im_" not in answer
        # 135M parameters do not keep to a judge's form: a label would have been made up.
        label, reply = row["n_judged"]["label"], row["n_judged"]["reply"]
        assert reply.strip() and label in (*LABELS, NO_RESPONSE)
        assert label == NO_RESPONSE or "verdict" in reply
        assert scores[f"{NO_RESPONSE},none"] == float(label == NO_RESPONSE)
        for name in LABELS:
            share = None if label == NO_RESPONSE else float(label == name)
            assert scores[f"{name},none"] == share
        assert scores["failed_rate,none"] == scores["judge_failed_rate,none"] == 0


def test_batches_change_nothing(start):
    """The same letters and log-likelihoods in padded batches and one by one."""
    tasks = ["mmedbench_mcqa_demo_fr", "mmedbench_mcqa_demo_es", "mmedbench_mcqa_ll_demo_en"]
    many, one = start(tasks), start(tasks, batch_size=1)
    for task in tasks:
        for ours, theirs in zip(many["samples"][task], one["samples"][task], strict=True):
            if "_ll_" not in task:
                assert ours["resps"] == theirs["resps"]
                continue
            pairs = list(zip(ours["resps"], theirs["resps"], strict=True))
            assert len(pairs) >= 4
            for ((a, _),), ((b, _),) in pairs:
                assert float(a) < 0 and float(a) == pytest.approx(float(b), abs=1e-3)
        assert many["results"][task] == pytest.approx(one["results"][task], nan_ok=True)


def test_a_second_start_asks_for_the_rest(start, own_cache, monkeypatch, caplog):
    """Killed after two of three answers; the second start asks for one, and all are right."""
    tasks = [f"mmedbench_mcqa_demo_{code}" for code in ("en", "ru", "zh")]
    with dying_after(2), pytest.raises(Killed):
        start(tasks, batch_size=1)
    clear_finished()
    asked, keep = [], ResumableLM._keep
    monkeypatch.setattr(
        ResumableLM, "_keep", lambda self, *given: (asked.append(given), keep(self, *given))
    )
    again = start(tasks, batch_size=1)
    assert len(asked) == 1 and "2 of 3 answers are there" in caplog.text
    whole = start(tasks, batch_size=1, metadata={"xling_resume": False})
    for task in tasks:
        assert [r["resps"] for r in again["samples"][task]] == [
            r["resps"] for r in whole["samples"][task]
        ]


def test_tokens_are_those_of_the_tokenizer(start):
    """What a language costs, recomputed from prompts and answers by the model's own tokenizer."""
    tasks = [f"xlinghealth_correctness_demo_{code}" for code in ("en", "hi")]
    found = start(tasks)
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(found["config"]["model_args"]["pretrained"])
    tokens = {}
    for task in tasks:
        (row,) = found["samples"][task]
        texts = {"prompt": row["arguments"][0][0], "completion": row["resps"][0][0]}
        counts = {name: len(tokenizer(text).input_ids) for name, text in texts.items()}
        own = row["n_responses"]["by_language"][task[-2:]]
        assert {name: own[name] for name in counts} == counts and own["answers"] == 1
        tokens[task[-2:]] = counts["prompt"]
    assert tokens["hi"] > 2 * tokens["en"]
