"""What becomes of a task's scores: aggregates, bookkeeping, and what the results record of it."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from lm_eval.api.task import ConfigurableTask

from xling_tasks import __version__
from xling_tasks.criteria import CRITERIA, about
from xling_tasks.data.dataset_info import DatasetInfo
from xling_tasks.data.prompts import PromptTemplate, PromptTemplates
from xling_tasks.failed_response import is_failed
from xling_tasks.harness.backends import replayed
from xling_tasks.harness.run import current
from xling_tasks.models.retry import failures_by_role
from xling_tasks.outcomes import OUTCOME, SERVED, outcome_of
from xling_tasks.scorers.answered import (
    ANSWER_METRICS,
    ANSWERED_SIGNATURE,
    about_answers,
    outcomes_by_language,
    replies_of,
)
from xling_tasks.secrets import redact
from xling_tasks.settings import Settings
from xling_tasks.tasks import said
from xling_tasks.tasks.metric import Aggregation, DocumentValues, Metric


class ScoredTask(ConfigurableTask):  # type: ignore[misc]
    """The part of a task that begins where its replies are scored; see `tasks.base.XlingTask`."""

    criterion: str
    prompt_name: str
    prompts: PromptTemplates
    prompt_language: str
    predict_only: bool
    settings: Settings
    language: str
    languages: tuple[str, ...]
    record: DatasetInfo
    provenance: Mapping[str, Any]
    _unanswered: Counter[tuple[str, str]]
    _outcomes: dict[str, dict[str, int]]
    _recorded: dict[str, Any]
    _cut: dict[str, list[int]]
    _tokens: dict[str, dict[str, int]]
    _gaps: bool

    @abstractmethod
    def coverage(self) -> dict[str, Any]:
        """What was read and what cannot be used, with at least `invalid_rows`."""

    def used_prompts(self) -> dict[str, PromptTemplate]:
        """The prompts that this task uses, by name."""
        return {self.prompt_name: self.prompts.get(self.prompt_name, self.prompt_language)}

    @property
    def generation_arguments(self) -> dict[str, Any]:
        """The template's generation arguments, with `--gen_kwargs`."""
        return dict(self.config.generation_kwargs or {})

    def override_metric(self, metric_name: str) -> None:
        """The harness calls this for `--predict_only`."""
        self.predict_only = metric_name == "bypass"
        super().override_metric(metric_name)

    @abstractmethod
    def metrics(self) -> list[Metric]:
        """The metrics of this run; every document has a value for each."""

    @abstractmethod
    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """A document's value for every metric."""

    def process_results(self, doc: dict[str, Any], results: list[Any]) -> Mapping[str, Any]:
        """A document's values; a metric that is missing here would corrupt the harness's counts."""
        if self.predict_only:
            return {"bypass": None}
        # The record has one value for each name; with filters of the user's there is one for each.
        kept = () if self.config.filter_list is not None else self._bookkeeping
        return DocumentValues(self.all_values(doc, results), kept)

    @functools.cached_property
    def _bookkeeping(self) -> frozenset[str]:
        """The metrics that are recorded and no scores; asked for after all is scored."""
        return frozenset(metric.name for metric in self.all_metrics() if metric.bookkeeping)

    def all_values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """A document's values for the task's metrics and those that every task has."""
        values = self.values(doc, results)
        if self.generates:
            replies = [reply for result in results for reply in replies_of(result)]
            if all(map(is_failed, replies)):
                values = {k: v if isinstance(v, dict) else None for k, v in values.items()}
            values |= about_answers([replies_of(result) for result in results])
            if SERVED in CRITERIA[self.criterion].metrics:
                values["n_responses"][OUTCOME] = self._outcomes_of(doc, values)
        values["invalid_rows"] = 0
        return values

    def _outcomes_of(self, doc: dict[str, Any], values: Mapping[str, Any]) -> dict[str, str]:
        """What became of a document's question, by language."""
        several = CRITERIA[self.criterion].several_languages
        suffixes = {code: f"_{code}" for code in doc["text"]} if several else {self.language: ""}
        found = {}
        for code, suffix in suffixes.items():
            inside = values.get(f"langid_match{suffix}")
            told = None if inside is None else bool(inside)
            found[code] = outcome_of(values, suffix, inside=told)
        return found

    def _counted(self, values: list[dict[str, Any]]) -> int:
        """How many answers there are; the harness has all documents' records here, of all ranks."""
        self._outcomes = outcomes_by_language(values)
        return sum(
            value["asked"] - sum("outcome" in row for row in value["responses"]) for value in values
        )

    @property
    def generates(self) -> bool:
        """Whether the model writes answers, rather than scores given text."""
        return bool(self.OUTPUT_TYPE == "generate_until")

    def aggregation(self) -> dict[str, Callable[[list[Any]], Any]]:
        """The aggregations by metric name."""
        if self.predict_only:
            return dict(super().aggregation())
        gaps = self.leaves_out
        return {item.name: Aggregation(item, gaps, self._keep) for item in self.all_metrics()}

    @property
    def leaves_out(self) -> bool:
        """Whether there may be documents without a value, which are left out of every score."""
        return self._gaps

    def _keep(self, values: dict[str, list[Any]]) -> None:
        """Record what is no score, of all documents of all processes."""
        known = {metric.name: metric for metric in self.all_metrics()}
        self._recorded = {
            name: Aggregation(known[name], self.leaves_out)(own) for name, own in values.items()
        }
        said.incomplete(str(self.config.task), self._recorded)

    def higher_is_better(self) -> dict[str, bool | None]:
        """The directions by metric name."""
        if self.predict_only:
            return dict(super().higher_is_better())
        return {metric.name: metric.higher_is_better for metric in self.all_metrics()}

    def all_metrics(self) -> list[Metric]:
        """The task's metrics, and those about answers and data that every task has."""
        count = self.coverage()["invalid_rows"]
        unusable = Metric("invalid_rows", lambda _: count, "count|whole_file:yes")
        own = self.metrics()
        about = [Metric(*item) for item in ANSWER_METRICS] if self.generates else []
        if about:
            about.append(Metric("n_responses", self._counted, ANSWERED_SIGNATURE))
        return [self._declared(item) for item in (*own, *about, unusable)]

    def _declared(self, item: Metric) -> Metric:
        """A metric with what its criterion says of it."""
        known, better = CRITERIA[self.criterion].of(item.name), item.higher_is_better
        return replace(
            item,
            bookkeeping=item.bookkeeping or known.bookkeeping,
            higher_is_better=known.higher_is_better if better is None else better,
        )

    def dump_config(self) -> dict[str, Any]:
        """The configuration for the results: settings, data, prompt and signatures, no secrets."""
        config: dict[str, Any] = redact(super().dump_config())
        config["metadata"] = {**config.get("metadata", {}), "xling": self.recorded()}
        return config

    def about(self, metrics: Iterable[str]) -> dict[str, Any]:
        """What the results are about, for whoever reads them."""
        return about(self.criterion, self.record.dataset, self.languages, metrics)

    def recorded(self) -> dict[str, Any]:
        """What the results are about, and what makes the scores reproducible."""
        replay = replayed(current().lm)
        metrics = [] if self.predict_only else self.all_metrics()
        signatures = {metric.name: metric.signature for metric in metrics}
        return {
            "version": __version__,
            "about": self.about(signatures),
            **({"outcomes": self._outcomes} if self._outcomes else {}),
            **({"cut": self._cut} if self._cut else {}),
            **({"tokens": self._tokens} if self._tokens else {}),
            **({"bookkeeping": self._recorded} if self._recorded else {}),
            **({"unanswered": failures_by_role(self._unanswered)} if self._unanswered else {}),
            **({} if replay is None else {"replay": replay.origin(str(self.config.task))}),
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
                for name, prompt in self.used_prompts().items()
            },
            "generation_kwargs": redact(self.generation_arguments),
            "signatures": signatures,
        }
