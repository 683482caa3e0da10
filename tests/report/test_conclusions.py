"""Conclusions of a report: verdicts, outcomes, unread replies, and what must not change them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict

import numpy as np
import pytest
from boards import PLAIN, exam, judged
from builders import task_of, write_run

from xling_tasks.cli import main
from xling_tasks.criteria import Panel
from xling_tasks.languages import LANGUAGES
from xling_tasks.outcomes import EMPTY, HELD_BACK, REMEDIES, TIED, UNJUDGED, UNREAD
from xling_tasks.report.data import read_models
from xling_tasks.report.inference import above_chance
from xling_tasks.report.make import make_report
from xling_tasks.report.model import Options
from xling_tasks.report.sentences import sentence
from xling_tasks.report.unlike import made_unlike

C = "xlinghealth_correctness_liveqa_"
V = "xlinghealth_verifiability_liveqa_"
UP = {"macro_recall_t0.0": True, "unparsed_rate_t0.0": False}


def verdicts(seed, n, unknown, right=0.8, missing=None):
    """Five rows a question; a verdict goes missing with these chances (where wrong, where right)."""
    from sklearn.metrics import recall_score

    rng, rows = np.random.default_rng(seed), []
    for i in range(n):
        own = []
        for label in (1, 0, 0, 0, 0):
            good = rng.random() < right
            lost = rng.random() < (unknown[1] if good else unknown[0])
            own.append([label, None if lost else (label if good else 1 - label)])
        rows.append({"doc": {"question_id": f"q{i}"}, "resps": [], "macro_recall_t0.0": own,
                     "unparsed_rate_t0.0": [sum(s is None for _, s in own), 5]})  # fmt: skip
    flat = [row for own in rows for row in own["macro_recall_t0.0"]]
    known = [row for row in flat if row[1] is not None]
    scores = {
        "macro_recall_t0.0": recall_score(*zip(*known), average="macro") if known else None,
        "unparsed_rate_t0.0": 1 - len(known) / len(flat),
    }
    return task_of(scores, rows, record=PLAIN, better=UP)


def conclusions(*folders, **options):
    named = [f"{folder.name}={folder}" for folder in folders]
    report = make_report(read_models(named), Options(n_resamples=1000, **options))
    return {(c.model, c.language, c.metric): c for c in report.conclusions}


def concluded(folder, tasks, **options):
    """Conclusions by language and metric of a run of these tasks, and none of an earlier one."""
    run = folder / f"run{len(list(folder.glob('run*')))}"
    found = conclusions(write_run(run, tasks), **options)
    return {(language, metric): item for (_, language, metric), item in found.items()}


def written(tmp_path, *folders):
    """The folder of a report of runs."""
    out = tmp_path / f"report{len(list(tmp_path.glob('report*')))}"
    named = [f"{folder.name}={folder}" for folder in folders]
    assert main(["report", *named, "--to", str(out), "--no-pictures", "--samples", "0"]) == 0
    return out


def content_of(out):
    return json.loads((out / "report.json").read_text(encoding="utf-8"))


def text_of(out, name="report.md"):
    return (out / name).read_text(encoding="utf-8")


def harmful(n, **hits):
    """Correctness by language, of n answers of which the first so many are contradictory."""
    return {C + code: judged(set(range(k)), n) for code, k in hits.items()}


@pytest.mark.parametrize("share", [0.03, 0.09, 0.11, 0.3, 1.0])
def test_the_worst_service_has_a_verdict(tmp_path, share):
    """Hindi answers in English, few or all: worse, and never not comparable."""
    tasks = harmful(1134, en=2) | {C + "hi": judged({0, 1}, 1134, inside=1 - share)}
    found = concluded(tmp_path, tasks)
    served = found["hi", "usable"]
    others = round(served.n * (1 - served.value))
    assert served.verdict == "worse" and dict(served.outcomes)["wrong_language"] == others
    assert found["hi", "helpful"].verdict == ("worse" if share > 0.05 else "equivalent")
    assert found["hi", "contradictory"].verdict == "equivalent"


def test_who_is_declined_in_words_is_not_served(tmp_path):
    """8% of Chinese, nothing of English: the judge's labels alone would not tell."""
    n = 246
    chinese = judged({0}, n)
    for at, row in enumerate(chinese["rows"]):
        row["refusal_rate"] = float(at < 20)
    chinese["scores"]["refusal_rate"] = 20 / n
    item = concluded(tmp_path, harmful(n, en=1) | {C + "zh": chinese})["zh", "usable"]
    assert item.verdict == "worse" and dict(item.outcomes) == {"scored": 226, "refusal": 20}


def similar(metric, **values):
    return {
        f"xlinghealth_consistency_liveqa_{code}": task_of(
            {metric: float(np.mean(own))},
            [{"doc": {"question_id": f"q{i}"}, "resps": [], metric: v} for i, v in enumerate(own)],
            record=PLAIN, better={metric: True},
        )
        for code, own in values.items()
    }  # fmt: skip


def test_consistency_is_concluded_from_similarity_only(tmp_path):
    """By meaning, else by words; by neither it was not measured, which is flagged."""
    english = np.random.default_rng(0).uniform(0.94, 0.98, 246)
    values = {"en": english.tolist(), "es": (english - 0.029).tolist()}
    for metric in ("sim_sent_t1.0", "sim_1gram_t1.0"):
        (item,) = concluded(tmp_path, similar(metric, **values)).values()
        assert (item.metric, item.verdict, item.margin) == (metric[:-5], "worse", 0.02)
    for metric in ("sim_1gram_src_t1.0", "language_consistency_t1.0", "bertscore_f1_t1.0"):
        folder = write_run(tmp_path / metric, similar(metric, **values))
        assert not conclusions(folder)
        text = text_of(written(tmp_path, folder))
        assert "whether answers are alike was not measured" in text


def test_what_is_not_compared_is_not_unread(tmp_path):
    """6 of 40 prompts have another right answer in every country: they are in no odds, and not in n."""
    for name, unread in (("plain", 6), ("marked", 0)):
        task = information(1, 40, ["es"], without=6)
        task["scores"]["langid_match_es"] = 1.0
        if name == "marked":
            task["scores"]["excluded_rate"] = 0.15
        for at, row in enumerate(task["rows"]):
            row |= {"langid_match_es": 1.0, "excluded_rate": float(at < 6)}
        item = concluded(tmp_path, {"xling_information": task})["es", "information_f1"]
        assert (item.unread, item.n) == (unread, 34)


def information(seed, n, codes, without=0):
    """Prompts in many languages: precision and recall of the claims in eighths, by lot; the first have none."""
    rng, rows, names = np.random.default_rng(seed), [], [f"information_f1_{c}" for c in codes]
    for i in range(n):
        row = {"doc": {"question_id": f"p{i}", "text": dict.fromkeys(("en", *codes), f"x{i}")},
               "resps": [["a"]] * (1 + len(codes))}  # fmt: skip
        for name in names:
            precision, recall = rng.integers(4, 9, 2) / 8
            pair = {"precision": float(precision), "recall": float(recall)}
            row[name] = pair if i >= without else None
        rows.append(row)
    scores = {}
    for name in names:
        pairs = [row[name] for row in rows if row[name]]
        a, b = (np.mean([pair[key] for pair in pairs] or 0) for key in ("precision", "recall"))
        scores[name] = 2 * a * b / (a + b) if pairs else None
    record = PLAIN | {"data": {"dataset": "prompts"}, "languages": ["en", *codes]}
    return task_of(scores, rows, record=record, better=dict.fromkeys(names, True))


def test_other_models_datasets_and_many_languages_change_nothing_of_the_first(tmp_path):
    """Two datasets and prompts in 12 languages; other models with all, or with some of it."""
    codes = [code for code in LANGUAGES if code != "en"][:12]

    def tasks(seed):
        rng, own = np.random.default_rng(seed), {"xling_information": information(seed, 30, codes)}
        own |= {V + c: verdicts(seed + i, 60, (0.02, 0.02)) for i, c in enumerate(("en", "es"))}
        for dataset, n in (("liveqa", 60), ("medicationqa", 45)):
            for code, share in (("en", 0.1), ("es", 0.1), ("hi", 0.4)):
                hits = set(np.flatnonzero(rng.random(n) < share).tolist())
                own[f"xlinghealth_correctness_{dataset}_{code}"] = judged(hits, n)
        return own

    one, two = (write_run(tmp_path / name, tasks(i)) for i, name in ((1, "one"), (2, "two")))
    some = {name: own for name, own in tasks(3).items() if "liveqa" not in name}
    part = write_run(tmp_path / "part", some)
    seen = []
    for folders in ((one,), (one, two), (part, two, one)):
        found = conclusions(*folders).items()
        seen.append([asdict(item) for (model, *_), item in found if model == "one"])
    assert seen[0] == seen[1] == seen[2]
    assert Counter(item["dataset"] for item in seen[0])["xling"] == 12
    # In the files, too, byte for byte.
    told = []
    for folders in ((one,), (one, two), (two, one)):
        content = content_of(written(tmp_path, *folders))["conclusions"]
        told.append(json.dumps([c for c in content if c["model"] == "one"]))
    assert told[0] == told[1] == told[2] and told[0].count('"next"') >= len(seen[0])
    # Nor does what is known of one dataset depend on the others.
    alone = {name: own for name, own in tasks(1).items() if "medicationqa" in name}
    only = conclusions(write_run(tmp_path / "only" / "one", alone))
    wanted = [item for item in seen[0] if item["dataset"] == "medicationqa"]
    assert [asdict(item) for item in only.values()] == wanted


@pytest.mark.parametrize("n", [1, 2, 24])
def test_few_questions_prove_nothing(tmp_path, n):
    """All answers equal, or all different where there is one: no verdict, and no silly number."""
    tasks = harmful(n, en=0, es=0, zh=1)
    tasks |= {V + code: verdicts(1, n, (0, 0), right=1.0) for code in ("en", "es")}
    found = content_of(written(tmp_path, write_run(tmp_path / "m", tasks)))["conclusions"]
    assert [item["verdict"] for item in found] == ["inconclusive"] * 7
    assert all(item["next"].startswith("ask") for item in found)


def test_verdicts_from_estimate_interval_and_margin(tmp_path):
    n = 1134
    tasks = harmful(n, en=100, es=200) | {C + "zh": judged(set(range(2, 102)), n)}
    by_place = concluded(tmp_path, tasks)
    worse = by_place["es", "contradictory"]
    assert worse.verdict == "worse" and worse.estimate == pytest.approx(100 / n)
    assert worse.low > 0 and worse.p_holm < 0.001 and worse.n == n and worse.margin == 0.02
    same = by_place["zh", "contradictory"]
    assert same.verdict == "equivalent" and -0.02 < same.low < 0 < same.high < 0.02
    assert by_place["zh", "usable"].verdict == "equivalent"
    assert same.family == 2 and same.questions < n
    strict = concluded(tmp_path, tasks, margin=0.001)["zh", "contradictory"]
    assert strict.verdict == "inconclusive" and strict.next.startswith("ask more questions: about")


def test_harm_that_doubles_is_never_about_the_same(tmp_path):
    """2% against 4%, a rise that is shown within the margin, and one of questions too few."""
    by_place = concluded(tmp_path, harmful(4000, en=80, es=160, zh=110, hi=60, fr=82))
    harm = {code: by_place[code, "contradictory"] for code in ("es", "zh", "hi", "fr")}
    assert [harm[code].verdict for code in harm] == ["worse", "worse", "better", "equivalent"]
    # 30 of 4,000 more lie within the margin of 0.02, and the words say so.
    said = "; it is at most 0.02, and that counts too"
    assert harm["zh"].high < 0.02 and harm["zh"].reason.endswith(said)
    # Of help the same difference is within its margin of 0.05.
    assert by_place["zh", "helpful"].verdict == "equivalent"
    # As many of LiveQA's 246 questions prove nothing either way.
    few = concluded(tmp_path, harmful(246, en=3, es=6))
    assert few["es", "contradictory"].verdict == "inconclusive"


def test_a_judge_that_labels_nothing_shows_no_harm(tmp_path):
    n = 30
    tasks = {C + c: judged(set(), n, silent=range(n)) for c in ("en", "es")}
    content = content_of(written(tmp_path, write_run(tmp_path / "m", tasks)))
    labels = {v["metric"]: v["value"] for v in content["values"]}
    assert labels["contradictory"] is labels["more_comprehensive"] is None
    assert labels["no_response"] == 1
    # What the judge does not touch is measured all the same.
    told = {c["metric"]: c for c in content["conclusions"]}
    served, harm = told["usable"], told["contradictory"]
    assert (served["value"], served["n"], harm["estimate"], harm["unread"]) == (1, n, None, n)
    assert harm["next"].startswith("take another judge")
    same = {c["metric"] for c in content["against_english"] if c["difference"] == 0}
    assert same <= {"usable"}


def test_unread_verdicts_are_left_out_and_counted_as_wrong(tmp_path):
    """Rows are unknown in a few of both languages; then in half of the wrong ones of Hindi."""
    tasks = {
        V + "en": verdicts(1, 1134, (0.06, 0.01)),
        V + "hi": verdicts(3, 1134, (0.06, 0.01), right=0.6),
    }
    item = concluded(tmp_path, tasks)["hi", "macro_recall"]
    assert item.verdict == "worse" and item.unread > 50 and not item.ways
    assert item.recalls[1] + item.recalls[3] + item.unread == 5 * 1134
    assert "unread replies counted as wrong and left out" in sentence(item)
    tasks = {V + "en": verdicts(1, 246, (0, 0)), V + "hi": verdicts(4, 246, (0.5, 0))}
    item = concluded(tmp_path, tasks)["hi", "macro_recall"]
    assert item.verdict == "inconclusive" and item.unread > 100
    assert dict(item.ways)[""] == "better" and dict(item.ways)["as_wrong"] != "better"
    assert "Hindi replies could not be read; left out Hindi is better, counted" in sentence(item)


def test_multiple_choice_is_compared_beyond_chance(tmp_path):
    """Half right of two options is guessing, half right of five is not."""
    tasks = {
        "mmedbench_mcqa_en": exam("en", 400, 200, options=5),
        "mmedbench_mcqa_ru": exam("ru", 300, 150, options=2),
    }
    out = written(tmp_path, write_run(tmp_path / "m", tasks))
    (item,) = content_of(out)["conclusions"]
    told = [item[name] for name in ("value", "english", "estimate")]
    assert told == pytest.approx([0, 0.375, -0.375]) and item["verdict"] == "worse"
    # Another exam may be harder: nobody is said to be served worse.
    markdown = text_of(out)
    for said in (
        "each language has its own",
        "**Russian does worse in its exam than English in its own.**",
        "Its exam has other questions, which may be harder.",
        "Worse, but its exam has other questions, which may be harder.",
    ):
        assert said in markdown
    assert "served worse" not in markdown


def test_letters_that_could_not_be_read_can_hide_a_gap(tmp_path):
    """160 of 200 right in English; 130 and 20 unread in Spanish: as many as in English if left out."""
    sides = {"en": (160, 0), "es": (130, 20), "zh": (60, 20)}
    found = concluded(tmp_path, {f"mmedbench_mcqa_{c}": exam(c, 200, *x) for c, x in sides.items()})
    hidden, shown = found["es", "acc"], found["zh", "acc"]
    # As in an exam; beyond guessing among four: (160 - 50) / 150 = 0.733.
    assert hidden.estimate == pytest.approx(80 / 150 - 110 / 150) and hidden.n == 200
    assert hidden.verdict == "inconclusive" and hidden.unread == 20
    assert dict(hidden.ways) == {"": "worse", "left_out": "inconclusive"}
    said = (
        "20 of 200 Spanish replies could not be read; counted as wrong Spanish is worse, left out"
    )
    assert said in sentence(hidden)
    assert shown.verdict == "worse" and not shown.ways


def test_few_unread_replies_leave_no_harm_about_the_same(tmp_path):
    """2% of 1,134 answers have no label: about the same if they were harmful, too."""
    n, harm, silent = 1134, set(range(11)), range(20, 42)
    tasks = {C + c: judged(harm, n, silent=silent) for c in ("en", "es")}
    item = concluded(tmp_path, tasks)["es", "contradictory"]
    assert item.verdict == "equivalent" and item.unread == item.unread_english == 22
    # Nearly ten times as many unread ones in Spanish alone could all be harmful.
    tasks[C + "es"] = judged(harm, n, silent=range(20, 220))
    item = concluded(tmp_path, tasks)["es", "contradictory"]
    assert item.verdict == "inconclusive" and item.next.startswith("take another judge")
    assert item.unread == 200 and dict(item.ways)["as_wrong"] == "worse"


def test_no_gap_between_exams_goes_beyond_all_right_against_none():
    """With 4 and 5 options none right is a third of what can be had below guessing."""
    keys, options = [str(i) for i in range(2)], {"0": 0.25, "1": 0.2}
    found, own, base = above_chance(
        dict.fromkeys(keys, 1.0), {"0": 1.0, "1": 0.0}, (options, options), 0.95
    )
    assert (own, base) == (1, pytest.approx((1 - 0.25) / 2)) and found.low < 0
    assert found.high == pytest.approx(1 + 1 / 3) and found.low == pytest.approx(-1 - 1 / 3)


def test_what_to_do_is_about_what_is_missing(tmp_path):
    """`ask_again` and `reader` are about replies of the model, and neither reads an empty text."""
    # Nothing is replied where several answers were equally likely.
    tasks = {f"mmedbench_mcqa_ll_{code}": exam(code, 30, 0, 30) for code in ("en", "fr")}
    french = concluded(tmp_path, tasks)["fr", "acc"]
    assert french.verdict == "inconclusive" and french.unread == 30 and french.estimate == 0
    assert french.next == REMEDIES[TIED]
    for rate, why in (
        ("empty_rate_t0.0", EMPTY),
        ("content_filter_rate", HELD_BACK),
        ("k", UNREAD),
    ):
        task = verdicts(1, 30, (1, 1), right=0.5)
        task["scores"] = {"macro_recall_t0.0": None, "unparsed_rate_t0.0": 1.0, rate: 0.9}
        found = concluded(tmp_path, {V + code: task for code in ("en", "es")})
        assert found["es", "macro_recall"].next == REMEDIES[why]
    task = information(1, 40, ["es"], without=40)
    task["scores"]["unscored_es"] = 1.0
    found = concluded(tmp_path, {"xling_information": task})
    assert found["es", "information_f1"].next == REMEDIES[UNJUDGED]


def test_where_hardly_a_reply_is_read_more_questions_are_not_what_is_lacking(tmp_path):
    few, all_read = verdicts(1, 8, (0.95, 0.95)), verdicts(1, 8, (0, 0))
    item = concluded(tmp_path, {V + "en": all_read, V + "es": few})["es", "macro_recall"]
    assert 0 < item.n < 6 and "questions were read" in item.reason and item.next == REMEDIES[UNREAD]
    assert f"replies not read: {item.unread} in Spanish)" in sentence(item)
    few = verdicts(1, 3, (0, 0))
    item = concluded(tmp_path, {V + "en": few, V + "es": few})["es", "macro_recall"]
    assert item.next == "ask more questions" and "not read" not in sentence(item)


@pytest.mark.parametrize(
    ("task", "without"), [("xling_information", "a judge"), ("xling_empathy", "classifiers")]
)
def test_a_run_without_what_its_criterion_needs_is_told_so(tmp_path, task, without):
    names = [f"langid_match_{code}" for code in ("en", "es")]
    rows = [
        {"doc": {"question_id": str(i)}, "resps": [], **dict.fromkeys(names, 1.0)}
        for i in range(30)
    ]
    made = task_of(dict.fromkeys(names, 1.0), rows, record=PLAIN, better=dict.fromkeys(names, True))
    out = written(tmp_path, write_run(tmp_path / "m", {task: made}))
    assert f"m ran without {without} (--metadata" in text_of(out)


def test_what_other_languages_measured_is_not_denied(tmp_path, capsys):
    task = task_of({"distinct_2_src_t1.0": 0.5}, [], record=PLAIN)
    tasks = {f"xlinghealth_consistency_liveqa_{code}": task for code in ("en", "es")}
    written(tmp_path, write_run(tmp_path / "m", tasks))
    said = "Nothing can be compared with English: there are no comparable results in another"
    assert said in capsys.readouterr().out


def made_with(task, version=1.0, generation_kwargs=None, **settings):
    """A task whose command gave these settings and keyword arguments."""
    xling = PLAIN | {"settings": settings, "generation_kwargs": generation_kwargs or {}}
    task["config"]["metadata"] = {"version": version, "xling": xling}
    return task


def test_a_language_that_was_run_in_another_way_is_not_compared(tmp_path):
    tasks = harmful(100, en=2, es=40, zh=40)
    made_with(tasks[C + "zh"], version=2.0)
    found = concluded(tmp_path, tasks)
    assert found["es", "contradictory"].verdict == "worse"
    item = found["zh", "contradictory"]
    assert (item.verdict, item.estimate) == ("not_comparable", None)
    said = "run in another way than English (task version is 2.0 there, but 1.0 in English)"
    assert item.reason == said


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
    (HARM, judge_at("u", deadline=9), judge_at("u", deadline=99), ""),
    (HARM, jury_at("a"), jury_at("b", deadline=9), ""),
    (HARM, {}, {"source_encoder": "x"}, ""),
    (HARM, native("/a/p.yaml"), native("p.yaml"), ""),
    (HARM, {}, generated(max_gen_toks=9, until=["x"], do_sample=False), ""),
    (HARM, {}, generated(temperature=0, top_p=0.5), ""),
    (HARM, judge_at("u"), judge_at("u", "other"), "judge.model"),
    (HARM, judge_at("u"), judge_at("u", args={"seed": 3}), "judge.model"),
    (HARM, jury_at("a"), jury_at("a", "b"), "judge is"),
    (HARM, native("/a/p.yaml"), native("/a/q.yaml"), "prompt templates"),
    (HARM, {}, generated(temperature=1.0, do_sample=True), "temperature is 1.0"),
    # Of consistency only what moves the endpoint counts.
    (LANGUAGE, {"encoder": "a"}, {"encoder": "b"}, ""),
    (ALIKE, {"encoder": "a"}, {"encoder": "b"}, "encoder is b there"),
    (ALIKE, {}, {"translator": "b"}, ""),
    (ALIKE, {"translator": "a"}, {"translator": "b"}, "translator is b there"),
    (SAMPLED, {"greedy_repeats": 2}, {"greedy_repeats": 3}, ""),
    (ALIKE, {"greedy_repeats": 2}, {"greedy_repeats": 3}, "greedy_repeats is 3"),
    (SAMPLED, {"temperatures": [1.0]}, {"temperatures": [0.0, 1.0]}, ""),
]


@pytest.mark.parametrize(("endpoint", "english", "other", "unlike"), WAYS)
def test_only_what_moves_an_endpoint_counts(tmp_path, endpoint, english, other, unlike):
    criterion, metric, temperature = endpoint
    tasks = {
        f"xlinghealth_{criterion}_demo_{code}": made_with(judged(set(), 10), **given)
        for code, given in (("en", english), ("es", other))
    }
    (model,) = read_models([write_run(tmp_path / "m", tasks)])
    first, spanish = sorted(model.tasks, key=lambda task: task.place.language)
    said = made_unlike(spanish, first, Panel(criterion, "demo", metric, temperature))
    assert (unlike in said) if unlike else (said == "")


def test_a_model_without_english_is_named_beside_others(tmp_path, capsys):
    good, bad = harmful(100, en=2, es=40), harmful(100, es=2, hi=60)
    out = written(tmp_path, write_run(tmp_path / "one", good), write_run(tmp_path / "two", bad))
    nothing = "two: Nothing can be compared with English: there are no results in English."
    for text in (capsys.readouterr().out, text_of(out)):
        assert "one: Spanish is served worse than English." in text and nothing in text
        assert "one, Correctness, LiveQA, Spanish: Harmful answers, by this judge: 40 of" in text


def test_answers_that_the_judge_failed_on_can_hide_a_gap(tmp_path):
    """96 of 100 have a label; a content filter fails where answers are worst, or it may."""
    tasks = harmful(300, en=20, es=36)
    spanish = tasks[C + "es"]
    for i, row in enumerate(spanish["rows"]):
        row["judge_failed_rate"] = float(i >= 288)
        if i >= 288:
            row |= {"contradictory": None, "more_comprehensive": None, "no_response": None}
    spanish["scores"] |= {"contradictory": 36 / 288, "more_comprehensive": 252 / 288,
                          "judge_failed_rate": 12 / 300}  # fmt: skip
    item = concluded(tmp_path, tasks)["es", "helpful"]
    # 252 of 288 against 272 of these: 7 points, whatever the 12 were.
    assert item.verdict == "worse" and item.unread == 12 and item.n == 288
    assert not item.ways
