"""The replay model: the same numbers from logged answers, and what is refused."""

from __future__ import annotations

import itertools
import json
import random
import shutil

import pytest
from builders import evaluated
from fixed import Fixed
from scripted import material

from xling_tasks.criteria import OPTIONS
from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import BackendError, DataError, SettingError
from xling_tasks.logs.results import read_results

V = "xlinghealth_verifiability_demo_"
LL = "xlinghealth_verifiability_ll_demo_"
C = "xlinghealth_correctness_demo_"
T = "xlinghealth_consistency_demo_"
M = "mmedbench_{}_demo_{}"
QUICK = {"k": 3, "topic_seeds": 0, "encoder": False, "source_encoder": False}
EVERYTHING = [
    V + "hi", LL + "es", C + "zh", T + "en", T + "es",
    M.format("mcqa", "ja"), M.format("mcqa_ll", "en"), M.format("rationale", "ru"),
]  # fmt: skip

_SEEDS = itertools.count()


class Whim(Fixed):
    """Never answers twice in the same way, so that equal numbers come from the log alone."""

    def __init__(self):
        super().__init__(self.answer)
        # Another stream in every instance, the same in every run of the tests.
        self.draw = random.Random(next(_SEEDS))

    def answer(self, context, second):
        if isinstance(second, str):  # how likely it is
            return -self.draw.expovariate(0.1), self.draw.random() < 0.5
        words = ["Yes", "No", "A", "B, C", "[End]", "fiebre", "water", "बुखार", "水。", "\n", ""]
        return " ".join(self.draw.choices(words, k=6)).strip() or None

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
    """`refused(message, path, ...)`: such a replay is an error that says so."""

    def refused_(message, *words, error=DataError, **options):
        with pytest.raises(error, match=message):
            replay(*words, **options)

    return refused_


def same(first, second, but=("arguments", "prompt_hash")):
    """Equal in every number, and in every sample but the prompts, which a replay may not render."""
    text = json.dumps(first["results"], sort_keys=True)
    assert text == json.dumps(second["results"], sort_keys=True)
    for task, samples in first["samples"].items():
        for pair in zip(samples, second["samples"][task], strict=True):
            texts = [{k: v for k, v in s.items() if k not in but} for s in pair]
            assert json.dumps(texts[0], sort_keys=True) == json.dumps(texts[1], sort_keys=True)


def opinion(prompt: str) -> str:
    if "answer_2" not in material(prompt):
        return "ready"
    return json.dumps({"reasoning": "So.", "verdict": list(OPTIONS.values())[len(prompt) % 4]})


def test_every_family_gives_the_same_numbers(logged, replay, serve, tmp_path):
    served = serve(opinion)
    options = {"metadata": {**QUICK, "judge": served.spec()}, "limit": 4, "bootstrap_iters": 10}
    first = logged(tmp_path, EVERYTHING, **options)
    same(first, replay(tmp_path, EVERYTHING, **options), but=())
    # Fewer questions, temperatures and answers.
    fewer = {**QUICK, "k": 2, "temperatures": [1.0]}
    replayed = replay(tmp_path, [V + "hi", T + "en"], metadata=fewer, limit=2)
    assert "acc_t0.0,none" not in replayed["results"][V + "hi"]
    for task, of_run in ((V + "hi", slice(1, None, 2)), (T + "en", slice(1, 3))):
        for one, two in zip(first["samples"][task], replayed["samples"][task], strict=False):
            assert one["resps"][of_run] == two["resps"]


def test_a_chat_service_with_its_own_seeds(logged, replay, refused, serve, tmp_path):
    served, draw = serve(opinion), random.SystemRandom()
    served.reply = lambda prompt: " ".join(draw.choices(["Yes", "No", "fever", "rest"], k=5))
    tasks, settings = [T + "en", V + "es", C + "hi"], {**QUICK, "sampling_seed": 7}
    args = served.spec()["model_args"] | {"auth_token": "sk-secret", "num_concurrent": 1}
    service = {"model": "local-chat-completions", "model_args": args}
    out = tmp_path / "out"
    first = logged(out, tasks, metadata=settings, limit=2, apply_chat_template=True, **service)
    assert len(first["samples"][T + "en"][0]["resps"]) == 6  # at temperature 0, too
    asked = len(served.requests)
    for template in (True, False):
        options = {"limit": 2, "apply_chat_template": template}
        # Whatever the seeds, logged answers come in their order; there may be fewer, and not more.
        same(first, replay(out, tasks, metadata={**QUICK, "sampling_seed": 9}, **options))
        more = {"metadata": {**QUICK, "k": 4}, **options}
        refused(r"more than the 3 logged .*the k \(3\)", out, T + "en", **more)
    assert len(served.requests) == asked
    # What a replay writes into the same folder is a copy: the original is replayed.
    replaying = {"model": "xling_replay", "model_args": {"path": str(out)}}
    again = logged(out, V + "es", metadata=QUICK, limit=2, **replaying)
    recorded = again["configs"][V + "es"]["metadata"]["xling"]["replay"]
    assert recorded["model"] == "local-chat-completions" and recorded["path_name"] == "out"
    assert recorded["model_args"]["model"] == "judge-1" and "sk-secret" not in json.dumps(recorded)
    one, two = read_results(out)
    assert one.model == two.model and two.replay["stamp"] == one.stamp and one.replay == {}
    assert replay(out, V + "es", metadata=QUICK, limit=2)["results"] == again["results"]


def test_a_chat_template_in_text(logged, replay, tmp_path):
    tasks = [V + "hi", LL + "en", M.format("mcqa_ll", "zh")]
    first = logged(tmp_path, tasks, apply_chat_template=True, limit=1)
    for template in (True, False):
        same(first, replay(tmp_path, tasks, apply_chat_template=template, limit=1))


def test_examples_as_turns_need_the_template_again(logged, replay, refused, tmp_path):
    sample = SAMPLE_FOLDER / "mmedbench_demo" / "Test"
    for split in ("Test", "Train"):
        shutil.copytree(sample, tmp_path / "data" / split)
    task, data = "mmedbench_mcqa_fr", {"data_dir": str(tmp_path / "data")}
    options = {"num_fewshot": 2, "limit": 2, "system_instruction": "Be brief.", "metadata": data}
    turns = {"apply_chat_template": True, "fewshot_as_multiturn": True}
    first = logged(tmp_path, task, **turns, **options)
    same(first, replay(tmp_path, task, **turns, **options))
    refused("--apply_chat_template", tmp_path, task, **options)
    brief = {**options, **turns, "system_instruction": "Be long."}
    refused(r"this prompt is not in .*system instruction", tmp_path, task, **brief)
    refused("examples", tmp_path, task, **{**options, **turns, "num_fewshot": 3})
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


def test_prompts_that_were_cut_stay_so(logged, replay, tmp_path):
    model = Whim()
    model.tok_encode, model.max_length = (lambda text, **_: list(text.encode())), 64 + 900
    cut = [
        results["configs"][V + "hi"]["metadata"]["xling"]["cut_prompts"]
        for results in (
            logged(tmp_path, V + "hi", model=model, predict_only=True, limit=2),
            replay(tmp_path, V + "hi", limit=2),
        )
    ]
    assert cut[0] == cut[1] and 0 < cut[0]["hi"][0] <= cut[0]["hi"][1] == 20


def test_the_newest_run_wins_and_models_are_not_mixed(logged, replay, refused, tmp_path):
    options = {"limit": 2, "metadata": {"temperatures": [0.0]}}
    old = logged(tmp_path, [V + "en", V + "es"], **options)
    new = logged(tmp_path, V + "en", **options)
    newest = replay(tmp_path, [V + "en", V + "es"], **options)
    replies = [
        [sample["resps"] for sample in results["samples"][V + "en"]]
        for results in (newest, new, old)
    ]
    assert replies[0] == replies[1] != replies[2]
    older, newer = [results.stamp for results in read_results(tmp_path)]
    same(old, replay(tmp_path, [V + "en", V + "es"], run_name=older, **options), but=())
    refused(f"of run x; its runs are: {older}, {newer}", tmp_path, V + "en", run_name="x")
    logged(tmp_path, V + "hi", model="xling_baseline", model_args={"seed": 1}, **options)
    refused("runs of 2 different models", tmp_path, V + "en", **options)
    assert replay(tmp_path, V + "en", run_name=newer, **options)["results"]


@pytest.fixture
def ready(logged, tmp_path):
    """A small log."""
    tasks = [V + "en", LL + "en", T + "en"]
    logged(tmp_path / "out", tasks, metadata=QUICK, limit=2)
    return tmp_path / "out"


def test_what_was_not_logged_is_an_error(ready, refused, tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text("verifiability: 'OURS {question} / {answer}'")
    prompts = {"metadata": {"prompt_templates": str(file)}}
    cases = [
        (V + "es", {}, f"no responses of {V}es are logged there.*Did you mean '{V}en'"),
        (V + "en", {"limit": 3}, r"question '2': this question is not among the 2 of .*limit"),
        (V + "en", prompts, "question '0': this prompt is not in .*with the prompts"),
        (LL + "en", prompts, "this prompt is not in"),
        (V + "en", {"metadata": {"temperatures": [0.5]}}, r"'temperature': 0.5.*not among .*1\.0"),
        (V + "en", {"gen_kwargs": "max_gen_toks=7"}, "'max_gen_toks': 7.*: 64.*--gen_kwargs"),
        (T + "en", {"metadata": {**QUICK, "greedy_repeats": "k"}}, "more than the 1 logged"),
    ]  # fmt: skip
    for task, options, message in cases:
        refused(message, ready, task, **{"limit": 2, **options})
    themselves = {"error": BackendError, "metadata": {"answer_extractor": "self"}, "limit": 2}
    refused("extractor=self: xling_replay has the logged answers", ready, V + "en", **themselves)
    cached = {"use_cache": str(tmp_path / "cache"), "limit": 2}
    refused("leave out --use_cache", ready, V + "en", error=SettingError, **cached)
    (samples,) = ready.rglob(f"samples_{V}en_*.jsonl")
    text = samples.read_text(encoding="utf-8")
    samples.write_text(text[:-40], encoding="utf-8")
    refused(f"{samples.name}, row 2: not a sample", ready, V + "en", limit=2)
