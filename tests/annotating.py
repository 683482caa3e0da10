"""What tests of annotation share: judged answers, and exports as the page writes them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from builders import STAMP, write_samples

from xling_tasks.cli import parse
from xling_tasks.report.annotation_files import Annotation


def xling(*words: object) -> Any:
    """Run a command; an error is raised."""
    options = parse([*map(str, words)])
    return options.run(options)


def sample(
    number: object, label: str | None = "neither", judge: str = "judge-1", **texts: str
) -> dict[str, Any]:
    """Return an answer that a judge has labelled, as the harness logs it."""
    doc = {
        "question_id": str(number),
        "question": texts.get("question", f"Question {number}?"),
        "reference": texts.get("reference", f"Reference {number}."),
    }
    judged = {"label": label, "reply": "Because of this.", "judge": judge}
    answer = texts.get("answer", f"Answer {number}.")
    return {"doc": doc, "filtered_resps": [answer], "filter": "none", "n_judged": judged}


def write(
    out: Path, samples: Iterable[Mapping[str, Any]], language: str = "en", dataset: str = "liveqa",
    stamp: str = STAMP,
) -> Path:  # fmt: skip
    """Write a task's samples as the harness logs them."""
    name = f"xlinghealth_correctness_{dataset}_{language}"
    return write_samples(out / "some__model", name, samples, stamp)


def data_of(page: Path) -> dict[str, Any]:
    """Return what the page's script reads."""
    block = '<script type="application/json" id="page">(.*?)</script>'
    (text,) = re.findall(block, page.read_text(encoding="utf-8"), re.S)
    return dict(json.loads(text))


def export(
    page: Path, annotator: str, choose: Callable[[dict[str, Any]], str | None], **more: str
) -> Path:
    """Write what an annotator exports who labels each item of a page by CHOOSE."""
    data = data_of(page)
    path = page.with_name(f"{annotator}.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, Annotation._fields, extrasaction="ignore")
        writer.writeheader()
        for item in data["items"]:
            chosen = {"label": choose(item) or "", "comment": "", "annotator": annotator}
            writer.writerow({**data["about"], **item, **chosen, **more})
    return path
