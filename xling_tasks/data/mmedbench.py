"""MMedBench: its files, and the questions of a language and split that can be scored or cannot.

A line of the published files is a JSON object with `question`, `options`, `answer_idx`,
`rationale`, `human_checked` and `human_check_passed`; other fields are not used. A sample that no
human has checked has `sample_rationale` in the place of the two: true where the rationale stands
for a checked one.

*Options* are an object (letter to text, in any order) or a list, whose first item is A, its second
B and so on. `null` options at the end are padding (tools that need equal columns write them).
*Correct answers* are letters, separated by commas or the like or written together (`AB`), or a
list. Missing, `null` and `NaN` are the same; numbers are read as they are written.

What cannot be understood is an error. What is understood but would give a wrong score (an option
without text; a wrong option worded like a right one) is left out, counted and named.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from xling_tasks.data.choices import find_problem
from xling_tasks.data.dataset_info import MMEDBENCH, DatasetInfo
from xling_tasks.data.sources import (
    SAMPLE_FOLDER,
    Place,
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

_SEPARATORS = re.compile(r"""[\s,;/|&+、・\[\]()'"]+""")
_LABEL = re.compile(r"\s*\(?([A-Z])\s*[.):：、．）]")
_FLAGS = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}


# Files


def published_path(info: DatasetInfo, language: str, split: str) -> str:
    """Return the published path of a language's split, such as `Test/English.jsonl`."""
    arguments = {"language": (language, info.language_names), "split": (split, SPLITS)}
    for kind, (value, choices) in arguments.items():
        if value not in choices:
            hint = did_you_mean(value, choices)
            raise DataError(f"{info.title}: there is no {kind} {value!r}.{hint}")
    return f"{SPLITS[split]}/{info.language_names[language]}.jsonl"


def find_file(info: DatasetInfo, language: str, split: str, data_dir: str | None = None) -> Source:
    """Return one language's file of one split; of the sample, always that of this package.

    Args:
        info: The data set.
        language: The language.
        split: `test` or `train`.
        data_dir: The folder with `Test` and `Train`, that folder's parent, one of the two, the
            zip, or a repository on the Hub; None for the record's.
    """
    name = published_path(info, language, split)
    if not info.bundled:
        return _find_in(info, name, find_place(info, data_dir, [info.file, f"*{name}"]))
    local_path(data_dir)
    file = SAMPLE_FOLDER / info.key / name
    if split not in info.splits:
        raise DataError(
            f"{info.title}: the bundled sample has no {split} split ({name}), so it has no "
            "questions for --num_fewshot; leave that out, or run the mmedbench tasks"
        )
    return Source((file,), "bundled", f"{info.key}/{name}")


def _find_in(info: DatasetInfo, name_wanted: str, location: Place) -> Source:
    path = location.path
    if path.is_file():
        return _find_in_zip(info, name_wanted, location)
    is_split = path.resolve().name.lower() in SPLITS
    for root in (path, path.resolve().parent) if is_split else (path,):
        # MMedBench/Test/English.jsonl in the folder above MMedBench, and no deeper.
        files = [*root.glob("*/*"), *([] if is_split else root.glob("*/*/*"))]
        names = sorted(file.relative_to(root).as_posix() for file in files if file.is_file())
        if name := _pick(names, name_wanted, f"data_dir={path}"):
            label = location.repository or f"{root.name}/{name}"
            return Source((root / name,), location.kind, label, location.revision)
    for file in sorted(path.iterdir()):
        if file.name.lower() == info.file.lower():
            return _find_in_zip(info, name_wanted, location._replace(path=file))
    listed = ", ".join(sorted(file.name for file in path.iterdir())[:12]) or "nothing"
    raise DataError(
        f"data_dir={location.repository or path}: no {name_wanted} in it (found: {listed}); give "
        f"the folder that holds Test and Train, or {info.file}. Leave the tasks of languages that "
        "you do not have out."
    )


def _find_in_zip(info: DatasetInfo, name_wanted: str, location: Place) -> Source:
    with open_zip(location.path) as archive:
        names = [item.filename for item in archive.infolist() if not item.is_dir()]
    member = _pick(names, name_wanted, str(location.path))
    if member is None:
        members = ", ".join(sorted(names)[:12]) or "nothing"
        raise DataError(
            f"{location.path}: no {name_wanted} in the zip (found: {members}). Is it {info.file}?"
        )
    name = location.repository or location.path.name
    return Source((location.path,), location.kind, name, location.revision, member)


def _pick(names: Iterable[str], wanted: str, location: str) -> str | None:
    """Return the name that ends in `wanted`, at the top if several do; None if none does."""
    hits = []
    for name in names:
        parts = name.split("/")
        hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
        if not hidden and "/".join(parts[-2:]).lower() == wanted.lower():
            hits.append((len(parts), name))
    top = sorted(name for depth, name in hits if depth == min(hits)[0])
    if len(top) > 1:
        raise DataError(
            f"{location}: {wanted} is there more than once ({', '.join(top)}); keep one"
        )
    return top[0] if top else None


# Lines


@dataclass(frozen=True)
class ExamQuestion:
    """One question with lettered options.

    Attributes:
        id: `<language>-<split>-<row>-<digest>`; the digest is of question, options and answer, so
            that an id never stands for two contents.
        question: Its text.
        options: Text by letter, in the letters' order.
        answer: The correct letters, at least one.
        rationale: Why they are correct; None if there is none.
        rationale_checked: Whether that rationale passed the human check, or is a sample's that
            stands for one.
        row: The line in the file, from 1.
    """

    id: str
    question: str
    options: dict[str, str]
    answer: frozenset[str]
    rationale: str | None
    rationale_checked: bool
    row: int


class _FieldError(ValueError):
    """What is wrong with a field of a line."""


def parse(
    content: bytes, location: str, language: str, split: str
) -> tuple[list[ExamQuestion], dict[str, int]]:
    """Return all questions of a file, and what was seen in it, by name."""
    questions, notes = [], Counter[str]()
    seen: set[str] = set()
    # Numbers stay as written: an option 0.10 is not 0.1.
    options: Any = {"parse_int": str, "parse_float": str, "parse_constant": lambda _: None}
    for number, fields in json_objects(location, content, unit="row", whole=True, **options):
        try:
            question = _read_question(fields, f"{language}-{split}", number, notes)
        except _FieldError as error:
            raise DataError(
                f"{location}, row {number}, field {error}; correct or remove the line"
            ) from None
        text = json.dumps([question.question, sorted(question.options.values())])
        notes["question and options stand in an earlier row too"] += text in seen
        seen.add(text)
        questions.append(question)
    if not questions:
        raise DataError(f"{location}: the file has no rows; download it again")
    return questions, {name: count for name, count in notes.items() if count}


def _read_question(
    fields: Mapping[str, Any], prefix: str, number: int, notes: Counter[str]
) -> ExamQuestion:
    text = _text("question", _require(fields, "question"))
    if not text:
        raise _FieldError("'question': the question is empty")
    options = _read_options(_require(fields, "options"))
    answer = _read_answer(_require(fields, "answer_idx"), options)
    rationale = _text("rationale", fields.get("rationale")) or None
    flags = ("human_checked", "human_check_passed", "sample_rationale")
    checked, passed, sample = (_read_flag(name, fields.get(name)) for name in flags)
    if sample is not None and (checked is not None or passed is not None):
        raise _FieldError("'sample_rationale': stands beside the flags of a human check; keep one")
    is_passed = bool(sample) or (passed is True and checked is not False)
    for name, is_so in (
        ("rationale of a sample: checked by no human", sample is not None),
        ("human-check flags missing", sample is None and (checked is None or passed is None)),
        ("passed the human check but not human-checked: not used as checked",
         passed is True and checked is False),
        ("passed the human check but without rationale: not used as checked",
         passed is True and rationale is None),
        ("options repeat a text", len(set(options.values())) < len(options)),
    ):  # fmt: skip
        notes[name] += is_so
    content = json.dumps([text, options, sorted(answer)], ensure_ascii=False)
    digest = hashlib.sha256(content.encode()).hexdigest()[:8]
    is_checked = is_passed and rationale is not None
    key = f"{prefix}-{number}-{digest}"
    return ExamQuestion(key, text, options, answer, rationale, is_checked, number)


def _require(fields: Mapping[str, Any], name: str) -> Any:
    if name not in fields:
        raise _FieldError(f"{name!r}: is missing.{did_you_mean(name, fields)}".rstrip("."))
    return fields[name]


def _text(name: str, value: object) -> str:
    """Return a text in NFC without outer white space; an empty one of what is missing."""
    if value is not None and not isinstance(value, str):
        raise _FieldError(f"{name!r}: expected a text, got {value!r:.60}")
    return clean_text(value) if value else ""


def _read_options(value: Any) -> dict[str, str]:
    """Return the options' texts by letter, in the letters' order; '' where a text is missing."""
    pairs = value
    if isinstance(value, list):
        labels = [_LABEL.match(item) if isinstance(item, str) else None for item in value]
        letters = [label[1] for label in labels if label]
        if len(letters) == len(value) > 1 and len(set(letters)) == len(letters):
            raise _FieldError(
                "'options': the items of the list carry letters of their own "
                f"({', '.join(letters)}); write an object, letter to text"
            )
        if len(value) > len(string.ascii_uppercase):
            raise _FieldError(f"'options': {len(value)} options, but there are 26 letters")
        pairs = dict(zip(string.ascii_uppercase, value, strict=False))
    if not isinstance(pairs, dict):
        raise _FieldError(
            f"'options': expected an object (letter to text) or a list, got {value!r:.60}"
        )
    options: dict[str, Any] = {}
    for key, text in pairs.items():
        letter = _normalize_letters(key).strip()
        if len(letter) != 1 or letter not in string.ascii_uppercase:
            raise _FieldError(f"'options': {_name(letter)} is not one of the letters A to Z")
        if letter in options:
            raise _FieldError(f"'options': the letter {letter} appears twice")
        options[letter] = text
    letters = sorted(options)
    while letters and options[letters[-1]] is None:
        letters.pop()
    if len(letters) < 2:
        raise _FieldError(f"'options': at least two options are needed, got {value!r:.60}")
    return {letter: _text("options", options[letter]) for letter in letters}


def _read_answer(value: Any, options: Mapping[str, str]) -> frozenset[str]:
    """Return the letters of `A`, `a,b`, `AB` (if all are options' letters) or `["A", "B"]`."""
    items = value if isinstance(value, list) else [value]
    texts = [_normalize_letters(_text("answer_idx", item)) for item in items]
    letters = [letter for text in texts for part in _SEPARATORS.split(text) for letter in part]
    if not letters:
        raise _FieldError(f"'answer_idx': no correct answer, got {value!r:.60}")
    for letter in letters:
        if letter not in options:
            raise _FieldError(
                f"'answer_idx': {_name(letter)} is not among the options {', '.join(options)}, "
                f"got {value!r:.60}"
            )
    if len(set(letters)) < len(letters):
        raise _FieldError(f"'answer_idx': names a letter twice, got {value!r:.60}")
    return frozenset(letters)


def _normalize_letters(text: str) -> str:
    """Return upper case without full-width forms, which mean the same letters."""
    return unicodedata.normalize("NFKC", text).upper()


def _name(text: str) -> str:
    """Return a letter in quotes; one that looks like a Latin one with its name."""
    if len(text) == 1 and not text.isascii():
        return f"{text!r} ({unicodedata.name(text, 'unknown character')})"
    return repr(text)


def _read_flag(name: str, value: object) -> bool | None:
    """Return a yes or no; None where it is missing."""
    if value is None or isinstance(value, bool):
        return value
    flag = _FLAGS.get(value.strip().lower()) if isinstance(value, str) else None
    if flag is None:
        raise _FieldError(f"{name!r}: must be true or false, got {value!r:.40}")
    return flag


# The questions


@dataclass(frozen=True)
class MMedBenchSplit:
    """One language's questions of one split (`test` or `train`), with what is wrong with them.

    Attributes:
        info: The data set.
        language: The language.
        split: The split.
        questions: Those that can be scored, in file order.
        left_out: The others, with a reason each.
        notes: What else was seen, by name, and how often.
        provenance: What `Source.provenance` returns.
    """

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

    @property
    def n_expected(self) -> int:
        """Questions in the published file."""
        return self.info.splits[self.split][self.language]

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
            "rows_expected": self.n_expected,
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
                "row": question.row,
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
    rows, notes = parse(source.content(), source.location, language, split)
    checked = [(question, find_problem(question.options, question.answer)) for question in rows]
    usable = tuple(question for question, reason in checked if not reason)
    left_out = tuple((question, reason) for question, reason in checked if reason)
    info = MMEDBENCH[key]
    data = MMedBenchSplit(info, language, split, usable, left_out, notes, source.provenance())
    _log_notes(data)
    if not usable:
        raise DataError(
            f"{source.location}: none of {data.n_rows} rows can be used: {left_out[0][1]}"
        )
    return data


def _log_notes(data: MMedBenchSplit) -> None:
    """Log once per file what was read and what cannot be used."""
    counts = data.coverage()
    name = f"{data.info.title} [{data.language}, {data.split}]"
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
    warn_of_invalid_rows(name, counts)
