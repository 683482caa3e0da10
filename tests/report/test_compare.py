"""`xling compare`: numbers, verdicts, refusals, and the files of real runs."""

from __future__ import annotations

import copy
import csv
import html
import itertools
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from builders import STAMP, evaluated, task_of, write_run
from sklearn.metrics import f1_score, roc_auc_score

from xling_tasks.cli import parsed
from xling_tasks.criteria import Panel
from xling_tasks.errors import SettingError, XlingError
from xling_tasks.report.cases import Case
from xling_tasks.report.compare.numbers import Line, all_lines
from xling_tasks.report.compare.pairs import Pair, one_model, paired, shared
from xling_tasks.report.compare.verdicts import _fall, with_verdicts
from xling_tasks.report.compare.words import in_words, shown, shown_p, summary
from xling_tasks.report.conclusions import TOO_FEW
from xling_tasks.report.data import read_models
from xling_tasks.report.make import make_report
from xling_tasks.report.model import Comparison, Conclusion, Options
from xling_tasks.report.stats import Statistics

C = "xlinghealth_correctness_demo_"
V = "xlinghealth_verifiability_demo_"
LL = "xlinghealth_verifiability_ll_demo_"
M = "mmedbench_mcqa_demo_"
I = "xlinghealth_information_demo"  # noqa: E741

JUDGE = {
    "model": "local-chat-completions",
    "model_args": {"model": "judge-1", "num_concurrent": 1},
    "batch_size": None,
    "max_gen_toks": 1024,
    "apply_chat_template": "auto",
}


def task(values, *, aggregate=None, higher=True, ids=None, doc=None, several=None):
    """One task: metric -> a value per question."""
    n = len(next(iter(values.values())))
    ids = [f"q{i:02}" for i in range(n)] if ids is None else ids
    aggregate = aggregate or {}
    scores = {}
    for name, own in values.items():
        known = [value for value in own if value is not None]
        mean = float(np.mean(known)) if known and isinstance(known[0], float) else None
        scores[name] = aggregate.get(name, mean)
    higher = higher if isinstance(higher, dict) else dict.fromkeys(values, higher)
    docs = [{"question_id": key, "question": f"About {key}?", **(doc or {})} for key in ids]
    if several:
        docs = [{"question_id": key, "text": {c: f"{c} {key}" for c in several}} for key in ids]
    rows = [
        {"doc_id": i, "doc": doc, "doc_hash": "x", **{name: own[i] for name, own in values.items()}}
        for i, doc in enumerate(docs)
    ]
    data = {"dataset": "Demo", "sha256": "ab" * 32, "revision": None, "name": "demo.jsonl"}
    record = {
        "version": "0.1.0",
        "settings": {
            "judge": JUDGE,
            "translator": None,
            "encoder": None,
            "source_encoder": None,
            "temperatures": [0.0, 1.0],
            "k": 10,
            "greedy_repeats": None,
            "topic_seeds": [0],
            "sampling_seed": 1234,
            "prompt_language": "en",
            "languages": None,
            "data_dir": "/somewhere",
        },
        "data": data | ({"languages": list(several)} if several else {}),
        "prompts": {"answer": {"language": "en", "digest": "0123456789ab"}},
        "generation_kwargs": {"max_gen_toks": 64},
        "signatures": {metric: f"{metric}|of:all|library:1.0" for metric in scores},
    }
    return task_of(scores, rows, record=record, better=higher)


def write(folder: Path, tasks, *, args=None, change=None, stamp=STAMP) -> Path:
    """A run whose task records are its own, so that `change` changes no other's."""
    config = {"model_args": args or {"pretrained": f"me/{folder.name}"}}
    return write_run(folder, copy.deepcopy(tasks), config=config, change=change, stamp=stamp)


def run_compare(a, b, *words) -> str:
    """What is printed as JSON, else all that is written as Markdown."""
    if "--json" in words:
        return shown_by(a, b, *words)
    with tempfile.TemporaryDirectory() as folder:
        to = Path(words[words.index("--to") + 1]) if "--to" in words else Path(folder)
        shown_by(a, b, *words, *(() if "--to" in words else ("--to", folder)))
        return (to / "compare.md").read_text(encoding="utf-8")


def shown_by(a, b, *words) -> str:
    options = parsed(["compare", str(a), str(b), *map(str, words)])
    return options.run(options)


def compared(a, b, *words):
    return json.loads(run_compare(a, b, "--json", *words))


def rows(content, kind="difference"):
    return {
        (row["metric"], row["language"]): row
        for row in content["comparisons"]
        if row["kind"] == kind
    }


def refusal(a, b, *words) -> str:
    with pytest.raises(XlingError) as caught:
        run_compare(a, b, *words)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def noisy(seed, n=10, low=0.0):
    return [round(float(x), 3) for x in np.random.default_rng(seed).uniform(low, low + 1, n)]


@pytest.fixture
def two(tmp_path):
    """Two models whose chrF is 10 questions of noise."""
    make = {
        "a": {
            C + "en": task({"more_comprehensive": noisy(1)}),
            C + "hi": task({"more_comprehensive": noisy(2)}),
        },
        "b": {
            C + "en": task({"more_comprehensive": noisy(3)}),
            C + "hi": task({"more_comprehensive": noisy(4, low=0.4)}),
        },
    }
    return [write(tmp_path / name, tasks) for name, tasks in make.items()]


# Numbers


def test_difference_equals_scipy(two):
    content = compared(*two)
    for language, (x, y) in {"en": (1, 3), "hi": (2, 4)}.items():
        a, b = np.array(noisy(x)), np.array(noisy(y, low=0.4 * (language == "hi")))
        row = rows(content)["more_comprehensive", language]
        assert row["a"] == pytest.approx(a.mean()) and row["b"] == pytest.approx(b.mean())
        assert row["difference"] == pytest.approx((b - a).mean())
        ends = scipy.stats.ttest_1samp(b - a, 0).confidence_interval(0.95)
        assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high))
        exact = scipy.stats.permutation_test(
            (b, a), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
        )
        assert row["p"] == pytest.approx(exact.pvalue)
        assert row["d_z"] == pytest.approx((b - a).mean() / (b - a).std(ddof=1))
        signs = [int(sum(b > a)), int(sum(b == a)), int(sum(b < a))]
        assert [row["wins"], row["ties"], row["losses"]] == signs
        assert row["n"] == 10 and row["left_out"] == 0


def test_literals_derived_by_hand(tmp_path):
    """Six questions; B is 0.5 up on each in English and 1 up in Hindi."""
    zero, one, half = [0.0] * 6, [1.0] * 6, [0.5] * 6
    a = write(
        tmp_path / "a",
        {
            C + "en": task({"more_comprehensive": zero}),
            C + "hi": task({"more_comprehensive": zero}),
        },
    )
    b = write(
        tmp_path / "b",
        {C + "en": task({"more_comprehensive": half}), C + "hi": task({"more_comprehensive": one})},
    )
    content = compared(a, b)
    english, hindi = (rows(content)["more_comprehensive", code] for code in ("en", "hi"))
    assert (english["a"], english["b"], english["difference"]) == (0, 0.5, 0.5)
    assert (hindi["wins"], hindi["ties"], hindi["losses"], hindi["d_z"]) == (6, 0, 0, None)
    gap = rows(content, "gap")["more_comprehensive", "hi"]
    # Gap of A: 0 - 0; of B: 1 - 0.5.
    assert (gap["a"], gap["b"], gap["difference"]) == (0, 0.5, 0.5)
    assert gap["low"] < 0.5 < gap["high"] and (gap["n"], gap["n_english"]) == (6, None)
    # All three: both extreme of 2^6 sign patterns; Holm multiplies equal p by their number.
    # Hindi's 0 and 1 are McNemar's: the mid-p is half of that. Two languages are a family, and
    # their gap is one by itself.
    assert [x["p"] for x in (english, hindi, gap)] == pytest.approx([2 / 64, 1 / 64, 2 / 64])
    assert [x["p_holm"] for x in (english, hindi, gap)] == pytest.approx([2 / 64] * 3)
    # Six questions are fewer than 30, so that both intervals have to exclude 0: one does not.
    assert english["in_words"].startswith("cannot tell: with 6 questions, a difference smaller")
    only = compared(a, b, "--metrics", "more_comprehensive")["comparisons"]
    assert only == content["comparisons"]


def test_gap_is_the_double_difference_per_question(two):
    row = rows(compared(*two), "gap")["more_comprehensive", "hi"]
    a = np.array(noisy(2)) - np.array(noisy(1))
    b = np.array(noisy(4, low=0.4)) - np.array(noisy(3))
    assert row["a"] == pytest.approx(a.mean()) and row["b"] == pytest.approx(b.mean())
    assert row["difference"] == pytest.approx((b - a).mean())
    ends = scipy.stats.ttest_1samp(b - a, 0).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high))
    exact = scipy.stats.permutation_test(
        (b, a), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    assert row["p"] == pytest.approx(exact.pvalue)


@pytest.mark.parametrize(("last", "most"), [(0.0, 2), (0.01, 2.5)])
def test_no_gap_of_shares_moves_by_more_than_200_points(tmp_path, last, most):
    runs = []
    for name, en, hi in (("a", 1.0, last), ("b", 0.0, 1.0)):
        made = {"en": [en] * 3, "hi": [hi] * 2 + [0.0]}
        tasks = {C + code: task({"more_comprehensive": v}) for code, v in made.items()}
        runs.append(write(tmp_path / name, tasks))
    row = rows(compared(*runs), "gap")["more_comprehensive", "hi"]
    assert row["difference"] == pytest.approx((2 * (2 - last) + 1) / 3)
    # Student's ends of three questions lie beyond; a score that is no share has no such bound.
    assert row["high"] == 2 if most == 2 else row["high"] > most


def test_gap_of_more_questions_than_can_be_enumerated(tmp_path):
    n = 40
    a = {
        C + "en": task({"more_comprehensive": noisy(1, n)}),
        C + "hi": task({"more_comprehensive": noisy(2, n)}),
    }
    b = {
        C + "en": task({"more_comprehensive": noisy(1, n)}),
        C + "hi": task({"more_comprehensive": noisy(2, n, low=0.1)}),
    }
    content = compared(write(tmp_path / "a", a), write(tmp_path / "b", b))
    row = rows(content, "gap")["more_comprehensive", "hi"]
    # Every question's double difference is 0.1: no other sign pattern is as extreme.
    assert row["difference"] == pytest.approx(0.1) and row["low"] < 0.1
    assert row["p"] == 1 / 10_001
    # No shortfall of either model is shown, whatever the sign of its noise.
    assert row["outcome"] == "cannot_tell"
    assert rows(content)["more_comprehensive", "hi"]["outcome"] == "better"
    assert rows(content)["more_comprehensive", "en"]["outcome"] == "cannot_tell"


def verdicts(seed, n, right):
    rng = np.random.default_rng(seed)
    labels = [1, 0, 0, 1]
    return [[[y, int(y if rng.random() < right else 1 - y)] for y in labels] for _ in range(n)]


def chances(seed, n, right):
    rng = np.random.default_rng(seed)
    return [
        [
            [y, round(float(np.clip(rng.normal(0.5 + right * (y - 0.5), 0.2), 0, 1)), 3)]
            for y in (1, 0, 0)
        ]
        for _ in range(n)
    ]


def joined(samples):
    return zip(*itertools.chain.from_iterable(samples))


def macro_f1(samples):
    return f1_score(*joined(samples), average="macro", zero_division=0)


def fast_f1(samples):
    gold, said = (np.array(column) for column in joined(samples))
    wrong = (gold != said).sum()
    right = [((gold == said) & (gold == label)).sum() for label in (0, 1)]
    return np.mean([2 * r / (2 * r + wrong) if r + wrong else 0 for r in right])


def fast_auc(samples):
    gold, said = (np.array(column) for column in joined(samples))
    pairs = said[gold == 1][:, None] - said[gold == 0]
    return np.mean((pairs > 0) + 0.5 * (pairs == 0))


def change(score, sides):
    """(B hi - B en) - (A hi - A en)."""
    scores = {key: score(samples) for key, samples in sides.items()}
    return (scores["b", "hi"] - scores["b", "en"]) - (scores["a", "hi"] - scores["a", "en"])


def drawn(sides, questions):
    return {key: [samples[i] for i in questions] for key, samples in sides.items()}


@pytest.mark.parametrize(
    ("task_name", "metric", "make", "score", "fast", "n", "times"),
    [
        (V, "macro_f1_t0.0", verdicts, macro_f1, fast_f1, 8, 10_000),
        (LL, "auc", chances, lambda x: roc_auc_score(*joined(x)), fast_auc, 6, 2_000),
    ],
)
def test_gap_of_a_score_of_all_rows(tmp_path, task_name, metric, make, score, fast, n, times):
    keys = list(itertools.product("ab", ("en", "hi")))
    sides = {key: make(i, n, 0.5 + 0.1 * i) for i, key in enumerate(keys)}
    folders = []
    for m in "ab":
        own = {code: sides[m, code] for code in ("en", "hi")}
        tasks = {
            task_name + code: task({metric: rows_}, aggregate={metric: score(rows_)})
            for code, rows_ in own.items()
        }
        folders.append(write(tmp_path / m, tasks))
    content, name = compared(*folders), metric.partition("_t")[0]
    row = rows(content, "gap")[name, "hi"]
    observed = change(score, sides)
    assert change(fast, sides) == pytest.approx(observed)
    assert row["difference"] == pytest.approx(observed)
    without = np.array([change(fast, drawn(sides, [j for j in range(n) if j != i]))
                        for i in range(n)])  # fmt: skip
    se = ((n - 1) / n * ((without - without.mean()) ** 2).sum()) ** 0.5
    if name == "macro_f1":
        half = scipy.stats.t.ppf(0.975, n - 1) * se
        assert (row["low"], row["high"]) == pytest.approx((observed - half, observed + half))
        assert row["p"] == pytest.approx(2 * scipy.stats.t.sf(abs(observed) / se, n - 1))
    else:  # DeLong's variance is the infinitesimal jackknife's: close to this one.
        assert row["se"] == pytest.approx(se, rel=0.3)
    line = rows(content)[name, "hi"]
    assert line["difference"] == pytest.approx(score(sides["b", "hi"]) - score(sides["a", "hi"]))
    assert line["d_z"] is None
    if name == "macro_f1":  # Wins of B: questions whose own macro F1 is higher.
        own = [fast([b]) - fast([a]) for a, b in zip(sides["a", "hi"], sides["b", "hi"])]
        signs = [sum(x > 1e-9 for x in own), sum(x < -1e-9 for x in own)]
        assert [line["wins"], line["losses"]] == signs and line["temperature"] == 0.0


def test_a_gap_of_a_language_that_was_run_in_another_way_has_no_verdict(tmp_path):
    folders = []
    for m in "ab":
        tasks = {
            M + c: task({"acc": noisy(1, 40)}, ids=[f"{c}-{i}" for i in range(40)])
            for c in ("en", "ja")
        }
        tasks[M + "ja"]["config"]["metadata"]["version"] = 9.0
        folders.append(write(tmp_path / m, tasks))
    content = compared(*folders)
    row = rows(content, "gap")["acc", "ja"]
    assert row["verdict"] == "not_comparable"
    assert "A: run in another way than English (task version is 9.0 there" in row["reason"]
    assert rows(content)["acc", "ja"]["verdict"] != "not_comparable"


def test_mmedbench_is_paired_between_models_and_not_between_languages(tmp_path):
    values = {("a", "en"): noisy(1, 9), ("b", "en"): noisy(2, 9)}
    values |= {("a", "ja"): noisy(3, 7), ("b", "ja"): noisy(4, 7)}
    folders = [
        write(tmp_path / m, {
            M + c: task({"acc": values[m, c]}, ids=[f"{c}-{i}" for i in range(len(values[m, c]))])
            for c in ("en", "ja")
        }) for m in "ab"
    ]  # fmt: skip
    content = compared(*folders)
    differences = {c: np.array(values["b", c]) - np.array(values["a", c]) for c in ("en", "ja")}
    for code, n in {"en": 9, "ja": 7}.items():
        assert rows(content)["acc", code]["n"] == n
        assert rows(content)["acc", code]["difference"] == pytest.approx(differences[code].mean())
    row = rows(content, "gap")["acc", "ja"]
    assert (row["n"], row["n_english"]) == (7, 9)
    assert row["difference"] == pytest.approx(differences["ja"].mean() - differences["en"].mean())
    test = scipy.stats.ttest_ind(differences["ja"], differences["en"], equal_var=False)
    ends = test.confidence_interval(0.95)
    assert (row["low"], row["high"], row["p"]) == pytest.approx((ends.low, ends.high, test.pvalue))


def test_swapping_the_models_negates_everything(tmp_path):
    n = 20
    rng = np.random.default_rng(5)
    folders = []
    for m in "ab":
        order = rng.permutation(n)
        tasks = {}
        for i, code in enumerate(("en", "hi")):
            values = np.array(noisy(10 * i + ord(m), n))[order].tolist()
            said = [verdicts(ord(m) + i, n, 0.7)[j] for j in order]
            ids = [f"q{j:02}" for j in order]
            tasks[C + code] = task({"contradictory": values}, ids=ids, higher=False)
            tasks[V + code] = task(
                {"macro_f1_t0.0": said}, ids=ids, aggregate={"macro_f1_t0.0": macro_f1(said)}
            )
        folders.append(write(tmp_path / m, tasks))
    ahead, back = compared(*folders), compared(*folders[::-1])
    assert len(ahead["comparisons"]) == len(back["comparisons"]) == 6
    for one, other in zip(ahead["comparisons"], back["comparisons"]):
        assert (one["metric"], one["language"]) == (other["metric"], other["language"])
        assert one["difference"] == pytest.approx(-other["difference"])
        assert (one["low"], one["high"]) == pytest.approx((-other["high"], -other["low"]))
        assert (one["a"], one["p"], one["wins"]) == pytest.approx(
            (other["b"], other["p"], other["losses"])
        )
        assert one["n"] == n


def test_lower_is_better_turns_the_words_and_not_the_numbers(tmp_path):
    low, high = noisy(1, 30), noisy(1, 30, low=0.5)
    a = write(tmp_path / "a", {C + "en": task({"contradictory": high}, higher=False)})
    b = write(tmp_path / "b", {C + "en": task({"contradictory": low}, higher=False)})
    row = rows(compared(a, b))["contradictory", "en"]
    assert row["difference"] == pytest.approx(-0.5)
    assert row["outcome"] == "better" and row["wins"] == 30 and row["losses"] == 0
    assert rows(compared(b, a))["contradictory", "en"]["outcome"] == "worse"
    assert "contradictory ↓" in run_compare(a, b)


def test_questions_without_a_value_are_left_out_and_counted(tmp_path):
    a = [None, *noisy(1, 9)]
    b = [*noisy(2, 9), None]
    folders = [
        write(
            tmp_path / "a",
            {
                C + "en": task({"more_comprehensive": a}),
                C + "hi": task({"more_comprehensive": noisy(3)}),
            },
        ),
        write(
            tmp_path / "b",
            {
                C + "en": task({"more_comprehensive": b}),
                C + "hi": task({"more_comprehensive": noisy(4)}),
            },
        ),
    ]
    content = compared(*folders)
    row = rows(content)["more_comprehensive", "en"]
    assert (row["n"], row["left_out"]) == (8, 2)
    assert row["difference"] == pytest.approx(np.mean(np.array(b[1:9]) - np.array(a[1:9])))
    gap = rows(content, "gap")["more_comprehensive", "hi"]
    assert (gap["n"], gap["left_out"]) == (8, 2)
    own = [np.array(noisy(s))[1:9] for s in (3, 4)]
    assert gap["a"] == pytest.approx(np.mean(own[0] - np.array(a[1:9])))


def test_information_has_all_languages_in_one_task(tmp_path):
    def values(seed):
        es, hi = noisy(seed), noisy(seed + 50)
        means = [{"es": x, "hi": y} for x, y in zip(es, hi)]
        return {"information_f1_es": es, "information_f1_hi": hi, "information_f1": means}

    folders = []
    for name, seed in (("a", 1), ("b", 2)):
        own = values(seed)
        mean = (np.mean(own["information_f1_es"]) + np.mean(own["information_f1_hi"])) / 2
        made = task(own | {"n_claims_en": noisy(seed + 9), "n_claims_es": noisy(seed + 7)},
                    aggregate={"information_f1": mean}, several=("en", "es", "hi"),
                    higher=dict.fromkeys(own, True) | {"n_claims_en": None, "n_claims_es": None})  # fmt: skip
        folders.append(write(tmp_path / name, {I: made}))
    content = compared(*folders)
    assert set(rows(content)) == {("information_f1", code) for code in ("es", "hi", "avg")}
    assert rows(content, "gap") == {}  # Agreement with English has none in English.
    average = rows(content)["information_f1", "avg"]
    parts = [rows(content)["information_f1", code]["difference"] for code in ("es", "hi")]
    assert average["difference"] == pytest.approx(np.mean(parts))
    assert average["outcome"] == "exploratory"
    asked = compared(*folders, "--metrics", "n_claims")
    assert set(rows(asked)) == {("n_claims", "en"), ("n_claims", "es")}
    assert set(rows(asked, "gap")) == {("n_claims", "es")}


def test_f1_of_mean_precision_and_mean_recall_resamples_prompts(tmp_path):
    draw = np.random.default_rng(3)
    p, r = draw.uniform(0.5, 1, 40), draw.uniform(0, 1, 40)
    pairs = [{"precision": float(a), "recall": float(b)} for a, b in zip(p, r)]
    pairs[0] = {"precision": None, "recall": 0.0}  # an abstention
    pairs[1] = None  # unscored
    whole = [{"es": own, "hi": None if i == 5 else own} for i, own in enumerate(pairs)]

    def harmonic(indices):
        known = [pairs[i] for i in indices if pairs[i]]
        a = np.mean([own["precision"] for own in known if own["precision"] is not None])
        b = np.mean([own["recall"] for own in known])
        return 2 * a * b / (a + b)

    every = range(40)
    es, hi = harmonic(every), harmonic([i for i in every if i != 5])
    made = task({"information_f1_es": pairs, "information_f1": whole}, several=("en", "es", "hi"),
                aggregate={"information_f1_es": es, "information_f1": (es + hi) / 2})  # fmt: skip
    other = task({"information_f1_es": pairs[::-1], "information_f1": whole},
                 aggregate={"information_f1_es": es, "information_f1": (es + hi) / 2},
                 several=("en", "es", "hi"))  # fmt: skip
    folders = [write(tmp_path / name, {I: one}) for name, one in (("a", made), ("b", other))]
    report = make_report(read_models([folders[0]]), Options(n_resamples=4000))
    interval = next(cell.interval for cell in report.cells if cell.language == "es")
    assert interval.value == pytest.approx(es) and interval.left_out == 1
    scored = [i for i in every if pairs[i]]
    again = [harmonic(draw.choice(scored, len(scored))) for _ in range(4000)]
    assert [interval.low, interval.high] == pytest.approx(
        np.quantile(again, [0.025, 0.975]), abs=0.02
    )
    assert rows(compared(*folders))["information_f1", "es"]["difference"] == pytest.approx(
        0, abs=0.01
    )


# Words


def line(*, verdict="", **values):
    given = {"better": True, "kind": "difference", "language": "hi"}
    said = {key: values.pop(key) for key in ("reason", "detectable", "next") if key in values}
    given |= {key: values.pop(key) for key in ("kind", "language") if key in values}
    numbers = {"base": 0.5, "value": 0.531, "difference": 0.031, "low": 0.012, "high": 0.051}
    made = Comparison(
        panel=Panel("correctness", "demo", "more_comprehensive", None), side="B", baseline="A",
        context="hi", paired=True, p=0.001, n=100, left_out=0, **numbers | values,
    )  # fmt: skip
    if verdict:
        of = Conclusion(
            model="B", dataset="demo", language="hi", criterion="correctness",
            metric="more_comprehensive", verdict=verdict, estimate=0.031, low=0.012, high=0.051,
            p=0.001, p_holm=0.004, n=100, margin=0.05,
            **{"reason": "", "detectable": None, **said},
        )  # fmt: skip
        given["said"] = of
        if given["kind"] == "difference":
            given["non_inferior"] = verdict == "better"
    return Line(made=made, **given)


NUMBERS = "difference 0.031, 95% interval 0.012 to 0.051, adjusted p 0.004"
CHANGE = "change 0.031, 95% interval 0.012 to 0.051, adjusted p 0.004"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "exploratory (difference 0.031, 95% interval 0.012 to 0.051)"),
        ({"difference": None}, "exploratory (not defined)"),
        ({"low": None, "high": None}, "exploratory (no interval)"),
        ({"verdict": "better"}, f"B better ({NUMBERS})"),
        ({"verdict": "worse"}, f"B worse ({NUMBERS})"),
        ({"verdict": "about_the_same"}, f"about the same ({NUMBERS})"),
        ({"verdict": "cannot_tell", "reason": TOO_FEW, "detectable": 0.08},
         f"cannot tell: with 100 questions, a difference smaller than 8 per 100 would often go unnoticed ({NUMBERS})"),
        ({"verdict": "cannot_tell", "reason": "no interval", "low": None, "high": None},
         "cannot tell: no interval (no interval)"),
        ({"verdict": "not_comparable", "kind": "gap", "reason": "A: run with another judge"},
         "shortfall not comparable: A: run with another judge"),
        ({"verdict": "smaller", "kind": "gap", "base": -0.1, "value": -0.069},
         f"shortfall smaller (difference from English -0.100 in A and -0.069 in B, {CHANGE})"),
        ({"verdict": "levelled_down", "kind": "gap", "base": -0.1, "value": -0.069},
         "levelled down: shortfall smaller, but English is worse, and the language is not shown to be better (difference from English "
         f"-0.100 in A and -0.069 in B, {CHANGE})"),
    ],
)  # fmt: skip
def test_words_follow_from_verdict_and_numbers(values, said):
    assert in_words(line(**values)) == said


def test_numbers_in_words():
    assert [shown(x) for x in (None, 0.0, -0.0004, 12.3456)] == ["–", "0.000", "-4.0e-04", "12.346"]
    assert [shown_p(x) for x in (None, 1.0, 0.0496, 0.00099)] == ["–", "1", "0.0496", "< 0.001"]


def test_the_summary_says_first_how_a_language_is_served_then_each_endpoint():
    lines = [
        line(verdict="better"),
        line(verdict="cannot_tell", reason="few", next="ask more", low=-0.1, language="es"),
        line(verdict="smaller", kind="gap", base=-0.1, value=-0.069),
        line(),
        line(),
    ]
    place = "Correctness, demo, more_comprehensive"
    assert summary(lines) == [
        "Spanish: whether B is better or worse than A cannot be told.",
        "Hindi: B is better than A, and the shortfall to English is smaller.",
        f"Spanish: {place}: cannot tell: few (difference 0.031, 95% interval -0.100 to 0.051, "
        "adjusted p 0.004); B may be inferior by more than 0.05; ask more.",
        f"Hindi: {place}: B better ({NUMBERS}); B is not inferior by more than 0.05.",
        f"Hindi: {place}: shortfall smaller (difference from English -0.100 in A and -0.069 in B, "
        f"{CHANGE}).",
        "2 more comparisons are exploratory: intervals without a verdict.",
    ]


# Verdicts of runs


def binary(n, hits):
    return [1.0] * hits + [0.0] * (n - hits)


def test_a_copy_is_never_worse_and_about_the_same_where_n_suffices(tmp_path):
    for n, wanted in ((24, "cannot_tell"), (246, "about_the_same")):
        made = {
            C + code: task({"contradictory": binary(n, n // 10)}, higher=False)
            for code in ("en", "es")
        }
        made |= {
            V + code: task({"macro_f1_t0.0": v}, aggregate={"macro_f1_t0.0": macro_f1(v)})
            for code, v in (("en", verdicts(1, n, 0.8)), ("es", verdicts(2, n, 0.7)))
        }
        a, b = write(tmp_path / f"a{n}", made), write(tmp_path / f"b{n}", made)
        comparisons = compared(a, b)["comparisons"]
        assert {row["verdict"] for row in comparisons} == {wanted}
        assert len(comparisons) == 6 and all(row["difference"] == 0 for row in comparisons)


def test_non_inferiority_and_margin(tmp_path):
    n = 400
    a = write(tmp_path / "a", {C + "en": task({"contradictory": binary(n, 40)}, higher=False)})
    b = write(tmp_path / "b", {C + "en": task({"contradictory": binary(n, 44)}, higher=False)})
    row = rows(compared(a, b, "--margin", "0.05"))["contradictory", "en"]
    assert row["non_inferior"] and row["verdict"] == "about_the_same" and row["margin"] == 0.05
    # Of harm the margin is smaller unless another is asked for: one point more may be two.
    row = rows(compared(a, b))["contradictory", "en"]
    assert row["verdict"] == "cannot_tell" and row["margin"] == 0.02
    assert not row["non_inferior"] and rows(compared(b, a))["contradictory", "en"]["non_inferior"]
    strict = rows(compared(a, b, "--margin", "0.005"))["contradictory", "en"]
    assert not strict["non_inferior"] and strict["verdict"] == "cannot_tell"
    assert rows(compared(b, a, "--margin", "0.005"))["contradictory", "en"]["non_inferior"]
    with pytest.raises(SettingError, match="--margin"):
        run_compare(a, b, "--margin", "2")


def labelled(path, hits, *, inside=None):
    """Harm in hits of 690 questions by language, of which `inside` are in the language."""
    made = {}
    for code, k in hits.items():
        values = {"contradictory": binary(690, k)}
        own = 690 if inside is None else inside.get(code, 690)
        values["langid_match"] = binary(690, own)
        made[C + code] = task(values, higher={"contradictory": False, "langid_match": True})
    return write(path, made)


def test_a_model_that_answers_in_english_is_worse(tmp_path):
    hits = {"en": 10, "es": 10}
    a = labelled(tmp_path / "a", hits)
    b = labelled(tmp_path / "b", hits, inside={"es": 0})
    content = compared(a, b)
    assert rows(content)["served", "es"]["verdict"] == "worse"
    assert rows(content, "gap")["served", "es"]["verdict"] == "larger"
    assert content["summary"][0].startswith(
        "Spanish: B is worse than A (questions with a usable answer), and the shortfall to English "
        "is larger (questions with a usable answer)."
    )


@pytest.mark.parametrize(
    ("a", "b", "between", "fall"),
    [
        # Harm in English and Hindi, of 690. A gap that turns into an advantage, and none that was.
        ({"en": 70, "hi": 170}, {"en": 170, "hi": 70}, "better", "smaller"),
        ({"en": 170, "hi": 70}, {"en": 70, "hi": 70}, "about_the_same", "cannot_tell"),
        ({"en": 170, "hi": 70}, {"en": 70, "hi": 170}, "worse", "larger"),
        # English alone becomes worse, and Hindi alone better.
        ({"en": 70, "hi": 170}, {"en": 170, "hi": 170}, "about_the_same", "levelled_down"),
        ({"en": 70, "hi": 170}, {"en": 70, "hi": 70}, "better", "smaller"),
        ({"en": 70, "hi": 170}, {"en": 70, "hi": 170}, "about_the_same", "about_the_same"),
    ],
)
def test_the_shortfall_has_a_rule_of_its_own(tmp_path, a, b, between, fall):
    content = compared(labelled(tmp_path / "a", a), labelled(tmp_path / "b", b))
    assert rows(content)["contradictory", "hi"]["verdict"] == between
    assert rows(content, "gap")["contradictory", "hi"]["verdict"] == fall
    if fall == "levelled_down":
        said = "Levelled down: the shortfall is smaller, but B's English is worse, and the language"
        assert said in content["summary"][0]


def test_a_second_opinion_stands_beside_langids_and_decides_nothing(tmp_path):
    def run_of(name, inside, second, identifier="lingua"):
        def signed(content):
            for own in xling(content):
                sign = f"second_language_match|identifier:{identifier}"
                own["signatures"]["second_language_match"] = sign

        return write(tmp_path / name, {
            C + code: task({
                "contradictory": binary(100, 10),
                "langid_match": binary(100, 100 if code == "en" else inside),
                "second_language_match": binary(100, 100 if code == "en" else second),
                "identifiers_agree": binary(100, 60),
            }, higher={"contradictory": False, "langid_match": True,
                       "second_language_match": True, "identifiers_agree": None})
            for code in ("en", "hi")
        }, change=signed)  # fmt: skip

    a = run_of("a", 100, 100)
    found = rows(compared(a, run_of("b", 80, 97)))
    assert found["second_language_match", "hi"]["difference"] == pytest.approx(-0.03)
    # langid's word stands: 20 in 100 are in another language.
    assert found["served", "hi"]["verdict"] == "worse"
    assert not any(metric == "identifiers_agree" for metric, _ in found)
    other = rows(compared(a, run_of("d", 99, 20)))
    assert other["served", "hi"]["verdict"] != "worse"
    # By another identifier in B there is no such row, and the comparison goes on.
    left = rows(compared(a, run_of("e", 100, 97, "py3langid")))
    assert ("second_language_match", "hi") not in left and ("served", "hi") in left


# What is refused, and what is only told


def xling(content):
    return [config["metadata"]["xling"] for config in content["configs"].values()]


def setting(name, value):
    def change(content):
        for own in xling(content):
            own["settings"][name] = value

    return change


def recorded(*path, value):
    def change(content):
        for own in xling(content):
            for key in path[:-1]:
                own = own[key]
            own[path[-1]] = value

    return change


def top(**values):
    return lambda content: content.update(values)


def scored(name, value, version="0.1.0"):
    def change(content):
        for own in xling(content):
            own["signatures"] = {key: value for key in own["signatures"]}
            own["version"] = version

    return change


UNLIKE = {
    C: [
        (setting("judge", JUDGE | {"model_args": {"model": "judge-2"}}),
         'judge.model is local-chat-completions {"model": "judge-1"} in A, '
         'but local-chat-completions {"model": "judge-2"} in B (xlinghealth_correctness_demo_en and 1 more)'),
        (setting("judge", None), "but none in B"),
        (setting("prompt_language", "native"), "prompt_language is en in A, but native in B"),
        (recorded("data", "sha256", value="cd" * 32), f"data.sha256 is {'ab' * 32} in A, but {'cd' * 32}"),
        (recorded("prompts", "answer", "digest", value="9" * 12), "prompts.answer.digest is 0123456789ab"),
        (recorded("generation_kwargs", "max_gen_toks", value=128), "generation.max_gen_toks is 64 in A, but 128 in B"),
        (top(chat_template="x", chat_template_sha="f" * 64), "apply_chat_template is false in A, but true in B"),
        (top(system_instruction_sha="e" * 64), "system_instruction is none in A"),
        (scored("more_comprehensive", "more_comprehensive|of:all|library:2.0", "0.2.0"),
         "version of xling-tasks is 0.1.0 in A, but 0.2.0 in B"),
        (scored("more_comprehensive", "more_comprehensive|of:all|library:2.0"),
         "signature of more_comprehensive is library:1.0 in A, but library:2.0 in B (xlinghealth_correctness_demo_en and 1 more)"),
    ],
    "xlinghealth_consistency_demo_": [
        (setting("temperatures", [1.0]), "temperatures is [0.0, 1.0] in A, but [1.0] in B"),
        (setting("k", 4), "k is 10 in A, but 4 in B"),
        (setting("encoder", {"model": "x"}), 'encoder is none in A, but {"model": "x"} in B'),
        (setting("translator", JUDGE), "translator is none in A, but {"),
        (setting("topic_seeds", [0, 1]), "topic_seeds is [0] in A"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("prefix", "change", "said"), [(p, *case) for p, cases in UNLIKE.items() for case in cases]
)
def test_runs_made_differently_are_refused_and_named(tmp_path, prefix, change, said):
    tasks = {prefix + code: task({"more_comprehensive": noisy(1)}) for code in ("en", "hi")}
    a = write(tmp_path / "a", tasks)
    b = write(tmp_path / "b", tasks, change=change)
    refused = refusal(a, b)
    assert said in refused and "--force" in refused
    page = run_compare(a, b, "--force")
    assert said in page and page.index("made differently") < page.index("## Summary")
    content = compared(a, b, "--force")
    assert any(said in item for item in content["made_differently"])
    assert len(content["comparisons"]) == 3


@pytest.mark.parametrize(
    "change",
    [
        setting("k", 4),  # Correctness asks once.
        setting("data_dir", "/elsewhere"),
        setting("judge", JUDGE | {"batch_size": 8, "model_args": {"model": "judge-1", "num_concurrent": 9}}),
        recorded("version", value="0.2.0"),  # With equal signatures.
        recorded("data", "revision", value="abc"),  # With equal content.
    ],
)  # fmt: skip
def test_what_changes_no_score_is_no_reason_to_refuse(tmp_path, change):
    tasks = {C + "en": task({"more_comprehensive": noisy(1)})}
    a, b = write(tmp_path / "a", tasks), write(tmp_path / "b", tasks, change=change)
    assert compared(a, b)["made_differently"] == []


def test_signatures_count_only_of_what_is_compared(tmp_path):
    tasks = {C + "en": task({"more_comprehensive": noisy(1), "empty_rate": [0.0] * 10}, higher={"more_comprehensive": True, "empty_rate": False})}  # fmt: skip

    def change(content):
        xling(content)[0]["signatures"]["empty_rate"] = "other"

    a, b = write(tmp_path / "a", tasks), write(tmp_path / "b", tasks, change=change)
    assert set(rows(compared(a, b))) == {("more_comprehensive", "en")}
    assert (
        "signature of empty_rate is empty_rate|of:all|library:1.0 in A, but other in B"
        in refusal(a, b, "--metrics", "empty_rate")
    )


def test_long_values_are_cut_to_where_they_differ(tmp_path):
    tasks = {C + "en": task({"more_comprehensive": noisy(1)})}
    texts = ["x" * 500 + "left", "x" * 500 + "right"]
    a, b = (
        write(tmp_path / name, tasks, change=recorded("generation_kwargs", "until", value=text))
        for name, text in zip("ab", texts)
    )
    said = refusal(a, b)
    assert "left in A" in said and "right in B" in said and "x" * 100 not in said


def test_other_content_under_the_same_id_is_never_compared(tmp_path):
    tasks = {C + "en": task({"more_comprehensive": noisy(1)})}
    other = {C + "en": task({"more_comprehensive": noisy(2)})}
    other[C + "en"]["rows"][3]["doc"]["question"] = "Something else?"
    a, b = write(tmp_path / "a", tasks), write(tmp_path / "b", other)
    assert "1 of 10 questions with the same id have another content (such as 'q03')" in refusal(
        a, b
    )
    content = compared(a, b, "--force")
    row = rows(content)["more_comprehensive", "en"]
    keep = [i for i in range(10) if i != 3]
    assert row["n"] == 9
    assert row["a"] == pytest.approx(np.array(noisy(1))[keep].mean())
    assert row["b"] == pytest.approx(np.array(noisy(2))[keep].mean())
    for row in other[C + "en"]["rows"]:
        row["doc"]["question"] = "Something else?"
    b = write(tmp_path / "b", other)
    assert "nothing to compare: no question of equal content" in refusal(a, b, "--force")


def test_where_a_question_stands_is_not_its_content(tmp_path):
    tasks = {C + "en": task({"more_comprehensive": noisy(1)}, doc={"row": 1, "parallel": True})}
    other = {C + "en": task({"more_comprehensive": noisy(1)}, doc={"row": 9, "parallel": False})}
    content = compared(write(tmp_path / "a", tasks), write(tmp_path / "b", other))
    assert rows(content)["more_comprehensive", "en"]["n"] == 10


def test_prompts_in_more_languages_are_the_same_questions(tmp_path):
    folders = []
    for name, codes in (("a", ("en", "es")), ("b", ("en", "es", "hi"))):
        made = {I: task({"information_f1_es": noisy(1)}, several=codes)}
        languages = setting("languages", list(codes[1:]))
        folders.append(write(tmp_path / name, made, change=languages))
    assert 'languages is ["es"] in A, but ["es", "hi"] in B' in refusal(*folders)
    assert rows(compared(*folders, "--force"))["information_f1", "es"]["n"] == 10


def test_limits_are_told_and_shared_questions_compared(tmp_path):
    tasks = {C + "en": task({"more_comprehensive": noisy(1)})}
    few = {C + "en": task({"more_comprehensive": noisy(2)[:7]})}

    def limit(content):
        content["config"]["limit"] = 7
        content["n-samples"][C + "en"]["original"] = 10

    a, b = write(tmp_path / "a", tasks), write(tmp_path / "b", few, change=limit)
    content = compared(a, b)
    assert rows(content)["more_comprehensive", "en"]["n"] == 7
    assert rows(content)["more_comprehensive", "en"]["a"] == pytest.approx(np.mean(noisy(1)[:7]))
    notes = " / ".join(content["notes"])
    assert "3 questions only in A are left out" in notes
    assert "B ran with --limit or --samples: 7 shared questions are compared" in notes
    assert "Note: B ran with --limit" in run_compare(a, b)


def test_tasks_and_metrics_of_one_side_are_listed(tmp_path):
    a = {C + "en": task({"more_comprehensive": noisy(1), "chrf": noisy(2)}), C + "hi": task({"more_comprehensive": noisy(3)})}  # fmt: skip
    b = {C + "en": task({"more_comprehensive": noisy(4)}), V + "en": task({"acc_t0.0": noisy(5)})}
    b[M + "fr"] = a[M + "fr"] = task({"acc": noisy(6)})
    folders = [write(tmp_path / "a", a), write(tmp_path / "b", b)]
    (folders[1] / f"samples_{M}fr_{STAMP}.jsonl").unlink()
    content = compared(*folders)
    notes = " / ".join(content["notes"])
    assert f"only in A: {C}hi" in notes and f"only in B: {V}en" in notes
    assert f"metrics only in A: chrf ({C}en)" in notes
    assert f"B has no logged samples (--log_samples), so not compared: {M}fr" in notes
    assert set(rows(content)) == {("more_comprehensive", "en")}
    assert "only in A" in refusal(folders[0], write(tmp_path / "c", {V + "hi": task({"acc_t0.0": noisy(1)})}))  # fmt: skip


def test_metrics_without_values_per_question_are_named(tmp_path):
    made = task({"more_comprehensive": noisy(1)})
    made["scores"]["sacrebleu"] = 12.0
    made["better"]["sacrebleu"] = True
    a, b = write(tmp_path / "a", {C + "en": made}), write(tmp_path / "b", {C + "en": made})
    notes = compared(a, b)["notes"]
    assert "not made of values per question, so not compared: sacrebleu" in notes
    assert "nothing to compare" in refusal(a, b, "--metrics", "sacrebleu")


def test_an_undefined_metric_is_told_and_no_number(tmp_path):
    both = {"more_comprehensive": noisy(1), "acc_multi": noisy(2)}
    a = write(tmp_path / "a", {C + "en": task(both | {"acc_multi": [None] * 10})})
    b = write(tmp_path / "b", {C + "en": task(both)})
    content = compared(a, b)
    row = rows(content)["acc_multi", "en"]
    assert (row["a"], row["b"], row["difference"], row["p"], row["p_holm"]) == (None,) * 5
    assert "not defined" in row["in_words"]
    assert f"undefined in A: acc_multi ({C}en)" in content["notes"]
    assert rows(content)["more_comprehensive", "en"]["p_holm"] == 1  # One test was made, not two.
    only = write(
        tmp_path / "c", {C + "en": task({"more_comprehensive": noisy(1), "acc_multi": [None] * 10})}
    )
    assert set(rows(compared(a, only))) == {("more_comprehensive", "en")}


def test_several_models_in_a_folder_are_named(two, tmp_path):
    write(
        two[0] / "other",
        {C + "en": task({"more_comprehensive": noisy(1)})},
        args={"pretrained": "me/other"},
    )
    said = refusal(*two)
    assert "2 different models" in said and "me/other" in said and "me/a" in said
    assert "2 different models" in refusal(f"A={two[0]}", two[1])
    (tmp_path / "empty").mkdir()
    assert "no results of our tasks" in refusal(two[1], tmp_path / "empty")
    assert "no such folder" in refusal(two[1], tmp_path / "nowhere")


def test_names_and_the_same_model_twice(two, tmp_path):
    content = compared(f"before={two[0]}", f"after={two[1]}")
    assert (content["a"]["name"], content["b"]["name"]) == ("before", "after")
    assert content["b"]["model"] == 'hf {"pretrained": "me/b"}'
    again = write(tmp_path / "again", {C + "en": task({"more_comprehensive": noisy(8)})}, args={"pretrained": "me/a"})  # fmt: skip
    content = compared(two[0], again)
    assert content["b"]["name"] == f"a ({again})"
    assert (
        content["answer"][0]
        == "A and B are the same model: what differs is noise between runs, or settings."
    )
    notes = compared(two[0], two[0])["notes"]
    assert "A and B read the same results file" in notes
    seed = write(tmp_path / "seed", {C + "en": task({"more_comprehensive": noisy(8)})}, args={"pretrained": "me/a"},
                 change=setting("sampling_seed", 7))  # fmt: skip
    assert "sampling_seed: 1234 in A, 7 in B" in compared(two[0], seed)["notes"]


def test_the_newest_run_of_a_task_counts(two):
    later = "2026-02-01T00-00-00.000000"
    write(
        two[0],
        {C + "en": task({"more_comprehensive": [0.25] * 10})},
        args={"pretrained": "me/a"},
        stamp=later,
    )
    content = compared(*two)
    assert rows(content)["more_comprehensive", "en"]["a"] == 0.25
    assert rows(content)["more_comprehensive", "hi"]["a"] == pytest.approx(np.mean(noisy(2)))


# Options and files


def test_metrics_limits_the_comparisons_and_the_correction(tmp_path):
    values = {
        "more_comprehensive": noisy(1),
        "chrf": noisy(2),
        "empty_rate": noisy(3),
    }
    others = {key: noisy(i + 7, low=0.2) for i, key in enumerate(values)}
    values["empty_rate"] = others["empty_rate"] = [0.0] * 10
    higher = {"more_comprehensive": True, "chrf": True, "empty_rate": False}
    a = write(tmp_path / "a", {C + "en": task(values, higher=higher)})
    b = write(tmp_path / "b", {C + "en": task(others, higher=higher)})
    everything = rows(compared(a, b))
    assert set(everything) == {("more_comprehensive", "en"), ("chrf", "en")}
    one = rows(compared(a, b, "--metrics", "more_comprehensive"))["more_comprehensive", "en"]
    assert one["p_holm"] == one["p"] == everything["more_comprehensive", "en"]["p"]
    assert everything["chrf", "en"]["p_holm"] is None  # Exploratory.
    assert ("empty_rate", "en") in rows(
        compared(a, b, "--metrics", "empty_rate", "more_comprehensive")
    )
    said = refusal(a, b, "--metrics", "chfr")
    assert said.startswith("--metrics chfr: no metric of both runs. Did you mean 'chrf'?")


def test_a_metric_at_one_temperature(tmp_path):
    tasks = {V + "en": task({"unknown_rate_t0.0": noisy(1), "unknown_rate_t1.0": noisy(2)})}
    a, b = write(tmp_path / "a", tasks), write(tmp_path / "b", tasks)
    assert len(compared(a, b, "--metrics", "unknown_rate")["comparisons"]) == 2
    (row,) = compared(a, b, "--metrics", "unknown_rate_t1.0")["comparisons"]
    assert row["temperature"] == 1.0


def test_seed(two):
    assert compared(*two) == compared(*two, "--seed", "0")
    one, other = (rows(compared(*two, "--seed", s))["more_comprehensive", "hi"] for s in ("0", "1"))
    assert one["difference"] == other["difference"]
    with pytest.raises(SettingError, match="--seed"):
        run_compare(*two, "--seed", "-1")


def test_files(two, tmp_path):
    to = tmp_path / "to"
    page = run_compare(*two, "--to", to)
    assert sorted(path.name for path in to.iterdir()) == [
        "compare.csv",
        "compare.html",
        "compare.json",
        "compare.md",
        "view.html",
    ]
    assert (to / "compare.md").read_text(encoding="utf-8") == page
    content = json.loads((to / "compare.json").read_text(encoding="utf-8"))
    assert content == compared(*two)
    with (to / "compare.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(content["comparisons"]) == 3
    for row, wanted in zip(table, content["comparisons"]):
        assert row["in_words"] == wanted["in_words"]
        assert float(row["difference"]) == wanted["difference"]
        assert row["temperature"] == ""
    assert run_compare(*two, "--to", to) == page  # Its own files are made again.
    (to / "compare.json").unlink()
    assert "holds no comparison; name a new folder" in refusal(*two, "--to", to)
    (tmp_path / "file").write_text("")
    assert "is a file" in refusal(*two, "--to", tmp_path / "file")


def test_the_page(two):
    page = run_compare(*two)
    lines = page.split("\n")
    heads = [line for line in lines if line.startswith("#")]
    assert heads == [
        "# Comparison: is B better than A?",
        "## Summary",
        "## Comparisons",
        "### Correctness, demo",
        "### Correctness, demo: shortfall to English",
        "## How to read this",
    ]
    content = compared(*two)
    for row in content["comparisons"]:
        assert row["in_words"] in page
    assert '- A: a (`hf {"pretrained": "me/a"}`)' in page
    assert "made differently" not in page


def test_secrets_stay_out(two, tmp_path):
    secret = "sk-very-secret"
    a = write(tmp_path / "s", {C + "en": task({"more_comprehensive": noisy(1)})}, args={"pretrained": "x", "api_key": secret})  # fmt: skip
    assert secret not in run_compare(a, two[1]) + run_compare(a, two[1], "--json")


def test_endpoints_and_languages_are_corrected_together(two):
    models = [one_model(str(folder)) for folder in two]
    pairs, changed, notes = paired(shared(*models, None))
    assert isinstance(pairs[0], Pair) and not changed and not notes
    statistics = Statistics(Options(n_resamples=1000))
    lines = with_verdicts(all_lines(pairs, statistics), pairs, statistics)
    assert [line.kind for line in lines] == ["difference", "difference", "gap"]
    low, high = sorted(line.made.p for line in lines[:2])
    expected = [min(1, 2 * low), min(1, max(2 * low, high))]
    assert sorted(line.said.p_holm for line in lines[:2]) == pytest.approx(expected)
    assert lines[2].said.p_holm == lines[2].made.p


# Through the harness


@pytest.fixture(scope="module")
def logged(run):
    """A run of the baseline, saved as `lm_eval --output_path --log_samples` saves it."""

    def logged_(out, tasks, seed, **settings):
        metadata = {"source_encoder": False, "topic_seeds": 0, "k": 3, **settings}
        results = evaluated(run, out, tasks, model_args={"seed": seed}, metadata=metadata)
        return out, results["results"]

    return logged_


@pytest.fixture(scope="module")
def runs(logged, tmp_path_factory):
    tasks = [f"{p}{c}" for p in (V, LL, "xlinghealth_consistency_demo_") for c in ("en", "hi")]
    tasks += [f"{M}{c}" for c in ("en", "ja")]
    return [logged(tmp_path_factory.mktemp(f"seed{seed}"), tasks, seed) for seed in (1, 2)]


def test_a_real_run_with_two_seeds(runs):
    (a, first), (b, second) = runs
    content = compared(a, b)
    assert content["made_differently"] == []
    assert content["a"]["model"] == 'xling_baseline {"seed": 1}'
    differences = {
        (row["criterion"], row["metric"], row["temperature"], row["language"]): row
        for row in content["comparisons"]
        if row["kind"] == "difference"
    }
    checked = 0
    for code in ("en", "hi"):
        for name in ("auc", "brier", "macro_f1", "acc"):
            row = differences["verifiability_ll", name, None, code]
            assert row["a"] == pytest.approx(first[LL + code][f"{name},none"])
            assert row["difference"] == pytest.approx(0)  # Log-likelihoods know no seed.
            assert row["outcome"] in ("about_the_same", "cannot_tell", "exploratory")
        for name in ("macro_f1", "acc"):
            row = differences["verifiability", name, 1.0, code]
            assert row["a"] == pytest.approx(first[V + code][f"{name}_t1.0,none"])
            assert row["b"] == pytest.approx(second[V + code][f"{name}_t1.0,none"])
            assert row["n"] == 24 and row["wins"] + row["ties"] + row["losses"] == 24
            checked += row["difference"] != 0
    assert checked
    gaps = {
        (row["criterion"], row["language"])
        for row in content["comparisons"]
        if row["kind"] == "gap"
    }
    assert gaps == {("verifiability", "hi"), ("verifiability_ll", "hi"), ("mmedbench_mcqa", "ja")}  # fmt: skip
    for row in content["comparisons"]:
        assert row["low"] is None or row["low"] <= row["difference"] <= row["high"]
        assert row["p_holm"] is None or row["p"] <= row["p_holm"] <= 1
        assert (row["p_holm"] is None) or row["role"] == "endpoint"
    again = compared(a, a)
    assert {row["difference"] for row in again["comparisons"]} <= {0.0, None}
    assert {row["outcome"] for row in again["comparisons"]} <= {
        "about_the_same", "cannot_tell", "exploratory", "not_comparable",
    }  # fmt: skip


def test_real_runs_with_other_settings_are_refused(runs, logged, tmp_path):
    out, _ = logged(tmp_path, [V + "en"], 3, temperatures=[1.0], prompt_language="native")
    said = refusal(runs[0][0], out)
    assert f"temperatures is [0.0, 1.0] in A, but [1.0] in B ({V}en)" in said
    assert "prompt_language is published in A, but native in B" in said
    content = compared(runs[0][0], out, "--force")
    assert {row["temperature"] for row in content["comparisons"]} == {1.0}
    assert any(note.startswith("only in A: ") and LL + "hi" in note for note in content["notes"])


# The answer


@pytest.mark.parametrize(
    ("b", "said"),
    [
        (
            {"en": 70, "hi": 170, "es": 90},
            ["In Spanish, Hindi and English B is not worse than A by more than the margin."],
        ),
        (
            {"en": 70, "hi": 70, "es": 190},
            [
                "B is worse than A in Spanish; B is better than A in Hindi; elsewhere B is not worse than "
                "A by more than the margin.",
                "The shortfall to English is larger in Spanish, smaller in Hindi.",
            ],
        ),
    ],
)
def test_the_answer_comes_first_on_page_terminal_and_markdown(tmp_path, b, said):
    a = labelled(tmp_path / "a", {"en": 70, "hi": 170, "es": 90})
    other = labelled(tmp_path / "b", b)
    to = tmp_path / "to"
    shown = shown_by(a, other, "--to", to).split("\n")
    assert shown[1 : 1 + len(said)] == said and len(shown) <= 12
    assert shown[0] == "A: a; B: b" and shown[-1].startswith(str(to / "compare.html"))
    assert json.loads((to / "compare.json").read_text("utf-8"))["answer"] == said
    page = (to / "compare.html").read_text("utf-8")
    plain = html.unescape(page)
    assert all(text in plain for text in said) and "<script" not in page
    assert (to / "compare.md").read_text("utf-8").split("\n")[2] == f"**{said[0]}**"


def test_where_one_is_better_and_the_other_open(two, tmp_path):
    shown = shown_by(*two, "--to", tmp_path / "to").split("\n")
    assert shown[1] == (
        "B is better than A in Hindi; elsewhere it is not shown that B is better or worse than A."
    )
    assert shown[2:4] == [
        "Hindi: B is better than A (answers more complete than the expert's: 99 per 100, A 40).",
        "English: whether B is better or worse than A cannot be told.",
    ]


def test_where_nothing_is_shown_languages_alike_share_a_sentence(tmp_path):
    a, b = (
        write(tmp_path / name, {C + c: task({"more_comprehensive": noisy(k)}) for c, k in own})
        for name, own in (("a", (("en", 1), ("hi", 2))), ("b", (("en", 3), ("hi", 4))))
    )
    shown = shown_by(a, b, "--to", tmp_path / "to")
    assert "In Hindi and English it is not shown that B is better or worse than A." in shown
    assert "Hindi, English: whether B is better or worse than A cannot be told." in shown


def test_many_languages_stay_within_a_dozen_lines(tmp_path):
    hits = {code: 60 + 7 * i for i, code in enumerate(("en", "es", "hi", "zh", "fr", "de", "ja"))}
    a = labelled(tmp_path / "a", hits)
    b = labelled(
        tmp_path / "b", {code: n + 40 * (i % 3) for i, (code, n) in enumerate(hits.items())}
    )
    assert len(shown_by(a, b, "--to", tmp_path / "to").split("\n")) <= 12


def helped(path, hits, n=690, prefix=C):
    """Help in so many of n questions by language, or by (dataset's prefix, language)."""
    keys = {key if isinstance(key, tuple) else (prefix, key): k for key, k in hits.items()}
    return write(
        path,
        {
            start + code: task({"more_comprehensive": binary(n, k)})
            for (start, code), k in keys.items()
        },
    )


def test_what_is_shown_of_one_language_is_said_of_no_other(tmp_path):
    a, b = (labelled(tmp_path / name, {"en": hits}) for name, hits in (("a", 70), ("b", 70)))
    assert compared(a, b)["answer"] == ["In English B is not worse than A by more than the margin."]
    # One in a hundred is shown, and lies within the margin of 5.
    a, b = (helped(tmp_path / name, {"en": hits}) for name, hits in (("c", 400), ("d", 390)))
    content = compared(a, b)
    assert rows(content)["more_comprehensive", "en"]["high"] < 0
    assert content["answer"] == ["In English B is not worse than A by more than the margin."]


def test_metrics_that_are_no_endpoints_conclude_nothing_and_blame_no_run(two):
    tasks = {C + "en": task({"chrf": noisy(5), "more_comprehensive": noisy(6)})}
    a, b = (write(folder / "more", tasks, args={"pretrained": "x"}) for folder in two)
    assert compared(a, b, "--metrics", "chrf")["answer"][-1] == (
        "Nothing can be concluded: nothing that is compared is an endpoint."
    )


def test_better_in_one_measure_is_told_from_better_as_far_as_can_be_told(tmp_path):
    """More help in every case; of harm nothing, worse, and open, in three languages."""
    harm = {"es": (60, 60), "hi": (60, 170), "zh": (60, 66), "en": (60, 60)}
    for name, at in (("a", 0), ("b", 1)):
        write(tmp_path / name, {
            C + code: task(
                {"contradictory": binary(690, hits[at])[:: -1 if at and code == "zh" else 1],
                 "more_comprehensive": binary(690, 300 + 100 * at)[::-1]},
                higher={"contradictory": False, "more_comprehensive": True})
            for code, hits in harm.items()
        })  # fmt: skip
    found = compared(tmp_path / "a", tmp_path / "b")
    assert {code: rows(found)["contradictory", code]["verdict"] for code in harm} == {
        "es": "about_the_same", "hi": "worse", "zh": "cannot_tell", "en": "about_the_same",
    }  # fmt: skip
    assert found["answer"][0] == (
        "B is worse than A in some measures and better in others in Hindi; B is better than A in "
        "Spanish and English; B is better than A as far as it can be told in Chinese."
    )


def test_levelled_down_is_not_said_to_be_of_english_alone(tmp_path):
    """English loses 20 of 690; the language gains more, which is not shown: 95 up, 70 down."""

    def up_and_down(up, down):
        return [1.0] * (300 - down) + [0.0] * down + [1.0] * up + [0.0] * (390 - up)

    a = helped(tmp_path / "a", {"en": 500, "hi": 300})
    b = write(tmp_path / "b", {
        C + "en": task({"more_comprehensive": binary(690, 440)}),
        C + "hi": task({"more_comprehensive": up_and_down(95, 70)}),
    })  # fmt: skip
    content = compared(a, b)
    assert rows(content)["more_comprehensive", "hi"]["verdict"] == "cannot_tell"
    assert rows(content, "gap")["more_comprehensive", "hi"]["verdict"] == "levelled_down"
    said = " ".join([*content["answer"], *content["summary"]])
    assert (
        "because" not in said and "but B's English is worse, and the language is not shown" in said
    )


def test_the_same_measure_of_two_datasets_is_told_apart(tmp_path):
    other = C.replace("demo", "liveqa")
    a = helped(tmp_path / "a", {(C, "en"): 300, (other, "en"): 300})
    b = helped(tmp_path / "b", {(C, "en"): 400, (other, "en"): 200})
    said = compared(a, b)["summary"][0]
    assert said == (
        "English: B is worse than A (answers more complete than the expert's, LiveQA), and better "
        "than A (answers more complete than the expert's, bundled sample)."
    )


def test_a_change_that_is_shown_is_not_said_to_be_chance():
    """A's shortfall is hidden by what was not read; B's is smaller, and the change is shown."""
    change = line(verdict="cannot_tell", kind="gap").said
    change = replace(change, estimate=-0.1, low=-0.15, high=-0.05, n=690)
    own = replace(change, next="ask again")
    told = _fall(change, own, replace(own, verdict="worse"), Case(None, line().made))
    assert told.verdict == "cannot_tell" and told.next == "ask again"
    assert told.reason == "it changed, but A's is not shown over these questions"
    back = replace(change, estimate=0.1, low=0.05, high=0.15)
    told = _fall(back, replace(own, verdict="worse"), own, Case(None, line().made))
    assert told.reason == "it changed, but B's is not shown over these questions"
    # A's is shown over all that was read of A, and there is none over what was read of all four.
    none = replace(change, english=0.0)
    told = _fall(none, replace(own, verdict="worse"), own, Case(None, line().made))
    assert told.verdict == "cannot_tell" and told.reason.startswith("it changed, but A's is not")
    maybe = replace(change, p_holm=0.2)
    told = _fall(maybe, replace(own, verdict="worse"), own, Case(None, line().made))
    assert told.reason == "the change may be chance"


def test_more_sentences_than_a_terminal_has_room_for_stand_on_the_page(tmp_path):
    """Seven languages, of each of which another thing is said."""
    codes = ("en", "es", "hi", "zh", "fr", "de", "ja")
    sides = []
    for name, at in (("a", 0), ("b", 1)):
        tasks = {}
        for i, code in enumerate(codes):
            values = {"contradictory": binary(690, 200 + at * 100 * (i % 3 - 1)),
                      "more_comprehensive": binary(690, 300 + at * 100 * (i // 3 - 1))[::-1]}  # fmt: skip
            higher = {"contradictory": False, "more_comprehensive": True}
            tasks[C + code] = task(values, higher=higher)
        sides.append(write(tmp_path / name, tasks))
    shown = shown_by(*sides, "--to", tmp_path / "to").split("\n")
    assert len(shown) <= 12 and shown[-2] == "What is said of other languages stands in the page."
    page = html.unescape((tmp_path / "to" / "compare.html").read_text("utf-8"))
    assert "By language (7)" in page


def test_one_question_is_too_few_and_not_none(tmp_path):
    """Of four sides there is a score, and no interval."""
    tasks = {C + code: task({"contradictory": [1.0]}, higher=False) for code in ("en", "hi")}
    content = compared(*(write(tmp_path / name, tasks) for name in "ab"))
    gap = rows(content, "gap")["contradictory", "hi"]
    assert (gap["n"], gap["difference"], gap["low"]) == (1, 0.0, None)
    assert (gap["reason"], gap["next"]) == (
        "too few questions for an interval",
        "ask more questions",
    )
