"""Tasks whose replies a model may read where the rules leave them unread (setting `reader`).

Replies that the rules cannot read are not equally many in every language, so what they would have
said can bias a gap. What a model reads is counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from xling_tasks.data.prompts import Prompt
from xling_tasks.models.backend import backend
from xling_tasks.models.control_tokens import common
from xling_tasks.models.reader import Choice, Opinion, Reader, code_for, fill
from xling_tasks.models.spec import ModelSpec
from xling_tasks.readers.fences import STAND_IN
from xling_tasks.tasks.base import XlingTask
from xling_tasks.tasks.side_requests import SideRequest

_Asked = TypeVar("_Asked", Choice, Opinion)


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
        self._reader: Reader | None = None
        self.read_by_model: dict[Any, Any] = {}
        super().__init__(config)

    def used_prompts(self) -> dict[str, Prompt]:
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
        role = "judge" if spec == self.settings.judge else "reader"  # one model in memory
        model = backend(role, spec, self.settings.xling_cache)
        prompt = self.used_prompts()[self.reader_prompt]
        self._reader = Reader(model, prompt, self.fences, self._language_name)
        self._reader.check()

    @property
    def _spec(self) -> ModelSpec | None:
        return self.settings.reader if self.reads else None

    @property
    def _language_name(self) -> str:
        return self.record.language_names[self.language]

    @property
    def reader_signature(self) -> str:
        """What a signature says of the reader; empty without one."""
        return f"|reader:{self._reader.signature.replace('|', ';')}" if self._reader else ""

    @property
    def has_reader(self) -> bool:
        """Whether a model reads what the rules leave."""
        return self._reader is not None

    def ask_reader(self, asked: list[_Asked]) -> None:
        """Have the reader read replies, each once; its words are in `read_by_model`."""
        if self._reader is None:
            return
        distinct = list(dict.fromkeys(asked))
        if self.reader_prompt == "read_letters":
            readings: list[Any] = list(self._reader.letters(distinct))  # type: ignore[arg-type]
        else:
            readings = list(self._reader.verdicts(distinct))  # type: ignore[arg-type]
        self.read_by_model = dict(zip(distinct, readings, strict=True))

    def foreseen_readings(self, asked: list[_Asked]) -> list[SideRequest]:
        """What the reader is asked at most: every reply, as if the rules read none."""
        spec = self._spec
        if spec is None:
            return []
        prompt = self.used_prompts()[self.reader_prompt]
        role = self.settings.judge_role(0) if spec == self.settings.judge else "reader"
        return [
            SideRequest(
                role,
                fill(prompt, each, code_for(each, STAND_IN), common, self._language_name),
                spec.max_gen_toks,
            )
            for each in asked
        ]
