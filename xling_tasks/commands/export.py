"""`xling export`: data in a form for other programs."""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

from xling_tasks.commands import options as arguments
from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.mmedbench import load
from xling_tasks.data.prompts import FOLDER, PromptTemplates
from xling_tasks.output import jsonl, many, write_new
from xling_tasks.settings import Settings

KINDS = ("mcqa_ft", "rationale_ft")
"""The prompts that training data may be written for."""

EXAMPLE = FOLDER / "examples" / "mmedbench_trained.yaml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling export mmedbench-train` and `trained-prompts`."""
    kinds = parser.add_subparsers(title="what", required=True)
    summary = "write MMedBench's training questions as prompts with their answers"
    train = kinds.add_parser("mmedbench-train", help=summary, description=summary)
    text = "separated by commas (default %(default)s)"
    train.add_argument("--kinds", default=",".join(KINDS), help=text)
    arguments.add_languages(train, "all six")
    arguments.add_output(train, "new JSONL file")
    arguments.add_metadata(train)
    train.set_defaults(run=export_train)
    summary = "write an example of a prompt file for trained models"
    example = kinds.add_parser("trained-prompts", help=summary, description=summary)
    arguments.add_output(example, "new YAML file")
    example.set_defaults(run=export_example)


def export_example(options: argparse.Namespace) -> str:
    """Write the bundled example of a prompt file."""
    write_new(options.to, [EXAMPLE.read_text(encoding="utf-8")])
    return f"{options.to}: replace its wording by that of your training data"


def export_train(options: argparse.Namespace) -> str:
    """Write `prompt` and `completion` of each training question and kind.

    Questions without a rationale have no line of the kind `rationale_ft`.
    """
    settings = Settings.parse(arguments.read_metadata(options.metadata), {})
    info = DATASETS["mmedbench"]
    kinds = arguments.chosen("--kinds", options.kinds, KINDS, "no prompts of this name")
    codes = arguments.chosen(
        "--languages", options.languages, info.languages, "no training questions"
    )
    prompts = PromptTemplates(settings.prompt_templates)
    rows: list[dict[str, Any]] = []
    counts = []
    for code, kind in product(codes, kinds):
        docs, template = (
            load(info, code, "train", settings.data_dir).docs(),
            prompts.get(kind, "en"),
        )
        usable = [doc for doc in docs if kind != "rationale_ft" or doc.get("rationale")]
        counts.append(f"{code} {kind} {len(usable)} of {len(docs)}")
        for doc in usable:
            question, rationale = doc["question"], doc.get("rationale") or ""
            options_text = template.form.options(doc["options"])
            name = info.language_names[code]
            rows.append({
                "kind": kind, "language": code, "question_id": doc["question_id"],
                "prompt": template.fill(question=question, options=options_text, language=name),
                "completion": template.form.answer(kind, doc["answer"], rationale),
            })  # fmt: skip
    write_new(options.to, jsonl(rows))
    return f"{options.to}: {many(len(rows), 'line')} ({'; '.join(counts)} usable questions)"
