"""Names from results, data and settings become names of files: never a way out of a folder."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from builders import changed, evaluated, readers
from hypothesis import given
from hypothesis import strategies as st
from stored import Killed, dying_after, kept_in

from xling_tasks.cache.response_cache import ResponseCache
from xling_tasks.cli import main
from xling_tasks.lm.resumable import clear_finished
from xling_tasks.output import file_name, file_names

HOSTILE = {
    "folder": "a b/c", "climbs": "x/../../../../PWNED", "absolute": "/tmp/PWNED",
    "Windows": "..\\..\\PWNED:stream", "NUL": "a\0b", "long": "x" * 300, "hidden": ".ssh",
    "option": "-rf", "device": "con", "lines": "a\nb\r", "script": "डेटा", "half a letter": "\ud800",
    "surrounded": " . ", "empty": "",
}  # fmt: skip
ENDINGS = (".csv", ".js", ".md", ".yaml", ".html", ".json", ".jsonl")
PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
FIXED = {"README.md"}
UNNAMED = ("empty", "half a letter")
"""What no version of ours wrote, and no page can show."""
FEW = ("climbs", "absolute", "NUL", "half a letter", "script", "empty")
SLOW = ("leaderboard",)
"""Commands whose names of files come from the same function as the report's, seconds each."""
TASKS = [f"xlinghealth_correctness_demo_{code}" for code in ("en", "es")]


@given(st.lists(st.text(), min_size=2, max_size=4, unique=True))
def test_different_texts_have_different_names_of_a_closed_alphabet(texts):
    names = [file_name(text) for text in texts]
    assert all(PLAIN.fullmatch(name) for name in names)
    assert len({name.lower() for name in names}) == len(texts)


def test_names_that_are_plain_stay_and_no_text_can_take_the_name_of_another():
    assert file_name("correctness_my-data_2") == "correctness_my-data_2"
    changed = file_name("A b")
    assert changed == "a_b-" + changed[-12:] and file_name(changed) != changed
    assert len({file_name("LPT1"), file_name("lpt1"), "lpt1"}) == 3
    assert file_names(["a", "b", "a"])[:2] == ["a", "b"]
    assert len(set(file_names(["a", "a", "a", "a #2"]))) == 4


@pytest.fixture(scope="module")
def whole(run, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "m"
    evaluated(run, out, TASKS, limit=3, metadata={"judge": {"model": "xling_baseline"}})
    return out


def named(whole: Path, to: Path, name: str) -> Path:
    """The run as if it were of published data, under another name of the dataset."""

    def rename(content):
        for config in content["configs"].values():
            own = config["metadata"]["xling"]
            own["data"] |= {"dataset": name, "kind": "data_dir", "name": f"{name}.xlsx"}
            own["about"]["dataset"] = name
        content["config"]["limit"] = None
        for count in content["n-samples"].values():
            count["original"] = count["effective"]

    return changed(Path(shutil.copytree(whole, to)), rename)


COMMANDS = ("report", "compare", "leaderboard", "samples", "annotate", "submit hf")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_dataset_of_any_name_stays_in_the_folder(command, whole, tmp_path, capsys):
    wrong = {}
    for kind, name in HOSTILE.items():
        if command in SLOW and kind not in FEW:
            continue
        place = tmp_path / kind.replace(" ", "_")
        out = named(whole, place / "in" / "out", name)
        # Where climbing out of `--to` would write, if folders are made on the way.
        to = place / "a" / "b" / "to"
        to.parent.mkdir(parents=True)
        words = readers(out, to, name="" if name in ("", "-rf") else name)[command]
        before = {path for path in tmp_path.rglob("*")}
        try:
            status = main(words)
        except Exception as error:
            wrong[kind] = repr(error)
            continue
        said = capsys.readouterr().err
        made = {path for path in tmp_path.rglob("*")} - before
        if any(to not in (path, *path.parents) for path in made):
            wrong[kind] = [str(path) for path in made]
        elif status != 0 and (
            len(said.strip().split("\n")) != 1
            or (command in ("report", "samples") and kind not in UNNAMED)
        ):
            wrong[kind] = said
        if command in ("report", "samples", "submit hf"):
            wrong |= {(kind, path.name): str(path) for path in made if not _plain(path, to)}
    assert wrong == {}
    assert not Path("/tmp/PWNED").exists()


def _plain(path: Path, to: Path) -> bool:
    if path == to or path.name in FIXED:
        return True
    return bool(PLAIN.fullmatch(path.stem)) and (path.is_dir() or path.suffix in ENDINGS)


@pytest.mark.parametrize("kind", ["folder", "climbs", "absolute", "Windows", "NUL", "long"])
def test_a_task_whose_name_is_no_file_name_is_one_line(kind, whole, tmp_path, capsys):
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    path = next(out.rglob("results_*.json"))
    content = json.loads(path.read_text())
    for part in ("results", "configs", "n-samples", "higher_is_better"):
        content[part][HOSTILE[kind]] = content[part].pop(TASKS[1])
    path.write_text(json.dumps(content))
    assert main(["report", str(out), "--to", str(tmp_path / "to")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and path.name in said and "no name of a task" in said


@pytest.mark.parametrize("name", ["Con? A", ".hidden", "-rf", "q" * 190])
def test_a_task_of_any_name_keeps_its_answers(name, run, tmp_path, own_cache):
    from lm_eval.tasks import TaskManager

    from xling_tasks.discovery import task_folder

    leaf_of_ours = next(task_folder().rglob("xlinghealth_verifiability_demo_en.yaml"))
    text = re.sub(r"(?m)^task:.*$", f"task: {json.dumps(name)}", leaf_of_ours.read_text())
    text = re.sub(r"(?m)^include: ", f"include: {leaf_of_ours.parent}/", text)
    (tmp_path / "own.yaml").write_text(text)
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    with dying_after(5), pytest.raises(Killed):
        run([name], task_manager=manager, limit=2)
    clear_finished()
    (kept,) = kept_in(own_cache)
    assert PLAIN.match(kept.name) and len(ResponseCache(kept)) == 5
    assert run([name], task_manager=manager, limit=2)["results"][name]
