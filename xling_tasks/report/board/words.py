"""What a board calls things: endpoints, numbers, and why something is not compared."""

from __future__ import annotations

from xling_tasks.criteria import CRITERIA, Panel
from xling_tasks.report.tables.grid import dataset_title

NOT_EVIDENCE = (
    "These numbers are no evidence that a model is fit for clinical use or for advice to "
    "patients, in any language."
)
HOW_RANKS = (
    "A rank is an interval: the best and the worst place that a model can have. Every two models "
    "are compared over the same questions, and all comparisons of one measure in one language are "
    "corrected together (Holm), so that all its intervals hold together with {level} probability. "
    "Of models with a shared place it is too uncertain to say which is better. Across measures "
    "and languages nothing is corrected, and there is no rank over all languages: a mean would "
    "hide the gap."
)
HOW_GROUPS = (
    "Models whose runs differ in data, prompts, judge, settings or versions stand in different "
    "groups and are not ranked together."
)


def endpoint_title(panel: Panel) -> str:
    """An endpoint in plain words; the temperature where there is more than one."""
    said = CRITERIA[panel.criterion].metric(panel.metric).heading
    return said if panel.temperature is None else f"{said}, T={panel.temperature:g}"


def place_title(panel: Panel) -> str:
    """Dataset and criterion of an endpoint."""
    said = f"{dataset_title(panel.dataset)}: {CRITERIA[panel.criterion].title}"
    return said[0].upper() + said[1:]


def shown(panel: Panel, value: float | None, *, unit: bool = True) -> str:
    """A value for a reader: percent of a share, else two digits."""
    if value is None:
        return "undefined"
    text = f"{100 * value:.0f}" if is_share(panel) else f"{value:.2f}"
    return text.replace("-", "\u2212") + ("%" if unit and is_share(panel) else "")


def interval_shown(panel: Panel, low: float | None, high: float | None) -> str:
    """An interval for a reader, in the value's unit."""
    if low is None or high is None:
        return "no interval"
    return f"{shown(panel, low, unit=False)} to {shown(panel, high, unit=False)}"


def is_share(panel: Panel) -> bool:
    """Whether an endpoint's values are shares, told in percent."""
    return CRITERIA[panel.criterion].metric(panel.metric).share
