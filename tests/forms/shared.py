"""Print the phrases of a language that texts in other languages have, too.

    python tests/forms/shared.py CODE

All files of phrases make one dictionary. A word of one language that is another's, as Finnish 'on'
(is) is English, changes how replies in that other are read: leave it out, or write it in a phrase of
two words.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import regex

from xling_tasks.data.prompt_sets import SAMPLE_FOLDER
from xling_tasks.data.records import RECORDS
from xling_tasks.readers.phrase_files import PARTS, of_part, phrases


def words_of_others(code: str) -> dict[str, set[str]]:
    """Word -> the other languages with a file of phrases whose bundled texts have it."""
    found: dict[str, set[str]] = {}
    for record in (RECORDS["information"], RECORDS["empathy"]):
        for line in (SAMPLE_FOLDER / record.file).read_text("utf-8").splitlines():
            row = json.loads(line)
            for other in set(phrases()) - {code}:
                for word in regex.findall(r"[\p{L}\p{M}]+", row.get(other, "").casefold()):
                    found.setdefault(word, set()).add(other)
    return found


def shared(code: str) -> Iterator[str]:
    """A line for each phrase of one word that other languages' files or texts have."""
    texts, own = words_of_others(code), phrases()[code]
    for part in PARTS:
        for kind, words in of_part(own, part).items():
            for word in words:
                kinds = {
                    other: name
                    for other, each in phrases().items()
                    for name, said in of_part(each, part).items()
                    if other != code and name != kind and word in said
                }
                others = sorted(texts.get(word.casefold(), ()))
                if kinds or others:
                    yield (
                        f"{part and part + ': '}{kind}: {word!r}"
                        + (f"; in texts of {', '.join(others)}" if others else "")
                        + "".join(f"; {name} in {other}.yaml" for other, name in kinds.items())
                    )


if __name__ == "__main__":
    print("\n".join(shared(sys.argv[1])) or "none")
