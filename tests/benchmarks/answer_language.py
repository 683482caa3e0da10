"""How often the language of a short answer is told, and told wrongly: `metrics/answer_language.py`.

`python -m tests.benchmarks.answer_language` cuts the bundled prompts and posts of 31 languages to 1
to 12 words, takes each for an answer in its own language and each English one for an answer in every
other language, and prints shares in percent. `--by-language` has a line per language.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator

from xling_metrics.answer_language import Told, tell
from xling_metrics.language import sentences
from xling_metrics.words import words

from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.languages import LANGUAGES, known_language

LENGTHS = (*range(1, 13),)
LONG = 8
FILES = ("information_prompts.jsonl", "seeker_posts.jsonl")


def texts() -> dict[str, list[str]]:
    """The bundled texts by language."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in FILES:
        for line in (SAMPLE_FOLDER / name).read_text(encoding="utf-8").splitlines():
            for code, text in json.loads(line).items():
                language = known_language("id" if code == "ind" else code)
                if language is not None and code != "id":  # the prompt's own number
                    found[language.code].append(text)
    return dict(found)


def cut(text: str, language: str) -> Iterator[tuple[int, str]]:
    """Each sentence's first 1 to 12 words, as they stand there."""
    for sentence in sentences(text, language):
        end = 0
        for count, word in enumerate(words(sentence, language), start=1):
            end = sentence.index(word, end) + len(word)
            if count <= LENGTHS[-1]:
                yield count, sentence[:end]


def rates(pieces: list[tuple[int, str]], asked: str) -> dict[int, tuple[int, dict[Told, int]]]:
    """Length -> how many pieces, and what was told of them."""
    counts: dict[int, dict[Told, int]] = {n: dict.fromkeys(Told, 0) for n in LENGTHS}
    for (length, _), told in zip(pieces, tell([text for _, text in pieces], asked), strict=True):
        counts[length][told.told] += 1
    return {n: (sum(own.values()), own) for n, own in counts.items()}


def measured() -> tuple[dict[str, dict[int, tuple[int, dict[Told, int]]]], ...]:
    """What is told of texts in the language asked for, and of English ones; by language."""
    pieces = {code: [p for text in own for p in cut(text, code)] for code, own in texts().items()}
    own = {code: rates(pieces[code], code) for code in LANGUAGES}
    english = {code: rates(pieces["en"], code) for code in LANGUAGES if code != "en"}
    return own, english


def share(rows: list[tuple[int, dict[Told, int]]], told: Told) -> float:
    """In percent, over all rows."""
    return 100 * sum(own[told] for _, own in rows) / max(1, sum(n for n, _ in rows))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--by-language", action="store_true")
    by_language = parser.parse_args().by_language
    own, english = measured()
    print("words | own: user's / another / untold | worst language | English: found / worst")
    for n in LENGTHS:
        rows, found = [own[c][n] for c in own], [english[c][n] for c in english]
        worst = max(own, key=lambda c: share([own[c][n]], Told.ANOTHER))
        least = min(english, key=lambda c: share([english[c][n]], Told.ANOTHER))
        kinds = " / ".join(f"{share(rows, told):.1f}" for told in Told)
        print(
            f"{n:5} | {kinds} | {worst} {share([own[worst][n]], Told.ANOTHER):.1f} "
            f"| {share(found, Told.ANOTHER):.1f} / {least} "
            f"{share([english[least][n]], Told.ANOTHER):.1f}"
        )
    for code in LANGUAGES if by_language else ():
        kinds = " / ".join(f"{share([*own[code].values()], told):.2f}" for told in Told)
        long = [english[code][n] for n in LENGTHS if n >= LONG] if code != "en" else []
        print(f"{code}: {kinds}; English from {LONG} words: {share(long, Told.ANOTHER):.2f}")


if __name__ == "__main__":
    main()
