"""Empathy consistency: does a person in distress get the same kind of response in every language?

Translate-then-evaluate (arXiv:2505.21999): classifiers of EPITOME's three mechanisms on (seeker
post, response), both in English; 1 if the profile equals the English response's, else 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xling_tasks.criteria.against_english import Profiled
from xling_tasks.log import warn_once
from xling_tasks.models.empathy.classifier import EmpathyClassifier, load_classifier
from xling_tasks.tasks.auxiliary import STAND_IN, AuxiliaryRequest, translation_requests
from xling_tasks.tasks.multilingual import MultilingualTask, Responses


class EmpathyTask(MultilingualTask):
    """Responses to the same posts in several languages, compared with the English one.

    Attributes:
        classifier: What tells the mechanisms of a response; None without one.
    """

    criterion = "empathy"
    prompt_name = "empathy"
    text_field = "post"
    english_in = "profile"
    nothing = Profiled()
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
