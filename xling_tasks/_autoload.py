"""Start-up hook: wait for the harness's parts, then attach to them (see `xling_tasks.discovery`).

Every Python process in the environment imports this module, so it imports nothing that is not
loaded already and does nothing until one of these parts is imported.
"""

import os
import sys

_TARGET = "lm_eval.tasks.manager"
_WAITED_FOR = {_TARGET: "attach", "lm_eval._cli.utils": "say_how_to_nest"}
"""The harness's modules -> our function that is called with each once it has run."""


class _Finder:
    """A meta-path finder that acts once on each of these modules, and then is gone."""

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        if name not in _WAITED_FOR:
            return None
        call = _WAITED_FOR.pop(name)
        # The command line is read before tasks are looked for, and not everybody reads one.
        if name == _TARGET:
            sys.meta_path.remove(self)  # type: ignore[arg-type]
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                return _attach_after_load(spec, call)  # type: ignore[no-untyped-call]
        return None


def _attach_after_load(spec, call):  # type: ignore[no-untyped-def]
    """Make the module's loader call a function of ours once the module has run."""
    loader = spec.loader
    if not hasattr(loader, "exec_module"):
        return spec
    run = loader.exec_module

    def exec_module(module):  # type: ignore[no-untyped-def]
        run(module)
        try:
            from xling_tasks import discovery

            getattr(discovery, call)(module)
        except Exception as error:
            import logging

            logging.getLogger("lm_eval.xling_tasks").warning(
                "xling-tasks could not add its tasks to this lm_eval (%r); "
                "pass --include_path with the folder of the package xling_task_yaml",
                error,
            )

    loader.exec_module = exec_module
    return spec


if os.environ.get("XLING_TASKS_AUTOLOAD", "1") != "0" and _TARGET not in sys.modules:
    sys.meta_path.insert(0, _Finder())  # type: ignore[arg-type]
