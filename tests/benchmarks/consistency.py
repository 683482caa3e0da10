"""The consistency metrics against their references, in one run: a table, or JSON.

`python tests/benchmarks/consistency.py [--json FILE] [--skip encoder]`. Uses real LiveQA text where
XLING_REALDATA is set, else generated text. Times are seconds per 1,000 questions with K = 10;
references run on fewer questions where they take minutes, and are scaled. Libraries that only
serve as reference: bert_score, sentence-transformers, gensim.
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
COLUMNS = ("part", "reference_s", "ours_s", "ratio", "check")


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
    total = _whole_suite(rows)
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


WHOLE_SUITE = (
    "sim_1gram, sim_2gram",
    "language_consistency (en)",
    "lda20",
    "lda100",
    "hdp (another estimator)",
)


def _whole_suite(rows: list[Row]) -> Row | None:
    """The published suite in English without the encoder: one seed of each topic model."""
    chosen = [row for row in rows if row["part"] in WHOLE_SUITE]
    if len(chosen) < len(WHOLE_SUITE):
        return None
    reference, ours = (sum(row[key] for row in chosen) for key in ("reference_s", "ours_s"))
    return {
        "part": "whole suite without encoder, one seed",
        "reference_s": reference,
        "ours_s": ours,
        "ratio": reference / ours,
    }


def _line(row: Row) -> str:
    check = ", ".join(
        f"{key} {row[key]:.1e}" if isinstance(row[key], float) else f"{key} {row[key]}"
        for key in ("max_abs_difference", "labels_equal")
        if row.get(key) is not None
    )
    numbers = f"{row['reference_s']:.1f} | {row['ours_s']:.2f} | {row['ratio']:.1f}x"
    return f"| {row['part']} | {numbers} | {check} |"


if __name__ == "__main__":
    main()
