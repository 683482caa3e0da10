"""Multiple choice, with reasons or without: MMedBench's exams, and users' own questions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from xling_metrics.choices import is_exact_match, jaccard

from xling_tasks.criteria.metric import Metric, constant, counted, failure
from xling_tasks.criteria.rows import criterion
from xling_tasks.criteria.sample import (
    Part,
    Passage,
    answer_part,
    as_text,
    field,
    listing,
    mapping,
    number,
    question_part,
    replies,
)
from xling_tasks.criteria.sample_view import SampleResult, SampleView


class ExamAnswer(NamedTuple):
    """An answer to a question of multiple choice.

    Attributes:
        correct: The right letters.
        by_rules: The letters that the rules read, or that are likeliest; None for none.
        by_model: The same by the answer extractor, where it was asked.
        repaired: Whether the extractor was asked again, as 0 or 1; None where it was not asked.
        empty: Whether the response, or its rationale, is empty.
        no_end: Whether the marker between rationale and letters is missing.
        flagged: Whether the question counts in `acc_with_flagged` alone.
        normed: The likeliest letters by a length, by metric.
        scores: Scores of the rationale, by metric.
    """

    correct: Collection[str]
    by_rules: Collection[str] | None
    by_model: Collection[str] | None = None
    repaired: float | None = None
    empty: bool = False
    no_end: bool = False
    flagged: bool = False
    normed: Mapping[str, Collection[str] | None] = {}
    scores: Mapping[str, Any] = {}

    @property
    def chosen(self) -> Collection[str] | None:
        """The letters by the rules, else by the answer extractor."""
        return self.by_model if self.by_rules is None else self.by_rules

    @property
    def right(self) -> float:
        """1 if all right letters are chosen, and no other."""
        return float(is_exact_match(self.chosen, self.correct))


def _has_extractor(task: Any) -> bool:
    return task.extractor is not None


def _flags(task: Any) -> bool:
    return bool(task.flagged)


def _sign_letters(scope: str) -> Callable[[Any], str]:
    def sign(task: Any) -> str:
        span = "unflagged_questions" if scope == "all_questions" and _flags(task) else scope
        return f"of:{span}|equal:letter_sets{task.extractor_signature}"

    return sign


def _letters(
    name: str, per_doc: Callable[[ExamAnswer], Any], scope: str, note: str,
    higher: bool | None = True, **options: Any,
) -> Metric:  # fmt: skip
    """Return a score of letters, which flagged questions do not have."""
    return Metric(
        name, lambda row: None if row.flagged else per_doc(row), higher_is_better=higher, note=note,
        sign=_sign_letters(scope), **{"chance": higher is True, **options},
    )  # fmt: skip


LETTERS = (
    _letters("acc", lambda row: row.right, "all_questions",
             "share of questions with all right letters and no other", known_chance=True),
    _letters("acc_parsed", lambda row: None if row.chosen is None else row.right, "parsed",
             "the same of the questions whose letters were read", known_chance=True),
    _letters("acc_single", lambda row: None if len(row.correct) > 1 else row.right,
             "one_right_letter", "the same of questions with one right letter"),
    _letters("acc_multi", lambda row: row.right if len(row.correct) > 1 else None,
             "several_right_letters", "the same of questions with several right letters"),
    _letters("jaccard", lambda row: jaccard(row.chosen, row.correct), "parsed",
             "letters that are chosen and right over those that are either"),
    _letters("unparsed_rate", lambda row: float(row.chosen is None), "all_questions",
             "share of responses without letters; by log-likelihood, of ties", False),
)  # fmt: skip

_EXTRACTED = (
    counted("extracted_by_model_rate",
          lambda row: float(row.by_rules is None and row.by_model is not None),
          "share of the questions whose letters the answer extractor read", when=_has_extractor,
          sign=lambda task: f"of:all_questions{task.extractor_signature}"),
    counted("extractor_agreement",
          lambda row: float(row.by_model == row.by_rules)
          if None not in (row.by_rules, row.by_model) else None,
          "share of responses that rules and answer extractor read alike", when=_has_extractor,
          sign=lambda task: f"of:read_by_both{task.extractor_signature}"),
    counted("extractor_repair_rate", lambda row: row.repaired,
          "share of responses about which the answer extractor was asked again",
          when=_has_extractor,
          sign=lambda task: f"of:put_to_the_reader{task.extractor_signature}"),
)  # fmt: skip

_EMPTY = failure("empty_rate", lambda row: float(row.empty), "share of empty responses",
                 sign=constant("of:all_questions"))  # fmt: skip


def _norm(name: str, unit: str, **options: Any) -> Metric:
    """Return accuracy by the log-likelihood of letters over their length in a unit."""
    return Metric(
        name, lambda row: float(is_exact_match(row.normed[name], row.correct)),
        higher_is_better=True,
        note=f"accuracy by log-likelihood per unit of length ({unit})", chance=True,
        sign=constant(f"of:all_questions|length:{unit}"), **options,
    )  # fmt: skip


def _rationale(name: str, note: str) -> Metric:
    """Return a score of the rationale against its reference."""
    return Metric(
        name, lambda row: row.scores.get(name), higher_is_better=True, note=note,
        across_languages=False, when=lambda task: name in task.rationale_scores,
        sign=lambda task: task.rationale_scores[name],
    )  # fmt: skip


MMEDBENCH_MCQA = (*LETTERS, *_EXTRACTED, _EMPTY)
MMEDBENCH_LL = (
    *LETTERS,
    _norm("acc_norm", "characters", known_chance=True),
    _norm("acc_norm_letters", "letters"),
    _norm("acc_norm_tokens", "tokens"),
)
MMEDBENCH_RATIONALE = (
    *LETTERS,
    *_EXTRACTED,
    _rationale("sacrebleu", "BLEU of the corpus, 0 to 100"),
    _rationale("bleu", "BLEU with runs of 1 to 4 words, weighted equally"),
    *(_rationale(f"bleu{n}", f"BLEU with runs of {n} words") for n in (1, 2, 3, 4)),
    *(_rationale(f"rouge{n}{end}", f"ROUGE-{n}{note}")
      for n in ("1", "2", "L") for end, note in (("", ""), ("_standard", " of the package"))),
    _rationale("bertscore_f1", "F1 of BERTScore"),
    _rationale("bertscore_f1_idf", "F1 of BERTScore, tokens weighed by idf"),
    Metric("language_consistency", lambda row: row.scores.get("language_consistency"),
           higher_is_better=True, note="share of a rationale's sentences that are in the language",
           sign=lambda task: task.answer_language().sign("language_consistency"),
           unmoved_by=("encoder", "topic_seeds", "k", "greedy_repeats", "translator")),
    _EMPTY,
    failure("no_end_rate", lambda row: float(row.no_end), "share of responses without the marker",
            sign=constant("of:all_questions")),
)  # fmt: skip
MCQA_METRICS = (
    *MMEDBENCH_MCQA,
    Metric("acc_with_flagged", lambda row: row.right, higher_is_better=True,
           note="accuracy over all questions, flagged ones too", chance=True, known_chance=True,
           when=_flags, sign=lambda task: f"of:all_questions|equal:letter_sets"
                                          f"{task.extractor_signature}"),
)  # fmt: skip


def _parts(sample: Mapping[str, Any], language: str, soft: bool) -> list[Part]:
    doc = mapping(sample.get("doc"))
    right = {as_text(letter) for letter in listing(doc.get("answer"))}
    options = [
        _option(f"{letter}. {as_text(text)}", letter in right, language)
        for letter, text in mapping(doc.get("options")).items()
    ]
    likely = [
        _option(f"{text}: {score:.3f}", {x.strip() for x in text.split(",")} == right)
        for score, text in likelihoods(sample)
    ]
    return [
        question_part(sample, language),
        Part("Options", options),
        Part("Reference rationale", field(doc, "rationale", language)),
        Part("Log-likelihood of each answer", likely) if soft else answer_part(sample, language),
    ]


def _option(text: str, right: bool, language: str = "") -> Passage:
    return Passage(text, language, *(("right", "good") if right else ()))


def likelihoods(sample: Mapping[str, Any]) -> list[tuple[float, str]]:
    """Return the candidates with their log-likelihoods, likeliest first."""
    candidates = [
        mapping(argument).get("arg_1") for argument in mapping(sample.get("arguments")).values()
    ]
    rows = []
    for candidate, values in zip(candidates, replies(sample), strict=False):
        pair: Any = values[0] if values and isinstance(values[0], list) and values[0] else [None]
        try:
            rows.append((float(pair[0]), as_text(candidate).strip()))
        except (TypeError, ValueError):
            rows.append((float("-inf"), as_text(candidate).strip()))
    return sorted(rows, key=lambda row: -row[0])


def _found(sample: Mapping[str, Any], _: str) -> SampleResult:
    score = number(sample.get("acc"))
    if score is None:
        return SampleResult()
    is_unparsed = number(sample.get("unparsed_rate")) == 1 and "acc_norm" not in sample
    label = "unparsed" if is_unparsed else "right" if score == 1 else "wrong"
    return SampleResult(label, score, score == 1)


_SHOWN = SampleView(_parts, ("sacrebleu",), _found)
EXAMS = (
    criterion("mmedbench_mcqa", MMEDBENCH_MCQA, _SHOWN),
    criterion("mmedbench_mcqa_ll", MMEDBENCH_LL, _SHOWN),
    criterion("mmedbench_mcqa_ft", MMEDBENCH_MCQA, _SHOWN),
    criterion("mmedbench_rationale", MMEDBENCH_RATIONALE, _SHOWN),
    criterion("mmedbench_rationale_ft", MMEDBENCH_RATIONALE, _SHOWN),
)
MCQA = criterion("mcqa", MCQA_METRICS, _SHOWN)
