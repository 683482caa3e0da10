"""What `xling check` asks other models: whether judge, reader and translator are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from xling_tasks.commands.doctor.checks import OFF, OK, WARN, Line, no_connection
from xling_tasks.errors import BackendError
from xling_tasks.models.backend import Backend
from xling_tasks.models.spec import SELF, ModelSpec
from xling_tasks.models.translate.translator import FILE, SEQ2SEQ
from xling_tasks.models.translate.translator import translator as build_translator


def asked(role: str, spec: ModelSpec | None, *, use: str) -> Iterator[Line]:
    """Whether a model of some role can be reached; nothing that it is asked comes from the cache.

    Args:
        role: Its role, such as `translator`.
        spec: Which model; None where none is set.
        use: What a run would use it for; where that is empty, nothing is said of none.
    """
    if spec is None:
        if use:
            todo = f'--metadata \'{{"{role}": {{"model": ..., "model_args": {{...}}}}}}\''
            yield Line(role, OFF, f"none set; it {use}", todo)
    elif spec.model == SELF:
        finding = "the model under test itself; lm_eval asks it before a run begins"
        yield Line(role, OFF, finding)
    elif spec.model == FILE:
        engine = build_translator(spec, False, None)
        engine.check()
        yield Line(role, OK, engine.signature)
    elif spec.model == SEQ2SEQ or "pretrained" in spec.model_args:
        yield Line(role, OFF, "local weights, which a run loads before it begins")
    else:
        yield _reached(role, replace(spec, batch=False))


def _connect(role: str, lm: Any) -> None:
    """Fail soon where a server cannot be reached; the harness itself would wait and try again."""
    problem = no_connection(str(getattr(lm, "base_url", None) or ""))
    if problem:
        raise BackendError(f"{problem}; start the server, or correct {role}.model_args.base_url")


def _reached(role: str, spec: ModelSpec) -> Line:
    """A model that answers."""
    model = Backend(role, spec, False)
    _connect(role, model.lm)
    model.check()
    if model.temperature == 0:
        return Line(role, OK, f"answers: {model.signature}")
    finding = f"answers, but always at temperature {model.temperature:g}: {model.signature}"
    return Line(role, WARN, finding, "its replies cannot be reproduced; take another model")
