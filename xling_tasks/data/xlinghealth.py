"""XLingHealth in one schema: questions with labelled answers in four languages.

Two published shapes are understood. *Wide*: one row per (question, answer), columns `id, label,
answer_ids, question_<Language>, answer_<Language>`. *Sheets*: one sheet per language with
`question, answer` (English) or `question_translated, answer_translated`, and `label`; for the two
small datasets one row per question and `neg_sample`, the list of the rows whose answers are its
wrong ones.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from xling_tasks.data.dataset_info import XLINGHEALTH, DatasetInfo
from xling_tasks.data.sources import Source, find_source, warn_of_invalid_rows
from xling_tasks.data.tables import Table, clean_cell, natural_key, read_tables
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
        n_several = sum(sum(a.label for a in q.answers) > 1 for q in self.questions)
        return {
            "rows": self.n_rows,
            "questions": len(self.questions),
            "rows_expected": self.info.n_rows,
            "questions_expected": self.info.n_questions,
            "invalid_rows": len(bad),
            "invalid_reasons": dict(Counter(reason for _, _, reason in bad)),
            "unusable_questions": sorted({question for question, _, _ in bad}, key=natural_key),
            "questions_with_several_correct_answers": n_several,
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
    _refuse_other_dataset(data)
    _report(data)
    return data


def parse(info: DatasetInfo, tables: list[Table]) -> list[Question]:
    """Return the questions of tables of either shape."""
    codes = {name: code for code, name in info.language_names.items()}
    sheets = {codes[table.sheet]: table for table in tables if table.sheet in codes}
    if not sheets:
        return _group([row for table in tables for row in _wide_rows(table, info)])
    if missing := [name for name, code in codes.items() if code not in sheets]:
        names = ", ".join(str(table.sheet) for table in tables)
        raise DataError(
            f"{tables[0].path}: sheet {missing[0]!r} is missing (found: {names}); one sheet per "
            "language is needed"
        )
    first = sheets["en"]
    for code, table in sheets.items():
        table.require(_sheet_columns(code))
        if list(table.frame.index) != list(first.frame.index):
            raise DataError(
                f"{table.location()}: {len(table.frame)} rows, but sheet {first.sheet!r} has "
                f"{len(first.frame)}; the sheets must hold the same rows in the same order"
            )
    if "neg_sample" in first.frame:
        return _with_negatives(sheets)
    first.require(["label"])
    return _group(_sheet_rows(sheets))


class _Row(NamedTuple):
    """One (question, answer) pair with its location in the file."""

    location: str
    question_id: str
    answer: Answer
    question: dict[str, str | None]


def _wide_rows(table: Table, info: DatasetInfo) -> Iterator[_Row]:
    names = info.language_names
    texts = [f"{kind}_{name}" for name in names.values() for kind in ("question", "answer")]
    table.require(["id", "label", "answer_ids", *texts])
    for row in table.rows:
        answer, question = (
            {code: table.text(row, f"{kind}_{name}") for code, name in names.items()}
            for kind in ("answer", "question")
        )
        answer_id, label = table.id(row, "answer_ids"), _label(table, row)
        key = table.id(row, "id")
        yield _Row(table.location(row), key, Answer(answer_id, label, answer), question)


def _sheet_rows(sheets: dict[str, Table]) -> Iterator[_Row]:
    """Yield a row per (question, answer): a question is a run of rows with the same text."""
    first = sheets["en"]
    run, before = -1, None
    seen: dict[tuple[str | None, ...], int] = {}
    for row in first.rows:
        question = _sheet_texts(sheets, row, 0)
        if question != before:
            run, before = run + 1, question
            earlier = seen.setdefault(tuple(question.values()), row)
            if earlier != row:
                raise DataError(
                    f"{first.location(row)}: the question is in row {earlier} already; rows of a "
                    "question must be neighbours"
                )
        label = _label(first, row)
        for table in sheets.values():
            if "label" in table.frame and _label(table, row) != label:
                raise DataError(
                    f"{table.location(row, 'label')}: differs from the English sheet ({label}); "
                    "the sheets must hold the same rows in the same order"
                )
        answer = Answer(str(row), label, _sheet_texts(sheets, row, 1))
        yield _Row(first.location(row), str(run), answer, question)


def _group(rows: Iterable[_Row]) -> list[Question]:
    """Gather rows by question; a repeated (id, answer) or a changed text is an error."""
    questions: dict[str, list[_Row]] = {}
    for row in rows:
        group = questions.setdefault(row.question_id, [])
        if group and row.question != group[0].question:
            raise DataError(
                f"{row.location}: question {row.question_id!r} has another text than in "
                f"{group[0].location}"
            )
        if any(row.answer.id == other.answer.id for other in group):
            raise DataError(
                f"{row.location}, column 'answer_ids': duplicate id: question {row.question_id!r} "
                f"has answer {row.answer.id!r} twice"
            )
        group.append(row)
    return [
        Question(key, group[0].question, tuple(row.answer for row in group))
        for key, group in questions.items()
    ]


def _sheet_columns(code: str) -> list[str]:
    suffix = "" if code == "en" else "_translated"
    return [f"question{suffix}", f"answer{suffix}"]


def _sheet_texts(sheets: dict[str, Table], row: int, kind: int) -> dict[str, str | None]:
    return {code: table.text(row, _sheet_columns(code)[kind]) for code, table in sheets.items()}


def _with_negatives(sheets: dict[str, Table]) -> list[Question]:
    """Return a question per row; `neg_sample` names the rows whose answers are its wrong ones."""
    first = sheets["en"]
    has_id = "id" in first.frame
    rows: dict[str, int] = {}
    for position, row in enumerate(first.frame.index):
        key = first.id(row, "id") if has_id else str(position)
        if rows.setdefault(key, row) != row:
            raise DataError(f"{first.location(row, 'id')}: duplicate id {key!r}")
    questions = []
    for key, row in rows.items():
        ids = [key, *_negatives(first, row)]
        location = first.location(row, "neg_sample")
        if unknown := [other for other in ids if other not in rows]:
            raise DataError(f"{location}: no row with id {unknown[0]!r}")
        if len(set(ids)) < len(ids):
            raise DataError(f"{location}: names an id twice, or the question's own: {ids}")
        answers = [
            Answer(other, int(other == key), _sheet_texts(sheets, rows[other], 1)) for other in ids
        ]
        questions.append(Question(key, _sheet_texts(sheets, row, 0), tuple(answers)))
    return questions


def _negatives(table: Table, row: int) -> list[str]:
    """Return the ids of a `neg_sample` cell, such as `[3, 17, 5, 44]`; read as data, never run."""
    cell = table.rows[row]["neg_sample"]
    try:
        value = ast.literal_eval(cell) if isinstance(cell, str) else cell
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, (list, tuple)) or not all(
        isinstance(x, (int, float, str)) for x in value
    ):
        raise DataError(
            f"{table.location(row, 'neg_sample')}: expected a list of ids such as [3, 17], "
            f"got {cell!r:.60}"
        )
    return [str(clean_cell(item)) for item in value]


def _label(table: Table, row: int) -> int:
    cell = table.rows[row]["label"]
    values = {"0": 0, "0.0": 0, "False": 0, "1": 1, "1.0": 1, "True": 1}
    if str(cell) not in values:
        raise DataError(f"{table.location(row, 'label')}: must be 0 or 1, got {cell!r:.40}")
    return values[str(cell)]


def _refuse_other_dataset(data: XLingHealthData) -> None:
    """Refuse a file whose counts are those of another dataset."""
    counts = (data.n_rows, len(data.questions))
    for other in XLINGHEALTH.values():
        its = (other.n_rows, other.n_questions)
        if counts == its and its != (data.info.n_rows, data.info.n_questions):
            raise DataError(
                f"{data.provenance['name']}: {counts[0]} rows and {counts[1]} questions are those "
                f"of {other.title}, but the task wants {data.info.title}; run the {other.key} "
                "tasks"
            )


def _report(data: XLingHealthData) -> None:
    """Log once per dataset what was read and what cannot be used."""
    info = data.info
    log.info("%s: %d rows, %d questions", info.title, data.n_rows, len(data.questions))
    if (data.n_rows, len(data.questions)) != (info.n_rows, info.n_questions):
        log.warning(
            "%s: expected %d rows and %d questions; scores are not comparable with published ones",
            *(info.title, info.n_rows, info.n_questions),
        )
    for code in info.languages:
        warn_of_invalid_rows(f"{info.title} [{code}]", data.coverage(code))
