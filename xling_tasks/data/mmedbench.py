"""MMedBench: its files, and the questions of a language and split that can be scored or cannot.

The files are bundled, in a folder, in the published zip (which is never unpacked), or on the Hub.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling_tasks.data.choices import find_problem
from xling_tasks.data.dataset_info import MMEDBENCH as DATASETS
from xling_tasks.data.dataset_info import DatasetInfo
from xling_tasks.data.mmedbench_rows import Question, parse
from xling_tasks.data.sources import (
    SAMPLE_FOLDER,
    Source,
    no_access,
    opened,
    refuse_missing,
    repository,
    warn_of_unusable,
)
from xling_tasks.errors import DataError, did_you_mean, no_such, user_path
from xling_tasks.log import log

SPLITS = {"test": "Test", "train": "Train"}
"""The splits, and the folder of each."""

_GIVE = "give the folder that holds Test and Train, or MMedBench.zip"


def find_file(
    record: DatasetInfo,
    language: str,
    split: str,
    data_dir: str | None = None,
    dataset: str | None = None,
) -> Source:
    """One language's file of one split; of the sample, always that of this package.

    `data_dir` is the user's folder (with `Test` and `Train`, or that folder's parent, or one of the
    two) or zip, and goes before `dataset`: `REPO` or `REPO@REVISION` on the Hub.
    """
    wanted = published_path(record, language, split)
    if record.bundled:
        refuse_missing(data_dir)
        return _from_sample(record, wanted, split)
    if data_dir is not None:
        return _from_place(record, wanted, user_path(data_dir))
    return _from_hub(record, wanted, dataset)


def published_path(record: DatasetInfo, language: str, split: str) -> str:
    """The published path of a language's split, such as `Test/English.jsonl`."""
    asked = {"language": (language, record.language_names), "split": (split, SPLITS)}
    for kind, (value, known) in asked.items():
        if value not in known:
            hint = did_you_mean(value, known)
            raise DataError(f"{record.title}: there is no {kind} {value!r}.{hint}")
    return f"{SPLITS[split]}/{record.language_names[language]}.jsonl"


def _from_sample(record: DatasetInfo, wanted: str, split: str) -> Source:
    file = SAMPLE_FOLDER / record.key / wanted
    if split not in record.splits:
        raise DataError(
            f"{record.title}: the bundled sample has no {split} split ({wanted}), so it has no "
            "questions for --num_fewshot; leave that out, or run the mmedbench tasks"
        )
    if not file.is_file():
        raise DataError(f"{file}: there is no such file; install xling-tasks again")
    return Source((file,), "bundled", f"{record.key}/{wanted}")


def _from_place(record: DatasetInfo, wanted: str, place: Path) -> Source:
    if place.is_file():
        return _in_archive(record, wanted, place, "data_dir", place.name, None)
    if not place.is_dir():
        raise DataError(f"data_dir={place}: {no_such(place, 'file or folder')}; {_GIVE}")
    is_split = place.resolve().name.lower() in SPLITS
    for root in (place, place.resolve().parent) if is_split else (place,):
        # MMedBench/Test/English.jsonl in the folder above MMedBench, and no deeper.
        files = [*root.glob("*/*"), *([] if is_split else root.glob("*/*/*"))]
        names = sorted(file.relative_to(root).as_posix() for file in files if file.is_file())
        picked = _pick(names, wanted, f"data_dir={place}")
        if picked is not None:
            return Source((root / picked,), "data_dir", f"{root.name}/{picked}")
    for file in sorted(place.iterdir()):
        if file.name.lower() == record.file.lower():
            return _in_archive(record, wanted, file, "data_dir", file.name, None)
    listed = ", ".join(sorted(file.name for file in place.iterdir())[:12]) or "nothing"
    raise DataError(
        f"data_dir={place}: no {wanted} in it (found: {listed}); {_GIVE}. Leave the tasks of "
        "languages that you do not have out."
    )


def _pick(names: Iterable[str], wanted: str, where: str) -> str | None:
    """The name that ends in `wanted`, at the top if several do; None if none does."""
    hits = []
    for name in names:
        parts = name.split("/")
        hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
        if not hidden and "/".join(parts[-2:]).lower() == wanted.lower():
            hits.append((len(parts), name))
    top = sorted(name for depth, name in hits if depth == min(hits)[0])
    if len(top) > 1:
        raise DataError(f"{where}: {wanted} is there more than once ({', '.join(top)}); keep one")
    return top[0] if top else None


def _in_archive(
    record: DatasetInfo, wanted: str, path: Path, kind: str, name: str, revision: str | None
) -> Source:
    with opened(path) as archive:
        names = [item.filename for item in archive.infolist() if not item.is_dir()]
    picked = _pick(names, wanted, str(path))
    if picked is None:
        listed = ", ".join(sorted(names)[:12]) or "nothing"
        raise DataError(f"{path}: no {wanted} in the zip (found: {listed}). Is it {record.file}?")
    return Source((path,), kind, name, revision, picked)


def _from_hub(record: DatasetInfo, wanted: str, dataset: str | None) -> Source:
    """The zip of the repository, or `Test/English.jsonl` where a copy holds the files loose.

    With a pinned revision that is in the Hub's cache, no request is made.
    """
    from huggingface_hub import errors

    name, revision = repository(record, dataset)
    for file in (record.file, wanted):
        try:
            path = _fetch(name, file, revision)
        except Exception as error:  # the HTTP library beneath has errors of its own
            offline = isinstance(error, errors.LocalEntryNotFoundError)
            if isinstance(error, errors.EntryNotFoundError) and not offline:
                continue
            advice = (
                f"Download {record.file} once from {record.homepage} (licence {record.licence}) "
                f"and pass --metadata data_dir=FOLDER/{record.file}, or the folder that it "
                "unpacks to. Without any download, --tasks mmedbench_demo runs on the bundled "
                "sample."
            )
            raise DataError(no_access(record, name, error, advice)) from None
        commit = _commit(path)
        if file == wanted:
            return Source((path,), "hub", name, commit)
        return _in_archive(record, wanted, path, "hub", name, commit)
    raise DataError(
        f"dataset={name}: neither {record.file} nor {wanted} is in the repository"
        f"{f' at revision {revision}' if revision else ''}; leave dataset= out for "
        f"{record.hub_id}, or pass data_dir="
    )


@functools.lru_cache(maxsize=32)
def _fetch(name: str, file: str, revision: str | None) -> Path:
    """A file of a repository in the Hub's cache, asked for once per process."""
    import huggingface_hub

    return Path(huggingface_hub.hf_hub_download(name, file, repo_type="dataset", revision=revision))


def _commit(path: Path) -> str | None:
    """The commit of a file in the Hub's cache, which lies at `snapshots/COMMIT/FILE`."""
    above = [part.name for part in path.parents]
    return above[above.index("snapshots") - 1] if "snapshots" in above[1:] else None


# The questions


@dataclass(frozen=True)
class MMedBenchSplit:
    """One language's questions of one split (`test` or `train`), with what is wrong with them.

    Questions are in file order; those left out have a reason beside them. `notes` is what else was
    seen, by name, and how often; `provenance` what `Source.provenance` says.
    """

    record: DatasetInfo
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
            "invalid_rows": len(self.left_out),
            "invalid_reasons": dict(Counter(reason for _, reason in self.left_out)),
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
    record: DatasetInfo,
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
    judged = [
        (question, find_problem(question.options, question.answer)) for question in everything
    ]
    data = MMedBenchSplit(
        record=DATASETS[key],
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
