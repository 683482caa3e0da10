"""A user's own data set: one file of questions, or conversations with rubrics."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from xling_metrics.languages import Language

from xling_tasks.data.choices import MISSING, find_problem
from xling_tasks.data.custom.columns import normalize_column
from xling_tasks.data.custom.conversations import is_conversations, read_conversations
from xling_tasks.data.custom.questions import Question, read_questions
from xling_tasks.data.dataset_info import DATASETS, DatasetInfo
from xling_tasks.data.sources import SAMPLE_FOLDER, Source, find_place, local_path
from xling_tasks.data.tables import READERS, Table, read_tables
from xling_tasks.errors import DataError
from xling_tasks.languages import find
from xling_tasks.log import log
from xling_tasks.output import many

RUBRIC_SAMPLE = SAMPLE_FOLDER / "rubric_demo.jsonl"
"""The bundled conversations."""

CONVERSATIONS = "conversations"
_MAX_PROBLEMS = 40  # lines of one message
_NAMES = ("question", "answer", "wrong_answer", "option_a")


@dataclass(frozen=True, eq=False)
class CustomDataset:
    """The content of a user's file.

    Attributes:
        info: What it is called in results.
        questions: Its questions, in its order.
        languages: Its languages by code or tag, English first.
        provenance: Name and digest of the file.
        shape: `wide`, `long` or `conversations`.
        form: The kind of file, for people.
        unused: Columns that are not read.
        notes: What a spreadsheet does not show, and which sheets and columns are not read.
    """

    info: DatasetInfo
    questions: tuple[Question, ...]
    languages: dict[str, Language]
    provenance: dict[str, Any]
    shape: str
    form: str
    unused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def missing_part(question: Question, language: str, needs: Collection[str]) -> str:
    """Return what a question lacks in a language, in words; empty if nothing.

    NEEDS are kinds of text (`question`, `answer`); `choice` for options with correct letters;
    `rubric` for criteria with points to earn.
    """
    for need in needs:
        if need == "choice":
            options = question.options(language)
            if not question.correct:
                return "correct letters missing"
            if len(options) < 2 or not {*question.correct} <= options.keys():
                return "options missing"
            if len(options) < len(question.letters):
                return "fewer options than in another language"  # guessing is easier there
        elif need == "rubric":
            if not any(item.points > 0 for item in question.rubric):
                return "no positive points" if question.rubric else "criteria missing"
        elif need not in question.texts_in(language):
            return f"{need} text missing"
    return ""


@functools.lru_cache(maxsize=8)
def invalid_choices(dataset: CustomDataset) -> dict[str, str]:
    """Return question -> why its options are unfair in some language: it is scored in none."""
    names: dict[str, dict[str, list[str]]] = {}
    for question, (code, language) in product(dataset.questions, dataset.languages.items()):
        options = question.options(code)
        if options and question.correct and question.has_question(code):
            is_whole = len(options) == len(question.letters)
            if reason := find_problem(options, question.correct) if is_whole else MISSING:
                names.setdefault(question.id, {}).setdefault(reason, []).append(language.name)
    return {
        key: "; ".join(f"{reason} in {', '.join(codes)}" for reason, codes in reasons.items())
        for key, reasons in names.items()
    }


def load_custom_dataset(data_dir: str | None, sample: Path | None = None) -> CustomDataset:
    """Read a user's file, once per process and content; SAMPLE without one.

    `data_dir` is a table, a JSONL file in HealthBench's form, a folder of such files, or a
    repository on the Hub that holds such a file.
    """
    if data_dir:
        source = find_files(data_dir)
    elif sample is not None:
        source = Source((sample,), "bundled", sample.name)
    else:
        raise DataError(
            "the xling_custom tasks need a file of yours: --metadata data_dir=FILE (CSV, XLSX, "
            "Parquet or JSONL; `xling data new FILE` writes an example)"
        )
    return _load(source, source.stamps())


@functools.lru_cache(maxsize=8)
def _load(source: Source, stamps: tuple[tuple[int, int], ...]) -> CustomDataset:
    dataset, problems = read_custom_dataset(source)
    if dataset is None or problems:
        n_more = len(problems) - _MAX_PROBLEMS
        lines = problems[:_MAX_PROBLEMS] + ([f"and {n_more} more"] if n_more > 0 else [])
        raise DataError("\n".join(lines))
    languages = ", ".join(language.name for language in dataset.languages.values())
    log.info("%s: %d questions in %s", source.name, len(dataset.questions), languages)
    for note in dataset.notes:
        log.warning("%s", note)
    return dataset


def find_files(data_dir: str) -> Source:
    """Return a file, the JSONL files of a folder, or the data files of a repository on the Hub."""
    path = local_path(data_dir)
    if path is not None and path.is_file():
        return Source((path,), "own", path.name)
    if path is not None:
        source = Source((*sorted(path.glob("*.jsonl")),), "own", path.resolve().name)
    else:
        place = find_place(_NO_INFO, data_dir, [f"*{ending}" for ending in READERS])
        files = (file for file in sorted(place.files[0].rglob("*")) if file.suffix in READERS)
        source = replace(place, files=tuple(files), name=place.name.rpartition("/")[2])
    if not source.files:
        raise DataError(
            f"data_dir={data_dir}: no questions in it (of a folder .jsonl); name a file"
        )
    return source


_NO_INFO = DatasetInfo(
    "", "The questions", "", "", {}, download="the file", sample="xling_custom_rubric"
)


def read_custom_dataset(source: Source) -> tuple[CustomDataset | None, list[str]]:
    """Read files as far as they can be read.

    Returns:
        The questions without errors (None if there are none), and everything that is wrong.
    """
    files, unused, notes = source.files, list[str](), list[str]()
    if all(map(is_conversations, files)):
        questions, problems = read_conversations(files)
        shape, form = CONVERSATIONS, f"JSONL in HealthBench's form, {many(len(files), 'file')}"
    elif len(files) > 1:
        names = ", ".join(file.name for file in files[:5])
        return None, [f"{files[0].parent}: not all files are conversations ({names}); name one"]
    else:
        tables = read_tables(files[0])
        with_questions = [table for table in tables if _question_columns(table)]
        if len(with_questions) > 1:
            sheets = ", ".join(repr(table.sheet) for table in with_questions)
            return None, [
                f"{files[0]}: {len(with_questions)} sheets have questions ({sheets}); put them "
                "into one with a column 'language', save each as a file, or delete what is old"
            ]
        table = (with_questions or tables)[0]
        try:
            shape, questions, unused, problems = read_questions(table)
        except DataError as error:
            return None, [f"{table.location()}: {line}" for line in str(error).split("\n")]
        form, notes = table.form, [*table.notes]
        if others := ", ".join(str(other.sheet) for other in tables if other is not table):
            notes.append(f"sheets that are not read: {others}")
        if unused:
            names = ", ".join(name + "_CODE" * (shape == "wide") for name in _NAMES)
            columns = f"columns that are not used: {', '.join(unused)}"
            notes.append(f"{source.name}: {columns}; read are {names}, correct, category")
    codes = dict.fromkeys(code for question in questions for code in question.locations)
    if not any(question.has_question(code) for question in questions for code in codes):
        return None, problems or [f"{source.location}: no row has a question with a text"]
    languages = {code: find(code) for code in sorted(codes, key=lambda code: code != "en")}
    provenance = source.provenance()
    stem = Path(source.name).stem
    info = DatasetInfo(
        key=dataset_name(Path(source.name)),
        title=stem.replace("_", " ").strip() or stem,
        licence="the user's own",
        citation=f"{source.name}, sha256 {provenance['sha256'][:12]}",
        language_names={code: language.name for code, language in languages.items()},
        file=stem,
    )
    dataset = CustomDataset(
        info, tuple(questions), languages, provenance, shape, form, tuple(unused), tuple(notes)
    )
    return dataset, problems


def _question_columns(table: Table) -> list[str]:
    names = [normalize_column(str(name)) for name in table.columns]
    return [name for name in names if name.startswith("question")]


def dataset_name(path: Path) -> str:
    """Return the data set's name in results: the file's stem, in letters, digits and hyphens.

    A name that one of our data sets has gets `own-` in front.
    """
    name = unicodedata.normalize("NFC", path.stem)  # macOS may write Ü as U and a mark
    stem = re.sub(r"[^\w]+|_+", "-", name.lower()).strip("-") or "questions"
    taken = {*DATASETS, *(info.dataset for info in DATASETS.values())}
    return f"own-{stem}" if stem in taken else stem


def is_custom_file(data_dir: str | None) -> bool:
    """Return whether `data_dir` is a file for the `xling_custom` tasks, by its columns."""
    try:
        paths = find_files(data_dir).files if data_dir and local_path(data_dir) else ()
        if any(map(is_conversations, paths)):
            return True
        tables = read_tables(paths[0]) if len(paths) == 1 else []
    except DataError:
        return False
    names = {normalize_column(str(name)) for table in tables for name in table.columns}
    is_published = {"label", "answer_ids", "neg_sample"} & names
    return not is_published and any(map(_question_columns, tables))
