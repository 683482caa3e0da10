"""The run in progress: the model under test, its arguments and its processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from xling_tasks.errors import HarnessError
from xling_tasks.harness.backends import replayed, unwrapped


class HarnessChanged(HarnessError):
    """The installed lm_eval does not fit this package."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"lm_eval {version('lm_eval')} does not fit this version of xling-tasks: {problem}. "
            "Install the lm_eval that it was tried with (0.4.13), or a newer xling-tasks"
        )


@dataclass(frozen=True, eq=False)
class RunContext:
    """What tasks, judges and translators may know of a run; empty outside of one.

    Attributes:
        lm: The model under test, perhaps within the harness's answer cache; None outside of a run.
        model_args: Its arguments, as the tasks' metadata have them.
        standard_errors: Whether standard errors are wanted (`bootstrap_iters`).
        chat_template: Whether prompts go through the model's chat template.
    """

    lm: Any = None
    model_args: Mapping[str, Any] = field(default_factory=dict)
    standard_errors: bool = True
    chat_template: bool = False

    @property
    def model(self) -> str | None:
        """The kind of model, where its arguments are known: then others can tell it apart."""
        return type(unwrapped(self.lm)).__name__ if self.model_args else None

    @property
    def replay(self) -> Any:
        """The model `xling_replay`, if that is what runs; else None."""
        return None if self.lm is None else replayed(self.lm)

    def all_gather(self, value: Any) -> list[Any]:
        """Return the values of all data-parallel processes, by rank; every rank must call this."""
        if getattr(self.lm, "world_size", 1) == 1:
            return [value]
        import torch.distributed as dist

        values: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(values, value)
        return values


_current = RunContext()


def current() -> RunContext:
    """Return the run in progress; an empty one outside of `lm_eval.evaluator.evaluate`."""
    return _current


def enter(run: RunContext) -> None:
    """Make a run the one in progress."""
    global _current
    _current = run


def as_mapping(args: Any) -> Mapping[str, Any]:
    """Return model arguments as the harness takes them: a mapping, `key=value` text, or none."""
    if isinstance(args, Mapping):
        return args
    if isinstance(args, str):
        from lm_eval.utils import simple_parse_args_string

        return dict(simple_parse_args_string(args))
    return {}
