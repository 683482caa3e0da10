"""Tasks whose document is one prompt in all its languages.

arXiv:2505.21999: the model answers each language once (English once, not once per language), the
other answers are translated to English, and an English evaluator compares them with the English
answer. Two English answers differ, too: English is answered a second time, sampled, and compared
with the first in the same way. What these two share is the floor against which a language counts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from xling_metrics.aggregate import mean_over
from xling_metrics.answer_language import classify_answer_language
from xling_metrics.languages import language_code

from xling_tasks.criteria.against_english import AGAIN, Compared, PromptResult
from xling_tasks.criteria.metric import LANGID_MATCH, Metric
from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.prompt_sets import PromptSet, load_prompts
from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.errors import SettingError
from xling_tasks.failed_response import is_failed
from xling_tasks.harness.backends import sent_temperature
from xling_tasks.languages import BRANCH_GROUPS, FAMILY_GROUPS, SCRIPT_GROUPS
from xling_tasks.log import log, warn_once
from xling_tasks.outcomes import UNREAD, UNTRANSLATED
from xling_tasks.readers.refusals import is_refusal
from xling_tasks.tasks.auxiliary import open_translator
from xling_tasks.tasks.task import Answered, HealthTask, Request

Responses = dict[str, str]
"""A document's response in each language, and under `AGAIN` the second one in English."""

SAMPLED = 1.0  # temperature of the second English answer of a greedy run


class MultilingualTask(HealthTask):
    """Base: documents have `question_id`, `category` and `text` by language."""

    other_prompts: ClassVar[tuple[str, ...]] = ("translate",)
    nothing: ClassVar[Any] = None  # the result of a response that there is not
    text_field: ClassVar[str]  # the field of its prompt
    english_in: ClassVar[str]  # where its values have the English that was compared
    data: PromptSet
    excluded: Mapping[str, str] = {}  # questions that are asked and not compared, with the reason

    def load_docs(self, record: str) -> list[dict[str, Any]]:
        """Load the prompts that have English and at least one other language of this run."""
        self.data = self.load_set(record)
        self.provenance = self.data.provenance
        self.languages = self._choose_languages()
        docs = []
        for item in self.data.prompts:
            text = {code: item["text"][code] for code in self.languages if item["text"][code]}
            if "en" in text and len(text) > 1:
                fields = {key: value for key, value in item.items() if key not in ("id", "text")}
                docs.append({"question_id": item["id"], **fields, "text": text})
        return docs

    def load_set(self, record: str) -> PromptSet:
        """Return the prompts in all their languages; sets `record`."""
        self.record = DATASETS[record]
        return load_prompts(self.record, self.settings.prompt_set)

    def _choose_languages(self) -> tuple[str, ...]:
        available = self.data.languages
        # A set that has one text for all varieties of a language has it under the language.
        requested = [
            code if code in available else language_code(code)
            for code in (available if self.settings.languages is None else self.settings.languages)
        ]
        for code in requested:
            if code not in available:
                raise SettingError(
                    f"--metadata languages: {self._name} has no {code!r}; its languages are "
                    f"{', '.join(available)}"
                )
        chosen = tuple(code for code in available[1:] if code in requested)
        if not chosen:
            raise SettingError("--metadata languages: name at least one language beside English")
        return "en", *chosen

    def coverage(self) -> dict[str, Any]:
        """Return the prompts without a text, by language, and those that are not compared."""
        missing = {code: self.data.missing(code) for code in self.languages}
        number = sum(map(len, missing.values()))
        return {
            "languages": list(self.languages),
            "questions": len(self.data.prompts),
            "invalid_rows": number,
            "unusable_questions": {code: ids for code, ids in missing.items() if ids},
            "invalid_reasons": {"text missing": number},
            **({"excluded_rate": dict(self.excluded)} if self.excluded else {}),
        }

    def codes(self, doc: Mapping[str, Any]) -> list[str]:
        """Return what each of a document's responses is to: its languages, then `AGAIN`."""
        return [*doc["text"], *([AGAIN] if self.settings.english_floor else [])]

    def prompts(self, doc: dict[str, Any]) -> list[str]:
        """Return the prompt in one language after the other; at the end in English once more."""
        prompts = []
        for code in self.prompt_languages(doc):
            template = self.templates.get(self.prompt_name, self.instruction_language(code))
            name = self.record.language_names[code]
            prompts.append(template.fill(**{self.text_field: doc["text"][code], "language": name}))
        return prompts

    def prompt_languages(self, doc: dict[str, Any]) -> list[str]:
        """Return the languages of these prompts."""
        return ["en" if code == AGAIN else code for code in self.codes(doc)]

    def prompt_templates(self) -> dict[str, PromptTemplate]:
        """Return also the prompt in each language in which it differs."""
        templates = super().prompt_templates()
        for code in self.languages:
            template = self.templates.get(self.prompt_name, self.instruction_language(code))
            if template not in templates.values():
                templates[f"{self.prompt_name}_{code}"] = template
        return templates

    def requests(self, doc: dict[str, Any], number: int) -> list[Request]:
        """Return one request; the second English one is sampled."""
        code, (tau,) = self.codes(doc)[number], self.temperatures
        if code != AGAIN:
            return list(self.generate(doc, tau, language=code))
        if tau == 0:
            tau = SAMPLED if self.run.lm is None else sent_temperature(self.run.lm, SAMPLED)
        return list(self.generate(doc, tau, language="en", answer_id=AGAIN))

    @property
    @abstractmethod
    def scored(self) -> bool:
        """Whether the evaluator is set; without it only the answers' language is reported."""

    def prepare(self) -> None:
        """Load the translator before anything is generated, without which nothing is scored."""
        if self.predict_only or not self.scored:
            return
        if "translator" not in self.settings.given:
            raise SettingError(
                f"{self._name}: answers are compared in English, so it needs a translator: "
                '--metadata \'{"translator": {"model": "seq2seq", "model_args": {"pretrained": '
                '"facebook/nllb-200-3.3B"}}}\', or any harness model; or '
                "translator=none where the model answers in English anyway"
            )
        self.translator = open_translator(self)

    def score(self, answered: Sequence[Answered]) -> list[PromptResult]:
        """Translate and compare, each once over all answers that are compared."""
        responses = [dict(zip(self.codes(one.doc), one.texts, strict=True)) for one in answered]
        excluded = [one.doc["question_id"] in self.excluded for one in answered]
        compared: Mapping[int, Mapping[str, Any]] = {}
        if self.scored:
            comparable = self._with_floor(
                {n: by_code for n, by_code in enumerate(responses) if not excluded[n]}
            )
            docs = {number: answered[number].doc for number in comparable}
            compared = self.compare(docs, comparable, self._translate(comparable.values()))
        rows = []
        for number, by_code in enumerate(responses):
            results, by_language = compared.get(number, {}), {}
            for code in self.languages:
                response = by_code.get(code)
                match = None if response is None else self.answer_language(code).match(response)
                refused = float(is_refusal(response or ""))
                result = results.get(code, self.nothing)
                other = results.get(AGAIN, self.nothing) if code == "en" else result
                english = results.get("en", self.nothing)
                by_language[code] = Compared(response, match, refused, result, other, english)
            rows.append(PromptResult(by_language, float(excluded[number])))
        return rows

    @abstractmethod
    def compare(
        self, docs: Mapping[int, Any], responses: Mapping[int, Responses],
        english: Mapping[tuple[str, str], str | None],
    ) -> Mapping[int, Mapping[str, Any]]:  # fmt: skip
        """Return document number -> language or `AGAIN` -> result.

        ENGLISH has (language, response) -> the response in English; None without a translation.
        """

    def _with_floor(self, responses: dict[int, Responses]) -> dict[int, Responses]:
        """Return the responses; without the second English ones where all are the first ones."""
        if not self.settings.english_floor:
            return responses
        if any(self.run.all_gather(any(r["en"] != r[AGAIN] for r in responses.values()))):
            return responses
        warn_once(
            f"{self._name}: every second English answer is the first one word for word, so "
            "that this model was not sampled and what two English answers share is not known: no "
            "language is called worse. Use a backend that takes a temperature"
        )
        return {
            number: {c: by_code[c] for c in by_code if c != AGAIN}
            for number, by_code in responses.items()
        }

    def _translate(
        self, responses: Iterable[Mapping[str, str]]
    ) -> dict[tuple[str, str], str | None]:
        """Return (language, response) -> the response in English; None without a translation.

        With `translator=none` responses are taken as they are; those in another language are None.
        """
        responses = list(responses)
        english_of: dict[tuple[str, str], str | None] = {}
        for code in (*self.languages, AGAIN):
            every = dict.fromkeys(by_code[code] for by_code in responses if code in by_code)
            english_of |= dict.fromkeys(((code, text) for text in every), None)
            texts = [text for text in every if not is_failed(text)]
            english: Sequence[str | None] = texts
            if code not in ("en", AGAIN) and self.translator is not None:
                english = self.translator.translate(texts, code, "en")
            elif code not in ("en", AGAIN):
                languages = classify_answer_language(texts, "en")
                wrong = [answer.in_language is False for answer in languages]
                english = [None if bad else text for text, bad in zip(texts, wrong, strict=True)]
                if any(wrong):
                    log.warning(
                        "%s: translator=none, but %d of %d answers to %s prompts are not in "
                        "English; they are unscored. Set a translator.",
                        self._name, sum(wrong), len(texts), self.record.language_names[code],
                    )  # fmt: skip
            english_of |= {(code, text): e for text, e in zip(texts, english, strict=True)}
        return english_of

    def outcomes(self, doc: dict[str, Any], values: Mapping[str, Any]) -> dict[str, str]:
        """Return the outcomes; an answer without English is untranslated, not unparsed."""
        outcomes = super().outcomes(doc, values)
        for code, outcome in outcomes.items():
            record = values.get(f"{self.english_in}_{code}") or {}
            if outcome == UNREAD and record.get("english", "") is None:
                outcomes[code] = UNTRANSLATED
        return outcomes

    def criterion_metrics(self) -> list[Metric]:
        """Return the criterion's metrics by language, and means over groups of languages."""
        languages_of = {
            "all": self.languages,
            "others": self.languages[1:],
            "compared": self.languages if self.settings.english_floor else self.languages[1:],
        }
        metrics: list[Metric] = []
        for metric in self.table():
            if not metric.languages:
                metrics.append(metric)
                continue
            metrics += [_in_language(metric, code) for code in languages_of[metric.languages]]
            groups = self.groups() if metric.grouped else {}
            metrics += [_over_languages(metric, *group) for group in groups.items()]
        return metrics

    def groups(self) -> dict[str, tuple[str, ...]]:
        """Return suffix -> the languages of this run in each group; '' is all of them."""
        codes, trained = self.languages[1:], self.settings.trained_languages
        untrained = [code for code in codes if code not in (trained or ())]
        kinds: dict[str, Mapping[str, Sequence[str]]] = {
            "script": SCRIPT_GROUPS,
            "family": FAMILY_GROUPS,
            "branch": BRANCH_GROUPS,
            "train": {} if trained is None else {"in": trained, "out": untrained},
        }
        languages_of = {"": codes}
        for kind, groups in kinds.items():
            for name, members in groups.items():
                if chosen := tuple(code for code in codes if code in members):
                    languages_of[f"_{kind}_{name}"] = chosen
        return languages_of

    @property
    def floor_signature(self) -> str:
        """The field of a signature that says what the value of English is."""
        return f"|second_answer:t{self.temperatures[0] or SAMPLED:g}"


def _in_language(metric: Metric, code: str) -> Metric:
    """Return a metric of one language."""
    per_doc = metric.per_doc
    assert per_doc is not None

    def sign(task: Any) -> str:
        if metric.name == LANGID_MATCH:
            return str(task.answer_language(code).signature_of(LANGID_MATCH))
        return f"language:{code}|{metric.sign(task)}"

    return replace(
        metric,
        name=f"{metric.name}_{code}",
        stem=metric.name,
        per_doc=lambda row: per_doc(row.by_language[code]),
        sign=sign,
    )


def _over_languages(metric: Metric, suffix: str, codes: Sequence[str]) -> Metric:
    """Return the mean over some languages of each one's score."""
    per_doc, aggregate = metric.per_doc, metric.aggregate
    assert per_doc is not None
    return replace(
        metric,
        name=f"{metric.name}{suffix}",
        stem=metric.name,
        per_doc=lambda row: {code: per_doc(row.by_language[code]) for code in codes},
        aggregate=mean_over(codes, aggregate),  # type: ignore[arg-type]
        sign=lambda task: f"mean_over:{','.join(codes)}|{metric.sign(task)}",
    )
