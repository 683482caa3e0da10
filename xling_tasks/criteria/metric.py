"""A metric, declared once: what it is of one question, and how values become a score.

Every criterion has a table `METRICS`. Tasks make their scores with it, and reports, docs and
`CRITERIA` read there what is known of each of them. The metrics that every task has are below.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from xling_metrics.aggregate import MEAN, RATIO
from xling_metrics.stats.standard_errors import jackknife_error, mean_error, ratio_error

from xling_tasks.failed_response import RESPONSES, is_empty, is_failed, is_filtered
from xling_tasks.outcomes import HELPED, SERVED


def constant(value: Any) -> Callable[[Any], Any]:
    """Return a function of the task that gives one value in every run."""
    return lambda task: value


class DisplayText(NamedTuple):
    """What reports say of a metric."""

    name: str  # its name in a sentence
    heading: str  # of its column
    asks: str = ""  # the question that it answers
    # `share` (of answers, which are counted), `percent` (a share of something else), `score` (from
    # 0 to 1) or `number`
    unit: Literal["share", "percent", "score", "number"] = "score"
    evidence: str = "score"  # how its values are told: a row of `evidence` in `report/words.yaml`
    noun: str = "Score"  # what a score is called
    chance: float | None = None  # what guessing gives, of a score

    @property
    def in_percent(self) -> bool:
        """Whether its values are told in percent."""
        return self.unit in ("share", "percent")


@dataclass(frozen=True)
class Metric:
    """One row of a criterion's table."""

    name: str  # its name, without temperature and language
    # from a scored question to plain JSON, which its sample keeps; None for what reports make of
    # other values
    per_doc: Callable[[Any], Any] | None = None
    # From the values of questions to a number, None where it is undefined. It never gets None
    aggregate: Callable[[list[Any]], float | int | None] = MEAN
    higher_is_better: bool | None = None  # None where neither is
    when: Callable[[Any], Any] = field(default=constant(True))  # whether a task has it in this run
    # from values to a standard error, where there is a quicker way than the jackknife
    error: Callable[[list[Any]], float | None] | None = None
    # False for counts, descriptions and failures, which are recorded beside scores
    in_table: bool = True
    # the fields of its signature behind the name, by the task
    sign: Callable[[Any], str] = field(default=constant(""))
    stem: str = ""  # its name in the signature; that of the table, if empty
    repeats: bool = False  # whether it needs several answers to a question
    # of a task with several languages: whether it is made in `all` of them, in those that are
    # `compared` with English (English itself by its second answer), or in the `others`; empty for
    # one value a question
    languages: Literal["", "all", "compared", "others"] = ""
    grouped: bool = False  # whether such a task also has it for groups of languages
    # whether its values in two languages can be compared: not where they depend on the language's
    # words, characters or encoder
    across_languages: bool = True
    chance: bool = False  # whether guessing earns some of it
    known_chance: bool = False  # whether it is known how much, so that it can be taken off
    # whether its unit is known, so that a margin fixed beforehand means something
    sized: bool = True
    counted: bool = False  # whether it is a count or a size; 0 or 1 throughout makes it no share
    unmoved_by: tuple[str, ...] = ()  # the settings of its criterion that do not change it
    display: DisplayText | None = None  # what reports say of it; None for its name in words

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

    @property
    def text(self) -> DisplayText:
        """What reports say of it."""
        name = self.name.replace("_", " ").capitalize()
        return self.display or DisplayText(name, name)


def failure(name: str, per_doc: Callable[[Any], Any], **options: Any) -> Metric:
    """Return the rate of what did not come or could not be used, which is no score."""
    return Metric(name, per_doc, higher_is_better=False, in_table=False, **options)


def counted(name: str, per_doc: Callable[[Any], Any], **options: Any) -> Metric:
    """Return what counts or describes answers, which is no score."""
    return Metric(name, per_doc, in_table=False, **options)


# The metrics that every task has. Three things look alike, an empty text, and are not: `empty_rate`
# (the model said nothing), `content_filter_rate` (a content filter held the answer back) and
# `failed_rate` (the service did not work: unscored, and asked again at the next start).


class Responses(NamedTuple):
    """What came for one question."""

    # the responses, in the order of their requests; log-likelihoods where such were asked
    texts: Sequence[Any]
    record: Mapping[str, Any] = {}  # what its sample keeps of them
    # what other questions' responses are compared with; None for nothing
    repeatable: int | None = None


def _share_of_most_frequent(digests: Sequence[int]) -> float | None:
    return max(Counter(digests).values()) / len(digests) if len(digests) > 1 else None


def _count_answered(records: Sequence[Mapping[str, Any]]) -> int:
    missing = sum("outcome" in row for record in records for row in record["responses"])
    return sum(int(record["asked"]) for record in records) - missing


RESPONSE_METRICS = (
    failure("failed_rate", lambda row: [sum(map(is_failed, row.texts)), len(row.texts)],
            aggregate=RATIO, sign=constant("of:all_answers")),
    failure("content_filter_rate", lambda row: [sum(map(is_filtered, row.texts)), len(row.texts)],
            aggregate=RATIO, sign=constant("of:all_answers")),
    counted(RESPONSES, lambda row: row.record, aggregate=_count_answered,
            sign=constant("of:all_answers")),
    counted("repeated_responses", lambda row: row.repeatable, aggregate=_share_of_most_frequent,
            sign=constant("of:first_answers"), when=lambda task: task.scores_texts),
)  # fmt: skip
"""The metrics of tasks whose responses are texts; they read `Responses`."""

INVALID_ROWS = counted(
    "invalid_rows",
    lambda row: 0,
    aggregate=lambda values: None,
    sign=constant("count|whole_file:yes"),
)
"""How many there are, the task says: it is the same for all questions."""

USABLE = Metric(SERVED, higher_is_better=True)
HELPFUL = Metric(HELPED, higher_is_better=True)

LANGID_MATCH = "langid_match"

ANSWER_METRICS = (
    counted("length_words", lambda row: row.about["length_words"],
            sign=lambda task: task.answer_language().signature_of("length_words"),
            across_languages=False, counted=True),
    failure("empty_rate", lambda row: row.about["empty_rate"], sign=constant("of:all_questions")),
    counted("refusal_rate", lambda row: row.about["refusal_rate"],
            sign=constant("of:all_questions|reader:ours")),
    Metric(LANGID_MATCH, lambda row: row.about[LANGID_MATCH], higher_is_better=True,
           sign=lambda task: task.answer_language().signature_of(LANGID_MATCH)),
)  # fmt: skip
"""What is measured of the one answer to a question, also where nothing judges it."""


def empty_share(texts: Sequence[str]) -> list[int]:
    """Return [empty, all] of some texts."""
    return [sum(map(is_empty, texts)), len(texts)]
