"""Which files of a folder are read: copies, compressed samples, revisions, older runs."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest
from annotating import xling
from builders import STAMP, write_run
from in_memory import exam, sample, task

from xling_tasks.errors import DataError
from xling_tasks.logs.newest import find_models
from xling_tasks.report.data import read_models
from xling_tasks.report.lists import make_verdicts
from xling_tasks.report.verdicts import Options


def tasks(correct=80, n=100):
    order = np.arange(n)
    return exam("en", order < n) | exam("hi", order < correct)


def verdict(*folders):
    (model,) = read_models(folders)
    (found,) = make_verdicts(model, Options())
    return found.verdict, found.n, [note["kind"] for note in model.notes]


def test_a_copy_with_equal_content_is_one_run(tmp_path):
    """As browsers and sync clients name it: `results_... (1).json`."""
    out = write_run(tmp_path / "m", tasks())
    (path,) = out.rglob("results_*.json")
    shutil.copy(path, path.with_name(f"{path.stem} (1).json"))
    (path.parent / f"._{path.name}").write_bytes(b"\x00\x05\x16\x07Mac OS X")
    for samples in out.rglob("samples_*.jsonl"):
        shutil.copy(samples, samples.with_name(f"{samples.stem} (1).jsonl"))
    assert verdict(out) == ("worse", 100, [])
    assert verdict(out, shutil.copytree(out, tmp_path / "again")) == ("worse", 100, [])


def test_each_file_of_users_questions_is_a_dataset(tmp_path):
    """Their tasks have one name for every file, and the later run is not the newer one."""
    for dataset, hour in (("ward", 3), ("night", 4), ("ward", 5)):
        rows = [sample(0, chrf=float(hour))]
        (made,) = task("correctness", ["en"], rows, dataset, chrf=True).values()
        stamp = f"2026-01-02T0{hour}-04-05.6"
        write_run(tmp_path, {"xling_custom_correctness_en": made}, stamp=stamp)
    (model,) = find_models([tmp_path])
    assert [found.task_key.dataset for found in model.tasks.values()] == ["ward", "night"]
    assert [note["path"][-15:] for note in model.notes] == ["03-04-05.6.json"]
    with pytest.raises(DataError, match="one name .night, ward.; choose with --datasets"):
        xling("annotate", tmp_path, "--to", tmp_path / "page.html")


def test_compressed_samples_are_read(tmp_path):
    out = write_run(tmp_path / "m", tasks())
    for path in list(out.rglob("samples_*.jsonl")):
        with gzip.open(f"{path}.gz", "wb") as file:
            file.write(path.read_bytes())
        path.unlink()
    assert verdict(out) == ("worse", 100, [])


def named(tmp_path: Path, *args: dict, stamps=("2026-01-02T03-04-05.6", "2026-01-02T04-04-05.6")):
    for arguments, stamp in zip(args, stamps):
        write_run(tmp_path, tasks(), stamp=stamp, config={"model": "hf", "model_args": arguments})
    return [model.name for model in find_models([tmp_path])]


def test_the_argument_that_differs_is_in_the_name(tmp_path):
    """EleutherAI/pythia's checkpoints are revisions of one name."""
    base = {"pretrained": "EleutherAI/pythia-160m", "dtype": "float32"}
    names = named(tmp_path / "a", base | {"revision": "step1000"}, base | {"revision": "step2000"})
    assert names == ["pythia-160m, revision=step1000", "pythia-160m, revision=step2000"]
    names = named(tmp_path / "b", base, base | {"load_in_4bit": True})
    assert names == ["pythia-160m", "pythia-160m, load_in_4bit=True"]
    peft = [base | {"peft": f"adapters/{name}/final"} for name in ("one", "two")]
    assert named(tmp_path / "c", *peft) == [
        "final, peft=adapters/one/final",
        "final, peft=adapters/two/final",
    ]


def test_the_newest_run_of_a_task_counts_and_the_older_is_noted(tmp_path):
    out = write_run(tmp_path / "m", tasks(100))
    write_run(
        out, {k: own for k, own in tasks(40).items() if k.endswith("hi")}, stamp=f"2027{STAMP[4:]}"
    )
    assert verdict(out) == ("worse", 100, ["unused_run"])
    (model,) = find_models([out])
    (note,) = model.notes
    assert note["tasks"] == ["mcqa_liveqa_hi"] and note["newer"].startswith("results_2027")


def test_a_name_stands_for_one_model(tmp_path):
    base = {"pretrained": "x"}
    named(tmp_path / "a", base, {"pretrained": "y"})
    with pytest.raises(DataError, match="holds several models; a name can stand for one only"):
        find_models([f"A={tmp_path / 'a'}"])
    one, two = (write_run(tmp_path / name, tasks()) for name in ("one", "two"))
    assert [m.name for m in find_models([f"A={one}", f"B={two}"])] == ["A", "B"]
