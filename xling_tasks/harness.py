"""What the harness knows but does not hand to a task, and its small change.

A task gets the model args merged into its metadata, but neither the model nor which keys were
model args. Both are locals of `lm_eval.evaluator` while it loads and runs tasks, so they are read
from the call stack there; where they cannot be found the answer is None and callers are lenient.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from xling_tasks.unanswered import Unanswered, failed

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


def output_of_run() -> tuple[str | None, bool] | None:
    """`--output_path` and whether `--log_samples` was given to the `lm_eval` command in progress.

    The command's folder is known to its evaluation tracker only, a local of `simple_evaluate`.

    Returns:
        None for a run that is no command's, and in processes other than the first.
    """
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != "lm_eval._cli.run":
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None or getattr(running("lm"), "rank", 0) != 0:
        return None
    folder = getattr(running("evaluation_tracker"), "output_path", None)
    return (str(folder) if folder else None), bool(running("log_samples"))


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
    if isinstance(reply, Unanswered):
        return reply
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


# Characters to a token of common tokenizers: Chinese, Japanese and Korean; other scripts.
_PER_TOKEN = (1.2, 3.5)
_DENSE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]")


def may_be_cut(lm: Any, reply: str, limit: Any) -> bool:
    """Whether a reply is about as long as the model was allowed to write (`max_gen_toks`).

    Counted in the backend's own tokens where it has a tokenizer. A service says nothing of tokens:
    there the number is guessed from the characters, and a reply that ends a sentence or closes a
    bracket or a bold passage is taken as whole.
    """
    if not isinstance(limit, int) or len(reply.encode()) < limit:
        return False
    try:
        tokens = unwrapped(lm).tok_encode(reply)
    except Exception:  # a backend without a tokenizer
        tokens = None
    if isinstance(tokens, list) and tokens and isinstance(tokens[0], int):
        return len(tokens) >= limit - 2
    dense = len(_DENSE.findall(reply))
    about = dense / _PER_TOKEN[0] + (len(reply) - dense) / _PER_TOKEN[1]
    return about >= 0.85 * limit and reply.rstrip()[-1:].isalnum()


def token_count(lm: Any, text: str) -> int | None:
    """Tokens of a text, those around every text left aside; None where the backend has none."""
    try:
        model = unwrapped(lm)
        count = len(model.tok_encode(text)) - len(model.tok_encode(""))
    except Exception:  # a backend without a tokenizer
        return None
    return count if count > 0 else None


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


# The model under test, watched while it answers


def this_run() -> object:
    """What is one object during one `evaluate` and another one in the next; None outside."""
    return running("eval_results_acc")


def seeds_in_use() -> list[Any]:
    """The seeds of the run in progress (`--seed`)."""
    names = ("random_seed", "numpy_random_seed", "torch_random_seed", "fewshot_random_seed")
    return [running(name) for name in names]


def reseed(seed: int) -> None:
    """Set the global random streams that local backends sample from."""
    import random

    import numpy as np

    random.seed(seed)
    np.random.seed(seed % 2**32)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)


def is_engine(lm: Any) -> bool:
    """Whether a backend tells of its answers only when a whole batch is done: vLLM and SGLang.

    Their cache hook comes after the last answer of a batch, and with arguments that are not those
    of the request (vLLM rewrites them, SGLang gives those of the batch's last request).
    """
    return not {"VLLM", "SGLangLM"}.isdisjoint(_classes(lm))


def batch_size_of(lm: Any) -> int | None:
    """Requests in a batch; None if the backend chooses."""
    size = getattr(unwrapped(lm), "batch_size", None)
    try:
        return max(1, int(size))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def uses_answer_cache(lm: Any) -> bool:
    """Whether the run has `--use_cache`."""
    return type(lm).__name__ == "CachingLM"


def forget_cached(lm: Any, kind: str, arguments: tuple[Any, ...]) -> None:
    """Take a reply that is no answer out of the harness's answer cache again."""
    if uses_answer_cache(lm):
        from lm_eval.api.model import hash_args

        lm.dbdict.pop(hash_args(kind, arguments), None)


class Watch:
    """The model's own methods, replaced on the one object that runs, until `undo`.

    Tasks only make requests; the harness hands them to `lm.generate_until` and `lm.loglikelihood`
    by name. An attribute of the object shadows its class's method, also that of `CachingLM`, so
    nothing else changes: other runs, other models, and the class stay as they are.

    Args:
        lm: The model, maybe within the harness's answer cache.
        methods: What to put in the place of its methods, by name.
        told: Called with (kind, (context, argument), answer) as soon as an answer is there.
    """

    def __init__(
        self, lm: Any, methods: Mapping[str, Any], told: Callable[[str, Any, Any], None]
    ) -> None:
        self._lm, self._inner, self._names = lm, unwrapped(lm), list(methods)
        self.before = {name: getattr(lm, name) for name in methods}
        for name, method in methods.items():
            lm.__dict__[name] = method
        self._hook = getattr(self._inner, "cache_hook", None)
        self._inner.cache_hook = _Hook(self._hook, told)

    def undo(self) -> None:
        """Give the object its own methods back."""
        for name in self._names:
            self._lm.__dict__.pop(name, None)
        self._inner.cache_hook = self._hook


class _Hook:
    """A cache hook that tells us, too; failed calls are kept out of `--use_cache`."""

    def __init__(self, before: Any, told: Callable[[str, Any, Any], None]) -> None:
        self._before, self._told = before, told
        self.dbdict = getattr(before, "dbdict", None)

    def add_partial(self, kind: str, request: Any, answer: Any) -> None:
        if self._before is not None and not failed(answer):
            self._before.add_partial(kind, request, answer)
        self._told(kind, request, answer)


# Standard errors


def use_own_standard_errors() -> None:
    """Let the harness ask an aggregation for its own standard error, where it has one.

    The harness knows the errors of its own aggregations only and shows 'N/A' for all others. An
    aggregation with a method `standard_error` is asked for it; everything else is as before, also
    that `bootstrap_iters=0` asks for none. Needless once `stderr_for_metric` does so upstream.
    """
    from lm_eval import evaluator_utils

    known = getattr(evaluator_utils, "stderr_for_metric", None)
    if known is None or hasattr(known, "__wrapped__"):
        return

    @functools.wraps(known)
    def stderr_for_metric(metric: Any, bootstrap_iters: int) -> Any:
        own = getattr(metric, "standard_error", None) if bootstrap_iters > 0 else None
        return known(metric, bootstrap_iters) if own is None else own

    evaluator_utils.stderr_for_metric = stderr_for_metric
