"""The three lists of a report, from what it is made of today."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from xling_metrics.stats.shares import wilson

from xling_tasks.criteria import CRITERIA, ENGLISH
from xling_tasks.harness.arguments import identity_in_signature
from xling_tasks.logs import alike
from xling_tasks.outcomes import NOT_MEASURED, REMEDIES, SERVED
from xling_tasks.report import conclusions as said
from xling_tasks.report.data import Task
from xling_tasks.report.model import Conclusion, Report
from xling_tasks.report.outcomes import counted
from xling_tasks.report.record import Record, Remark, Score, Verdict
from xling_tasks.report.tables.differences import _missing_languages
from xling_tasks.report.tables.grid import grouped, recorded, task_languages
from xling_tasks.report.unread import measured

_REASONS = {
    said.NO_LESS: "no_less",
    said.UNREAD_DECIDE: "unparsed",
    said.SMALL: "within",
    said.RARE: "rare",
    said.NO_MARGIN: "no_margin",
    said.TOO_FEW: "both_ways",
    said.LEANS: "leans",
    "no question has a score on both sides": "unscored",
    "no samples were logged": "no_samples",
    "two English answers differ, too, by how much was not measured": "floor",
    "no question has a score on all four sides": "unscored",
    "neither model has a shortfall that is shown": "gap_open",
    "the change may be chance": "both_ways",
}
_STEPS = {
    "request_failed": "repeat",
    "translation_failed": "translator",
    "judge_failed": "other_judge",
    "judge_unparsed": "people",
    "unparsed": "read",
    "empty": "room",
    "content_filter": "filter",
    "too_short": "short",
    "unjudged": "other_judge",
    "unfiltered": "task_filter",
    "tie": "written",
}
_NEXT = {
    **{text: _STEPS[kind] for kind, text in REMEDIES.items()},
    "run it over the same questions in both": "same_questions",
    "run it again with --log_samples": "samples",
    "say which difference matters (--margin)": "margin",
    "have the English prompts answered twice (english_floor), by a model that samples": "twice",
}


def record_of(report: Report) -> Record:
    """Return the three lists of a report."""
    return Record(
        scores=tuple(_scores(report)),
        verdicts=tuple(_verdicts(report)),
        remarks=tuple(_remarks(report)),
        options=asdict(report.options),
    )


def _scores(report: Report) -> Iterator[Score]:
    for cell in report.cells:
        low, high, n = (
            (None, None, None)
            if cell.interval is None
            else (cell.interval.low, cell.interval.high, cell.interval.n)
        )
        yield Score(
            cell.model, *cell.panel, cell.language, cell.value, low, high, n, cell.better,
            cell.signature,
        )  # fmt: skip


# Verdicts


def _verdicts(report: Report) -> Iterator[Verdict]:
    tasks = {
        (model.name, task.place.criterion, task.place.dataset, code): task
        for model in report.models
        for task in model.tasks
        for code in task_languages(task)
    }
    comparisons = {(item.context, item.panel, item.side): item for item in report.comparisons}
    for item in report.conclusions:
        task = tasks.get((item.model, item.criterion, item.dataset, item.language))
        english = tasks.get((item.model, item.criterion, item.dataset, ENGLISH))
        asked, available = (None, None) if task is None else _questions(task, item.language)
        pair = comparisons.get((item.model, item.panel, item.language))
        reason = _reason(item)
        step = _NEXT.get(item.next, "more" if item.next.startswith("ask more") else "")
        if step == "more" and asked is not None and available is not None and asked < available:
            step = "all"
        elif step == "more" and item.questions and available and item.questions > available:
            step = "too_many"
        if item.verdict == "not_comparable":
            step = "same_run"
        yield Verdict(
            **{name: getattr(item, name) for name in _ALIKE}, model=item.model, reason=reason,
            ci_low=item.low, ci_high=item.high, p_adjusted=item.p_holm, next=step,
            n_needed=item.questions if item.verdict == "inconclusive" else None,
            n_excluded=0 if pair is None else pair.left_out, n_asked=asked, n_available=available,
            unparsed={"language": item.unread, "english": item.unread_english},
            ways={name or "as_scored": verdict for name, verdict in item.ways},
            outcomes=dict(item.outcomes), counts=_counts(item, task, english),
            tags=tuple(_tags(item)), differs=_differs(item, task, english),
        )  # fmt: skip


_ALIKE = (
    *("dataset", "language", "criterion", "metric", "temperature", "verdict", "value", "english"),
    *("estimate", "p", "n", "margin", "family", "not_worse", "higher_is_better"),
)


def _reason(item: Conclusion) -> str:
    if item.reason.startswith(said.FEW):
        return "few"
    if item.verdict == "equivalent":
        return _REASONS.get(item.reason, "same")
    if item.verdict in ("worse", "better"):
        small = item.estimate is not None and abs(item.estimate) <= item.margin
        return "shown_any_size" if small else "shown"
    if item.verdict == "not_comparable":
        return "not_joined" if item.reason.startswith("its questions are not joined") else "unlike"
    return _REASONS.get(item.reason, "both_ways")


def _counts(
    item: Conclusion, task: Task | None, english: Task | None
) -> dict[str, tuple[int, int]]:
    if item.recalls:
        names = ("correct", "incorrect", "correct_english", "incorrect_english")
        pairs = zip(item.recalls[::2], item.recalls[1::2], strict=True)
        return dict(zip(names, pairs, strict=True))
    if item.value is None or item.english is None or not item.n or item.judge_error_in_interval:
        return {}
    if not CRITERIA[item.criterion].parallel:
        found = {}
        for name, own in (("value", task), ("english", english)):
            column = None if own is None else own.columns.get(item.metric)
            if column is not None and column.simple and column.binary:
                known = column.sums[column.sums[:, 0] == column.sums[:, 0], 0]
                found[name] = (round(float(known.sum())), len(known))
        return found
    told = CRITERIA[item.criterion].metric(item.metric).told
    sums = [value * item.n for value in (item.value, item.english)]
    if told is None or told.unit != "answers" or any(abs(s - round(s)) > 1e-6 for s in sums):
        return {}
    return {"value": (round(sums[0]), item.n), "english": (round(sums[1]), item.n)}


def _tags(item: Conclusion) -> Iterator[str]:
    criterion = CRITERIA[item.criterion]
    if item.judge_error_in_interval is False:
        yield "judge"
    if item.judge_error_in_interval:
        yield "people"
    if item.people_error_in_interval:
        yield "people_differ"
    if not criterion.parallel:
        yield "other_questions"
        if criterion.metric(item.metric).chance:
            yield "above_chance"
    if criterion.agreement(item.metric):
        yield "against_answers"


def _differs(
    item: Conclusion, task: Task | None, english: Task | None
) -> tuple[tuple[str, str, str], ...]:
    if item.verdict != "not_comparable" or task is None or english is None:
        return ()
    if reason := (task.results.xling.get("data") or {}).get("apart"):
        return (("questions", str(reason), ""),)
    found = alike.differences([(english.results, task.results)], across_languages=True)
    return tuple((each.what, each.other, each.first) for each in found)


def _questions(task: Task, language: str) -> tuple[int, int]:
    """Questions asked in a language, and those there are."""
    outcomes = task.outcomes.get(language)
    if outcomes is not None and not task.place.language:
        asked = sum(outcome is not None for outcome in outcomes)
        return asked, task.results.count["original"] if task.limited else asked
    return task.results.count["effective"], task.results.count["original"]


# Remarks


def _remarks(report: Report) -> Iterator[Remark]:
    for model in report.models:
        yield Remark("model", {"model": model.name, "full": model.full})
    for (criterion, dataset), tasks in grouped(report.models).items():
        about = {"criterion": criterion, "dataset": dataset}
        for name, own in tasks.items():
            for kind, values in _of_model(report, criterion, own):
                yield Remark(kind, {"model": name, **about, **values})
        for name, codes in _missing_languages(criterion, tasks).items():
            yield Remark("missing_languages", {"model": name, **about, "languages": codes})
        yield from _between_models(about, tasks)
    yield from _judged(report)
    for item in report.corrected:
        yield Remark("people_share", asdict(item))
    yield from _tests(report)


def _of_model(
    report: Report, criterion: str, own: Sequence[Task]
) -> Iterator[tuple[str, dict[str, Any]]]:
    known = CRITERIA[criterion]
    scored = [task for task in own if "bypass" not in task.scores]
    others = [task for task in scored if task.place.language != ENGLISH] or scored
    kinds = {item.meaning for task in others for item in task.endpoints.values()}
    if known.needs and others and not kinds - {SERVED}:
        what = known.needs.partition(" ")[2].partition(" ")[0].strip(":")
        metrics = [item.metric for item in known.endpoints if item.meaning != SERVED]
        yield f"no_{what}", {"metrics": metrics}
    if known.parallel and not known.several_languages:
        if ENGLISH not in {task.place.language for task in own}:
            yield "no_english", {}
        sets = {task.place.language: set(task.ids) for task in own}
        if all(sets.values()) and len({frozenset(ids) for ids in sets.values()}) > 1:
            sizes = {code: len(ids) for code, ids in sets.items()}
            yield "paired", {"n": len(set.intersection(*sets.values())), "asked": sizes}
    for task in own:
        yield from _of_task(task)
    for base in own[:1]:
        for task in own[1:]:
            pair = (base.results, task.results)
            for item in alike.differences([pair], across_languages=True):
                yield "settings_between_languages", {
                    "what": item.what, "languages": [base.place.language, task.place.language],
                    "values": [item.first, item.other],
                }  # fmt: skip


def _of_task(task: Task) -> Iterator[tuple[str, dict[str, Any]]]:
    data, count = recorded(task, "data"), task.results.count
    for language in task_languages(task) or [""]:
        asked, available = _questions(task, language)
        lacking = data.get("unusable_questions") or {}
        own = lacking.get(language) if isinstance(lacking, Mapping) else lacking
        yield "coverage", {
            "language": language, "in_data": data.get("questions"), "available": available,
            "asked": asked, "invalid_rows": data.get("invalid_rows"),
            "invalid_questions": len(own or ()), "reasons": dict(data.get("invalid_reasons") or {}),
            "samples": bool(task.ids),
        }  # fmt: skip
    if "bypass" in task.scores:
        yield "generated_only", {"language": task.place.language}
    if task.limited:
        yield "part", {
            "language": task.place.language, "asked": count["effective"],
            "available": count["original"],
        }  # fmt: skip
    if not task.ids:
        yield "no_samples", {"language": task.place.language}
    for code, (cut, asked) in (task.results.xling.get("cut") or {}).items():
        if cut and code in task_languages(task):
            yield "cut", {"language": code, "cut": cut, "asked": asked}
    for code, outcomes in task.outcomes.items():
        lost = {kind: n for kind, n in counted(outcomes).items() if kind in NOT_MEASURED}
        if lost:
            asked = sum(outcome is not None for outcome in outcomes)
            yield "partly", {"language": code, "asked": asked, "outcomes": lost}
    if flagged := data.get("flagged"):
        yield "flagged", {"n": len(flagged), "questions": data.get("questions")}
    if excluded := data.get("excluded_rate"):
        yield "not_compared", {"n": len(excluded), "questions": data.get("questions")}
    yield from _guessing(task)


def _guessing(task: Task) -> Iterator[tuple[str, dict[str, Any]]]:
    if task.place.language != ENGLISH or not task.chances:
        return
    chance = sum(task.chances.values()) / len(task.chances)
    for metric in task.endpoints:
        column = measured(task).columns.get(metric)
        if not CRITERIA[task.place.criterion].of(metric).chance or column is None:
            continue
        values = [sums[0] for sums in column.by_question(task.ids).values() if sums]
        right, n = sum(values), len(values)
        if column.simple and n and wilson(right, n)[0] <= chance:
            yield "guessing", {"metric": metric, "english": right / n, "chance": chance, "n": n}


def _between_models(about: dict[str, str], tasks: Mapping[str, Sequence[Task]]) -> Iterator[Remark]:
    first: dict[str, Task] = {}
    for task in (task for own in tasks.values() for task in own):
        base = first.setdefault(task.place.language, task)
        if base is task:
            continue
        both = {**about, "models": [base.model, task.model], "language": task.place.language}
        if base.ids and task.ids and set(base.ids) != set(task.ids):
            shared = len(set(base.ids) & set(task.ids))
            sizes = [len(base.ids), len(task.ids)]
            yield Remark("different_questions", {**both, "asked": sizes, "n": shared})
        for item in alike.differences([(base.results, task.results)]):
            yield Remark(
                "settings_between_models",
                {**both, "what": item.what, "values": [item.first, item.other]},
            )
        own, other = (recorded(side, "signatures") for side in (base, task))
        for metric in own.keys() & other.keys():
            made = [identity_in_signature(str(side[metric])) for side in (own, other)]
            if made[0] != made[1]:
                yield Remark(
                    "signatures_between_models", {**both, "metric": metric, "values": made}
                )


def _judged(report: Report) -> Iterator[Remark]:
    judged = [x for x in report.conclusions if x.low is not None]
    for model in report.models:
        own = [x for x in judged if x.model == model.name and x.judge_error_in_interval is False]
        if own:
            metrics = list(dict.fromkeys(f"{x.criterion}.{x.metric}" for x in own))
            yield Remark("judge_errs", {"model": model.name, "metrics": metrics})


def _tests(report: Report) -> Iterator[Remark]:
    """Exploratory differences from English, and the tests that XLingEval publishes."""
    for item in report.comparisons:
        if item.role != "endpoint" and item.difference is not None:
            yield Remark("difference", {
                "model": item.context, **item.panel._asdict(), "language": item.side,
                "value": item.value, "english": item.base, "estimate": item.difference,
                "ci_low": item.low, "ci_high": item.high, "n": item.n, "paired": item.paired,
            })  # fmt: skip
    for own in report.classic:
        about = {"model": own.model, **own.panel._asdict()}
        anova = own.tests.anova
        yield Remark("anova", {**about, "f": anova.f, "p": anova.p, "df_between": anova.df_between,
                               "df_within": anova.df_within, "n": own.tests.n})  # fmt: skip
        for pair, test in zip(own.tests.tukey, own.tests.t_tests, strict=True):
            yield Remark("pair_test", {
                **about, "first": pair.first, "second": pair.second,
                "means": [own.tests.means[pair.first], own.tests.means[pair.second]],
                "difference": pair.difference, "tukey_low": pair.low, "tukey_high": pair.high,
                "tukey_p": pair.p, "t": test.t, "df": test.df, "t_p": test.p,
            })  # fmt: skip


def unused(lines: Iterable[str]) -> Iterator[Remark]:
    """Runs and tasks that are not used, a text each."""
    yield from (Remark("unused", {"text": line}) for line in lines)
