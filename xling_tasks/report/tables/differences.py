"""What keeps numbers of a report from being compared as they stand: told before any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from xling_metrics.stats.shares import wilson

from xling_tasks.criteria import CRITERIA, ENGLISH
from xling_tasks.data.dataset_info import MMEDBENCH, XLINGHEALTH
from xling_tasks.harness.arguments import identity_in_signature
from xling_tasks.languages import in_order, language_name
from xling_tasks.logs import alike
from xling_tasks.outcomes import NOT_MEASURED, SERVED
from xling_tasks.report.data import Task
from xling_tasks.report.lines import listed
from xling_tasks.report.model import Report
from xling_tasks.report.outcomes import counted
from xling_tasks.report.tables.grid import dataset_title, grouped, recorded, task_languages
from xling_tasks.report.unread import measured

_VERSIONS = ("lm_eval's version", "xling-tasks' version")

_GENERATED = "bypass"
"""The harness's metric of a task that was only generated."""

_TOLD_BY = {"topic_seeds": "seeds", "greedy_repeats": "k", "prompts.translate.digest": "translator"}
"""The field of signatures that a setting changes, where its name is another."""

Tasks = Mapping[str, Sequence[Task]]


class Difference(NamedTuple):
    """One thing that a reader of some tables must know."""

    criterion: str  # What it concerns.
    dataset: str  # Over which dataset.
    text: str  # The line.
    kind: str  # A key of `FLAGS`.


FLAGS = {
    "apart": "Some results are not comparable",
    "unread": "Not every answer could be measured",
    "unjudged": "No judge was set: whether answers are right was not measured",
    "unmeasured": "Not measured, as a setting was missing: {}",
    "generated": "Answers were generated and not scored (--predict_only)",
    "cut": "Answers may be cut off (max_gen_toks)",
    "limited": "Only a part of the questions was run",
    "guessing": "English may be no better than guessing",
    "missing": "Languages are missing",
    "without_samples": "No samples were logged: no intervals, no tests",
    "questions": "Not everywhere the same questions",
    "between_languages": "Settings differ between languages",
    "between_models": "Settings differ between models",
}
"""What kinds there are, in a few words, the gravest first."""


def differences(report: Report) -> list[str]:
    """The lines of a report's banner: partial runs, missing languages, unlike questions, settings.

    What is the same for several criteria and datasets is said once. Differences that lie in a
    dataset (MMedBench's questions differ between languages) are not among them; they stand in the
    notes of its tables.
    """
    places: dict[str, dict[str, list[str]]] = {}
    for item in remarks_of(report):
        titles = places.setdefault(item.text, {}).setdefault(item.dataset, [])
        titles.append(CRITERIA[item.criterion].title)
    return [
        "; ".join(f"{listed(titles)}, {dataset_title(key)}" for key, titles in by_dataset.items())
        + f": {text}"
        for text, by_dataset in places.items()
    ]


def remarks_of(report: Report) -> list[Difference]:
    """Everything that `differences` tells, with what it concerns."""
    remarks = []
    groups = grouped(report.models)
    for criterion, dataset in sorted(groups, key=lambda about: list(CRITERIA).index(about[0])):
        tasks = groups[criterion, dataset]
        unmeasured = "unjudged" if CRITERIA[criterion].labelled else "unmeasured"
        texts = {
            "limited": _limited(tasks),
            "guessing": _guessing(criterion, tasks),
            "missing": _missing(criterion, tasks),
            "without_samples": _without_samples(tasks),
            "apart": _apart(report, criterion, dataset),
            "unread": _outcomes(tasks, NOT_MEASURED),
            "cut": _cut(tasks),
            unmeasured: _unmeasured(criterion, tasks),
            "generated": _generated(tasks),
            "questions": _unlike_questions(criterion, tasks),
            "between_languages": _between_languages(tasks),
            "between_models": _between_models(tasks),
        }
        remarks += [
            Difference(criterion, dataset, text, kind)
            for kind, own in texts.items()
            for text in dict.fromkeys(own)
        ]
    return remarks


def _missing_languages(criterion: str, tasks: Tasks) -> dict[str, list[str]]:
    """Model -> languages that the dataset or another model has and it has not."""
    own = {
        name: {code for task in ts for code in task_languages(task)} for name, ts in tasks.items()
    }
    expected = set().union(*own.values())
    if not CRITERIA[criterion].several_languages:
        datasets = {task.place.dataset for ts in tasks.values() for task in ts}
        records = XLINGHEALTH if CRITERIA[criterion].parallel else MMEDBENCH
        known = (each.languages for each in records.values() if each.dataset in datasets)
        expected = expected.union(*known)
    return {name: in_order(expected - codes) for name, codes in own.items() if expected - codes}


def _unmeasured(criterion: str, tasks: Tasks) -> Iterator[str]:
    """Models that ran without what a criterion's endpoints need."""
    needs = CRITERIA[criterion].needs
    for name, own in tasks.items():
        scored = [task for task in own if _GENERATED not in task.scores]
        others = [task for task in scored if task.place.language != ENGLISH] or scored
        kinds = {item.meaning for task in others for item in task.endpoints.values()}
        if needs and others and not kinds - {SERVED}:
            yield f"{name} ran without {needs}"


def _generated(tasks: Tasks) -> Iterator[str]:
    sentence = (
        "{} only generated answers (--predict_only) in {}; `lm_eval --model xling_replay "
        "--model_args path=OUT` with the same tasks scores them"
    )

    def parts(task: Task) -> Iterator[str]:
        if _GENERATED in task.scores:
            yield task.place.language or "all languages"

    return _of_each(tasks, sentence, parts)


def _apart(report: Report, criterion: str, dataset: str) -> Iterator[str]:
    """Languages that are not comparable, each reason with its languages."""
    languages_by_reason: dict[tuple[str, str], dict[str, None]] = {}
    for item in report.conclusions:
        about = (item.criterion, item.dataset)
        if item.verdict == "not_comparable" and about == (criterion, dataset):
            name = language_name(item.language)
            languages_by_reason.setdefault((item.model, item.reason), {})[name] = None
    for (model, reason), names in languages_by_reason.items():
        yield f"{model} is not comparable with English in {', '.join(names)}: {reason}"


def _outcomes(tasks: Tasks, kinds: Mapping[str, str]) -> Iterator[str]:
    """What became of questions other than that they were measured, counted by language."""

    def parts(task: Task) -> Iterator[str]:
        for code, outcomes in task.outcomes.items():
            counts = {kind: n for kind, n in counted(outcomes).items() if kind in kinds}
            asked = sum(outcome is not None for outcome in outcomes)
            if told := ", ".join(f"{n:,} {kinds[kind]}" for kind, n in counts.items()):
                yield f"{language_name(code)}, of {asked:,}: {told}"

    return _of_each(tasks, "{}, answers of which not all was measured: {}", parts, "; ")


def _cut(tasks: Tasks) -> Iterator[str]:
    """Answers that ended where they had to, as the same room may make of one language alone."""

    def parts(task: Task) -> Iterator[str]:
        for code, (cut, asked) in (task.results.xling.get("cut") or {}).items():
            if cut and code in task_languages(task):
                yield f"{language_name(code)} {cut:,} of {asked:,}"

    return _of_each(tasks, "{}, answers as long as max_gen_toks allows, perhaps cut off: {}", parts)


def _of_each(
    tasks: Tasks, sentence: str, parts: Callable[[Task], Iterable[str]], between: str = ", "
) -> Iterator[str]:
    """A sentence per model that has something to be told of any of its tasks."""
    for name, own in tasks.items():
        if told := [part for task in own for part in parts(task)]:
            yield sentence.format(name, between.join(told))


# Which questions


def _limited(tasks: Tasks) -> Iterator[str]:
    def parts(task: Task) -> Iterator[str]:
        if task.limited:
            count = task.results.count
            yield f"{task.place.language} {count['effective']} of {count['original']}".strip()

    return _of_each(tasks, "{} ran only a part of the questions (--limit or --samples): {}", parts)


def _missing(criterion: str, tasks: Tasks) -> Iterator[str]:
    for name, codes in _missing_languages(criterion, tasks).items():
        yield f"{name} has no results in {', '.join(codes)}"
    one = CRITERIA[criterion].parallel and not CRITERIA[criterion].several_languages
    for name, own in tasks.items():
        if one and ENGLISH not in {task.place.language for task in own}:
            yield f"{name} has no results in English, so none of its languages is compared"


def _guessing(criterion: str, tasks: Tasks) -> Iterator[str]:
    """Models whose English could be guessed, so that a difference from it says little."""
    known = CRITERIA[criterion]
    for name, own in tasks.items():
        for task in own:
            if task.place.language != ENGLISH or not task.chances:
                continue
            chance = sum(task.chances.values()) / len(task.chances)
            for metric in task.endpoints:
                column = measured(task).columns.get(metric)
                if not known.of(metric).chance or column is None or not column.simple:
                    continue
                values = [sums[0] for sums in column.by_question(task.ids).values() if sums]
                right, n = sum(values), len(values)
                if n and wilson(right, n)[0] <= chance:
                    yield (
                        f"{name}: English is not shown to be above guessing ({right / n:.2f}, "
                        f"guessing earns {chance:.2f}), so that a difference from it says little "
                        "of the language"
                    )


def _without_samples(tasks: Tasks) -> Iterator[str]:
    sentence = (
        "{} logged no samples in {}: no intervals, no tests, and whether the questions are the "
        "same is unknown"
    )
    return _of_each(
        tasks, sentence, lambda task: [] if task.ids else [task.place.language or "all languages"]
    )


def _unlike_questions(criterion: str, tasks: Tasks) -> Iterator[str]:
    """Models that answered other questions than the first with the same task, and languages."""
    first = _first(tasks)
    for name, own in tasks.items():
        unlike: dict[str, list[str]] = {}
        for task in own:
            base = first[task.place.language]
            if base is not task and (counts := _unlike([base, task])):
                where = f"{task.place.language}: " if task.place.language else ""
                unlike.setdefault(base.model, []).append(where + counts)
        for base_name, parts in unlike.items():
            yield f"{base_name} and {name} answered different questions ({'; '.join(parts)})"
        yield from _unlike_languages(criterion, name, own)


def _first(tasks: Tasks) -> dict[str, Task]:
    """Language -> the task of the first model that has it."""
    first: dict[str, Task] = {}
    for task in (task for own in tasks.values() for task in own):
        first.setdefault(task.place.language, task)
    return first


def _unlike_languages(criterion: str, name: str, own: Sequence[Task]) -> Iterator[str]:
    if not own[0].place.parallel:
        return
    if CRITERIA[criterion].several_languages:
        lacking = recorded(own[0], "data").get("unusable_questions") or {}
        counts = ", ".join(f"{code} {len(ids)}" for code, ids in lacking.items())
        if counts:
            yield f"{name}: prompts without a text are left out in their language: {counts}"
    elif counts := _unlike(own):
        yield (
            f"{name}: the languages are over different questions ({counts}); only the paired "
            "comparisons are over the same"
        )


def _unlike(tasks: Sequence[Task]) -> str:
    """Numbers of questions where they are not the same ones; empty where they are or may be."""
    several = len({task.place.language for task in tasks}) > 1
    sizes = [int(task.results.count["effective"]) for task in tasks]
    counts = ", ".join(
        f"{task.place.language} {size}" if several else str(size)
        for task, size in zip(tasks, sizes, strict=True)
    )
    if all(task.ids for task in tasks):
        sets = [set(task.ids) for task in tasks]
        same = set.intersection(*sets)
        return "" if all(own == same for own in sets) else f"{counts}, {len(same)} in all of them"
    return "" if len(set(sizes)) == 1 else counts


# How they were run


def _between_models(tasks: Tasks) -> Iterator[str]:
    """Settings in which a model differs from the first that has the same task."""
    first = _first(tasks)
    every = [task for own in tasks.values() for task in own]
    pairs = [(first[task.place.language], task) for task in every]
    for (base, name, text), codes in _changes(pairs, same_language=True).items():
        where = f" in {', '.join(codes)}" if any(codes) else ""
        yield f"{base} and {name} differ{where}: {text}"


def _between_languages(tasks: Tasks) -> Iterator[str]:
    """Settings in which a model's languages differ from its first."""
    pairs = [(base, task) for base, *others in tasks.values() for task in others]
    for (_, name, text), codes in _changes(pairs, same_language=False).items():
        yield f"{name}: {tasks[name][0].place.language} and {', '.join(codes)} differ: {text}"


def _changes(
    pairs: Iterable[tuple[Task, Task]], *, same_language: bool
) -> dict[tuple[str, str, str], list[str]]:
    """(Model of the first, of the other, how their settings differ) -> the others' languages."""
    changes: dict[tuple[str, str, str], list[str]] = {}
    for base, task in pairs:
        for text in _unlike_settings(base, task, same_language) if base is not task else ():
            changes.setdefault((base.model, task.model, text), []).append(task.place.language)
    return changes


def _unlike_settings(base: Task, task: Task, same_language: bool) -> Iterator[str]:
    told = set()
    pair = (base.results, task.results)
    for item in alike.differences([pair], across_languages=not same_language):
        setting = item.what.partition(".")[0]
        told |= {_TOLD_BY.get(item.what, _TOLD_BY.get(setting, setting))}
        yield f"{item.what} ({item.first} / {item.other})"
    versions = (
        [str(side.results.run.content.get("lm_eval_version")) for side in (base, task)],
        [str(side.results.xling.get("version")) for side in (base, task)],
    )
    for what, (own, other) in zip(_VERSIONS, versions, strict=True):
        if own != other:
            yield f"{what} ({own} / {other})"
    if same_language:
        yield from _unlike_signatures(base, task, told)


def _unlike_signatures(base: Task, task: Task, known: set[str]) -> Iterator[str]:
    """Metrics that were made in another way, but for reasons told already."""
    metrics_by_change: dict[tuple[str, str], list[str]] = {}
    own, other = (recorded(side, "signatures") for side in (base, task))
    for metric in own:
        if metric in other and own[metric] != other[metric]:
            parts = [_fields(identity_in_signature(side[metric])) for side in (own, other)]
            unlike = [k for k in {**parts[0], **parts[1]} if parts[0].get(k) != parts[1].get(k)]
            unlike = [key for key in unlike if key not in known]
            texts = ["|".join(part.get(key, "none") for key in unlike) for part in parts]
            if unlike:
                metrics_by_change.setdefault((texts[0], texts[1]), []).append(metric)
    for (made, otherwise), metrics in metrics_by_change.items():
        yield f"how {', '.join(metrics)} was made ({made} / {otherwise})"


def _fields(signature: str) -> dict[str, str]:
    """A signature's fields by name; a judge or translator with all that belongs to it is one."""
    fields: dict[str, str] = {}
    holder = ""
    for part in signature.split("|"):
        name = part.partition(":")[0]
        holder = name if name in ("judge", "translator") else holder
        key = name if name == "k" else holder or name
        fields[key] = f"{fields[key]}|{part}" if key in fields else part
    return fields
