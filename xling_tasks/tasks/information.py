"""Information consistency: does an answer say what the English answer says?

Translate-then-evaluate (arXiv:2505.21999): claims of both answers in English, each verified
against the other answer. A prompt whose right answer differs, by country for example, is asked and
not compared: an answer that fits its language's country would count as wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from xling_metrics.aggregate import HARMONIC, MEAN, RATIO
from xling_metrics.base import signature
from xling_metrics.claims import ClaimScores, claim_scores

from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.prompt_sets import PromptSet
from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.data.xlinghealth import load
from xling_tasks.failed_response import is_failed, is_filtered
from xling_tasks.log import warn_once
from xling_tasks.models.backend import Backend, load_backend
from xling_tasks.models.claims import (
    EXTRACTION_TOKENS,
    ClaimExtraction,
    extract_claims,
    fill_claims,
    fill_support,
    verify_claims,
)
from xling_tasks.models.structured_output import REPAIR_RATE
from xling_tasks.tasks.metric import Metric
from xling_tasks.tasks.multilingual import AGAIN, Key, MultilingualTask
from xling_tasks.tasks.requests import STAND_IN, SideRequest

_SHARES = ("information_precision", "information_recall")
_NO_SCORES = ClaimScores(None, None, None)
_STAND_IN_CLAIMS = ["A person who asks about their health gets an answer of some length."] * 15


class Compared(NamedTuple):
    """One answer beside the English one.

    Attributes:
        english: The answer in English; None if it could not be translated.
        own: Its claims; none if there is no text or the list could not be read.
        supported: Whether the English answer supports each of them.
        reference_supported: Whether it supports each claim of the English answer.
        reason: Why there is no score; None if there is one.
        asked_again: How many of the judge's replies about it were asked about again, of how many.
    """

    english: str | None
    own: ClaimExtraction
    supported: list[bool | None]
    reference_supported: list[bool | None]
    scores: ClaimScores
    reason: str | None
    asked_again: list[int] | None

    def record(self) -> dict[str, Any]:
        """What the samples keep of it."""
        claims = self.own.claims
        return {
            "n": None if claims is None else len(claims),
            "english": self.english,
            "claims": None if claims is None else list(claims),
            "supported": self.supported,
            "reference_supported": self.reference_supported,
            "unscored": self.reason,
        }

    def unverified(self) -> list[int]:
        """How many of its claims have no verdict, of how many."""
        verdicts = [*self.supported, *self.reference_supported]
        return [verdicts.count(None), len(verdicts)]


class InformationTask(MultilingualTask):
    """Answers to the same prompts in several languages, compared claim by claim with English."""

    criterion = "information"
    prompt_name = "information"
    text_field = "prompt"
    english_in = "n_claims"

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._judge: Backend | None = None
        self._compared: dict[Key, dict[str, Compared]] = {}
        super().__init__(config)

    @property
    def scored(self) -> bool:
        """Whether there is a judge."""
        return self.settings.judge is not None

    def excluded_rate(self) -> dict[str, str]:
        """The prompts that are asked and not compared: by what right answers to them differ."""
        return {item["id"]: item["varies"] for item in self.data.prompts if "varies" in item}

    def coverage(self) -> dict[str, Any]:
        """Also the prompts that are not compared."""
        kept_out = self.excluded_rate()
        return {**super().coverage(), **({"excluded_rate": kept_out} if kept_out else {})}

    def used_prompts(self) -> dict[str, PromptTemplate]:
        """Also the judge's two."""
        used = super().used_prompts()
        if self.scored:
            used |= {name: self.prompts.get(name, "en") for name in ("claims", "support")}
        return used

    def check_run(self) -> None:
        """Reach translator and judge before anything is generated."""
        super().check_run()
        if self.predict_only:
            return
        if self.settings.judge is None:
            warn_once(
                "Information consistency: no judge is set, so nothing is compared; reporting "
                "empty_rate and langid_match only. Set one with --metadata "
                '\'{"judge": {"model": ..., "model_args": {...}}}\'.'
            )
            return
        if self.settings.jury:
            warn_once(
                "Information consistency: claims are compared by one judge, the first of the "
                f"list ({self.settings.jury[0].name}); its signature says which model that is."
            )
        self._judge = load_backend("judge", self.settings.judge, self.settings.xling_cache)
        self._judge.check()

    def side_requests(self, doc: dict[str, Any]) -> list[SideRequest]:
        """Translation, claims and two verifications per answer, with a text standing in for it."""
        spec = self.settings.judge
        if spec is None or "varies" in doc:
            return []
        prompts, role = self.used_prompts(), self.settings.judge_role(0)
        support = fill_support(prompts["support"], _STAND_IN_CLAIMS, STAND_IN)
        claims = fill_claims(prompts["claims"], STAND_IN)
        room = max(spec.max_gen_toks, EXTRACTION_TOKENS)
        requests = []
        for code in doc["text"]:
            requests += self.translation_requests(STAND_IN, code)
            requests.append(SideRequest(role, claims, room, code))
        for code, reply in self.compared().items():
            if reply == AGAIN:
                requests.append(SideRequest(role, claims, room, code))
            if code in doc["text"]:
                requests += [SideRequest(role, support, spec.max_gen_toks, code)] * 2
        return requests

    # Scoring

    def score(self) -> None:
        """Translate, extract and verify, each once over all answers that are compared."""
        if self._judge is None:
            return
        prompts, kept_out = self.used_prompts(), self.excluded_rate()
        answers = {key: own for key, own in self.replies().items() if key[0] not in kept_out}
        english = self.in_english(answers)
        texts = list(dict.fromkeys(text for text in english.values() if text is not None))
        extractions = extract_claims(texts, prompts["claims"], self._judge)
        claims: dict[str | None, ClaimExtraction] = dict(zip(texts, extractions, strict=True))
        claims[None] = ClaimExtraction(None)
        pairs = dict.fromkeys(
            pair
            for replies in answers.values()
            for code, reply in replies.items()
            if code != "en"
            for pair in _pairs(english["en", replies["en"]], english[code, reply], claims)
        )
        again: set[Any] = set()
        said = verify_claims(list(pairs), prompts["support"], self._judge, again)
        verdicts = dict(zip(pairs, said, strict=True))

        def compared(code: str, reply: str, reference: str) -> Compared:
            text, other = english[code, reply], english["en", reference]
            mine = [] if code == "en" else _pairs(other, text, claims)  # English with no other
            both = [] if is_filtered(reference) else [verdicts[pair] for pair in mine]
            scores, reason = claim_scores(*both) if both else _NO_SCORES, None
            if code != "en":
                reason = _no_answer(reply, reference)
                if reason is None and scores.f1 is None:
                    reason = _no_score(text, claims[text].claims, claims[other].claims)
            asked = _asked_again(text, mine, claims, again)
            supported, reverse = both or ([], [])
            return Compared(text, claims[text], supported, reverse, scores, reason, asked)

        self._compared = {
            key: {code: compared(code, reply, own["en"]) for code, reply in own.items()}
            for key, own in answers.items()
        }

    # Values

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Scores by language, with the claims and verdicts they are made of."""
        values = self.about_replies(doc, results)
        if self._judge is None:
            return values
        kept_out = doc.get("varies")
        compared = {} if kept_out else self._compared[self.key(doc, results)]
        pairs = {code: _pair(item.scores) for code, item in compared.items()}
        values |= self.group_values("information_f1", pairs)
        if self.excluded_rate():
            values["excluded_rate"] = float(kept_out is not None)
        for code in self.languages:
            item = compared.get(code)
            claims = None if item is None else item.own.claims
            values[f"n_claims_{code}"] = None if item is None else item.record()
            values[f"{REPAIR_RATE}_{code}"] = None if item is None else item.asked_again
            values[f"abstained_{code}"] = None if claims is None else float(not claims)
        for code, reply in self.compared().items():
            item = compared.get(reply)
            if item is not None and reply == AGAIN:
                values["n_claims_en"][AGAIN] = item.record()
                both = (compared["en"].asked_again, item.asked_again)
                there = [counts for counts in both if counts is not None]
                values[f"{REPAIR_RATE}_en"] = [*map(sum, zip(*there, strict=True))] or None
            scores = _NO_SCORES if item is None else item.scores
            own = _pair(scores)
            values[f"information_f1_{code}"] = own
            values[f"information_f1_by_prompt_{code}"] = scores.f1
            values[f"information_precision_{code}"] = own and own["precision"]
            values[f"information_recall_{code}"] = own and own["recall"]
            if reply != AGAIN:
                values[f"unscored_{code}"] = None if item is None else float(scores.f1 is None)
            values[f"unverified_{code}"] = None if item is None else item.unverified()
        return values

    def metrics(self) -> list[Metric]:
        """Per language and for the groups of languages."""
        metrics = self.metrics_about_replies()
        if self._judge is None:
            return metrics
        if self.excluded_rate():
            sign = signature("excluded_rate", of="all_prompts")
            metrics.append(Metric("excluded_rate", MEAN, sign))
        sign = f"of:scored_prompts|judge:{self._judge.signature}{self.translator_signature}"
        mean = f"mean:harmonic_of_mean_precision_and_mean_recall|{sign}"
        metrics += self.group_metrics("information_f1", mean, HARMONIC)
        for code in self.languages:
            own = f"|language:{code}|{sign}"
            again = f"{REPAIR_RATE}|of:claim_lists_and_comparisons{own}"
            metrics += [
                Metric(f"n_claims_{code}", _mean_claims, "n_claims" + own),
                Metric(f"abstained_{code}", MEAN, "abstained" + own),
                Metric(f"{REPAIR_RATE}_{code}", RATIO, again),
            ]
        for code, reply in self.compared().items():
            floor = self.floor_signature if reply == AGAIN else ""
            own = f"|language:{code}|{sign}{floor}"
            whole = f"information_f1|language:{code}|{mean}{floor}"
            metrics.append(Metric(f"information_f1_{code}", HARMONIC, whole))
            for name in ("information_f1_by_prompt", *_SHARES):
                metrics.append(Metric(f"{name}_{code}", MEAN, name + own))
            counts = {} if reply == AGAIN else {"unscored": "compared_prompts"}
            counts |= {"unverified": "all_claims"}
            for name, of in counts.items():
                how = MEAN if name == "unscored" else RATIO
                metrics.append(Metric(f"{name}_{code}", how, signature(name, language=code, of=of)))
        return metrics


def _pair(scores: ClaimScores) -> dict[str, float | None] | None:
    """What a prompt adds to the means behind F1; None for an unscored one."""
    if scores.f1 is None:
        return None
    return {"precision": scores.precision, "recall": scores.recall}


def _pairs(
    reference: str | None, answer: str | None, claims: Mapping[str | None, ClaimExtraction]
) -> list[tuple[tuple[str, ...], str]]:
    """What is verified: the answer's claims against the reference answer, and the reverse."""
    own, others = claims[answer].claims, claims[reference].claims
    if answer is None or reference is None or own is None or others is None:
        return []
    # A text without claims supports none: nobody need be asked.
    return [(own, reference if others else ""), (others, answer if own else "")]


def _asked_again(
    text: str | None,
    pairs: Collection[Any],
    claims: Mapping[str | None, ClaimExtraction],
    again: Collection[Any],
) -> list[int] | None:
    """How many of the judge's replies about an answer were asked about again, of how many."""
    if text is None:
        return None
    asked = [pair for pair in pairs if pair[0] and pair[1].strip()]
    return [
        claims[text].repaired + sum(pair in again for pair in asked),
        bool(text.strip()) + len(asked),
    ]


def _no_answer(reply: str, english: str) -> str | None:
    """Why there is no answer to compare: that is not the other language's doing."""
    if is_failed(reply):
        return "the answer failed"
    if is_failed(english):
        return "the English answer failed"
    return "the English answer was held back" if is_filtered(english) else None


def _no_score(
    answer: str | None, own: tuple[str, ...] | None, english: tuple[str, ...] | None
) -> str:
    """Why answers that are there have no score."""
    if answer is None:
        return "translation failed"
    if own is None:
        return "claims not read"
    if english is None:
        return "claims of the English answer not read"
    return "claims not verified" if own or english else "both answers abstain"


def _mean_claims(values: list[dict[str, Any] | None]) -> float | None:
    return MEAN([None if value is None else value["n"] for value in values])


class XLingHealthInformationTask(InformationTask):
    """The same over XLingHealth's questions."""

    def load_docs(self, record: str) -> list[dict[str, Any]]:
        """The questions that have a text in English and in another language of this run."""
        self.record = DATASETS[record]
        data = load(self.record, self.settings.data_dir)
        self.provenance = data.provenance
        prompts = tuple({"id": item.id, "text": dict(item.text)} for item in data.questions)
        self.data = PromptSet(self.record.languages, prompts, data.provenance)
        return self.documents(self.data)
