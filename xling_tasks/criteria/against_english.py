"""Criteria that compare each answer with the model's own English one: information, and empathy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from xling_metrics.aggregate import HARMONIC, MEAN, RATIO

from xling_tasks.criteria import sample as view
from xling_tasks.criteria.criterion import (
    ENGLISH,
    USABLE_ANSWERS,
    Endpoint,
    Submitted,
    criterion,
)
from xling_tasks.criteria.metric import (
    LANGID_MATCH,
    USABLE,
    DisplayText,
    Metric,
    constant,
    counted,
    failure,
)
from xling_tasks.failed_response import is_empty, is_failed, is_filtered

AGAIN = "again"  # where the second English answer stands among those by language


class Compared(NamedTuple):
    """What a prompt got in one language."""

    response: str | None  # the answer; None where the prompt is not in this language
    # 1 for an answer in the language, 0 for another, None where that cannot be told
    match: float | None = None
    refused: float = 0.0  # 1 for an answer that declines in words
    result: Any = None  # its claims, or its profile; None where it has none
    # the result of the answer that is compared with English: of English the second one
    other: Any = None
    english: Any = None  # the result of the first English answer

    @property
    def second(self) -> Any:
        """The result of the second answer in English; None in other languages."""
        return None if self.other is self.result else self.other


class PromptResult(NamedTuple):
    """What a prompt got: by language, and whether it is asked and not compared."""

    by_language: Mapping[str, Compared]
    excluded: float | None = None


def _of_responses(name: str, test: Callable[[str], bool]) -> Metric:
    """Return the share of responses that pass a test; only `is_failed` looks at failed ones."""

    def per_doc(row: Compared) -> float | None:
        if row.response is None or (is_failed(row.response) and test is not is_failed):
            return None
        return float(test(row.response))

    return failure(name, per_doc, languages="all", sign=constant("of:all_prompts"))


RESPONSES_BY_LANGUAGE = (
    _of_responses("empty_rate", is_empty),
    _of_responses("failed_rate", is_failed),
    _of_responses("content_filter_rate", is_filtered),
    counted("refusal_rate", lambda row: None if row.response is None or is_failed(row.response)
            else row.refused, languages="all",
            sign=constant("of:all_prompts|reader:ours")),
    Metric(LANGID_MATCH, lambda row: row.match, higher_is_better=True, languages="all",
           sign=lambda task: task.answer_language().signature_of(LANGID_MATCH)),
)  # fmt: skip
"""Whether there is an answer in each language, and in the language of the prompt."""


def _is_scored(task: Any) -> bool:
    return bool(task.scored)


_RECORDS = ("n_claims_{}", "profile_{}")
"""The names of the values that these samples show, by language."""


def _parts_of_both(
    sample: view.Sample, language: str, record: Mapping[str, Any]
) -> list[view.Part]:
    """Return prompt, answer, and the English text compared, or why there is none."""
    texts = sample["doc"]["text"]
    codes = list(texts)
    passages = list(view.answers(sample, language, codes.index(language)))
    if language == ENGLISH:  # the second one, where it was asked
        passages += view.answers(sample, language, len(codes))
    compared: list[view.Passage] = []
    if language != ENGLISH and record:
        compared = view.field(record, "english", ENGLISH)
        if not compared and any(passage.text.strip() for passage in passages):
            compared = [view.Passage("", "", "translation failed", "bad")]
    return [
        view.Part("Question", view.field(texts, language, language)),
        view.Part(view.ANSWER, passages),
        view.Part("As compared, in English", compared),
    ]


class ComparedClaims(NamedTuple):
    """One answer beside the English one."""

    claims: tuple[str, ...] | None  # its claims; None where they could not be read
    record: Mapping[str, Any]  # what its sample keeps of it
    pair: Mapping[str, float | None] | None  # its precision and recall; None where it has no score
    f1: float | None  # its F1; None where it has no score
    unverified: list[int]  # how many of its claims have no label, of how many
    # how many of the judge's replies about it were asked for again, of how many
    repaired: list[int] | None


def _record(row: Compared) -> dict[str, Any] | None:
    """Return the record of an answer; of English with that of the second answer."""
    if row.result is None:
        return None
    return {**row.result.record, **({AGAIN: row.second.record} if row.second else {})}


def _repaired(row: Compared) -> list[int] | None:
    """Return the counts of an answer; of English those of both answers."""
    counts = [result.repaired for result in (row.result, row.second) if result and result.repaired]
    return [*map(sum, zip(*counts, strict=True))] or None


def _of_pair(name: str, row: Compared) -> Any:
    return row.other and row.other.pair and row.other.pair[name]


def _sign_claims(task: Any) -> str:
    return f"of:scored_prompts|judge:{task.judge.signature}{task.translator_signature}"


def _sign_compared_claims(task: Any) -> str:
    return f"{_sign_claims(task)}{task.floor_signature}"


_compared_claims = partial(
    Metric, higher_is_better=True, when=_is_scored, languages="compared", sign=_sign_compared_claims
)
_count_claims = partial(counted, when=_is_scored, languages="all", sign=_sign_claims)

INFORMATION_METRICS = (
    USABLE,
    *RESPONSES_BY_LANGUAGE,
    _compared_claims("information_f1", lambda row: row.other and row.other.pair, HARMONIC,
                     grouped=True,
                     sign=lambda task: "mean:harmonic_of_mean_precision_and_mean_recall|"
                     + _sign_compared_claims(task)),
    _compared_claims("information_f1_by_prompt", lambda row: row.other and row.other.f1),
    _compared_claims("information_precision", partial(_of_pair, "precision")),
    _compared_claims("information_recall", partial(_of_pair, "recall")),
    Metric("unscored", lambda row: row.result and float(row.result.f1 is None), MEAN, False,
           _is_scored, languages="others", sign=constant("of:compared_prompts")),
    Metric("abstained",
           lambda row: None if row.result is None or row.result.claims is None
           else float(not row.result.claims),
           MEAN, False, _is_scored, languages="all", sign=_sign_claims),
    _count_claims("n_claims", _record, counted=True,
                  aggregate=lambda rows: MEAN([row["n"] for row in rows])),
    _count_claims("repair_rate", _repaired, aggregate=RATIO,
                  sign=lambda task: f"of:claim_lists_and_comparisons|{_sign_claims(task)}"),
    failure("unverified", lambda row: row.other and row.other.unverified, aggregate=RATIO,
            when=_is_scored, languages="compared", sign=constant("of:all_claims")),
    counted("excluded_rate", lambda row: row.excluded,
            when=lambda task: task.scored and task.excluded, sign=constant("of:all_prompts")),
)  # fmt: skip


def _claim_parts(sample: view.Sample, language: str) -> list[view.Part]:
    """Return the claims of an answer, and whether the other answer supports each."""
    record = sample.get(f"n_claims_{language}") or {}
    base = sample.get(f"n_claims_{ENGLISH}") or {}
    parts = _parts_of_both(sample, language, record)
    if varies := sample["doc"].get("varies"):
        text = f"right answers differ by {varies}"
        return [*parts, view.Part("Not compared", [view.Passage("", "", text, "unsure")])]
    which = "this answer"
    if language == ENGLISH:
        record, which = base.get(AGAIN) or {}, "the second answer"
        if not record:
            claims = [view.Passage(claim, ENGLISH) for claim in base.get("claims") or ()]
            return [*parts, view.Part("Claims", claims)]
    if record.get("unscored"):
        parts.append(view.Part("Not scored", [view.Passage("", "", record["unscored"], "unsure")]))
    return [
        *parts,
        view.Part(f"Claims of {which}", _supported(record.get("claims"), record.get("supported")),
             "Does the English answer support them?"),
        view.Part("Claims of the English answer",
             _supported(base.get("claims"), record.get("reference_supported")),
             f"Does {which} support them?"),
    ]  # fmt: skip


def _supported(
    claims: Sequence[str] | None, marks: Sequence[bool | None] | None
) -> list[view.Passage]:
    """List claims with whether another answer supports them; without marks none was verified."""
    marks_of = {True: ("supported", "good"), False: ("not supported", "bad")}
    claims = claims or ()
    return [
        view.Passage(claim, ENGLISH, *marks_of.get(mark, ("not verified", "unsure")))  # type: ignore[arg-type]
        for claim, mark in zip(claims, marks or [None] * len(claims), strict=True)
    ]


def _find_shared(sample: view.Sample, language: str) -> view.SampleResult:
    score = view.number(sample.get(f"information_f1_by_prompt_{language}"))
    return view.SampleResult(score=1.0 if score is None and language == ENGLISH else score)


_BESIDE = ("unscored", "unverified", "abstained", "both_absent", "empty_rate")

INFORMATION = criterion(
    "information",
    INFORMATION_METRICS,
    {
        "information_f1": DisplayText(
            "Content shared with the English answer", "Same content",
            "Does the answer say what the model's English answer says?",
            unit="percent", evidence="agreement",
        ),
    },
    position=12,
    title="Information consistency",
    asks="Both answers are taken apart into claims, and a judge model says which of them the other "
    "answer supports.",
    endpoints=(USABLE_ANSWERS, Endpoint("information_f1", judged=True, agreement=True)),
    settings=("judge", "translator", "languages"),
    columns=("information_f1", "information_f1_by_prompt", "information_precision",
             "information_recall", "n_claims", "abstained", "unverified", "unscored"),
    note="Agreement with the English answer to the same prompt: precision is the share of the "
    "answer's claims that the English answer supports, recall the reverse; F1 is the harmonic mean "
    "of mean precision and mean recall over prompts, as published. F1 by prompt is the mean of "
    "each prompt's own F1, which is lower. The row of English is a second English answer beside "
    "the first, where one was asked.",
    submitted=Submitted(("information_f1",), _BESIDE),
    needs="judge",
    several_languages=True,
    shown=view.SampleView(_claim_parts, _RECORDS, _find_shared),
)  # fmt: skip


MECHANISMS = ("emotional_reactions", "interpretations", "explorations")


class Profiled(NamedTuple):
    """A response in English, and which of the mechanisms of empathy it has; None for unknown."""

    english: str | None = None
    profile: tuple[bool, ...] | None = None

    @property
    def record(self) -> dict[str, Any]:
        """What its sample keeps of it."""
        return {"english": self.english, "profile": self.profile and list(self.profile)}


def _profiles_of(row: Compared) -> tuple[tuple[bool, ...], tuple[bool, ...]] | None:
    """Return the profiles of an answer and of the English one; None unless both are known."""
    if row.other is None or row.other.profile is None or row.english.profile is None:
        return None
    return row.other.profile, row.english.profile


def _if_both(test: Callable[[Any, Any], bool]) -> Callable[[Compared], float | None]:
    def per_doc(row: Compared) -> float | None:
        profiles = _profiles_of(row)
        return None if profiles is None else float(test(*profiles))

    return per_doc


def _sign_profile(task: Any) -> str:
    classifier = task.classifier.signature
    return f"of:scored_posts|classifier:{classifier}{task.translator_signature}"


_compared_profiles = partial(
    Metric, when=_is_scored, languages="compared",
    sign=lambda task: f"{_sign_profile(task)}{task.floor_signature}",
)  # fmt: skip


def _of_mechanism(name: str, index: int) -> tuple[Metric, Metric]:
    return (
        _compared_profiles(f"{name}_agreement", _if_both(lambda a, b: a[index] == b[index]),
                           higher_is_better=True),
        Metric(f"{name}_present",
               lambda row: None if row.result.profile is None else float(row.result.profile[index]),
               when=_is_scored, languages="all",
               sign=_sign_profile),
    )  # fmt: skip


EMPATHY_METRICS = (
    USABLE,
    *RESPONSES_BY_LANGUAGE,
    _compared_profiles("empathy", _if_both(lambda a, b: a == b), higher_is_better=True,
                       grouped=True),
    *(metric for at, name in enumerate(MECHANISMS) for metric in _of_mechanism(name, at)),
    _compared_profiles("both_absent", _if_both(lambda a, b: not any(a) and not any(b))),
    Metric("unscored",
           lambda row: None if row.response is None else float(_profiles_of(row) is None), MEAN,
           False, _is_scored, languages="others", sign=constant("of:all_posts")),
    counted("profile", _record, when=_is_scored, languages="all",
            aggregate=lambda rows: sum(row["profile"] is not None for row in rows),
            sign=_sign_profile),
)  # fmt: skip


def _profile_parts(sample: view.Sample, language: str) -> list[view.Part]:
    """Return the mechanisms of an answer, and whether they are those of the English one."""
    record = sample.get(f"profile_{language}") or {}
    parts = _parts_of_both(sample, language, record)
    if record.get("profile") is not None:
        marks = {1.0: ("as in English", "good"), 0.0: ("not as in English", "bad")}
        mark = marks.get(sample.get(f"empathy_{language}"), ("", ""))  # type: ignore[arg-type]
        names = [name for name in MECHANISMS if sample.get(f"{name}_present_{language}")]
        passage = view.Passage(", ".join(map(view.words, names)) or "none", ENGLISH, *mark)
        parts.append(view.Part("Mechanisms of empathy in the answer", [passage]))
    return parts


def _find_profile(sample: view.Sample, language: str) -> view.SampleResult:
    score = view.number(sample.get(f"empathy_{language}"))
    if score is None or language == ENGLISH:
        return view.SampleResult("", 1.0 if score is None and language == ENGLISH else score)
    return view.SampleResult("same profile" if score else "other profile", score, score == 1)


EMPATHY = criterion(
    "empathy",
    EMPATHY_METRICS,
    {
        "empathy": DisplayText(
            "Answers with the empathy of the English one", "Same empathy",
            "Does the answer show the kinds of empathy of the English one?",
            unit="percent", evidence="share",
        ),
    },
    position=13,
    title="Empathy consistency",
    asks="Classifiers look for emotional reactions, interpretations and explorations in both "
    "replies.",
    endpoints=(USABLE_ANSWERS, Endpoint("empathy", agreement=True)),
    settings=("translator", "languages"),
    columns=("empathy", *(f"{name}_{end}" for name in MECHANISMS for end in
                          ("present", "agreement")), "both_absent", "unscored"),
    note="Share of posts whose response has the same profile of three mechanisms as the English "
    "one. Present: share of responses that have the mechanism. Two responses that have none agree "
    "too: read agreement beside presence and 'all absent in both'.",
    submitted=Submitted(("empathy",), _BESIDE),
    needs="classifiers",
    several_languages=True,
    shown=view.SampleView(_profile_parts, _RECORDS, _find_profile),
)  # fmt: skip
