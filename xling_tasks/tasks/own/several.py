"""Tasks whose document is one of the user's questions in all its languages.

Why one task and not one per language: the languages are the file's, and the harness knows only
tasks that stand in files of its own beforehand. So one task (`xling_custom_correctness`) asks a
question in every language that it has, `--limit` cuts the same questions in all of them, and every
metric carries its language at the end (`contradictory_sw`). Inside, each language is the built-in
task (a *part*), which makes the prompts, scores the replies and names the metrics: nothing is
scored here. The logs keep each part's share apart, so that reports read them as those of the
built-in tasks (`logs/by_language.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import islice
from typing import Any

from lm_eval.api.instance import Instance

from xling_tasks.criteria import CRITERIA
from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.errors import DataError, SettingError
from xling_tasks.harness.run import all_ranks
from xling_tasks.log import log, warn_once
from xling_tasks.scorers.answered import about_answers, replies_of
from xling_tasks.tasks.base import XlingTask
from xling_tasks.tasks.metric import Metric
from xling_tasks.tasks.own.part import OwnPart
from xling_tasks.tasks.requests import SideRequest


class OwnTask(XlingTask):
    """A task made of one part per language.

    Attributes:
        part: The class of its parts.
        parts: Language -> part, English first.
        left_out: Language -> why it has no part.
    """

    part: type[OwnPart]
    parts: dict[str, Any]

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._given = deepcopy(dict(config))
        self.parts = {}
        self.left_out: dict[str, str] = {}
        self._asked: dict[str, int] = {}
        super().__init__(config)
        for part in self.parts.values():
            # What the harness changes in the task's configuration holds for its parts.
            part._config = self._config

    @property
    def criterion(self) -> str:  # type: ignore[override]
        """That of its parts."""
        return self.part.criterion

    @property
    def prompt_name(self) -> str:  # type: ignore[override]
        """That of its parts."""
        return str(next(iter(self.parts.values())).prompt_name)

    @property
    def scores_texts(self) -> bool:  # type: ignore[override]
        """As its parts."""
        return self.part.scores_texts

    # Data

    def load_docs(self, record: str) -> list[dict[str, Any]]:
        """A document per question that is usable in some language of this run."""
        data = self.part.read(self.settings)
        self.record, self.provenance = data.info, data.provenance
        for code in self._chosen_languages(tuple(data.languages)):
            config = {**self._given, "dataset_kwargs": {"record": record, "language": code}}
            try:
                self.parts[code] = self.part(config)
            except DataError as error:
                self.left_out[code] = str(error)
        if not self.parts:
            raise DataError(next(iter(self.left_out.values())))
        for code, reason in self.left_out.items():
            log.warning("%s: language %s is left out: %s", self._name, code, reason)
        lacking = [code for code, part in self.parts.items() if part.lacks_instruction]
        if lacking:
            warn_once(
                f"{self.prompt_name}: we have no instruction in {', '.join(lacking)}, so these are "
                "asked with an English one, and the results say so; prompt_language=en asks so in "
                "every language, prompt_templates=FILE adds instructions"
            )
        self.languages = tuple(self.parts)
        own = {code: {doc["question_id"]: doc for doc in part.eval_docs}
               for code, part in self.parts.items()}  # fmt: skip
        return [
            {
                "question_id": item.id,
                "languages": {code: docs[item.id] for code, docs in own.items() if item.id in docs},
                "prompts": {
                    code: len(self.parts[code].views(docs[item.id]))
                    for code, docs in own.items()
                    if item.id in docs
                },
            }
            for item in data.questions
            if any(item.id in docs for docs in own.values())
        ]

    def _chosen_languages(self, there: tuple[str, ...]) -> tuple[str, ...]:
        """English and the languages of the setting `languages`; all without it."""
        wanted = self.settings.languages
        for code in wanted or ():
            if code not in there:
                raise SettingError(
                    f"--metadata languages: the file has no {code!r}; its languages are "
                    f"{', '.join(there)}"
                )
        return tuple(code for code in there if wanted is None or code in ("en", *wanted))

    def coverage(self) -> dict[str, Any]:
        """Questions that are unusable in some language, by language."""
        own = {code: part.coverage() for code, part in self.parts.items()}
        flagged: Mapping[str, str] = next(
            (counts["flagged"] for counts in own.values() if "flagged" in counts), {}
        )
        reasons = Counter[str]()
        for counts in own.values():
            reasons.update(counts["invalid_reasons"])
        return {
            "languages": list(self.parts),
            "questions": max((counts["questions"] for counts in own.values()), default=0),
            "invalid_rows": sum(counts["invalid_rows"] for counts in own.values()),
            "unusable_questions": {
                code: counts["unusable_questions"]
                for code, counts in own.items()
                if counts["unusable_questions"]
            },
            "invalid_reasons": dict(reasons),
            **({"flagged": flagged} if flagged else {}),
            **({"languages_left_out": self.left_out} if self.left_out else {}),
        }

    # Prompts and requests

    def views(self, doc: dict[str, Any]) -> list[dict[str, Any]]:
        """The views of one language after the other."""
        return [view for code, own in _by_language(doc) for view in self.parts[code].views(own)]

    def doc_to_text(self, doc: dict[str, Any], doc_to_text: Any = None) -> str:
        """As the view's language has it."""
        code, own = _one(doc)
        return str(self.parts[code].doc_to_text(own))

    def doc_to_target(self, doc: dict[str, Any], doc_to_target: Any = None) -> Any:
        """As the view's language has it."""
        code, own = _one(doc)
        return self.parts[code].doc_to_target(own)

    def used_prompts(self) -> dict[str, PromptTemplate]:
        """Every prompt of every part; with the language where it is another one than in English."""
        used: dict[str, PromptTemplate] = {}
        for code, part in self.parts.items():
            for name, prompt in part.used_prompts().items():
                if used.setdefault(name, prompt) != prompt:
                    used[f"{name}_{code}"] = prompt
        return used

    def check_run(self) -> None:
        """As every part."""
        for part in self.parts.values():
            part.predict_only = self.predict_only
            part.check_run()

    def load_identifiers(self) -> None:
        """Load those of every part."""
        for part in self.parts.values():
            part.load_identifiers()

    @property
    def asked_temperatures(self) -> tuple[float, ...]:
        """Those of its parts, which are the same."""
        return tuple(next(iter(self.parts.values())).asked_temperatures)

    def construct_requests(self, doc: dict[str, Any], ctx: Any, **kwargs: Any) -> list[Instance]:
        """The requests of one language after the other, numbered in order."""
        contexts, requests = iter(ctx), []
        name, doc_id, _ = kwargs["metadata"]
        for code, own in _by_language(doc):
            part = self.parts[code]
            given = list(islice(contexts, len(part.views(own))))
            requests += part.construct_requests(own, given, **kwargs)
        return [
            Instance(each.request_type, doc, each.args, index, (name, doc_id, each.repeats))
            for index, each in enumerate(requests)
        ]

    def requests_for(self, doc: dict[str, Any], context: Any, chat: bool) -> Any:
        """The requests for one view."""
        code, own = _one(doc)
        return self.parts[code].requests_for(own, context, chat)

    def units(self, doc: dict[str, Any]) -> Iterable[tuple[XlingTask, dict[str, Any]]]:
        """Each language's part of a document."""
        for code, own in _by_language(doc):
            yield self.parts[code], own

    def side_requests(self, doc: dict[str, Any]) -> list[SideRequest]:
        """Of every part, each with its language."""
        return [
            SideRequest(each.role, each.prompt, each.max_gen_toks, each.language or code)
            for code, own in _by_language(doc)
            for each in self.parts[code].side_requests(own)
        ]

    # Replies

    def score(self) -> None:
        """Give every part its share of the replies, and have it score them."""
        shares: dict[str, list[Instance]] = {code: [] for code in self.parts}
        for instances in self.by_document():
            doc, doc_id = instances[0].doc, instances[0].doc_id
            for code, own in self._shares(doc, instances):
                for index, each in enumerate(own):
                    share = Instance(
                        each.request_type, doc["languages"][code], each.args, index,
                        (each.task_name, doc_id, each.repeats),
                    )  # fmt: skip
                    share.resps = each.resps
                    share.filtered_resps = each.filtered_resps  # one mapping: parts may mark them
                    shares[code].append(share)
        for code, part in self.parts.items():
            part._instances, part._gaps = shares[code], self._gaps
            self._asked[code] = sum(all_ranks(len({each.doc_id for each in shares[code]})))
            part.score()

    def _shares(self, doc: dict[str, Any], items: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
        """What belongs to each language of a document, of something in the order of requests."""
        each, rest = divmod(len(items), sum(doc["prompts"].values()))
        assert not rest, "every prompt has as many requests as any other"
        left = iter(items)
        for code, count in doc["prompts"].items():
            yield code, list(islice(left, count * each))

    # Results

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Every part's values, each with its language; None in languages without the question."""
        scored: dict[str, Any] = {metric.name: None for metric in self.metrics()}
        for code, own in self._shares(doc, results):
            values = self.parts[code].all_values(doc["languages"][code], own)
            scored |= {f"{name}_{code}": value for name, value in values.items()}
        return scored

    def all_values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """These and what every task has; what became of an answer, its part has said."""
        scored = self.values(doc, results)
        if self.generates:
            scored |= about_answers([replies_of(result) for result in results])
        return {**scored, "invalid_rows": 0}

    def metrics(self) -> list[Metric]:
        """Every part's metrics, each with its language."""
        return [
            replace(each, name=f"{each.name}_{code}")
            for code, part in self.parts.items()
            for each in part.all_metrics()
        ]

    leaves_out = True
    """Documents without the language."""

    def about(self, metrics: Iterable[str]) -> dict[str, Any]:
        """What the results are about; the endpoints are those of the parts."""
        primary = [
            f"{name}_{code}"
            for code, part in self.parts.items()
            for name in CRITERIA[self.criterion].endpoints_among(
                () if self.predict_only else [each.name for each in part.all_metrics()]
            )
        ]
        return {**super().about(()), "primary": primary}

    def recorded(self) -> dict[str, Any]:
        """As every task, and what each part's record has of its own."""
        whole = super().recorded()
        parts = {}
        for code, part in self.parts.items():
            part.predict_only = self.predict_only
            own = part.recorded()
            parts[code] = {key: own[key] for key in (
                "about", "data", "prompts", "signatures", "generation_kwargs")}  # fmt: skip
            if code in self._asked:
                parts[code]["data"]["asked"] = self._asked[code]
        return {**whole, "parts": parts}


def _by_language(doc: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from doc["languages"].items()


def _one(doc: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Language and content of a view, or of a whole document its first."""
    own = next(iter(doc["languages"].values())) if "languages" in doc else dict(doc)
    return str(own["language"]), own
