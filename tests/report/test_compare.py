"""`xling compare`: numbers, verdicts, refusals, and the files of real runs."""

from __future__ import annotations

import copy
import csv
import html
import itertools
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats
from builders import STAMP, evaluated, task_of, write_run
from sklearn.metrics import f1_score, recall_score, roc_auc_score
from xling_metrics.stats.bounded import gaffke, gaffke_p

from xling_tasks.cli import parse
from xling_tasks.criteria import Panel
from xling_tasks.errors import XlingError
from xling_tasks.report.cases import Case
from xling_tasks.report.compare.numbers import Line
from xling_tasks.report.compare.verdicts import _fall
from xling_tasks.report.compare.words import in_words, shown, shown_p, summary
from xling_tasks.report.conclusions import TOO_FEW
from xling_tasks.report.data import read_models
from xling_tasks.report.make import make_report
from xling_tasks.report.model import Comparison, Conclusion, Options

C = "xlinghealth_correctness_demo_"
V = "xlinghealth_verifiability_demo_"
LL = "xlinghealth_verifiability_ll_demo_"
M = "mmedbench_mcqa_demo_"
I = "xlinghealth_information_demo"  # noqa: E741
HELP, HARM = "more_comprehensive", "contradictory"
BETTER = {HARM: False, "empty_rate": False, "n_claims_en": None,
          "n_claims_es": None}  # fmt: skip
"""Whether more of a metric is better, of those of which it is not."""

JUDGE = {
    "model": "local-chat-completions", "model_args": {"model": "judge-1", "num_concurrent": 1},
    "batch_size": None, "max_gen_toks": 1024, "apply_chat_template": "auto",
}  # fmt: skip
SETTINGS = {
    "judge": JUDGE, "translator": None, "encoder": None, "source_encoder": None,
    "temperatures": [0.0, 1.0], "k": 10, "greedy_repeats": None, "topic_seeds": [0],
    "sampling_seed": 1234, "prompt_language": "en", "languages": None, "data_dir": "/somewhere",
}  # fmt: skip


def task(values, *, aggregate=None, ids=None, doc=None, several=None):
    """One task: metric -> a value per question."""
    ids = ids or [f"q{i:02}" for i in range(len(next(iter(values.values()))))]
    scores = {}
    for name, own in values.items():
        known = [value for value in own if value is not None]
        mean = float(np.mean(known)) if known and isinstance(known[0], float) else None
        scores[name] = (aggregate or {}).get(name, mean)
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
        "settings": copy.deepcopy(SETTINGS),
        "data": data | ({"languages": list(several)} if several else {}),
        "prompts": {"answer": {"language": "en", "digest": "0123456789ab"}},
        "generation_kwargs": {"max_gen_toks": 64},
        "signatures": {metric: f"{metric}|of:all|library:1.0" for metric in scores},
    }
    better = {name: BETTER.get(name, True) for name in values}
    return task_of(scores, rows, record=record, better=better)


def write(folder: Path, tasks, *, args=None, change=None, stamp=STAMP) -> Path:
    """A run; a language's code stands for its task of correctness, a list for the values of help.

    Its task records are its own, so that `change` changes no other's.
    """
    made = {}
    for name, own in tasks.items():
        own = {HELP: own} if isinstance(own, list) else own
        made[C + name if len(name) == 2 else name] = (
            copy.deepcopy(own) if "rows" in own else task(own)
        )
    config = {"model_args": args or {"pretrained": f"me/{folder.name}"}}
    return write_run(folder, made, config=config, change=change, stamp=stamp)


def sides(folder, a, b=None, change=None):
    """The runs A and B; of the same tasks if B's are not given, and B's changed."""
    return [write(folder / "a", a), write(folder / "b", b or a, change=change)]


def shown_by(a, b, *words) -> str:
    options = parse(["compare", str(a), str(b), *map(str, words)])
    return options.run(options)


def compared(a, b, *words):
    return json.loads(shown_by(a, b, "--json", *words))


def written(to, a, b, *words):
    """What is printed, and what is written as Markdown (`page`), as JSON and as HTML."""
    shown = shown_by(a, b, "--to", to, *words)
    page, content, html_ = (
        (to / f"compare.{end}").read_text(encoding="utf-8") for end in ("md", "json", "html")
    )
    return SimpleNamespace(shown=shown, page=page, content=json.loads(content), html=html_)


def rows(content, kind="difference"):
    return {(x["metric"], x["language"]): x for x in content["comparisons"] if x["kind"] == kind}


def of(row, names):
    return [row[name] for name in names.split()]


def refusal(a, b, *words) -> str:
    with pytest.raises(XlingError) as caught:
        shown_by(a, b, *words)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def noisy(seed, n=10, low=0.0):
    return [round(float(x), 3) for x in np.random.default_rng(seed).uniform(low, low + 1, n)]


def binary(n, hits):
    return [1.0] * hits + [0.0] * (n - hits)


@pytest.fixture
def two(tmp_path):
    """Two models whose help is 10 questions of noise."""
    a, b = {"en": noisy(1), "hi": noisy(2)}, {"en": noisy(3), "hi": noisy(4, low=0.4)}
    return sides(tmp_path, a, b)


# Numbers


def test_numbers_equal_scipy(two):
    """The gap is the double difference of each question."""
    content = compared(*two)
    en, hi = np.array([noisy(1), noisy(3)]), np.array([noisy(2), noisy(4, low=0.4)])
    made = ("difference", "en", en), ("difference", "hi", hi), ("gap", "hi", hi - en)
    for kind, language, (a, b) in made:
        row = rows(content, kind)[HELP, language]
        ends = scipy.stats.ttest_1samp(b - a, 0).confidence_interval(0.95)
        exact = scipy.stats.permutation_test(
            (b, a), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
        )
        assert of(row, "a b difference n left_out") == pytest.approx(
            [a.mean(), b.mean(), (b - a).mean(), 10, 0]
        )
        own = of(row, "low high p")
        if kind == "gap" or max(a.max(), b.max()) > 1:
            assert own == pytest.approx([ends.low, ends.high, exact.pvalue])
        else:  # An endpoint's is Gaffke's, which takes in one question at the worst.
            assert own == pytest.approx([*gaffke(b - a, -1, 1), gaffke_p(b - a, -1, 1)])
        if kind == "difference":
            signs = [sum(b > a), sum(b == a), sum(b < a)]
            assert of(row, "wins ties losses") == signs
            assert row["d_z"] == pytest.approx((b - a).mean() / (b - a).std(ddof=1))


def test_literals_derived_by_hand(tmp_path):
    """Six questions; B is 0.5 up on each in English and 1 up in Hindi."""
    zero = [0.0] * 6
    folders = sides(tmp_path, {"en": zero, "hi": zero}, {"en": [0.5] * 6, "hi": [1.0] * 6})
    content = compared(*folders)
    english, hindi = (rows(content)[HELP, code] for code in ("en", "hi"))
    assert of(english, "a b difference") == [0, 0.5, 0.5]
    assert of(hindi, "wins ties losses d_z") == [6, 0, 0, None]
    gap = rows(content, "gap")[HELP, "hi"]
    # Gap of A: 0 - 0; of B: 1 - 0.5.
    assert of(gap, "a b difference n n_english") == [0, 0.5, 0.5, 6, None]
    assert gap["low"] < 0.5 < gap["high"]
    # All three: both extreme of 2^6 sign patterns; Holm multiplies equal p by their number.
    # Hindi's 0 and 1 are McNemar's: the mid-p is half of that. Two languages are a family, and
    # their gap is one by itself.
    assert [x["p"] for x in (hindi, gap)] == pytest.approx([1 / 64, 2 / 64])
    # English is 0.5 higher, which one unseen question at -1 could well make.
    assert english["p_holm"] == english["p"] > 0.05 and hindi["p_holm"] == pytest.approx(2 / 64)
    assert english["in_words"].startswith("cannot tell: with 6 questions, no difference and one of")
    assert compared(*folders, "--metrics", HELP)["comparisons"] == content["comparisons"]


@pytest.mark.parametrize(("last", "most"), [(0.0, 2), (0.01, 2.5)])
def test_no_gap_of_shares_moves_by_more_than_200_points(tmp_path, last, most):
    runs = [{"en": [en] * 3, "hi": [hi] * 2 + [0.0]} for en, hi in ((1.0, last), (0.0, 1.0))]
    row = rows(compared(*sides(tmp_path, *runs)), "gap")[HELP, "hi"]
    assert row["difference"] == pytest.approx((2 * (2 - last) + 1) / 3)
    # Student's ends of three questions lie beyond; a score that is no share has no such bound.
    assert row["high"] == 2 if most == 2 else row["high"] > most


def test_gap_of_more_questions_than_can_be_enumerated(tmp_path):
    a, b = ({"en": noisy(1, 40), "hi": noisy(2, 40, low=low)} for low in (0.0, 0.1))
    content = compared(*sides(tmp_path, a, b))
    row = rows(content, "gap")[HELP, "hi"]
    # Every question's double difference is 0.1: no other sign pattern is as extreme.
    assert row["difference"] == pytest.approx(0.1) and row["low"] < 0.1
    assert row["p"] == 1 / 10_001
    # No shortfall of either model is shown, whatever the sign of its noise.
    assert row["outcome"] == "inconclusive"
    told = {code: rows(content)[HELP, code]["outcome"] for code in ("hi", "en")}
    assert told == {"hi": "better", "en": "inconclusive"}


def verdicts(seed, n, right):
    rng = np.random.default_rng(seed)
    labels = [1, 0, 0, 1]
    return [[[y, int(y if rng.random() < right else 1 - y)] for y in labels] for _ in range(n)]


def chances(seed, n, right):
    rng = np.random.default_rng(seed)

    def chance(label):
        return round(float(np.clip(rng.normal(0.5 + right * (label - 0.5), 0.2), 0, 1)), 3)

    return [[[label, chance(label)] for label in (1, 0, 0)] for _ in range(n)]


def joined(samples):
    return zip(*itertools.chain.from_iterable(samples))


def macro_recall(samples):
    return recall_score(*joined(samples), average="macro", zero_division=0)


def macro_f1(samples):
    return f1_score(*joined(samples), average="macro", zero_division=0)


def change(score, samples, questions):
    """(B hi - B en) - (A hi - A en) over some questions."""
    own = {key: score([rows_[i] for i in questions]) for key, rows_ in samples.items()}
    return (own["b", "hi"] - own["b", "en"]) - (own["a", "hi"] - own["a", "en"])


@pytest.mark.parametrize(
    ("task_name", "metric", "make", "score", "n"),
    [
        (V, "macro_recall_t0.0", verdicts, macro_recall, 8),
        (LL, "auc", chances, lambda samples: roc_auc_score(*joined(samples)), 6),
    ],
)
def test_gap_of_a_score_of_all_rows(tmp_path, task_name, metric, make, score, n):
    keys = list(itertools.product("ab", ("en", "hi")))
    made = {key: make(i, n, 0.5 + 0.1 * i) for i, key in enumerate(keys)}
    runs = [
        {
            task_name + c: task({metric: made[m, c]}, aggregate={metric: score(made[m, c])})
            for c in ("en", "hi")
        }
        for m in "ab"
    ]
    content, name = compared(*sides(tmp_path, *runs)), metric.partition("_t")[0]
    row = rows(content, "gap")[name, "hi"]
    observed = change(score, made, range(n))
    assert row["difference"] == pytest.approx(observed)
    without = np.array([change(score, made, [j for j in range(n) if j != i]) for i in range(n)])
    se = ((n - 1) / n * ((without - without.mean()) ** 2).sum()) ** 0.5
    line = rows(content)[name, "hi"]
    assert line["difference"] == pytest.approx(score(made["b", "hi"]) - score(made["a", "hi"]))
    assert line["d_z"] is None
    if name == "auc":  # DeLong's variance is the infinitesimal jackknife's: close to this one.
        assert row["se"] == pytest.approx(se, rel=0.3)
        return
    half = scipy.stats.t.ppf(0.975, n - 1) * se
    p = 2 * scipy.stats.t.sf(abs(observed) / se, n - 1)
    assert of(row, "low high p") == pytest.approx([observed - half, observed + half, p])
    # Wins of B: questions whose own macro F1 is higher.
    own = [score([b]) - score([a]) for a, b in zip(made["a", "hi"], made["b", "hi"])]
    signs = [sum(x > 1e-9 for x in own), sum(x < -1e-9 for x in own)]
    assert of(line, "wins losses temperature") == [*signs, 0.0]


def exam(seed, code, n):
    return task({"acc": noisy(seed, n)}, ids=[f"{code}-{i}" for i in range(n)])


def test_a_gap_of_a_language_that_was_run_in_another_way_has_no_verdict(tmp_path):
    tasks = {M + code: exam(1, code, 40) for code in ("en", "ja")}
    tasks[M + "ja"]["config"]["metadata"]["version"] = 9.0
    content = compared(*sides(tmp_path, tasks))
    row = rows(content, "gap")["acc", "ja"]
    assert row["verdict"] == "not_comparable"
    assert "A: run in another way than English (task version is 9.0 there" in row["reason"]
    assert rows(content)["acc", "ja"]["verdict"] != "not_comparable"


def test_mmedbench_is_paired_between_models_and_not_between_languages(tmp_path):
    seeds = {"a": {"en": (1, 9), "ja": (3, 7)}, "b": {"en": (2, 9), "ja": (4, 7)}}
    runs = [{M + c: exam(seed, c, n) for c, (seed, n) in own.items()} for own in seeds.values()]
    content = compared(*sides(tmp_path, *runs))
    changes = {
        c: np.array(noisy(*seeds["b"][c])) - np.array(noisy(*seeds["a"][c])) for c in ("en", "ja")
    }
    for code, own in changes.items():
        told = of(rows(content)["acc", code], "n difference")
        assert told == [len(own), pytest.approx(own.mean())]
    row = rows(content, "gap")["acc", "ja"]
    test = scipy.stats.ttest_ind(changes["ja"], changes["en"], equal_var=False)
    ends = test.confidence_interval(0.95)
    assert of(row, "n n_english difference low high p") == pytest.approx(
        [7, 9, changes["ja"].mean() - changes["en"].mean(), ends.low, ends.high, test.pvalue]
    )


def test_swapping_the_models_negates_everything(tmp_path):
    n, rng, runs = 20, np.random.default_rng(5), []
    for m in "ab":
        order = rng.permutation(n)
        ids, tasks = [f"q{j:02}" for j in order], {}
        for i, code in enumerate(("en", "hi")):
            values = np.array(noisy(10 * i + ord(m), n))[order].tolist()
            said = [verdicts(ord(m) + i, n, 0.7)[j] for j in order]
            score = {"macro_recall_t0.0": macro_recall(said)}
            tasks[C + code] = task({HARM: values}, ids=ids)
            tasks[V + code] = task({"macro_recall_t0.0": said}, ids=ids, aggregate=score)
        runs.append(tasks)
    folders = sides(tmp_path, *runs)
    ahead, back = compared(*folders)["comparisons"], compared(*folders[::-1])["comparisons"]
    assert len(ahead) == len(back) == 6
    for one, other in zip(ahead, back):
        assert of(one, "metric language n") == of(other, "metric language n")
        assert of(one, "difference low high") == pytest.approx(
            [-x for x in of(other, "difference high low")]
        )
        assert of(one, "a p wins n") == pytest.approx([*of(other, "b p losses"), n])


def test_lower_is_better_turns_the_words_and_not_the_numbers(tmp_path):
    high, low = ({"en": {HARM: noisy(1, 30, low=least)}} for least in (0.5, 0.0))
    a, b = sides(tmp_path, high, low)
    told = written(tmp_path / "to", a, b)
    row = rows(told.content)[HARM, "en"]
    assert row["difference"] == pytest.approx(-0.5)
    assert of(row, "outcome wins losses") == ["better", 30, 0]
    assert rows(compared(b, a))[HARM, "en"]["outcome"] == "worse"
    assert "contradictory ↓" in told.page


def test_questions_without_a_value_are_left_out_and_counted(tmp_path):
    a, b = [None, *noisy(1, 9)], [*noisy(2, 9), None]
    content = compared(*sides(tmp_path, {"en": a, "hi": noisy(3)}, {"en": b, "hi": noisy(4)}))
    row, gap = rows(content)[HELP, "en"], rows(content, "gap")[HELP, "hi"]
    assert of(row, "n left_out") == of(gap, "n left_out") == [8, 2]
    a, b, hindi = (np.array(own[1:9]) for own in (a, b, noisy(3)))
    assert row["difference"] == pytest.approx(np.mean(b - a))
    assert gap["a"] == pytest.approx(np.mean(hindi - a))


def test_information_has_all_languages_in_one_task(tmp_path):
    runs = []
    for seed in (1, 2):
        es, hi = noisy(seed), noisy(seed + 50)
        own = {"information_f1_es": es, "information_f1_hi": hi,
               "information_f1": [{"es": x, "hi": y} for x, y in zip(es, hi)],
               "n_claims_en": noisy(seed + 9), "n_claims_es": noisy(seed + 7)}  # fmt: skip
        mean = {"information_f1": np.mean([es, hi])}
        runs.append({I: task(own, aggregate=mean, several=("en", "es", "hi"))})
    folders = sides(tmp_path, *runs)
    content = compared(*folders)
    found = rows(content)
    assert set(found) == {("information_f1", code) for code in ("es", "hi", "avg")}
    assert rows(content, "gap") == {}  # Agreement with English has none in English.
    average = found["information_f1", "avg"]
    parts = [found["information_f1", code]["difference"] for code in ("es", "hi")]
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

    es, hi = harmonic(range(40)), harmonic([i for i in range(40) if i != 5])
    score = {"information_f1_es": es, "information_f1": (es + hi) / 2}
    runs = [
        {I: task({"information_f1_es": own, "information_f1": whole}, aggregate=score,
                 several=("en", "es", "hi"))} for own in (pairs, pairs[::-1])
    ]  # fmt: skip
    folders = sides(tmp_path, *runs)
    report = make_report(read_models([folders[0]]), Options(n_resamples=4000))
    interval = next(cell.interval for cell in report.cells if cell.language == "es")
    assert interval.value == pytest.approx(es) and interval.left_out == 1
    scored = [i for i in range(40) if pairs[i]]
    again = [harmonic(draw.choice(scored, len(scored))) for _ in range(4000)]
    ends = np.quantile(again, [0.025, 0.975])
    assert [interval.low, interval.high] == pytest.approx(ends, abs=0.02)
    difference = rows(compared(*folders))["information_f1", "es"]["difference"]
    assert difference == pytest.approx(0, abs=0.01)


# Words


def line(*, verdict="", **values):
    given = {"better": True, "kind": "difference", "language": "hi"}
    said = {key: values.pop(key) for key in ("reason", "next") if key in values}
    given |= {key: values.pop(key) for key in ("kind", "language") if key in values}
    numbers = {"base": 0.5, "value": 0.531, "difference": 0.031, "low": 0.012, "high": 0.051}
    made = Comparison(
        panel=Panel("correctness", "demo", HELP, None), side="B", baseline="A",
        context="hi", paired=True, p=0.001, n=100, left_out=0, **numbers | values,
    )  # fmt: skip
    if verdict:
        of = Conclusion(
            model="B", dataset="demo", language="hi", criterion="correctness",
            metric=HELP, verdict=verdict, estimate=0.031, low=0.012, high=0.051,
            p=0.001, p_holm=0.004, n=100, margin=0.05,
            **{"reason": "", **said},
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
        ({"verdict": "equivalent"}, f"about the same ({NUMBERS})"),
        ({"verdict": "inconclusive", "reason": TOO_FEW},
         "cannot tell: with 100 questions, no difference and one of more than 5 per 100 are both possible "
         f"({NUMBERS})"),
        ({"verdict": "inconclusive", "reason": "no interval", "low": None, "high": None},
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
        line(verdict="inconclusive", reason="few", next="ask more", low=-0.1, language="es"),
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
        "Exploratory, intervals without a verdict: 2 more comparisons.",
    ]


# Verdicts of runs


@pytest.mark.parametrize(("n", "wanted"), [(24, "inconclusive"), (246, "equivalent")])
def test_a_copy_is_never_worse_and_about_the_same_where_n_suffices(tmp_path, n, wanted):
    made = {code: {HARM: binary(n, n // 10)} for code in ("en", "es")}
    for code, v in (("en", verdicts(1, n, 0.8)), ("es", verdicts(2, n, 0.7))):
        made[V + code] = task(
            {"macro_recall_t0.0": v}, aggregate={"macro_recall_t0.0": macro_recall(v)}
        )
    found = compared(*sides(tmp_path, made))["comparisons"]
    assert [of(row, "verdict difference") for row in found] == [[wanted, 0]] * 6


def test_non_inferiority_and_margin(tmp_path):
    a, b = sides(tmp_path, *({"en": {HARM: binary(400, hits)}} for hits in (40, 44)))

    def told(*words):
        return of(rows(compared(*words))[HARM, "en"], "non_inferior verdict margin")

    assert told(a, b, "--margin", "0.05") == [True, "equivalent", 0.05]
    # Of harm the margin is smaller unless another is asked for: one point more may be two.
    assert told(a, b) == [False, "inconclusive", 0.02] and told(b, a)[0]
    assert told(a, b, "--margin", "0.005") == [False, "inconclusive", 0.005]
    assert told(b, a, "--margin", "0.005")[0]


def test_a_model_that_answers_in_english_is_worse(tmp_path):
    a, b = (
        {
            code: {HARM: binary(690, 10), "langid_match": binary(690, inside)}
            for code, inside in (("en", 690), ("es", spanish))
        }
        for spanish in (690, 0)
    )
    content = compared(*sides(tmp_path, a, b))
    assert rows(content)["usable", "es"]["verdict"] == "worse"
    assert rows(content, "gap")["usable", "es"]["verdict"] == "larger"
    assert content["summary"][0].startswith(
        "Spanish: B is worse than A (questions with a usable answer), and the shortfall to English "
        "is larger (questions with a usable answer)."
    )


def counted(n=690, **languages):
    """Runs A and B from (harm of A and B, help of A and B) by language: so many of n questions.

    The first are harmed, or the last where their number is negative; the last are helped.
    """
    return [
        {
            code: {HARM: binary(n, harm[at]) if harm[at] >= 0 else binary(n, -harm[at])[::-1],
                   **({HELP: binary(n, help_[at])[::-1]} if help_ else {})}
            for code, (harm, help_) in languages.items()
        }
        for at in (0, 1)
    ]  # fmt: skip


# Harm in English and in Hindi, of A and of B, of 690.
SHORTFALLS = [
    # A gap that turns into an advantage, and none that was.
    ((70, 170), (170, 70), "better", "smaller"),
    ((170, 70), (70, 70), "equivalent", "inconclusive"),
    ((170, 70), (70, 170), "worse", "larger"),
    # English alone becomes worse, and Hindi alone better.
    ((70, 170), (170, 170), "equivalent", "levelled_down"),
    ((70, 70), (170, 70), "better", "smaller"),
    ((70, 70), (170, 170), "equivalent", "equivalent"),
]


@pytest.mark.parametrize(("english", "hindi", "between", "fall"), SHORTFALLS)
def test_the_shortfall_has_a_rule_of_its_own(tmp_path, english, hindi, between, fall):
    content = compared(*sides(tmp_path, *counted(en=(english, ()), hi=(hindi, ()))))
    assert rows(content)[HARM, "hi"]["verdict"] == between
    assert rows(content, "gap")[HARM, "hi"]["verdict"] == fall
    if fall == "levelled_down":
        said = "Levelled down: the shortfall is smaller, but B's English is worse, and the language"
        assert said in content["summary"][0]


# What is refused, and what is only told


def xling(content):
    return [config["metadata"]["xling"] for config in content["configs"].values()]


def recorded(*path, value):
    def change(content):
        for own in xling(content):
            for key in path[:-1]:
                own = own[key]
            own[path[-1]] = value

    return change


def setting(name, value):
    return recorded("settings", name, value=value)


def scored(value, version="0.1.0"):
    def change(content):
        for own in xling(content):
            own |= {"signatures": dict.fromkeys(own["signatures"], value), "version": version}

    return change


NEWER = "more_comprehensive|of:all|library:2.0"
UNLIKE = [
    (setting("judge", JUDGE | {"model_args": {"model": "judge-2"}}),
     'judge.model is local-chat-completions {"model": "judge-1"} in A, '
     'but local-chat-completions {"model": "judge-2"} in B (xlinghealth_correctness_demo_en and 1 more)'),
    (scored(NEWER, "0.2.0"), "version of xling-tasks is 0.1.0 in A, but 0.2.0 in B"),
    (scored(NEWER),
     "signature of more_comprehensive is library:1.0 in A, but library:2.0 in B (xlinghealth_correctness_demo_en and 1 more)"),
]  # fmt: skip
"""What counts is tested where it lives (`logs/test_alike`)."""


@pytest.mark.parametrize(("change", "said"), UNLIKE)
def test_runs_made_differently_are_refused_and_named(tmp_path, change, said):
    runs = sides(tmp_path, {code: noisy(1) for code in ("en", "hi")}, change=change)
    refused = refusal(*runs)
    assert said in refused and "--force" in refused
    told = written(tmp_path / "to", *runs, "--force")
    assert said in told.page
    assert told.page.index("made differently") < told.page.index("## Summary")
    assert any(said in item for item in told.content["made_differently"])
    assert len(told.content["comparisons"]) == 3


def test_signatures_count_only_of_what_is_compared_and_versions_by_themselves_do_not(tmp_path):
    newer = recorded("version", value="0.2.0")
    assert compared(*sides(tmp_path, {"en": noisy(1)}, change=newer))["made_differently"] == []
    change = recorded("signatures", "empty_rate", value="other")
    tasks = {"en": {HELP: noisy(1), "empty_rate": [0.0] * 10}}
    runs = sides(tmp_path, tasks, change=change)
    assert set(rows(compared(*runs))) == {(HELP, "en")}
    said = "signature of empty_rate is empty_rate|of:all|library:1.0 in A, but other in B"
    assert said in refusal(*runs, "--metrics", "empty_rate")


def test_long_values_are_cut_to_where_they_differ(tmp_path):
    said = refusal(*(
        write(tmp_path / name, {"en": noisy(1)},
              change=recorded("generation_kwargs", "until", value="x" * 500 + text))
        for name, text in (("a", "left"), ("b", "right"))
    ))  # fmt: skip
    assert "left in A" in said and "right in B" in said and "x" * 100 not in said


def test_other_content_under_the_same_id_is_never_compared(tmp_path):
    other = task({HELP: noisy(2)})
    other["rows"][3]["doc"]["question"] = "Something else?"
    runs = sides(tmp_path, {"en": noisy(1)}, {"en": other})
    said = "1 of 10 questions with the same id: another content (such as 'q03'), never compared"
    assert said in refusal(*runs)
    row = rows(compared(*runs, "--force"))[HELP, "en"]
    means = [np.delete(noisy(seed), 3).mean() for seed in (1, 2)]
    assert of(row, "n a b") == pytest.approx([9, *means])
    for row in other["rows"]:
        row["doc"]["question"] = "Something else?"
    runs = sides(tmp_path, {"en": noisy(1)}, {"en": other})
    assert "nothing to compare: no question of equal content" in refusal(*runs, "--force")
    # Where a question stands is not its content.
    docs = {"row": 1, "parallel": True}, {"row": 9, "parallel": False}
    runs = sides(tmp_path, *({"en": task({HELP: noisy(1)}, doc=doc)} for doc in docs))
    assert rows(compared(*runs))[HELP, "en"]["n"] == 10


def test_prompts_in_more_languages_are_the_same_questions(tmp_path):
    a, b = (
        {I: task({"information_f1_es": noisy(1)}, several=codes)}
        for codes in (("en", "es"), ("en", "es", "hi"))
    )
    first = write(tmp_path / "a", a, change=setting("languages", ["es"]))
    runs = first, write(tmp_path / "b", b, change=setting("languages", ["es", "hi"]))
    assert 'languages is ["es"] in A, but ["es", "hi"] in B' in refusal(*runs)
    assert rows(compared(*runs, "--force"))["information_f1", "es"]["n"] == 10


def test_limits_are_told_and_shared_questions_compared(tmp_path):
    def limit(content):
        content["config"]["limit"] = 7
        content["n-samples"][C + "en"]["original"] = 10

    runs = sides(tmp_path, {"en": noisy(1)}, {"en": noisy(2)[:7]}, change=limit)
    told = written(tmp_path / "to", *runs)
    assert of(rows(told.content)[HELP, "en"], "n a") == pytest.approx([7, np.mean(noisy(1)[:7])])
    notes = " / ".join(told.content["notes"])
    assert "left out: 3 questions only in A" in notes
    assert "B ran with --limit or --samples: compared over 7 shared questions" in notes
    assert "Note: B ran with --limit" in told.page


def test_tasks_and_metrics_of_one_side_are_listed(tmp_path):
    fr = {M + "fr": {"acc": noisy(6)}}
    a, b = sides(
        tmp_path,
        {"en": {HELP: noisy(1), "chrf": noisy(2)}, "hi": noisy(3), **fr},
        {"en": noisy(4), V + "en": {"acc_t0.0": noisy(5)}, **fr},
    )
    (b / f"samples_{M}fr_{STAMP}.jsonl").unlink()
    content = compared(a, b)
    notes = " / ".join(content["notes"])
    assert f"only in A: {C}hi" in notes and f"only in B: {V}en" in notes
    assert f"metrics only in A: chrf ({C}en)" in notes
    assert f"B has no logged samples (--log_samples), so not compared: {M}fr" in notes
    assert set(rows(content)) == {(HELP, "en")}
    other = write(tmp_path / "c", {V + "hi": {"acc_t0.0": noisy(1)}})
    assert "only in A" in refusal(a, other)


def test_metrics_without_values_per_question_are_named(tmp_path):
    made = task({HELP: noisy(1)})
    made["scores"]["sacrebleu"] = 12.0
    made["better"]["sacrebleu"] = True
    runs = sides(tmp_path, {"en": made})
    said = "not made of values per question, so not compared: sacrebleu"
    assert said in compared(*runs)["notes"]
    assert "nothing to compare" in refusal(*runs, "--metrics", "sacrebleu")


def test_an_undefined_metric_is_told_and_no_number(tmp_path):
    none = {"en": {HELP: noisy(1), "acc_multi": [None] * 10}}
    a, b = sides(tmp_path, none, {"en": {HELP: noisy(1), "acc_multi": noisy(2)}})
    content = compared(a, b)
    row = rows(content)["acc_multi", "en"]
    assert of(row, "a b difference p p_holm") == [None] * 5
    assert "not defined" in row["in_words"]
    assert f"undefined in A: acc_multi ({C}en)" in content["notes"]
    assert rows(content)[HELP, "en"]["p_holm"] == 1  # One test was made, not two.
    assert set(rows(compared(a, write(tmp_path / "c", none)))) == {(HELP, "en")}


def test_several_models_in_a_folder_are_named(two, tmp_path):
    write(two[0] / "other", {"en": noisy(1)}, args={"pretrained": "me/other"})
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
    same = {"args": {"pretrained": "me/a"}}
    again = write(tmp_path / "again", {"en": noisy(8)}, **same)
    content = compared(two[0], again)
    assert content["b"]["name"] == f"a ({again})"
    said = "A and B are the same model: what differs is noise between runs, or settings."
    assert content["answer"][0] == said
    assert "A and B read the same results file" in compared(two[0], two[0])["notes"]
    other = setting("sampling_seed", 7)
    seed = write(tmp_path / "seed", {"en": noisy(8)}, change=other, **same)
    assert "sampling_seed: 1234 in A, 7 in B" in compared(two[0], seed)["notes"]


def test_the_newest_run_of_a_task_counts(two):
    later = "2026-02-01T00-00-00.000000"
    write(two[0], {"en": [0.25] * 10}, args={"pretrained": "me/a"}, stamp=later)
    found = rows(compared(*two))
    assert found[HELP, "en"]["a"] == 0.25
    assert found[HELP, "hi"]["a"] == pytest.approx(np.mean(noisy(2)))


# Options and files


def test_metrics_limits_the_comparisons_and_the_correction(tmp_path):
    runs = sides(tmp_path, *(
        {"en": {HELP: noisy(seed, low=low), "chrf": noisy(seed + 1, low=low), "empty_rate": [0.0] * 10}}
        for seed, low in ((1, 0.0), (7, 0.2))
    ))  # fmt: skip
    everything = rows(compared(*runs))
    assert set(everything) == {(HELP, "en"), ("chrf", "en")}
    one = rows(compared(*runs, "--metrics", HELP))[HELP, "en"]
    assert one["p_holm"] == one["p"] == everything[HELP, "en"]["p"]
    assert everything["chrf", "en"]["p_holm"] is None  # Exploratory.
    assert ("empty_rate", "en") in rows(compared(*runs, "--metrics", "empty_rate", HELP))
    said = refusal(*runs, "--metrics", "chfr")
    assert said.startswith("--metrics chfr: no metric of both runs. Did you mean 'chrf'?")


def test_a_metric_at_one_temperature(tmp_path):
    tasks = {V + "en": {"unparsed_rate_t0.0": noisy(1), "unparsed_rate_t1.0": noisy(2)}}
    runs = sides(tmp_path, tasks)
    assert len(compared(*runs, "--metrics", "unparsed_rate")["comparisons"]) == 2
    (row,) = compared(*runs, "--metrics", "unparsed_rate_t1.0")["comparisons"]
    assert row["temperature"] == 1.0


def test_what_is_printed_and_written(two, tmp_path):
    to = tmp_path / "to"
    told = written(to, *two)
    names = ["compare.csv", "compare.html", "compare.json", "compare.md"]
    assert sorted(path.name for path in to.iterdir()) == names
    assert told.shown.split("\n")[1:4] == [
        "B is better than A in Hindi; elsewhere it is not shown that B is better or worse than A.",
        "Hindi: B is better than A (answers more complete than the expert's: 99 per 100, A 40).",
        "English: whether B is better or worse than A cannot be told.",
    ]
    assert told.content == compared(*two) == compared(*two, "--seed", "0")
    other = rows(compared(*two, "--seed", "1"))[HELP, "hi"]
    assert other["difference"] == rows(told.content)[HELP, "hi"]["difference"]
    with (to / "compare.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == 3
    for row, wanted in zip(table, told.content["comparisons"], strict=True):
        assert row["in_words"] == wanted["in_words"] and wanted["in_words"] in told.page
        assert float(row["difference"]) == wanted["difference"]
        assert row["temperature"] == ""
    assert [line for line in told.page.split("\n") if line.startswith("#")] == [
        "# Comparison: is B better than A?", "## Summary", "## Comparisons",
        "### Correctness, demo", "### Correctness, demo: shortfall to English",
        "## How to read this",
    ]  # fmt: skip
    assert '- A: a (`hf {"pretrained": "me/a"}`)' in told.page
    assert "made differently" not in told.page
    assert written(to, *two).page == told.page  # Its own files are made again.
    (to / "compare.json").unlink()
    assert "holds no comparison; name a new folder" in refusal(*two, "--to", to)


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
    found = {
        tuple(of(row, "kind criterion metric temperature language")): row
        for row in content["comparisons"]
    }
    checked = 0
    for code in ("en", "hi"):
        for name in ("auc", "brier", "macro_f1", "acc"):
            row = found["difference", "verifiability_ll", name, None, code]
            assert row["a"] == pytest.approx(first[LL + code][f"{name},none"])
            assert row["difference"] == pytest.approx(0)  # Log-likelihoods know no seed.
            assert row["outcome"] in ("equivalent", "inconclusive", "exploratory")
        for name in ("macro_f1", "acc"):
            row = found["difference", "verifiability", name, 1.0, code]
            key = f"{name}_t1.0,none"
            assert of(row, "a b") == pytest.approx([x[V + code][key] for x in (first, second)])
            assert row["n"] == 24 and row["wins"] + row["ties"] + row["losses"] == 24
            checked += row["difference"] != 0
    assert checked
    gaps = {(criterion, language) for kind, criterion, _, _, language in found if kind == "gap"}
    assert gaps == {("verifiability", "hi"), ("verifiability_ll", "hi"), ("mmedbench_mcqa", "ja")}
    for row in found.values():
        assert row["low"] is None or row["low"] <= row["difference"] <= row["high"]
        assert row["p_holm"] is None or row["p"] <= row["p_holm"] <= 1
        assert row["p_holm"] is None or row["role"] == "endpoint"


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
    ("languages", "said"),
    [
        ({"en": ((70, 70), ()), "hi": ((170, 170), ()), "es": ((90, 90), ())},
         ["In Spanish, Hindi and English B is not worse than A by more than the margin."]),
        ({"en": ((70, 70), ()), "hi": ((170, 70), ()), "es": ((90, 190), ())},
         ["B is worse than A in Spanish; B is better than A in Hindi; elsewhere B is not worse than "
          "A by more than the margin.",
          "The shortfall to English is larger in Spanish, smaller in Hindi."]),
        ({"en": ((70, 70), ())}, ["In English B is not worse than A by more than the margin."]),
        # More help in every case; of harm nothing, worse, and open, in three languages.
        ({"es": ((60, 60), (300, 400)), "hi": ((60, 170), (300, 400)), "zh": ((60, -66), (300, 400)),
          "en": ((60, 60), (300, 400))},
         ["B is worse than A in some measures and better in others in Hindi; B is better than A in "
          "Spanish and English; B is better than A as far as it can be told in Chinese.",
          "The shortfall to English is larger in Hindi."]),
    ],
)  # fmt: skip
def test_the_answer_comes_first_on_page_terminal_and_markdown(tmp_path, languages, said):
    told = written(tmp_path / "to", *sides(tmp_path, *counted(**languages)))
    shown = told.shown.split("\n")
    assert shown[: 1 + len(said)] == ["A: a; B: b", *said] and len(shown) <= 12
    assert shown[-1].startswith(str(tmp_path / "to" / "compare.html"))
    assert told.content["answer"] == said and "<script" not in told.html
    assert all(text in html.unescape(told.html) for text in said)
    assert told.page.split("\n")[2] == f"**{said[0]}**"


def test_where_nothing_is_shown_languages_alike_share_a_sentence(tmp_path):
    runs = sides(tmp_path, *({"en": noisy(k), "hi": noisy(k + 1)} for k in (1, 3)))
    shown = shown_by(*runs, "--to", tmp_path / "to")
    assert "In Hindi and English it is not shown that B is better or worse than A." in shown
    assert "Hindi, English: whether B is better or worse than A cannot be told." in shown


def helped(**hits):
    """Help in so many of 690 questions by language."""
    return {code: binary(690, k) for code, k in hits.items()}


def test_what_is_shown_within_the_margin_is_not_called_worse(tmp_path):
    # One in a hundred is shown, and lies within the margin of 5.
    content = compared(*sides(tmp_path, helped(en=400), helped(en=390)))
    assert rows(content)[HELP, "en"]["high"] < 0
    assert content["answer"] == ["In English B is not worse than A by more than the margin."]


def test_metrics_that_are_no_endpoints_conclude_nothing_and_blame_no_run(tmp_path):
    runs = sides(tmp_path, {"en": {"chrf": noisy(5), HELP: noisy(6)}})
    assert compared(*runs, "--metrics", "chrf")["answer"][-1] == (
        "Nothing can be concluded: nothing that is compared is an endpoint."
    )


def test_levelled_down_is_not_said_to_be_of_english_alone(tmp_path):
    """English loses 20 of 690; the language gains more, which is not shown: 95 up, 70 down."""
    b = {**helped(en=440), "hi": [1.0] * 230 + [0.0] * 70 + [1.0] * 95 + [0.0] * 295}
    content = compared(*sides(tmp_path, helped(en=500, hi=300), b))
    assert rows(content)[HELP, "hi"]["verdict"] == "inconclusive"
    assert rows(content, "gap")[HELP, "hi"]["verdict"] == "levelled_down"
    said = " ".join([*content["answer"], *content["summary"]])
    assert "because" not in said
    assert "but B's English is worse, and the language is not shown" in said


def test_the_same_measure_of_two_datasets_is_told_apart(tmp_path):
    a, b = (
        helped(en=own) | {C.replace("demo", "liveqa") + "en": binary(690, other)}
        for own, other in ((300, 300), (400, 200))
    )
    assert compared(*sides(tmp_path, a, b))["summary"][0] == (
        "English: B is worse than A (answers more complete than the expert's, LiveQA), and better "
        "than A (answers more complete than the expert's, bundled sample)."
    )


def test_a_change_that_is_shown_is_not_said_to_be_chance():
    """A's shortfall is hidden by what was not read; B's is smaller, and the change is shown."""
    change = line(verdict="inconclusive", kind="gap").said
    change = replace(change, estimate=-0.1, low=-0.15, high=-0.05, n=690)
    own = replace(change, next="ask again")
    worse, case = replace(own, verdict="worse"), Case(None, line().made)
    told = _fall(change, own, worse, case)
    assert (told.verdict, told.next) == ("inconclusive", "ask again")
    assert told.reason == "it changed, but A's is not shown over these questions"
    told = _fall(replace(change, estimate=0.1, low=0.05, high=0.15), worse, own, case)
    assert told.reason == "it changed, but B's is not shown over these questions"
    # A's is shown over all that was read of A, and there is none over what was read of all four.
    told = _fall(replace(change, english=0.0), worse, own, case)
    assert told.verdict == "inconclusive" and told.reason.startswith("it changed, but A's is not")
    assert _fall(replace(change, p_holm=0.2), worse, own, case).reason == "the change may be chance"


def test_more_sentences_than_a_terminal_has_room_for_stand_on_the_page(tmp_path):
    """Seven languages, of each of which another thing is said."""
    languages = {
        code: ((200, 200 + 100 * (i % 3 - 1)), (300, 300 + 100 * (i // 3 - 1)))
        for i, code in enumerate(("en", "es", "hi", "zh", "fr", "de", "ja"))
    }
    told = written(tmp_path / "to", *sides(tmp_path, *counted(**languages)))
    shown = told.shown.split("\n")
    assert len(shown) <= 12 and shown[-2] == "What is said of other languages stands in the page."
    assert "By language (7)" in html.unescape(told.html)


def test_one_question_is_too_few_and_not_none(tmp_path):
    """Of four sides there is a score, and no interval."""
    content = compared(*sides(tmp_path, {code: {HARM: [1.0]} for code in ("en", "hi")}))
    told = of(rows(content, "gap")[HARM, "hi"], "n difference low reason next")
    assert told == [1, 0.0, None, "too few questions for an interval", "ask more questions"]
