"""Several judges of correctness, and both orders of the answers, through the harness."""

from __future__ import annotations

import json
from itertools import combinations
from types import SimpleNamespace

import pytest
import scripted
from builders import evaluated, of_task

from xling_tasks.cli import main
from xling_tasks.criteria import LABELS, OPTIONS, of_judge
from xling_tasks.models.judge import JudgePanel, JudgeResult, JudgeVote, take_majority
from xling_tasks.report.data import read_models
from xling_tasks.report.unscored import count_unparsed

C = "xlinghealth_correctness_demo_"
MORE, LESS, NEITHER, CONTRA = LABELS
ALL = (*LABELS, "no_response")


def says(option: str, prompt: str) -> str:
    return json.dumps({"reasoning": "Because.", "verdict": OPTIONS.get(option, option)})


def by_question(*options):
    """A judge whose label follows from the question, which is the same for all judges.

    Of one option it is an opinion; a prose reply where it is no label, and none where it is None.
    """

    def reply(prompt):
        texts = scripted.material(prompt)
        if "question" not in texts:
            return scripted.reply(prompt)
        option = options[len(texts["question"]) % len(options)]
        return None if option is None else says(option, prompt)

    return reply


def longer(prompt):
    """A judge that prefers the longer answer."""
    texts = scripted.material(prompt)
    if "answer_2" not in texts:
        return scripted.reply(prompt)
    one, two = (len(texts[f"answer_{i}"]) for i in (1, 2))
    return says(MORE if two > one else LESS, prompt)


def spec(served, name, **more):
    own = served.spec(**more)
    return {**own, "model_args": {**own["model_args"], "model": name}}


@pytest.fixture
def jury(serve):
    """`jury(options, ...)`: servers that judge by the question, and the judges' settings."""

    def jury_(*opinions):
        served = [serve(by_question(*own)) for own in opinions]
        return served, [spec(each, f"judge-{i}") for i, each in enumerate(served)]

    return jury_


@pytest.mark.parametrize(("labels", "label", "split", "reason"), [
    ((MORE,), MORE, False, ""), ((None,), None, False, "time-out"), ((MORE, MORE), MORE, False, ""),
    ((MORE, LESS), None, True, ""), ((MORE, None), None, True, ""),
    ((MORE, MORE, CONTRA), MORE, False, ""), ((MORE, LESS, CONTRA), None, True, ""),
    # One vote of three is no majority, whoever failed.
    ((MORE, None, "no_response"), None, True, ""), ((MORE, None, None), None, False, "time-out"),
    ((MORE, "no_response", "no_response"), "no_response", False, ""),
    # More than any other, but not more than half.
    ((MORE, MORE, LESS, CONTRA, NEITHER), None, True, ""), ((MORE, MORE, LESS, LESS), None, True, ""),
])  # fmt: skip
def test_the_majority_is_more_than_half_of_all_judges(labels, label, split, reason):
    votes = [JudgeVote(JudgeResult(own, (), "" if own else "time-out")) for own in labels]
    majority, n = take_majority(votes), len(labels)
    panel = JudgePanel((SimpleNamespace(signature="s"),) * n, [*"abcde"][:n], (False,) * n)
    failed = panel.to_record(majority).get("failed", "")
    assert (majority.label, majority.no_majority, failed) == (label, split, reason)


def test_majority_agreement_and_each_judges_own_shares(run, jury):
    opinions = [
        (MORE, CONTRA, NEITHER), (MORE, CONTRA, LESS, None), (MORE, LESS, "I cannot say", CONTRA)
    ]  # fmt: skip
    _, judges = jury(*opinions)
    judges[1]["name"] = "second"
    tasks = [C + "en", C + "hi"]
    results = run(tasks, metadata={"judge": judges}, bootstrap_iters=10)
    for task in tasks:
        scores, samples, record, _ = of_task(results, task)
        assert len(samples) == 24
        given = []
        for sample in samples:
            n = len(sample["doc"]["question"])
            own = [options[n % len(options)] for options in opinions]
            given.append(["no_response" if o == "I cannot say" else o for o in own])
        most = [next((x for x in own if x and own.count(x) > 1), None) for own in given]
        assert [s["n_judged"]["label"] for s in samples] == most
        failed = [own.count(None) > 1 for own in given]
        split = [m is None and not f for m, f in zip(most, failed)]
        assert scores["no_majority"] == sum(split) / 24 > 0
        assert scores["judge_failed_rate"] == sum(failed) / 24
        for label in ALL:
            for name, said in ((label, most), *((of_judge(label, i + 1), [x[i] for x in given])
                                                for i in range(3))):  # fmt: skip
                known = [own for own in said if own is not None]
                assert scores[name] == pytest.approx(known.count(label) / len(known))
        silent = [own[1] for own in given].count(None)
        assert scores["judge_failed_rate_judge2"] == silent / 24 > 0
        # Agreement by hand: pairs of labels, and alpha from the coincidences (Krippendorff).
        units = [own for each in given if len(own := [x for x in each if x in LABELS]) > 1]
        pairs = [pair for own in units for pair in combinations(own, 2)]
        agreed = sum(a == b for a, b in pairs) / len(pairs)
        assert scores["judge_agreement"] == pytest.approx(agreed)
        every = [x for own in units for x in own]
        observed = sum(
            2 * sum(a != b for a, b in combinations(own, 2)) / (len(own) - 1) for own in units
        )
        expected = sum(a != b for a in every for b in every) / (len(every) - 1)
        assert scores["judge_alpha"] == pytest.approx(1 - observed / expected)
        sample = samples[0]["n_judged"]
        assert [vote["judge"] for vote in sample["votes"]] == ["1", "second", "3"]
        assert "majority_of_3[1=" in sample["judge"] and "judge-2" in sample["judge"]
    signature = record["signatures"]["contradictory_judge2"]
    assert "second=" in signature and "judge-0" not in signature
    assert [each["name"] for each in record["settings"]["judge"]] == ["1", "second", "3"]


def test_both_orders(run_one, serve):
    """One judge prefers the second answer wherever it is, the other the longer one."""
    biased, fair = serve(by_question(MORE)), serve(longer)
    for served, rate in ((biased, 1.0), (fair, 0.0)):
        metadata = {"judge": served.spec(both_orders=True)}
        plain = run_one(C + "en", limit=5, metadata={"judge": served.spec()}).scores
        scores, (sample, *_), record, _ = run_one(C + "en", limit=5, metadata=metadata)
        assert scores["order_sensitive_rate"] == rate and scores["order_unparsed_rate"] == 0.0
        for label in ALL:  # the published order's label counts
            assert scores[label] == plain[label]
        assert sample["n_judged"]["swapped"]["label"] in LABELS
        # Asked once in each order, with the two texts exchanged.
        answer, reference = sample["resps"][0][0].strip(), sample["doc"]["reference"]
        asked = served.prompts
        ways = [[scripted.material(p)[f"answer_{i}"].strip() for i in (1, 2)] for p in asked]
        assert ways.count([reference, answer]) == ways.count([answer, reference]) == 1
        assert len(ways) == 10 and record["settings"]["judge"]["both_orders"]
    judges = [spec(biased, "biased"), spec(fair, "fair")]
    metadata = {"judge": [{**judge, "both_orders": True} for judge in judges]}
    scores = run_one(C + "en", limit=5, metadata=metadata).scores
    assert scores["order_sensitive_rate"] == 0.5


def test_a_jurys_run_is_reported(run, jury, tmp_path):
    opinions = ((MORE, CONTRA, CONTRA), (MORE, CONTRA, LESS), ("I would rather not say",))
    _, judges = jury(*opinions)
    metadata = {"judge": [{**judge, "both_orders": True} for judge in judges]}
    out, to, tasks = tmp_path / "out", tmp_path / "report", [C + "en", C + "hi"]
    results = evaluated(run, out, tasks, metadata=metadata)
    assert main(["report", str(out), "--to", str(to)]) == 0
    report = json.loads((to / "report.json").read_text(encoding="utf-8"))
    values = {(row["language"], row["metric"]): row["value"] for row in report["scores"]}
    for code in ("en", "hi"):
        scores = of_task(results, C + code).scores
        split = scores["no_majority"]
        # A judge that is never in form has no shares.
        assert 0.1 < split < 0.9 and scores["contradictory_judge3"] is None
        for name in ("no_majority", "judge_alpha", "less_comprehensive_judge2"):
            assert values[code, name] == pytest.approx(scores[name])
        assert values[code, "contradictory_judge3"] is None
    # What is not labelled is unread, counted beside the verdict, and settles nothing.
    judged = [item for item in report["verdicts"] if item["metric"] != "usable"]
    assert judged and all(item["verdict"] == "inconclusive" for item in judged)
    assert all(min(item["unparsed"].values()) > 0 for item in judged)
    assert not any("_judge" in item["metric"] for item in report["verdicts"])
    # Of the samples those without a majority are unread, and the others have their labels.
    (model,) = read_models([out])
    task = next(task for task in model.tasks if task.task_key.language == "en")
    labels = [sample["n_judged"]["label"] for sample in results["samples"][C + "en"]]
    assert {None, MORE, CONTRA} == set(labels)
    for metric in ("contradictory", "more_comprehensive"):
        values = [None if v != v else v for v in task.columns[metric].sums[:, 0]]
        assert values == [own and float(own == metric) for own in labels]
        assert count_unparsed(task, metric).n == labels.count(None)
