"""The consistency metrics against their references, in one run: a table, or JSON.

`python tests/benchmarks/consistency.py [--json FILE] [--skip encoder]`. Uses real LiveQA text where
XLING_REALDATA is set, else generated text. Times are seconds per 1,000 questions with K = 10;
references run on fewer questions where they take minutes, and are scaled. Columns with `cpu` are
processor time over all threads, to be preferred on a busy machine. `taskset -c 0` in front shows one
core. Libraries that only serve as reference: bert_score, sentence-transformers, gensim.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]
COLUMNS = (
    *("part", "reference_s", "ours_s", "ratio"),
    *("reference_cpu_s", "ours_cpu_s", "cpu_ratio", "check"),
)


def main() -> None:
    """Run the parts asked for and print them as they come."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    parser.add_argument("--skip", nargs="*", default=[], choices=["text", "topics", "encoder"])
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    # One BLAS thread is the references' best case; read when numpy is first imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.path.insert(0, str(Path(__file__).parent))
    parts: dict[str, Callable[[int], Iterator[Row]]] = {
        "text": _text,
        "topics": _topics,
        "encoder": _encoder,
    }
    rows: list[Row] = []
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for name, run in parts.items():
        if name not in options.skip:
            for row in run(options.questions):
                rows.append(row)
                print(_line(row), flush=True)
    for name, chosen in SUITES.items():
        total = _suite(name, chosen, rows)
        if total:
            print(_line(total))
            rows.append(total)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))


def _text(n: int) -> Iterator[Row]:
    module = importlib.import_module("consistency_text")
    folder = os.environ.get("XLING_REALDATA")
    names = {"en": "English", "es": "Spanish", "zh": "Chinese", "hi": "Hindi"}
    texts = {c: module._liveqa(folder, name) if folder else None for c, name in names.items()}
    yield module.bench_ngrams(5 * n, texts=texts["en"])
    for code, own in texts.items():
        if own or code == "en":
            yield module.bench_language(n, texts=own, language=code)


def _topics(n: int) -> Iterator[Row]:
    module = importlib.import_module("consistency_topics")
    yield from module.bench_topics("English", min(n, 246))


def _encoder(n: int) -> Iterator[Row]:
    module = importlib.import_module("consistency_encoder")
    yield from module.bench_encoder(6)


_SURFACE = ("sim_1gram, sim_2gram", "language_consistency (en)")
_FIVE_SEEDS = "lda20 and lda100, 5 seeds (reference: 1)"
SUITES = {
    "default suite without encoder (reference: one seed)": (*_SURFACE, _FIVE_SEEDS),
    "the same, one seed": (*_SURFACE, "lda20", "lda100"),
    "the same with hdp=true, one seed": (*_SURFACE, "lda20", "lda100", "hdp (another estimator)"),
    "the same with hdp=true": (*_SURFACE, _FIVE_SEEDS, "hdp, 5 seeds (reference: 1)"),
}
"""What the published suite in English consists of, without the encoder: the parts' times added."""


def _suite(name: str, parts: tuple[str, ...], rows: list[Row]) -> Row | None:
    from clock import Seconds, compared

    chosen = [row for row in rows if row["part"] in parts]
    if len(chosen) < len(parts):
        return None
    reference, ours = (
        Seconds(*(sum(row[f"{side}{kind}_s"] for row in chosen) for kind in ("", "_cpu")))
        for side in ("reference", "ours")
    )
    return compared(name, reference, ours)


def _line(row: Row) -> str:
    check = ", ".join(
        f"{key} {row[key]:.1e}" if isinstance(row[key], float) else f"{key} {row[key]}"
        for key in ("max_abs_difference", "labels_equal", "seed_sd")
        if row.get(key) is not None
    )
    sides = [("reference_s", "ours_s", "ratio"), ("reference_cpu_s", "ours_cpu_s", "cpu_ratio")]
    numbers = [
        f"{row[reference]:.1f} | {row[ours]:.2f} | {row[ratio]:.1f}x" if ratio in row else " | | "
        for reference, ours, ratio in sides
    ]
    return f"| {row['part']} | {' | '.join(numbers)} | {check} |"


if __name__ == "__main__":
    main()
