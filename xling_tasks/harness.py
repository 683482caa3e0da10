"""What the harness knows but does not hand to a task, and its small change.

A task gets the model args merged into its metadata, but neither the model nor which keys were
model args. Both are locals of `lm_eval.evaluator` while it loads and runs tasks, so they are read
from the call stack there; where they cannot be found the answer is None and callers are lenient.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

_EVALUATOR = "lm_eval.evaluator"


def running(name: str) -> Any:
    """The local variable `name` of the harness's `simple_evaluate` or `evaluate` in progress.

    Returns:
        Its value in the innermost such call that has it; None outside of a run.
    """
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == _EVALUATOR and name in frame.f_locals:
            return frame.f_locals[name]
        frame = frame.f_back  # type: ignore[assignment]
    return None


def model_args_in_use() -> Mapping[str, Any] | None:
    """The model args of the run in progress; {} outside of a run; None if they cannot be told."""
    frame = sys._getframe(1)
    while frame is not None:
        inside = frame.f_globals.get("__name__") == _EVALUATOR
        if inside and frame.f_code.co_name == "simple_evaluate":
            if "model_args" not in frame.f_locals:
                return None
            return as_mapping(frame.f_locals["model_args"])
        frame = frame.f_back  # type: ignore[assignment]
    return {}


def as_mapping(args: Any) -> Mapping[str, Any]:
    """Model arguments as the harness takes them: a mapping, `key=value` text, or none."""
    if isinstance(args, Mapping):
        return args
    if isinstance(args, str):
        from lm_eval.utils import simple_parse_args_string

        return dict(simple_parse_args_string(args))
    return {}


def unwrapped(lm: Any) -> Any:
    """The model itself, without the harness's answer cache around it."""
    return lm.__dict__.get("lm", lm) if type(lm).__name__ == "CachingLM" else lm


def has_loglikelihood(lm: Any) -> bool:
    """Whether a backend can score given text; chat APIs raise NotImplementedError at once."""
    method = getattr(type(unwrapped(lm)), "loglikelihood", None)
    code = getattr(method, "__code__", None)
    return code is None or "NotImplementedError" not in code.co_names


def clean_reply(reply: Any) -> str:
    """A reply as text: None and the API backends' placeholder for null become empty."""
    placeholder = os.environ.get("LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER", "")
    return "" if reply is None or reply == placeholder else str(reply)


def replayed(lm: Any) -> Any:
    """The model `xling_replay` if that is what runs, else None."""
    return unwrapped(lm) if "ReplayLM" in _classes(lm) else None


_HOSTED = {"TemplateAPI", "AnthropicLM", "AnthropicChat", "TextSynthLM", "WatsonxLLM"}
_SEEDLESS = {"AnthropicChat", "LiteLLMChatCompletion"}


def is_hosted(lm: Any) -> bool:
    """Whether answers come from a service, which may differ even at temperature 0.

    Of a replayed run its log says so: a replay asks as often as the run asked.
    """
    replay = replayed(lm)
    if replay is not None:
        return bool(replay.hosted)
    return not _HOSTED.isdisjoint(_classes(lm))


def takes_seed(lm: Any) -> bool:
    """Whether a request may carry its own `seed`: the OpenAI-style API backends, and vLLM.

    The API backends otherwise send one fixed seed with every request, and a server that honours
    it returns k identical answers. A replay hands out the logged answers in their order, whatever
    seeds they were made with.
    """
    classes = _classes(lm)
    return bool({"TemplateAPI", "VLLM"} & classes) and _SEEDLESS.isdisjoint(classes)


def all_ranks(value: Any) -> list[Any]:
    """The values of all processes of a data-parallel run, by rank; [value] in a single one."""
    lm = running("lm")
    if getattr(lm, "world_size", 1) == 1:
        return [value]
    import torch.distributed as dist

    gathered: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, value)
    return gathered


def _classes(lm: Any) -> set[str]:
    return {base.__name__ for base in type(unwrapped(lm)).__mro__}


# What these backends decode with, whatever a request asks for.
_FIXED_TEMPERATURE = {"GGUFLM": 0.0, "TextSynthLM": 0.0}


def sent_temperature(lm: Any, temperature: float) -> float:
    """The temperature that a backend really uses when asked for one.

    The harness's OpenAI chat backend, for example, sends 1 for every model whose name contains
    `5`, `o1`, `o3` or `o4`. The payload it would send says so; other backends are taken at their
    word.
    """
    model = unwrapped(lm)
    for name in _classes(lm) & set(_FIXED_TEMPERATURE):
        return _FIXED_TEMPERATURE[name]
    create = getattr(model, "_create_payload", None)
    if create is None:
        return temperature
    asked = {
        "temperature": temperature,
        "max_gen_toks": 1,
        "until": [],
        "do_sample": temperature > 0,
    }
    try:
        payload = create([{"role": "user", "content": "x"}], generate=True, gen_kwargs=asked)
        return float(payload.get("temperature", temperature))
    except Exception:  # a backend of another make: nothing can be told
        return temperature
