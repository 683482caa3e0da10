"""`xling compare`: numbers and verdicts of two models, what is refused, and what is to be known."""

from __future__ import annotations

import copy
import csv
import itertools
import json
from dataclasses import asdict

import numpy as np
import pytest
import scipy.stats
from boards import PLAIN
from boards import exam as mmedbench
from builders import STAMP, write_run
from in_memory import correctness, exam, information, sample, similar, task, verifiability
from sklearn.metrics import recall_score
from xling_metrics.stats.bounded_means import gaffke, gaffke_p

from xling_tasks.cli import parse
from xling_tasks.errors import XlingError
from xling_tasks.report.compare.command import exit_status
from xling_tasks.report.data import read_models
from xling_tasks.report.lists import make_verdicts
from xling_tasks.report.verdicts import Options
from xling_tasks.report.words import tell_evidence

HELP, HARM = "more_comprehensive", "contradictory"
JUDGE = {"model": "local-chat-completions", "model_args": {"model": "judge-1"}}


def write(folder, *tasks, args=None, change=None, stamp=STAMP):
    """A run of tasks as `in_memory` makes them, with what every run records."""
    made = copy.deepcopy({name: own for group in tasks for name, own in group.items()})
    for own in made.values():
        record = own["config"]["metadata"]["xling"]
        record["settings"] |= {"judge": JUDGE, "sampling_seed": 1234}
        record["data"] |= {"sha256": "ab" * 32}
        record["signatures"] = {name: f"{name}|of:all|library:1.0" for name in own["scores"]}
        record["generation_kwargs"] = {"max_gen_toks": 64, "until": "x" * 500 + "left"}
    config = {"model_args": args or {"pretrained": f"me/{folder.name}"}}
    return write_run(folder, made, config=config, change=change, stamp=stamp)


def run(a, b, *words):
    options = parse(["compare", str(a), str(b), *map(str, words)])
    return options.run(options)


def compare(a, b, *words):
    return json.loads(run(a, b, "--json", *words))


def compare_tasks(tmp_path, a, b, *words):
    """The comparison of runs of some tasks each."""
    return compare(write(tmp_path / "a", *a), write(tmp_path / "b", *b), *words)


def refusal(a, b, *words):
    with pytest.raises(XlingError) as caught:
        run(a, b, *words)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def rows(content, kind="models"):
    found = content["comparisons"]
    return {(row["metric"], row["language"]): row for row in found if row["kind"] == kind}


def verdicts(content, kind="models"):
    found = content["verdicts"]
    return {(v["metric"], v["language"]): v for v in found if v["comparison"] == kind}


def remarks(content, kind):
    return [row for row in content["remarks"] if row["kind"] == kind]


def of(row, names):
    return [row[name] for name in names.split()]


def noise(seed, n=30, low=0.0):
    return np.random.default_rng(seed).uniform(low, low + 0.5, n).round(3)


FREE = "distinct_answers"


def free(code, values):
    """A score without bounds or direction."""
    name = f"{FREE}_t1.0"
    made = [sample(i, **{name: None if x is None else float(x)}) for i, x in enumerate(values)]
    return task("consistency", [code], made, **{name: None})


# Numbers


def test_differences_and_changes_of_gaps_equal_recomputed_ones(tmp_path):
    en, hi = (noise(1), noise(2)), (noise(3), noise(4, low=0.3))
    content = compare_tasks(
        tmp_path, *([similar("en", en[m]), similar("hi", hi[m])] for m in (0, 1))
    )
    gap = (hi[1] - en[1]) - (hi[0] - en[0])
    for kind, code, (a, b), difference, bound in (
        ("models", "en", en, en[1] - en[0], 1), ("models", "hi", hi, hi[1] - hi[0], 1),
        ("gap", "hi", (hi[0] - en[0], hi[1] - en[1]), gap, 2),
    ):  # fmt: skip
        item = verdicts(content, kind)["sim_sent", code]
        assert of(item, "english value estimate n") == pytest.approx(
            [a.mean(), b.mean(), difference.mean(), 30]
        )
        assert item["p"] == pytest.approx(gaffke_p(difference, -bound, bound))
        if item["verdict"] == "worse" or item["verdict"] == "better":
            ends = gaffke(difference, -bound, bound)
            assert of(item, "ci_low ci_high") == pytest.approx(ends, abs=1e-6)
        row = rows(content, kind)["sim_sent", code]
        assert of(row, "b a estimate p") == of(item, "value english estimate p")


def recognised(seed, n, share):
    rng = np.random.default_rng(seed)
    return rng.random(n) < share, rng.random((n, 3)) < share


def test_the_gap_of_balanced_accuracy_has_the_jackknife(tmp_path):
    n, keys = 12, list(itertools.product("ab", ("en", "hi")))
    made = {key: recognised(i, n, 0.5 + 0.1 * i) for i, key in enumerate(keys)}
    content = compare_tasks(
        tmp_path, *([verifiability(c, *made[m, c]) for c in ("en", "hi")] for m in "ab")
    )

    def score(key, chosen):
        right, wrong = (side[chosen] for side in made[key])
        truth = np.r_[np.ones(right.size), np.zeros(wrong.size)]
        answers = np.where(np.r_[right, wrong.ravel()], truth, 1 - truth)
        return recall_score(truth, answers, average="macro")

    def change(chosen):
        own = {key: score(key, chosen) for key in keys}
        return own["b", "hi"] - own["b", "en"] - own["a", "hi"] + own["a", "en"]

    every = np.arange(n)
    without = np.array([change(np.delete(every, i)) for i in every])
    se = ((n - 1) / n * ((without - without.mean()) ** 2).sum()) ** 0.5
    item = verdicts(content, "gap")["macro_recall", "hi"]
    assert item["estimate"] == pytest.approx(change(every))
    assert item["p"] == pytest.approx(2 * scipy.stats.t.sf(abs(change(every)) / se, n - 1))


def test_swapping_the_models_negates_everything(tmp_path):
    runs = []
    for m in (0, 1):
        tasks = [similar(c, noise(m + at, 40)) for at, c in enumerate(("en", "hi"))]
        tasks += [
            verifiability(c, *recognised(10 * m + at, 40, 0.7)) for at, c in enumerate(("en", "hi"))
        ]
        runs.append(write(tmp_path / "ab"[m], *tasks))
    ahead, back = compare(*runs)["comparisons"], compare(*runs[::-1])["comparisons"]
    assert len(ahead) == len(back) == 6
    opposite = {"worse": "better", "better": "worse"}
    for one, other in zip(ahead, back, strict=True):
        assert of(one, "metric language n kind") == of(other, "metric language n kind")
        assert of(one, "estimate ci_low ci_high") == pytest.approx(
            [-x for x in of(other, "estimate ci_high ci_low")], abs=1e-6
        )
        assert of(one, "a p") == pytest.approx(of(other, "b p"))
        if one["kind"] == "models":
            assert one["verdict"] == opposite.get(other["verdict"], other["verdict"])


# Verdicts


@pytest.mark.parametrize(("n", "wanted"), [(24, "inconclusive"), (400, "equivalent")])
def test_a_copy_is_never_worse_and_equivalent_where_n_suffices(tmp_path, n, wanted):
    harm = np.arange(n) < n // 10
    tasks = [correctness(c, harm) for c in ("en", "es")]
    tasks += [verifiability(c, *recognised(at, n, 0.8)) for at, c in enumerate(("en", "es"))]
    found = compare_tasks(tmp_path, tasks, tasks)["verdicts"]
    assert len(found) == 12 and {(v["verdict"], v["estimate"]) for v in found} == {(wanted, 0)}


def test_a_margin_and_what_is_not_worse(tmp_path):
    a, b = (
        write(tmp_path / name, correctness("en", np.arange(400) < hits))
        for name, hits in (("a", 40), ("b", 44))
    )
    for words, wanted in (
        ((), [False, "inconclusive"]),
        (("--margin", "0.05"), [True, "equivalent"]),
    ):
        assert of(verdicts(compare(a, b, *words))[HARM, "en"], "not_worse verdict") == wanted


def harmed(code, hits, n=690):
    """The first are harmed; the last where their number is negative."""
    at = np.arange(n)
    return correctness(code, at < hits if hits >= 0 else at >= n + hits)


# Harm in English and in Hindi, of A and of B, of 690.
GAPS = [
    ((70, 170), (170, 70), "better", "better", "shown"),
    ((170, 70), (70, 170), "worse", "worse", "shown"),
    ((70, 170), (170, 170), "equivalent", "inconclusive", "gap_levelled"),
    ((70, 70), (170, 170), "equivalent", "equivalent", "same"),
    ((70, 70), (70, -75), "inconclusive", "inconclusive", "gap_open"),
]


@pytest.mark.parametrize(("english", "hindi", "between", "gap", "reason"), GAPS)
def test_the_gap_has_rules_of_its_own(tmp_path, english, hindi, between, gap, reason):
    """No advantage that vanishes is a gain, nor is a gap that English alone closes."""
    runs = [[harmed("en", english[m]), harmed("hi", hindi[m])] for m in (0, 1)]
    content = compare_tasks(tmp_path, *runs)
    assert verdicts(content)[HARM, "hi"]["verdict"] == between
    assert of(verdicts(content, "gap")[HARM, "hi"], "verdict reason") == [gap, reason]


def test_worse_somewhere_fails_a_check_and_what_is_open_has_a_status_of_its_own(tmp_path):
    def status(a, b):
        runs = (write(tmp_path / str(hits), harmed("en", hits)) for hits in (a, b))
        return run(*runs, "--json", "--fail-if", "worse").status

    assert [status(*hits) for hits in ((70, 170), (170, 70), (70, 70), (70, -75))] == [1, 0, 0, 3]


# What is refused


def test_better_and_worse_in_one_language_are_said_of_their_metrics(tmp_path):
    numbers = np.arange(690)
    runs = [
        write(tmp_path / name, correctness("hi", numbers < harm, helped=numbers >= 690 - helped))
        for name, harm, helped in (("a", 7, 300), ("b", 100, 450))
    ]
    said = run(*runs, "--to", tmp_path / "to").splitlines()[0]
    assert "worse than a in Hindi (harmful answers)" in said and "(helpful answers)" in said


def test_only_the_metrics_that_are_named_decide(tmp_path):
    """B harms more, and is as usable: a check of `usable` alone passes, corrected for itself."""
    a, b = (write(tmp_path / name, harmed("en", hits)) for name, hits in (("a", 7), ("b", 170)))
    (item,) = compare(a, b, "--metrics", "usable")["verdicts"]
    assert (item["metric"], item["verdict"], item["family"]) == ("usable", "equivalent", 1)
    assert [run(a, b, "--fail-if", "worse", "--to", tmp_path / "to", *words).status
            for words in ((), ("--metrics", "usable"))] == [1, 0]  # fmt: skip


def recorded(*path, value):
    def change(content):
        for config in content["configs"].values():
            own = config["metadata"]["xling"]
            for key in path[:-1]:
                own = own[key]
            own[path[-1]] = value

    return change


NEWER = {name: f"{name}|of:all|library:2.0" for name in (HARM, HELP)}


@pytest.mark.parametrize(("change", "said"), [
    (recorded("settings", "judge", value=JUDGE | {"model_args": {"model": "judge-2"}}),
     'judge.model: local-chat-completions {"model": "judge-1"} (A), local-chat-completions {"model": '
     '"judge-2"} (B) in correctness_liveqa_en and 1 more'),
    (recorded("signatures", value=NEWER), "library:1.0 (A), library:2.0 (B) in correctness_liveqa_en"),
    (recorded("generation_kwargs", value={"until": "x" * 500 + "right"}), "right (B)"),
])  # fmt: skip
def test_runs_with_different_settings_are_refused_and_named(tmp_path, change, said):
    tasks = [correctness(c, np.arange(30) < 3) for c in ("en", "hi")]
    runs = write(tmp_path / "a", *tasks), write(tmp_path / "b", *tasks, change=change)
    refused = refusal(*runs)
    assert said in refused and "--force" in refused and "x" * 200 not in refused
    content = compare(*runs, "--force")
    assert any(said in row["what"] for row in remarks(content, "made_differently"))
    assert verdicts(content)[HARM, "hi"]["estimate"] == 0


def test_other_content_under_the_same_id_is_never_compared(tmp_path):
    first, other = correctness("en", np.arange(30) < 3), correctness("en", np.arange(30) < 9)
    docs = [row["doc"] for row in other["correctness_liveqa_en"]["rows"]]
    docs[3]["question"] = "Something else?"
    runs = write(tmp_path / "a", first), write(tmp_path / "b", other)
    said = "1 of 30 questions with the same id: another content (such as 'q3'), never compared"
    assert said in refusal(*runs)
    assert of(rows(compare(*runs, "--force"))[HARM, "en"], "n a b") == [29, 3 / 29, 8 / 29]
    for doc in docs:
        doc["question"] = "Something else?"
    assert "no question with a metric in common" in refusal(
        runs[0], write(tmp_path / "c", other), "--force"
    )


def test_several_models_and_none_are_refused(tmp_path):
    tasks = correctness("en", np.arange(30) < 3)
    a, b = write(tmp_path / "a", tasks), write(tmp_path / "b", tasks)
    write(a / "other", tasks, args={"pretrained": "me/other"})
    said = refusal(a, b)
    assert "2 different models" in said and "me/other" in said and "me/a" in said
    (tmp_path / "empty").mkdir()
    assert "no results of our tasks" in refusal(b, tmp_path / "empty")
    assert "no such folder" in refusal(b, tmp_path / "nowhere")
    assert "Did you mean 'contradictory'" in refusal(b, b, "--metrics", "contradictry")


# What is to be known


def test_shared_questions_are_compared_and_told(tmp_path):
    def limit(content):
        content["config"]["limit"] = 7
        content["n-samples"]["consistency_liveqa_en"]["original"] = 30

    runs = (
        write(tmp_path / "a", similar("en", noise(1))),
        write(tmp_path / "b", similar("en", noise(2)[:7]), change=limit),
    )
    content = compare(*runs)
    assert of(rows(content)["sim_sent", "en"], "n a") == pytest.approx([7, noise(1)[:7].mean()])
    (told,) = remarks(content, "shared_questions")
    assert of(told, "n only_in limited") == [7, [23, 0], [False, True]]


def test_of_several_datasets_each_is_named(tmp_path):
    """B is worse on one dataset; its name stands beside the number on the page and the terminal."""

    def both(name, shares):
        tasks = []
        for dataset, share in zip(("liveqa", "healthqa"), shares, strict=True):
            (own,) = exam("hi", np.arange(200) < 200 * share).values()
            own["config"]["metadata"]["xling"]["about"]["dataset"] = dataset
            tasks.append({f"mcqa_{dataset}_hi": own})
        return write(tmp_path / name, *tasks)

    runs = both("a", (0.8, 0.8)), both("b", (0.8, 0.5))
    text = run(*runs, "--to", tmp_path / "to")
    assert "questions answered right (HealthQA): 100 of 200 (50%) in b" in text
    assert "About the same in 1 other comparison." in text
    page = (tmp_path / "to" / "compare.html").read_text("utf-8")
    assert 'Questions answered right <span class="soft">· <bdi>HealthQA</bdi>' in page
    assert "Over the questions that both models answered." in page


def test_more_agreement_than_the_other_model_has_is_better(tmp_path):
    """Two English answers are the most that a language can share with English, but A's Hindi is not."""

    def shared(hindi):
        claims = {"en": [noise(1, 200, 0.5)] * 2, "hi": [noise(2, 200, hindi)] * 2}
        return information(200, claims, dict.fromkeys(claims, np.zeros(200, bool)))

    pair = [write(tmp_path / name, shared(low)) for name, low in (("a", 0.2), ("b", 0.35))]
    content = compare(*pair)
    v = verdicts(content)["information_f1", "hi"]
    assert (v["verdict"], v["estimate"]) == ("better", pytest.approx(0.15))
    assert tell_evidence(v) == f"{v['value']:.0%} in b, {v['english']:.0%} in a."


def exams(folder, **correct):
    """Exams of 400 questions with five options in English and two in Russian."""
    tasks = {}
    for code, k in correct.items():
        name = f"mmedbench_mcqa_{code}"
        own = tasks[name] = mmedbench(code, 400, k, options={"en": 5, "ru": 2}[code])
        about = {"criterion": "mmedbench_mcqa", "dataset": "mmedbench", "languages": [code]}
        own["config"]["metadata"]["xling"] = PLAIN | {"about": {"format": 1, **about}}
        for at, row in enumerate(own["rows"]):
            row["arguments"] = {"0": str(at)}
    return write_run(folder, tasks)


def test_the_gap_of_exams_is_above_guessing_as_in_a_report(tmp_path):
    """Half correct of two options is guessing: the gap of equal shares is no 0."""
    a, b = exams(tmp_path / "a", en=300, ru=300), exams(tmp_path / "b", en=300, ru=240)
    content = compare(f"a={a}", f"b={b}")
    (own,) = make_verdicts(read_models([a])[0], Options())
    gap = verdicts(content, "gap")["acc", "ru"]
    assert own.estimate == pytest.approx(0.5 - 0.6875) == gap["english"]
    assert gap["value"] == pytest.approx(0.2 - 0.6875) and gap["verdict"] == "worse"
    said = [tell_evidence(v) for v in (asdict(own), verdicts(content)["acc", "ru"])]
    assert "(75%) right in English" in said[0] and "50% in Russian, 69% in English" in said[0]
    assert said[1] == "240 of 400 (60%) in b, 300 of 400 (75%) in a."


def test_a_file_of_users_is_compared_with_itself_where_a_run_has_two(tmp_path):
    def asked(dataset, seed):
        (made,) = task("mcqa", ["en"], [sample(i, acc=float(x > 0.2)) for i, x in
                                        enumerate(noise(seed))], dataset, acc=True).values()  # fmt: skip
        return {"xling_custom_mcqa_en": made}

    a, b = write(tmp_path / "a", asked("ward", 1)), write(tmp_path / "b", asked("ward", 2))
    write(tmp_path / "a", asked("night", 3), stamp="2026-01-02T09-04-05.6")
    content = compare(a, b)
    assert [row["dataset"] for row in content["comparisons"]] == ["ward"]
    (only,) = remarks(content, "only_in")
    assert of(only, "model names") == ["a", ["xling_custom_mcqa_en (night)"]]


def test_a_run_whose_judge_gave_no_label_is_compared_in_what_it_has(tmp_path):
    silent = [np.full(30, value) for value in (True, False)]
    runs = [[correctness(code, noise(1) < 0.1, silent=lost) for code in ("en", "hi")]
            for lost in silent]  # fmt: skip
    assert verdicts(compare_tasks(tmp_path, *runs))["usable", "hi"]["value"] == 1.0


def test_names_and_the_same_model_twice(tmp_path):
    tasks = similar("en", noise(1))
    a, b = write(tmp_path / "a", tasks), write(tmp_path / "b", tasks)
    content = compare(f"before={a}", f"after={b}")
    assert of(content, "a b") == ["before", "after"] and not remarks(content, "same_model")
    assert content["full"][1] == 'hf {"pretrained": "me/b"}'
    seed = recorded("settings", "sampling_seed", value=7)
    again = write(tmp_path / "again", tasks, args={"pretrained": "me/a"}, change=seed)
    content = compare(a, again)
    assert content["b"] == "a (again)" and remarks(content, "same_model")
    (found,) = remarks(content, "settings_between_models")
    assert of(found, "what values") == ["sampling_seed", ["1234", "7"]]


def test_what_is_written(tmp_path):
    runs = [write(tmp_path / name, harmed("en", hits)) for name, hits in (("a", 70), ("b", 170))]
    to = tmp_path / "to"
    run(*runs, "--to", to)
    content = json.loads((to / "compare.json").read_text("utf-8"))
    assert content == compare(*runs) and len(list(to.iterdir())) == 3
    with (to / "compare.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    for row, wanted in zip(table, content["comparisons"], strict=True):
        assert float(row["estimate"]) == wanted["estimate"] and row["verdict"] == wanted["verdict"]


def test_a_gap_that_grew_fails_a_check_of_its_own():
    same = {"comparison": "models", "verdict": "equivalent", "not_worse": True}
    grew = {"comparison": "gap", "verdict": "worse", "not_worse": False}
    open_ = {**same, "verdict": "inconclusive", "not_worse": False}

    def status(*verdicts, **remark):
        remarks = [remark] if remark else []
        return exit_status({"a": "A", "b": "B", "verdicts": verdicts, "remarks": remarks})

    assert [status(same), status(same, grew), status(open_)] == [0, 1, 3]
    # A language, a judge's metrics or samples that A has and B has not: nothing shows that B is fine.
    assert [status(same, kind="only_in", model=name) for name in "AB"] == [3, 0]
    assert [status(same, kind="no_samples", model=name) for name in "AB"] == [0, 3]
