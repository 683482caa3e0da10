"""Users' own questions as the tasks take them."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling_metrics.language import knows
from xling_metrics.languages import SCRIPTS

from xling_tasks.data.choices import MISSING, flaw, flaws
from xling_tasks.data.custom.columns import Columns, normal, understood
from xling_tasks.data.custom.oddities import listed, notes
from xling_tasks.data.custom.questions import Question, items_of
from xling_tasks.data.custom.tongues import Scripts, Tongue, tongue
from xling_tasks.data.dataset_info import DATASETS, DatasetInfo
from xling_tasks.data.files import Table, read_tables
from xling_tasks.data.sources import Source
from xling_tasks.errors import DataError, no_such, user_path
from xling_tasks.log import log

Stated = tuple[tuple[str, tuple[str, str]], ...]
"""The setting `scripts`, in a form that can be a key."""


@dataclass(frozen=True, eq=False)
class CustomDataset:
    """A user's file: questions in its order, languages by code, English first."""

    info: DatasetInfo
    questions: tuple[Question, ...]
    languages: Mapping[str, Tongue]
    columns: Columns
    provenance: dict[str, Any]

    def unusable(self, language: str, needs: Sequence[str]) -> dict[str, str]:
        """Question -> what it lacks in a language, of those that lack something."""
        reasons = {item.id: missing(item, language, needs) for item in self.questions}
        return {key: reason for key, reason in reasons.items() if reason}


def missing(item: Question, language: str, needs: Sequence[str]) -> str:
    """What a question lacks in a language, in words; empty if nothing.

    `needs` are kinds of text (`question`, `answer`), or `choice` for options with right letters.
    """
    for need in needs:
        if need == "choice":
            options = item.options(language)
            if not item.correct:
                return "correct letters missing"
            if len(options) < 2 or not set(item.correct) <= options.keys():
                return "options missing"
            if len(options) < len(item.letters):
                return "fewer options than in another language"
        elif need not in item.said(language):
            return f"{need} text missing"
    return ""


@functools.lru_cache(maxsize=8)
def invalid_choices(data: CustomDataset) -> dict[str, str]:
    """Question -> why its options are unfair in some language, which it is left out for in all.

    A question that a language does not have at all is not flawed.
    """
    return flaws(
        (item.id, own.name, _unfair(item, code))
        for item in data.questions
        for code, own in data.languages.items()
    )


def _unfair(item: Question, code: str) -> str:
    options = item.options(code)
    if not options or not item.correct or not item.asked(code):
        return ""
    return MISSING if len(options) < len(item.letters) else flaw(options, item.correct)


def load_custom_dataset(data_dir: str | None, scripts: Scripts | None = None) -> CustomDataset:
    """Read and check a user's file; read once per process and content."""
    if not data_dir:
        raise DataError(
            "the xling_custom tasks need a file of yours: --metadata data_dir=FILE (CSV, XLSX, "
            "Parquet or JSONL; `xling data new FILE` writes an example)"
        )
    path = user_path(data_dir)
    need_file(path, "data_dir=")
    source = Source((path,), "own", path.name)
    return _load(source, source.stamps(), tuple(sorted((scripts or {}).items())))


def need_file(path: Path, option: str = "") -> None:
    """Check that a user's file is there; if not, say how to begin one."""
    if not path.is_file():
        name = "FILE" if path.is_dir() else path.name
        raise DataError(
            f"{option}{path}: {no_such(path)}; `xling data new {name}` writes an example"
        )


@functools.lru_cache(maxsize=8)
def _load(source: Source, stamps: tuple[tuple[int, int], ...], scripts: Stated) -> CustomDataset:
    stated, tables = dict(scripts), read_tables(source.files[0])
    table = the_table(tables)
    columns = understood(table, stated)
    items, tongues = items_of(table, columns, stated)
    data = own_data(source, columns, items, tongues)
    if not has_questions(data):
        raise DataError(no_questions(table))
    _report(data, other_sheets(tables, table))
    return data


def has_questions(data: CustomDataset) -> bool:
    """Whether there is any question in any language."""
    return any(item.asked(code) for item in data.questions for code in item.texts)


def no_questions(table: Table) -> str:
    """That no question has a text."""
    return f"{table.place()}: no row has a question: all cells of its question columns are empty"


def other_sheets(tables: Sequence[Table], table: Table) -> list[str]:
    """Names of the sheets with rows that are not read."""
    return [str(each.sheet) for each in tables if each is not table]


def own_data(
    source: Source, columns: Columns, items: Sequence[Question], tongues: Mapping[str, Tongue]
) -> CustomDataset:
    """What files hold, with their name and digest."""
    provenance, name = source.provenance(), Path(source.name)
    record = DatasetInfo(
        key=dataset_name(name),
        title=name.stem,
        licence="the user's own",
        citation=f"{source.name}, sha256 {provenance['sha256'][:12]}",
        language_names={code: own.name for code, own in tongues.items()},
        file=name.stem,
    )
    return CustomDataset(record, tuple(items), tongues, columns, provenance)


def scripts_that_decide(data: CustomDataset, language: str) -> tuple[str, ...]:
    """Unicode names of a language's scripts, where they say what is in it, instead of langid.

    These are languages that langid does not know, and those that are written in another script
    than usual here (romanized Hindi), which langid would not recognize.
    """
    own, usual = data.languages[language], tongue(language, {})
    if knows(language) and usual is not None and SCRIPTS[usual.script] == SCRIPTS.get(own.script):
        return ()
    return SCRIPTS.get(own.script, ())


def dataset_name(path: Path) -> str:
    """The dataset's name in results: the file's stem, in letters, digits and hyphens.

    A name that one of our datasets has gets `own-` in front.
    """
    stem = re.sub(r"[^\w]+|_+", "-", path.stem.lower()).strip("-")
    if not stem:
        stem = hashlib.sha256(path.stem.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    taken = {*DATASETS, *(record.dataset for record in DATASETS.values())}
    return f"own-{stem}" if stem in taken else stem


def the_table(tables: Sequence[Table]) -> Table:
    """The one table with questions; several are an error."""
    fitting = [
        table
        for table in tables
        if any(normal(name).startswith("question") for name in table.columns)
    ]
    if len(fitting) > 1:
        sheets = ", ".join(
            f"{table.sheet!r}{', which is hidden' * table.hidden}" for table in fitting
        )
        raise DataError(
            f"{fitting[0].path}: {len(fitting)} sheets have questions ({sheets}); put them into "
            "one with a column 'language', save each as a file, or delete what is old"
        )
    return fitting[0] if fitting else tables[0]


def _report(data: CustomDataset, others: Sequence[str]) -> None:
    """Log once per file what was read, what is not used, and what is odd."""
    name = data.provenance["name"]
    log.info(
        "%s: %d questions in %s", name, len(data.questions),
        ", ".join(f"{own.name} ({own.script})" for own in data.languages.values()),
    )  # fmt: skip
    if others:
        log.warning("%s: sheets not read: %s", name, ", ".join(others))
    if data.columns.unused:
        log.warning("%s: columns not used: %s", name, ", ".join(data.columns.unused))
    for code in data.languages:
        lacking = list(data.unusable(code, ("question",)))
        if lacking:
            log.warning(
                "%s [%s]: %d of %d questions have no text: %s", name, code, len(lacking),
                len(data.questions), listed(lacking),
            )  # fmt: skip
    for note in notes(data.questions, data.languages):
        log.warning("%s: %s", name, note)
