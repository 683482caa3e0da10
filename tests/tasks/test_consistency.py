"""Consistency through the harness: sweeps, repeats, translation, kinds of scores, traps."""

from __future__ import annotations

import json
import re
import sys
from statistics import fmean, stdev

import pytest
from lm_eval.api.model import LM
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import jaccard_score
from stored import saved_in

from xling_tasks.data.records import RECORDS
from xling_tasks.data.xlinghealth import load
from xling_tasks.errors import BackendError, SettingError, XlingError
from xling_tasks.tasks.requests import request_seed

T = "xlinghealth_consistency_demo_"
QUICK = {"k": 3, "temperatures": [0.0, 1.0], "topic_seeds": 0}


class Script(LM):
    """Answers the n-th copy of a request with `reply(context, n)`; remembers the requests."""

    def __init__(self, reply, rank=0):
        super().__init__()
        self.reply, self.seen = reply, []

    def generate_until(self, requests, disable_tqdm=False):
        counts: dict = {}
        replies = []
        for request in requests:
            context, arguments = request.args
            self.seen.append((context, dict(arguments)))
            n = counts[context, str(arguments)] = counts.get((context, str(arguments)), -1) + 1
            replies.append(self.reply(context, n))
        return replies

    loglikelihood = loglikelihood_rolling = None


def names(results, task):
    return {
        key.split(",")[0] for key in results["results"][task] if "," in key and "stderr" not in key
    }


def first_question():
    return load(RECORDS["demo"], None, None).questions[0].id


def column(results, task, metric):
    return [sample[metric] for sample in results["samples"][task]]


def sklearn_jaccard(answers, n):
    scores = []
    for i, first in enumerate(answers):
        for second in answers[i + 1 :]:
            rows = CountVectorizer(ngram_range=(n, n), binary=True).fit_transform([first, second])
            scores.append(jaccard_score(*rows.toarray()))
    return fmean(scores)


def test_english_equals_scikit_learn_on_the_logged_samples(run):
    results = run(T + "en", metadata={**QUICK, "k": 4}, limit=6)
    for sample in results["samples"][T + "en"]:
        hot = sample["resps"][1]
        assert len(hot) == 4
        assert sample["sim_1gram_t1.0"] == pytest.approx(sklearn_jaccard(hot, 1), abs=1e-9)
        assert sample["sim_2gram_t1.0"] == pytest.approx(sklearn_jaccard(hot, 2), abs=1e-9)
        assert sample["distinct_answers_t1.0"] == len(set(hot))
    values = column(results, T + "en", "sim_1gram_t1.0")
    assert results["results"][T + "en"]["sim_1gram_t1.0,none"] == pytest.approx(fmean(values))


def test_greedy_once_has_no_similarity_but_lengths_and_language(run):
    results = run(T + "en", metadata=QUICK, limit=2)
    cold = {name for name in names(results, T + "en") if name.endswith("_t0.0")}
    assert cold == {
        f"{name}_t0.0"
        for name in (
            "length_words",
            "length_words_src",
            "language_consistency",
            "language_consistency_published",
            "line_pass_rate",
            "empty_rate",
        )
    }
    assert {len(group) for s in results["samples"][T + "en"] for group in s["resps"]} == {1, 3}


def test_greedy_k_if_asked_for(run):
    results = run(T + "en", metadata={**QUICK, "greedy_repeats": "k"}, limit=2)
    assert results["results"][T + "en"]["sim_1gram_t0.0,none"] == 1.0
    assert results["results"][T + "en"]["distinct_answers_t0.0,none"] == 1.0


def test_a_sweep_asks_each_temperature_k_times(run):
    model = Script(lambda context, n: f"answer {n}")
    run(
        T + "hi",
        model=model,
        limit=1,
        metadata={"k": 5, "temperatures": [0.0, 0.25, 1.0], "topic_seeds": 0},
    )
    taus = [(arguments["temperature"], arguments["do_sample"]) for _, arguments in model.seen]
    assert taus == [(0.0, False)] + [(0.25, True)] * 5 + [(1.0, True)] * 5
    assert not any("seed" in arguments for _, arguments in model.seen)


def test_every_answer_of_an_api_has_its_own_seed(run, serve):
    served = serve(lambda prompt: "An answer.")
    run(
        T + "en",
        model="local-chat-completions",
        model_args=served.spec()["model_args"],
        apply_chat_template=True,
        limit=1,
        metadata={**QUICK, "sampling_seed": 7},
    )
    sent = sorted((request["temperature"], request["seed"]) for request in served.requests)
    question = first_question()
    assert sent == sorted(
        (tau, request_seed(7, "demo", "en", question, tau, repeat))
        for tau in (0.0, 1.0)
        for repeat in range(3)
    )


def test_seed_of_gen_kwargs_takes_the_place_of_the_sampling_seed(run, serve):
    served = serve(lambda prompt: "An answer.")
    run(
        T + "en",
        model="local-chat-completions",
        model_args=served.spec()["model_args"],
        limit=1,
        apply_chat_template=True,
        gen_kwargs="seed=99,temperature=1",
        metadata={"k": 2, "topic_seeds": 0},
    )
    question = first_question()
    assert sorted(request["seed"] for request in served.requests) == sorted(
        request_seed(99, "demo", "en", question, 1.0, repeat) for repeat in range(2)
    )


def test_the_harness_answer_cache_cannot_fake_consistency(run, tmp_path):
    options = {"use_cache": str(tmp_path / "cache"), "limit": 1}
    with pytest.raises(SettingError, match="one answer 3 times"):
        run(T + "en", metadata={**QUICK, "greedy_repeats": "k"}, **options)
    first = run(T + "en", metadata=QUICK, **options)
    assert first["results"] == run(T + "en", metadata=QUICK, **options)["results"]
    assert first["results"][T + "en"]["sim_1gram_t1.0,none"] < 1


def test_gen_kwargs_temperature_is_one_tau(run):
    results = run(
        T + "en", metadata={"k": 2, "topic_seeds": 0}, limit=1, gen_kwargs="temperature=0.5"
    )
    whole = {"unusable_rows", "failed_rate", "refused_rate", "n_answered"}
    assert all("_t0.5" in name for name in names(results, T + "en") - whole)
    with pytest.raises(SettingError, match="would replace the sweep"):
        run(T + "en", metadata=QUICK, limit=1, gen_kwargs="temperature=0.5")


def test_without_a_translator_other_languages_are_scored_in_their_own(run, caplog):
    results = run([T + "en", T + "hi", T + "zh"], metadata=QUICK, limit=3)
    assert "sim_1gram_t1.0" in names(results, T + "en")
    for code in ("en", "hi", "zh"):
        assert "sim_1gram_src_t1.0" in names(results, T + code)
    for code in ("hi", "zh"):
        assert not {"sim_1gram_t1.0", "length_words_t1.0"} & names(results, T + code)
        assert "word_pass_rate_t1.0" in names(results, T + code)
    assert "word_pass_rate_t1.0" not in names(results, T + "en")
    assert caplog.text.count("no translator is set") == 1


def test_published_scores_are_made_on_translations(run, tmp_path):
    answers = [
        "La fiebre de los niños suele bajar sola.",
        "Tome mucha agua y descanse en casa.",
        "Esta frase no tiene ninguna traducción en el archivo.",
    ]
    english = {
        "La fiebre de los niños suele bajar sola.": "Fever falls alone",
        "Tome mucha agua y descanse en casa.": "Water and fever rest",
    }
    file = tmp_path / "t.jsonl"
    file.write_text(
        "".join(
            json.dumps({"language": "es", "text": k, "translation": v}) + "\n"
            for k, v in english.items()
        )
    )
    model = Script(lambda context, n: answers[n])
    setting = {"translator": {"model": "file", "model_args": {"path": str(file)}}}
    results = run(
        T + "es", model=model, limit=2, metadata={**QUICK, "temperatures": [1.0], **setting}
    )
    scores = results["results"][T + "es"]
    # The third answer has no translation: one pair is left. {fever falls alone} and {water and
    # fever rest} share one word of six.
    assert scores["sim_1gram_t1.0,none"] == pytest.approx(1 / 6)
    assert scores["sim_2gram_t1.0,none"] == 0.0
    assert scores["translation_failed_rate_t1.0,none"] == pytest.approx(1 / 3)
    assert scores["length_words_t1.0,none"] == 3.5
    kept = results["samples"][T + "es"][0]["n_answered"]["english"]
    assert kept == {"1.0": ["Fever falls alone", "Water and fever rest", None]}
    # Language is judged on what the model said, not on the translation.
    assert scores["language_consistency_t1.0,none"] == 1.0
    assert not [name for name in names(results, T + "es") if "_src" in name]
    assert (
        "translator:"
        in results["configs"][T + "es"]["metadata"]["xling"]["signatures"]["sim_1gram_t1.0"]
    )


def test_english_needs_no_translation(run, tmp_path):
    file = tmp_path / "t.jsonl"
    file.write_text('{"language": "es", "text": "a", "translation": "b"}\n')
    setting = {"translator": {"model": "file", "model_args": {"path": str(file)}}}
    results = run(T + "en", metadata={**QUICK, **setting}, limit=1)
    assert "translation_failed_rate_t1.0" not in names(results, T + "en")
    assert "sim_1gram_t1.0" in names(results, T + "en")
    assert "sim_1gram_src_t1.0" not in names(results, T + "en")


def test_topics_are_averaged_over_seeds_with_their_spread(run):
    results = run(T + "en", metadata={"k": 3, "temperatures": [1.0], "topic_seeds": 2}, limit=6)
    scores, samples = results["results"][T + "en"], results["samples"][T + "en"]
    from xling_metrics.topics import topic_consistencies, topic_corpus

    answers = [sample["resps"][0] for sample in samples]
    made = topic_consistencies(topic_corpus(answers), models=(20, 100), seeds=(0, 1))
    for n, expected in made.items():
        assert column(results, T + "en", f"sim_lda{n}_t1.0") == expected.per_question
        assert scores[f"sim_lda{n}_t1.0,none"] == pytest.approx(fmean(expected.per_question))
        assert scores[f"sim_lda{n}_seed_sd_t1.0,none"] == pytest.approx(expected.seed_sd)
        by_seed = column(results, T + "en", f"sim_lda{n}_seed_sd_t1.0")
        assert stdev(map(fmean, zip(*by_seed))) == pytest.approx(expected.seed_sd)


def test_hdp_is_fitted_where_it_is_asked_for(run, monkeypatch):
    pytest.importorskip("tomotopy")
    settings = {"k": 2, "temperatures": [1.0], "topic_seeds": 2, "encoder": False}
    settings["source_encoder"] = False
    plain = run(T + "en", metadata=settings, limit=3)
    assert not [name for name in names(plain, T + "en") if "hdp" in name]
    assert "hdp" not in plain["configs"][T + "en"]["metadata"]["xling"]["settings"]
    more = run(T + "en", metadata={**settings, "hdp": True}, limit=3)
    kinds = ("sim_hdp", "sim_hdp_seed_sd", "sim_hdp_src", "sim_hdp_seed_sd_src")
    assert names(more, T + "en") - names(plain, T + "en") == {f"{kind}_t1.0" for kind in kinds}
    # The other topic models are what they are without it.
    same = column(plain, T + "en", "sim_lda20_t1.0")
    assert column(more, T + "en", "sim_lda20_t1.0") == same
    monkeypatch.setitem(sys.modules, "tomotopy", None)
    with pytest.raises(SettingError, match="hdp=true: needs the package tomotopy"):
        run(T + "en", metadata={**settings, "hdp": True}, limit=1)


def test_published_single_seed_is_scikit_learn(run):
    import numpy as np
    from sklearn.decomposition import LatentDirichletAllocation

    results = run(T + "en", metadata={"k": 3, "temperatures": [1.0], "topic_seeds": [4]}, limit=4)
    answers = [answer for sample in results["samples"][T + "en"] for answer in sample["resps"][0]]
    counts = CountVectorizer().fit_transform(answers)
    topics = LatentDirichletAllocation(20, random_state=4, n_jobs=1).fit(counts).transform(counts)
    units = topics / np.linalg.norm(topics, axis=1, keepdims=True)
    first = units[:3] @ units[:3].T
    value = column(results, T + "en", "sim_lda20_t1.0")[0]
    assert value == pytest.approx((first[0, 1] + first[0, 2] + first[1, 2]) / 3, abs=1e-9)
    assert "sim_lda20_seed_sd_t1.0" not in names(results, T + "en")


def test_a_named_encoder_is_used_and_an_absent_one_is_an_error(run, tmp_path):
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    import torch

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz"]
    words += [f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=512,
    )
    transformers.BertModel(config).save_pretrained(tmp_path)
    transformers.BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    encoder = {"model": str(tmp_path), "layer": 1}
    results = run(
        T + "en", metadata={**QUICK, "encoder": encoder, "source_encoder": encoder}, limit=2
    )
    scores = results["results"][T + "en"]
    assert 0 < scores["sim_sent_t1.0,none"] <= 1
    assert scores["bertscore_f1_t1.0,none"] == scores["bertscore_f1_src_t1.0,none"]
    recorded = results["configs"][T + "en"]["metadata"]["xling"]
    assert recorded["settings"]["encoder"] == encoder
    assert "layer:1" in recorded["signatures"]["bertscore_f1_t1.0"]
    with pytest.raises(BackendError, match="--metadata encoder=.*nowhere"):
        run(T + "en", metadata={**QUICK, "encoder": "./nowhere"}, limit=1)


def test_default_encoders_that_cannot_be_had_are_left_out_aloud(run, caplog):
    results = run([T + "en", T + "es"], metadata=QUICK, limit=1)
    for code in ("en", "es"):
        assert not [
            name for name in names(results, T + code) if "bertscore" in name or "sent" in name
        ]
    assert caplog.text.count("bertscore_* and sim_sent are left out") == 2  # once per encoder
    quiet = run(T + "en", metadata={**QUICK, "encoder": False, "source_encoder": False}, limit=1)
    assert names(quiet, T + "en") == names(results, T + "en")


def test_empty_and_foreign_answers(run):
    answers = ["", None, "This is an English sentence, not a Hindi one."]
    model = Script(lambda context, n: answers[n])
    results = run(T + "hi", model=model, limit=2, metadata={**QUICK, "temperatures": [1.0]})
    scores = results["results"][T + "hi"]
    assert scores["empty_rate_t1.0,none"] == pytest.approx(2 / 3)
    assert scores["language_consistency_t1.0,none"] == 0.0
    assert scores["line_pass_rate_t1.0,none"] == 0.0
    assert scores["word_pass_rate_t1.0,none"] is None  # no answer passes by line
    json.dumps(results["results"], allow_nan=False)


def test_predict_only_and_every_metric_for_every_document(run):
    results = run(T + "zh", metadata=QUICK)
    assert len({tuple(sample["metrics"]) for sample in results["samples"][T + "zh"]}) == 1
    assert set(results["samples"][T + "zh"][0]["metrics"]) == names(results, T + "zh")
    quiet = run(T + "zh", metadata=QUICK, limit=1, predict_only=True)
    assert names(quiet, T + "zh") == {"bypass"}


def test_a_filter_that_drops_answers_is_refused(run, tmp_path):
    from lm_eval.tasks import TaskManager

    from xling_tasks.discovery import task_folder

    def with_filters(*functions):
        (tmp_path / "f.yaml").write_text(
            f"include: {task_folder()}/xlinghealth/{T}en.yaml\ntask: filtered\nfilter_list:\n"
            + "".join(f"  - name: {f}\n    filter:\n      - function: {f}\n" for f in functions)
        )
        manager = TaskManager(include_path=str(tmp_path), include_defaults=False, metadata=QUICK)
        return run("filtered", task_manager=manager, limit=2)

    with pytest.raises(XlingError, match="consistency needs all of them"):
        with_filters("take_first")
    results = with_filters("uppercase", "lowercase")["results"]["filtered"]
    assert results["sim_1gram_t1.0,uppercase"] == results["sim_1gram_t1.0,lowercase"]


def test_answers_are_on_disk_before_scoring(run, own_cache):
    run(T + "es", metadata=QUICK, limit=2)
    ((header, *rows),) = saved_in(own_cache).values()
    temperatures = [arguments["temperature"] for arguments in header["arguments"]]
    asked = [request for row in rows for request in row["requests"]]
    counts = [(temperatures[item["arguments"]], len(item["answers"])) for item in asked]
    assert counts == [(0.0, 1), (1.0, 3)] * 2


def test_same_seed_same_table(run):
    metadata = {"k": 3, "topic_seeds": 1}
    assert (
        run(T + "hi", metadata=metadata)["results"] == run(T + "hi", metadata=metadata)["results"]
    )


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"k": 0}, "k: must be a positive integer"),
        ({"greedy_repeats": "twice"}, "must be 'once' or 'k'"),
        ({"topic_seeds": [1, 1]}, "a seed appears twice"),
        ({"topic_seeds": "many"}, "expected a number or a list"),
        ({"sampling_seed": -1}, "an integer from 0"),
        ({"encoder": {"modle": "x"}}, "expected a model name"),
        (
            {"encoder": {"model": "x", "layr": 1}},
            r"encoder\.layr: unknown key\. Did you mean 'layer'",
        ),
    ],
)
def test_wrong_settings(setting, message):
    from xling_tasks.settings import Settings

    with pytest.raises(SettingError, match=message):
        Settings.parse(setting, {})


@pytest.mark.realdata
@pytest.mark.parametrize("model", ["xling_baseline", "hf"])
def test_real_liveqa_in_four_languages(run, realdata, tiny_hf, model):
    tasks = [f"xlinghealth_consistency_liveqa_{code}" for code in ("en", "es", "zh", "hi")]
    metadata = {**QUICK, "topic_seeds": 1, "data_dir": str(realdata / "xlinghealth")}
    options = {}
    if model == "hf":
        args = {"pretrained": tiny_hf, "dtype": "float32", "max_length": 2048}
        options = dict(model_args=args, device="cpu", batch_size=8, gen_kwargs="max_gen_toks=12")
    results = run(
        tasks, model=model, metadata=metadata, limit=3 if model == "hf" else 40, **options
    )
    for task in tasks:
        scores = results["results"][task]
        assert 0 <= scores["sim_1gram_src_t1.0,none"] <= 1
        assert 0 <= scores["sim_lda20_src_t1.0,none"] <= 1
        assert scores["unusable_rows,none"] == (10 if task.endswith("_en") else 0)
        if model == "xling_baseline":
            assert scores["language_consistency_t1.0,none"] > 0.8
            assert re.search("sampling|temperature", json.dumps(results["configs"][task]))
