"""Start-up hook: wait for the harness's task manager, then attach to it (`xling_tasks.discovery`).

Every Python process in the environment imports this module, so it imports nothing that is not
loaded already and does nothing until that module is imported.
"""

import os
import sys

_TARGET = "lm_eval.tasks.manager"


class _Finder:
    """A meta-path finder that acts once, on that module, and then is gone."""

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        if name != _TARGET:
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]
        from importlib.util import find_spec

        spec = find_spec(name)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        run = spec.loader.exec_module

        def exec_module(module):  # type: ignore[no-untyped-def]
            run(module)
            try:
                from xling_tasks.discovery import attach

                attach(module)
            except Exception as error:
                import logging

                logging.getLogger("lm_eval.xling_tasks").warning(
                    "xling-tasks could not add its tasks to this lm_eval (%r); "
                    "pass --include_path with the folder of the package xling_task_yaml",
                    error,
                )

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if os.environ.get("XLING_TASKS_AUTOLOAD", "1") != "0" and _TARGET not in sys.modules:
    sys.meta_path.insert(0, _Finder())  # type: ignore[arg-type]
