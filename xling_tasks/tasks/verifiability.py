"""Verifiability: does the model tell a correct answer from an incorrect one?

Two tasks over the same rows: by generated Yes or No at several temperatures, and by the
log-likelihoods of Yes and No, which needs no sampling and works for base models. (XLingEval,
section 3.4.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xling_metrics.classification import yes_probability

from xling_tasks.criteria.verifiability import Judgement
from xling_tasks.failed_response import is_failed
from xling_tasks.models.answer_extractor import YesNoRequest
from xling_tasks.readers import read_verdict
from xling_tasks.tasks.auxiliary import AuxiliaryRequest, extraction_requests
from xling_tasks.tasks.task import Answered, HealthTask, Request


class VerifiabilityTask(HealthTask):
    """Generated verdicts: a document is a question with its answers, each of them one prompt."""

    criterion = "verifiability"
    prompt_name = "verifiability"
    other_prompts = ("read_verdict",)
    native_as_published = True
    scores_texts = False
    swept = True
    unused_fields = ("reference",)  # it is among the answers

    def prompts(self, doc: dict[str, Any]) -> list[str]:
        """Return one prompt per answer."""
        fields = {"question": doc["question"], "language": self.language_name}
        return [self.template.fill(**fields, answer=answer["text"]) for answer in doc["answers"]]

    def doc_to_target(self, doc: dict[str, Any], doc_to_target: Any = None) -> list[int]:
        """Return the labels of a question's answers."""
        return [answer["label"] for answer in doc["answers"]]

    def requests(self, doc: dict[str, Any], number: int) -> list[Request]:
        """Return one request per temperature."""
        answer_id = doc["answers"][number]["answer_id"]
        return [
            one for tau in self.temperatures for one in self.generate(doc, tau, answer_id=answer_id)
        ]

    def score(self, answered: Sequence[Answered]) -> list[dict[float, list[Judgement]]]:
        """Return the judgements on each question's answers, by temperature."""
        if self.extractor is not None:
            self.extractor.extract(
                (read_verdict(text, answer["text"]), YesNoRequest(text, answer["text"]))
                for one in answered
                for _, answer, text in self._responses(one)
            )
        rows = []
        for one in answered:
            row: dict[float, list[Judgement]] = {tau: [] for tau in self.temperatures}
            for tau, answer, text in self._responses(one):
                row[tau].append(self._judgement(answer, text))
            rows.append(row)
        return rows

    def _responses(self, one: Answered) -> Iterator[tuple[float, dict[str, Any], str]]:
        """Yield temperature, answer of the data and response, of those that came."""
        pairs = [(tau, answer) for answer in one.doc["answers"] for tau in self.temperatures]
        for (tau, answer), text in zip(pairs, one.texts, strict=True):
            if not is_failed(text):
                yield tau, answer, text

    def _judgement(self, answer: dict[str, Any], text: str) -> Judgement:
        by_rules, by_model, repaired = read_verdict(text, answer["text"]), None, None
        if self.extractor is not None:
            request = YesNoRequest(text, answer["text"])
            by_model = self.extractor.answers.get(request)
            repaired = self.extractor.repaired(request)
        return Judgement(answer["label"], text, by_rules, by_model, repaired)

    def auxiliary_requests(self, doc: dict[str, Any]) -> list[AuxiliaryRequest]:
        """Return the extractor's prompts, with the judged text standing in for the response."""
        texts = [answer["text"] for answer in doc["answers"]] * len(self.temperatures)
        requests = [YesNoRequest(text, text) for text in texts]
        return extraction_requests(self, "read_verdict", requests)


class VerifiabilityLLTask(VerifiabilityTask):
    """Verdicts by log-likelihood: Yes against No after the same prompt."""

    criterion = "verifiability_ll"
    swept = False
    reads_keys = frozenset({"description"})

    def requests(self, doc: dict[str, Any], number: int) -> list[Request]:
        """Return two continuations; with a chat template the response starts without a space."""
        space = "" if self._chat else " "
        return [Request("loglikelihood", f"{space}{word}") for word in ("Yes", "No")]

    def score(self, answered: Sequence[Answered]) -> list[list[list[Any]]]:  # type: ignore[override]
        """Return [label, P(Yes)] of every answer of each question; None where it is undefined."""
        rows = []
        for one in answered:
            scores = [float(text[0]) for text in one.texts]
            chances = map(yes_probability, scores[0::2], scores[1::2])
            rows.append(
                [list(row) for row in zip(self.doc_to_target(one.doc), chances, strict=True)]
            )
        return rows
