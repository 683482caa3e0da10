"""What others could slip into a run: no pickles are read, no code out of repositories is run."""

from __future__ import annotations

import ast
import functools
import gc
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
import xling_metrics
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import xling_tasks
from xling_tasks.errors import SettingError
from xling_tasks.models.model_config import ModelConfig

FILES = [
    path
    for package in (xling_tasks, xling_metrics)
    for path in sorted(Path(package.__file__).parent.rglob("*.py"))
]
FORBIDDEN = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


@functools.cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file.

    Nothing that other tests left is cleared away within `ast.parse`: that may log an error, for
    which Python parses lines of code, and older ones cannot do so within another parse ('AST
    constructor recursion depth mismatch').
    """
    gc.disable()
    try:
        return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    finally:
        gc.enable()


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    """The nodes are many."""
    yield
    nodes_of.cache_clear()


def imports_of(path: Path) -> Iterator[str]:
    """The top-level packages that a file imports, by a statement or by a name in quotes."""
    for node in nodes_of(path):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        elif (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).rpartition(".")[2] in ("import_module", "find_spec")
            and isinstance(node.args[0], ast.Constant)
        ):
            names = [str(node.args[0].value)]
        yield from (name.partition(".")[0] for name in names)


def test_no_pickle_is_read_no_text_is_run_and_no_code_of_a_repository_is_trusted():
    wrong = [
        (path.name, name) for path in FILES for name in FORBIDDEN.intersection(imports_of(path))
    ]
    for path in FILES:
        wrong += [(path.name, what) for node in nodes_of(path) for what in runs_text(node)]
    assert wrong == [] and len(FILES) > 100


def runs_text(node: ast.AST) -> Iterator[str]:
    """What a call or an argument may make of a file: anything at all."""
    pairs: list[tuple[Any, ast.AST]] = []
    if isinstance(node, ast.Call):
        name, words = ast.unparse(node.func), {w.arg: ast.unparse(w.value) for w in node.keywords}
        loads = name in ("torch.load", "eval", "exec", "yaml.unsafe_load", "yaml.full_load")
        numpy = name in ("np.load", "numpy.load") and words.get("allow_pickle") != "False"
        yield from [name] if loads or numpy or "Unsafe" in words.get("Loader", "") else []
        pairs = [(word.arg, word.value) for word in node.keywords]
    elif isinstance(node, ast.Dict):
        pairs = [(getattr(key, "value", None), own) for key, own in zip(node.keys, node.values)]
    yield from (
        f"{key}" for key, own in pairs if key == "trust_remote_code" and ast.unparse(own) != "False"
    )


@pytest.mark.parametrize("value", [True, "true", "True", 1])
def test_a_judge_may_not_bring_code(value):
    args = {"pretrained": "x", "trust_remote_code": value}
    with pytest.raises(SettingError, match=r"judge\.model_args\.trust_remote_code: code out of"):
        ModelConfig.parse("judge", {"model": "hf", "model_args": args})
    ModelConfig.parse("judge", {"model": "hf", "model_args": {**args, "trust_remote_code": False}})


PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
OWN = {"xling_tasks", "xling_metrics", "xling_task_yaml", ""}


def test_every_import_is_declared():
    """What a module imports is a requirement of ours, or of an extra; not by luck of another's."""
    if sys.version_info < (3, 11):
        pytest.skip("tomllib is of Python 3.11")
    import tomllib

    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    listed = [*project["dependencies"], *(
        item for name, own in extras.items() if name not in ("test", "dev") for item in own
    )]  # fmt: skip
    declared = {canonicalize_name(Requirement(item).name) for item in listed}
    brings = packages_distributions()
    missing = {
        (name, path.name)
        for path in FILES
        for name in imports_of(path)
        if name not in sys.stdlib_module_names | OWN
        and declared.isdisjoint(map(canonicalize_name, brings.get(name, [name])))
    }
    assert missing == set()


def test_imports_of_a_file_are_seen(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(
        "import a.b, c\nfrom d.e import f\nfrom . import g\n"
        "def h():\n    import_module('i.j')\n    importlib.util.find_spec('k')\n"
    )
    assert sorted(imports_of(path)) == ["a", "c", "d", "i", "k"]
