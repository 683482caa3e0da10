"""What other models than the one under test are asked: translators and answer extractors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.languages import find
from xling_tasks.log import warn_once
from xling_tasks.models.answer_extractor import ExtractionRequest, extract_answers
from xling_tasks.models.backend import load_backend
from xling_tasks.models.translate.translator import load_translator
from xling_tasks.readers.reasoning import strip_reasoning

STAND_IN = " ".join(
    f"Sentence {i} of an answer to a person who asks about their health is as long as this."
    for i in range(1, 21)
)
"""For costs: an answer of about 350 words, which is what chat models write on such questions."""

# Responses, of those that the rules read, that the extractor is asked about too: enough for an
# agreement to within ten points (95%), and no second bill for every response.
_COMPARED = 100


@dataclass(frozen=True)
class AuxiliaryRequest:
    """A request to another model than the one under test."""

    role: str  # `judge`, `translator` or `answer_extractor`
    prompt: str  # what it is asked
    max_gen_toks: int  # the most tokens of its reply
    language: str | None = None  # that of the answer it is about; None for the task's


def warn_of_no_judge(title: str, left: str) -> None:
    """Warn that no judge is set, so that LEFT is all that is reported."""
    warn_once(
        f"{title}: no judge is set; reporting {left} only. Set one with --metadata "
        '\'{"judge": {"model": ..., "model_args": {...}}}\'.'
    )


def open_judge(task: Any, title: str, left: str) -> Any:
    """Load the first judge before anything is generated; warn without one, and return None."""
    settings = task.settings
    if settings.judge is None:
        warn_of_no_judge(title, left)
        return None
    judge = load_backend("judge", settings.judge, settings.xling_cache)
    judge.check()
    return judge


def open_translator(task: Any) -> Any:
    """Load or reach the translator; None if none is set, or there is nothing to translate."""
    config, pairs = task.settings.translator, [(c, "en") for c in task.languages if c != "en"]
    if config is None or not pairs:
        return None
    prompt = task.templates.get("translate", "en")
    model = load_translator(config, task.settings.xling_cache, prompt)
    model.check(*pairs)
    return model


def translation_requests(task: Any, text: str, language: str) -> list[AuxiliaryRequest]:
    """Return what a translator of the harness is asked about a text, or about one of its length."""
    prompt = task.prompt_templates().get("translate")
    if prompt is None or language == "en":
        return []
    source, target = find(language).name, find("en").name
    filled = prompt.fill(text=text, source_language=source, target_language=target)
    max_tokens = task.settings.translator.max_gen_toks
    return [AuxiliaryRequest("translator", filled, max_tokens, language)]


class Extractor:
    """A task's answer extractor: a model that reads the responses that the rules do not.

    These are not equally many in every language, so they can bias a gap.
    """

    def __init__(self, task: Any, prompt: PromptTemplate) -> None:
        settings, config = task.settings, task.settings.answer_extractor
        role = "judge" if config == settings.judge else "answer_extractor"  # one model in memory
        self._backend = load_backend(role, config, settings.xling_cache)
        self._backend.check()
        self._prompt, self._language = prompt, task.language_name
        self.signature = f"|reader:{self._backend.signature.replace('|', ';')}"
        self.answers: dict[ExtractionRequest, Any] = {}
        self._repaired: set[ExtractionRequest] = set()

    def extract(self, pairs: Iterable[tuple[Any, ExtractionRequest | None]]) -> None:
        """Extract the answers that the rules leave, of pairs of their answer and the request.

        The model is asked about some that the rules read, too, so that the two can be compared.
        """
        readable = [
            (answer, request) for answer, request in pairs
            if request is not None and (strip_reasoning(request.response) or "").strip()
        ]  # fmt: skip
        unparsed = dict.fromkeys(request for answer, request in readable if answer is None)
        read = dict.fromkeys(request for answer, request in readable if answer is not None)
        distinct = list(dict.fromkeys([*unparsed, *islice(read, _COMPARED)]))
        answers, repaired = extract_answers(distinct, self._prompt, self._language, self._backend)
        self.answers |= answers
        self._repaired |= repaired

    def repaired(self, request: ExtractionRequest) -> bool | None:
        """Return whether the model was asked again about a response; None if never."""
        return request in self._repaired if request in self.answers else None


def extraction_requests(
    task: Any, name: str, requests: Iterable[ExtractionRequest]
) -> list[AuxiliaryRequest]:
    """Return what the extractor is asked at most: every response, as if the rules read none."""
    config, prompt = task.settings.answer_extractor, task.prompt_templates().get(name)
    if prompt is None:
        return []
    judge = config == task.settings.judge
    role = task.settings.judge_role(0) if judge else "answer_extractor"
    filled = (prompt.fill(material=r.material(), language=task.language_name) for r in requests)
    return [AuxiliaryRequest(role, text, config.max_gen_toks) for text in filled]
