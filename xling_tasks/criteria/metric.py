"""A metric, declared once: what it is of one question, and how values become a score.

Every criterion has a table `METRICS`. Tasks make their scores with it, and reports, docs and
`CRITERIA` read there what is known of each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from xling_metrics.aggregate import MEAN, RATIO
from xling_metrics.stats.standard_errors import jackknife_error, mean_error, ratio_error


def always(task: Any) -> bool:
    """Return True: the condition of metrics that every run has."""
    return True


def constant(fields: str) -> Callable[[Any], str]:
    """Return a signature's fields that are the same in every run."""
    return lambda task: fields


class DisplayText(NamedTuple):
    """What reports say of a metric.

    Attributes:
        name: Its name in a sentence.
        heading: Of its column.
        asks: The question that it answers.
        unit: `share` (of answers, which are counted), `percent` (a share of something else),
            `score` (from 0 to 1) or `number`.
        evidence: How its values are told: a row of `evidence` in `report/words.yaml`.
        noun: What a score is called.
        chance: What guessing gives, of a score.
    """

    name: str
    heading: str
    asks: str = ""
    unit: Literal["share", "percent", "score", "number"] = "score"
    evidence: str = "score"
    noun: str = "Score"
    chance: float | None = None

    @property
    def in_percent(self) -> bool:
        """Whether its values are told in percent."""
        return self.unit in ("share", "percent")


@dataclass(frozen=True)
class Metric:
    """One row of a criterion's table.

    Attributes:
        name: Its name, without temperature and language.
        per_doc: From a scored question to plain JSON, which its sample keeps; None for what
            reports make of other values.
        aggregate: From the values of questions to a number, None where it is undefined. It never
            gets None.
        higher_is_better: None where neither is.
        note: What it is, in a few words.
        when: Whether a task has it in this run.
        error: From values to a standard error, where there is a quicker way than the jackknife.
        in_table: False for counts, descriptions and failures, which are recorded beside scores.
        sign: The fields of its signature behind the name, by the task.
        stem: Its name in the signature; that of the table, if empty.
        repeats: Whether it needs several answers to a question.
        languages: Of a task with several languages: whether it is made in `all` of them, in those
            that are `compared` with English (English itself by its second answer), or in the
            `others`; empty for one value a question.
        grouped: Whether such a task also has it for groups of languages.
        across_languages: Whether its values in two languages can be compared: not where they depend
            on the language's words, characters or encoder.
        chance: Whether guessing earns some of it.
        known_chance: Whether it is known how much, so that it can be taken off.
        sized: Whether its unit is known, so that a margin fixed beforehand means something.
        counted: Whether it is a count or a size; 0 or 1 throughout makes it no share.
        unmoved_by: The settings of its criterion that do not change it.
        display: What reports say of it; None for its name in words.
    """

    name: str
    per_doc: Callable[[Any], Any] | None = None
    aggregate: Callable[[list[Any]], float | int | None] = MEAN
    higher_is_better: bool | None = None
    note: str = ""
    when: Callable[[Any], bool] = always
    error: Callable[[list[Any]], float | None] | None = None
    in_table: bool = True
    sign: Callable[[Any], str] = field(default=constant(""))
    stem: str = ""
    repeats: bool = False
    languages: Literal["", "all", "compared", "others"] = ""
    grouped: bool = False
    across_languages: bool = True
    chance: bool = False
    known_chance: bool = False
    sized: bool = True
    counted: bool = False
    unmoved_by: tuple[str, ...] = ()
    display: DisplayText | None = None

    # Scores

    def at(self, temperature: float, count: int | None = None) -> Metric:
        """Return this metric at one of several temperatures; rows are then mappings by it."""
        per_doc, fields = self.per_doc, f"|temperature:{temperature}"
        assert per_doc is not None
        fields += "" if count is None else f"|k:{count}"
        return replace(
            self,
            name=f"{self.name}_t{temperature}",
            per_doc=lambda row: per_doc(row[temperature]),
            sign=lambda task: self.sign(task) + fields,
            stem=self.name,
        )

    def signature(self, task: Any) -> str:
        """Return how a task makes it, in the manner of sacrebleu."""
        return "|".join(filter(None, (self.stem or self.name, self.sign(task))))

    def value(self, row: Any, nothing: bool) -> Any:
        """Return a question's value; None where nothing came, but for what is a record of it."""
        assert self.per_doc is not None
        value = self.per_doc(row)
        return None if nothing and not isinstance(value, dict) else value

    def score(self, values: Sequence[Any]) -> float | int | None:
        """Return the score of the questions that have a value."""
        defined = [value for value in values if value is not None]
        return self.aggregate(defined) if defined else None

    def standard_error(self, values: Sequence[Any]) -> float | None:
        """Return the standard error over questions; None of counts and where it is undefined."""
        defined = [value for value in values if value is not None]
        if len(defined) < 2:
            return None
        if self.error is not None:
            return self.error(defined)
        if self.aggregate is MEAN:
            return mean_error(defined)
        if self.aggregate is RATIO:
            return ratio_error(defined)
        score = self.aggregate(defined)
        return jackknife_error(self.aggregate, defined) if isinstance(score, float) else None

    # Words

    @property
    def bookkeeping(self) -> bool:
        """Whether it is recorded only, and is no score."""
        return not self.in_table

    @property
    def text(self) -> DisplayText:
        """What reports say of it."""
        name = self.name.replace("_", " ").capitalize()
        return self.display or DisplayText(name, name)


def rate(
    name: str, per_doc: Callable[[Any], Any], higher: bool | None, note: str, **options: Any
) -> Metric:
    """Return a metric whose questions give [hits, number]."""
    return Metric(name, per_doc, RATIO, higher, note, **options)


def failure(
    name: str, per_doc: Callable[[Any], Any], note: str, *, aggregate: Any = MEAN, **options: Any
) -> Metric:
    """Return the rate of what did not come or could not be used, which is no score."""
    return Metric(name, per_doc, aggregate, False, note, in_table=False, **options)


def counted(
    name: str, per_doc: Callable[[Any], Any], note: str, *, aggregate: Any = MEAN, **options: Any
) -> Metric:
    """Return what counts or describes answers, which is no score."""
    return Metric(name, per_doc, aggregate, None, note, in_table=False, **options)
