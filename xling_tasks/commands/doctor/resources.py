"""What `xling check` looks at around a run: data."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from xling_tasks.commands.datasets import counted_datasets
from xling_tasks.commands.doctor.checks import (
    FAIL,
    OFF,
    OK,
    WARN,
    Line,
    in_words,
    no_downloads,
    within,
)
from xling_tasks.data.custom.check import holds_conversations, is_own_file
from xling_tasks.data.custom.dataset import load_custom_dataset
from xling_tasks.data.custom.rubrics import load_rubrics
from xling_tasks.data.dataset_info import DATASETS, MMEDBENCH
from xling_tasks.data.mmedbench import find_file
from xling_tasks.data.sources import find_source
from xling_tasks.errors import DataError, user_path
from xling_tasks.settings import Settings

HUB_SECONDS = 5.0
"""How long the Hub may take to answer about one repository."""

_DATA_ENDINGS = (".xlsx", ".zip", ".parquet", ".csv", ".jsonl", ".json")


# Data


def data(settings: Settings) -> Iterator[Line]:
    """Every dataset: read where it is at hand, asked for on the Hub."""
    from huggingface_hub import constants

    ask = functools.cache(_hub_problem)
    given = settings.data_dir or settings.dataset
    own = is_own_file(settings.data_dir)
    if own:
        yield _counted("data own", "data_dir", functools.partial(_own_counts, settings))
    lines = []
    for key, _, counts in counted_datasets(settings):
        record, name = DATASETS[key], f"data {key}"
        if record.bundled:
            yield _counted(name, "bundled", counts)
        elif own:
            continue  # a file of one's own is none of these
        elif settings.data_dir is not None:
            absent = _absent(record, settings.data_dir)
            lines.append(absent or _counted(name, "data_dir", counts))
        elif constants.HF_HUB_OFFLINE:
            line = _counted(name, "the Hub's cache", counts)
            status = WARN if line.status == FAIL and not given else line.status
            yield Line(name, status, line.found)
        else:
            repository = str(settings.dataset or record.hub_id)
            problem = ask(repository)
            cached = _cached(name, counts) if problem else None
            yield cached or _on_hub(name, repository, problem, FAIL if given else WARN)
    nothing = bool(lines) and all(line.status == OFF for line in lines)
    for line in lines:
        yield Line(line.check, FAIL, line.found) if nothing else line


def _own_counts(settings: Settings) -> dict[str, Any]:
    conversations = holds_conversations(user_path(settings.data_dir or ""))
    read = load_rubrics if conversations else load_custom_dataset
    data = read(settings.data_dir, settings.scripts)
    lacking = {code: len(data.unusable(code, ("question",))) for code in data.languages}
    counts = {"rows": len(data.questions), "questions": len(data.questions)}
    return counts | {f"unusable_{code}": count for code, count in lacking.items()}


def _counted(name: str, place: str, load: Callable[[], dict[str, Any]]) -> Line:
    try:
        counts = load()
    except DataError as error:
        return Line(name, FAIL, in_words(error))
    except Exception as error:  # a file can be broken in more ways than we know
        return Line(name, FAIL, f"{place}: cannot be read ({in_words(error)})", "get the file anew")
    unusable = sum(n for key, n in counts.items() if key.startswith("unusable_"))
    finding = f"{place}: {counts['questions']:,} questions, {counts['rows']:,} rows"
    return Line(
        name, OK, f"{finding}, {unusable} unusable in some language" if unusable else finding
    )


def _absent(record: Any, data_dir: str) -> Line | None:
    """A line if the folder or file has no such dataset; what is there may still be broken."""
    try:
        if record.key in MMEDBENCH:
            find_file(record, "en", "test", data_dir)
        else:
            find_source(record, data_dir, None)
    except DataError as error:
        return Line(f"data {record.key}", OFF, in_words(error))
    return None


def _cached(name: str, counts: Callable[[], dict[str, Any]]) -> Line | None:
    """A line if the Hub's cache has the dataset."""
    with no_downloads():
        line = _counted(name, "the Hub's cache", counts)
    return line if line.status == OK else None


def _on_hub(name: str, repository: str, problem: tuple[str, str] | None, failed: str) -> Line:
    if problem is None:
        return Line(name, OK, f"Hub {repository}: reachable, and its files may be fetched")
    finding, todo = problem
    folder = "or --metadata data_dir=FOLDER with the files (README, Real runs)"
    return Line(name, failed, f"Hub {repository}: {finding}", f"{todo}; {folder}")


def _hub_problem(repository: str) -> tuple[str, str] | None:
    """Why a dataset's files cannot be fetched, and what to do; None if they can be.

    Nothing is downloaded.
    """
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    try:
        within(HUB_SECONDS, functools.partial(_ask_hub, repository))
    except GatedRepoError as error:
        terms = f"accept the terms at https://huggingface.co/datasets/{repository}"
        return f"gated ({in_words(error):.160})", f"{terms}, then hf auth login"
    except RepositoryNotFoundError as error:
        return f"not found, or private ({in_words(error):.160})", "check the name; hf auth login"
    except Exception as error:
        return f"cannot be reached ({in_words(error):.160})", "check network and proxy"
    return None


def _ask_hub(repository: str) -> None:
    """Ask for the list of files and the head of one."""
    from huggingface_hub import HfApi, get_hf_file_metadata, hf_hub_url

    longest = 2 * HUB_SECONDS  # `within` ends it first, and says so in our words
    name, _, revision = repository.partition("@")
    info = HfApi().dataset_info(name, revision=revision or None, timeout=longest)
    files = [item.rfilename for item in info.siblings or []]
    for file in files:
        if file.lower().endswith(_DATA_ENDINGS):
            url = hf_hub_url(name, file, repo_type="dataset", revision=info.sha)
            get_hf_file_metadata(url, timeout=longest)
            return
    raise DataError(f"it has no data files (found: {', '.join(files[:5]) or 'nothing'})")


# Folders


# Accelerators and keys
