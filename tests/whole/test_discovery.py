"""Discovery without installing anything: the hook's parts, and fresh interpreters."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from builders import SEES

from xling_tasks import discovery


def python(code: str, cwd: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *words], cwd=cwd, env={**os.environ, **env},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def test_what_a_fresh_interpreter_sees(tmp_path):
    """From any folder our tasks, but the user's of that name; and our models beside the built-in ones."""
    (tmp_path / "mine.yaml").write_text("task: xlinghealth_correctness_demo_en\ndataset_path: x\n")
    code = (
        f"{SEES}\n"
        f"index = TaskManager(include_path={str(tmp_path)!r}).task_index\n"
        "print(index['xlinghealth_correctness_demo_en'].yaml_path.name, 'xlinghealth_demo' in index)\n"
        "print('xlinghealth_demo' in TaskManager(include_defaults=False).all_tasks)\n"
        "from lm_eval.api.registry import get_model\n"
        "print(get_model('xling_baseline').__name__, get_model('dummy').__name__)"
    )
    seen = python(code, tmp_path).stdout.splitlines()
    assert seen == ["True", "mine.yaml True", "False", "BaselineLM DummyLM"]


def test_off_switch(tmp_path):
    assert python(SEES, tmp_path, XLING_TASKS_AUTOLOAD="0").stdout == "False\n"


@pytest.mark.parametrize(
    "content", [None, "raise RuntimeError('broken')", "import lm_eval.nothing", ""]
)
def test_an_odd_lm_eval_never_disturbs_python(tmp_path, content):
    """Another lm_eval in front: start-up is silent, and importing it fails as it would anyway."""
    if content is not None:
        (tmp_path / "lm_eval" / "tasks").mkdir(parents=True)
        (tmp_path / "lm_eval" / "__init__.py").write_text("")
        (tmp_path / "lm_eval" / "tasks" / "__init__.py").write_text("")
        (tmp_path / "lm_eval" / "tasks" / "manager.py").write_text(content)
    started = python("print('up')", tmp_path, PYTHONPATH=str(tmp_path))
    assert (started.stdout, started.stderr) == ("up\n", "")
    if content == "":
        code = "import lm_eval.tasks.manager; print('up')"
        used = python(code, tmp_path, PYTHONPATH=str(tmp_path))
        assert used.stdout == "up\n" and "Traceback" not in used.stderr
        assert "could not add its tasks" in used.stderr


def test_startup_imports_nothing_else(tmp_path):
    """What the start-up file adds to an interpreter: our two tiny modules."""
    code = "import sys; print(*sorted(m for m in sys.modules if not m.startswith('__editable__')))"
    with_us = set(python(code, tmp_path).stdout.split())
    import_only = "import sys; sys.modules.pop('xling_tasks._autoload', None);"
    plain = set(python(import_only + code, tmp_path, XLING_TASKS_AUTOLOAD="0").stdout.split())
    assert {m for m in with_us - plain if not m.startswith("xling_tasks")} == set()
    assert {m for m in with_us if m.startswith("xling")} == {"xling_tasks", "xling_tasks._autoload"}


def test_folder_is_added_once_after_the_harness_and_before_the_user(tmp_path):
    calls = []
    index = types.SimpleNamespace(
        build=lambda paths, **options: calls.append((list(paths), options))
    )
    discovery.add_task_folder(index, tmp_path)
    ours = discovery.task_folder()
    index.build([tmp_path, Path("/user")], resolve_includes=True)
    index.build([tmp_path, ours])
    index.build([Path("/user")])
    assert calls == [
        ([tmp_path, ours, Path("/user")], {"resolve_includes": True}),
        ([tmp_path, ours], {}),
        ([Path("/user")], {}),
    ]


def test_entry_points_are_declared():
    declared = {e.name: e.value for e in entry_points(group="lm_eval.models")}
    assert discovery.MODELS.items() <= declared.items()
