"""What a run says of the responses themselves: which did not come, were cut off or repeat."""

from __future__ import annotations

import functools
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from xling_tasks.errors import BackendError
from xling_tasks.failed_response import (
    BY_LANGUAGE,
    FailedResponse,
    ModelResponse,
    details_of,
    is_empty,
    is_truncated,
)
from xling_tasks.harness.backends import (
    context_length,
    may_be_cut,
    token_counter,
    unwrapped,
)
from xling_tasks.log import log
from xling_tasks.outcomes import OUTCOME, OUTCOMES
from xling_tasks.readers.reasoning import strip_reasoning

_TOKENS = ("prompt", "completion", "reasoning")
_REPEATED = 0.5
"""A share of the questions with one response, above which a service may be what speaks."""
_FEW = 10
"""Questions below which equal responses say nothing."""


def single_text(result: Any, location: str) -> Any:
    """Return the one response that a filter leaves of one, which may come as a list."""
    if not isinstance(result, list):
        return result
    if len(result) != 1:
        raise BackendError(f"{location} leaves {len(result)} responses of one; every one is scored")
    return result[0]


def record_of(task: Any, doc: Mapping[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Return what a sample keeps of its responses.

    These are: how many were asked for; outcome, reason, finish reason and tokens of each, where
    there are any; and counts by language of the prompt: `asked`, `cut`, `thinking_only` (the
    reasoning took all the room), and tokens of the `answers` where they are known. Tokenizers make
    several times the tokens of one language that they make of another, so the same room may cut
    answers in one alone.
    """
    codes, limit = task.prompt_languages(doc), task.config.generation_kwargs.get("max_gen_toks")
    counts: dict[str, Counter[str]] = {}
    for number, text in enumerate(texts):
        count = counts.setdefault(codes[number * len(codes) // len(texts)], Counter())
        count["asked"] += 1
        count["cut"] += task.scores_texts and may_be_cut(task.run.lm, text, limit)
        count["thinking_only"] += _is_thinking_only(text)
        if isinstance(text, ModelResponse) and text.usage:
            count.update({**text.usage, "answers": 1})
    return {
        "asked": len(texts),
        "responses": details_of([[text] for text in texts]),
        BY_LANGUAGE: {code: dict(+count) for code, count in counts.items()},
    }


def _is_thinking_only(text: str) -> bool:
    """Return whether a model's reasoning took all the room for its answer."""
    if isinstance(text, FailedResponse):
        return False
    return strip_reasoning(text) is None or (not text.strip() and is_truncated(text))


def count_tokens(task: Any) -> None:
    """Count the tokens of prompts and responses by a local model's own tokenizer.

    A server's figures stay; those of responses whose reasoning the backend removed are not known.
    """
    lm = task.run.lm
    count = token_counter(lm)
    if count is None:
        return
    complete = not getattr(unwrapped(lm), "think_end_token", None)
    lengths = functools.cache(count)  # a prompt is asked several times
    for instance in task.instances:
        response = instance.resps[0]
        if isinstance(response, ModelResponse):
            continue
        usage = {"prompt": lengths(instance.args[0])}
        if complete and response:
            usage["completion"] = count(response)
            answer = strip_reasoning(response)
            if answer != response:
                usage["reasoning"] = usage["completion"] - (count(answer) if answer else 0)
        instance.resps = [ModelResponse(response, usage=usage)]


def warn_of_long_prompts(task: Any) -> dict[str, list[int]]:
    """Warn of prompts that are longer than a local model's context, before anything is asked.

    The harness cuts them from the left: instruction and question are lost.

    Returns:
        Language -> how many prompts are cut, of how many; empty where none is.
    """
    lm = task.run.lm
    count, room = token_counter(lm), context_length(lm)
    if count is None or room is None:
        return {}
    lengths = functools.cache(count)
    counts: dict[str, Counter[str]] = {}
    ordered = sorted(task.instances, key=lambda item: (item.doc_id, item.idx))
    for _, same in groupby(ordered, key=lambda item: item.doc_id):
        of_doc = list(same)
        codes = task.prompt_languages(of_doc[0].doc)
        for number, instance in enumerate(of_doc):
            context, more = instance.args
            needed = int(more.get("max_gen_toks", 0)) if task.generates else lengths(more)
            own = counts.setdefault(codes[number * len(codes) // len(of_doc)], Counter())
            own.update(asked=1, cut=lengths(context) + needed > room)
    whole: dict[str, Counter[str]] = {}
    for part in task.run.all_gather(counts):
        for code, own in part.items():
            whole.setdefault(code, Counter()).update(own)
    cut = {code: [own["cut"], own["asked"]] for code, own in whole.items() if own["cut"]}
    for code, (n, asked) in cut.items():
        log.warning(
            "%s: %d of %d prompts (%s) and the room for their answers are longer than the model's "
            "context of %d tokens: they lose their beginning, which has the question. Set a longer "
            "context (--model_args max_length=...) or less room (--gen_kwargs max_gen_toks=...)",
            task.config.task, n, asked, code, room,
        )  # fmt: skip
    return cut


def digest_of(text: str) -> int | None:
    """Return what tells whether two questions got the same response; None of none."""
    if isinstance(text, FailedResponse) or is_empty(text):
        return None
    digest = hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:6], "big")


def summarize(task: Any, records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return outcomes, cut responses and tokens by language, of the records of all questions."""
    outcomes: dict[str, Counter[str]] = {}
    counts: dict[str, Counter[str]] = {}
    for record in records:
        for code, outcome in record.get(OUTCOME, {}).items():
            outcomes.setdefault(code, Counter())[outcome] += 1
        for code, count in record[BY_LANGUAGE].items():
            counts.setdefault(code, Counter()).update(count)
    cut = sum(count["cut"] for count in counts.values())
    if cut:
        log.warning(
            "%s: %d of %d answers are as long as they may be, so perhaps cut off, and scored as "
            "they are. Give them more room: --gen_kwargs max_gen_toks=...",
            task.config.task, cut, sum(count["asked"] for count in counts.values()),
        )  # fmt: skip
    tokens = {code: {kind: count[kind] for kind in (*_TOKENS, "answers") if count[kind]}
              for code, count in counts.items() if count["answers"]}  # fmt: skip
    by_code = {code: {name: count[name] for name in OUTCOMES if count[name]}
               for code, count in outcomes.items()}  # fmt: skip
    return {
        **({"outcomes": by_code} if by_code else {}),
        **(
            {"cut": {c: [count["cut"], count["asked"]] for c, count in counts.items()}}
            if cut
            else {}
        ),
        **({"tokens": tokens} if tokens else {}),
    }


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
    found = [
        f"{name.removeprefix(start).lstrip('_') or 'all'}: {value:.1%} of the answers {words}"
        for start, words in _MISSING.items()
        for name, value in recorded.items()
        if name.startswith(start) and isinstance(value, float) and value > 0
    ]
    if found:
        others_text = f", and {len(found) - 6} more" if len(found) > 6 else ""
        log.warning("%s: %s%s", task, "; ".join(found[:6]), others_text)
    repeated, n = recorded.get("repeated_responses"), recorded.get("n_responses") or 0
    if repeated is not None and repeated > _REPEATED and n >= _FEW:
        log.warning(
            "%s: %.0f%% of the questions got the same response word for word; if it is a message "
            "of the service rather than an answer, these scores say nothing of the model",
            task, 100 * repeated,
        )  # fmt: skip
