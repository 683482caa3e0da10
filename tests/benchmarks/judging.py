"""How much of a judge's prompts is shared, and what an engine with prefix caching makes of it.

    python tests/benchmarks/judging.py [--before REVISION] [--vllm FOLDER]

Runs the bundled samples through the harness with a judge that notes its prompts. Of each role's it
prints the characters, and the share that begin as another prompt did: what a service bills as cached
input, and an engine with prefix caching computes once. `--before` also does so with another
revision's product. `--vllm` takes a folder of `python -m tests.engines.vllm --env FOLDER`, and
prints the seconds of a part of the rubric's prompts with prefix caching off and on (CPU, a model of
135 million parameters, four tokens a reply; each setting in a process of its own).
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
PACKAGES = {
    "xling_tasks": "xling_tasks",
    "metrics": "xling_metrics",
    "task_yaml": "xling_task_yaml",
}
TASKS = {
    "xling_own_rubric": {"data_dir": str(ROOT / "xling_tasks/data/sample/rubric_demo.jsonl")},
    "xlinghealth_correctness_demo": {},
    "xlinghealth_information_demo": {"translator": {"model": "notes"}},
}
_MARKS = {"CRITERION": "rubric", "CLAIMS": "support", "TEXT": "claims", "ANSWER 2": "judge"}
_ENGINE = """
import json, sys, time
from vllm import LLM, SamplingParams
prompts, model, caching = json.load(open(sys.argv[1])), sys.argv[2], sys.argv[3] == "on"
llm = LLM(model, enable_prefix_caching=caching, dtype="bfloat16", max_model_len=2048,
          enforce_eager=True, gpu_memory_utilization=0.3, max_num_seqs=8)
llm.generate(["ready"], SamplingParams(max_tokens=1))
began = time.monotonic()
llm.generate(prompts, SamplingParams(max_tokens=4, temperature=0))
print("seconds", time.monotonic() - began)
"""


def shared(prompts: list[str]) -> tuple[int, int]:
    """All characters of some prompts, and those of them that begin as another prompt did."""
    order = sorted(set(prompts))
    common = sum(len(os.path.commonprefix(pair)) for pair in pairwise(order))  # noqa: RUF071
    return sum(map(len, order)), common


def noted() -> dict[str, list[str]]:
    """The prompts of each role, from runs on the bundled samples."""
    sys.path.insert(0, str(ROOT / "tests"))
    import scripted
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.api.registry import register_model
    from lm_eval.tasks import TaskManager

    from xling_tasks.discovery import register_models, task_folder

    prompts: dict[str, list[str]] = defaultdict(list)

    @register_model("notes")
    class Notes(LM):
        def generate_until(self, requests, disable_tqdm=False):
            return [self.reply(request.args[0]) for request in requests]

        def reply(self, prompt):
            for mark, role in _MARKS.items():
                if f"[BEGIN {mark} " in prompt and type(prompt) is str:  # not asked again
                    prompts[role].append(prompt)
                    break
            return scripted.reply(prompt)

        loglikelihood = loglikelihood_rolling = None

    register_models()
    for task, own in TASKS.items():
        metadata = {**own, "xling_cache": False, "xling_resume": False}
        metadata["judge"] = {"model": "notes", "detect_errors": False}
        manager = TaskManager(
            include_path=str(task_folder()), include_defaults=False, metadata=metadata
        )
        simple_evaluate(
            model="xling_baseline", tasks=[task], task_manager=manager, bootstrap_iters=0
        )
    return dict(prompts)


def of_revision(revision: str) -> dict[str, list[str]]:
    """The prompts that another revision's product makes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = ["git", "archive", revision, *PACKAGES]
        archive = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        for own, package in PACKAGES.items():
            (folder / own).rename(folder / package)
        made = folder / "made"
        subprocess.run(
            [sys.executable, HERE, "--dump", made], check=True, cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder)},
        )  # fmt: skip
        return json.loads(made.read_text(encoding="utf-8"))


def seconds(environment: Path, prompts: list[str], caching: str) -> float:
    """What the prompts take on vLLM on the CPU."""
    with tempfile.TemporaryDirectory() as name:
        asked, script = Path(name) / "prompts.json", Path(name) / "engine.py"
        asked.write_text(json.dumps(prompts), encoding="utf-8")
        script.write_text(f"if __name__ == '__main__':\n    exec({_ENGINE!r})\n", encoding="utf-8")
        python = environment / "vllm" / "bin" / "python"
        said = subprocess.run(
            [python, script, asked, environment / "smollm2", caching], check=True,
            stdout=subprocess.PIPE, text=True, env={**os.environ, "VLLM_CPU_KVCACHE_SPACE": "2"},
        ).stdout  # fmt: skip
    return float(said.rsplit("seconds ", 1)[1].split()[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--before", metavar="REVISION")
    parser.add_argument("--vllm", type=Path, metavar="FOLDER")
    parser.add_argument("--prompts", type=int, default=40, help="for vLLM; the first N")
    parser.add_argument("--dump", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    now = noted()
    if options.dump:
        options.dump.write_text(json.dumps(now), encoding="utf-8")
        return
    sides = {"now": now}
    if options.before:
        sides = {options.before: of_revision(options.before), **sides}
    for side, roles in sides.items():
        for role, prompts in roles.items():
            total, common = shared(prompts)
            print(
                f"{side}, {role}: {len(set(prompts))} prompts, {total:,} characters, "
                f"{common / total:.0%} shared"
            )
    if options.vllm:
        for side, roles in sides.items():
            for caching in ("off", "on"):
                spent = seconds(options.vllm, roles["rubric"][: options.prompts], caching)
                print(
                    f"{side}, vLLM on the CPU, prefix caching {caching}: {spent:.1f} s", flush=True
                )


if __name__ == "__main__":
    main()
