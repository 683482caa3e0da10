"""The metrics of corpora as modules of `evaluate`."""

from __future__ import annotations

import pytest
from xling_metrics.ngrams import ngram_consistency_corpus
from xling_metrics.topics import topic_consistencies, topic_corpus

ANSWERS = [
    ["Rest and drink water.", "Drink water and rest well.", "See a doctor soon."],
    ["Take it with food.", "Take it with food.", ""],
]
ENGLISH = "Drink plenty of water and rest for some days."
PAIR = {
    "predictions": ["rest and water help", "see a doctor"],
    "references": ["rest and water help", "take it"],
}
# What modules give for inputs whose scores are known by hand.
KNOWN = [
    ("bleu", PAIR, "bleu1", [1.0, 0.0]),
    ("rouge", PAIR, "rouge1_standard", [1.0, 0.0]),
    # 4, 5 and 4 words; 4, 4 and 0 words.
    ("answer_length", {"predictions": ANSWERS}, "length_words", [13 / 3, 8 / 3]),
    ("answer_length", {"predictions": ANSWERS}, "distinct_answers", [3.0, 2.0]),
    ("language_consistency",
     {"predictions": [["Esta es una frase completa en español.", ENGLISH]], "language": "es"},
     "language_consistency", [0.5]),
    # Two words of six in common; published_words would cut them at every vowel sign.
    ("ngram_consistency",
     {"predictions": [["बुखार में पानी पिएँ", "बुखार में आराम करें"]], "language": "hi"},
     "sim_1gram", [2 / 6]),
]  # fmt: skip


@pytest.fixture(scope="module")
def hf():
    """Imported by who runs these tests alone: `evaluate` takes seconds."""
    from xling_metrics import hf

    return hf


@pytest.fixture(scope="module")
def load_from_folder(tmp_path_factory, hf):
    import evaluate

    evaluate.config.HF_MODULES_CACHE = str(tmp_path_factory.mktemp("modules"))
    return lambda name: evaluate.load(hf.__path__[0], name)


@pytest.mark.parametrize(("name", "inputs", "score", "values"), KNOWN)
def test_the_folder_gives_known_scores(name, inputs, score, values, load_from_folder):
    computed = load_from_folder(name).compute(**inputs)[score]
    assert computed["per_question"] == pytest.approx(values)
    assert computed["signature"].startswith(score)


def test_modules_equal_the_plain_functions(hf):
    computed = hf.load("ngram_consistency").compute(predictions=ANSWERS)
    expected = ngram_consistency_corpus(ANSWERS)
    assert computed["sim_2gram"]["value"] == pytest.approx(sum(i.sim_2gram for i in expected) / 2)
    assert computed["sim_1gram"]["signature"] == "sim_1gram|pairs:all|tokens:published_words"
    topics = hf.load("topic_consistency").compute(predictions=ANSWERS, n_topics=2, seeds=[0, 1])
    plain = topic_consistencies(topic_corpus(ANSWERS), models=(2,), seeds=(0, 1))[2]
    assert topics["sim_lda2"]["per_question"] == plain.per_question
    assert topics["sim_lda2"]["seed_sd"] == plain.seed_sd > 0


def test_every_name_loads_and_another_lists_them(load_from_folder, hf):
    assert all(load_from_folder(name).config_name == name for name in hf.MODULES)
    for load in (load_from_folder, hf.load):
        with pytest.raises(ValueError, match="unknown metric 'blue'; choose one of ngram_consist"):
            load("blue")
