"""Where MMedBench's files are: bundled, a folder, the published zip (never unpacked), the Hub."""

from __future__ import annotations

import functools
import os
import re
import stat
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.errors import DataError, did_you_mean

LANGUAGE_NAMES = {
    "en": "English",
    "zh": "Chinese",
    "ja": "Japanese",
    "fr": "French",
    "ru": "Russian",
    "es": "Spanish",
}
"""The languages of MMedBench by ISO 639-1 code; the names are its files' stems."""

SPLITS = {"test": "Test", "train": "Train"}
"""The splits, and the folder of each."""

MAX_UNPACKED = 2**30
"""Bytes that all members of a zip may unpack to; the published zip is a tenth of it."""

MAX_RATIO = 200
"""Times that a member over 1 MiB may shrink in a zip; JSON lines shrink four to ten times."""

MAX_MEMBERS = 10_000
"""Members that a zip may have; the published one has about fifteen."""


@dataclass(frozen=True)
class MMedBenchRecord:
    """Facts about MMedBench, or about the bundled sample in its shape.

    Attributes:
        key: The short name used in task names.
        title: The dataset's own name.
        sources: The exam that each language's questions are from.
        licence: SPDX id, in the publisher's writing.
        citation: Where it is described.
        homepage: Where its publisher shows it.
        n_questions: Questions by split and language.
        n_checked: Test questions whose rationale passed the human check, all languages.
        several: Languages in which a question can have several right answers. For the reader;
            what a file holds is found in the file (`MMedBenchSplit.several`).
        hub_id: Dataset repository on the Hugging Face Hub; None for bundled data.
        revision: Pinned revision on the Hub.
        archive: Name of the zip in that repository.
        bundled: Whether the data lies in this package.
    """

    key: str
    title: str
    sources: dict[str, str]
    licence: str
    citation: str
    homepage: str
    n_questions: dict[str, dict[str, int]]
    n_checked: int
    several: tuple[str, ...]
    hub_id: str | None = None
    revision: str | None = None
    archive: str = "MMedBench.zip"
    bundled: bool = False

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes, English first."""
        return tuple(LANGUAGE_NAMES)

    @property
    def language_names(self) -> dict[str, str]:
        """English names of the languages by code, as the published files are called."""
        return dict(LANGUAGE_NAMES)

    def total(self, split: str) -> int:
        """Questions of a split in all languages."""
        return sum(self.n_questions.get(split, {}).values())

    def file(self, language: str, split: str) -> str:
        """The published path of a language's split, such as `Test/English.jsonl`.

        Raises:
            DataError: If there is no such language or split.
        """
        asked = {"language": (language, LANGUAGE_NAMES), "split": (split, SPLITS)}
        for kind, (value, known) in asked.items():
            if value not in known:
                hint = did_you_mean(value, known)
                raise DataError(f"{self.title}: there is no {kind} {value!r}.{hint}")
        return f"{SPLITS[split]}/{LANGUAGE_NAMES[language]}.jsonl"


RECORDS: dict[str, MMedBenchRecord] = {
    record.key: record
    for record in (
        MMedBenchRecord(
            key="mmedbench",
            title="MMedBench",
            sources={
                "en": "MedQA",
                "zh": "MedQA",
                "ja": "IgakuQA",
                "fr": "FrenchMedMCQA",
                "ru": "RuMedDaNet",
                "es": "HEAD-QA",
            },
            licence="cc-by-nc-4.0",
            citation="Qiu et al. 2024, arXiv:2402.13963",
            homepage="https://huggingface.co/datasets/Henrychur/MMedBench",
            # Per language as in the paper's figure 3; they add up to its 45,048 and 8,518, and
            # its accuracies are fractions of the six test counts.
            n_questions={
                "train": dict(en=10_178, zh=27_400, ja=1_590, fr=2_171, ru=1_052, es=2_657),
                "test": dict(en=1_273, zh=3_426, ja=199, fr=622, ru=256, es=2_742),
            },
            n_checked=1_136,
            several=("ja", "fr"),
            hub_id="Henrychur/MMedBench",
            # No revision could be confirmed from here; the one that is used is recorded.
            revision=None,
        ),
        MMedBenchRecord(
            key="mmedbench_demo",
            title="MMedBench demo",
            sources=dict.fromkeys(LANGUAGE_NAMES, "written for this project"),
            licence="Apache-2.0",
            citation="written for this project",
            homepage="bundled with xling-tasks",
            n_questions={"test": dict.fromkeys(LANGUAGE_NAMES, 12)},
            n_checked=60,
            several=tuple(LANGUAGE_NAMES),
            bundled=True,
        ),
    )
}
"""MMedBench and the bundled sample by key."""


@dataclass(frozen=True)
class Found:
    """One language's file of one split.

    Attributes:
        path: The file, or the zip that it is in.
        member: Its name in that zip; None if `path` is the file itself.
        kind: `bundled`, `data_dir` or `hub`.
        name: What the user would recognise: the folder's or the zip's name, or `repo`.
        revision: Commit on the Hub; None elsewhere.
        stamp: Modification time and size of `path`, so that a changed file is read again.
    """

    path: Path
    member: str | None
    kind: str
    name: str
    revision: str | None
    stamp: tuple[int, int]

    @property
    def place(self) -> str:
        """Where it is, for an error message."""
        return str(self.path) if self.member is None else f"{self.path}, member {self.member!r}"

    def read(self) -> bytes:
        """The file's content.

        Raises:
            DataError: If it cannot be read, or is in a zip that is damaged or not safe.
        """
        if self.member is not None:
            with _opened(self.path) as archive:
                return archive.read(self.member)
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise DataError(f"{self.place}: cannot be read ({error}); mend that") from error

    def provenance(self, sha256: str) -> dict[str, Any]:
        """What the results record; `sha256` is of the content that was read."""
        files = [self.path.name] if self.member is None else [self.path.name, self.member]
        return {
            "kind": self.kind,
            "name": self.name,
            "revision": self.revision,
            "files": files,
            "sha256": sha256,
        }


def find_file(
    record: MMedBenchRecord,
    language: str,
    split: str,
    data_dir: str | None = None,
    dataset: str | None = None,
) -> Found:
    """One language's file of one split.

    Args:
        record: MMedBench, or the sample. Bundled data is always read from this package.
        language: ISO 639-1 code.
        split: `test` or `train`.
        data_dir: The user's folder (with `Test` and `Train`, or that folder's parent, or one of
            the two) or zip; goes before `dataset`.
        dataset: `REPO` or `REPO@REVISION` on the Hub instead of the record's own.

    Raises:
        DataError: If nothing fits; the message says what to do.
    """
    wanted = record.file(language, split)
    if record.bundled:
        return _from_sample(record, wanted, split)
    if data_dir is not None:
        return _from_place(record, wanted, Path(os.path.expanduser(data_dir)))
    return _from_hub(record, wanted, dataset)


def _found(path: Path, member: str | None, kind: str, name: str, revision: str | None) -> Found:
    status = path.stat()
    return Found(path, member, kind, name, revision, (status.st_mtime_ns, status.st_size))


def _from_sample(record: MMedBenchRecord, wanted: str, split: str) -> Found:
    file = SAMPLE_FOLDER / record.key / wanted
    if split not in record.n_questions:
        raise DataError(
            f"{record.title}: the bundled sample has no {split} split ({wanted}), so it has no "
            "questions for --num_fewshot; leave that out, or run the mmedbench tasks"
        )
    if not file.is_file():
        raise DataError(f"{file}: there is no such file; install xling-tasks again")
    return _found(file, None, "bundled", f"{record.key}/{wanted}", None)


def _from_place(record: MMedBenchRecord, wanted: str, place: Path) -> Found:
    if place.is_file():
        return _in_archive(record, wanted, place, "data_dir", place.name, None)
    if not place.is_dir():
        raise DataError(f"data_dir={place}: there is no such file or folder")
    is_split = place.resolve().name.lower() in SPLITS
    for root in (place, place.resolve().parent) if is_split else (place,):
        # MMedBench/Test/English.jsonl in the folder above MMedBench, and no deeper.
        files = [*root.glob("*/*"), *([] if is_split else root.glob("*/*/*"))]
        names = sorted(file.relative_to(root).as_posix() for file in files if file.is_file())
        picked = _pick(names, wanted, f"data_dir={place}")
        if picked is not None:
            return _found(root / picked, None, "data_dir", f"{root.name}/{picked}", None)
    for file in sorted(place.iterdir()):
        if file.name.lower() == record.archive.lower():
            return _in_archive(record, wanted, file, "data_dir", file.name, None)
    found = ", ".join(sorted(file.name for file in place.iterdir())[:12]) or "nothing"
    raise DataError(
        f"data_dir={place}: no {wanted} in it (found: {found}). Give the folder that holds "
        f"{' and '.join(SPLITS.values())}, or {record.archive}; leave the tasks of languages "
        "that you do not have out."
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
    record: MMedBenchRecord, wanted: str, path: Path, kind: str, name: str, revision: str | None
) -> Found:
    with _opened(path) as archive:
        names = [item.filename for item in archive.infolist() if not item.is_dir()]
    picked = _pick(names, wanted, str(path))
    if picked is None:
        found = ", ".join(sorted(names)[:12]) or "nothing"
        raise DataError(f"{path}: no {wanted} in the zip (found: {found}). Is it {record.archive}?")
    return _found(path, picked, kind, name, revision)


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip whose members are all safe to read; whatever is wrong with it is a DataError."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_members(path, archive.infolist())
            yield archive
    except zipfile.BadZipFile as error:
        with path.open("rb") as handle:
            is_pointer = handle.read(32).startswith(b"version https://git-lfs")
        hint = (
            "it is a Git LFS pointer; run `git lfs pull` in its folder"
            if is_pointer
            else "give MMedBench.zip or the folder that it unpacks to, or download it again"
        )
        raise DataError(f"{path}: not a readable zip ({error}); {hint}") from error
    except DataError:
        raise
    except Exception as error:  # a damaged zip fails in many ways
        raise DataError(
            f"{path}: cannot be read ({type(error).__name__}: {error}); download it again"
        ) from error


def _check_members(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Refuse a zip that could do harm, or that no one would publish.

    Members are read in memory, never unpacked to a path; a name that would leave the folder, or
    a link, says all the same that this is not the published file. The sizes are those declared;
    `zipfile` reads no more than what a member declares.
    """
    if len(members) > MAX_MEMBERS:
        raise DataError(f"{path}: {len(members):,} members; refused (more than {MAX_MEMBERS:,})")
    for item in members:
        problem = _member_problem(item)
        if problem is not None:
            raise DataError(f"{path}, member {item.filename!r}: {problem}; the zip is refused")
    unpacked = sum(item.file_size for item in members)
    if unpacked > MAX_UNPACKED:
        raise DataError(
            f"{path}: unpacks to {unpacked:,} bytes; refused (more than {MAX_UNPACKED:,})"
        )
    if sum(item.compress_size for item in members) > path.stat().st_size:
        raise DataError(f"{path}: its members overlap; the zip is refused")


def _member_problem(item: zipfile.ZipInfo) -> str | None:
    """Why a member makes its zip unsafe, or None if it does not."""
    name = item.filename.replace("\\", "/")
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return "an absolute path"
    if ".." in PurePosixPath(name).parts:
        return "a path that leaves the folder"
    if stat.S_ISLNK(item.external_attr >> 16):
        return "a symbolic link"
    if item.flag_bits & 1:
        return "needs a password"
    # Other methods may unpack to far more than they declare before they can be stopped.
    if item.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"compressed by method {item.compress_type}, not deflate"
    if item.file_size > 2**20 and item.file_size > MAX_RATIO * item.compress_size:
        return f"unpacks to {item.file_size:,} bytes from {item.compress_size:,}"
    return None


def _from_hub(record: MMedBenchRecord, wanted: str, dataset: str | None) -> Found:
    """The zip of the repository, or `Test/English.jsonl` where a copy holds the files loose.

    With a pinned revision that is in the Hub's cache, no request is made.
    """
    from huggingface_hub import errors

    name, _, asked = (dataset or record.hub_id or "").partition("@")
    revision = asked or (record.revision if name == record.hub_id else None)
    for file in (record.archive, wanted):
        try:
            path = _fetch(name, file, revision)
        except errors.LocalEntryNotFoundError as error:  # offline; an EntryNotFoundError too
            raise DataError(_no_access(record, name, error)) from None
        except errors.EntryNotFoundError:
            continue
        except Exception as error:  # the HTTP library beneath has errors of its own
            raise DataError(_no_access(record, name, error)) from None
        commit = _commit(path)
        if file == wanted:
            return _found(path, None, "hub", name, commit)
        return _in_archive(record, wanted, path, "hub", name, commit)
    raise DataError(
        f"dataset={name}: neither {record.archive} nor {wanted} is in the repository"
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


def _no_access(record: MMedBenchRecord, name: str, error: Exception) -> str:
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return (
        f"{record.title} could not be fetched from the Hub dataset {name!r} "
        f"({type(error).__name__}: {reason[:200]}). Download {record.archive} once from "
        f"{record.homepage} (licence {record.licence}) and pass --metadata "
        f"data_dir=FOLDER/{record.archive}, or the folder that it unpacks to. Without any "
        "download, --tasks mmedbench_demo runs on the bundled sample."
    )
