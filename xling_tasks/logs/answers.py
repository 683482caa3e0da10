"""The answers that every run saves before it scores: what is told of them, made and read.

A shelf of the store (of version 0.2: a file) holds one process's part of one task. What comes first
is a header: the run, the model, the generation arguments in use. All else is a document each:
digests of its content and of its prompts, and the answers. Prompts and documents themselves are
left out; a digest tells whether a later run asks the same (see `xling_tasks.lm.replay`).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from xling_tasks.harness.backends import class_name, clean_reply
from xling_tasks.harness.run import current
from xling_tasks.logs.results import as_json
from xling_tasks.replies.folder import key_of
from xling_tasks.secrets import redact
from xling_tasks.unanswered import Unanswered

FORMAT = 2
"""In every header, under `xling_answers`."""

_DIGITS = 32

Messages = Sequence[Mapping[str, Any]]


def new_run() -> str:
    """A name for a run: the time, and what tells apart runs that start together."""
    stamp = datetime.now().isoformat(timespec="microseconds").replace(":", "-")
    return f"{stamp}-{secrets.token_hex(3)}"


def doc_digest(doc: Mapping[str, Any]) -> str:
    """The digest of a document's content, as the harness logs it."""
    from lm_eval.utils import handle_non_serializable

    plain = json.loads(json.dumps(doc, default=handle_non_serializable))
    return key_of(plain)[:_DIGITS]


def prompt_digest(prompt: str | Messages) -> str:
    """The digest of a prompt before a chat template; a text is one message of the user."""
    if isinstance(prompt, str):
        prompt = [{"role": "user", "content": prompt}]
    return key_of([[message["role"], message["content"]] for message in prompt])[:_DIGITS]


def noting(template: Callable[..., Any], digests: dict[str, str]) -> Callable[..., Any]:
    """A chat template that notes the digest of the messages behind every prompt it makes."""

    def apply(messages: Messages, **options: Any) -> Any:
        prompt = template(messages, **options)
        digests[key_of(prompt)] = prompt_digest(messages)
        return prompt

    return apply


def answer_lines(
    task: str, run: str, instances: Sequence[Any], digests: Mapping[str, str] | None
) -> Iterator[dict[str, Any]]:
    """The header and the documents of a task's answers.

    DIGESTS are what `noting` noted, None where no chat template was applied; all processes of a run
    give it the same name.
    """
    arguments: dict[str, int] = {}
    for item in instances:
        if item.request_type == "generate_until":
            arguments.setdefault(as_json(item.args[1]), len(arguments))
    now = current()
    yield {
        "xling_answers": FORMAT,
        "task": task,
        "run": run,
        "rank": getattr(now.lm, "rank", 0),
        "world_size": getattr(now.lm, "world_size", 1),
        "model": now.model if isinstance(now.model, str) else class_name(now.model),
        "model_args": redact(dict(now.model_args)),
        "chat_template": digests is not None,
        "arguments": [json.loads(text) for text in arguments],
    }
    for doc_id, group in groupby(instances, key=lambda item: item.doc_id):
        items = list(group)
        yield {
            "doc_id": doc_id,
            "question_id": items[0].doc.get("question_id"),
            "doc": doc_digest(items[0].doc),
            "requests": [_request(item, arguments, digests or {}) for item in items],
        }


def _request(item: Any, arguments: Mapping[str, int], digests: Mapping[str, str]) -> dict[str, Any]:
    """What one request asked, and the answers."""
    prompt, replies = item.args[0], item.resps[: item.repeats]
    known = digests.get(key_of(prompt))
    text = prompt if isinstance(prompt, str) else as_json(prompt)
    logged: dict[str, Any] = {"prompt": known or prompt_digest(text)}
    if item.request_type == "generate_until":
        logged["arguments"] = arguments[as_json(item.args[1])]
        logged["answers"] = [clean_reply(reply) for reply in replies]
        lacking = {i: r for i, r in enumerate(replies) if isinstance(r, Unanswered)}
        if lacking:
            logged["unanswered"] = [[i, r.outcome, r.reason] for i, r in lacking.items()]
    else:
        logged["continuation"] = item.args[1]
        logged["answers"] = [[float(score), bool(greedy)] for score, greedy in replies]
    return logged


def read_requests(
    row: Mapping[str, Any], arguments: Sequence[Any]
) -> Iterable[tuple[str, str, Any, list[Any]]]:
    """Type, prompt's digest, argument and answers of each request in a document's line."""
    for item in row["requests"]:
        if "continuation" in item:
            scores = [(float(score), bool(greedy)) for score, greedy in item["answers"]]
            yield "loglikelihood", item["prompt"], item["continuation"], scores
        else:
            answers = list(map(str, item["answers"]))
            for i, outcome, reason in item.get("unanswered", ()):
                answers[i] = Unanswered.of(str(outcome), str(reason), answers[i])
            yield "generate_until", item["prompt"], arguments[item["arguments"]], answers
