"""What all our tasks share: settings, documents with several prompts, replies, recorded results.

A document is a question (so that `--limit` cuts whole questions). A task turns it into one or
more *views*, one prompt each, and each view into one or more requests. All costly scoring happens
in `score`, once per task over all replies; what follows from it is in `tasks.scored`.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from itertools import groupby
from typing import Any

from lm_eval.api.instance import Instance

from xling_tasks.cache.paths import cache_folder
from xling_tasks.data.prompts import PromptTemplates
from xling_tasks.data.protocols import check_criterion
from xling_tasks.errors import DataError, SettingError, XlingError
from xling_tasks.failed_response import is_failed, is_truncated
from xling_tasks.harness.backends import clean_reply, has_loglikelihood, replayed
from xling_tasks.harness.run import all_ranks, bind, current, use_own_standard_errors
from xling_tasks.lm import journaled
from xling_tasks.log import log
from xling_tasks.log_filter import clean_saved_results
from xling_tasks.models.retry import failure_counts
from xling_tasks.readers.reasoning import strip_reasoning
from xling_tasks.scorers.answered import replies_of, unanswered_again
from xling_tasks.secrets import remember
from xling_tasks.settings import Settings
from xling_tasks.tasks import said
from xling_tasks.tasks.answer_language import AnswerLanguage
from xling_tasks.tasks.before_run import (
    check_before_run,
    check_data,
    check_read,
    warn_of_unread_data,
)
from xling_tasks.tasks.requests import Request, SideRequest, with_seeds
from xling_tasks.tasks.scored import ScoredTask


class Docs(list[dict[str, Any]]):
    """Documents as they are, with the one part of a `datasets.Dataset` the harness asks for."""

    @property
    def features(self) -> dict[str, None]:
        """The documents' fields."""
        return dict.fromkeys(self[0])


class XlingTask(ScoredTask):
    """Base of all our tasks; a leaf YAML names the dataset and the language.

    A family of tasks defines `load_docs` and `coverage`; a task defines `prompt_name`,
    `doc_to_text`, `requests_for`, `metrics` and `values`, and may define `views` and `score`.
    """

    native_as_published = False
    """Whether the paper's instructions are in the question's language rather than in English."""
    what_to_do = "is data_dir the right file?"
    """Said where no question is usable."""
    scores_texts = True
    """Whether replies are scored as they are, rather than read for a verdict or letters."""
    reads_keys: frozenset[str] = frozenset({"generation_kwargs", "description"})
    """The keys of a YAML that it reads, beside those that all tasks do."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        kind = config.get("class", type(self))
        check_read(kind, config, kind.reads_keys)
        config = {key: value for key, value in config.items() if key != "class"}
        metadata = config.get("metadata") or {}
        use_own_standard_errors()
        clean_saved_results()
        run = bind()
        remember(run.model_args)
        self.settings = Settings.parse(metadata, run.model_args)
        self.language: str = config["dataset_kwargs"].get("language", "en")
        self.languages: tuple[str, ...] = (self.language,)
        self.predict_only = False
        self._unanswered: Counter[tuple[str, str]] = Counter()
        self._outcomes: dict[str, dict[str, int]] = {}
        self._gaps = False
        self._cut: dict[str, list[int]] = {}
        self._tokens: dict[str, dict[str, int]] = {}
        self._recorded: dict[str, Any] = {}
        self._answer_languages: dict[str, AnswerLanguage] = {}
        self._name = str(config.get("task"))
        self.prompts = PromptTemplates(self.settings.prompt_templates)
        self.prompt_language = self.instruction_language(self.language)
        if self.settings.protocol is not None:
            check_criterion(self._name, self.criterion)
        super().__init__(config=deepcopy(config))
        for name in self.used_prompts():
            self.prompts.check_used(name, self.language, self.prompt_language, self._chosen)

    def instruction_language(self, language: str) -> str:
        """The language of the instructions to questions in `language`."""
        setting = self.settings.prompt_language
        if not self._chosen:
            # A replay asks as the run asked.
            setting = (self.replayed_run.get("settings") or {}).get("prompt_language", setting)
        native = self.native_as_published if setting == "published" else setting == "native"
        return language if native else "en"

    @property
    def replayed_run(self) -> Mapping[str, Any]:
        """What the run that is replayed recorded of this task; empty where nothing is replayed."""
        replay = replayed(current().lm)
        none: Mapping[str, Any] = {}
        return none if replay is None else replay.recorded(self._name)

    @property
    def _chosen(self) -> bool:
        """Whether the user chose the language of the instructions."""
        return "prompt_language" in self.settings.given

    # Data

    def download(self, dataset_kwargs: Any = None, **kwargs: Any) -> None:
        """Load the data; the harness calls this from its constructor."""
        if (manager := current().task_manager) is not None:
            check_data(manager, current().tasks, self.settings)
        docs = self.load_docs(str((dataset_kwargs or {})["record"]))
        if not docs:
            reasons = self.coverage().get("invalid_reasons") or {}
            why = ", ".join(f"{reason}: {count}" for reason, count in reasons.items())
            raise DataError(
                f"{self.config.task}: no question of {self.record.title} is usable in "
                f"{self.language!r} ({why}); {self.what_to_do}"
            )
        warn_of_unread_data(self.record, self.provenance, self.settings)
        self.dataset = {"test": Docs(docs)}

    @abstractmethod
    def load_docs(self, record: str) -> list[dict[str, Any]]:
        """The task's documents; sets `record` and `provenance` on the way."""

    # Prompts and requests

    @property
    def language_name(self) -> str:
        """What prompts call the task's language."""
        return self.record.language_names[self.language]

    def doc_to_target(self, doc: dict[str, Any], doc_to_target: Any = None) -> Any:
        """The right answer; none, unless a task has one."""
        return ""

    def views(self, doc: dict[str, Any]) -> list[dict[str, Any]]:
        """What the model is shown for a document, one prompt each."""
        return [doc]

    def fewshot_context(self, doc: dict[str, Any], *args: Any, **kwargs: Any) -> list[Any]:
        """One context per view, with the chat template where one is applied."""
        return [super(XlingTask, self).fewshot_context(v, *args, **kwargs) for v in self.views(doc)]

    def build_all_requests(self, **kwargs: Any) -> None:
        """Build requests, always afresh: the harness's request cache does not know our settings."""
        if kwargs.pop("cache_requests", False):
            log.info(
                "%s: requests are built afresh (--cache_requests has no effect)", self.config.task
            )
        bind()
        cache_folder(self.settings.xling_cache)
        check_before_run(str(self.config.task), self.settings, self.asked_temperatures)
        if self.scores_texts and not self.predict_only:
            self.load_identifiers()
        self.check_run()
        super().build_all_requests(cache_requests=False, **kwargs)
        self._keep_a_journal()
        said.say_next(self.predict_only)

    def _keep_a_journal(self) -> None:
        """Keep every answer from now on, and take those that an earlier start left."""
        lm = current().lm
        if lm is not None and replayed(lm) is None:
            folder = cache_folder(self.settings.xling_cache)
            task, resume = str(self.config.task), self.settings.xling_resume
            journaled.watch(task, lm, self.instances, folder, resume, batch=self.settings.batch)

    @property
    def asked_temperatures(self) -> tuple[float, ...]:
        """The temperatures that this task asks the model for; none for log-likelihoods."""
        return ()

    def check_run(self) -> None:
        """Refuse, before anything is generated, a run that could not be scored."""

    def refuse_examples(self, why: str) -> None:
        """Refuse `--num_fewshot`, where there are no examples."""
        if self.config.num_fewshot:
            raise SettingError(
                f"{self.config.task}: --num_fewshot {self.config.num_fewshot}: {why}; leave it out"
            )

    def need_loglikelihoods(self, instead: str) -> None:
        """Refuse backends that cannot score given text, before anything is asked."""
        lm = current().lm
        if lm is not None and not self.predict_only and not has_loglikelihood(lm):
            raise XlingError(
                f"{self.config.task}: this backend gives no log-likelihoods. {instead}"
            )

    def load_identifiers(self) -> None:
        """Load what tells the language of answers before anything is generated."""
        for code in self.languages:
            self.answer_language(code)

    def answer_language(self, language: str = "") -> AnswerLanguage:
        """Return what tells whether answers are in a language, by default the task's own."""
        code = language or self.language
        if code not in self._answer_languages:
            identifier = self.settings.language_identifier
            self._answer_languages[code] = AnswerLanguage(identifier, code)
        return self._answer_languages[code]

    def construct_requests(self, doc: dict[str, Any], ctx: Any, **kwargs: Any) -> list[Instance]:
        """All requests of a document, numbered in order."""
        kwargs.pop("chat_template", None)
        chat = kwargs.pop("apply_chat_template", False)
        name, doc_id, _ = kwargs.pop("metadata")
        requests = [
            item
            for view, context in zip(self.views(doc), ctx, strict=True)
            for request in self.requests_for(view, context, chat)
            for item in self._seeded(request, view)
        ]
        return [
            Instance(kind, doc, arguments, index, (name, doc_id, repeats))
            for index, (kind, arguments, repeats) in enumerate(requests)
        ]

    def _seeded(self, request: Request, view: dict[str, Any]) -> Iterable[Request]:
        """A request with the seeds of its answers, where the backend takes seeds."""
        question = str(view["question_id"])
        if "answer_id" in view:
            question += f"\0{view['answer_id']}"
        language = str(view.get("language", self.language))
        seed, dataset = self.settings.sampling_seed, self.record.key
        return with_seeds(request, seed, dataset, language, question)

    @abstractmethod
    def requests_for(self, doc: dict[str, Any], context: Any, chat: bool) -> list[Request]:
        """The requests for one view of a document, whose context is given."""

    def units(self, doc: dict[str, Any]) -> Iterable[tuple[XlingTask, dict[str, Any]]]:
        """A document as tasks of one language have it, each with its task: for costs."""
        yield self, doc

    def side_requests(self, doc: dict[str, Any]) -> list[SideRequest]:
        """What other models will be asked about a document, as far as it can be told before."""
        return []

    # Replies

    def each_reply(self) -> Iterator[tuple[Instance, str]]:
        """Every reply through every filter, with its request."""
        for instance in self.instances:
            for result in instance.filtered_resps.values():
                for reply in replies_of(result):
                    yield instance, reply

    def by_document(self) -> list[list[Instance]]:
        """The requests of each document, in the order in which they were asked."""
        ordered = sorted(self.instances, key=lambda item: (item.doc_id, item.idx))
        return [list(same) for _, same in groupby(ordered, key=lambda item: item.doc_id)]

    def apply_filters(self) -> None:
        """Bring the replies into one form, apply the filters asked for, and score once."""
        for instance in self.instances:
            # Padding for even batches over processes repeats the last document.
            instance.resps = instance.resps[: instance.repeats]
            if instance.request_type == "generate_until":
                instance.resps = [clean_reply(reply) for reply in instance.resps]
        self.__dict__.pop("_bookkeeping", None)
        self._say_thinking()
        if self.generates:
            asked = [(own, self._languages_of(own[0].doc)) for own in self.by_document()]
            self._tokens = said.tokens_used(asked)
            if self.scores_texts:
                self._cut = said.cut_answers(str(self.config.task), asked)
        if self.config.filter_list is None:
            for instance in self.instances:
                single = instance.repeats == 1
                instance.filtered_resps["none"] = instance.resps[0] if single else instance.resps
        else:
            super().apply_filters()
            for instance in self.instances:
                unanswered_again(instance)
        lacking = (any(map(is_failed, instance.resps)) for instance in self.instances)
        self._gaps = any(all_ranks(any(lacking)))
        if not self.predict_only:
            start = time.monotonic()
            before = failure_counts()
            self.score()
            self._unanswered = failure_counts() - before
            questions = len({instance.doc_id for instance in self.instances})
            seconds = time.monotonic() - start
            log.info("%s: %d questions scored in %.1f s", self.config.task, questions, seconds)
        journaled.scored(str(self.config.task))

    def _say_thinking(self) -> None:
        """Warn where texts to be scored hold a model's thinking, or where it has no end."""
        replies = [
            reply
            for instance in self.instances
            if instance.request_type == "generate_until"
            for reply in instance.resps
        ]
        told = [(str(reply), strip_reasoning(reply)) for reply in replies]
        marked = sum(reply != rest for reply, rest in told)
        unfinished = sum(rest is None for _, rest in told)
        # A server's parser takes the thought away: then nothing is left, and it was cut off.
        unfinished += sum(not reply.strip() and is_truncated(reply) for reply in replies)
        if marked and self.scores_texts:
            log.warning(
                "%s: %d answers hold the model's thinking (<think>), which is scored as if it were "
                "the answer. Have it removed: think_end_token=... in --model_args of hf and vllm, "
                "or the server's reasoning parser.",
                self.config.task, marked,
            )  # fmt: skip
        elif unfinished:
            log.warning(
                "%s: %d of %d replies end within the model's thinking, before any answer. Give it "
                "more room (--gen_kwargs max_gen_toks=...), or switch its thinking off.",
                self.config.task, unfinished, len(replies),
            )  # fmt: skip

    def _languages_of(self, doc: dict[str, Any]) -> list[str]:
        """The languages of a document's prompts."""
        units = ((part, view) for part, own in self.units(doc) for view in part.views(own))
        return [str(view.get("language", part.language)) for part, view in units]

    def score(self) -> None:
        """Batched scoring over all replies (translate, encode, judge); nothing by default."""
