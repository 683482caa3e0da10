"""Agreement of repeated answers in meaning: BERTScore and sentence similarity over all pairs.

Sources: BERTScore, Zhang et al. 2020 (arXiv 1904.09675), as in the `bert_score` package; its use
for consistency, with the cosine of sentence embeddings, XLingEval (arXiv 2310.13132).

BERTScore of a candidate and a reference: each token's highest cosine with a token of the other
text; precision is the mean over the candidate's tokens, recall over the reference's, F1 their
harmonic mean. [CLS] and [SEP] can be matched but are not counted. Every token counts alike, or,
with an `Idf`, by how rare it is among some texts (the paper's section 3, importance weighting).
Rescaling takes x to (x - b) / (1 - b), b being what unrelated texts score, for P, R and F1 each;
1 stays 1, and 0 is chance level. Unscaled values lie in -1..1, in practice above 0.3.

Deviations from bert_score 0.3.13: a pair of answers with an empty one is unscored (there it raises
with transformers 5, and was 0 before, as an empty candidate is here against a reference); equal
texts score exactly 1; a best cosine below 0 stays (there it becomes 0 if the text was padded in its
batch).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from xling_metrics.base import PROGRESS_AFTER, mean, same_length, signature
from xling_metrics.encoder import Encoded, Encoder, TokenIds, known_name

if TYPE_CHECKING:
    from torch import Tensor

# Token states held at once: 200 MB at d = 768. Also the pool that is sorted by length.
_CHUNK_TOKENS = 65_536

Question = Sequence[TokenIds | None]
Baseline = tuple[float, float, float]
"""Precision, recall and F1 of unrelated texts."""

# By model and layer: rescale_baseline/en/bert-base-uncased.tsv of bert_score 0.3.13, line LAYER 9.
PUBLISHED_BASELINES: dict[tuple[str, int], Baseline] = {
    ("bert-base-uncased", 9): (0.35375935, 0.3537393, 0.35219112)
}


@dataclass(frozen=True)
class Idf:
    """Weights of tokens by rarity among n texts: log((n + 1) / (texts that have it + 1)).

    As in bert_score. A token that every text has weighs 0, one that none has log(n + 1).

    Attributes:
        n: The number of texts.
        texts_with: Token id -> number of texts that have it.
    """

    n: int
    texts_with: Mapping[int, int]

    def weight(self, token: int) -> float:
        """Return the weight of a token."""
        return math.log((self.n + 1) / (self.texts_with.get(token, 0) + 1))


def compute_idf(texts: Sequence[str], encoder: Encoder) -> Idf:
    """Return the weights of tokens by some texts, usually all references."""
    tokenized = (set(ids) for ids in encoder.tokenize(texts) if ids is not None)
    return Idf(len(texts), Counter(chain.from_iterable(tokenized)))


class PairScores(NamedTuple):
    """Two answers: BERTScore, rescaled or not, and the cosine of their sentence embeddings."""

    bertscore_p: float
    bertscore_r: float
    bertscore_f1: float
    sim_sent: float


@dataclass(frozen=True)
class QuestionEncoderScores:
    """Means over the scored pairs of one question's answers; None without a scored pair.

    Attributes:
        bertscore_p: Mean precision; the earlier answer of a pair is the candidate, so that another
            order of answers can give other means of P and R, but not of F1.
        bertscore_r: Mean recall.
        bertscore_f1: Mean of the pairs' F1.
        sim_sent: Mean cosine of the sentence embeddings, in -1..1.
        pairs: In the order (0, 1), (0, 2), ..., (1, 2), ...; None for a pair with an empty text.
    """

    bertscore_p: float | None
    bertscore_r: float | None
    bertscore_f1: float | None
    sim_sent: float | None
    pairs: tuple[PairScores | None, ...]


class BertScores(NamedTuple):
    """Precision, recall and F1 of each candidate; None where there is nothing to compare."""

    p: list[float | None]
    r: list[float | None]
    f1: list[float | None]


def score_pairs(
    answers_by_question: Sequence[Sequence[str | None]], encoder: Encoder
) -> list[QuestionEncoderScores]:
    """Return `bertscore_p`, `_r`, `_f1` and `sim_sent` of the answers to each question.

    Rescaled as bert_score does for bert-base-uncased at layer 9, not for other models. An answer is
    empty if it is None or without tokens (space, control characters); its pairs are unscored.

    Args:
        answers_by_question: The K answers to each question.
        encoder: Its `layer` gives the token states, its last layer the sentence embeddings.
    """
    (scores,) = _score_all(answers_by_question, encoder, _find_baseline(encoder), [None])
    return scores


def score_references(
    candidates: Sequence[str | None],
    references: Sequence[str | None],
    encoder: Encoder,
    weightings: Sequence[Idf | None] = (None,),
) -> list[BertScores]:
    """Return BERTScore of each candidate against its reference, not rescaled, for each weighting.

    A blank candidate scores 0, as by bert_score, BLEU and ROUGE: who gives no reason gives no good
    one. None for an empty reference, or a text without a token of any weight.

    Args:
        candidates: The texts; None for one that is not to be scored.
        references: As many references.
        encoder: Its `layer` gives the token states.
        weightings: How tokens weigh; None weighs all alike.

    Raises:
        ValueError: If there are not as many references as candidates.
    """
    same_length(candidates=candidates, references=references)
    pairs = list(zip(candidates, references, strict=True))
    blank = [c is not None and not c.strip() and bool((r or "").strip()) for c, r in pairs]
    results = []
    for rows in _score_all(pairs, encoder, None, weightings):
        scored = [*zip(rows, blank, strict=True)]
        columns = (
            [0.0 if is_blank else getattr(row, name) for row, is_blank in scored]
            for name in PairScores._fields[:3]
        )
        results.append(BertScores(*columns))
    return results


def bertscore_signature(encoder: Encoder, *, rescaled: bool = True, idf: Idf | None = None) -> str:
    """Return the signature `bertscore|model:...|layer:9|idf:no|baseline:...|...`."""
    baseline = _find_baseline(encoder) if rescaled else None
    weights = False if idf is None else f"references,n={idf.n}"
    scale = "no" if baseline is None else list(baseline)
    return _sign("bertscore", encoder, layer=encoder.layer, idf=weights, baseline=scale)


def sim_sent_signature(encoder: Encoder) -> str:
    """Return the signature `sim_sent|model:...|pooling:mean|...`."""
    return _sign("sim_sent", encoder, pooling="mean")


def _sign(metric: str, encoder: Encoder, **fields: object) -> str:
    model = encoder.model + (f"@{encoder.revision}" if encoder.revision else "")
    details = {"model": model, **fields, "max_tokens": encoder.max_tokens}
    return signature(metric, libraries=("torch", "transformers"), **details)


def _find_baseline(encoder: Encoder) -> Baseline | None:
    return PUBLISHED_BASELINES.get((known_name(encoder.model), encoder.layer))


def _score_all(
    answers_by_question: Sequence[Sequence[str | None]],
    encoder: Encoder,
    baseline: Baseline | None,
    weightings: Sequence[Idf | None],
) -> list[list[QuestionEncoderScores]]:
    """Score with each weighting; every text is encoded once for all of them."""
    from tqdm import tqdm

    results: list[list[QuestionEncoderScores]] = [[] for _ in weightings]
    progress: Any = {"desc": "BERTScore", "delay": PROGRESS_AFTER, "leave": False}
    with tqdm(total=len(answers_by_question), **progress) as bar:
        for questions in _chunks(answers_by_question, encoder):
            encoded = encoder.encode_tokens(ids for q in questions for ids in q if ids is not None)
            for scores, idf in zip(results, weightings, strict=True):
                scores += [_score_question(q, encoded, baseline, idf) for q in questions]
            bar.update(len(questions))
    return results


def _chunks(
    answers_by_question: Sequence[Sequence[str | None]], encoder: Encoder
) -> Iterator[list[Question]]:
    """Yield tokenized questions whose distinct texts stay under _CHUNK_TOKENS."""
    chunk: list[Question] = []
    distinct: set[TokenIds] = set()
    for answers in answers_by_question:
        question = encoder.tokenize(answers)
        texts = {ids for ids in question if ids is not None}
        if chunk and sum(map(len, distinct | texts)) > _CHUNK_TOKENS:
            yield chunk
            chunk, distinct = [], set()
        chunk.append(question)
        distinct |= texts
    if chunk:
        yield chunk


def _score_question(
    answers: Question,
    encoded: dict[TokenIds, Encoded],
    baseline: Baseline | None,
    idf: Idf | None = None,
) -> QuestionEncoderScores:
    distinct = [ids for ids in dict.fromkeys(answers) if ids is not None]
    weighted = ((ids, _weigh(encoded[ids], ids, idf)) for ids in distinct)
    texts = {ids: text for ids, text in weighted if text is not None}
    index: dict[TokenIds | None, int] = {ids: i for i, ids in enumerate(texts)}
    matches, cosines = _compare([*texts.values()])
    pairs = [
        None
        if i is None or j is None
        else PairScores(*_rescale(matches[i][j], matches[j][i], baseline), cosines[i][j])
        for i, j in combinations(map(index.get, answers), 2)
    ]
    scored = [pair for pair in pairs if pair is not None]
    means: Any = {name: mean([getattr(p, name) for p in scored]) for name in PairScores._fields}
    return QuestionEncoderScores(**means, pairs=tuple(pairs))


def _weigh(text: Encoded, ids: TokenIds, idf: Idf | None) -> Encoded | None:
    """Weight a text's tokens by their rarity; [CLS] and [SEP] still weigh nothing."""
    if idf is None:
        return text
    rarity = text.weights.new_tensor([idf.weight(token) for token in ids]) * (text.weights > 0)
    total = rarity.sum()
    return text._replace(weights=rarity / total) if total > 0 else None


def _rescale(p: float, r: float, baseline: Baseline | None) -> tuple[float, float, float]:
    f1 = 2 * p * r / (p + r) if p + r else 0.0
    if baseline is None:
        return p, r, f1
    p, r, f1 = ((x - b) / (1 - b) for x, b in zip((p, r, f1), baseline, strict=True))
    return p, r, f1


def _compare(texts: Sequence[Encoded]) -> tuple[list[list[float]], list[list[float]]]:
    """Return two tables over different texts i and j, with 1 on the diagonal.

    First the mean over i's tokens of the best match in j: precision with i as the candidate, recall
    with i as the reference. Then the cosine of the sentence embeddings.
    """
    import torch

    if not texts:
        return [], []
    with torch.inference_mode():
        states, weights = _stack(texts)
        matches = torch.ones(len(texts), len(texts), device=states.device)
        for i, text in enumerate(texts[:-1]):
            later = slice(i + 1, None)
            similarity = states[later] @ text.tokens.T
            matches[i, later] = similarity.amax(dim=1) @ text.weights
            matches[later, i] = (similarity.amax(dim=2) * weights[later]).sum(dim=1)
        sentences = torch.nn.functional.normalize(torch.stack([t.sentence for t in texts]), dim=-1)
        cosines = (sentences @ sentences.T).clamp_(max=1.0).fill_diagonal_(1.0)
        return matches.tolist(), cosines.tolist()


def _stack(texts: Sequence[Encoded]) -> tuple[Tensor, Tensor]:
    """Return token states and weights of all texts as one tensor each.

    A shorter text is padded with its own first token, which changes no maximum over its tokens.
    """
    width, size = max(len(text.tokens) for text in texts), texts[0].tokens.shape[1]
    states = texts[0].tokens.new_empty(len(texts), width, size)
    weights = texts[0].weights.new_zeros(len(texts), width)
    for i, (tokens, weight, _) in enumerate(texts):
        states[i, : len(tokens)] = tokens
        states[i, len(tokens) :] = tokens[0]
        weights[i, : len(tokens)] = weight
    return states, weights
