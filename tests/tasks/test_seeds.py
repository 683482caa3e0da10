"""Every sampled answer has a seed of its own, the same in every run."""

from __future__ import annotations

import hashlib
from itertools import combinations, product
from statistics import fmean

import pytest

from xling_tasks.tasks import requests

QUICK = {"k": 3, "topic_seeds": 0, "encoder": False, "source_encoder": False}


def test_a_seed_is_fixed_for_all_time():
    # sha256("1234\0liveqa\0en\0q1\01.0\00") begins with four bytes, of which the first bit goes.
    digest = hashlib.sha256(b"1234\0liveqa\0en\0q1\x001.0\x000").digest()
    seed = requests.request_seed(1234, "liveqa", "en", "q1", 1, 0)
    assert seed == int.from_bytes(digest[:4], "big") // 2 == 1769952874


def test_every_part_changes_the_seed():
    parts = [(1234, 7), ("liveqa", "healthqa"), ("en", "hi"), ("1", "2"), (0.5, 1.0), (0, 1)]
    seeds = [requests.request_seed(*choice) for choice in product(*parts)]
    assert len(set(seeds)) == len(seeds) == 64
    assert all(0 <= seed < 2**31 for seed in seeds)
    every = product(map(str, range(1000)), range(10))
    many = {requests.request_seed(1, "d", "en", question, 1.0, n) for question, n in every}
    assert len(many) > 9_990  # 10,000 draws of 31 bits collide 0.02 times on average


def asked(run, serve, tasks, **options):
    served = serve(lambda prompt: f"Yes.\n\n{prompt[::-1]}")  # read, or unlike every other
    run(tasks, limit=2, **served.under_test(), **options)
    return [
        (request["messages"][-1]["content"], request["temperature"], request["seed"])
        for request in served.requests
    ]


def test_questions_languages_temperatures_and_repeats_differ_and_runs_agree(run, serve):
    tasks = [f"xlinghealth_consistency_demo_{code}" for code in ("en", "hi")]
    metadata = {**QUICK, "temperatures": [0.5, 1.0]}
    first = asked(run, serve, tasks, metadata=metadata)
    assert len(first) == len({seed for *_, seed in first}) == 2 * 2 * 2 * 3
    assert sorted(first) == sorted(asked(run, serve, tasks, metadata=metadata))


def test_every_sampled_task_has_its_own_seeds(run, serve):
    tasks = [f"xlinghealth_{kind}_demo_es" for kind in ("verifiability", "correctness")]
    tasks += ["mmedbench_mcqa_demo_fr", "xling_information"]
    metadata = {"languages": ["es", "de"], "translator": None}
    seeds = asked(run, serve, tasks, gen_kwargs="temperature=1", metadata=metadata)
    assert len({seed for *_, seed in seeds}) == len(seeds) > 2 * 4
    # Greedy requests are what they were: one seed of the harness for all.
    cold = asked(run, serve, "xlinghealth_correctness_demo_es")
    assert len({seed for *_, seed in cold}) == 1


@pytest.mark.parametrize("shared", [False, True])
def test_a_real_engine_that_honours_seeds(run, serve, tiny_hf, monkeypatch, shared):
    """Answers with equal repeat number to different questions are no more alike than others.

    With shared seeds, as a check that this test would see it, they are.
    """
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_hf)
    model = transformers.AutoModelForCausalLM.from_pretrained(tiny_hf)
    spoken: dict[tuple[str, int], list[int]] = {}

    def answer(prompt: str) -> str:
        seed = served.requests[-1]["seed"]
        torch.manual_seed(seed)
        ids = tokenizer(prompt[:400], return_tensors="pt").input_ids
        out = model.generate(ids, do_sample=True, max_new_tokens=16, min_new_tokens=16)
        spoken[prompt, seed] = out[0, ids.shape[1] :].tolist()
        return "An answer."

    if shared:
        monkeypatch.setattr(requests, "request_seed", lambda *parts: 1234 + parts[-1])
    served = serve(answer)
    options = served.under_test(limit=4, metadata={**QUICK, "temperatures": [1.0]})
    options["model_args"]["num_concurrent"] = 1
    run("xlinghealth_consistency_demo_en", **options)
    by_prompt: dict[str, list[list[int]]] = {}
    for (prompt, _), tokens in spoken.items():
        by_prompt.setdefault(prompt, []).append(tokens)
    assert [len(own) for own in by_prompt.values()] == [3] * 4
    alike = fmean(
        fmean(x == y for x, y in zip(a, b))
        for one, other in combinations(by_prompt.values(), 2)
        for a, b in zip(one, other)
    )
    # 400 tokens, nearly uniform: 1 in 400 agree by chance.
    assert alike > 0.3 if shared else alike < 0.05
