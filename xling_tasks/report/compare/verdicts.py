"""Model against model: first in the language itself, then how the gap to English changed.

The difference between B and A follows the five rules of every verdict (`report.verdicts`). The
change of a gap does, too, with two more: the gap is smaller only where A's is shown, larger only
where B's is, so that no advantage that vanishes is a gain; and a gap that is smaller because
English became worse is no gain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from xling_tasks.criteria import AVERAGE, CRITERIA, ENGLISH, Endpoint, MetricKey, metric_key_of
from xling_tasks.report.annotations import Annotations
from xling_tasks.report.compare.pairs import Pair
from xling_tasks.report.comparisons import MOST_CUT, find_reason
from xling_tasks.report.data import Task
from xling_tasks.report.estimates import Contrast, Group, change_of_gap, contrast
from xling_tasks.report.record import Verdict
from xling_tasks.report.verdicts import Comparison, Options, conclude

Key = tuple[MetricKey, str]
"""A metric and a language."""

Metrics = Mapping[Key, tuple[Pair, str]]
"""Metrics with the pair of tasks that have them, and their names there."""


def compare_models(
    pairs: Sequence[Pair], names: tuple[str, str], options: Options,
    people: Annotations | None = None, wanted: Sequence[str] | None = None,
) -> list[Verdict]:  # fmt: skip
    """Return verdicts on model B against A in each language, and on each change of gap.

    Args:
        pairs: The tasks of both models over the same questions.
        names: A's and B's.
        options: How verdicts are made.
        people: People's labels, which correct the judge's.
        wanted: The metrics to conclude on; None for all primary ones.
    """
    positions = {pair.a.task_key for pair in pairs}
    metrics: dict[Key, tuple[Pair, str]] = {}
    for pair in pairs:
        task_key = pair.a.task_key
        by_response = task_key._replace(criterion=task_key.criterion.removesuffix("_ll"))
        if by_response != task_key and by_response in positions:
            continue  # another form of a criterion that counts
        for name in pair.a.endpoints:
            key = metric_key_of(task_key, name)
            if name in pair.b.endpoints and (not wanted or {name, key[0].metric} & set(wanted)):
                metrics[key] = pair, name
    between = conclude([_between(key, metrics[key], names) for key in metrics], options, people)
    remaining = [key for key in metrics if key[1] != ENGLISH and (key[0], ENGLISH) in metrics]
    gaps = [_against_english(metrics, remaining, options, people, index) for index in (0, 1)]
    changes = [_change(key, metrics, names) for key in remaining]
    by_key = dict(zip(metrics, between, strict=True))
    concluded = [
        _conclude_gap(
            verdict, gaps[0][key], gaps[1][key], by_key[key], by_key[key[0], ENGLISH]
        )
        for key, verdict in zip(remaining, conclude(changes, options, people), strict=True)
    ]  # fmt: skip
    return [*between, *concluded]


def _between(key: Key, item: tuple[Pair, str], names: tuple[str, str]) -> Comparison:
    (metric_key, language), (pair, name) = key, item
    groups = Group(1, pair.b, name), Group(-1, pair.a, name)
    reason = "same_prompt" if pair.a.one_prompt or pair.b.one_prompt else ""
    if max(task.cut_prompts(language) for task in (pair.a, pair.b)) > MOST_CUT:
        reason = "cut_prompts"
    # Two English answers are the most that a language can share with English; A's answers are not.
    endpoint = replace(pair.a.endpoints[name], agreement=False)
    return Comparison(
        names[1], metric_key, language, endpoint, groups, kind="models", baseline=names[0],
        reason=reason,
    )  # fmt: skip


def _against_english(
    metrics: Metrics, keys: Sequence[Key], options: Options, people: Annotations | None, at: int
) -> dict[Key, Verdict]:
    """Return one model's verdicts against English, over the questions of both models."""
    comparisons = []
    for metric_key, language in keys:
        (task, name), (english, english_name) = _tasks(metrics, (metric_key, language), at)
        reason, differs = find_reason(task, english, metric_key, language)
        groups = Group(1, task, name), Group(-1, english, english_name)
        comparisons.append(Comparison(
            task.model, metric_key, language, task.endpoints[name], groups, task.task_key.parallel,
            reason=reason, differs=differs,
        ))  # fmt: skip
    return dict(zip(keys, conclude(comparisons, options, people), strict=True))


def _tasks(metrics: Metrics, key: Key, at: int) -> tuple[tuple[Task, str], tuple[Task, str]]:
    """Return one model's task and metric in a language, and in English."""
    pair, name = metrics[key]
    english, english_name = metrics[key[0], ENGLISH]
    return (pair[:2][at], name), (english[:2][at], english_name)


def _change(key: Key, metrics: Metrics, names: tuple[str, str]) -> Comparison:
    groups = []
    for index, sign in ((1, 1), (0, -1)):
        (task, name), (english, english_name) = _tasks(metrics, key, index)
        groups += [Group(sign, task, name), Group(-sign, english, english_name)]
    endpoint: Endpoint = groups[0].task.endpoints[groups[0].name]
    reasons = [find_reason(groups[index].task, groups[index + 1].task, *key) for index in (0, 2)]
    reason, differs = next((found for found in reasons if found[0]), ("", ()))
    return Comparison(
        names[1], *key, replace(endpoint, agreement=False), tuple(groups),
        groups[0].task.task_key.parallel, "gap", names[0], reason, differs,
    )  # fmt: skip


def _conclude_gap(
    item: Verdict, a: Verdict, b: Verdict, language: Verdict, english: Verdict
) -> Verdict:
    """Return a change of gap by the two rules that it has beside the five.

    Args:
        item: The change by the five rules: worse is a larger gap.
        a: The language against English in A, over the questions of both models.
        b: The same in B.
        language: B against A in the language.
        english: B against A in English.
    """
    if item.verdict in ("equivalent", "not_comparable") or item.reason == "unscored":
        return item
    conditions = {"better": a.verdict == "worse", "worse": b.verdict == "worse"}
    if not any(conditions.values()):
        return replace(item, verdict="inconclusive", reason="gap_open", next="", n_needed=None)
    if item.verdict in conditions and not conditions[item.verdict]:
        return replace(item, verdict="inconclusive", reason="gap_hidden", next="more")
    if item.verdict == "better" and english.verdict == "worse" and language.verdict != "better":
        return replace(item, verdict="inconclusive", reason="gap_levelled", next="")
    return item


# Every metric


def comparison_rows(
    pairs: Sequence[Pair], verdicts: Iterable[Verdict], options: Options
) -> Iterator[dict[str, Any]]:
    """Yield B against A, and the change of the gap, on every metric."""
    present = {
        (v.comparison, MetricKey(v.criterion, v.dataset, v.metric, v.temperature), v.language): v
        for v in verdicts
    }
    metrics = {
        metric_key_of(pair.a.task_key, name): (pair, name) for pair in pairs for name in pair.names
    }
    fields = ("estimate", "ci_low", "ci_high", "p", "p_adjusted", "n", "n_excluded")
    for kind in ("models", "gap"):
        for key, (pair, name) in metrics.items():
            metric_key, language = key
            verdict = present.get((kind, metric_key, language))
            if verdict is None:
                found = _explore(kind, key, metrics, options.confidence)
                if found is None:
                    continue
                row = _numbers(found)
            else:
                row = {field: getattr(verdict, field) for field in fields}
                row |= {"b": verdict.value, "a": verdict.english}
            yield {
                "kind": kind, **metric_key._asdict(), "language": language,
                "higher_is_better": pair.a.directions.get(name), **row,
                "verdict": "exploratory" if verdict is None else verdict.verdict,
            }  # fmt: skip


def _explore(kind: str, key: Key, metrics: Metrics, level: float) -> Contrast | None:
    (metric_key, language), (pair, name) = key, metrics[key]
    if kind == "models":
        return contrast([Group(1, pair.b, name), Group(-1, pair.a, name)], level)
    if (metric_key, ENGLISH) not in metrics or language == ENGLISH:
        return None
    if language == AVERAGE or ":" in language:  # several languages
        return None
    if not CRITERIA[metric_key.criterion].metric(metric_key.metric).across_languages:
        return None
    if name in pair.a.endpoints and name in pair.b.endpoints:
        groups = _change(key, metrics, ("", "")).groups
    else:
        english, english_name = metrics[metric_key, ENGLISH]
        groups = (
            Group(1, pair.b, name), Group(-1, english.b, english_name),
            Group(-1, pair.a, name), Group(1, english.a, english_name),
        )  # fmt: skip
    if pair.a.task_key.parallel:
        return contrast(groups, level)
    chance = CRITERIA[metric_key.criterion].metric(metric_key.metric).chance
    return change_of_gap(groups, level, above_chance=chance)


def _numbers(found: Contrast) -> dict[str, Any]:
    values = found.values
    if len(values) == 4:
        present = None not in values
        b, b_english, a, a_english = (value or 0.0 for value in values)
        values = (b - b_english, a - a_english) if present else (None, None)
    estimate = found.estimate
    return {
        "b": values[0], "a": values[1], "estimate": estimate.value, "ci_low": estimate.ci_low,
        "ci_high": estimate.ci_high, "p": None, "p_adjusted": None, "n": estimate.n,
        "n_excluded": found.n_asked - estimate.n if found.ids else 0,
    }  # fmt: skip
