"""Tasks that ask about replies which the rules leave unread: a reader, or the model once more.

Settings `reader` and `ask_again`. Replies that the rules cannot read are not equally many in every
language, so what they would have said can bias a gap. What a model reads is counted apart. What a
second turn says stands beside the scores, which rest on first replies, in metrics of its own: a
model that is asked again may say something else than it meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from lm_eval.api.instance import Instance
from xling_metrics.languages import known

from xling_tasks.data.prompts import Prompt
from xling_tasks.harness.backends import clean_reply, replayed
from xling_tasks.harness.run import all_ranks, current
from xling_tasks.lm import journaled
from xling_tasks.log import warn_once
from xling_tasks.models.backend import backend
from xling_tasks.models.control_tokens import common
from xling_tasks.models.reader import Choice, Opinion, Reader, code_for, fill, readable
from xling_tasks.models.spec import ModelSpec
from xling_tasks.readers.fences import STAND_IN
from xling_tasks.readers.thinking import without_thinking
from xling_tasks.replies.folder import cache_folder, key_of
from xling_tasks.settings import Settings
from xling_tasks.tasks.base import XlingTask
from xling_tasks.tasks.requests import SideRequest

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


ACC = "acc_asked_again"
ASKED = "asked_again_rate"
CONTRADICTED = "contradicted_rate"


class SecondTurn:
    """The second turns of a task: `replies` by what `ask` was told to know them by.

    They are counted `per_question`, by its id: their requests follow all others of a question.
    """

    def __init__(self) -> None:
        self.replies: dict[Any, str] = {}
        self.per_question: Counter[str] = Counter()
        self._template: Callable[..., Any] | None = None
        self._messages: dict[str, list[dict[str, str]]] = {}

    def keeping(self, template: Callable[..., Any]) -> Callable[..., Any]:
        """A chat template that keeps the messages behind every prompt it makes."""
        self._template = template

        def apply(messages: Any, **options: Any) -> Any:
            prompt = template(messages, **options)
            self._messages[key_of(prompt)] = list(messages)
            return prompt

        return apply

    def ask(
        self,
        task: str,
        instances: Sequence[Instance],
        unread: dict[Any, tuple[Instance, str]],
        request: str,
        settings: Settings,
    ) -> list[Instance]:
        """Ask about unread replies; the new requests, answered, to be logged beside the first.

        Every process of a run takes part, with a request of its own that counts for nothing where
        it has fewer to ask than another: a model over several processes may need them all. The
        instances are all requests of the task on this process.
        """
        lm, most = current().lm, max(all_ranks(len(unread)))
        if not most or lm is None:
            return []
        last: dict[int, int] = {}
        for item in instances:
            last[item.doc_id] = max(last.get(item.doc_id, -1), item.idx)
        made: dict[Any, Instance] = {}
        for key, (item, reply) in unread.items():
            last[item.doc_id] += 1
            context = self._context(item.args[0], reply, request)
            arguments = (context, dict(item.args[1]))
            about = (item.task_name, item.doc_id, 1)
            made[key] = Instance(item.request_type, item.doc, arguments, last[item.doc_id], about)
            self.per_question[str(item.doc["question_id"])] += 1
        own = list(made.values())
        name = f"{task}_asked_again"
        if replayed(lm) is None:
            journaled.watch(
                name, lm, own, cache_folder(settings.xling_cache), settings.xling_resume
            )
        filler = own[:1] or [instances[0]]
        said = lm.generate_until([*own, *filler * (most - len(own))])
        journaled.scored(name)
        for (key, item), reply in zip(made.items(), said, strict=False):
            text = clean_reply(reply)
            item.resps = [text]
            item.filtered_resps = dict.fromkeys(unread[key][0].filtered_resps, text)
            self.replies[key] = text
        return own

    def _context(self, context: Any, reply: str, request: str) -> Any:
        said = (without_thinking(reply) or "").strip() or "..."
        messages = self._messages.get(key_of(context))
        if self._template is None or messages is None:
            return f"{context}{said}\n\n{request}\n"
        turns = [("assistant", said), ("user", request)]
        further = [{"role": role, "content": text} for role, text in turns]
        return self._template([*messages, *further], add_generation_prompt=True)


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
