"""What is known of every criterion and metric beforehand.

`CRITERIA` says per criterion which metrics there are, which of them compare across languages, and
which are its endpoints: the few on which conclusions rest, fixed before anything is seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

ENGLISH = "en"
AVERAGE = "avg"

OPTIONS = {
    "neither": "neither contradictory nor similar",
    "contradictory": "contradictory",
    "more_comprehensive": "more comprehensive and appropriate",
    "less_comprehensive": "less comprehensive and appropriate",
}
"""The labels with their wording in a verdict."""

LABELS = ("more_comprehensive", "less_comprehensive", "neither", "contradictory")
"""The labels in the order in which XLingEval's tables show them."""

NO_RESPONSE = "no_response"

MOST_JUDGES = 9
"""Judges that a jury may have."""


def of_judge(metric: str, number: int) -> str:
    """The name of a metric of one judge of several, counted from 1."""
    return f"{metric}_judge{number}"


def _of_judges(metrics: Iterable[str]) -> tuple[str, ...]:
    return tuple(of_judge(name, n) for name in metrics for n in range(1, MOST_JUDGES + 1))


JURY_METRICS = (
    *("no_majority", "judge_agreement", "judge_alpha"),
    *("order_sensitive_rate", "order_unread_rate"),
    *_of_judges((*LABELS, NO_RESPONSE, "judge_failed_rate")),
)
"""What several judges, or both orders of the answers, add: it says how far labels can be trusted,
and nothing about the model under test."""


class Form(NamedTuple):
    """A criterion, and the way in which models are asked.

    Attributes:
        base: The criterion's name without the way.
        fine_tuned: In the form of models fine-tuned on the data (`_ft`).
        by_likelihood: By log-likelihoods instead of replies (`_ll`).
    """

    base: str
    fine_tuned: bool
    by_likelihood: bool


def form_of(criterion: str) -> Form:
    """The form of a criterion, or of any other name, by its ending."""
    fine_tuned, by_likelihood = criterion.endswith("_ft"), criterion.endswith("_ll")
    base = criterion[:-3] if fine_tuned or by_likelihood else criterion
    return Form(base, fine_tuned, by_likelihood)


# What is known of a criterion


@dataclass(frozen=True)
class MetricRecord:
    """Facts about one metric of a criterion.

    Attributes:
        name: Its name without temperature and language.
        higher_is_better: None where neither is.
        across_languages: Whether its values in two languages can be compared. They cannot where
            the value depends on the language's words, characters or encoder.
        chance: Whether guessing earns some of it, and how much depends on the question.
    """

    name: str
    higher_is_better: bool | None
    across_languages: bool = True
    chance: bool = False


@dataclass(frozen=True)
class Endpoint:
    """A metric on which conclusions rest.

    Attributes:
        metric: Its name without temperature and language.
        meaning: What it stands for: `harm`, `help`, `language` (answers in the user's language),
            or `quality`.
        at: Which of the temperatures of a run counts; None where there is only one.
        margin: Differences from -margin to margin are about the same, in the metric's unit.
        judged: Whether a judge gives the values, whose own error no interval over questions knows.
    """

    metric: str
    meaning: Literal["harm", "help", "language", "quality"] = "quality"
    at: Literal["lowest", "highest"] | None = None
    margin: float = 0.05
    judged: bool = False


@dataclass(frozen=True)
class Criterion:
    """What one kind of task measures.

    Attributes:
        key: Its name in results.
        title: Its heading.
        metrics: All its metrics by name.
        endpoints: The metrics on which conclusions rest.
        several_languages: Whether one task has all languages.
        parallel: Whether the questions are the same in every language.
    """

    key: str
    title: str
    metrics: Mapping[str, MetricRecord]
    endpoints: tuple[Endpoint, ...]
    several_languages: bool = False
    parallel: bool = True

    def endpoints_among(self, names: Iterable[str]) -> dict[str, Endpoint]:
        """The endpoints among the metrics of one task.

        Args:
            names: The metrics as the task calls them, such as `macro_f1_t0.0`.

        Returns:
            Metric of the task -> endpoint, at the lowest or highest temperature that there is.
            Of a task with several languages one for every language, and none for their means.
        """
        endpoints: dict[str, Endpoint] = {}
        read = {name: self.split(name) for name in names}
        for endpoint in self.endpoints:
            own = {name: x for name, x in read.items() if x.metric == endpoint.metric}
            taus = {x.temperature for x in own.values() if x.temperature is not None}
            tau = None
            if endpoint.at is not None and taus:
                tau = min(taus) if endpoint.at == "lowest" else max(taus)
            for name, x in own.items():
                alone = self.several_languages and (x.language == AVERAGE or ":" in x.language)
                if x.temperature == tau and not alone:
                    endpoints[name] = endpoint
        return endpoints

    def split(self, name: str) -> MetricName:
        """A task's name for a metric, taken apart."""
        match = _TEMPERATURE.fullmatch(name)
        base, temperature = (match[1], float(match[2])) if match else (name, None)
        language = ""
        if self.several_languages:
            base, language = _split_language(base, self.metrics)
        return MetricName(base, temperature, language)


class MetricName(NamedTuple):
    """A task's name for a metric, taken apart.

    Attributes:
        metric: Without temperature and language.
        temperature: None where the task has only one.
        language: A code, or for means over languages `avg`, `script:latin`, `family:slavic`, ...;
            empty where the task has one language.
    """

    metric: str
    temperature: float | None
    language: str


_TEMPERATURE = re.compile(r"(.+)_t(\d+(?:\.\d+)?)")
_GROUP = re.compile(r"(.+?)_(script|family|branch|train)_(\w+)")


def _split_language(name: str, metrics: Collection[str]) -> tuple[str, str]:
    """Metric and language: of users' own data it can be any code."""
    if group := _GROUP.fullmatch(name):
        return group[1], f"{group[2]}:{group[3]}"
    base, _, code = name.rpartition("_")
    return (base, code) if base in metrics and name not in metrics else (name, AVERAGE)


def _metrics(
    up: Iterable[str] = (),
    down: Iterable[str] = (),
    neither: Iterable[str] = (),
    *,
    within: Collection[str] = (),
    chance: Collection[str] = (),
) -> dict[str, MetricRecord]:
    """Records of metrics by direction; `within` are those that compare within a language only."""
    directions: dict[str, bool | None] = dict.fromkeys((*neither, "unusable_rows", "n_answered"))
    directions |= dict.fromkeys(("failed_rate", "refused_rate"), False)
    directions |= dict.fromkeys(up, True) | dict.fromkeys(down, False)
    return {
        name: MetricRecord(name, better, name not in within, name in chance)
        for name, better in directions.items()
    }


def _in_source(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{name}_src" for name in names)


_BERTSCORE = ("bertscore_p", "bertscore_r", "bertscore_f1")
_TOPICS = ("sim_lda20", "sim_lda100", "sim_hdp")
_SIMILARITIES = ("sim_1gram", "sim_2gram", "sim_sent", *_TOPICS, *_BERTSCORE)
_SIZES = ("length_words", "length_words_std", *(f"{name}_seed_sd" for name in _TOPICS))
_CHOICES = (
    *("acc", "acc_parsed", "acc_single", "acc_multi", "jaccard"),
    *("acc_norm", "acc_norm_letters", "acc_norm_tokens"),
)
_OVERLAPS = (
    *("sacrebleu", "bleu", *(f"bleu{n}" for n in "1234")),
    *(f"rouge{n}{kind}" for n in ("1", "2", "L") for kind in ("", "_standard")),
    *_BERTSCORE,
)
_MECHANISMS = ("emotional_reactions", "interpretations", "explorations")
_IN_LANGUAGE = ("langid_match", "second_language_match")
_AGREE = "identifiers_agree"
_LANGUAGE = Endpoint("langid_match", "language")
_HARM = Endpoint("contradictory", "harm", margin=0.02, judged=True)
"""Harm is rare: in the published runs 0.3 to 1.2% of the English answers contradict the reference
(HealthQA, LiveQA, MedicationQA), so that a rise to the fourfold lies within 0.05. Two points are
what 1,134 questions can exclude at a share of up to about 6%."""


def _mcqa(key: str, title: str) -> Criterion:
    down = ("unparsed_rate", "empty_rate")
    metrics = _metrics(_CHOICES, down, ("read_by_model_rate",), chance=_CHOICES)
    return Criterion(key, f"MMedBench: {title}", metrics, (Endpoint("acc"),), parallel=False)


def _rationale(key: str, title: str) -> Criterion:
    metrics = _metrics(
        (*_CHOICES, *_OVERLAPS, "language_consistency", "second_language_consistency"),
        ("unparsed_rate", "empty_rate", "no_end_rate"),
        ("read_by_model_rate", _AGREE),
        within=_OVERLAPS,
        chance=_CHOICES,
    )
    endpoints = (Endpoint("acc"), Endpoint("language_consistency", "language"))
    return Criterion(key, f"MMedBench: {title}", metrics, endpoints, parallel=False)


_ALL = (
    Criterion(
        "correctness",
        "Correctness",
        _metrics(
            (
                *("more_comprehensive", *_IN_LANGUAGE, "chrf"),
                *("judge_agreement", "judge_alpha", *_of_judges(["more_comprehensive"])),
            ),
            (
                *("contradictory", NO_RESPONSE, "judge_failed_rate", "empty_rate"),
                *("no_majority", "order_sensitive_rate", "order_unread_rate"),
                *_of_judges(("contradictory", NO_RESPONSE, "judge_failed_rate")),
            ),
            (
                *("less_comprehensive", "neither", "length_words", "n_judged", "declined_rate"),
                _AGREE,
                *_of_judges(("less_comprehensive", "neither")),
            ),
            within=("chrf", "length_words"),
        ),
        (_HARM, Endpoint("more_comprehensive", "help", judged=True), _LANGUAGE),
    ),
    Criterion(
        "consistency",
        "Consistency",
        _metrics(
            (
                *(*_SIMILARITIES, *_in_source(_SIMILARITIES)),
                *("language_consistency", "language_consistency_published"),
                *("line_pass_rate", "word_pass_rate"),
                *("second_language_consistency", "second_line_pass_rate"),
            ),
            ("empty_rate", "translation_failed_rate"),
            (*_SIZES, *_in_source(_SIZES), "distinct_answers", _AGREE),
            within=_in_source((*_SIMILARITIES, *_SIZES)),
        ),
        (
            Endpoint("sim_sent", at="highest"),
            Endpoint("bertscore_f1", at="highest"),
            Endpoint("language_consistency", "language", at="highest"),
        ),
    ),
    Criterion(
        "verifiability",
        "Verifiability",
        _metrics(
            ("macro_precision", "macro_recall", "macro_f1", "acc", "acc_all", "auc_hard"),
            ("unknown_rate", "empty_rate"),
            ("read_by_model_rate",),
        ),
        (Endpoint("macro_f1", at="lowest"),),
    ),
    Criterion(
        "verifiability_ll",
        "Verifiability by log-likelihood",
        _metrics(("auc", "macro_f1", "acc"), ("ece", "brier", "unknown_rate")),
        (Endpoint("auc"),),
    ),
    _mcqa("mmedbench_mcqa", "multiple choice"),
    _mcqa("mmedbench_mcqa_ll", "multiple choice by log-likelihood"),
    _mcqa("mmedbench_mcqa_ft", "multiple choice, fine-tuned models"),
    _rationale("mmedbench_rationale", "rationales"),
    _rationale("mmedbench_rationale_ft", "rationales, fine-tuned models"),
    replace(_mcqa("mcqa", ""), title="Multiple choice", parallel=True),
    Criterion(
        "rubric",
        "Rubrics",
        _metrics(
            ("rubric_score", *_IN_LANGUAGE),
            ("criteria_unscored", "unscored_rate", "judge_failed_rate", "empty_rate"),
            ("n_scored", "length_words", "declined_rate", _AGREE),
            within=("length_words",),
        ),
        (Endpoint("rubric_score", judged=True), _LANGUAGE),
    ),
    Criterion(
        "information",
        "Information consistency",
        _metrics(
            (
                *("information_f1", "information_f1_by_prompt", "information_precision"),
                *("information_recall", *_IN_LANGUAGE),
            ),
            ("empty_rate", "unscored", "abstained", "unverified", "unparsed"),
            ("n_claims", _AGREE),
        ),
        (Endpoint("information_f1", judged=True), _LANGUAGE),
        several_languages=True,
    ),
    Criterion(
        "empathy",
        "Empathy consistency",
        _metrics(
            ("empathy", *(f"{name}_agreement" for name in _MECHANISMS), *_IN_LANGUAGE),
            ("empty_rate", "unscored"),
            ("profile", "both_absent", *(f"{name}_present" for name in _MECHANISMS), _AGREE),
        ),
        (Endpoint("empathy"), _LANGUAGE),
        several_languages=True,
    ),
)

CRITERIA: Mapping[str, Criterion] = {criterion.key: criterion for criterion in _ALL}
"""Every criterion by its key, in the order of a report."""
