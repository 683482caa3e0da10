"""Any model of the harness in a second role: built once, asked in batches, replies cached."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from typing import Any

from tqdm import tqdm

from xling_tasks.errors import BackendError
from xling_tasks.harness import clean_reply, running, sent_temperature, unwrapped
from xling_tasks.log import log
from xling_tasks.models.spec import SELF, ModelSpec
from xling_tasks.models.store import ReplyStore, cache_folder, key_of
from xling_tasks.secrets import redact

CHUNK = 64
"""Prompts per call: small enough to lose little in a crash, large enough for full batches."""

_GIVE_UP_AFTER = 3


class Backend:
    """One harness model in a role of ours.

    Attributes:
        role: What it is for (`judge`, ...), for messages and the cache's name.
        spec: What was asked for.
        lm: The harness model.
        calls: Prompts sent so far (cached ones are not sent).
    """

    def __init__(self, role: str, spec: ModelSpec, cache: str | bool | None = None) -> None:
        self.role = role
        self.spec = spec
        self.lm, self.identity = _under_test(role) if spec.model == SELF else _build(role, spec)
        self.chat = _wants_chat(self.lm, spec)
        self.calls = 0
        self._checked = False
        if self.temperature != 0:
            log.warning(
                "%s: this backend decodes at temperature %g for this model, whatever is asked "
                "for; its replies are not reproducible, and its signature says so",
                role,
                self.temperature,
            )
        folder = cache_folder(cache) if self.identity is not None else None
        self._store = ReplyStore(folder, role) if folder is not None else None

    @property
    def signature(self) -> str:
        """The model and its arguments, without secrets, in one line."""
        args = ",".join(f"{k}={v}" for k, v in sorted(redact(self._args).items()))
        name = self.identity[0] if self.identity else type(self.lm).__name__
        chat = "yes" if self.chat else "no"
        return f"{name}({args})|chat_template:{chat}|temperature:{self.temperature:g}"

    @property
    def temperature(self) -> float:
        """0, unless the backend puts another temperature in its place."""
        return sent_temperature(self.lm, 0.0)

    @property
    def _args(self) -> dict[str, Any]:
        return dict(self.identity[1]) if self.identity else {}

    def check(self) -> None:
        """Ask for one short reply, once, so that a wrong model or key fails before the run begins.

        Raises:
            BackendError: With what the backend said.
        """
        if self._checked:
            return
        arguments = {**self._gen_kwargs(()), "max_gen_toks": 8}
        try:
            self._generate(["Reply with the word: ready"], arguments)
        except Exception as error:
            raise BackendError(
                f"{self.role}: {self.spec.model!r} does not answer ({type(error).__name__}: "
                f"{error}); check --metadata {self.role}, its server and its API key"
            ) from error
        self._checked = True

    def ask(
        self, prompts: Sequence[str], *, until: Sequence[str] = (), at_least: int = 0
    ) -> list[str | None]:
        """One greedy reply per prompt, in order.

        Equal prompts are asked once, known ones not at all. A chunk that fails is logged and its
        replies are None; after three failed chunks in a row the rest is not asked.

        Args:
            prompts: What to ask.
            until: Texts at which a reply ends.
            at_least: Tokens that a reply must have room for, where the setting gives it less.

        Returns:
            As many replies as prompts; None where there is none.
        """
        gen_kwargs = self._gen_kwargs(until)
        gen_kwargs["max_gen_toks"] = max(gen_kwargs["max_gen_toks"], at_least)
        key = {prompt: key_of(self.identity, self.chat, gen_kwargs, prompt) for prompt in prompts}
        known = self._store.get_many(key.values()) if self._store else {}
        replies = {prompt: known[k] for prompt, k in key.items() if k in known}
        open_ = [prompt for prompt in key if prompt not in replies]
        failed = 0
        with tqdm(total=len(open_), desc=f"Asking the {self.role}", disable=not open_) as bar:
            for start in range(0, len(open_), CHUNK):
                chunk = open_[start : start + CHUNK]
                if failed < _GIVE_UP_AFTER:
                    answers = self._try(chunk, gen_kwargs)
                    failed = 0 if answers else failed + 1
                    replies.update(answers)
                    if self._store:
                        self._store.put_many({key[p]: reply for p, reply in answers.items()})
                bar.update(len(chunk))
        missing = sum(prompt not in replies for prompt in key)
        if missing:
            log.error(
                "%s: %d of %d prompts have no reply; they are counted as unscored. Replies so far "
                "are cached: run again to ask only for the rest.",
                self.role,
                missing,
                len(key),
            )
        return [replies.get(prompt) for prompt in prompts]

    def _try(self, chunk: list[str], gen_kwargs: dict[str, Any]) -> dict[str, str]:
        """Replies of one chunk; empty ones are left out, so that they are asked again next time."""
        try:
            answers = self._generate(chunk, gen_kwargs)
        except Exception:
            log.exception("%s: a call failed", self.role)
            return {}
        return {prompt: reply for prompt, reply in zip(chunk, answers, strict=True) if reply}

    def _generate(self, prompts: list[str], gen_kwargs: dict[str, Any]) -> list[str]:
        from lm_eval.api.instance import Instance

        requests = [
            Instance(
                request_type="generate_until",
                doc={},
                arguments=(self._context(prompt), json.loads(json.dumps(gen_kwargs))),
                idx=i,
                metadata=(f"xling_{self.role}", i, 1),
            )
            for i, prompt in enumerate(prompts)
        ]
        self.calls += len(requests)
        return [clean_reply(reply) for reply in self.lm.generate_until(requests)]

    def _context(self, prompt: str) -> Any:
        if not self.chat:
            return prompt
        return self.lm.apply_chat_template([{"role": "user", "content": prompt}])

    def _gen_kwargs(self, until: Sequence[str]) -> dict[str, Any]:
        return {
            "temperature": 0.0,
            "do_sample": False,
            # Some servers refuse an empty list of stops; this one ends a text anyway.
            "until": list(until) or ["<|endoftext|>"],
            "max_gen_toks": self.spec.max_gen_toks,
        }


def backend(role: str, spec: ModelSpec, cache: str | bool | None = None) -> Backend:
    """The backend for a role; the same one for the same spec, so that tasks share it."""
    if spec.model == SELF:
        return _shared_self(role, json.dumps(spec.__dict__, sort_keys=True), cache, run_token())
    return _shared(role, json.dumps(spec.__dict__, sort_keys=True, default=str), cache)


@functools.lru_cache(maxsize=8)
def _shared(role: str, spec: str, cache: str | bool | None) -> Backend:
    return Backend(role, ModelSpec(**json.loads(spec)), cache)


@functools.lru_cache(maxsize=2)
def _shared_self(role: str, spec: str, cache: str | bool | None, lm: _ByIdentity) -> Backend:
    return Backend(role, ModelSpec(**json.loads(spec)), cache)


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
    return _ByIdentity(running("lm"))


def _under_test(role: str) -> tuple[Any, tuple[str, dict[str, Any]] | None]:
    """The model under test; its identity only where the run names it (else nothing is cached)."""
    lm, name, args = running("lm"), running("model"), running("model_args")
    if lm is None:
        raise BackendError(f"{role}: 'self' is the model under test, but none is running")
    if not isinstance(name, str):
        return unwrapped(lm), None
    from xling_tasks.harness import as_mapping

    return unwrapped(lm), (name, dict(as_mapping(args)))


def _build(role: str, spec: ModelSpec) -> tuple[Any, tuple[str, dict[str, Any]]]:
    from lm_eval.api.registry import get_model

    from xling_tasks.discovery import register_models

    register_models()  # a command of ours may come here without the harness's task manager

    extra = {} if spec.batch_size is None else {"batch_size": spec.batch_size}
    try:
        model = get_model(spec.model)
    except (KeyError, ValueError) as error:
        raise BackendError(f"{role}.model: {error.args[0]}") from error
    try:
        lm = model.create_from_arg_obj(dict(spec.model_args), extra)
    except Exception as error:
        raise BackendError(
            f"{role}: the harness could not build {spec.model!r} with {redact(spec.model_args)}: "
            f"{type(error).__name__}: {error}"
        ) from error
    return lm, (spec.model, dict(spec.model_args))


def _wants_chat(lm: Any, spec: ModelSpec) -> bool:
    """Whether prompts go through the backend's chat template."""
    if isinstance(spec.apply_chat_template, bool):
        return spec.apply_chat_template
    if any("chat" in base.__name__.lower() for base in type(lm).__mro__):
        return True
    try:
        return bool(getattr(getattr(lm, "tokenizer", None), "chat_template", None))
    except Exception:  # a tokenizer may be loaded, or even fetched, only when asked for
        return False
