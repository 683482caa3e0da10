"""Find a dataset's files: bundled, in a folder of the user's, or on the Hugging Face Hub."""

from __future__ import annotations

import functools
import hashlib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling_tasks.data.dataset_info import XLINGHEALTH, DatasetInfo
from xling_tasks.data.tables import READERS
from xling_tasks.errors import DataError, no_such, user_path
from xling_tasks.log import log

SAMPLE_FOLDER = Path(__file__).with_name("sample")
_PUBLISHED_FOLDER = "XLingHealth_Dataset"


@dataclass(frozen=True)
class Source:
    """Where data was read from.

    Attributes:
        files: The files, in reading order, or the one zip.
        kind: `bundled`, `data_dir` or `hub`.
        name: What the user would recognise: names of files, or the repository.
        revision: Commit on the Hub; None elsewhere.
        member: The file in the zip; None where the files are the data.
    """

    files: tuple[Path, ...]
    kind: str
    name: str
    revision: str | None = None
    member: str | None = None

    @property
    def place(self) -> str:
        """Where it is, for an error message."""
        named = ", ".join(map(str, self.files))
        return named if self.member is None else f"{named}, member {self.member!r}"

    def stamps(self) -> tuple[tuple[int, int], ...]:
        """Modification times and sizes: other ones, and a changed file is read again."""
        statuses = (file.stat() for file in self.files)
        return tuple((status.st_mtime_ns, status.st_size) for status in statuses)

    def content(self) -> bytes:
        """The bytes of all files, one after the other."""
        if self.member is not None:
            with opened(self.files[0]) as archive:
                return archive.read(self.member)
        try:
            return b"".join(file.read_bytes() for file in self.files)
        except OSError as error:
            raise DataError(f"{self.place}: cannot be read ({error}); repair that") from error

    def provenance(self) -> dict[str, Any]:
        """What the results record: kind, name, revision and a digest of the content."""
        files = [file.name for file in self.files]
        return {
            "kind": self.kind,
            "name": self.name,
            "revision": self.revision,
            "files": files if self.member is None else [*files, self.member],
            "sha256": hashlib.sha256(self.content()).hexdigest(),
        }


def find_source(record: DatasetInfo, data_dir: str | None, dataset: str | None) -> Source:
    """The files of `record`; bundled data is always read from this package.

    `data_dir` is the user's folder or file, and goes before `dataset`: `REPO` or `REPO@REVISION` on
    the Hub instead of the record's own.
    """
    if record.bundled:
        refuse_missing(data_dir)
        file = SAMPLE_FOLDER / f"{record.file}.jsonl"
        return Source((file,), "bundled", file.name)
    if data_dir is not None:
        return _from_folder(record, user_path(data_dir))
    return _from_hub(record, dataset)


def refuse_missing(data_dir: str | None) -> None:
    """Bundled data needs no folder, but who names one that does not exist has misspelt it."""
    place = None if data_dir is None else user_path(data_dir)
    if place is not None and not place.exists():
        raise DataError(
            f"data_dir={place}: {no_such(place, 'file or folder')}; leave data_dir out to read the "
            "bundled data"
        )


def _from_folder(record: DatasetInfo, place: Path) -> Source:
    if place.is_file():
        _refuse_other_dataset(record, place)
        return Source((place,), "data_dir", place.name)
    if not place.is_dir():
        raise DataError(
            f"data_dir={place}: {no_such(place, 'file or folder')}; give the one that holds "
            f"{record.file}.xlsx, or leave data_dir out to read the Hub"
        )
    for folder in (place, place / _PUBLISHED_FOLDER):
        if folder.is_dir():
            files = _matching(record, sorted(folder.rglob("*")), folder)
            if files:
                return Source(tuple(files), "data_dir", ", ".join(file.name for file in files))
    listed = ", ".join(sorted(file.name for file in place.iterdir())[:12]) or "nothing"
    raise DataError(
        f"data_dir={place}: no {record.title} in it (looked for {record.file} as "
        f"{', '.join(READERS)}; found: {listed}). Put the file there, or leave the "
        f"{record.key} tasks out."
    )


def _refuse_other_dataset(record: DatasetInfo, file: Path) -> None:
    """A file named after one dataset must not be scored under another's name."""
    for other in XLINGHEALTH.values():
        if other.key != record.key and other.file.lower() in file.stem.lower():
            raise DataError(
                f"data_dir={file}: the file is named after {other.title}, but the task wants "
                f"{record.title}. Run the {other.key} tasks, or give the folder that holds both."
            )


def _matching(record: DatasetInfo, files: Iterable[Path], root: Path) -> list[Path]:
    """The files of `record` in the first format that has any (shards in order)."""
    stem = record.file.lower()
    candidates = [file for file in files if stem in file.relative_to(root).as_posix().lower()]
    for ending in READERS:
        chosen = [file for file in candidates if file.suffix.lower() == ending]
        if chosen:
            return chosen
    return []


def _from_hub(record: DatasetInfo, dataset: str | None) -> Source:
    name, revision = repository(record, dataset)
    if not name:
        raise DataError(
            f"{record.title} is not on the Hub: pass --metadata data_dir=FOLDER, where FOLDER has "
            f"{record.file} ({', '.join(READERS)}), or leave the {record.key} tasks out."
        )
    try:
        files, commit = hub_files(
            name, revision, lambda there: _matching(record, sorted(map(Path, there)), Path())
        )
    except Exception as error:  # the HTTP library beneath has errors of its own when offline
        terms = (
            f"It is gated: log in at https://huggingface.co/datasets/{name}, accept its terms, "
            "then run `hf auth login` or set HF_TOKEN. "
        )
        advice = (
            f"{terms * (record.gated and name == record.hub_id)}Or download the files once and "
            f"pass --metadata data_dir=FOLDER, where FOLDER holds {record.file}.xlsx (the folder "
            f"{_PUBLISHED_FOLDER}/ of the authors' GitHub repository claws-lab/XLingEval, for "
            "example). Without any download, --tasks xlinghealth_demo runs on the bundled sample."
        )
        raise DataError(no_access(record, name, error, advice)) from None
    if not files:
        raise DataError(
            f"dataset={name}: no {record.title} in the repository (looked for "
            f"{record.file} as {', '.join(READERS)})"
        )
    return Source(tuple(files), "hub", name, commit)


# Shared with other kinds of files


def repository(record: DatasetInfo, dataset: str | None) -> tuple[str, str | None]:
    """The repository on the Hub and the revision: those of `REPO@REVISION`, or the record's."""
    name, _, asked = (dataset or record.hub_id or "").partition("@")
    return name, asked or (record.revision if name == record.hub_id else None)


def hub_files(
    name: str, revision: str | None, choose: Callable[[list[str]], Iterable[Path | str]]
) -> tuple[list[Path], str | None]:
    """Some files of a repository, in the Hub's cache, and the commit that they are of.

    `choose` takes the paths of all files and gives those wanted; no revision is the newest.
    """
    import huggingface_hub

    info = huggingface_hub.HfApi().dataset_info(name, revision=revision)
    fetch = functools.partial(
        huggingface_hub.hf_hub_download, name, repo_type="dataset", revision=info.sha
    )
    wanted = choose([item.rfilename for item in info.siblings or []])
    return [Path(fetch(Path(file).as_posix())) for file in wanted], info.sha


def warn_of_unusable(name: str, counts: Mapping[str, Any]) -> None:
    """Log which rows of a dataset cannot be used, if any: by `coverage`."""
    if counts["invalid_rows"]:
        log.warning(
            "%s: %d of %d rows unusable (%s; questions %s)",
            *(name, counts["invalid_rows"], counts["rows"]),
            ", ".join(f"{reason}: {n}" for reason, n in counts["invalid_reasons"].items()),
            ", ".join(counts["unusable_questions"][:20]),
        )


def no_access(record: DatasetInfo, name: str, error: Exception, advice: str) -> str:
    """That a dataset could not be fetched, why, and what to do."""
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return (
        f"{record.title} could not be fetched from the Hub dataset {name!r} "
        f"({type(error).__name__}: {reason[:200]}). {advice}"
    )


# Zip files: one member is read, in memory; none is unpacked to a path

MAX_UNPACKED = 2**30
"""Bytes that a member of a zip may unpack to; the whole published zip is a tenth of it."""


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip whose members can be read; whatever is wrong with it is a DataError."""
    try:
        with zipfile.ZipFile(path) as archive:
            for item in archive.infolist():
                _check(path, item)
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


def _check(path: Path, item: zipfile.ZipInfo) -> None:
    """Refuse a member that would fill the memory; no more is read than what it declares."""
    # Other methods may unpack to far more than they declare before they can be stopped.
    if item.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        problem = f"compressed by method {item.compress_type}, not deflate"
    elif item.file_size > MAX_UNPACKED:
        problem = f"unpacks to {item.file_size:,} bytes (more than {MAX_UNPACKED:,})"
    elif item.flag_bits & 1:
        problem = "needs a password"
    else:
        return
    raise DataError(f"{path}, member {item.filename!r}: {problem}; the zip is refused")
