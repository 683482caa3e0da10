"""One question with its texts, read from the files at the places that the index names."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from xling_tasks.commands.view.index import Index
from xling_tasks.commands.view.queries import entries_of
from xling_tasks.commands.view.sources import Source
from xling_tasks.criteria import CRITERIA, form_of
from xling_tasks.criteria.sample import ANSWER, Part, as_text, listing, mapping, number, replies
from xling_tasks.errors import DataError, SettingError
from xling_tasks.logs.checked import reading
from xling_tasks.logs.shown import KNOWN, SHORT, parts_of, several_languages
from xling_tasks.readers import read_letters

SHOWN = 20_000
"""Characters of a text that are sent with a question."""

CHUNK = 200_000
"""Characters of a text that are sent at a time when more of it is asked for."""


def question(index: Index, number: int, languages: Collection[str]) -> list[dict[str, Any]]:
    """The samples of a question by language, with the texts of those in LANGUAGES, by code."""
    entries = entries_of(index, number)
    if not entries:
        raise SettingError(f"no question {number}")
    for entry in entries:
        if entry["language"] in languages:
            entry |= _texts(index, entry["id"], entry["language"])
    return entries


def _texts(index: Index, entry: int, language: str) -> dict[str, Any]:
    source, sample, parts = _sample_of(index, entry)
    with reading(source.samples.path):
        note = _letters_in_words(source.criterion, sample)
        return {
            "file": source.samples.path.name,
            "parts": [
                {
                    "title": part.title,
                    "note": note if part.title == ANSWER and note else part.note,
                    "passages": [
                        {**each._asdict(), "text": each.text[:SHOWN], "length": len(each.text)}
                        for each in part.passages
                    ],
                }
                for part in parts
            ],
            "measured": _measured(source.criterion, sample, language),
        }


def _measured(criterion: str, sample: Mapping[str, Any], language: str) -> list[tuple[str, str]]:
    """What was measured of a sample in one language: name and value."""
    values = []
    for name in sample.keys() - KNOWN:
        own = CRITERIA[criterion].split(name).language if several_languages(criterion) else ""
        if own not in ("", language, "avg"):
            continue
        value = sample[name]
        text = as_text(value)
        if not isinstance(value, (list, dict)) or len(text) <= 200:
            values.append((name, text[:SHORT]))
    return sorted(values)


def _letters_in_words(criterion: str, sample: Mapping[str, Any]) -> str:
    """The letters that this version reads from a reply, and the right ones; empty elsewhere."""
    if not criterion.startswith(("mcqa", "mmedbench")) or form_of(criterion).by_likelihood:
        return ""
    doc = mapping(sample.get("doc"))
    said = "".join(as_text(reply) for own in replies(sample) for reply in own)
    options = {str(key): as_text(text) for key, text in mapping(doc.get("options")).items()}
    wrong, unread = number(sample.get("acc")) == 0, number(sample.get("unparsed_rate")) == 1
    verdict = "not read" if unread else "wrong" if wrong else "right"
    chosen = read_letters(
        said.rpartition("[End]")[2], options, several=bool(doc.get("several", True))
    )
    letters = ", ".join(sorted(chosen)) if chosen and not unread else ""
    asked = ", ".join(as_text(letter) for letter in listing(doc.get("answer")))
    return f"Letters: {letters or 'none read'}; right: {asked}. Scored as {verdict}."


def more_text(index: Index, entry: int, part: int, passage: int, begin: int) -> str:
    """The next characters of a long text."""
    _, _, parts = _sample_of(index, entry)
    try:
        return parts[part].passages[passage].text[begin : begin + CHUNK]
    except IndexError:
        raise SettingError(f"no text {part}, {passage} in sample {entry}") from None


def whole_row(index: Index, entry: int, begin: int) -> dict[str, Any]:
    """A part of a sample's row as it stands in the file, with a line for every value."""
    _, sample, _ = _sample_of(index, entry)
    text = json.dumps(sample, ensure_ascii=False, indent=1)
    return {"text": text[begin : begin + CHUNK], "length": len(text)}


def _sample_of(index: Index, entry: int) -> tuple[Source, dict[str, Any], list[Part]]:
    """The file of a sample, its row, and its texts."""
    rows = index.fetch(
        "SELECT file, place, row, language, q.question FROM entry e "
        "JOIN question q ON q.id = e.question WHERE e.id = ?",
        (entry,),
    )
    if not rows:
        raise SettingError(f"no sample {entry}")
    number, place, row, language, known = rows[0]
    source = index.sources.files[number]
    path = source.samples.path
    why = ""
    try:
        sample = source.samples.at(place)
        doc = sample["doc"]
        named = doc.get("question_id") if isinstance(doc, dict) else None
        same = str(sample.get("doc_id") if named is None else named) == known
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        same, why = False, f" ({error!r})"
    if why or (not same and "\ufffd" not in known):
        raise DataError(f"{path}, row {row}: is not what it was{why}; start the view again")
    with reading(f"{path}, row {row}"):
        return source, sample, parts_of(source.criterion, sample, language)
