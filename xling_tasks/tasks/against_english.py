"""Translate-then-evaluate (arXiv:2505.21999): each answer is compared with the English one.

Information consistency: does an answer say what the English answer says? Claims of both answers in
English are verified against the other answer. A prompt whose right answer differs, by country for
example, is asked and not compared: an answer that fits its language's country would count as wrong.

Empathy consistency: does a person in distress get the same kind of response in every language?
Classifiers of EPITOME's three mechanisms read (seeker post, response), both in English; 1 if the
profile equals the English response's, else 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from xling_metrics.claims import ClaimScores, claim_scores

from xling_tasks.criteria.against_english import ComparedClaims, Profiled
from xling_tasks.data.custom.dataset import load_custom_dataset
from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.prompt_sets import PromptSet
from xling_tasks.data.tables import natural_key
from xling_tasks.data.xlinghealth import load
from xling_tasks.errors import DataError
from xling_tasks.failed_response import is_failed, is_filtered
from xling_tasks.log import warn_once
from xling_tasks.models.empathy.classifier import EmpathyClassifier, load_classifier
from xling_tasks.models.judge_items import (
    EXTRACTION_TOKENS,
    ClaimExtraction,
    extract_claims,
    fill_claims,
    fill_support,
    verify_claims,
)
from xling_tasks.tasks.auxiliary import (
    STAND_IN,
    AuxiliaryRequest,
    open_judge,
    translation_requests,
)
from xling_tasks.tasks.multilingual import MultilingualTask, Responses

_NO_SCORES = ClaimScores(None, None, None)
_STAND_IN_CLAIMS = ["A person who asks about their health gets an answer of some length."] * 15

Claims = Mapping[str | None, ClaimExtraction]
Pair = tuple[tuple[str, ...], str]  # claims, and the text that they are verified against


class InformationTask(MultilingualTask):
    """Answers to the same prompts in several languages, compared claim by claim with English."""

    criterion = "information"
    prompt_name = "information"
    other_prompts = ("translate", "claims", "support")
    text_field = "prompt"
    english_in = "n_claims"
    judge: Any = None  # the model that extracts and verifies claims; None without one

    @property
    def scored(self) -> bool:
        """Whether there is a judge."""
        return self.settings.judge is not None

    @property
    def excluded(self) -> Mapping[str, str]:  # type: ignore[override]
        """The prompts that are asked and not compared: by what right answers to them differ."""
        return {item["id"]: item["varies"] for item in self.data.prompts if "varies" in item}

    def prepare(self) -> None:
        """Check translator and judge before anything is generated."""
        super().prepare()
        if self.predict_only:
            return
        if self.settings.jury:
            warn_once(
                "Information consistency: claims are compared by one judge, the first of the "
                f"list ({self.settings.jury[0].name}); its signature says which model that is."
            )
        self.judge = open_judge(self, "Information consistency", "empty_rate and langid_match")

    def auxiliary_requests(self, doc: dict[str, Any]) -> list[AuxiliaryRequest]:
        """Return translation, claims and two verifications per answer, with a text for it."""
        config = self.settings.judge
        if config is None or "varies" in doc:
            return []
        templates, role = self.prompt_templates(), self.settings.judge_role(0)
        support = fill_support(templates["support"], _STAND_IN_CLAIMS, STAND_IN)
        claims = fill_claims(templates["claims"], STAND_IN)
        max_tokens = max(config.max_gen_toks, EXTRACTION_TOKENS)
        requests = []
        for code in doc["text"]:
            requests += translation_requests(self, STAND_IN, code)
            requests.append(AuxiliaryRequest(role, claims, max_tokens, code))
            if code != "en":
                requests += [AuxiliaryRequest(role, support, config.max_gen_toks, code)] * 2
        if self.settings.english_floor:
            requests.append(AuxiliaryRequest(role, claims, max_tokens, "en"))
            requests += [AuxiliaryRequest(role, support, config.max_gen_toks, "en")] * 2
        return requests

    def compare(
        self, docs: Mapping[int, Any], responses: Mapping[int, Responses],
        english: Mapping[tuple[str, str], str | None],
    ) -> dict[int, dict[str, ComparedClaims]]:  # fmt: skip
        """Extract and verify, each once over all answers that are compared."""
        templates = self.prompt_templates()
        texts = list(dict.fromkeys(text for text in english.values() if text is not None))
        extractions = extract_claims(texts, templates["claims"], self.judge)
        claims: dict[str | None, ClaimExtraction] = dict(zip(texts, extractions, strict=True))
        claims[None] = ClaimExtraction(None)
        pairs = list(dict.fromkeys(
            pair
            for by_language in responses.values()
            for code, text in by_language.items()
            if code != "en"
            for pair in _pairs(english["en", by_language["en"]], english[code, text], claims)
        ))  # fmt: skip
        repaired: set[Any] = set()
        labels = verify_claims(pairs, templates["support"], self.judge, repaired)
        supported = dict(zip(pairs, labels, strict=True))
        return {
            number: {
                code: _compare_one(
                    code, text, by_language["en"], english, claims, supported, repaired
                )
                for code, text in by_language.items()
            }
            for number, by_language in responses.items()
        }


def _compare_one(
    code: str, text: str, reference: str, english: Mapping[tuple[str, str], str | None],
    claims: Claims, labels: Mapping[Pair, list[bool | None]], repaired: Collection[Any],
) -> ComparedClaims:  # fmt: skip
    """Return an answer beside the English one; of the first English one its claims alone."""
    answer, other = english[code, text], english["en", reference]
    pairs = [] if code == "en" else _pairs(other, answer, claims)
    supports = [] if is_filtered(reference) else [labels[pair] for pair in pairs]
    scores = claim_scores(*supports) if supports else _NO_SCORES
    reason = None
    if code != "en" and (scores.f1 is None or is_failed(text) or is_failed(reference)):
        reasons = {  # what is the English answer's doing goes first
            "the answer failed": is_failed(text),
            "the English answer failed": is_failed(reference),
            "the English answer was held back": is_filtered(reference),
            "translation failed": answer is None,
            "claims not read": claims[answer].claims is None,
            "claims of the English answer not read": claims[other].claims is None,
            "claims not verified": bool(claims[answer].claims or claims[other].claims),
            "both answers abstain": True,
        }
        reason = next(text for text, holds in reasons.items() if holds)
    supported, reverse = supports or ([], [])
    claims_of_answer, every = claims[answer].claims, [*supported, *reverse]
    record = {
        "n": None if claims_of_answer is None else len(claims_of_answer),
        "english": answer,
        "claims": None if claims_of_answer is None else list(claims_of_answer),
        "supported": supported,
        "reference_supported": reverse,
        "unscored": reason,
    }
    pair = None
    if scores.f1 is not None:
        pair = {"precision": scores.precision, "recall": scores.recall}
    repairs = None
    if answer is not None:  # replies of the judge that were asked for again, of how many
        requested = [of_pair for of_pair in pairs if of_pair[0] and of_pair[1].strip()]
        repairs = [
            claims[answer].repaired + sum(of_pair in repaired for of_pair in requested),
            bool(answer.strip()) + len(requested),
        ]
    unverified = [every.count(None), len(every)]
    return ComparedClaims(claims_of_answer, record, pair, scores.f1, unverified, repairs)


def _pairs(reference: str | None, answer: str | None, claims: Claims) -> list[Pair]:
    """Return what is verified: the answer's claims against the reference, and the reverse."""
    answer_claims, reference_claims = claims[answer].claims, claims[reference].claims
    if answer is None or reference is None or answer_claims is None or reference_claims is None:
        return []
    # A text without claims supports none: nobody need be asked.
    return [
        (answer_claims, reference if reference_claims else ""),
        (reference_claims, answer if answer_claims else ""),
    ]


class QuestionInformationTask(InformationTask):
    """The same over questions of a data set: XLingHealth's, or the user's own."""

    def load_set(self, record: str) -> PromptSet:
        """Return the questions in all their languages; sets `record`."""
        if not self.is_custom:
            self.record = DATASETS[record]
            data = load(self.record, self.settings.data_dir)
            prompts = tuple({"id": item.id, "text": dict(item.text)} for item in data.questions)
            return PromptSet(self.record.languages, prompts, data.provenance)
        dataset = load_custom_dataset(self.settings.data_dir)
        self.record = dataset.info
        codes = self.record.languages
        if codes[0] != "en":
            raise DataError(
                f"{self._name}: answers are compared with the English one, but the file has "
                f"questions in {', '.join(codes)} only; add question_en"
            )
        prompts = tuple(
            {
                "id": item.id,
                **({"category": item.category} if item.category else {}),
                "text": {code: item.texts_in(code).get("question") for code in codes},
            }
            for item in dataset.questions
        )
        return PromptSet(codes, prompts, dataset.provenance)

    def coverage(self) -> dict[str, Any]:
        """Return also the questions that are asked in no language."""
        if not self.is_custom:
            return super().coverage()
        unasked = {
            str(item["id"]): "no other language" if item["text"]["en"] else "English text missing"
            for item in self.data.prompts
            if not item["text"]["en"] or not any(item["text"][c] for c in self.languages[1:])
        }
        return {
            **super().coverage(),
            "questions_left_out": sorted(unasked, key=natural_key),
            "reasons_left_out": dict(Counter(unasked.values())),
        }


class EmpathyTask(MultilingualTask):
    """Responses to the same posts in several languages, compared with the English one."""

    criterion = "empathy"
    prompt_name = "empathy"
    text_field = "post"
    english_in = "profile"
    nothing = Profiled()
    # what tells the mechanisms of a response; None without one
    classifier: EmpathyClassifier | None = None

    @property
    def scored(self) -> bool:
        """Whether there is a classifier."""
        return self.settings.empathy_classifier is not None

    def prepare(self) -> None:
        """Load classifier and translator before anything is generated."""
        super().prepare()
        if self.predict_only:
            return
        if self.settings.empathy_classifier is None:
            warn_once(
                "Empathy consistency: no classifier is set, so nothing is compared; reporting "
                "empty_rate and langid_match only. Make one with `xling train-empathy` and set "
                "--metadata empathy_classifier=FOLDER."
            )
            return
        self.classifier = load_classifier(self.settings.empathy_classifier)

    def auxiliary_requests(self, doc: dict[str, Any]) -> list[AuxiliaryRequest]:
        """Return the translation of each response, with a text standing in for it."""
        codes = doc["text"] if self.scored else ()
        return [one for code in codes for one in translation_requests(self, STAND_IN, code)]

    def compare(
        self, docs: Mapping[int, Any], responses: Mapping[int, Responses],
        english: Mapping[tuple[str, str], str | None],
    ) -> dict[int, dict[str, Profiled]]:  # fmt: skip
        """Return all profiles, each text classified once; empty responses have none."""
        assert self.classifier is not None
        pairs = {
            (number, code): (docs[number]["text"]["en"], text)
            for number, by_language in responses.items()
            for code, response in by_language.items()
            if (text := english[code, response]) is not None and text.strip()
        }
        distinct = list(dict.fromkeys(pairs.values()))
        profiles = dict(zip(distinct, self.classifier.profiles(distinct), strict=True))
        return {
            number: {
                code: Profiled(
                    english[code, response], profiles.get(pairs.get((number, code), ("", "")))
                )
                for code, response in by_language.items()
            }
            for number, by_language in responses.items()
        }
