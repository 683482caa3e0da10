"""Every sampled answer has a seed of its own, the same in every run."""

from __future__ import annotations

import hashlib
from itertools import product

from xling_tasks.tasks import requests


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
    return [request["seed"] for request in served.requests]


def test_every_sampled_task_has_its_own_seeds(run, serve):
    tasks = [f"xlinghealth_{kind}_demo_es" for kind in ("verifiability", "correctness")]
    tasks += ["mmedbench_mcqa_demo_fr", "xling_information"]
    metadata = {"languages": ["es", "de"], "translator": None}
    seeds = asked(run, serve, tasks, gen_kwargs="temperature=1", metadata=metadata)
    assert len(set(seeds)) == len(seeds) > 2 * 4
    # Greedy requests are what they were: one seed of the harness for all.
    assert len(set(asked(run, serve, "xlinghealth_correctness_demo_es"))) == 1
