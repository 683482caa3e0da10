"""Rubrics: a judge says which of the experts' criteria an answer meets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from xling_metrics.aggregate import CLIPPED_MEAN, RATIO
from xling_metrics.stats.standard_errors import mean_error

from xling_tasks.criteria import sample as view
from xling_tasks.criteria.criterion import USABLE_ANSWERS, Endpoint, Submitted, criterion
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


class GradedAnswer(NamedTuple):
    """An answer, and which criteria of its conversation it meets."""

    about: Mapping[str, float | None]  # length, emptiness, refusal and language of the answer
    # whether each criterion is met; None without a readable verdict
    met: Sequence[bool | None] = ()
    judge_failed: bool = False  # whether the judge could not be asked about some of them
    # how many of the judge's replies were asked for again, of how many
    repaired: Sequence[int] = (0, 0)
    # points over all positive points; None where a criterion has no verdict
    score: float | None = None
    # the score by theme, category, axis or level, by metric
    groups: Mapping[str, float | None] = {}
    record: Mapping[str, Any] = {}  # what its sample keeps of the verdicts


def _has_judge(task: Any) -> bool:
    return task.judge is not None


def _sign(scope: str) -> Any:
    return lambda task: (f"of:{scope}|batch:{task.settings.rubric_batch_size}"
                         f"|judge:{task.judge.signature}")  # fmt: skip


def points(name: str, per_doc: Any) -> Metric:
    """Return a mean of points over possible points, clipped to 0..1."""
    return Metric(name, per_doc, CLIPPED_MEAN, True, _has_judge, mean_error,
                  sign=_sign("scored_answers|mean:clipped"))  # fmt: skip


GROUPS = ("theme_", "category_", "axis_", "level_")  # how the metrics of a file's tags begin

METRICS = (
    USABLE,
    HELPFUL,
    *ANSWER_METRICS,
    points("rubric_score", lambda row: row.score),
    failure("criteria_unscored", lambda row: [row.met.count(None), len(row.met)], aggregate=RATIO,
            when=_has_judge, sign=_sign("criteria")),
    Metric("unscored_rate", lambda row: float(None in row.met), higher_is_better=False,
           when=_has_judge, sign=_sign("answers")),
    failure("judge_failed_rate", lambda row: float(row.judge_failed), when=_has_judge,
            sign=constant("of:answers")),
    counted("repair_rate", lambda row: row.repaired, aggregate=RATIO, when=_has_judge,
            sign=_sign("criteria")),
    counted("n_scored", lambda row: row.record,
            aggregate=lambda rows: sum(bool(row.get("scored")) for row in rows), when=_has_judge,
            sign=constant("count")),
)  # fmt: skip


def _parts(sample: view.Sample, language: str) -> list[view.Part]:
    """Return every criterion with its points and whether it is met."""
    criteria, record = sample["doc"]["criteria"], sample.get("n_scored") or {}
    passages = []
    for item, met in zip_longest(criteria, record.get("met") or ()):
        mark, tone = "no verdict", "unsure"
        if met is not None:
            mark = "met" if met else "not met"
            tone = "good" if met == (item["points"] > 0) else "bad"
        passages.append(view.Passage(f"{item['points']:+g}: {item['text']}", "", mark, tone))
    return [
        view.question_part(sample, language),
        view.answer_part(sample, language),
        view.Part("Criteria", passages),
        view.Part(
            "The judge's replies", [view.Passage(text) for text in record.get("replies") or ()]
        ),
    ]


_ASKS = "Does the answer do what experts ask of it?"

RUBRIC = criterion(
    "rubric",
    METRICS,
    {
        "helpful": DisplayText("Points that usable answers earn", "Points", _ASKS,
                               unit="percent", evidence="share"),
        "rubric_score": DisplayText("Points that answers earn", "Points", _ASKS,
                                    unit="percent", evidence="share"),
    },
    position=11,
    title="Rubrics",
    asks="A judge model says of each criterion of a conversation whether the answer meets it.",
    endpoints=(
        USABLE_ANSWERS,
        Endpoint("helpful", "help", judged=True, instead=("rubric_score",)),
    ),
    settings=("judge", "rubric_batch_size"),
    columns=("rubric_score", "criteria_unscored", "unscored_rate", "judge_failed_rate"),
    note="Score: points of the criteria that an answer meets over all positive points, the mean "
    "over the answers of which every criterion has a verdict, clipped to 0..1. Differences between "
    "languages are of the means before clipping.",
    parts=(GROUPS, "themes and axes",
           "A theme or category is a part of the conversations, an axis or level a part of the "
           "criteria: with few of either, read them as hints."),
    submitted=Submitted(("rubric_score",), ("criteria_unscored", "unscored_rate",
                                            "judge_failed_rate", "empty_rate")),
    needs="judge",
    by_topic=False,
    shown=view.SampleView(_parts, ("n_scored",)),
)  # fmt: skip
