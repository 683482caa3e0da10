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


def judge_empathy(options: argparse.Namespace) -> str:
    """Macro F1 and accuracy of a judge on the test part, beside the published ones.

    Raises:
        SettingError: If no judge is set.
        DataError: If the data cannot be read or split.
    """
    settings, (spec,) = settings_with(options, "judge")
    pairs = load(options.data).pairs
    parts = split(pairs, options.seed)
    tested = _drawn([pairs[i] for i in parts.test], options.n, options.seed)
    prompt = PromptTemplates(settings.prompt_templates).get("empathy_examples", "en")
    judge = load_backend("judge", spec, settings.xling_cache)
    judge.check()
    rows: dict[str, Any] = {"test part of": f"judge, {options.shots} examples"}
    unread = []
    for column, name in enumerate(MECHANISMS):
        shown = examples([pairs[i] for i in parts.train], column, options.shots, options.seed)
        said = ask(tested, shown, name, prompt, judge)
        rows |= _scores(name, [int(pair.present[column]) for pair in tested], said)
        unread.append(f"{name} {sum(word is None for word in said)}")
    note = f"{many(len(tested), 'pair')}; without a readable answer, and left out: "
    note += f"{', '.join(unread)}."
    return f"{table([rows, *published_rows()])}\n\n{note}\nJudge: {judge.signature}"


def examples(pairs: Sequence[Pair], column: int, n: int, seed: int) -> list[tuple[Pair, bool]]:
    """N pairs of the training part, of which as near as can be half have the mechanism."""
    order = sorted(pairs, key=lambda pair: digest_of(seed, column, pair.seeker, pair.response))
    there = [pair for pair in order if pair.present[column]][: (n + 1) // 2]
    absent = [pair for pair in order if not pair.present[column]][: n - len(there)]
    chosen = [(pair, True) for pair in there] + [(pair, False) for pair in absent]
    return sorted(chosen, key=lambda item: digest_of("order", seed, item[0].response))


def ask(
    pairs: Sequence[Pair], shown: Sequence[tuple[Pair, bool]], name: str, prompt: Any, judge: Any
) -> list[int | None]:
    """Return whether the judge finds a mechanism in each response: 1, 0, or None for no answer."""
    blocks = [
        f"{quote_material(post=example.seeker, response=example.response)}\n"
        f"Right answer: {'YES' if present else 'NO'}"
        for example, present in shown
    ]
    asked = [
        prompt.fill(
            definition=DEFINITIONS[name],
            examples="\n\n".join(blocks),
            material=quote_material(post=pair.seeker, response=pair.response),
        )
        for pair in pairs
    ]
    came = ask_json(judge, asked, object_schema(answer=["YES", "NO"]))
    values = [came[text].value for text in asked]
    return [None if value is None else int(value["answer"] == "YES") for value in values]


def _scores(name: str, gold: Sequence[int], said: Sequence[int | None]) -> dict[str, str]:
    scores = classification_scores(list(gold), list(said))
    short = SHORT[MECHANISMS.index(name)]
    shown = {f"F1 {short}": scores.macro_f1, f"accuracy {short}": scores.acc}
    return {key: "-" if value is None else f"{100 * value:.1f}" for key, value in shown.items()}


def _drawn(pairs: list[Pair], n: int | None, seed: int) -> list[Pair]:
    order = sorted(pairs, key=lambda pair: digest_of("test", seed, pair.seeker, pair.response))
    return order[:n]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `xling judge-empathy`."""
    add_epitome(parser)
    parser.add_argument(
        "--shots", type=integer(0), default=9, metavar="N",
        help="examples in the prompt (default %(default)s, as in the paper)",
    )  # fmt: skip
    parser.add_argument(
        "--n", type=integer(1), metavar="N", help="random pairs of the test split (default: all)"
    )
    add_seed(parser, "of split, examples and pairs")
    add_metadata(parser)
    parser.set_defaults(run=judge_empathy)
