"""Verdicts by the five rules: on answers with a known truth, in memory."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
from boards import PLAIN, judged
from boards import exam as mmedbench
from builders import write_run
from in_memory import (
    correctness,
    exam,
    information,
    model_of,
    sample,
    similar,
    task,
    verdicts_of,
    verifiability,
)
from xling_metrics.stats.bounded_means import gaffke, gaffke_p
from xling_metrics.stats.jackknife import jackknife_contrast
from xling_metrics.stats.proportions import mcnemar_mid_p, paired_proportions
from xling_metrics.stats.verdict_counts import VERDICT_SCORES

from xling_tasks.cli import main
from xling_tasks.criteria import MetricKey
from xling_tasks.languages import LANGUAGES
from xling_tasks.report.comparisons import find_reason
from xling_tasks.report.data import read_models
from xling_tasks.report.lead import tell_lead
from xling_tasks.report.lists import make_verdicts
from xling_tasks.report.unscored import LEFT_OUT, RIGHT, SCORED, WRONG, column_counted
from xling_tasks.report.verdicts import Options
from xling_tasks.report.words import words


def first(n, k):
    """The first k of n."""
    return np.arange(n) < k


def only(found):
    (item,) = found.values()
    assert item.verdict in words()["verdicts"] and item.reason in words()["reasons"]
    assert not item.next or item.next in words()["next"]
    return item


def test_five_questions_show_nothing():
    right, wrong = np.ones(6, bool), np.zeros(6, bool)
    few, more = (only(verdicts_of(exam("en", right[:n]), exam("hi", wrong[:n]))) for n in (5, 6))
    assert (few.verdict, few.reason, more.verdict) == ("inconclusive", "few", "worse")


# The interval that decides, by rule 1


def test_a_proportion_has_bonett_and_price_and_mcnemar():
    en, hi = first(246, 200), first(246, 160) | (np.arange(246) >= 240)
    item = only(verdicts_of(exam("en", en), exam("hi", hi)))
    expected = paired_proportions(hi.astype(float), en.astype(float))
    assert (item.verdict, item.reason, item.next) == ("worse", "shown", "")
    assert (item.estimate, item.ci_low, item.ci_high, item.p) == pytest.approx(expected[:4])
    assert item.p == item.p_adjusted == mcnemar_mid_p(6, 40)
    assert item.counts == {"value": (166, 246), "english": (200, 246)} and item.margin == 0.05


def test_a_mean_of_bounded_scores_has_gaffke():
    rng = np.random.default_rng(1)
    en = 0.9 + rng.normal(0, 0.02, 246)
    hi = en - 0.04 + rng.normal(0, 0.019, 246)
    item = only(verdicts_of(similar("en", en), similar("hi", hi)))
    assert item.verdict == "worse" and item.metric == "sim_sent" and item.margin == 0.02
    assert (item.ci_low, item.ci_high) == pytest.approx(gaffke(hi - en, -1, 1))
    assert item.p == pytest.approx(gaffke_p(hi - en, -1, 1)) and item.counts == {}


def test_balanced_accuracy_has_the_jackknife_and_is_told_in_counts():
    """The real run: 11 of 100 correct answers recognised against 59, 99% of wrong ones against 71."""
    rng = np.random.default_rng(2)
    en = first(100, 59), rng.random((100, 9)) < 0.71
    hi = first(100, 11), rng.random((100, 9)) < 0.99
    item = only(verdicts_of(verifiability("en", *en), verifiability("hi", *hi)))
    assert item.verdict == "worse" and item.metric == "macro_recall"
    wrong = int(hi[1].sum())
    assert item.counts["correct"] == (11, 100) and item.counts["incorrect"] == (wrong, 900)
    assert item.counts["correct_english"] == (59, 100)
    sums = [np.column_stack([r, 9 - w.sum(1), ~r, w.sum(1)]).astype(float) for r, w in (hi, en)]
    expected = jackknife_contrast(
        list(zip((1, -1), sums, strict=True)), VERDICT_SCORES["macro_recall"]
    )
    assert (item.ci_low, item.ci_high, item.p) == pytest.approx(expected[1:4])
    assert item.value == pytest.approx((0.11 + wrong / 900) / 2)


def test_silence_is_no_consistency():
    """`sim_sent` leaves out pairs with an empty answer: with many of them nothing is the same."""
    found = {}
    for empty in (0, 1, 25):  # questions with an empty answer among five
        tasks = similar("en", np.full(246, 0.9)), similar("hi", np.full(246, 0.9))
        for own, n in zip(tasks, (0, empty), strict=True):
            (made,) = own.values()
            made["better"]["empty_rate_t1.0"] = False
            made["scores"]["empty_rate_t1.0"] = n / (5 * 246)
            for i, row in enumerate(made["rows"]):
                row["empty_rate_t1.0"] = [int(i < n), 5]
        found[empty] = only(verdicts_of(*tasks))
    assert [v.verdict for v in found.values()] == ["equivalent", "equivalent", "inconclusive"]
    v = found[25]
    assert (v.reason, v.next, v.unparsed["language"]) == ("unparsed", "room", 25)
    assert v.ways["as_wrong"] == "worse"


def test_similarities_that_are_all_1_are_no_counts():
    """Greedy answers of a local model: 'Similarity 100 of 100 (100%) of 1'."""
    item = only(verdicts_of(similar("en", np.ones(100)), similar("hi", np.ones(100))))
    assert item.value == item.english == 1 and item.counts == {}
    assert only(verdicts_of(exam("en", first(9, 9)), exam("hi", first(9, 9)))).counts


def test_questions_with_one_text_count_once():
    rng = np.random.default_rng(3)
    texts = np.repeat(np.arange(60), 4)
    en, hi = rng.random(60)[texts], rng.random(60)[texts]
    item = only(verdicts_of(similar("en", en, texts), similar("hi", hi, texts)))
    ends = gaffke((hi - en)[::4], -1, 1)
    assert item.n == 240 and (item.ci_low, item.ci_high) == pytest.approx(ends, abs=1e-4)


# Worse, better, equivalent: rules 2 and 3


def test_a_difference_within_the_margin_is_not_worse_but_of_harm_it_is():
    n = 4000
    en, hi = first(n, 80), first(n, 110)
    found = verdicts_of(correctness("en", en), correctness("hi", hi))
    harm = found["contradictory", "hi"]
    assert (harm.verdict, harm.reason) == ("worse", "shown_any_size") and harm.ci_high < 0.02
    letters = only(verdicts_of(exam("en", ~en), exam("hi", ~hi)))
    assert (letters.verdict, letters.reason) == ("equivalent", "same") and letters.ci_high < 0
    assert letters.not_worse and not harm.not_worse


def test_the_interval_that_is_drawn_decides():
    """No question differs: an interval that excludes the margin only with enough questions."""
    for n, verdict in ((60, "inconclusive"), (100, "equivalent")):
        item = only(verdicts_of(exam("en", first(n, n // 2)), exam("hi", first(n, n // 2))))
        assert item.verdict == verdict and item.estimate == 0
        assert (item.ci_high <= item.margin) == (verdict == "equivalent")
    few = only(verdicts_of(exam("en", first(60, 30)), exam("hi", first(60, 30))))
    assert (few.reason, few.next, few.n_needed) == ("rare", "too_many", 72)


def test_holm_corrects_harm_and_the_rest_by_themselves():
    rng = np.random.default_rng(5)
    codes = ["en", *[code for code in LANGUAGES if code != "en"][:6]]
    found = verdicts_of(*(correctness(c, rng.random(100) < 0.1) for c in codes))
    assert {v.family for (m, _), v in found.items() if m == "contradictory"} == {6}
    assert {v.family for (m, _), v in found.items() if m != "contradictory"} == {12}
    p = sorted(v.p for (m, _), v in found.items() if m == "contradictory")
    lowest = min(v.p_adjusted for (m, _), v in found.items() if m == "contradictory")
    assert lowest == pytest.approx(min(1, 6 * p[0]))


def test_what_leans_is_not_shown():
    """p is 0.03 alone, and three languages are compared."""
    n, en = 100, first(100, 80)
    lower = en & ~((np.arange(n) >= 60) & (np.arange(n) < 70)) | (np.arange(n) >= 98)
    found = verdicts_of(exam("en", en), exam("hi", lower), exam("es", en), exam("zh", en))
    item = found["acc", "hi"]
    assert 0.01 < item.p < 0.05 < item.p_adjusted
    assert (item.verdict, item.reason) == ("inconclusive", "leans") and item.ci_high < 0


# Responses of which nothing was learned: rule 4


def test_unparsed_letters_can_hide_a_gap():
    """160 of 200 correct in English; 145 in Hindi, and 12 responses unparsed."""
    lost = (np.arange(200) >= 150) & (np.arange(200) < 162)
    item = only(verdicts_of(exam("en", first(200, 160)), exam("hi", first(200, 145), lost)))
    assert (item.verdict, item.reason, item.next) == ("inconclusive", "unparsed", "read")
    assert item.ways["as_scored"] == "worse" and item.ways["in_favour"] == "equivalent"
    assert item.unparsed == {"language": 12, "english": 0} and item.value == 145 / 200
    few = only(verdicts_of(exam("en", first(200, 160)), exam("hi", first(200, 100), lost)))
    assert few.verdict == "worse" and not few.ways


def test_unparsed_responses_by_each_way_to_count_them():
    """Four letters: correct, wrong, unparsed, unparsed."""
    (found,) = model_of(exam("es", [1, 0, 1, 1], np.array([False, False, True, True]))).tasks
    values = {
        way: column_counted(found, "acc", way).sums[:, 0].tolist() for way in (SCORED, WRONG, RIGHT)
    }
    assert values == {SCORED: [1, 0, 0, 0], WRONG: [1, 0, 0, 0], RIGHT: [1, 0, 1, 1]}
    left = column_counted(found, "acc", LEFT_OUT)
    assert left.present.tolist() == [True, True, False, False]


def test_bounds_count_where_more_than_3_percent_are_unparsed():
    """Hindi's unparsed responses are wrong, English's correct: what was parsed makes Hindi better."""
    n, k = 246, 24
    order = np.random.default_rng(7).permutation(n)
    en, hi = np.ones(n, bool), np.ones(n, bool)
    en[order[:50]], hi[order[:50]] = False, False
    lost_en, lost_hi = np.zeros(n, bool), np.zeros(n, bool)
    lost_en[np.flatnonzero(en)[:k]], lost_hi[np.flatnonzero(~hi)[:k]] = True, True
    item = only(verdicts_of(exam("en", en, lost_en), exam("hi", hi, lost_hi)))
    assert item.verdict == "inconclusive" and item.ways["as_scored"] == "better"
    assert item.ways["against"] != "better"
    seven = np.zeros(n, bool)
    seven[np.flatnonzero(~hi)[:7]] = True
    some = only(verdicts_of(exam("en", en), exam("hi", first(n, 100), seven & ~first(n, 100))))
    assert "against" not in some.ways


def test_a_silent_judge_hides_no_harm():
    silent = first(246, 12)
    found = verdicts_of(
        correctness("en", first(246, 5)), correctness("hi", first(246, 5), silent=silent)
    )
    harm = found["contradictory", "hi"]
    assert harm.unparsed["language"] == 12 and harm.verdict == "inconclusive"
    helpful = found["helpful", "hi"]
    assert helpful.n == 234 and found["usable", "hi"].n == 246


def test_what_is_not_compared_is_not_unparsed():
    """6 of 40 prompts have another correct answer in every country."""
    rng = np.random.default_rng(9)
    made = information(40, {"es": rng.random((2, 40))}, {"en": first(40, 0), "es": first(40, 0)})
    for at, row in enumerate(made["xling_information"]["rows"]):
        row["excluded_rate"] = float(at < 6)
        if at < 6:
            row["information_f1_es"] = None
    known = [row["information_f1_es"] for row in made["xling_information"]["rows"][6:]]
    p, r = (float(np.mean([x[side] for x in known])) for side in ("precision", "recall"))
    scores = {"information_f1_es": 2 * p * r / (p + r), "excluded_rate": 0.15}
    made["xling_information"]["scores"] = scores
    item = verdicts_of(made)["information_f1", "es"]
    assert (item.reason, item.next, item.n, item.unparsed["language"]) == ("floor", "twice", 34, 0)


# Not measured, not comparable, and what to do


def test_a_part_of_the_questions_asks_for_all_of_them():
    tasks = exam("en", first(24, 20)) | exam("es", first(24, 18))
    for own in tasks.values():
        own["count"] = {"original": 246, "effective": 24}
    item = only(verdicts_of(tasks))
    assert (item.next, item.n_asked, item.n_available) == ("all", 24, 246)


def test_questions_that_all_got_one_prompt_are_not_comparable():
    rows = [sample(i, acc=float(i % 2)) | {"arguments": {"0": "Answer:"}} for i in range(40)]
    made = task("mcqa", ["en"], rows, acc=True) | task("mcqa", ["es"], rows, acc=True)
    item = only(verdicts_of(made))
    assert (item.verdict, item.reason, item.next) == ("not_comparable", "same_prompt", "prompts")
    assert item.estimate is None


def test_a_language_that_was_run_in_another_way_is_not_comparable():
    tasks = exam("en", first(100, 90)) | exam("es", first(100, 40)) | exam("zh", first(100, 40))
    tasks["mcqa_liveqa_zh"]["config"]["metadata"]["version"] = 2.0
    found = verdicts_of(tasks)
    assert found["acc", "es"].verdict == "worse"
    item = found["acc", "zh"]
    assert (item.verdict, item.reason, item.next) == ("not_comparable", "unlike", "same_run")
    assert item.differs == (("task version", "2.0", "1.0"),)


def judge_at(url, model="gpt", **more):
    args = {"model": model, "base_url": url, **more.pop("args", {})}
    return {"judge": {"model": "local-chat-completions", "model_args": args, **more}}


def jury_at(url, model="gpt", **more):
    return {"judge": [judge_at(url, model, **more)["judge"]]}


def native(prompts):
    return {"prompt_language": "native", "prompt_templates": prompts}


def generated(**values):
    return {"generation_kwargs": values}


HARM = ("correctness", "contradictory", None)
ALIKE = ("consistency", "sim_sent", 0.0)
SAMPLED = ("consistency", "sim_sent", 1.0)
LANGUAGE = ("consistency", "language_consistency", 0.0)
WAYS = [
    # Where a judge or a file lies, and how much may be written, moves nothing.
    (HARM, judge_at("http://a:1/v1"), judge_at("http://b:2/v1", args={"timeout": 9}), ""),
    (HARM, {}, generated(max_gen_toks=9, until=["x"], do_sample=False), ""),
    (HARM, judge_at("u"), judge_at("u", "other"), "judge.model"),
    (HARM, jury_at("a"), jury_at("a", "b"), "judge"),
    (HARM, native("/a/p.yaml"), native("/a/q.yaml"), "prompt templates"),
    (HARM, {}, generated(temperature=1.0, do_sample=True), "generation.temperature"),
    # Of consistency only what moves the metric counts.
    (LANGUAGE, {"encoder": "a"}, {"encoder": "b"}, ""),
    (ALIKE, {"encoder": "a"}, {"encoder": "b"}, "encoder"),
    (ALIKE, {}, {"translator": "b"}, ""),
    (SAMPLED, {"greedy_repeats": 2}, {"greedy_repeats": 3}, ""),
]


@pytest.mark.parametrize(("metric", "english", "other", "unlike"), WAYS)
def test_only_what_moves_a_metric_counts(metric, english, other, unlike):
    criterion, name, temperature = metric
    tasks = {}
    for code, given in (("en", english), ("es", other)):
        ((key, made),) = task(criterion, [code], [sample(i) for i in range(9)], "demo", {}).items()
        settings = {k: v for k, v in given.items() if k != "generation_kwargs"}
        recorded = made["config"]["metadata"]["xling"]
        recorded |= {"settings": settings, "generation_kwargs": given.get("generation_kwargs", {})}
        tasks[key] = made
    spanish, first_ = sorted(model_of(tasks).tasks, key=lambda x: x.task_key.language, reverse=True)
    reason, differs = find_reason(spanish, first_, MetricKey(criterion, "demo", name, temperature))
    assert reason == ("unlike" if unlike else "") and unlike in "".join(
        what for what, *_ in differs
    )


def test_languages_run_at_other_temperatures_than_english_are_not_compared():
    """English at 0, 0.5 and 1; consistency counts at 1, which Hindi (0.5) and Spanish (0.25) lack."""
    low, level = np.linspace(0.6, 0.8, 200), np.linspace(0.8, 1, 200)
    rows = {
        "en": {"sim_sent_t0.0": low, "sim_sent_t0.5": low, "sim_sent_t1.0": level},
        "zh": {"sim_sent_t0.5": low, "sim_sent_t1.0": level, "sim_sent_t2.0": low},
        "hi": {"sim_sent_t0.5": low}, "es": {"sim_sent_t0.25": low}, "fr": {"sim_1gram_t1.0": low},
    }  # fmt: skip
    tasks = [
        task("consistency", [code], [
            sample(i, **{name: float(own[i]) for name, own in columns.items()}) for i in range(200)
        ], **dict.fromkeys(columns, True))
        for code, columns in rows.items()
    ]  # fmt: skip
    found = {code: v for (_, code), v in verdicts_of(*tasks).items()}
    assert found["zh"].verdict == "equivalent" and found["zh"].temperature == 1.0
    for code, tau in (("hi", "0.5"), ("es", "0.25")):
        assert (found[code].verdict, found[code].next) == ("not_comparable", "same_run")
        assert found[code].differs == (("temperature", tau, "1"),) and found[code].family == 1
    assert (found["fr"].verdict, found["fr"].reason) == ("not_comparable", "one_side")


def test_samples_at_two_temperatures_have_no_gap(tmp_path):
    """Else Hindi at 0.5 is more or less the same than English at 1, which is more random."""
    (english,), (hindi,) = similar("en", [0.9] * 3).items(), similar("hi", [0.95] * 3).items()
    rows = [{"sim_sent_t0.5" if k == "sim_sent_t1.0" else k: v for k, v in row.items()}
            for row in hindi[1]["rows"]]  # fmt: skip
    tasks = dict([english, (hindi[0], hindi[1] | {"rows": rows})])
    for own in tasks.values():
        for row in own["rows"]:
            row["arguments"] = {"0": {"arg_1": {"temperature": 1.0}}}
    folder = write_run(tmp_path / "out", tasks)
    assert main(["samples", str(folder), "--to", str(tmp_path / "to")]) == 0
    text = (tmp_path / "to" / "data" / "0.js").read_text("utf-8")
    assert text.count('"gap":null') == 3 and text.count('"score":null') == 3


# Different questions in every language


def exams(russian, n=300, english=(400, 200), **first):
    """Russian with two options, English with five, but for what its first question has instead."""
    tasks = {
        "mmedbench_mcqa_en": mmedbench("en", *english, options=5),
        "mmedbench_mcqa_ru": mmedbench("ru", n, russian, options=2),
    }
    own = tasks["mmedbench_mcqa_en"]
    own["rows"][0] |= first
    own["scores"]["acc"] = float(np.mean([row["acc"] for row in own["rows"]]))
    for key, own in tasks.items():
        about = {"criterion": "mmedbench_mcqa", "dataset": "mmedbench", "languages": [key[-2:]]}
        own["config"]["metadata"]["xling"] = PLAIN | {"about": {"format": 1, **about}}
        for at, row in enumerate(own["rows"]):
            row["arguments"] = {"0": str(at)}
    return only(verdicts_of(tasks))


def test_multiple_choice_is_compared_beyond_chance():
    """Half correct of two options is guessing, half correct of five is not."""
    item = exams(150)
    assert [item.value, item.english, item.estimate] == pytest.approx([0, 0.375, -0.375])
    assert item.verdict == "worse" and item.tags == ("other_questions", "above_chance")
    assert item.counts == {"value": (150, 300), "english": (200, 400)}


def test_a_short_exam_all_correct_is_no_proof_where_questions_differ_in_options():
    two = {"options": {"A": "x", "B": "x"}, "question_id": "en0", "several": False}
    item = exams(30, n=30, english=(500, 465), doc=two)
    assert item.verdict == "inconclusive" and item.estimate == pytest.approx(0.0875, abs=1e-3)


def test_means_of_repeated_answers_are_compared_above_chance_too():
    item = exams(150, acc=0.5)
    assert item.value == 0 and item.estimate == pytest.approx(-item.english)


def test_better_in_an_exam_of_its_own_is_said_so():
    said, _ = tell_lead([asdict(exams(280))], 1)
    assert said.startswith("Russian is served better") and "different questions" in said


# What must not change a verdict


def test_other_models_and_datasets_change_nothing(tmp_path):
    rng = np.random.default_rng(10)

    def tasks(dataset):
        shares = {"en": 0.1, "es": 0.1, "hi": 0.4}
        return {
            f"xlinghealth_correctness_{dataset}_{code}": judged(
                set(np.flatnonzero(rng.random(60) < share).tolist()), 60
            )
            for code, share in shares.items()
        }

    one, two = tasks("liveqa"), tasks("medicationqa")
    both = write_run(tmp_path / "both", one | two)
    other = write_run(tmp_path / "other", tasks("liveqa"))
    alone = write_run(tmp_path / "alone", one)

    def found(*folders):
        models = read_models([f"{folder.name}={folder}" for folder in folders])
        rows = [v for model in models for v in make_verdicts(model, Options())]
        return [replace(v, model="") for v in rows if v.model != "other" and v.dataset == "liveqa"]

    assert found(alone) == found(both) == found(other, both) and len(found(alone)) == 6


def test_usable_answers_tell_what_became_of_the_others():
    useless = ["wrong_language"] * 12 + ["refusal"] * 9 + [""] * 225
    found = verdicts_of(
        correctness("en", first(246, 0)), correctness("hi", first(246, 0), useless=useless)
    )
    item = found["usable", "hi"]
    assert item.verdict == "worse" and item.counts["value"] == (225, 246)
    assert item.outcomes == {"scored": 225, "wrong_language": 12, "refusal": 9}
    assert "judge" in found["helpful", "hi"].tags and not item.tags


def test_a_task_without_samples_has_values_and_no_verdict():
    tasks = exam("en", first(24, 20)) | exam("es", first(24, 18))
    for own in tasks.values():
        own["rows"] = []
    item = only(verdicts_of(tasks))
    assert (item.verdict, item.reason, item.next) == ("inconclusive", "no_samples", "samples")
    assert item.estimate == pytest.approx(-2 / 24) and item.ci_low is None


def test_a_score_whose_unit_nobody_knows_has_no_size():
    rng = np.random.default_rng(11)
    en, made = rng.normal(50, 9, 200), {}
    for code, shift in (("en", 0), ("hi", -4), ("es", 0)):
        values = en + shift + rng.normal(0, 1, 200)
        rows = [sample(i, task_score=float(x)) for i, x in enumerate(values)]
        made |= task("task_metric", [code], rows, "mine", task_score=True)
    found = verdicts_of(made)
    assert found["task_score", "hi"].verdict == "worse"
    assert found["task_score", "es"].reason == "no_margin"
