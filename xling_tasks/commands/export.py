"""`xling export`: data in a form for other programs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
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
from xling_tasks.data.prompts import FOLDER, PromptTemplate, PromptTemplates
from xling_tasks.errors import SettingError, user_path
from xling_tasks.models.empathy.classifier import trained_on
from xling_tasks.models.empathy.data import draw, held_out
from xling_tasks.models.empathy.data import load as load_pairs
from xling_tasks.output import jsonl, many, write_new
from xling_tasks.settings import Settings

KINDS = ("mcqa_ft", "rationale_ft")
"""The prompts that training data may be written for."""

EXAMPLE = FOLDER / "examples" / "mmedbench_trained.yaml"
"""A prompt file that says all that such a form needs."""


def export_example(options: argparse.Namespace) -> str:
    """Write the bundled example.

    Raises:
        DataError: If the file exists.
    """
    write_new(options.to, [EXAMPLE.read_text(encoding="utf-8")])
    return f"{options.to}: replace its wording by that of your training data"


def export_posts(options: argparse.Namespace) -> str:
    """Write `id` and `en` of posts from the test part of a classifier's own split.

    Raises:
        SettingError: If the classifier was trained on other data.
        DataError: If the data cannot be read, or the file exists.
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
    """Write one line per training question and kind.

    It has `prompt` and `completion`, to be joined as they are, `kind`, `language`, `question_id`.

    Raises:
        SettingError: For a kind or language that is none.
        DataError: If the data cannot be read, or the file exists.
    """
    metadata = read_metadata(options.metadata)
    if options.prompts:
        metadata["prompt_templates"] = options.prompts
    settings = Settings.parse(metadata, {})
    record = DATASETS["mmedbench"]
    kinds = chosen("--kinds", options.kinds, KINDS, "no prompts of this name")
    codes = chosen("--languages", options.languages, record.language_names, "no training questions")
    prompts = PromptTemplates(settings.prompt_templates)
    rows: list[dict[str, str]] = []
    counts = []
    for code in codes:
        split = load(record, code, "train", settings.data_dir)
        for kind in kinds:
            about = (kind, code, prompts.get(kind, "en"), record.language_names[code])
            made = list(_rows(split.docs(), *about))
            rows += made
            counts.append(f"{code} {kind} {len(made)} of {len(split.docs())}")
    write_new(options.to, jsonl(rows))
    return f"{options.to}: {many(len(rows), 'line')} ({'; '.join(counts)} usable questions)"


def _rows(
    docs: list[dict[str, Any]], kind: str, code: str, prompt: PromptTemplate, language: str
) -> Iterator[dict[str, str]]:
    """A kind's lines; questions without a rationale have none for `rationale_ft`."""
    for doc in docs:
        rationale = doc.get("rationale") or ""
        if kind == "rationale_ft" and not rationale:
            continue
        asked = prompt.fill(
            question=doc["question"], options=prompt.form.options(doc["options"]), language=language
        )
        yield {
            "kind": kind, "language": code, "question_id": doc["question_id"],
            "prompt": asked, "completion": prompt.form.answer(kind, doc["answer"], rationale),
        }  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling export mmedbench-train`, `trained-prompts`, `empathy-posts`."""
    kinds = parser.add_subparsers(title="what", required=True)
    about = "write MMedBench's training questions as prompts with their answers"
    train = kinds.add_parser("mmedbench-train", help=about, description=about)
    train.add_argument(
        "--prompts", metavar="FILE", help="prompt file that the trained model will be asked with"
    )
    train.add_argument(
        "--kinds", default=",".join(KINDS), help="separated by commas (default %(default)s)"
    )
    add_languages(train, "all six")
    add_output(train, "new JSONL file")
    add_metadata(train)
    train.set_defaults(run=export_train)
    about = "write an example of a prompt file for trained models"
    example = kinds.add_parser("trained-prompts", help=about, description=about)
    add_output(example, "new YAML file")
    example.set_defaults(run=export_example)
    about = "write posts that an empathy classifier was not trained on, as prompts"
    posts = kinds.add_parser("empathy-posts", help=about, description=about)
    text = "folder that the classifier was trained on"
    posts.add_argument("--data", type=user_path, required=True, metavar="DIR", help=text)
    posts.add_argument("--classifier", required=True, metavar="DIR", help="the classifier")
    posts.add_argument(
        "--n", type=integer(1), default=100, metavar="N",
        help="number of posts (default %(default)s, as in the paper)",
    )  # fmt: skip
    add_seed(posts, "of the sample")
    add_output(posts, "new JSONL file")
    posts.set_defaults(run=export_posts)
