"""Times BERTScore and sentence similarity against bert_score plus sentence-transformers.

Run: `python tests/benchmarks/consistency_encoder.py [--questions 6] [--repeats 1] [--device cpu]`. The model has
the size of bert-base and random weights; answers are generated words, about 130 tokens each, K = 10.
A few questions are scored and the figures scaled to 1,000; loading is not timed. The reference is
one `BERTScorer.score` over all pairs and one `SentenceTransformer.encode` over all answers, as they
come (batches of 64 and 32). A GPU is used if there is one.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

Row = dict[str, Any]
Questions = list[list[str]]
K = 10


def bench_encoder(
    n_questions: int = 6, *, repeats: int = 1, device: str | None = None
) -> list[Row]:
    """One row per temperature and dtype, in seconds per 1,000 questions, the best of `repeats`.

    `max_abs_difference` is over every pair and all four values, BERTScore rescaled.
    """
    import torch
    from xling_metrics.encoder import Encoder

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    rng = random.Random(0)
    vocabulary = ["".join(rng.choices("etaoinshrdlu", k=rng.randrange(2, 9))) for _ in range(5000)]
    cases = {
        "temperature 1, all distinct": _questions(n_questions, K, vocabulary),
        "temperature 0, 2 distinct of 10": _questions(n_questions, 2, vocabulary),
    }
    rows = []
    with TemporaryDirectory() as folder:
        _save_bert_base(folder, vocabulary)
        reference = _reference(folder, device)
        encoders = [
            Encoder.load(folder, layer=9, device=device, dtype=dtype)  # type: ignore[arg-type]
            for dtype in ("float32", "bfloat16")
        ]
        for part, questions in cases.items():
            expected, reference_s = _timed(reference, questions, repeats)
            for encoder in encoders:
                scores, ours_s = _timed(
                    lambda asked, e=encoder: _ours(asked, e), questions, repeats
                )
                rows.append(
                    {
                        "part": f"{part}, {encoder.dtype}",
                        "reference_s": 1000 * reference_s / n_questions,
                        "ours_s": 1000 * ours_s / n_questions,
                        "ratio": reference_s / ours_s,
                        "n_questions": n_questions,
                        "max_abs_difference": float((scores - expected).abs().max()),
                    }
                )
    return rows


def _timed(
    score: Callable[[Questions], Any], questions: Questions, repeats: int
) -> tuple[Any, float]:
    score([questions[0][:2]])
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = score(questions)
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)


def _ours(questions: Questions, encoder: Any) -> Any:
    import torch
    from xling_metrics import bertscore
    from xling_metrics.encoder import known_name

    baselines = bertscore.PUBLISHED_BASELINES
    baselines[known_name(encoder.model), encoder.layer] = baselines["bert-base-uncased", 9]
    results = bertscore.pair_scores(questions, encoder)
    return torch.tensor([pair for result in results for pair in result.pairs])


def _reference(folder: str, device: str) -> Callable[[Questions], Any]:
    """P, R, F1 by bert_score and the cosine by sentence-transformers, a row per pair."""
    import bert_score
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import cos_sim

    baselines = Path(bert_score.__file__).with_name("rescale_baseline")
    scorer = bert_score.BERTScorer(
        model_type=folder, num_layers=9, lang="en", device=device, rescale_with_baseline=True,
        baseline_path=str(baselines / "en" / "bert-base-uncased.tsv"),
    )  # fmt: skip
    sentences = SentenceTransformer(folder, device=device)

    def score(questions: Questions) -> Any:
        pairs = [pair for answers in questions for pair in combinations(answers, 2)]
        candidates, references = (list(side) for side in zip(*pairs, strict=True))
        bertscores = torch.stack(scorer.score(candidates, references), dim=1)
        vectors = sentences.encode([a for q in questions for a in q], convert_to_tensor=True)
        cosines, start = [], 0
        for answers in questions:
            n = len(answers)
            first, second = torch.triu_indices(n, n, offset=1)
            own = vectors[start : start + n]
            cosines.append(cos_sim(own, own).cpu()[first, second])
            start += n
        return torch.cat([bertscores, torch.cat(cosines)[:, None]], dim=1)

    return score


def _questions(n: int, distinct: int, vocabulary: list[str]) -> Questions:
    """K answers of 60 to 140 words per question; those beyond `distinct` repeat the first."""
    rng = random.Random(1)
    questions = []
    for _ in range(n):
        answers = [
            " ".join(rng.choices(vocabulary, k=rng.randrange(60, 141))) for _ in range(distinct)
        ]
        questions.append(answers + answers[:1] * (K - distinct))
    return questions


def _save_bert_base(folder: str, vocabulary: list[str]) -> None:
    import torch
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    trained = BertWordPieceTokenizer()
    # 6,000 pieces for these 5,000 words: about 1.3 pieces a word, as in medical prose
    trained.train_from_iterator(vocabulary, vocab_size=6000, min_frequency=1, show_progress=False)
    trained.save_model(folder)  # vocab.txt
    tokenizer = BertTokenizerFast.from_pretrained(folder, model_max_length=512)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    BertModel(BertConfig()).save_pretrained(folder)


def main() -> None:
    """Print one line per temperature and dtype."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=6)
    parser.add_argument(
        "--repeats", type=int, default=1, help="time each this often, keep the best"
    )
    parser.add_argument("--device")
    arguments = parser.parse_args()
    rows = bench_encoder(arguments.questions, repeats=arguments.repeats, device=arguments.device)
    print(f"seconds per 1,000 questions, scaled from {arguments.questions}; K = {K}")
    for row in rows:
        print(
            f"{row['part']:42} reference {row['reference_s']:8.1f} s  ours {row['ours_s']:7.1f} s"
            f"  {row['ratio']:5.1f}x  max |difference| {row['max_abs_difference']:.1e}"
        )


if __name__ == "__main__":
    main()
