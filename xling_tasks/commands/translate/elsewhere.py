"""`xling translate export` and `import`: texts of a run that are translated elsewhere, and back.

`export` writes every text that scoring translates to English, once; `import` checks what comes back
against them and makes the file that the translator `file` reads.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from xling_metrics.answer_language import Told, tell
from xling_metrics.language import identify, knows
from xling_metrics.words import LETTER

from xling_tasks.criteria import CRITERIA, ENGLISH, Place
from xling_tasks.errors import DataError, did_you_mean
from xling_tasks.languages import language_name
from xling_tasks.logs.samples import newest_samples
from xling_tasks.output import jsonl, many, refuse_file, write_new
from xling_tasks.safe_json import json_objects
from xling_tasks.scorers.answered import replies_of

TRANSLATED = tuple(key for key, criterion in CRITERIA.items() if "translator" in criterion.settings)
"""The criteria whose answers are translated to English."""

_HINT = (
    "Answers are translated for consistency, information and empathy; give the --output_path of a "
    "run of theirs with --log_samples (--predict_only will do)"
)

NEXT = (
    "Next: fill in `translation` on every line, by any means, and check it: xling translate import "
    "BACK.jsonl --of {to} --to translations.jsonl"
)
SCORE = (
    "Next: score the same answers with them: lm_eval --model xling_replay --model_args path=OUT "
    '--tasks ... --metadata \'{{"translator": {{"model": "file", "model_args": {{"path": '
    '"{to}"}}}}}}\''
)


def run_export(options: argparse.Namespace) -> str:
    """Write the texts; returns how many there are of each language.

    Raises:
        DataError: If the run has no answers to translate, or the file exists.
    """
    refuse_file(options.to)
    texts, answers = texts_of(options.out_dir)
    write_new(options.to, jsonl(text.row() for text in texts))
    told, of = many(len(texts), "distinct text"), many(sum(answers.values()), "answer")
    codes = ", ".join(f"{code} {count}" for code, count in answers.items())
    return f"{options.to}: {told} of {of} ({codes}).\n{NEXT.format(to=options.to)}"


def run_import(options: argparse.Namespace) -> str:
    """Check what came back and write the translator's file.

    Raises:
        DataError: Naming what is wrong with the lines, or if the file exists.
    """
    refuse_file(options.to)
    texts = read_texts(options.of)
    rows, notes = checked(options.back, texts, options.accept)
    write_new(options.to, jsonl(rows))
    said = f"{options.to}: translated: {len(rows)} of {many(len(texts), 'text')}."
    return "\n".join([said, *(f"Note: {note}" for note in notes), SCORE.format(to=options.to)])


class Text(NamedTuple):
    """A text to translate.

    Attributes:
        language: Code of its language.
        text: The text, without white space around it.
        target: Code of the language wanted.
    """

    language: str
    text: str
    target: str = ENGLISH

    @property
    def id(self) -> str:
        """What tells it from others: a digest of all three."""
        plain = "\0".join((self.language, self.target, self.text))
        return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def row(self) -> dict[str, str]:
        """The line of a file; the translation is still empty."""
        named = {"id": self.id, "language": self.language, "target": self.target}
        return {**named, "text": self.text, "translation": ""}


def texts_of(out: Path) -> tuple[list[Text], dict[str, int]]:
    """Every text of a run that scoring translates, once; by language, in the order of the samples.

    Args:
        out: A folder that `lm_eval --output_path` wrote.

    Returns:
        The texts, and language -> how many answers they are.

    Raises:
        DataError: If there is none, or a file is broken.
    """
    distinct: dict[Text, None] = {}
    answers: dict[str, int] = {}
    for place, samples in newest_samples(out, TRANSLATED):
        if place.language == ENGLISH:
            continue

        def read(row: dict[str, Any], place: Place = place) -> list[Text]:
            return list(_in_sample(row, place))

        for _, texts in samples.stream(read, hint=_HINT):
            for text in texts:
                distinct[text] = None
                answers[text.language] = answers.get(text.language, 0) + 1
    if not distinct:
        raise DataError(f"{out}: no answers that scoring would translate. {_HINT}")
    order = {code: at for at, code in enumerate(answers)}
    return sorted(distinct, key=lambda text: order[text.language]), answers


def _in_sample(row: Mapping[str, Any], place: Place) -> Iterator[Text]:
    """The answers of a sample that were not asked for in English."""
    results = row["filtered_resps"]
    codes = [place.language] * len(results)
    if CRITERIA[place.criterion].several_languages:
        codes = list(row["doc"]["text"])
        codes += [ENGLISH] * (len(results) == len(codes) + 1)  # English, answered again
    for code, result in zip(codes, results, strict=True):
        for reply in replies_of(result):
            if code != ENGLISH and reply.strip():
                yield Text(code, str(reply).strip())


# What comes back


MAY_BE_ACCEPTED = ("missing", "empty", "language")
"""Kinds of faults that `--accept` takes; the others are mistakes."""

_MEANS = {
    "missing": "without a line",
    "duplicate": "with more than one line",
    "unknown": "with an id that was not sent",
    "changed": "whose source text is another than was sent",
    "empty": "with an empty translation",
    "language": "whose translation is not in the language wanted",
}
_FIELDS = ("id", "language", "target", "text", "translation")
_LEAST_LETTERS = 15
"""Letters from which langid is asked whether a text is still in its own language."""

_SHOWN = 3


def read_texts(path: Path) -> dict[str, Text]:
    """Id -> text of a file that `xling translate export` wrote.

    Raises:
        DataError: Naming file and line, if it is none.
    """
    texts: dict[str, Text] = {}
    for place, _, row in _rows(path):
        wrong = [name for name in ("id", "language", "text") if not row.get(name)]
        if wrong:
            raise DataError(f"{place}, field {wrong[0]!r}: missing; give what `export` wrote")
        text = Text(row["language"], row["text"], row.get("target") or "en")
        if text.id != row["id"]:
            raise DataError(
                f"{place}: id {row['id']} does not belong to its text; give the file as `xling "
                "translate export` wrote it"
            )
        texts[text.id] = text
    if not texts:
        raise DataError(f"{path}: has no texts; give what `xling translate export` wrote")
    return texts


def checked(
    path: Path, texts: Mapping[str, Text], accept: Sequence[str]
) -> tuple[list[dict[str, str]], list[str]]:
    """The rows of the translator's file, and what was accepted.

    Args:
        path: What came back: `id` and `translation` a line; `text`, `language` and `target` may
            stand there too and must then be as they were.
        texts: What was sent.
        accept: Kinds of faults to go on with, of `MAY_BE_ACCEPTED`.

    Raises:
        DataError: If there are others; it names how many of each kind, and the first of them.
    """
    faults: dict[str, list[str]] = {kind: [] for kind in _MEANS}
    translations: dict[str, str] = {}
    lines: dict[str, int] = {}
    for place, number, row in _rows(path):
        if "translation" not in row:
            raise DataError(f"{place}, field 'translation': missing")
        key = row.get("id") or ""
        sent = texts.get(key)
        if sent is None:
            faults["unknown"].append(f"line {number} ({key!r:.40})")
        elif key in lines:
            faults["duplicate"].append(f"lines {lines[key]} and {number}")
        elif _changed(row, sent):
            faults["changed"].append(f"line {number}")
        elif not row["translation"].strip():
            faults["empty"].append(f"line {number}")
        else:
            translations[key] = row["translation"].strip()
        lines.setdefault(key, number)
    faults["missing"] = [
        f"{key} ({language_name(text.language)}: {text.text!r:.40})"
        for key, text in texts.items()
        if key not in lines
    ]
    faults["language"] = [f"line {lines[key]}" for key in _in_another(translations, texts)]
    present = {kind: places for kind, places in faults.items() if places}
    refused = {kind: places for kind, places in present.items() if kind not in accept}
    if refused:
        may = [kind for kind in refused if kind in MAY_BE_ACCEPTED]
        hint = f"; or go on without mending with --accept {' '.join(may)}" if may else ""
        raise DataError(
            f"{path}: of {len(texts)} texts {'; '.join(_told(*item) for item in refused.items())}. "
            f"Mend the lines and import again{hint if set(may) == set(refused) else ''}"
        )
    rows = [
        {"language": text.language, "target": text.target, "text": text.text,
         "translation": translations[key]}
        for key, text in texts.items()
        if key in translations
    ]  # fmt: skip
    if not rows:
        raise DataError(f"{path}: has no translation at all")
    return rows, [_told(*item) for item in present.items()]


def _told(kind: str, places: Sequence[str]) -> str:
    shown = ", ".join(places[:_SHOWN])
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return f"{len(places)} {_MEANS[kind]}: {shown}{more}"


def _changed(row: Mapping[str, str], sent: Text) -> bool:
    """Whether a line says another text or language than was sent; it need not say any."""
    given = {name: row[name] for name in ("text", "language", "target") if name in row}
    return any(str(getattr(sent, name)).strip() != value.strip() for name, value in given.items())


def _in_another(translations: Mapping[str, str], texts: Mapping[str, Text]) -> list[str]:
    """The ids of translations in another language or script than wanted, or still in their own."""
    wrong: list[str] = []
    for target in dict.fromkeys(texts[key].target for key in translations):
        keys = [key for key in translations if texts[key].target == target]
        told_texts = [translations[key] for key in keys]
        labels = identify(told_texts)
        for key, told, label in zip(keys, tell(told_texts, target), labels, strict=True):
            if told.told is Told.ANOTHER or _untranslated(texts[key], translations[key], label):
                wrong.append(key)
    return wrong


def _untranslated(text: Text, translation: str, label: str | None) -> bool:
    """Whether langid takes a translation for a text in the language that it was to leave."""
    if label is None or not knows(text.language) or label == text.target:
        return False
    return label == text.language and len(LETTER.findall(translation)) >= _LEAST_LETTERS


def _rows(path: Path) -> Iterator[tuple[str, int, dict[str, str]]]:
    """(Place, number, fields) of every line that is not blank."""
    for number, row in json_objects(path, expected="an object with id and translation"):
        place = f"{path}, line {number}"
        for name, value in row.items():
            if name not in _FIELDS:
                hint = did_you_mean(name, _FIELDS)
                raise DataError(f"{place}, field {name!r}: unknown.{hint}")
            if value is not None and not isinstance(value, str):
                raise DataError(f"{place}, field {name!r}: expected text, got {value!r:.40}")
        yield place, number, {name: value or "" for name, value in row.items()}
