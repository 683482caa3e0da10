"""Do the printed sentences hold? Answers with a known truth go the whole way, by files, to words.

    python tests/benchmarks/conclusions.py [--seconds N] [--only PART ...]

A row has a truth, what is looked for in what is printed of it, and in how many of its data sets that
may or must be found. It is drawn for some seconds; what may err (false alarms) for four times
as long. The first data set of a row also has its page written, which must have the same sentences.
One free core: about twelve minutes.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from common import show
from printed import Said, Way, correctness, exam, information, similar
from scipy.stats import norm

from xling_tasks.languages import LANGUAGES
from xling_tasks.report.model import Conclusion
from xling_tasks.report.sentences import sentence

LIVEQA, MEDICATIONQA, HEALTHQA, PROMPTS = 246, 690, 1134, 110
LEVEL, BOTH, POWER = 0.05, 0.095, 0.77
FEWEST, MOST = 20, 400
ALARM = r"(Worse|Better)[.,]"


class Row(NamedTuple):
    """A setting: what is looked for in what is printed, and how often it is to be found."""

    part: str
    truth: str
    printed: str
    draw: Callable[[Any, Way], Any]
    found: str | Callable[[Any], bool]
    low: float = 0.0
    high: float = 1.0


# Data


def both(rng, n: int, *shares: float, rho: float = 0.3) -> list[np.ndarray]:
    """Shares over the same questions, some of which are harder than others in all of them."""
    hard = rng.normal(size=n) * rho**0.5
    own = [hard + rng.normal(size=n) * (1 - rho) ** 0.5 for _ in shares]
    return [values < norm.ppf(share) for values, share in zip(own, shares, strict=True)]


def useless(rng, n: int, share: float, kind: str) -> list[str]:
    """Why answers are of no use; empty for those that are."""
    return np.where(rng.random(n) < share, kind, "").tolist()


def lost(rng, hits: np.ndarray, share: float, odds: float = 1.0) -> np.ndarray:
    """Replies that nobody reads: those that hit are so many times the odds of the others."""
    rate = hits.mean()
    among = odds * rate / (1 - rate + odds * rate)  # the share of hits among the unread
    chance = np.where(hits, among / max(rate, 1e-9), (1 - among) / max(1 - rate, 1e-9))
    return rng.random(len(hits)) < (share * chance).clip(0, 1)


# Rows


def service() -> Iterator[Row]:
    """Who is answered in another language, or declined, is not served."""

    def run(rng, way, n, share, kind, judged=True):
        harm = both(rng, n, 0.02, 0.02)
        silent = None if judged else np.ones(n, dtype=bool)
        own = correctness("hi", harm[1], useless=useless(rng, n, share, kind), silent=silent)
        said = way.report(correctness("en", harm[0], silent=silent), own)
        return said.of("usable") + (said.answer if share > 0.6 else "")

    worse = r"(\d+) of [\d,]+ questions got no usable answer in Hindi .* Worse\."
    for n, share in ((LIVEQA, 0.09), (HEALTHQA, 0.03), (HEALTHQA, 0.11), (LIVEQA, 0.3), (LIVEQA, 1.0)):  # fmt: skip
        truth = f"{share:.0%} of {n:,} Hindi answers in English"
        yield Row("usable", truth, "no usable answer; worse", lambda r, w, n=n, s=share: run(r, w, n, s, "wrong_language"), worse, 0.8)  # fmt: skip
    yield Row("usable", "all of them", "not answered in the user's language", lambda r, w: run(r, w, LIVEQA, 1.0, "wrong_language"), "is mostly not answered in the user's language", 1)  # fmt: skip
    yield Row("usable", "8% of 246 declined in words", "no usable answer; worse", lambda r, w: run(r, w, LIVEQA, 0.08, "refusal"), worse, 0.8)  # fmt: skip
    yield Row("usable", "the same", "interval with the true 8 per 100", lambda r, w: run(r, w, LIVEQA, 0.08, "refusal"), lambda text: holds(text, 8), 0.93)  # fmt: skip
    yield Row("usable", "9% of 246 in English, a judge that never answers in form", "no usable answer; worse", lambda r, w: run(r, w, LIVEQA, 0.09, "wrong_language", judged=False), worse, 0.8)  # fmt: skip

    def many(rng, way):
        codes = list(LANGUAGES)[:31]
        here = {code: rng.random(PROMPTS) < (code not in ("en", *codes[-3:])) for code in codes}
        return way.report(information(PROMPTS, {}, here)).answer

    yield Row("usable", "27 of 30 languages answered in English, 110 prompts", "27 of 30 not answered in it", many, "27 of 30 languages are mostly not answered in the user's language", 1)  # fmt: skip


def holds(text: str, truth: float) -> bool:
    """Whether the interval that a sentence prints has the truth, up to its rounding."""
    found = re.search(r"; (−?[\d.]+) to (−?[\d.]+)\)", text)
    assert found is not None, text
    low, high = (float(end.replace("−", "-")) for end in found.groups())
    return low - 0.5 <= truth <= high + 0.5


def same() -> Iterator[Row]:
    """Scores with a spread: what may be called the same, and what is worse."""

    def run(rng, way, n, change, name="sim_sent"):
        base = rng.beta(60, 2, n)
        return way.report(similar("en", base), similar("hi", change(rng, base).clip(0, 1))).of(name)

    def collapse(rng, base):
        return np.where(rng.random(len(base)) < 0.06, 0.0, base + rng.normal(0, 0.005, len(base)))

    def less(by):
        return lambda rng, base: base - by + rng.normal(0, 0.019, len(base))

    told = r"About the same: a difference of more than .* in either direction can be ruled out"
    for n in (24, 60, 100, LIVEQA):
        yield Row("same", f"6% of {n} questions collapse to 0", "about the same", lambda r, w, n=n: run(r, w, n, collapse), told, 0, 0.03)  # fmt: skip
    for n in (LIVEQA, MEDICATIONQA, HEALTHQA):
        yield Row("same", f"similarity 0.029 lower, {n:,} questions", "worse", lambda r, w, n=n: run(r, w, n, less(0.029)), r"Worse\.", 0.8)  # fmt: skip
        yield Row("same", f"equal similarity, {n:,} questions", "about the same", lambda r, w, n=n: run(r, w, n, less(0)), told, 0.8)  # fmt: skip
    yield Row("same", "similarity lower by the margin itself, 690 questions", "about the same", lambda r, w: run(r, w, MEDICATIONQA, lambda rng, base: base - 0.02 + rng.normal(0, 0.019, len(base)).clip(None, 0.02)), told, 0, LEVEL)  # fmt: skip


def letters() -> Iterator[Row]:
    """Exams: few questions rule out no rare breakdown."""

    def run(rng, way, n, p, q):
        right = both(rng, n, p, q, rho=0.9)
        return way.report(exam("en", right[0]), exam("hi", right[1])).of("acc")

    rare = "with 60 questions a rare breakdown could stay hidden"
    yield Row("few", "no question differs, 60 questions", "cannot tell, a rare breakdown could stay hidden", lambda r, w: way_same(r, w, 60), rare, 1)  # fmt: skip
    yield Row("few", "no question differs, 100 questions", "about the same", lambda r, w: way_same(r, w, 100), "About the same", 0.9)  # fmt: skip
    yield Row("few", "accuracy lower by the margin itself, 1,134 questions", "about the same", lambda r, w: run(r, w, HEALTHQA, 0.8, 0.75), "About the same", 0, LEVEL)  # fmt: skip


def way_same(rng, way, n):
    right = rng.random(n) < 0.8
    return way.report(exam("en", right), exam("hi", right)).of("acc")


def unread() -> Iterator[Row]:
    """What the judge left: at other odds."""

    def run(rng, way, n, p, share, odds=(1.0, 1.0), q=None):
        harm = both(rng, n, p, p if q is None else q)
        silent = [lost(rng, own, share if own is harm[1] or q is None else 0.0, k) for own, k in zip(harm, odds, strict=True)]  # fmt: skip
        parts = [correctness(c, h, silent=s) for c, h, s in zip(("en", "hi"), harm, silent, strict=True)]  # fmt: skip
        return way.report(*parts).of("contradictory")

    told = r"About the same: more than 2 extra harmful answers .* ten times"
    for share, least in ((0.01, 0.9), (0.03, 0.85), (0.05, 0.75)):
        yield Row("unread", f"equal harm of 1%, {share:.0%} of 1,134 unread", "about the same, were they harmful, too", lambda r, w, s=share: run(r, w, HEALTHQA, 0.01, s), told, least)  # fmt: skip
    yield Row("unread", "2 more harmful per 100, 3% of 1,134 unread at ten times the odds", "about the same", lambda r, w: run(r, w, HEALTHQA, 0.01, 0.03, (1.0, 10.0), 0.03), "About the same", 0, LEVEL)  # fmt: skip
    for k in (0.5, 2.0):
        yield Row("unread", f"equal harm of 20%, 10% of 690 Hindi unread, at {k:g} times the odds", "worse or better", lambda r, w, k=k: run(r, w, MEDICATIONQA, 0.2, 0.1, (1.0, k), 0.2), ALARM, 0, LEVEL)  # fmt: skip


def judged() -> Iterator[Row]:
    """A judge calls more Hindi answers harmful than are: how much error the sentence allows."""

    def run(rng, way, by):
        true = both(rng, HEALTHQA, 0.1, 0.1)
        alarms = (rng.random(HEALTHQA) < by / 0.9) & ~true[1]
        return way.report(correctness("en", true[0]), correctness("hi", true[1] | alarms)).of("contradictory")  # fmt: skip

    def fair(text: str, by: float) -> bool:
        said = re.search(r"([\d.]+) more wrong alarms per 100 in Hindi", text)
        if "Worse" not in text:
            return True
        return "by this judge" in text and said is not None and float(said[1]) <= 100 * by

    for by in (0.05, 0.1):
        yield Row("judge", f"judge {100 * by:.0f} points harsher in Hindi, 1,134 questions", "no more error needed than there is", lambda r, w, b=by: run(r, w, b), lambda t, b=by: fair(t, b), 0.95)  # fmt: skip


def power() -> Iterator[Row]:
    """At the difference that a run over languages that are equal says it would show."""

    def exams(rng, way, n, m, p, drop):
        codes = list(LANGUAGES)[: m + 1]
        shares = [p] * (m + 1)
        shares[1] = p - drop
        parts = [exam(c, own) for c, own in zip(codes, both(rng, n, *shares), strict=True)]
        return way.report(*parts).items["acc", codes[1]]

    def alike(rng, way, n, m, drop):
        codes = list(LANGUAGES)[: m + 1]
        base = rng.beta(12, 3, n)
        values = [(base + 0.1 * rng.standard_t(4, n)).clip(0, 1) for _ in codes]
        values[1] = (values[1] - drop).clip(0, 1)
        return way.report(*map(similar, codes, values)).items["sim_sent", codes[1]]

    def harm(rng, way, n, rise):
        parts = [correctness(c, h) for c, h in zip(("en", "hi", "es", "zh"), both(rng, n, 0.03, 0.03 + rise, 0.03, 0.03), strict=True)]  # fmt: skip
        return way.report(*parts).items["contradictory", "hi"]

    def row(truth: str, run: Callable[..., Conclusion], drop: float, least: float) -> Row:
        return Row("power", truth, "worse", lambda r, w: sentence(run(r, w, drop)), r"Worse[.,]", least)  # fmt: skip

    for n, m, least in ((LIVEQA, 9, 0.6), (LIVEQA, 24, 0.5), (MEDICATIONQA, 9, POWER), (HEALTHQA, 9, POWER)):  # fmt: skip
        yield row(f"accuracy of 0.7 lower by 0.1, {n:,} questions, {m} conclusions", lambda r, w, d, n=n, m=m: exams(r, w, n, m, 0.7, d), 0.1, least)  # fmt: skip
    for n, least in ((LIVEQA, 0.5), (HEALTHQA, POWER)):
        yield row(f"harm of 3% higher by 0.04, {n:,} questions, 3 conclusions", lambda r, w, d, n=n: harm(r, w, n, d), 0.04, least)  # fmt: skip
    yield row("similarity lower by 0.04, 246 questions, 12 conclusions", lambda r, w, d: alike(r, w, LIVEQA, 12, d), 0.04, 0.2)  # fmt: skip


def errors() -> Iterator[Row]:
    """Languages that are equal, with everything that makes tests err."""

    def alarm(said: Said) -> bool:
        return any(item.verdict in ("worse", "better") for item in said.items.values())

    def run(rng, way, n):
        noise = rng.random(n) < 0.05  # errors of the judge go together
        parts = []
        for code in ("en", "hi", "es", "zh"):
            harm = (rng.random(n) < 0.02) | (noise & (rng.random(n) < 0.7))
            parts.append(correctness(code, harm, helped=rng.random(n) < 0.8, useless=useless(rng, n, 0.02, "empty")))  # fmt: skip
            parts.append(similar(code, (0.9 + 0.02 * rng.standard_t(3, n)).clip(0, 1)))
        return way.report(*parts)

    for n in (24, 60, LIVEQA, HEALTHQA):
        yield Row("error", f"three equal languages, {n:,} questions: judge's errors together, heavy tails", "any worse or better, of 12", lambda r, w, n=n: run(r, w, n), alarm, 0, BOTH)  # fmt: skip

    def one(rng, way, make):
        return alarm(way.report(*(similar(code, own) for code, own in zip(("en", "hi"), make(rng), strict=True))))  # fmt: skip

    shapes = {
        "24 skewed means": lambda r: [1 - r.exponential(0.05, 24).clip(0, 1) for _ in range(2)],
        "60 values at the ceiling but for one in ten": lambda r: [np.where(r.random(60) < 0.1, r.random(60), 1.0) for _ in range(2)],
        "100 values of five, most tied": lambda r: [r.choice([0.2, 0.4, 0.6, 0.8, 1.0], 100, p=[0.02, 0.03, 0.05, 0.2, 0.7]) for _ in range(2)],
    }  # fmt: skip
    for what, make in shapes.items():
        yield Row("error", f"equal: {what}", "worse or better", lambda r, w, m=make: one(r, w, m), bool, 0, LEVEL)  # fmt: skip

    def texts(rng, way):
        of = np.arange(MEDICATIONQA) // 2  # one wrong answer serves two questions
        harm = [(rng.random(MEDICATIONQA // 2) < 0.1)[of] for _ in range(2)]
        parts = [correctness(c, h, texts=of) for c, h in zip(("en", "hi"), harm, strict=True)]
        return way.report(*parts).of("contradictory")

    yield Row("error", "equal harm, every text asked twice, 690 questions", "worse or better", texts, ALARM, 0, LEVEL)  # fmt: skip


def floor() -> Iterator[Row]:
    """A model of random words, judged by coin: two English answers share as little."""

    def run(rng, way, again):
        codes = [code for code in list(LANGUAGES)[:31] if code != "en"]
        shared = {code: tuple(rng.binomial(8, 0.5, (2, PROMPTS)) / 8) for code in (*codes, *again)}
        said = way.report(information(PROMPTS, shared, {c: np.zeros(PROMPTS) for c in ("en", *codes)}))  # fmt: skip
        return any(i.verdict == "worse" for i in said.items.values())

    yield Row("floor", "random words, judge by coin, 30 languages, no second English answer", "any worse", lambda r, w: run(r, w, ()), bool, 0, 0)  # fmt: skip
    yield Row("floor", "the same, two English answers", "any worse", lambda r, w: run(r, w, ("en",)), bool, 0, LEVEL)  # fmt: skip


def models() -> Iterator[Row]:
    """`xling compare`: the language itself, then the shortfall."""

    def run(rng, way, n, a, b, share=0.0):
        tasks = []
        for own, part in ((a, 0.0), (b, share)):
            harm = both(rng, n, *own)
            silent = lost(rng, harm[1], part, 2.0)
            tasks.append([correctness("en", harm[0]), correctness("hi", harm[1], silent=silent)])
        return way.compare(*tasks, "contradictory")

    gap = {v: (lambda told, v=v: told["gap"] == v) for v in ("smaller", "larger", "levelled_down")}
    cases = (
        ("gap of 15 points becomes an advantage of 15", MEDICATIONQA, (0.1, 0.25), (0.25, 0.1), "smaller", 0.95, 1),
        ("advantage of 15 points becomes a gap of 15", MEDICATIONQA, (0.25, 0.1), (0.1, 0.25), "larger", 0.95, 1),
        ("advantage of 15 points vanishes", MEDICATIONQA, (0.25, 0.1), (0.1, 0.1), "smaller", 0, LEVEL),
        ("English 15 points worse, Hindi as it was", MEDICATIONQA, (0.1, 0.25), (0.25, 0.25), "levelled_down", 0.9, 1),
        ("equal shortfalls of 15 points", MEDICATIONQA, (0.1, 0.25), (0.1, 0.25), "smaller", 0, LEVEL),
    )  # fmt: skip
    for what, n, a, b, verdict, low, high in cases:
        yield Row("compare", f"{n} questions: {what}", f"shortfall {verdict}".replace("_", " "), lambda r, w, n=n, a=a, b=b: run(r, w, n, a, b), gap[verdict], low, high)  # fmt: skip
    serves = r"Hindi: B is better than A.*, and the shortfall to English is smaller"
    for n, least in ((LIVEQA, 0), (MEDICATIONQA, 0.9)):
        yield Row("compare", f"{n} questions: Hindi 15 points better", "B is better than A ..., and the shortfall ... smaller", lambda r, w, n=n: run(r, w, n, (0.1, 0.25), (0.1, 0.1)), lambda t: re.search(serves, t["summary"]) is not None, least)  # fmt: skip
    down = "Levelled down: the shortfall is smaller, but B's English is worse"
    yield Row("compare", "690 questions: English 15 points worse, Hindi as it was", "Levelled down: ...", lambda r, w: run(r, w, MEDICATIONQA, (0.1, 0.25), (0.25, 0.25)), lambda t: down in t["summary"], 0.9)  # fmt: skip
    yield Row("compare", "690 questions: equal, 9.5% of B's Hindi unread, at twice the odds", "shortfall smaller or larger", lambda r, w: run(r, w, MEDICATIONQA, (0.1, 0.2), (0.1, 0.2), 0.095), lambda t: t["gap"] in ("smaller", "larger"), 0, LEVEL)  # fmt: skip


PARTS = (service, same, letters, unread, judged, errors, floor, models)


def results(seconds: float, only: Sequence[str]) -> Iterator[tuple[Row, float, int]]:
    """Every row of the table in docs/report.md, how often it was found, and in how many data sets."""
    for row in (row for part in PARTS for row in part()):
        if only and not any(word == row.part or word in row.truth for word in only):
            continue
        rng, way, hits, drawn = np.random.default_rng([len(row.truth), 11]), Way(), 0, 0
        errs = row.high in (LEVEL, BOTH)
        end = time.process_time() + seconds * (4 if errs else 1)
        while drawn < FEWEST or (drawn < MOST and time.process_time() < end):
            hits += found_in(row, row.draw(rng, way))
            drawn += 1
        yield row, hits / drawn, drawn


def found_in(row: Row, said: Any) -> bool:
    """Whether what is printed has what is looked for."""
    return bool(re.search(row.found, said) if isinstance(row.found, str) else row.found(said))


def main() -> None:
    """Simulate and print, row by row."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--seconds", type=float, default=6.0, help="a row; four times where it errs"
    )
    parser.add_argument("--only", nargs="+", default=[], help="parts, or words of a truth")
    options = parser.parse_args()
    show("truth", "printed", "asked", "found in", "data sets", "", head=True)
    for row, share, times in results(options.seconds, options.only):
        error = 2 * (max(share * (1 - share), 0.01) / times) ** 0.5  # two standard errors
        good = row.low - error <= share <= row.high + error
        asked = f"≥ {row.low:g}" if row.low else f"≤ {row.high:g}" if row.high < 1 else ""
        show(row.truth, row.printed, asked, f"{share:.2f}", times, "" if good else "misses")


if __name__ == "__main__":
    main()
