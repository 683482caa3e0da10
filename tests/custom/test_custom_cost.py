"""`xling cost` over users' own questions: exact for small files, by a sample for large ones."""

from __future__ import annotations

import pytest
from custom_tables import write_csv

from xling_tasks.commands.cost import costs, estimate_tokens, load_tasks


def test_a_sample_stands_for_all_with_exact_numbers_of_requests(tmp_path):
    rows = [
        {"id": str(n), "question_en": f"Why is {n} so?", "answer_en": "Because it is. " * (n % 7),
         "question_pt": f"Por quê {n}?" if n % 3 else "", "answer_pt": "Porque sim." * (n % 3)}
        for n in range(1, 400)
    ]  # fmt: skip
    path = write_csv(tmp_path / "clinic.csv", rows)
    settings = {"data_dir": str(path), "judge": "self"}
    names = "xling_custom_correctness,xling_custom_verifiability"
    tasks = load_tasks(names, settings)
    whole, part = (
        [entry for task in tasks for entry in costs(task, None, estimate_tokens, sample)]
        for sample in (10**6, 100)
    )
    key = ("task", "role", "language", "kind")
    assert [[getattr(c, k) for k in key] for c in part] == [
        [getattr(c, k) for k in key] for c in whole
    ]
    for sampled, exact in zip(part, whole, strict=True):
        if exact.role == "model":
            assert sampled.requests == exact.requests
            assert sampled.max_output_tokens == exact.max_output_tokens
        assert sampled.requests == pytest.approx(exact.requests, rel=0.1)
        assert sampled.prompt_tokens == pytest.approx(exact.prompt_tokens, rel=0.1)
