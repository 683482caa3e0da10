"""Rubrics: a judge says which of the experts' criteria an answer meets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from xling_metrics.aggregate import CLIPPED_MEAN, RATIO
from xling_metrics.stats.standard_errors import mean_error

from xling_tasks.criteria.metric import Metric, constant, counted, failure
from xling_tasks.criteria.responses import ANSWER_METRICS, HELPFUL, USABLE
from xling_tasks.criteria.rows import criterion
from xling_tasks.criteria.sample import (
    Part,
    Passage,
    answer_part,
    as_text,
    listing,
    mapping,
    number,
    question_part,
)
from xling_tasks.criteria.sample_view import SampleView

CRITERIA_MET = "Criteria"
"""The heading of a rubric's criteria, each with whether it is met."""


class GradedAnswer(NamedTuple):
    """An answer, and which criteria of its conversation it meets.

    Attributes:
        about: Length, emptiness, refusal and language of the answer.
        met: Whether each criterion is met; None without a readable verdict.
        judge_failed: Whether the judge could not be asked about some of them.
        repaired: How many of the judge's replies were asked for again, of how many.
        score: Points over all positive points; None where a criterion has no verdict.
        groups: The score by theme, category, axis or level, by metric.
        record: What its sample keeps of the verdicts.
    """

    about: Mapping[str, float | None]
    met: Sequence[bool | None] = ()
    judge_failed: bool = False
    repaired: Sequence[int] = (0, 0)
    score: float | None = None
    groups: Mapping[str, float | None] = {}
    record: Mapping[str, Any] = {}


def _has_judge(task: Any) -> bool:
    return task.judge is not None


def _sign(scope: str) -> Any:
    return lambda task: (
        f"of:{scope}|batch:{task.settings.rubric_batch_size}|judge:{task.judge.signature}"
    )


def points(name: str, per_doc: Any, note: str) -> Metric:
    """Return a mean of points over possible points, clipped to 0..1."""
    return Metric(name, per_doc, CLIPPED_MEAN, True, note, _has_judge, mean_error,
                  sign=_sign("scored_answers|mean:clipped"))  # fmt: skip


def points_of_group(name: str) -> Metric:
    """Return the points of one theme, category, axis or level."""
    return points(name, lambda row: row.groups[name], f"points, {name.replace('_', ' ')}")


GROUPS: Collection[str] = ("theme_", "category_", "axis_", "level_")
"""How the metrics of a file's own themes, categories, axes and levels begin."""

METRICS = (
    USABLE,
    HELPFUL,
    *ANSWER_METRICS,
    points("rubric_score", lambda row: row.score, "points of the criteria met"),
    failure("criteria_unscored", lambda row: [row.met.count(None), len(row.met)],
            "share of criteria without a verdict", aggregate=RATIO, when=_has_judge,
            sign=_sign("criteria")),
    Metric("unscored_rate", lambda row: float(None in row.met), higher_is_better=False,
           note="share of answers with a criterion without a verdict", when=_has_judge,
           sign=_sign("answers")),
    failure("judge_failed_rate", lambda row: float(row.judge_failed),
            "share of answers about which the judge could not be asked", when=_has_judge,
            sign=constant("of:answers")),
    counted("repair_rate", lambda row: row.repaired, "share of the judge's replies asked for again",
          aggregate=RATIO, when=_has_judge, sign=_sign("criteria")),
    counted("n_scored", lambda row: row.record, "answers with a score; samples keep the verdicts",
          aggregate=lambda own: sum(bool(each.get("scored")) for each in own), when=_has_judge,
          sign=constant("count")),
)  # fmt: skip


def _parts(sample: Mapping[str, Any], language: str, _: bool) -> list[Part]:
    """Return every criterion with its points and whether it is met."""
    doc, record = mapping(sample.get("doc")), mapping(sample.get("n_scored"))
    criteria = [mapping(item) for item in listing(doc.get("criteria"))]
    passages = []
    for item, met in islice(zip_longest(criteria, listing(record.get("met"))), len(criteria)):
        points = number(item.get("points")) or 0.0
        mark, tone = "no verdict", "unsure"
        if isinstance(met, bool):
            mark = "met" if met else "not met"
            tone = "good" if met == (points > 0) else "bad"
        passages.append(Passage(f"{points:+g}: {as_text(item.get('text'))}", "", mark, tone))
    responses = [Passage(as_text(reply)) for reply in listing(record.get("replies"))]
    return [
        question_part(sample, language),
        answer_part(sample, language),
        Part(CRITERIA_MET, passages),
        Part("The judge's replies", responses),
    ]


RUBRIC = criterion("rubric", METRICS, SampleView(_parts, ("n_scored",)))
