"""Tasks whose replies a model may read where the rules leave them unread (setting `reader`).

Replies that the rules cannot read are not equally many in every language, so what they would have
said can bias a gap. What a model reads is counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple

from lm_eval.api.instance import Instance
from xling_metrics.languages import known

from xling_tasks.data.prompts import Prompt
from xling_tasks.log import warn_once
from xling_tasks.models.backend import backend
from xling_tasks.models.control_tokens import common
from xling_tasks.models.reader import Choice, Opinion, Reader, code_for, fill, readable
from xling_tasks.models.spec import ModelSpec
from xling_tasks.readers.fences import STAND_IN
from xling_tasks.tasks.base import XlingTask
from xling_tasks.tasks.requests import SideRequest
from xling_tasks.tasks.second_turn import SecondTurn

AGREEMENT = "reader_agreement"
"""The metric of how often the reader says what the rules read, where both read a reply."""

READER_AGAIN = "reader_asked_again_rate"
"""The metric of how often the reader was asked again for its line, of what it was asked about."""

_COMPARED = 100
"""Replies, of those that the rules read, that a task's reader is asked about too: enough for an
agreement to within ten points (95%), and no second bill for every reply."""

ONLY_LETTERS = "Write only the letter or letters of your answer, and nothing else."
ONLY_VERDICT = "Write only the word Yes or the word No, and nothing else."
"""What the model under test is asked in a second turn; the latter in other languages' own words
where their rows have them."""


class Heard(NamedTuple):
    """A reply with what the rules read of it, and what a reader is asked about it, if it may be.

    `key` tells it from others where the model is asked again.
    """

    key: tuple[str, ...]
    instance: Instance
    reply: str
    by_rules: Any
    asked: Choice | Opinion | None


class ReadingTask(XlingTask):
    """A task whose replies a reader may read.

    Attributes:
        reads: Whether it has replies to read; not where it scores by log-likelihood.
        may_ask_again: Whether the model under test may be asked a second time.
        reader_prompt: The prompt of its reader.
        read_by_model: What the reader said, by what it was asked about.
    """

    reads = True
    may_ask_again = True
    reader_prompt: str

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._reader: Reader | None = None
        self.read_by_model: dict[Any, Any] = {}
        self.second_turn = SecondTurn()
        super().__init__(config)

    def used_prompts(self) -> dict[str, Prompt]:
        """Also the reader's, where there is one."""
        used = super().used_prompts()
        if self._spec is not None:
            used[self.reader_prompt] = self.prompts.get(self.reader_prompt, "en")
        return used

    # A second turn with the model under test

    @property
    def asks_again(self) -> bool:
        """Whether the model under test is asked again where its reply is unread."""
        return self.reads and self.settings.ask_again and self.may_ask_again

    def build_all_requests(self, **kwargs: Any) -> None:
        """Also keep the messages behind each prompt, for a second turn."""
        if self.reads and self.settings.ask_again and not self.may_ask_again:
            warn_once(f"{self.config.task}: ask_again has no effect on this task")
        if self.asks_again and kwargs.get("chat_template") is not None:
            kwargs["chat_template"] = self.second_turn.keeping(kwargs["chat_template"])
        super().build_all_requests(**kwargs)

    def ask_model_again(self, unread: dict[Any, tuple[Instance, str]]) -> None:
        """Ask the model about its unread replies, each once; requests and replies are logged."""
        task = str(self.config.task)
        request = ONLY_LETTERS if self.reader_prompt == "read_letters" else ONLY_VERDICT
        row = known(self.language) if self.natively_asked else None
        if request == ONLY_VERDICT and row is not None:
            request = row.only_verdict or request
        made = self.second_turn.ask(task, self.instances, unread, request, self.settings)
        self._instances = [*self.instances, *made]

    @property
    def natively_asked(self) -> bool:
        """Whether the first question is put in the language of its data."""
        return bool(self.used_prompts()[self.prompt_name].language == self.language)

    def process_results(self, doc: dict[str, Any], results: list[Any]) -> Mapping[str, Any]:
        """Scores of the first replies; second ones stand behind them."""
        seconds = self.second_turn.per_question[str(doc["question_id"])]
        return super().process_results(doc, results[: len(results) - seconds])

    def check_run(self) -> None:
        """Reach the reader before anything is generated."""
        super().check_run()
        spec = self._spec
        if spec is None or self.predict_only:
            return
        role = "judge" if spec == self.settings.judge else "reader"  # one model in memory
        model = backend(role, spec, self.settings.xling_cache)
        model.check()
        prompt = self.used_prompts()[self.reader_prompt]
        self._reader = Reader(model, prompt, self.fences, self.language_name)

    @property
    def _spec(self) -> ModelSpec | None:
        return self.settings.reader if self.reads else None

    @property
    def reader_signature(self) -> str:
        """What a signature says of the reader; empty without one."""
        return f"|reader:{self._reader.signature.replace('|', ';')}" if self._reader else ""

    @property
    def has_reader(self) -> bool:
        """Whether a model reads what the rules leave."""
        return self._reader is not None

    def read_replies(self, heard: Iterable[Heard]) -> None:
        """Ask the model again, then have the reader read, what the rules leave of all replies.

        The reader is asked about some that they read, too, so that the two can be compared; once
        about each. Its words are in `read_by_model`.
        """
        if self._reader is None and not self.asks_again:
            return
        there = [each for each in heard if readable(each.reply)]
        unread = [each for each in there if each.by_rules is None]
        if self.asks_again:
            self.ask_model_again({each.key: (each.instance, each.reply) for each in unread})
        if self._reader is None:
            return
        left = dict.fromkeys(each.asked for each in unread if each.asked)
        read = dict.fromkeys(
            each.asked for each in there if each.asked and each.by_rules is not None
        )
        distinct: list[Any] = list(dict.fromkeys([*left, *islice(read, _COMPARED)]))
        if self.reader_prompt == "read_letters":
            readings: list[Any] = list(self._reader.letters(distinct))
        else:
            readings = list(self._reader.verdicts(distinct))
        self.read_by_model = dict(zip(distinct, readings, strict=True))

    def asked_twice(self, asked: Choice | Opinion) -> float | None:
        """1 where the reader was asked again about a reply, 0 where once, None where never."""
        if self._reader is None or asked not in self.read_by_model:
            return None
        return float(asked in self._reader.asked_again)

    def foreseen_readings(self, asked: Iterable[Choice | Opinion]) -> list[SideRequest]:
        """What the reader is asked at most: every reply, as if the rules read none."""
        spec = self._spec
        if spec is None:
            return []
        prompt = self.used_prompts()[self.reader_prompt]
        role = self.settings.judge_role(0) if spec == self.settings.judge else "reader"
        return [
            SideRequest(
                role,
                fill(prompt, each, code_for(each, STAND_IN), common, self.language_name),
                spec.max_gen_toks,
            )
            for each in asked
        ]
