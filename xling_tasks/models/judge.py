"""The judge of correctness: what it is asked, and the label that it gives.

There is one judge or a panel, perhaps asked in both orders of the two answers. The label of an
answer is the one that more than half of all judges gave.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
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
        """Return label and responses as a sample records them."""
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
        distinct, responses = [*dict.fromkeys(prompts.values())], {}
        for filled, response in zip(distinct, backend.generate(distinct), strict=True):
            value = {"verdict": option} if (option := find_last_option(response)) else None
            reply = () if response.reason else (str(response),)
            responses[filled] = JsonResponse(value, reply, response.reason)
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


def take_majority(votes: Sequence[JudgeVote]) -> JudgeVotes:
    """Return the votes with the majority's label."""
    (label, count), *_ = Counter(vote.result.label for vote in votes).most_common(1)
    if 2 * count <= len(votes):
        return JudgeVotes(tuple(votes), no_majority=True)
    return JudgeVotes(tuple(votes), label)


class JudgePanel(NamedTuple):
    """Judges with their names; those of `both_orders` are also asked with the answers exchanged."""

    judges: tuple[Backend, ...]
    names: tuple[str, ...]
    both_orders: tuple[bool, ...]

    @property
    def signature(self) -> str:
        """The signature of the one judge, or of all judges by name."""
        if len(self.judges) == 1:
            return self.judges[0].signature
        judges = (f"{n}={b.signature}" for n, b in zip(self.names, self.judges, strict=True))
        return f"majority_of_{len(self.judges)}[{'; '.join(judges)}]"

    def label(self, inputs: Sequence[JudgeInput], prompt: PromptTemplate) -> list[JudgeVotes]:
        """Return the votes on every input, in order."""
        by_judge = []
        for judge, twice in zip(self.judges, self.both_orders, strict=True):
            results = label_answers(inputs, prompt, judge)
            exchanged = [item for item in inputs if twice and item.answer.strip()]
            swapped = label_answers([item.swap() for item in exchanged], prompt, judge)
            swapped_results = dict(zip(exchanged, swapped, strict=True))
            by_judge.append([JudgeVote(result, swapped_results.get(item))
                             for item, result in zip(inputs, results, strict=True)])  # fmt: skip
        return [take_majority(votes) for votes in zip(*by_judge, strict=True)]

    def to_record(self, votes: JudgeVotes) -> dict[str, object]:
        """Return the votes as a sample records them: label, responses, and the judges."""
        record: dict[str, object] = {"label": votes.label, "judge": self.signature}
        reasons = (vote.result.reason for vote in votes.votes if vote.result.reason)
        if votes.no_majority:
            record["no_majority"] = True
        elif votes.label is None and (reason := next(reasons, "")):
            record["failed"] = reason
        records = [
            {"judge": name, **vote.result.to_record()}
            | ({"swapped": vote.swapped.to_record()} if vote.swapped else {})
            for name, vote in zip(self.names, votes.votes, strict=False)
        ]
        if len(self.judges) == 1:
            first = records[0] if records else {"reply": None}
            return record | {key: first[key] for key in ("reply", "swapped") if key in first}
        texts = (
            f"[judge {vote['judge']}: {str(vote['label'] or 'failed').replace('_', ' ')}]\n"
            f"{vote['reply'] or ''}"
            for vote in records
            if vote["reply"] or vote["label"] != NO_RESPONSE
        )
        reply = "\n\n".join(map(str.rstrip, texts)) or None
        return record | {"reply": reply, "votes": records}
