"""Correctness: the model answers in the question's language; a judge compares with the reference.

XLingEval, section 3.2. Without a judge there are no labels, and the task reports what needs none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xling_metrics.aggregate import MEAN, RATIO
from xling_metrics.base import signature
from xling_metrics.overlap import chrf, chrf_signature

from xling_tasks.criteria import LABELS, NO_RESPONSE
from xling_tasks.data.prompts import Prompt
from xling_tasks.harness.run import current
from xling_tasks.log import warn_once
from xling_tasks.models.again import ASKED_AGAIN
from xling_tasks.models.backend import backend
from xling_tasks.models.control_tokens import common
from xling_tasks.models.judge import Case, fill
from xling_tasks.models.jury import Jury, Verdict, asked_again, recorded, swapped
from xling_tasks.readers.fences import STAND_IN
from xling_tasks.scorers.values import replies_of
from xling_tasks.tasks import any_answer, jury_scores
from xling_tasks.tasks.metric import Metric
from xling_tasks.tasks.sampling import GreedyTask, generation_arguments
from xling_tasks.tasks.side_requests import SideRequest
from xling_tasks.tasks.xlinghealth import XLingHealthTask

_NOT_JUDGED = Verdict(())
_DIRECTION = jury_scores.DIRECTION


class CorrectnessTask(GreedyTask, XLingHealthTask):
    """One greedy answer per question, judged against the reference answer."""

    criterion = "correctness"
    prompt_name = "answer"

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._jury: Jury | None = None
        self._verdicts: dict[tuple[str, str], Verdict] = {}
        super().__init__(config)

    def docs(self) -> list[dict[str, Any]]:
        """Questions that have a reference answer in this language."""
        return [
            {key: value for key, value in doc.items() if key != "answers"}
            for doc in self.data.docs(self.language)
            if doc["reference"] is not None
        ]

    def doc_to_text(self, doc: dict[str, Any], doc_to_text: Any = None) -> str:
        """The question with its instruction."""
        prompt = self.used_prompts()["answer"]
        language = self.record.language_names[self.language]
        return prompt.fill(question=doc["question"], language=language)

    def doc_to_target(self, doc: dict[str, Any], doc_to_target: Any = None) -> str:
        """The reference answer."""
        return str(doc["reference"])

    # The judge

    def check_run(self) -> None:
        """Reach the judge before anything is generated; say so if there is none."""
        generation_arguments(self, self.temperature)
        if self.predict_only:
            return
        if self.settings.judge is None:
            warn_once(
                "Correctness: no judge is set, so there are no labels; reporting chrf, "
                "length_words, empty_rate and langid_match only. Set one with --metadata "
                '\'{"judge": {"model": ..., "model_args": {...}}}\'.'
            )
            return
        jurors = self.settings.jurors
        judges = (backend("judge", each.spec, self.settings.xling_cache) for each in jurors)
        names = tuple(each.name for each in jurors)
        self._jury = Jury(tuple(judges), names, self.settings.judge_order == "both")
        self._jury.check()

    def score(self) -> None:
        """Judge all distinct answers in one batch, after they are safe on disk."""
        if self._jury is None:
            return
        answers = self.answered()
        language = self.record.language_names[self.language]
        cases = [
            Case(doc["question"], doc["reference"], reply, language)
            for (_, reply), doc in answers.items()
        ]
        verdicts = self._jury.verdicts(cases, self.used_prompts()["judge"], self.fences)
        self._verdicts = dict(zip(answers, verdicts, strict=True))

    def side_requests(self, doc: dict[str, Any]) -> list[SideRequest]:
        """Each judge's prompt, with the reference standing in for the answer to come."""
        if self.settings.judge is None:
            return []
        language = self.record.language_names[self.language]
        case = Case(doc["question"], doc["reference"], doc["reference"], language)
        orders = [case, swapped(case)] if self.settings.judge_order == "both" else [case]
        template = self.used_prompts()["judge"]
        prompts = [fill(template, each, each.code(STAND_IN), common) for each in orders]
        return [
            SideRequest(self.settings.judge_role(number), prompt, each.spec.max_gen_toks)
            for number, each in enumerate(self.settings.jurors)
            for prompt in prompts
        ]

    # Values

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Overlap, length and language of the answer, and its label one-hot."""
        answer = replies_of(results[0])[0]
        values: dict[str, Any] = {
            "chrf": chrf(answer, doc["reference"]),
            **any_answer.values(answer, self.language, self.second()),
            **self.second().values(answer),
        }
        if self._jury is not None:
            verdict = self._verdicts.get((doc["question_id"], answer), _NOT_JUDGED)
            unlabelled = verdict.label is None
            values |= {
                label: None if unlabelled else float(verdict.label == label)
                for label in (*LABELS, NO_RESPONSE)
            }
            values["judge_failed_rate"] = float(unlabelled and not verdict.no_majority)
            values[ASKED_AGAIN] = asked_again(verdict)
            values["n_judged"] = recorded(verdict, self._jury)
            values |= jury_scores.values(verdict, self._jury)
        return values

    def metrics(self) -> list[Metric]:
        """Label shares sum to 1, over all questions but those whose judge call failed."""
        metrics = [
            Metric("chrf", MEAN, True, chrf_signature()),
            *any_answer.metrics(self.language, self.second()),
            *self.second().metrics(),
        ]
        if self._jury is not None:
            of = "all_with_a_majority" if self._jury.several else "all_but_judge_failures"
            sign = f"|of:{of}|judge:{self._jury.signature}"
            alone = getattr(current().lm, "world_size", 1) == 1
            labelled = any(item.label in LABELS for item in self._verdicts.values())
            # Where nothing was judged, a share of 0 contradictory answers would be a lie.
            undefined = alone and self._verdicts and not labelled
            of_label = jury_scores.undefined if undefined else MEAN
            metrics += [
                Metric(label, of_label, _DIRECTION.get(label), label + sign) for label in LABELS
            ]
            metrics.append(
                Metric(NO_RESPONSE, MEAN, _DIRECTION.get(NO_RESPONSE), NO_RESPONSE + sign)
            )
            sign_failed = signature("judge_failed_rate", of="all_questions")
            metrics.append(Metric("judge_failed_rate", MEAN, False, sign_failed))
            of_calls = f"{ASKED_AGAIN}|of:replies|judge:{self._jury.signature}"
            metrics.append(Metric(ASKED_AGAIN, RATIO, None, of_calls))
            metrics.append(Metric("n_judged", _count_judged, None, "n_judged" + sign))
            metrics += jury_scores.metrics(self._jury, [*self._verdicts.values()], alone=alone)
        return metrics

    def used_prompts(self) -> dict[str, Prompt]:
        """The question's prompt, and the judge's where there is a judge."""
        used = super().used_prompts()
        if self.settings.judge is not None:
            used["judge"] = self.prompts.get("judge", "en")
        return used


def _count_judged(values: list[dict[str, Any]]) -> int:
    return sum(value["label"] in LABELS for value in values)
