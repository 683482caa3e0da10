"""Questions whose response is one JSON object: by structured output, and read all the same without.

Some services take a JSON schema (OpenAI, vLLM, SGLang, llama.cpp, Ollama), others refuse it or drop
it without a word. So the last JSON object in a response that fits the schema counts, and one that
is not there is asked for once more in the same conversation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from xling_tasks.failed_response import FailedResponse
from xling_tasks.models.backend import Backend, Conversation
from xling_tasks.readers.reasoning import strip_reasoning

_REPAIR = "Reply with the JSON object that I asked for, complete, and nothing else."
_TYPES: dict[str, Any] = dict(string=str, boolean=bool, integer=int, array=list, object=dict)
_BACKSLASH = re.compile(r"(\\[\"\\/bfnrtu])|\\")  # of an escape in JSON, or a lone one (LaTeX)


def quote_material(**texts: Any) -> str:
    """Return texts of others (and lists of them) as a JSON object.

    No text can end its own string, and none holds a control token of a chat template: these begin
    with `<` or `[`, which are written as escapes.
    """
    lines = (f"{json.dumps(name)}: {_quote(value)}" for name, value in texts.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def _quote(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[\n" + ",\n".join(map(_quote, value)) + "\n]"
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("[", "\\u005b")


def object_schema(**fields: Any) -> dict[str, Any]:
    """Return the schema of an object: each field a type, a list of its values, or a schema."""
    options = {"required": [*fields], "additionalProperties": False}
    return {"type": "object", "properties": {n: _field(f) for n, f in fields.items()}, **options}


def array_schema(items: Any) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": _field(items)}


def _field(field: Any) -> dict[str, Any]:
    if isinstance(field, str):
        return {"type": field}
    return {"type": "string", "enum": field} if isinstance(field, list) else field


class JsonResponse(NamedTuple):
    """The object that a model gave."""

    value: dict[str, Any] | None
    texts: tuple[str, ...] = ()  # its response, and that of the repair turn if there was one
    reason: str = ""  # why there is no response

    @property
    def repaired(self) -> bool:
        """Whether the model was asked for the object a second time."""
        return len(self.texts) > 1

    @property
    def text(self) -> str | None:
        """All responses as one text; None without any."""
        return join_texts(self.texts)


def join_texts(texts: Sequence[str]) -> str | None:
    """Return a response and that of its repair turn as one text; None without any."""
    return "\n\n[asked again]\n".join(texts) or None


def ask_json(
    backend: Backend,
    prompts: Sequence[str],
    schema: Mapping[str, Any],
    *,
    is_complete: Callable[[str, dict[str, Any]], bool] = lambda prompt, value: True,
    min_tokens: int = 0,
) -> dict[str, JsonResponse]:
    """Ask for one object per prompt, a second time where the first response has none.

    `is_complete` tells whether the object for a prompt has all that was asked for; `min_tokens` is
    the least room of a response.
    """
    options: dict[str, Any] = {"min_tokens": min_tokens, "schema": schema}
    results: dict[str, JsonResponse] = {}
    repairs: dict[str, str] = {}
    distinct = list(dict.fromkeys(prompts))
    for prompt, response in zip(distinct, backend.generate(distinct, **options), strict=True):
        value = find_object(response, schema, prompt)
        texts = () if response.reason else (str(response),)
        results[prompt] = JsonResponse(value, texts, response.reason)
        if texts and (value is None or not is_complete(prompt, value)):
            turn = (strip_reasoning(response) or "").strip() or "..."
            repairs[Conversation(prompt, turn, _REPAIR)] = prompt
    responses = backend.generate([*repairs], **options) if repairs else []
    for prompt, response in zip(repairs.values(), responses, strict=True):
        first = results[prompt]
        if isinstance(response, FailedResponse):
            results[prompt] = first._replace(reason=response.reason)
            continue
        value = find_object(response, schema, prompt)
        if value is None or (first.value is not None and not is_complete(prompt, value)):
            value = first.value
        results[prompt] = JsonResponse(value, (*first.texts, str(response)))
    return results


def read_numbered(pairs: Sequence[tuple[int, bool]], count: int) -> list[bool | None]:
    """Return the value of numbers 1 to `count`; None for one without, or with two that differ.

    A list that counts from 0 has none: its numbers are those of the items before.
    """
    if any(number == 0 for number, _ in pairs):
        return [None] * count
    values = [{value for number, value in pairs if number == n} for n in range(1, count + 1)]
    return [options.pop() if len(options) == 1 else None for options in values]


def find_object(response: str, schema: Mapping[str, Any], prompt: str = "") -> Any:
    """Return the last object in a response that fits the schema and does not quote the prompt."""
    text = _BACKSLASH.sub(lambda m: m[1] or r"\\", strip_reasoning(response) or "")
    decoder, result, position = json.JSONDecoder(strict=False), None, -1  # lines may break
    bare_prompt = prompt.replace("\\", "")
    while (position := text.find("{", position + 1)) >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
            value = fit(value, schema)
        except (ValueError, LookupError, RecursionError):
            continue
        if _quote(text[position:end])[1:-1].replace("\\", "") not in bare_prompt:
            result = value
        position = end - 1
    return result


def fit(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return a value as `object_schema` or `array_schema` have it; raise an error if it cannot be.

    Judges whose service drops the schema write labels in another case, and quote numbers and true.
    """
    if "enum" in schema:
        return {label.casefold(): label for label in schema["enum"]}[str(value).strip().casefold()]
    kind = schema["type"]
    if isinstance(value, str) and kind in ("boolean", "integer"):
        value = json.loads(value.lower())
    if type(value) is not _TYPES[kind]:
        raise ValueError(f"no {kind}")
    if kind == "array":
        return [fit(item, schema["items"]) for item in value]
    if kind == "object":
        return {name: fit(value[name], field) for name, field in schema["properties"].items()}
    return value
