"""MMedBench: the questions of a language and split that can be scored, and those that cannot."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass
from typing import Any

from xling_tasks.data.choices import flaw
from xling_tasks.data.mmedbench_files import find_file
from xling_tasks.data.mmedbench_rows import Question, parse
from xling_tasks.data.records import MMEDBENCH as RECORDS
from xling_tasks.data.records import DatasetRecord
from xling_tasks.data.sources import Source, warn_of_unusable
from xling_tasks.errors import DataError
from xling_tasks.log import log


@dataclass(frozen=True)
class MMedBenchSplit:
    """One language's questions of one split (`test` or `train`), with what is wrong with them.

    Questions are in file order; those left out have a reason beside them. `notes` is what else was
    seen, by name, and how often; `provenance` what `Source.provenance` says.
    """

    record: DatasetRecord
    language: str
    split: str
    questions: tuple[Question, ...]
    left_out: tuple[tuple[Question, str], ...]
    notes: dict[str, int]
    provenance: dict[str, Any]

    @property
    def n_rows(self) -> int:
        """Questions in the file."""
        return len(self.questions) + len(self.left_out)

    @property
    def n_expected(self) -> int:
        """Questions in the published file."""
        return self.record.splits[self.split][self.language]

    @functools.cached_property
    def several(self) -> bool:
        """Whether any question of the file has more than one right answer."""
        rows = (*self.questions, *(question for question, _ in self.left_out))
        return any(len(question.answer) > 1 for question in rows)

    def coverage(self) -> dict[str, Any]:
        """Counts for the log and the results.

        `questions` and what follows it up to `rationales_checked` are of usable rows.
        """
        asked = self.questions
        sizes = Counter(len(question.options) for question in asked)
        return {
            "rows": self.n_rows,
            "rows_expected": self.n_expected,
            "questions": len(asked),
            "several_right_answers": sum(len(question.answer) > 1 for question in asked),
            "options_per_question": {str(size): sizes[size] for size in sorted(sizes)},
            "rationales": sum(question.rationale is not None for question in asked),
            "rationales_checked": sum(question.rationale_checked for question in asked),
            "unusable_rows": len(self.left_out),
            "unusable_reasons": dict(Counter(reason for _, reason in self.left_out)),
            "unusable_questions": [question.id for question, _ in self.left_out],
            "notes": dict(self.notes),
        }

    def docs(self, *, checked_only: bool = False) -> list[dict[str, Any]]:
        """One document per usable question, or per one whose rationale passed the human check."""
        chosen = [q for q in self.questions if q.rationale_checked or not checked_only]
        if not chosen:
            raise DataError(
                f"{self.provenance['name']} [{self.language}, {self.split}]: none of "
                f"{self.n_rows} rows has a 'rationale' with 'human_check_passed': true, which the "
                "rationale tasks need; run the mmedbench_mcqa tasks, or use the published files"
            )
        return [
            {
                "question_id": question.id,
                "language": self.language,
                "split": self.split,
                "row": question.row,
                "question": question.question,
                "options": dict(question.options),
                "answer": sorted(question.answer),
                "several": self.several,
                "rationale": question.rationale,
                "rationale_checked": question.rationale_checked,
            }
            for question in chosen
        ]


def load(
    record: DatasetRecord,
    language: str,
    split: str = "test",
    data_dir: str | None = None,
    dataset: str | None = None,
) -> MMedBenchSplit:
    """Find, read and check one language of one split; read once per process and content."""
    source = find_file(record, language, split, data_dir, dataset)
    return _load(record.key, language, split, source, source.stamps())


@functools.lru_cache(maxsize=24)
def _load(
    key: str, language: str, split: str, source: Source, stamps: tuple[tuple[int, int], ...]
) -> MMedBenchSplit:
    everything, notes = parse(source.content(), source.place, language, split)
    judged = [(question, flaw(question.options, question.answer)) for question in everything]
    data = MMedBenchSplit(
        record=RECORDS[key],
        language=language,
        split=split,
        questions=tuple(question for question, reason in judged if not reason),
        left_out=tuple((question, reason) for question, reason in judged if reason),
        notes=notes,
        provenance=source.provenance(),
    )
    _report(data)
    if not data.questions:
        raise DataError(f"{source.place}: none of {data.n_rows} rows can be used: {judged[0][1]}")
    return data


def _report(data: MMedBenchSplit) -> None:
    """Log once per file what was read and what cannot be used."""
    counts = data.coverage()
    name = f"{data.record.title} [{data.language}, {data.split}]"
    log.info(
        "%s: %d questions, %d with several right answers, %d checked rationales",
        *(name, counts["questions"], counts["several_right_answers"], counts["rationales_checked"]),
    )
    if data.n_rows != data.n_expected:
        log.warning(
            "%s: %d questions, but %d were published; scores are not comparable with published "
            "ones", name, data.n_rows, data.n_expected,
        )  # fmt: skip
    for note, count in data.notes.items():
        say = log.warning if data.split == "test" else log.info
        say("%s: %d rows: %s", name, count, note)
    warn_of_unusable(name, counts)
