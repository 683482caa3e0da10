"""Tasks whose document is one prompt in all its languages.

arXiv:2505.21999: the model answers each language once (English once, not once per language), the
other answers are translated to English, and an English evaluator compares them with the English
answer. Two English answers differ, too: English is answered a second time, sampled, and compared
with the first in the same way. What these two share is the floor against which a language counts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from xling_metrics.aggregate import MEAN, MetricAggregation, mean_over
from xling_metrics.answer_language import classify_answer_language
from xling_metrics.base import signature
from xling_metrics.languages import language_code

from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.prompt_sets import PromptSet, load_prompts
from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.errors import SettingError
from xling_tasks.failed_response import is_empty, is_failed, is_filtered
from xling_tasks.harness.backends import replayed, sent_temperature
from xling_tasks.harness.run import all_ranks, current
from xling_tasks.languages import BRANCH_GROUPS, FAMILY_GROUPS, SCRIPT_GROUPS
from xling_tasks.log import log, warn_once
from xling_tasks.outcomes import UNREAD, UNTRANSLATED
from xling_tasks.scorers.answered import replies_of
from xling_tasks.tasks.metric import Metric
from xling_tasks.tasks.requests import Request
from xling_tasks.tasks.sampling import GreedyTask, generation_arguments
from xling_tasks.tasks.translated import TranslatedTask

Replies = dict[str, str]
"""A document's reply in each language, and under `AGAIN` the second one in English."""

AGAIN = "again"
"""Where the second English answer stands among those by language."""

SAMPLED = 1.0
"""The temperature of the second English answer of a greedy run, which would only repeat itself."""

Key = tuple[str, tuple[str, ...]]
"""A question's id with its replies in the order of the languages."""


class MultilingualTask(GreedyTask, TranslatedTask):
    """Base: documents have `question_id`, `category` and `text` by language.

    A task defines `text_field` (the field of its prompt), `english_in` (where its values have the
    English that was compared), `scored` (whether its evaluator is there) and the scoring.
    """

    text_field: str
    english_in: str
    data: PromptSet

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__(config)
        for language in self.languages:
            self.prompts.check_used(self.prompt_name, language, self.instruction_language(language))

    # Data

    def load_docs(self, record: str) -> list[dict[str, Any]]:
        """The prompts that have English and at least one other language of this run."""
        self.record = DATASETS[record]
        self.data = load_prompts(DATASETS[record], self.settings.prompt_set)
        self.provenance = self.data.provenance
        return self.documents(self.data)

    def documents(self, data: PromptSet) -> list[dict[str, Any]]:
        """The documents of a set, in the languages of this run."""
        wanted = self.settings.languages
        if wanted is not None:
            # A set that does not tell varieties apart has their language.
            wanted = tuple(c if c in data.languages else language_code(c) for c in wanted)
        for code in wanted or ():
            if code not in data.languages:
                raise SettingError(
                    f"--metadata languages: {self.config.task} has no {code!r}; its languages "
                    f"are {', '.join(data.languages)}"
                )
        chosen = data.languages if wanted is None else wanted
        self.languages = ("en", *(code for code in data.languages[1:] if code in chosen))
        if len(self.languages) < 2:
            raise SettingError("--metadata languages: name at least one language beside English")
        docs = []
        for item in data.prompts:
            text = {code: item["text"][code] for code in self.languages if item["text"][code]}
            if "en" in text and len(text) > 1:
                fields = {key: value for key, value in item.items() if key not in ("id", "text")}
                docs.append({"question_id": item["id"], **fields, "text": text})
        return docs

    def coverage(self) -> dict[str, Any]:
        """Prompts without a text, by language."""
        missing = {code: self.data.missing(code) for code in self.languages}
        return {
            "languages": list(self.languages),
            "questions": len(self.data.prompts),
            "invalid_rows": sum(map(len, missing.values())),
            "unusable_questions": {code: ids for code, ids in missing.items() if ids},
            "invalid_reasons": {"text missing": sum(map(len, missing.values()))},
        }

    # Prompts and requests

    def views(self, doc: dict[str, Any]) -> list[dict[str, Any]]:
        """The prompt in one language after the other; at the end in English once more."""
        same = {"question_id": doc["question_id"], "text": doc["text"]}
        views = [{**same, "language": code} for code in doc["text"]]
        again = [{**same, "language": "en", "answer_id": AGAIN}] if self.english_floor else []
        return [*views, *again]

    @property
    def english_floor(self) -> bool:
        """Whether English is answered twice; a replay has the answers that its run had."""
        if not self.settings.english_floor or replayed(current().lm) is None:
            return self.settings.english_floor
        return bool((self.replayed_run.get("settings") or {}).get("english_floor"))

    def requests_for(self, doc: dict[str, Any], context: Any, chat: bool) -> list[Request]:
        """One reply to a view."""
        ((kind, (context, arguments), repeats),) = super().requests_for(doc, context, chat)
        if doc.get("answer_id") == AGAIN and not arguments["temperature"]:
            lm = current().lm
            tau = SAMPLED if lm is None else sent_temperature(lm, SAMPLED)
            arguments = {**arguments, "temperature": tau, "do_sample": tau > 0}
        return [(kind, (context, arguments), repeats)]

    def codes(self, doc: Mapping[str, Any]) -> list[str]:
        """What each of a document's replies is to: its languages, then `AGAIN`."""
        return [*doc["text"], *([AGAIN] if self.english_floor else [])]

    def doc_to_text(self, doc: dict[str, Any], doc_to_text: Any = None) -> str:
        """The prompt in the view's language."""
        code = doc.get("language", "en")
        prompt = self.prompts.get(self.prompt_name, self.instruction_language(code))
        return prompt.fill(
            **{self.text_field: doc["text"][code], "language": self.record.language_names[code]}
        )

    def used_prompts(self) -> dict[str, PromptTemplate]:
        """The prompt, in each language in which it differs, and the translator's."""
        used = super().used_prompts()
        for code in self.languages:
            prompt = self.prompts.get(self.prompt_name, self.instruction_language(code))
            if prompt not in used.values():
                used[f"{self.prompt_name}_{code}"] = prompt
        return used | self.translate_prompt()

    # Before the run

    @property
    @abstractmethod
    def scored(self) -> bool:
        """Whether the evaluator is set; without it only the answers' language is reported."""

    def check_run(self) -> None:
        """Load the translator before anything is generated, without which nothing is scored."""
        generation_arguments(self, self.temperature)
        if self.predict_only or not self.scored:
            return
        if "translator" not in self.settings.given:
            raise SettingError(
                f"{self.config.task}: answers are compared in English, so it needs a translator: "
                '--metadata \'{"translator": {"model": "seq2seq", "model_args": {"pretrained": '
                '"facebook/nllb-200-3.3B"}}}\', or any harness model, or a file; or '
                "translator=none where the model answers in English anyway"
            )
        self.load_translator()

    # Replies

    def key(self, doc: dict[str, Any], results: Sequence[Any]) -> Key:
        """What identifies a document's replies under one filter."""
        return doc["question_id"], tuple(replies_of(result)[0] for result in results)

    def replies(self) -> dict[Key, Replies]:
        """Every document's replies, through every filter."""
        by_key = {}
        for instances in self.by_document():
            doc = instances[0].doc
            for name in instances[0].filtered_resps:
                key = self.key(doc, [instance.filtered_resps[name] for instance in instances])
                by_key[key] = dict(zip(self.codes(doc), key[1], strict=True))
        if self.english_floor and not self._two_answers(by_key.values()):
            return {key: {c: own[c] for c in own if c != AGAIN} for key, own in by_key.items()}
        return by_key

    def _two_answers(self, answers: Iterable[Replies]) -> bool:
        """Whether any second English answer of all processes is another text than the first.

        If none is, the model was not sampled, and a text compared with itself is no floor.
        """
        if any(all_ranks(any(own["en"] != own[AGAIN] for own in answers))):
            return True
        warn_once(
            f"{self.config.task}: every second English answer is the first one word for word, so "
            "that this model was not sampled and what two English answers share is not known: no "
            "language is called worse. Use a backend that takes a temperature"
        )
        return False

    def in_english(self, answers: Mapping[Key, Replies]) -> dict[tuple[str, str], str | None]:
        """(language, reply) -> the reply in English; None where it could not be translated.

        With `translator=none` replies are taken as they are; those in another language
        are None.
        """
        english_of: dict[tuple[str, str], str | None] = {}
        for code in (*self.languages, AGAIN):
            texts = list(dict.fromkeys(r[code] for r in answers.values() if code in r))
            english_of |= {(code, text): None for text in texts}
            texts = [text for text in texts if not is_failed(text)]
            if code in ("en", AGAIN):
                english: Sequence[str | None] = texts
            elif self._translator is not None:
                english = self._translator.translate(texts, code, "en")
            else:
                languages = classify_answer_language(texts, "en")
                wrong = [language.in_language is False for language in languages]
                english = [None if bad else text for text, bad in zip(texts, wrong, strict=True)]
                if any(wrong):
                    log.warning(
                        "%s: translator=none, but %d of %d answers to %s prompts are not in "
                        "English; they are unscored. Set a translator.",
                        self.config.task, sum(wrong), len(texts), self.record.language_names[code],
                    )  # fmt: skip
            english_of |= {(code, text): e for text, e in zip(texts, english, strict=True)}
        return english_of

    @property
    def translator_signature(self) -> str:
        """The field of a signature that says how answers became English."""
        if self._translator is None:
            return "|translator:none"
        return f"|translator:{self._translator.signature}"

    # Metrics

    def about_replies(self, doc: dict[str, Any], results: Sequence[Any]) -> dict[str, Any]:
        """Whether there is a reply, and in the prompt's language; by language."""
        replies = dict(zip(self.codes(doc), self.key(doc, results)[1], strict=True))
        values: dict[str, Any] = {}
        for code in self.languages:
            reply = replies.get(code)
            values[f"empty_rate_{code}"] = _share(reply, is_empty)
            values[f"failed_rate_{code}"] = None if reply is None else float(is_failed(reply))
            values[f"content_filter_rate_{code}"] = _share(reply, is_filtered)
            said = "" if reply is None else reply
            values[f"langid_match_{code}"] = self.answer_language(code).match(said)
        return values

    def _outcomes_of(self, doc: dict[str, Any], values: Mapping[str, Any]) -> dict[str, str]:
        """Also what was compared with nothing, as it has no English: no judge is to blame."""
        found = super()._outcomes_of(doc, values)
        for code, outcome in found.items():
            record = values.get(f"{self.english_in}_{code}") or {}
            if outcome == UNREAD and record.get("english", "") is None:
                found[code] = UNTRANSLATED
        return found

    def metrics_about_replies(self) -> list[Metric]:
        """Their metrics."""
        metrics = []
        for code in self.languages:
            for name in ("empty_rate", "failed_rate", "content_filter_rate"):
                sign = signature(name, language=code, of="all_prompts")
                metrics.append(Metric(f"{name}_{code}", MEAN, sign))
            sign = self.answer_language(code).match_signature()
            metrics.append(Metric(f"langid_match_{code}", MEAN, sign))
        return metrics

    def compared(self) -> dict[str, str]:
        """Language -> which of the replies is compared with the English one: of English `AGAIN`."""
        english = {"en": AGAIN} if self.english_floor else {}
        return english | {code: code for code in self.languages[1:]}

    @property
    def floor_signature(self) -> str:
        """The field of a signature that says what the value of English is."""
        return f"|second_answer:t{self.temperature or SAMPLED:g}"

    def groups(self) -> dict[str, tuple[str, ...]]:
        """Suffix -> the languages of this run in each group; '' is all of them."""
        others = self.languages[1:]
        languages_of = {"": others}
        trained = self.settings.trained_languages
        seen = {} if trained is None else {
            "in": trained, "out": tuple(code for code in others if code not in trained)
        }  # fmt: skip
        kinds = {"script": SCRIPT_GROUPS, "family": FAMILY_GROUPS, "branch": BRANCH_GROUPS}
        for kind, groups in (*kinds.items(), ("train", seen)):
            for name, members in groups.items():
                chosen = tuple(code for code in others if code in members)
                if chosen:
                    languages_of[f"_{kind}_{name}"] = chosen
        return languages_of

    def group_metrics(
        self, name: str, sign: str, of_language: MetricAggregation = MEAN
    ) -> list[Metric]:
        """Means over the languages of each group of their scores, each made by OF_LANGUAGE."""
        return [
            Metric(
                f"{name}{suffix}",
                mean_over(codes, of_language),
                f"{name}|mean_over:{','.join(codes)}|{sign}",
            )
            for suffix, codes in self.groups().items()
        ]

    def group_values(self, name: str, values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """A document's value for each of them: its values by language."""
        return {
            f"{name}{suffix}": {code: values.get(code) for code in codes}
            for suffix, codes in self.groups().items()
        }


def _share(reply: str | None, test: Callable[[str], bool]) -> float | None:
    """Whether a reply passes a test; None where there is none."""
    return None if reply is None or is_failed(reply) else float(test(reply))
