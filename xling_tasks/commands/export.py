"""`xling export`: data in a form for other programs."""

from __future__ import annotations

import argparse
from itertools import product
from typing import Any

from xling_tasks.commands.options import (
    add_languages,
    add_metadata,
    add_output,
    add_seed,
    chosen,
    integer,
    read_metadata,
)
from xling_tasks.data.dataset_info import DATASETS
from xling_tasks.data.mmedbench import load
from xling_tasks.data.prompts import FOLDER, PromptTemplates
from xling_tasks.errors import SettingError, user_path
from xling_tasks.models.empathy.classifier import trained_on
from xling_tasks.models.empathy.data import draw, held_out
from xling_tasks.models.empathy.data import load as load_pairs
from xling_tasks.output import jsonl, many, write_new
from xling_tasks.settings import Settings

KINDS = ("mcqa_ft", "rationale_ft")
"""The prompts that training data may be written for."""

EXAMPLE = FOLDER / "examples" / "mmedbench_trained.yaml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling export mmedbench-train`, `trained-prompts`, `empathy-posts`."""
    kinds = parser.add_subparsers(title="what", required=True)
    summary = "write MMedBench's training questions as prompts with their answers"
    train = kinds.add_parser("mmedbench-train", help=summary, description=summary)
    train.add_argument(
        "--kinds", default=",".join(KINDS), help="separated by commas (default %(default)s)"
    )
    add_languages(train, "all six")
    add_output(train, "new JSONL file")
    add_metadata(train)
    train.set_defaults(run=export_train)
    summary = "write an example of a prompt file for trained models"
    example = kinds.add_parser("trained-prompts", help=summary, description=summary)
    add_output(example, "new YAML file")
    example.set_defaults(run=export_example)
    summary = "write posts that an empathy classifier was not trained on, as prompts"
    posts = kinds.add_parser("empathy-posts", help=summary, description=summary)
    text = "folder that the classifier was trained on"
    posts.add_argument("--data", type=user_path, required=True, metavar="DIR", help=text)
    posts.add_argument("--classifier", required=True, metavar="DIR", help="the classifier")
    text = "number of posts (default %(default)s, as in the paper)"
    posts.add_argument("--n", type=integer(1), default=100, metavar="N", help=text)
    add_seed(posts, "of the sample")
    add_output(posts, "new JSONL file")
    posts.set_defaults(run=export_posts)


def export_example(options: argparse.Namespace) -> str:
    """Write the bundled example of a prompt file."""
    write_new(options.to, [EXAMPLE.read_text(encoding="utf-8")])
    return f"{options.to}: replace its wording by that of your training data"


def export_posts(options: argparse.Namespace) -> str:
    """Write `id` and `en` of posts from the test split of a classifier.

    Raises:
        SettingError: If the classifier was trained on other data.
    """
    digest, seed = trained_on(options.classifier)
    data = load_pairs(options.data)
    if data.digest != digest:
        raise SettingError(
            f"--data {options.data}: has digest {data.digest}, but {options.classifier} was "
            f"trained on {digest}; posts of other data may be ones that it was trained on"
        )
    posts = held_out(data, seed)
    rows = ({"id": post.id, "en": post.text} for post in draw(posts, options.n, options.seed))
    write_new(options.to, jsonl(rows))
    return (
        f"{options.to}: {options.n} of {many(len(posts), 'seeker post')} of the test part, "
        "stratified by the mechanisms of their responses. They are by people in distress: keep "
        "them safe.\n"
        f"Next: xling translate-prompts {options.to} --to ... and lm_eval --tasks xling_empathy "
        "--metadata prompt_set=..."
    )


def export_train(options: argparse.Namespace) -> str:
    """Write `prompt` and `completion` of each training question and kind.

    Questions without a rationale have no line of the kind `rationale_ft`.
    """
    settings = Settings.parse(read_metadata(options.metadata), {})
    info = DATASETS["mmedbench"]
    kinds = chosen("--kinds", options.kinds, KINDS, "no prompts of this name")
    codes = chosen("--languages", options.languages, info.languages, "no training questions")
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
