"""Write the task files: one leaf per task and one file per group.

`python -m xling_task_yaml._generate` rewrites them in place (from an editable install or the
checkout); a test checks that the files on disk are what this module would write.
"""

from __future__ import annotations

from pathlib import Path

LANGUAGES = ("en", "es", "zh", "hi")
DATASETS = ("healthqa", "liveqa", "medicationqa")
CRITERIA = ("correctness", "consistency", "verifiability", "verifiability_ll")

MMEDBENCH_LANGUAGES = ("en", "zh", "ja", "fr", "ru", "es")
MMEDBENCH_KINDS = {
    "mcqa": ("acc",),
    "mcqa_ll": ("acc", "acc_norm"),
    "mcqa_ft": ("acc",),
    "rationale": ("acc", "bleu1", "bleu2", "bleu3", "bleu4", "rouge1", "rouge2", "rougeL"),
    "rationale_ft": ("acc", "bleu1", "bleu2", "bleu3", "bleu4", "rouge1", "rouge2", "rougeL"),
}
"""The kinds of MMedBench task, with the metrics that their groups average (the paper's Avg.)."""


TRANSLATE_EVALUATE = (
    ("xling_information", "information", "information"),
    ("xling_empathy", "empathy", "empathy"),
    *(
        (f"xlinghealth_information_{dataset}", "xlinghealth_information", dataset)
        for dataset in (*DATASETS, "demo")
    ),
)
"""Tasks over several languages each: name, kind and record."""
FOLDERS = dict.fromkeys(
    ("xling_translate_evaluate", "xlinghealth_information"), "translate_evaluate"
)
"""Groups whose folder is not the first part of their name."""


def files() -> dict[str, str]:
    """Every generated file: path below this folder -> content."""
    found: dict[str, str] = {}
    for criterion in CRITERIA:
        for dataset in (*DATASETS, "demo"):
            for language in LANGUAGES:
                name = f"xlinghealth_{criterion}_{dataset}_{language}"
                found[f"xlinghealth/{name}.yaml"] = _leaf(name, criterion, dataset, language)
    for kind in MMEDBENCH_KINDS:
        for language in MMEDBENCH_LANGUAGES:
            for infix, record in (("", "mmedbench"), ("demo_", "mmedbench_demo")):
                name = f"mmedbench_{kind}_{infix}{language}"
                found[f"mmedbench/{name}.yaml"] = _leaf(name, kind, record, language)
    for name, kind, record in TRANSLATE_EVALUATE:
        found[f"translate_evaluate/{name}.yaml"] = _leaf(name, kind, record)
    for name, members in groups().items():
        family = FOLDERS.get(name, name.split("_")[0])
        averaged = MMEDBENCH_KINDS.get(name.removeprefix("mmedbench_"), ())
        found[f"{family}/_{name}.yaml"] = _group(name, members, averaged)
    return dict(sorted(found.items()))


def groups() -> dict[str, list[str]]:
    """Every group with its members: per criterion, per dataset, the demos, and everything."""
    found = {f"xlinghealth_{criterion}": _leaves([criterion], DATASETS) for criterion in CRITERIA}
    found |= {f"xlinghealth_{dataset}": _leaves(CRITERIA, [dataset]) for dataset in DATASETS}
    found["xlinghealth_demo"] = _leaves(CRITERIA, ["demo"])
    found["xlinghealth"] = _leaves(CRITERIA, DATASETS)
    found |= {f"mmedbench_{kind}": _mmedbench([kind]) for kind in MMEDBENCH_KINDS}
    found["mmedbench_demo"] = _mmedbench(["mcqa", "mcqa_ll", "rationale"], "demo_")
    found["mmedbench"] = _mmedbench(["mcqa", "rationale"])
    found["xlinghealth_information"] = [f"xlinghealth_information_{each}" for each in DATASETS]
    found["xling_translate_evaluate"] = ["xling_information", "xling_empathy"]
    return found


def _mmedbench(kinds: list[str], infix: str = "") -> list[str]:
    return [
        f"mmedbench_{kind}_{infix}{language}" for kind in kinds for language in MMEDBENCH_LANGUAGES
    ]


def _leaves(
    criteria: tuple[str, ...] | list[str], datasets: tuple[str, ...] | list[str]
) -> list[str]:
    return [
        f"xlinghealth_{criterion}_{dataset}_{language}"
        for criterion in criteria
        for dataset in datasets
        for language in LANGUAGES
    ]


def _leaf(name: str, criterion: str, dataset: str, language: str = "") -> str:
    return (
        f"include: _{criterion}_template_yaml\n"
        f"task: {name}\n"
        f"dataset_kwargs:\n  record: {dataset}\n" + (language and f"  language: {language}\n")
    )


def _group(name: str, members: list[str], averaged: tuple[str, ...] = ()) -> str:
    listed = "".join(f"  - {member}\n" for member in members)
    means = "".join(
        f"  - metric: {metric}\n    aggregation: mean\n    weight_by_size: false\n"
        for metric in averaged
    )
    aggregate = f"aggregate_metric_list:\n{means}" if averaged else ""
    return f"group: {name}\ntask:\n{listed}{aggregate}metadata:\n  version: 1.0\n"


def main() -> None:
    """Rewrite all files and remove generated ones that are no more."""
    folder = Path(__file__).parent
    wanted = files()
    for old in folder.glob("*/*.yaml"):
        if old.relative_to(folder).as_posix() not in wanted:
            old.unlink()
    for path, content in wanted.items():
        (folder / path).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
