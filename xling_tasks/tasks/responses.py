"""What a run says of the responses themselves: which did not come, were cut off or repeat."""

from __future__ import annotations

import functools
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from xling_tasks import failed_response
from xling_tasks.failed_response import BY_LANGUAGE, FailedResponse, ModelResponse, is_truncated
from xling_tasks.harness import backends
from xling_tasks.log import log
from xling_tasks.outcomes import OUTCOME, OUTCOMES
from xling_tasks.readers.reasoning import strip_reasoning

_REPEATED = 0.5  # questions with one response, above which a service may be what speaks
_FEW = 10  # questions below which equal responses say nothing


def record_of(task: Any, doc: Mapping[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Return what a sample keeps of its responses: details of each, and counts by language.

    Counted are `asked`, `cut` (where texts are scored), `thinking_only` (the reasoning took all the
    room), and tokens of the `answers` where they are known: of one language they may be several
    times those of another.
    """
    codes, limit = task.prompt_languages(doc), task.config.generation_kwargs.get("max_gen_toks")
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for number, text in enumerate(texts):
        count = counts[codes[number * len(codes) // len(texts)]]
        count["asked"] += 1
        if task.scores_texts:
            count["cut"] += backends.may_be_cut(task.run.lm, text, limit)
        if not isinstance(text, FailedResponse):
            no_room = not text.strip() and is_truncated(text)
            count["thinking_only"] += strip_reasoning(text) is None or no_room
        if isinstance(text, ModelResponse) and text.usage:
            count.update({**text.usage, "answers": 1})
    return {
        "asked": len(texts),
        "responses": failed_response.details_of([[text] for text in texts]),
        BY_LANGUAGE: {code: dict(count) for code, count in counts.items()},
    }


def count_tokens(task: Any) -> None:
    """Count the tokens of prompts and responses by a local model's own tokenizer.

    A server's figures stay; those of responses whose reasoning the backend removed are not known.
    """
    count = backends.token_counter(task.run.lm)
    if count is None or backends.is_hosted(task.run.lm):
        return
    complete = not getattr(backends.unwrapped(task.run.lm), "think_end_token", None)
    lengths = functools.cache(count)  # a prompt is asked several times
    count = functools.partial(count, add_special_tokens=False)
    for instance in task.instances:
        response = instance.resps[0]
        if isinstance(response, ModelResponse) and (response.usage or response.outcome):
            continue
        usage = {"prompt": lengths(instance.args[0])}
        if complete and response:
            usage["completion"] = count(response)
            answer = strip_reasoning(response)
            if answer != response:
                usage["reasoning"] = usage["completion"] - (count(answer) if answer else 0)
        instance.resps = [ModelResponse(str(response), usage=usage)]


def warn_of_long_prompts(task: Any) -> dict[str, list[int]]:
    """Warn of prompts longer than the context, which are cut from the left.

    Returns:
        Language -> how many prompts are cut, of how many; empty where none is. Of a replay those
        of the replayed run.
    """
    if task.run.replay is not None:
        return dict(task.run.replay.cut_prompts(task.config.task))
    count, limit = backends.token_counter(task.run.lm), backends.context_length(task.run.lm)
    if count is None or limit is None:
        return {}
    lengths = functools.cache(count)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    ordered = sorted(task.instances, key=lambda item: (item.doc_id, item.idx))
    for _, same in groupby(ordered, key=lambda item: item.doc_id):
        of_doc = list(same)
        codes = task.prompt_languages(of_doc[0].doc)
        for number, instance in enumerate(of_doc):
            context, kwargs = instance.args
            needed = int(kwargs.get("max_gen_toks", 0)) if task.generates else lengths(kwargs)
            count_of = counts[codes[number * len(codes) // len(of_doc)]]
            count_of.update(asked=1, cut=lengths(context) + needed > limit)
    total: dict[str, Counter[str]] = defaultdict(Counter)
    for part in task.run.all_gather(dict(counts)):
        for code, count_of in part.items():
            total[code].update(count_of)
    cut = {code: [row["cut"], row["asked"]] for code, row in total.items() if row["cut"]}
    for code, (n, asked) in cut.items():
        log.warning(
            "%s: %d of %d prompts (%s) and the room for their answers are longer than the model's "
            "context of %d tokens: they lose their beginning, which has the question. Set a longer "
            "context (--model_args max_length=...) or less room (--gen_kwargs max_gen_toks=...)",
            task.config.task, n, asked, code, limit,
        )  # fmt: skip
    return cut


def digest_of(text: str) -> int | None:
    """Return what tells whether two questions got the same response; None of none."""
    if isinstance(text, FailedResponse) or not text.strip():
        return None
    digest = hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:6], "big")


def summarize(task: Any, records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return outcomes, cut responses and tokens by language, of the records of all questions."""
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        for code, outcome in record.get(OUTCOME, {}).items():
            outcomes[code][outcome] += 1
        for code, count in record[BY_LANGUAGE].items():
            counts[code].update(count)
    summary: dict[str, Any] = {}
    if outcomes:
        summary["outcomes"] = {
            code: {name: count[name] for name in OUTCOMES if count[name]}
            for code, count in outcomes.items()
        }
    if n_cut := sum(count["cut"] for count in counts.values()):
        summary["cut"] = {code: [count["cut"], count["asked"]] for code, count in counts.items()}
        log.warning(
            "%s: %d of %d answers are as long as they may be, so perhaps cut off, and scored as "
            "they are. Give them more room: --gen_kwargs max_gen_toks=...",
            task.config.task, n_cut, sum(count["asked"] for count in counts.values()),
        )  # fmt: skip
    kinds = ("prompt", "completion", "reasoning", "answers")
    tokens = {
        code: {kind: count[kind] for kind in kinds if count[kind]}
        for code, count in counts.items() if count["answers"]
    }  # fmt: skip
    return {**summary, **({"tokens": tokens} if tokens else {})}


def warn_of_reasoning(task: Any) -> None:
    """Warn where texts to be scored hold a model's reasoning, or where it has no end."""
    texts = [instance.resps[0] for instance in task.instances]
    stripped = [(str(text), strip_reasoning(text)) for text in texts]
    marked = sum(text != answer for text, answer in stripped)
    unfinished = sum(answer is None for _, answer in stripped)
    # A server's parser takes the reasoning away: then nothing is left, and it was cut off.
    unfinished += sum(not text.strip() and is_truncated(text) for text in texts)
    if marked and task.scores_texts:
        log.warning(
            "%s: %d answers hold the model's thinking (<think>), which is scored as if it were "
            "the answer. Have it removed: think_end_token=... in --model_args of hf and vllm, "
            "or the server's reasoning parser.",
            task.config.task, marked,
        )  # fmt: skip
    elif unfinished:
        log.warning(
            "%s: %d of %d replies end within the model's thinking, before any answer. Give it "
            "more room (--gen_kwargs max_gen_toks=...), or switch its thinking off.",
            task.config.task, unfinished, len(texts),
        )  # fmt: skip


_MISSING = {
    "failed_rate": "failed and are unscored",
    "content_filter_rate": "were held back by the service",
    "empty_rate": "are empty (a model that thinks first needs more room: max_gen_toks)",
    "judge_failed_rate": "were not judged",
    "translation_failed_rate": "were not translated",
}
"""What the table of scores does not show, and its reader must know of where there is any."""


def warn_of_missing(task: str, recorded: Mapping[str, Any]) -> None:
    """Warn where some of a task's responses are no answers or unscored, or most are one text."""
    problems = [
        f"{name.removeprefix(start).lstrip('_') or 'all'}: {value:.1%} of the answers {words}"
        for start, words in _MISSING.items()
        for name, value in recorded.items()
        if name.startswith(start) and isinstance(value, float) and value > 0
    ]
    if problems:
        remaining = f", and {len(problems) - 6} more" if len(problems) > 6 else ""
        log.warning("%s: %s%s", task, "; ".join(problems[:6]), remaining)
    repeated = recorded.get("repeated_responses") or 0
    if repeated > _REPEATED and (recorded.get("n_responses") or 0) >= _FEW:
        log.warning(
            "%s: %.0f%% of the questions got the same response word for word; if it is a message "
            "of the service rather than an answer, these scores say nothing of the model",
            task, 100 * repeated,
        )  # fmt: skip
