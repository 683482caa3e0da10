"""The harness's model behind a role: built anew, or the model under test itself."""

from __future__ import annotations

from typing import Any

from xling_tasks.discovery import register_models
from xling_tasks.errors import BackendError
from xling_tasks.harness.backends import speaks_chat, unwrapped
from xling_tasks.harness.run import bind
from xling_tasks.models.spec import ModelSpec
from xling_tasks.secrets import redact, redact_log, remember


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
    from lm_eval.api.registry import get_model

    remember(spec.model_args)
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
            + redact_log(f"{type(error).__name__}: {error}")
        ) from error
    return lm, (spec.model, dict(spec.model_args))


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
