"""Wheel, sdist and editable install, each in a fresh environment, used from another folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from builders import COMMAND, PACKAGES, SEES

ROOT = Path(__file__).resolve().parents[2]
OURS = ("xling", "__editable__")
EXTRAS = ("torch", "transformers", "accelerate", "peft", "tokenizers", "functorch")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (ROOT / "pyproject.toml").is_file(), reason="needs the source tree"),
]


def call(*words: str | Path, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env={**os.environ, "PYTHONPATH": "", **env},
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tracked files alone, so that leftovers of other builds cannot hide a missing one."""
    target = tmp_path_factory.mktemp("source") / "checkout"
    listed = call("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(lambda name: (ROOT / name).is_file(), listed.splitlines()):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target / name)
    return target


@pytest.fixture(scope="module")
def built(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    call(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, source, cwd=folder)
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A virtual environment with the core's dependencies: no extras, and no trace of us."""
    call(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env", cwd=tmp_path)
    links = tmp_path / "links"
    links.mkdir()
    for item in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if not item.name.startswith((*OURS, *EXTRAS)) and item.suffix != ".pth":
            (links / item.name).symlink_to(item)
    (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(str(links))
    return tmp_path / "env"


def traces(environment: Path) -> set[str]:
    (site,) = environment.glob("lib/python*/site-packages")
    return {item.name for item in site.iterdir() if item.name.startswith(OURS)}


def installed(environment: Path) -> set[str]:
    """The files of our packages, beside what pip notes of them."""
    (site,) = environment.glob("lib/python*/site-packages")
    files = {path.relative_to(site) for path in site.rglob("*") if path.is_file()}
    ours = {path for path in files if path.parts[0].startswith("xling") and path.suffix != ".pyc"}
    return {path.as_posix() for path in ours if not path.parts[0].endswith(".dist-info")}


def pip(environment: Path, *words: str | Path) -> None:
    call(environment / "bin/python", "-m", "pip", *words, cwd=environment)


def install(environment: Path, *what: str | Path) -> None:
    pip(environment, "install", "--no-deps", "--no-build-isolation", "--quiet", *what)


def test_wheel_has_our_packages_the_startup_file_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"xling_tasks", "xling_metrics", "xling_task_yaml", "xling_tasks.pth"}
    packaged = {name for name in names if name.startswith("xling")}
    for folder, package in PACKAGES.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"{package}/{path.relative_to(ROOT / folder).as_posix()}" in packaged
    (record,) = (name for name in names if name.endswith("RECORD"))
    assert zipfile.ZipFile(wheel).read(record).decode().count("xling_tasks.pth,sha256=") == 1


@pytest.mark.parametrize("kind", ["wheel", "sdist", "editable"])
def test_installed_seen_from_another_folder_and_gone_after_uninstall(
    kind, built, source, environment, tmp_path
):
    before = traces(environment)
    if kind == "editable":
        install(environment, "--editable", source)
    else:
        (archive,) = built.glob("*.whl" if kind == "wheel" else "*.tar.gz")
        install(environment, archive)
    python, elsewhere = environment / "bin/python", tmp_path / "elsewhere"
    elsewhere.mkdir()
    if kind == "wheel":
        assert call(python, "-c", SEES, cwd=elsewhere, XLING_TASKS_AUTOLOAD="0") == "False\n"
        run = (python, "-c", COMMAND, "--model", "xling_baseline", "--limit", "1")
        table = call(*run, "--tasks", "xlinghealth_correctness_demo_es", cwd=elsewhere)
        assert "langid_match" in table
        without = "import importlib.util as u; print(*map(u.find_spec, ('torch', 'transformers')))"
        assert call(python, "-c", without, cwd=elsewhere) == "None None\n"
    elif kind == "sdist":  # the same files as from the wheel, which therefore do the same
        (wheel,) = built.glob("*.whl")
        names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
        assert installed(environment) == names
    else:
        assert call(python, "-c", SEES, cwd=elsewhere) == "True\n"
    assert call(environment / "bin/xling", "--version", cwd=elsewhere).strip()
    pip(environment, "uninstall", "--yes", "--quiet", "xling-tasks")
    assert traces(environment) == before
    assert call(python, "-c", "print('up')", cwd=elsewhere) == "up\n"
