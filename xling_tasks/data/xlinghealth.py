"""XLingHealth: questions with labelled answers in four languages.

The published files have a row per (question, answer), with the columns `id, label, answer_ids,
question_<Language>, answer_<Language>`. XLingEval's code also reads workbooks with a sheet per
language: `question, answer` (English) or `question_translated, answer_translated`, and `label`; or,
with a row per question, `neg_sample`, the list of the rows whose answers are its wrong ones.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from xling_tasks.data.dataset_info import XLINGHEALTH, DatasetInfo
from xling_tasks.data.sources import Source, find_source, warn_of_invalid_rows
from xling_tasks.data.tables import Table, natural_key, read_tables
from xling_tasks.errors import DataError
from xling_tasks.log import log


@dataclass(frozen=True)
class Answer:
    """One answer: its id, label (1 correct, 0 wrong) and text per language (None = missing)."""

    id: str
    label: int
    text: dict[str, str | None]


@dataclass(frozen=True)
class Question:
    """One question: its id, text per language (None = missing) and answers."""

    id: str
    text: dict[str, str | None]
    answers: tuple[Answer, ...]

    def unusable(self, answer: Answer, language: str) -> str | None:
        """Return why a row cannot be used in a language, or None if it can."""
        if self.text[language] is None:
            return "question text missing"
        if answer.text[language] is None:
            return "answer text missing"
        languages = self._contradictions.get(answer.id)
        return (
            f"wrong answer equals the correct one in {', '.join(languages)}" if languages else None
        )

    @functools.cached_property
    def _contradictions(self) -> dict[str, list[str]]:
        """Wrong answer's id -> the languages in which its text is that of a correct one.

        The label is then wrong in those, and doubtful in all others: such a row is used in none.
        """
        languages_of: dict[str, list[str]] = {}
        for language in self.text:
            correct = {a.text[language] for a in self.answers if a.label == 1} - {None}
            for answer in self.answers:
                if answer.label == 0 and answer.text[language] in correct:
                    languages_of.setdefault(answer.id, []).append(language)
        return languages_of


@dataclass(frozen=True)
class XLingHealthData:
    """A loaded dataset: all questions, in file order, and where they were read from."""

    info: DatasetInfo
    questions: tuple[Question, ...]
    provenance: dict[str, Any]

    @property
    def n_rows(self) -> int:
        """Rows (question and answer) in the file."""
        return sum(len(question.answers) for question in self.questions)

    def unusable(self, language: str) -> list[tuple[str, str, str]]:
        """List the rows that cannot be used in a language: (question id, answer id, reason)."""
        return [
            (question.id, answer.id, reason)
            for question in self.questions
            for answer in question.answers
            if (reason := question.unusable(answer, language)) is not None
        ]

    def coverage(self, language: str) -> dict[str, Any]:
        """Counts for the log and the results."""
        bad = self.unusable(language)
        return {
            "rows": self.n_rows,
            "questions": len(self.questions),
            "rows_expected": self.info.n_rows,
            "questions_expected": self.info.n_questions,
            "invalid_rows": len(bad),
            "invalid_reasons": dict(Counter(reason for _, _, reason in bad)),
            "unusable_questions": sorted({question for question, _, _ in bad}, key=natural_key),
        }

    def docs(self, language: str) -> list[dict[str, Any]]:
        """Return one document per question usable in `language`, with its usable answers.

        `parallel` is true where every row of the question is usable in every language: the
        questions that cross-language statistics may use.
        """
        docs = []
        for question in self.questions:
            usable = [a for a in question.answers if question.unusable(a, language) is None]
            if not usable:
                continue
            reference = next((a.text[language] for a in usable if a.label == 1), None)
            docs.append(
                {
                    "question_id": question.id,
                    "language": language,
                    "question": question.text[language],
                    "reference": reference,
                    "answers": [
                        {"answer_id": a.id, "label": a.label, "text": a.text[language]}
                        for a in usable
                    ],
                    "parallel": not any(
                        question.unusable(answer, code)
                        for answer in question.answers
                        for code in self.info.languages
                    ),
                }
            )
        return docs


def load(info: DatasetInfo, data_dir: str | None) -> XLingHealthData:
    """Find, read and check a data set; read once per process and content."""
    source = find_source(info, data_dir)
    return _load(info.key, source, source.stamps())


@functools.lru_cache(maxsize=16)
def _load(key: str, source: Source, stamps: tuple[tuple[int, int], ...]) -> XLingHealthData:
    info = XLINGHEALTH[key]
    questions = parse(info, [table for file in source.files for table in read_tables(file)])
    data = XLingHealthData(info, tuple(questions), source.provenance())
    counts, expected = (data.n_rows, len(questions)), (info.n_rows, info.n_questions)
    for other in XLINGHEALTH.values():
        if counts == (other.n_rows, other.n_questions) != expected:
            raise DataError(
                f"{data.provenance['name']}: {counts[0]} rows and {counts[1]} questions are those "
                f"of {other.title}, but the task wants {info.title}; run the {other.key} tasks"
            )
    log.info("%s: %d rows, %d questions", info.title, *counts)
    if counts != expected:
        log.warning(
            "%s: expected %d rows and %d questions; scores are not comparable with published ones",
            *(info.title, *expected),
        )
    for code in info.languages:
        warn_of_invalid_rows(f"{info.title} [{code}]", data.coverage(code))
    return data


_Row = tuple[str, str, dict[str, str | None], Answer]
"""Where it stands, the question's id and text, and one answer."""


def parse(info: DatasetInfo, tables: list[Table]) -> list[Question]:
    """Return the questions of tables; a repeated (id, answer) or a changed text is an error."""
    codes = {name: code for code, name in info.language_names.items()}
    sheets = {codes[str(table.sheet)]: table for table in tables if table.sheet in codes}
    questions: dict[str, Question] = {}
    locations: dict[str, str] = {}
    for location, key, text, answer in (_sheets if sheets else _wide)(info, tables):
        question = questions.get(key, Question(key, text, ()))
        if text != question.text:
            raise DataError(
                f"{location}: question {key!r} has another text than in {locations[key]}"
            )
        if answer.id in {other.id for other in question.answers}:
            raise DataError(f"{location}: question {key!r} has answer {answer.id!r} twice")
        questions[key] = replace(question, answers=(*question.answers, answer))
        locations.setdefault(key, location)
    return list(questions.values())


def _wide(info: DatasetInfo, tables: list[Table]) -> Iterator[_Row]:
    names = info.language_names
    texts = [f"{kind}_{name}" for name in names.values() for kind in ("question", "answer")]
    for table in tables:
        table.require(["id", "label", "answer_ids", *texts])
        for row in table.rows:
            answer, question = (
                {code: table.text(row, f"{kind}_{name}") for code, name in names.items()}
                for kind in ("answer", "question")
            )
            labelled = Answer(table.id(row, "answer_ids"), _label(table, row), answer)
            yield table.location(row), table.id(row, "id"), question, labelled


def _sheets(info: DatasetInfo, tables: list[Table]) -> Iterator[_Row]:
    """Yield the rows of a workbook with a sheet per language, which all have the same rows."""
    by_name = {table.sheet: table for table in tables}
    if missing := [name for name in info.language_names.values() if name not in by_name]:
        raise DataError(f"{tables[0].path}: sheet {missing[0]!r} is missing; add it")
    sheets = {code: by_name[name] for code, name in info.language_names.items()}
    english = sheets["en"]
    for code, table in sheets.items():
        table.require([_column("question", code), _column("answer", code)])
        if table.rows.keys() != english.rows.keys():
            raise DataError(
                f"{table.location()}: {len(table.rows)} rows, but sheet {english.sheet!r} has "
                f"{len(english.rows)}; the sheets must hold the same rows in the same order"
            )

    def texts(kind: str, row: int) -> dict[str, str | None]:
        return {code: table.text(row, _column(kind, code)) for code, table in sheets.items()}

    if "neg_sample" in english.columns:
        has_id = "id" in english.columns
        keys = [english.id(row, "id") if has_id else str(i) for i, row in enumerate(english.rows)]
        rows = dict(zip(keys, english.rows, strict=True))
        if len(rows) < len(keys):
            raise DataError(f"{english.location()}, column 'id': an id appears twice")
        for key, row in rows.items():
            for other in [key, *_negatives(english, row, rows)]:
                answer = Answer(other, int(other == key), texts("answer", rows[other]))
                yield english.location(row, "neg_sample"), key, texts("question", row), answer
        return
    english.require(["label"])
    numbers: dict[tuple[str | None, ...], str] = {}
    for row in english.rows:
        label = _label(english, row)
        if any(_label(t, row) != label for t in sheets.values() if "label" in t.columns):
            raise DataError(f"{english.location(row, 'label')}: differs between the sheets")
        question = texts("question", row)
        key = numbers.setdefault(tuple(question.values()), str(len(numbers)))
        yield english.location(row), key, question, Answer(str(row), label, texts("answer", row))


def _column(kind: str, code: str) -> str:
    return kind if code == "en" else f"{kind}_translated"


def _negatives(table: Table, row: int, rows: Mapping[str, int]) -> list[str]:
    """Return the ids that a `neg_sample` such as `[3, 17]` names; read as data, never run."""
    cell = table.rows[row]["neg_sample"]
    try:
        keys = [str(item) for item in (ast.literal_eval(cell) if isinstance(cell, str) else cell)]
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        keys = []
    if not keys or not rows.keys() >= {*keys}:
        raise DataError(
            f"{table.location(row, 'neg_sample')}: expected a list of ids of rows, such as [3, 17]"
            f", got {cell!r:.60}"
        )
    return keys


def _label(table: Table, row: int) -> int:
    cell = table.rows[row]["label"]
    values = {"0": 0, "0.0": 0, "False": 0, "1": 1, "1.0": 1, "True": 1}
    if str(cell) not in values:
        raise DataError(f"{table.location(row, 'label')}: must be 0 or 1, got {cell!r:.40}")
    return values[str(cell)]
