"""Several judges of correctness, and both orders of the answers, through the harness."""

from __future__ import annotations

import csv
import json

import pytest
import scripted
from builders import evaluated
from fixed import Fixed

from xling_tasks.cli import main
from xling_tasks.criteria import LABELS, OPTIONS, of_judge
from xling_tasks.errors import SettingError
from xling_tasks.models.judge import Judgement, Vote, mirrored, verdict
from xling_tasks.report.data import read_models
from xling_tasks.report.unread import measured, unread
from xling_tasks.settings import Settings

C = "xlinghealth_correctness_demo_"
MORE, LESS, NEITHER, CONTRA = LABELS


def says(option: str, prompt: str) -> str:
    return f"Because.\nVERDICT {scripted.code_of(prompt)}: {OPTIONS.get(option, option)}"


def always(option: str):
    """A judge with one opinion, a prose reply where it is none, and no reply where it is None."""

    def reply(prompt):
        if "[BEGIN ANSWER 2" not in prompt:
            return "ready"
        return None if option is None else says(option, prompt)

    return reply


def by_question(*options):
    """A judge whose label follows from the question, which is the same for all judges."""

    def reply(prompt):
        if "[BEGIN QUESTION" not in prompt:
            return "ready"
        option = options[len(scripted.between(prompt, "QUESTION")) % len(options)]
        return None if option is None else says(option, prompt)

    return reply


def spec(served, name, **more):
    own = served.spec(**more)
    return {**own, "model_args": {**own["model_args"], "model": name}}


def votes(*labels):
    return [Vote(Judgement(label, None, "" if label else "time-out")) for label in labels]


@pytest.mark.parametrize(
    ("labels", "label", "split", "reason"),
    [
        ((MORE,), MORE, False, ""),
        ((None,), None, False, "time-out"),
        ((MORE, MORE), MORE, False, ""),
        ((MORE, LESS), None, True, ""),
        ((MORE, None), None, True, ""),
        ((MORE, MORE, CONTRA), MORE, False, ""),
        ((MORE, LESS, CONTRA), None, True, ""),
        # One vote of three is no majority, whoever failed.
        ((MORE, None, "no_response"), None, True, ""),
        ((MORE, None, None), None, False, "time-out"),
        ((MORE, "no_response", "no_response"), "no_response", False, ""),
        # More than any other, but not more than half.
        ((MORE, MORE, LESS, CONTRA, NEITHER), None, True, ""),
        ((MORE, MORE, LESS, LESS), None, True, ""),
    ],
)
def test_the_majority_is_more_than_half_of_all_judges(labels, label, split, reason):
    majority = verdict(votes(*labels))
    assert (majority.label, majority.no_majority, majority.reason) == (label, split, reason)


def test_labels_mirrored():
    assert [mirrored(label) for label in LABELS] == [LESS, MORE, NEITHER, CONTRA]


def test_majority_agreement_and_each_judges_own_shares(run, serve):
    opinions = [
        (MORE, CONTRA, NEITHER), (MORE, CONTRA, LESS, None), (MORE, LESS, "I cannot say", CONTRA)
    ]  # fmt: skip
    served = [serve(by_question(*own)) for own in opinions]
    judges = [spec(s, f"judge-{i}") for i, s in enumerate(served)]
    judges[1]["name"] = "second"
    tasks = [C + "en", C + "hi"]
    results = run(tasks, metadata={"judge": judges}, bootstrap_iters=10)
    for task in tasks:
        scores, samples = results["results"][task], results["samples"][task]
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
        assert scores["no_majority,none"] == sum(split) / 24 > 0
        assert scores["judge_failed_rate,none"] == sum(failed) / 24
        labelled = [m for m in most if m is not None]
        for label in (*LABELS, "no_response"):
            assert scores[f"{label},none"] == pytest.approx(labelled.count(label) / len(labelled))
            for number in (1, 2, 3):
                asked = [own[number - 1] for own in given if own[number - 1] is not None]
                assert scores[f"{of_judge(label, number)},none"] == pytest.approx(
                    asked.count(label) / len(asked)
                )
        silent = [own[1] for own in given].count(None)
        assert scores["judge_failed_rate_judge2,none"] == silent / 24 > 0
        # Agreement by hand: pairs of labels, and alpha from the coincidences (Krippendorff).
        read = [[x for x in own if x in LABELS] for own in given]
        pairs = [(a, b) for own in read for i, a in enumerate(own) for b in own[i + 1 :]]
        assert scores["judge_agreement,none"] == pytest.approx(
            sum(a == b for a, b in pairs) / len(pairs)
        )
        units = [own for own in read if len(own) > 1]
        every = [x for own in units for x in own]
        observed = sum(
            sum(a != b for i, a in enumerate(own) for j, b in enumerate(own) if i != j)
            / (len(own) - 1)
            for own in units
        )
        expected = sum(a != b for a in every for b in every) / (len(every) - 1)
        assert scores["judge_alpha,none"] == pytest.approx(1 - observed / expected)
        sample = samples[0]["n_judged"]
        assert [vote["judge"] for vote in sample["votes"]] == ["1", "second", "3"]
        assert "majority_of_3[1=" in sample["judge"] and "judge-2" in sample["judge"]
    signatures = results["configs"][C + "hi"]["metadata"]["xling"]["signatures"]
    assert "second=" in signatures["contradictory_judge2"]
    assert "judge-0" not in signatures["contradictory_judge2"]
    settings = results["configs"][C + "hi"]["metadata"]["xling"]["settings"]
    assert [each["name"] for each in settings["judge"]] == ["1", "second", "3"]


def test_a_jurys_judge_says_what_it_says_alone(run, serve):
    first, other = serve(by_question(MORE, CONTRA, "no idea")), serve(always(LESS))
    alone = run(C + "en", metadata={"judge": spec(first, "a")})["results"][C + "en"]
    asked = len(first.prompts)
    jury = run(C + "en", metadata={"judge": [spec(first, "a"), spec(other, "b")]})
    scores = jury["results"][C + "en"]
    for label in (*LABELS, "no_response"):
        assert scores[f"{label}_judge1,none"] == alone[f"{label},none"]
    # What it said alone is known. For the line alone it says one text to all: that may be trouble.
    again = first.prompts[asked:]
    assert all(first.reply(prompt) == "ready" for prompt in again)
    assert scores["no_majority,none"] == 1.0 and scores["n_judged,none"] == 0
    assert scores["contradictory,none"] is None
    assert scores["less_comprehensive_judge2,none"] == 1.0


def test_a_judge_that_is_never_in_form_has_no_shares_and_the_others_count(run, serve):
    served = [serve(always(option)) for option in (MORE, MORE, "well, well")]
    judges = [spec(s, f"judge-{i}") for i, s in enumerate(served)]
    scores = run(C + "en", limit=4, metadata={"judge": judges})["results"][C + "en"]
    assert scores["more_comprehensive,none"] == 1.0 and scores["no_majority,none"] == 0.0
    assert scores["no_response_judge3,none"] == 1.0
    assert scores["contradictory_judge3,none"] is None
    assert scores["judge_agreement,none"] == 1.0
    assert scores["judge_alpha,none"] is None  # one label only: agreement by chance is certain


def test_empty_answers_are_no_response_of_the_whole_jury(run, serve):
    served = [serve(always(MORE)), serve(always(LESS))]
    judges = [spec(s, f"judge-{i}") for i, s in enumerate(served)]
    metadata = {"judge": judges, "judge_order": "both"}
    results = run(C + "en", model=Fixed(lambda *_: ""), limit=3, metadata=metadata)
    scores = results["results"][C + "en"]
    assert [s.prompts for s in served] == [[], []]
    assert scores["no_response,none"] == 1.0 and scores["no_majority,none"] == 0.0
    assert scores["order_sensitive_rate,none"] is None
    assert scores["judge_agreement,none"] is None


def test_a_list_of_one_and_the_published_order_are_a_single_judge(run, serve):
    served = serve(by_question(MORE, CONTRA, "no idea", None))
    ways = ({"judge": served.spec()}, {"judge": [served.spec()], "judge_order": "published"})
    results = [run([C + "es"], metadata=way) for way in ways]
    for part in ("results", "samples", "higher_is_better"):
        first, second = (json.dumps(each[part], sort_keys=True, default=str) for each in results)
        assert first == second
    first, second = (each["configs"][C + "es"]["metadata"]["xling"] for each in results)
    assert first["settings"] == second["settings"] and "judge_order" not in first["settings"]
    assert first["signatures"] == second["signatures"]
    assert not any("judge1" in key or "order" in key for key in results[0]["results"][C + "es"])


def test_both_orders(run, serve):
    """One judge prefers the second answer wherever it is, the other the longer one."""

    def longer(prompt):
        if "[BEGIN ANSWER 2" not in prompt:
            return "ready"
        one, two = (len(scripted.between(prompt, f"ANSWER {i}")) for i in (1, 2))
        return says(MORE if two > one else LESS, prompt)

    biased, fair = serve(always(MORE)), serve(longer)
    for served, rate in ((biased, 1.0), (fair, 0.0)):
        metadata = {"judge": served.spec(), "judge_order": "both"}
        plain = run(C + "en", limit=5, metadata={"judge": served.spec()})
        results = run(C + "en", limit=5, metadata=metadata)
        scores = results["results"][C + "en"]
        assert scores["order_sensitive_rate,none"] == rate
        assert scores["order_unread_rate,none"] == 0.0
        for label in (*LABELS, "no_response"):  # the published order's label counts
            assert scores[f"{label},none"] == plain["results"][C + "en"][f"{label},none"]
        sample = results["samples"][C + "en"][0]
        assert sample["n_judged"]["swapped"]["label"] in LABELS
        # Asked once in each order, with the two texts exchanged.
        answer, reference = sample["resps"][0][0].strip(), sample["doc"]["reference"]
        ways = [
            [scripted.between(p, f"ANSWER {i}").strip() for i in (1, 2)] for p in served.prompts
        ]
        assert ways.count([reference, answer]) == ways.count([answer, reference]) == 1
        assert len(ways) == 10
        settings = results["configs"][C + "en"]["metadata"]["xling"]["settings"]
        assert settings["judge_order"] == "both"
    both = [spec(biased, "biased"), spec(fair, "fair")]
    scores = run(C + "en", limit=5, metadata={"judge": both, "judge_order": "both"})
    assert scores["results"][C + "en"]["order_sensitive_rate,none"] == 0.5


def test_what_stays_the_same_in_both_orders_and_what_cannot_be_read(run, serve):
    for label in (NEITHER, CONTRA):
        metadata = {"judge": spec(serve(always(label)), label), "judge_order": "both"}
        scores = run(C + "en", limit=3, metadata=metadata)["results"][C + "en"]
        assert scores["order_sensitive_rate,none"] == 0.0
    metadata = {"judge": serve(always("hm")).spec(), "judge_order": "both"}
    scores = run(C + "en", limit=3, metadata=metadata)["results"][C + "en"]
    assert scores["order_sensitive_rate,none"] is None
    assert scores["order_unread_rate,none"] == 1.0


GOOD = {"model": "local-chat-completions", "model_args": {"model": "a"}}


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"judge": []}, r"judge: a list has 1 to 9 judges, got 0"),
        ({"judge": [GOOD] * 10}, r"got 10"),
        ({"judge": [GOOD, GOOD]}, r"judge\[2\]: the same model and arguments as judge 1"),
        ({"judge": [GOOD, {**GOOD, "batch_size": 2}]}, r"two votes"),
        ({"judge": "[self,dummy]"}, r"a list of judges is given as JSON"),
        ({"judge": ["self", 3]}, r"judge\[2\]: expected"),
        ({"judge": [GOOD, {"model": "hf", "model_arg": {}}]}, r"judge\[2\].model_arg: unknown key"),
        ({"judge": [GOOD, {"model": "hf", "name": "a b"}]}, r"judge\[2\].name: a letter, then"),
        ({"judge": [GOOD, {"model": "hf", "name": "1"}]}, r"judge\[2\].name: a letter, then"),
        ({"judge": [GOOD, {"model": "hf", "name": "ü"}]}, r"judge\[2\].name: a letter, then"),
        ({"judge": [{**GOOD, "name": "a"}, {"model": "hf", "name": "a"}]}, r"'a' is judge 1"),
        ({"judge": [GOOD, {"model": "hf", "model_args": {"api_key": "sk-1"}}]}, r"judge\[2\]"),
        ({"judge": GOOD, "judge_order": "swapped"}, "must be 'published' or 'both'"),
        ({"judge": GOOD, "judge_order": ["both"]}, "must be 'published' or 'both'"),
        ({"judge_order": "both"}, "judge_order=both: no judge is set"),
    ],
)
def test_settings_that_cannot_be(metadata, said):
    with pytest.raises(SettingError, match=said):
        Settings.parse(metadata, {})


def test_the_first_judge_does_what_one_judge_does_alone():
    settings = Settings.parse({"judge": [GOOD, "self"], "reader": "judge"}, {})
    assert settings.judge == settings.reader and settings.judge.model_args == {"model": "a"}
    assert [each.name for each in settings.jurors] == ["1", "2"]
    assert "jury" not in settings.dump()


def test_claims_are_compared_by_the_first_and_the_log_says_so(run, serve, caplog):
    first, other = serve(scripted.judged), serve(scripted.judged)
    judges = [{**spec(first, "a"), "name": "main"}, spec(other, "b")]
    metadata = {"judge": judges, "translator": first.spec(), "languages": ["es"]}
    results = run(
        ["xlinghealth_information_demo", C + "es"], limit=2, metadata=metadata, log_samples=False
    )
    assert "[BEGIN CLAIMS" in "".join(first.prompts) and len(other.prompts) == 2
    assert not any("[BEGIN CLAIMS" in prompt for prompt in other.prompts)
    assert caplog.text.count("compared by one judge, the first of the list (main)") == 1
    signatures = results["configs"]["xlinghealth_information_demo"]["metadata"]["xling"]
    assert "majority_of" not in json.dumps(signatures["signatures"])


def test_cost_has_a_line_for_each_judge(capsys, run, serve):
    first, other = serve(always(MORE)), serve(always(LESS))
    metadata = {
        "judge": [spec(first, "a"), {**spec(other, "b", max_gen_toks=50), "name": "small"}],
        "judge_order": "both",
    }
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


def test_a_jurys_run_is_reported_annotated_and_replayed(run, serve, tmp_path, capsys):
    served = [serve(by_question(MORE, CONTRA, CONTRA)), serve(by_question(MORE, CONTRA, LESS))]
    served.append(serve(always("I would rather not say")))
    metadata = {"judge": [spec(s, f"judge-{i}") for i, s in enumerate(served)]}
    metadata["judge_order"] = "both"
    out, tasks = tmp_path / "out", [C + "en", C + "hi"]
    results = evaluated(run, out, tasks, metadata=metadata)
    assert main(["report", str(out), "--to", str(tmp_path / "report")]) == 0
    report = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    rows = csv_rows(tmp_path / "report", "correctness_judges_demo")
    assert [(row["language"], row["judge"]) for row in rows] == [
        (code, who) for code in ("en", "hi") for who in ("all", "1", "2", "3")
    ]
    for code in ("en", "hi"):
        scores = results["results"][C + code]
        split = scores["no_majority,none"]
        assert 0.1 < split < 0.9
        own = [row for row in rows if row["language"] == code]
        assert float(own[0]["no majority"]) == pytest.approx(split)
        assert float(own[0]["order unread"]) == pytest.approx(1 / 3)
        assert float(own[0]["alpha"]) == pytest.approx(scores["judge_alpha,none"])
        assert float(own[2]["less comprehensive"]) == pytest.approx(split)
        assert own[3]["contradictory"] == "" and float(own[3]["no response"]) == 1.0
        counts = csv_rows(tmp_path / "report", "correctness_counts_demo")
        n = sum(int(row[code]) for row in counts)
        assert n == scores["n_judged,none"] == round(24 * (1 - split))
    # What is not labelled is unread, counted beside the conclusion, and settles nothing.
    judged = [item for item in report["conclusions"] if item["metric"] != "served"]
    assert judged and all(item["verdict"] == "cannot_tell" for item in judged)
    assert all(item["unread"] > 0 and item["unread_english"] > 0 for item in judged)
    assert not any("_judge" in conclusion["metric"] for conclusion in report["conclusions"])
    capsys.readouterr()
    assert main(["annotate", str(out), "--n", "8", "--to", str(tmp_path / "page.html")]) == 0
    assert "left out: no_majority" in capsys.readouterr().out
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "[judge 3: no response]" in page and "majority_of_3" in page
    assert main(["compare", str(out), str(out), "--to", str(tmp_path / "compare")]) == 0
    again = run(tasks, model="xling_replay", model_args={"path": str(out)}, metadata=metadata)
    for task in tasks:
        assert again["results"][task] == results["results"][task]
    with pytest.raises(SettingError, match="judge=self: xling_replay"):
        metadata = {"judge": [served[0].spec(), "self"]}
        run(tasks, model="xling_replay", model_args={"path": str(out)}, metadata=metadata)


def test_answers_without_a_majority_are_unread(run, serve, tmp_path):
    judges = [spec(serve(by_question(*own)), own[-1]) for own in ((MORE, CONTRA), (MORE, LESS))]
    results = evaluated(run, tmp_path, C + "en", metadata={"judge": judges})
    split = [sample["no_majority"] == 1.0 for sample in results["samples"][C + "en"]]
    assert any(split) and not all(split)
    (model,) = read_models([tmp_path])
    (task,) = model.tasks
    for metric, labelled in (("contradictory", 0.0), ("more_comprehensive", 1.0)):
        read = measured(task)
        values = read.columns[metric].sums[:, 0]
        assert [None if v != v else v for v in values] == [None if s else labelled for s in split]
        assert unread(read, metric).count == sum(split)
