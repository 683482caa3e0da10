"""How long `xling report`, `xling compare` and `xling board` take over large runs, and in what memory.

python -m tests.benchmarks.report [--samples 1000 10000 100000] [--kilobytes 2]

writes the output of a run in four languages (consistency at five temperatures, correctness, and
probabilities of Yes for five answers to each question), and the same as another model's; gives
them to the commands in processes of their own, and prints the seconds of the processor that each
took, which other work on the machine changes little, and the peak of its memory.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from xling_metrics.classification import probability_scores

LANGUAGES = ("en", "es", "zh", "hi")
TEMPERATURES = (0.0, 0.25, 0.5, 0.75, 1.0)
STAMP = "2026-01-01T00-00-00.000000"
_WORDS = [
    "water",
    "sleep",
    "doctor",
    "pain",
    "dose",
    "tablet",
    "heart",
    "blood",
    "sugar",
    "fever",
    "child",
    "cough",
    "rest",
]


def write_run(folder: Path, megabytes: float, questions: int = 1000) -> int:
    """A run's files; returns the bytes of the samples."""
    folder.mkdir(parents=True)
    rng = random.Random(0)
    kinds = {
        "consistency": _consistency, "correctness": _correctness, "verifiability_ll": _likelihoods,
    }  # fmt: skip
    per_line = int(megabytes * 1e6 / (len(LANGUAGES) * len(kinds) * questions))
    results: dict[str, dict] = {
        "results": {},
        "configs": {},
        "n-samples": {},
        "higher_is_better": {},
    }
    total = 0
    for language in LANGUAGES:
        for kind, make in kinds.items():
            task = f"xlinghealth_{kind}_liveqa_{language}"
            path = folder / f"samples_{task}_{STAMP}.jsonl"
            values: dict[str, list[Any]] = {}
            with path.open("w", encoding="utf-8") as handle:
                for index in range(questions):
                    metrics = make(rng)
                    for name, value in metrics.items():
                        if name == "auc":
                            values.setdefault(name, []).extend(value)
                        elif isinstance(value, (float, list)):
                            own = value if isinstance(value, float) else value[0] / value[1]
                            values.setdefault(name, []).append(own)
                    handle.write(json.dumps(_line(index, language, metrics, rng, per_line)) + "\n")
            total += path.stat().st_size
            _record(results, task, language, values, questions)
    results["config"] = {"model": "hf", "model_args": {"pretrained": "made/up"}}
    (folder / f"results_{STAMP}.json").write_text(json.dumps(results), encoding="utf-8")
    return total


def _consistency(rng: random.Random) -> dict[str, object]:
    names = ("sim_1gram", "sim_2gram", "sim_sent", "bertscore_f1", "sim_lda20", "length_words")
    scores: dict[str, object] = {f"empty_rate_t{tau}": [0, 1] for tau in TEMPERATURES}
    return scores | {f"{name}_t{tau}": rng.random() for name in names for tau in TEMPERATURES}


def _correctness(rng: random.Random) -> dict[str, object]:
    labels = ("more_comprehensive", "less_comprehensive", "neither", "contradictory", "no_response")
    chosen = rng.choices(labels, (70, 15, 8, 5, 2))[0]
    judged = {"label": chosen, "reply": _text(rng, 60), "judge": "judge-1"}
    return {
        **{label: float(label == chosen) for label in labels},
        "chrf": 40 * rng.random(),
        "judge_failed_rate": 0.0,
        "n_judged": judged,
    }


def _likelihoods(rng: random.Random) -> dict[str, object]:
    return {"auc": [[int(at == 0), rng.betavariate(3 if at == 0 else 2, 2)] for at in range(5)]}


def _text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(_WORDS, k=words))


def _line(
    index: int, language: str, metrics: dict[str, object], rng: random.Random, size: int
) -> dict[str, object]:
    """A sample as the harness logs it: answers in `resps` and again in `filtered_resps`."""
    temperatures = TEMPERATURES if "length_words_t0.0" in metrics else (0.0,)
    length = max(20, size // (2 * len(temperatures)))
    answer = ((_text(rng, 200) + ". ") * (1 + length // 1000))[:length]
    answers = [[answer] for _ in temperatures]
    arguments = {
        f"gen_args_{i}": {"arg_0": _text(rng, 40), "arg_1": {"temperature": tau}}
        for i, tau in enumerate(temperatures)
    }
    question = {"question": _text(rng, 20), "reference": _text(rng, 100)}
    return {
        "doc_id": index,
        "doc": {"question_id": str(index), "language": language, **question, "parallel": True},
        "target": "",
        "arguments": arguments,
        "resps": answers,
        "filtered_resps": [answer for (answer,) in answers],
        "filter": "none",
        "metrics": list(metrics),
        **metrics,
    }


def _record(
    results: dict, task: str, language: str, values: dict[str, list[Any]], questions: int
) -> None:
    means = {f"{name},none": sum(own) / len(own) for name, own in values.items() if name != "auc"}
    if rows := values.get("auc"):
        means["auc,none"] = probability_scores(*zip(*rows, strict=True)).auc
    worse = ("contradictory", "no_response", "neither", "judge_failed_rate", "empty_rate")
    results["results"][task] = {"alias": task, **means, "unusable_rows,none": 0}
    results["higher_is_better"][task] = {
        name: name.partition("_t")[0] not in worse for name in values
    }
    results["n-samples"][task] = {"original": questions, "effective": questions}
    xling = {
        "version": "0",
        "settings": {},
        "data": {"dataset": "LiveQA", "language": language, "questions": questions,
                 "unusable_rows": 0, "sha256": "0"},
        "prompts": {},
        "signatures": {name: name for name in values},
    }  # fmt: skip
    results["configs"][task] = {"task": task, "metadata": {"xling": xling}}


def _measured(command: list[str]) -> tuple[float, float]:
    """Seconds of the processor that `xling` took, and GB at its peak."""
    main_ = "from xling_tasks.cli import main; raise SystemExit(main())"
    process = subprocess.Popen([sys.executable, "-c", main_, *command], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"xling {' '.join(command)}: failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6


def main() -> None:
    """Make, report, compare, rank, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--kilobytes", type=float, default=2, help="of a sample")
    options = parser.parse_args()
    print("| samples of a model | command | s of CPU | GB |\n|---|---|---|---|")
    for samples in options.samples:
        with tempfile.TemporaryDirectory() as temporary:
            place = Path(temporary)
            write_run(place / "a", samples * options.kilobytes / 1000, round(samples / 12))
            shutil.copytree(place / "a", place / "b")
            for path in (place / "b").glob("results_*.json"):
                path.write_text(path.read_text().replace("made/up", "made/other"))
            for command, folders in (("report", "a"), ("compare", "ab"), ("board", "ab")):
                out = [command, *(str(place / name) for name in folders)]
                seconds, peak = _measured([*out, "--to", str(place / command)])
                print(f"| {samples:,} | `{command}` | {seconds:.1f} | {peak:.2f} |", flush=True)


if __name__ == "__main__":
    main()
