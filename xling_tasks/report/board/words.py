"""What a board says: of endpoints and numbers, of a reader's own language, of itself on the Hub."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from xling_tasks.criteria import CRITERIA, Panel
from xling_tasks.languages import in_order, language_name
from xling_tasks.report.board.model import Square
from xling_tasks.report.lines import lines, listed
from xling_tasks.report.tables.grid import dataset_title


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


# What someone with one language is told

_NAMED = 5
"""As many models are named in a sentence; more are counted."""
_SAID = {
    "worse": "worse than in English",
    "worse_exam": "worse in an exam of other questions",
    "not_comparable": "not comparable with English",
    "cannot_tell": "cannot tell",
    "about_the_same": "about the same as in English",
    "better": "better than in English",
    "better_exam": "better in an exam of other questions",
}
"""Verdicts, the gravest first; an exam of other questions may be harder itself."""


def by_language(squares: Sequence[Square]) -> list[dict[str, str]]:
    """A sentence per language; those where most models are shown to be worse come first."""
    concluded = [s.cell.conclusion for s in squares if s.cell.conclusion is not None]
    kinds: dict[str, Counter[str]] = {}
    for line in lines(concluded, {}):
        kinds.setdefault(line.language, Counter())[line.kind_of_exam] += 1

    def share_worse(code: str) -> float:
        counts = kinds.get(code)
        return (counts["worse"] + counts["worse_exam"]) / counts.total() if counts else -1.0

    said = []
    for code in sorted(in_order({s.language for s in squares}), key=share_worse, reverse=True):
        against = _against_english(kinds.get(code, Counter()))
        between = _unbeaten([s for s in squares if s.language == code])
        if text := f"{against} {between}".strip():
            said.append({"language": code, "said": f"{language_name(code)}: {text}"})
    return said


def _against_english(kinds: Counter[str]) -> str:
    counted = [(kinds[kind], said) for kind, said in _SAID.items() if kinds[kind]]
    models = f" of {kinds.total()} model{'' if kinds.total() == 1 else 's'}"
    told = (f"{said} with {n}{'' if i else models}" for i, (n, said) in enumerate(counted))
    return f"{', '.join(told)}." if counted else ""


def _unbeaten(squares: Sequence[Square]) -> str:
    """Who is shown to be behind nobody, on any measure on which it is ranked."""
    ranked = [square for square in squares if square.rank.ranked]
    models = dict.fromkeys(square.model for square in ranked)
    if len({square.model for square in squares}) == 1:
        return ""
    if not models:
        return "None is ranked: no two models were run alike here with logged samples."
    beaten = {s.model for s in ranked if s.rank.better}
    first = [model for model in models if model not in beaten]
    if not first:
        return "Each model was shown to be worse than another model on some measure."
    apart = len({(s.panel, s.group) for s in ranked}) > len({s.panel for s in ranked})
    whole = not apart and len(models) == len({square.model for square in squares})
    among = "" if whole else ", among those run alike"
    if not beaten:
        return f"It is too uncertain to say which of these models is better{among}."
    named = listed(first) if len(first) <= _NAMED else f"the other {len(first)}"
    return (
        f"Of the {len(models)} models {len(beaten)} were shown to be worse than another model on "
        f"some measure{among}; this was not shown of {named}."
    )
