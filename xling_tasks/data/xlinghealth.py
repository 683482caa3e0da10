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
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from xling_tasks.data.cells import id_in, natural, plain_id, text_in
from xling_tasks.data.dataset_info import XLINGHEALTH, DatasetInfo
from xling_tasks.data.files import Table, read_tables
from xling_tasks.data.sources import Source, find_source, warn_of_unusable
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
        """Why a row cannot be used in a language, or None if it can."""
        if self.text[language] is None:
            return "question text missing"
        if answer.text[language] is None:
            return "answer text missing"
        where = self._contradictions.get(answer.id)
        return f"wrong answer equals the correct one in {', '.join(where)}" if where else None

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

    record: DatasetInfo
    questions: tuple[Question, ...]
    provenance: dict[str, Any]

    @property
    def n_rows(self) -> int:
        """Rows (question and answer) in the file."""
        return sum(len(question.answers) for question in self.questions)

    def unusable(self, language: str) -> list[tuple[str, str, str]]:
        """The rows that cannot be used in a language: (question id, answer id, reason)."""
        return [
            (question.id, answer.id, reason)
            for question in self.questions
            for answer in question.answers
            if (reason := question.unusable(answer, language)) is not None
        ]

    def coverage(self, language: str) -> dict[str, Any]:
        """Counts for the log and the results."""
        bad = self.unusable(language)
        several = sum(sum(a.label for a in q.answers) > 1 for q in self.questions)
        return {
            "rows": self.n_rows,
            "questions": len(self.questions),
            "rows_expected": self.record.n_rows,
            "questions_expected": self.record.n_questions,
            "invalid_rows": len(bad),
            "invalid_reasons": dict(Counter(reason for _, _, reason in bad)),
            "unusable_questions": sorted({question for question, _, _ in bad}, key=natural),
            "questions_with_several_correct_answers": several,
        }

    def docs(self, language: str) -> list[dict[str, Any]]:
        """One document per question usable in `language`, with its usable answers.

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
                        for code in self.record.languages
                    ),
                }
            )
        return docs


def load(record: DatasetInfo, data_dir: str | None, dataset: str | None) -> XLingHealthData:
    """Find, read and check a dataset; read once per process and content."""
    source = find_source(record, data_dir, dataset)
    return _load(record.key, source, source.stamps())


@functools.lru_cache(maxsize=16)
def _load(key: str, source: Source, stamps: tuple[tuple[int, int], ...]) -> XLingHealthData:
    record = XLINGHEALTH[key]
    questions = parse(record, [table for file in source.files for table in read_tables(file)])
    data = XLingHealthData(record, tuple(questions), source.provenance())
    _refuse_other_dataset(data)
    _report(data)
    return data


def parse(record: DatasetInfo, tables: list[Table]) -> list[Question]:
    """Questions from tables of either shape."""
    names = {name: code for code, name in record.language_names.items()}
    by_sheet: dict[str, Table] = {}
    for table in tables:
        if table.sheet in names:
            first = by_sheet.setdefault(table.sheet, table)
            if first is not table:
                raise DataError(
                    f"{table.place()}: the sheet is in {first.path} too; give one workbook"
                )
    if not by_sheet:
        return _grouped([row for table in tables for row in _wide_rows(table, record)])
    missing = [name for name in names if name not in by_sheet]
    if missing:
        raise DataError(
            f"{tables[0].path}: sheet {missing[0]!r} is missing "
            f"(found: {', '.join(str(t.sheet) for t in tables)}); one sheet per language is needed"
        )
    return _from_sheets(record, {code: by_sheet[name] for name, code in names.items()})


@dataclass(frozen=True)
class _Row:
    """One (question, answer) pair with its place in the file, for error messages."""

    place: str
    question_id: str
    answer: Answer
    question: dict[str, str | None]


def _wide_rows(table: Table, record: DatasetInfo) -> Iterable[_Row]:
    names = record.language_names
    texts = [f"{kind}_{name}" for name in names.values() for kind in ("question", "answer")]
    table.require(["id", "label", "answer_ids", *texts])
    for index in range(len(table.rows)):
        answer = Answer(
            id=id_in(table, index, "answer_ids"),
            label=_label(table, index),
            text={code: text_in(table, index, f"answer_{name}") for code, name in names.items()},
        )
        question = {code: text_in(table, index, f"question_{name}") for code, name in names.items()}
        yield _Row(table.place(index), id_in(table, index, "id"), answer, question)


def _grouped(rows: list[_Row]) -> list[Question]:
    """Rows gathered by question id; a repeated (id, answer) or a changed text is an error."""
    questions: dict[str, list[_Row]] = {}
    for row in rows:
        group = questions.setdefault(row.question_id, [])
        if group and group[0].question != row.question:
            raise DataError(
                f"{row.place}, column 'id': duplicate id: {row.question_id!r} already belongs to "
                f"another question ({group[0].place})"
            )
        if any(row.answer.id == other.answer.id for other in group):
            raise DataError(
                f"{row.place}, column 'answer_ids': duplicate id: question {row.question_id!r} "
                f"has answer {row.answer.id!r} twice"
            )
        group.append(row)
    return [
        Question(key, group[0].question, tuple(row.answer for row in group))
        for key, group in questions.items()
    ]


def _from_sheets(record: DatasetInfo, sheets: dict[str, Table]) -> list[Question]:
    for code, table in sheets.items():
        table.require(_sheet_columns(code))
    first = sheets["en"]
    for table in sheets.values():
        if len(table.rows) != len(first.rows):
            raise DataError(
                f"{table.place()}: {len(table.rows)} rows, but sheet {first.sheet!r} has "
                f"{len(first.rows)}; the sheets must hold the same rows in the same order"
            )
    if "neg_sample" in first.columns:
        return _with_negatives(sheets)
    first.require(["label"])
    return _with_labels(sheets)


def _sheet_columns(code: str) -> list[str]:
    suffix = "" if code == "en" else "_translated"
    return [f"question{suffix}", f"answer{suffix}"]


def _sheet_texts(sheets: dict[str, Table], index: int, kind: int) -> dict[str, str | None]:
    return {
        code: text_in(table, index, _sheet_columns(code)[kind]) for code, table in sheets.items()
    }


def _with_labels(sheets: dict[str, Table]) -> list[Question]:
    """One row per (question, answer): a question is a run of rows with the same text."""
    first = sheets["en"]
    rows: list[_Row] = []
    run, seen = -1, dict[tuple[str | None, ...], int]()
    for index in range(len(first.rows)):
        question = _sheet_texts(sheets, index, 0)
        if not rows or rows[-1].question != question:
            run += 1
            earlier = seen.setdefault(tuple(question.values()), index)
            if earlier != index:
                raise DataError(
                    f"{first.place(index)}: the question stands at row "
                    f"{first.numbers[earlier]} already; rows of a question must be neighbours"
                )
        label = _label(first, index)
        for code, table in sheets.items():
            if "label" in table.columns and _label(table, index) != label:
                raise DataError(
                    f"{table.place(index, 'label')}: differs from the English sheet ({label}); "
                    f"language {code!r} is not in the same order"
                )
        answer = Answer(str(index), label, _sheet_texts(sheets, index, 1))
        rows.append(_Row(first.place(index), str(run), answer, question))
    return _grouped(rows)


def _with_negatives(sheets: dict[str, Table]) -> list[Question]:
    """One row per question; `neg_sample` names the rows whose answers are its wrong ones."""
    first = sheets["en"]
    has_id = "id" in first.columns
    ids = [id_in(first, i, "id") if has_id else str(i) for i in range(len(first.rows))]
    position: dict[str, int] = {}
    for index, key in enumerate(ids):
        if position.setdefault(key, index) != index:
            raise DataError(f"{first.place(index, 'id')}: duplicate id {key!r}")
    questions = []
    for index, key in enumerate(ids):
        answers = [Answer(key, 1, _sheet_texts(sheets, index, 1))]
        for other in _negatives(first, index):
            if other not in position:
                raise DataError(f"{first.place(index, 'neg_sample')}: no row with id {other!r}")
            answers.append(Answer(other, 0, _sheet_texts(sheets, position[other], 1)))
        named = [answer.id for answer in answers]
        if len(set(named)) != len(named):
            raise DataError(
                f"{first.place(index, 'neg_sample')}: names an id twice, or the question's own: "
                f"{named}"
            )
        questions.append(Question(key, _sheet_texts(sheets, index, 0), tuple(answers)))
    return questions


def _negatives(table: Table, index: int) -> list[str]:
    """The ids of a `neg_sample` cell, such as `[3, 17, 5, 44]`; read as data, never run."""
    cell = table.rows[index].get("neg_sample")
    try:
        value = ast.literal_eval(cell) if isinstance(cell, str) else cell
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, (list, tuple)) or not all(
        isinstance(item, (int, float, str)) and not isinstance(item, bool) for item in value
    ):
        raise DataError(
            f"{table.place(index, 'neg_sample')}: expected a list of ids such as [3, 17], "
            f"got {cell!r:.60}"
        )
    return [plain_id(item) for item in value]


def _label(table: Table, index: int) -> int:
    cell = table.rows[index].get("label")
    known = {"0": 0, "0.0": 0, "1": 1, "1.0": 1}
    label = known.get(str(cell).strip()) if not isinstance(cell, bool) else int(cell)
    if label is None:
        raise DataError(f"{table.place(index, 'label')}: must be 0 or 1, got {cell!r:.40}")
    return label


def _refuse_other_dataset(data: XLingHealthData) -> None:
    """A file of any name must not be scored as a dataset whose counts it does not have."""
    counts = (data.n_rows, len(data.questions))
    for other in XLINGHEALTH.values():
        its = (other.n_rows, other.n_questions)
        if counts == its and its != (data.record.n_rows, data.record.n_questions):
            raise DataError(
                f"{data.provenance['name']}: {counts[0]} rows and {counts[1]} questions are those "
                f"of {other.title}, but the task wants {data.record.title}; run the {other.key} "
                "tasks"
            )


def _report(data: XLingHealthData) -> None:
    """Log once per dataset what was read and what cannot be used."""
    record = data.record
    log.info("%s: %d rows, %d questions", record.title, data.n_rows, len(data.questions))
    if (data.n_rows, len(data.questions)) != (record.n_rows, record.n_questions):
        log.warning(
            "%s: expected %d rows and %d questions; scores are not comparable with published ones",
            *(record.title, record.n_rows, record.n_questions),
        )
    for code in record.languages:
        warn_of_unusable(f"{record.title} [{code}]", data.coverage(code))
