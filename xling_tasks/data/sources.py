"""Find a data set's files: bundled, in a folder of the user's, or on the Hugging Face Hub."""

from __future__ import annotations

import functools
import hashlib
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xling_tasks.data.dataset_info import DatasetInfo
from xling_tasks.data.tables import READERS
from xling_tasks.errors import DataError, no_such, user_path
from xling_tasks.log import log

SAMPLE_FOLDER = Path(__file__).with_name("sample")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")


@dataclass(frozen=True)
class Source:
    """Where data was read from.

    Attributes:
        files: The files, in reading order, or the one zip.
        kind: `bundled`, `data_dir` or `hub`; `own` for a user's own questions.
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
    def location(self) -> str:
        """Where it is, for messages."""
        names = ", ".join(map(str, self.files))
        return names if self.member is None else f"{names}, member {self.member!r}"

    def stamps(self) -> tuple[tuple[int, int], ...]:
        """Return modification times and sizes: with other ones a file is read again."""
        statuses = (file.stat() for file in self.files)
        return tuple((status.st_mtime_ns, status.st_size) for status in statuses)

    def content(self) -> bytes:
        """Return the bytes of all files, one after the other."""
        if self.member is not None:
            with open_zip(self.files[0]) as archive:
                return archive.read(self.member)
        try:
            return b"".join(file.read_bytes() for file in self.files)
        except OSError as error:
            raise DataError(f"{self.location}: cannot be read ({error}); repair that") from error

    def provenance(self) -> dict[str, Any]:
        """Return what the results record: kind, name, revision and a digest of the content."""
        files = [file.name for file in self.files]
        return {
            "kind": self.kind,
            "name": self.name,
            "revision": self.revision,
            "files": files if self.member is None else [*files, self.member],
            "sha256": hashlib.sha256(self.content()).hexdigest(),
        }


def local_path(data_dir: str | None) -> Path | None:
    """Return the local folder or file that `data_dir` names; None if it names a repository."""
    if data_dir is None:
        return None
    path = user_path(data_dir)
    if path.exists():
        return path
    if _REPOSITORY.fullmatch(data_dir) and not path.parent.is_dir():
        return None
    raise DataError(
        f"data_dir={data_dir}: {no_such(path, 'file or folder')}; give a folder, a file, or "
        "REPO or REPO@REVISION on the Hub"
    )


def find_place(info: DatasetInfo, data_dir: str | None, patterns: Sequence[str]) -> Source:
    """Return where a data set is to be looked for: `data_dir`, or the record's repository.

    `data_dir` is a local folder or file, whose name is left empty; or `REPO` or `REPO@REVISION` on
    the Hub, of which the files that fit PATTERNS are fetched into a folder of the Hub's cache.
    """
    path = local_path(data_dir)
    if path is not None:
        return Source((path,), "data_dir", "")
    name, _, revision = (data_dir or info.hub_id or "").partition("@")
    advice = f"{info.download or info.file} and pass --metadata data_dir=, a folder or file"
    if not name:
        raise DataError(f"{info.title} is not on the Hub: get {advice}")
    pinned = info.revision if name == info.hub_id else None
    try:
        folder = fetch_repository(name, revision or pinned, tuple(patterns))
    except Exception as error:  # the HTTP library beneath has errors of its own when offline
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        terms = (
            f"It is gated: log in at https://huggingface.co/datasets/{name}, accept its terms, "
            "then run `hf auth login` or set HF_TOKEN. Or"
            if info.gated and name == info.hub_id
            else "Check the network and the name, or"
        )
        raise DataError(
            f"{info.title} could not be fetched from the Hub dataset {name!r} "
            f"({type(error).__name__}: {reason[:200]}). {terms} download {advice}. Without any "
            f"download, --tasks {info.sample} runs on the bundled sample."
        ) from None
    if not folder.is_dir():
        looked = ", ".join(patterns)
        raise DataError(f"data_dir={name}: no {info.title} in the repository (looked for {looked})")
    return Source((folder,), "hub", name, folder.name)


@functools.lru_cache(maxsize=32)
def fetch_repository(name: str, revision: str | None, patterns: tuple[str, ...]) -> Path:
    """Return the folder of the Hub's cache that has some files of a repository.

    Its name is the commit. Where the Hub cannot be reached, it has what was fetched before.
    """
    import huggingface_hub

    folder = huggingface_hub.snapshot_download(
        name, repo_type="dataset", revision=revision, allow_patterns=list(patterns)
    )
    return Path(folder)


def find_source(info: DatasetInfo, data_dir: str | None) -> Source:
    """Return the files of a data set of XLingHealth's form; bundled ones are of this package."""
    if info.bundled:
        local_path(data_dir)
        file = SAMPLE_FOLDER / f"{info.file}.jsonl"
        return Source((file,), "bundled", file.name)
    place = find_place(info, data_dir, [f"*{info.file}*"])
    path = place.files[0]
    if path.is_file():
        return replace(place, name=path.name)
    matches = [file for file in sorted(path.rglob("*"))
               if info.file.lower() in file.relative_to(path).as_posix().lower()]  # fmt: skip
    # Shards of the first format that has any, in order.
    shards = ([f for f in matches if f.suffix.lower() == ending] for ending in READERS)
    files = next(filter(None, shards), None)
    if files is None:
        listed = ", ".join(sorted(file.name for file in path.iterdir())[:12]) or "nothing"
        raise DataError(
            f"data_dir={data_dir or place.name}: no {info.title} in it (looked for {info.file} as "
            f"{', '.join(READERS)}; found: {listed}). Put the file there, or leave the {info.key} "
            "tasks out."
        )
    names = ", ".join(file.name for file in files)
    return replace(place, files=tuple(files), name=place.name or names)


def warn_of_invalid_rows(name: str, counts: Mapping[str, Any]) -> None:
    """Log which rows of a data set cannot be used, if any: by `coverage`."""
    if counts["invalid_rows"]:
        log.warning(
            "%s: %d of %d rows unusable (%s; questions %s)",
            *(name, counts["invalid_rows"], counts["rows"]),
            ", ".join(f"{reason}: {n}" for reason, n in counts["invalid_reasons"].items()),
            ", ".join(counts["unusable_questions"][:20]),
        )


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip, of which members are read in memory and none is unpacked to a path."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except DataError:
        raise
    except Exception as error:  # a damaged zip fails in many ways
        raise DataError(
            f"{path}: not a readable zip ({error}); give MMedBench.zip or its unpacked folder, "
            "or download it again (of a Git LFS pointer: `git lfs pull`)"
        ) from error
