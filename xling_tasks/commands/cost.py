"""`xling cost`: requests and tokens of tasks, by data and settings, before anyone pays for them."""

from __future__ import annotations

import argparse
import fnmatch
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from xling_tasks.commands.options import add_json, add_limit, add_metadata, add_tasks, read_metadata
from xling_tasks.discovery import task_folder
from xling_tasks.errors import SettingError, nearest
from xling_tasks.models.backend import find_model_class
from xling_tasks.models.model_config import SELF
from xling_tasks.models.translate.translator import SEQ2SEQ
from xling_tasks.output import table
from xling_tasks.report.costs import parse_price
from xling_tasks.settings import Settings
from xling_tasks.tasks.task import HealthTask, Request

ASCII, ALPHABET, CJK = 0.25, 0.5, 0.75
"""Tokens per character: a rough average over current tokenizers; `--tokenizer` counts with one."""

BATCH_PRICE = 0.5  # what batches cost at most services, of the price of calls
SAMPLE = 250  # questions of a task whose prompts are made and counted, and stand for all
REPAIR = "repair, at most"
"""The kind of a second request: of a judge or extractor whose response is not in form."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling cost`."""
    add_tasks(parser)
    add_metadata(parser)
    add_limit(parser, "first N questions of each task, as for lm_eval")
    text = "count with this Hugging Face tokenizer (extra hf)"
    parser.add_argument("--tokenizer", metavar="NAME", help=text)
    text = "dollars per million tokens sent and received, such as judge=2.5/10 model=0.15/0.6"
    parser.add_argument(
        "--price", action="extend", nargs="+", default=[], metavar="ROLE=IN/OUT", help=text
    )
    add_json(parser)
    parser.set_defaults(run=cost)


def cost(options: argparse.Namespace) -> str:
    """Return a table of requests and tokens per task, with totals per model."""
    count = load_counter(options.tokenizer) if options.tokenizer else estimate_tokens
    prices = dict(map(parse_price, options.price))
    metadata = read_metadata(options.metadata)
    tasks = load_tasks(options.tasks, metadata)
    settings = Settings.parse(metadata, None)
    models = {"answer_extractor": settings.answer_extractor, "translator": settings.translator}
    models |= {settings.judge_role(at): judge.spec for at, judge in enumerate(settings.jurors)}
    for role, config in models.items():  # refuse what no run could ask; nothing is asked here
        special = (SELF, SEQ2SEQ) if role == "translator" else (SELF,)
        if config is not None and config.model not in special:
            find_model_class(role, config.model)
    entries = [entry for task in tasks for entry in costs(task, options.limit, count)]
    sums: dict[tuple[str, str], Cost] = {}  # per role and kind, over all tasks and languages
    for entry in entries:
        total = Cost("total", entry.role, "all", entry.kind)
        total = sums.setdefault((entry.role, entry.kind), total)
        total.add(entry.requests, entry.prompt_tokens, entry.max_output_tokens)
    totals = list(sums.values())
    roles = {entry.role for entry in totals}
    if unknown := prices.keys() - roles:
        raise SettingError(
            f"--price {unknown.pop()}: no such role here; there are {', '.join(sorted(roles))}"
        )
    rows = [{**asdict(entry), **_price(entry, prices)} for entry in [*entries, *totals]]
    if options.json:
        return json.dumps(rows, indent=2)
    notes = _notes(tasks, roles, options.tokenizer, bool(prices))
    return "\n".join([table(rows), "", *notes])


def _notes(
    tasks: Sequence[HealthTask], roles: set[str], tokenizer: str | None, has_prices: bool
) -> Iterator[str]:
    """Yield what the numbers are made of, and what they do not count."""
    exact = tokenizer or "estimated from characters; --tokenizer NAME counts exactly"
    yield (
        f"Tokens: {exact}; of larger tasks {SAMPLE} questions stand for all. max_output_tokens is "
        "a limit, not a forecast."
    )
    if has_prices:
        yield f"dollars: if all comes back that may; dollars_batch: {BATCH_PRICE:g} of that."
    if unpriced := sorted(roles - {"model"}):
        yield (
            f"{', '.join(unpriced)}: the responses that they will read do not exist yet, so "
            "references or texts of about 350 words stand in for them. Claims: a request per "
            "answer, and two to verify."
        )
    for task in tasks:
        if task.provenance.get("prompt_set") == "all":
            yield (
                f"{task.config.task}: {len(task.eval_docs):,} prompts; --metadata prompt_set=small "
                f"asks the fixed, balanced {task.record.n_small} instead, for a quick look."
            )


def load_tasks(names: str, metadata: dict[str, Any]) -> list[HealthTask]:
    """Load our tasks that names, groups and patterns stand for."""
    from lm_eval.tasks import TaskManager

    manager = TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=metadata
    )
    tasks: list[str] = []
    for pattern in filter(None, names.split(",")):
        matches = fnmatch.filter(manager.all_tasks, pattern)
        if not matches:
            near = nearest(pattern, manager.all_tasks)
            hint = f"did you mean {near!r}?" if near else "`lm_eval ls tasks` lists every task"
            raise SettingError(f"--tasks {pattern}: not one of ours; {hint}")
        tasks += matches
    loaded = manager.load(list(dict.fromkeys(tasks)))["tasks"]
    return [task for task in loaded.values() if isinstance(task, HealthTask)]


@dataclass
class Cost:
    """What one task asks of one role: `model` (the one under test), `judge`, ..."""

    task: str
    role: str
    language: str
    kind: str
    requests: int = 0
    prompt_tokens: int = 0
    max_output_tokens: int = 0

    def add(self, requests: int, prompt_tokens: int, max_output_tokens: int) -> None:
        """Add requests and their tokens."""
        self.requests += requests
        self.prompt_tokens += prompt_tokens
        self.max_output_tokens += max_output_tokens


def costs(
    task: HealthTask, limit: int | None, count: Callable[[str], int], sample: int = SAMPLE
) -> list[Cost]:
    """Return the costs of a task, one entry per role, language and kind of request.

    Of more questions than SAMPLE, the prompts of so many, evenly spread, are made and counted by
    COUNT, and stand for all. The requests to the model are counted over all questions.
    """
    docs = list(task.eval_docs)[:limit]
    n = min(sample, len(docs))
    entries: dict[tuple[str, str, str], Cost] = {}

    def add(role: str, kind: str, language: str, tokens: int, output: int) -> None:
        new = Cost(str(task.config.task), role, language, kind)
        entries.setdefault((role, kind, language), new).add(1, tokens, output)

    for doc in (docs[i * len(docs) // n] for i in range(n)):
        contexts = task.fewshot_context(doc, num_fewshot=0)
        for number, language, request in _requests(task, doc):
            is_generated, context = request.kind == "generate_until", contexts[number]
            text = context if is_generated else context + request.arguments
            output = int(request.arguments.get("max_gen_toks", 0)) if is_generated else 0
            add("model", request.kind, language, count(text), output)
        for other in task.auxiliary_requests(doc):
            language, output = other.language or task.language, other.max_gen_toks
            tokens = count(other.prompt)
            add(other.role, "generate_until", language, tokens, output)
            if other.role != "translator":  # the same conversation with the first response in it
                add(other.role, REPAIR, language, tokens + output, output)
    if n < len(docs):
        requests = Counter(
            ("model", r.kind, code) for d in docs for _, code, r in _requests(task, d)
        )
        for key, entry in entries.items():
            factor = requests[key] / entry.requests if key in requests else len(docs) / n
            entry.requests = round(entry.requests * factor)
            entry.prompt_tokens = round(entry.prompt_tokens * factor)
            entry.max_output_tokens = round(entry.max_output_tokens * factor)
    return list(entries.values())


def _requests(task: HealthTask, doc: Any) -> Iterator[tuple[int, str, Request]]:
    """Yield number and language of the prompt with each request to the model."""
    for number, language in enumerate(task.prompt_languages(doc)):
        for request in task.requests(doc, number):
            yield number, language, request


def _price(entry: Cost, prices: Mapping[str, tuple[float, float]]) -> dict[str, float | None]:
    """Return the price of calls and of batches where prices are given."""
    if entry.role not in prices:
        return {"dollars": None, "dollars_batch": None} if prices else {}
    sent, received = (price / 1e6 for price in prices[entry.role])
    dollars = entry.prompt_tokens * sent + entry.max_output_tokens * received
    return {"dollars": dollars, "dollars_batch": BATCH_PRICE * dollars}


def load_counter(name: str) -> Callable[[str], int]:
    """Load a Hugging Face tokenizer (extra `hf`), and return a counter of tokens."""
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


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text by its scripts."""
    weights = (ASCII if c < "\x80" else ALPHABET if c < "\u2e80" else CJK for c in text)
    return max(1, round(sum(weights)))
