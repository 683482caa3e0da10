"""What is imported is declared."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import xling_metrics
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import xling_tasks

FILES = [
    path
    for package in (xling_tasks, xling_metrics)
    for path in sorted(Path(package.__file__).parent.rglob("*.py"))
]


def imports_of(path: Path) -> Iterator[str]:
    """The top-level packages that a file imports, by a statement or by a name in quotes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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
