"""MMedBench: medical multiple choice with several right answers, and rationales (arXiv 2402.13963).

Three kinds of task: letters generated, letters by log-likelihood, and a rationale before the
letters. The `_ft` variants ask fine-tuned models in their frame and read their output form.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import chain, combinations
from typing import Any

from xling_metrics.aggregate import MEAN
from xling_metrics.base import signature
from xling_metrics.choices import best_choice, is_exact_match

from xling_tasks.failed_response import FailedResponse, is_empty
from xling_tasks.scorers.answered import replies_of
from xling_tasks.scorers.rationale import RationaleScorer, scorer_for
from xling_tasks.tasks.exam import ExamTask
from xling_tasks.tasks.exam_replies import has_marker, rationale_of
from xling_tasks.tasks.metric import Metric
from xling_tasks.tasks.requests import Request

_UNITS: dict[str, tuple[str, Callable[[tuple[str, ...]], int]]] = {
    "acc_norm": ("characters", lambda letters: len(", ".join(letters))),
    "acc_norm_letters": ("letters", len),
    "acc_norm_tokens": ("tokens", lambda letters: 2 * len(letters) - 1),
}
"""By what each score of `mcqa_ll` divides a candidate's log-likelihood (docs/mmedbench.md).

`A, C` has 4 characters, 2 letters and 3 tokens: one for each letter and each comma, which is how
tokenizers of language models cut such a list, so that logged log-likelihoods are scored alike
without the tokenizer.
"""


class McqaTask(ExamTask):
    """Letters, generated."""

    criterion = "mmedbench_mcqa"
    prompt_name = "mcqa"
    scores_texts = False

    def score(self) -> None:
        """Ask about what the rules leave, over all replies at once."""
        self.read_replies(self.heard())

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Scores of the letters in the reply."""
        reply = replies_of(results[0])[0]
        return self.read_values(reply, doc) | {"empty_rate": float(is_empty(reply))}

    def metrics(self) -> list[Metric]:
        """Scores of letters, and how many replies are empty."""
        empty = Metric("empty_rate", MEAN, signature("empty_rate", of="all_questions"))
        return [*self.choice_metrics(), empty]


class McqaFtTask(McqaTask):
    """Letters, from a fine-tuned model in its own frame."""

    criterion = "mmedbench_mcqa_ft"
    prompt_name = "mcqa_ft"
    fine_tuned = True


class McqaLLTask(ExamTask):
    """Letters by log-likelihood: the most likely continuation among all that could be right."""

    criterion = "mmedbench_mcqa_ll"
    reads_keys = frozenset({"description", "num_fewshot", "fewshot_delimiter"})
    reads = False
    prompt_name = "mcqa"

    def check_run(self) -> None:
        """Refuse backends that cannot score given text before anything is generated."""
        super().check_run()
        self.need_loglikelihoods(f"Run the {self.record.key}_mcqa tasks instead")

    def requests_for(self, doc: dict[str, Any], context: Any, chat: bool) -> list[Request]:
        """One continuation per candidate, all after the same context."""
        space = "" if chat else " "
        sets = candidates(doc["options"], several=doc["several"])
        return [("loglikelihood", (context, space + ", ".join(letters)), 1) for letters in sets]

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Scores of the most likely candidate, as it is and per character, letter and token."""
        sets = candidates(doc["options"], several=doc["several"])
        scores = [float(result[0]) for result in results]
        first = best_choice(scores)
        values = self.choice_values(None if first is None else sets[first], doc)
        for name, (_, length) in _UNITS.items():
            pairs = zip(scores, sets, strict=True)
            normed = best_choice([score / length(letters) for score, letters in pairs])
            right = normed is not None and is_exact_match(sets[normed], doc["answer"])
            values[name] = float(right)
        return values

    def metrics(self) -> list[Metric]:
        """`unparsed_rate` is the share of ties here; the `acc_norm*` divide by a length."""
        signs = {
            name: signature(name, of="all_questions", length=unit)
            for name, (unit, _) in _UNITS.items()
        }
        return [*self.choice_metrics(), *(Metric(name, MEAN, s) for name, s in signs.items())]


class RationaleTask(ExamTask):
    """A rationale in the language, a marker, then the letters; human-checked questions only."""

    criterion = "mmedbench_rationale"
    prompt_name = "rationale"
    checked_only = True

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._scorer: RationaleScorer | None = None
        self._scores: dict[tuple[str, str], dict[str, Any]] = {}
        super().__init__(config)

    def check_run(self) -> None:
        """Load what the scoring needs before anything is generated."""
        super().check_run()
        if not self.predict_only:
            self._scorer = scorer_for(
                self.language, self.settings, [doc["rationale"] for doc in self.eval_docs]
            )

    def score(self) -> None:
        """Score all distinct rationales in one batch."""
        assert self._scorer is not None
        self.read_replies(self.heard(after_marker=True))
        docs = {instance.doc["question_id"]: instance.doc for instance in self.instances}
        pairs = dict.fromkeys(
            (instance.doc["question_id"], self._rationale(reply))
            for instance, reply in self.each_reply()
        )
        references = [docs[key]["rationale"] for key, _ in pairs]
        texts = [text for _, text in pairs]
        values_of = self._scorer.score(texts, references)
        values_of["language_consistency"] = self.answer_language().consistency(texts)
        for index, pair in enumerate(pairs):
            self._scores[pair] = {name: values[index] for name, values in values_of.items()}

    def _rationale(self, reply: str) -> str:
        return rationale_of(reply, fine_tuned=self.fine_tuned, form=self.form)

    def values(self, doc: dict[str, Any], results: list[Any]) -> dict[str, Any]:
        """Overlap of the rationale with the reference, and the scores of the letters."""
        reply = replies_of(results[0])[0]
        ended = has_marker(reply, fine_tuned=self.fine_tuned, form=self.form)
        rationale = self._rationale(reply)
        return {
            **self.read_values(reply, doc, after_marker=True),
            **self._scores[doc["question_id"], rationale],
            "empty_rate": float(not rationale and not isinstance(reply, FailedResponse)),
            "no_end_rate": float(not ended),
        }

    def metrics(self) -> list[Metric]:
        """Letters, rationale, and how replies keep to the form."""
        assert self._scorer is not None
        name = "language_consistency"
        return [
            *self.choice_metrics(),
            *(Metric(own, *made) for own, made in self._scorer.metrics().items()),
            Metric(name, MEAN, self.answer_language().signature(name)),
            Metric("empty_rate", MEAN, signature("empty_rate", of="all_questions")),
            Metric("no_end_rate", MEAN, signature("no_end_rate", of="all_questions")),
        ]


class RationaleFtTask(RationaleTask):
    """Rationale and letters from a fine-tuned model in its own frame."""

    criterion = "mmedbench_rationale_ft"
    prompt_name = "rationale_ft"
    fine_tuned = True


def candidates(options: Collection[str], *, several: bool) -> list[tuple[str, ...]]:
    """The sets of letters that could be right: single ones, or every non-empty set."""
    sizes = range(1, len(options) + 1) if several else (1,)
    return list(chain.from_iterable(combinations(sorted(options), size) for size in sizes))
