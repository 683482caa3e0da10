"""Correctness: the model answers in the question's language; a judge compares with the reference.

XLingEval, section 3.2. Without a judge there are no labels, and the task reports what needs none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xling_metrics.aggregate import MEAN, RATIO
from xling_metrics.base import signature
from xling_metrics.overlap import chrf, chrf_signature
from xling_metrics.stats.agreement import agreement, krippendorff_alpha
from xling_metrics.tokenization import load_segmenter

from xling_tasks.criteria import LABELS, NO_RESPONSE, of_judge
from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.harness.run import current
from xling_tasks.log import warn_once
from xling_tasks.models.backend import load_backend
from xling_tasks.models.judge import JudgeInput, JudgePanel, JudgeVotes, fill_judge_prompt
from xling_tasks.models.structured_output import REPAIR_RATE
from xling_tasks.scorers.answered import replies_of
from xling_tasks.tasks.metric import Metric
from xling_tasks.tasks.requests import SideRequest
from xling_tasks.tasks.sampling import GreedyTask, generation_arguments
from xling_tasks.tasks.xlinghealth import XLingHealthTask

_NOT_JUDGED = JudgeVotes(())

_FAILED = "judge_failed_rate"


class CorrectnessTask(GreedyTask, XLingHealthTask):
    """One greedy answer per question, judged against the reference answer."""

    criterion = "correctness"
    prompt_name = "answer"

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._jury: JudgePanel | None = None
        self._verdicts: dict[tuple[str, str], JudgeVotes] = {}
        super().__init__(config)

    def docs(self) -> list[dict[str, Any]]:
        """Questions that have a reference answer in this language."""
        return [
            {key: value for key, value in doc.items() if key != "answers"}
            for doc in self.data.docs(self.language)
            if doc["reference"] is not None
        ]

    def doc_to_target(self, doc: dict[str, Any], doc_to_target: Any = None) -> str:
        """The reference answer."""
        return str(doc["reference"])

    # The judge

    def check_run(self) -> None:
        """Reach the judge before anything is generated; say so if there is none."""
        generation_arguments(self, self.temperature)
        if self.predict_only:
            return
        load_segmenter(self.language)
        if self.settings.judge is None:
            warn_once(
                "Correctness: no judge is set, so there are no labels; reporting chrf, "
                "length_words, empty_rate and langid_match only. Set one with --metadata "
                '\'{"judge": {"model": ..., "model_args": {...}}}\'.'
            )
            return
        jurors = self.settings.jurors
        judges = (load_backend("judge", each.spec, self.settings.xling_cache) for each in jurors)
        names = tuple(each.name for each in jurors)
        self._jury = JudgePanel(
            tuple(judges), names, tuple(each.spec.both_orders for each in jurors)
        )
        self._jury.check()

    def score(self) -> None:
        """Judge all distinct answers in one batch, after they are safe on disk."""
        if self._jury is None:
            return
        answers = self.answered()
        cases = [
            JudgeInput(doc["question"], doc["reference"], reply, self.language_name)
            for (_, reply), doc in answers.items()
        ]
        verdicts = self._jury.label(cases, self.used_prompts()["judge"])
        self._verdicts = dict(zip(answers, verdicts, strict=True))

    def side_requests(self, doc: dict[str, Any]) -> list[SideRequest]:
        """Each judge's prompt, with the reference standing in for the answer to come."""
        if self.settings.judge is None:
            return []
        case = JudgeInput(doc["question"], doc["reference"], doc["reference"], self.language_name)
        template = self.used_prompts()["judge"]
        return [
            SideRequest(
                self.settings.judge_role(number),
                fill_judge_prompt(template, one),
                each.spec.max_gen_toks,
            )
            for number, each in enumerate(self.settings.jurors)
            for one in ([case, case.swap()] if each.spec.both_orders else [case])
        ]

    # Values

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Overlap, length and language of the answer, and its label one-hot."""
        answer = replies_of(results[0])[0]
        values: dict[str, Any] = {
            "chrf": chrf(answer, doc["reference"]),
            **self.answer_language().of_answer(answer),
        }
        if self._jury is not None:
            verdict = self._verdicts.get((doc["question_id"], answer), _NOT_JUDGED)
            unlabelled = verdict.label is None
            values |= {
                label: None if unlabelled else float(verdict.label == label)
                for label in (*LABELS, NO_RESPONSE)
            }
            values[_FAILED] = float(unlabelled and not verdict.no_majority)
            values[REPAIR_RATE] = verdict.count_repairs()
            values["n_judged"] = self._jury.to_record(verdict)
            values |= _jury_values(verdict, self._jury)
        return values

    def metrics(self) -> list[Metric]:
        """Label shares sum to 1, over all questions but those whose judge call failed."""
        metrics = [
            Metric("chrf", MEAN, chrf_signature()),
            *self.answer_language().metrics_of_answer(),
        ]
        if self._jury is not None:
            of = "all_with_a_majority" if self._jury.several else "all_but_judge_failures"
            sign = f"|of:{of}|judge:{self._jury.signature}"
            alone = getattr(current().lm, "world_size", 1) == 1
            labelled = any(item.label in LABELS for item in self._verdicts.values())
            # Where nothing was judged, a share of 0 contradictory answers would be a lie.
            undefined = alone and self._verdicts and not labelled
            of_label = _undefined if undefined else MEAN
            asked = f"{REPAIR_RATE}|of:replies|judge:{self._jury.signature}"
            kinds = dict.fromkeys(LABELS, of_label) | {NO_RESPONSE: MEAN}
            metrics += [
                *(Metric(name, how, name + sign) for name, how in kinds.items()),
                Metric(_FAILED, MEAN, signature(_FAILED, of="all_questions")),
                Metric(REPAIR_RATE, RATIO, asked),
                Metric("n_judged", _count_judged, "n_judged" + sign),
            ]
            metrics += _jury_metrics(self._jury, [*self._verdicts.values()], alone=alone)
        return metrics

    def used_prompts(self) -> dict[str, PromptTemplate]:
        """The question's prompt, and the judge's where there is a judge."""
        used = super().used_prompts()
        if self.settings.judge is not None:
            used["judge"] = self.prompts.get("judge", "en")
        return used


def _count_judged(values: list[dict[str, Any]]) -> int:
    return sum(value["label"] in LABELS for value in values)


# What a jury adds: agreement, each judge's shares, both orders


def _jury_values(verdict: JudgeVotes, jury: JudgePanel) -> dict[str, Any]:
    """What a jury adds to a question's values; nothing of one judge in one order."""
    own: dict[str, Any] = {}
    if jury.several:
        ratings = [vote.label for vote in verdict.votes] or [None] * len(jury.judges)
        pairs = agreement([ratings])
        n = pairs.n_ratings * (pairs.n_ratings - 1) // 2
        own["no_majority"] = float(verdict.no_majority)
        own["judge_agreement"] = [round((pairs.percent or 0.0) * n), n]
        own["judge_alpha"] = ratings
        for number in range(1, len(jury.judges) + 1):
            votes = verdict.votes[number - 1 : number]
            label = votes[0].result.label if votes else None
            for name in (*LABELS, NO_RESPONSE):
                own[of_judge(name, number)] = None if label is None else float(label == name)
            own[of_judge(_FAILED, number)] = float(label is None)
    if any(jury.both_orders):
        asked = [vote for vote in verdict.votes if vote.swapped is not None]
        read = [vote.order_sensitive for vote in asked if vote.order_sensitive is not None]
        own["order_sensitive_rate"] = [sum(read), len(read)]
        own["order_unparsed_rate"] = [len(asked) - len(read), len(asked)]
    return own


def _jury_metrics(jury: JudgePanel, verdicts: Sequence[JudgeVotes], *, alone: bool) -> list[Metric]:
    """Their metrics; `alone` where no other process has verdicts of this task."""
    judge, made = f"judge:{jury.signature}", signature("judge_alpha", kind="krippendorff_nominal")
    metrics = []
    if jury.several:
        metrics += [
            Metric("no_majority", MEAN, f"no_majority|of:all_questions|{judge}"),
            Metric("judge_agreement", RATIO, f"judge_agreement|of:pairs_of_labels|{judge}"),
            Metric("judge_alpha", krippendorff_alpha, f"{made}|{judge}"),
        ]
        for number, (name, asked) in enumerate(zip(jury.names, jury.judges, strict=True), 1):
            own = [v.votes[number - 1].label for v in verdicts]
            # As of the jury: where this judge labelled nothing, its shares are undefined, not 0.
            share = MEAN if any(own) or not alone or not own else _undefined
            kinds = dict.fromkeys(LABELS, share) | {NO_RESPONSE: MEAN, _FAILED: MEAN}
            for label, how in kinds.items():
                key = of_judge(label, number)
                sign = f"{key}|of:all_but_its_failures|judge:{name}={asked.signature}"
                metrics.append(Metric(key, how, sign))
    if any(jury.both_orders):
        spans = {
            "order_sensitive_rate": "pairs_with_two_labels",
            "order_unparsed_rate": "pairs_asked",
        }
        metrics += [Metric(name, RATIO, f"{name}|of:{of}|{judge}") for name, of in spans.items()]
    return metrics


def _undefined(values: Sequence[float | None]) -> None:
    """The aggregation of labels that nothing got."""
