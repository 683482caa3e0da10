"""Write the task files: one leaf per task and one file per group.

`python -m xling_task_yaml._generate` rewrites them in place (from an editable install or the
checkout); a test checks that the files on disk are what this module would write.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import yaml

from xling_tasks.data.dataset_info import MMEDBENCH, XLINGHEALTH
from xling_tasks.errors import XlingError
from xling_tasks.languages import stop_texts

DEMO = "demo"
CLOSE = "close"
"""The sample whose wrong answers are close to the right ones: only verdicts are asked of it."""
DATASETS = tuple(key for key, record in XLINGHEALTH.items() if not record.bundled)
LANGUAGES = tuple(dict.fromkeys(code for each in XLINGHEALTH.values() for code in each.languages))
PUBLISHED = ("correctness", "consistency", "verifiability")
"""The criteria of the paper: what a group without a criterion in its name holds. By log-likelihoods
is ours, and most chat backends give none: those tasks have groups of their own."""
CRITERIA = (*PUBLISHED, "verifiability_ll")

MMEDBENCH_LANGUAGES = tuple(MMEDBENCH["mmedbench"].sources)
_REASONS = ("acc", "bleu1", "bleu2", "bleu3", "bleu4", "rouge1", "rouge2", "rougeL")
MMEDBENCH_KINDS = {
    "mcqa": ("acc",),
    "mcqa_ll": ("acc", "acc_norm"),
    "mcqa_ft": ("acc",),
    "rationale": _REASONS,
    "rationale_ft": _REASONS,
}
"""The kinds of MMedBench task, with the metrics that their groups average (the paper's Avg.)."""
MMEDBENCH_ASKED = ("mcqa", "rationale")
"""The kinds of the paper that any backend can be asked: what a group without a kind holds."""

TRANSLATE_EVALUATE = (
    ("xling_information", "information", "information"),
    ("xling_empathy", "empathy", "empathy"),
    *(
        (f"xlinghealth_information_{dataset}", "xlinghealth_information", dataset)
        for dataset in (*DATASETS, DEMO)
    ),
)
"""Tasks over several languages each: name, kind and record."""
CUSTOM = (*CRITERIA, "information", "mcqa")
"""The kinds of task over users' own questions.

Those of one language each get their tasks from the user's file when the harness looks for tasks
(`xling_tasks.discovery`); the task of the kind's name stands for them until then. Rubrics have a
bundled sample, and so tasks of their own.
"""
_RUBRICS = [f"xling_custom_rubric_{code}" for code in ("en", "es", "zh", "hi", "fr", "ar")]
"""The tasks over the bundled conversations."""

FOLDERS = {
    "xling_translate_evaluate": "translate_evaluate",
    "xlinghealth_information": "translate_evaluate",
    "xling_custom": "custom",
    "xling_custom_rubric": "custom",
}
"""Groups whose folder is not the first part of their name."""


class Leaf(NamedTuple):
    """One task: its folder, its kind, and the record and language of its data."""

    folder: str
    kind: str
    record: str
    language: str = ""


def leaves() -> dict[str, Leaf]:
    """Return every task by its name."""
    by_name = {}
    for criterion, dataset in product(CRITERIA, (*DATASETS, DEMO, CLOSE)):
        if not _asked(criterion, dataset):
            continue
        for language in XLINGHEALTH[dataset].languages:
            name = f"xlinghealth_{criterion}_{dataset}_{language}"
            by_name[name] = Leaf("xlinghealth", criterion, dataset, language)
    for kind, (infix, record) in product(
        MMEDBENCH_KINDS, (("", "mmedbench"), ("demo_", "mmedbench_demo"))
    ):
        for language in MMEDBENCH[record].sources:
            name = f"mmedbench_{kind}_{infix}{language}"
            by_name[name] = Leaf("mmedbench", kind, record, language)
    for name, kind, record in TRANSLATE_EVALUATE:
        by_name[name] = Leaf("translate_evaluate", kind, record)
    by_name |= {f"xling_custom_{kind}": Leaf("custom", kind, "custom") for kind in CUSTOM}
    return by_name | {name: Leaf("custom", "rubric", "custom", name[-2:]) for name in _RUBRICS}


def files() -> dict[str, str]:
    """Return every generated file: path below this folder -> content."""
    contents: dict[str, str] = {}
    for name, (folder, kind, record, language) in leaves().items():
        stops = _stops(folder, kind, language) if folder == "xlinghealth" else ""
        contents[f"{folder}/{name}.yaml"] = _leaf(name, kind, record, language) + stops
    for name, members in groups().items():
        family = FOLDERS.get(name, name.split("_")[0])
        kind = name.removeprefix("mmedbench_").removesuffix("_demo")
        averaged = MMEDBENCH_KINDS.get(kind, ())
        contents[f"{family}/_{name}.yaml"] = _group(name, members, averaged)
    return dict(sorted(contents.items()))


def groups() -> dict[str, list[str]]:
    """Return every group with its members."""
    return {
        **_xlinghealth_groups(),
        **_mmedbench_groups(),
        "xlinghealth_information": [f"xlinghealth_information_{dataset}" for dataset in DATASETS],
        "xling_translate_evaluate": ["xling_information", "xling_empathy"],
        "xling_custom_rubric": _RUBRICS,
        "xling_custom": [f"xling_custom_{kind}" for kind in PUBLISHED],
    }


def _xlinghealth_groups() -> dict[str, list[str]]:
    """Return the groups of names that leave out criterion, dataset or language.

    A name without a dataset means the real ones; the sample is always named.
    """
    by_name = {}
    for criterion, dataset, language in product(
        ("", *CRITERIA), ("", *DATASETS, DEMO, CLOSE), ("", *LANGUAGES)
    ):
        if all((criterion, dataset, language)):
            continue  # a task
        name = "_".join(filter(None, ("xlinghealth", criterion, dataset, language)))
        by_name[name] = [
            f"xlinghealth_{one}_{chosen}_{code}"
            for one in ([criterion] if criterion else PUBLISHED)
            for chosen in ([dataset] if dataset else DATASETS)
            for code in XLINGHEALTH[chosen].languages
            if language in ("", code) and _asked(one, chosen)
        ]
    return {name: members for name, members in by_name.items() if members}


def _asked(criterion: str, dataset: str) -> bool:
    return dataset != CLOSE or criterion.startswith("verifiability")


def _mmedbench_groups() -> dict[str, list[str]]:
    """Return groups per kind, per language and of everything, for data and sample.

    Without a kind: letters generated and rationales, as in the paper.
    """
    every, by_name = MMEDBENCH_LANGUAGES, {}
    for infix, ending in (("", ""), ("demo_", "_demo")):
        for kind in MMEDBENCH_KINDS:
            by_name[f"mmedbench_{kind}{ending}"] = _mmedbench([kind], every, infix)
        for language in every:
            by_name[f"mmedbench_{infix}{language}"] = _mmedbench(MMEDBENCH_ASKED, [language], infix)
        by_name[f"mmedbench{ending}"] = _mmedbench(MMEDBENCH_ASKED, every, infix)
    by_name["mmedbench_ft"] = _mmedbench(["mcqa_ft", "rationale_ft"], every)
    return by_name


def _mmedbench(kinds: Iterable[str], languages: Iterable[str], infix: str = "") -> list[str]:
    return [f"mmedbench_{kind}_{infix}{language}" for kind, language in product(kinds, languages)]


def _leaf(name: str, criterion: str, dataset: str, language: str = "") -> str:
    return (
        f"include: _{criterion}_template_yaml\n"
        f"task: {name}\n"
        f"dataset_kwargs:\n  record: {dataset}\n"
        + (language and f"  language: {_word(language)}\n")
    )


def _word(text: str) -> str:
    """Quote a word that YAML would read as another value: `no`, Norwegian, as false."""
    return text if yaml.safe_load(text) == text else json.dumps(text)


def _stops(family: str, criterion: str, language: str) -> str:
    """Return the template's generation arguments, with the stop texts of one language.

    They stand in each leaf, so that a new language changes no other task.
    """
    template = Path(__file__).parent / family / f"_{criterion}_template_yaml"
    content = yaml.load(template.read_text(encoding="utf-8"), _Template)
    if content.get("generation_kwargs") is None:
        return ""
    arguments = {**content["generation_kwargs"], "until": stop_texts(language)}
    lines = [f"  {key}: {json.dumps(x, ensure_ascii=False)}\n" for key, x in arguments.items()]
    return "generation_kwargs:\n" + "".join(lines)


class _Template(yaml.SafeLoader):
    """Reads a template, whose class is of no interest here."""


_Template.add_constructor("!function", lambda loader, node: None)


def _group(name: str, members: list[str], averaged: tuple[str, ...] = ()) -> str:
    items = "".join(f"  - {member}\n" for member in members)
    means = "".join(
        f"  - metric: {metric}\n    aggregation: mean\n    weight_by_size: false\n"
        for metric in averaged
    )
    aggregate = f"aggregate_metric_list:\n{means}" if averaged else ""
    return f"group: {name}\ntask:\n{items}{aggregate}metadata:\n  version: 1.0\n"


def main() -> int:
    """Rewrite all files, remove generated ones that are no more, and say what languages lack."""
    from xling_task_yaml._lacking import lacking

    folder = Path(__file__).parent
    contents = files()
    for old in folder.glob("*/*.yaml"):
        if old.relative_to(folder).as_posix() not in contents:
            old.unlink()
    for path, content in contents.items():
        (folder / path).write_text(content, encoding="utf-8")
    try:
        lines = lacking()
    except XlingError as error:
        lines = [str(error)]
    print(
        "\n".join(lines) or f"{len(contents)} task files; every language has what its tasks need."
    )
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
