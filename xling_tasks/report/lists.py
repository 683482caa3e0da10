"""The three lists of a report: scores, verdicts and remarks of models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from xling_metrics.stats.anova import compare_groups
from xling_metrics.stats.proportions import wilson

from xling_tasks.criteria import AVERAGE, CRITERIA, ENGLISH, MetricKey, metric_key_of
from xling_tasks.data.dataset_info import MMEDBENCH, XLINGHEALTH
from xling_tasks.data.topics import Topics
from xling_tasks.errors import SettingError
from xling_tasks.harness.arguments import identity_in_signature
from xling_tasks.languages import in_order, rank
from xling_tasks.logs.config_diff import find_differences
from xling_tasks.logs.task_groups import group_of
from xling_tasks.outcomes import EMPTY, NOT_MEASURED, SERVED, TIED, UNREAD
from xling_tasks.report import costs
from xling_tasks.report.annotations import Annotations
from xling_tasks.report.comparisons import (
    compare_with_english,
    has_comparable_values,
    pairs_with_english,
)
from xling_tasks.report.data import Model, Task
from xling_tasks.report.estimates import contrast, estimate_score, unpaired_contrast
from xling_tasks.report.record import Record, Remark, Score, Verdict
from xling_tasks.report.unscored import LEFT_OUT, column_counted, count_unparsed
from xling_tasks.report.usable import count_outcomes
from xling_tasks.report.verdicts import Options, conclude

_GENERATED = "bypass"
"""lm_eval's metric of a task that was only generated."""

Tasks = Mapping[str, Sequence[Task]]
"""Model -> its tasks of one criterion and dataset, in the order of languages."""


def check_options(options: Any) -> Options:
    """Return how verdicts are made, by options of a command line that are checked here."""
    for name in ("confidence", "margin"):
        share = getattr(options, name)
        if share is not None and not 0 < share < 1:
            raise SettingError(f"--{name}: must be a number between 0 and 1, got {share:g}")
    if options.to is not None and options.to.exists() and not options.to.is_dir():
        raise SettingError(f"--to {options.to}: is a file; name a folder")
    return Options(options.confidence, options.margin)


def make_record(
    models: Sequence[Model],
    options: Options,
    *,
    people: Annotations | None = None,
    topics: Topics | None = None,
    prices: costs.Prices | None = None,
) -> Record:
    """Return all numbers of a report; those of one model do not depend on the others.

    Args:
        models: What runs found.
        options: How verdicts are made.
        people: People's labels, which correct the judge's.
        topics: Topics of questions; None for the categories that prompts have.
        prices: Model -> dollars for a million tokens sent and received.
    """
    verdicts = [verdict for model in models for verdict in make_verdicts(model, options, people)]
    tasks = [task for model in models for task in model.tasks]
    scores = [score for task in tasks for score in make_scores(task, options, task.scores)]
    remarks = find_remarks(models, verdicts)
    if people is not None:
        remarks += [*people.remarks, *people.shares(models, options.confidence)]
    remarks += costs.find_costs(group_tasks(models), prices or {})
    for model in models:
        remarks += [*_differences(model, options, people), *_paper_tests(model, options)]
    scores += _topic_scores(tasks, options, topics)
    return Record(tuple(scores), tuple(verdicts), tuple(remarks), asdict(options))


def make_verdicts(
    model: Model, options: Options, people: Annotations | None = None
) -> list[Verdict]:
    """Return a model's verdicts against English, by dataset, criterion, language and metric."""
    verdicts, order = conclude(list(compare_with_english(model)), options, people), list(CRITERIA)
    return sorted(verdicts, key=lambda v: (
        v.dataset, order.index(v.criterion), rank(v.language),
        CRITERIA[v.criterion].order(v.metric),
    ))  # fmt: skip


# Scores


def make_scores(task: Task, options: Options, names: Iterable[str]) -> Iterator[Score]:
    """Yield metrics of a task with their intervals."""
    signatures = task.recorded("signatures")
    for name in names:
        metric_key, language = metric_key_of(task.task_key, name)
        column = task.columns.get(name)
        found = None if column is None else estimate_score(column, options.confidence)
        low, high, n = (None, None, None) if found is None else (*found[1:3], found.n)
        yield Score(
            task.model, *metric_key, language, task.scores.get(name), low, high, n,
            task.directions.get(name), str(signatures.get(name, "")),
        )  # fmt: skip


def _topic_scores(
    tasks: Iterable[Task], options: Options, topics: Topics | None
) -> Iterator[Score]:
    """Yield primary metrics over the questions of each topic, or of each category of prompts."""
    for task in tasks:
        labels, datasets = task.categories, ("", task.task_key.dataset)
        if topics is not None:
            labels = {key: topic for (name, key), topic in topics.items() if name in datasets}
        by_question = [labels.get(key, "without one") for key in task.ids]
        criterion = CRITERIA[task.task_key.criterion]
        if not criterion.by_topic or labels.keys().isdisjoint(task.ids):
            continue
        for topic in sorted(set(by_question)):
            order = [index for index, label in enumerate(by_question) if label == topic]
            for name, column in task.columns.items():
                metric_key, language = metric_key_of(task.task_key, name)
                chosen = column.select(order)
                if metric_key.metric not in criterion.main or not chosen.present.any():
                    continue
                found = estimate_score(chosen, options.confidence)
                if found is not None and language != AVERAGE and ":" not in language:
                    yield Score(
                        task.model, *metric_key, language, *found[:3], found.n,
                        task.directions.get(name), "", topic,
                    )  # fmt: skip


# Remarks


def find_remarks(models: Sequence[Model], verdicts: Sequence[Verdict]) -> list[Remark]:
    """Return what to know of models and their files, and what keeps numbers from comparison."""
    remarks = list(find_notes(models))
    for (criterion, dataset), tasks in group_tasks(models).items():
        subject = {"criterion": criterion, "dataset": dataset}
        for model, group in tasks.items():
            for kind, values in _about_model(criterion, group):
                remarks.append(Remark(kind, {"model": model, **subject, **values}))
        remarks += [*_missing_languages(subject, tasks), *_between_models(subject, tasks)]
    # The metrics whose intervals know nothing of the judge's errors.
    by_model: dict[str, dict[str, None]] = {}
    for item in verdicts:
        if "judge" in item.tags and item.ci_low is not None:
            by_model.setdefault(item.model, {})[f"{item.criterion}.{item.metric}"] = None
    for model, metrics in by_model.items():
        remarks += judge_remarks(list(metrics), {"model": model})
    return remarks


def judge_remarks(keys: Sequence[str], values: Mapping[str, str]) -> Iterator[Remark]:
    """Yield that intervals of `criterion.metric` lack the judge's errors; people label some."""
    for kind, can_be_labelled in (("judge_errs", True), ("judge_errs_alone", False)):
        metrics = [k for k in keys if CRITERIA[k.partition(".")[0]].labelled == can_be_labelled]
        if metrics:
            yield Remark(kind, {**values, "metrics": metrics})


def find_notes(models: Sequence[Model]) -> Iterator[Remark]:
    """Yield the models, and what to know of their files."""
    for model in models:
        yield Remark("model", {"model": model.name, "full": model.full})
        for note in model.notes:
            values = {name: value for name, value in note.items() if name != "kind"}
            yield Remark(note["kind"], {"model": model.name, **values})
    for dataset in sorted({task.task_key.dataset for model in models for task in model.tasks}):
        if group := group_of(dataset):
            yield Remark("dataset", {
                "dataset": dataset, "title": group.title, "citation": group.citation,
                "chance": group.chance,
            })  # fmt: skip


def group_tasks(models: Iterable[Model]) -> dict[tuple[str, str], dict[str, list[Task]]]:
    """Return (criterion, dataset) -> model -> its tasks, in the order of criteria and languages."""
    groups: dict[tuple[str, str], dict[str, list[Task]]] = {}
    for model in models:
        for task in model.tasks:
            by_model = groups.setdefault((task.task_key.criterion, task.task_key.dataset), {})
            by_model.setdefault(model.name, []).append(task)
    for by_model in groups.values():
        for item in by_model.values():
            item.sort(key=lambda task: rank(task.task_key.language))
    order = list(CRITERIA)
    return {key: groups[key] for key in sorted(groups, key=lambda key: order.index(key[0]))}


def _about_model(criterion: str, tasks: Sequence[Task]) -> Iterator[tuple[str, dict[str, Any]]]:
    definition = CRITERIA[criterion]
    scored = [task for task in tasks if _GENERATED not in task.scores]
    remaining = [task for task in scored if task.task_key.language != ENGLISH] or scored
    kinds = {item.meaning for task in remaining for item in task.endpoints.values()}
    if definition.needs and remaining and not kinds - {SERVED}:
        metrics = [item.metric for item in definition.endpoints if item.meaning != SERVED]
        yield f"no_{definition.needs}", {"metrics": metrics}
    if definition.parallel and not definition.several_languages:
        if ENGLISH not in {task.task_key.language for task in tasks}:
            yield "no_english", {}
        sets = {task.task_key.language: set(task.ids) for task in tasks}
        if all(sets.values()) and len({frozenset(ids) for ids in sets.values()}) > 1:
            sizes = {code: len(ids) for code, ids in sets.items()}
            yield "paired", {"n": len(set.intersection(*sets.values())), "asked": sizes}
    for task in tasks:
        yield from _about_task(task)
    first, *remainder = tasks
    for task in remainder:
        pair = (first.results, task.results)
        for item in find_differences([pair], across_languages=True):
            yield "settings_between_languages", {
                "what": item.what, "languages": [first.task_key.language, task.task_key.language],
                "values": [item.first, item.other],
            }  # fmt: skip


def _about_task(task: Task) -> Iterator[tuple[str, dict[str, Any]]]:
    data, language = task.recorded("data"), task.task_key.language
    definition = CRITERIA[task.task_key.criterion]
    requested, available = task.results.count["effective"], task.results.count["original"]
    for code in task.languages or [""]:
        missing = data.get("unusable_questions") or {}
        invalid = missing.get(code) if isinstance(missing, Mapping) else missing
        in_language = task.count(code)
        yield "coverage", {
            "language": code, "in_data": data.get("questions"), "available": in_language[1],
            "asked": in_language[0], "invalid_rows": data.get("invalid_rows"),
            "invalid_questions": len(invalid or ()),
            "reasons": dict(data.get("invalid_reasons") or {}), "samples": bool(task.ids),
        }  # fmt: skip
    if _GENERATED in task.scores:
        yield "generated_only", {"language": language}
    if task.limited:
        yield "part", {"language": language, "asked": requested, "available": available}
    if not task.ids:
        yield "no_samples", {"language": language}
    if task.one_prompt:
        yield "same_prompt", {"language": language, "n": len(task.ids)}
    for code, (cut, n) in task.recorded("cut_prompts").items():
        yield "cut_prompts", {"language": code, "cut": cut, "asked": n}
    for code, (cut, n) in task.recorded("cut").items():
        if cut and code in task.languages:
            yield "cut", {"language": code, "cut": cut, "asked": n}
    for code, outcomes in task.outcomes.items():
        lost = {kind: n for kind, n in count_outcomes(outcomes).items() if kind in NOT_MEASURED}
        if lost:
            yield "partly", {"language": code, "asked": task.count(code)[0], "outcomes": lost}
    for name in () if task.outcomes or not task.ids else task.endpoints:
        unparsed, code = count_unparsed(task, name), metric_key_of(task.task_key, name)[1]
        if unparsed.n and unparsed.kind != TIED:
            kind = unparsed.kind if unparsed.kind in (*NOT_MEASURED, EMPTY) else UNREAD
            values = {"asked": unparsed.asked, "outcomes": {kind: unparsed.n}}
            yield "partly", {"language": code, **values}
    if flagged := data.get("flagged"):
        yield "flagged", {"n": len(flagged), "questions": data.get("questions")}
    if excluded := data.get("excluded_rate"):
        yield "not_compared", {"n": len(excluded), "questions": data.get("questions")}
    # Metrics on which English could be guessed, so that a difference from it says little.
    chance = sum(task.chances.values()) / (len(task.chances) or 1)
    for metric in task.endpoints if language == ENGLISH and task.chances else ():
        column = column_counted(task, metric, LEFT_OUT)
        if column is None or not column.simple or not definition.of(metric).chance:
            continue
        values = column.sums[column.present, 0]
        n, correct = len(values), float(values.sum())
        if n and wilson(correct, n)[0] <= chance:
            yield "guessing", {"metric": metric, "english": correct / n, "chance": chance, "n": n}


def _missing_languages(subject: Mapping[str, str], tasks: Tasks) -> Iterator[Remark]:
    """Yield languages that the dataset or another model has, and a model has not."""
    definition = CRITERIA[subject["criterion"]]
    by_model = {
        name: {code for task in group for code in task.languages} for name, group in tasks.items()
    }
    expected = set().union(*by_model.values())
    if not definition.several_languages:
        for info in (XLINGHEALTH if definition.parallel else MMEDBENCH).values():
            expected |= set(info.languages if info.dataset == subject["dataset"] else ())
    for name, group in by_model.items():
        if missing := in_order(expected - group):
            yield Remark("missing_languages", {"model": name, **subject, "languages": missing})


def _between_models(about: Mapping[str, str], tasks: Tasks) -> Iterator[Remark]:
    """Yield in what models differ from the first one that has a language."""
    first: dict[str, Task] = {}
    for task in (task for element in tasks.values() for task in element):
        base = first.setdefault(task.task_key.language, task)
        if base is task:
            continue
        pair = {**about, "models": [base.model, task.model], "language": task.task_key.language}
        if base.ids and task.ids and set(base.ids) != set(task.ids):
            shared = len(set(base.ids) & set(task.ids))
            sizes = [len(base.ids), len(task.ids)]
            yield Remark("different_questions", {**pair, "asked": sizes, "n": shared})
        for item in find_differences([(base.results, task.results)]):
            values = {"what": item.what, "values": [item.first, item.other]}
            yield Remark("settings_between_models", {**pair, **values})
        element, other = (member.recorded("signatures") for member in (base, task))
        for metric in [name for name in element if name in other]:
            signs = [identity_in_signature(str(member[metric])) for member in (element, other)]
            if signs[0] != signs[1]:
                values = {"metric": metric, "values": signs}
                yield Remark("signatures_between_models", {**pair, **values})


# Exploratory differences, and the papers' tests


def _differences(model: Model, options: Options, people: Annotations | None) -> Iterator[Remark]:
    """Yield differences from English on all metrics that may be compared but the primary ones."""
    primary = {(item.metric_key, item.language) for item in compare_with_english(model)}
    for pair in pairs_with_english(model):
        metric_key, language = pair.about
        if (metric_key, language) in primary:
            continue
        if not has_comparable_values(metric_key, pair.task.directions.get(pair.name)):
            continue
        paired, level = pair.task.task_key.parallel, options.confidence
        metric = CRITERIA[metric_key.criterion].metric(metric_key.metric)
        found = people.contrast(pair.groups, level) if people is not None and paired else None
        if found is None:
            found = contrast(pair.groups, level) if paired else unpaired_contrast(
                pair.groups, level, above_chance=metric.chance
            )  # fmt: skip
        if found.estimate.value is not None:
            yield Remark("difference", {
                "model": model.name, **metric_key._asdict(), "language": language,
                "value": found.values[0], "english": found.values[1],
                "estimate": found.estimate.value, "ci_low": found.estimate.ci_low,
                "ci_high": found.estimate.ci_high, "n": found.estimate.n, "paired": paired,
            })  # fmt: skip


def _paper_tests(model: Model, options: Options) -> Iterator[Remark]:
    """Yield ANOVA, Tukey's HSD and unpaired t tests over the languages of each metric.

    As in XLingEval (D.2), each language over the questions that it has scores for.
    """
    groups: dict[MetricKey, dict[str, list[float | None]]] = {}
    for task in model.tasks:
        for name, column in task.columns.items():
            metric_key, language = metric_key_of(task.task_key, name)
            tested = CRITERIA[metric_key.criterion].classic and column.simple
            if tested and has_comparable_values(metric_key, True):
                values = list(column.values(task.ids).values())
                groups.setdefault(metric_key, {})[language] = values
    for metric_key, by_language in groups.items():
        if len(by_language) < 2:
            continue
        order = sorted(by_language, key=lambda code: (code != ENGLISH, code))
        tests = compare_groups(
            {code: by_language[code] for code in order}, level=options.confidence
        )
        subject = {"model": model.name, **metric_key._asdict()}
        yield Remark("anova", {**subject, **tests.anova._asdict(), "n": tests.n})
        for pair in tests.pairs:
            means = [tests.means[pair.first], tests.means[pair.second]]
            yield Remark("pair_test", {**subject, **pair._asdict(), "means": means})
