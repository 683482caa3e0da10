"""A harness that finds task entry points by itself, as upstream's open change proposes (PR 4015).

The change: built-in tasks first, then the folders that installed packages declare in the group
`lm_eval.tasks`, then the user's `--include_path`. Its final form is not settled, so three are
simulated on the released task manager, each with our entry point declared as it would ask for.
What must hold in each: every task of ours is there, read once and without a warning, the user's
own task of the same name wins, and a run through it works.
"""

from __future__ import annotations

import inspect
import logging
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from xling_tasks import discovery

pytestmark = pytest.mark.core

ASKS = """
        if include_defaults:
            import importlib.metadata as md
            for found in md.entry_points(group="lm_eval.tasks"):
                {add}
"""
AMONG_THE_PATHS = "all_paths.append(FOLDER(found.load()))"
EACH_ON_ITS_OWN = "plugins.append(FOLDER(found.load()))"

FOLDERS = {
    "package": ("xling_task_yaml", lambda target: Path(target.__file__).parent),
    "callable": ("xling_tasks.discovery:task_folder", lambda target: target()),
    "path that is not resolved": (
        "xling_tasks.discovery:task_folder",
        lambda target: target() / ".." / target().name,
    ),
}
"""What an entry point may name, and how its folder comes from that."""


def upstream(how: str, folder: Any, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A copy of the harness's task manager with the change in its source."""
    import lm_eval.tasks._index as index
    import lm_eval.tasks.manager as released

    source = inspect.getsource(released)
    before = "        if include_path:\n"
    assert source.count(before) == 1, "the harness's task manager has another form now"
    source = source.replace(before, ASKS.format(add=how) + before)
    if how == EACH_ON_ITS_OWN:
        built = "        self._index = index.build(all_paths)\n"
        assert source.count(built) == 1
        each = "for path in [*all_paths[:1], *plugins, *all_paths[1:]]:"
        merge = "self._index.update(index.build([path]))"
        start = "        index = TaskIndex()\n"
        source = source.replace(
            built, f"        self._index = {{}}\n        {each}\n            {merge}\n"
        )
        source = source.replace(start, f"{start}        plugins = []\n")
    module = types.ModuleType("lm_eval.tasks.manager")
    module.__file__ = released.__file__
    module.FOLDER = folder  # type: ignore[attr-defined]
    exec(compile(source, f"{released.__file__} (changed)", "exec"), module.__dict__)
    # A class of its own, so that what we attach to stays here; the built-in files are not read.
    own = Path(str(released.__file__)).parent
    every = index.TaskIndex._iter_yaml_files
    released_build = index.TaskIndex.build
    plain = getattr(released_build, "__wrapped__", released_build)
    seen: list[Path] = []

    def files(root: Path) -> Iterator[Path]:
        seen.append(Path(root).resolve())
        return iter(()) if Path(root) == own else every(Path(root))

    monkeypatch.setattr(index.TaskIndex, "_iter_yaml_files", staticmethod(files))
    monkeypatch.setattr(index.TaskIndex, "build", staticmethod(plain))
    module.seen = seen  # type: ignore[attr-defined]
    monkeypatch.setattr(discovery, "_task_sources", lambda manager: source)
    return module


def declare(value: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a distribution that declares our tasks, beside what is installed."""
    info = folder / "site" / "xling_tasks_declared-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: xling-tasks-declared\nVersion: 1\n"
    )
    (info / "entry_points.txt").write_text(f"[lm_eval.tasks]\nxling = {value}\n")
    monkeypatch.syspath_prepend(str(folder / "site"))


@pytest.fixture(params=[AMONG_THE_PATHS, EACH_ON_ITS_OWN], ids=["among the paths", "on its own"])
def how(request):
    return str(request.param)


def harness_with(how, monkeypatch, form="package", declared: Path | None = None):
    """A task manager with the change, to which the bridge was attached; our tasks are declared below a folder."""
    value, folder = FOLDERS[form]
    if declared:
        declare(value, declared, monkeypatch)
    manager = upstream(how, folder, monkeypatch)
    discovery.attach(manager)
    return manager


@pytest.mark.parametrize("form", FOLDERS)
def test_bridge_steps_aside(form, how, tmp_path, monkeypatch, caplog):
    name = "xlinghealth_correctness_demo_en"
    (mine := tmp_path / "mine").mkdir()
    (mine / "mine.yaml").write_text(f"task: {name}\ndataset_path: x\n")
    with caplog.at_level(logging.WARNING):
        manager = harness_with(how, monkeypatch, form, tmp_path)
        tasks = manager.TaskManager()
        assert manager.seen.count(discovery.task_folder()) == 1
    assert not caplog.records
    assert tasks.task_index[name].yaml_path.name == f"{name}.yaml"
    some = {"xlinghealth", "mmedbench", "xling_custom_rubric", "xlinghealth_demo"}
    assert some <= {*tasks.all_tasks}
    theirs = manager.TaskManager(include_path=str(mine)).task_index
    assert theirs[name].yaml_path.name == "mine.yaml" and "xlinghealth_demo" in theirs


def test_same_tasks_with_the_bridge_and_without(how, tmp_path, monkeypatch):
    """A harness with the change, but a release of ours that declares nothing: the bridge acts."""
    bridged = harness_with(how, monkeypatch).TaskManager().all_tasks
    assert "xlinghealth_demo" in bridged and len(bridged) > 200
    declared = harness_with(how, monkeypatch, declared=tmp_path)
    assert declared.TaskManager().all_tasks == bridged
    # Defaults that are not wanted bring nothing of ours.
    (empty := tmp_path / "empty").mkdir()
    nothing = declared.TaskManager(include_defaults=False, include_path=[str(empty)])
    assert nothing.all_tasks == []


def test_a_run_through_such_a_harness(tmp_path, monkeypatch):
    from lm_eval import simple_evaluate

    manager = harness_with(EACH_ON_ITS_OWN, monkeypatch, declared=tmp_path)
    task = "xlinghealth_verifiability_demo_es"
    results = simple_evaluate(
        model="xling_baseline", tasks=[task], task_manager=manager.TaskManager(), limit=2,
        bootstrap_iters=0,
    )  # fmt: skip
    assert results["results"][task]["unparsed_rate_t0.0,none"] == 0
