"""`xling next`: which languages and endpoints are decided, and what to ask of the others.

A question set is asked in parts. After each, what is known is looked at with bounds that hold
however often one looks (`xling_metrics.stats.sequential`), and the looks are kept in a file: one
that is not counted would be a false alarm more.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xling_metrics.stats.bounded import least_for_same
from xling_metrics.stats.odds import ODDS, shifts
from xling_metrics.stats.sequential import bounds
from xling_metrics.stats.shares import normal_quantile

from xling_tasks.commands.cost import load_tasks
from xling_tasks.commands.parts import numbers_of, settings_of
from xling_tasks.commands.table import table
from xling_tasks.errors import DataError, SettingError
from xling_tasks.output import many, writing
from xling_tasks.report.cases import Case
from xling_tasks.report.conclusions import (
    ALPHA,
    BETTER,
    FEWEST,
    SAME,
    WORSE,
    against_english,
    lacks_questions,
    odds_of_same,
)
from xling_tasks.report.data import Model, Task, read_models
from xling_tasks.report.model import Conclusion, checked
from xling_tasks.report.pictures.words import questions
from xling_tasks.report.stats import Statistics

_POWER = 0.8416  # the normal quantile of 80%
_STEPS = 20


@dataclass
class Look:
    """An endpoint in a language, looked at.

    Attributes:
        item: The conclusion as if nobody had looked before.
        task: Its task.
        english: That of English.
        asked: Questions asked at each look, this one last.
        of: All questions of the task.
        decided: The verdict that holds; '' while it is open.
        at: With how many questions it was decided.
        bound: How large |z| must be now.
        more: Questions more that would decide it, as it looks now; None if all would not.
        case: What it was concluded of; None is taken as if all was read.
    """

    item: Conclusion
    task: Task
    english: Task
    asked: list[int]
    of: int
    decided: str = ""
    at: int = 0
    bound: float = math.inf
    more: int | None = None
    case: Case | None = None

    @property
    def key(self) -> str:
        """What it is kept under."""
        own = self.item
        tau = "" if own.temperature is None else f"{own.temperature:g}"
        about = (own.model, own.dataset, own.criterion, own.metric, tau, own.language)
        return "|".join(about)

    @property
    def family(self) -> tuple[str, str, str]:
        """What alpha is shared with."""
        rest = "harm" if self.item.meaning == "harm" else "rest"
        return self.item.model, self.item.dataset, rest

    @property
    def times(self) -> list[float]:
        """The share of all questions at each look."""
        return [min(1.0, asked / self.of) for asked in self.asked]

    def error(self) -> float:
        """The standard error that the interval of 95% is made with."""
        low, high = self.item.low, self.item.high
        assert low is not None and high is not None
        return max((high - low) / (2 * normal_quantile(1 - ALPHA)), 1e-9)


def run(options: argparse.Namespace) -> str:
    """Look once; returns what is decided and how to go on.

    Raises:
        DataError: If the results have no endpoint, or fewer questions than at an earlier look.
        SettingError: If an option is impossible.
    """
    if options.to.exists() and not _is_samples(options.to):
        raise SettingError(f"--to {options.to}: is there, and no file of samples")
    named = argparse.Namespace(**{**vars(options), "to": None})
    before = _kept(options.looks)
    models, statistics = read_models([options.folder]), checked(named)
    concluded = [(model, against_english(Statistics(statistics), model)) for model in models]
    looks = [look for model, told in concluded for look in _looks(model, told.values(), before)]
    apart = sum(len(told) for _, told in concluded) - len(looks)
    if not looks:
        raise DataError(
            f"{options.folder}: no endpoint with samples is compared with English; run English and "
            "another language over the same questions, with --log_samples"
        )
    decide(looks)
    open_ = [look for look in looks if not look.decided]
    with writing(options.looks, "--looks "):
        kept = {**before, **{look.key: _as_kept(look) for look in looks}}
        options.looks.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    lines = [table([_row(look) for look in looks], digits=3), "", *_said(looks, apart)]
    asking = [look for look in open_ if look.more]
    samples = _samples(asking, options.size or _size(asking), options.seed) if asking else {}
    if not samples:
        return "\n".join([*lines, _at_the_end(open_)])
    size = questions(len(numbers) for numbers in samples.values())
    with writing(options.to):
        options.to.write_text(json.dumps(samples) + "\n", encoding="utf-8")
    return "\n".join([
        *lines,
        f"Next part: {size} a task, {many(len(samples), 'task')} ({options.to}). Run: "
        f"lm_eval ... --tasks {','.join(samples)} --samples {options.to} --log_samples "
        f"--output_path PART; then xling parts merge {options.folder} PART --to WHOLE; "
        f"xling next WHOLE --looks {options.looks}",
    ])  # fmt: skip


# What is known


def _looks(
    model: Model, concluded: Iterable[tuple[Case, Conclusion]], before: Mapping[str, Any]
) -> Iterator[Look]:
    """The endpoints of a model that a test compares with English."""
    tasks = {(t.place.criterion, t.place.dataset, t.place.language): t for t in model.tasks}
    for case, item in concluded:
        about = (item.criterion, item.dataset)
        task = tasks.get((*about, item.language)) or tasks.get((*about, ""))
        english = tasks.get((*about, "en")) or tasks.get((*about, ""))
        if task is None or english is None or None in (item.estimate, item.low, item.high, item.p):
            continue
        asked, of = int(task.results.count["effective"]), int(task.results.count["original"])
        look = Look(item, task, english, [asked], of, case=case)
        known = before.get(look.key, {})
        earlier = [int(n) for n in known.get("asked", ())]
        if earlier and earlier[-1] > asked:
            raise DataError(
                f"{look.key}: {asked} questions, but {earlier[-1]} at the last look; name the "
                "folder of all parts (xling parts merge), or another file of looks"
            )
        look.asked = sorted({*earlier, asked})
        look.decided, look.at = str(known.get("decided", "")), int(known.get("at", 0))
        yield look


def decide(looks: Sequence[Look]) -> None:
    """Say what holds, and of the rest how many questions more would decide it.

    Each family shares alpha as in Holm's procedure: what is shown leaves its share to the rest,
    which is valid for group-sequential tests too (Ye and others 2013).
    """
    families: dict[tuple[str, str, str], list[Look]] = defaultdict(list)
    for look in looks:
        families[look.family].append(look)
    for own in families.values():
        while True:
            shown = sum(look.decided in (WORSE, BETTER) for look in own)
            alpha = ALPHA / max(1, len(own) - shown)
            new = [look for look in own if not look.decided and _holds(look, alpha)]
            for look in new:
                look.decided, look.at = look.item.verdict, look.asked[-1]
            if not any(look.decided in (WORSE, BETTER) for look in new):
                break
        for look in own:
            look.bound = bounds(look.times, alpha)[-1]
            look.more = None if look.decided else _needed(look, alpha)


def _holds(look: Look, alpha: float) -> bool:
    """Whether the verdict of one look holds at this one of several."""
    item = look.item
    if item.n < FEWEST or item.verdict not in (WORSE, BETTER, SAME):
        return False
    width = bounds(look.times, alpha)[-1] * look.error()
    estimate = float(item.estimate or 0.0)
    if item.verdict == SAME:
        return abs(estimate) + width <= item.margin
    return abs(estimate) > width


def _needed(look: Look, alpha: float) -> int | None:
    """Questions more with which it would be decided with 80% probability, as it looks now."""
    item, now, error = look.item, look.asked[-1], look.error()
    if item.verdict not in (WORSE, BETTER, SAME) and not lacks_questions(item):
        return None
    moves = () if look.case is None else look.case.moves
    estimate = float(item.estimate or 0.0)
    back, on = shifts(moves, ODDS), shifts(moves, odds_of_same(item))
    apart = max(estimate + back[0], -(estimate + back[1]))
    beyond = max(estimate + on[1], -(estimate + on[0]))
    sized = item.margin > 0 and (look.case is None or look.case.sized)
    for step in range(1, _STEPS + 1):
        more = math.ceil((look.of - now) * step / _STEPS)
        if more < 1:
            continue
        bound = bounds([*look.times, (now + more) / look.of], alpha)[-1] + _POWER
        width = bound * error * math.sqrt(now / (now + more))
        same = sized and now + more >= least_for_same(min(item.margin, 0.99))
        if apart >= width or (same and beyond + width <= item.margin):
            return more
    return None


# What to ask


def _size(open_: Iterable[Look]) -> int:
    """Questions of the next part: what decides all that can be, but no more than there are."""
    looks = list(open_)
    return max(1, min(max(look.more or 0 for look in looks), max(look.asked[-1] for look in looks)))


def _samples(open_: Iterable[Look], size: int, seed: int) -> dict[str, list[int]]:
    """Task -> numbers of documents that were not asked yet: the same questions in each language."""
    groups: dict[tuple[str, str], dict[str, Task]] = defaultdict(dict)
    for look in open_:
        for task in (look.task, look.english):
            groups[task.place.criterion, task.place.dataset][task.results.task] = task
    samples: dict[str, list[int]] = {}
    for tasks in groups.values():
        settings = settings_of({name: [task.results] for name, task in tasks.items()})
        questions = {
            str(task.config.task): [str(doc["question_id"]) for doc in task.eval_docs]
            for task in load_tasks(",".join(tasks), settings)
        }
        left = {
            name: set(questions[name]) - {questions[name][n] for n in numbers_of(task.results)}
            for name, task in tasks.items()
        }
        common = sorted(set.intersection(*left.values()))
        drawn = set(random.Random(seed).sample(common, min(size, len(common))))
        for name in tasks:
            numbers = [n for n, key in enumerate(questions[name]) if key in drawn]
            samples |= {name: numbers} if numbers else {}
    return samples


# Files and words


def _kept(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if all(isinstance(look["asked"], list) for look in kept.values()):
            return dict(kept)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        pass
    raise DataError(f"--looks {path}: is no file of looks; name another")


def _is_samples(path: Path) -> bool:
    try:
        return isinstance(json.loads(path.read_text(encoding="utf-8")), dict)
    except (OSError, ValueError):
        return False


def _as_kept(look: Look) -> dict[str, Any]:
    return {"asked": look.asked, "of": look.of, "decided": look.decided, "at": look.at}


def _row(look: Look) -> dict[str, Any]:
    item, width = look.item, look.bound * look.error()
    estimate = float(item.estimate or 0.0)
    open_ = "likely open with all" if look.asked[-1] < look.of else "open"
    open_ = open_ if look.more is None else f"{look.more:,} more"
    shown = f"{estimate - width:+.3f} to {estimate + width:+.3f}"
    return {
        "model": item.model, "data": item.dataset, "measure": item.metric,
        "T": "" if item.temperature is None else f"{item.temperature:g}",
        "language": item.language, "asked": look.asked[-1], "of": look.of,
        "difference": f"{estimate:+.3f}", "holds at every look": shown if width < 9 else "-",
        "decided": f"{look.decided.replace('_', ' ')} ({look.at})" if look.decided else open_,
    }  # fmt: skip


def _at_the_end(open_: Sequence[Look]) -> str:
    """Why there is no further part."""
    if not open_:
        return "All of these are decided: no further part is needed."
    if all(look.asked[-1] >= look.of for look in open_):
        return "All questions are asked: what is open stays so. A report says what else to do."
    return (
        "No further part: as it looks now, what is open is not likely to be decided by all "
        "questions that are left. A report says what else to do."
    )


def _said(looks: Sequence[Look], apart: int) -> Iterator[str]:
    """What holds, and under what conditions.

    Args:
        looks: What is tested.
        apart: How many languages and endpoints are not.
    """
    counts = Counter(look.decided or "open" for look in looks)
    told = ", ".join(f"{n} {verdict.replace('_', ' ')}" for verdict, n in counts.items())
    yield (
        f"{many(len(looks), 'language-endpoint pair')}: {told}. Look "
        f"{max(len(k.asked) for k in looks)}; all looks together err with {ALPHA:.0%} at most in "
        "each family (Holm over languages and endpoints, O'Brien-Fleming-like spending). Quote "
        "these verdicts, not a report's: it knows of no earlier looks."
    )
    if apart:
        yield f"Not among these: {apart} that were not tested (a report says why)."
    if all(look.asked[-1] < look.of and len(look.asked) == 1 for look in looks):
        yield (
            "The first part must be like the rest: `xling parts cut` spreads it over all questions "
            "(--samples part-0.json), while --limit takes the first ones."
        )
