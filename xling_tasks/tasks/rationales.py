"""Rationales: rationale, marker and letters of responses to exam questions, and their scores."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xling_metrics import rationale_tokens as tokens
from xling_metrics.base import normalize_text
from xling_metrics.bertscore import Idf, bertscore_signature, compute_idf, score_references
from xling_metrics.bleu import corpus_bleu, sentence_bleu
from xling_metrics.rouge import rouge, rouge_standard

from xling_tasks.data.prompts import PromptFormat
from xling_tasks.log import warn_once
from xling_tasks.models.metric_models import load_encoder
from xling_tasks.readers import read_letters
from xling_tasks.readers.reasoning import strip_reasoning
from xling_tasks.settings import Settings

# The marker of the prompt, also translated or in other brackets; with the marks of a heading or of
# bold type around it, and a colon after it.
_END = re.compile(
    r"(?:^[ \t]*#+[ \t]*)?[*_`]*[\[［【〔]"
    r"\s*(?:end|fin|конец|结束|結束|終わり|終了|अंत|समाप्त)\s*[\]］】〕]"
    r"[*_`]*\s*[:：]?[*_`]*",
    re.I | re.M,
)
_FT_LABEL = re.compile(r"#{1,3}\s*Answer\s*:?", re.I)
_FT_QUESTION = re.compile(r"#{1,3}\s*Question\b", re.I)
_FT_ANSWER = re.compile(r"#{1,3}\s*Answer\s*:?\s*(.*)", re.S | re.I)
# A statement of the form, not the beginning of one ('OPTION B IS CORRECT only in children').
_FT_OPTION = re.compile(
    r"OPTIONS?\s+([A-H](?:\s*(?:,|AND|&)?\s*[A-H])*)\s+(?:IS|ARE)\s+CORRECT(?=[\s*]*(?:[.!,;:#\n]|$))"
)
_FT_RATIONALE = re.compile(r"#{1,3}\s*Rationale\s*:?\s*(.*?)(?=#{1,3}\s*Answer|$)", re.S | re.I)


def rationale_of(text: str, *, fine_tuned: bool, form: PromptFormat | None = None) -> str:
    """Return the part of a response before the marker, or before the `target` of the form."""
    parts = form.parts(text) if form else None
    if parts is not None:
        return parts[0]
    if fine_tuned:
        match = _FT_RATIONALE.search(text)
        return (match[1] if match else _FT_ANSWER.sub("", text)).strip()
    return _END.split(text)[0].strip()


def has_marker(text: str, *, fine_tuned: bool, form: PromptFormat) -> bool:
    """Return whether a response has what stands between rationale and letters."""
    marker = _FT_ANSWER if fine_tuned else _END
    return form.parts(text) is not None or marker.search(text) is not None


def letters_of(
    text: str,
    doc: Mapping[str, Any],
    *,
    fine_tuned: bool,
    cut: bool = False,
    form: PromptFormat | None = None,
    after_marker: bool = True,
) -> frozenset[str] | None:
    """Return the letters behind the marker, or of the whole response where there is none.

    Without `after_marker` no marker but that of the prompt's form is looked for.
    """
    parts = form.parts(text) if form else None
    if parts is not None:
        text = parts[1]
    elif after_marker and not fine_tuned:
        stripped = strip_reasoning(text)
        if stripped is None:
            return None
        before, *after = _END.split(stripped, maxsplit=1)
        text = after[0] if after and any(map(str.isalnum, after[0])) else before
    if fine_tuned:  # behind the last label; several statements are left to `read_letters`
        answer = _FT_QUESTION.split(text, maxsplit=1)[0] or text
        _, *labelled = _FT_LABEL.split(answer)
        text = re.split("#{1,3}", labelled[-1], maxsplit=1)[0] if labelled else text
        options = set(_FT_OPTION.findall(text))
        if len(options) == 1:
            text = ", ".join(re.findall("[A-H]", options.pop().replace("AND", ",")))
    return read_letters(
        text, doc["options"], several=doc["several"], cut=cut, question=doc.get("question", "")
    )


BLEU = ("bleu1", "bleu2", "bleu3", "bleu4", "bleu")
ROUGE = ("rouge1", "rouge2", "rougeL")
STANDARD = ("rouge1_standard", "rouge2_standard", "rougeL_standard")


@dataclass(frozen=True)
class RationaleScorer:
    """What scores the rationales of one language."""

    language: str
    encoder: Any  # an `xling_metrics.encoder.Encoder` for BERTScore; None leaves it out
    cut: bool  # whether the language's tokenizer is there; if not, BLEU and ROUGE are left out
    idf: Idf | None = None  # the weights of tokens for `bertscore_f1_idf`; None leaves it out

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
            names = tokens.rationale_token_names(self.language)
            kinds = dict.fromkeys(BLEU, ("nltk-method1", names.bleu))
            kinds |= dict.fromkeys(ROUGE, ("rouge-1.0.1", names.rouge))
            kinds |= dict.fromkeys(STANDARD, ("rouge-score", names.standard))
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

    `bertscore_idf` weighs by the references of the whole task, whatever `--limit` leaves out.
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
