"""What `xling data check` says of translations: lengths, loops, refusals; and the next step."""

from __future__ import annotations

import json
import shlex
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_metrics.language import knows
from xling_metrics.languages import known
from xling_metrics.words import LETTER

from xling_tasks.data.own.load import OwnData
from xling_tasks.data.own.oddities import listed
from xling_tasks.data.own.written import (
    KINDS,
    TOO_SHORT,
    Texts,
    foreign_script,
    language_or,
    read_as,
    texts_of,
)
from xling_tasks.languages import language_name
from xling_tasks.models.translate.degenerate import reasons, repeats

_SAYS = {
    "repeated": "repeat themselves, as a model does that loops",
    "declined": "decline to translate",
    "length": "are far longer or shorter than their English would make them",
}
_MOST = 50
_A_WORD = 8
"""Letters of English, or as many as say so much elsewhere, below which one word is no question."""


def odd_texts(data: OwnData) -> Iterator[str]:
    """Texts that are hardly what they are called, loops, and translations that are none."""
    every = [texts for texts in texts_of(data) if texts.kind != "option"]
    english = {texts.kind: texts.of for texts in every if texts.code == "en"}
    for texts in every:
        if texts.kind == "question":
            few = [key for key, text in texts.of.items() if _hardly_asks(text, texts.code)]
            if few:
                yield f"{texts.name} of a single short word: {listed(few)}; is that all?"
        loops = [key for key, text in texts.of.items() if texts.code == "en" and repeats(text)]
        if loops:
            yield f"{texts.name} {_SAYS['repeated']}: {listed(loops)}"
    for kind in english:
        yield from _no_translations([own for own in every if own.kind == kind], english[kind])


def _hardly_asks(text: str, code: str) -> bool:
    row = known(code)
    letters = len(LETTER.findall(text)) / (1.0 if row is None else row.density)
    return len(text.split()) == 1 and letters < _A_WORD


def _no_translations(every: Sequence[Texts], english: Mapping[str, str]) -> Iterator[str]:
    """Translations of one kind of text that fail; the English where most languages point at it."""
    found: dict[tuple[str, str], list[str]] = {}
    odd_length, languages = Counter[str](), Counter[str]()
    others = [texts for texts in every if texts.code != "en"]
    for texts in others:
        keys = [key for key in texts.of if key in english]
        pairs = [(english[key], texts.of[key]) for key in keys]
        languages.update(keys)
        for key, reason in zip(keys, reasons(pairs, "en", texts.code), strict=True):
            if reason in _SAYS:
                found.setdefault((texts.name, reason), []).append(key)
                odd_length[key] += reason == "length"
    blamed = {key for key, n in odd_length.items() if languages[key] > 2 and 2 * n > languages[key]}
    for (name, reason), ids in found.items():
        kept = [key for key in ids if reason != "length" or key not in blamed]
        if kept:
            yield f"{name} {_SAYS[reason]}: {listed(kept)}"
    if blamed:
        yield (
            f"{KINDS[others[0].kind]} whose English is far longer or shorter than most other "
            f"languages would make it: {listed(sorted(blamed))}"
        )


def described(data: OwnData) -> list[dict[str, Any]]:
    """A row per language and kind of text: script, language, and how long beside English."""
    rows = texts_of(data)
    english = {own.kind: own.of for own in rows if own.code == "en"}
    return [
        {
            "language": language_name(own.code),
            "texts": KINDS[own.kind],
            "count": len(own.of),
            "script": _script(data, own),
            "read as": _language(data, own),
            "length to English": _ratio(own.of, english.get(own.kind, {}), own.code),
        }
        for own in rows
    ]


def _script(data: OwnData, texts: Texts) -> str:
    found = [foreign_script(data, texts.code, text) for text in texts.of.values()]
    stated, other = data.tongues[texts.code].script, sorted({name for name in found if name})
    wrong = sum(map(bool, found))
    return stated if not wrong else f"{stated}; {', '.join(other)} in {wrong} of {len(found)}"


def _language(data: OwnData, texts: Texts) -> str:
    (told,) = read_as(data, [" ".join(list(dict.fromkeys(texts.of.values()))[:_MOST])], texts.code)
    if told is None:
        return TOO_SHORT if knows(texts.code) else "not checked"
    return "not English" if told == texts.code and not knows(texts.code) else language_or(told)


def _ratio(own: Mapping[str, str], english: Mapping[str, str], code: str) -> float | None:
    """The median of lengths in characters beside the English text's."""
    both = [len(text) / len(english[key]) for key, text in own.items() if english.get(key)]
    return None if code == "en" or not both else round(statistics.median(both), 2)


# The next step

_TASKS = (
    ("xling_own_rubric", "a judge grades the answers by your criteria"),
    ("xling_own_mcqa", "letters are read from the answers; no judge is needed"),
    ("xling_own_correctness", "a judge compares the answers with yours"),
    ("xling_own_verifiability", "the model says which answers are right; no judge is needed"),
    ("xling_own_consistency", "answers to one question are compared; no judge is needed"),
)  # fmt: skip
_JUDGE = {"model": "local-chat-completions", "model_args": {"model": "...", "base_url": "..."}}


def next_steps(path: Path, counts: Mapping[str, Mapping[str, int]], refused: bool) -> Iterator[str]:
    """What to do now, by what the file can be used for."""
    if refused:
        yield f"Next: mend what the tasks refuse, then: xling data check {shlex.quote(str(path))}"
        return
    used = [task for task, _ in _TASKS if any(counts.get(task, {}).values())]
    if used and used[0] == "xling_own_mcqa":
        used = used[:1]  # the other tasks ask its questions without their options
    for task, says in _TASKS:
        if task in used[:2]:
            given = f"data_dir={path}"
            if "a judge " in says:
                given = json.dumps({"data_dir": str(path), "judge": _JUDGE}, ensure_ascii=False)
            words = f"lm_eval --model ... --tasks {task} --metadata {shlex.quote(given)}"
            yield f"{'Next' if task == used[0] else 'or'}: {words} ({says})"
