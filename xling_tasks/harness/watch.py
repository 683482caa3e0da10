"""Methods of a model replaced while it runs, and the model under test watched while it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xling_tasks.harness.backends import unwrapped
from xling_tasks.unanswered import failed


class Replaced:
    """An object's own methods, replaced on it alone until `undo`.

    Attributes:
        before: The methods as they were, by name.
    """

    def __init__(self, lm: Any, methods: Mapping[str, Any]) -> None:
        self._lm, self._methods = lm, methods
        self.before = {name: getattr(lm, name) for name in methods}
        self._own = {name: lm.__dict__[name] for name in methods if name in lm.__dict__}
        lm.__dict__.update(methods)

    def undo(self) -> None:
        """Give the object its own methods back."""
        for name in self._methods:
            self._lm.__dict__.pop(name, None)
        self._lm.__dict__.update(self._own)  # what a user had put there


class Watch(Replaced):
    """The model's own methods, replaced on the one object that runs, until `undo`.

    Tasks only make requests; the harness hands them to `lm.generate_until` and `lm.loglikelihood`
    by name. An attribute of the object shadows its class's method, also that of `CachingLM`, so
    nothing else changes: other runs, other models, and the class stay as they are. `told` is called
    with (kind, (context, argument), answer) as soon as an answer is there.
    """

    def __init__(
        self, lm: Any, methods: Mapping[str, Any], told: Callable[[str, Any, Any], None]
    ) -> None:
        super().__init__(lm, methods)
        self._inner = unwrapped(lm)
        self._hook = getattr(self._inner, "cache_hook", None)
        self._inner.cache_hook = _Hook(self._hook, told)

    def undo(self) -> None:
        """Give the object its own methods and its hook back."""
        super().undo()
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
