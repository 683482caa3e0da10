"""`xling cost`: requests and tokens of tasks, before running them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from xling_tasks.commands.estimate import (
    BATCH_PRICE,
    SAMPLE,
    SHARED_PRICE,
    as_rows,
    costs,
    tokenizer_count,
    totals,
)
from xling_tasks.commands.options import read_metadata
from xling_tasks.commands.table import table
from xling_tasks.data.prompt_sets import load_prompts
from xling_tasks.discovery import task_folder
from xling_tasks.errors import SettingError
from xling_tasks.report.documents import filled


def cost(options: argparse.Namespace) -> str:
    """`xling cost`: a table of requests and tokens per task, with totals per model."""
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
    most = max((len(task.eval_docs) for task in tasks), default=0)
    return filled(
        "cost.j2",
        table=table(rows),
        tokenizer=options.tokenizer,
        sample=sample if sample and min(most, options.limit or most) > sample else None,
        shared_from=options.shared_from,
        prices={"shared": SHARED_PRICE, "batch": BATCH_PRICE} if prices else None,
        roles=sorted({entry.role for entry in entries} - {"model"}),
        claims=any("claims" in task.used_prompts() for task in tasks),
        sets=list(_sets_of_prompts(tasks)),
    ).rstrip()


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
