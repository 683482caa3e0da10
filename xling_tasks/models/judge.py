"""The judge of correctness: what it is asked, and the label that it gives.

There is one judge or a panel, perhaps asked in both orders of the two answers. The label of an
answer is the one that more than half of all judges gave; one that cannot be asked or read has no
vote.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xling_tasks.criteria import LABELS, NO_RESPONSE, OPTIONS
from xling_tasks.data.prompts import PromptTemplate
from xling_tasks.models.backend import Backend
from xling_tasks.models.structured_output import (
    JsonResponse,
    ask_json,
    join_texts,
    object_schema,
    quote_material,
)
from xling_tasks.readers.reasoning import strip_reasoning

_SCHEMA = object_schema(reasoning="string", verdict=list(OPTIONS.values()))
_LABEL_OF = {option: label for label, option in OPTIONS.items()}
_MIRRORED = {"more_comprehensive": "less_comprehensive", "less_comprehensive": "more_comprehensive"}


class JudgeInput(NamedTuple):
    """What is compared: texts in one language."""

    question: str
    reference: str
    answer: str
    language: str

    def swap(self) -> JudgeInput:
        """Return it with the reference in the answer's position, and the other way round."""
        return self._replace(reference=self.answer, answer=self.reference)


class JudgeResult(NamedTuple):
    """A label; `no_response` without a readable one; None where the request failed (`reason`)."""

    label: str | None
    texts: tuple[str, ...] = ()
    reason: str = ""

    def to_record(self) -> dict[str, object]:
        """Return what a sample records."""
        failed = {"failed": self.reason} if self.reason else {}
        return {"label": self.label, "reply": join_texts(self.texts), **failed}


def label_answers(
    inputs: Sequence[JudgeInput], prompt: PromptTemplate, backend: Backend
) -> list[JudgeResult]:
    """Return one result per input, in order; empty answers are not asked about."""
    prompts = {item: fill_judge_prompt(prompt, item) for item in inputs if item.answer.strip()}
    if "material" in prompt.fields:
        responses = ask_json(backend, [*prompts.values()], _SCHEMA)
    else:  # a user's prompt that wants an option on the last line, as the published one
        responses = {}
        distinct = list(dict.fromkeys(prompts.values()))
        for text, response in zip(distinct, backend.generate(distinct), strict=True):
            option = find_last_option(response)
            value = {"verdict": option} if option else None
            responses[text] = JsonResponse(
                value, () if response.reason else (str(response),), response.reason
            )
    results = {}
    for item, text in prompts.items():
        value, texts, reason = responses[text]
        unparsed = None if reason else NO_RESPONSE
        label = unparsed if value is None else _LABEL_OF[value["verdict"]]
        results[item] = JudgeResult(label, texts, reason)
    return [results.get(item, JudgeResult(NO_RESPONSE)) for item in inputs]


def find_last_option(response: str) -> str | None:
    """Return the option that the last line of a response consists of, perhaps behind a label."""
    text = (strip_reasoning(response) or "").casefold()
    lines = [line for line in text.splitlines() if re.search(r"\w", line)]
    if not lines or lines[-1].rstrip("*_`\"'] ").endswith("?"):
        return None
    words = " ".join(re.findall(r"[a-z]+", lines[-1]))
    words = re.sub(r"^(?:the )?(?:final )?(?:verdict|answer|label|option)(?: is)? ", "", words)
    return words if words in _LABEL_OF else None


def fill_judge_prompt(prompt: PromptTemplate, item: JudgeInput) -> str:
    """Return the judge's prompt for an input."""
    texts = quote_material(question=item.question, answer_1=item.reference, answer_2=item.answer)
    return prompt.fill(material=texts, **item._asdict())


class JudgeVote(NamedTuple):
    """One judge's result in the published order, and in the other one if that was asked."""

    result: JudgeResult
    swapped: JudgeResult | None = None

    @property
    def label(self) -> str | None:
        """The label, if it is one of the four."""
        return self.result.label if self.result.label in LABELS else None

    @property
    def order_sensitive(self) -> bool | None:
        """Whether the two orders contradict each other; None unless both have a label."""
        other = self.swapped.label if self.swapped else None
        if self.label is None or other not in LABELS:
            return None
        return _MIRRORED.get(other, other) != self.label


class JudgeVotes(NamedTuple):
    """The votes on one answer; `label` is None for a failed request or no majority."""

    votes: tuple[JudgeVote, ...]
    label: str | None = None
    no_majority: bool = False

    @property
    def reason(self) -> str:
        """Why most judges could not be asked; '' where they could."""
        reasons = (vote.result.reason for vote in self.votes if vote.result.reason)
        return "" if self.label is not None or self.no_majority else next(reasons, "")

    def count_repairs(self) -> list[int]:
        """Return how many of the responses about an answer were repaired, of how many."""
        results = [r for vote in self.votes for r in vote if r and r.texts]
        return [sum(len(result.texts) > 1 for result in results), len(results)]


def take_majority(votes: Sequence[JudgeVote]) -> JudgeVotes:
    """Return the votes with the majority's label."""
    (label, count), *_ = Counter(vote.result.label for vote in votes).most_common(1)
    if 2 * count <= len(votes):
        return JudgeVotes(tuple(votes), no_majority=True)
    return JudgeVotes(tuple(votes), label)


@dataclass(frozen=True)
class JudgePanel:
    """Judges with their names; those of `both_orders` are also asked with the answers exchanged."""

    judges: tuple[Backend, ...]
    names: tuple[str, ...]
    both_orders: tuple[bool, ...]

    @property
    def several(self) -> bool:
        """Whether there is more than one judge."""
        return len(self.judges) > 1

    @property
    def signature(self) -> str:
        """The signature of the one judge, or of all judges by name."""
        if not self.several:
            return self.judges[0].signature
        judges = (f"{n}={b.signature}" for n, b in zip(self.names, self.judges, strict=True))
        return f"majority_of_{len(self.judges)}[{'; '.join(judges)}]"

    def check(self) -> None:
        """Check that every judge can be reached."""
        for judge in self.judges:
            judge.check()

    def label(self, inputs: Sequence[JudgeInput], prompt: PromptTemplate) -> list[JudgeVotes]:
        """Return the votes on every input, in order."""
        by_judge = []
        answers = [item for item in inputs if item.answer.strip()]
        for judge, twice in zip(self.judges, self.both_orders, strict=True):
            results = label_answers(inputs, prompt, judge)
            exchanged = [item.swap() for item in answers] if twice else []
            swapped_results = dict(
                zip(answers, label_answers(exchanged, prompt, judge), strict=twice)
            )
            by_judge.append([JudgeVote(result, swapped_results.get(item))
                             for item, result in zip(inputs, results, strict=True)])  # fmt: skip
        return [take_majority(votes) for votes in zip(*by_judge, strict=True)]

    def to_record(self, votes: JudgeVotes) -> dict[str, object]:
        """Return the votes as a sample records them: label, responses, and the judges."""
        record: dict[str, object] = {"label": votes.label, "judge": self.signature}
        record |= {"failed": votes.reason} if votes.reason else {}
        record |= {"no_majority": True} if votes.no_majority else {}
        records = [
            {"judge": name, **vote.result.to_record()}
            | ({"swapped": vote.swapped.to_record()} if vote.swapped else {})
            for name, vote in zip(self.names, votes.votes, strict=False)
        ]
        if self.several:
            return record | {"reply": _join_votes(records), "votes": records}
        first = records[0] if records else {}
        swapped = {"swapped": first["swapped"]} if "swapped" in first else {}
        return record | {"reply": first.get("reply")} | swapped


def _join_votes(records: Sequence[dict[str, object]]) -> str | None:
    """Return the responses of several judges as one text, each under the judge's name and label."""
    texts = (
        f"[judge {vote['judge']}: {str(vote['label'] or 'failed').replace('_', ' ')}]\n"
        f"{vote['reply'] or ''}"
        for vote in records
        if vote["reply"] or vote["label"] != NO_RESPONSE
    )
    return "\n\n".join(map(str.rstrip, texts)) or None
