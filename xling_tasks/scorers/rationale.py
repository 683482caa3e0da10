"""Scores of rationales against their references: BLEU, ROUGE and, with an encoder, BERTScore."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xling_metrics import rationale_tokens as tokens
from xling_metrics.base import normalize_text
from xling_metrics.bertscore import Idf, bertscore_signature, compute_idf, score_references
from xling_metrics.bleu import corpus_bleu, sentence_bleu
from xling_metrics.rouge import rouge, rouge_standard

from xling_tasks.log import warn_once
from xling_tasks.models.metric_models import load_encoder
from xling_tasks.settings import Settings

BLEU = ("bleu1", "bleu2", "bleu3", "bleu4", "bleu")
ROUGE = ("rouge1", "rouge2", "rougeL")
STANDARD = ("rouge1_standard", "rouge2_standard", "rougeL_standard")


@dataclass(frozen=True)
class RationaleScorer:
    """What scores the rationales of one language.

    Attributes:
        encoder: An `xling_metrics.encoder.Encoder` for BERTScore; None leaves it out.
        cut: Whether the language's tokenizer is there; if not, BLEU and ROUGE are left out.
        idf: The weights of tokens for `bertscore_f1_idf`; None leaves it out.
    """

    language: str
    encoder: Any
    cut: bool
    idf: Idf | None = None

    def score(self, texts: Sequence[str], references: Sequence[str]) -> dict[str, list[Any]]:
        """Return, per metric, one value per pair; of `sacrebleu`, a corpus score, the texts.

        All are read in Unicode form NFC: some models write letters and accents as two signs.
        """
        texts, references = ([*map(normalize_text, column)] for column in (texts, references))
        values_of: dict[str, list[Any]] = {
            "sacrebleu": [list(pair) for pair in zip(texts, references, strict=True)]
        }
        if self.cut:
            tokenized = {
                text: tokens.tokenize_rationale(text, self.language)
                for text in {*texts, *references}
            }
            pairs = [(tokenized[t], tokenized[r]) for t, r in zip(texts, references, strict=True)]
            standard = [rouge_standard(a.standard_tokens, b.standard_tokens) for a, b in pairs]
            for names, rows in (
                (BLEU, [sentence_bleu(a.tokens, b.tokens) for a, b in pairs]),
                (ROUGE, [rouge(a.rouge_text, b.rouge_text) for a, b in pairs]),
                (STANDARD, standard),
            ):
                for name in names:
                    values_of[name] = [None if row is None else getattr(row, name) for row in rows]
        if self.encoder is not None:
            weighings = self._weighings()
            scored = score_references(texts, references, self.encoder, [*weighings.values()])
            values_of |= {name: result.f1 for name, result in zip(weighings, scored, strict=True)}
        return values_of

    @property
    def signatures(self) -> dict[str, str]:
        """The fields of the signature of each metric that there is."""
        corpus = corpus_bleu([""], ["x"], self.language).signature
        signatures = {"sacrebleu": f"kind:{corpus}"}
        if self.cut:
            named = tokens.rationale_token_names(self.language)
            kinds = dict.fromkeys(BLEU, ("nltk-method1", named.bleu))
            kinds |= dict.fromkeys(ROUGE, ("rouge-1.0.1", named.rouge))
            kinds |= dict.fromkeys(STANDARD, ("rouge-score", named.standard))
            for name, (kind, words) in kinds.items():
                signatures[name] = f"like:{kind}|tokens:{words}|aggregation:mean_of_rationales"
        if self.encoder is not None:
            for name, idf in self._weighings().items():
                kind_of_bertscore = bertscore_signature(self.encoder, rescaled=False, idf=idf)
                signatures[name] = f"kind:{kind_of_bertscore}"
        return signatures

    def _weighings(self) -> dict[str, Idf | None]:
        """Return the kinds of BERTScore F1, and how each weights tokens."""
        return {"bertscore_f1": None} | ({"bertscore_f1_idf": self.idf} if self.idf else {})

    def corpus_bleu(self, pairs: list[Sequence[str]]) -> float | None:
        """Return BLEU of the corpus of [rationale, reference], 0 to 100."""
        texts, references = ([pair[i] for pair in pairs] for i in (0, 1))
        return corpus_bleu(texts, references, self.language).score_percent


def scorer_for(
    language: str, settings: Settings, references: Sequence[str] = ()
) -> RationaleScorer:
    """Return the scorer of a language; warn once of what is not installed and left out.

    By the references `bertscore_idf` weighs: they are all of the task, also those that this process
    does not score or that `--limit` leaves out.
    """
    cut = True
    try:
        tokens.rationale_tokens("x", language)
    except ImportError as error:
        warn_once(f"MMedBench rationales: bleu* and rouge* are left out for {language}: {error}")
        cut = False
    encoder = load_encoder(settings.source_encoder, "source_encoder")
    weighs_idf = settings.bertscore_idf and encoder is not None
    return RationaleScorer(
        language, encoder, cut, compute_idf(references, encoder) if weighs_idf else None
    )
