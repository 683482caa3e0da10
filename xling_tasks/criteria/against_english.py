"""Criteria that compare each answer with the model's own English one: information, and empathy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from xling_metrics.aggregate import HARMONIC, MEAN, RATIO

from xling_tasks.criteria.forms import ENGLISH
from xling_tasks.criteria.metric import Metric, constant, counted, failure
from xling_tasks.criteria.responses import LANGID_MATCH, USABLE
from xling_tasks.criteria.rows import criterion
from xling_tasks.criteria.sample import (
    ANSWER,
    Part,
    Passage,
    answers,
    as_text,
    field,
    listing,
    mapping,
    number,
    words,
)
from xling_tasks.criteria.sample_view import SampleResult, SampleView
from xling_tasks.failed_response import is_empty, is_failed, is_filtered

AGAIN = "again"
"""Where the second English answer stands among those by language."""


class Compared(NamedTuple):
    """What a prompt got in one language.

    Attributes:
        response: The answer; None where the prompt is not in this language.
        match: 1 for an answer in the language, 0 for another, None where that cannot be told.
        own: What was made of it: claims, or a profile; None where nothing was.
        other: The same of the answer that is compared with English: of English the second one.
        english: The same of the first English answer.
    """

    response: str | None
    match: float | None = None
    own: Any = None
    other: Any = None
    english: Any = None

    @property
    def second(self) -> Any:
        """What was made of the second answer in English; None in other languages."""
        return None if self.other is self.own else self.other


class PromptResult(NamedTuple):
    """What a prompt got: by language, and whether it is asked and not compared."""

    by_language: Mapping[str, Compared]
    excluded: float | None = None


def _of_response(test: Callable[[str], bool], *, of_failed: bool = False) -> Callable[..., Any]:
    """Return whether a response passes a test; None where there is none."""

    def per_doc(row: Compared) -> float | None:
        if row.response is None or (is_failed(row.response) and not of_failed):
            return None
        return float(test(row.response))

    return per_doc


RESPONSES_BY_LANGUAGE = (
    failure("empty_rate", _of_response(is_empty), "share of empty answers", languages="all",
            sign=constant("of:all_prompts")),
    failure("failed_rate", _of_response(is_failed, of_failed=True),
            "share of answers whose request failed", languages="all",
            sign=constant("of:all_prompts")),
    failure("content_filter_rate", _of_response(is_filtered),
            "share of answers that a content filter held back", languages="all",
            sign=constant("of:all_prompts")),
    Metric(LANGID_MATCH, lambda row: row.match, higher_is_better=True, languages="all",
           note="share of answers in the prompt's language",
           sign=lambda task: task.answer_language().signature_of(LANGID_MATCH)),
)  # fmt: skip
"""Whether there is an answer in each language, and in the language of the prompt."""


def _is_scored(task: Any) -> bool:
    return bool(task.scored)


_COMPARED = "As compared, in English"
"""The heading of what of an answer was scored, where it is not the answer itself."""

_RECORDS = ("n_claims_{}", "profile_{}")
"""The names of the values that these parts show, by language."""


def _parts_of_both(
    sample: Mapping[str, Any], language: str, record: Mapping[str, Any]
) -> list[Part]:
    """Return prompt, answer, and the English text compared, or why there is none."""
    texts = mapping(mapping(sample.get("doc")).get("text"))
    codes = [str(code) for code in texts]
    passages_of_answer = list(
        answers(sample, language, codes.index(language) if language in codes else -1)
    )
    if language == ENGLISH:
        passages_of_answer += answers(
            sample, language, len(codes)
        )  # the second one, where it was asked
    compared: list[Passage] = []
    if language != ENGLISH and record:
        compared = field(record, "english", ENGLISH)
        if not compared and any(passage.text.strip() for passage in passages_of_answer):
            compared = [Passage("", "", "translation failed", "bad")]
    question = field(texts, language, language)
    return [Part("Question", question), Part(ANSWER, passages_of_answer), Part(_COMPARED, compared)]


def _agreement(sample: Mapping[str, Any], language: str, *names: str) -> float | None:
    """Return the agreement of an answer with the English one (of English: of a second one)."""
    values = (number(sample.get(f"{name}_{language}")) for name in names)
    defined = (value for value in values if value is not None)
    return next(defined, 1.0 if language == ENGLISH else None)


# Information: the claims of both


class ComparedClaims(NamedTuple):
    """One answer beside the English one.

    Attributes:
        claims: Its claims; None where they could not be read.
        record: What its sample keeps of it.
        pair: Its precision and recall; None where it has no score.
        f1: Its F1; None where it has no score.
        unverified: How many of its claims have no label, of how many.
        repaired: How many of the judge's replies about it were asked for again, of how many.
    """

    claims: tuple[str, ...] | None
    record: Mapping[str, Any]
    pair: Mapping[str, float | None] | None
    f1: float | None
    unverified: list[int]
    repaired: list[int] | None


def _claims_record(row: Compared) -> dict[str, Any] | None:
    """Return the record of an answer; of English with that of the second answer."""
    if row.own is None:
        return None
    return {**row.own.record, **({AGAIN: row.second.record} if row.second else {})}


def _repaired(row: Compared) -> list[int] | None:
    """Return the counts of an answer; of English those of both answers."""
    counts = [result.repaired for result in (row.own, row.second) if result and result.repaired]
    return [*map(sum, zip(*counts, strict=True))] or None


def _of_pair(name: str) -> Callable[[Compared], float | None]:
    return lambda row: row.other and row.other.pair and row.other.pair[name]


def _sign_claims(task: Any) -> str:
    return f"of:scored_prompts|judge:{task.judge.signature}{task.translator_signature}"


def _compared_claims(task: Any) -> str:
    return f"{_sign_claims(task)}{task.floor_signature}"


INFORMATION_METRICS = (
    USABLE,
    *RESPONSES_BY_LANGUAGE,
    Metric("information_f1", lambda row: row.other and row.other.pair, HARMONIC, True,
           "harmonic mean of mean precision and mean recall of claims", _is_scored,
           languages="compared", grouped=True,
           sign=lambda task: "mean:harmonic_of_mean_precision_and_mean_recall|"
                             + _compared_claims(task)),
    Metric("information_f1_by_prompt", lambda row: row.other and row.other.f1,
           higher_is_better=True, note="mean of each prompt's F1", when=_is_scored,
           languages="compared", sign=_compared_claims),
    Metric("information_precision", _of_pair("precision"), higher_is_better=True,
           note="share of the claims that the English answer supports", when=_is_scored,
           languages="compared", sign=_compared_claims),
    Metric("information_recall", _of_pair("recall"), higher_is_better=True,
           note="share of the English answer's claims that the answer supports", when=_is_scored,
           languages="compared", sign=_compared_claims),
    Metric("unscored", lambda row: row.own and float(row.own.f1 is None), higher_is_better=False,
           note="share of the compared prompts without a score", when=_is_scored,
           languages="others", sign=constant("of:compared_prompts")),
    Metric("abstained", lambda row: None if row.own is None or row.own.claims is None
           else float(not row.own.claims), higher_is_better=False,
           note="share of answers without any claim", when=_is_scored, languages="all",
           sign=_sign_claims),
    counted("n_claims", _claims_record, "claims of an answer", when=_is_scored, languages="all",
          aggregate=lambda own: MEAN([each["n"] for each in own]), sign=_sign_claims, counted=True),
    counted("repair_rate", _repaired, "share of the judge's replies asked for again",
          aggregate=RATIO, when=_is_scored, languages="all",
          sign=lambda task: f"of:claim_lists_and_comparisons|{_sign_claims(task)}"),
    failure("unverified", lambda row: row.other and row.other.unverified,
            "share of claims without a label", aggregate=RATIO, when=_is_scored,
            languages="compared", sign=constant("of:all_claims")),
    counted("excluded_rate", lambda row: row.excluded, "share of prompts that are not compared",
          when=lambda task: task.scored and task.excluded, sign=constant("of:all_prompts")),
)  # fmt: skip

_SUPPORT = {True: ("supported", "good"), False: ("not supported", "bad")}


def _claim_parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    """Return the claims of an answer, and whether the other answer supports each."""
    record = mapping(sample.get(f"n_claims_{language}"))
    parts = _parts_of_both(sample, language, record)
    if varies := mapping(sample.get("doc")).get("varies"):
        text = f"right answers differ by {as_text(varies)}"
        return [*parts, Part("Not compared", [Passage("", "", text, "unsure")])]
    base = mapping(sample.get(f"n_claims_{ENGLISH}"))
    if language == ENGLISH:
        record = mapping(base.get("again"))
        if not record:
            plain = [Passage(as_text(claim), ENGLISH) for claim in listing(base.get("claims"))]
            return [*parts, Part("Claims", plain)]
    if record.get("unscored"):
        parts.append(Part("Not scored", [Passage("", "", as_text(record["unscored"]), "unsure")]))
    which = "the second answer" if language == ENGLISH else "this answer"
    return [
        *parts,
        Part(f"Claims of {which}", _supported(record.get("claims"), record.get("supported")),
             "Does the English answer support them?"),
        Part("Claims of the English answer",
             _supported(base.get("claims"), record.get("reference_supported")),
             f"Does {which} support them?"),
    ]  # fmt: skip


def _supported(claims: Any, marks: Any) -> list[Passage]:
    """List claims with whether another answer supports them."""
    passages = []
    for claim, mark in islice(zip_longest(listing(claims), listing(marks)), len(listing(claims))):
        support = _SUPPORT[mark] if isinstance(mark, bool) else ("not verified", "unsure")
        passages.append(Passage(as_text(claim), ENGLISH, *support))
    return passages


def _shared(sample: Mapping[str, Any], language: str) -> SampleResult:
    return SampleResult(score=_agreement(sample, language, "information_f1_by_prompt"))


INFORMATION = criterion(
    "information", INFORMATION_METRICS, SampleView(_claim_parts, _RECORDS, _shared)
)


# Empathy: its kinds in both

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


def _profile_record(row: Compared) -> dict[str, Any]:
    return {**row.own.record, **({AGAIN: row.second.record} if row.second else {})}


def _empathy(task: Any) -> str:
    classifier = task.classifier.signature
    return f"of:scored_posts|classifier:{classifier}{task.translator_signature}"


def _compared_empathy(task: Any) -> str:
    return f"{_empathy(task)}{task.floor_signature}"


def _of_mechanism(name: str, index: int) -> tuple[Metric, Metric]:
    return (
        Metric(f"{name}_agreement", _if_both(lambda own, english: own[index] == english[index]),
               higher_is_better=True, note=f"share of posts that agree on {name}",
               when=_is_scored, languages="compared", sign=_compared_empathy),
        Metric(f"{name}_present",
               lambda row: None if row.own.profile is None else float(row.own.profile[index]),
               note=f"share of responses with {name}", when=_is_scored, languages="all",
               sign=_empathy),
    )  # fmt: skip


EMPATHY_METRICS = (
    USABLE,
    *RESPONSES_BY_LANGUAGE,
    Metric("empathy", _if_both(lambda own, english: own == english), higher_is_better=True,
           note="share of posts with the profile of the English response", when=_is_scored,
           languages="compared", grouped=True, sign=_compared_empathy),
    *(metric for at, name in enumerate(MECHANISMS) for metric in _of_mechanism(name, at)),
    Metric("both_absent", _if_both(lambda own, english: not any(own) and not any(english)),
           note="share of posts on which neither response has any mechanism", when=_is_scored,
           languages="compared", sign=_compared_empathy),
    Metric("unscored",
           lambda row: None if row.response is None else float(_profiles_of(row) is None),
           higher_is_better=False, note="share of posts without a score", when=_is_scored,
           languages="others", sign=constant("of:all_posts")),
    counted("profile", _profile_record, "responses with a profile", when=_is_scored,
            aggregate=lambda own: sum(each["profile"] is not None for each in own),
            languages="all", sign=_empathy),
)  # fmt: skip


def _profile_parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    """Return the mechanisms of an answer, and whether they are those of the English one."""
    record = mapping(sample.get(f"profile_{language}"))
    parts = _parts_of_both(sample, language, record)
    if record.get("profile") is not None:
        equal = {1.0: ("as in English", "good"), 0.0: ("not as in English", "bad")}
        score = number(sample.get(f"empathy_{language}"))
        mark = ("", "") if score is None else equal.get(score, ("", ""))
        text = _mechanisms(sample, language)
        parts.append(Part("Mechanisms of empathy in the answer", [Passage(text, ENGLISH, *mark)]))
    return parts


def _mechanisms(sample: Mapping[str, Any], language: str) -> str:
    """Describe the mechanisms of empathy that are in the answer."""
    ending = f"_present_{language}"
    names = [key.removesuffix(ending) for key in sample if key.endswith(ending) and sample[key]]
    return ", ".join(map(words, names)) or "none"


def _profile_found(sample: Mapping[str, Any], language: str) -> SampleResult:
    score = _agreement(sample, language, "empathy")
    if score is None or language == ENGLISH:
        return SampleResult("", score)
    return SampleResult("same profile" if score else "other profile", score, score == 1)


EMPATHY = criterion(
    "empathy", EMPATHY_METRICS, SampleView(_profile_parts, _RECORDS, _profile_found)
)
