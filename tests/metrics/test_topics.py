from __future__ import annotations

import random
import sys
from importlib.metadata import version
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pytest
import sklearn
from references import hdp_similarity
from references import lda as fitted
from references import topic_similarity as published
from scipy.sparse import csr_matrix
from xling_metrics import lda
from xling_metrics.hdp import hdp_words
from xling_metrics.topics import topic_consistencies, topic_corpus

pytestmark = pytest.mark.core

LETTERS = {
    "english": "abcdefghijklmnopqrstuvwxyz",
    # Consonants, vowel signs and the virama: the published pattern cuts at the signs.
    "hindi": "कखगघचछजझटठडढतथदधनपफबभमयरलवशसहािीुूेैोौ्ं",
    "chinese": "的一是不了人在有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之",
}


def generated(script: str, n_questions: int = 30, k: int = 5, seed: int = 0) -> list[list[str]]:
    """Answers whose words follow a question's own Zipf law, in one of three scripts."""
    draw = random.Random(f"{script}{seed}")
    letters, space = LETTERS[script], "" if script == "chinese" else " "
    words = ["".join(draw.choices(letters, k=draw.randint(2, 7))) for _ in range(600)]
    weights = [1 / (i + 2) for i in range(len(words))]
    questions = []
    for _ in range(n_questions):
        own = draw.sample(words, len(words))
        sentences = [space.join(draw.choices(own, weights, k=12)) for _ in range(8)]
        stop = "。" if script == "chinese" else ". "
        questions.append([stop.join(draw.choices(sentences, k=4)) for _ in range(k)])
    # The same answer twice to one question, and once more to another.
    questions[0][1] = questions[0][0]
    questions[1][2] = questions[0][0]
    return questions


def consistency(answers, n_topics=20, **options):
    return topic_consistencies(topic_corpus(answers), models=(n_topics,), **options)[n_topics]


def value(result):
    """The mean over questions, which tasks make."""
    return mean(item for item in result.per_question if item is not None)


@pytest.mark.parametrize(
    ("script", "n_topics"), [("english", 20), ("hindi", 100), ("chinese", 100)]
)
def test_one_seed_is_the_published_computation(script: str, n_topics: int):
    pytest.importorskip("numba")
    answers = generated(script)
    result = consistency(answers, n_topics, seeds=(3,))
    assert result.per_question == pytest.approx(published(answers, n_topics, 3), abs=1e-9)


@pytest.mark.realdata
@pytest.mark.parametrize("language", ["English", "Chinese", "Spanish", "Hindi"])
def test_one_seed_is_the_published_computation_on_liveqa(realdata: Path, language: str):
    pytest.importorskip("numba")
    pandas = pytest.importorskip("pandas")
    table = pandas.read_excel(realdata / "xlinghealth" / "LiveQA.xlsx").dropna()
    groups = table.groupby("id")[f"answer_{language}"]
    answers = [[str(answer) for answer in group] for _, group in groups][:40]
    result = consistency(answers, 100, seeds=(0,))
    assert result.per_question == pytest.approx(published(answers, 100, 0), abs=1e-9)


@pytest.mark.parametrize("n_topics", [1, 150, 1000, 5000])
def test_distributions_are_scikit_learns(n_topics: int):
    pytest.importorskip("numba")
    # An empty text too: it draws its start like any other, so leaving it out would change the fit.
    texts = [[*answers, ""] for answers in generated("english", 12)]
    corpus = topic_corpus(texts)
    counts, rows = corpus.counts, corpus.documents
    assert counts.shape[0] == len({a for q in texts for a in q}) < len(rows)
    if n_topics >= 1000:  # over a few words
        counts = csr_matrix(np.array([[10_000, 1], [1, 10_000], [7, 0], [0, 0]]))
        rows = np.array([0, 1, 2, 3, 0])
    expected = fitted(counts[rows], n_topics, 5).transform(counts)
    distributions = lda.lda_distributions(counts, rows, n_topics=n_topics, seed=5)
    np.testing.assert_allclose(distributions, expected, rtol=0, atol=1e-9)


def test_without_numba_scikit_learn_gives_the_same(monkeypatch: pytest.MonkeyPatch):
    answers = generated("hindi", 12)
    compiled = consistency(answers, 100, seeds=(0, 1))
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "xling_metrics._lda_kernel", raising=False)
    assert not lda.is_compiled()
    plain = consistency(answers, 100, seeds=(0, 1))
    assert plain.per_question == pytest.approx(compiled.per_question, abs=1e-9)
    assert plain.seed_sd == pytest.approx(compiled.seed_sd, abs=1e-9)


def test_seeds_are_averaged_and_their_spread_reported(monkeypatch: pytest.MonkeyPatch):
    answers = generated("english", 12)
    single = [consistency(answers, seeds=(seed,)) for seed in (0, 1, 2)]
    monkeypatch.setattr(lda, "_BLOCK", 7)  # documents whose random starts are drawn at once
    result = consistency(answers, seeds=(0, 1, 2))
    by_question = list(zip(*(one.per_question for one in single), strict=True))
    assert result.per_question_by_seed == [list(values) for values in by_question]
    assert result.per_question == pytest.approx([mean(values) for values in by_question])
    assert result.seed_sd == pytest.approx(stdev(map(value, single))) and result.seed_sd > 0
    assert single[0].seed_sd is None
    assert result.signature == (
        "sim_lda20|model:batch-vb-10|tokenizer:published_words|seeds:0,1,2"
        f"|scikit-learn:{sklearn.__version__}"
    )


def test_several_models_at_once_in_threads_are_each_one_alone(monkeypatch: pytest.MonkeyPatch):
    answers = [*generated("english", 9), ["knee pain"], ["", "sore knee", "sore head"]]
    corpus = topic_corpus(answers)
    monkeypatch.setattr("xling_metrics.topics.usable_cores", lambda: 3)
    together = topic_consistencies(corpus, models=(20, 100), seeds=(0, 3))
    monkeypatch.setattr("xling_metrics.topics.usable_cores", lambda: 1)
    for n_topics, result in together.items():
        assert result == consistency(answers, n_topics, seeds=(0, 3))


def test_hdp_is_gensims():
    pytest.importorskip("gensim")
    answers = generated("hindi", 60)  # more than gensim's chunk of 256 texts
    corpus = topic_corpus(answers, tokenize=hdp_words, tokenizer="gensim_simple_preprocess")
    (result,) = topic_consistencies(corpus, models=["hdp"], seeds=(42,)).values()
    assert result.per_question == pytest.approx(hdp_similarity(answers, 42), abs=1e-9)
    assert result.signature == (
        "sim_hdp|model:hdp-vb|tokenizer:gensim_simple_preprocess|seeds:42"
        f"|gensim:{version('gensim')}"
    )


def test_hdp_by_hand():
    """Two things to speak of: answers about one have similarity 1, across both 0; a third of three pairs."""
    pytest.importorskip("gensim")
    knee, head = "knee pain walking joint " * 20, "fever cough throat cold " * 20
    many = [[knee, knee + "bb"], [head, head + "bb"]] * 20
    corpus = topic_corpus([*many, [knee, head], [knee, knee + "bb", head]], tokenize=str.split)
    (result,) = topic_consistencies(corpus, models=["hdp"], seeds=(1,)).values()
    assert result.per_question[:2] == pytest.approx([1, 1], abs=1e-3)
    assert result.per_question[-2:] == pytest.approx([0, 1 / 3], abs=1e-3)


def test_missing_answers_are_no_documents():
    """A failed translation leaves every other value as it was."""
    answers = generated("english", 12)
    expected = consistency(answers).per_question
    more = [[*own[:2], None, *own[2:]] for own in answers]
    assert consistency([*more, [None, None], []]).per_question == [*expected, None, None]


@pytest.mark.parametrize("n_words", [1, 16, 33])
def test_texts_of_any_length_are_scikit_learns(n_words: int):
    """Rows are padded to whole vectors; most topics of a short text drop out early."""
    pytest.importorskip("numba")
    draw = random.Random(n_words)
    words = [f"word{i}" for i in range(60)]
    texts = [[" ".join(draw.sample(words, n_words)) for _ in range(2)] for _ in range(20)]
    for n_topics in (4, 20, 101):
        result = consistency(texts, n_topics, seeds=(1,))
        assert result.per_question == pytest.approx(published(texts, n_topics, 1), abs=1e-9)


def test_cosines_by_hand(monkeypatch: pytest.MonkeyPatch):
    # Distributions a = (1, 0), b = (.6, .8), c = (.8, .6) scaled to sum 1: cosine ignores scale.
    # ab .6, ac .8, bc .6*.8 + .8*.6 = .96; a twice: 1.
    by_row = np.array([[1.0, 0.0], [0.6 / 1.4, 0.8 / 1.4], [0.8 / 1.4, 0.6 / 1.4]])
    monkeypatch.setattr(lda, "lda_distributions", lambda *_args, **_kw: by_row.copy())
    result = consistency([["aa", "bb", "cc"], ["aa", "aa"], ["aa", "bb", "aa"]], 2, seeds=(0,))
    assert result.per_question == pytest.approx(
        [(0.6 + 0.8 + 0.96) / 3, 1.0, (0.6 + 1.0 + 0.6) / 3], abs=1e-15
    )


def test_empty_answers_are_unscored():
    # "! ?" and "a" hold no word of two characters; the pair "knee pain" - "head ache" is scored.
    answers = [["knee pain", "", "head ache"], ["", "back pain"], ["! ?", "a"], ["knee"]]
    result = consistency([*answers, ["sore knee", "sore head"]], seeds=(0, 1))
    assert [value is None for value in result.per_question] == [False, True, True, True, False]
    assert [own is None for own in result.per_question_by_seed] == [False, True, True, True, False]
    by_seed = zip(*filter(None, result.per_question_by_seed), strict=True)
    assert result.seed_sd == pytest.approx(stdev(map(mean, by_seed)))


@pytest.mark.parametrize("answers", [[], [[]], [["", ""], ["knee pain"]], [["knee"], ["head"]]])
def test_nothing_to_compare_is_none(answers):
    result = consistency(answers)
    assert result.per_question == result.per_question_by_seed == [None] * len(answers)
    assert result.seed_sd is None


def test_what_cannot_be_is_refused():
    for seeds in ((), (1, 1)):
        with pytest.raises(ValueError, match="distinct"):
            consistency([["knee", "head"]], seeds=seeds)
    for n_topics in (0, -1, 100_001):
        with pytest.raises(ValueError, match="n_topics"):
            consistency([["knee", "head"]], n_topics)
