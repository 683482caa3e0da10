"""All numbers of a report: values, comparisons with English, conclusions, the papers' tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xling_tasks.criteria import panel_of
from xling_tasks.report.conclusions import conclusions_of
from xling_tasks.report.data import Model
from xling_tasks.report.human import Human
from xling_tasks.report.model import Comparison, Conclusion, Options, Report
from xling_tasks.report.stats import Statistics, english_pairs
from xling_tasks.report.unlike import made_unlike


def make_report(models: Sequence[Model], options: Options, human: Human | None = None) -> Report:
    """All numbers of a report; those of one model do not depend on the others.

    People's labels (`human`) correct the judge's.
    """
    statistics = Statistics(options, human)
    comparisons: list[Comparison] = []
    conclusions: list[Conclusion] = []
    for model in models:
        own = conclusions_of(statistics, model)
        conclusions += own
        comparisons += _with_roles(model, statistics.against_english(model), own)
    return Report(
        models=tuple(models),
        cells=tuple(cell for model in models for cell in statistics.cells(model)),
        comparisons=tuple(comparisons),
        classic=tuple(item for model in models for item in statistics.classic(model)),
        options=options,
        conclusions=tuple(conclusions),
        corrected=() if human is None else tuple(human.shares(models, options)),
    )


def _with_roles(
    model: Model, comparisons: Sequence[Comparison], conclusions: Sequence[Conclusion]
) -> list[Comparison]:
    """Endpoints get the corrected p of their conclusion; everything else is exploratory.

    A veto says in what else than the language one was run otherwise than English.
    """
    concluded = {(item.panel, item.language): item for item in conclusions}
    vetoes = {
        about: made_unlike(task, english, about[0])
        for english, task, name, _ in english_pairs(model)
        for about in [panel_of(task.place, name)]
    }
    with_roles = []
    for item in comparisons:
        about = item.panel, item.side
        own, veto = concluded.get(about), vetoes.get(about, "")
        role, p_holm = ("exploratory", None) if own is None else ("endpoint", own.p_holm)
        with_roles.append(replace(item, role=role, p_holm=p_holm, veto=veto))
    return with_roles
