"""Empathy consistency: does a person in distress get the same kind of response in every language?

Translate-then-evaluate (arXiv:2505.21999): classifiers of EPITOME's three mechanisms on (seeker
post, response), both in English; 1 if the profile equals the English response's, else 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xling_metrics.aggregate import MEAN
from xling_metrics.base import signature

from xling_tasks.log import warn_once
from xling_tasks.models.empathy.classifier import EmpathyClassifier, load_classifier
from xling_tasks.models.empathy.data import MECHANISMS
from xling_tasks.tasks.metric import Metric
from xling_tasks.tasks.multilingual import AGAIN, Key, MultilingualTask
from xling_tasks.tasks.requests import STAND_IN, SideRequest

Profile = tuple[bool, bool, bool]
"""Which of the mechanisms a response has, in the order of `MECHANISMS`."""


class EmpathyTask(MultilingualTask):
    """Responses to the same posts in several languages, compared with the English one."""

    criterion = "empathy"
    prompt_name = "empathy"
    text_field = "post"
    english_in = "profile"

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._classifier: EmpathyClassifier | None = None
        self._responses: dict[Key, dict[str, tuple[str | None, Profile | None]]] = {}
        super().__init__(config)

    @property
    def scored(self) -> bool:
        """Whether there is a classifier."""
        return self.settings.empathy_classifier is not None

    def check_run(self) -> None:
        """Load classifier and translator before anything is generated."""
        super().check_run()
        if self.predict_only:
            return
        if self.settings.empathy_classifier is None:
            warn_once(
                "Empathy consistency: no classifier is set, so nothing is compared; reporting "
                "empty_rate and langid_match only. Make one with `xling train-empathy` and set "
                "--metadata empathy_classifier=FOLDER."
            )
            return
        self._classifier = load_classifier(self.settings.empathy_classifier)

    def side_requests(self, doc: dict[str, Any]) -> list[SideRequest]:
        """Translation of each response, with a text standing in for it."""
        if not self.scored:
            return []
        return [
            request for code in doc["text"] for request in self.translation_requests(STAND_IN, code)
        ]

    # Scoring

    def score(self) -> None:
        """Translate and classify once over all responses; empty ones have no profile."""
        if self._classifier is None:
            return
        posts = {item.doc["question_id"]: item.doc["text"]["en"] for item in self.instances}
        answers = self.replies()
        english = self.in_english(answers)
        pairs = {
            (key, code): (posts[key[0]], text)
            for key, replies in answers.items()
            for code, reply in replies.items()
            if (text := english[code, reply]) is not None and text.strip()
        }
        distinct = list(dict.fromkeys(pairs.values()))
        profiles = dict(zip(distinct, self._classifier.profiles(distinct), strict=True))
        self._responses = {
            key: {
                code: (english[code, reply], profiles.get(pairs.get((key, code), ("", ""))))
                for code, reply in replies.items()
            }
            for key, replies in answers.items()
        }

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Agreement with the English response, and what each response has, by language."""
        values = self.about_replies(doc, results)
        if self._classifier is None:
            return values
        responses = self._responses[self.key(doc, results)]
        reference = responses["en"][1]
        equal: dict[str, float | None] = {}
        for code in self.languages:
            text, profile = responses.get(code, (None, None))
            for i, name in enumerate(MECHANISMS):
                values[f"{name}_present_{code}"] = None if profile is None else float(profile[i])
            values[f"profile_{code}"] = _record(text, profile)
        for code, reply in self.compared().items():
            text, profile = responses.get(reply, (None, None))
            both = profile is not None and reference is not None
            equal[code] = float(profile == reference) if both else None
            values |= _agreement(code, profile, reference)
            if reply != AGAIN:
                values[f"unscored_{code}"] = None if reply not in responses else float(not both)
            elif reply in responses:
                values[f"profile_{code}"][AGAIN] = _record(text, profile)
        values |= {f"empathy_{code}": value for code, value in equal.items()}
        return values | self.group_values("empathy", equal)

    def metrics(self) -> list[Metric]:
        """Per language and for the groups of languages."""
        metrics = self.metrics_about_replies()
        if self._classifier is None:
            return metrics
        sign = f"of:scored_posts|classifier:{self._classifier.signature}{self.translator_signature}"
        metrics += self.group_metrics("empathy", sign)
        for code in self.languages:
            own = f"|language:{code}|{sign}"
            for name in MECHANISMS:
                metrics.append(Metric(f"{name}_present_{code}", MEAN, name + own))
            metrics.append(Metric(f"profile_{code}", _count, "profile" + own))
        for code, reply in self.compared().items():
            own = f"|language:{code}|{sign}{self.floor_signature if reply == AGAIN else ''}"
            metrics.append(Metric(f"empathy_{code}", MEAN, "empathy" + own))
            for name in MECHANISMS:
                label = f"{name}_agreement"
                metrics.append(Metric(f"{label}_{code}", MEAN, label + own))
            label = "both_absent"
            metrics.append(Metric(f"{label}_{code}", MEAN, label + own))
            if reply != AGAIN:
                unscored = signature("unscored", language=code, of="all_posts")
                metrics.append(Metric(f"unscored_{code}", MEAN, unscored))
        return metrics


def _record(text: str | None, profile: Profile | None) -> dict[str, Any]:
    """What the samples keep of a response."""
    return {"english": text, "profile": profile and list(profile)}


def _agreement(
    code: str, profile: Profile | None, reference: Profile | None
) -> dict[str, float | None]:
    """Agreement per mechanism, and whether the profiles are equal because both are empty."""
    if profile is None or reference is None:
        names = [*(f"{name}_agreement" for name in MECHANISMS), "both_absent"]
        return {f"{name}_{code}": None for name in names}
    values: dict[str, float | None] = {
        f"{name}_agreement_{code}": float(own == other)
        for name, own, other in zip(MECHANISMS, profile, reference, strict=True)
    }
    return {**values, f"both_absent_{code}": float(not any(profile) and not any(reference))}


def _count(values: list[dict[str, Any]]) -> int:
    """How many responses have a profile."""
    return sum(value["profile"] is not None for value in values)
