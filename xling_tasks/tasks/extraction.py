"""Answers that a model extracts where the rules find none (setting `answer_extractor`).

Responses that the rules cannot read are not equally many in every language, so what they would have
said can bias a gap. What a model extracts is counted separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.models.answer_extractor import (
    AnswerExtractor,
    ExtractionRequest,
    LetterRequest,
    has_answer_text,
)
from xling_tasks.models.backend import load_backend
from xling_tasks.tasks.requests import AuxiliaryRequest

_COMPARED = 100
"""Responses, of those that the rules read, that the model is asked about too: enough for an
agreement to within ten points (95%), and no second bill for every response."""


class Extractor:
    """A task's answer extractor.

    Attributes:
        signature: The field of a signature that names it.
        answers: What it extracted, by what it was asked about.
    """

    def __init__(self, task: Any, prompt: PromptTemplate) -> None:
        settings, config = task.settings, task.settings.answer_extractor
        role = "judge" if config == settings.judge else "answer_extractor"  # one model in memory
        backend = load_backend(role, config, settings.xling_cache)
        backend.check()
        self._model = AnswerExtractor(backend, prompt, task.language_name)
        self.signature = f"|reader:{self._model.signature.replace('|', ';')}"
        self.answers: dict[ExtractionRequest, Any] = {}

    def extract(self, pairs: Iterable[tuple[Any, ExtractionRequest | None]]) -> None:
        """Extract the answers that the rules leave, of pairs of their answer and the request.

        The model is asked about some that the rules read, too, so that the two can be compared;
        once about each. None is a response that no model need be asked about.
        """
        readable = [
            (answer, request) for answer, request in pairs
            if request is not None and has_answer_text(request.response)
        ]  # fmt: skip
        unparsed = dict.fromkeys(request for answer, request in readable if answer is None)
        read = dict.fromkeys(request for answer, request in readable if answer is not None)
        distinct: list[Any] = list(dict.fromkeys([*unparsed, *islice(read, _COMPARED)]))
        if all(isinstance(request, LetterRequest) for request in distinct):
            answers: Sequence[Any] = self._model.extract_letters(distinct)
        else:
            answers = self._model.extract_yes_no(distinct)
        self.answers |= dict(zip(distinct, answers, strict=True))

    def repaired(self, request: ExtractionRequest) -> bool | None:
        """Return whether the model was asked again about a response; None if never."""
        return request in self._model.repaired if request in self.answers else None


def extractor_prompts(task: Any, name: str) -> Mapping[str, PromptTemplate]:
    """Return the extractor's prompt by its name, where there is an extractor."""
    if task.settings.answer_extractor is None:
        return {}
    return {name: task.templates.get(name, "en")}


def load_extractor(task: Any, name: str) -> Extractor | None:
    """Load a task's answer extractor before anything is generated; None without one."""
    if task.settings.answer_extractor is None or task.predict_only:
        return None
    return Extractor(task, task.templates.get(name, "en"))


def extraction_requests(
    task: Any, name: str, requests: Iterable[ExtractionRequest]
) -> list[AuxiliaryRequest]:
    """Return what the extractor is asked at most: every response, as if the rules read none."""
    config = task.settings.answer_extractor
    if config is None:
        return []
    judge = config == task.settings.judge
    role = task.settings.judge_role(0) if judge else "answer_extractor"
    prompt = task.templates.get(name, "en")
    return [
        AuxiliaryRequest(role, request.fill(prompt, task.language_name), config.max_gen_toks)
        for request in requests
    ]
