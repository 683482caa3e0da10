"""How often the language of a short answer is told, and told wrongly: `metrics/answer_language.py`.

`python tests/benchmarks/answer_language.py` cuts the bundled prompts and posts of 31 languages to 1 to
12 words, takes each for an answer in its own language and each English one for an answer in every other
language, and prints shares in percent.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from xling_metrics.answer_language import classify_answer_language
from xling_metrics.language import sentences
from xling_metrics.languages import find_language
from xling_metrics.tokenization import words

from xling_tasks.data.sources import SAMPLE_FOLDER
from xling_tasks.languages import LANGUAGES

LENGTHS = range(1, 13)
FILES = ("information_prompts.jsonl", "seeker_posts.jsonl")
Counts = dict[int, Counter[bool | None]]  # length -> how often in the language, in another, unknown


def texts() -> dict[str, list[str]]:
    """The bundled texts by language."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in FILES:
        for line in (SAMPLE_FOLDER / name).read_text(encoding="utf-8").splitlines():
            for code, text in json.loads(line).items():
                language = find_language("id" if code == "ind" else code)
                if language is not None and code != "id":  # the prompt's own number
                    found[language.code].append(text)
    return dict(found)


def cut(text: str, language: str) -> Iterator[tuple[int, str]]:
    """Each sentence's first 1 to 12 words, as they stand there."""
    for sentence in sentences(text, language):
        end = 0
        for count, word in zip(LENGTHS, words(sentence, language)):
            end = sentence.index(word, end) + len(word)
            yield count, sentence[:end]


def count(pieces: list[tuple[int, str]], users: str) -> Counts:
    """Classify texts as answers to users of a language."""
    counts: Counts = {n: Counter() for n in LENGTHS}
    results = classify_answer_language([text for _, text in pieces], users)
    for (length, _), result in zip(pieces, results, strict=True):
        counts[length][result.in_language] += 1
    return counts


def percent(rows: Iterable[Counter[bool | None]], value: bool | None) -> float:
    total = sum(rows, Counter[bool | None]())
    return 100 * total[value] / max(1, total.total())


def main() -> None:
    pieces = {code: [p for text in own for p in cut(text, code)] for code, own in texts().items()}
    own = {code: count(pieces[code], code) for code in LANGUAGES}
    english = {code: count(pieces["en"], code) for code in LANGUAGES if code != "en"}
    print("words | own: user's / another / unknown | worst language | English: found / worst")
    for n in LENGTHS:
        wrong, worst = max((percent([own[c][n]], False), c) for c in own)
        least, missed = min((percent([english[c][n]], False), c) for c in english)
        kinds = " / ".join(
            f"{percent((own[c][n] for c in own), v):.1f}" for v in (True, False, None)
        )
        found = percent((english[c][n] for c in english), False)
        print(f"{n:5} | {kinds} | {worst} {wrong:.1f} | {found:.1f} / {missed} {least:.1f}")


if __name__ == "__main__":
    main()
