"""What a run says of itself: which answers are no answers or cut off, and what to do next."""

from __future__ import annotations

import atexit
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lm_eval.api.instance import Instance

from xling_tasks.failed_response import ModelResponse
from xling_tasks.harness.backends import may_be_cut
from xling_tasks.harness.run import all_ranks, current
from xling_tasks.log import log

_COMMAND = ("lm_eval", "lm-eval")


_INCOMPLETE = {
    "failed_rate": "failed and are unscored",
    "content_filter_rate": "were held back by the service",
    "empty_rate": "are empty (a model that thinks first needs more room: max_gen_toks)",
    "judge_failed_rate": "were not judged",
    "translation_failed_rate": "were not translated",
}
"""What the table of scores does not show, and its reader must know of where there is any."""


def incomplete(task: str, recorded: Mapping[str, Any]) -> None:
    """Say which shares of a task's answers are no answers or unscored, where any are."""
    found = [
        f"{name.removeprefix(start).lstrip('_') or 'all'}: {value:.1%} of the answers {words}"
        for start, words in _INCOMPLETE.items()
        for name, value in recorded.items()
        if name.startswith(start) and isinstance(value, float) and value > 0
    ]
    if found:
        more = f", and {len(found) - 6} more" if len(found) > 6 else ""
        log.warning("%s: %s%s", task, "; ".join(found[:6]), more)


def cut_answers(
    task: str, documents: Iterable[tuple[Sequence[Instance], Sequence[str]]]
) -> dict[str, list[int]]:
    """How many answers are cut off, or as long as `max_gen_toks` allows, of how many, by language.

    Tokenizers make several times the tokens of one language that they make of another, so the same
    room may cut answers in one alone. It is logged where one is, and nothing where none is.

    A document has its requests, in order; and the languages of its prompts, each of which has as
    many requests.
    """
    long, asked = Counter[str](), Counter[str]()
    for code, instance in _with_language(documents):
        room = instance.args[1].get("max_gen_toks")
        asked[code] += len(instance.resps)
        long[code] += sum(may_be_cut(current().lm, own, room) for own in instance.resps)
    long, asked = (sum(all_ranks(own), Counter[str]()) for own in (long, asked))
    if not long:
        return {}
    log.warning(
        "%s: %d of %d answers are as long as they may be, so perhaps cut off, and scored as they "
        "are. Give them more room: --gen_kwargs max_gen_toks=...",
        task, long.total(), asked.total(),
    )  # fmt: skip
    return {code: [long[code], number] for code, number in asked.items()}


def tokens_used(
    documents: Iterable[tuple[Sequence[Instance], Sequence[str]]],
) -> dict[str, dict[str, int]]:
    """Tokens by language and kind (prompt, completion, reasoning), as the service counts them."""
    used: dict[str, Counter[str]] = {}
    for code, instance in _with_language(documents):
        for reply in instance.resps:
            if isinstance(reply, ModelResponse) and reply.usage:
                used.setdefault(code, Counter()).update({**reply.usage, "answers": 1})
    total: dict[str, Counter[str]] = {}
    for part in all_ranks(used):
        for code, counts in part.items():
            total.setdefault(code, Counter()).update(counts)
    return {code: dict(counts) for code, counts in total.items()}


def _with_language(
    documents: Iterable[tuple[Sequence[Instance], Sequence[str]]],
) -> Iterator[tuple[str, Instance]]:
    for instances, codes in documents:
        for at, instance in enumerate(instances):
            yield codes[at * len(codes) // len(instances)], instance


def what_is_next(folder: str | None, samples: bool, predict_only: bool, since: float) -> str | None:
    """What to do after a run with output in a folder; None where nothing came SINCE a time."""
    if folder is None:
        return (
            "Next: run it with --output_path out --log_samples, then `xling report out` shows "
            "the gap per language."
        )
    place = Path(folder)
    place = place.parent if place.suffix == ".json" else place
    if not any(file.stat().st_mtime >= since for file in place.rglob("*results_*.json")):
        return None
    shown = shlex.quote(folder)
    if predict_only:
        return (
            f"Next: score the answers with --model xling_replay --model_args path={shown} "
            "and the same --tasks, without --predict_only."
        )
    if not samples:
        return f"Next: run it with --log_samples too, then `xling report {shown}` works."
    return f"Next: xling report {shown}"


_next: list[Callable[[], str | None]] = []


def say_next(predict_only: bool) -> None:
    """Say at the end of the `lm_eval` command what to do with its results; once."""
    run = current()
    if not run.command or run.rank != 0 or _next:
        return
    # File systems date to the second or less exactly than the clock.
    since = time.time() - 2
    _next.append(partial(what_is_next, run.output, run.log_samples, predict_only, since))
    atexit.register(_last_line)


def _last_line() -> None:
    command = Path(sys.argv[0])
    is_command = command.stem in _COMMAND or command.parent.name in _COMMAND
    if not is_command or getattr(sys, "last_value", None) is not None:
        return
    words = _next[0]()
    if words is not None:
        print(words, flush=True)
