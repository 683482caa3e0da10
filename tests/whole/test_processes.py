"""Data parallelism: each process holds a part of the documents, and only values are gathered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import scripted
from stored import names_in

from xling_tasks.replies.journal import read_journal
from xling_tasks.replies.saved import saved_places

pytest.importorskip("torch")

TASKS = [
    "xlinghealth_consistency_demo_es",
    "xlinghealth_verifiability_demo_es",
    "xlinghealth_information_demo",
]

MORE = [
    "xlinghealth_consistency_demo_en",
    "xlinghealth_verifiability_ll_demo_zh",
    "mmedbench_rationale_demo_en",
    "xling_empathy",
]

# The harness's own models split the documents over GPUs only, so the baseline does it here.
SCRIPT = """
import json, os, sys
import torch, torch.distributed as dist
import lm_eval
from lm_eval.tasks import TaskManager
from xling_tasks.lm.baseline import BaselineLM
from xling_tasks.discovery import task_folder
from xling_tasks.logs.results import with_bookkeeping

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

def evaluate(out, tasks, **where):
    dist.init_process_group("gloo", **where)
    settings = json.loads(os.environ["SETTINGS"])
    manager = TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=settings
    )
    results = lm_eval.simple_evaluate(
        model="parallel", tasks=tasks, task_manager=manager, limit=int(os.environ["LIMIT"]),
        bootstrap_iters=0,
    )
    if results is not None:
        results = with_bookkeeping(results)
        json.dump({key: results[key] for key in ("results", "samples")}, open(out, "w"), default=str)
    dist.barrier()
    dist.destroy_process_group()
"""

LAUNCHED = f"{SCRIPT}\nevaluate(sys.argv[1], sys.argv[2:])\n"

# As torch's launcher, which ends all processes when one dies; but all are forks of one process that
# has imported and loaded everything. Of the first start one is killed.
FORKED = f"""{SCRIPT}
import atexit, shutil, signal, threading
from tqdm import tqdm
from xling_tasks.lm import journaled

size, tasks = int(sys.argv[1]), sys.argv[2:]

def process(out, rank):
    pid = os.fork()
    if pid:
        return pid
    # The lock of its bars is shared by forks: one that is killed with it would stop all others.
    tqdm.set_lock(threading.RLock())
    code = 1
    try:
        Parallel.left = 20 if out == "died" else 10**9
        os.environ |= {{"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size)}}
        store = f"file://{{os.path.abspath(out)}}.store"
        evaluate(f"{{out}}.json", tasks, init_method=store, rank=rank, world_size=size)
        atexit._run_exitfuncs()
        code = 0
    finally:
        sys.excepthook(*sys.exc_info()) if code else None
        os._exit(code)

def status_of(out):
    left = {{process(out, rank) for rank in range(size)}}
    status = 0
    while left:
        pid, code = os.wait()
        left.remove(pid)
        if code and not status:
            status = code
            for other in left:
                os.kill(other, signal.SIGTERM)
    shutil.copytree(os.environ["XLING_CACHE"], f"{{out}}.kept")
    return status

warm = TaskManager(
    include_path=str(task_folder()), include_defaults=False,
    metadata=json.loads(os.environ["SETTINGS"]) | {{"xling_cache": "warm"}},
)
lm_eval.simple_evaluate("xling_baseline", tasks=tasks, task_manager=warm, limit=1, bootstrap_iters=0)
journaled.end()
print(json.dumps([status_of("died"), status_of("whole")]))
"""


SETTINGS = {"k": 3, "topic_seeds": 2, "encoder": False, "source_encoder": False}


def launched(folder: Path, processes: int, settings: dict, tasks, limit: int) -> dict:
    """The results of a run of several processes, as people start one."""
    script = folder / "script.py"
    script.write_text(LAUNCHED)
    launcher = ("-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={processes}")
    started(folder, [*launcher, str(script), "out.json", *tasks], settings, limit)
    return json.loads((folder / "out.json").read_text())


def started(folder: Path, words, settings: dict, limit: int) -> str:
    """What Python said that was started with these words and ended well."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={
            **os.environ,
            "CUDA_VISIBLE_DEVICES": "",
            "OMP_NUM_THREADS": "1",
            "SETTINGS": json.dumps(settings),
            "LIMIT": str(limit),
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def alone(run, settings: dict, tasks, limit: int) -> dict:
    """The same in this one process, as it is logged."""
    results = run(tasks, metadata=settings, limit=limit)
    whole = {key: results[key] for key in ("results", "samples")}
    return json.loads(json.dumps(whole, default=str))


def test_two_processes_give_the_scores_of_one(tmp_path, own_cache, run, serve):
    """Topic models are fitted on the texts of both; five questions do not divide by two, so the
    harness pads the shorter rank with its last document, whose extra replies must not count.
    """
    served = serve(scripted.reply)
    settings = {**SETTINGS, "judge": served.spec(), "translator": served.spec()}
    one = alone(run, settings, TASKS, 5)
    two = launched(tmp_path, 2, settings, TASKS, 5)
    headers = saved_places(own_cache / "replies.sqlite").values()
    assert sum(header["rank"] == 1 for header in headers) == len(TASKS)
    same(one, two, TASKS, 5)


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


def test_uneven_shares_and_a_process_that_is_killed(tmp_path, own_cache, run):
    """Seven questions on three processes, which find different amounts in their journals."""
    one = alone(run, SETTINGS, MORE, 7)
    said = started(tmp_path, ["-c", FORKED, "3", *MORE], SETTINGS, 7)
    died, whole = json.loads(said.splitlines()[-1])
    assert died != 0 and whole == 0
    there = [each for each in names_in(tmp_path / "died.kept") if each[1].endswith("of3")]
    kept = [read_journal(*each) for each in there]
    assert sum(len(content.answers) for content in kept) >= 20
    same(one, json.loads((tmp_path / "whole.json").read_text()), MORE, 7)
    assert not [name for _, name in names_in(own_cache) if name.endswith("of3")]
