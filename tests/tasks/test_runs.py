"""Whole runs through the harness: values, traps, and what lands in the results."""

from __future__ import annotations

import json
import re
from itertools import chain
from statistics import stdev

import pytest
from builders import of_task, with_filters
from custom_tables import write_table
from fixed import Fixed
from scripted import material, reply
from sklearn import metrics as sk

from xling_tasks.cache import open_cache
from xling_tasks.criteria import LABELS, OPTIONS
from xling_tasks.data.dataset_info import LANGUAGE_NAMES
from xling_tasks.errors import SettingError, XlingError
from xling_tasks.languages import language_name
from xling_tasks.readers import read_verdict

V = "xlinghealth_verifiability_demo_"
LL = "xlinghealth_verifiability_ll_demo_"
C = "xlinghealth_correctness_demo_"
T = "xlinghealth_consistency_demo_"
EXAM = "mmedbench_{}_demo_ja"
COLD = {"temperatures": [0.0]}


def verdict_line(option: str) -> str:
    return json.dumps({"reasoning": "Because.", "verdict": option})


def by_length(prompt: str) -> str:
    """A judge with an opinion: a different option for different answers."""
    texts = material(prompt)
    if "answer_2" not in texts:
        return reply(prompt)
    options = [*OPTIONS.values(), "I cannot decide"]
    return verdict_line(options[len(texts["answer_2"]) % len(options)])


def rows(samples, metric):
    return list(chain.from_iterable(sample[metric] for sample in samples))


@pytest.mark.parametrize("language", ["en", "es", "zh", "hi"])
def test_verifiability_equals_scikit_learn_on_the_logged_samples(run_one, language):
    scores, samples, _, _ = run_one(V + language, metadata={"temperatures": [0.0, 0.5, 1.0]})
    for tau in (0.0, 0.5, 1.0):
        gold, said = zip(*rows(samples, f"macro_f1_t{tau}"))
        assert len(gold) == 120
        for name, expected in (
            ("macro_f1", sk.f1_score(gold, said, average="macro")),
            ("macro_precision", sk.precision_score(gold, said, average="macro")),
            ("acc", sk.accuracy_score(gold, said)),
            ("auc_hard", sk.roc_auc_score(gold, said)),
        ):
            assert scores[f"{name}_t{tau}"] == pytest.approx(expected)
    # The verdicts are those of the logged replies.
    replies = list(chain.from_iterable(samples[0]["resps"]))
    assert [own for _, own in samples[0]["acc_t0.0"]] == [read_verdict(r) for r in replies[0::3]]


def test_loglikelihood_equals_scikit_learn_on_the_logged_samples(run_one):
    scores, samples, _, _ = run_one(LL + "es")
    gold, chance = zip(*rows(samples, "auc"))
    assert scores["auc"] == pytest.approx(sk.roc_auc_score(gold, chance))
    assert scores["brier"] == pytest.approx(sk.brier_score_loss(gold, chance))
    decided = [(g, c > 0.5) for g, c in zip(gold, chance) if c != 0.5]
    assert scores["acc"] == pytest.approx(sum(g == c for g, c in decided) / len(decided))
    assert scores["unparsed_rate"] == pytest.approx(1 - len(decided) / len(gold))


def test_the_likelier_word_is_the_verdict(run_one):
    model = Fixed(lambda _, word: (-1.0 if word.strip() == "Yes" else -2.0, False))
    scores, samples, _, _ = run_one(LL + "es", model=model, limit=2)
    gold, chance = zip(*rows(samples, "auc"))
    assert chance == pytest.approx([0.7310585786] * len(chance))  # 1 / (1 + exp(-1))
    assert scores["acc"] == pytest.approx(sum(gold) / len(gold))


def test_same_seed_same_table_and_every_metric_for_every_document(run, serve):
    tasks = [V + "hi", LL + "hi", C + "hi", T + "hi"]
    tasks += [EXAM.format(kind) for kind in ("mcqa", "mcqa_ll", "rationale")]
    metadata = {"k": 3, "topic_seeds": 1, "judge": serve(by_length).spec()}
    first, second = run(tasks, metadata=metadata), run(tasks, metadata=metadata)
    assert first["results"] == second["results"]
    for task in tasks:
        _, samples, record, _ = own = of_task(first, task)
        assert {frozenset(sample["metrics"]) for sample in samples} == {frozenset(own.names)}
        assert set(record["signatures"]) == own.names
    other = of_task(run(V + "hi", model_args="seed=8"), V + "hi").scores
    known = of_task(first, V + "hi").scores
    assert other["acc_t1.0"] != known["acc_t1.0"] and other["acc_t0.0"] == known["acc_t0.0"]
    json.dumps(first["configs"], allow_nan=False)


def test_unknown_and_empty_replies_are_counted_not_scored(run_one):
    cycle = ["Yes", "No", "Unknown", "", None]
    model = Fixed(lambda context, _: cycle[len(context) % len(cycle)])
    scores, samples, _, _ = run_one(V + "en", model=model, metadata=COLD)
    replies = list(chain.from_iterable(rows(samples, "resps")))
    assert scores["empty_rate_t0.0"] == replies.count("") / 120 > 0
    assert scores["unparsed_rate_t0.0"] == (replies.count("") + replies.count("Unknown")) / 120
    usable = [(g, s) for g, s in rows(samples, "acc_t0.0") if s is not None]
    assert scores["acc_t0.0"] == pytest.approx(sum(g == s for g, s in usable) / len(usable))


def test_nothing_usable_is_null_not_zero(run_one):
    scores, _, _, found = run_one(V + "en", model=Fixed(lambda *_: None), metadata=COLD)
    assert scores["macro_f1_t0.0"] is None and scores["acc_t0.0"] is None
    assert scores["unparsed_rate_t0.0"] == scores["empty_rate_t0.0"] == 1
    assert '"macro_f1_t0.0,none": null' in json.dumps(found["results"], allow_nan=False)
    scores = run_one(LL + "en", model=Fixed(lambda *_: (float("-inf"), False))).scores
    assert scores["auc"] is None and scores["unparsed_rate"] == 1


@pytest.mark.parametrize(("task", "gen_kwargs", "metadata", "said"), [
    (V, "temperature=0.7", {"temperatures": [0.0, 1.0]}, "would replace the sweep"),
    (V, "do_sample=False", {}, "contradicts temperature 1.0"),
    (C, "do_sample=True", {}, r"contradicts temperature 0\.0"),
    *((task, f"temperature={value}", {}, "--gen_kwargs temperature")
      for task in (V, C) for value in ("-1", "abc", "9")),
    (V, None, {"temperature": [0.0]}, "Did you mean 'temperatures'"),
    (V, None, {"nonsense": 1}, "nonsense: unknown setting"),
])  # fmt: skip
def test_what_contradicts_the_settings_or_is_none_is_refused(run, task, gen_kwargs, metadata, said):
    with pytest.raises(SettingError, match=said):
        run(task + "en", model_args="seed=1", limit=1, gen_kwargs=gen_kwargs, metadata=metadata)


@pytest.mark.parametrize(("task", "say"), [
    (V + "es", "xling_custom_"), ("mmedbench_mcqa_demo_es", "xling_custom_"), ("xling_information", "prompt_set="),
])  # fmt: skip
def test_data_that_is_named_and_not_read_is_said(run, tmp_path, caplog, task, say):
    (tmp_path / "mine.csv").write_text("question_en\nIs it?\n")
    run(task, limit=1, metadata={"data_dir": str(tmp_path / "mine.csv")})
    (line,) = [own for own in caplog.messages if "mine.csv is not read" in own]
    assert "bundled" in line and say in line
    caplog.clear()
    run(task, limit=1)
    assert "is not read" not in caplog.text


@pytest.mark.parametrize("chat", [False, True])
def test_chat_template_on_and_off(run, chat):
    model = Fixed(lambda context, second: "Yes" if isinstance(second, dict) else (-1.0, False))
    options = {"apply_chat_template": chat, "fewshot_as_multiturn": chat, "metadata": COLD}
    found = run([V + "zh", LL + "zh", C + "zh"], model=model, limit=1, **options)["samples"]
    # A limit is of whole questions, with five answers each.
    assert len(rows(found[V + "zh"], "acc_t0.0")) == len(rows(found[LL + "zh"], "auc")) == 5
    assert all(str(context).startswith("<user>") == chat for context, _ in model.seen)
    words = {second for _, second in model.seen if isinstance(second, str)}
    assert words == ({"Yes", "No"} if chat else {" Yes", " No"})


@pytest.mark.parametrize(("model", "dropped"), [("xling_baseline", 0), (None, 1)])
def test_a_system_instruction_that_the_template_drops_is_said_once(run, caplog, model, dropped):
    model = model or Fixed(lambda *_: "Yes")
    options = {"apply_chat_template": True, "system_instruction": "Be brief.", "metadata": COLD}
    run([V + "en", V + "es"], model=model, limit=1, **options)
    assert caplog.text.count("--system_instruction is in no prompt") == dropped


# Correctness


def asked_again(served):
    return sum("JSON object that I asked for" in prompt for prompt in served.prompts)


def test_correctness_with_a_judge_over_http(run, serve, own_cache):
    served = serve(by_length)
    tasks = [C + code for code in ("en", "es", "zh", "hi")]
    metadata = {"judge": served.spec()}
    results = run(tasks, metadata=metadata, bootstrap_iters=10)
    again = 0
    for task in tasks:
        scores, samples, record, _ = of_task(results, task)
        labels = [sample["n_judged"]["label"] for sample in samples]
        for label in (*LABELS, "no_response"):
            assert scores[label] == pytest.approx(labels.count(label) / 24)
        assert scores["no_response"] > 0 and scores["n_judged"] == 24 - labels.count("no_response")
        values = [sample["contradictory"] for sample in samples]
        assert scores["contradictory_stderr"] == pytest.approx(stdev(values) / 24**0.5)
        assert all(sample["n_judged"]["reply"] for sample in samples)
        # The judge sees question, reference and answer, and in which language they are.
        doc, answer = samples[0]["doc"], samples[0]["resps"][0][0]
        prompt = next(prompt for prompt in served.prompts if doc["question"] in prompt)
        assert doc["reference"] in prompt and answer in prompt
        assert f"written in {language_name(task[-2:])}" in prompt
        assert "judge-1" in samples[0]["n_judged"]["judge"]
        assert "judge-1" in record["signatures"]["contradictory"]
        again += scores["repair_rate"] * 24
    assert record["settings"]["judge"]["model_args"]["model"] == "judge-1"
    assert record["data"]["dataset"] == "Demo" and record["data"]["invalid_rows"] == 0
    assert re.fullmatch("[0-9a-f]{64}", record["data"]["sha256"])
    assert set(record["prompts"]) == {"answer", "judge"}
    # Two greetings for all tasks, one call per answer.
    assert len(served.requests) - len(served.prompts) == 2
    assert len(served.prompts) == 96 + asked_again(served)
    # What is not in form is asked about again, once; the second replies are cached too.
    assert again == pytest.approx(asked_again(served)) and asked_again(served)
    before = len(served.prompts)
    run(tasks, metadata=metadata)
    assert len(served.prompts) == before


def test_model_under_test_as_its_own_judge(run_one):
    def reply(context, arguments):
        if '"answer_2"' in context:
            return verdict_line(OPTIONS["more_comprehensive"])
        return "An answer."

    model = Fixed(reply)
    scores = run_one(C + "en", model=model, limit=2, metadata={"judge": "self"}).scores
    assert scores["more_comprehensive"] == 1.0
    assert len(model.seen) == 2 + 1 + 2  # answers, the greeting, verdicts


def test_without_a_judge_there_are_no_labels(run, caplog):
    import sacrebleu

    said = "Drink water, and don't worry."
    found = run([C + "en", C + "hi"], model=Fixed(lambda *_: said), limit=4)
    scores, samples, _, _ = of_task(found, C + "en")
    assert not any(label in key for key in scores for label in (*LABELS, "no_response", "n_judged"))
    assert caplog.text.count("no judge is set") == 1
    expected = [sacrebleu.sentence_chrf(said, [s["doc"]["reference"]]).score for s in samples]
    assert scores["chrf"] == pytest.approx(sum(expected) / 4)
    assert scores["length_words"] == 5  # Drink water and don't worry
    assert scores["langid_match"] == 1.0 and scores["empty_rate"] == 0.0


def test_unreachable_judge_fails_before_anything_is_generated(run, serve):
    served = serve(by_length)
    served.fail_with = 503
    model = Fixed(lambda *_: "An answer.")
    with pytest.raises(XlingError, match="does not answer"):
        run(C + "en", model=model, metadata={"judge": served.spec()})
    assert model.seen == []


def test_judge_calls_that_fail_are_counted_apart_and_the_rest_is_scored(run_one, serve):
    # Null content, which is no reply, for every second case.
    served = serve(lambda prompt: None if len(prompt) % 2 else by_length(prompt))
    scores, samples, record, _ = run_one(C + "en", metadata={"judge": served.spec()})
    labels = [sample["n_judged"]["label"] for sample in samples]
    assert scores["judge_failed_rate"] == labels.count(None) / 24 > 0.2
    assert record["unanswered"] == {"judge": {"null content": labels.count(None)}}
    failed = ["null content" if label is None else None for label in labels]
    assert [sample["n_judged"].get("failed") for sample in samples] == failed
    asked = [label for label in labels if label is not None]
    assert scores["no_response"] == asked.count("no_response") / len(asked)
    assert sum(scores[label] for label in (*LABELS, "no_response")) == pytest.approx(1)


def test_a_judge_that_is_gone_ends_the_run_and_what_it_said_is_kept(run, serve, own_cache):
    served = serve(lambda prompt: "ready")
    metadata = {"judge": served.spec()}

    def dying(prompt):
        served.fail_with = 500 if len(served.prompts) > 8 else None
        return by_length(prompt)

    served.reply = dying
    with pytest.raises(XlingError, match="judge: the service does not work .*start the same"):
        run(C + "en", metadata=metadata)
    kept = len(open_cache("judge", own_cache))
    assert kept == 9
    served.settle()  # what the run that has ended left under way is none of the next one's
    served.fail_with, served.reply = None, by_length
    before = len(served.prompts) - asked_again(served)
    run(C + "en", metadata=metadata)
    assert len(served.prompts) - asked_again(served) - before == 24 - kept


OPENAI = "openai-chat-completions"


def test_a_temperature_that_the_backend_would_replace_is_refused(run_one, serve, monkeypatch):
    """The harness sends temperature 1 to OpenAI models whose name contains a 5."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    served = serve(lambda prompt: "Yes")
    args = {"model": "gpt-3.5-turbo", "base_url": served.url, "max_retries": 1}
    options = {"model": OPENAI, "model_args": args, "apply_chat_template": True, "limit": 1}
    with pytest.raises(SettingError, match=r"decodes at temperature 1\.0 where 0\.0 is asked for"):
        run_one(V + "en", **options)
    assert served.requests == []
    assert "acc_t1.0" in run_one(V + "en", gen_kwargs="temperature=1", **options).scores
    assert {request["temperature"] for request in served.requests} == {1}


def test_predict_only_scores_nothing_and_calls_no_judge(run, serve):
    served = serve(by_length)
    tasks = [C + "en", V + "en", T + "en", EXAM.format("rationale")]
    found = run(tasks, limit=2, predict_only=True, metadata={"judge": served.spec()})
    assert served.requests == []
    for task in tasks:
        own = of_task(found, task)
        assert own.names == {"bypass", "n_responses"} and own.samples[0]["resps"][0][0]


def test_several_filters_judge_each_answer_once(run, serve, tmp_path):
    served = serve(by_length)
    upper = ("upper", "uppercase", "take_first")
    filters = (("whole", "take_first"), ("again", "take_first"), upper)
    manager = with_filters(tmp_path, C + "en", *filters, metadata={"judge": served.spec()})
    scores = run("filtered", task_manager=manager, limit=3)["results"]["filtered"]
    assert scores["contradictory,whole"] == scores["contradictory,again"]
    assert scores["chrf,upper"] != scores["chrf,whole"]
    assert scores["n_responses,whole"] == scores["n_responses,upper"] == 3
    assert len(served.prompts) - asked_again(served) == 6  # three answers, and the same in capitals


def test_chat_only_backend_is_told_before_it_generates(run, serve):
    served = serve(lambda prompt: "Yes")
    said = "gives no log-likelihoods.*xlinghealth_verifiability_demo"
    with pytest.raises(XlingError, match=said):
        run([V + "en", LL + "en"], **served.under_test())
    assert served.requests == []


def test_every_score_has_a_standard_error(run):
    """A rate's by linearization, macro F1's by leaving out each question."""
    tasks = [V + "en", LL + "en", C + "en", EXAM.format("mcqa")]
    found = run(tasks, bootstrap_iters=10)["results"]
    errors = {(t, key): own for t in tasks for key, own in found[t].items() if "_stderr," in key}
    assert {key for key, own in errors.items() if not isinstance(own, float)} == set()
    assert 0.02 < found[V + "en"]["macro_f1_t0.0_stderr,none"] < 0.08
    again = run(V + "en", bootstrap_iters=0)["results"][V + "en"]
    assert {again[key] for key in again if "_stderr" in key} == {"N/A"}


def test_a_question_without_a_right_answer_in_the_language_is_not_asked(run_one, tmp_path):
    rows = [
        {"id": q, "label": label, "answer_ids": f"{q}{label}"}
        | {f"question_{name}": f"Q{q} {name}?" for name in LANGUAGE_NAMES.values()}
        | {f"answer_{name}": f"A{q}{label} {name}." for name in LANGUAGE_NAMES.values()}
        for q in (1, 2)
        for label in (1, 0)
    ]
    rows[2]["answer_Spanish"] = ""
    metadata = {"data_dir": str(write_table(tmp_path / "LiveQA.csv", rows))}
    model, task = Fixed(lambda *_: "Descanse y beba agua."), "xlinghealth_correctness_liveqa_es"
    scores, samples, _, _ = run_one(task, model=model, metadata=metadata)
    assert [sample["doc"]["question_id"] for sample in samples] == ["1"]
    assert scores["invalid_rows"] == 1


def test_values_are_those_of_the_samples_and_empty_answers_are_said(run_one, serve, caplog):
    served = serve(lambda prompt: "" if len(prompt) % 3 else "Drink water.")
    _, rows, record, _ = run_one(C + "en", **served.under_test())
    kept = record["bookkeeping"]
    assert 0 < kept["empty_rate"] < 1
    for name in ("empty_rate", "refusal_rate", "length_words"):
        assert kept[name] == pytest.approx(sum(row[name] for row in rows) / len(rows))
    assert f"{C}en: all: {kept['empty_rate']:.1%} of the answers are empty" in caplog.text
