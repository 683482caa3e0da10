"""The replay model: the same numbers from logged answers, and what is refused."""

from __future__ import annotations

import itertools
import json
import random
import shutil
from pathlib import Path

import pytest
from builders import evaluated
from lm_eval.api.model import LM
from scripted import material

from xling_tasks.criteria import OPTIONS
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError, SettingError
from xling_tasks.logs.results import read_results
from xling_tasks.tasks.verifiability import VerifiabilityTask

V = "xlinghealth_verifiability_demo_"
LL = "xlinghealth_verifiability_ll_demo_"
C = "xlinghealth_correctness_demo_"
T = "xlinghealth_consistency_demo_"
M = "mmedbench_{}_demo_{}"
QUICK = {"k": 3, "topic_seeds": 0, "encoder": False, "source_encoder": False}
EVERYTHING = [
    V + "en", V + "hi", LL + "es", C + "zh", T + "en", T + "es",
    M.format("mcqa", "ja"), M.format("mcqa_ll", "en"), M.format("rationale", "ru"),
]  # fmt: skip


_SEEDS = itertools.count()


class Whim(LM):
    """Never answers twice in the same way, so that equal numbers come from the log alone."""

    tokenizer_name = "whim"

    def __init__(self, name="whim"):
        super().__init__()
        # Another stream in every instance, the same in every run of the tests.
        self.draw = random.Random(next(_SEEDS))

    def generate_until(self, requests, disable_tqdm=False):
        words = ["Yes", "No", "A", "B, C", "[End]", "fiebre", "water", "बुखार", "水。", "\n", ""]
        return [" ".join(self.draw.choices(words, k=6)).strip() or None for _ in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        return [(-self.draw.expovariate(0.1), self.draw.random() < 0.5) for _ in requests]

    loglikelihood_rolling = loglikelihood

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        turns = (f"<{m['role']}>{m['content'].strip()}</s>" for m in chat_history)
        return "".join(turns) + "<assistant>"


@pytest.fixture
def logged(run):
    """`logged(out, tasks, ...)`: a run whose results and samples are written as the command does."""
    return lambda out, tasks, model=None, **options: evaluated(
        run, out, tasks, model=model or Whim(), **options
    )


@pytest.fixture
def replay(run):
    def replay_(path, tasks, run_name=None, **options):
        args = {"path": str(path)} | ({"run": run_name} if run_name else {})
        return run(tasks, model="xling_replay", model_args=args, **options)

    return replay_


@pytest.fixture
def refused(replay):
    """`refused(said, path, ...)`: such a replay is an error that says so."""

    def refused_(said, *words, error=DataError, **options):
        with pytest.raises(error, match=said):
            replay(*words, **options)

    return refused_


def chat(served):
    """A service as the model under test."""
    args = served.spec()["model_args"]
    return {"model": "local-chat-completions", "model_args": args, "apply_chat_template": True}


def stamps(out):
    return sorted(path.stem.removeprefix("results_") for path in out.rglob("results_*"))


def same(first, second, but=("arguments", "prompt_hash")):
    """Equal in every number, and in every sample but the prompts, which a replay may not render."""
    text = json.dumps(first["results"], sort_keys=True)
    assert text == json.dumps(second["results"], sort_keys=True)
    for task, samples in first["samples"].items():
        for one, two in zip(samples, second["samples"][task], strict=True):
            kept = [{k: v for k, v in s.items() if k not in but} for s in (one, two)]
            assert json.dumps(kept[0], sort_keys=True) == json.dumps(kept[1], sort_keys=True)


def opinion(prompt: str) -> str:
    if "answer_2" not in material(prompt):
        return "ready"
    return json.dumps({"reasoning": "So.", "verdict": list(OPTIONS.values())[len(prompt) % 4]})


def out_of(results_folder: Path, pattern: str) -> Path:
    (path,) = results_folder.rglob(pattern)
    return path


# The same numbers


def test_every_family_gives_the_same_numbers(logged, replay, serve, tmp_path):
    served = serve(opinion)
    metadata = {**QUICK, "judge": served.spec()}
    first = logged(tmp_path / "out", EVERYTHING, metadata=metadata, limit=4)
    same(first, replay(tmp_path / "out", EVERYTHING, metadata=metadata, limit=4), but=())


def test_greedy_repeats_standard_errors_and_fewer_of_all(logged, replay, tmp_path):
    tasks, settings = [V + "en", T + "en"], {**QUICK, "greedy_repeats": "k"}
    first = logged(tmp_path, tasks, metadata=settings, limit=4, bootstrap_iters=10)
    assert len(first["samples"][T + "en"][0]["resps"]) == 3 + 3
    # A log with several greedy answers says that these were asked for.
    again = replay(tmp_path, tasks, metadata=QUICK, limit=4, bootstrap_iters=10)
    same(first, again, but=())
    # Fewer documents, temperatures and answers.
    fewer = {**QUICK, "k": 2, "temperatures": [1.0]}
    replayed = replay(tmp_path, tasks, metadata=fewer, limit=2)
    assert "acc_t1.0,none" in replayed["results"][V + "en"]
    assert "acc_t0.0,none" not in replayed["results"][V + "en"]
    for one, two in zip(first["samples"][V + "en"], replayed["samples"][V + "en"]):
        assert one["resps"][1::2] == two["resps"]
    for one, two in zip(first["samples"][T + "en"], replayed["samples"][T + "en"]):
        assert one["resps"][3:5] == two["resps"]


def varied(served):
    """A server that never answers twice in the same way."""
    draw = random.SystemRandom()
    served.reply = lambda prompt: " ".join(draw.choices(["Yes", "No", "fever", "rest"], k=5))
    return served


def test_a_chat_service_with_its_own_seeds(logged, replay, refused, serve, tmp_path):
    served = varied(serve(opinion))
    tasks, settings = [T + "en", V + "es", C + "hi"], {**QUICK, "sampling_seed": 7}
    first = logged(tmp_path, tasks, metadata=settings, limit=2, **chat(served))
    assert len(first["samples"][T + "en"][0]["resps"]) == 6
    asked = len(served.requests)
    for template in (True, False):
        options = {"limit": 2, "apply_chat_template": template}
        same(first, replay(tmp_path, tasks, metadata=settings, **options))
        # Whatever the seeds, logged answers come in their order; there may be fewer, and not more.
        same(first, replay(tmp_path, tasks, metadata={**QUICK, "sampling_seed": 9}, **options))
        assert replay(tmp_path, T + "en", metadata={**QUICK, "k": 2}, **options)["results"]
        told = r"more than the 3 logged answers.*k=3"
        refused(told, tmp_path, T + "en", metadata={**QUICK, "k": 4}, **options)
    assert len(served.requests) == asked


def test_a_chat_template_in_text(logged, replay, tiny_hf, tmp_path):
    tasks = [V + "hi", LL + "en", M.format("mcqa_ll", "zh")]
    options = {"gen_kwargs": "max_gen_toks=4", "limit": 1}
    args = {"pretrained": tiny_hf, "dtype": "float32"}
    hf = {"model": "hf", "model_args": args, "device": "cpu", "batch_size": 8}
    first = logged(tmp_path, tasks, apply_chat_template=True, **hf, **options)
    for template in (True, False):
        same(first, replay(tmp_path, tasks, apply_chat_template=template, **options))


def test_examples_as_turns_need_the_template_again(logged, replay, refused, tmp_path):
    sample = SAMPLE_FOLDER / "mmedbench_demo" / "Test"
    for split in ("Test", "Train"):
        shutil.copytree(sample, tmp_path / "data" / split)
    task, data = "mmedbench_mcqa_fr", {"data_dir": str(tmp_path / "data")}
    options = {"num_fewshot": 2, "limit": 2, "system_instruction": "Be brief.", "metadata": data}
    turns = {"apply_chat_template": True, "fewshot_as_multiturn": True}
    first = logged(tmp_path, task, **turns, **options)
    same(first, replay(tmp_path, task, **turns, **options))
    refused("add --apply_chat_template", tmp_path, task, **options)
    brief = {**options, **turns, "system_instruction": "Be long."}
    refused(r"the prompt is not the one in .*, row \d", tmp_path, task, **brief)
    refused("--num_fewshot", tmp_path, task, **{**options, **turns, "num_fewshot": 3})
    # One turn holds all examples: the text before the template is found in it, too.
    one = tmp_path / "one"
    options = {"num_fewshot": 2, "limit": 2, "metadata": data}
    first = logged(one, task, apply_chat_template=True, fewshot_as_multiturn=False, **options)
    same(first, replay(one, task, **options))


def test_answers_logged_without_scores_are_scored_later_by_one_judge_and_another(
    logged, replay, serve, tmp_path
):
    one, two = serve(opinion), serve(lambda p: opinion(p + "."))
    tasks = [C + "en", T + "zh", LL + "hi"]
    options = {"metadata": {**QUICK, "judge": one.spec()}, "limit": 3}
    first = logged(tmp_path, tasks, predict_only=True, **options)
    assert one.requests == []
    scored = replay(tmp_path, tasks, **options)
    replies = [sample["resps"] for sample in first["samples"][T + "zh"]]
    assert replies == [sample["resps"] for sample in scored["samples"][T + "zh"]]
    assert "contradictory,none" in scored["results"][C + "en"]
    other = replay(tmp_path, C + "en", metadata={"judge": two.spec()}, limit=3)
    asked = [prompt for prompt in one.prompts if material(prompt)]
    assert len(asked) == 3 and one.prompts == two.prompts
    replies = [sample["n_judged"]["reply"] for sample in other["samples"][C + "en"]]
    assert replies == [opinion(p + ".") for p in asked] != [opinion(p) for p in asked]


# What the results say


def test_results_name_the_model_that_answered(logged, replay, run, serve, tmp_path):
    service = chat(varied(serve(opinion)))
    service["model_args"] |= {"auth_token": "sk-secret", "num_concurrent": 1}
    out = tmp_path / "out"
    options = {"limit": 1, "metadata": {"temperatures": [0.0]}}
    logged(out, V + "en", **service, **options)
    replaying = {"model": "xling_replay", "model_args": {"path": str(out)}}
    again = logged(tmp_path / "again", V + "en", **replaying, **options)
    recorded = again["configs"][V + "en"]["metadata"]["xling"]["replay"]
    assert recorded["model"] == "local-chat-completions"
    assert recorded["model_args"]["model"] == "judge-1"
    assert recorded["path_name"] == "out" and "sk-secret" not in json.dumps(recorded)
    (one,), (two,) = read_results(out), read_results(tmp_path / "again")
    assert one.model == two.model and one.model_args == two.model_args
    assert one.replay == {} and two.replay["stamp"] == one.stamp
    # What a replay wrote into the same folder is a copy: the original is replayed.
    beside = out_of(out, "results_*").parent
    for path in list((tmp_path / "again").rglob("*_20*")):
        path.rename(beside / path.name)
    assert replay(out, V + "en", **options)["results"] == again["results"]


def test_the_newest_run_wins_unless_another_is_named(logged, replay, refused, tmp_path):
    options = {"limit": 2, "metadata": {"temperatures": [0.0]}}
    old = logged(tmp_path, [V + "en", V + "es"], **options)
    new = logged(tmp_path, V + "en", **options)
    newest = replay(tmp_path, [V + "en", V + "es"], **options)
    replies = {
        name: [sample["resps"] for sample in results["samples"][V + "en"]]
        for name, results in (("old", old), ("new", new), ("found", newest))
    }
    assert replies["found"] == replies["new"] != replies["old"]
    older, newer = stamps(tmp_path)
    same(old, replay(tmp_path, [V + "en", V + "es"], run_name=older, **options), but=())
    refused(
        f"no run 'x'; there are run={newer}.*; run=", tmp_path, V + "en", run_name="x", **options
    )


def test_runs_of_different_models_are_refused(logged, replay, refused, tmp_path):
    options = {"limit": 1, "metadata": {"temperatures": [0.0]}}
    for seed, task in enumerate((V + "en", V + "es"), 1):
        logged(tmp_path, task, model="xling_baseline", model_args={"seed": seed}, **options)
    told = r'different models: run=\S+ of xling_baseline {"seed": 2} .*{"seed": 1}.*one of'
    refused(told, tmp_path, V + "en", **options)
    assert replay(tmp_path, V + "en", run_name=stamps(tmp_path)[0], **options)["results"]


# What is refused


@pytest.fixture
def ready(logged, tmp_path):
    """A small log."""
    tasks = [V + "en", LL + "en", T + "en"]
    logged(tmp_path / "out", tasks, metadata=QUICK, limit=2)
    return tmp_path / "out"


def test_what_was_not_logged_is_an_error_that_says_what_differs(ready, refused, tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text("verifiability: 'OURS {question} / {answer}'")
    prompts = {"metadata": {"prompt_templates": str(file)}}
    cases = [
        (V + "es", {}, f"no answers of {V}es are logged there.*Did you mean '{V}en'"),
        (V + "en", {"limit": 3}, r"question '2': not among the 2 documents.*--limit of at most 2"),
        (V + "en", prompts, "question '0': the prompt is not the one in .*, row [12]"),
        (LL + "en", prompts, "the prompt is not the one in"),
        (V + "en", {"metadata": {"temperatures": [0.5]}},
         r"temperature 0.5 is not logged in .*; logged: 0.0, 1.0.*temperatures=\[0.0, 1.0\]"),
        (V + "en", {"gen_kwargs": "max_gen_toks=7"}, "max_gen_toks is 7, was 64.*--gen_kwargs"),
        (V + "en", {"gen_kwargs": "top_k=3"}, "top_k is 3, was None"),
        (T + "en", {"metadata": {**QUICK, "k": 4}}, "more than the 3 logged .*k=3 or less"),
        (T + "en", {"metadata": {**QUICK, "greedy_repeats": "k"}},
         "more than the 1 logged .*greedy_repeats=once"),
        (V + "en", {"apply_chat_template": True}, "leave out --apply_chat_template"),
    ]  # fmt: skip
    for task, options, message in cases:
        refused(message, ready, task, **{"limit": 2, **options})
    shown = r"from character 0 on: 'You are .*' then, .OURS I.* now\)"
    refused(shown, ready, V + "en", **prompts)


def test_a_document_whose_content_changed(ready, refused, monkeypatch):
    plain = VerifiabilityTask.keep

    def changed(self, doc):
        return {**plain(self, doc), "question": doc["question"] + "!", "more": 1}

    monkeypatch.setattr(VerifiabilityTask, "keep", changed)
    told = "question '0': the document's content is not what it was in .*, row [12]"
    refused(rf"{told} \(differing: question, more\); .*data_dir", ready, V + "en", limit=2)


def test_the_replayed_model_can_be_nothing_else_and_the_harness_keeps_none_of_it(
    ready, refused, tmp_path
):
    for role in ("judge", "answer_extractor", "translator"):
        for task in (V + "en", T + "en"):
            told = f"{role}=self: xling_replay has the logged answers"
            metadata = {**QUICK, role: "self"}
            refused(told, ready, task, error=SettingError, metadata=metadata, limit=2)
    cached = {"use_cache": str(tmp_path / "cache"), "limit": 2}
    refused("leave out --use_cache", ready, V + "en", error=SettingError, **cached)


def test_broken_logs(ready, refused):
    samples = out_of(ready, f"samples_{V}en_*.jsonl")
    whole = samples.read_text(encoding="utf-8")
    for broken, message in [
        (whole[: len(whole) - 40], f"{samples.name}, row 2: not a logged document"),
        (whole + whole, "row 3: not a logged document .*the same as row 1"),
    ]:
        samples.write_text(broken, encoding="utf-8")
        refused(message, ready, V + "en", limit=2)
    samples.write_text(whole, encoding="utf-8")
    out_of(ready, "results_*.json").unlink()
    refused(r"results_.*\.json is not beside it", ready, V + "en", limit=2)
