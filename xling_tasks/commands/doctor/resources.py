"""What `xling doctor` looks at around a run: data, folders, memory, accelerators, keys."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from xling_tasks.commands.datasets import counted_datasets
from xling_tasks.commands.doctor.checks import FAIL, OFF, OK, WARN, Line, in_words, within
from xling_tasks.criteria.against_english import INFORMATION
from xling_tasks.data.mmedbench_files import find_file
from xling_tasks.data.own.check import holds_conversations, is_own_file
from xling_tasks.data.own.load import load
from xling_tasks.data.own.rubrics import load_rubrics
from xling_tasks.data.prompt_sets import load_prompts
from xling_tasks.data.prompts import Prompts
from xling_tasks.data.records import MMEDBENCH, RECORDS
from xling_tasks.data.sources import find_source
from xling_tasks.errors import DataError
from xling_tasks.replies.folder import named_folder
from xling_tasks.replies.store import ReplyStore
from xling_tasks.settings import Settings

HUB_SECONDS = 5.0
"""How long the Hub may take to answer about one repository."""

_GIB = 2**30
_LITTLE_DISK = 1.0
_LITTLE_MEMORY = 4.0
_DATA_ENDINGS = (".xlsx", ".zip", ".parquet", ".csv", ".jsonl", ".json")
_KEYS = (
    *("HF_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"),
    *("TEXTSYNTH_API_SECRET_KEY", "WATSONX_API_KEY"),
)


# Data


def prompt_files(settings: Settings) -> Iterator[Line]:
    """The user's own prompts, read."""
    if settings.prompts:
        Prompts(settings.prompts)
        yield Line("prompts", OK, settings.prompts)
    if settings.prompts_file:
        prompt_set = load_prompts(RECORDS[INFORMATION.key], settings.prompts_file)
        count = f"{len(prompt_set.prompts)} prompts in {len(prompt_set.languages)} languages"
        yield Line("prompts_file", OK, f"{settings.prompts_file}: {count}")


def data(settings: Settings) -> Iterator[Line]:
    """Every dataset: read where it is at hand, asked for on the Hub."""
    from huggingface_hub import constants

    ask = functools.cache(hub_problem)
    given = settings.data_dir or settings.dataset
    own = is_own_file(settings.data_dir)
    if own:
        yield _counted("data own", "data_dir", functools.partial(_own_counts, settings))
    lines = []
    for key, _, counts in counted_datasets(settings):
        record, name = RECORDS[key], f"data {key}"
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
            yield _on_hub(name, record, settings.dataset, ask)
    nothing = bool(lines) and all(line.status == OFF for line in lines)
    for line in lines:
        yield Line(line.check, FAIL, line.found) if nothing else line


def _own_counts(settings: Settings) -> dict[str, Any]:
    conversations = holds_conversations(Path(settings.data_dir or "").expanduser())
    read = load_rubrics if conversations else load
    data = read(settings.data_dir, settings.scripts)
    lacking = {code: len(data.unusable(code, ("question",))) for code in data.tongues}
    counts = {"rows": len(data.items), "questions": len(data.items)}
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


def _on_hub(
    name: str, record: Any, dataset: str | None, ask: Callable[[str], tuple[str, str] | None]
) -> Line:
    repository = dataset or record.hub_id
    problem = ask(repository)
    if problem is None:
        return Line(name, OK, f"Hub {repository}: reachable, and its files may be fetched")
    if _in_hub_cache(record, repository):
        return Line(name, OK, f"Hub {repository}: in the Hub's cache ({problem[0]})")
    finding, todo = problem
    todo += (
        f"{'; or ' if todo else ''}--metadata data_dir=FOLDER with the files (README, Real data)"
    )
    return Line(name, FAIL if dataset else WARN, f"Hub {repository}: {finding}", todo)


def _in_hub_cache(record: Any, repository: str) -> bool:
    """Whether a dataset that may be read without asking the Hub was fetched before."""
    from huggingface_hub import try_to_load_from_cache

    if not record.splits:  # the other loader lists the repository first
        return False
    name, _, revision = repository.partition("@")
    file = try_to_load_from_cache(name, record.file, repo_type="dataset", revision=revision or None)
    return isinstance(file, str)


def hub_problem(repository: str) -> tuple[str, str] | None:
    """Why a dataset's files cannot be fetched, and what to do; None if they can.

    Nothing is downloaded: the Hub is asked for the list of files and the head of one.
    """
    from huggingface_hub import errors, get_token

    token = "a token is there" if get_token() else "no token is there"
    terms = f"accept the terms at https://huggingface.co/datasets/{repository}, then hf auth login"
    try:
        within(HUB_SECONDS, functools.partial(_ask_hub, repository))
    except errors.GatedRepoError:
        return f"gated, and {token}, but no access is granted", terms
    except errors.RepositoryNotFoundError:
        return f"no such dataset, or a private one ({token})", "check the name; or hf auth login"
    except Exception as error:
        return f"cannot be reached ({in_words(error):.160}; {token})", "check network and proxy"
    return None


def _ask_hub(repository: str) -> None:
    from huggingface_hub import HfApi, get_hf_file_metadata, hf_hub_url

    name, _, revision = repository.partition("@")
    info = HfApi().dataset_info(name, revision=revision or None, timeout=HUB_SECONDS)
    files = [item.rfilename for item in info.siblings or []]
    for file in files:
        if file.lower().endswith(_DATA_ENDINGS):
            url = hf_hub_url(name, file, repo_type="dataset", revision=info.sha)
            get_hf_file_metadata(url, timeout=HUB_SECONDS)
            return
    raise DataError(f"it has no data files (found: {', '.join(files[:5]) or 'nothing'})")


# Folders


def folders(settings: Settings) -> Iterator[Line]:
    """Our cache, and that of the Hub."""
    from huggingface_hub import constants

    yield _space("Hub cache", Path(constants.HF_HUB_CACHE), "set HF_HOME for models and data")
    folder = named_folder(settings.xling_cache)
    if folder is None:
        finding = "switched off (xling_cache=false): verdicts and translations are paid for again"
        yield Line("cache", OFF, finding)
        return
    elsewhere = "set --metadata xling_cache=FOLDER or XLING_CACHE"
    problem = _not_writable(folder)
    if problem:
        yield Line("cache", FAIL, f"{folder}: {problem}", elsewhere)
    else:
        yield _space("cache", folder, elsewhere)


def _not_writable(folder: Path) -> str:
    """Why replies cannot be kept in a folder; empty if they can (tried with a store)."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"cannot be made ({in_words(error)})"
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix="doctor-") as inside:
            store = ReplyStore(Path(inside) / "try.sqlite")
            store.put_many({"key": "reply"})
            kept = store.get_many(["key"]) if store.keeps else {}
            store.close()
    except Exception as error:
        return f"cannot be written to ({in_words(error)})"
    return "" if kept == {"key": "reply"} else "what is written cannot be read back"


def _space(name: str, folder: Path, todo: str) -> Line:
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    free = shutil.disk_usage(there).free / _GIB
    finding = f"{folder}: {free:,.1f} GiB free"
    if free < _LITTLE_DISK:
        return Line(name, WARN, finding, f"make room, or {todo}")
    return Line(name, OK, finding)


# Memory and accelerators


def memory() -> Iterator[Line]:
    """Memory that a run may take."""
    free = _free_memory()
    if free is None:
        yield Line("memory", OFF, "cannot be told on this system")
    elif free < _LITTLE_MEMORY:
        todo = "enough for API models; local models and topic metrics may not fit"
        yield Line("memory", WARN, f"{free:.1f} GiB free", todo)
    else:
        yield Line("memory", OK, f"{free:.1f} GiB free, {os.cpu_count()} CPU cores")


def _free_memory() -> float | None:
    """GiB available, of the machine or of this container if that has less."""
    sizes = []
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                sizes.append(int(line.split()[1]) * 1024 / _GIB)
    except (OSError, ValueError):
        pass
    try:
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        sizes.append((limit - int((group / "memory.current").read_text())) / _GIB)
    except (OSError, ValueError):  # no container, or no limit ("max")
        pass
    return min(sizes) if sizes else None


def accelerators() -> Iterator[Line]:
    """GPUs, if torch is there to ask."""
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        finding = "no torch; local models would need it"
        yield Line("GPU", OFF, finding, "pip install 'xling-tasks[hf]'")
        return
    import torch

    version = f"torch {torch.__version__}"
    if not torch.cuda.is_available():
        mps = getattr(torch.backends, "mps", None)
        finding = "Apple's (mps)" if mps is not None and mps.is_available() else "none"
        yield Line("GPU", OFF, f"{finding} ({version}); local models run on the CPU")
        return
    for index in range(torch.cuda.device_count()):
        free, total = (n / _GIB for n in torch.cuda.mem_get_info(index))
        finding = f"{torch.cuda.get_device_name(index)}: {free:.1f} of {total:.1f} GiB free"
        status, todo = (OK, "") if free > total / 2 else (WARN, "another process holds the rest")
        yield Line(f"GPU {index}", status, f"{finding} ({version})", todo)


# Keys


def keys() -> Iterator[Line]:
    """Which variables with keys are set, by name; their values are looked at for form only."""
    names = {*_KEYS, *(name for name in os.environ if name.endswith("_API_KEY"))}
    there = sorted(names & os.environ.keys())
    odd = [name for name in there if not _clean(os.environ[name])]
    if odd:
        finding = f"empty, quoted, or with white space: {', '.join(odd)}"
        yield Line("API keys", WARN, finding, "set them to the key alone")
    elif there:
        yield Line("API keys", OK, f"set: {', '.join(there)}")
    else:
        finding = f"none set; services need one ({', '.join(_KEYS[:3])}, ...)"
        yield Line("API keys", OFF, finding)


def _clean(value: str) -> bool:
    return bool(value) and value.isprintable() and not set(value) & set(" \t\"'")
