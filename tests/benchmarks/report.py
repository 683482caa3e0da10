"""How long the commands that read runs take over large ones, and in what memory.

    python tests/benchmarks/report.py [--samples 1000 10000 100000] [--kilobytes 2]

writes the output of a run in four languages (consistency at five temperatures, correctness, and
probabilities of Yes for five answers to each question), and the same as another model's; gives
them to the commands in processes of their own, and prints the seconds of the processor that each
took, which other work on the machine changes little, those of each further sample (equal where the
time is linear), and the peak of its memory.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from itertools import chain, product
from pathlib import Path
from statistics import fmean
from typing import Any

import common
from builders import changed, task_of, write_run
from xling_metrics.classification import probability_scores

CODE = "from xling_tasks.cli import main; raise SystemExit(main())"
TEMPERATURES = (0.0, 0.25, 0.5, 0.75, 1.0)
WORDS = ["water", "sleep", "doctor", "pain", "dose", "tablet", "heart", "blood", "sugar", "fever"]
LABELS = {"more_comprehensive": 70, "less_comprehensive": 15, "neither": 8, "contradictory": 5,
          "no_response": 2}  # fmt: skip
COMMANDS = (("report", "a"), ("compare", "ab"), ("leaderboard", "ab"), ("samples", "a"))
WORSE = {"contradictory", "no_response", "neither", "judge_failed_rate", "empty_rate"}


def large_run(folder: Path, megabytes: float, questions: int = 1000) -> int:
    """A run's files; returns the bytes of the samples."""
    draw, tasks = random.Random(0), {}
    kinds = {"consistency": _consistency, "correctness": _correctness, "verifiability_ll": _chances}
    languages = ("en", "es", "zh", "hi")
    size = int(megabytes * 1e6 / (len(languages) * len(kinds) * questions))
    for code, (kind, scores) in product(languages, kinds.items()):
        rows = [_row(i, code, scores(draw), draw, size) for i in range(questions)]
        data = {"dataset": "LiveQA", "language": code, "questions": questions, "invalid_rows": 0,
                "sha256": "0"}  # fmt: skip
        record = {"version": "0", "settings": {}, "data": data, "prompts": {},
                  "signatures": {name: name for name in rows[0]["metrics"]}}  # fmt: skip
        better = {name: name.partition("_t")[0] not in WORSE for name in rows[0]["metrics"]}
        name = f"xlinghealth_{kind}_liveqa_{code}"
        tasks[name] = task_of(_means(rows), rows, record=record, better=better, task=name)
    write_run(folder, tasks, config={"model_args": {"pretrained": "made/up"}})
    return sum(path.stat().st_size for path in folder.glob("samples_*"))


def _consistency(draw: random.Random) -> dict[str, Any]:
    names = ("sim_1gram", "sim_2gram", "sim_sent", "bertscore_f1", "sim_lda20", "length_words")
    scores: dict[str, Any] = {f"empty_rate_t{tau}": [0, 1] for tau in TEMPERATURES}
    return scores | {f"{name}_t{tau}": draw.random() for name in names for tau in TEMPERATURES}


def _correctness(draw: random.Random) -> dict[str, Any]:
    chosen = draw.choices(list(LABELS), LABELS.values())[0]
    judged = {"label": chosen, "reply": _text(draw, 60), "judge": "judge-1"}
    shares = {label: float(label == chosen) for label in LABELS}
    return {**shares, "chrf": 40 * draw.random(), "judge_failed_rate": 0.0, "n_judged": judged}


def _chances(draw: random.Random) -> dict[str, Any]:
    return {"auc": [[int(at == 0), draw.betavariate(3 if at == 0 else 2, 2)] for at in range(5)]}


def _text(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(WORDS, k=words))


def _row(index: int, code: str, scores: dict[str, Any], draw: random.Random, size: int) -> dict[str, Any]:  # fmt: skip
    """A sample as the harness logs it: answers in `resps` and again in `filtered_resps`."""
    temperatures = TEMPERATURES if "length_words_t0.0" in scores else (0.0,)
    length = max(20, size // (2 * len(temperatures)))
    answer = ((_text(draw, 200) + ". ") * (1 + length // 1000))[:length]
    arguments = {
        f"gen_args_{i}": {"arg_0": _text(draw, 40), "arg_1": {"temperature": tau}}
        for i, tau in enumerate(temperatures)
    }
    doc = {"question_id": str(index), "language": code, "question": _text(draw, 20),
           "reference": _text(draw, 100), "parallel": True,
           "answers": [{"label": int(at == 0), "text": _text(draw, 20)} for at in range(5)]}  # fmt: skip
    resps = [[answer]] * len(temperatures)
    return {"doc_id": index, "doc": doc, "target": "", "arguments": arguments, "resps": resps,
            "filtered_resps": [answer] * len(resps), "metrics": list(scores), **scores}  # fmt: skip


def _means(rows: list[dict[str, Any]]) -> dict[str, Any]:
    means: dict[str, Any] = {"invalid_rows": 0}
    for name in rows[0]["metrics"]:
        values = [row[name] for row in rows]
        if name == "auc":
            means[name] = probability_scores(*zip(*chain(*values), strict=True)).auc
        elif name != "n_judged":
            means[name] = fmean(v[0] / v[1] if isinstance(v, list) else v for v in values)
    return means


def _measure(words: list[str]) -> tuple[float, float]:
    """Return seconds of the processor that `xling` took, and GB at its peak (Linux).

    The process prints its peak: that of `wait4` begins with the memory of this process.
    """
    code = (
        f"import atexit; atexit.register(lambda: print(open('/proc/self/status').read())); {CODE}"
    )
    process = subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE)
    assert process.stdout is not None
    output = process.stdout.read().decode()
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"xling {' '.join(words)}: failed")
    return used.ru_utime + used.ru_stime, peak(output) / 1024


def peak(status: str) -> float:
    """Return the most memory that a process has had, in MB, from its status on Linux."""
    return int(status.rpartition("VmHWM:")[2].split()[0]) / 1024


def main() -> None:
    """Make, report, compare, rank, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--kilobytes", type=float, default=2, help="of a sample")
    options = parser.parse_args()
    common.show("samples of a model", "command", "s of CPU", "GB", "ms a further sample", head=True)
    before: dict[str, tuple[int, float]] = {}
    for samples in sorted(options.samples):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            large_run(folder / "a", samples * options.kilobytes / 1000, round(samples / 12))
            shutil.copytree(folder / "a", folder / "b")
            other = {"model": "hf", "model_args": {"pretrained": "made/other"}}
            changed(folder / "b", lambda content, other=other: content.update(config=other))
            for command, models in COMMANDS:
                words = [command, *(str(folder / name) for name in models)]
                seconds, peak = _measure([*words, "--to", str(folder / command)])
                n, earlier = before.get(command, (samples, seconds))
                further = f"{1000 * (seconds - earlier) / (samples - n):.2f}" if samples > n else ""
                before[command] = samples, seconds
                common.show(
                    f"{samples:,}", f"`{command}`", f"{seconds:.1f}", f"{peak:.2f}", further
                )


if __name__ == "__main__":
    main()
