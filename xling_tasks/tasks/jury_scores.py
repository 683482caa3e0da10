"""What a jury adds to the scores of correctness: agreement, each judge's shares, both orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xling_metrics.aggregate import MEAN, RATIO
from xling_metrics.base import signature
from xling_metrics.stats.agreement import agreement, krippendorff_alpha

from xling_tasks.criteria import LABELS, NO_RESPONSE, of_judge
from xling_tasks.models.jury import Jury, Verdict
from xling_tasks.tasks.metric import Metric

DIRECTION = {"more_comprehensive": True, "contradictory": False, NO_RESPONSE: False}
"""Whether more of a label is better; none of the others is."""

_FAILED = "judge_failed_rate"


def values(verdict: Verdict, jury: Jury) -> dict[str, Any]:
    """What a question's verdict adds to its values; nothing of one judge in one order."""
    return {
        **(_of_several(verdict, jury) if jury.several else {}),
        **(_of_orders(verdict) if jury.both_orders else {}),
    }


def _of_several(verdict: Verdict, jury: Jury) -> dict[str, Any]:
    ratings = [vote.label for vote in verdict.votes] or [None] * len(jury.judges)
    pairs = agreement([ratings])
    n = pairs.n_ratings * (pairs.n_ratings - 1) // 2
    own: dict[str, Any] = {
        "no_majority": float(verdict.no_majority),
        "judge_agreement": [round((pairs.percent or 0.0) * n), n],
        "judge_alpha": ratings,
    }
    for number in range(1, len(jury.judges) + 1):
        votes = verdict.votes[number - 1 : number]
        label = votes[0].judgement.label if votes else None
        for name in (*LABELS, NO_RESPONSE):
            own[of_judge(name, number)] = None if label is None else float(label == name)
        own[of_judge(_FAILED, number)] = float(label is None)
    return own


def _of_orders(verdict: Verdict) -> dict[str, Any]:
    asked = [vote for vote in verdict.votes if vote.swapped is not None]
    read = [vote.order_sensitive for vote in asked if vote.order_sensitive is not None]
    return {
        "order_sensitive_rate": [sum(read), len(read)],
        "order_unread_rate": [len(asked) - len(read), len(asked)],
    }


def metrics(jury: Jury, verdicts: Sequence[Verdict], *, alone: bool) -> list[Metric]:
    """The metrics of `values`.

    Args:
        jury: The judges.
        verdicts: All verdicts of this process.
        alone: Whether no other process has verdicts of this task.
    """
    judge = f"judge:{jury.signature}"
    metrics = []
    if jury.several:
        metrics += _jury_metrics(jury, verdicts, judge, alone=alone)
    if jury.both_orders:
        metrics += [
            Metric(name, RATIO, False, f"{name}|of:{of}|{judge}")
            for name, of in (
                ("order_sensitive_rate", "pairs_with_two_labels"),
                ("order_unread_rate", "pairs_asked"),
            )
        ]
    return metrics


def _jury_metrics(
    jury: Jury, verdicts: Sequence[Verdict], judge: str, *, alone: bool
) -> list[Metric]:
    made = signature("judge_alpha", kind="krippendorff_nominal")
    metrics = [
        Metric("no_majority", MEAN, False, f"no_majority|of:all_questions|{judge}"),
        Metric("judge_agreement", RATIO, True, f"judge_agreement|of:pairs_of_labels|{judge}"),
        Metric("judge_alpha", krippendorff_alpha, True, f"{made}|{judge}"),
    ]
    for number, (name, backend) in enumerate(zip(jury.names, jury.judges, strict=True), 1):
        own = [v.votes[number - 1].label for v in verdicts]
        # As of the jury: where this judge labelled nothing, its shares are undefined, not 0.
        share = MEAN if any(own) or not alone or not own else undefined
        kinds: list[tuple[str, Callable[..., Any]]] = [(label, share) for label in LABELS]
        kinds += [(NO_RESPONSE, MEAN), (_FAILED, MEAN)]
        for label, aggregate in kinds:
            better = False if label == _FAILED else DIRECTION.get(label)
            key = of_judge(label, number)
            made = f"{key}|of:all_but_its_failures|judge:{name}={backend.signature}"
            metrics.append(Metric(key, aggregate, better, made))
    return metrics


def undefined(values: Sequence[float | None]) -> None:
    """The aggregation of labels that nothing got."""
