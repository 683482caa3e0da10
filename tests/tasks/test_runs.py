"""Whole runs through the harness: values, traps, and what lands in the results."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from itertools import chain

import pytest
from fixed import Fixed
from sklearn import metrics as sk
from stored import saved_in

from xling_tasks.criteria import LABELS, OPTIONS
from xling_tasks.errors import SettingError, XlingError
from xling_tasks.readers.verdict import read_verdict

V = "xlinghealth_verifiability_demo_"
LL = "xlinghealth_verifiability_ll_demo_"
C = "xlinghealth_correctness_demo_"


def verdict_line(prompt: str, option: str) -> str:
    return f"Because.\nVERDICT {re.search('carry the code ([a-z]+)', prompt)[1]}: {option}"


def by_length(prompt: str) -> str:
    """A judge with an opinion: a different option for different answers."""
    match = re.search(r"\[BEGIN ANSWER 2 \w+\]\n(.*)\n\[END ANSWER 2", prompt, re.S)
    if not match:
        return "ready"
    options = [*OPTIONS.values(), "I cannot decide"]
    return verdict_line(prompt, options[len(match[1]) % len(options)])


def rows(results, task, metric):
    return list(chain.from_iterable(sample[metric] for sample in results["samples"][task]))


@pytest.mark.parametrize("language", ["en", "es", "zh", "hi"])
def test_verifiability_equals_scikit_learn_on_the_logged_samples(run, language):
    results = run(V + language, metadata={"temperatures": [0.0, 0.5, 1.0]})
    for tau in (0.0, 0.5, 1.0):
        pairs = rows(results, V + language, f"macro_f1_t{tau}")
        gold, said = zip(*pairs)
        assert len(pairs) == 120
        scores = results["results"][V + language]
        assert scores[f"macro_f1_t{tau},none"] == pytest.approx(
            sk.f1_score(gold, said, average="macro")
        )
        assert scores[f"macro_precision_t{tau},none"] == pytest.approx(
            sk.precision_score(gold, said, average="macro")
        )
        assert scores[f"acc_t{tau},none"] == pytest.approx(sk.accuracy_score(gold, said))
        assert scores[f"auc_hard_t{tau},none"] == pytest.approx(sk.roc_auc_score(gold, said))
    # The verdicts are those of the logged replies.
    sample = results["samples"][V + language][0]
    replies = [reply for group in sample["resps"] for reply in group]
    assert [value for _, value in sample["acc_t0.0"]] == [read_verdict(r) for r in replies[0::3]]


def test_loglikelihood_equals_scikit_learn_on_the_logged_samples(run):
    results = run(LL + "es")
    gold, chance = zip(*rows(results, LL + "es", "auc"))
    scores = results["results"][LL + "es"]
    assert scores["auc,none"] == pytest.approx(sk.roc_auc_score(gold, chance))
    assert scores["brier,none"] == pytest.approx(sk.brier_score_loss(gold, chance))
    decided = [(g, c > 0.5) for g, c in zip(gold, chance) if c != 0.5]
    assert scores["acc,none"] == pytest.approx(sum(g == c for g, c in decided) / len(decided))
    assert scores["unknown_rate,none"] == pytest.approx(1 - len(decided) / len(gold))


def test_same_seed_same_table(run):
    tasks = [V + "hi", LL + "hi", C + "hi"]
    first, second = run(tasks), run(tasks)
    assert first["results"] == second["results"]
    other = run(tasks, model_args="seed=8")
    assert (
        other["results"][V + "hi"]["acc_t1.0,none"] != first["results"][V + "hi"]["acc_t1.0,none"]
    )
    assert (
        other["results"][V + "hi"]["acc_t0.0,none"] == first["results"][V + "hi"]["acc_t0.0,none"]
    )


def test_unknown_and_empty_replies_are_counted_not_scored(run):
    cycle = ["Yes", "No", "Unknown", "", None]

    def reply(context, arguments):
        return cycle[len(context) % len(cycle)]

    results = run(V + "en", model=Fixed(reply), metadata={"temperatures": [0.0]})
    scores = results["results"][V + "en"]
    pairs = rows(results, V + "en", "acc_t0.0")
    replies = list(
        chain.from_iterable(chain.from_iterable(s["resps"] for s in results["samples"][V + "en"]))
    )
    assert scores["empty_rate_t0.0,none"] == replies.count("") / 120 > 0
    assert scores["unknown_rate_t0.0,none"] == (replies.count("") + replies.count("Unknown")) / 120
    usable = [(g, s) for g, s in pairs if s is not None]
    assert scores["acc_t0.0,none"] == pytest.approx(sum(g == s for g, s in usable) / len(usable))


def test_nothing_usable_is_null_not_zero(run):
    results = run(V + "en", model=Fixed(lambda *_: None), metadata={"temperatures": [0.0]})
    scores = results["results"][V + "en"]
    assert scores["macro_f1_t0.0,none"] is None and scores["acc_t0.0,none"] is None
    assert scores["unknown_rate_t0.0,none"] == scores["empty_rate_t0.0,none"] == 1
    text = json.dumps(results["results"], allow_nan=False)
    assert '"macro_f1_t0.0,none": null' in text


def test_undefined_loglikelihoods_are_null(run):
    model = Fixed(lambda *_: (float("-inf"), False))
    scores = run(LL + "en", model=model)["results"][LL + "en"]
    assert scores["auc,none"] is None and scores["unknown_rate,none"] == 1


def test_every_request_carries_its_own_temperature(run):
    model = Fixed(lambda *_: "Yes")
    run(V + "en", model=model, limit=1, metadata={"temperatures": [0.0, 0.25, 1.0]})
    sent = [(a["temperature"], a["do_sample"], a["max_gen_toks"]) for _, a in model.seen]
    assert sent == [(0.0, False, 64), (0.25, True, 64), (1.0, True, 64)] * 5


def test_gen_kwargs_temperature_is_one_tau_and_is_the_one_reported(run):
    model = Fixed(lambda *_: "Yes")
    results = run(V + "en", model=model, limit=1, gen_kwargs="temperature=0.7,max_gen_toks=9")
    assert {(a["temperature"], a["do_sample"], a["max_gen_toks"]) for _, a in model.seen} == {
        (0.7, True, 9)
    }
    keys = {key for key in results["results"][V + "en"] if "_t" in key and "stderr" not in key}
    assert all("_t0.7" in key for key in keys) and keys


def test_gen_kwargs_that_contradict_the_settings_are_refused(run):
    with pytest.raises(SettingError, match="would replace the sweep"):
        run(V + "en", limit=1, gen_kwargs="temperature=0.7", metadata={"temperatures": [0.0, 1.0]})
    with pytest.raises(SettingError, match="contradicts temperature 1.0"):
        run(V + "en", limit=1, gen_kwargs="do_sample=False")
    with pytest.raises(SettingError, match=r"contradicts temperature 0\.0"):
        run(C + "en", limit=1, gen_kwargs="do_sample=True")


def test_limit_is_whole_questions(run):
    results = run([V + "en", LL + "en", C + "en"], limit=3)
    assert len(rows(results, V + "en", "acc_t0.0")) == 15
    assert len(rows(results, LL + "en", "auc")) == 15
    assert len(results["samples"][C + "en"]) == 3


@pytest.mark.parametrize(
    ("task", "say"),
    [
        ("xlinghealth_verifiability_demo_es", "xling_own_"),
        ("mmedbench_mcqa_demo_es", "xling_own_"),
        ("xling_information", "prompts_file="),
    ],
)
def test_data_that_is_named_and_not_read_is_said(run, tmp_path, caplog, task, say):
    (tmp_path / "mine.csv").write_text("question_en\nIs it?\n")
    settings = {"data_dir": str(tmp_path / "mine.csv")}
    run(task, limit=1, metadata=settings)
    (line,) = [own for own in caplog.messages if "mine.csv is not read" in own]
    assert "bundled" in line and say in line
    caplog.clear()
    run(task, limit=1)
    assert "is not read" not in caplog.text


def test_misspelt_setting_and_unknown_setting_are_refused_in_a_run(run):
    with pytest.raises(SettingError, match="Did you mean 'temperatures'"):
        run(V + "en", metadata={"temperature": [0.0]})
    with pytest.raises(SettingError, match="nonsense: unknown setting"):
        run(V + "en", model_args="seed=1", metadata={"nonsense": 1})


def test_prompt_language_and_prompt_file(run, tmp_path):
    model = Fixed(lambda *_: "Yes")
    run(V + "hi", model=model, limit=1, metadata={"temperatures": [0.0], "prompt_language": "en"})
    assert "You are an experienced physician" in model.seen[0][0]
    native = Fixed(lambda *_: "Yes")
    results = run(
        V + "hi",
        model=native,
        limit=1,
        metadata={"temperatures": [0.0], "prompt_language": "native"},
    )
    assert "अनुभवी चिकित्सक" in native.seen[0][0]
    file = tmp_path / "p.yaml"
    file.write_text("verifiability: 'OURS {question} / {answer}'")
    own = Fixed(lambda *_: "Yes")
    changed = run(
        V + "hi", model=own, limit=1, metadata={"temperatures": [0.0], "prompts": str(file)}
    )
    assert own.seen[0][0].startswith("OURS ")
    digests = [r["configs"][V + "hi"]["metadata"]["xling"]["prompts"] for r in (results, changed)]
    assert digests[0] != digests[1]


@pytest.mark.parametrize("chat", [False, True])
def test_chat_template_on_and_off(run, chat):
    model = Fixed(lambda context, second: "Yes" if isinstance(second, dict) else (-1.0, False))
    run(
        [V + "zh", LL + "zh", C + "zh"],
        model=model,
        limit=1,
        apply_chat_template=chat,
        fewshot_as_multiturn=chat,
        metadata={"temperatures": [0.0]},
    )
    assert all(str(context).startswith("<user>") == chat for context, _ in model.seen)
    words = {second for _, second in model.seen if isinstance(second, str)}
    assert words == ({"Yes", "No"} if chat else {" Yes", " No"})


# Correctness


def unsure(prompt: str) -> str:
    """The same judge, which has other words each time it is asked for the line alone."""
    if "under a new code" not in prompt:
        return by_length(prompt)
    digest = hashlib.sha256(prompt.encode()).hexdigest()
    return "I cannot say: " + digest.translate(str.maketrans("0123456789", "ghijklmnop"))


def test_correctness_with_a_judge_over_http(run, serve, own_cache):
    served = serve(unsure)
    tasks = [C + code for code in ("en", "es", "zh", "hi")]
    results = run(tasks, metadata={"judge": served.spec()})
    for task in tasks:
        scores, samples = results["results"][task], results["samples"][task]
        shares = [scores[f"{label},none"] for label in (*LABELS, "no_response")]
        assert sum(shares) == pytest.approx(1, abs=1e-12)
        assert scores["no_response,none"] > 0 and scores["n_judged,none"] < 24
        labels = [sample["n_judged"]["label"] for sample in samples]
        assert scores["contradictory,none"] == labels.count("contradictory") / 24
        assert scores["n_judged,none"] == 24 - labels.count("no_response")
        assert all(sample["n_judged"]["reply"] for sample in samples)
        assert "judge-1" in samples[0]["n_judged"]["judge"]
        # A header, and a row for each question.
        assert len(saved_in(own_cache)[task]) == 25
    # One greeting for all tasks, one call per answer.
    assert len(served.requests) - len(served.prompts) == 1
    assert len(served.prompts) == len(set(served.prompts)) == 96 + asked_again(served)
    # What is not in form is asked about again, once; the second replies are cached too.
    shares = [results["results"][task]["asked_again_rate,none"] for task in tasks]
    assert sum(shares) * 24 == pytest.approx(asked_again(served)) and asked_again(served)
    before = len(served.prompts)
    run(tasks, metadata={"judge": served.spec()})
    assert len(served.prompts) == before


def asked_again(served):
    return sum("under a new code" in prompt for prompt in served.prompts)


def test_judge_sees_question_reference_and_answer_of_its_language(run, serve):
    served = serve(by_length)
    results = run(C + "hi", limit=1, metadata={"judge": served.spec()})
    sample = results["samples"][C + "hi"][0]
    (prompt,) = served.prompts
    for text in (sample["doc"]["question"], sample["doc"]["reference"], sample["resps"][0][0]):
        assert text in prompt
    assert "written in Hindi" in prompt


def test_second_harness_model_as_judge(run):
    from lm_eval.api.registry import model_registry

    class Opinion(Fixed):
        def __init__(self, **_):
            super().__init__(
                lambda context, _: (
                    verdict_line(context, "contradictory") if "code" in context else "ready"
                )
            )

    model_registry._objs["test_opinion"] = Opinion
    try:
        results = run(
            C + "es", limit=2, metadata={"judge": {"model": "test_opinion", "batch_size": 4}}
        )
    finally:
        del model_registry._objs["test_opinion"]
    assert results["results"][C + "es"]["contradictory,none"] == 1.0


def test_model_under_test_as_its_own_judge(run):
    def reply(context, arguments):
        if "carry the code" in context:
            return verdict_line(context, OPTIONS["more_comprehensive"])
        return "An answer."

    model = Fixed(reply)
    results = run(C + "en", model=model, limit=2, metadata={"judge": "self"})
    assert results["results"][C + "en"]["more_comprehensive,none"] == 1.0
    assert len(model.seen) == 2 + 1 + 2  # answers, the greeting, verdicts


def test_without_a_judge_there_are_no_labels(run, caplog):
    results = run([C + "en", C + "hi"])
    scores = results["results"][C + "en"]
    assert not any(label in key for key in scores for label in (*LABELS, "no_response", "n_judged"))
    assert {"chrf,none", "length_words,none", "empty_rate,none", "langid_match,none"} <= set(scores)
    assert caplog.text.count("no judge is set") == 1


def test_values_without_a_judge(run):
    import sacrebleu

    results = run(C + "en", model=Fixed(lambda *_: "Drink water, and don't worry."), limit=4)
    samples, scores = results["samples"][C + "en"], results["results"][C + "en"]
    expected = [
        sacrebleu.sentence_chrf("Drink water, and don't worry.", [s["doc"]["reference"]]).score
        for s in samples
    ]
    assert scores["chrf,none"] == pytest.approx(sum(expected) / 4)
    assert scores["length_words,none"] == 5  # Drink water and don't worry
    assert scores["langid_match,none"] == 1.0 and scores["empty_rate,none"] == 0.0


def test_empty_answers_are_not_judged(run, serve):
    served = serve(by_length)
    scores = run(C + "en", model=Fixed(lambda *_: None), limit=3, metadata={"judge": served.spec()})
    scores = scores["results"][C + "en"]
    assert served.prompts == []
    assert scores["empty_rate,none"] == scores["no_response,none"] == 1.0
    assert scores["chrf,none"] is None and scores["langid_match,none"] is None
    assert scores["n_judged,none"] == 0


def test_unreachable_judge_fails_before_anything_is_generated(run, serve):
    served = serve(by_length)
    served.fail_with = 503
    model = Fixed(lambda *_: "An answer.")
    with pytest.raises(XlingError, match="does not answer"):
        run(C + "en", model=model, metadata={"judge": served.spec()})
    assert model.seen == []


def test_judge_calls_that_fail_are_counted_apart_and_the_rest_is_scored(run, serve):
    # Null content, which is no reply, for every second case.
    served = serve(lambda prompt: None if len(prompt) % 2 else by_length(prompt))
    results = run(C + "en", metadata={"judge": served.spec()}, bootstrap_iters=10)
    scores = results["results"][C + "en"]
    labels = [sample["n_judged"]["label"] for sample in results["samples"][C + "en"]]
    assert scores["judge_failed_rate,none"] == labels.count(None) / 24 > 0.2
    recorded = results["configs"][C + "en"]["metadata"]["xling"]["unanswered"]
    assert recorded == {"judge": {"null content": labels.count(None)}}
    assert {s["n_judged"].get("failed") for s in results["samples"][C + "en"]} == {
        None,
        "null content",
    }
    asked = [label for label in labels if label is not None]
    assert scores["no_response,none"] == asked.count("no_response") / len(asked)
    assert sum(scores[f"{label},none"] for label in (*LABELS, "no_response")) == pytest.approx(1)


def test_a_judge_that_is_gone_ends_the_run_and_what_it_said_is_kept(run, serve, own_cache):
    served = serve(lambda prompt: "ready")

    def dying(prompt):
        served.fail_with = 500 if len(served.prompts) > 8 else None
        return by_length(prompt)

    served.reply = dying
    with pytest.raises(XlingError, match="judge: the service does not work .*start the same"):
        run(C + "en", metadata={"judge": served.spec()})
    with sqlite3.connect(own_cache / "replies.sqlite") as db:
        kept = db.execute("SELECT COUNT(*) FROM replies WHERE key LIKE 'judge:%'").fetchone()[0]
    assert kept == 9
    served.settle()  # what the run that has ended left under way is none of the next one's
    served.fail_with, served.reply = None, by_length
    before = len(served.prompts) - asked_again(served)
    run(C + "en", metadata={"judge": served.spec()})
    assert len(served.prompts) - asked_again(served) - before == 24 - kept


def test_an_error_that_nobody_knows_is_not_the_models_answer(run, serve, caplog):
    bad = iter(range(6))

    def reply(prompt):
        error = next(bad, None) is not None and "back soon"
        return (error and "We will be back soon, dear friends.") or f"An answer on {len(prompt)}."

    served = serve(reply)
    args = {"model": "m", "base_url": served.url}
    results = run(
        C + "en", model="local-chat-completions", model_args=args, apply_chat_template=True
    )
    answers = [sample["resps"][0][0] for sample in results["samples"][C + "en"]]
    assert len(answers) == 24 and not any("back soon" in answer for answer in answers)
    assert "6 different requests got one and the same reply" in caplog.text
    # And the saved answers are the good ones.
    again = run(C + "en", model="local-chat-completions", model_args=args, apply_chat_template=True)
    assert [s["resps"][0][0] for s in again["samples"][C + "en"]] == answers


OPENAI = "openai-chat-completions"


def test_a_temperature_that_the_backend_would_replace_is_refused(run, serve, monkeypatch):
    """The harness sends temperature 1 to OpenAI models whose name contains a 5."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    served = serve(lambda prompt: "Yes")
    args = {"model": "gpt-3.5-turbo", "base_url": served.url, "max_retries": 1}
    options = {"model": OPENAI, "model_args": args, "apply_chat_template": True, "limit": 1}
    with pytest.raises(SettingError, match=r"decodes at temperature 1\.0 where 0\.0 is asked for"):
        run(V + "en", **options)
    assert served.requests == []
    results = run(V + "en", gen_kwargs="temperature=1", **options)
    assert {request["temperature"] for request in served.requests} == {1}
    assert "acc_t1.0,none" in results["results"][V + "en"]


def test_a_judge_at_another_temperature_says_so(run, serve, monkeypatch, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    served = serve(by_length)
    judge = {"model": OPENAI, "model_args": {"model": "o3-mini", "base_url": served.url}}
    results = run(C + "en", limit=1, metadata={"judge": judge})
    assert results["samples"][C + "en"][0]["n_judged"]["judge"].endswith("|temperature:1")
    assert "decodes at temperature 1" in caplog.text


@pytest.mark.parametrize("value", ["-1", "abc", "9"])
def test_a_wrong_temperature_in_gen_kwargs_is_refused(run, value):
    for task in (V + "en", C + "en"):
        with pytest.raises(SettingError, match="--gen_kwargs temperature"):
            run(task, limit=1, gen_kwargs=f"temperature={value}")


def test_answers_of_all_tasks_are_on_disk_before_the_first_is_scored(run, own_cache, monkeypatch):
    from xling_tasks.tasks.correctness import CorrectnessTask

    def crash(self):
        raise RuntimeError("while scoring")

    monkeypatch.setattr(CorrectnessTask, "score", crash)
    with pytest.raises(RuntimeError, match="while scoring"):
        run([C + "en", V + "en", LL + "en"], limit=2)
    assert sorted(saved_in(own_cache)) == [C + "en", V + "en", LL + "en"]


def test_a_cache_that_cannot_be_made_is_told_and_the_run_goes_on(run, serve, caplog):
    served = serve(by_length)
    options = {"limit": 2, "metadata": {"xling_cache": "/proc/nowhere", "judge": served.spec()}}
    scores = run(C + "en", **options)["results"][C + "en"]
    assert scores["judge_failed_rate,none"] == 0
    assert len(served.prompts) - asked_again(served) == 2
    assert caplog.text.count("the cache folder /proc/nowhere cannot be made") == 1


def test_predict_only_calls_no_judge(run, serve):
    served = serve(by_length)
    results = run(
        [C + "en", V + "en"], limit=2, predict_only=True, metadata={"judge": served.spec()}
    )
    assert served.requests == []
    assert set(k for k in results["results"][C + "en"] if "," in k) == {
        "bypass,none",
        "bypass_stderr,none",
    }
    assert results["samples"][C + "en"][0]["resps"][0][0]


def test_several_filters_judge_each_answer_once(run, serve, tmp_path):
    from lm_eval.tasks import TaskManager

    from xling_tasks.discovery import task_folder

    file = tmp_path / "filtered.yaml"
    file.write_text(
        f"include: {task_folder()}/xlinghealth/{C}en.yaml\n"
        "task: filtered\n"
        "filter_list:\n"
        "  - name: whole\n    filter:\n      - function: take_first\n"
        "  - name: again\n    filter:\n      - function: take_first\n"
        "  - name: upper\n    filter:\n      - function: uppercase\n      - function: take_first\n"
    )
    served = serve(by_length)
    manager = TaskManager(
        include_path=str(tmp_path), include_defaults=False, metadata={"judge": served.spec()}
    )
    results = run("filtered", task_manager=manager, limit=3)
    scores = results["results"]["filtered"]
    assert scores["contradictory,whole"] == scores["contradictory,again"]
    assert scores["chrf,upper"] != scores["chrf,whole"]
    assert len(served.prompts) - asked_again(served) == 6  # three answers, and the same in capitals


def test_use_cache_keeps_sampled_answers_apart(run, tmp_path):
    options = {"use_cache": str(tmp_path / "cache"), "limit": 4}
    first, second = run(V + "en", **options), run(V + "en", **options)
    assert first["results"] == second["results"] == run(V + "en", limit=4)["results"]


def test_request_cache_does_not_hide_other_settings(run, monkeypatch, tmp_path):
    import lm_eval.caching.cache as request_cache

    monkeypatch.setattr(request_cache, "PATH", str(tmp_path))
    run(V + "en", limit=1, cache_requests=True, metadata={"temperatures": [0.0]})
    results = run(V + "en", limit=1, cache_requests=True, metadata={"temperatures": [0.5]})
    assert "acc_t0.5,none" in results["results"][V + "en"]


def test_every_metric_for_every_document(run, serve):
    served = serve(by_length)
    results = run([V + "en", LL + "en", C + "en"], metadata={"judge": served.spec()})
    for task, samples in results["samples"].items():
        keys = {tuple(sample["metrics"]) for sample in samples}
        assert len(keys) == 1
        reported = {
            k.split(",")[0] for k in results["results"][task] if "," in k and "stderr" not in k
        }
        assert reported == set(keys.pop())


def test_standard_error_of_plain_shares(run, serve):
    import statistics

    served = serve(by_length)
    results = run(C + "en", metadata={"judge": served.spec()}, bootstrap_iters=10)
    values = [sample["contradictory"] for sample in results["samples"][C + "en"]]
    expected = statistics.stdev(values) / len(values) ** 0.5
    assert results["results"][C + "en"]["contradictory_stderr,none"] == pytest.approx(expected)


def test_chat_only_backend_is_told_before_it_generates(run, serve):
    served = serve(lambda prompt: "Yes")
    args = served.spec()["model_args"]
    with pytest.raises(
        XlingError, match="gives no log-likelihoods.*xlinghealth_verifiability_demo"
    ):
        run(
            [V + "en", LL + "en"],
            model="local-chat-completions",
            model_args=args,
            apply_chat_template=True,
        )
    assert served.requests == []


def test_what_the_results_record(run, serve):
    served = serve(by_length)
    results = run(C + "es", limit=2, model_args={"seed": 5}, metadata={"judge": served.spec()})
    recorded = results["configs"][C + "es"]["metadata"]["xling"]
    assert recorded["settings"]["judge"]["model_args"]["model"] == "judge-1"
    assert recorded["data"]["dataset"] == "Demo" and recorded["data"]["unusable_rows"] == 0
    assert re.fullmatch("[0-9a-f]{64}", recorded["data"]["sha256"])
    assert set(recorded["prompts"]) == {"answer", "judge"}
    scores = {
        k.split(",")[0] for k in results["results"][C + "es"] if "," in k and "stderr" not in k
    }
    assert set(recorded["signatures"]) == scores
    assert "judge-1" in recorded["signatures"]["contradictory"]
    json.dumps(results["configs"], allow_nan=False)


def test_secrets_are_nowhere_in_what_we_dump(run, serve):
    served = serve(lambda prompt: "Yes")
    args = {**served.spec()["model_args"], "auth_token": "sk-secret"}
    results = run(
        V + "en",
        model="local-chat-completions",
        model_args=args,
        limit=1,
        apply_chat_template=True,
        metadata={"temperatures": [0.0]},
    )
    assert "sk-secret" not in json.dumps(results["configs"])
    assert results["configs"][V + "en"]["metadata"]["auth_token"] == "<redacted>"


def test_every_score_has_a_standard_error(run):
    """A rate's by linearization, macro F1's by leaving out each question."""
    tasks = [V + "en", "xlinghealth_verifiability_ll_demo_en", C + "en", "mmedbench_mcqa_demo_en"]
    results = run(tasks, bootstrap_iters=10)["results"]
    without = {
        (task, key.partition("_stderr,")[0])
        for task in tasks
        for key, value in results[task].items()
        if "_stderr," in key and not isinstance(value, float)
    }
    assert without == set()
    assert 0.02 < results[V + "en"]["macro_f1_t0.0_stderr,none"] < 0.08
    again = run(V + "en", bootstrap_iters=0)["results"][V + "en"]
    assert {again[key] for key in again if "_stderr" in key} == {"N/A"}
