"""What `xling submit hf` submits: the newest run of each of our tasks, its values, all checked."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from xling_tasks.criteria import CRITERIA, Place, Submitted, panel_of
from xling_tasks.data.dataset_info import BUNDLED_SAMPLES, DATASETS
from xling_tasks.data.prompt_sets import SMALL
from xling_tasks.errors import DataError
from xling_tasks.languages import language_name
from xling_tasks.logs import alike
from xling_tasks.logs.results import Results, TaskResults, read_results, refuse_mixed_models
from xling_tasks.outcomes import RATES, SERVICE_RATES, not_measured, percent, served_rate
from xling_tasks.secrets import publishable_text

ALL = "all"
"""Stands for the mean over a task's languages."""

_TAU = r"_t\d+(?:\.\d+)?"


class Score(NamedTuple):
    """One value; None if undefined: nothing could be scored.

    METRIC is the harness's name, LABEL the same without language; LANGUAGE may be `ALL`.
    """

    metric: str
    label: str
    language: str
    value: float | None

    @property
    def temperature(self) -> str:
        """`_t0.0` of `macro_f1_t0.0`; empty where there is none."""
        match = re.search(rf"{_TAU}$", self.label)
        return match[0] if match else ""


@dataclass(frozen=True)
class HubTask(TaskResults):
    """One of our tasks in the newest run that has it.

    OWN_DATASET: where the user's own questions lie on the Hub; None if they do not.
    """

    about: Place
    own_dataset: str | None = None

    @property
    def criterion(self) -> str:
        """Its criterion, without the dataset that its key begins with."""
        return self.about.criterion.removeprefix("mmedbench_")

    @property
    def language(self) -> str | None:
        """Its language; None for a task over several."""
        return self.about.language or None

    @property
    def group(self) -> str:
        """Its name without the language."""
        return self.task if self.language is None else self.task.removesuffix(f"_{self.language}")

    @property
    def data(self) -> Mapping[str, Any]:
        """What was read."""
        data: Mapping[str, Any] = self.xling["data"]
        return data

    @property
    def hub_dataset(self) -> str | None:
        """The dataset on the Hub; None for what is bundled, and for what lies nowhere there."""
        kind = self.data.get("kind")
        if kind == "own":
            return self.own_dataset
        if kind == "hub":
            return str(self.data["name"])
        record = DATASETS.get(self.about.dataset)
        return None if kind == "bundled" or record is None else record.hub_id

    @property
    def revision(self) -> str | None:
        """The commit on the Hub that was read; None where it was read from files."""
        return self.data.get("revision") if self.data.get("kind") == "hub" else None

    @property
    def languages(self) -> list[str]:
        """Its languages, English first where there are several."""
        return [self.language] if self.language else list(self.data.get("languages") or [])

    @property
    def date(self) -> str:
        """When it was run, ISO 8601."""
        when = self.run.content.get("date")
        if isinstance(when, (int, float)):
            return f"{datetime.fromtimestamp(int(when), timezone.utc):%Y-%m-%dT%H:%M:%SZ}"
        return self.run.stamp[:10]

    @functools.cached_property
    def main(self) -> list[Score]:
        """The values that are submitted."""
        return self._scores(self.submission.main)

    @functools.cached_property
    def beside(self) -> list[Score]:
        """The rates that say how much of the data they are about."""
        return self._scores(self.submission.beside)

    @property
    def submission(self) -> Submitted:
        """What of its criterion's metrics is submitted."""
        return CRITERIA[self.about.criterion].submission

    def _scores(self, names: Collection[str]) -> list[Score]:
        scores = []
        for metric in self.xling["signatures"]:
            panel, code = panel_of(self.about, metric)
            if panel.metric in names and ":" not in code:
                language = self.language or (code if code in self.languages else ALL)
                label = metric if self.language else metric.removesuffix(f"_{language}")
                scores.append(Score(metric, label, language, self.score(metric)))
        return scores

    def undefined(self) -> list[str]:
        """The metrics that it has, but without a value."""
        return [name for name in self.xling["signatures"] if self.score(name) is None]

    def problems(self) -> Iterator[str]:
        """Why it should not be submitted."""
        limit, count = self.run.config.get("limit"), self.count
        if limit is not None:
            yield f"run with --limit {limit:g}"
        elif count["effective"] != count["original"]:
            yield f"has {count['effective']} of {count['original']} questions"
        if not self.xling["signatures"]:
            yield "has no scores (--predict_only)"
        if self.about.dataset in BUNDLED_SAMPLES:
            yield "our own small sample, not a dataset of the Hub"
        if self.data.get("prompt_set") == SMALL:
            yield "the small part of our prompts (prompt_set=small), not the whole set"
        rows, expected = self.data.get("rows"), self.data.get("rows_expected")
        if (
            self.about.dataset not in BUNDLED_SAMPLES
            and None not in (rows, expected)
            and rows != expected
        ):
            yield f"{rows} rows in the data, but {expected} were published"
        yield from self.unmeasured()

    def unmeasured(self) -> Iterator[str]:
        """Values that are not what they seem by more than their margin, by what became of answers.

        What was not measured could be wrong; and an answer that is of no use to who asked
        (in another language, empty, declined) helped nobody, though a judge may have liked it.
        """
        for score in self.main:
            if score.language == ALL or not 0 <= (score.value or 0.0) <= 1:
                continue
            rates, where = self._rates(score), f"{score.metric} in {language_name(score.language)}"
            lost = not_measured(rates)
            if score.value is None:
                if lost:
                    yield f"{where}: {percent(lost)} of the answers were not measured"
                continue
            most = lost * score.value  # if these were wrong
            useless = 1 - served_rate(rates)
            if most > self._margin(score):
                yield (
                    f"{where} is not sure: {percent(lost)} of the answers were not measured, which "
                    f"could move it by {100 * most:.0f} points; ask them again"
                )
            elif "langid_match" in rates and useless * score.value > self._margin(score):
                yield (
                    f"{where} is not what users get: {percent(useless)} of the answers are in "
                    "another language, empty, declined or held back"
                )

    def _margin(self, score: Score) -> float:
        endpoints = CRITERIA[self.about.criterion].endpoints
        return next((e.margin for e in endpoints if score.label.startswith(e.metric)), 0.05)

    def _rates(self, score: Score) -> dict[str, float | None]:
        """The rates at a score's temperature and language, by their plain names."""
        language = "" if self.language else f"_{score.language}"
        found: dict[str, float | None] = {}
        for name in (*SERVICE_RATES, *chain.from_iterable(RATES.values())):
            for tau in dict.fromkeys((score.temperature, "")):
                value = self.score(f"{name}{language}{tau}")
                if value is not None:
                    found.setdefault(name, value)
        return found

    def models(self) -> Iterator[tuple[str, str]]:
        """The models that made the submitted values: what each is for, and its name."""
        for score in self.main:
            own, _, translated = self.xling["signatures"][score.metric].partition("|translator:")
            for name, text in ((score.label, own), ("the translator", translated)):
                if model := re.search(r"(?:^|\|)model:([^|]+)", text):
                    yield f"model of {name}", model[1]


def hub_task(task: str, run: Results, own_dataset: str | None = None) -> HubTask | None:
    """The task in a run; None if it is not one of ours."""
    part = TaskResults(task, run)
    if part.place is None or not part.xling:
        return None
    return HubTask(task, run, part.place, own_dataset)


class Words(NamedTuple):
    """Conclusions, a line per dataset, language and criterion, and as plain values for programs.

    FLAGS tell of partial runs, missing languages, a judge's own error.
    """

    conclusions: list[str]
    flags: list[str]
    records: list[dict[str, Any]]


class Submission(NamedTuple):
    """What is submitted: the tasks, by group and in the order of the languages.

    CAUTIONS should keep a reader from trusting it, if it was forced; OTHERS are tasks in the folder
    that are not ours.
    """

    parts: list[HubTask]
    cautions: list[str]
    others: list[str]
    words: Words = Words([], [], [])

    def groups(self) -> dict[str, list[HubTask]]:
        """The tasks by criterion and dataset."""
        grouped: dict[str, list[HubTask]] = {}
        for part in self.parts:
            grouped.setdefault(part.group, []).append(part)
        return grouped

    @property
    def newest(self) -> Results:
        """The newest of the runs."""
        return max((part.run for part in self.parts), key=lambda run: run.stamp)


def gather(out: Path, force: bool, own_dataset: str | None = None) -> Submission:
    """The newest run of each of our tasks; what is wrong is an error, or a caution if forced."""
    runs = read_results(out)
    newest = {task: run for run in runs for task in sorted(run.tasks)}
    ours = [part for task, run in newest.items() if (part := hub_task(task, run, own_dataset))]
    if not ours:
        raise DataError(f"{out}: no results of our tasks in it; give lm_eval's --output_path")
    parts = sorted(ours, key=lambda part: (part.group, part.language != "en", part.task))
    submission = Submission(parts, [], sorted(set(newest) - {part.task for part in parts}))
    submission.cautions.extend(_cautions(out, runs, submission))
    if own_dataset and not any(part.hub_dataset == own_dataset for part in parts):
        raise DataError(
            f"--dataset-id {own_dataset}: it is where questions of your own lie on the Hub, and "
            f"{out} has no result over such questions (xling_custom_*)"
        )
    if submission.cautions and not force:
        raise DataError(
            f"{out}: not ready to submit: {'; '.join(submission.cautions)}. Run again without "
            "that, or move those results away; --force writes with this as a caution inside"
        )
    told = [publishable_text(text) for text in submission.cautions]
    return submission._replace(cautions=told)


def _cautions(out: Path, runs: Sequence[Results], submission: Submission) -> Iterator[str]:
    try:
        refuse_mixed_models(out, [run for run in runs if any(run.places.values())])
    except DataError as error:
        yield str(error).removeprefix(f"{out}: ").partition("; give the folder")[0]
    by_reason: dict[str, list[str]] = {}
    for part in submission.parts:
        for reason in part.problems():
            by_reason.setdefault(reason, []).append(part.task)
    for reason, tasks in by_reason.items():
        yield f"{', '.join(tasks)}: {reason}"
    for group in submission.groups().values():
        yield from _differences(group)


def _differences(group: Sequence[HubTask]) -> Iterator[str]:
    """In what the languages of a criterion were run differently."""
    first = group[0]
    for item in alike.differences([(first, part) for part in group[1:]], across_languages=True):
        yield f"the languages were not run alike: {item.told(first.task)}"
    models: dict[str, dict[str, list[str]]] = {}
    for part in group:
        for what, model in dict.fromkeys(part.models()):
            models.setdefault(what, {}).setdefault(model, []).append(part.task)
    for what, by_model in models.items():
        if len(by_model) > 1:
            told = ", but ".join(f"{model} in {', '.join(t)}" for model, t in by_model.items())
            yield f"the languages were not run alike: {what} is {told}"
