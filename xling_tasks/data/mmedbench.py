"""MMedBench: its files, and the questions of a language and split that can be scored or cannot.

A line is a JSON object with `question`, `options` (letter to text), `answer_idx` (letters, with
commas between them or without; a list in some files), `rationale`, `human_checked` and
`human_check_passed`. The bundled sample, which no human has checked, has `sample_rationale` instead
of the two. `null` options at the end are padding of tools that need equal columns.

What cannot be understood is an error. What is understood but would give a wrong score (an option
without text; a wrong option worded like a right one) is left out, counted and named.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from xling_tasks.data.choices import find_problem
from xling_tasks.data.dataset_info import MMEDBENCH, DatasetInfo
from xling_tasks.data.sources import (
    SAMPLE_FOLDER,
    Source,
    find_place,
    local_path,
    open_zip,
    warn_of_invalid_rows,
)
from xling_tasks.data.tables import clean_text
from xling_tasks.errors import DataError, did_you_mean
from xling_tasks.log import log
from xling_tasks.safe_json import json_objects

SPLITS = {"test": "Test", "train": "Train"}
"""The splits, and the folder of each."""


def find_file(info: DatasetInfo, language: str, split: str, data_dir: str | None = None) -> Source:
    """Return one language's file of one split; of the sample, always that of this package.

    `data_dir` is the folder with `Test` and `Train`, that folder's parent, one of the two, the zip,
    or a repository on the Hub; None for the record's.
    """
    if language not in info.language_names:
        hint = did_you_mean(language, info.language_names)
        raise DataError(f"{info.title}: there is no language {language!r}.{hint}")
    name = f"{SPLITS[split]}/{info.language_names[language]}.jsonl"
    if info.bundled:
        local_path(data_dir)
        if split not in info.splits:
            raise DataError(
                f"{info.title}: the bundled sample has no {split} split ({name}), so it has no "
                "questions for --num_fewshot; leave that out, or run the mmedbench tasks"
            )
        return Source((SAMPLE_FOLDER / info.key / name,), "bundled", f"{info.key}/{name}")
    place = find_place(info, data_dir, [info.file, f"*{name}"])
    path = place.files[0]
    root = path.resolve().parent if path.resolve().name.lower() in SPLITS else path
    # MMedBench/Test/English.jsonl in the folder above MMedBench, and no deeper.
    patterns = ("*", "*/*", "*/*/*")
    names = [file.relative_to(root).as_posix() for each in patterns for file in root.glob(each)]
    if found := _pick(names, name, f"data_dir={path}"):
        return replace(place, files=(root / found,), name=place.name or f"{root.name}/{found}")
    archive = root / (_pick(names, info.file, f"data_dir={path}") or "")
    if archive.is_file():
        with open_zip(archive) as opened:
            names = opened.namelist()
        if found := _pick(names, name, str(archive)):
            return replace(place, files=(archive,), name=place.name or archive.name, member=found)
    raise DataError(
        f"data_dir={place.name or path}: no {name} in it (found: "
        f"{', '.join(sorted(names)[:12]) or 'nothing'}); give the folder that holds Test and "
        f"Train, or {info.file}. Leave the tasks of languages that you do not have out."
    )


def _pick(names: Iterable[str], wanted: str, location: str) -> str | None:
    """Return the name that ends in `wanted`, in any case; None if none does."""
    hits = sorted(name for name in names if f"/{name}".lower().endswith(f"/{wanted}".lower()))
    if len(hits) > 1:
        raise DataError(
            f"{location}: {wanted} is there more than once ({', '.join(hits)}); keep one"
        )
    return hits[0] if hits else None


@dataclass(frozen=True)
class ExamQuestion:
    """One question with lettered options.

    Attributes:
        id: `<language>-<split>-<row>-<digest>`; the digest is of question, options and answer, so
            that an id never stands for two contents.
        rationale_checked: Whether the rationale passed the human check, or is a sample's that
            stands for one.
    """

    id: str
    question: str
    options: dict[str, str]
    answer: frozenset[str]
    rationale: str | None
    rationale_checked: bool


def parse(
    content: bytes, location: str, language: str, split: str
) -> tuple[list[ExamQuestion], dict[str, int]]:
    """Return all questions of a file, and what was seen in it, by name."""
    questions, notes = [], Counter[str]()
    # Numbers stay as written: an option 0.10 is not 0.1.
    options: Any = {"parse_int": str, "parse_float": str, "parse_constant": lambda _: None}
    for number, fields in json_objects(location, content, unit="row", whole=True, **options):
        try:
            question = _read_question(fields, f"{language}-{split}", number, notes)
        except ValueError as error:
            raise DataError(
                f"{location}, row {number}, field {error}; correct or remove the line"
            ) from None
        questions.append(question)
    if not questions:
        raise DataError(f"{location}: the file has no rows; download it again")
    return questions, {name: count for name, count in notes.items() if count}


def _read_question(
    fields: Mapping[str, Any], prefix: str, number: int, notes: Counter[str]
) -> ExamQuestion:
    for name in ("question", "options", "answer_idx"):
        if name not in fields:
            raise ValueError(f"{name!r}: is missing.{did_you_mean(name, fields)}".rstrip("."))
    text = _text("question", fields["question"])
    if not text:
        raise ValueError("'question': the question is empty")
    options = _read_options(fields["options"])
    correct = fields["answer_idx"]
    letters = ",".join(map(str, correct)) if isinstance(correct, list) else correct
    answer = _read_answer(_text("answer_idx", letters), options)
    rationale = _text("rationale", fields.get("rationale")) or None
    for name in ("human_checked", "human_check_passed", "sample_rationale"):
        if not isinstance(fields.get(name), (bool, type(None))):
            raise ValueError(f"{name!r}: must be true or false, got {fields[name]!r:.40}")
    checked, passed = fields.get("human_checked"), fields.get("human_check_passed")
    sample = fields.get("sample_rationale")
    is_passed = bool(sample) or (passed is True and checked is not False)
    notes["rationale of a sample: checked by no human"] += sample is not None
    notes["human-check flags missing"] += sample is None and (checked is None or passed is None)
    content = json.dumps([text, options, sorted(answer)], ensure_ascii=False)
    key = f"{prefix}-{number}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"
    return ExamQuestion(key, text, options, answer, rationale, is_passed and bool(rationale))


def _text(name: str, value: object) -> str:
    """Return a text in NFC without outer white space; an empty one of what is missing."""
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name!r}: expected a text, got {value!r:.60}")
    return clean_text(value) if value else ""


def _read_options(value: Any) -> dict[str, str]:
    """Return the options' texts by letter, in the letters' order; '' where a text is missing."""
    if not isinstance(value, dict):
        raise ValueError(f"'options': expected an object (letter to text), got {value!r:.60}")
    options = {unicodedata.normalize("NFKC", key).strip().upper(): t for key, t in value.items()}
    letters = sorted(options)
    if len(options) < len(value) or not all(re.fullmatch("[A-Z]", letter) for letter in letters):
        raise ValueError(
            f"'options': the letters A to Z, each once, are expected, got {[*value]!a:.60}"
        )
    while letters and options[letters[-1]] is None:
        letters.pop()
    if len(letters) < 2:
        raise ValueError(f"'options': at least two options are needed, got {value!r:.60}")
    return {letter: _text("options", options[letter]) for letter in letters}


def _read_answer(value: str, options: Mapping[str, str]) -> frozenset[str]:
    """Return the letters of `A`, `a,b` or `AB`."""
    letters = re.sub(r"[\s,;/、]+", "", unicodedata.normalize("NFKC", value).upper())
    if not letters or not {*letters} <= options.keys() or len({*letters}) < len(letters):
        raise ValueError(
            f"'answer_idx': letters of the options {', '.join(options)}, each once, are expected, "
            f"got {value!a:.60}"
        )
    return frozenset(letters)


@dataclass(frozen=True)
class MMedBenchSplit:
    """One language's questions of one split: those that can be scored, and what is left out."""

    info: DatasetInfo
    language: str
    split: str
    questions: tuple[ExamQuestion, ...]
    left_out: tuple[tuple[ExamQuestion, str], ...]
    notes: dict[str, int]
    provenance: dict[str, Any]

    @property
    def n_rows(self) -> int:
        """Questions in the file."""
        return len(self.questions) + len(self.left_out)

    @functools.cached_property
    def multi_answer(self) -> bool:
        """Whether any question of the file has more than one correct answer."""
        rows = (*self.questions, *(question for question, _ in self.left_out))
        return any(len(question.answer) > 1 for question in rows)

    def coverage(self) -> dict[str, Any]:
        """Return counts for the log and the results.

        `questions` and what follows it up to `rationales_checked` are of usable rows.
        """
        questions = self.questions
        sizes = Counter(len(question.options) for question in questions)
        return {
            "rows": self.n_rows,
            "rows_expected": self.info.splits[self.split][self.language],
            "questions": len(questions),
            "several_right_answers": sum(len(question.answer) > 1 for question in questions),
            "options_per_question": {str(size): sizes[size] for size in sorted(sizes)},
            "rationales": sum(question.rationale is not None for question in questions),
            "rationales_checked": sum(question.rationale_checked for question in questions),
            "invalid_rows": len(self.left_out),
            "invalid_reasons": dict(Counter(reason for _, reason in self.left_out)),
            "unusable_questions": [question.id for question, _ in self.left_out],
            "notes": dict(self.notes),
        }

    def docs(self, *, checked_only: bool = False) -> list[dict[str, Any]]:
        """Return a doc per usable question, or per one whose rationale passed the human check."""
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
                "question": question.question,
                "options": dict(question.options),
                "answer": sorted(question.answer),
                "several": self.multi_answer,
                "rationale": question.rationale,
                "rationale_checked": question.rationale_checked,
            }
            for question in chosen
        ]


def load(
    info: DatasetInfo, language: str, split: str = "test", data_dir: str | None = None
) -> MMedBenchSplit:
    """Find, read and check one language of one split; read once per process and content."""
    source = find_file(info, language, split, data_dir)
    return _load(info.key, language, split, source, source.stamps())


@functools.lru_cache(maxsize=24)
def _load(
    key: str, language: str, split: str, source: Source, stamps: tuple[tuple[int, int], ...]
) -> MMedBenchSplit:
    info = MMEDBENCH[key]
    rows, notes = parse(source.content(), source.location, language, split)
    problems = [find_problem(question.options, question.answer) for question in rows]
    pairs = [*zip(rows, problems, strict=True)]
    usable = tuple(question for question, reason in pairs if not reason)
    left_out = tuple((question, reason) for question, reason in pairs if reason)
    data = MMedBenchSplit(info, language, split, usable, left_out, notes, source.provenance())
    counts, name = data.coverage(), f"{info.title} [{language}, {split}]"
    log.info(
        "%s: %d questions, %d with several right answers, %d checked rationales",
        *(name, counts["questions"], counts["several_right_answers"], counts["rationales_checked"]),
    )
    if counts["rows"] != counts["rows_expected"]:
        log.warning(
            "%s: %d questions, but %d were published; scores are not comparable with published "
            "ones", name, counts["rows"], counts["rows_expected"],
        )  # fmt: skip
    for note, count in notes.items():
        say = log.warning if split == "test" else log.info
        say("%s: %d rows: %s", name, count, note)
    warn_of_invalid_rows(name, counts)
    if not usable:
        raise DataError(f"{source.location}: none of {len(rows)} rows can be used: {problems[0]}")
    return data
