"""`xling annotate --form texts`: a page on which native speakers read our prompts and posts.

Of each text they say whether it is right, unnatural or wrong, and write a better one.
`xling data review` reads what they export.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import islice
from typing import Any

from xling_tasks.commands.annotate.page import TEXTS, page_path, rating_data, write_page
from xling_tasks.commands.options import chosen
from xling_tasks.data.prompt_sets import load_prompts
from xling_tasks.data.records import PROMPT_SETS
from xling_tasks.data.text_status import load_cards, text_digest
from xling_tasks.errors import SettingError
from xling_tasks.languages import LANGUAGES

_NONE = "no texts of it"


def annotate_texts(options: argparse.Namespace) -> str:
    """Write the page, and say what is on it.

    Raises:
        SettingError: For an option that cannot be.
    """
    judged = {"OUT_DIR": options.out_dir, "--blind": options.blind, "--resolve": options.resolve}
    judged |= {"--metadata": options.metadata}
    for name, given in judged.items():
        if given:
            raise SettingError(f"{name} is not for --form {TEXTS}, which has our own prompts")
    to = page_path(options.to)
    codes = chosen(
        "--languages", options.languages or "", [code for code in LANGUAGES if code != "en"], _NONE
    )
    keys = chosen("--datasets", options.datasets, PROMPT_SETS, _NONE)
    if options.n is not None and options.n < 1:
        raise SettingError(f"--n {options.n}: at least 1")
    items: list[dict[str, Any]] = []
    texts: dict[str, str] = {}
    for code in codes:
        own = [pair for key in keys for pair in islice(_items(key, code), options.n)]
        items += [item for item, _ in own]
        texts |= {item["id"]: digest for item, digest in own}
    made = {
        "of": TEXTS,
        "seed": options.seed,
        "n": options.n,
        "set_version": PROMPT_SETS[keys[0]].version,
        "texts": texts,
    }
    data = rating_data(items, made)
    write_page(to, data)
    return (
        f"{to} (page {data['digest']}): {len(items)} texts in {', '.join(codes)}. Send it to "
        "native speakers; then: xling data review FILE.json ..."
    )


def _items(key: str, code: str) -> Iterator[tuple[dict[str, Any], str]]:
    """A set's texts in a language as the page has them, each with the digest of the text."""
    cards = load_cards()
    for prompt in load_prompts(PROMPT_SETS[key]).prompts:
        card, text = cards.get(prompt["id"], {}), prompt["text"][code]
        notes = [card[name] for name in ("writer", "card") if card.get(name)]
        source = prompt["text"]["en"]
        if notes:
            source += "\n\nMust not change: " + "; ".join(notes)
        item = {
            "id": f"{key}_{code}/{prompt['id']}",
            "dataset": key,
            "language": code,
            "question_id": prompt["id"],
            "source": source,
            "translation": text,
        }
        yield item, text_digest(text)
