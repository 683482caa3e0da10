"""Real data, a real transformers model, and judges over HTTP and in the harness."""

from __future__ import annotations

import json
from itertools import chain

import pytest
from scripted import judged
from sklearn import metrics as sk

from xling_tasks.criteria import LABELS

LANGUAGES = ("en", "es", "zh", "hi")
TASKS = [
    f"xlinghealth_{criterion}_liveqa_{language}"
    for criterion in ("verifiability", "verifiability_ll", "correctness")
    for language in LANGUAGES
]


def check(results, limit):
    for task in TASKS:
        scores, samples = results["results"][task], results["samples"][task]
        assert len(samples) == limit
        assert scores["invalid_rows,none"] == (10 if task.endswith("_en") else 0)
        if "_ll_" in task:
            gold, chance = zip(*chain.from_iterable(s["auc"] for s in samples))
            assert scores["auc,none"] == pytest.approx(sk.roc_auc_score(gold, chance))
        elif "verifiability" in task:
            for tau in ("0.0", "1.0"):
                rows = [r for s in samples for r in s[f"macro_f1_t{tau}"]]
                read = [row for row in rows if row[1] is not None]
                options = {"average": "macro", "labels": [0, 1], "zero_division": 0}
                expected = pytest.approx(sk.f1_score(*zip(*read), **options)) if read else None
                assert scores[f"macro_f1_t{tau},none"] == expected
                unknown = scores[f"unparsed_rate_t{tau},none"]
                assert unknown == pytest.approx(1 - len(read) / len(rows))
        else:
            shares = [scores[f"{label},none"] for label in LABELS]
            if scores["n_judged,none"]:
                assert sum(shares) + scores["no_response,none"] == pytest.approx(1)
            else:
                assert shares == [None] * 4  # nothing was judged: no label has a share
                assert scores["no_response,none"] in (None, pytest.approx(1))
    json.dumps(results["results"], allow_nan=False)


@pytest.mark.realdata
def test_liveqa_with_the_baseline_and_a_judge_over_http(run, serve, realdata):
    served = serve(judged)
    metadata = {"data_dir": str(realdata / "xlinghealth"), "judge": served.spec()}
    # All questions: test_report.py::test_liveqa_in_four_languages.
    results = run(TASKS, metadata=metadata, limit=20)
    check(results, limit=20)
    # Equal answers to one question aside, every answer was judged once.
    assert len(served.prompts) == len(set(served.prompts)) == 4 * 20
    again = run(TASKS, metadata=metadata, limit=20)
    assert again["results"] == results["results"]


@pytest.mark.realdata
def test_liveqa_with_a_tiny_hf_model_and_a_second_model_as_judge(run, tiny_hf, realdata):
    args = {"pretrained": tiny_hf, "dtype": "float32", "max_length": 2048}
    judge_args = {**args, "device": "cpu"}
    judge = {"model": "hf", "model_args": judge_args, "batch_size": 8, "max_gen_toks": 8}
    metadata = {"data_dir": str(realdata / "xlinghealth"), "judge": judge}
    results = run(
        TASKS, model="hf", model_args=args, device="cpu", batch_size=8, limit=2,
        gen_kwargs="max_gen_toks=8", metadata=metadata,
    )  # fmt: skip
    check(results, limit=2)
    signature = results["samples"][TASKS[-1]][0]["n_judged"]["judge"]
    assert signature.startswith("hf(") and "chat_template:yes" in signature
