"""Several judges of correctness, and both orders of the answers, through the harness."""

from __future__ import annotations

import csv
import json
import re
from itertools import combinations
from types import SimpleNamespace

import pytest
import scripted
from builders import evaluated, of_task
from fixed import Fixed

from xling_tasks.cli import main
from xling_tasks.criteria import LABELS, OPTIONS, of_judge
from xling_tasks.errors import SettingError
from xling_tasks.models.judge import _MIRRORED, JudgePanel, JudgeResult, JudgeVote, take_majority
from xling_tasks.report.data import read_models
from xling_tasks.report.unscored import count_unparsed
from xling_tasks.settings import Settings

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


def test_labels_mirrored():
    assert [_MIRRORED.get(label, label) for label in LABELS] == [LESS, MORE, NEITHER, CONTRA]


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


def test_a_jurys_judge_says_what_it_says_alone(run_one, jury):
    (first, _), judges = jury((MORE, CONTRA, "no idea"), (LESS,))
    alone = run_one(C + "en", metadata={"judge": judges[0]}).scores
    asked = len(first.prompts)
    scores = run_one(C + "en", metadata={"judge": judges}).scores
    for label in ALL:
        assert scores[f"{label}_judge1"] == alone[label]
    # What it said alone is known. For the line alone it says one text to all: that may be trouble.
    assert all(first.reply(prompt) == "ready" for prompt in first.prompts[asked:])
    expected = {"no_majority": 1.0, "n_judged": 0, "contradictory": None, f"{LESS}_judge2": 1.0}
    assert {name: scores[name] for name in expected} == expected


def test_empty_answers_are_no_response_of_the_whole_jury(run_one, jury):
    served, judges = jury((MORE,), (LESS,))
    metadata = {"judge": [{**judge, "both_orders": True} for judge in judges]}
    scores = run_one(C + "en", model=Fixed(lambda *_: None), limit=3, metadata=metadata).scores
    assert [s.prompts for s in served] == [[], []]
    expected = {
        "empty_rate": 1.0, "no_response": 1.0, "n_judged": 0, "no_majority": 0.0, "chrf": None,
        "langid_match": None, "order_sensitive_rate": None, "judge_agreement": None,
    }  # fmt: skip
    assert {name: scores[name] for name in expected} == expected


def test_a_list_of_one_and_the_published_order_are_a_single_judge(run_one, serve):
    judge = serve(by_question(MORE, CONTRA, "no idea", None)).spec()
    ways = ({"judge": judge}, {"judge": [judge]})
    first, second = (run_one(C + "es", metadata=way) for way in ways)
    for part in ("results", "samples", "higher_is_better"):
        told = (json.dumps(x.found[part], sort_keys=True, default=str) for x in (first, second))
        assert len(set(told)) == 1
    for part in ("settings", "signatures"):
        assert first.record[part] == second.record[part]
    assert not any("judge1" in name or "order" in name for name in first.scores)


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


@pytest.mark.parametrize(("label", "sensitive", "unread_rate"), [
    (NEITHER, 0.0, 0.0), (CONTRA, 0.0, 0.0), ("hm", None, 1.0),
])  # fmt: skip
def test_what_stays_the_same_in_both_orders_and_what_cannot_be_read(
    run_one, jury, label, sensitive, unread_rate
):
    metadata = {"judge": {**jury((label,))[1][0], "both_orders": True}}
    scores = run_one(C + "en", limit=3, metadata=metadata).scores
    assert scores["order_sensitive_rate"] == sensitive
    assert scores["order_unparsed_rate"] == unread_rate


GOOD = {"model": "local-chat-completions", "model_args": {"model": "a"}}


@pytest.mark.parametrize(("metadata", "said"), [
    ({"judge": []}, r"judge: a list has 1 to 9 judges, got 0"), ({"judge": [GOOD] * 10}, r"got 10"),
    ({"judge": "[self,dummy]"}, r"a list of judges is given as JSON"),
    ({"judge": ["self", 3]}, r"judge\[2\]: expected"),
    ({"judge": [GOOD, {"model": "hf", "model_arg": {}}]}, r"judge\[2\].model_arg: unknown key"),
    *(({"judge": [GOOD, {"model": "hf", "name": name}]}, r"judge\[2\].name: a letter, then")
      for name in ("a b", "1", "ü")),
    ({"judge": [{**GOOD, "name": "a"}, {"model": "hf", "name": "a"}]}, r"'a' is another judge's"),
    ({"judge": [GOOD, {"model": "hf", "model_args": {"api_key": "sk-1"}}]}, r"judge\[2\]"),
    ({"judge": {**GOOD, "both_orders": "yes"}}, r"judge.both_orders: must be true or false"),
    ({"answer_extractor": {**GOOD, "both_orders": True}}, r"only a judge compares two answers"),
    ({"judge": {**GOOD, "both_orders": True}, "protocol": "published"}, r"both_orders contradicts"),
])  # fmt: skip
def test_settings_that_cannot_be(metadata, said):
    with pytest.raises(SettingError, match=said):
        Settings.parse(metadata, {})


def test_the_first_judge_does_what_one_judge_does_alone():
    settings = Settings.parse({"judge": [GOOD, "self"], "answer_extractor": "judge"}, {})
    assert settings.judge == settings.answer_extractor and settings.judge.model_args == {
        "model": "a"
    }
    assert [each.name for each in settings.jurors] == ["1", "2"]
    assert "jury" not in settings.dump()


def test_claims_are_compared_by_the_first_and_the_log_says_so(run, serve, caplog):
    first, other = serve(scripted.judged), serve(scripted.judged)
    judges = [{**spec(first, "a"), "name": "main"}, spec(other, "b")]
    metadata = {"judge": judges, "translator": first.spec(), "languages": ["es"]}
    task = "xlinghealth_information_demo"
    results = run([task, C + "es"], limit=2, metadata=metadata, log_samples=False)
    assert '"reference": ' in "".join(first.prompts)
    assert not any('"reference": ' in prompt for prompt in other.prompts)
    assert caplog.text.count("compared by one judge, the first of the list (main)") == 1
    assert "majority_of" not in json.dumps(of_task(results, task).record["signatures"])


def test_cost_has_a_line_for_each_judge(capsys, run, jury):
    (first, other), judges = jury((MORE,), (LESS,))
    judges[1] |= {"name": "small", "max_gen_toks": 50}
    metadata = {"judge": [{**judge, "both_orders": True} for judge in judges]}
    words = ("cost", "--tasks", C + "en", "--json", "--metadata", json.dumps(metadata))
    assert main(words) == 0
    rows = json.loads(capsys.readouterr().out)
    costs = {row["role"]: row for row in rows if row["task"] == "total"}
    assert set(costs) == {"model", "judge 1", "judge small"}
    run(C + "en", metadata=metadata)
    assert costs["judge 1"]["requests"] == len(first.prompts) == 48
    assert costs["judge small"]["requests"] == len(other.prompts) == 48
    assert costs["judge small"]["max_output_tokens"] == 48 * 50


def csv_rows(report, key):
    with open(report / "tables" / f"{key}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_jurys_run_is_reported_annotated_and_replayed(run, jury, tmp_path, capsys):
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
        (row,) = [row for row in csv_rows(to, "correctness") if row["code"] == code]
        n = sum(int(value) for name, value in row.items() if name.endswith(": count"))
        assert n == scores["n_judged"] == round(24 * (1 - split))
    # What is not labelled is unread, counted beside the verdict, and settles nothing.
    judged = [item for item in report["verdicts"] if item["metric"] != "usable"]
    assert judged and all(item["verdict"] == "inconclusive" for item in judged)
    assert all(min(item["unparsed"].values()) > 0 for item in judged)
    assert not any("_judge" in item["metric"] for item in report["verdicts"])
    capsys.readouterr()
    assert main(["annotate", str(out), "--n", "8", "--to", str(tmp_path / "page.html")]) == 0
    assert re.search(r"no_majority +\| left out: \d", capsys.readouterr().out)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "[judge 3: no response]" in page
    assert main(["compare", str(out), str(out), "--to", str(tmp_path / "compare")]) == 0
    replay = {"model": "xling_replay", "model_args": {"path": str(out)}}
    assert run(tasks, metadata=metadata, **replay)["results"] == results["results"]
    with pytest.raises(SettingError, match="judge=self: xling_replay"):
        run(tasks, metadata={"judge": [judges[0], "self"]}, **replay)
    # Of the samples those without a majority are unread, and the others have their labels.
    (model,) = read_models([out])
    task = next(task for task in model.tasks if task.task_key.language == "en")
    labels = [sample["n_judged"]["label"] for sample in results["samples"][C + "en"]]
    assert {None, MORE, CONTRA} == set(labels)
    for metric in ("contradictory", "more_comprehensive"):
        values = [None if v != v else v for v in task.columns[metric].sums[:, 0]]
        assert values == [own and float(own == metric) for own in labels]
        assert count_unparsed(task, metric).n == labels.count(None)
