from __future__ import annotations

import pytest
from xling_metrics.ngrams import ngram_consistency_corpus
from xling_metrics.topics import topic_consistencies, topic_corpus


@pytest.fixture(scope="module")
def hf():
    """Imported by who runs these tests alone: `evaluate` takes seconds."""
    from xling_metrics import hf

    return hf


ANSWERS = [
    ["Rest and drink water.", "Drink water and rest well.", "See a doctor soon."],
    ["Take it with food.", "Take it with food.", ""],
]


def test_modules_equal_the_plain_functions(hf):
    computed = hf.load("ngram_consistency").compute(predictions=ANSWERS)
    expected = ngram_consistency_corpus(ANSWERS)
    assert computed["sim_1gram"]["per_question"] == [item.sim_1gram for item in expected]
    assert computed["sim_2gram"]["value"] == pytest.approx(sum(i.sim_2gram for i in expected) / 2)
    assert computed["sim_1gram"]["signature"] == "sim_1gram|pairs:all|tokens:published_words"
    topics = hf.load("topic_consistency").compute(predictions=ANSWERS, n_topics=2, seeds=[0, 1])
    plain = topic_consistencies(topic_corpus(ANSWERS), models=(2,), seeds=(0, 1))[2]
    assert topics["sim_lda2"]["per_question"] == plain.per_question
    assert topics["sim_lda2"]["seed_sd"] == plain.seed_sd > 0


def test_lengths_and_language(hf):
    lengths = hf.load("answer_length").compute(predictions=ANSWERS)
    # 4, 5 and 4 words; 4, 4 and 0 words.
    assert lengths["length_words"]["per_question"] == pytest.approx([13 / 3, 8 / 3])
    assert lengths["distinct_answers"]["per_question"] == [3.0, 2.0]
    both = ["Esta es una frase completa en español.", "This sentence is in English, my friend."]
    computed = hf.load("language_consistency").compute(predictions=[both], language="es")
    assert computed["language_consistency"]["value"] == 0.5
    hindi = ["बुखार में पानी पिएँ", "बुखार में आराम करें"]
    computed = hf.load("ngram_consistency").compute(predictions=[hindi], language="hi")["sim_1gram"]
    # Two words of six in common; published_words would cut them at every vowel sign.
    assert computed["value"] == pytest.approx(2 / 6) and "lower_words:hi" in computed["signature"]


PAIR = {
    "predictions": ["rest and water help", "see a doctor"],
    "references": ["rest and water help", "take it"],
}
# What the metrics of pairs give for inputs whose scores are known by hand.
KNOWN = {
    "bleu": (PAIR, ("bleu1", [1.0, 0.0])),
    "rouge": (PAIR, ("rouge1_standard", [1.0, 0.0])),
    "chrf": ({"predictions": ["ab"], "references": ["ab"]}, ("chrf2", [100.0])),
    "choices": ({"predictions": [["A", "B"], ["C"]], "references": [["A"], ["C"]]}, ("jaccard", [0.5, 1.0])),
    "rubric": ({"predictions": [[True, False]], "references": [[3.0, 1.0]]}, ("rubric_score", [0.75])),
    "information": (
        {"predictions": [[True, False]], "references": [[True, True]]}, ("precision", [0.5])),
    "answer_language": (
        {"predictions": ["Drink plenty of water and rest for some days.", "ok"], "language": "es"},
        ("in_users_language", [0.0, None])),
    "language_confusion": (
        {"predictions": ["Drink plenty of water and rest for some days."], "language": "es"},
        ("line_pass", [0.0])),
}  # fmt: skip


@pytest.fixture(scope="module")
def of_the_folder(tmp_path_factory, hf):
    """`evaluate.load` of the folder, with a cache of its own."""
    import evaluate

    evaluate.config.HF_MODULES_CACHE = str(tmp_path_factory.mktemp("modules"))
    return lambda name: evaluate.load(hf.__path__[0], name)


@pytest.mark.parametrize("name", KNOWN)
def test_the_folder_loads_every_metric_of_pairs(name, of_the_folder):
    given, (score, values) = KNOWN[name]
    computed = of_the_folder(name).compute(**given)
    assert computed[score]["per_question"] == pytest.approx(values)
    assert computed[score]["signature"].startswith((score, "chrf", name))


def test_verdicts_and_probabilities_of_the_folder(of_the_folder):
    """Of three verdicts two are right; a missing one is left out."""
    given = {"predictions": [1, 0, 1, None], "references": [1, 0, 0, 1]}
    computed = of_the_folder("verdicts").compute(**given)
    assert computed["acc"]["value"] == pytest.approx(2 / 3) and computed["n"] == 3
    given = {"predictions": [0.9, 0.2, None], "references": [1, 0, 1]}
    computed = of_the_folder("probabilities").compute(**given)
    assert computed["auc"]["value"] == 1 and computed["brier"]["value"] == pytest.approx(0.025)


def test_every_module_is_loaded_by_the_folder_and_another_name_lists_them(of_the_folder, hf):
    for name in hf.MODULES:
        assert of_the_folder(name).name and of_the_folder(name).config_name == name
    for load in (of_the_folder, hf.load):
        with pytest.raises(ValueError, match="unknown metric 'blue'; choose one of ngram_consist"):
            load("blue")
