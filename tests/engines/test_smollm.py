"""A real chat model through the `hf` backend: chat template, judge, tokens.

The model has 135 million parameters (`smollm`). Where it is missing these tests skip and say so;
`.ci/run` installs it.
"""

from __future__ import annotations

import pytest

from tests.engines import smollm
from xling_tasks.criteria import LABELS, NO_RESPONSE

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
