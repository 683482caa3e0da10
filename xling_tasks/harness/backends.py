"""What the harness's backends do and cannot do, told by the names and the code of their classes."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from xling_metrics.base import replace_lone_surrogates

from xling_tasks.failed_response import FailedResponse, ModelResponse, is_truncated
from xling_tasks.harness.arguments import identity_of


def unwrapped(lm: Any) -> Any:
    """Return the model itself, without the harness's answer cache around it."""
    return lm.__dict__.get("lm", lm) if type(lm).__name__ == "CachingLM" else lm


def _classes(lm: Any) -> set[str]:
    return {base.__name__ for base in type(unwrapped(lm)).__mro__}


def has_loglikelihood(lm: Any) -> bool:
    """Return whether a backend can score given text; chat APIs raise at once."""
    method = getattr(type(unwrapped(lm)), "loglikelihood", None)
    code = getattr(method, "__code__", None)
    return code is None or "NotImplementedError" not in code.co_names


def clean_reply(reply: Any) -> str:
    """Return a response as text: None and the API backends' placeholder for null become ''.

    Half a letter, as a reply that was cut within an emoji may hold, becomes U+FFFD: it can be
    written to no file in UTF-8, so one such reply would cost the samples of a whole task.
    """
    if isinstance(reply, FailedResponse):
        return reply
    placeholder = os.environ.get("LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER", "")
    text = "" if reply is None or reply == placeholder else replace_lone_surrogates(str(reply))
    if isinstance(reply, ModelResponse):
        return ModelResponse(text, reply.finish_reason, reply.usage)
    return text


def responses_in(result: Any) -> list[str]:
    """Return the responses in one logged or filtered result: a text, or a list of them."""
    return [clean_reply(item) for item in (result if isinstance(result, list) else [result])]


def replayed(lm: Any) -> Any:
    """Return the model `xling_replay` if that is what runs, else None."""
    return unwrapped(lm) if "ReplayLM" in _classes(lm) else None


_HOSTED = {"TemplateAPI", "AnthropicLM", "AnthropicChat", "TextSynthLM", "WatsonxLLM"}
_SEEDLESS = {"AnthropicChat", "LiteLLMChatCompletion"}


def is_hosted(lm: Any) -> bool:
    """Return whether answers come from a service, now or in the run that is replayed.

    They may differ even at temperature 0.
    """
    replay = replayed(lm)
    if replay is not None:
        return bool(replay.hosted)
    return not _HOSTED.isdisjoint(_classes(lm))


def takes_seed(lm: Any) -> bool:
    """Return whether a request may carry its `seed`: OpenAI-style API backends, and vLLM.

    The API backends otherwise send one fixed seed with every request, and a server that honours
    it returns k identical answers.
    """
    classes = _classes(lm)
    return bool({"TemplateAPI", "VLLM"} & classes) and _SEEDLESS.isdisjoint(classes)


def sent_temperature(lm: Any, temperature: float) -> float:
    """Return the temperature that a backend really uses when asked for one.

    The harness's OpenAI chat backend, for example, sends 1 for every model whose name contains
    `5`, `o1`, `o3` or `o4`. The payload it would send says so; other backends do as asked.
    """
    if not {"GGUFLM", "TextSynthLM"}.isdisjoint(_classes(lm)):  # these decode greedily
        return 0.0
    arguments = {"temperature": temperature, "max_gen_toks": 1, "until": []}
    arguments["do_sample"] = temperature > 0
    try:
        payload = unwrapped(lm)._create_payload(
            [{"role": "user", "content": "x"}], generate=True, gen_kwargs=arguments
        )
        return float(payload.get("temperature", temperature))
    except Exception:  # a backend that makes no payload, or another one
        return temperature


# Characters to a token of common tokenizers: Chinese, Japanese and Korean; other scripts.
_PER_TOKEN = (1.2, 3.5)
_DENSE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]")


def may_be_cut(lm: Any, reply: str, limit: Any) -> bool:
    """Return whether a response is about as long as `max_gen_toks` allows.

    A service's finish reason says it, or the backend's tokenizer; else tokens are guessed from
    characters, and a response that ends a sentence or closes a bracket counts as whole.
    """
    if isinstance(reply, ModelResponse) and reply.finish_reason:
        return is_truncated(reply)
    if not isinstance(limit, int) or len(reply.encode()) < limit:
        return False
    try:
        tokens = unwrapped(lm).tok_encode(reply)
    except Exception:  # a backend without a tokenizer
        tokens = None
    if isinstance(tokens, list) and tokens and isinstance(tokens[0], int):
        return len(tokens) >= limit - 2
    dense = len(_DENSE.findall(reply))
    n_tokens = dense / _PER_TOKEN[0] + (len(reply) - dense) / _PER_TOKEN[1]
    return n_tokens >= 0.85 * limit and reply.rstrip()[-1:].isalnum()


def token_counter(lm: Any) -> Callable[..., int] | None:
    """Return what counts the tokens of a prompt; None for models that are not given tokens.

    With `add_special_tokens=False` it counts a response: no model writes the token that many
    tokenizers put before a text.
    Services take text, but by `local-completions` tokens, which are cut as for a local model.
    """
    model = unwrapped(lm)
    sends_text = is_hosted(lm) and not getattr(model, "tokenized_requests", False)
    if sends_text or replayed(lm) is not None or not hasattr(model, "tok_encode"):
        return None
    return lambda text, **options: len(model.tok_encode(text, **options))


def context_length(lm: Any) -> int | None:
    """Return the tokens of a decoder's context, prompt and answer; None if unknown."""
    model = unwrapped(lm)
    length = getattr(model, "max_length", None)
    causal = getattr(model, "backend", "causal") == "causal"
    return length if causal and isinstance(length, int) else None


def is_engine(lm: Any) -> bool:
    """Return whether a backend returns answers only for a whole batch: vLLM and SGLang.

    Their cache hook comes after the last answer, with other arguments than the request's.
    """
    return not {"VLLM", "SGLangLM"}.isdisjoint(_classes(lm))


def uses_answer_cache(lm: Any) -> bool:
    """Return whether the run has `--use_cache`."""
    return type(lm).__name__ == "CachingLM"


def has_chat_template(lm: Any) -> bool:
    """Return whether a local model's tokenizer has a chat template."""
    try:
        tokenizer = getattr(unwrapped(lm), "tokenizer", None)
        return not speaks_chat(lm) and bool(getattr(tokenizer, "chat_template", None))
    except Exception:  # a tokenizer may be loaded, or even fetched, only when asked for
        return False


_numbers = itertools.count()
_HOW_FAST = re.compile("batch|device|rank|world|concurrent|timeout|retries|cache")
"""Attributes of models that change nothing in a response."""


def identify_model(lm: Any, args: Mapping[str, Any]) -> list[Any]:
    """Return what a model's responses depend on: class, arguments and plain attributes."""
    model = unwrapped(lm)
    is_named = args or type(model).__module__.startswith("xling_tasks.")
    if not is_named:  # not `id`, which the next model may have once this one is gone
        vars(model).setdefault("_xling_number", next(_numbers))
    plain = {
        name: value
        for name, value in vars(model).items()
        if isinstance(value, (str, int, float, type(None))) and not _HOW_FAST.search(name)
    }
    in_process = () if is_named else (os.getpid(),)
    return [type(model).__qualname__, identity_of(args), plain, in_process]


def speaks_chat(lm: Any) -> bool:
    """Return whether a backend takes messages, which only the name of its class tells."""
    return any("chat" in base.__name__.lower() for base in type(lm).__mro__)


def is_own(lm: Any, *methods: str) -> bool:
    """Return whether a backend is a `TemplateAPI` with the harness's own methods of these names.

    LiteLLM's and others replace them, so that what they send is not known.
    """
    cls: Any = type(lm)
    api: Any = next((base for base in cls.__mro__ if base.__name__ == "TemplateAPI"), None)
    return api is not None and all(getattr(cls, name) is getattr(api, name) for name in methods)
