"""Correctness: the model answers in the question's language; judges compare with a reference.

XLingEval, section 3.2. Without a judge there are no labels, and the task reports what needs none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xling_metrics.tokenization import load_segmenter

from xling_tasks.criteria.correctness import JudgedAnswer
from xling_tasks.criteria.labels import LABELS, of_judge
from xling_tasks.criteria.metric import Metric
from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.failed_response import is_failed
from xling_tasks.log import warn_once
from xling_tasks.models.backend import load_backend
from xling_tasks.models.judge import JudgeInput, JudgePanel, JudgeVotes, fill_judge_prompt
from xling_tasks.tasks.requests import AuxiliaryRequest
from xling_tasks.tasks.task import Answered, HealthTask


class CorrectnessTask(HealthTask):
    """One greedy answer per question, judged against the reference answer.

    Attributes:
        judges: One judge or several; None without any.
    """

    criterion = "correctness"
    prompt_name = "answer"
    judges: JudgePanel | None = None
    _unlabelled: frozenset[str] = frozenset()

    def is_usable(self, doc: dict[str, Any]) -> bool:
        """Return whether the question has a reference answer in this language."""
        return doc["reference"] is not None

    def keep(self, doc: dict[str, Any]) -> dict[str, Any]:
        """Return all but the answers to choose from."""
        return {key: value for key, value in doc.items() if key != "answers"}

    def doc_to_target(self, doc: dict[str, Any], doc_to_target: Any = None) -> str:
        """Return the reference answer."""
        return str(doc["reference"])

    def prompt_templates(self) -> dict[str, PromptTemplate]:
        """Return the question's prompt, and the judge's where there is a judge."""
        templates = super().prompt_templates()
        if self.settings.judge is not None:
            templates["judge"] = self.templates.get("judge", "en")
        return templates

    def prepare(self) -> None:
        """Check the judges before anything is generated; warn if there is none."""
        if self.predict_only:
            return
        load_segmenter(self.language)
        self.judges = None
        if self.settings.judge is None:
            warn_once(
                "Correctness: no judge is set, so there are no labels; reporting chrf, "
                "length_words, empty_rate and langid_match only. Set one with --metadata "
                '\'{"judge": {"model": ..., "model_args": {...}}}\'.'
            )
            return
        jurors = self.settings.jurors
        backends = (
            load_backend("judge", juror.spec, self.settings.xling_cache) for juror in jurors
        )
        names, in_both_orders = (
            [juror.name for juror in jurors],
            [juror.spec.both_orders for juror in jurors],
        )
        self.judges = JudgePanel(tuple(backends), tuple(names), tuple(in_both_orders))
        self.judges.check()

    def score(self, answered: Sequence[Answered]) -> list[JudgedAnswer]:
        """Judge all answers that came in one batch."""
        inputs = [
            JudgeInput(one.doc["question"], one.doc["reference"], one.texts[0], self.language_name)
            for one in answered
        ]
        present = [item for item in inputs if not is_failed(item.answer)]
        votes: dict[JudgeInput, JudgeVotes] = {}
        if self.judges is not None:
            distinct = list(dict.fromkeys(present))
            labels = self.judges.label(distinct, self.prompt_templates()["judge"])
            votes = dict(zip(distinct, labels, strict=True))
            self._find_unlabelled(list(votes.values()))
        return [self._row(item, votes.get(item, JudgeVotes(()))) for item in inputs]

    def _row(self, item: JudgeInput, votes: JudgeVotes) -> JudgedAnswer:
        measured_values = self.answer_language().of_answer(item.answer)
        if self.judges is None:
            return JudgedAnswer(item.answer, item.reference, measured_values)
        swapped = [vote.order_sensitive for vote in votes.votes if vote.swapped is not None]
        return JudgedAnswer(
            item.answer,
            item.reference,
            measured_values,
            votes.label,
            votes.no_majority,
            tuple(vote.result.label for vote in votes.votes),
            tuple(swapped),
            votes.count_repairs(),
            self.judges.to_record(votes),
        )

    def _find_unlabelled(self, votes: Sequence[JudgeVotes]) -> None:
        """Set which judges gave no answer a label, over all processes.

        Where nothing was labelled, a share of 0 contradictory answers would be a lie.
        """
        assert self.judges is not None
        labelling: set[str] = {"majority"} if any(vote.label in LABELS for vote in votes) else set()
        labelling |= {
            name
            for number, name in enumerate(self.judges.names)
            if any(vote.votes[number].label for vote in votes)
        }
        labelled, any_votes = zip(*self.run.all_gather((labelling, bool(votes))), strict=True)
        everybody = {"majority", *self.judges.names} if any(any_votes) else set()
        self._unlabelled = frozenset(everybody.difference(*labelled))

    def own_metrics(self) -> list[Metric]:
        """Return the criterion's metrics; those of labels that nobody gave are undefined."""
        names = self.judges.names if self.judges is not None else ()
        undefined = set(LABELS if "majority" in self._unlabelled else ())
        undefined |= {
            of_judge(label, number)
            for number, name in enumerate(names, 1)
            if name in self._unlabelled
            for label in LABELS
        }
        return [
            replace(metric, aggregate=lambda values: None) if metric.name in undefined else metric
            for metric in super().own_metrics()
        ]

    def auxiliary_requests(self, doc: dict[str, Any]) -> list[AuxiliaryRequest]:
        """Return each judge's prompt, with the reference standing in for the answer to come."""
        if self.settings.judge is None:
            return []
        item = JudgeInput(doc["question"], doc["reference"], doc["reference"], self.language_name)
        template = self.prompt_templates()["judge"]
        return [
            AuxiliaryRequest(
                self.settings.judge_role(number),
                fill_judge_prompt(template, one),
                juror.spec.max_gen_toks,
            )
            for number, juror in enumerate(self.settings.jurors)
            for one in ([item, item.swap()] if juror.spec.both_orders else [item])
        ]
