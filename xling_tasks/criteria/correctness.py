"""Correctness: a judge compares each answer with an expert's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from xling_metrics.aggregate import RATIO
from xling_metrics.overlap import chrf, chrf_signature
from xling_metrics.stats.agreement import krippendorff_alpha

from xling_tasks.criteria.labels import (
    BADNESS,
    HARM,
    LABELS,
    MOST_JUDGES,
    NO_RESPONSE,
    RIGHT,
    TONES,
    of_judge,
)
from xling_tasks.criteria.metric import Metric, constant, counted, failure, rate
from xling_tasks.criteria.responses import ANSWER_METRICS, HELPFUL, USABLE
from xling_tasks.criteria.rows import criterion
from xling_tasks.criteria.sample import (
    Part,
    Passage,
    answer_part,
    as_text,
    field,
    listing,
    mapping,
    question_part,
    words,
)
from xling_tasks.criteria.sample_view import SampleResult, SampleView

REFERENCE = "Reference answer"


class JudgedAnswer(NamedTuple):
    """An answer, and what the judges say of it.

    Attributes:
        answer: What the model said.
        reference: The expert's answer.
        about: Length, emptiness, refusal and language of the answer.
        label: The majority's label, or `no_response`; None where there is none.
        no_majority: Whether the judges differ too much for one.
        given: The label of each judge, `no_response` included; None for one that failed.
        sensitive: Of the judges that were asked in both orders, whether the labels contradict each
            other; None where one of the two is no label.
        repaired: How many of the judges' replies were asked for again, of how many.
        record: What its sample keeps of them.
    """

    answer: str
    reference: str
    about: Mapping[str, float | None]
    label: str | None = None
    no_majority: bool = False
    given: tuple[str | None, ...] = ()
    sensitive: tuple[bool | None, ...] = ()
    repaired: Sequence[int] = (0, 0)
    record: Mapping[str, Any] = {}

    @property
    def ratings(self) -> list[str | None]:
        """The judges' labels, None for one without."""
        return [label if label in LABELS else None for label in self.given or (None,)]


def _agreement(row: JudgedAnswer) -> list[int]:
    """Return [pairs of judges that agree, pairs] of an answer."""
    pairs = list(combinations([label for label in row.ratings if label is not None], 2))
    return [sum(a == b for a, b in pairs), len(pairs)]


def _in_both_orders(row: JudgedAnswer) -> list[int]:
    known_labels = [sensitive for sensitive in row.sensitive if sensitive is not None]
    return [sum(known_labels), len(known_labels)]


def _has_judge(task: Any) -> bool:
    return task.judges is not None


def _has_jury(task: Any) -> bool:
    return _has_judge(task) and len(task.judges.names) > 1


def _asks_both_orders(task: Any) -> bool:
    return _has_judge(task) and any(task.judges.both_orders)


def _signed(fields: str) -> Callable[[Any], str]:
    """Return a signature's fields with the judges'."""
    return lambda task: f"{fields}|judge:{task.judges.signature}"


def _sign_label(task: Any) -> str:
    scope = "all_with_a_majority" if len(task.judges.names) > 1 else "all_but_judge_failures"
    return _signed(f"of:{scope}")(task)


def _label(name: str, higher: bool | None, note: str) -> Metric:
    """Return the share of the answers with a label, of those that have one or `no_response`."""
    return Metric(
        name, lambda row: None if row.label is None else float(row.label == name),
        higher_is_better=higher, note=note, when=_has_judge, sign=_sign_label,
    )  # fmt: skip


def _of_one_judge(label: str, higher: bool | None, number: int) -> Metric:
    """Return a label's share of the answers that one judge of several could be asked about."""

    def per_doc(row: JudgedAnswer) -> float | None:
        its_label = row.given[number - 1] if row.given else None
        return None if its_label is None else float(its_label == label)

    return Metric(
        of_judge(label, number), per_doc, higher_is_better=higher,
        note=f"{label}, by judge {number}",
        when=lambda task: _has_jury(task) and number <= len(task.judges.names),
        sign=lambda task: _sign_judge("of:all_but_its_failures", task, number),
    )  # fmt: skip


def _sign_judge(fields: str, task: Any, number: int) -> str:
    name, judge = task.judges.names[number - 1], task.judges.judges[number - 1]
    return f"{fields}|judge:{name}={judge.signature}"


def _failure_of_judge(number: int) -> Metric:
    metric = _of_one_judge("judge_failed_rate", False, number)
    return failure(
        metric.name, lambda row: float(not row.given or row.given[number - 1] is None),
        metric.note, when=metric.when, sign=metric.sign,
    )  # fmt: skip


_DIRECTIONS = {"more_comprehensive": True, "less_comprehensive": None, "neither": None,
               HARM: False, NO_RESPONSE: False}  # fmt: skip
_NUMBERS = range(1, MOST_JUDGES + 1)

METRICS = (
    USABLE,
    HELPFUL,
    Metric("chrf", lambda row: chrf(row.answer, row.reference), higher_is_better=True,
           note="overlap with the reference, 0 to 100", across_languages=False, counted=True,
           sign=lambda task: f"kind:{chrf_signature()}"),
    *ANSWER_METRICS,
    _label("more_comprehensive", True, "agrees with the expert's answer and says more"),
    _label("less_comprehensive", None, "agrees with the expert's answer and says less"),
    _label("neither", None, "neither agrees nor conflicts with the expert's answer"),
    _label(HARM, False, "conflicts with the expert's answer and answers wrongly"),
    _label(NO_RESPONSE, False, "an empty answer, or no label in the judge's reply"),
    failure("judge_failed_rate", lambda row: float(row.label is None and not row.no_majority),
            "share of answers whose judge could not be asked", when=_has_judge,
            sign=constant("of:all_questions")),
    counted("repair_rate", lambda row: row.repaired, "share of the judges' replies asked for again",
          aggregate=RATIO, when=_has_judge, sign=_signed("of:replies")),
    counted("n_judged", lambda row: row.record, "answers with a label; samples keep the replies",
          aggregate=lambda own: sum(each["label"] in LABELS for each in own), when=_has_judge,
          sign=_sign_label),
    Metric("no_majority", lambda row: float(row.no_majority), higher_is_better=False,
           note="share of answers without a majority of judges", when=_has_jury,
           sign=_signed("of:all_questions")),
    rate("judge_agreement", _agreement, True, "share of pairs of judges that agree",
         when=_has_jury, sign=_signed("of:pairs_of_labels")),
    Metric("judge_alpha", lambda row: row.ratings, krippendorff_alpha, True,
           "Krippendorff's alpha of the judges", _has_jury,
           sign=_signed("kind:krippendorff_nominal")),
    *(_of_one_judge(name, higher, number)
      for number in _NUMBERS for name, higher in _DIRECTIONS.items()),
    *map(_failure_of_judge, _NUMBERS),
    rate("order_sensitive_rate", _in_both_orders, False,
         "share of pairs of labels that contradict each other in the two orders",
         when=_asks_both_orders, sign=_signed("of:pairs_with_two_labels")),
    failure("order_unparsed_rate",
            lambda row: [row.sensitive.count(None), len(row.sensitive)],
            "share of pairs without two labels", aggregate=RATIO, when=_asks_both_orders,
            sign=_signed("of:pairs_asked")),
)  # fmt: skip


def _parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    doc = mapping(sample.get("doc"))
    return [
        question_part(sample, language),
        Part(REFERENCE, field(doc, "reference", language)),
        answer_part(sample, language),
        Part("The judge's verdict and reasoning", list(_verdicts(mapping(sample.get("n_judged"))))),
    ]


def _verdicts(record: Mapping[str, Any]) -> Iterator[Passage]:
    """Yield the label that counts; of several judges each vote, with the exchanged order."""
    votes = [mapping(vote) for vote in listing(record.get("votes"))]
    if not votes:
        if record:
            yield _verdict(record)
        votes = [record]
    for vote in votes:
        if vote is not record:
            yield _verdict(vote, f"{as_text(vote.get('judge', 'judge'))}: ")
        if other := mapping(vote.get("swapped")):
            yield _verdict(other, "with the answers exchanged: ")


def _verdict(record: Mapping[str, Any], who: str = "") -> Passage:
    label = record.get("label")
    tone = TONES.get(str(label), "unsure")
    text = words(label) if label is not None else "no label"
    if "failed" in record:
        text, tone = f"failed: {as_text(record['failed'])}", "unsure"
    if record.get("no_majority"):
        text, tone = "no majority", "unsure"
    return Passage(as_text(record.get("reply") or ""), "", who + text, tone)


def _found(sample: Mapping[str, Any], _: str) -> SampleResult:
    label = mapping(sample.get("n_judged")).get("label")
    if not isinstance(label, str):
        return SampleResult()
    return SampleResult(label, -BADNESS[label] if label in BADNESS else None, RIGHT.get(label))


CORRECTNESS = criterion("correctness", METRICS, SampleView(_parts, ("n_judged",), _found, TONES))
