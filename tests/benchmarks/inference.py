"""Do the report's intervals and tests keep what they promise? A simulation: prints a table.

    python tests/benchmarks/inference.py [--quick] [--only PART ...]

Data are made with a known truth and given to the functions that the report calls. Per interval: in
how many of the data sets it holds the truth (0.93 to 0.97 is asked); per test: how often it finds
a difference where there is none (at most 0.06, also where error profiles or scales differ); power
at the difference that a report calls detectable (0.8); how often a difference of the margin itself
is called about the same, or B not inferior (at most 0.05); and the family-wise error of a model's
conclusions (at most 0.05). Cells that miss are listed with their setting.

`conclusions.py` goes the whole way instead: from answers in files to the printed sentences.

One free core, without --quick about ten minutes.
"""

from __future__ import annotations

import argparse
import time

import inference_coverage as coverage
import inference_tests as tests
from inference_data import SIZES, Cell, Plan


def table(cells: list[Cell]) -> str:
    """A line per interval or test, then every cell that misses."""
    lines = [
        "| measured | of | cells | data sets | lowest | mean | highest | cells that miss |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for kind, what in dict.fromkeys((cell.kind, cell.what) for cell in cells):
        own = [cell for cell in cells if (cell.kind, cell.what) == (kind, what)]
        shares, bad = [cell.share for cell in own], sum(not cell.good for cell in own)
        times = [cell.times for cell in own]
        drawn = f"{min(times):,}-{max(times):,}" if min(times) < max(times) else f"{times[0]:,}"
        drawn = drawn if max(times) else "all outcomes"
        ends = f"{min(shares):.3f} | {sum(shares) / len(shares):.3f} | {max(shares):.3f}"
        lines.append(f"| {kind} | {what} | {len(own)} | {drawn} | {ends} | {bad} |")
    misses = [cell for cell in cells if not cell.good]
    lines += ["", f"{len(misses)} of {len(cells)} cells miss:", ""]
    lines += ["| measured | of | setting | found | |", "|---|---|---|---:|---|"]
    lines += [f"| {c.kind} | {c.what} | {c.setting} | {c.share:.3f} | {c.note} |" for c in misses]
    return "\n".join(lines)


PARTS = {
    "shares": coverage.of_shares,
    "means": coverage.of_means,
    "verdicts": coverage.of_verdicts,
    "auc": coverage.of_auc,
    "information": coverage.of_information,
    "gaps": coverage.of_gaps,
    "changes": coverage.of_changes,
    "people": coverage.of_people,
    "test_shares": tests.errors_of_shares,
    "test_verdicts": tests.errors_of_verdicts,
    "test_auc": tests.errors_of_auc,
    "margins": tests.margins,
    "power": tests.power,
    "family": tests.family,
}


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a minute: fewer data sets and sizes")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    options = parser.parse_args()
    quick, full = Plan(200, 40, 10, (24, 100), 99), Plan(2000, 1000, 100, SIZES, 199)
    plan, cells = quick if options.quick else full, list[Cell]()
    for name in options.only:
        began = time.process_time()
        cells += PARTS[name](plan)
        print(f"{name}: {time.process_time() - began:.0f} s", flush=True)
    print(table(cells))


if __name__ == "__main__":
    main()
