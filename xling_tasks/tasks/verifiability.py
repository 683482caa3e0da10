"""Verifiability: does the model tell a correct answer from a wrong one?

Two tasks over the same rows: by generated Yes or No at several temperatures, and by the
log-likelihoods of Yes and No, which needs no sampling and works for base models. (XLingEval,
section 3.4.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from xling_metrics.aggregate import RATIO
from xling_metrics.base import signature
from xling_metrics.classification import (
    answer_of_probability,
    classification_scores,
    classification_signature,
    hard_answer,
    probability_scores,
    probability_signature,
    yes_probability,
)
from xling_metrics.stats.probability_intervals import brier_sums, ece_of_sums, ece_sums
from xling_metrics.stats.roc import auc_interval, rows_of
from xling_metrics.stats.standard_errors import ratio_error, sums_error
from xling_metrics.stats.verdict_counts import VERDICT_SCORES, verdict_counts

from xling_tasks.failed_response import is_empty, is_failed
from xling_tasks.models.answer_extractor import YesNoRequest
from xling_tasks.readers import read_verdict
from xling_tasks.scorers.answered import replies_of
from xling_tasks.tasks.metric import Metric
from xling_tasks.tasks.reading import (
    AGREEMENT,
    READER_AGAIN,
    Heard,
    ReadingTask,
)
from xling_tasks.tasks.requests import Request, SideRequest
from xling_tasks.tasks.sampling import SweepTask, generation_arguments
from xling_tasks.tasks.xlinghealth import XLingHealthTask

_HARD = ("macro_precision", "macro_recall", "macro_f1", "acc", "auc_hard")
_RATES = ("unparsed_rate", "empty_rate")


class _Rows(XLingHealthTask):
    """A document is a question with its answers; each answer is one prompt."""

    prompt_name = "verifiability"
    native_as_published = True
    scores_texts = False

    def docs(self) -> list[dict[str, Any]]:
        """Questions with their usable answers."""
        return [
            {key: value for key, value in doc.items() if key != "reference"}
            for doc in self.data.docs(self.language)
        ]

    def views(self, doc: dict[str, Any]) -> list[dict[str, Any]]:
        """One view per answer."""
        return [
            {**doc, "answer": answer["text"], "answer_id": answer["answer_id"]}
            for answer in doc["answers"]
        ]

    def doc_to_text(self, doc: dict[str, Any], doc_to_text: Any = None) -> str:
        """The prompt for one answer (the first one of a whole document)."""
        answer = doc.get("answer") or doc["answers"][0]["text"]
        prompt = self.used_prompts()["verifiability"]
        return prompt.fill(question=doc["question"], answer=answer, language=self.language_name)

    def doc_to_target(self, doc: dict[str, Any], doc_to_target: Any = None) -> list[int]:
        """The labels of a question's answers."""
        return [answer["label"] for answer in doc["answers"]]


class VerifiabilityTask(ReadingTask, SweepTask, _Rows):
    """Generated verdicts, one per answer and temperature."""

    criterion = "verifiability"
    reader_prompt = "read_verdict"

    def requests_for(self, doc: dict[str, Any], context: Any, chat: bool) -> list[Request]:
        """One request per temperature."""
        return [
            ("generate_until", (context, generation_arguments(self, temperature)), 1)
            for temperature in self.temperatures
        ]

    def score(self) -> None:
        """Ask about what the rules leave, over all replies at once."""
        self.read_replies(self._heard())

    def _heard(self) -> Iterator[Heard]:
        taus = len(self.temperatures)
        for instance, reply in self.each_reply():
            answer = instance.doc["answers"][instance.idx // taus]["text"]
            verdict = read_verdict(reply, answer)
            yield Heard(instance, reply, verdict, YesNoRequest(reply, answer))

    def side_requests(self, doc: dict[str, Any]) -> list[SideRequest]:
        """The reader's prompts, with the judged text standing in for the reply to come."""
        texts = [answer["text"] for answer in doc["answers"]] * len(self.temperatures)
        return self.foreseen_readings([YesNoRequest(text, text) for text in texts])

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Per temperature: [label, verdict] of every row, and the counts behind the rates."""
        labels = self.doc_to_target(doc)
        answers = [answer["text"] for answer in doc["answers"]]
        replies = [replies_of(result)[0] for result in results]
        taus = self.temperatures
        values: dict[str, Any] = {}
        for offset, tau in enumerate(taus):
            triples = zip(labels, answers, replies[offset :: len(taus)], strict=True)
            told = [triple for triple in triples if not is_failed(triple[2])]
            by_rules = [read_verdict(reply, answer) for _, answer, reply in told]
            by_model = [
                self.read_by_model.get(YesNoRequest(reply, answer)) for _, answer, reply in told
            ]
            rows = [
                [label, model if verdict is None else verdict]
                for (label, _, _), verdict, model in zip(told, by_rules, by_model, strict=True)
            ]
            values |= {f"{name}_t{tau}": rows for name in _HARD}
            values[f"acc_all_t{tau}"] = [sum(a == b for a, b in rows), len(rows)]
            values[f"unparsed_rate_t{tau}"] = [sum(v is None for _, v in rows), len(rows)]
            values[f"empty_rate_t{tau}"] = [sum(is_empty(r) for _, _, r in told), len(rows)]
            if self.has_reader:
                pairs = list(zip(by_rules, by_model, strict=True))
                read = sum(rules is None and model is not None for rules, model in pairs)
                both = [rules == model for rules, model in pairs if None not in (rules, model)]
                values[f"extracted_by_model_rate_t{tau}"] = [read, len(rows)]
                values[f"{AGREEMENT}_t{tau}"] = [sum(both), len(both)]
                put = [self.asked_twice(YesNoRequest(reply, answer)) for _, answer, reply in told]
                twice = [each for each in put if each is not None]
                values[f"{READER_AGAIN}_t{tau}"] = [int(sum(twice)), len(twice)]
        return values

    def metrics(self) -> list[Metric]:
        """Hard scores over the rows with a verdict; `acc_all` and the rates are over all rows."""
        metrics = []
        for tau in self.temperatures:
            for name in _HARD:
                sign = f"{classification_signature(name)}|temperature:{tau}{self.reader_signature}"
                metrics.append(_hard(name, f"{name}_t{tau}", sign))
            rates = ["acc_all", *_RATES]
            if self.has_reader:
                rates += ["extracted_by_model_rate", AGREEMENT, READER_AGAIN]
            for name in rates:
                sign = signature(name, of="all_rows", temperature=tau) + self.reader_signature
                metrics.append(Metric(f"{name}_t{tau}", RATIO, sign))
        return metrics


class VerifiabilityLLTask(_Rows):
    """Verdicts by log-likelihood: Yes against No after the same prompt."""

    criterion = "verifiability_ll"
    reads_keys = frozenset({"description"})
    words = ("Yes", "No")

    def check_run(self) -> None:
        """Refuse backends that cannot score given text before anything is generated."""
        self.need_loglikelihoods(
            "Leave the 'verifiability_ll' tasks out: the group xlinghealth holds all others, and "
            f"xlinghealth_verifiability_{self.record.key}_* ask the same in words"
        )

    def requests_for(self, doc: dict[str, Any], context: Any, chat: bool) -> list[Request]:
        """Two continuations; with a chat template the reply starts without a space."""
        space = "" if chat else " "
        return [("loglikelihood", (context, f"{space}{word}"), 1) for word in self.words]

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """[label, P(Yes)] of every row; P(Yes) is None where it is undefined."""
        labels = self.doc_to_target(doc)
        scores = [float(result[0]) for result in results]
        pairs = zip(scores[0::2], scores[1::2], strict=True)
        chances = [yes_probability(yes, no) for yes, no in pairs]
        rows = [list(row) for row in zip(labels, chances, strict=True)]
        unknown = sum(answer_of_probability(chance) is None for chance in chances)
        return {
            **{name: rows for name in ("auc", "macro_f1", "acc", "ece", "brier")},
            "unparsed_rate": [unknown, len(rows)],
        }

    def metrics(self) -> list[Metric]:
        """Scores of P(Yes); `macro_f1` and `acc` over rows with P(Yes) other than 0.5."""
        return [
            *(
                Metric(
                    name,
                    partial(_soft_score, name),
                    probability_signature(name),
                    partial(_soft_error, name),
                )
                for name in ("auc", "ece", "brier")
            ),
            *(_hard(name, name, classification_signature(name)) for name in ("macro_f1", "acc")),
            Metric("unparsed_rate", RATIO, signature("unparsed_rate", of="all_rows")),
        ]


def _columns(documents: Sequence[Sequence[Sequence[Any]]]) -> tuple[list[int], list[Any]]:
    rows = list(chain.from_iterable(documents))
    return [row[0] for row in rows], [row[1] for row in rows]


def _hard_score(name: str, documents: Sequence[Sequence[Sequence[Any]]]) -> float | None:
    labels, said = _columns(documents)
    score: float | None = getattr(classification_scores(labels, list(map(hard_answer, said))), name)
    return score


def _soft_score(name: str, documents: Sequence[Sequence[Sequence[Any]]]) -> float | None:
    score: float | None = getattr(probability_scores(*_columns(documents)), name)
    return score


def _hard(name: str, shown_as: str, sign: str) -> Metric:
    return Metric(shown_as, partial(_hard_score, name), sign, error=partial(_hard_error, name))


def _hard_error(name: str, documents: Sequence[Sequence[Sequence[Any]]]) -> float | None:
    labels, said = _columns(documents)
    owner = [i for i, rows in enumerate(documents) for _ in rows]
    counts = verdict_counts(owner, labels, list(map(hard_answer, said)))
    # Of hard labels the area under the curve is the macro recall.
    score = VERDICT_SCORES["macro_recall" if name == "auc_hard" else name]
    return sums_error(score, list(counts.values()))


def _soft_error(name: str, documents: Sequence[Sequence[Sequence[Any]]]) -> float | None:
    rows = {i: [(row[0], row[1]) for row in own] for i, own in enumerate(documents)}
    if name == "auc":
        return auc_interval(rows_of(rows)).se
    if name == "ece":
        sums, score = ece_sums(rows), ece_of_sums
    else:
        return ratio_error([own for own in brier_sums(rows).values() if own is not None])
    return sums_error(score, list(sums.values()))
