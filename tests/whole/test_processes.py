"""Data parallelism: each process holds a part of the documents, and only values are gathered."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import builders
import pytest
import scripted
from builders import UNASKED
from stored import kept_in

from xling_tasks.cache import ResponseCache

pytest.importorskip("torch")

TASKS = ["xlinghealth_consistency_demo_es", "xlinghealth_verifiability_demo_es",
         "xlinghealth_information_demo"]  # fmt: skip
MORE = ["xlinghealth_consistency_demo_en", "xlinghealth_verifiability_ll_demo_zh",
        "mmedbench_rationale_demo_en", "xling_empathy"]  # fmt: skip

# The harness's own models split the documents over GPUs only, so the baseline does it here.
SCRIPT = """
import json, os, sys
import torch, torch.distributed as dist
import lm_eval
from builders import our_tasks
from xling_tasks.lm.baseline import BaselineLM
from xling_tasks.logs.checked import with_bookkeeping

class Parallel(BaselineLM):
    left = 10**9

    def _reply(self, *given):
        self.left -= 1
        if self.left < 0 and self.rank == 1:
            os.kill(os.getpid(), 9)
        return super()._reply(*given)

    def __init__(self, **others):
        super().__init__()
        self._rank, self._world_size = dist.get_rank(), dist.get_world_size()
        self._device = torch.device("cpu")

    def all_gather(self, tensor):
        parts = [torch.zeros_like(tensor) for _ in range(self.world_size)]
        dist.all_gather(parts, tensor)
        return torch.stack(parts)

    def gather_object(self, obj, dst=0):
        parts = [None] * self.world_size if self.rank == dst else None
        dist.gather_object(obj, parts, dst)
        return parts

    def barrier(self):
        dist.barrier()

import lm_eval.models
from lm_eval.api import registry

registry.model_registry.register("parallel", target=Parallel)

def evaluate(out, plan, **where):
    dist.init_process_group("gloo", **where)
    results = lm_eval.simple_evaluate(
        model="parallel", model_args={"pretrained": "p"}, tasks=plan["tasks"],
        task_manager=our_tasks({"pretrained": "p"} | plan["settings"]),
        limit=plan["limit"], bootstrap_iters=0,
    )
    if results is not None:
        results = with_bookkeeping(results)
        json.dump({key: results[key] for key in ("results", "samples")}, open(out, "w"), default=str)
    dist.barrier()
    dist.destroy_process_group()
"""

# As torch's launcher, which ends all processes when one dies; but all are forks of one process that
# has imported and loaded everything.
FORKED = f"""{UNASKED}{SCRIPT}
import atexit, shutil, signal
from xling_tasks.lm.resumable import clear_finished

def process(out, plan, rank):
    pid = os.fork()
    if pid:
        return pid
    code, size = 1, plan["processes"]
    try:
        Parallel.left = plan["left"]
        os.environ |= {{"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size)}}
        store = f"file://{{os.path.abspath(out)}}.store"
        evaluate(f"{{out}}.json", plan, init_method=store, rank=rank, world_size=size)
        atexit._run_exitfuncs()
        code = 0
    finally:
        sys.excepthook(*sys.exc_info()) if code else None
        os._exit(code)

def status_of(out, plan):
    os.environ["XLING_CACHE"] = plan["cache"]
    left = {{process(out, plan, rank) for rank in range(plan["processes"])}}
    status = 0
    while left:
        pid, code = os.wait()
        left.remove(pid)
        if code and not status:
            status = code
            for other in left:
                os.kill(other, signal.SIGTERM)
    shutil.copytree(plan["cache"], f"{{out}}.kept")
    return status

plans = json.loads(sys.argv[1])
for plan in (plans["pair"], plans["whole"]):  # the third one does what the second one does
    lm_eval.simple_evaluate(
        "xling_baseline", tasks=plan["tasks"], limit=1, bootstrap_iters=0,
        task_manager=our_tasks(plan["settings"] | {{"xling_cache": "warm"}}),
    )
clear_finished()
print(json.dumps([status_of(*named) for named in plans.items()]))
"""


SETTINGS = {"k": 3, "topic_seeds": 2, "encoder": False, "source_encoder": False}


def alone(run, settings: dict, tasks, limit: int) -> dict:
    """The same in this one process, as it is logged."""
    results = run(tasks, metadata=settings, limit=limit)
    whole = {key: results[key] for key in ("results", "samples")}
    return json.loads(json.dumps(whole, default=str))


@pytest.mark.slow
def test_processes_give_the_scores_of_one(tmp_path, run, serve):
    """Topic models are fitted on the texts of all.

    Five questions do not divide by two, nor seven by three, so the harness pads the shorter ranks
    with their last document, whose extra replies must not count. One of three is killed, and the
    next start finds different amounts in their journals.
    """
    served = serve(scripted.reply)
    pair = {**SETTINGS, "judge": served.spec(), "translator": served.spec()}
    three = {"processes": 3, "tasks": MORE, "settings": SETTINGS, "limit": 7, "cache": "three"}
    plans = {
        "pair": {"processes": 2, "tasks": TASKS, "settings": pair, "limit": 5, "cache": "pair",
                 "left": 10**9},
        "died": {**three, "left": 20},
        "whole": {**three, "left": 10**9},
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", FORKED, json.dumps(plans)], cwd=tmp_path, capture_output=True,
        text=True, timeout=300,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1",
             "PYTHONPATH": builders.__file__.removesuffix("builders.py")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    two, died, whole = json.loads(done.stdout.splitlines()[-1])
    assert died != 0 and whole == two == 0, done.stderr[-3000:]
    there = [folder for folder in kept_in(tmp_path / "died.kept") if folder.name.endswith("of3")]
    assert sum(len(ResponseCache(folder)) for folder in there) >= 20
    assert not [folder for folder in kept_in(tmp_path / "three") if folder.name.endswith("of3")]
    for name in ("pair", "whole"):
        plan = plans[name]
        one = alone(run, plan["settings"], plan["tasks"], plan["limit"])
        both = json.loads((tmp_path / f"{name}.json").read_text())
        same(one, both, plan["tasks"], plan["limit"])


def same(one: dict, two: dict, tasks: list[str], questions: int) -> None:
    for task in tasks:
        first, second = (
            sorted(run["samples"][task], key=lambda sample: sample["doc_id"]) for run in (one, two)
        )
        assert [sample["doc_id"] for sample in second] == [*range(questions)]
        assert [sample["resps"] for sample in second] == [sample["resps"] for sample in first]
        for key, value in one["results"][task].items():
            if isinstance(value, (int, float)):
                assert two["results"][task][key] == pytest.approx(value, abs=1e-9), key
