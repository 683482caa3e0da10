"""`xling cost`: requests and tokens of tasks, by data and settings, before anyone pays for them."""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np

from xling_tasks.commands.options import (
    add_json,
    add_limit,
    add_metadata,
    add_tasks,
    integer,
    read_metadata,
)
from xling_tasks.data.prompt_sets import load_prompts
from xling_tasks.discovery import task_folder
from xling_tasks.errors import SettingError, nearest
from xling_tasks.models.backend import find_model_class
from xling_tasks.models.model_config import SELF
from xling_tasks.models.translate.translator import FILE, SEQ2SEQ
from xling_tasks.output import table
from xling_tasks.report.costs import parse_price
from xling_tasks.report.documents import filled
from xling_tasks.settings import Settings
from xling_tasks.tasks.task import HealthTask, Request


def cost(options: argparse.Namespace) -> str:
    """`xling cost`: a table of requests and tokens per task, with totals per model."""
    count = tokenizer_count(options.tokenizer) if options.tokenizer else None
    prices = dict(map(parse_price, options.price))
    metadata = read_metadata(options.metadata)
    tasks = load_tasks(options.tasks, metadata)
    _refuse_unknown_models(Settings.parse(metadata, None))
    sample = None if options.exact else SAMPLE
    entries = costs(
        tasks, limit=options.limit, count=count, sample=sample, shared_from=options.shared_from
    )
    whole = totals(entries)
    roles = {entry.role for entry in whole}
    if unknown := prices.keys() - roles:
        raise SettingError(
            f"--price {unknown.pop()}: no such role here; there are {', '.join(sorted(roles))}"
        )
    rows = as_rows([*entries, *whole], prices)
    if options.json:
        return json.dumps(rows, indent=2)
    most = max((len(task.eval_docs) for task in tasks), default=0)
    return filled(
        "cost.j2",
        table=table(rows),
        tokenizer=options.tokenizer,
        sample=sample if sample and min(most, options.limit or most) > sample else None,
        shared_from=options.shared_from,
        prices={"shared": SHARED_PRICE, "batch": BATCH_PRICE} if prices else None,
        roles=sorted({entry.role for entry in entries} - {"model"}),
        claims=any("claims" in task.prompt_templates() for task in tasks),
        sets=list(_sets_of_prompts(tasks)),
    ).rstrip()


def _refuse_unknown_models(settings: Settings) -> None:
    """Nothing is asked here, but what no run could ask has no cost either."""
    judges = {settings.judge_role(at): one.spec for at, one in enumerate(settings.jurors)}
    asked = {
        **judges,
        "answer_extractor": settings.answer_extractor,
        "translator": settings.translator,
    }
    for role, spec in asked.items():
        own = (SELF, SEQ2SEQ, FILE) if role == "translator" else (SELF,)
        if spec is not None and spec.model not in own:
            find_model_class(role, spec.model)


def _sets_of_prompts(tasks: list[Any]) -> Iterator[dict[str, Any]]:
    """Of each task with a bundled set of prompts which part is asked, and how much the other is."""
    for task in tasks:
        if (part := task.provenance.get("prompt_set")) is not None:
            yield {
                "task": task.config.task, "part": part, "n": len(task.eval_docs),
                "languages": len(task.languages), "all": len(load_prompts(task.record).prompts),
                "small": task.record.n_small,
            }  # fmt: skip


def load_tasks(names: str, metadata: dict[str, Any]) -> list[Any]:
    """Our tasks that `names` (names, groups and patterns, with commas) stand for.

    Raises:
        SettingError: If a name is none of ours.
    """
    import fnmatch

    from lm_eval.tasks import TaskManager

    manager = TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=metadata
    )
    wanted: list[str] = []
    for pattern in filter(None, names.split(",")):
        matches = fnmatch.filter(manager.all_tasks, pattern)
        if not matches:
            near = nearest(pattern, manager.all_tasks)
            hint = f"did you mean {near!r}?" if near else "`lm_eval ls tasks` lists every task"
            raise SettingError(f"--tasks {pattern}: not one of ours; {hint}")
        wanted += matches
    loaded = manager.load(list(dict.fromkeys(wanted)))["tasks"]
    return [task for task in loaded.values() if isinstance(task, HealthTask)]


TOKENS_PER_CHARACTER = ((0x7F, 0.25), (0x2FF, 0.5), (0x2E7F, 0.5), (0x10FFFF, 0.75))
"""(last code point, tokens) by rising code point: ASCII, other Latin, other alphabets, CJK.

A rough average over current tokenizers; `--tokenizer` counts with a real one instead.
"""


SHARED_PRICE = 0.1
"""What cached input costs at many services, of the price of input."""

BATCH_PRICE = 0.5
"""What batches cost at most services, of the price of calls."""

SAMPLE = 250
"""Questions of a task whose prompts are made and counted, unless all are asked for."""

_Key = tuple[str, str, str]
"""Role, kind of request, language."""


@dataclass
class Cost:
    """What one task asks of one model.

    Attributes:
        role: `model` (the one under test), `judge`, ...
        language: That of the texts.
        kind: `generate_until` or `loglikelihood`.
        prompt_tokens: Tokens sent.
        shared_tokens: Those of the tokens sent that begin a prompt as the one before began.
        max_output_tokens: The most tokens that may come back.
    """

    task: str
    role: str
    language: str
    kind: str
    requests: int = 0
    prompt_tokens: int = 0
    shared_tokens: int = 0
    max_output_tokens: int = 0


_NUMBERS = ("requests", "prompt_tokens", "shared_tokens", "max_output_tokens")


def costs(
    tasks: Iterable[HealthTask],
    *,
    limit: int | None = None,
    count: Callable[[str], int] | None = None,
    sample: int | None = SAMPLE,
    shared_from: int = 1024,
) -> list[Cost]:
    """The cost of each task, one entry per task, role, language and kind of request.

    Args:
        tasks: Loaded tasks.
        limit: As the harness's `--limit`: that many questions of each task.
        count: Tokens of a text; the default estimates them from its characters.
        sample: Of a task with more questions, the prompts of this many, evenly spread, are made
            and counted, and stand for all. The requests to the model are counted over all
            questions. None for the prompts of all.
        shared_from: Tokens of a shared beginning below which it does not count as shared.
    """
    count = count or _estimate
    made: list[Cost] = []
    for task in tasks:
        docs = task.eval_docs if limit is None else islice(task.eval_docs, limit)
        made.extend(_of_task(task, list(docs), count, sample, shared_from))
    return made


def _of_task(
    task: HealthTask,
    docs: Sequence[Any],
    count: Callable[[str], int],
    sample: int | None,
    shared_from: int,
) -> list[Cost]:
    n = len(docs) if sample is None else min(sample, len(docs))
    chosen = [docs[i * len(docs) // n] for i in range(n)]
    entries = _counted(task, chosen, count, shared_from)
    if n < len(docs):
        _scale(entries, task, docs, n)
    return list(entries.values())


AGAIN = "asked again, at most"
"""The kind of a second request: of a judge or an extractor, where its reply is not in form."""


def _counted(
    task: HealthTask, docs: Iterable[Any], count: Callable[[str], int], shared_from: int
) -> dict[_Key, Cost]:
    """What some documents cost."""
    entries: dict[_Key, Cost] = {}
    before: dict[_Key, str] = {}
    name = str(task.config.task)

    def add(role: str, kind: str, language: str, text: str, output: int) -> None:
        entry = entries.setdefault((role, kind, language), Cost(name, role, language, kind))
        entry.requests += 1
        entry.prompt_tokens += count(text)
        begins = shared_beginning(before.get((role, kind, language), ""), text)
        before[role, kind, language] = text
        shared = count(text[:begins]) if begins else 0
        entry.shared_tokens += shared * (shared >= shared_from)
        entry.max_output_tokens += output

    for doc in docs:
        contexts = task.fewshot_context(doc, num_fewshot=0)
        for language, context, request in _requests(task, doc, contexts):
            generated = request.kind == "generate_until"
            text = context if generated else context + request.arguments
            output = int(request.arguments.get("max_gen_toks", 0)) if generated else 0
            add("model", request.kind, language, text, output)
        for other in task.auxiliary_requests(doc):
            language, output = other.language or task.language, other.max_gen_toks
            add(other.role, "generate_until", language, other.prompt, output)
            if other.role != "translator":
                # The same conversation with the first reply in it.
                add(other.role, AGAIN, language, other.prompt, output)
                entries[other.role, AGAIN, language].prompt_tokens += output
    return entries


def _requests(
    task: HealthTask, doc: Any, contexts: Sequence[str]
) -> Iterator[tuple[str, str, Request]]:
    """Language, context and request of everything that the model is asked about a document."""
    for number, language in enumerate(task.prompt_languages(doc)):
        for request in task.requests(doc, number):
            yield language, contexts[number] if contexts else "", request


def _scale(entries: dict[_Key, Cost], task: HealthTask, docs: Sequence[Any], n: int) -> None:
    """From `n` documents to all: the requests to the model exactly, all else in proportion."""
    requests = Counter(
        ("model", request.kind, language)
        for doc in docs
        for language, _, request in _requests(task, doc, ())
    )
    for key, entry in entries.items():
        times = requests[key] / entry.requests if key in requests else len(docs) / n
        for name in _NUMBERS:
            setattr(entry, name, round(getattr(entry, name) * times))


def tokenizer_count(name: str) -> Callable[[str], int]:
    """A counter that uses a Hugging Face tokenizer (extra `hf`).

    Raises:
        SettingError: If it cannot be loaded.
    """
    try:
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(name)
    except ImportError as error:
        raise SettingError(
            '--tokenizer needs transformers: pip install "xling-tasks[hf]"'
        ) from error
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise SettingError(f"--tokenizer {name}: cannot be loaded ({reason})") from error
    return lambda text: len(tokenizer(text, add_special_tokens=False).input_ids)


def totals(entries: Iterable[Cost]) -> list[Cost]:
    """Sums per role and kind, over all tasks and languages."""
    sums: dict[tuple[str, str], Cost] = defaultdict(lambda: Cost("total", "", "all", ""))
    for entry in entries:
        total = sums[entry.role, entry.kind]
        total.role, total.kind = entry.role, entry.kind
        for name in _NUMBERS:
            setattr(total, name, getattr(total, name) + getattr(entry, name))
    return list(sums.values())


def as_rows(
    entries: Iterable[Cost], prices: Mapping[str, tuple[float, float]] | None = None
) -> list[Mapping[str, Any]]:
    """Plain mappings, for tables and JSON.

    Args:
        entries: What is asked.
        prices: Role -> dollars for a million tokens sent and received; with them each row of that
            role has the price of calls, and that of batches.
    """
    return [{**asdict(entry), **(_priced(entry, prices) if prices else {})} for entry in entries]


def _priced(entry: Cost, prices: Mapping[str, tuple[float, float]]) -> dict[str, float | None]:
    if entry.role not in prices:
        return {"dollars": None, "dollars_shared": None, "dollars_batch": None}
    sent, received = (price / 1e6 for price in prices[entry.role])
    plain = entry.prompt_tokens * sent + entry.max_output_tokens * received
    shared = plain - (1 - SHARED_PRICE) * entry.shared_tokens * sent
    return {"dollars": plain, "dollars_shared": shared, "dollars_batch": BATCH_PRICE * plain}


def shared_beginning(a: str, b: str) -> int:
    """How many characters two texts have in common from their beginning on."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return low


def _estimate(text: str) -> int:
    """By `TOKENS_PER_CHARACTER`, all characters at once."""
    if text.isascii():
        return max(1, round(TOKENS_PER_CHARACTER[0][1] * len(text)))
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    kinds = np.searchsorted(_LAST_POINTS, points)
    return max(1, round(float(_WEIGHTS[kinds].sum())))


_LAST_POINTS = np.array([last for last, _ in TOKENS_PER_CHARACTER])
_WEIGHTS = np.array([weight for _, weight in TOKENS_PER_CHARACTER])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling cost`."""
    add_tasks(parser)
    add_metadata(parser)
    add_limit(parser, "first N questions of each task, as for lm_eval")
    parser.add_argument(
        "--tokenizer", metavar="NAME", help="count with this Hugging Face tokenizer (extra hf)"
    )
    parser.add_argument(
        "--exact", action="store_true", help="count all prompts, not those of 250 questions a task"
    )
    parser.add_argument(
        "--price", action="extend", nargs="+", default=[], metavar="ROLE=IN/OUT",
        help="dollars per million tokens sent and received, such as judge=2.5/10 model=0.15/0.6",
    )  # fmt: skip
    parser.add_argument(
        "--shared-from", type=integer(0), default=1024, metavar="N",
        help="tokens from which your service bills a shared prefix as cached (default %(default)s)",
    )  # fmt: skip
    add_json(parser)
    parser.set_defaults(run=cost)
