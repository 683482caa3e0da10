"""Where MMedBench's files are: bundled, a folder, the published zip (never unpacked), the Hub."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path

from xling_tasks.data.records import DatasetRecord
from xling_tasks.data.sources import (
    SAMPLE_FOLDER,
    Source,
    no_access,
    opened,
    refuse_missing,
    repository,
)
from xling_tasks.errors import DataError, did_you_mean, no_such, user_path

SPLITS = {"test": "Test", "train": "Train"}
"""The splits, and the folder of each."""


_GIVE = "give the folder that holds Test and Train, or MMedBench.zip"


def find_file(
    record: DatasetRecord,
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


def published_path(record: DatasetRecord, language: str, split: str) -> str:
    """The published path of a language's split, such as `Test/English.jsonl`."""
    asked = {"language": (language, record.language_names), "split": (split, SPLITS)}
    for kind, (value, known) in asked.items():
        if value not in known:
            hint = did_you_mean(value, known)
            raise DataError(f"{record.title}: there is no {kind} {value!r}.{hint}")
    return f"{SPLITS[split]}/{record.language_names[language]}.jsonl"


def _from_sample(record: DatasetRecord, wanted: str, split: str) -> Source:
    file = SAMPLE_FOLDER / record.key / wanted
    if split not in record.splits:
        raise DataError(
            f"{record.title}: the bundled sample has no {split} split ({wanted}), so it has no "
            "questions for --num_fewshot; leave that out, or run the mmedbench tasks"
        )
    if not file.is_file():
        raise DataError(f"{file}: there is no such file; install xling-tasks again")
    return Source((file,), "bundled", f"{record.key}/{wanted}")


def _from_place(record: DatasetRecord, wanted: str, place: Path) -> Source:
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
    record: DatasetRecord, wanted: str, path: Path, kind: str, name: str, revision: str | None
) -> Source:
    with opened(path) as archive:
        names = [item.filename for item in archive.infolist() if not item.is_dir()]
    picked = _pick(names, wanted, str(path))
    if picked is None:
        listed = ", ".join(sorted(names)[:12]) or "nothing"
        raise DataError(f"{path}: no {wanted} in the zip (found: {listed}). Is it {record.file}?")
    return Source((path,), kind, name, revision, picked)


def _from_hub(record: DatasetRecord, wanted: str, dataset: str | None) -> Source:
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
