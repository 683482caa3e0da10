"""Questions whose reply is one JSON object: by structured output, and read all the same without.

Services take `response_format` with a JSON schema (OpenAI, vLLM, SGLang, llama.cpp, Ollama); others
refuse it or drop it without a word. So a service that refuses is asked without, and every reply is
checked: the last JSON object in it that fits the schema counts. One that has none is asked for once
more in the same conversation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from xling_tasks.models.backend import Backend, Conversation
from xling_tasks.readers.reasoning import strip_reasoning

ASKED_AGAIN = "repair_rate"
"""The metric that counts replies that were asked for a second time."""

_AGAIN = "Reply with the JSON object that I asked for, complete, and nothing else."
_KINDS = {"string": str, "boolean": bool, "integer": int}


def material(**texts: Any) -> str:
    """Return texts of others (and lists of them) as a JSON object.

    No text can end its own string, and none holds a control token of a chat template: these begin
    with `<` or `[`, which are written as escapes.
    """
    lines = (f"{json.dumps(name)}: {_escaped(value)}" for name, value in texts.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def _escaped(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[\n" + ",\n".join(map(_escaped, value)) + "\n]"
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("[", "\\u005b")


def schema(**fields: Any) -> dict[str, Any]:
    """Return the schema of an object: each field a type, a list of its values, or a schema."""
    made = {name: _field(form) for name, form in fields.items()}
    return {
        "type": "object",
        "properties": made,
        "required": [*made],
        "additionalProperties": False,
    }


def array(items: Any) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": _field(items)}


def _field(form: Any) -> dict[str, Any]:
    if isinstance(form, str):
        return {"type": form}
    return {"enum": form} if isinstance(form, list) else form


class Answer(NamedTuple):
    """The object of a reply, or None; all replies; and why there is none ('' if there is one)."""

    value: dict[str, Any] | None
    replies: tuple[str, ...] = ()
    reason: str = ""

    @property
    def asked_again(self) -> bool:
        """Whether it was asked for a second time."""
        return len(self.replies) > 1

    @property
    def reply(self) -> str | None:
        """All replies as one text; None without any."""
        return "\n\n[asked again]\n".join(self.replies) or None


def ask_json(
    backend: Backend,
    prompts: Sequence[str],
    form: Mapping[str, Any],
    *,
    whole: Callable[[str, dict[str, Any]], bool] = lambda prompt, value: True,
    at_least: int = 0,
) -> dict[str, Answer]:
    """Ask for one object per prompt, a second time where the first reply has none.

    Args:
        backend: The model.
        prompts: What to ask.
        form: The schema.
        whole: Whether the object of a prompt says all that was asked for.
        at_least: Tokens that a reply must have room for.
    """
    wanted = {"name": "reply", "strict": True, "schema": dict(form)}
    response_format = {"type": "json_schema", "json_schema": wanted}
    how: dict[str, Any] = {"at_least": at_least, "response_format": response_format}
    distinct = list(dict.fromkeys(prompts))
    came: dict[str, Answer] = {}
    again: dict[str, str] = {}
    for prompt, reply in zip(distinct, backend.replies(distinct, **how), strict=True):
        value = read(reply.text, form, prompt)
        came[prompt] = Answer(value, (reply.text,) if reply.said else (), reply.reason)
        if reply.said and (value is None or not whole(prompt, value)):
            said = (strip_reasoning(reply.text) or "").strip() or "..."
            again[Conversation(prompt, said, _AGAIN)] = prompt
    for text, reply in zip(
        again, backend.replies(list(again), **how) if again else [], strict=True
    ):
        prompt, value = again[text], read(reply.text, form, again[text])
        first = came[prompt]
        better = value is not None and (whole(prompt, value) or first.value is None)
        came[prompt] = Answer(
            value if better else first.value, (*first.replies, reply.text), reply.reason
        )
    return came


def read(reply: str, form: Mapping[str, Any], prompt: str = "") -> dict[str, Any] | None:
    """Return the last object in a reply that fits the schema and does not quote the material."""
    text, decoder, found, at = strip_reasoning(reply) or "", json.JSONDecoder(), None, -1
    while (at := text.find("{", at + 1)) >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if not fits(value, form):
            continue
        if _escaped(text[at:end])[1:-1] not in prompt:
            found = value
        at = end - 1
    return found


def fits(value: Any, form: Mapping[str, Any]) -> bool:
    """Return whether a value fits a schema of the kind that `schema` makes."""
    if "enum" in form:
        return value in form["enum"]
    if form["type"] == "object":
        own = form["properties"]
        return isinstance(value, dict) and all(n in value and fits(value[n], own[n]) for n in own)
    if form["type"] == "array":
        return isinstance(value, list) and all(fits(each, form["items"]) for each in value)
    kind = _KINDS[form["type"]]
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
