"""Any model of the harness in a second role: built once, asked in batches, responses cached."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tqdm import tqdm

from xling_tasks.cache import cache_folder, cache_key, open_cache
from xling_tasks.discovery import register_models
from xling_tasks.errors import BackendError
from xling_tasks.failed_response import NO_ROOM, ModelResponse, response_of
from xling_tasks.harness.arguments import files_of, identity_of
from xling_tasks.harness.backends import (
    has_chat_template,
    sent_temperature,
    speaks_chat,
    unwrapped,
)
from xling_tasks.harness.run import current
from xling_tasks.log import log
from xling_tasks.models.batches import BatchInterface
from xling_tasks.models.http_api import ApiRequest, is_api_backend
from xling_tasks.models.model_config import SELF, ModelConfig
from xling_tasks.models.retry import RequestFailed, count_failures, format_reasons
from xling_tasks.models.transport import ModelClient
from xling_tasks.secrets import redact, redact_log, remember


class Conversation(str):
    """A prompt, the response to it, and the next request, as a text and as `messages`."""

    messages: list[dict[str, str]]

    def __new__(cls, prompt: str, response: str, request: str) -> Conversation:
        """Join the turns."""
        self = super().__new__(cls, f"{prompt}\n\n{response}\n\n{request}\n")
        turns = (("user", prompt), ("assistant", response), ("user", request))
        self.messages = [{"role": role, "content": text} for role, text in turns]
        return self


class Backend:
    """One harness model in a role of ours (`judge`, ...).

    `identity` is what makes its responses what they are; None if unknown: nothing is cached.
    """

    def __init__(self, role: str, config: ModelConfig, cache: str | bool | None = None) -> None:
        self.role, self.config = role, config
        self.lm, self._name, args = find_model(role, config)
        self._args = identity_of(args)
        self.identity = self._name and (self._name, self._args, list(files_of(args)))
        chat = config.apply_chat_template
        self.chat = (
            chat if isinstance(chat, bool) else speaks_chat(self.lm) or has_chat_template(self.lm)
        )
        self.temperature = sent_temperature(self.lm, config.temperature)
        if self.temperature != 0:
            log.warning("%s: asked at temperature %g; no run can reproduce its responses",
                        role, self.temperature)  # fmt: skip
        folder = cache_folder(cache) if self.identity else None
        self._cache = open_cache(role, folder)
        batches = BatchInterface(role, self.lm, folder) if config.batch else None
        self.client = ModelClient(role, self.lm, args, batches=batches)
        self._checked = False

    @property
    def signature(self) -> str:
        """The model and the arguments that can change a response, without secrets, in one line."""
        fields = ",".join(f"{k}={v}" for k, v in sorted(redact(self._args).items()))
        name, chat = self._name or type(self.lm).__name__, "yes" if self.chat else "no"
        return f"{name}({fields})|chat_template:{chat}|temperature:{self.temperature:g}"

    @functools.cached_property
    def takes_schema(self) -> bool:
        """Whether a chat service takes a JSON schema for its responses; probed once."""
        if not (self.chat and is_api_backend(self.lm)):
            return False
        schema = {"type": "object", "properties": {"ready": {"type": "string", "enum": ["yes"]}},
                  "required": ["ready"], "additionalProperties": False}  # fmt: skip
        kwargs = {**self.gen_kwargs(), "max_gen_toks": 64, **response_format(schema)}
        (request,) = self.requests(['Reply with this JSON object: {"ready": "yes"}'], kwargs)
        answer = self.client.probe(request)
        if isinstance(answer, RequestFailed) and answer.kind != "prompt":  # trouble, no refusal
            answer = self.client.probe(request, attempts=3)
        return isinstance(answer, ModelResponse)

    def check(self) -> None:
        """Ask for one short response, once; raise a BackendError if there is none."""
        if self._checked:
            return
        kwargs = {**self.gen_kwargs(), "max_gen_toks": 8}
        (request,) = self.requests(["Reply with the word: ready"], kwargs)
        try:
            response = self.client.probe(request, attempts=3)
        except Exception as error:
            response = RequestFailed(f"{type(error).__name__}: {error}")
        if isinstance(response, RequestFailed):
            raise BackendError(
                f"{self.role}: {self.config.model!r} does not answer ({response.reason}); check "
                f"--metadata {self.role}, its server and its API key"
            )
        self._checked = True

    def generate(
        self, prompts: Sequence[str], *, until: Sequence[str] = (), min_tokens: int = 0,
        schema: Mapping[str, Any] | None = None,
    ) -> list[ModelResponse]:  # fmt: skip
        """Return one response per prompt, in order.

        Equal prompts are asked once, known ones not at all. A response is cached the moment it
        arrives; a prompt that fails fails alone, and is asked again by the next run.

        Args:
            prompts: What to ask.
            until: Texts at which a response ends.
            min_tokens: Tokens that a response has room for at least.
            schema: The JSON schema of the response, for services that take one.

        Raises:
            ServiceUnavailable: If the service is; what arrived is cached.
        """
        kwargs = self.gen_kwargs(until)
        kwargs["max_gen_toks"] = max(kwargs["max_gen_toks"], min_tokens)
        if schema is not None and self.takes_schema:
            kwargs |= response_format(schema)
        keys = {prompt: cache_key(self.identity, self.chat, kwargs, prompt) for prompt in prompts}
        cached = self._cache.get_many(keys.values())
        responses = {p: response_of(**cached[key]) for p, key in keys.items() if key in cached}
        pending = [prompt for prompt in keys if prompt not in responses]

        def keep(i: int, response: ModelResponse) -> None:
            if not response.reason:
                entry = {"text": str(response), "details": response.details()}
                self._cache.put_many({keys[pending[i]]: entry})
            responses[pending[i]] = response
            bar.update()

        title = f"Asking the {self.role}"
        with tqdm(total=len(pending), desc=title, disable=not pending) as bar:
            self.client.send(self.requests(pending, kwargs), keep)
        reasons = Counter(response.reason for response in responses.values() if response.reason)
        count_failures(self.role, reasons)
        if reasons:
            log.error(
                "%s: %d of %d prompts have no response (%s); they are unscored. Responses so far "
                "are cached: run again to ask only for the rest.%s",
                self.role, reasons.total(), len(responses), format_reasons(reasons),
                " Give it more room: max_gen_toks." if NO_ROOM in reasons else "",
            )  # fmt: skip
        return [responses[prompt] for prompt in prompts]

    def requests(self, prompts: Iterable[str], gen_kwargs: Mapping[str, Any]) -> list[ApiRequest]:
        """Return prompts as requests of `client`."""
        requests = []
        for prompt in prompts:
            messages = getattr(prompt, "messages", [{"role": "user", "content": prompt}])
            context = self.lm.apply_chat_template(messages) if self.chat else prompt
            requests.append(ApiRequest(context, dict(gen_kwargs)))
        return requests

    def gen_kwargs(self, until: Sequence[str] = ()) -> dict[str, Any]:
        """Return the generation arguments of a response."""
        # Some servers refuse an empty list of stops; this one ends a text anyway.
        stops, temperature = list(until) or ["<|endoftext|>"], self.config.temperature
        return {"temperature": temperature, "do_sample": temperature > 0, "until": stops,
                "max_gen_toks": self.config.max_gen_toks}  # fmt: skip


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the argument by which OpenAI, vLLM, SGLang, llama.cpp and Ollama take a schema."""
    json_schema = {"name": "reply", "strict": True, "schema": dict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": json_schema}}


def load_backend(role: str, config: ModelConfig, cache: str | bool | None = None) -> Backend:
    """Return the backend for a role; the same one for the same setting, so that tasks share it."""
    return _shared(role, config, cache, id_of_model(config))


@functools.lru_cache(maxsize=16)  # nine judges, an extractor, a translator
def _shared(role: str, config: ModelConfig, cache: str | bool | None, model_id: int) -> Backend:
    return Backend(role, config, cache)


def id_of_model(config: ModelConfig) -> int:
    """Return what tells `self` in this run from that of others in one process; else 0."""
    return id(unwrapped(current().lm)) if config.model == SELF else 0


def find_model(role: str, config: ModelConfig) -> tuple[Any, str | None, dict[str, Any]]:
    """Return a model of the harness, its name (None where the run does not know it) and arguments.

    Raises a BackendError if there is none of this name, it cannot be built, or no run goes on.
    """
    if config.model == SELF:
        run = current()
        if run.lm is None:
            raise BackendError(f"{role}: 'self' is the model under test, but none is running")
        if run.replay is not None:
            raise BackendError(
                f"--metadata {role}=self: xling_replay has the logged answers only, not the model "
                f'that gave them; name a model, {role}={{"model": ..., "model_args": {{...}}}}'
            )
        name = run.model if isinstance(run.model, str) else None
        return unwrapped(run.lm), name, dict(run.model_args) if name else {}
    remember(config.model_args)
    model = find_model_class(role, config.model)
    extra = {} if config.batch_size is None else {"batch_size": config.batch_size}
    try:
        lm = model.create_from_arg_obj(dict(config.model_args), extra)
    except Exception as error:
        raise BackendError(
            f"{role}: the harness could not build {config.model!r} with "
            f"{redact(config.model_args)}: " + redact_log(f"{type(error).__name__}: {error}")
        ) from error
    return lm, config.model, dict(config.model_args)


def find_model_class(role: str, name: str) -> Any:
    """Return the harness's class of models with a name; raise BackendError if it has none."""
    from lm_eval.api.registry import get_model

    register_models()  # a command of ours may come here without the harness's task manager
    try:
        return get_model(name)
    except (KeyError, ValueError) as error:
        raise BackendError(f"{role}.model: {error.args[0]}") from error
