"""The task class that all criteria share.

A document is a question, so that `--limit` and standard errors count questions. A criterion defines
four things: the `prompts` of a document, the `requests` for a prompt (one for every response that
is wanted, with a seed of its own), `score` of all responses at once (judges, translators and
encoders work there in one batch), and its table of metrics.
"""

from __future__ import annotations

import functools
import hashlib
from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import groupby
from typing import Any, ClassVar, NamedTuple

from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask

from xling_tasks import __version__
from xling_tasks.criteria import CRITERIA, about
from xling_tasks.criteria.metric import (
    INVALID_ROWS,
    LANGID_MATCH,
    RESPONSE_METRICS,
    Metric,
    Responses,
)
from xling_tasks.data.custom.documents import RECORD, CustomDocuments
from xling_tasks.data.dataset_info import DATASETS, DatasetInfo
from xling_tasks.data.prompts import PromptTemplate, PromptTemplates
from xling_tasks.data.protocols import check_criterion
from xling_tasks.data.xlinghealth import load
from xling_tasks.errors import BackendError, DataError, PromptError, SettingError
from xling_tasks.failed_response import RESPONSES, FailedResponse, is_failed
from xling_tasks.harness.backends import clean_reply, has_loglikelihood, takes_seed
from xling_tasks.harness.run import HarnessChanged, RunContext, clean_saved_results, install
from xling_tasks.lm.resumable import ResumableLM
from xling_tasks.log import warn_once
from xling_tasks.models.retry import failure_counts, failures_by_role
from xling_tasks.models.translate.translator import SEQ2SEQ
from xling_tasks.outcomes import OUTCOME, SERVED, outcome_of
from xling_tasks.secrets import redact, remember
from xling_tasks.settings import Settings, model_args_in, temperatures
from xling_tasks.tasks import responses
from xling_tasks.tasks.answer_language import AnswerLanguage
from xling_tasks.tasks.auxiliary import AuxiliaryRequest, Extractor
from xling_tasks.tasks.preflight import MAX_TOKENS, check_instruction, check_keys, check_run

_MODEL_OF_PROMPT = {
    **dict.fromkeys(("judge", "claims", "support", "rubric"), "judge"),
    **dict.fromkeys(("read_verdict", "read_letters"), "answer_extractor"),
    "translate": "translator",
}
"""Prompts for other models -> the setting that names the model."""

install(ResumableLM)

_OF_RESPONSES = next(metric for metric in RESPONSE_METRICS if metric.name == RESPONSES)


class DocList(list[dict[str, Any]]):
    """Documents as they are, with the one part of a `datasets.Dataset` the harness asks for."""

    @property
    def features(self) -> dict[str, None]:
        """The documents' fields."""
        return dict.fromkeys(self[0])


class Request(NamedTuple):
    """One request to the model under test; `arguments` follow the prompt."""

    kind: str
    arguments: Any


class Answered(NamedTuple):
    """A document with the responses to its requests, in their order, through one filter."""

    doc: dict[str, Any]
    texts: tuple[Any, ...]

    @property
    def key(self) -> Hashable:
        """The key of its scores."""
        return self.doc["question_id"], self.texts


def request_seed(
    sampling_seed: int, dataset: str, language: str, question: str, temperature: float, repeat: int
) -> int:
    """Return the seed of one response: the same in every run, another for every other response.

    The first 31 bits of the SHA-256 of all six, in this order with a zero byte between them. With
    one seed for all questions their answers would share draws, and no interval over questions would
    hold; with one for all repeats, the repeats would be copies.
    """
    parts = (sampling_seed, dataset, language, question, float(temperature), repeat)
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


class HealthTask(ConfigurableTask):  # type: ignore[misc]
    """Base of all tasks; a YAML names the class, the data and the language."""

    is_health_task: ClassVar[bool] = True  # by which `harness.run` knows it
    criterion: str  # A key of `CRITERIA`, whose table of metrics it makes
    custom_criterion: ClassVar[str] = ""  # that of users' own questions, where it is another one
    prompt_name: str  # the prompt of its questions
    # the prompts for other models, where the settings name these
    other_prompts: ClassVar[tuple[str, ...]] = ()
    # whether the paper's instructions are in the question's language
    native_as_published: ClassVar[bool] = False
    # whether responses are scored as they are, rather than read for an answer
    scores_texts: ClassVar[bool] = True
    # whether it asks at several temperatures; `score` then gives rows by temperature
    swept: ClassVar[bool] = False
    # the keys of a YAML that it reads, beside those that all tasks do
    reads_keys: ClassVar[frozenset[str]] = frozenset({"generation_kwargs", "description"})
    # the fields of a document that it needs not, which samples would repeat
    unused_fields: ClassVar[tuple[str, ...]] = ()

    record: DatasetInfo
    provenance: Mapping[str, Any]
    data: Any
    translator: Any = None
    extractor: Any = None
    run: RunContext = RunContext()

    def __init__(self, config: Mapping[str, Any]) -> None:
        check_keys(config, self.reads_keys)
        config = {key: value for key, value in config.items() if key != "class"}
        metadata = config.get("metadata") or {}
        remember(metadata)
        clean_saved_results()
        self.settings = Settings.parse(metadata, None)
        self.model_args = model_args_in(metadata)
        self.language: str = config["dataset_kwargs"].get("language", "en")
        self.languages: tuple[str, ...] = (self.language,)
        self.is_custom = config["dataset_kwargs"]["record"] == RECORD
        self.templates = PromptTemplates(self.settings.prompt_templates)
        self.predict_only = False
        self._name = str(config.get("task"))
        if self.is_custom:
            self.criterion = self.custom_criterion or self.criterion
        self.start(RunContext())
        if self.settings.protocol is not None:
            check_criterion(self._name, self.criterion)
        super().__init__(config=deepcopy(config))

    def start(self, run: RunContext) -> None:
        """Take up a run that the harness is about to evaluate; an empty one releases its model."""
        self.run = run
        self._chat = False
        self._rows: dict[Hashable, Any] = {}
        self.__dict__.pop("_tables", None)
        self._standard_errors: dict[str, list[float | None]] = {}
        self._summary: dict[str, Any] = {}
        self._cut_prompts: dict[str, list[int]] = {}
        self._failures: Counter[tuple[str, str]] = Counter()

    # Data

    def download(self, dataset_kwargs: Any = None, **kwargs: Any) -> None:
        """Load the documents; the harness calls this from its constructor."""
        docs = self.load_docs(str((dataset_kwargs or {})["record"]))
        if not docs:
            hint = "`xling data check FILE` says what each task can use"
            raise DataError(
                f"{self._name}: no question of {self.record.title} is usable in "
                f"{self.language!r} ({self._count_reasons(self.language)}); "
                + (hint if self.is_custom else "is data_dir the right file?")
            )
        if self.provenance.get("kind") == "bundled" and self.settings.data_dir is not None:
            warn_once(
                f"{self.record.title}: the bundled texts are asked, and data_dir="
                f"{self.settings.data_dir} is not read; "
                + ("prompt_set=FILE names others" if self.record.n_small
                   else "`xling_custom_*` ask your questions")
            )  # fmt: skip
        self.dataset = {"test": DocList(docs)}

    def load_docs(self, record: str) -> list[dict[str, Any]]:
        """Load the questions of one language; sets `record` and `provenance` on the way."""
        if self.is_custom:
            self._load_custom()
        else:
            self.record = DATASETS[record]
            self.data = load(self.record, self.settings.data_dir)
        self.provenance = self.data.provenance
        return [
            {key: value for key, value in doc.items() if key not in self.unused_fields}
            for doc in self.data.docs(self.language)
            if self.is_usable(doc)
        ]

    def _load_custom(self) -> None:
        """Load the user's own questions."""
        self.data = CustomDocuments.load(self.criterion, self.settings.data_dir)
        self.record, languages = self.data.info, self.data.dataset.languages
        usable = set(self.data.languages())
        for code in {*(self.settings.languages or ()), self.language} - languages.keys():
            raise SettingError(
                f"{self._name}: the file has no questions in {code!r}; its languages are "
                f"{', '.join(languages)}"
            )
        if usable and "language" not in self.config.dataset_kwargs:
            raise HarnessChanged(
                f"{self._name} was not divided into a task for each language of the file "
                f"({', '.join(languages)}); a task file of your own names one in dataset_kwargs"
            )
        for code in languages.keys() - usable if usable else ():
            reasons = self._count_reasons(code)
            warn_once(f"xling_custom_{self.criterion}: language {code} is left out: {reasons}")

    def _count_reasons(self, language: str) -> str:
        of_language = isinstance(self.data, CustomDocuments)
        coverage = self.data.coverage(language) if of_language else self.coverage()
        reasons = coverage.get("invalid_reasons") or {}
        return ", ".join(f"{reason}: {number}" for reason, number in reasons.items())

    def is_usable(self, doc: dict[str, Any]) -> bool:
        """Return whether the task can ask this question."""
        return True

    def coverage(self) -> dict[str, Any]:
        """Return what was read and what cannot be used, with at least `invalid_rows`."""
        return dict(self.data.coverage(self.language))

    def instruction_language(self, language: str) -> str:
        """Return the language of the instructions to questions in a language."""
        setting = self.settings.prompt_language
        if not (self.native_as_published if setting == "published" else setting == "native"):
            return "en"
        if self.is_custom and setting == "published":
            try:
                self.templates.get(self.prompt_name, language)
            except PromptError:
                warn_once(
                    f"{self.prompt_name}: we have no instruction in {language}, so these questions "
                    "are asked with an English one, and the results say so; prompt_language=en "
                    "asks so in every language, prompt_templates=FILE adds instructions"
                )
                return "en"
        return language

    @property
    def template(self) -> PromptTemplate:
        """The prompt of the task's questions."""
        return self.templates.get(self.prompt_name, self.instruction_language(self.language))

    def prompt_templates(self) -> dict[str, PromptTemplate]:
        """Return the prompts that this task uses, by name."""
        templates = {n: self.templates.get(n, "en") for n in self.other_prompts if self.uses(n)}
        return {self.prompt_name: self.template, **templates}

    def uses(self, prompt: str) -> bool:
        """Return whether the settings name the model that reads a prompt."""
        config = getattr(self.settings, _MODEL_OF_PROMPT[prompt])
        if config is None or prompt != "translate":
            return config is not None and self.generates
        return config.model != SEQ2SEQ and self.languages != ("en",)

    @property
    def language_name(self) -> str:
        """What prompts call the task's language."""
        return self.record.language_names[self.language]

    def prompts(self, doc: dict[str, Any]) -> list[str]:
        """Return what the model is shown about a document, one prompt each."""
        return [self.template.fill(question=doc["question"], language=self.language_name)]

    def prompt_languages(self, doc: dict[str, Any]) -> list[str]:
        """Return the language of each of these prompts."""
        return [self.language] * len(self.prompts(doc))

    def doc_to_text(self, doc: dict[str, Any], doc_to_text: Any = None) -> str:
        """Return the prompt at hand, by default a document's first."""
        return str(doc.get("prompt") or self.prompts(doc)[0])

    def doc_to_target(self, doc: dict[str, Any], doc_to_target: Any = None) -> Any:
        """Return the right answer; nothing, unless a task has one."""
        return ""

    def fewshot_context(self, doc: dict[str, Any], *args: Any, **kwargs: Any) -> list[Any]:
        """Return one context per prompt, with the chat template where one is applied."""
        context = super().fewshot_context
        return [context({**doc, "prompt": prompt}, *args, **kwargs) for prompt in self.prompts(doc)]

    @property
    def generates(self) -> bool:
        """Whether the model writes answers, rather than scores given text."""
        return bool(self.OUTPUT_TYPE == "generate_until")

    @property
    def temperatures(self) -> tuple[float, ...]:
        """The temperatures of a run: of a sweep the setting's, else 0; or `--gen_kwargs`' one."""
        value = (self.config.generation_kwargs or {}).get("temperature")
        forced = None if value is None else temperatures("--gen_kwargs temperature", value)
        if not self.swept:
            if forced not in (None, (0.0,)) and self.settings.protocol is not None:
                raise SettingError(
                    f"{self._name}: --gen_kwargs temperature={value} contradicts --metadata "
                    "protocol=published, in which this task answers greedily; leave one out"
                )
            return forced or (0.0,)
        swept = self.settings.temperatures
        if forced and "temperatures" in self.settings.given and swept != forced:
            raise SettingError(
                f"{self._name}: --gen_kwargs temperature={value} would replace the sweep "
                f"temperatures={list(swept)}; give one of the two"
            )
        return forced or swept

    def generation_arguments(self, temperature: float) -> dict[str, Any]:
        """Return the generation arguments, which sample if and only if it is above 0."""
        arguments = deepcopy(dict(self.config.generation_kwargs or {}))
        sample = temperature > 0
        in_run = temperature in self.temperatures  # of a second English answer nobody asked so
        if in_run and "do_sample" in arguments and bool(arguments["do_sample"]) != sample:
            raise SettingError(
                f"{self._name}: --gen_kwargs do_sample={arguments['do_sample']} contradicts "
                f"temperature {temperature}; leave do_sample out, it follows from the temperature"
            )
        return {**arguments, "temperature": temperature, "do_sample": sample}

    def requests(self, doc: dict[str, Any], number: int) -> list[Request]:
        """Return the requests for the prompt with this number: by default one a temperature."""
        return [one for tau in self.temperatures for one in self.generate(doc, tau)]

    def generate(
        self, doc: dict[str, Any], temperature: float, number: int = 1,
        *, answer_id: str = "", language: str = "",
    ) -> Iterator[Request]:  # fmt: skip
        """Yield requests, all but a single greedy one with a seed where the backend takes seeds."""
        arguments = self.generation_arguments(temperature)
        lm = self.run.lm
        seeded = lm is not None and takes_seed(lm) and (temperature > 0 or number > 1)
        question = str(doc["question_id"]) + (f"\0{answer_id}" if answer_id else "")
        first = int(arguments.get("seed", self.settings.sampling_seed))
        source = (first, self.record.key, language or self.language, question)
        for repeat in range(number):
            seed = {"seed": request_seed(*source, temperature, repeat)} if seeded else {}
            yield Request("generate_until", {**arguments, **seed})

    def auxiliary_requests(self, doc: dict[str, Any]) -> list[AuxiliaryRequest]:
        """Return what other models will be asked about a document, as far as it is foreseen."""
        return []

    def build_all_requests(self, **kwargs: Any) -> None:
        """Check the run and load what scoring needs, then build requests as the harness does."""
        if self.run.lm is None:
            raise HarnessChanged(
                "the task was not told its model; import xling_tasks before "
                "'from lm_eval.evaluator import evaluate'"
            )
        kwargs.pop("cache_requests", None)  # the harness's cache of requests knows no settings
        arguments = self.config.generation_kwargs or {}
        for name in MAX_TOKENS & arguments.keys():
            arguments["max_gen_toks"] = arguments.pop(name)
        check_run(self, kwargs.get("limit"))
        check_instruction(kwargs.get("system_instruction"), kwargs.get("chat_template"))
        chosen = "prompt_language" in self.settings.given
        for code in self.languages:
            if self.scores_texts and not self.predict_only:
                self.answer_language(code)  # may warn, or refuse an identifier
            instruction = self.instruction_language(code)
            self.templates.check_used(self.prompt_name, code, instruction, chosen)
        self.prepare()
        super().build_all_requests(cache_requests=False, **kwargs)
        self._cut_prompts = responses.warn_of_long_prompts(self)

    def prepare(self) -> None:
        """Load what scoring needs, and refuse a run that could not be scored."""
        if not self.generates and not self.predict_only and not has_loglikelihood(self.run.lm):
            raise BackendError(
                f"{self._name}: this backend gives no log-likelihoods. Run "
                f"{self._name.replace('_ll_', '_')} instead, which asks for the answer in words"
            )
        for name in ("read_verdict", "read_letters"):
            if name in self.other_prompts and self.uses(name) and not self.predict_only:
                self.extractor = Extractor(self, self.templates.get(name, "en"))

    def construct_requests(
        self, doc: dict[str, Any], ctx: list[Any], **kwargs: Any
    ) -> list[Instance]:
        """Return all requests of a document, numbered in order."""
        name, doc_id, _ = kwargs["metadata"]
        self._chat = bool(kwargs.get("apply_chat_template"))
        pairs = [(context, one) for n, context in enumerate(ctx) for one in self.requests(doc, n)]
        return [
            Instance(kind, doc, (context, arguments), index, (name, doc_id, 1))
            for index, (context, (kind, arguments)) in enumerate(pairs)
        ]

    # Scores

    @abstractmethod
    def score(self, answered: Sequence[Answered]) -> Sequence[Any]:
        """Return a row per document, which the metrics read; called once per filter."""

    def apply_filters(self) -> None:
        """Filter as the harness does, then score all documents of this process at once."""
        for instance in self.instances:
            del instance.resps[1:]  # data-parallel ranks repeat their last document as padding
            if self.generates:
                instance.resps = [clean_reply(instance.resps[0])]
        if self.generates:
            responses.count_tokens(self)
            responses.warn_of_reasoning(self)
        super().apply_filters()
        before = failure_counts()
        ordered = sorted(self.instances, key=lambda item: (item.doc_id, item.idx))
        by_doc = [list(same) for _, same in groupby(ordered, key=lambda item: item.doc_id)]
        for name in self.instances[0].filtered_resps:
            for instance in self.instances:
                text = instance.filtered_resps[name]
                if isinstance(text, list) and len(text) != 1:
                    raise BackendError(
                        f"{self._name}: filter {name!r} leaves {len(text)} responses of one; "
                        "every one is scored"
                    )
                if isinstance(instance.resps[0], FailedResponse):  # a filter makes it a plain text
                    text = instance.resps[0]
                instance.filtered_resps[name] = text[0] if isinstance(text, list) else text
            answered = [
                Answered(instances[0].doc, tuple(one.filtered_resps[name] for one in instances))
                for instances in by_doc
            ]
            if self.predict_only:
                continue
            if any(self.run.all_gather(any(one.key not in self._rows for one in answered))):
                rows = self.score(answered)
                pairs = zip(answered, rows, strict=True)
                self._rows.update({one.key: row for one, row in pairs})
        self._failures = failure_counts() - before

    def process_results(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Return a document's value for every metric; one that is missing corrupts counts."""
        if self.predict_only:  # a replay needs to know which requests failed
            record = {RESPONSES: responses.record_of(self, doc, results)} if self.generates else {}
            return {"bypass": None, **record}
        row = self._rows[Answered(doc, tuple(results)).key]
        nothing = self.generates and all(map(is_failed, results))
        metrics, common = self._tables
        values = {metric.name: metric.value(row, nothing) for metric in metrics}
        record, first = {}, None
        if self.generates:
            record = responses.record_of(self, doc, results) | self.extra_record(row)
            first = responses.digest_of(results[0]) if self.scores_texts else None
        came = Responses(results, record, first)
        values |= {metric.name: metric.value(came, False) for metric in common}
        if self.generates and (outcomes := self.outcomes(doc, values)):
            record[OUTCOME] = outcomes
        return values

    def extra_record(self, row: Any) -> dict[str, Any]:
        """Return what samples keep of a question's responses beside what every task keeps."""
        return {}

    def outcomes(self, doc: dict[str, Any], values: Mapping[str, Any]) -> dict[str, str]:
        """Return what became of a question, by language; nothing where no metric needs it."""
        if SERVED not in CRITERIA[self.criterion].metrics:
            return {}
        outcomes = {}
        for code in doc.get("text", (self.language,)):
            suffix = f"_{code}" if "text" in doc else ""
            match = values.get(f"{LANGID_MATCH}{suffix}")
            inside = None if match is None else bool(match)
            outcomes[code] = outcome_of(values, suffix, inside=inside)
        return outcomes

    def criterion_metrics(self) -> list[Metric]:
        """Return the criterion's metrics in this run."""
        if not self.swept:
            return self.table()
        return [metric.at(tau) for tau in self.temperatures for metric in self.table()]

    def table(self) -> list[Metric]:
        """Return the rows of the criterion's table that this run has."""
        table = CRITERIA[self.criterion].table
        return [metric for metric in table if metric.per_doc and metric.when(self)]

    @functools.cached_property
    def _tables(self) -> tuple[list[Metric], list[Metric]]:
        """The criterion's metrics, and those that every task has; settled once all is scored."""
        number = self.coverage()["invalid_rows"]
        invalid = replace(INVALID_ROWS, aggregate=lambda values: number)
        common = [one for one in RESPONSE_METRICS if self.generates and one.when(self)]
        return self.criterion_metrics(), [*common, invalid]

    def metrics(self) -> list[Metric]:
        """Return all metrics of this run."""
        of_criterion, common = self._tables
        return [*of_criterion, *common]

    def aggregation(self) -> dict[str, Any]:
        """Return how the harness makes a score of the values of all documents of all processes."""
        if self.predict_only:
            return {**super().aggregation(), RESPONSES: _OF_RESPONSES.aggregate}
        return {one.name: functools.partial(self._aggregate, one) for one in self.metrics()}

    def _aggregate(self, metric: Metric, values: list[Any]) -> float | int | None:
        error = metric.standard_error(values) if self.run.standard_errors else None
        self._standard_errors.setdefault(metric.name, []).append(error)
        if metric.name == RESPONSES:
            self._summary = responses.summarize(self, values)
        return metric.score(values)

    def higher_is_better(self) -> dict[str, bool | None]:
        """Return the directions by metric."""
        if self.predict_only:
            return {**super().higher_is_better(), RESPONSES: _OF_RESPONSES.higher_is_better}
        return {metric.name: metric.higher_is_better for metric in self.metrics()}

    def override_metric(self, metric_name: str) -> None:
        """Set `predict_only`, of which the harness tells by this call."""
        self.predict_only = metric_name == "bypass"
        super().override_metric(metric_name)

    def finish(
        self, row: dict[str, Any], record: dict[str, Any], directions: dict[str, Any]
    ) -> None:
        """Fill in standard errors, and record what is no score beside the harness's table."""
        diagnostics = {}  # one value for a name: with filters all stays in the table
        for metric in self.metrics():
            keys = [key for key in row if key.partition(",")[0] == metric.name]
            errors = self._standard_errors.get(metric.name, [])  # one a filter, in this order
            for key, error in zip(keys, errors, strict=True):
                row[key.replace(",", "_stderr,", 1)] = "N/A" if error is None else error
            if not metric.in_table and self.config.filter_list is None:
                directions.pop(metric.name, None)
                for key in keys:
                    diagnostics[metric.name] = row.pop(key)
                    row.pop(key.replace(",", "_stderr,", 1), None)
        if diagnostics:
            record["bookkeeping"] = diagnostics
        responses.warn_of_missing(self._name, diagnostics)

    def dump_config(self) -> dict[str, Any]:
        """Return the configuration without secrets, with what makes the scores reproducible."""
        config: dict[str, Any] = redact(super().dump_config())
        metrics = [] if self.predict_only else self.metrics()
        replay = self.run.replay
        recorded = {
            "version": __version__,
            "about": about(
                self.criterion, self.record.dataset, self.languages, [one.name for one in metrics]
            ),
            **self._summary,
            **({"cut_prompts": self._cut_prompts} if self._cut_prompts else {}),
            **({"unanswered": failures_by_role(self._failures)} if self._failures else {}),
            **({} if replay is None else {"replay": replay.origin(self._name)}),
            "settings": redact(self.settings.dump()),
            "data": {
                "dataset": self.record.title,
                "language": self.language,
                "licence": self.record.licence,
                "citation": self.record.citation,
                **self.provenance,
                **self.coverage(),
            },
            "prompts": {
                name: {
                    "language": prompt.language,
                    "digest": prompt.digest,
                    **({"form": form} if (form := prompt.form.changed()) else {}),
                }
                for name, prompt in self.prompt_templates().items()
            },
            "generation_kwargs": redact(dict(self.config.generation_kwargs or {})),
            "signatures": {metric.name: metric.signature(self) for metric in metrics},
        }
        config["metadata"] = {**config.get("metadata", {}), "xling": recorded}
        return config

    @property
    def translator_signature(self) -> str:
        """The field of a signature that says how answers became English; empty of English tasks."""
        name = getattr(self.translator, "signature", "none" if len(self.languages) > 1 else "")
        return f"|translator:{name}" if name else ""

    @property
    def extractor_signature(self) -> str:
        """The field of a signature that says what extracts answers beside the rules."""
        return getattr(self.extractor, "signature", "")

    def answer_language(self, language: str = "") -> AnswerLanguage:
        """Return what tells whether answers are in a language, by default the task's own."""
        return AnswerLanguage.load(self.settings.language_identifier, language or self.language)
