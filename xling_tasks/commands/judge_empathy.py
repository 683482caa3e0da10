"""`xling judge-empathy`: a judge with a few examples as a classifier of empathy.

What arXiv:2505.21999 compares its classifiers with (Table 7: GPT-4o with nine examples). Posts are
by people in distress: nothing here quotes one but the prompts to the judge.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from xling_metrics.classification import classification_scores

from xling_tasks.commands.options import add_metadata, add_seed, integer, settings_with
from xling_tasks.commands.train_empathy import SHORT, add_epitome, published_rows
from xling_tasks.data.prompts import PromptTemplates
from xling_tasks.models.backend import load_backend
from xling_tasks.models.empathy.data import MECHANISMS, Pair, digest_of, load, split
from xling_tasks.models.structured_output import ask_json, object_schema, quote_material
from xling_tasks.output import many, table

DEFINITIONS = {
    "emotional_reactions": (
        "whether the response expresses feelings towards the writer of the post, such as warmth, "
        "compassion or concern."
    ),
    "interpretations": (
        "whether the response shows that it understands the feelings or experiences behind the "
        "post, for instance by naming them or by telling of similar ones."
    ),
    "explorations": (
        "whether the response asks about feelings or experiences that the post does not state."
    ),
}
"""What a mechanism is, in our words."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling judge-empathy`."""
    add_epitome(parser)
    text = "examples in the prompt (default %(default)s, as in the paper)"
    parser.add_argument("--shots", type=integer(0), default=9, metavar="N", help=text)
    text = "random pairs of the test split (default: all)"
    parser.add_argument("--n", type=integer(1), metavar="N", help=text)
    add_seed(parser, "of split, examples and pairs")
    add_metadata(parser)
    parser.set_defaults(run=judge_empathy)


def judge_empathy(options: argparse.Namespace) -> str:
    """Return macro F1 and accuracy of a judge on the test split, beside the published ones."""
    settings, (config,) = settings_with(options, "judge")
    pairs, seed = load(options.data).pairs, options.seed
    parts = split(pairs, seed)
    test = sorted(
        (pairs[i] for i in parts.test),
        key=lambda pair: digest_of("test", seed, pair.seeker, pair.response),
    )[: options.n]
    prompt = PromptTemplates(settings.prompt_templates).get("empathy_examples", "en")
    judge = load_backend("judge", config, settings.xling_cache)
    judge.check()
    row: dict[str, Any] = {"test part of": f"judge, {options.shots} examples"}
    unparsed = []
    for column, (name, short) in enumerate(zip(MECHANISMS, SHORT, strict=True)):
        example_pairs = examples([pairs[i] for i in parts.train], column, options.shots, seed)
        labels = ask(test, example_pairs, name, prompt, judge)
        scores = classification_scores([int(pair.present[column]) for pair in test], labels)
        for key, value in ((f"F1 {short}", scores.macro_f1), (f"accuracy {short}", scores.acc)):
            row[key] = "-" if value is None else f"{100 * value:.1f}"
        unparsed.append(f"{name} {labels.count(None)}")
    note = f"{many(len(test), 'pair')}; unparsed, and left out: {', '.join(unparsed)}."
    return f"{table([row, *published_rows()])}\n\n{note}\nJudge: {judge.signature}"


def examples(pairs: Sequence[Pair], column: int, n: int, seed: int) -> list[tuple[Pair, bool]]:
    """Return N training pairs, of which about half have the mechanism."""
    order = sorted(pairs, key=lambda pair: digest_of(seed, column, pair.seeker, pair.response))
    present = [pair for pair in order if pair.present[column]][: (n + 1) // 2]
    absent = [pair for pair in order if not pair.present[column]][: n - len(present)]
    chosen = [(pair, True) for pair in present] + [(pair, False) for pair in absent]
    return sorted(chosen, key=lambda item: digest_of("order", seed, item[0].response))


def ask(
    pairs: Sequence[Pair], example_pairs: Sequence[tuple[Pair, bool]], name: str, prompt: Any,
    judge: Any,
) -> list[int | None]:  # fmt: skip
    """Return whether the judge finds a mechanism in each response: 1, 0, or None if unparsed."""
    blocks = [
        f"{quote_material(post=example.seeker, response=example.response)}\n"
        f"Right answer: {'YES' if present else 'NO'}"
        for example, present in example_pairs
    ]
    prompts = [
        prompt.fill(
            definition=DEFINITIONS[name],
            examples="\n\n".join(blocks),
            material=quote_material(post=pair.seeker, response=pair.response),
        )
        for pair in pairs
    ]
    responses = ask_json(judge, prompts, object_schema(answer=["YES", "NO"]))
    values = [responses[text].value for text in prompts]
    return [None if value is None else int(value["answer"] == "YES") for value in values]
