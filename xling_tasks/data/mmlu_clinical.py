"""MMLU's clinical subjects in 11 African languages: translated by people, by machine, and back.

Three subjects (clinical knowledge, college medicine, virology), 604 questions with one right
letter, the same row in every language. The publisher's folder has all three kinds and English; its
repository on the Hub has the human translations, and English comes from MMLU's own there.
"""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling_tasks.data.choices import flaw, flaws
from xling_tasks.data.files import read_tables
from xling_tasks.data.records import MMLU_CLINICAL, DatasetRecord
from xling_tasks.data.sources import hub_files, no_access, repository
from xling_tasks.errors import DataError, user_path

SUBJECTS = {"clinical_knowledge": 265, "college_medicine": 173, "virology": 166}
"""Subject -> its questions."""

_FOLDERS = {
    "human": ("human", "mmlu_cm_ck_vir"),
    "mt": ("mt", "mmlu_cm_ck_vir_mt"),
    "bt": ("bt", "mmlu_cm_ck_vir_bt"),
}
"""Kind of translation -> what its folder is called."""

_ENGLISH_HUB = "cais/mmlu"
_ADVICE = (
    "Download the publisher's folder evaluation_benchmarks_afr_release once (it has all kinds) and "
    "pass --metadata data_dir=FOLDER."
)


@dataclass(frozen=True)
class Question:
    """One question in one language: its id is the same in all of them."""

    id: str
    subject: str
    question: str
    options: Mapping[str, str]
    answer: str


@dataclass(frozen=True)
class Exam:
    """One kind of translation: language -> its questions, where its files are there."""

    record: DatasetRecord
    questions: Mapping[str, tuple[Question, ...]]
    provenance: dict[str, Any]

    @functools.cached_property
    def flawed(self) -> dict[str, str]:
        """Question -> why its options are unfair in some language (see `choices`)."""
        return flaws(
            (each.id, self.record.language_names[code], flaw(each.options, each.answer))
            for code, questions in self.questions.items()
            for each in questions
        )


def load(record: DatasetRecord, data_dir: str | None, dataset: str | None) -> Exam:
    """Every language of one kind of translation; read once per process and content.

    English must be there, and the right letters of every language be those of English: else rows
    are not the same questions.
    """
    if data_dir is not None:
        files = _in_folder(record, user_path(data_dir))
        named = {"kind": "data_dir", "name": Path(data_dir).name, "revision": None}
    else:
        files, named = _on_the_hub(record, dataset)
    stamps = tuple((path.stat().st_mtime_ns, path.stat().st_size) for path in files.values())
    return _load(record.key, tuple(files.items()), stamps, tuple(named.items()))


@functools.lru_cache(maxsize=6)
def _load(
    key: str, files: Sequence[tuple[tuple[str, str], Path]], stamps: object,
    named: Sequence[tuple[str, Any]],
) -> Exam:  # fmt: skip
    record, digest = MMLU_CLINICAL[key], hashlib.sha256()
    found: dict[str, list[Question]] = {}
    for (code, subject), path in files:
        rows = _rows(path, subject)
        digest.update(json.dumps([code, subject, rows]).encode())
        found.setdefault(code, []).extend(
            Question(
                f"{subject}-{n}", subject, row[0], dict(zip("ABCD", row[1:5], strict=True)), row[5]
            )
            for n, row in enumerate(rows)
        )
    whole = {code: tuple(own) for code, own in found.items() if len(own) == sum(SUBJECTS.values())}
    if "en" not in whole:
        raise DataError(f"{record.title}: no English beside the translations. {_ADVICE}")
    for code, own in whole.items():
        for one, other in zip(whole["en"], own, strict=True):
            if (one.id, one.answer) != (other.id, other.answer):
                raise DataError(
                    f"{record.title}, {code}, {other.id}: the right letter is {other.answer}, and "
                    f"{one.answer} in English, so the rows are not the same questions; copy the "
                    "files again"
                )
    return Exam(record, whole, {**dict(named), "sha256": digest.hexdigest()})


def _rows(path: Path, subject: str) -> list[list[str]]:
    """Question, four options and the letter, of every row."""
    if path.suffix == ".parquet":
        (table,) = read_tables(path)
        rows = [_of_mmlu(row) for row in table.rows]
    else:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: cannot be read ({error}); copy the file again") from error
        rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, newline=""))]
        if rows and rows[0][:1] == ["Question"]:
            rows = rows[1:]
    for number, row in enumerate(rows, start=1):
        if len(row) != 6 or row[5] not in ("A", "B", "C", "D") or not row[0]:
            raise DataError(
                f"{path}, question {number}: a question, four options and a letter from A to D are "
                f"expected, not {row!r:.80}"
            )
    if len(rows) != SUBJECTS[subject]:
        raise DataError(
            f"{path}: {len(rows)} questions, but {SUBJECTS[subject]} were published; copy it again"
        )
    return rows


def _of_mmlu(row: Mapping[str, Any]) -> list[str]:
    choices = row["choices"]
    choices = json.loads(choices) if isinstance(choices, str) else choices
    return [str(row["question"]).strip(), *map(str.strip, choices), "ABCD"[int(row["answer"])]]


def _in_folder(record: DatasetRecord, place: Path) -> dict[tuple[str, str], Path]:
    """(language, subject) -> file, for a kind of translation."""
    if not place.is_dir():
        raise DataError(f"data_dir={place}: there is no such folder. {_ADVICE}")
    kind = record.file
    wanted = dict(_names(record))
    found: dict[tuple[str, str], Path] = {}
    for path in sorted(place.rglob("*.csv")):
        key, folder = wanted.get(path.name), path.parent.name
        if key and folder in _FOLDERS["human" if key[0] == "en" else kind]:
            if key in found:
                raise DataError(f"{found[key]} and {path}: two files of one name; keep one")
            found[key] = path
    if not found:
        raise DataError(
            f"data_dir={place}: no {record.title} in it (looked for virology_test_am.csv and the "
            f"like in a folder called {' or '.join(_FOLDERS[kind])}). {_ADVICE}"
        )
    return found


def _names(record: DatasetRecord) -> Iterator[tuple[str, tuple[str, str]]]:
    for code in record.language_names:
        for subject in SUBJECTS:
            ending = "" if code == "en" else f"_{code}"
            yield f"{subject}_test{ending}.csv", (code, subject)


def _on_the_hub(
    record: DatasetRecord, dataset: str | None
) -> tuple[dict[tuple[str, str], Path], dict[str, Any]]:
    if record.hub_id is None and dataset is None:
        raise DataError(
            f"{record.title}: is not on the Hub, where the human translations alone are. {_ADVICE}"
        )
    name, revision = repository(record, dataset)
    wanted = {file: key for file, key in _names(record) if key[0] != "en"}
    parts = [f"{subject}/test-00000-of-00001.parquet" for subject in SUBJECTS]
    try:
        translated, commit = hub_files(
            name, revision, lambda there: [file for file in there if Path(file).name in wanted]
        )
        english, of_english = hub_files(_ENGLISH_HUB, None, lambda _: parts)
    except Exception as error:  # the HTTP library beneath has errors of its own when offline
        raise DataError(no_access(record, name, error, _ADVICE)) from None
    paths = {path.name: path for path in translated}
    files = {key: paths[file] for file, key in wanted.items() if file in paths}
    files |= {("en", subject): path for subject, path in zip(SUBJECTS, english, strict=True)}
    named = {"kind": "hub", "name": name, "revision": commit}
    return files, {**named, "english": f"{_ENGLISH_HUB}@{of_english}"}
