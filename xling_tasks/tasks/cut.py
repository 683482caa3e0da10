"""Answers that end where they had to: what is scored of them is not all that was meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from lm_eval.api.instance import Instance

from xling_tasks.harness.backends import may_be_cut
from xling_tasks.harness.run import all_ranks, current
from xling_tasks.log import log


def cut_answers(
    task: str, documents: Iterable[tuple[Sequence[Instance], Sequence[str]]]
) -> dict[str, list[int]]:
    """How many answers are as long as they may be (`max_gen_toks`), of how many, by language.

    Tokenizers make several times the tokens of one language that they make of another, so the same
    room may cut answers in one alone. It is logged where one is, and nothing where none is.

    A document has its requests, in order; and the languages of its prompts, each of which has as
    many requests.
    """
    long, asked = Counter[str](), Counter[str]()
    for instances, codes in documents:
        for at, instance in enumerate(instances):
            code = codes[at * len(codes) // len(instances)]
            room = instance.args[1].get("max_gen_toks")
            asked[code] += len(instance.resps)
            long[code] += sum(may_be_cut(current().lm, str(own), room) for own in instance.resps)
    long, asked = (sum(all_ranks(own), Counter[str]()) for own in (long, asked))
    if not long:
        return {}
    log.warning(
        "%s: %d of %d answers are as long as they may be, so perhaps cut off, and scored as they "
        "are. Give them more room: --gen_kwargs max_gen_toks=...",
        task, long.total(), asked.total(),
    )  # fmt: skip
    return {code: [long[code], number] for code, number in asked.items()}
