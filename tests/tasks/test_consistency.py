"""Consistency through the harness: sweeps, repeats, translation, kinds of scores, traps."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from itertools import combinations, product
from statistics import fmean, stdev

import pytest
from builders import of_task
from fixed import Fixed
from references import hdp_similarity
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import jaccard_score

from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.xlinghealth import load
from xling_tasks.errors import SettingError
from xling_tasks.tasks.task import request_seed

T = "xlinghealth_consistency_demo_"
QUICK = {"k": 3, "temperatures": [0.0, 1.0], "topic_seeds": 0}
HOT = {"k": 3, "temperatures": [1.0], "topic_seeds": 0}


def script(reply):
    """A model that answers the n-th copy of a request with `reply(n)`."""
    asked = Counter()

    def answer(*request):
        asked[str(request)] += 1
        return reply(asked[str(request)] - 1)

    return Fixed(answer)


def column(samples, metric):
    return [sample[metric] for sample in samples]


def sampled(sample, count):
    """The responses at the last temperature."""
    return [response for (response,) in sample["resps"]][-count:]


def sklearn_jaccard(answers, n):
    grams = CountVectorizer(ngram_range=(n, n), binary=True)
    pairs = (grams.fit_transform(pair).toarray() for pair in combinations(answers, 2))
    return fmean(jaccard_score(*pair) for pair in pairs)


def test_english_equals_scikit_learn_on_the_logged_samples(run_one):
    scores, samples, _, _ = run_one(T + "en", metadata={**QUICK, "k": 4}, limit=6)
    for sample in samples:
        assert len(sample["resps"]) == 1 + 4
        hot = sampled(sample, 4)
        assert sample["sim_1gram_t1.0"] == pytest.approx(sklearn_jaccard(hot, 1), abs=1e-9)
        assert sample["sim_2gram_t1.0"] == pytest.approx(sklearn_jaccard(hot, 2), abs=1e-9)
        assert sample["distinct_answers_t1.0"] == len(set(hot))
    assert scores["sim_1gram_t1.0"] == pytest.approx(fmean(column(samples, "sim_1gram_t1.0")))


def test_greedy_once_has_no_similarity_but_lengths_and_language(run_one):
    own = run_one(T + "en", metadata=QUICK, limit=2)
    assert {name for name in own.names if name.endswith("_t0.0")} == {
        "length_words_t0.0", "length_words_src_t0.0", "language_consistency_t0.0",
        "language_consistency_published_t0.0", "line_pass_rate_t0.0", "empty_rate_t0.0",
    }  # fmt: skip
    assert {len(s["resps"]) for s in own.samples} == {1 + 3}
    scores = run_one(T + "en", metadata={**QUICK, "greedy_repeats": "k"}, limit=2).scores
    assert scores["sim_1gram_t0.0"] == scores["distinct_answers_t0.0"] == 1.0


def test_a_sweep_asks_each_temperature_k_times(run_one):
    model = script("answer {}".format)
    metadata = {"k": 5, "temperatures": [0.0, 0.25, 1.0], "topic_seeds": 0}
    run_one(T + "hi", model=model, limit=1, metadata=metadata)
    taus = [(arguments["temperature"], arguments["do_sample"]) for _, arguments in model.seen]
    assert taus == [(0.0, False)] + [(0.25, True)] * 5 + [(1.0, True)] * 5
    assert not any("seed" in arguments for _, arguments in model.seen)
    options = {"limit": 1, "gen_kwargs": "temperature=0.5"}
    names = run_one(T + "en", metadata={"k": 2, "topic_seeds": 0}, **options).names
    whole = {"invalid_rows", "failed_rate", "content_filter_rate", "n_responses",
             "repeated_responses"}  # fmt: skip
    assert all("_t0.5" in name for name in names - whole)
    with pytest.raises(SettingError, match="would replace the sweep"):
        run_one(T + "en", metadata=QUICK, **options)


@pytest.mark.parametrize(("gen_kwargs", "metadata", "seed", "taus"), [
    (None, {**QUICK, "sampling_seed": 7}, 7, (0.0, 1.0)),
    ("seed=99,temperature=1", {"k": 3, "topic_seeds": 0}, 99, (1.0,)),  # its seed goes first
])  # fmt: skip
def test_every_answer_of_an_api_has_its_own_seed(run, serve, gen_kwargs, metadata, seed, taus):
    """A seed for each question, language, temperature and repeat, the same in every run."""
    served = serve(lambda prompt: prompt[::-1])  # unlike every other
    tasks, options = [T + "en", T + "hi"], {"metadata": metadata, "gen_kwargs": gen_kwargs}
    run(tasks, limit=2, **options, **served.under_test())
    questions = [each.id for each in load(DATASETS["demo"], None).questions[:2]]
    every = product(("en", "hi"), questions, taus, range(3))
    expected = [(tau, request_seed(seed, "demo", code, q, tau, n)) for code, q, tau, n in every]
    sent = [(request["temperature"], request["seed"]) for request in served.requests]
    assert sorted(sent) == sorted(expected) and len(set(expected)) == len(expected)


def test_a_seed_is_fixed_for_all_time():
    # sha256("1234\0liveqa\0en\0q1\01.0\00") begins with four bytes, of which the first bit goes.
    digest = hashlib.sha256(b"1234\0liveqa\0en\0q1\x001.0\x000").digest()
    seed = request_seed(1234, "liveqa", "en", "q1", 1, 0)
    assert seed == int.from_bytes(digest[:4], "big") // 2 == 1769952874


def test_the_harness_answer_cache_cannot_fake_consistency(run_one, tmp_path):
    options = {"use_cache": str(tmp_path / "cache"), "limit": 1}
    with pytest.raises(SettingError, match="one answer 3 times"):
        run_one(T + "en", metadata={**QUICK, "greedy_repeats": "k"}, **options)
    first = run_one(T + "en", metadata=QUICK, **options).scores
    assert first == run_one(T + "en", metadata=QUICK, **options).scores
    assert first["sim_1gram_t1.0"] < 1


def test_without_a_translator_other_languages_are_scored_in_their_own(run, caplog):
    results = run([T + code for code in ("en", "hi", "zh")], metadata=QUICK, limit=3)
    known = {"sim_1gram_src_t1.0", "sim_1gram_t1.0", "length_words_t1.0", "word_pass_rate_t1.0"}
    for code, published in (("en", True), ("hi", False), ("zh", False)):
        english = {"sim_1gram_t1.0", "length_words_t1.0"}
        there = {"sim_1gram_src_t1.0", *(english if published else {"word_pass_rate_t1.0"})}
        assert of_task(results, T + code).names & known == there
    assert caplog.text.count("no translator is set") == 1


def test_published_scores_are_made_on_translations(run_one, serve):
    answers = [
        "La fiebre de los niños suele bajar sola.",
        "Tome mucha agua y descanse en casa.",
        "Esta frase no tiene ninguna traducción.",
    ]
    english = ("Fever falls alone", "Water and fever rest")
    by_text = dict(zip(answers, english))

    def translate(prompt):
        return next((by_text[text] for text in by_text if text in prompt), "ready " * 9)

    metadata = {**HOT, "translator": serve(translate).spec()}
    model = script(answers.__getitem__)
    own = run_one(T + "es", model=model, limit=2, metadata=metadata)
    # The third answer is translated by a loop: one pair is left. {fever falls alone} and {water and
    # fever rest} share one word of six. Language is judged on what the model said.
    expected = {
        "sim_1gram_t1.0": 1 / 6, "sim_2gram_t1.0": 0.0, "translation_failed_rate_t1.0": 1 / 3,
        "length_words_t1.0": 3.5, "language_consistency_t1.0": 1.0,
    }  # fmt: skip
    assert {name: own.scores[name] for name in expected} == pytest.approx(expected)
    assert own.samples[0]["n_responses"]["english"] == {"1.0": [*english, None]}
    assert not [name for name in own.names if "_src" in name]
    assert "translator:" in own.record["signatures"]["sim_1gram_t1.0"]
    # English needs none.
    names = run_one(T + "en", metadata=metadata, limit=1).names
    assert "sim_1gram_t1.0" in names
    assert not names & {"translation_failed_rate_t1.0", "sim_1gram_src_t1.0"}


def test_topics_are_averaged_over_seeds_with_their_spread(run_one):
    from xling_metrics.topics import topic_consistencies, topic_corpus

    scores, samples, _, _ = run_one(T + "en", metadata={**HOT, "topic_seeds": 2}, limit=6)
    answers = [sampled(sample, 3) for sample in samples]
    made = topic_consistencies(topic_corpus(answers), models=(20, 100), seeds=(0, 1))
    for n, expected in made.items():
        assert column(samples, f"sim_lda{n}_t1.0") == expected.per_question
        assert scores[f"sim_lda{n}_t1.0"] == pytest.approx(fmean(expected.per_question))
        assert scores[f"sim_lda{n}_seed_sd_t1.0"] == pytest.approx(expected.seed_sd)
        by_seed = column(samples, f"sim_lda{n}_seed_sd_t1.0")
        assert stdev(map(fmean, zip(*by_seed))) == pytest.approx(expected.seed_sd)


def test_hdp_is_made_where_it_is_asked_for(run_one):
    pytest.importorskip("gensim")
    metadata = {**HOT, "topic_seeds": 1, "sim_hdp": True}
    own = run_one(T + "en", metadata=metadata, limit=4)
    answers = [[answer for (answer,) in sample["resps"]] for sample in own.samples]
    assert column(own.samples, "sim_hdp_t1.0") == pytest.approx(
        list(hdp_similarity(answers, 0)), abs=1e-9
    )
    assert "tokenizer:gensim_simple_preprocess" in own.record["signatures"]["sim_hdp_t1.0"]
    assert "sim_hdp_src_t1.0" in own.names  # on the language's own words
    assert "sim_hdp_src_t1.0" in run_one(T + "hi", metadata=metadata, limit=2).names


def test_empty_and_foreign_answers(run_one):
    answers = ["", None, "This is an English sentence, not a Hindi one."]
    model = script(answers.__getitem__)
    scores, _, _, found = run_one(T + "hi", model=model, limit=2, metadata=HOT)
    assert scores["empty_rate_t1.0"] == pytest.approx(2 / 3)
    assert scores["language_consistency_t1.0"] == scores["line_pass_rate_t1.0"] == 0.0
    assert scores["word_pass_rate_t1.0"] is None  # no answer passes by line
    json.dumps(found["results"], allow_nan=False)


@pytest.mark.realdata
@pytest.mark.parametrize("model", ["xling_baseline", "hf"])
def test_real_liveqa_in_four_languages(run, realdata, tiny_hf, model):
    tasks = [f"xlinghealth_consistency_liveqa_{code}" for code in ("en", "es", "zh", "hi")]
    metadata = {**QUICK, "topic_seeds": 1, "data_dir": str(realdata / "xlinghealth")}
    options = {"limit": 40}
    if model == "hf":
        args = {"pretrained": tiny_hf, "dtype": "float32", "max_length": 2048}
        options = {"limit": 3, "model_args": args, "device": "cpu", "batch_size": 8,
                   "gen_kwargs": "max_gen_toks=12"}  # fmt: skip
    results = run(tasks, model=model, metadata=metadata, **options)
    for task in tasks:
        scores = of_task(results, task).scores
        assert 0 <= scores["sim_1gram_src_t1.0"] <= 1 and 0 <= scores["sim_lda20_src_t1.0"] <= 1
        assert scores["invalid_rows"] == (10 if task.endswith("_en") else 0)
        if model == "xling_baseline":
            assert scores["language_consistency_t1.0"] > 0.8
            assert re.search("sampling|temperature", json.dumps(results["configs"][task]))
