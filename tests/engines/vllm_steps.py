"""The steps of `python -m tests.engines.vllm`, run inside its environment."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.engines import smollm

# Without chunks: a request with a seed whose prompt is read in parts ends vLLM's CPU engine
# (0.32: 'CPU Generator does not use offset').
ENGINE = {
    "dtype": "float32",
    "max_model_len": 2048,
    "gpu_memory_utilization": 0.3,
    "enforce_eager": True,
    "enable_chunked_prefill": False,
    "max_num_batched_tokens": 2048,
}
QUICK = {"topic_seeds": 0, "encoder": False, "source_encoder": False, "languages": ["es"]}
SAMPLED = {**QUICK, "k": 4, "temperatures": [1.0]}
CONSISTENCY = "xlinghealth_consistency_demo_en"
LOG_LIKELIHOODS = ["xlinghealth_verifiability_ll_demo_en", "mmedbench_mcqa_ll_demo_fr"]
FAMILIES = [
    *(f"xlinghealth_{name}_demo_en" for name in ("correctness", "verifiability", "consistency")),
    *(f"mmedbench_{name}_demo_es" for name in ("mcqa", "rationale", "mcqa_ft", "rationale_ft")),
    "xlinghealth_information_demo",
    "xling_empathy",
]


def run(model: Any, tasks: str | list[str], metadata: dict[str, Any], **options: Any) -> Any:
    """A run through the harness, without journal; what is recorded stands with the scores."""
    import lm_eval
    from lm_eval.tasks import TaskManager

    from xling_tasks.discovery import task_folder
    from xling_tasks.logs.checked import with_bookkeeping

    metadata = {"xling_resume": False, **metadata}
    manager = TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=metadata
    )
    options = {"gen_kwargs": "max_gen_toks=16", "limit": 1, "bootstrap_iters": 0, **options}
    names = [tasks] if isinstance(tasks, str) else tasks
    found = lm_eval.simple_evaluate(
        model=model, tasks=names, task_manager=manager, apply_chat_template=True, **options
    )
    return with_bookkeeping(found or {})


def sampled(model: Any, **options: Any) -> list[list[str]]:
    """Four answers at temperature 1 to each of six questions; each is a request with its seed."""
    options = {"limit": 6, "gen_kwargs": "max_gen_toks=12", **options}
    rows = run(model, CONSISTENCY, SAMPLED, **options)["samples"][CONSISTENCY]
    return [[text for (text,) in row["resps"]] for row in rows]


def check_seeds(model: Any) -> None:
    """Check that a second run repeats the first, and that repeats of a question differ."""
    first, again = sampled(model), sampled(model)
    pairs = [(a, b) for x, y in zip(first, again, strict=True) for a, b in zip(x, y, strict=True)]
    same = sum(a == b for a, b in pairs)
    print(f"seeds: {same} of {len(pairs)} answers are the same in a second run", flush=True)
    assert same == len(pairs)
    assert all(len(set(own)) == len(own) for own in first)
    assert len({text for own in first for text in own}) > len(first)


def log_likelihoods(model: Any, **options: Any) -> list[float]:
    """Of every continuation, in the order of the documents."""
    found = run(model, LOG_LIKELIHOODS, {}, **options)["samples"]
    return [
        float(logp) for task in LOG_LIKELIHOODS for row in found[task] for ((logp, _),) in row["resps"]
    ]  # fmt: skip


def engine(folder: Path) -> None:
    """Families, seeds and log-likelihoods with one engine."""
    from lm_eval.api.registry import get_model

    args = {"pretrained": str(folder), **ENGINE}
    lm = get_model("vllm").create_from_arg_obj(args, {"batch_size": "auto"})
    check_seeds(lm)
    ours = log_likelihoods(lm)
    (folder.parent / "log_likelihoods.json").write_text(json.dumps(ours), encoding="utf-8")
    hf_args = {"pretrained": str(folder), "dtype": "float32", "device": "cpu"}
    hf = get_model("hf").create_from_arg_obj(hf_args, {"batch_size": 4})
    theirs = log_likelihoods(hf)
    apart = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    print(f"log-likelihoods: {len(ours)}, at most {apart:.5f} from those of hf", flush=True)
    assert apart < 0.01
    judge = {"model": "self", "max_gen_toks": 16}
    metadata = {**QUICK, "k": 2, "judge": judge, "translator": judge}
    check_families(run(lm, FAMILIES, metadata))


def check_families(found: Any) -> None:
    """Every family has results, and nothing failed for the engine's sake."""
    for task in FAMILIES:
        scores = found["results"][task]
        assert found["samples"][task], task
        rates = {n: v for n, v in scores.items() if "failed_rate" in n and "stderr" not in n}
        failed = {name for name, rate in rates.items() if rate}
        # A translation of a model that cannot translate fails, rightly.
        assert all("translation" in name for name in failed), (task, rates)
    print(f"families: {len(FAMILIES)} tasks ran", flush=True)


@contextlib.contextmanager
def server(folder: Path) -> Iterator[str]:
    """`vllm serve` on a free port; gives its address."""
    flags = ["--max-model-len", "2048", "--enforce-eager", "--dtype", "float32"]
    flags += ["--no-enable-chunked-prefill", "--max-num-batched-tokens", "2048"]
    flags += ["--gpu-memory-utilization", "0.3", "--served-model-name", "smollm2"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["vllm", "serve", str(folder), "--host", "127.0.0.1", "--port", str(port), *flags]
    process = subprocess.Popen(command, start_new_session=True)
    end, ready = time.monotonic() + 900, False
    try:
        while not ready:
            assert time.monotonic() < end and process.poll() is None, "vllm serve did not start"
            time.sleep(1)
            with contextlib.suppress(OSError):
                reply = urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
                ready = reply.status == 200
        yield f"http://127.0.0.1:{port}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def serve(folder: Path) -> None:
    """Check a server's seeds and log-likelihoods; then it is judge and translator of the baseline."""
    with server(folder) as address:
        url = f"{address}/v1"
        args = {"model": "smollm2", "base_url": f"{url}/chat/completions", "num_concurrent": 4}
        first, again = (sampled("local-chat-completions", model_args=args) for _ in range(2))
        texts = [
            (a, b) for x, y in zip(first, again, strict=True) for a, b in zip(x, y, strict=True)
        ]
        same = sum(a == b for a, b in texts)  # batches change with the load, and so may a rounding
        print(f"seeds by API: {same} of {len(texts)} answers are the same", flush=True)
        assert same >= 0.9 * len(texts) and all(len(set(own)) == len(own) for own in first)
        args |= {"base_url": f"{url}/completions", "tokenizer": str(folder)}
        saved = folder.parent / "log_likelihoods.json"
        ours = log_likelihoods("local-completions", model_args=args)
        if saved.is_file():
            theirs = json.loads(saved.read_text("utf-8"))
            apart = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
            print(f"log-likelihoods by API: at most {apart:.5f} from the engine's", flush=True)
            assert apart < 0.01
        check_roles(address)


def check_roles(server: str) -> None:
    """Every reply arrives, a second run asks for none, and a prompt that is too long fails alone."""
    args = {"model": "smollm2", "base_url": f"{server}/v1/chat/completions", "num_concurrent": 4}
    spec = {"model": "local-chat-completions", "model_args": args, "max_gen_toks": 16}
    correct, again = "xlinghealth_correctness_demo_es", "xlinghealth_consistency_demo_es"
    with tempfile.TemporaryDirectory() as home:
        metadata = {**QUICK, "k": 2, "judge": {**spec, "both_orders": True}, "translator": spec}
        metadata |= {"xling_cache": f"{home}/cache"}
        found, asked = [], [answered(server)]
        for _ in range(2):
            found.append(run("xling_baseline", [correct, again], metadata, limit=2)["results"])
            asked.append(answered(server))
        first, second = (b - a for a, b in itertools.pairwise(asked))
        print(f"roles: {first} replies, {second} in a second run", flush=True)
        assert first > 0 and second == 0 and found[0] == found[1]
        assert found[0][correct]["judge_failed_rate,none"] == 0
        for tau in ("0.0", "1.0"):  # so small a model may fail to translate; requests may not
            assert found[0][again][f"translation_failed_rate_t{tau},none"] is not None
        long = Path(home) / "long.jsonl"
        answers = ("Rest and drink water. " * 600, "Rest.")
        rows = [{"id": i, "question_en": "A cold?", "answer_en": a} for i, a in enumerate(answers)]
        long.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        own = {"data_dir": str(long), "judge": spec, "xling_cache": f"{home}/cache"}
        result = run("xling_baseline", "xling_custom_correctness", own, limit=2)
        task = "xling_custom_correctness_en"
        assert result["results"][task]["judge_failed_rate,none"] == 0.5
        recorded = result["configs"][task]["metadata"]["xling"]["unanswered"]
        assert recorded["judge"] == {"prompt too long for the service": 1}, recorded
    print("roles: a prompt beyond the server's length failed alone", flush=True)


def answered(server: str) -> int:
    """How many requests a server has answered."""
    with urllib.request.urlopen(f"{server}/metrics", timeout=30) as reply:
        text = reply.read().decode()
    counts = re.findall(r"^vllm:request_success_total\{.*\} (\S+)$", text, re.M)
    return int(sum(map(float, counts)))


def model(folder: Path) -> None:
    """The chat model as safetensors."""
    package = smollm.package()
    assert package is not None, smollm.MISSING
    smollm.convert(package, folder)


if __name__ == "__main__":
    steps = {"model": model, "engine": engine, "serve": serve}
    steps[sys.argv[1]](Path(sys.argv[2]))
