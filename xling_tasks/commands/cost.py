"""`xling cost`: requests and tokens of tasks, before running them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from xling_tasks.commands.options import add_metadata, read_metadata
from xling_tasks.commands.table import table
from xling_tasks.data.prompt_sets import ALL, load_prompts
from xling_tasks.discovery import task_folder
from xling_tasks.errors import SettingError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what `xling cost` takes."""
    parser.add_argument("--tasks", required=True, help="names, groups or patterns, with commas")
    parser.add_argument("--limit", type=int, help="as for lm_eval: questions per task")
    parser.add_argument("--tokenizer", help="count with this Hugging Face tokenizer (extra hf)")
    parser.add_argument(
        "--exact", action="store_true", help="count every prompt, not those of 250 questions a task"
    )
    parser.add_argument(
        "--price", action="extend", nargs="+", default=[], metavar="ROLE=IN/OUT",
        help="dollars for a million tokens sent and received, such as judge=2.5/10 model=0.15/0.6 "
        "(once for each role): prices of calls and of batches stand beside the tokens",
    )  # fmt: skip
    parser.add_argument(
        "--shared-from", type=int, default=1024, metavar="N",
        help="tokens from which on your service bills a beginning as cached input; default 1,024",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    add_metadata(parser)
    parser.set_defaults(run=cost)


def cost(options: argparse.Namespace) -> str:
    """`xling cost`: a table of requests and tokens per task, with totals per model."""
    from xling_tasks.commands.estimate import (
        BATCH_PRICE,
        SAMPLE,
        SHARED_PRICE,
        as_rows,
        costs,
        tokenizer_count,
        totals,
    )

    if options.limit is not None and options.limit < 1:
        raise SettingError(f"--limit {options.limit}: must be at least 1")
    count = tokenizer_count(options.tokenizer) if options.tokenizer else None
    prices = dict(map(_price, options.price))
    tasks = load_tasks(options.tasks, read_metadata(options.metadata))
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
    note = options.tokenizer or "estimated from characters; --tokenizer NAME counts exactly"
    most = max((len(task.eval_docs) for task in tasks), default=0)
    if sample and min(most, options.limit or most) > sample:
        note += f"; of larger tasks the prompts of {sample} questions stand for all (--exact: all)"
    said = f"{table(rows)}\n\nTokens: {note}. max_output_tokens is a limit, not a forecast."
    lines = [
        said,
        "shared_tokens: those of prompts that begin as the one before did, where that is "
        f"{options.shared_from:,} tokens or more (--shared-from).",
    ]
    if prices:
        lines.append(
            "dollars: of calls, if all comes back that may; dollars_shared: if shared tokens cost "
            f"{SHARED_PRICE:g} of others; dollars_batch: with batch=true at {BATCH_PRICE:g} of "
            "calls. Your service's own terms count."
        )
    return "\n".join([*lines, *_foreseen(tasks, entries), *_sets_of_prompts(tasks)])


def _price(given: str) -> tuple[str, tuple[float, float]]:
    role, _, numbers = given.partition("=")
    sent, _, received = numbers.partition("/")
    try:
        prices = float(sent), float(received)
    except ValueError:
        prices = -1.0, -1.0
    if not all(0 <= price < 1e6 for price in prices):
        raise SettingError(f"--price {given}: write ROLE=IN/OUT, such as judge=2.5/10")
    return role, prices


def _foreseen(tasks: list[Any], entries: list[Any]) -> Iterator[str]:
    """What of other models than the one under test can only be guessed before there are answers."""
    roles = {entry.role for entry in entries} - {"model"}
    if not roles:
        return
    yield (
        f"{', '.join(sorted(roles))}: what they will read is not written yet, so references or "
        "texts of about 350 words stand in for answers, and prompt_tokens is no limit here, with "
        "--tokenizer neither."
    )
    if "translator" in roles:
        yield (
            "translator: a request per sentence, so longer answers make more, and so do "
            "translations that fail and are sampled again; equal sentences are asked once."
        )
    claims = any("claims" in task.used_prompts() for task in tasks)
    if claims and roles - {"translator"}:
        yield (
            "Claims of information: a request per answer, and two to verify, more of each answer "
            "with over 30 claims."
        )
    if roles - {"translator"}:
        other = "All other" if claims else "All"
        yield f"{other} requests of a judge or reader are the most that there can be."


def _sets_of_prompts(tasks: list[Any]) -> Iterator[str]:
    """What the other part of a bundled set of prompts would mean, of each task that has one."""
    for task in tasks:
        part = task.provenance.get("prompt_set")
        if part is None:
            continue
        whole, small = len(load_prompts(task.record).prompts), task.record.n_small
        n, of = len(task.eval_docs), len(task.languages)
        other = (
            f"prompts=small asks the fixed, balanced {small} instead, for a quick look"
            if part == ALL
            else f"prompts=all asks all {whole}, for results that others are compared with"
        )
        yield (
            f"{task.config.task}: prompts={part}, {n:,} prompts in {of} languages; "
            f"--metadata {other}."
        )


def load_tasks(names: str, metadata: dict[str, Any]) -> list[Any]:
    """Our tasks that `names` (names, groups and patterns, with commas) stand for.

    Raises:
        SettingError: If a name is none of ours.
    """
    import difflib
    import fnmatch

    from lm_eval.tasks import TaskManager

    from xling_tasks.tasks.base import XlingTask

    manager = TaskManager(
        include_path=str(task_folder()), include_defaults=False, metadata=metadata
    )
    wanted: list[str] = []
    for pattern in filter(None, names.split(",")):
        matches = fnmatch.filter(manager.all_tasks, pattern)
        if not matches:
            nearest = difflib.get_close_matches(pattern, manager.all_tasks, n=1)
            hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
            raise SettingError(
                f"--tasks {pattern}: not one of ours.{hint} Groups: "
                f"{', '.join(sorted(manager.all_groups))}. `lm_eval ls tasks` lists every task."
            )
        wanted += matches
    loaded = manager.load(list(dict.fromkeys(wanted)))["tasks"]
    return [task for task in loaded.values() if isinstance(task, XlingTask)]
