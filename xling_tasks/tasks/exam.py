"""Multiple choice with several right letters, and rationales (MMedBench, arXiv 2402.13963).

Three kinds of task: letters generated, letters by log-likelihood, and a rationale before the
letters. The `_ft` variants ask fine-tuned models in their frame and read their output form. Users'
own questions of multiple choice are asked as the first kind.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

from lm_eval.api.samplers import ContextSampler
from xling_metrics.choices import best_choice
from xling_metrics.languages import language_code

from xling_tasks.criteria.exam import ExamAnswer
from xling_tasks.criteria.metric import Metric
from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.mmedbench import load
from xling_tasks.errors import DataError
from xling_tasks.failed_response import FailedResponse, is_empty
from xling_tasks.harness.backends import may_be_cut
from xling_tasks.models.answer_extractor import LetterRequest
from xling_tasks.readers.text import load_words
from xling_tasks.tasks.auxiliary import AuxiliaryRequest, extraction_requests
from xling_tasks.tasks.rationales import (
    RationaleScorer,
    has_marker,
    letters_of,
    rationale_of,
    scorer_for,
)
from xling_tasks.tasks.task import Answered, HealthTask, Request

_UNITS: dict[str, Callable[[Sequence[str]], int]] = {
    "acc_norm": lambda letters: len(", ".join(letters)),
    "acc_norm_letters": len,
    "acc_norm_tokens": lambda letters: 2 * len(letters) - 1,
}
"""By what each score of `mcqa_ll` divides a candidate's log-likelihood (docs/mmedbench.md).

`A, C` has 4 characters, 2 letters and 3 tokens, as tokenizers of language models cut such a list.
"""


class McqaTask(HealthTask):
    """Letters, generated.

    Attributes:
        fine_tuned: Whether a fine-tuned model is asked in its own frame.
        checked_only: Whether only questions with a checked rationale are asked.
    """

    criterion = "mmedbench_mcqa"
    custom_criterion = "mcqa"
    prompt_name = "mcqa"
    other_prompts = ("read_letters",)
    scores_texts = False
    reads_keys = frozenset({"generation_kwargs", "description", "num_fewshot", "fewshot_delimiter"})
    fine_tuned = False
    checked_only = False

    def load_docs(self, record: str) -> list[dict[str, Any]]:
        """Load the test questions, or the user's own."""
        if self.is_custom:
            self.prompt_name = "custom_mcqa"
            return super().load_docs(record)
        self.record = DATASETS[record]
        self.data = load(self.record, self.language, "test", self.settings.data_dir)
        self.provenance = self.data.provenance
        return list(self.data.docs(checked_only=self.checked_only))

    def coverage(self) -> dict[str, Any]:
        """Return the counts of the test file."""
        return super().coverage() if self.is_custom else self.data.coverage()

    @property
    def flagged(self) -> Mapping[str, str]:
        """Question -> why its options are unfair in some language; only of users' own questions."""
        return self.data.flagged if self.is_custom else {}

    def prompts(self, doc: dict[str, Any]) -> list[str]:
        """Return the question with its options, one a line."""
        # 'Answer' before a letter in the language, or in English where its words are unknown.
        words = load_words()
        row = words.get(self.language) or words.get(language_code(self.language) or "")
        label = (row or words["en"])["answer"][0]
        label = label.replace("\u0e4d\u0e32", "\u0e33")  # NFKC splits a vowel of Thai
        return [
            self.template.fill(
                question=doc.get("question", ""),
                options=self.template.form.options(doc["options"]),
                language=self.language_name,
                label=label[:1].upper() + label[1:],
            )
        ]

    def doc_to_target(self, doc: dict[str, Any], doc_to_target: Any = None) -> str:
        """Return all right letters, in the form that the prompt asks for."""
        rationale = doc.get("rationale") or ""
        return self.template.form.answer(self.prompt_name, doc["answer"], rationale)

    def prepare(self) -> None:
        """Load training questions where examples are asked for; reach the answer extractor."""
        super().prepare()
        if shots := self.config.num_fewshot or 0:
            split = load(self.record, self.language, "train", self.settings.data_dir)
            docs = split.docs(checked_only=False)
            if self.checked_only:
                docs = [doc for doc in docs if doc["rationale"]]
            if len(docs) < shots:
                raise DataError(f"{self._name}: --num_fewshot {shots}, but {len(docs)} usable")
            self.sampler = ContextSampler(docs)
            self.sampler.rnd = self.fewshot_rnd

    def score(self, answered: Sequence[Answered]) -> list[ExamAnswer]:
        """Read the letters of all responses; the extractor reads what the rules leave."""
        if self.extractor is not None:  # it is asked nothing about a response that may be cut
            self.extractor.extract(
                (
                    self.letters(text, doc),
                    None if self._may_be_cut(text) else _letter_request(text, doc),
                )
                for doc, (text, *_) in answered
            )
        return [self._read(one) for one in answered]

    def _may_be_cut(self, text: str) -> bool:
        limit = (self.config.generation_kwargs or {}).get("max_gen_toks")
        return may_be_cut(self.run.lm, text, limit)

    def letters(self, text: str, doc: Mapping[str, Any]) -> frozenset[str] | None:
        """Return the letters that a response commits to; a list that is cut off is no answer."""
        return letters_of(
            text, doc, fine_tuned=self.fine_tuned, cut=self._may_be_cut(text),
            form=self.template.form, after_marker=self.checked_only,
        )  # fmt: skip

    def _read(self, one: Answered) -> ExamAnswer:
        text, doc = one.texts[0], one.doc
        answer = ExamAnswer(
            doc["answer"], self.letters(text, doc), empty=is_empty(text),
            flagged=bool(doc.get("flagged")),
        )  # fmt: skip
        if self.extractor is None:
            return answer
        request = _letter_request(text, doc)
        repaired = self.extractor.repaired(request)
        return answer._replace(
            by_model=self.extractor.answers.get(request),
            repaired=None if repaired is None else float(repaired),
        )

    def auxiliary_requests(self, doc: dict[str, Any]) -> list[AuxiliaryRequest]:
        """Return the extractor's prompt, with the options standing in for the response."""
        request = _letter_request("\n".join(doc["options"].values()), doc)
        return extraction_requests(self, "read_letters", [request])


class McqaFtTask(McqaTask):
    """Letters, from a fine-tuned model in its own frame."""

    criterion = "mmedbench_mcqa_ft"
    prompt_name = "mcqa_ft"
    fine_tuned = True


class McqaLLTask(McqaTask):
    """Letters by log-likelihood: the most likely continuation among all that could be right."""

    criterion = "mmedbench_mcqa_ll"
    reads_keys = frozenset({"description", "num_fewshot", "fewshot_delimiter"})

    def requests(self, doc: dict[str, Any], number: int) -> list[Request]:
        """Return one continuation per candidate, all after the same context."""
        space = "" if self._chat else " "
        sets = candidates(doc["options"], several=doc["several"])
        return [Request("loglikelihood", space + ", ".join(letters)) for letters in sets]

    def score(self, answered: Sequence[Answered]) -> list[ExamAnswer]:
        """Return the likeliest letters, as they are and per character, letter and token."""
        rows = []
        for doc, texts in answered:
            sets = candidates(doc["options"], several=doc["several"])
            chosen: dict[str, tuple[str, ...] | None] = {}
            for name, length in {"": lambda letters: 1, **_UNITS}.items():
                scores = [float(t[0]) / length(s) for t, s in zip(texts, sets, strict=True)]
                best = best_choice(scores)
                chosen[name] = None if best is None else sets[best]
            rows.append(ExamAnswer(doc["answer"], chosen.pop(""), normed=chosen))
        return rows


class RationaleTask(McqaTask):
    """A rationale in the language, a marker, then the letters; human-checked questions only."""

    criterion = "mmedbench_rationale"
    prompt_name = "rationale"
    scores_texts = True
    checked_only = True
    _scorer: RationaleScorer | None = None

    def prepare(self) -> None:
        """Load what the scoring needs before anything is generated."""
        super().prepare()
        if not self.predict_only:
            references = [doc["rationale"] for doc in self.eval_docs]
            self._scorer = scorer_for(self.language, self.settings, references)

    def score(self, answered: Sequence[Answered]) -> list[ExamAnswer]:
        """Read the letters, and score all rationales in one batch."""
        assert self._scorer is not None
        form: dict[str, Any] = {"fine_tuned": self.fine_tuned, "form": self.template.form}
        pairs = [(rationale_of(text, **form), doc["rationale"]) for doc, (text, *_) in answered]
        distinct = list(dict.fromkeys(pairs))
        texts = [text for text, _ in distinct]
        columns = self._scorer.score(texts, [reference for _, reference in distinct])
        columns["language_consistency"] = self.answer_language().consistency(texts)
        scores = {
            pair: {name: values[position] for name, values in columns.items()}
            for position, pair in enumerate(distinct)
        }
        return [
            answer._replace(
                scores=scores[pair],
                empty=not pair[0] and not isinstance(one.texts[0], FailedResponse),
                no_end=not has_marker(one.texts[0], **form),
            )
            for one, pair, answer in zip(answered, pairs, super().score(answered), strict=True)
        ]

    @property
    def rationale_scores(self) -> Mapping[str, str]:
        """The scores of rationales that there are, with the fields of their signatures."""
        return {} if self._scorer is None else self._scorer.signatures

    def criterion_metrics(self) -> list[Metric]:
        """Return the criterion's metrics; BLEU of a corpus is made in its language."""
        return [
            replace(one, aggregate=self._scorer.corpus_bleu)
            if one.name == "sacrebleu" and self._scorer
            else one
            for one in super().criterion_metrics()
        ]


class RationaleFtTask(RationaleTask):
    """Rationale and letters from a fine-tuned model in its own frame."""

    criterion = "mmedbench_rationale_ft"
    prompt_name = "rationale_ft"
    fine_tuned = True


def candidates(options: Collection[str], *, several: bool) -> list[tuple[str, ...]]:
    """Return the sets of letters that could be right: single ones, or every non-empty set."""
    sizes = range(1, len(options) + 1) if several else (1,)
    return list(chain.from_iterable(combinations(sorted(options), size) for size in sizes))


def _letter_request(text: str, doc: Mapping[str, Any]) -> LetterRequest:
    return LetterRequest(text, tuple(doc["options"].items()), doc["several"])
