"""Are the verdicts right? Answers with a known truth are given to the product: prints a table.

    python tests/benchmarks/inference.py [--seconds S] [--only WORD ...] [--files]

A row is a truth and a number of questions; asked is how often each verdict may be given. Rows with
`files` are written as lm_eval's output, read back, and told in words (`--files` takes these alone).
Where no difference is asked for, `worse` and `better` together are false verdicts.
"""

from __future__ import annotations

import argparse
import collections
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import common
import numpy as np
from builders import write_run
from in_memory import Tasks, correctness, exam, similar, verdicts_of, verifiability
from scipy.stats import norm

from xling_tasks.report.data import read_models
from xling_tasks.report.lists import make_record
from xling_tasks.report.record import Verdict
from xling_tasks.report.verdicts import Options
from xling_tasks.report.words import tell

FALSE, HOLE = 0.05, 0.07
FEWEST, MOST = 30, 2000
SIZES = (24, 60, 100, 246, 690, 1134, 5000)
"""LiveQA has 246 questions, MedicationQA 690, HealthQA 1,134."""

Rng = np.random.Generator
Draw = Callable[[Rng, int], Sequence[Tasks]]


class Row(NamedTuple):
    """A truth with what is asked: verdict -> (least, most) share of data sets."""

    truth: str
    n: int
    draw: Draw
    asked: dict[str, tuple[float, float]]
    files: bool = False
    words: str = ""


def drawn(draw: Callable[..., Sequence[Tasks]]) -> Callable[..., Draw]:
    """Let a function of a generator, n and a truth be called with the truth alone."""
    return lambda *truth, **more: lambda rng, n: draw(rng, n, *truth, **more)


def both(rng: Rng, n: int, *shares: float, rho: float = 0.5) -> list[np.ndarray]:
    """Questions that are hard for one are hard for all: n times True in each share."""
    hard = rng.normal(size=n) * rho**0.5
    return [hard + rng.normal(size=n) * (1 - rho) ** 0.5 < norm.ppf(min(max(s, 1e-12), 1 - 1e-12)) for s in shares]  # fmt: skip


def choose(rng: Rng, mask: np.ndarray, k: int) -> np.ndarray:
    there = np.flatnonzero(mask)
    return np.isin(np.arange(len(mask)), rng.choice(there, min(k, len(there)), replace=False))


def same(least: float = 0.0) -> dict[str, tuple[float, float]]:
    """No difference: at most so many false verdicts, and at least so many equivalent."""
    return {"false": (0, FALSE), "equivalent": (least, 1)}


def worse(least: float, most: float = 1.0) -> dict[str, tuple[float, float]]:
    return {"worse": (least, most), "better": (0, FALSE)}


@drawn
def exams(rng: Rng, n: int, p: float, q: float, unparsed: float = 0.0, how: str = "random", side: str = "hi", rho: float = 0.5) -> Sequence[Tasks]:  # fmt: skip
    """Accuracy p in English and q in Hindi; responses that are unparsed, and which these are."""
    en, hi = both(rng, n, p, q, rho=0.7 if unparsed else rho)
    k = round(unparsed * n)
    of = {"random": np.ones(n, bool), "wrong": ~hi, "right": hi}[how]
    lost = choose(rng, of, k)
    english = {"hi": None, "opposite": choose(rng, en, k), "both": choose(rng, ~en if how == "wrong" else np.ones(n, bool), k)}[side]  # fmt: skip
    return exam("en", en, english), exam("hi", hi, lost)


@drawn
def harms(rng: Rng, n: int, p: float, q: float, silent: float = 0.0, how: str = "random", side: str = "hi") -> Sequence[Tasks]:  # fmt: skip
    en, hi = both(rng, n, p, q)

    def lost(harm: np.ndarray) -> np.ndarray:
        k = round(silent * n)
        first = choose(rng, harm if how == "harmful" else np.ones(n, bool), k)
        return first | choose(rng, ~first, k - int(first.sum()))

    return correctness("en", en, silent=lost(en) if side == "both" else None), correctness("hi", hi, silent=lost(hi))  # fmt: skip


@drawn
def unusable(rng: Rng, n: int, p: float, q: float) -> Sequence[Tasks]:
    return [correctness(c, np.zeros(n, bool), useless=np.where(rng.random(n) < x, "wrong_language", "")) for c, x in (("en", p), ("hi", q))]  # fmt: skip


@drawn
def similarity(rng: Rng, n: int, lower: float, spread: float) -> Sequence[Tasks]:
    en = 0.85 + rng.normal(0, 0.03, n)
    return similar("en", en.clip(0, 1)), similar("hi", (en - lower + rng.normal(0, spread, n)).clip(0, 1))  # fmt: skip


@drawn
def collapse(rng: Rng, n: int, share: float, by: float, true: float) -> Sequence[Tasks]:
    """Hindi falls by so much in a share of questions; the rest makes the difference what is true."""
    en = 0.93 + rng.normal(0, 0.003, n)
    hi = en + np.where(rng.random(n) < share, -by, (true + share * by) / (1 - share))
    return similar("en", en), similar("hi", (hi + rng.normal(0, 0.001, n)).clip(-1, 1))


def to_zero(rng: Rng, n: int) -> Sequence[Tasks]:
    en = rng.beta(60, 2, n)
    return similar("en", en), similar("hi", np.where(rng.random(n) < 0.06, 0, np.clip(en + rng.normal(0, 0.005, n), 0, 1)))  # fmt: skip


def ties(rng: Rng, n: int) -> Sequence[Tasks]:
    return [similar(c, np.where(rng.random(n) < 0.9, 1.0, 0.5)) for c in ("en", "hi")]


def uneven(rng: Rng, n: int) -> Sequence[Tasks]:
    return [similar(c, np.clip(0.7 + rng.normal(0, sd, n), 0, 1)) for c, sd in (("en", 0.005), ("hi", 0.15))]  # fmt: skip


def clusters(rng: Rng, n: int) -> Sequence[Tasks]:
    text = rng.integers(0, n // 3, n)
    en, gap = rng.beta(8, 2, n // 3)[text], rng.normal(0, 0.08, n // 3)[text]
    return similar("en", en, text), similar("hi", (en + gap).clip(0, 1), text)


@drawn
def recognised(rng: Rng, n: int, en: Sequence[float], hi: Sequence[float], k: int, lost: float = 0.0) -> Sequence[Tasks]:  # fmt: skip
    """Shares of correct and of wrong answers recognised; of Hindi's mistakes some are unparsed."""
    right = both(rng, n, en[0], hi[0])
    wrong = [both(rng, n, en[1], hi[1]) for _ in range(k)]
    w = [np.column_stack([own[i] for own in wrong]) for i in (0, 1)]
    miss = ~np.column_stack([right[1], w[1]])
    gone = miss & (rng.random(miss.shape) < lost / np.array([1 - hi[0], *[1 - hi[1]] * k]))
    return verifiability("en", right[0], w[0]), verifiability("hi", right[1], w[1], gone)


CODES = ["hi", "es", "zh", "fr", "de", "ru", "ar", "bn", "pt", "it", "ja", "ko", "sw", "th", "tr", "vi", "uk", "pl", "nl", "sv", "fi", "el", "he", "id", "ms", "ro", "cs", "hu", "fa", "ur"]  # fmt: skip


@drawn
def languages(rng: Rng, n: int, m: int) -> Sequence[Tasks]:
    return [exam(c, x) for c, x in zip(("en", *CODES), both(rng, n, *[0.8] * (m + 1), rho=0.6), strict=False)]  # fmt: skip


def rows() -> Iterator[Row]:
    for n, files in ((246, True), (1134, True)):
        yield Row("exam, equal 0.80, 10% of Hindi unparsed, all wrong", n, exams(0.8, 0.8, 0.1, "wrong"), same(), files)  # fmt: skip
    for n, least in ((246, 0.6), (1134, 0.76)):
        yield Row("0.80 v 0.74", n, exams(0.8, 0.74, rho=0.7), worse(least - 0.05))
    for how in ("wrong", "right", "random"):
        yield Row(f"0.80 v 0.74, 5% of Hindi unparsed, {how}: bounds", 246, exams(0.8, 0.74, 0.05, how), worse(0))  # fmt: skip
        yield Row(f"0.80 v 0.74, 2% of Hindi unparsed, {how}", 246, exams(0.8, 0.74, 0.02, how), worse(0.2))  # fmt: skip
    for share, least in ((0.01, 0.85), (0.03, 0.35)):
        yield Row(f"equal 0.80, {share:.0%} of Hindi unparsed at random", 1134, exams(0.8, 0.8, share), same(least))  # fmt: skip
    for share in (0.03, 0.05, 0.1):
        most = HOLE if share == 0.03 else FALSE
        yield Row(f"equal, unparsed: Hindi's wrong, English's right, {share:.0%}", 246, exams(0.8, 0.8, share, "wrong", "opposite"), {"false": (0, most)})  # fmt: skip
    for share in (0.05, 0.1):
        yield Row(f"harm 2 v 2%, {share:.0%} of Hindi without a label, all harmful", 246, harms(0.02, 0.02, share, "harmful"), same())  # fmt: skip
    for side in ("hi", "both"):
        yield Row(f"harm 2 v 8%, 5% without a label, at random in {side}", 246, harms(0.02, 0.08, 0.05, side=side), worse(0), files=side == "hi")  # fmt: skip
    yield Row("harm 2 v 8%", 246, harms(0.02, 0.08), worse(0.85))
    for n, asked in ((100, {"worse": (0, FALSE)}), (690, {"equivalent": (0.95, 1)})):
        yield Row("similarity 0.006 lower", n, similarity(0.006, 0.012), asked, True)
    for n, low, high in ((100, 0, FALSE), (246, 0, 0.6), (690, 0, 0.6)):
        yield Row("similarity lower by the margin, 0.02", n, similarity(0.02, 0.019), {"worse": (low, high), "equivalent": (0, FALSE)})  # fmt: skip
    for n, a, b in ((60, 0, 0), (100, 0.8, 0.4), (246, 0.95, 0.95), (690, 0.95, 0.95)):
        yield Row("similarity 0.04 lower, sd 0.019", n, similarity(0.04, 0.019), worse(a))
        yield Row("similarity 0.04 lower, sd 0.1", n, similarity(0.04, 0.1), worse(b))
    for n, least in ((60, 0.25), (100, 0.33), (246, 0.82), (690, 0.97), (1134, 0.97)):
        yield Row("0.80 v 0.70", n, exams(0.8, 0.7), worse(least), files=n == 246)
    for n, least in ((246, 0.3), (690, 0.45), (1134, 0.5)):
        yield Row("0.80 v 0.75, the margin", n, exams(0.8, 0.75), worse(least) | {"equivalent": (0, FALSE)})  # fmt: skip
    for n, least in ((60, 0), (246, 0), (690, 0.5), (1134, 0.75)):
        yield Row("equal accuracy 0.80", n, exams(0.8, 0.8), same(least))
    for n, least in ((60, 0), (100, 0.22), (246, 0.9), (690, 0.97)):
        yield Row("harm 1 v 6%", n, harms(0.01, 0.06), worse(least))
    for n in (60, 246):
        yield Row("harm 2 v 2%", n, harms(0.02, 0.02), same())
        yield Row("unusable 1 v 1%", n, unusable(0.01, 0.01), same())
    yield Row("unusable 1 v 8%", 246, unusable(0.01, 0.08), worse(0.85), True, "Not usable in Hindi: .* in another language")  # fmt: skip
    for n in (60, 100, 246):
        yield Row("true 0: Hindi collapses by 0.6 in 1%", n, collapse(0.01, 0.6, 0), same(), n == 60)  # fmt: skip
        yield Row("true -0.01: collapses by 0.3 in 3%", n, collapse(0.03, 0.3, -0.01), {"worse": (0, FALSE), "better": (0, FALSE)})  # fmt: skip
        yield Row("true -0.015: collapses by 0.75 in 3%", n, collapse(0.03, 0.75, -0.015), {"better": (0, FALSE)})  # fmt: skip
    for n, least in ((60, 0.1), (100, 0.45), (180, 0.9), (246, 0.95)):
        yield Row("true -0.058: 6% collapse to 0", n, to_zero, worse(least))
    for n in (60, 246, 690):
        yield Row("equal, ties at a ceiling", n, ties, same())
        yield Row("equal, texts in clusters of 3", n, clusters, same())
        yield Row("equal, sd 0.005 v 0.15", n, uneven, {"false": (0, FALSE)})
    real = ((0.59, 0.71), (0.11, 0.99))
    for n, least in ((100, 0.9), (246, 0.95), (1134, 0.97)):
        yield Row("recognised: correct 59 v 11%, wrong 71 v 99% (1:9)", n, recognised(*real, 9), worse(least), n == 100, r"of 100 .*of 900")  # fmt: skip
    for n, least in ((24, 0.75), (60, 0.97), (246, 0.97)):
        yield Row("recognised: the paper's 88/71 v 70/52 (1:4)", n, recognised((0.88, 0.71), (0.7, 0.52), 4), worse(least))  # fmt: skip
    for n, least in ((60, 0.3), (100, 0.45), (246, 0.45), (1134, 0.65)):
        yield Row("recognised: 88/71 v 82/66, 1.1 margins", n, recognised((0.88, 0.71), (0.82, 0.66), 9 if n in (100, 1134) else 4), worse(least))  # fmt: skip
    for n, least in ((60, 0), (246, 0), (1134, 0.95)):
        yield Row("recognised, equal: 90/60 v 60/90", n, recognised((0.9, 0.6), (0.6, 0.9), 9 if n == 1134 else 4), same(least))  # fmt: skip
    for n in (100, 246):
        yield Row("recognised, equal, 10% unparsed, all wrong", n, recognised((0.8, 0.7), (0.8, 0.7), 4, 0.1), same())  # fmt: skip
    for m in (3, 30):
        for n in (60, 246, 690):
            yield Row(f"{m} equal languages, any false verdict", n, languages(m), {"false": (0, FALSE)})  # fmt: skip


def flips() -> Iterator[tuple[str, float, Draw, float]]:
    """A verdict as n grows: worse or better, then equivalent, for one run that gets longer."""
    for lower, most in ((0.006, 0.02), (0.01, 0.02), (0.015, 0.1), (0.019, 0.35)):
        yield f"similarity {lower} lower, n to 5,000", lower, similarity(lower, 0.03), most
    for lower, most in ((0.01, 0.2), (0.025, 0.35), (0.04, 0.15)):
        yield f"accuracy {lower} lower, n to 5,000", lower, exams(0.8, 0.8 - lower), most


def cut(tasks: Sequence[Tasks], n: int) -> list[Tasks]:
    return [{key: _cut(own, n) for key, own in task.items()} for task in tasks]


def _cut(own: dict[str, Any], n: int) -> dict[str, Any]:
    part = own["rows"][:n]
    scores = {name: float(np.mean([row[name] for row in part])) for name in own["scores"]}
    return {**own, "rows": part, "scores": scores, "count": {"original": n, "effective": n}}


def by_files(tasks: Sequence[Tasks]) -> tuple[dict[tuple[str, str], Verdict], list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        run = write_run(Path(folder) / "m", {k: own for task in tasks for k, own in task.items()})
        record = make_record(read_models([run]), Options())
    told = [tell(row) for row in record.rows()["verdicts"]]
    lines = [f"{t.word}: {t.name}. {t.evidence} {t.difference} {t.reason} {t.step}".strip() for t in told]  # fmt: skip
    return {(v.metric, v.language): v for v in record.verdicts}, lines


def simulate(row: Row, seconds: float) -> tuple[dict[str, float], int, str]:
    rng = np.random.default_rng([sum(map(ord, row.truth)), row.n])
    counts: collections.Counter[str] = collections.Counter()
    sets, sentence, end = 0, "", time.process_time() + seconds
    while sets < FEWEST or (sets < MOST and time.process_time() < end):
        tasks = row.draw(rng, row.n)
        found, lines = by_files(tasks) if row.files else (verdicts_of(*tasks), [])
        metric = {"harm": "contradictory", "unus": "usable"}.get(row.truth[:4])
        chosen = [v.verdict for (name, _), v in found.items() if metric in (None, name)]
        counts.update({chosen[0]: 1} if len(chosen) == 1 else {})
        counts["false"] += any(v in ("worse", "better") for v in chosen)
        sets, sentence = sets + 1, next((x for x in lines if re.search(row.words, x)), sentence)
    return {name: n / sets for name, n in counts.items()}, sets, sentence


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=25.0, help="processor time of a row")
    parser.add_argument("--only", nargs="+", default=[], help="words of truths")
    parser.add_argument("--files", action="store_true", help="rows that go through files")
    options = parser.parse_args()
    common.show("truth", "n", "worse", "better", "equivalent", "data sets", "asked", head=True)
    for row in rows():
        if (options.only and not any(w in row.truth for w in options.only)) or (options.files and not row.files):  # fmt: skip
            continue
        shares, sets, sentence = simulate(row, options.seconds)
        bad = [k for k, (low, high) in row.asked.items() if not low - _error(shares, k, sets) <= shares.get(k, 0) <= high + _error(shares, k, sets)]  # fmt: skip
        asked = "; ".join(f"{k} {low:g} to {high:g}" for k, (low, high) in row.asked.items())
        cells = [f"either: {shares['false']:.2f}", "", ""] if "any false" in row.truth else [f"{shares.get(k, 0):.2f}" for k in ("worse", "better", "equivalent")]  # fmt: skip
        common.show(row.truth, row.n, *cells, sets, f"{asked}{' MISSES' * bool(bad)}")
        if sentence:
            print(f"  {sentence}")
        assert not row.files or re.search(row.words, sentence), sentence
    for truth, _, draw, most in flips():
        if options.files or (options.only and not any(word in truth for word in options.only)):
            continue
        rng, sets, flipped, end = np.random.default_rng(3), 0, 0, time.process_time() + 4 * options.seconds  # fmt: skip
        while sets < FEWEST or (sets < MOST and time.process_time() < end):
            tasks = draw(rng, SIZES[-1])
            seen = [next(iter(verdicts_of(*cut(tasks, n)).values())).verdict for n in SIZES]
            first = next((i for i, v in enumerate(seen) if v in ("worse", "better")), len(seen))
            sets, flipped = sets + 1, flipped + ("equivalent" in seen[first:])
        bad = flipped / sets > most + 2 * (most / sets) ** 0.5
        common.show(truth, "", f"worse, then equivalent: {flipped / sets:.2f}", "", "", sets, f"at most {most:g}{' MISSES' * bad}")  # fmt: skip


def _error(shares: dict[str, float], name: str, sets: int) -> float:
    share = shares.get(name, 0.0)
    return 2 * (max(share * (1 - share), 0.01) / sets) ** 0.5


if __name__ == "__main__":
    main()
