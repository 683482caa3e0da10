"""What a report says where a judge's own error is not in its intervals."""

from __future__ import annotations

from collections.abc import Sequence

from xling_tasks.criteria import CRITERIA
from xling_tasks.report.model import Conclusion


def about_the_judge(conclusions: Sequence[Conclusion]) -> list[str]:
    """One sentence where intervals know nothing of the judge's own error; none where all do."""
    shown = [item for item in conclusions if item.low is not None]
    return judge_sentence([(c.criterion, c.judge_error_in_interval) for c in shown], "report")


def judge_sentence(intervals: Sequence[tuple[str, bool | None]], command: str) -> list[str]:
    """The sentence of `about_the_judge`.

    Args:
        intervals: Of each interval shown its criterion, and whether the judge's error is in it
            (None without a judge).
        command: Of `xling`, which takes people's labels.
    """
    without = dict.fromkeys(criterion for criterion, taken in intervals if taken is False)
    if not without:
        return []
    listed = " and ".join(CRITERIA[criterion].title for criterion in without)
    mixed = any(taken and criterion in without for criterion, taken in intervals)
    where = "in some of the intervals only" if mixed else "not in the intervals"
    hint = ""
    if "correctness" in without:
        hint = (
            f"; {'' if len(without) == 1 else 'for correctness '}people's labels put it there "
            f"(`xling annotate`, then `xling {command} --human`)"
        )
    return [f"{listed}: the judge's own error is {where}{hint}."]
