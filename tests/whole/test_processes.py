"""Data parallelism: each process holds a part of the documents, and only values are gathered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import scripted

pytest.importorskip("torch")

TASKS = [
    "xlinghealth_consistency_demo_es",
    "xlinghealth_verifiability_demo_es",
    "xlinghealth_information_demo",
]

# The harness's own models split the documents over GPUs only, so the baseline does it here.
SCRIPT = """
import json, os, sys
import torch, torch.distributed as dist
import lm_eval
from lm_eval.tasks import TaskManager
from xling_tasks.lm.baseline import BaselineLM
from xling_tasks.discovery import task_folder

class Parallel(BaselineLM):
    def __init__(self):
        super().__init__()
        self._rank, self._world_size = dist.get_rank(), dist.get_world_size()
        self._device = torch.device("cpu")

    def all_gather(self, tensor):
        found = [torch.zeros_like(tensor) for _ in range(self.world_size)]
        dist.all_gather(found, tensor)
        return torch.stack(found)

    def gather_object(self, obj, dst=0):
        found = [None] * self.world_size if self.rank == dst else None
        dist.gather_object(obj, found, dst)
        return found

    def barrier(self):
        dist.barrier()

out, tasks = sys.argv[1], sys.argv[2:]
model = BaselineLM()
if dist.is_torchelastic_launched():
    dist.init_process_group("gloo")
    model = Parallel()
settings = {"k": 3, "topic_seeds": 2, "encoder": False, "source_encoder": False}
settings |= json.loads(os.environ["MODELS"])
manager = TaskManager(include_path=str(task_folder()), include_defaults=False, metadata=settings)
results = lm_eval.simple_evaluate(
    model=model, tasks=tasks, task_manager=manager, limit=5, bootstrap_iters=0
)
if results is not None:
    json.dump({key: results[key] for key in ("results", "samples")}, open(out, "w"), default=str)
if dist.is_initialized():
    dist.barrier()
    dist.destroy_process_group()
"""


def evaluate(folder: Path, out: str, models: dict, *start: str) -> dict:
    script = folder / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, *start, str(script), out, *TASKS],
        cwd=folder,
        env={
            **os.environ,
            "CUDA_VISIBLE_DEVICES": "",
            "OMP_NUM_THREADS": "1",
            "MODELS": json.dumps(models),
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / out).read_text())


def test_two_processes_give_the_scores_of_one(tmp_path, own_cache, serve):
    """Topic models are fitted on the texts of both; five questions do not divide by two, so the
    harness pads the shorter rank with its last document, whose extra replies must not count.
    """
    served = serve(scripted.reply)
    models = {"judge": served.spec(), "translator": served.spec()}
    one = evaluate(tmp_path, "one.json", models)
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2")
    two = evaluate(tmp_path, "two.json", models, *launcher)
    assert len(list((own_cache / "answers").glob("*_rank1.jsonl"))) == len(TASKS)
    for task in TASKS:
        first, second = (
            sorted(run["samples"][task], key=lambda sample: sample["doc_id"]) for run in (one, two)
        )
        assert [sample["doc_id"] for sample in second] == [*range(5)]
        assert [sample["resps"] for sample in second] == [sample["resps"] for sample in first]
        for key, value in one["results"][task].items():
            if isinstance(value, float):
                assert two["results"][task][key] == pytest.approx(value, abs=1e-9), key
