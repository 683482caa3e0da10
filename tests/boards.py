"""Runs of many models in many languages for tests of boards, without any model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from builders import task_of, write_run

from xling_tasks.languages import LANGUAGES

C = "xlinghealth_correctness_liveqa_"
BETTER = {"contradictory": False, "more_comprehensive": True, "langid_match": True,
          "empty_rate": False, "no_response": False, "empathy": True}  # fmt: skip
RECORD = {
    "settings": {"judge": {"model": "j", "model_args": {"base_url": "http://10.0.0.3:8000/v1"}}},
    "data": {"dataset": "LiveQA", "sha256": "abc"}, "prompts": {}, "version": "0.2.0",
}  # fmt: skip
PLAIN = {"settings": {}, "data": {"dataset": "LiveQA"}, "prompts": {}, "version": "0.1.0"}
"""A record without any setting."""
ANSWER = "You should drink a glass of water and rest, and see a doctor if the fever stays."


def judged(hits, n, *, inside=1.0, answer=ANSWER, silent=(), record=PLAIN, text=None, helped=None,
           only=None, **more):  # fmt: skip
    """A language of correctness: n answers, of which these numbers are contradictory.

    All others are more comprehensive, if not those of `helped`; `silent` ones have no label, and
    `only` these were asked.
    """
    rows = []
    for i in only or range(n):
        labelled = i not in silent
        good = i not in hits if helped is None else bool(helped[i])
        rows.append({
            "doc": {"question_id": f"q{i}", **({"question": f"{text} {i}"} if text else {})},
            "resps": [[answer]], "contradictory": float(i in hits and labelled),
            "more_comprehensive": float(good and labelled), "langid_match": float(i < inside * n),
            "empty_rate": 0.0, "no_response": float(not labelled),
            "n_judged": {"label": "contradictory" if i in hits else "more_comprehensive"},
        })  # fmt: skip
    scores = {name: float(np.mean([r[name] for r in rows])) for name in BETTER if name in rows[0]}
    count = {"n_judged": len(rows) - len(silent)}
    return task_of(scores | count | more, rows, record=record, better=BETTER)


def correctness(share, n=120, seed=0, *, inside=1.0, record=RECORD, text="Question", ask=None):
    """A language of correctness: each question is contradicted with about this chance."""
    rng = np.random.default_rng(seed)
    hard = np.random.default_rng(7).random(n)  # the same questions are hard for all models
    hits = (hard + rng.random(n)) / 2 < share
    own = {"inside": inside, "record": record, "text": text, "only": ask}
    return judged({*np.flatnonzero(hits)}, n, helped=~hits & (rng.random(n) < 0.8), **own)


def empathy(shares, n=24, seed=0):
    """`xling_empathy`: language -> share of replies with the same empathy as in English."""
    rng = np.random.default_rng(seed)
    codes = list(shares)
    rows = []
    for i in range(n):
        doc = {"question_id": f"p{i}", "text": {code: f"Post {i}" for code in ("en", *codes)}}
        own = {f"empathy_{code}": float(rng.random() < shares[code]) for code in codes}
        inside = {f"langid_match_{code}": 1.0 for code in ("en", *codes)}
        rows.append({"doc": doc, "resps": [[ANSWER]] * (len(codes) + 1), **own, **inside})
    names = [name for name in rows[0] if name not in ("doc", "resps")]
    record = {"settings": {}, "data": {"dataset": "xling", "sha256": "x", "languages": ["en", *codes]},
              "prompts": {}, "version": "0.2.0"}  # fmt: skip
    scores = {name: float(np.mean([row[name] for row in rows])) for name in names}
    return task_of(scores, rows, record=record, better=dict.fromkeys(names, True))


def exam(code, n, right, unread=0, options=4):
    """Multiple choice in one language, of whose questions some are read rightly and some not at all."""
    rows = [
        {"doc": {"question_id": f"{code}{i}", "several": False,
                 "options": dict.fromkeys("ABCDE"[:options], "x")},
         "resps": [], "acc": float(i < right), "unparsed_rate": float(right <= i < right + unread)}
        for i in range(n)
    ]  # fmt: skip
    scores = {"acc": right / n, "unparsed_rate": unread / n}
    return task_of(scores, rows, record=PLAIN, better={"acc": True, "unparsed_rate": False})


def many_models(folder: Path, numbers, *, n=120) -> list[str]:
    """Models: correctness in en, es, zh, hi, and empathy in 30 languages beside English."""
    codes = sorted(set(LANGUAGES) - {"en"})
    words = []
    for m in numbers:
        tasks = {
            C + code: correctness(0.1 + 0.03 * m + 0.05 * at, n, seed=10 * m + at,
                                  inside=0.01 if (m, code) == (9, "hi") else 1.0)
            for at, code in enumerate(("en", "es", "zh", "hi"))
        }  # fmt: skip
        shares = {
            code: min(0.98, 0.5 + 0.04 * m + 0.01 * (at % 7)) for at, code in enumerate(codes)
        }
        tasks["xling_empathy"] = empathy(shares, seed=m)
        name = f"organisation/model-{m}-instruct-{2**m}b"
        args = {"model": name, "base_url": f"http://10.0.0.{m}:8000/v1/chat/completions"}
        out = folder / f"m{m}"
        write_run(out, tasks, config={"model": "local-chat-completions", "model_args": args})
        words.append(str(out))
    return words
