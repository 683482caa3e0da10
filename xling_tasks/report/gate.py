"""`xling gate`: may a checkpoint go out, by a policy fixed beforehand? The exit status says it.

Every answer is a conclusion of `report.conclusions`, as report and compare print it. All rules must
hold for GO, so that what rules a loss out needs no correction; one failure is enough for NO-GO, so
that what is shown worse is corrected (Holm), as everywhere.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

from xling_tasks import languages
from xling_tasks.criteria import CRITERIA, ENGLISH, Endpoint, Panel, panel_of
from xling_tasks.errors import DataError
from xling_tasks.pages import texts
from xling_tasks.report.cases import Case, Key, exploratory_beside
from xling_tasks.report.compare.pairs import made_differently, one_model, paired, shared
from xling_tasks.report.compare.verdicts import between_models, endpoints_of
from xling_tasks.report.conclusions import (
    APART,
    BETTER,
    WORSE,
    against_english,
    rules_out_worse,
    to_decide,
)
from xling_tasks.report.data import Model
from xling_tasks.report.model import Conclusion, Options, checked
from xling_tasks.report.policy import FORMER, NOTHING, Rule, default, read_policy
from xling_tasks.report.sentences import of_another_exam, other_exam, why_unsure
from xling_tasks.report.stats import Statistics
from xling_tasks.report.tables.table import Table, as_markdown
from xling_tasks.secrets import without_hosts

GO, NO_GO, INCONCLUSIVE = "GO", "NO-GO", "INCONCLUSIVE"
STATUS = {GO: 0, NO_GO: 1, INCONCLUSIVE: 3}
"""Exit status of `xling gate`; 2 is an error, as of every command."""

Concluded: TypeAlias = Mapping[Key, tuple[Case, Conclusion]]


class Answer(str):
    """What is printed, with the exit status."""

    status: int = 0


@dataclass(frozen=True)
class Checked:
    """What a rule says of one endpoint in one language.

    Attributes:
        rule: Its number in the policy, from 1.
        against: `A` or `english`.
        outcome: `GO`, `NO-GO` or `INCONCLUSIVE`.
        panel: The metric; None where nothing in the results fits the rule.
        language: A code; empty likewise.
        why: What the outcome rests on, in words.
        next: What would decide; empty where it is decided.
        more: About how many questions more would; None where it is decided or they would not.
        said: What was concluded; None where nothing was.
    """

    rule: int
    against: str
    outcome: str
    panel: Panel | None
    language: str
    why: str
    next: str = ""
    more: int | None = None
    said: Conclusion | None = None

    @property
    def plain(self) -> dict[str, Any]:
        """As plain values, with the numbers of the conclusion."""
        values = {**asdict(self), **(self.panel._asdict() if self.panel else {})}
        for name in ("panel", "said"):
            del values[name]
        return values | {name: getattr(self.said, name, None) for name in _NUMBERS}


_NUMBERS = ("verdict", "n", "estimate", "low", "high", "p_holm", "margin")


def gate(options: argparse.Namespace) -> Answer:
    """Hold a checkpoint against a policy; the status is 0 for GO, 1 for NO-GO, 3 for neither."""
    chosen = checked(options)
    if len(options.folders) > 2:
        raise DataError(f"one checkpoint or two, A and B; got {len(options.folders)} folders")
    two = len(options.folders) == 2
    policy = default(two=two) if options.policy is None else read_policy(options.policy, two=two)
    models = [one_model(folder, options.family) for folder in options.folders]
    rows = [row for at, rule in enumerate(policy, 1) for row in _checked(at, rule, models, chosen)]
    overall = _worst(rows)
    said = _as_json(overall, models, policy, rows) if options.json else _text(overall, models, rows)
    answer = Answer(without_hosts(said))
    answer.status = STATUS[overall]
    return answer


def _worst(rows: Sequence[Checked]) -> str:
    """NO-GO where one is, GO where all are."""
    found = {row.outcome for row in rows}
    return NO_GO if NO_GO in found else GO if found == {GO} else INCONCLUSIVE


# One rule


def _checked(at: int, rule: Rule, models: Sequence[Model], options: Options) -> Iterator[Checked]:
    """The rule's answer on every endpoint and language that it is about, and on what it lacks."""
    statistics = Statistics(Options(**{**asdict(options), "margin": rule.margin})).undescribed()
    two = rule.against == FORMER
    found = _against_former(models, statistics) if two else against_english(statistics, models[-1])
    there = _endpoints(models if two else models[-1:], english=two)
    for (panel, language), (endpoint, lacking) in there.items():
        if rule.wants(endpoint, panel.metric, language):
            both = found.get((panel, language))
            if both is None:
                why = lacking or "no logged samples (--log_samples), or no question of both"
                todo = "run both over the same questions, with --log_samples"
                yield Checked(at, rule.against, INCONCLUSIVE, panel, language, why, todo)
            else:
                yield _answer(at, rule, panel, *both)
    yield from _not_there(at, rule, there)


Endpoints: TypeAlias = dict[Key, tuple[Endpoint, str]]


def _endpoints(models: Sequence[Model], *, english: bool) -> Endpoints:
    """Every endpoint that results have, and what one side lacks; English only if it is asked."""
    of_each = [
        {
            panel_of(task.place, name): endpoint
            for task in model.tasks
            if not exploratory_beside(task, model)
            for name, endpoint in task.endpoints.items()
        }
        for model in models
    ]
    every: Endpoints = {}
    for at, own in enumerate(of_each):
        for key, endpoint in own.items():
            if english:
                every[key] = endpoint, "" if key in of_each[1 - at] else f"only in {'AB'[at]}"
            elif key[1] != ENGLISH:
                every[key] = endpoint, "no English results to compare with"
    return every


def _against_former(models: Sequence[Model], statistics: Statistics) -> Concluded:
    a, b = models
    both = shared(a, b, None)
    pairs, changed, _ = paired(both)
    unlike = [*made_differently(both), *changed]
    if unlike:
        raise DataError(
            f"A and B were not made alike: {'; '.join(unlike)}. Run one again like the other"
        )
    return between_models(endpoints_of(pairs), statistics)


def _answer(at: int, rule: Rule, panel: Panel, case: Case, item: Conclusion) -> Checked:
    """GO, NO-GO or neither, from what was concluded."""
    ruled_out = rules_out_worse(item, case)
    told = Checked(at, rule.against, GO, panel, item.language, "", said=item)
    judged = ", by this judge" if item.judge_error_in_interval is False else ""
    if rule.against != FORMER and of_another_exam(item):
        judged += f", but {other_exam(item)}"
    if item.verdict == WORSE and (rule.allow == NOTHING or not ruled_out):
        return replace(told, outcome=NO_GO, why=f"shown to be worse{judged}")
    if ruled_out:
        why = "better" if item.verdict == BETTER else "worse by more than the margin is ruled out"
        return replace(told, why=why + judged)
    sides = ("of B", "of A") if rule.against == FORMER else None
    why = f"not comparable: {item.reason}" if item.verdict == APART else why_unsure(item, sides)
    more, todo = to_decide(item, case)
    return replace(told, outcome=INCONCLUSIVE, why=why, next=todo, more=more)


def _not_there(at: int, rule: Rule, there: Endpoints) -> Iterator[Checked]:
    """What a rule names and results lack: nothing that was not measured is GO."""
    wanted = [(word, code) for word in rule.endpoints or ("",) for code in rule.languages or ("",)]
    for word, code in wanted:
        fits = any(
            (not word or rule.names(word, endpoint, panel.metric)) and code in ("", language)
            for (panel, language), (endpoint, _) in there.items()
        )
        if not fits:
            known = ", ".join(dict.fromkeys(language for _, language in there)) or "none"
            known += " beside English" if rule.against != FORMER else ""
            what = f"no {word or 'endpoint'} in the results" + (f" in {code!r}" if code else "")
            why = f"{what}; languages there: {known}"
            todo = "run the tasks that measure it"
            yield Checked(at, rule.against, INCONCLUSIVE, None, code, why, todo)


# What is said


def _text(overall: str, models: Sequence[Model], rows: Sequence[Checked]) -> str:
    counts = Counter(row.outcome for row in rows)
    numbers = ", ".join(f"{counts[x]} {x}" for x in STATUS if counts[x])
    names = "AB" if len(models) == 2 else [""]
    heads = [
        f"- {x}: {m.name} (`{m.full}`)".replace("- :", "-")
        for x, m in zip(names, models, strict=True)
    ]
    parts = [f"# {overall}", "\n".join([*heads, f"- {numbers}"])]
    order = [NO_GO, INCONCLUSIVE, GO]
    table = Table(
        key="gate", section="", title="Every rule, endpoint and language",
        columns=("outcome", "rule", "against", "language", "measure", "n", "difference", "interval",
                 "margin", "why", "what would decide"),
        rows=tuple(_row(row) for row in sorted(rows, key=lambda row: order.index(row.outcome))),
    )  # fmt: skip
    return "\n\n".join([*parts, as_markdown(table).rstrip(), texts()["gate"]["how"]])


def _row(row: Checked) -> tuple[str, ...]:
    panel, said = row.panel, row.said
    measure, numbers = "–", ("0", "–", "–", "–")
    if panel is not None:
        measure = f"{CRITERIA[panel.criterion].title}, {panel.dataset}: {panel.title}"
    if said is not None:
        known = said.low is not None and said.high is not None
        ends = f"{said.low:+.3f} to {said.high:+.3f}" if known else "–"
        size = "–" if said.estimate is None else f"{said.estimate:+.3f}"
        numbers = (f"{said.n:,}", size, ends, f"{said.margin:g}")
    language = languages.language_name(row.language) if row.language else "all"
    start = (row.outcome, str(row.rule), row.against, language, measure)
    return (*start, *numbers, row.why, row.next or "–")


def _as_json(
    overall: str, models: Sequence[Model], policy: Sequence[Rule], rows: Sequence[Checked]
) -> str:
    names = ("A", "B") if len(models) == 2 else ("checkpoint",)
    content = {
        "outcome": overall,
        "status": STATUS[overall],
        "models": {
            x: {"name": m.name, "model": m.full} for x, m in zip(names, models, strict=True)
        },
        "policy": [asdict(rule) for rule in policy],
        "checked": [row.plain for row in rows],
    }
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)
