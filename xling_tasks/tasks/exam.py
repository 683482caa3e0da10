"""What exam questions have in common: data, prompts, few-shot examples, scores of letters."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from lm_eval.api.samplers import ContextSampler
from xling_metrics.aggregate import MEAN
from xling_metrics.base import signature
from xling_metrics.choices import is_exact_match, jaccard

from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.mmedbench import MMedBenchSplit, load
from xling_tasks.data.prompt_formats import PromptFormat
from xling_tasks.errors import XlingError
from xling_tasks.harness.backends import may_be_cut
from xling_tasks.harness.run import current
from xling_tasks.models.answer_extractor import LetterRequest
from xling_tasks.tasks.exam_replies import letters_of, stated_letters
from xling_tasks.tasks.metric import Metric
from xling_tasks.tasks.reading import (
    AGREEMENT,
    READER_AGAIN,
    Heard,
    ReadingTask,
)
from xling_tasks.tasks.requests import SideRequest
from xling_tasks.tasks.sampling import GreedyTask


class ExamTask(ReadingTask, GreedyTask):
    """What the MMedBench tasks share: data, prompts, few-shot examples, scores of letters."""

    reader_prompt = "read_letters"
    reads_keys = frozenset({"generation_kwargs", "description", "num_fewshot", "fewshot_delimiter"})

    data: MMedBenchSplit
    fine_tuned = False
    checked_only = False

    def load_docs(self, record: str) -> list[dict[str, Any]]:
        """The test questions; those of them with a checked rationale for the rationale tasks."""
        self.record = DATASETS[record]
        self.data = self._split("test")
        self.provenance = self.data.provenance
        return self.data.docs(checked_only=self.checked_only)

    def _split(self, split: str) -> MMedBenchSplit:
        settings = self.settings
        return load(self.record, self.language, split, settings.data_dir)

    def coverage(self) -> dict[str, Any]:
        """Counts of the test file."""
        return self.data.coverage()

    def check_run(self) -> None:
        """Load the training questions only where examples are asked for; reach the reader."""
        super().check_run()
        shots = self.config.num_fewshot or 0
        if shots:
            docs = self._split("train").docs(checked_only=False)
            if self.checked_only:
                docs = [doc for doc in docs if doc["rationale"]]
            if len(docs) < shots:
                raise XlingError(
                    f"{self.config.task}: --num_fewshot {shots}, but {len(docs)} usable"
                )
            self.sampler = ContextSampler(docs)
            self.sampler.rnd = self.fewshot_rnd

    def doc_to_text(self, doc: dict[str, Any], doc_to_text: Any = None) -> str:
        """The question with its options, one a line."""
        prompt = self.used_prompts()[self.prompt_name]
        return prompt.fill(
            question=doc.get("question", ""),
            options=prompt.form.options(doc["options"]),
            language=self.language_name,
        )

    @property
    def form(self) -> PromptFormat:
        """How the prompt writes options and the expected answer."""
        return self.used_prompts()[self.prompt_name].form

    def doc_to_target(self, doc: dict[str, Any], doc_to_target: Any = None) -> str:
        """All right letters, in the form that the prompt asks for."""
        return self.form.answer(self.prompt_name, doc["answer"], doc.get("rationale") or "")

    def by_rules(
        self, reply: str, doc: Mapping[str, Any], *, after_marker: bool
    ) -> tuple[frozenset[str] | None, bool]:
        """The letters of a reply, or of its part after the marker, and whether it may be cut off.

        A list that is cut off is no answer.
        """
        limit = (self.config.generation_kwargs or {}).get("max_gen_toks")
        cut = may_be_cut(current().lm, reply, limit)
        if after_marker:
            letters = letters_of(reply, doc, fine_tuned=self.fine_tuned, cut=cut, form=self.form)
        else:
            parts = self.form.parts(reply)
            stated = reply if parts is None else parts[1]
            letters = stated_letters(stated, doc, fine_tuned=self.fine_tuned, cut=cut)
        return letters, cut

    def heard(self, *, after_marker: bool = False) -> Iterator[Heard]:
        """Every reply; no reader is asked about one that may be cut off."""
        for instance, reply in self.each_reply():
            letters, cut = self.by_rules(reply, instance.doc, after_marker=after_marker)
            asked = None if cut else _choice(reply, instance.doc)
            yield Heard(instance, reply, letters, asked)

    def side_requests(self, doc: dict[str, Any]) -> list[SideRequest]:
        """The reader's prompt, with the options standing in for the reply to come."""
        return self.foreseen_readings([_choice("\n".join(doc["options"].values()), doc)])

    def read_values(
        self, reply: str, doc: Mapping[str, Any], *, after_marker: bool = False
    ) -> dict[str, Any]:
        """Scores of the letters in a reply, by the rules, else by the reader."""
        chosen, _ = self.by_rules(reply, doc, after_marker=after_marker)
        if not self.has_reader:
            return self.choice_values(chosen, doc)
        by_model = self.read_by_model.get(_choice(reply, doc))
        values = self.choice_values(by_model if chosen is None else chosen, doc)
        both = chosen is not None and by_model is not None
        by_reader = {
            "extracted_by_model_rate": float(chosen is None and by_model is not None),
            AGREEMENT: float(by_model == chosen) if both else None,
            READER_AGAIN: self.asked_twice(_choice(reply, doc)),
        }
        return values | by_reader

    def choice_values(
        self, chosen: Collection[str] | None, doc: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Scores of a set of letters; None is a reply that commits to none."""
        right = is_exact_match(chosen, doc["answer"])
        several = len(doc["answer"]) > 1
        return {
            "acc": float(right),
            "acc_parsed": None if chosen is None else float(right),
            "acc_single": None if several else float(right),
            "acc_multi": float(right) if several else None,
            "jaccard": jaccard(chosen, doc["answer"]),
            "unparsed_rate": float(chosen is None),
        }

    def choice_metrics(self) -> list[Metric]:
        """`acc` is over all questions, as in an exam; `acc_parsed` over those with an answer."""
        spans = {
            "acc": "all_questions",
            "acc_parsed": "parsed",
            "acc_single": "one_right_letter",
            "acc_multi": "several_right_letters",
            "jaccard": "parsed",
            "unparsed_rate": "all_questions",
        }
        reader, metrics = self.reader_signature, []
        for name, span in spans.items():
            sign = signature(name, of=span, equal="letter_sets") + reader
            metrics.append(Metric(name, MEAN, sign))
        if self.has_reader:
            read = {"extracted_by_model_rate": "all_questions", AGREEMENT: "read_by_both"}
            for name, of in {**read, READER_AGAIN: "put_to_the_reader"}.items():
                metrics.append(Metric(name, MEAN, signature(name, of=of) + reader))
        return metrics


def _choice(reply: str, doc: Mapping[str, Any]) -> LetterRequest:
    return LetterRequest(reply, tuple(doc["options"].items()), doc["several"])


WITH_FLAGGED = "acc_with_flagged"
_SCORES = (
    *("acc", "acc_parsed", "acc_single", "acc_multi", "jaccard", "unparsed_rate"),
    *("acc_norm", "acc_norm_letters", "acc_norm_tokens"),
)
_ALL = "of:all_questions"


class FlaggedChoices:
    """Stands before a task of multiple choice, whose flawed documents have `flagged`."""

    @property
    def flawed(self) -> Mapping[str, str]:
        """Question -> why its options are unfair in some language; the same in all of them."""
        raise NotImplementedError

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Scores of the letters; of a flagged question only what is counted with all questions."""
        own: dict[str, Any] = super().values(doc, results)  # type: ignore[misc]
        if not self.flawed:
            return own
        scores = {name: None for name in _SCORES if name in own} if doc.get("flagged") else {}
        return {**own, **scores, WITH_FLAGGED: own["acc"]}

    def metrics(self) -> list[Metric]:
        """Where questions are flagged, accuracy with them stands beside that without."""
        own: list[Metric] = super().metrics()  # type: ignore[misc]
        if not self.flawed:
            return own
        spans = [
            replace(metric, signature=metric.signature.replace(_ALL, "of:unflagged_questions"))
            if metric.name in _SCORES
            else metric
            for metric in own
        ]
        acc = next(metric for metric in own if metric.name == "acc")
        return [*spans, replace(acc, name=WITH_FLAGGED)]
