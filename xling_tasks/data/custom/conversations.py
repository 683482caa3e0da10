"""Conversations with rubrics in HealthBench's form: JSONL, its translations beside it or in files.

A line is a conversation. Another language stands beside each turn (`translated_content`, named in
`translation_info.lang`; or `content_sw`), or in a file of its own, paired by `prompt_id`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xling_metrics.languages import ALL_LANGUAGES, Language

from xling_tasks.data.custom.columns import unknown_language
from xling_tasks.data.custom.questions import (
    Question,
    Turn,
    merge,
    read_rubric,
    read_tags,
    tag_values,
)
from xling_tasks.data.tables import clean_cell
from xling_tasks.errors import DataError
from xling_tasks.languages import language_of
from xling_tasks.safe_json import json_objects

ROLES = {"user": "User", "assistant": "Assistant", "system": "System"}
"""Who speaks in a turn, and what a plain transcript calls it."""


def is_conversations(path: Path) -> bool:
    """Return whether a file is JSONL whose rows have turns as `prompt`."""
    if path.suffix.lower() != ".jsonl":
        return False
    row = next(json_objects(path), (0, {}))[1]
    return isinstance(row.get("prompt"), list) or bool({"rubrics", "binary_labels"} & row.keys())


def read_conversations(paths: Sequence[Path]) -> tuple[list[Question], list[str]]:
    """Read all lines of some files, one question per `prompt_id`.

    Returns:
        The questions, and what is wrong: a line each. What is wrong with a line leaves it out.
    """
    questions: dict[str, Question] = {}
    problems: list[str] = []
    for path in paths:
        of_file = language_of_file(path)
        for number, row in json_objects(path, expected="a conversation", whole=True):
            location = f"{path}, line {number}"
            try:
                new = _read_row(location, row, of_file)
                question = questions.setdefault(new.id, new)
                if question is not new:
                    _check_turns(question, new)
                    problems += [f"{location}: {line}" for line in merge(question, new)]
            except DataError as error:
                problems.append(f"{location}: {error}")
    return list(questions.values()), problems


def make_transcript(turns: Sequence[Turn]) -> str:
    """Return a conversation as a text to read; a single question as it is."""
    if len(turns) == 1:
        return turns[0]["content"]
    return "\n\n".join(f"{ROLES[turn['role']]}: {turn['content']}" for turn in turns)


def language_of_file(path: Path) -> Language:
    """Return the language at the end of a file's name (`set_hi`, `set-pt_BR`); English without."""
    words = re.split(r"[-_. ]+", path.stem)
    for size in (3, 2, 1):
        language = language_of("-".join(words[-size:])) if len(words) > size else None
        if language is not None:
            return language
    return ALL_LANGUAGES["en"]


def _read_row(location: str, row: Mapping[str, Any], of_file: Language) -> Question:
    key = row.get("prompt_id", row.get("id"))
    if isinstance(key, bool) or not isinstance(key, (str, int)) or not str(key).strip():
        raise DataError("'prompt_id' is missing; it pairs a conversation's languages")
    if "rubric" in row and "binary_labels" in row:
        raise DataError(
            "these are physicians' labels of answers (HealthBench's meta evaluation), not "
            "conversations with rubrics"
        )
    tags = read_tags("example_tags", row.get("example_tags") or [])
    turns, codes = _read_turns(row, of_file)
    themes = tag_values("theme", tags)
    canary = row.get("canary")
    return Question(
        str(key).strip(),
        location,
        category=themes[0] if themes else "",
        rubric=read_rubric(row.get("rubrics")),
        texts={code: {"question": make_transcript(its_turns)} for code, its_turns in turns.items()},
        turns=turns,
        themes=themes,
        agreed_categories=tag_values("physician_agreed_category", tags),
        canary=canary if isinstance(canary, str) else "",
        locations=dict.fromkeys(codes, location),
    )


def _check_turns(question: Question, new: Question) -> None:
    """Raise if a language repeats with other words, or has turns by other roles."""
    for code, turns in new.turns.items():
        if question.turns.get(code, turns) != turns:
            raise DataError(
                f"conversation {new.id!r} in {code} differs from {question.locations[code]}; the "
                "same prompt_id is the same conversation (is one a translation? state its language "
                "in the file's name, as _es.jsonl, or in a field 'language')"
            )
        for other, theirs in question.turns.items():
            if [turn["role"] for turn in turns] != [turn["role"] for turn in theirs]:
                raise DataError(
                    f"conversation {new.id!r} has other turns in {code} ({len(turns)}) than in "
                    f"{other} ({len(theirs)}, {question.locations[other]})"
                )


def _read_turns(
    row: Mapping[str, Any], of_file: Language
) -> tuple[dict[str, tuple[Turn, ...]], list[str]]:
    """Return language -> turns, where each has a text, and the languages of some turn."""
    prompt = row.get("prompt")
    if not isinstance(prompt, list) or not all(isinstance(turn, Mapping) for turn in prompt):
        raise DataError("'prompt' must be a list of turns with role and content")
    fields = _name_fields(row, prompt, of_file)
    turns: dict[str, tuple[Turn, ...]] = {}
    for number, turn in enumerate(prompt, 1):
        role = "system" if turn.get("role") == "developer" else turn.get("role")
        if role not in ROLES:
            raise DataError(f"turn {number}: unknown role {role!r:.40}; use {', '.join(ROLES)}")
        seen: dict[str, str] = {}
        for name, language in fields.items():
            text = clean_cell(turn.get(name))
            if text is not None and not isinstance(text, str):
                raise DataError(
                    f"turn {number}, {name!r}: a text is expected, not {turn[name]!r:.40}; images "
                    "and lists of parts are not asked"
                )
            if text and seen.setdefault(language.code, text) != text:
                raise DataError(f"turn {number}: two texts in {language.name} differ; keep one")
        for code, text in seen.items():
            turns[code] = (*turns.get(code, ()), {"role": str(role), "content": text})
    turns = {code: its_turns for code, its_turns in turns.items() if len(its_turns) == len(prompt)}
    if any(its_turns[-1]["role"] != "user" for its_turns in turns.values()) or not prompt:
        raise DataError("the last turn must be the user's; the model answers it")
    return turns, [language.code for language in fields.values()]


def _name_fields(
    row: Mapping[str, Any], prompt: Sequence[Mapping[str, Any]], of_file: Language
) -> dict[str, Language]:
    """Return the language of each field with a text.

    `content` is in the row's `language`. Without one it is the English that was translated where
    another language stands beside it, else in the language of `translation_info` or of the file's
    name.
    """
    info = row.get("translation_info")
    translated_to = info.get("lang") if isinstance(info, Mapping) else None
    words: dict[str, tuple[str, Any]] = {}  # field -> where its language is stated, and the word
    for name in dict.fromkeys(name for turn in prompt for name in turn):
        if name == "translated_content":
            words[name] = name, translated_to or of_file.code
        elif name.startswith("content_") and name != "content_id":
            words[name] = name, name.removeprefix("content_")
    code = row.get("language", row.get("lang"))
    if code is not None:
        words["content"] = "language", code
    elif translated_to and not words:
        words["content"] = "translation_info.lang", translated_to
    fields = {"content": of_file}
    for name, (position, word) in words.items():
        language = language_of(word) if isinstance(word, str) else None
        if language is None:
            raise DataError(f"{position!r}: {unknown_language(str(word))}")
        fields[name] = language
    codes = {fields[name].code for name in words.keys() - {"content"}}
    if "content" not in words and codes and "en" not in codes and of_file.code in ("en", *codes):
        fields["content"] = ALL_LANGUAGES["en"]
    return fields
