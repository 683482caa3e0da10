"""How many labels people must give until a gap to English can be told from none."""

from __future__ import annotations

from collections.abc import Mapping

from xling_metrics.stats.ppi import labels_needed

from xling_tasks.commands.table import table
from xling_tasks.criteria import CRITERIA, ENGLISH, LABELS
from xling_tasks.errors import DataError

_ENDPOINTS = tuple(
    name
    for item in CRITERIA["correctness"].endpoints
    for name in (item.metric, *item.instead)
    if name in LABELS
)


def needed_in_words(
    counts: Mapping[tuple[str, str], Mapping[str, int]], gap: float, error: float
) -> str:
    """The labels that each language and English need, as a table with what it assumes.

    Args:
        counts: (Dataset, language) -> answers by the judge's label.
        gap: The gap that an interval is to exclude 0 for: half the interval's width.
        error: The judge's share of errors that is assumed.

    Raises:
        DataError: If no dataset has English and another language with labels.
    """
    rows = []
    for (dataset, language), own in sorted(counts.items()):
        english = counts.get((dataset, ENGLISH))
        if language == ENGLISH or english is None:
            continue
        sizes = [sum(side.get(label, 0) for label in LABELS) for side in (own, english)]
        if not min(sizes):
            continue
        needed = {
            label: labels_needed(
                gap, min(sizes), errors=(error, error),
                shares=(own.get(label, 0) / sizes[0], english.get(label, 0) / sizes[1]),
            )
            for label in _ENDPOINTS
        }  # fmt: skip
        shown = {
            f"labels for {name.replace('_', ' ')}": "more than there are" if n is None else n
            for name, n in needed.items()
        }
        rows.append({"dataset": dataset, "language": language, "answers": min(sizes), **shown})
    if not rows:
        raise DataError("--resolve: a gap needs judged answers in English and another language")
    return (
        f"{table(rows)}\n\nLabels in each of the two languages until half the 95% interval of the "
        f"gap to English is {gap:g}, if people find the judge wrong in {error:.0%} of the answers "
        "(--judge-error; `xling agreement` says in how many)."
    )
