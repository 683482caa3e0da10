"""Any model of the harness in a second role: built once, asked in batches, replies cached."""

from __future__ import annotations

import contextlib
import functools
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tqdm import tqdm

from xling_tasks.discovery import register_models
from xling_tasks.errors import BackendError
from xling_tasks.harness.arguments import files_of, identity_of
from xling_tasks.harness.backends import class_name, sent_temperature, speaks_chat, unwrapped
from xling_tasks.harness.run import bind, current
from xling_tasks.log import log
from xling_tasks.models.batches import batches_of
from xling_tasks.models.service import (
    ANSWER,
    FAILED,
    Call,
    Health,
    Limits,
    Reply,
    ServiceDown,
    Stream,
    concurrency,
    in_words,
    own_transport,
    stream,
    tell,
)
from xling_tasks.models.spec import SELF, ModelSpec
from xling_tasks.replies.folder import cache_folder, key_of
from xling_tasks.replies.store import store_of
from xling_tasks.secrets import redact, redact_log, remember


class Conversation(str):
    """A prompt, the reply to it, and what is asked next.

    It is the text that a model without a chat template gets; one with a template gets `messages`.
    """

    messages: list[dict[str, str]]

    def __new__(cls, prompt: str, reply: str, request: str) -> Conversation:
        """Join the turns."""
        self = super().__new__(cls, f"{prompt}\n\n{reply}\n\n{request}\n")
        roles = ("user", "assistant", "user")
        texts = (prompt, reply, request)
        self.messages = [{"role": r, "content": t} for r, t in zip(roles, texts, strict=True)]
        return self


def messages_of(prompt: str) -> list[dict[str, str]]:
    """A prompt as the messages of a chat template."""
    if isinstance(prompt, Conversation):
        return prompt.messages
    return [{"role": "user", "content": prompt}]


class Backend:
    """One harness model in a role of ours.

    Attributes:
        role: What it is for (`judge`, ...), for messages and the cache's name.
        spec: What was asked for.
        lm: The harness model.
        identity: What makes its replies what they are; None if it cannot be told, and so nothing
            can be cached.
    """

    def __init__(
        self, role: str, spec: ModelSpec, cache: str | bool | None = None, *, keeps: bool = True
    ) -> None:
        self.role = role
        self.spec = spec
        self.lm, self._named = under_test(role) if spec.model == SELF else build(role, spec)
        self.identity = _identity(role, self._named)
        self.chat = wants_chat(self.lm, spec)
        self._checked = False
        self._limits = Limits.of(self._args, deadline=spec.deadline)
        self._health = Health(role, self._limits, concurrency(self.lm))
        if self.temperature != 0:
            log.warning(
                "%s: this backend decodes at temperature %g for this model, whatever is asked "
                "for; its replies are not reproducible, and its signature says so",
                role,
                self.temperature,
            )
        folder = cache_folder(cache) if self.identity is not None else None
        self._store = store_of(role, folder if keeps else None)
        self._batches = batches_of(role, self.lm, folder) if spec.batch else None

    @property
    def signature(self) -> str:
        """The model and the arguments that can change a reply, without secrets, in one line."""
        told = redact(identity_of(self._args))
        args = ",".join(f"{k}={v}" for k, v in sorted(told.items()))
        name = self._named[0] if self._named else class_name(self.lm)
        chat = "yes" if self.chat else "no"
        return f"{name}({args})|chat_template:{chat}|temperature:{self.temperature:g}"

    @functools.cached_property
    def takes_schema(self) -> bool:
        """Whether a chat service takes a JSON schema for its reply; asked once."""
        if not (self.chat and own_transport(self.lm)):
            return False
        form = {"type": "object", "properties": {"ready": {"type": "boolean"}},
                "required": ["ready"], "additionalProperties": False}  # fmt: skip
        asked = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": form},
        }
        arguments = {**self.gen_kwargs(()), "max_gen_toks": 64, "response_format": asked}
        call = Call(self._context('Reply with this JSON object: {"ready": true}'), arguments)
        once = replace(self._limits, attempts=1, deadline=60.0)
        try:
            health = Health(self.role, once, 1)
            with contextlib.closing(stream(self.lm, [call], once, health)) as arriving:
                replies = [reply for arrived in arriving for _, reply in arrived]
        except BackendError:
            return False
        if refused := not replies or replies[0].failed:
            log.info("%s: takes no JSON schema; asked for JSON in words", self.role)
        return not refused

    @property
    def temperature(self) -> float:
        """0, unless the backend puts another temperature in its place."""
        return sent_temperature(self.lm, 0.0)

    @property
    def _args(self) -> dict[str, Any]:
        return dict(self._named[1]) if self._named else {}

    def check(self) -> None:
        """Ask for one short reply, once, so that a wrong model or key fails before the run begins.

        Raises:
            BackendError: With what the backend said.
        """
        if self._checked:
            return
        arguments = {**self.gen_kwargs(()), "max_gen_toks": 8}
        once = replace(self._limits, attempts=min(3, self._limits.attempts), deadline=60.0)
        health = Health(self.role, once, 1)
        call = Call(self._context("Reply with the word: ready"), arguments)
        try:
            with contextlib.closing(stream(self.lm, [call], once, health)) as arriving:
                replies = [reply for arrived in arriving for _, reply in arrived]
        except Exception as error:
            replies = [Reply("", FAILED, f"{type(error).__name__}: {error}")]
        if replies[0].failed:
            raise BackendError(
                f"{self.role}: {self.spec.model!r} does not answer ({replies[0].reason}); check "
                f"--metadata {self.role}, its server and its API key"
            )
        self._checked = True

    def ask(self, prompts: Sequence[str], **how: Any) -> list[str | None]:
        """The texts of `replies`; None where there is none."""
        return [reply.said for reply in self.replies(prompts, **how)]

    def replies(
        self,
        prompts: Sequence[str],
        *,
        until: Sequence[str] = (),
        at_least: int = 0,
        response_format: Mapping[str, Any] | None = None,
    ) -> list[Reply]:
        """One greedy reply per prompt, in order.

        Equal prompts are asked once, known ones not at all. A reply is cached the moment it
        arrives; a prompt that fails fails alone, and is asked again by the next run.

        Args:
            prompts: What to ask.
            until: Texts at which a reply ends.
            at_least: Tokens that a reply must have room for, where the setting gives it less.
            response_format: The form of the reply, for services that take one.

        Raises:
            ServiceDown: If the service stays down; what arrived is cached.
        """
        gen_kwargs = self.gen_kwargs(until)
        if response_format is not None and self.takes_schema:
            gen_kwargs["response_format"] = dict(response_format)
        gen_kwargs["max_gen_toks"] = max(gen_kwargs["max_gen_toks"], at_least)
        key = {prompt: key_of(self.identity, self.chat, gen_kwargs, prompt) for prompt in prompts}
        replies: dict[str, Reply] = {}

        def known(there: dict[str, Any]) -> None:
            replies.update({prompt: Reply(**kept) for prompt, kept in there.items()})

        def ask(open_: list[str]) -> None:
            calls = [Call(self._context(prompt), gen_kwargs) for prompt in open_]
            self._ask(open_, calls, key, replies)

        self._store.share(key, known, ask)
        self._say_missing(replies)
        return [replies[prompt] for prompt in prompts]

    def _ask(
        self,
        prompts: list[str],
        calls: list[Call],
        key: Mapping[str, str],
        replies: dict[str, Reply],
    ) -> None:
        """Ask for some prompts, and keep each reply as it arrives; some turn out to be none."""
        bar = tqdm(total=len(calls), desc=f"Asking the {self.role}")
        try:
            with bar, contextlib.closing(self.stream(calls)) as arriving:
                for arrived in arriving:
                    last = dict(arrived)
                    known = {i for i in last if prompts[i] in replies}
                    replies.update({prompts[i]: reply for i, reply in last.items()})
                    bar.update(len(last) - len(known))
                    kept = {key[prompts[i]]: own.kept() for i, own in last.items() if own.said}
                    self._store.put_many(kept, replace=True)
        except ServiceDown:
            second = all(isinstance(prompt, Conversation) for prompt in prompts)
            if own_transport(self.lm) or not second:
                raise
            # First replies may leave a local model no room for a second question: they count.
            self._health.works()
            for prompt in prompts:
                replies.setdefault(prompt, Reply("", FAILED, "no room for a second question"))

    def stream(self, calls: Sequence[Call]) -> Stream:
        """Replies of calls as they arrive, uncached; see `calls.stream`."""
        return stream(self.lm, calls, self._limits, self._health, self._batches)

    def calls(self, prompts: Iterable[str], gen_kwargs: dict[str, Any]) -> list[Call]:
        """Prompts as calls of `stream`, to which anything may be said."""
        return [Call(self._context(prompt), gen_kwargs) for prompt in prompts]

    def _say_missing(self, replies: Mapping[str, Reply]) -> None:
        reasons = Counter(reply.reason for reply in replies.values() if reply.outcome != ANSWER)
        tell(self.role, reasons)
        if reasons:
            log.error(
                "%s: %d of %d prompts have no reply (%s); they are counted as unscored. Replies "
                "so far are cached: run again to ask only for the rest.",
                self.role, sum(reasons.values()), len(replies), in_words(reasons),
            )  # fmt: skip

    def _context(self, prompt: str) -> Any:
        if not self.chat:
            return prompt
        return self.lm.apply_chat_template(messages_of(prompt))

    def gen_kwargs(self, until: Sequence[str]) -> dict[str, Any]:
        """The arguments of a greedy reply."""
        return {
            "temperature": 0.0,
            "do_sample": False,
            # Some servers refuse an empty list of stops; this one ends a text anyway.
            "until": list(until) or ["<|endoftext|>"],
            "max_gen_toks": self.spec.max_gen_toks,
        }


def _identity(role: str, named: tuple[str, dict[str, Any]] | None) -> Any:
    """What makes the replies of a model what they are."""
    if named is None:
        return None
    name, args = named
    return name, identity_of(args), list(files_of(args))


def backend(
    role: str, spec: ModelSpec, cache: str | bool | None = None, *, keeps: bool = True
) -> Backend:
    """The backend for a role; the same one for the same spec, so that tasks share it.

    It keeps no replies (`keeps`) for a role that keeps what it makes of them.
    """
    told = json.dumps(spec.__dict__, sort_keys=True, default=str)
    if spec.model == SELF:
        return _shared_self(role, told, cache, keeps, run_token())
    return _shared(role, told, cache, keeps)


@functools.lru_cache(maxsize=16)  # a jury of nine, a reader, a translator
def _shared(role: str, spec: str, cache: str | bool | None, keeps: bool) -> Backend:
    return Backend(role, ModelSpec(**json.loads(spec)), cache, keeps=keeps)


@functools.lru_cache(maxsize=2)
def _shared_self(
    role: str, spec: str, cache: str | bool | None, keeps: bool, lm: _ByIdentity
) -> Backend:
    return Backend(role, ModelSpec(**json.loads(spec)), cache, keeps=keeps)


class _ByIdentity:
    """A hashable stand-in for a model object; it keeps the object alive, so ids stay unique."""

    def __init__(self, lm: Any) -> None:
        self.lm = lm

    def __hash__(self) -> int:
        return id(self.lm)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByIdentity) and other.lm is self.lm


def run_token() -> _ByIdentity:
    """What tells this run from others in one process: its model under test, by identity."""
    return _ByIdentity(current().lm)


def under_test(role: str) -> tuple[Any, tuple[str, dict[str, Any]] | None]:
    """The model under test; its name and arguments where the run has them."""
    run = bind()  # the run that was bound last may be over
    lm, name = run.lm, run.model
    if lm is None:
        raise BackendError(f"{role}: 'self' is the model under test, but none is running")
    if not isinstance(name, str):
        return unwrapped(lm), None
    return unwrapped(lm), (name, dict(run.model_args))


def build(role: str, spec: ModelSpec) -> tuple[Any, tuple[str, dict[str, Any]]]:
    """A backend of the harness with its name and arguments.

    Raises:
        BackendError: If there is none of this name, or it cannot be built.
    """
    remember(spec.model_args)
    model = model_named(role, spec.model)
    extra = {} if spec.batch_size is None else {"batch_size": spec.batch_size}
    try:
        lm = model.create_from_arg_obj(dict(spec.model_args), extra)
    except Exception as error:
        raise BackendError(
            f"{role}: the harness could not build {spec.model!r} with {redact(spec.model_args)}: "
            + redact_log(f"{type(error).__name__}: {error}")
        ) from error
    return lm, (spec.model, dict(spec.model_args))


def model_named(role: str, name: str) -> Any:
    """The harness's kind of model with a name; a `BackendError` where it has none."""
    from lm_eval.api.registry import get_model

    register_models()  # a command of ours may come here without the harness's task manager
    try:
        return get_model(name)
    except (KeyError, ValueError) as error:
        raise BackendError(f"{role}.model: {error.args[0]}") from error


def wants_chat(lm: Any, spec: ModelSpec) -> bool:
    """Whether prompts go through the backend's chat template."""
    if isinstance(spec.apply_chat_template, bool):
        return spec.apply_chat_template
    if speaks_chat(lm):
        return True
    try:
        return bool(getattr(getattr(lm, "tokenizer", None), "chat_template", None))
    except Exception:  # a tokenizer may be loaded, or even fetched, only when asked for
        return False
