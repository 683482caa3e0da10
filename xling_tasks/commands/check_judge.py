"""`xling check judge`: how far a judge of rubrics agrees with physicians, in each language.

Their own agreement stands beside: a judge cannot agree with physicians better than they do with one
another, and it is good enough where it comes near.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from xling_metrics.rubric import rater_scores

from xling_tasks.commands.options import settings_with
from xling_tasks.commands.table import table
from xling_tasks.criteria.rubric import RUBRIC
from xling_tasks.data.own.labels import Labelled, read_labels
from xling_tasks.data.prompts import Prompts
from xling_tasks.models.backend import backend
from xling_tasks.models.fence_key import fences
from xling_tasks.models.rubric import Graded, rule
from xling_tasks.models.spec import ModelSpec
from xling_tasks.settings import Settings


def check_judge(options: argparse.Namespace) -> str:
    """Agreement of the judge with the physicians, over all, by language and by category.

    Raises:
        SettingError: If no judge is set.
        DataError: If the file cannot be read.
    """
    settings, (spec,) = settings_with(options, "judge")
    every = read_labels(options.file, settings.scripts or {})
    chosen = _drawn(every, options.n, options.seed)
    met, signature = _judged(chosen, spec, settings)
    rows = list(_rows(chosen, met))
    if options.json:
        told = {"judge": signature, "criteria": len(chosen), "of": len(every), "groups": rows}
        return json.dumps(told, indent=2, ensure_ascii=False)
    return (
        f"{table(rows)}\n\n"
        "Pairs of a judge's verdict with one physician's label, and of two physicians' labels of "
        "one criterion. Balanced F1 is the mean of the F1 of 'met' and of 'not met' (0.5 is about "
        "guessing), kappa corrects agreement for chance. Unread verdicts are left out.\n"
        f"Judge: {signature}"
    )


def _drawn(every: Sequence[Labelled], n: int | None, seed: int) -> Sequence[Labelled]:
    """`n` criteria in an order that follows from their texts and the seed."""
    if n is None or n >= len(every):
        return every

    def order(item: Labelled) -> str:
        parts = (str(seed), item.conversation, item.answer, item.criterion)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()

    return sorted(every, key=order)[:n]


def _judged(
    items: Sequence[Labelled], spec: ModelSpec, settings: Settings
) -> tuple[list[bool | None], str]:
    """The judge's verdicts, asked as `xling_own_rubric` asks, and its signature."""
    judge = backend("judge", spec, settings.xling_cache)
    judge.check()
    places: dict[tuple[str, str, str], list[int]] = {}
    for place, item in enumerate(items):
        key = (item.conversation, item.answer, item.tongue.name)
        places.setdefault(key, []).append(place)
    cases = [
        Graded(conversation, answer, tuple(items[place].criterion for place in asked), language)
        for (conversation, answer, language), asked in places.items()
    ]
    codes = fences(settings.xling_cache, settings.fence_key)
    prompt = Prompts(settings.prompts).get(RUBRIC.key, "en")
    met: list[bool | None] = [None] * len(items)
    rulings = rule(cases, prompt, judge, codes, settings.rubric_batch)
    for asked, said in zip(places.values(), rulings, strict=True):
        for place, ruling in zip(asked, said, strict=True):
            met[place] = ruling.met
    return met, judge.signature


def _rows(items: Sequence[Labelled], met: Sequence[bool | None]) -> Iterator[dict[str, Any]]:
    """A row over all, then one per language where there are several, then one per category."""
    languages = dict.fromkeys(item.tongue.name for item in items)
    categories = sorted({item.category for item in items} - {""})
    yield _row("all", items, met)
    groups = [(name, [item.tongue.name == name for item in items]) for name in languages]
    groups = groups if len(groups) > 1 else []
    groups += [(name, [item.category == name for item in items]) for name in categories]
    for name, inside in groups:
        chosen = [place for place, there in enumerate(inside) if there]
        yield _row(name, [items[place] for place in chosen], [met[place] for place in chosen])


def _row(name: str, items: Sequence[Labelled], met: Sequence[bool | None]) -> dict[str, Any]:
    read = [(said, item) for said, item in zip(met, items, strict=True) if said is not None]
    judge = rater_scores([said for said, _ in read], [item.labels for _, item in read])
    alone = [
        (label, (*item.labels[:place], *item.labels[place + 1 :]))
        for item in items
        for place, label in enumerate(item.labels)
    ]
    people = rater_scores([label for label, _ in alone], [others for _, others in alone])
    return {
        "group": name,
        "criteria": len(items),
        "unread": len(items) - len(read),
        "pairs": judge.n,
        "balanced F1": judge.balanced_f1,
        "kappa": judge.kappa,
        "agreement": judge.agreement,
        "physicians: balanced F1": people.balanced_f1,
        "physicians: kappa": people.kappa,
        "physicians: agreement": people.agreement,
    }
