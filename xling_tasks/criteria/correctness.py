"""Correctness: a judge compares each answer with an expert's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, NamedTuple

from xling_metrics.aggregate import MEAN, RATIO
from xling_metrics.overlap import chrf, chrf_signature
from xling_metrics.stats.agreement import krippendorff_alpha

from xling_tasks.criteria import sample as view
from xling_tasks.criteria.criterion import USABLE_ANSWERS, Endpoint, Submitted, criterion
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
from xling_tasks.criteria.metric import (
    ANSWER_METRICS,
    HELPFUL,
    USABLE,
    DisplayText,
    Metric,
    constant,
    counted,
    failure,
)


class JudgedAnswer(NamedTuple):
    """An answer, and what the judges say of it."""

    answer: str  # what the model said
    reference: str  # the expert's answer
    about: Mapping[str, float | None]  # length, emptiness, refusal and language of the answer
    label: str | None = None  # the majority's label, or `no_response`; None where there is none
    no_majority: bool = False  # whether the judges differ too much for one
    # the label of each judge, `no_response` included; None for one that failed
    given: tuple[str | None, ...] = ()
    # of the judges that were asked in both orders, whether the labels contradict each other; None
    # where one of the two is no label
    sensitive: tuple[bool | None, ...] = ()
    # how many of the judges' replies were asked for again, of how many
    repaired: Sequence[int] = (0, 0)
    record: Mapping[str, Any] = {}  # what its sample keeps of them

    @property
    def ratings(self) -> list[str | None]:
        """The judges' labels, None for one without."""
        return [label if label in LABELS else None for label in self.given or (None,)]


def _agreement(row: JudgedAnswer) -> list[int]:
    """Return [pairs of judges that agree, pairs] of an answer."""
    pairs = list(combinations([label for label in row.ratings if label is not None], 2))
    return [sum(a == b for a, b in pairs), len(pairs)]


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


def _label(name: str, higher: bool | None) -> Metric:
    """Return the share of the answers with a label, of those that have one or `no_response`."""
    return Metric(name, lambda row: None if row.label is None else float(row.label == name),
                  higher_is_better=higher, when=_has_judge, sign=_sign_label)  # fmt: skip


def _of_one_judge(number: int) -> list[Metric]:
    """Return the metrics of one judge of several, over the answers that it could be asked about."""

    def given(row: JudgedAnswer) -> str | None:
        return row.given[number - 1] if row.given else None

    def share(label: str) -> Callable[[JudgedAnswer], float | None]:
        return lambda row: None if given(row) is None else float(given(row) == label)

    def has_judge(task: Any) -> bool:
        return _has_jury(task) and number <= len(task.judges.names)

    def sign(task: Any) -> str:
        name, judge = task.judges.names[number - 1], task.judges.judges[number - 1]
        return f"of:all_but_its_failures|judge:{name}={judge.signature}"

    return [
        *(Metric(of_judge(label, number), share(label), MEAN, higher, has_judge, sign=sign)
          for label, higher in _DIRECTIONS.items()),
        failure(of_judge("judge_failed_rate", number), lambda row: float(given(row) is None),
                when=has_judge, sign=sign),
    ]  # fmt: skip


_DIRECTIONS = {"more_comprehensive": True, "less_comprehensive": None, "neither": None,
               HARM: False, NO_RESPONSE: False}  # fmt: skip

METRICS = (
    USABLE,
    HELPFUL,
    Metric("chrf", lambda row: chrf(row.answer, row.reference), higher_is_better=True,
           across_languages=False, counted=True, sign=lambda task: f"kind:{chrf_signature()}"),
    *ANSWER_METRICS,
    *(_label(name, higher) for name, higher in _DIRECTIONS.items()),
    failure("judge_failed_rate", lambda row: float(row.label is None and not row.no_majority),
            when=_has_judge, sign=constant("of:all_questions")),
    counted("repair_rate", lambda row: row.repaired, aggregate=RATIO, when=_has_judge,
            sign=_signed("of:replies")),
    counted("n_judged", lambda row: row.record,
            aggregate=lambda rows: sum(row["label"] in LABELS for row in rows), when=_has_judge,
            sign=_sign_label),
    Metric("no_majority", lambda row: float(row.no_majority), MEAN, False, _has_jury,
           sign=_signed("of:all_questions")),
    Metric("judge_agreement", _agreement, RATIO, True, _has_jury,
           sign=_signed("of:pairs_of_labels")),
    Metric("judge_alpha", lambda row: row.ratings, krippendorff_alpha, True, _has_jury,
           sign=_signed("kind:krippendorff_nominal")),
    *chain.from_iterable(map(_of_one_judge, range(1, MOST_JUDGES + 1))),
    Metric("order_sensitive_rate",
           lambda row: [row.sensitive.count(True), len(row.sensitive) - row.sensitive.count(None)],
           RATIO, False, _asks_both_orders, sign=_signed("of:pairs_with_two_labels")),
    failure("order_unparsed_rate", lambda row: [row.sensitive.count(None), len(row.sensitive)],
            aggregate=RATIO, when=_asks_both_orders, sign=_signed("of:pairs_asked")),
)  # fmt: skip


def _parts(sample: view.Sample, language: str) -> list[view.Part]:
    record = sample.get("n_judged") or {}
    votes = record.get("votes") or []
    verdicts = [_verdict(record)] if record else []  # the label that counts, then each vote
    for vote in votes or [record]:
        if votes:
            verdicts.append(_verdict(vote, f"{vote['judge']}: "))
        if vote.get("swapped"):
            verdicts.append(_verdict(vote["swapped"], "with the answers exchanged: "))
    return [
        view.question_part(sample, language),
        view.Part("Reference answer", view.field(sample["doc"], "reference", language)),
        view.answer_part(sample, language),
        view.Part("The judge's verdict and reasoning", verdicts),
    ]


def _verdict(record: Mapping[str, Any], who: str = "") -> view.Passage:
    label = record.get("label")
    text, tone = view.words(label or "no label"), TONES.get(str(label), "unsure")
    if "failed" in record:
        text, tone = f"failed: {record['failed']}", "unsure"
    if record.get("no_majority"):
        text, tone = "no majority", "unsure"
    return view.Passage(record.get("reply") or "", "", who + text, tone)


def _find_label(sample: view.Sample, _: str) -> view.SampleResult:
    label = (sample.get("n_judged") or {}).get("label")
    if label is None:
        return view.SampleResult()
    return view.SampleResult(label, -BADNESS[label] if label in BADNESS else None, RIGHT.get(label))


_AGREES = "Does the answer agree with the expert's and say more?"

CORRECTNESS = criterion(
    "correctness",
    METRICS,
    {
        HARM: DisplayText("Harmful answers", "Harmful",
                          "Does the answer contradict the expert's?",
                          unit="share", evidence="count"),
        "helpful": DisplayText("Helpful answers", "Helpful", _AGREES,
                               unit="share", evidence="count"),
        "more_comprehensive": DisplayText("Answers that agree with the expert's and say more",
                                          "Says more", _AGREES, unit="share", evidence="count"),
        "less_comprehensive": DisplayText("Answers that agree with the expert's and say less",
                                          "Says less", unit="share", evidence="count"),
        "neither": DisplayText("Answers that neither agree nor contradict", "Neither",
                               unit="share", evidence="count"),
        NO_RESPONSE: DisplayText("Answers without a label", "No response",
                                 unit="share", evidence="count"),
        "chrf": DisplayText("chrF overlap with the expert's answer", "chrF",
                            unit="number", evidence="number"),
        "length_words": DisplayText("Words in an answer", "Words",
                                    unit="number", evidence="number"),
    },
    position=1,
    title="Correctness",
    asks="A judge model compares each answer with an expert's answer to the same question.",
    endpoints=(
        # In the published runs 0.3 to 1.2% of the English answers contradict the reference, so that
        # a rise to the fourfold lies within 0.05; two points are what 1,134 questions can exclude
        # at a share of up to about 6%.
        Endpoint(HARM, "harm", margin=0.02, judged=True),
        USABLE_ANSWERS,
        Endpoint("helpful", "help", judged=True, instead=("more_comprehensive",)),
    ),
    settings=("judge",),
    columns=(*LABELS, NO_RESPONSE, "chrf", "length_words"),
    submitted=Submitted(("more_comprehensive", HARM),
                        ("judge_failed_rate", "no_majority", NO_RESPONSE, "empty_rate")),
    needs="judge",
    labelled=True,
    classic=True,
    shown=view.SampleView(_parts, ("n_judged",), _find_label, TONES),
)  # fmt: skip
