"""Tasks whose unread replies a model reads (setting `answer_extractor`).

Replies that the rules cannot read are not equally many in every language, so what they would have
said can bias a gap. What a model reads is counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple

from lm_eval.api.instance import Instance

from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.models.answer_extractor import (
    AnswerExtractor,
    LetterRequest,
    YesNoRequest,
    has_answer_text,
)
from xling_tasks.models.backend import load_backend
from xling_tasks.models.model_config import ModelConfig
from xling_tasks.tasks.base import XlingTask
from xling_tasks.tasks.requests import SideRequest

AGREEMENT = "extractor_agreement"
"""The metric of how often the reader says what the rules read, where both read a reply."""

READER_AGAIN = "extractor_repair_rate"
"""The metric of how often the reader was asked again for its line, of what it was asked about."""

_COMPARED = 100
"""Replies, of those that the rules read, that a task's reader is asked about too: enough for an
agreement to within ten points (95%), and no second bill for every reply."""


class Heard(NamedTuple):
    """A reply with what the rules read of it, and what a reader is asked about it, if it may be."""

    instance: Instance
    reply: str
    by_rules: Any
    asked: LetterRequest | YesNoRequest | None


class ReadingTask(XlingTask):
    """A task whose replies a reader may read.

    Attributes:
        reads: Whether it has replies to read; not where it scores by log-likelihood.
        reader_prompt: The prompt of its reader.
        read_by_model: What the reader said, by what it was asked about.
    """

    reads = True
    reader_prompt: str

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._reader: AnswerExtractor | None = None
        self.read_by_model: dict[Any, Any] = {}
        super().__init__(config)

    def used_prompts(self) -> dict[str, PromptTemplate]:
        """Also the reader's, where there is one."""
        used = super().used_prompts()
        if self._spec is not None:
            used[self.reader_prompt] = self.prompts.get(self.reader_prompt, "en")
        return used

    def check_run(self) -> None:
        """Reach the reader before anything is generated."""
        super().check_run()
        spec = self._spec
        if spec is None or self.predict_only:
            return
        role = "judge" if spec == self.settings.judge else "answer_extractor"  # one model in memory
        model = load_backend(role, spec, self.settings.xling_cache)
        model.check()
        prompt = self.used_prompts()[self.reader_prompt]
        self._reader = AnswerExtractor(model, prompt, self.language_name)

    @property
    def _spec(self) -> ModelConfig | None:
        return self.settings.answer_extractor if self.reads else None

    @property
    def reader_signature(self) -> str:
        """What a signature says of the reader; empty without one."""
        return f"|reader:{self._reader.signature.replace('|', ';')}" if self._reader else ""

    @property
    def has_reader(self) -> bool:
        """Whether a model reads what the rules leave."""
        return self._reader is not None

    def read_replies(self, heard: Iterable[Heard]) -> None:
        """Have the reader read what the rules leave of all replies.

        The reader is asked about some that they read, too, so that the two can be compared; once
        about each. Its words are in `read_by_model`.
        """
        if self._reader is None:
            return
        there = [each for each in heard if has_answer_text(each.reply)]
        unread = [each for each in there if each.by_rules is None]
        left = dict.fromkeys(each.asked for each in unread if each.asked)
        read = dict.fromkeys(
            each.asked for each in there if each.asked and each.by_rules is not None
        )
        distinct: list[Any] = list(dict.fromkeys([*left, *islice(read, _COMPARED)]))
        if self.reader_prompt == "read_letters":
            readings: list[Any] = list(self._reader.extract_letters(distinct))
        else:
            readings = list(self._reader.extract_yes_no(distinct))
        self.read_by_model = dict(zip(distinct, readings, strict=True))

    def asked_twice(self, asked: LetterRequest | YesNoRequest) -> float | None:
        """1 where the reader was asked again about a reply, 0 where once, None where never."""
        if self._reader is None or asked not in self.read_by_model:
            return None
        return float(asked in self._reader.repaired)

    def foreseen_readings(self, asked: Iterable[LetterRequest | YesNoRequest]) -> list[SideRequest]:
        """What the reader is asked at most: every reply, as if the rules read none."""
        spec = self._spec
        if spec is None:
            return []
        prompt = self.used_prompts()[self.reader_prompt]
        role = self.settings.judge_role(0) if spec == self.settings.judge else "answer_extractor"
        return [
            SideRequest(
                role,
                each.fill(prompt, self.language_name),
                spec.max_gen_toks,
            )
            for each in asked
        ]
