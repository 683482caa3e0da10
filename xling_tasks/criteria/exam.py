"""Multiple choice, with reasons or without: MMedBench's exams, and users' own questions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, NamedTuple

from xling_metrics.choices import is_exact_match, jaccard

from xling_tasks.criteria import sample as view
from xling_tasks.criteria.criterion import Endpoint, Submitted, criterion
from xling_tasks.criteria.metric import DisplayText, Metric, constant, counted, failure


class ExamAnswer(NamedTuple):
    """An answer to a question of multiple choice."""

    correct: Collection[str]  # the right letters
    # the letters that the rules read, or that are likeliest; None for none
    by_rules: Collection[str] | None
    by_model: Collection[str] | None = None  # the same by the answer extractor, where it was asked
    # whether the extractor was asked again, as 0 or 1; None where it was not asked
    repaired: float | None = None
    empty: bool = False  # whether the response, or its rationale, is empty
    no_end: bool = False  # whether the marker between rationale and letters is missing
    flagged: bool = False  # whether the question counts in `acc_with_flagged` alone
    # the likeliest letters by a length, by metric
    normed: Mapping[str, Collection[str] | None] = {}
    scores: Mapping[str, Any] = {}  # scores of the rationale, by metric

    @property
    def chosen(self) -> Collection[str] | None:
        """The letters by the rules, else by the answer extractor."""
        return self.by_model if self.by_rules is None else self.by_rules

    @property
    def right(self) -> float:
        """1 if all right letters are chosen, and no other."""
        return float(is_exact_match(self.chosen, self.correct))


def _extracted(name: str, per_doc: Callable[[ExamAnswer], Any], scope: str) -> Metric:
    """Return a rate of the responses that the answer extractor was asked about."""
    return counted(name, per_doc, when=lambda task: task.extractor is not None,
                   sign=lambda task: f"of:{scope}{task.extractor_signature}")  # fmt: skip


def _letters(
    name: str, per_doc: Callable[[ExamAnswer], Any], scope: str,
    higher: bool | None = True, **options: Any,
) -> Metric:  # fmt: skip
    """Return a score of letters, which flagged questions do not have."""

    def sign(task: Any) -> str:
        questions = "unflagged_questions" if scope == "all_questions" and task.flagged else scope
        return f"of:{questions}|equal:letter_sets{task.extractor_signature}"

    return Metric(name, lambda row: None if row.flagged else per_doc(row), higher_is_better=higher,
                  sign=sign, **{"chance": higher is True, **options})  # fmt: skip


LETTERS = (
    _letters("acc", lambda row: row.right, "all_questions", known_chance=True),
    _letters("acc_parsed", lambda row: None if row.chosen is None else row.right, "parsed",
             known_chance=True),
    _letters("acc_single", lambda row: None if len(row.correct) > 1 else row.right,
             "one_right_letter"),
    _letters("acc_multi", lambda row: row.right if len(row.correct) > 1 else None,
             "several_right_letters"),
    _letters("jaccard", lambda row: jaccard(row.chosen, row.correct), "parsed"),
    _letters("unparsed_rate", lambda row: float(row.chosen is None), "all_questions", False),
)  # fmt: skip

_EXTRACTED = (
    _extracted("extracted_by_model_rate", lambda row:
               float(row.by_rules is None and row.by_model is not None), "all_questions"),
    _extracted("extractor_agreement", lambda row: None if None in (row.by_rules, row.by_model)
               else float(row.by_model == row.by_rules), "read_by_both"),
    _extracted("extractor_repair_rate", lambda row: row.repaired, "put_to_the_reader"),
)  # fmt: skip

_EMPTY = failure("empty_rate", lambda row: float(row.empty), sign=constant("of:all_questions"))


def _norm(name: str, unit: str, **options: Any) -> Metric:
    """Return accuracy by the log-likelihood of letters over their length in a unit."""
    return Metric(name, lambda row: float(is_exact_match(row.normed[name], row.correct)),
                  higher_is_better=True, chance=True,
                  sign=constant(f"of:all_questions|length:{unit}"), **options)  # fmt: skip


def _rationale(name: str) -> Metric:
    """Return a score of the rationale against its reference."""
    return Metric(name, lambda row: row.scores.get(name), higher_is_better=True,
                  across_languages=False, when=lambda task: name in task.rationale_scores,
                  sign=lambda task: task.rationale_scores[name])  # fmt: skip


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
    _rationale("sacrebleu"),
    _rationale("bleu"),
    *(_rationale(f"bleu{n}") for n in (1, 2, 3, 4)),
    *(_rationale(f"rouge{n}{end}") for n in ("1", "2", "L") for end in ("", "_standard")),
    _rationale("bertscore_f1"),
    _rationale("bertscore_f1_idf"),
    Metric("language_consistency", lambda row: row.scores.get("language_consistency"),
           higher_is_better=True,
           sign=lambda task: task.answer_language().sign("language_consistency"),
           unmoved_by=("encoder", "topic_seeds", "k", "greedy_repeats", "translator")),
    _EMPTY,
    failure("no_end_rate", lambda row: float(row.no_end), sign=constant("of:all_questions")),
)  # fmt: skip
MCQA_METRICS = (
    *MMEDBENCH_MCQA,
    Metric("acc_with_flagged", lambda row: row.right, higher_is_better=True, chance=True,
           known_chance=True, when=lambda task: task.flagged,
           sign=lambda task: f"of:all_questions|equal:letter_sets" f"{task.extractor_signature}"),
)  # fmt: skip


def _parts(sample: view.Sample, language: str) -> list[view.Part]:
    doc = sample["doc"]
    options = [
        view.Passage(f"{letter}. {text}", language, *_mark(letter in doc["answer"]))
        for letter, text in doc["options"].items()
    ]
    chosen = view.answer_part(sample, language)
    if "acc_norm" in sample:
        likely = [
            view.Passage(
                f"{letters}: {score:.3f}", "", *_mark(letters.split(", ") == doc["answer"])
            )
            for score, letters in likelihoods(sample)
        ]
        chosen = view.Part("Log-likelihood of each answer", likely)
    return [
        view.question_part(sample, language),
        view.Part("Options", options),
        view.Part("Reference rationale", view.field(doc, "rationale", language)),
        chosen,
    ]


def _mark(right: bool) -> tuple[str, str]:
    return ("right", "good") if right else ("", "")


def likelihoods(sample: view.Sample) -> list[tuple[float, str]]:
    """Return the candidates with their log-likelihoods, likeliest first."""
    arguments = [argument["arg_1"].strip() for argument in sample["arguments"].values()]
    scores = [float(values[0][0]) for values in sample["resps"]]
    return sorted(zip(scores, arguments, strict=True), key=lambda row: -row[0])


def _find_score(sample: view.Sample, _: str) -> view.SampleResult:
    score = view.number(sample.get("acc"))
    if score is None:
        return view.SampleResult()
    is_unparsed = sample.get("unparsed_rate") == 1 and "acc_norm" not in sample
    label = "unparsed" if is_unparsed else "right" if score == 1 else "wrong"
    return view.SampleResult(label, score, score == 1)


_SHOWN = view.SampleView(_parts, ("sacrebleu",), _find_score)
_ASKS = "Does the model choose all right options, and no other?"
_OF_LETTERS = Submitted(("acc",), ("unparsed_rate", "empty_rate"), "question-answering")
_OF_REASONS = Submitted(("rouge1", "bertscore_f1"), ("unparsed_rate", "no_end_rate", "empty_rate"))
_OWN_EXAM = "Each language has its own exam, so that only what is above guessing can be compared."
_REASONS = (
    "The reasons that the model gives for its choice are compared with reasons that people "
    "checked, within each language."
)

_exam = partial(
    criterion,
    display={
        "acc": DisplayText(
            "Exam questions answered right", "Exam", _ASKS, unit="share", evidence="exam"
        ),
        "rouge1": DisplayText("Words shared with the reference rationale (ROUGE-1)", "ROUGE-1"),
    },
    asks=f"Multiple choice. {_OWN_EXAM}",
    endpoints=(Endpoint("acc"),),
    settings=("answer_extractor",),
    submitted=_OF_LETTERS,
    parallel=False,
    shown=_SHOWN,
)
_rationales = partial(
    _exam, asks=_REASONS, settings=("source_encoder", "answer_extractor"), submitted=_OF_REASONS
)
EXAMS = (
    _exam("mmedbench_mcqa", MMEDBENCH_MCQA, position=5, title="MMedBench: multiple choice"),
    _exam("mmedbench_mcqa_ll", MMEDBENCH_LL, position=6,
          title="MMedBench: multiple choice by log-likelihood", settings=(),
          asks=f"Multiple choice by the likelihood of the options. {_OWN_EXAM}"),
    _exam("mmedbench_mcqa_ft", MMEDBENCH_MCQA, position=7,
          title="MMedBench: multiple choice, fine-tuned models"),
    _rationales("mmedbench_rationale", MMEDBENCH_RATIONALE, position=8,
                title="MMedBench: rationales"),
    _rationales("mmedbench_rationale_ft", MMEDBENCH_RATIONALE, position=9,
                title="MMedBench: rationales, fine-tuned models"),
)  # fmt: skip
MCQA = criterion(
    "mcqa",
    MCQA_METRICS,
    {
        "acc": DisplayText("Questions answered right", "Right", _ASKS,
                           unit="share", evidence="count"),
        "acc_with_flagged": DisplayText("Questions answered right, flagged ones too",
                                        "With flagged questions", unit="share", evidence="count"),
        "unparsed_rate": DisplayText("Replies without letters", "Unparsed",
                                     unit="percent", evidence="share"),
    },
    position=10,
    title="Multiple choice",
    asks="Multiple choice, with the same questions in every language.",
    endpoints=(Endpoint("acc"),),
    settings=("answer_extractor",),
    columns=("acc", "acc_with_flagged", "acc_single", "acc_multi", "jaccard", "unparsed_rate"),
    note="Accuracy: share of the questions of which all right options are chosen, and no other; "
    "replies without readable letters count as wrong. Jaccard, of the replies that letters could "
    "be read of: options that are chosen and right over those that are either.",
    submitted=_OF_LETTERS,
    shown=_SHOWN,
)  # fmt: skip
