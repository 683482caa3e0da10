"""Correctness: the model answers in the question's language; judges compare with a reference.

XLingEval, section 3.2. Without a judge there are no labels, and the task reports what needs none.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from xling_metrics.tokenization import load_segmenter

from xling_tasks.criteria.correctness import JudgedAnswer
from xling_tasks.criteria.labels import LABELS, of_judge
from xling_tasks.criteria.metric import Metric
from xling_tasks.failed_response import is_failed
from xling_tasks.models.backend import load_backend
from xling_tasks.models.judge import JudgeInput, JudgePanel, JudgeVotes, fill_judge_prompt
from xling_tasks.tasks.auxiliary import AuxiliaryRequest, warn_of_no_judge
from xling_tasks.tasks.task import Answered, HealthTask


class CorrectnessTask(HealthTask):
    """One greedy answer per question, judged against the reference answer."""

    criterion = "correctness"
    prompt_name = "answer"
    other_prompts = ("judge",)
    unused_fields = ("answers",)
    judges: JudgePanel | None = None  # one judge or several; None without any
    _undefined: Collection[str] = ()

    def is_usable(self, doc: dict[str, Any]) -> bool:
        """Return whether the question has a reference answer in this language."""
        return doc["reference"] is not None

    def doc_to_target(self, doc: dict[str, Any], doc_to_target: Any = None) -> str:
        """Return the reference answer."""
        return str(doc["reference"])

    def prepare(self) -> None:
        """Check the judges before anything is generated; warn if there is none."""
        if self.predict_only:
            return
        load_segmenter(self.language)
        self.judges, jurors = None, self.settings.jurors
        if not jurors:
            warn_of_no_judge("Correctness", "chrf, length_words, empty_rate and langid_match")
            return
        self.judges = JudgePanel(
            tuple(load_backend("judge", one.spec, self.settings.xling_cache) for one in jurors),
            tuple(one.name for one in jurors),
            tuple(one.spec.both_orders for one in jurors),
        )
        for backend in self.judges.judges:
            backend.check()

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
            # Shares of labels of a judge, or of the majority (0), that labelled nothing at all.
            numbers = range(1, len(self.judges.names) + 1)
            labelled = {n for n in numbers if any(vote.votes[n - 1].label for vote in labels)}
            labelled |= {0} if any(vote.label in LABELS for vote in labels) else set()
            gathered = self.run.all_gather((labelled, bool(labels)))
            of_processes, any_votes = zip(*gathered, strict=True)
            silent = {0, *numbers}.difference(*of_processes) if any(any_votes) else set()
            self._undefined = {of_judge(x, n) if n else x for n in silent for x in LABELS}
        return [self._row(item, votes.get(item, JudgeVotes(()))) for item in inputs]

    def _row(self, item: JudgeInput, votes: JudgeVotes) -> JudgedAnswer:
        language = self.answer_language().of_answer(item.answer)
        row = JudgedAnswer(item.answer, item.reference, language)
        if self.judges is None:
            return row
        swapped = [vote.order_sensitive for vote in votes.votes if vote.swapped is not None]
        responses = [result.texts for vote in votes.votes for result in vote if result]
        return row._replace(
            label=votes.label,
            no_majority=votes.no_majority,
            given=tuple(vote.result.label for vote in votes.votes),
            sensitive=tuple(swapped),
            repaired=[sum(len(texts) > 1 for texts in responses), sum(map(bool, responses))],
            record=self.judges.to_record(votes),
        )

    def criterion_metrics(self) -> list[Metric]:
        """Return the criterion's metrics; those of labels that nobody gave are undefined."""
        undefined, table = self._undefined, super().criterion_metrics()
        return [replace(x, aggregate=lambda _: None) if x.name in undefined else x for x in table]

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
